"""The code of a library for x86-64: see `machine_code`.

Sources: System V ABI for AMD64, chapter 3.2.
"""

from ..engine.assembler.code import Symbol
from ..engine.assembler.x86_64 import (
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    RAX,
    RBP,
    RBX,
    RCX,
    RDI,
    RDX,
    RSI,
    RSP,
    YMM,
    Assembler,
    At,
)
from .machine_code import (
    BOOT,
    CALLED_BY_FORKS,
    CALLED_BY_GUARDS,
    FAILED,
    FORK_CALLS,
    FORKS,
    GUARD_ALL,
    GUARD_CALLS,
    LAZY,
    ONCE,
    PAUSE,
    PROGRAM,
    PROMOTED,
    PYTHON,
    RESOLVER,
    SLOTS,
    START,
    STORES,
    STORES_TEXT,
    TEXT_FAILED,
    THREAD_END,
    THREAD_STEPS,
    WATCHDOG,
    WATCHDOG_CODE,
    WATCHDOG_SECONDS,
    WATCHDOG_TABLE,
    LibraryCode,
    called,
    imported,
)

_ARGUMENTS = (RDI, RSI, RDX, RCX, R8, R9)
"""The registers of the first arguments."""


class X86_64(LibraryCode, Assembler):
    """The code of a library for x86-64."""

    MACHINE = 62  # EM_X86_64
    RELATIVE, GLOBAL = 8, 6  # R_X86_64_RELATIVE, R_X86_64_GLOB_DAT
    ENTRY, LAZY_HALF = 16, 6

    def entry(self, name: str, index: int, arguments: int | None) -> None:
        """The address of a struct is the first argument already."""
        self.label(name)
        self.jump_to(Symbol(SLOTS, 8 * index))
        self.push_number(index)
        self.jump(LAZY)

    def lazy(self) -> None:
        kept = (RDI, RSI, RDX, RCX, R8, R9, RAX, R10)
        vectors = 16 * 8  # bytes; with them the stack is at a multiple of 16 again
        status, slots, index = R11, R10, R11
        with self.function(LAZY):
            for register in kept:
                self.push(register)
            self.number("sub", RSP, vectors)
            for i in range(8):
                self.store_vector(At(RSP, 16 * i), YMM[i])
            self.fetch(RDI, At(RSP, vectors + 8 * len(kept)), 4)  # the index, which the entry has pushed
            self.call_at(Symbol(RESOLVER))
            self.word("mov", status, RAX, wide=False)
            for i in range(8):
                self.load_vector(YMM[i], At(RSP, 16 * i))
            self.number("add", RSP, vectors)
            for register in reversed(kept):
                self.pop(register)
            self.test(status, status, wide=False)
            self.jump_if("nz", "failed")
            self.pop(index)
            self.lea(slots, Symbol(SLOTS))
            self.jump_to(At(slots, 0, index, 8))
            self.label("failed")
            self.word("mov", RAX, status, wide=False)
            self.number("add", RSP, 8)
            self.ret()

    def returned(self, number: int) -> None:
        for place, is_wide in STORES.get(number, ()):
            register, is_null = _ARGUMENTS[place], f"null {place}"
            self.test(register, register)
            self.jump_if("z", is_null)
            self.put(At(register), 0, wide=is_wide)
            self.label(is_null)
        self.set(RAX, 0 if number in STORES else number)
        self.ret()

    def text(self, name: str, kind: int, table: Symbol) -> None:
        with self.function(name):
            self.word("mov", RDX, table)
            self.word("mov", RAX, At(RDX, 8))
            self.word("mov", RCX, RDI, wide=False)
            self.word("cmp", RCX, At(RDX))
            self.jump_if("ae", "found")
            self.word("mov", RAX, At(RDX, 16, RCX, 8))
            self.label("found")
            if kind == STORES_TEXT:
                self.test(RSI, RSI)
                self.jump_if("z", "failed")
                self.keep(At(RSI), RAX)
                self.test(RAX, RAX)
                self.jump_if("z", "failed")
                self.returned(0)
                self.label("failed")
                self.returned(TEXT_FAILED)
            else:
                self.ret()

    def thread_end(self) -> None:
        clear, attach, delete = THREAD_STEPS
        with self.function(THREAD_END):
            self.push(RBX)
            self.word("mov", RBX, RDI)
            self.call(clear)
            self.test(RAX, RAX, wide=False)
            self.jump_if("z", "gone")
            self.word("mov", RDI, RBX)
            self.call(attach)
            self.call(delete)
            self.label("gone")
            self.pop(RBX)
            self.ret()

    def forks(self) -> None:
        check, ensure, before, parent, child, release = (
            called(CALLED_BY_FORKS, FORK_CALLS, name) for name in FORK_CALLS
        )
        held = Symbol(CALLED_BY_FORKS, 8 * len(FORK_CALLS))
        with self.function(FORKS[0]):
            self.push(RBX)
            self.word("xor", RBX, RBX, wide=False)
            self.word("mov", RAX, check)
            self.test(RAX, RAX)
            self.jump_if("z", "held")
            self.call_at(RAX)
            self.test(RAX, RAX, wide=False)
            self.jump_if("nz", "held")
            self.call_at(ensure)
            self.lea(RBX, At(RAX, 1))
            self.call_at(before)
            self.label("held")
            self.keep(held, RBX, 4)
            self.pop(RBX)
            self.ret()
        for name, after in zip(FORKS[1:], (parent, child), strict=True):
            with self.function(name):
                self.push(RBX)
                self.fetch(RBX, held, 4)
                self.test(RBX, RBX, wide=False)
                self.jump_if("z", "end")
                self.call_at(after)
                self.lea(RDI, At(RBX, -1))
                self.call_at(release)
                self.label("end")
                self.pop(RBX)
                self.ret()

    def boot(self) -> None:
        with self.function(BOOT):
            self.push(RBX)
            self.lea(RDI, Symbol(ONCE))
            self.lea(RSI, Symbol(START))
            self.call_at(imported("pthread_once"))
            self.call_at(imported("PyGILState_Ensure"))
            self.word("mov", RBX, RAX, wide=False)
            self.lea(RDI, Symbol(PROGRAM))
            self.call_at(imported("PyRun_SimpleString"))
            self.word("mov", RDI, RBX, wide=False)
            self.word("mov", RBX, RAX, wide=False)
            self.call_at(imported("PyGILState_Release"))
            self.word("mov", RAX, RBX, wide=False)
            self.pop(RBX)
            self.test(RAX, RAX, wide=False)
            self.jump_if("z", "ran")
            self.set(RAX, FAILED)
            self.label("ran")
            self.ret()
        with self.function(START):
            self.push(RBX)  # for the stack alone
            self.lea(RDI, Symbol(PYTHON))
            self.set(RSI, PROMOTED)
            self.call_at(imported("dlopen"))
            self.call_at(imported("Py_IsInitialized"))
            self.test(RAX, RAX, wide=False)
            self.jump_if("nz", "end")
            self.word("xor", RDI, RDI, wide=False)
            self.call_at(imported("Py_InitializeEx"))
            self.call_at(imported("PyEval_SaveThread"))
            self.label("end")
            self.pop(RBX)
            self.ret()

    def _report_no_progress(self, after: str) -> None:
        """Write the text, and where all threads are, to stderr; go on at `after`."""
        self.set(RDI, 2)
        self.word("mov", RSI, _watched("text"))
        self.word("mov", RDX, _watched("length"))
        self.call_at(_watched("write"))
        self.word("mov", RAX, _watched("dump"))
        self.test(RAX, RAX)
        self.jump_if("z", after)
        self.set(RDI, 2)
        self.word("mov", RSI, _watched("interpreter"))
        self.word("xor", RDX, RDX, wide=False)
        self.call_at(RAX)
        self.jump(after)

    def watchdog(self) -> None:
        beats, seconds = R12, RBX
        with self.function(WATCHDOG_CODE):
            for register in (RBX, R12, R13):
                self.push(register)
            self.lea(RDI, _watched("thread"))
            self.word("mov", RDX, _watched("probe"))
            self.word("xor", RSI, RSI, wide=False)
            self.word("xor", RCX, RCX, wide=False)
            self.call_at(_watched("create"))
            self.word("xor", beats, beats, wide=False)
            self.label("beat")
            self.word("xor", seconds, seconds, wide=False)
            self.label("again")
            self.set(RDI, 1_000_000)
            self.call_at(_watched("sleep"))
            self.word("mov", RAX, _watched("create"))
            self.test(RAX, RAX)
            self.jump_if("z", "end")
            self.word("mov", RAX, _watched("beats"))
            self.word("cmp", beats, RAX)
            self.word("mov", beats, RAX)
            self.jump_if("ne", "beat")
            self.number("add", seconds, 1, wide=False)
            self.number("cmp", seconds, WATCHDOG_SECONDS, wide=False)
            self.jump_if("ne", "again")
            self._report_no_progress("again")
            self.label("end")
            self.word("xor", RAX, RAX, wide=False)
            for register in (R13, R12, RBX):
                self.pop(register)
            self.ret()

    def guards(self) -> None:
        state, ensure, fetch, disable, restore, enable, release = (
            called(CALLED_BY_GUARDS, GUARD_CALLS, name) for name in GUARD_CALLS
        )
        pause = Symbol(CALLED_BY_GUARDS, 8 * len(GUARD_CALLS))
        calls, working, was_enabled = (At(RDX, 8 * i) for i in range(len(PAUSE)))
        target = At(RBP, -8)  # and then the result
        arguments = [(register, At(RBP, -16 - 8 * i)) for i, register in enumerate(_ARGUMENTS)]
        error = ((RDI, At(RBP, -64)), (RSI, At(RBP, -72)), (RDX, At(RBP, -80)))
        gil = At(RBP, -88)
        with self.function(GUARD_ALL):
            self.push(RBP)
            self.word("mov", RBP, RSP)
            self.number("sub", RSP, 96)
            self.keep(target, R11)
            for register, place in arguments:
                self.keep(place, register)
            self.call_at(state)
            self.test(RAX, RAX)
            self.jump_if("z", "no_state")
            self.call_at(ensure)
            self.keep(gil, RAX, 4)
            for register, place in error:
                self.lea(register, place)
            self.call_at(fetch)
            self.call_at(disable)
            self.word("mov", RDX, pause)
            self.number("add", calls, 1)
            self.test(RAX, RAX, wide=False)
            self.jump_if("z", "paused")
            self.put(was_enabled, 1, wide=True)
            self.label("paused")
            for register, place in arguments:
                self.word("mov", register, place)
            self.word("mov", R11, target)
            self.call_at(At(R11))
            self.keep(target, RAX)
            for register, place in error:
                self.word("mov", register, place)
            self.call_at(restore)
            self.word("mov", RDX, pause)
            self.number("sub", calls, 1)
            self.jump_if("nz", "at work")
            self.number("cmp", working, 0)
            self.jump_if("nz", "at work")
            self.number("cmp", was_enabled, 0)
            self.jump_if("z", "at work")
            self.put(was_enabled, 0, wide=True)
            self.call_at(enable)
            self.label("at work")
            self.fetch(RDI, gil, 4)
            self.call_at(release)
            self.word("mov", RAX, target)
            self.leave()
            self.ret()

            self.label("no_state")
            self.word("mov", RDX, _watched("create"))
            self.test(RDX, RDX)
            self.jump_if("z", "watched")
            self.set(RAX, 1)
            self.exchange(_watched("started"), RAX)
            self.test(RAX, RAX, wide=False)
            self.jump_if("nz", "watched")
            self.lea(RDI, _watched("thread"))
            self.word("xor", RSI, RSI, wide=False)
            self.word("xor", RCX, RCX, wide=False)
            self.word("mov", RAX, RDX)
            self.lea(RDX, Symbol(WATCHDOG_CODE))
            self.call_at(RAX)
            self.label("watched")
            for register, place in arguments:
                self.word("mov", register, place)
            self.word("mov", R11, target)
            self.leave()
            self.jump_to(At(R11))

    def guard(self, target: Symbol) -> None:
        self.lea(R11, target)
        self.jump(GUARD_ALL)
        self.align(self.GUARD)


def _watched(name: str) -> Symbol:
    return called(WATCHDOG_TABLE, WATCHDOG, name)
