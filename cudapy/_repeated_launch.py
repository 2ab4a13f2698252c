"""cuLaunchKernel by way of cuLaunchKernelEx, which takes four arguments where it takes eleven."""

from __future__ import annotations

import ctypes
import os
import struct

from ._ffi.library import attach_lane, named_after, renamed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from ._ffi.library import Library

    F = TypeVar("F", bound=Callable[..., Any])

_CONFIG = struct.Struct("7I4xQQI4x")
"""A CUlaunchConfig without attributes. Its class, and those beside it, take milliseconds to make."""
_Config = ctypes.c_char * _CONFIG.size

REMEMBERED = 64
"""How many pairs of kernel and stream have a launch that is remembered; with more of them it begins anew."""
ROW, LONGER_ROW = 1, 64
"""How often a launch is repeated before it is remembered, and before it takes the place of another one."""
SWITCH = "CUDAPY_REPEATED_LAUNCH"
"""The environment variable: with "0", cuLaunchKernel is always the C function of that name."""


def with_repeated_launches(library: Library, function: F) -> F:
    """`function`, the declared cuLaunchKernel, under its public name; later launches as SWITCH says."""
    if os.environ.get(SWITCH) == "0":
        return renamed(function)
    return named_after(function, RepeatedLaunch(library, function).function())


class RepeatedLaunch:
    """Has launches go through cuLaunchKernelEx, once one was successful.

    ctypes looks at each argument, so four take a third of the time of eleven, with a driver that does
    nothing. The grid, the block and the stream lie in a CUlaunchConfig. It is packed for the launch, or left
    by an earlier one that was the same but for its arguments: one is remembered of each kernel in each
    stream, since programs launch kernels in turns. What cannot be packed, and handles that are not CUfunction
    and CUstream, are left to cuLaunchKernel, which says what is wrong.

    Arguments are compared by identity, which costs least: small ints and constants of a loop are the same
    objects each time. The value of the stream object is compared, too, as it can change.

    Where there is a fast lane, this is what is left to it: other `kernelParams` than an address.
    """

    _NONE: tuple[Any, ...] = (object(), *[None] * 14)  # no argument is this object

    def __init__(self, library: Library, function: Callable[..., Any]) -> None:
        self._library = library
        self._function = function
        # By the addresses of the objects of kernel and stream, which they keep:
        self._rows: dict[int, list[Any]] = {}  # launches with the same extent of the grid, in a row
        self._launches: dict[int, tuple[Any, ...]] = {}  # those that are remembered

    def function(self) -> Callable[..., Any]:
        """The function. What it reads at each call are variables of its own: that is fastest."""
        function, launches, none = self._function, self._launches, self._NONE
        in_a_row, remember = self._in_a_row, self._remember
        last, last_f, last_stream = none, none, none
        pack, wrong = _CONFIG.pack, struct.error
        success: Any = None
        launch_ex: Any = None
        pointers: Any = None
        CUfunction: Any = None
        CUstream: Any = None

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
            nonlocal last, last_f, last_stream, success, launch_ex, pointers, CUfunction, CUstream
            if f is last_f and hStream is last_stream:
                launch = last
            else:
                launch = launches.get(id(f) ^ id(hStream), none)
                last, last_f, last_stream = launch, f, hStream
            (
                kernel, gx, gy, gz, bx, by, bz, shared, stream, no_extra,
                held, then, config, address, table,
            ) = launch  # fmt: skip
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
            config = None
            if (
                type(f) is CUfunction
                and type(hStream) is CUstream
                and (extra is None or (type(extra) is int and not extra))
            ):
                try:
                    config = pack(
                        gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
                        hStream.value, 0, 0,
                    )  # fmt: skip
                except wrong:  # cuLaunchKernel says what
                    config = None
            if config is None:
                result = function(
                    f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
                    hStream, kernelParams, extra,
                )  # fmt: skip
                if success is None and not result[0]:
                    from ._ffi.convert import pointers
                    from ._types.driver.handles import CUfunction, CUstream

                    launch_ex, success = self._launch_ex(), result
                    attach_lane(function.__declaration__, cuLaunchKernel)  # type: ignore[attr-defined]
                return result
            table = pointers(kernelParams, None, "cuLaunchKernel: kernelParams")
            err = launch_ex(config, f, table, None)
            if err:
                return (type(success[0])(err),)
            if in_a_row(f, hStream, gridDimX):
                compared = (
                    f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
                    hStream, extra,
                )  # fmt: skip
                last, last_f, last_stream = remember(compared, kernelParams, config), f, hStream
            return success

        return cuLaunchKernel

    def _launch_ex(self) -> Any:
        """cuLaunchKernelEx, bound in the first launch, which takes longer anyway."""
        found: dict[str, Any] = {}
        symbol = ("cuLaunchKernelEx",)
        self._library.bind(self._library.symbol(*symbol), "launch_ex", found, *symbol)
        return found["launch_ex"]

    def _in_a_row(self, f: Any, hStream: Any, gridDimX: Any) -> bool:
        """Whether there were so many launches in a row of that kernel in that stream that one is kept."""
        key = id(f) ^ id(hStream)
        row = self._rows.get(key)
        if row is None:
            if len(self._rows) >= REMEMBERED:
                self._rows.clear()
                self._launches.clear()
            self._rows[key] = [gridDimX, ROW, ROW, f, hStream]
        elif gridDimX is not row[0]:
            row[0], row[1] = gridDimX, row[2]
        else:
            row[1] -= 1
            if row[1] <= 0:  # less than 0 if another thread counts as well
                row[1] = row[2] = LONGER_ROW
                return True
        return False

    def _remember(self, compared: tuple[Any, ...], kernelParams: Any, config: bytes) -> tuple[Any, ...]:
        """What later launches are compared with, and what they pass."""
        from ._ffi.convert import word

        hStream = compared[8]
        address = kernelParams if type(kernelParams) is int else object()
        table = word(kernelParams) if type(kernelParams) is int else None
        held = memoryview(hStream).cast("B").cast("Q")  # what the object holds, and held then: no int to make
        then = memoryview(bytes(held)).cast("Q")
        kept = ctypes.byref(_Config.from_buffer_copy(config))
        launch = *compared, held, then, kept, address, table
        self._launches[id(compared[0]) ^ id(hStream)] = launch
        return launch
