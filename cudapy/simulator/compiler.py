"""Has each cubin that NVRTC makes in this process carry its PTX: the simulator runs PTX."""

from __future__ import annotations

import ctypes
from typing import Any

from . import code
from .library import _Function


class Watched:
    """A libnvrtc whose nvrtcGetCUBIN and nvrtcGetCUBINSize are about cubins with their PTX."""

    def __init__(self, library: Any) -> None:
        self._library = library
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        self._callbacks = {
            "nvrtcGetCUBIN": prototype(self._get_cubin),
            "nvrtcGetCUBINSize": prototype(self._get_size),
        }

    def __getitem__(self, symbol: str) -> Any:
        if symbol in self._callbacks:
            return _Function(ctypes.cast(self._callbacks[symbol], ctypes.c_void_p).value)
        return self._library[symbol]

    def __getattr__(self, symbol: str) -> Any:
        return getattr(self._library, symbol)

    def _get_cubin(self, program: int, cubin: int | None) -> int:
        status, made = self._cubin(program)
        if status or not cubin:
            return status or int(self._library["nvrtcGetCUBIN"](ctypes.c_void_p(program), None))
        ctypes.memmove(cubin, made, len(made))
        return 0

    def _get_size(self, program: int, size: int | None) -> int:
        status, made = self._cubin(program)
        if status or not size:
            return status or int(self._library["nvrtcGetCUBINSize"](ctypes.c_void_p(program), None))
        ctypes.c_size_t.from_address(size).value = len(made)
        return 0

    def _cubin(self, program: int) -> tuple[int, bytes]:
        """The status of asking for the cubin of a program, and the cubin; nothing if there is none."""
        status, cubin = self._fetch(program, "CUBIN")
        if status or not cubin:
            return status, b""
        status, ptx = self._fetch(program, "PTX")
        return status, b"" if status else code.attach(cubin, ptx)

    def _fetch(self, program: int, what: str) -> tuple[int, bytes]:
        pointer, size = ctypes.c_void_p(program), ctypes.c_size_t()
        status = int(self._library[f"nvrtcGet{what}Size"](pointer, ctypes.byref(size)))
        if status or not size.value:
            return status, b""
        buffer = ctypes.create_string_buffer(size.value)
        return int(self._library[f"nvrtcGet{what}"](pointer, buffer)), buffer.raw


def watch() -> None:
    """Watch the NVRTC that this process has loaded, if any; the loader watches those that come."""
    from .. import nvrtc, pathfinder

    pathfinder.on_load = watched
    for key, loaded in list(pathfinder._loaded.items()):
        if loaded.name == "nvrtc":
            pathfinder._loaded[key] = watched(loaded)
    for symbol in ("nvrtcGetCUBIN", "nvrtcGetCUBINSize"):
        for name in (f"_c_{symbol}", f"_c__{symbol}"):  # the second where a function by hand stands before it
            written = vars(nvrtc).get(name)
            if written is not None:  # for the library as it was
                function = nvrtc.libnvrtc.symbol(symbol)
                function.argtypes = written.argtypes
                vars(nvrtc)[name] = function


def watched(loaded: Any) -> Any:
    """A loaded NVRTC whose cubins carry their PTX."""
    if loaded.name != "nvrtc" or isinstance(loaded.handle, Watched):
        return loaded
    return loaded._replace(handle=Watched(loaded.handle))
