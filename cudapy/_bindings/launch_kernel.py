"""cuLaunchKernel in Python: by way of cuLaunchKernelEx, which takes four arguments where it takes eleven."""

from __future__ import annotations

import ctypes
import struct

from .._ffi.library import attach_lane, named_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .._ffi.library import Library

    F = TypeVar("F", bound=Callable[..., Any])


def launch_kernel(library: Library, function: F) -> F:
    """`function`, the declared cuLaunchKernel, under its public name, and faster.

    ctypes looks at each argument, so four take a third of the time of eleven. The grid, the block and the
    stream are packed into a CUlaunchConfig; that of the last launch is used again for the same objects. What
    cannot be packed is left to `function`, which says what is wrong.

    With a fast lane cuLaunchKernel remains the C function. Then what comes here is, most often, values and
    their types: they are packed, and their address takes the lane.
    """
    none = object()  # which no argument is
    last: tuple[Any, ...] = (none, *[None] * 13)
    wrong = struct.error
    lane: Any = None
    packed: Any = None
    success: Any = None
    pack: Any = None
    pointers: Any = None
    launch_ex: Any = None
    CUfunction: Any = None
    CUstream: Any = None
    launch: Any = None

    def pointed(*arguments: Any) -> Any:
        """The launch with the address of what `pointers` makes of the last but one argument."""
        from .._ffi.convert import pointers

        *before, given, extra = arguments
        table = pointers(given, None, "cuLaunchKernel: kernelParams")
        return launch(*before, table and ctypes.addressof(table), extra)

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
        nonlocal last, lane, packed, success, pack, pointers, launch_ex, CUfunction, CUstream
        if lane is None:
            lane = attach_lane(function.__declaration__, cuLaunchKernel) or False  # type: ignore[attr-defined]
            if lane:
                return cuLaunchKernel(
                    f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
                    hStream, kernelParams, extra,
                )  # fmt: skip
        if lane and type(kernelParams) is tuple:
            if packed is None:
                from .._ffi.pointers import PackedLaunches

                packed = PackedLaunches(cuLaunchKernel, pointed)
            try:
                values, types = kernelParams
                run = packed[types] if type(values) is tuple else pointed
            except (TypeError, ValueError):
                run = pointed
            return run(
                f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream,
                kernelParams, extra,
            )  # fmt: skip
        (
            kernel, gx, gy, gz, bx, by, bz, shared, stream, value, no_extra, config, address, table,
        ) = last  # fmt: skip
        if not (
            f is kernel
            and gridDimX is gx
            and blockDimX is bx
            and hStream is stream
            and sharedMemBytes is shared
            and gridDimY is gy
            and gridDimZ is gz
            and blockDimY is by
            and blockDimZ is bz
            and extra is no_extra
            and hStream.value == value
        ):
            config = None
            if (
                type(f) is CUfunction
                and type(hStream) is CUstream
                and (extra is None or (type(extra) is int and not extra))
            ):
                value = hStream.value
                try:
                    config = pack(
                        gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
                        value, 0, 0,
                    )  # fmt: skip
                except wrong:  # cuLaunchKernel says what
                    config = None
            if config is None:
                result = function(
                    f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes,
                    hStream, kernelParams, extra,
                )  # fmt: skip
                if not lane and success is None and not result[0]:
                    success = result
                    from .._ffi import convert, packed_launch
                    from .._types.driver import handles

                    pack, pointers = packed_launch.CONFIG.pack, convert.pointers
                    launch_ex = _launch_ex(library)
                    CUfunction, CUstream = handles.CUfunction, handles.CUstream
                return result
            table = pointers(kernelParams, None, "cuLaunchKernel: kernelParams")
            address = kernelParams if type(kernelParams) is int else none
            last = (
                f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream,
                value, extra, config, address, None if address is none else table,
            )  # fmt: skip
        elif kernelParams is not address:
            table = pointers(kernelParams, None, "cuLaunchKernel: kernelParams")
        err = launch_ex(config, f, table, None)
        return (type(success[0])(err),) if err else success

    function.__declaration__.public = cuLaunchKernel, cuLaunchKernel.__code__  # type: ignore[attr-defined]
    launch = named_after(function, cuLaunchKernel)
    return launch  # type: ignore[no-any-return]


def _launch_ex(library: Library) -> Any:
    """cuLaunchKernelEx, bound in the first launch, which takes longer anyway."""
    found: dict[str, Any] = {}
    symbol = ("cuLaunchKernelEx",)
    library.bind(library.symbol(*symbol), "launch_ex", found, *symbol)
    return found["launch_ex"]
