"""The simulator as shared libraries, for programs that open NVIDIA's by name instead of importing cudapy."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from functools import partial

from ..._pathfinder.libraries import MAJORS
from ..._process import forks
from ..options import read, release
from ..process import is_enabled, nccl_table, nvml_table, runtime_of, tables
from . import bindings, nccl, nvml, triton
from .compilers import open_compilers
from .driver import SONAME, open_driver
from .imported import Finder
from .loaded import opened
from .machine_code import SLOTS
from .runtime import open_runtime, soname

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..library import Table
    from .compilers import Compiler
    from .loaded import SharedLibrary

_lock = threading.RLock()
_libraries: dict[str, SharedLibrary] = {}
_compilers: list[Compiler] = []


@forks.in_child
def _forked() -> None:
    """In a child, which has one thread: another one of the parent may have held the lock."""
    global _lock
    _lock = threading.RLock()


def install() -> None:
    """Open the libraries in this process. Does nothing the second time. Raises RuntimeError."""
    from .. import pytorch

    with _lock:
        if not any(isinstance(finder, Finder) for finder in sys.meta_path):
            then = {"torch": pytorch.attach, "triton": triton.provide}
            sys.meta_path.insert(0, Finder({**bindings.actions(_runtime_entries), **then}))
            pytorch.choose_allocator()
        if "driver" not in _libraries:
            there = opened(SONAME)
            _take("driver", there if hasattr(there, SLOTS) else None)
        if "nvml" not in _libraries:
            _compilers.extend(open_compilers())
            for major in MAJORS:
                key, there = f"runtime {major}", opened(soname(major))
                if key not in _libraries and (there is None or hasattr(there, SLOTS)):
                    _libraries[key] = open_runtime(major, _runtime, there)
            if opened(nvml.SONAME) is None:
                _libraries["nvml"] = nvml.open_nvml(nvml_table)
        if "nccl" not in _libraries:
            there = opened(nccl.SONAME)
            if there is None or hasattr(there, SLOTS):
                _libraries["nccl"] = nccl.open_nccl(nccl_table, there)


def adopt(path: str) -> None:
    """Be what a library calls that was written to a file and that this process has opened.

    If the process is not Python's, which then has no command line, it ends without Python's end: what that
    prints is printed at the process'.
    """
    from .. import record

    with _lock:
        handle = ctypes.CDLL(path)
        majors = {soname(major): major for major in MAJORS}
        name = os.path.basename(path)
        if name in majors:
            _libraries[f"runtime {majors[name]}"] = open_runtime(majors[name], _runtime, handle)
        elif name == nccl.SONAME:
            _libraries["nccl"] = nccl.open_nccl(nccl_table, handle)
        else:
            first = opened(SONAME)
            is_first = first is not None and first._handle == handle._handle
            _take("driver" if is_first else path, handle)
        if not sys.orig_argv and not _at_exit:
            record.note_step(record.STARTED)
            _at_exit.append(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(partial(_end, os.getpid())))
            ctypes.CDLL(None)["__cxa_atexit"](_at_exit[0], None, None)
    install()


_at_exit: list[Any] = []


def _end(process: int, _: object) -> None:
    """At the end of a process that is not Python's. process: the one that has allocated, not a fork of it."""
    from ..devices.context import finish_if_checked
    from ..log import log
    from ..memory.leaks import note_leaks_if_asked

    if os.getpid() == process:
        finish_if_checked()
    log.tell()
    if os.getpid() == process:
        note_leaks_if_asked()


def _take(key: str, handle: ctypes.CDLL | None) -> None:
    """Have a libcuda.so.1 that is open, or a new one, call the simulator."""
    from ..entry_points import Release

    if key not in _libraries:
        version = Release.number if is_enabled() else release(read("driver_version"))
        library = _libraries[key] = open_driver(version, _driver, handle)
        if key == "driver":
            library.tell_forks()
            library.start_watchdog()


def _driver() -> Table:
    """The simulated driver; C finds its functions in the shared library."""
    from .threads import keep_states

    with _lock:
        table = tables()["driver"]
        if not table.entries:
            library = _libraries["driver"]
            keep_states(library.thread_end())
            table.entries = library.entries
        return table


def _runtime(major: int) -> Table:
    """The simulated runtime of a major, on the driver that C finds: threads keep their state for both."""
    _driver()
    return runtime_of(major)


def _runtime_entries(major: int) -> Mapping[str, int]:
    """The addresses of the functions of a libcudart of this process; none if it is not the simulator's."""
    entries = _libraries.get(f"runtime {major}")
    return {} if entries is None else entries.entries
