"""The frame of the routines that calls of Python functions enter, for tests.lane_code and tests.launch_code.

Until C is called: R12 the function object, R13 its arguments, R14 their count and flags, R15 the keywords. A
call that is left to Python goes on to `slow`, with all of these as they were.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection

from cudapy._ffi.lane_layout import PAGE
from cudapy.simulator.engine.assembler.x86_64 import (
    R11,
    R12,
    R13,
    R14,
    R15,
    RAX,
    RBP,
    RBX,
    RCX,
    RDI,
    RDX,
    RSI,
    RSP,
    Assembler,
    At,
)

SAVED = (RBP, RBX, R12, R13, R14, R15)
GIVEN = ((R12, RDI), (R13, RSI), (R14, RDX), (R15, RCX))


def as_source(code: bytes) -> str:
    """An expression of Python for these bytes, the one that is smallest in a wheel."""
    return 'bytes.fromhex("""\n' + "\n".join(textwrap.wrap(code.hex(), 110)) + '\n""")\n'


class LaneRoutine(Assembler):
    """A routine, with what all have at their beginning and their end."""

    room: int
    """Bytes of its stack: with six registers and the return address a multiple of 16."""

    def __init__(self, near: Collection[int] = ()) -> None:
        super().__init__()
        self._near = near
        self._jumps: list[tuple[int, str, tuple[str, ...]]] = []

    @classmethod
    def assembled(cls) -> bytes:
        """Its code, each jump as short as it can be."""
        near: set[int] = set()
        while True:
            routine = cls(near)
            code = routine.write()
            more = routine.short_jumps() - near
            if not more:
                return code
            near |= more  # which brings others nearer

    def write(self) -> bytes:
        raise NotImplementedError

    def short_jumps(self) -> set[int]:
        """The numbers of the jumps that go less than 128 bytes far."""
        distances = [self.labels[self._label(name, scope) or ""] - end for end, name, scope in self._jumps]
        return {i for i, distance in enumerate(distances) if -128 <= distance < 128}

    def jump(self, name: str, near: bool = False) -> None:
        super().jump(name, near or len(self._jumps) in self._near)
        self._jumps.append((len(self.code), name, self._scope))

    def jump_if(self, condition: str, name: str, near: bool = False) -> None:
        super().jump_if(condition, name, near or len(self._jumps) in self._near)
        self._jumps.append((len(self.code), name, self._scope))

    def find_words(self) -> None:
        """Set the registers through which words are found. RAX: the table of the function."""
        raise NotImplementedError

    def shared(self, name: str) -> At:
        """A word that all functions have in common."""
        raise NotImplementedError

    def code_word(self) -> At:
        """The code object that the function has to have."""
        raise NotImplementedError

    def slow_word(self) -> At:
        """The vectorcall of functions."""
        return self.shared("slow")

    def load(self, target: int, source: At) -> None:
        self.fetch(target, source, 8)

    def zero(self, register: int) -> None:
        """A register to 0, in fewer bytes than `set`; what conditional jumps look at is lost."""
        self.word("xor", register, register, wide=False)

    def widen(self, target: int, source: int) -> None:
        """A number of 32 bits with a sign."""
        self._plain(b"\x63", target, source, True)

    def negate(self, target: int) -> None:
        self._plain(b"\xf7", 3, target, True)

    def pushed(self, words: int) -> int:
        """The bytes that registers, and the place to return to, take on the stack."""
        return 8 * words

    def open_frame(self) -> None:
        """Keep what has to be as it was, and get room: no page of the stack is left out, a guard is one."""
        for register in SAVED:
            self.push(register)
        for below in range(PAGE, self.room, PAGE):
            self.load(R11, At(RSP, -below))
        self.number("sub", RSP, self.room)

    def enter(self) -> None:
        self.open_frame()
        self.find_words()
        for kept, given in GIVEN:
            self.word("mov", kept, given)
        self.test(R15, R15)
        self.jump_if("ne", "slow")
        self.unless_watched()
        self.load(RCX, self.shared("code_at"))
        self.load(RAX, At(R12, 0, RCX))
        self.word("cmp", RAX, self.code_word())
        self.jump_if("ne", "slow")

    def unless_watched(self) -> None:
        """Jump if a tool watches calls: of all threads, or of this one."""
        self.load(RAX, self.shared("monitors"))
        self.test(RAX, RAX)
        self.jump_if("e", "ask the thread")
        self.load(RAX, At(RAX))
        self.test(RAX, RAX)
        self.jump_if("ne", "slow")
        self.label("not watched")

    def leave(self) -> None:
        self.number("add", RSP, self.room)
        for register in reversed(SAVED):
            self.pop(register)

    def to_python(self) -> None:
        """The end of a routine: the rest of `unless_watched`, and where calls are left to Python."""
        self.label("ask the thread")
        self.call_at(self.shared("thread"))
        self.word("add", RAX, self.shared("tracers_at"))
        self.load(RCX, At(RAX))
        self.word("or", RCX, At(RAX, 8))
        self.jump_if("e", "not watched")
        self.label("slow")
        for kept, given in GIVEN:
            self.word("mov", given, kept)
        self.load(RAX, self.slow_word())
        self.leave()
        self.jump_to(RAX)
