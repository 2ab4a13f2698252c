"""The parameters of a launch as one block of bytes."""

import ctypes
from typing import Any

from ..addresses import Pointer, gathered, pointed, require
from ..log import log
from ..refused import Refused, invalid
from ..streams.faults import Faults
from .module import Function

BUFFER_POINTER, BUFFER_SIZE = 1, 2  # CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE


def pointers(address: int | None) -> Pointer | None:
    """`kernelParams` or `extra` of `pack`, by the address of the table; None for NULL."""
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p)) if address else None


def pack(kernel: Function, kernelParams: Any, extra: Any) -> bytes:
    """The parameters of a kernel as one block of bytes. Raises Refused."""
    if kernel.kernel.has_hidden_parameters:
        reason = (
            f"{kernel.name} has hidden parameters: the driver makes them, as tensor maps of tile kernels,"
            " from data of the module whose layout is not documented. The simulator cannot make them"
        )
        log.report(reason, Faults.prints)
        raise Refused("CUDA_ERROR_NOT_SUPPORTED", reason)
    parameters = kernel.kernel.parameters
    size = kernel.kernel.parameter_size
    if extra and _entry(extra, 0):
        if kernelParams:
            raise invalid("both kernelParams and extra are given")
        return _packed(extra, size)
    if not parameters:
        return b""
    if not kernelParams:
        raise invalid(f"{kernel.name} has {len(parameters)} parameters, and none are given")
    require(pointed(kernelParams), 8 * len(parameters), "kernelParams")
    places = kernelParams[: len(parameters)]
    widths = [width for _, width in parameters]
    data = gathered([(place or 0, width) for place, width in zip(places, widths, strict=True)], sum(widths))
    if data is None:
        for i, (place, width) in enumerate(zip(places, widths, strict=True)):
            require(place, width, f"the pointer to parameter {i} of {kernel.name}")
        data = b"".join(map(ctypes.string_at, places, widths))
    block, start = bytearray(size), 0
    for offset, width in parameters:
        block[offset : offset + width] = data[start : start + width]
        start += width
    return bytes(block)


def _entry(extra: Any, place: int) -> Any:
    require(pointed(extra) + 8 * place, 8, "extra")
    return extra[place]


def _packed(extra: Any, size: int) -> bytes:
    data, length, i = 0, 0, 0
    while what := _entry(extra, i):
        value = _entry(extra, i + 1)
        if what == BUFFER_POINTER:
            data = value
        elif what == BUFFER_SIZE:
            length = ctypes.c_size_t.from_address(require(value, 8, "the size in extra")).value
        else:
            raise invalid(f"{what} in extra is not a CU_LAUNCH_PARAM_*")
        i += 2
    if not data or length < size:
        raise invalid(f"extra has {length} bytes of parameters, the kernel has {size}")
    return ctypes.string_at(require(data, size, "the buffer in extra"), size)
