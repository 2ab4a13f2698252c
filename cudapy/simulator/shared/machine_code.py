"""The machine code of a library whose functions are elsewhere: `x86_64` and `aarch64` have it.

A function jumps through its slot, a pointer in a table that can be written. At first the slot leads to the
second half of the function, which asks the resolver to fill it, and then jumps through it again:

    entry i:    jump to slots[i]
    lazy i:     status = resolver(i), all argument registers kept
                return status if it is not 0, else jump to slots[i]

A function that is Python's must not run while a Python exception is pending, as it is when a destructor in C
calls the driver. Its slot leads to its guard, if its arguments are in registers:

    guard i:    GetThisThreadState(); if there is none, jump to targets[i]
                Ensure(), Fetch(), call targets[i], Restore(), Release()

Nor must the garbage collector run in it: what it finalizes may wait for a lock that the caller holds. So
around the call, with the words of `gc_pause`:

    before:     if Disable(): was_enabled = 1; calls += 1
    after:      calls -= 1; if not calls and not working and was_enabled: was_enabled = 0, Enable()

A function that must not be run any more has a slot that leads to a `constant`: it returns a number. One that
finds the text of an error has its own `text`, and the address of a table:

    text:       table[0] texts follow table[1], which is that of all other numbers

The library of a program that has no Python has `boot` for its resolver, which starts one. `thread_end` gives
back Python's state of a thread: see `threads`.

A call on a thread of which Python knows nothing starts `watchdog`, a thread that needs no GIL: it says when
nobody has had the GIL for WATCHDOG_SECONDS, as when the one that holds it waits for the call.

Python learns of a fork that C makes by three functions of `forks`, which pthread_atfork takes:

    prepare:    held = 0; if not Check(), as it is in os.fork: held = 1 + Ensure(), BeforeFork()
    parent:     if held: AfterFork_Parent(), Release(held - 1)
    child:      if held: AfterFork_Child(), Release(held - 1)

Sources: System V ABI for AMD64, chapter 3.2; Procedure Call Standard for the Arm 64-bit Architecture, chapter
6; the instruction sets' reference manuals.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ..engine.assembler.code import Code, Symbol

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILED = 999  # CUDA_ERROR_UNKNOWN: Python does not start
NULL, ZERO, ZEROS = -1, -4, -5
"""Numbers of constants that return 0, and store zeros where arguments point: see STORES."""
STORES = {NULL: ((0, True),), ZERO: ((0, False),), ZEROS: ((1, False), (2, False))}
"""The places of these arguments, and whether a pointer is stored there, or an int."""
STORES_TEXT, RETURNS_TEXT = -2, -3
"""Instead of a number: `text`, like cuGetErrorString, or like cudaGetErrorString."""
TEXT_FAILED = 1  # CUDA_ERROR_INVALID_VALUE


BOOT_CALLS = (
    "pthread_once",
    "dlopen",
    "Py_IsInitialized",
    "Py_InitializeEx",
    "PyEval_SaveThread",
    "PyGILState_Ensure",
    "PyRun_SimpleString",
    "PyGILState_Release",
)
"""What `boot` calls: symbols of other libraries."""
GUARD_CALLS = (
    "PyGILState_GetThisThreadState",
    "PyGILState_Ensure",
    "PyErr_Fetch",
    "PyGC_Disable",
    "PyErr_Restore",
    "PyGC_Enable",
    "PyGILState_Release",
)
"""What a guard calls; their addresses are in a table, in this order, and behind them is that of PAUSE."""
PAUSE = ("calls", "working", "was_enabled")
"""The words of `gc_pause`: calls through guards, other calls and threads at work, and whether the collector
is to be enabled once there are none."""
FORK_CALLS = (
    "PyGILState_Check",
    "PyGILState_Ensure",
    "PyOS_BeforeFork",
    "PyOS_AfterFork_Parent",
    "PyOS_AfterFork_Child",
    "PyGILState_Release",
)
"""What `forks` calls; their addresses are in a table, in this order, and behind them is `held`. As long as
the first is NULL, forks call nothing."""
WATCHDOG = (
    "create",
    "sleep",
    "write",
    "dump",
    "probe",
    "text",
    "length",
    "interpreter",
    "beats",
    "started",
    "thread",
)
"""The words of the table of `watchdog`: pthread_create, usleep, write, _Py_DumpTracebackThreads or NULL, what
counts `beats` as long as it gets the GIL, what is written if it does not, and what for `dump`. As long as the
first is NULL, nothing is watched."""
WATCHDOG_SECONDS = 10
PROMOTED = 0x2 | 0x4 | 0x100
"""RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL: of a library that is open, others find the symbols from then on."""
GUARDED = 6
"""Arguments that a function with a guard has at most."""

ENTRIES, SLOTS, RESOLVER = "cudapy_entries", "cudapy_slots", "cudapy_resolver"
GUARDS, TARGETS, CALLED_BY_GUARDS = "cudapy_guards", "cudapy_targets", "cudapy_guard_calls"
TEXTS = "cudapy_texts"
THREAD_END = "cudapy_thread_end"
THREAD_STEPS = ("cudapy_thread_clear", "cudapy_thread_attach", "cudapy_thread_delete")
"""The functions that THREAD_END calls, in this order."""
FORKS = ("cudapy_fork_prepare", "cudapy_fork_parent", "cudapy_fork_child")
CALLED_BY_FORKS = "cudapy_fork_calls"
WATCHDOG_TABLE = "cudapy_watchdog"
LAZY, GUARD_ALL, WATCHDOG_CODE, BOOT, START = "lazy", "guards", "watchdog", "boot", "start"
"""Labels of code that other libraries do not see."""
ONCE, PROGRAM, PYTHON = "once", "program", "python"
"""What `boot` needs: a pthread_once_t, a Python program, and the soname of libpython, which end in NUL."""


def called(table: str, calls: tuple[str, ...], name: str) -> Symbol:
    """Where the address of a function is, in the table of the functions that code calls."""
    return Symbol(table, 8 * calls.index(name))


def imported(name: str) -> Symbol:
    """Where the address of one of BOOT_CALLS is."""
    return Symbol(f"address of {name}")


class LibraryCode(Code):
    """The code of a library, which grows. Subclasses are for one architecture."""

    MACHINE: int
    """The architecture, as ELF files have it."""
    RELATIVE: int
    """The kind of relocations that put an address of the library in."""
    GLOBAL: int
    """The kind of relocations that put the address of a symbol in."""
    ENTRY: int
    """Bytes of an entry."""
    LAZY_HALF: int
    """Where its second half begins."""
    GUARD = 16
    """Bytes of a guard."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[str, int] = {}
        """The bytes of each function."""

    @contextlib.contextmanager
    def function(self, name: str) -> Iterator[None]:
        """A function of C's calling convention, with labels of its own."""
        self.label(name)
        with self.scope(name):
            yield
        self.align(16)
        self.sizes[name] = len(self.code) - self.labels[name]

    def entry(self, name: str, index: int, arguments: int | None) -> None:
        """A function of the library.

        arguments: how many there are, if it returns a struct in memory, whose address is another one.
        """
        raise NotImplementedError

    def lazy(self) -> None:
        """What all functions share that were not called before."""
        raise NotImplementedError

    def constant(self, name: str, number: int) -> None:
        """A function that returns `number`, which as a pointer is NULL if it is 0."""
        with self.function(name):
            self.returned(number)

    def returned(self, number: int) -> None:
        """Return a number, or do what a number in STORES means."""
        raise NotImplementedError

    def text(self, name: str, kind: int, table: Symbol) -> None:
        """`int text(unsigned number, const char **place)`, or `const char *text(unsigned number)`.

        table: where the address of the texts' addresses is.
        """
        raise NotImplementedError

    def thread_end(self) -> None:
        """`void thread_end(void *state)`: `if (clear(state)) { attach(state); delete(); }`."""
        raise NotImplementedError

    def forks(self) -> None:
        """`prepare`, `parent` and `child`."""
        raise NotImplementedError

    def boot(self) -> None:
        """`int boot(int)`: have the interpreter, which is started if there is none, run the text."""
        raise NotImplementedError

    def watchdog(self) -> None:
        """`void *watchdog(void *)`, which a thread runs."""
        raise NotImplementedError

    def guards(self) -> None:
        """What all guards share."""
        raise NotImplementedError

    def guard(self, target: Symbol) -> None:
        """The guard of the function whose address is at `target`."""
        raise NotImplementedError
