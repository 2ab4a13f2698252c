"""The routine of tests.lane_code for AArch64: the same steps, each in the instructions of that processor.

It has run in an emulator alone (tests/test_lanes_aarch64.py), and the package does not have it: tables are
written for x86-64, as to which parameters are in registers, and where structs by value are.

Source: Arm Architecture Reference Manual for A-profile architecture, chapter C6; Procedure Call Standard for
the Arm 64-bit Architecture (AAPCS64).
"""

from __future__ import annotations

import struct

from cudapy._ffi.lane_layout import PAGE
from cudapy.simulator.engine.assembler.aarch64 import LINK, SP, ZERO, X
from cudapy.simulator.engine.assembler.code import Symbol
from cudapy.simulator.engine.assembler.x86_64 import (
    R8,
    R9,
    R10,
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
    At,
    Operand,
)

from .lane_code import Routine

SIXTH, SEVENTH = 16, 17  # two more registers for arguments, which the routine of x86-64 has no names for
WHERE = {
    **dict(zip((RDI, RSI, RDX, RCX, R8, R9, SIXTH, SEVENTH), X, strict=False)),
    RAX: X[8], R10: X[9], R11: X[10], RBX: X[19], RBP: X[20], R12: X[21], R13: X[22], R14: X[23], R15: X[24],
    RSP: SP,
}  # fmt: skip
"""What stands for the registers of x86-64: what calls keep for what they keep, arguments for arguments."""
SAVED = X[19:25]
ADDRESS, VALUE = X[16], X[17]  # nothing else is in these
_CONDITIONS = {"e": 0, "ne": 1, "ae": 2, "b": 3, "a": 8}
# With registers: add and sub note what jumps look at, as on x86-64.
_WORD = {"mov": 0xAA000000, "add": 0xAB000000, "sub": 0xEB000000, "cmp": 0xEB000000, "or": 0xAA000000}
_AND_NOTED, _SUB_NOTED = 0xEA000000, 0xEB000000
_EXTENDED = 0x8B206000  # add a register that is shifted, of the stack pointer, too
_LOAD = {8: 0xF9400000, 4: 0xB9400000}
_STORE = {8: 0xF9000000, 4: 0xB9000000}
_LOAD_SIGNED = 0xB9800000
_PUSH, _POP = 0xF81F0C00, 0xF8410400


class AArch64Routine(Routine):
    """The operations of which the routine consists. The stack is at a multiple of 16 bytes."""

    in_registers = (RDI, RSI, RDX, RCX, R8, R9, SIXTH, SEVENTH)

    middle = 0
    count = 0  # of instructions

    def write(self) -> bytes:
        code = super().write()
        assert len(code) == 4 * self.count, "the routine has bytes of another processor"
        return code

    def emit(self, instruction: int, *, d: int = 0, n: int = 0, m: int = 0) -> None:
        """An instruction with the registers in its three usual fields."""
        self.code += struct.pack("<I", instruction | m << 16 | n << 5 | d)
        self.count += 1

    # Numbers.

    def constant(self, target: int, value: int) -> None:
        """A number of 64 bits."""
        self.emit(0xD2800000 | (value & 0xFFFF) << 5, d=target)
        for part in range(1, 4):
            if piece := value >> 16 * part & 0xFFFF:
                self.emit(0xF2800000 | part << 21 | piece << 5, d=target)

    def set(self, target: int, value: int) -> None:
        self.constant(WHERE[target], value)

    def zero(self, register: int) -> None:
        self.set(register, 0)

    def word(self, name: str, target: int, source: Operand, wide: bool = True) -> None:
        if isinstance(source, At):
            self.memory(_LOAD[8], VALUE, source, 8)
            other = VALUE
        else:
            other = WHERE[source]  # type: ignore[index]
        to = WHERE[target]
        if name == "mov":
            self.emit(_WORD[name], d=to, n=ZERO, m=other)
        else:
            self.emit(_WORD[name], d=ZERO if name == "cmp" else to, n=to, m=other)
        if name == "or":
            self.emit(_AND_NOTED, d=ZERO, n=to, m=to)

    def number(self, name: str, target: int | At, value: int, wide: bool = True) -> None:
        to = WHERE[target]  # type: ignore[index]
        if to == SP:
            value = -(-value // 16) * 16
            self.emit((0x91000000 if name == "add" else 0xD1000000) | value << 10, d=to, n=to)
            return
        self.constant(VALUE, value % (1 << 64))
        instruction = _AND_NOTED if name == "and" else _WORD[name]
        self.emit(instruction, d=ZERO if name == "cmp" else to, n=to, m=VALUE)

    def test_bits(self, register: int, bits: int) -> None:
        self.word("mov", RAX, register)
        self.number("and", RAX, bits)

    def test(self, a: int, b: int, wide: bool = True) -> None:
        self.emit(_AND_NOTED, d=ZERO, n=WHERE[a], m=WHERE[b])

    def shift_word(self, name: str, target: int, count: int, wide: bool = True) -> None:
        to = WHERE[target]
        if name == "shl":
            self.emit(0xD3400000 | (64 - count) % 64 << 16 | 63 - count << 10, d=to, n=to)
        else:
            self.emit(0xD340FC00 | count << 16, d=to, n=to)

    # Memory.

    def memory(self, instruction: int, register: int, place: At, size: int) -> None:
        """Load or store a register."""
        base, offset = WHERE[place.base], place.displacement
        if place.place is not None or offset < 0 or offset % size or offset // size >= 1 << 12:
            self.address(ADDRESS, place)
            base, offset = ADDRESS, 0
        self.emit(instruction | offset // size << 10, d=register, n=base)

    def address(self, target: int, place: At) -> None:
        """base + place * scale + displacement."""
        base = WHERE[place.base]
        if place.place is not None:
            shift = place.scale.bit_length() - 1
            self.emit(_EXTENDED | shift << 10, d=target, n=base, m=WHERE[place.place])
            base = target
        offset = place.displacement
        self.emit((0x91000000 if offset >= 0 else 0xD1000000) | abs(offset) << 10, d=target, n=base)

    def lea(self, target: int, source: At | Symbol) -> None:
        assert isinstance(source, At)
        self.address(WHERE[target], source)

    def fetch(self, target: int, source: At | Symbol, size: int) -> None:
        assert isinstance(source, At)
        self.memory(_LOAD[size], WHERE[target], source, size)

    def keep(self, target: At | Symbol, source: int, size: int = 8) -> None:
        assert isinstance(target, At)
        self.memory(_STORE[size], WHERE[source], target, size)

    def widen(self, target: int, source: int) -> None:
        self.emit(0x93407C00, d=WHERE[target], n=WHERE[source])

    def negate(self, target: int) -> None:
        self.emit(0xCB000000, d=WHERE[target], n=ZERO, m=WHERE[target])

    def signed_cell(self) -> None:
        self.memory(_LOAD_SIGNED, WHERE[RDI], At(R15), 4)

    def fill(self) -> None:
        again, end = self.new_label(), self.new_label()
        self.label(again)
        self.test(RCX, RCX)
        self.jump_if("e", end)
        self.emit(0x38001400, d=WHERE[RAX], n=WHERE[RDI])  # strb, and then 1 is added
        self.number("sub", RCX, 1)
        self.jump(again)
        self.label(end)

    def real(self, size: int) -> None:
        if size == 4:
            self.emit(0xBD400000, n=WHERE[R15])
            self.emit(0x1E22C000)  # fcvt of a single
        else:
            self.emit(0xFD400000, n=WHERE[R15])

    # The stack and the frame.

    def pushed(self, words: int) -> int:
        return 16 * words

    def push(self, register: int) -> None:
        self.emit(_PUSH, d=WHERE[register], n=SP)

    def pop(self, register: int) -> None:
        self.emit(_POP, d=WHERE[register], n=SP)

    def open_frame(self) -> None:
        self.emit(_PUSH, d=LINK, n=SP)  # where calls push it themselves on x86-64
        for first, second in zip(SAVED[::2], SAVED[1::2], strict=True):
            self.emit(0xA9BF0000 | second << 10, d=first, n=SP)  # stp, 16 below
        self.number("sub", RSP, self.room)

    def leave(self) -> None:
        self.number("add", RSP, self.room)
        for first, second in reversed([*zip(SAVED[::2], SAVED[1::2], strict=True)]):
            self.emit(0xA8C10000 | second << 10, d=first, n=SP)  # ldp, 16 above

    def find_context(self) -> None:
        distance = 2 * PAGE - len(self.code)
        self.emit(0x10000000 | (distance & 3) << 29 | distance >> 2 << 5, d=WHERE[RBX])

    # Jumps.

    def branch(self, instruction: int, name: str, width: int, shift: int) -> None:
        """Go to a label, whose distance in instructions has `width` bits."""

        def encode(code: bytearray, place: int, address: int, target: int) -> None:
            distance = (target - address) >> 2 & (1 << width) - 1
            struct.pack_into("<I", code, place, instruction | distance << shift)

        self.refer(Symbol(name), encode, 4, goes=True)
        self.count += 1

    def jump(self, name: str, near: bool = False) -> None:
        self.branch(0x14000000, name, 26, 0)

    def jump_if(self, condition: str, name: str, near: bool = False) -> None:
        self.branch(0x54000000 | _CONDITIONS[condition], name, 19, 5)

    def jump_to(self, target: Operand) -> None:
        self.emit(_POP, d=LINK, n=SP)
        self.emit(0xD61F0000, n=WHERE[target])  # type: ignore[index]

    def go_on_to(self, c_function: int) -> None:
        self.emit(0xD61F0000, n=WHERE[c_function])

    def call(self, name: str) -> None:
        self.emit(0x10000000 | 3 << 5, d=VALUE)  # the address of what follows the branch
        self.emit(_PUSH, d=VALUE, n=SP)
        self.jump(name)

    def call_at(self, target: Operand) -> None:
        if isinstance(target, At):
            self.memory(_LOAD[8], VALUE, target, 8)
        else:
            self.emit(_WORD["mov"], d=VALUE, n=ZERO, m=WHERE[target])  # type: ignore[index]
        self.emit(0xD63F0000, n=VALUE)
        self.emit(_WORD["mov"], d=WHERE[RAX], n=ZERO, m=X[0])

    def ret(self) -> None:
        self.emit(_POP, d=LINK, n=SP)
        self.emit(_WORD["mov"], d=X[0], n=ZERO, m=WHERE[RAX])
        self.emit(0xD65F0000, n=LINK)

    def trap(self) -> None:
        self.emit(0xD4200000)
