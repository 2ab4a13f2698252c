"""Remembers of each cubin that NVRTC makes in this process which PTX it has: the simulator runs PTX."""

from __future__ import annotations

import ctypes
from typing import Any

from . import code
from .library import _Function


class Watched:
    """The functions of a libnvrtc, of which nvrtcGetCUBIN remembers what it returns."""

    def __init__(self, library: Any) -> None:
        self._library = library
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        self._callback = prototype(self._get_cubin)

    def __getitem__(self, symbol: str) -> Any:
        if symbol == "nvrtcGetCUBIN":
            return _Function(ctypes.cast(self._callback, ctypes.c_void_p).value)
        return self._library[symbol]

    def __getattr__(self, symbol: str) -> Any:
        return getattr(self._library, symbol)

    def _get_cubin(self, program: int, cubin: int | None) -> int:
        pointer = ctypes.c_void_p(program)
        status = int(self._library["nvrtcGetCUBIN"](pointer, ctypes.c_void_p(cubin)))
        if not status and cubin:
            ptx = self._bytes(pointer, "PTX")
            size = ctypes.c_size_t()
            self._library["nvrtcGetCUBINSize"](pointer, ctypes.byref(size))
            code.remember(ctypes.string_at(cubin, size.value), ptx)
        return status

    def _bytes(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._library[f"nvrtcGet{what}Size"](program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._library[f"nvrtcGet{what}"](program, buffer)
        return buffer.raw


def watch() -> None:
    """Watch the NVRTC that this process has loaded, if any; the loader watches those that come."""
    from .. import nvrtc, pathfinder

    pathfinder.on_load = watched
    for key, loaded in list(pathfinder._loaded.items()):
        if loaded.name == "nvrtc":
            pathfinder._loaded[key] = watched(loaded)
    if "_c_nvrtcGetCUBIN" in vars(nvrtc):  # written for the library as it was
        vars(nvrtc)["_c_nvrtcGetCUBIN"] = nvrtc.libnvrtc.symbol("nvrtcGetCUBIN")


def watched(loaded: Any) -> Any:
    """A loaded NVRTC whose cubins are remembered."""
    if loaded.name != "nvrtc" or isinstance(loaded.handle, Watched):
        return loaded
    return loaded._replace(handle=Watched(loaded.handle))
