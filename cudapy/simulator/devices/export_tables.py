"""Tables of the driver that are not documented: who asks for them is told why there are none."""

import ctypes
import os
import sys

from .. import record
from ..addresses import Pointer
from ..library import provides
from ..refused import unsupported

_OURS = ("python", "libpython", "_ctypes", "libffi", "libc.", "libc-", "ld-linux")
_FRAMES = 200


class _Info(ctypes.Structure):
    """Dl_info, of dlfcn.h."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("fname", "fbase", "sname", "saddr")]


_told: set[str] = set()


COMPILERS = ("libnvrtc", "libnvJitLink", "libnvvm", "libnvfatbin", "libnvptxcompiler")
"""Libraries that ask, too, and do without."""


@provides("driver")
def cuGetExportTable(pExportTableId: Pointer) -> int:
    path = caller()
    if os.path.basename(path).startswith(COMPILERS):
        raise unsupported("the simulator has no export tables")
    reason = (
        f"{path or 'this program'} has NVIDIA's CUDA runtime (libcudart) linked statically: it asks the "
        "driver for tables that NVIDIA does not document (cuGetExportTable), so it runs on NVIDIA's driver "
        "alone. What calls the driver, or opens libcudart.so by name, runs on the simulator"
    )
    if path not in _told:
        _told.add(path)
        record.note_refusal(path or sys.argv[0], reason)
    raise unsupported(reason)


def caller() -> str:
    """The file of the library that called the driver, on this thread; "" if that was Python."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "backtrace"):
        return ""
    frames = (ctypes.c_void_p * _FRAMES)()
    for i in range(library.backtrace(frames, _FRAMES)):
        path = file_at(frames[i])
        if path and not os.path.basename(path).startswith(_OURS):
            return path
    return ""


def file_at(address: int | None) -> str:
    """The file of the program or library that has an address; "" if none has it."""
    library, info = ctypes.CDLL(None), _Info()
    if not hasattr(library, "dladdr") or not library.dladdr(ctypes.c_void_p(address), ctypes.byref(info)):
        return ""
    return os.fsdecode(ctypes.string_at(info.fname)) if info.fname else ""
