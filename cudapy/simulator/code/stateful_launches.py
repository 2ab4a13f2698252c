"""Launches as before CUDA 4: a kernel is told its block, its shared memory and its parameters one by one."""

import ctypes
import struct
from weakref import WeakKeyDictionary

from ..addresses import require
from ..handles import find
from ..library import provides
from ..refused import invalid
from .launch_parameters import BUFFER_POINTER, BUFFER_SIZE, pointers
from .launching import queue_launch
from .module import Function

LARGEST = 4096  # bytes of parameters, as many as a kernel can have


class NextLaunch:
    """What a kernel was told for the launches to come."""

    def __init__(self) -> None:
        self.block = 1, 1, 1
        self.shared = 0
        self.size = 0
        self.parameters = bytearray(LARGEST)

    def put(self, offset: int, value: bytes) -> None:
        """A parameter. Raises Refused."""
        if not 0 <= offset <= LARGEST - len(value):
            raise invalid(f"{len(value)} bytes at {offset}: a kernel has at most {LARGEST} of parameters")
        self.parameters[offset : offset + len(value)] = value


_next: WeakKeyDictionary[Function, NextLaunch] = WeakKeyDictionary()


def _of(hfunc: int) -> NextLaunch:
    return _next.setdefault(find(hfunc, Function), NextLaunch())


@provides("driver")
def cuFuncSetBlockShape(hfunc: int, x: int, y: int, z: int) -> None:
    if min(x, y, z) < 1:
        raise invalid(f"a block of {x} x {y} x {z} threads")
    _of(hfunc).block = x, y, z


@provides("driver")
def cuFuncSetSharedSize(hfunc: int, numbytes: int) -> None:
    _of(hfunc).shared = numbytes


@provides("driver")
def cuParamSetSize(hfunc: int, numbytes: int) -> None:
    if numbytes > LARGEST:
        raise invalid(f"{numbytes} bytes of parameters: a kernel has at most {LARGEST}")
    _of(hfunc).size = numbytes


@provides("driver")
def cuParamSeti(hfunc: int, offset: int, value: int) -> None:
    _of(hfunc).put(offset, struct.pack("<I", value))


@provides("driver")
def cuParamSetf(hfunc: int, offset: int, value: float) -> None:
    _of(hfunc).put(offset, struct.pack("<f", value))


@provides("driver")
def cuParamSetv(hfunc: int, offset: int, ptr: int | None, numbytes: int) -> None:
    if numbytes:
        _of(hfunc).put(offset, ctypes.string_at(require(ptr or 0, numbytes, "ptr"), numbytes))


@provides("driver")
def cuLaunch(f: int) -> None:
    cuLaunchGridAsync(f, 1, 1, 0)


@provides("driver")
def cuLaunchGrid(f: int, grid_width: int, grid_height: int) -> None:
    cuLaunchGridAsync(f, grid_width, grid_height, 0)


@provides("driver")
def cuLaunchGridAsync(f: int, grid_width: int, grid_height: int, hStream: int) -> None:
    told = _of(f)
    data, size = ctypes.create_string_buffer(bytes(told.parameters), LARGEST), ctypes.c_size_t(told.size)
    extra = (ctypes.c_void_p * 5)(
        BUFFER_POINTER, ctypes.addressof(data), BUFFER_SIZE, ctypes.addressof(size), None
    )
    table = pointers(ctypes.addressof(extra))
    queue_launch(hStream, f, (grid_width, grid_height, 1), told.block, told.shared, None, table)
