"""What the functions of CUDA say of status codes."""

import functools
from typing import Any

from .._types import meanings

UNRECOGNIZED = {
    "cudaGetErrorName": "unrecognized error code",
    "cudaGetErrorString": "unrecognized error code",
    "ncclGetErrorString": "an unknown error",
    "nvmlErrorString": "an unknown error",
    "nvrtcGetErrorString": "NVRTC_ERROR unknown",
}
"""What they say of a number that is not a code; cuGetErrorName and cuGetErrorString fail."""


@functools.cache
def texts_of(symbol: str) -> dict[int, str]:
    """What the function of this name says, by code."""
    codes, explained = _codes(symbol)
    names = {int(code): code.name for code in codes.__members__.values()}
    if symbol in ("cuGetErrorString", "cudaGetErrorString"):
        return {code: explained[name][0] if code else "no error" for code, name in names.items()}
    if symbol in ("ncclGetErrorString", "nvmlErrorString"):
        return {code: explained[name][0].rstrip(".") for code, name in names.items()}
    return names


def _codes(symbol: str) -> tuple[Any, dict[str, tuple[str, str]]]:
    """The codes of the library that has a function, and what they mean."""
    if symbol.startswith("cuda"):
        from .._types.runtime.enums import cudaError_t

        return cudaError_t, meanings.CUDAERROR
    if symbol.startswith("nccl"):
        from .._types.nccl import ncclResult_t

        return ncclResult_t, meanings.NCCLRESULT
    if symbol.startswith("nvml"):
        from .._types.nvml.enums import nvmlReturn_t

        return nvmlReturn_t, meanings.NVMLRETURN
    if symbol.startswith("nvrtc"):
        from .._types.nvrtc import nvrtcResult

        return nvrtcResult, meanings.NVRTCRESULT
    from .._types.driver.enums import CUresult

    return CUresult, meanings.CURESULT
