"""Has each cubin that NVRTC and nvJitLink make in this process carry its PTX: the simulator runs PTX."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from . import images as code
from .watched import Watched

if TYPE_CHECKING:
    from ...pathfinder import Loaded


class WatchedNVRTC(Watched):
    """A libnvrtc whose nvrtcGetCUBIN and nvrtcGetCUBINSize are about cubins with their PTX."""

    def __init__(self, library: Any) -> None:
        both = (ctypes.c_void_p, ctypes.c_void_p)
        super().__init__(
            library, {"nvrtcGetCUBIN": (self._get_cubin, both), "nvrtcGetCUBINSize": (self._get_size, both)}
        )

    def _get_cubin(self, program: int, cubin: int | None) -> int:
        status, code = self._cubin(program)
        if status or not cubin:
            return status or int(self._library["nvrtcGetCUBIN"](ctypes.c_void_p(program), None))
        ctypes.memmove(cubin, code, len(code))
        return 0

    def _get_size(self, program: int, size: int | None) -> int:
        status, cubin = self._cubin(program)
        if status or not size:
            return status or int(self._library["nvrtcGetCUBINSize"](ctypes.c_void_p(program), None))
        ctypes.c_size_t.from_address(size).value = len(cubin)
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


VARIANT = " with PTX and registers"
"""What tells the cubins apart from those that the compilers make by themselves."""


def register(install: Callable[[], object]) -> None:
    """Provide the compilers of this process: those that it has loaded, and those that it loads later.

    install: puts the simulator's shared libraries in place, for libcufile, which opens libcuda.so.1 itself.
    """
    from ... import nvjitlink, nvrtc, pathfinder

    for name in ("nvrtc", "nvJitLink"):
        pathfinder.register(name, partial(_provide, name), variant=VARIANT)
    pathfinder.register("cufile", partial(_provide_cufile, install))
    nvrtc.libnvrtc.rebind()
    nvjitlink.libnvjitlink.rebind()


def _provide_cufile(install: Callable[[], object], major: int | None, below: Callable[[], Loaded]) -> Loaded:
    install()
    return below()


def _provide(name: str, major: int | None, below: Callable[[], Loaded]) -> Loaded:
    loaded = below()
    return loaded._replace(handle=watched(name, loaded.handle))


def watched(name: str, library: Any) -> Any:
    """A compiler, "nvrtc" or "nvJitLink", whose cubins carry their PTX."""
    from .jit_linker import WatchedNvJitLink

    return {"nvrtc": WatchedNVRTC, "nvJitLink": WatchedNvJitLink}[name](library)
