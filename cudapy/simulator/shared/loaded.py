"""A shared library of this process whose functions are Python's: open, by its soname, for every other
library.
"""

from __future__ import annotations

import array
import atexit
import ctypes
import functools
import os
import tempfile
import threading
import time

from ..._process import forks
from .. import immortal
from ..gc_pause import gc_pause
from ..memory.pages import unnamed_file
from ..stderr import say_mistake
from . import library_file, machine_code
from .architectures import this_machine
from .machine_code import FORK_CALLS, GUARD_CALLS, GUARDED, WATCHDOG, WATCHDOG_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_NOLOAD = getattr(os, "RTLD_NOLOAD", 4)
_NO_GIL = (
    f"cudapy simulator: for {WATCHDOG_SECONDS} s a thread has held Python's interpreter lock (GIL) in code "
    "that is not Python's. The simulator needs the lock: if that code waits for another thread's call of "
    "CUDA, both wait forever. Python's threads:\n"
).encode()
_RESOLVER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


class SharedLibrary:
    """The library `soname`, open for every later dlopen of that name in this process.

    functions: by name, what a function is once the interpreter ends, when no Python may run: see
        `library_file.build` and `shutdown.answer`.
    resolve: called at the first call of a function with its name; returns the C function that it is, good for
        as long as the process runs: a function of ctypes that calls Python, or the address of another one.
    failed: what a function returns if `resolve` raises; that is printed.
    structs, version: see `library_file.build`.
    handle: such a library that was written to a file and is open, instead of a new one.
    aliases: other names that the library is opened by, such as "libcuda.so".

    Raises RuntimeError if the process has such a library already, or if there is no code for this machine.
    """

    def __init__(
        self,
        soname: str,
        functions: Mapping[str, int],
        resolve: Callable[[str], Any],
        failed: int,
        aliases: tuple[str, ...] = (),
        structs: Mapping[str, int] | None = None,
        handle: ctypes.CDLL | None = None,
        version: str = "",
    ) -> None:
        self.soname = soname
        self._functions = dict(functions)
        self._structs = structs
        self._version = version
        self._resolve = resolve
        self._failed = failed
        self._lock = threading.RLock()
        self._is_over = False
        self._machine = this_machine()
        handle = self._handle = self._open(aliases) if handle is None else handle
        first = _address(handle, machine_code.ENTRIES)
        self.entries = {name: _address(handle, name) for name in functions}
        """The addresses of the functions."""
        self._names = {
            (address - first) // self._machine.ENTRY: name for name, address in self.entries.items()
        }
        self._slots = (ctypes.c_void_p * (1 + max(self._names))).in_dll(handle, machine_code.SLOTS)
        with_resolver = ctypes.c_void_p * (len(self._slots) + 1)
        self._targets = with_resolver.in_dll(handle, machine_code.TARGETS)
        self._guards = _address(handle, machine_code.GUARDS)
        self._find(GUARD_CALLS, machine_code.CALLED_BY_GUARDS)
        pause = (ctypes.c_void_p * (len(GUARD_CALLS) + 1)).in_dll(handle, machine_code.CALLED_BY_GUARDS)
        pause[len(GUARD_CALLS)] = immortal.address_of(gc_pause.words)
        self._callback = _RESOLVER(self._fill)
        resolver = ctypes.c_void_p.in_dll(handle, machine_code.RESOLVER)
        resolver.value = self._guarded(len(self._slots), self._callback)
        atexit.register(self._end)
        forks.in_child(self._forked)

    def _find(self, functions: tuple[str, ...], table: str) -> None:
        """Fill a table with the addresses of Python's functions."""
        addresses = (ctypes.c_void_p * len(functions)).in_dll(self._handle, table)
        for i, name in reversed([*enumerate(functions)]):  # what looks at the first finds them all
            addresses[i] = _address(ctypes.pythonapi, name)

    def _open(self, aliases: tuple[str, ...]) -> ctypes.CDLL:
        """The library itself."""
        if any(map(opened, (self.soname, *aliases))):
            raise RuntimeError(f"the simulator comes too late: this process has opened another {self.soname}")
        data = library_file.build(
            self._machine, self.soname, self._functions, structs=self._structs, version=self._version
        )
        handle = open_bytes(data, self.soname)
        for alias in aliases:
            open_bytes(alias_of(self.soname, alias), alias)
        return handle

    def _fill(self, index: int) -> int:
        """What the library calls at the first call of a function."""
        try:
            function = self._resolve(self._names[index])
        except BaseException as error:
            say_mistake(self._names[index], error)
            return self._failed
        with self._lock:
            if self._is_over:
                return self._failed
            if isinstance(function, int):
                self._slots[index] = function
            elif _has_guard(function):
                self._slots[index] = self._guarded(index, function)
            else:
                self._slots[index] = ctypes.cast(function, ctypes.c_void_p).value
        return 0

    def _guarded(self, index: int, function: Any) -> int:
        """The address of a guard, which calls `function` from now on."""
        self._targets[index] = ctypes.cast(function, ctypes.c_void_p).value
        return self._guards + self._machine.GUARD * index

    def _forked(self) -> None:
        """In a child, which has one thread: another one of the parent may have held the lock."""
        self._lock = threading.RLock()

    def thread_end(self) -> int:
        """The address of THREAD_END, which from now on asks for none of its steps: it has them."""
        for index, name in self._names.items():
            if name in machine_code.THREAD_STEPS:
                self._fill(index)
        return _address(self._handle, machine_code.THREAD_END)

    def tell_forks(self) -> None:
        """From now on Python learns of a fork that C makes, as it does of its own: the thread holds the GIL
        during the fork, and in the child Python mends its state and calls what `os.register_at_fork` has.
        """
        self._find(FORK_CALLS, machine_code.CALLED_BY_FORKS)
        system = ctypes.CDLL(None)
        handlers = [ctypes.c_void_p(_address(self._handle, name)) for name in machine_code.FORKS]
        if hasattr(system, "__register_atfork"):  # glibc has pthread_atfork for its linker alone
            system["__register_atfork"](*handlers, None)
        else:
            system["pthread_atfork"](*handlers)

    def start_watchdog(self) -> None:
        """From the first call on a thread that Python did not make, say when nobody gets the GIL any more."""
        table = (ctypes.c_void_p * len(WATCHDOG)).in_dll(self._handle, machine_code.WATCHDOG_TABLE)
        place = dict(zip(WATCHDOG, range(len(WATCHDOG)), strict=True))
        beats = (ctypes.c_uint64 * len(WATCHDOG)).in_dll(self._handle, machine_code.WATCHDOG_TABLE)

        def probe(_: object) -> None:
            while not self._is_over:
                beats[place["beats"]] += 1
                time.sleep(1)

        self._probe = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(probe)
        system, main = ctypes.CDLL(None), ctypes.pythonapi["PyInterpreterState_Main"]
        main.restype = ctypes.c_void_p
        dump = "_Py_DumpTracebackThreads"  # as faulthandler's: it needs no GIL
        table[place["dump"]] = _address(ctypes.pythonapi, dump) if hasattr(ctypes.pythonapi, dump) else None
        table[place["interpreter"]] = main()
        table[place["probe"]] = ctypes.cast(self._probe, ctypes.c_void_p).value
        table[place["text"]] = immortal.text(_NO_GIL)
        table[place["length"]] = len(_NO_GIL)
        for name, symbol in (("sleep", "usleep"), ("write", "write"), ("create", "pthread_create")):
            table[place[name]] = _address(system, symbol)

    def _end(self) -> None:
        """From now on Python may end: every function is machine code, and nothing else calls Python's."""
        with self._lock:
            self._is_over = True
            ctypes.c_void_p.in_dll(self._handle, machine_code.WATCHDOG_TABLE).value = None
            ctypes.c_void_p.in_dll(self._handle, machine_code.CALLED_BY_FORKS).value = None
            finders = library_file.texts_of(self._functions)
            if finders:
                addresses = (ctypes.c_void_p * len(finders)).in_dll(self._handle, machine_code.TEXTS)
                addresses[:] = [_table(name) for name in finders]
            ends = {name: library_file.end_name(name, kind) for name, kind in self._functions.items()}
            addresses_of = {symbol: _address(self._handle, symbol) for symbol in {*ends.values()}}
            for index, name in self._names.items():
                self._slots[index] = addresses_of[ends[name]]


@functools.cache
def _table(symbol: str) -> int:
    """The address of the texts that a function finds: see `machine_code`."""
    from ..error_texts import UNRECOGNIZED, texts_of

    texts = texts_of(symbol)
    other = immortal.text(UNRECOGNIZED[symbol].encode()) if symbol in UNRECOGNIZED else 0
    count = max(texts) + 1
    table = array.array("Q", [other]) * (2 + count)
    table[0] = count
    for code, found in texts.items():
        table[2 + code] = immortal.text(found.encode())
    return immortal.address_of((ctypes.c_uint64 * len(table)).from_buffer(table))


def _has_guard(function: Any) -> bool:
    """Whether it is Python's, and has all its arguments in registers for integers."""
    kinds = getattr(type(function), "_argtypes_", None)
    others = (ctypes.Structure, ctypes.Union, ctypes.c_float, ctypes.c_double)
    return kinds is not None and len(kinds) <= GUARDED and not any(issubclass(kind, others) for kind in kinds)


def _address(library: ctypes.CDLL, symbol: str) -> int:
    return ctypes.cast(library[symbol], ctypes.c_void_p).value or 0


def alias_of(soname: str, alias: str) -> bytes:
    """The bytes of a library `alias` that has what the library `soname` has."""
    return library_file.build(this_machine(), alias, {"cudapy_alias": 1}, needed=(soname,))


def opened(name: str) -> ctypes.CDLL | None:
    """The library of this name that this process has opened; None if it has none."""
    try:
        return ctypes.CDLL(name, _NOLOAD)
    except OSError:
        return None


def open_bytes(data: bytes, name: str) -> ctypes.CDLL:
    """The library whose file would have the bytes `data`, open. `name` is for messages of others.

    The file is in memory and has no name; it stays open, as the loader takes one of the same number for it.
    Where there are no such files, it is a temporary one.
    """
    if hasattr(os, "memfd_create"):
        descriptor = unnamed_file(name)
        path = f"/proc/self/fd/{descriptor}"
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        return ctypes.CDLL(path)
    with tempfile.NamedTemporaryFile(prefix=name) as file:
        file.write(data)
        file.flush()
        return ctypes.CDLL(file.name)
