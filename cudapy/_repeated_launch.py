"""cuLaunchKernel where a program launches the same again: a loop has other arguments, and the same grid."""

from __future__ import annotations

import ctypes
import os
import struct

from ._ffi.library import named_after, renamed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ._ffi.library import Library

    F = TypeVar("F", bound=Callable[..., Any])

_CONFIG = struct.Struct("7I4xQQI4x")
"""A CUlaunchConfig without attributes. Its class, and those beside it, take milliseconds to make."""
_Config = ctypes.c_char * _CONFIG.size

SWITCH = "CUDAPY_REPEATED_LAUNCH"
"""The environment variable: with "0", cuLaunchKernel is always the C function of that name."""


def with_repeated_launches(library: Library, function: F) -> F:
    """`function`, the declared cuLaunchKernel, under its public name; repeated launches as SWITCH says."""
    if os.environ.get(SWITCH) == "0":
        return renamed(function)
    return named_after(function, RepeatedLaunch(library, function).function())


class RepeatedLaunch:
    """Has a launch that repeats the last but for its arguments go through cuLaunchKernelEx.

    C takes four arguments then in place of eleven: the grid, the block and the stream lie in a CUlaunchConfig
    that the launches before have left. With a driver that does nothing, that takes two thirds of the time.
    Once two launches in a row were the same, the third is a repeated one; any other is a cuLaunchKernel.

    Arguments are compared by identity, which costs least: small ints and constants of a loop are the same
    objects each time. The value of the stream object is compared, too, as it can change.
    """

    _NONE: tuple[Any, ...] = (object(), *[None] * 15)  # no argument is this object

    def __init__(self, library: Library, function: Callable[..., Any]) -> None:
        self._library = library
        self._function = function
        self._before = self._NONE
        self._found: dict[str, Any] = {}

    def function(self) -> Callable[..., Any]:
        """The function. What it reads at each call are variables of its own: that is fastest."""
        function, repeat, last = self._function, self._repeat, self._NONE
        pointers: Any = None
        success: Any = None

        def cuLaunchKernel(
            f: Any,
            gridDimX: Any,
            gridDimY: Any,
            gridDimZ: Any,
            blockDimX: Any,
            blockDimY: Any,
            blockDimZ: Any,
            sharedMemBytes: Any,
            hStream: Any,
            kernelParams: Any,
            extra: Any,
        ) -> Any:
            nonlocal last, pointers, success
            (
                kernel, gx, gy, gz, bx, by, bz, shared, stream, no_extra,
                held, then, config, address, table, launch_ex,
            ) = last  # fmt: skip
            if (
                f is kernel
                and hStream is stream
                and gridDimX is gx
                and blockDimX is bx
                and sharedMemBytes is shared
                and gridDimY is gy
                and gridDimZ is gz
                and blockDimY is by
                and blockDimZ is bz
                and extra is no_extra
                and held == then
            ):
                if kernelParams is not address:
                    table = pointers(kernelParams, None, "cuLaunchKernel: kernelParams")
                err = launch_ex(config, f, table, None)
                return (type(success[0])(err),) if err else success
            shape = (gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes)
            result = function(f, *shape, hStream, kernelParams, extra)
            if not result[0]:
                launch = repeat((f, *shape, hStream, extra), kernelParams)
                if launch is not None:
                    from ._ffi.convert import pointers

                    success, last = result, launch
            return result

        return cuLaunchKernel

    def _repeat(self, now: tuple[Any, ...], kernelParams: Any) -> tuple[Any, ...] | None:
        """What a launch like this one is compared with and passes, once there were two in a row."""
        if any(a is not b for a, b in zip(now, self._before, strict=False)):
            self._before = now
            if not self._found:  # in the first launch, which takes longer anyway
                symbol = ("cuLaunchKernelEx",)
                self._library.bind(self._library.symbol(*symbol), "launch_ex", self._found, *symbol)
            return None
        from ._ffi.convert import word
        from ._types.driver.handles import CUfunction, CUstream

        f, *shape, hStream, extra = now
        if type(f) is not CUfunction or type(hStream) is not CUstream:
            return None
        if extra is not None and (type(extra) is not int or extra):
            return None
        if any(type(number) is not int for number in shape):
            return None
        address = kernelParams if type(kernelParams) is int else object()
        table = word(kernelParams) if type(kernelParams) is int else None
        held = memoryview(hStream).cast("B").cast("Q")  # what the object holds, and held then: no int to make
        then = memoryview(bytes(held)).cast("Q")
        config = _Config.from_buffer_copy(_CONFIG.pack(*shape, *then, 0, 0))
        return *now, held, then, ctypes.byref(config), address, table, self._found["launch_ex"]
