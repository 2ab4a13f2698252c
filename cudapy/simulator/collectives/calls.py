"""NCCL of the simulated devices: the library as a whole, and groups of calls.

Functions that are neither here nor in the files beside this one fail, and are named.
"""

from ..._types.nccl import NCCL_VERSION_CODE, ncclResult_t
from ..error_texts import UNRECOGNIZED, texts_of
from ..immortal import text
from ..library import provides
from ..refused import Refused
from . import (  # noqa: F401 (they provide theirs)
    collective_calls,
    communicator_calls,
    group,
    one_sided,
)
from .communicator import last_error, note_last_error

_STATUS = {
    "CUDA_ERROR_INVALID_VALUE": ncclResult_t.ncclInvalidArgument,
    "CUDA_ERROR_NOT_SUPPORTED": ncclResult_t.ncclInvalidUsage,
    "CUDA_ERROR_OUT_OF_MEMORY": ncclResult_t.ncclSystemError,
    "CUDA_ERROR_UNKNOWN": ncclResult_t.ncclInternalError,
}
"""What the simulator's own refusals are here; all others are errors of CUDA."""


def before(symbol: str) -> None:
    """What every function begins with: nothing."""


def failed(refused: Refused) -> int:
    """The status of a call that failed."""
    status = ncclResult_t.__members__.get(refused.status)
    return int(_STATUS.get(refused.status, ncclResult_t.ncclUnhandledCudaError) if status is None else status)


def said(symbol: str, refused: Refused) -> None:
    """A call failed: what ncclGetLastError tells, and the group that it is in."""
    note_last_error(f"{symbol}: {refused.reason}")
    if symbol != "ncclGroupEnd":
        group.note(refused)


# -- Library ------------------------------------------------------------------------------------------------


@provides("nccl")
def ncclGetVersion() -> int:
    return NCCL_VERSION_CODE


@provides("nccl")
def ncclGetErrorString(result: int) -> int:
    said = texts_of("ncclGetErrorString").get(result, UNRECOGNIZED["ncclGetErrorString"])
    return text(said.encode())


@provides("nccl")
def ncclGetLastError(comm: int | None) -> int:
    return text(last_error().encode())


@provides("nccl")
def ncclResetDebugInit() -> None: ...


@provides("nccl")
def ncclParamDumpAll() -> None: ...


# -- Groups -------------------------------------------------------------------------------------------------


@provides("nccl")
def ncclGroupStart() -> None:
    group.start()


@provides("nccl")
def ncclGroupEnd() -> None:
    group.end()
