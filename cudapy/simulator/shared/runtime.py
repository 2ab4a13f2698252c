"""The simulator's libcudart, for libraries of this process that open it by name.

A libcudart that is linked statically asks the driver for tables that NVIDIA does not document, and gets none.
"""

from __future__ import annotations

import ctypes
import platform
import re
from functools import partial
from typing import Any

from ... import runtime
from ..._ffi.library import symbol_of
from ..entry_points import IMPLICIT_STREAM, release_of
from .loaded import SharedLibrary
from .shutdown import answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..library import Table

UNLOADING, UNKNOWN = 4, 999  # cudaErrorCudartUnloading, cudaErrorUnknown
STRUCTS = {"cudaCreateChannelDesc": 5}
REGISTERED = (
    "__cudaGetKernel",
    "__cudaInitModule",
    "__cudaLaunchKernel",
    "__cudaLaunchKernel_ptsz",
    "__cudaPopCallConfiguration",
    "__cudaPushCallConfiguration",
    "__cudaRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd",
    "__cudaRegisterFunction",
    "__cudaRegisterManagedVar",
    "__cudaRegisterVar",
    "__cudaUnregisterFatBinary",
)
"""What C++ calls that nvcc has compiled: see `simulator.runtime.registered`."""
OLDER = {12: ("cudaStreamGetCaptureInfo", "cudaStreamGetCaptureInfo_ptsz")}
"""What a libcudart exports besides what `cudapy.runtime` declares: older versions of functions."""
_STREAM = re.compile(r"cudaStream_t \w")


def functions(major: int) -> dict[str, int]:
    """What the libcudart of a CUDA major exports, and what that is when Python ends."""
    newest = divmod(release_of(major) // 10, 100)
    answers: dict[str, int] = {}
    for value in vars(runtime).values():
        declaration = getattr(value, "__declaration__", None)
        if declaration is None or tuple(map(int, (declaration.since or "0.0").split("."))) > newest:
            continue
        prototype = declaration.prototype
        symbol = declaration.symbols.get(major, symbol_of(prototype))
        if symbol is None:
            continue
        code = answer(symbol, UNLOADING)
        answers[symbol] = code
        if _STREAM.search(prototype) or symbol in IMPLICIT_STREAM:
            answers[f"{symbol}_ptsz"] = code
        elif symbol.startswith(("cudaMemcpy", "cudaMemset")):
            answers[f"{symbol}_ptds"] = code
    answers |= {symbol: answer(symbol, UNLOADING) for symbol in OLDER.get(major, ())}
    return {**answers, **dict.fromkeys(REGISTERED, 0)}


def soname(major: int) -> str:
    """What the libcudart of a CUDA major is opened by; the version of its symbols has the same name."""
    return f"libcudart.so.{major}"


def open_runtime(
    major: int, table: Callable[[int], Table], handle: ctypes.CDLL | None = None
) -> SharedLibrary:
    """Open it, or take the one with this handle, which was written to a file.

    table: makes, or finds, the simulated runtime of a major, at the first call of a function. Raises
    RuntimeError as SharedLibrary does.
    """
    resolver = partial(resolve, table, major)
    name, structs = soname(major), STRUCTS
    return SharedLibrary(
        name, functions(major), resolver, UNKNOWN, structs=structs, handle=handle, version=name
    )


_kept: list[Any] = []


def resolve(table: Callable[[int], Table], major: int, symbol: str) -> Any:
    """The C function of that name."""
    from ..callbacks import ByValue

    callback = table(major).callback(symbol)
    if isinstance(callback, ByValue):
        callback = _returning(callback)
    _kept.append(callback)
    return callback


def _returning(function: Any) -> Any:
    """A function of ints that returns a struct in memory: C passes the address of that, see
    `machine_code`.
    """
    struct: Any = function.struct
    first = platform.machine() == "x86_64"
    count = STRUCTS["cudaCreateChannelDesc"]
    kinds: list[Any] = [ctypes.c_int] * count
    kinds.insert(0 if first else count, ctypes.c_void_p)

    def returning(*arguments: int) -> int:
        *numbers, place = (*arguments[1:], arguments[0]) if first else arguments
        result = function(*numbers)
        ctypes.memmove(place, ctypes.addressof(result), ctypes.sizeof(struct))
        return place

    return ctypes.CFUNCTYPE(ctypes.c_void_p, *kinds)(returning)
