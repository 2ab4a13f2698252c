"""Why a function fails: with a status, and a reason that the log of the driver tells to the program."""

from __future__ import annotations

from .._types.driver.enums import CUresult
from .._types.runtime.enums import cudaError_t

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .failing_calls import Failure


class Refused(Exception):
    """A call fails: with the CUresult (or cudaError_t) of this name, and why."""

    def __init__(self, status: str, reason: str = "") -> None:
        super().__init__(reason or status)
        self.status = status
        self.reason = reason

    @property
    def code(self) -> int:
        """The status as a number."""
        codes = CUresult if self.status in CUresult.__members__ else cudaError_t
        return int(codes[self.status])


def invalid(reason: str) -> Refused:
    """CUDA_ERROR_INVALID_VALUE."""
    return Refused("CUDA_ERROR_INVALID_VALUE", reason)


def unsupported(reason: str) -> Refused:
    """CUDA_ERROR_NOT_SUPPORTED: what the simulator does not have, said by name."""
    return Refused("CUDA_ERROR_NOT_SUPPORTED", reason)


failing: list[Failure] = []
"""What may have a call fail because a test wants it to."""


def check(symbol: str) -> None:
    """Before each function of a simulated library. Raises Refused."""
    for each in tuple(failing):
        each.before(symbol)
