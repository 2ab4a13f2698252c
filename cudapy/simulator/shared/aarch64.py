"""The code of a library for AArch64: see `machine_code`.

Source: Procedure Call Standard for the Arm 64-bit Architecture, chapter 6.
"""

from ..engine.assembler.aarch64 import FRAME, LINK, SP, ZERO, Assembler, X
from ..engine.assembler.code import Symbol
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


class AArch64(LibraryCode, Assembler):
    """The code of a library for AArch64."""

    MACHINE = 183  # EM_AARCH64
    RELATIVE, GLOBAL = 1027, 1025  # R_AARCH64_RELATIVE, R_AARCH64_GLOB_DAT
    ENTRY, LAZY_HALF = 32, 16

    def _call_at(self, symbol: Symbol) -> None:
        """Call the function whose address is at a place."""
        self.load(X[16], symbol)
        self.blr(X[16])

    def _enter(self, size: int) -> None:
        self.sub_then_stp(FRAME, LINK, SP, size)

    def _leave(self, size: int) -> None:
        self.ldp_then_add(FRAME, LINK, SP, size)

    def entry(self, name: str, index: int, arguments: int | None) -> None:
        """The address of a struct is in x8: it becomes the last argument."""
        self.label(name)
        if arguments is None:
            self.nop()
        else:
            self.mov(X[arguments], X[8])
        self.load(X[16], Symbol(SLOTS, 8 * index))
        self.br(X[16])
        self.set(X[17], index)
        self.b(LAZY)
        self.align(self.ENTRY)

    def lazy(self) -> None:
        index, slot, status = X[17], X[16], X[9]
        pairs = [(X[i], X[i + 1], 16 + 8 * i) for i in (0, 2, 4, 6)] + [(X[8], index, 80)]
        vectors = [(i, i + 1, 96 + 16 * i) for i in (0, 2, 4, 6)]
        with self.function(LAZY):
            self._enter(224)
            for first, second, place in pairs:
                self.stp(first, second, SP, place)
            for i, j, place in vectors:
                self.stp_vectors(i, j, SP, place)
            self.mov(X[0], index, wide=False)
            self._call_at(Symbol(RESOLVER))
            self.mov(status, X[0], wide=False)
            for first, second, place in pairs:
                self.ldp(first, second, SP, place)
            for i, j, place in vectors:
                self.ldp_vectors(i, j, SP, place)
            self._leave(224)
            self.cbnz(status, "failed", wide=False)
            self.address(slot, Symbol(SLOTS))
            self.ldr_item(slot, slot, index)
            self.br(slot)
            self.label("failed")
            self.mov(X[0], status, wide=False)
            self.ret()

    def returned(self, number: int) -> None:
        for place, is_wide in STORES.get(number, ()):
            is_null = f"null {place}"
            self.cbz(X[place], is_null)
            self.str_(ZERO, X[place], wide=is_wide)
            self.label(is_null)
        self.set(X[0], 0 if number in STORES else number)
        self.ret()

    def text(self, name: str, kind: int, table: Symbol) -> None:
        count, found, number = X[3], X[4], X[5]
        with self.function(name):
            self.load(X[2], table)
            self.ldp_then_add(count, found, X[2], 16)
            self.mov(number, X[0], wide=False)
            self.cmp(number, count)
            self.b_if("hs", "found")
            self.ldr_item(found, X[2], number)
            self.label("found")
            if kind == STORES_TEXT:
                self.cbz(X[1], "failed")
                self.str_(found, X[1])
                self.cbz(found, "failed")
                self.returned(0)
                self.label("failed")
                self.returned(TEXT_FAILED)
            else:
                self.mov(X[0], found)
                self.ret()

    def thread_end(self) -> None:
        clear, attach, delete = THREAD_STEPS
        state = X[19]
        with self.function(THREAD_END):
            self._enter(32)
            self.str_(state, SP, 16)
            self.mov(state, X[0])
            self.bl(clear)
            self.cbz(X[0], "gone", wide=False)
            self.mov(X[0], state)
            self.bl(attach)
            self.bl(delete)
            self.label("gone")
            self.ldr(state, SP, 16)
            self._leave(32)
            self.ret()

    def forks(self) -> None:
        check, ensure, before, parent, child, release = (
            called(CALLED_BY_FORKS, FORK_CALLS, name) for name in FORK_CALLS
        )
        held = Symbol(CALLED_BY_FORKS, 8 * len(FORK_CALLS))
        state = X[19]
        with self.function(FORKS[0]):
            self._enter(32)
            self.str_(state, SP, 16)
            self.set(state, 0)
            self.load(X[16], check)
            self.cbz(X[16], "held")
            self.blr(X[16])
            self.cbnz(X[0], "held", wide=False)
            self._call_at(ensure)
            self.add(state, X[0], 1, wide=False)
            self._call_at(before)
            self.label("held")
            self.address(X[16], held)
            self.str_(state, X[16], wide=False)
            self.ldr(state, SP, 16)
            self._leave(32)
            self.ret()
        for name, after in zip(FORKS[1:], (parent, child), strict=True):
            with self.function(name):
                self._enter(32)
                self.str_(state, SP, 16)
                self.address(X[16], held)
                self.ldr(state, X[16], wide=False)
                self.cbz(state, "end", wide=False)
                self._call_at(after)
                self.sub(X[0], state, 1, wide=False)
                self._call_at(release)
                self.label("end")
                self.ldr(state, SP, 16)
                self._leave(32)
                self.ret()

    def boot(self) -> None:
        state, status = X[19], X[9]
        with self.function(BOOT):
            self._enter(32)
            self.str_(state, SP, 16)
            self.address(X[0], Symbol(ONCE))
            self.adr(X[1], START)
            self._call_at(imported("pthread_once"))
            self._call_at(imported("PyGILState_Ensure"))
            self.mov(state, X[0], wide=False)
            self.address(X[0], Symbol(PROGRAM))
            self._call_at(imported("PyRun_SimpleString"))
            self.mov(status, X[0], wide=False)
            self.mov(X[0], state, wide=False)
            self.mov(state, status, wide=False)
            self._call_at(imported("PyGILState_Release"))
            self.mov(X[0], state, wide=False)
            self.ldr(state, SP, 16)
            self._leave(32)
            self.cbz(X[0], "ran", wide=False)
            self.set(X[0], FAILED)
            self.label("ran")
            self.ret()
        with self.function(START):
            self._enter(16)
            self.address(X[0], Symbol(PYTHON))
            self.set(X[1], PROMOTED)
            self._call_at(imported("dlopen"))
            self._call_at(imported("Py_IsInitialized"))
            self.cbnz(X[0], "end", wide=False)
            self.set(X[0], 0)
            self._call_at(imported("Py_InitializeEx"))
            self._call_at(imported("PyEval_SaveThread"))
            self.label("end")
            self._leave(16)
            self.ret()

    def _report_no_progress(self, after: str) -> None:
        """Write the text, and where all threads are, to stderr; go on at `after`."""
        self.set(X[0], 2)
        self.load(X[1], _watched("text"))
        self.load(X[2], _watched("length"))
        self._call_at(_watched("write"))
        self.load(X[9], _watched("dump"))
        self.cbz(X[9], after)
        self.set(X[0], 2)
        self.load(X[1], _watched("interpreter"))
        self.set(X[2], 0, wide=True)
        self.blr(X[9])
        self.b(after)

    def watchdog(self) -> None:
        seconds, beats = X[19], X[20]
        with self.function(WATCHDOG_CODE):
            self._enter(32)
            self.stp(seconds, beats, SP, 16)
            self.address(X[0], _watched("thread"))
            self.load(X[2], _watched("probe"))
            self.set(X[1], 0, wide=True)
            self.set(X[3], 0, wide=True)
            self._call_at(_watched("create"))
            self.set(beats, 0, wide=True)
            self.label("beat")
            self.set(seconds, 0)
            self.label("again")
            self.set(X[0], 1_000_000)
            self._call_at(_watched("sleep"))
            self.load(X[9], _watched("create"))
            self.cbz(X[9], "end")
            self.load(X[9], _watched("beats"))
            self.cmp(beats, X[9])
            self.mov(beats, X[9])
            self.b_if("ne", "beat")
            self.add(seconds, seconds, 1, wide=False)
            self.cmp_number(seconds, WATCHDOG_SECONDS)
            self.b_if("ne", "again")
            self._report_no_progress("again")
            self.label("end")
            self.set(X[0], 0, wide=True)
            self.ldp(seconds, beats, SP, 16)
            self._leave(32)
            self.ret()

    def guards(self) -> None:
        state, ensure, fetch, disable, restore, enable, release = (
            called(CALLED_BY_GUARDS, GUARD_CALLS, name) for name in GUARD_CALLS
        )
        pause, word = X[9], X[10]
        calls, working, was_enabled = (8 * i for i in range(len(PAUSE)))
        target = X[16]
        arguments = [(X[i], X[i + 1], 16 + 8 * i) for i in (0, 2, 4, 6)] + [(X[8], target, 80)]
        error = ((X[0], 96), (X[1], 104), (X[2], 112))
        result, gil, size = 80, 120, 144
        with self.function(GUARD_ALL):
            self._enter(size)
            for first, second, place in arguments:
                self.stp(first, second, SP, place)
            self._call_at(state)
            self.cbz(X[0], "no_state")
            self._call_at(ensure)
            self.str_(X[0], SP, gil, wide=False)
            for register, place in error:
                self.add(register, SP, place)
            self._call_at(fetch)
            self._call_at(disable)
            self.load(pause, Symbol(CALLED_BY_GUARDS, 8 * len(GUARD_CALLS)))
            self.ldr(word, pause, calls)
            self.add(word, word, 1)
            self.str_(word, pause, calls)
            self.cbz(X[0], "paused", wide=False)
            self.set(word, 1)
            self.str_(word, pause, was_enabled)
            self.label("paused")
            for first, second, place in arguments:
                self.ldp(first, second, SP, place)
            self.ldr(target, target)
            self.blr(target)
            self.str_(X[0], SP, result)
            for register, place in error:
                self.ldr(register, SP, place)
            self._call_at(restore)
            self.load(pause, Symbol(CALLED_BY_GUARDS, 8 * len(GUARD_CALLS)))
            self.ldr(word, pause, calls)
            self.sub(word, word, 1)
            self.str_(word, pause, calls)
            self.cbnz(word, "at work")
            self.ldr(word, pause, working)
            self.cbnz(word, "at work")
            self.ldr(word, pause, was_enabled)
            self.cbz(word, "at work")
            self.str_(ZERO, pause, was_enabled)
            self._call_at(enable)
            self.label("at work")
            self.ldr(X[0], SP, gil, wide=False)
            self._call_at(release)
            self.ldr(X[0], SP, result)
            self._leave(size)
            self.ret()

            self.label("no_state")
            self.load(X[9], _watched("create"))
            self.cbz(X[9], "watched")
            self.address(X[10], _watched("started"))
            self.ldr(X[11], X[10])
            self.cbnz(X[11], "watched")
            self.set(X[11], 1)
            self.str_(X[11], X[10])
            self.address(X[0], _watched("thread"))
            self.set(X[1], 0, wide=True)
            self.address(X[2], Symbol(WATCHDOG_CODE))
            self.set(X[3], 0, wide=True)
            self.blr(X[9])
            self.label("watched")
            for first, second, place in arguments:
                self.ldp(first, second, SP, place)
            self._leave(size)
            self.ldr(target, target)
            self.br(target)

    def guard(self, target: Symbol) -> None:
        self.address(X[16], target)
        self.b(GUARD_ALL)
        self.align(self.GUARD)


def _watched(name: str) -> Symbol:
    return called(WATCHDOG_TABLE, WATCHDOG, name)
