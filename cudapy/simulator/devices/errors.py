"""Status codes by name, the driver's log, its entry points by name."""

import ctypes
import os

from ..._types.driver.enums import CUdriverProcAddressQueryResult as Found
from ..addresses import Pointer, require, require_code
from ..entry_points import Release, find
from ..error_texts import texts_of
from ..immortal import text
from ..library import provides
from ..log import SIZE, log
from ..refused import Refused, invalid
from ..tables import tables

PER_THREAD = 2  # CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM


@provides("driver")
def cuGetErrorName(error: int) -> int:
    return _text("cuGetErrorName", error)


@provides("driver")
def cuGetErrorString(error: int) -> int:
    return _text("cuGetErrorString", error)


def _text(symbol: str, error: int) -> int:
    found = texts_of(symbol).get(error)
    if found is None:
        raise invalid(f"{error} is not a CUresult")
    return text(found.encode())


@provides("driver")
def cuLogsCurrent(flags: int) -> int:
    _no_flags(flags)
    return log.current()


@provides("driver")
def cuLogsRegisterCallback(callbackFunc: int, userData: int | None) -> int:
    return log.call(require_code(callbackFunc, "the callback"), userData)


@provides("driver")
def cuLogsUnregisterCallback(callback: int) -> None:
    log.forget(callback)


@provides("driver")
def cuLogsDumpToMemory(iterator: Pointer, buffer: int | None, size: Pointer, flags: int) -> None:
    _no_flags(flags)
    data = log.since(iterator[0] if iterator else 0)
    if not buffer:
        size[0] = SIZE
        return
    if not size[0]:
        raise invalid("the buffer has no bytes")
    data = data[max(len(data) + 1 - size[0], 0) :]
    ctypes.memmove(require(buffer, len(data) + 1, "buffer"), data + b"\0", len(data) + 1)
    size[0] = len(data)
    if iterator:
        iterator[0] = log.current()


@provides("driver")
def cuLogsDumpToFile(iterator: Pointer, pathToFile: bytes | None, flags: int) -> None:
    _no_flags(flags)
    if pathToFile is None:
        raise invalid("the path is NULL")
    try:
        with open(os.fsdecode(pathToFile), "wb") as file:
            file.write(log.since(iterator[0] if iterator else 0))
    except OSError as error:
        raise Refused("CUDA_ERROR_FILE_NOT_FOUND", str(error)) from None
    if iterator:
        iterator[0] = log.current()


def _no_flags(flags: int) -> None:
    if flags:
        raise invalid(f"flags must be 0, not {flags}")


@provides("driver")
def cuGetProcAddress_v2(
    symbol: bytes | None, pfn: Pointer, cudaVersion: int, flags: int, symbolStatus: Pointer | None
) -> None:
    if symbol is None or not 0 < cudaVersion <= Release.number or flags & ~3:
        raise invalid(f"no symbol, a CUDA version other than 1 .. {Release.number}, or unknown flags")
    status, address = Found.CU_GET_PROC_ADDRESS_SUCCESS, None
    entry = find(symbol.decode(errors="replace"), cudaVersion, bool(flags & PER_THREAD))
    if entry is None:
        status = Found.CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
    elif not entry:
        status = Found.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
    else:
        address = tables["driver"].address(entry)
    pfn[0] = address
    if symbolStatus:
        symbolStatus[0] = int(status)


@provides(
    "driver",
    prototype="CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)",
)
def cuGetProcAddress(symbol: bytes | None, pfn: Pointer, cudaVersion: int, flags: int) -> None:
    cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, None)
    if not pfn[0]:
        raise Refused("CUDA_ERROR_NOT_FOUND", f"CUDA {cudaVersion} has no {symbol!r}")
