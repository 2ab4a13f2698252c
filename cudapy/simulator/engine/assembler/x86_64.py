"""Instructions of x86-64 as bytes: those of AVX2 and FMA, and some for integers and jumps.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.
"""

import struct
from typing import ClassVar, NamedTuple

from .code import Code, Register, Symbol

_NAMES = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15"
GENERAL = tuple(Register(number, name) for number, name in enumerate(_NAMES.split()))
RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 = GENERAL
YMM = tuple(Register(number, f"ymm{number}") for number in range(16))
"""The vector registers."""


class At(NamedTuple):
    """Memory: [base + place * scale + displacement]."""

    base: int
    displacement: int = 0
    place: int | None = None
    """The register of the index."""
    scale: int = 1


class _Vector(NamedTuple):
    prefix: int  # 0: none, 1: 66, 2: F3, 3: F2
    map: int  # 1: 0F, 2: 0F 38, 3: 0F 3A
    opcode: int
    wide: int = 0
    extension: int = -1
    """Of an opcode whose only operands are a target and a number: the second part of its opcode."""


def _packed(opcode: int) -> _Vector:
    return _Vector(1, 1, opcode)


_VECTOR = {
    "addps": _Vector(0, 1, 0x58),
    "addpd": _packed(0x58),
    "subps": _Vector(0, 1, 0x5C),
    "subpd": _packed(0x5C),
    "mulps": _Vector(0, 1, 0x59),
    "mulpd": _packed(0x59),
    "divps": _Vector(0, 1, 0x5E),
    "divpd": _packed(0x5E),
    "minps": _Vector(0, 1, 0x5D),
    "minpd": _packed(0x5D),
    "maxps": _Vector(0, 1, 0x5F),
    "maxpd": _packed(0x5F),
    "cmpps": _Vector(0, 1, 0xC2),
    "cmppd": _packed(0xC2),
    "shufps": _Vector(0, 1, 0xC6),
    "fmadd213ps": _Vector(1, 2, 0xA8, 0),
    "fmadd213pd": _Vector(1, 2, 0xA8, 1),
    "paddd": _packed(0xFE),
    "paddq": _packed(0xD4),
    "psubd": _packed(0xFA),
    "psubq": _packed(0xFB),
    "pmulld": _Vector(1, 2, 0x40),
    "pmuludq": _packed(0xF4),
    "pmuldq": _Vector(1, 2, 0x28),
    "pand": _packed(0xDB),
    "por": _packed(0xEB),
    "pxor": _packed(0xEF),
    "pcmpeqd": _packed(0x76),
    "pcmpeqq": _Vector(1, 2, 0x29),
    "pcmpgtd": _packed(0x66),
    "pcmpgtq": _Vector(1, 2, 0x37),
    "pminsd": _Vector(1, 2, 0x39),
    "pminud": _Vector(1, 2, 0x3B),
    "pmaxsd": _Vector(1, 2, 0x3D),
    "pmaxud": _Vector(1, 2, 0x3F),
    "psllvd": _Vector(1, 2, 0x47, 0),
    "psllvq": _Vector(1, 2, 0x47, 1),
    "psrlvd": _Vector(1, 2, 0x45, 0),
    "psrlvq": _Vector(1, 2, 0x45, 1),
    "psravd": _Vector(1, 2, 0x46, 0),
    "blendvps": _Vector(1, 3, 0x4A),
    "pblendd": _Vector(1, 3, 0x02),
    "inserti128": _Vector(1, 3, 0x38),
    "permd": _Vector(1, 2, 0x36),
}
"""Of three operands: a target and two sources, the second of which may be memory; some have a number more."""
_UNARY = {
    "movups": _Vector(0, 1, 0x10),
    "sqrtps": _Vector(0, 1, 0x51),
    "sqrtpd": _packed(0x51),
    "pabsd": _Vector(1, 2, 0x1E),
    "cvtps2pd": _Vector(0, 1, 0x5A),
    "cvtpd2ps": _packed(0x5A),
    "cvtdq2ps": _Vector(0, 1, 0x5B),
    "cvtdq2pd": _Vector(2, 1, 0xE6),
    "cvttpd2dq": _packed(0xE6),
    "roundps": _Vector(1, 3, 0x08),
    "roundpd": _Vector(1, 3, 0x09),
    "pmovsxdq": _Vector(1, 2, 0x25),
    "pmovzxdq": _Vector(1, 2, 0x35),
    "pmovzxbd": _Vector(1, 2, 0x31),
    "pmovzxwd": _Vector(1, 2, 0x33),
    "pshufd": _packed(0x70),
    "permq": _Vector(1, 3, 0x00, 1),
    "broadcastd": _Vector(1, 2, 0x58),
    "broadcastq": _Vector(1, 2, 0x59),
    "ptest": _Vector(1, 2, 0x17),
    "movmskps": _Vector(0, 1, 0x50),
    "movmskpd": _packed(0x50),
}
"""Of a target and a source, which may be memory, and a number in some. movmsk has a whole register for its
target.
"""
_SHIFTS = {
    "psrld": _Vector(1, 1, 0x72, 0, 2),
    "psrad": _Vector(1, 1, 0x72, 0, 4),
    "pslld": _Vector(1, 1, 0x72, 0, 6),
    "psrlq": _Vector(1, 1, 0x73, 0, 2),
    "psllq": _Vector(1, 1, 0x73, 0, 6),
}
"""Of a target, a source and a number."""
_STORES = {"movups": _Vector(0, 1, 0x11), "extracti128": _Vector(1, 3, 0x39)}
_WORD = {"add": 0x03, "or": 0x0B, "and": 0x23, "sub": 0x2B, "xor": 0x33, "cmp": 0x3B, "mov": 0x8B}
"""target, register or memory"""
_NUMBER = {"add": 0, "or": 1, "and": 4, "sub": 5, "xor": 6, "cmp": 7}
_SHIFT = {"shl": 4, "shr": 5}
_SAME = ("pxor", "pcmpeqd", "pcmpeqq")
"""Of two times the same register they make a constant."""
_TO_GENERAL = ("movmskps", "movmskpd")
_CONDITIONS = {
    "o": 0, "b": 2, "ae": 3, "e": 4, "z": 4, "ne": 5, "nz": 5, "be": 6, "a": 7, "s": 8, "ns": 9,
    "l": 12, "ge": 13, "le": 14, "g": 15,
}  # fmt: skip


Operand = int | At | Symbol
"""A register, memory, or memory at a symbol."""


class Assembler(Code):
    """Code for x86-64. All operands are in Intel's order: the target first."""

    kept = (RBX.name, RSP.name)
    VECTORS = len(YMM)
    """How many vector registers there are for code."""
    CONTROL: ClassVar = {mode: 0x1F80 | number << 13 for number, mode in enumerate(("rn", "rm", "rp", "rz"))}
    """What `load_control` takes for each way to round, as PTX calls it: MXCSR, without exceptions."""
    IN_ORDER = True
    """Whether all processors see stores in their order."""
    REACH = 1 << 31
    """How far jumps go."""
    DISASSEMBLER = "X86", "64"
    """What capstone calls it."""

    # Vectors of 256 bits.

    def vector(self, name: str, target: int, a: int, b: Operand, number: int | None = None) -> None:
        """A target and two sources; number: what the instruction takes besides, such as a fourth register."""
        if self.in_routine:
            is_constant = a == b and name in _SAME
            sources = () if is_constant else (YMM[a], *_read(b, YMM))
            mask = (YMM[(number or 0) >> 4],) if name == "blendvps" else ()
            self.note((YMM[target],), (*sources, *mask))
        self._vex(_VECTOR[name], target, a, b)
        if number is not None:
            self.code.append(number & 0xFF)

    def unary(self, name: str, target: int, source: Operand, number: int | None = None) -> None:
        if self.in_routine:
            if name == "ptest":
                self.note((), (YMM[target], *_read(source, YMM)))
            else:
                self.note(((GENERAL if name in _TO_GENERAL else YMM)[target],), _read(source, YMM))
        self._vex(_UNARY[name], target, 0, source)
        if number is not None:
            self.code.append(number & 0xFF)

    def shift(self, name: str, target: int, source: int, number: int) -> None:
        form = _SHIFTS[name]
        self.note((YMM[target],), (YMM[source],))
        self._vex(form, form.extension, target, source)
        self.code.append(number)

    def store(self, name: str, target: Operand, source: int, number: int | None = None) -> None:
        if self.in_routine:
            self.note(_written(target, YMM), (YMM[source], *_in_address(target)))
        self._vex(_STORES[name], source, 0, target)
        if number is not None:
            self.code.append(number)

    def movd(self, target: int, source: int, wide: bool = False) -> None:
        """The lowest word of a vector into a general register."""
        self.note((GENERAL[target],), (YMM[source],))
        self._vex(_Vector(1, 1, 0x7E, int(wide)), source, 0, target, 0)

    def movd_in(self, target: int, source: int, wide: bool = False) -> None:
        """A general register into the lowest word of a vector."""
        self.note((YMM[target],), (GENERAL[source],))
        self._vex(_Vector(1, 1, 0x6E, int(wide)), target, 0, source, 0)

    def load_control(self, source: At) -> None:
        """How vectors round, from now on."""
        self._plain(b"\x0f\xae", 2, source, False)

    def begin_function(self) -> None:
        """Code that C calls begins: with its argument in rdi."""

    def end_function(self) -> None:
        """It is to return."""
        self.code += b"\xc5\xf8\x77"  # vzeroupper

    def _vex(self, form: _Vector, register: int, second: int, operand: Operand, length: int = 1) -> None:
        index, base = _extensions(operand)
        self.code += bytes(
            (
                0xC4,
                (~register >> 3 & 1) << 7 | (~index & 1) << 6 | (~base & 1) << 5 | form.map,
                form.wide << 7 | (~second & 15) << 3 | length << 2 | form.prefix,
                form.opcode,
            )
        )
        self._operand(register, operand)

    def _operand(self, register: int, operand: Operand) -> None:
        register = (register & 7) << 3
        if isinstance(operand, Symbol):
            self.code.append(register | 5)
            self._distance(operand)
            return
        if not isinstance(operand, At):
            self.code.append(0xC0 | register | operand & 7)
            return
        base, displacement = operand.base & 7, operand.displacement
        small = -128 <= displacement < 128
        mode = 0x40 if small else 0x80
        if operand.place is None and base != 4:
            self.code.append(mode | register | base)
        else:
            index = 4 if operand.place is None else operand.place & 7
            scale = operand.scale.bit_length() - 1
            self.code += bytes((mode | register | 4, scale << 6 | index << 3 | base))
        self.code += struct.pack("<b" if small else "<i", displacement)

    # Vectors of 128 bits, on every x86-64.

    def load_vector(self, target: int, source: At) -> None:
        self.note((YMM[target],), _in_address(source))
        self._plain(b"\x0f\x10", target, source, False)

    def store_vector(self, target: At, source: int) -> None:
        self.note((), (YMM[source], *_in_address(target)))
        self._plain(b"\x0f\x11", source, target, False)

    # Integers.

    def _plain(self, opcode: bytes, register: int, operand: Operand, wide: bool, byte: bool = False) -> None:
        index, base = _extensions(operand)
        rex = 0x40 | wide << 3 | register >> 3 << 2 | index << 1 | base
        if rex != 0x40 or byte:
            self.code.append(rex)
        self.code += opcode
        self._operand(register, operand)

    def word(self, name: str, target: int, source: Operand, wide: bool = True) -> None:
        """add, or, and, sub, xor, cmp, mov."""
        if self.in_routine:
            is_constant = target == source and name in ("xor", "sub")
            read = () if is_constant else _read(source, GENERAL)
            kept = () if name == "mov" or is_constant else (GENERAL[target],)
            self.note(() if name == "cmp" else (GENERAL[target],), (*kept, *read))
        self._plain(bytes((_WORD[name],)), target, source, wide)

    def number(self, name: str, target: int | At, value: int, wide: bool = True) -> None:
        """add, or, and, sub, xor, cmp with a number of 32 bits, whose sign is extended."""
        if self.in_routine:
            self.note(() if name == "cmp" else _written(target, GENERAL), _read(target, GENERAL))
        near = -128 <= value < 128
        self._plain(b"\x83" if near else b"\x81", _NUMBER[name], target, wide)
        self.code += struct.pack("<b" if near else "<i", value)

    def set(self, target: int, value: int) -> None:
        """A register to a number of 32 bits, without a sign."""
        self.note((GENERAL[target],))
        if target >> 3:
            self.code.append(0x41)
        self.code.append(0xB8 | target & 7)
        self.code += struct.pack("<I", value)

    def add_to(self, target: At, source: int) -> None:
        """Add a register to 8 bytes of memory."""
        self.note((), (GENERAL[source], *_in_address(target)))
        self._plain(b"\x01", source, target, True)

    def keep(self, target: At | Symbol, source: int, size: int = 8) -> None:
        """Store the low bytes of a register."""
        self.note((), (GENERAL[source], *_in_address(target)))
        if size == 2:
            self.code.append(0x66)
        self._plain(b"\x88" if size == 1 else b"\x89", source, target, size == 8, size == 1)

    def put(self, target: At, value: int, wide: bool = False) -> None:
        """Store a number of 32 bits."""
        self.note((), _in_address(target))
        self._plain(b"\xc7", 0, target, wide)
        self.code += struct.pack("<i", value)

    def fetch(self, target: int, source: At | Symbol, size: int) -> None:
        """Load 1, 2, 4 or 8 bytes, with zeros above."""
        self.note((GENERAL[target],), _in_address(source))
        if size >= 4:
            self._plain(b"\x8b", target, source, size == 8)
        else:
            self._plain(b"\x0f\xb6" if size == 1 else b"\x0f\xb7", target, source, False)

    def exchange(self, target: Symbol, source: int) -> None:
        """Swap 32 bits of memory with a register, as one access."""
        self.note((GENERAL[source],), (GENERAL[source],))
        self._plain(b"\x87", source, target, False)

    def combine(self, name: str, target: At, source: int, wide: bool, is_locked: bool) -> None:
        """add, or, and, xor of memory with a register; as one access if it is locked."""
        self.note((), (GENERAL[source], *_in_address(target)))
        if is_locked:
            self.code.append(0xF0)
        self._plain(bytes((_WORD[name] - 2,)), source, target, wide)

    def exchange_if_equal(self, target: At, source: int, wide: bool) -> None:
        """Put a register into memory that is rax, as one access; else set rax to what is there."""
        self.note((RAX,), (RAX, GENERAL[source], *_in_address(target)))
        self.code.append(0xF0)
        self._plain(b"\x0f\xb1", source, target, wide)

    def lea(self, target: int, source: At | Symbol) -> None:
        """The address of a place."""
        self.note((GENERAL[target],), _in_address(source))
        self._plain(b"\x8d", target, source, True)

    def prefetch(self, source: At) -> None:
        """Have the line of a place in the caches soon; a place that cannot be read is not a mistake."""
        self._plain(b"\x0f\x18", 1, source, False)

    def test(self, a: int, b: int, wide: bool = True) -> None:
        self.note((), (GENERAL[a], GENERAL[b]))
        self._plain(b"\x85", b, a, wide)

    def shift_word(self, name: str, target: int, count: int, wide: bool = True) -> None:
        self.note((GENERAL[target],), (GENERAL[target],))
        self._plain(b"\xc1", _SHIFT[name], target, wide)
        self.code.append(count)

    def shift_by_cl(self, name: str, target: int) -> None:
        """By the number in cl."""
        self.note((GENERAL[target],), (GENERAL[target], RCX))
        self._plain(b"\xd3", _SHIFT[name], target, True)

    def lowest_bit(self, target: int, source: int) -> None:
        """tzcnt: the number of the lowest bit of 32."""
        self.note((GENERAL[target],), (GENERAL[source],))
        self.code.append(0xF3)
        self._plain(b"\x0f\xbc", target, source, False)

    def count_bits(self, target: int, source: int) -> None:
        """popcnt: how many of 32 bits are set."""
        self.note((GENERAL[target],), (GENERAL[source],))
        self.code.append(0xF3)
        self._plain(b"\x0f\xb8", target, source, False)

    def clear_lowest_bit(self, target: int, spare: int) -> None:
        """And with what is one less, in which its place is clear; zero if no bit is left."""
        self.lea(spare, At(target, -1))
        self.word("and", target, spare, wide=False)

    def push(self, register: int) -> None:
        self.note((), (GENERAL[register],))
        self.code += b"\x41" * (register >> 3)
        self.code.append(0x50 | register & 7)

    def push_number(self, value: int) -> None:
        """A number of 32 bits, whose sign is extended."""
        self.code += b"\x68" + struct.pack("<i", value)

    def pop(self, register: int) -> None:
        self.note((GENERAL[register],))
        self.code += b"\x41" * (register >> 3)
        self.code.append(0x58 | register & 7)

    def invert(self, register: int) -> None:
        """not, of 32 bits"""
        self.note((GENERAL[register],), (GENERAL[register],))
        self._plain(b"\xf7", 2, register, False)

    def multiply(self, target: int, source: int | At, wide: bool = True) -> None:
        self.note((GENERAL[target],), (GENERAL[target], *_read(source, GENERAL)))
        self._plain(b"\x0f\xaf", target, source, wide)

    # Jumps.

    def jump(self, name: str, near: bool = False) -> None:
        """near: less than 128 bytes away."""
        self.code.append(0xEB if near else 0xE9)
        self._distance(Symbol(name), goes=True, near=near)

    def jump_if(self, condition: str, name: str, near: bool = False) -> None:
        number = _CONDITIONS[condition]
        self.code += bytes((0x70 | number,) if near else (0x0F, 0x80 | number))
        self._distance(Symbol(name), goes=True, near=near)

    def call(self, name: str) -> None:
        self.code.append(0xE8)
        self._distance(Symbol(name), goes=True)

    def jump_to(self, target: Operand) -> None:
        """To the address in a register or in memory."""
        self.note((), _read(target, GENERAL))
        self._plain(b"\xff", 4, target, False)

    def call_at(self, target: Operand) -> None:
        self.note((), _read(target, GENERAL))
        self._plain(b"\xff", 2, target, False)

    def load_label(self, target: int, name: str) -> None:
        """The address of a label."""
        self.lea(target, Symbol(name))

    def leave(self) -> None:
        """The stack and rbp as they were before `push rbp; mov rbp, rsp`."""
        self.note((RBP,))
        self.code.append(0xC9)

    def ret(self) -> None:
        self.code.append(0xC3)

    def cpuid(self) -> None:
        """What the processor says of a leaf in eax, part ecx, in eax, ebx, ecx and edx."""
        self.note((GENERAL[RAX], GENERAL[RBX], GENERAL[RCX], GENERAL[RDX]), (GENERAL[RAX], GENERAL[RCX]))
        self.code += b"\x0f\xa2"

    def xgetbv(self) -> None:
        """The registers that the system saves, if ecx is 0, in eax and edx."""
        self.note((GENERAL[RAX], GENERAL[RDX]), (GENERAL[RCX],))
        self.code += b"\x0f\x01\xd0"

    def trap(self) -> None:
        """int3"""
        self.code.append(0xCC)

    def _distance(self, symbol: Symbol, goes: bool = False, near: bool = False) -> None:
        """The 32 bits, or 8, with which an instruction ends that names a place."""
        self.refer(symbol, _put_near if near else _put_distance, 1 if near else 4, goes)


def _put_distance(code: bytearray, place: int, address: int, target: int) -> None:
    struct.pack_into("<i", code, place, target - (address + 4))


def _put_near(code: bytearray, place: int, address: int, target: int) -> None:
    struct.pack_into("<b", code, place, target - (address + 1))


def _extensions(operand: Operand) -> tuple[int, int]:
    """The fourth bits of the registers of the index and of the base, or of the register."""
    if isinstance(operand, At):
        return (operand.place or 0) >> 3, operand.base >> 3
    return 0, 0 if isinstance(operand, Symbol) else operand >> 3


def _in_address(operand: Operand) -> tuple[Register, ...]:
    """The registers from which the address of memory is made."""
    if not isinstance(operand, At):
        return ()
    base = GENERAL[operand.base]
    return (base,) if operand.place is None else (base, GENERAL[operand.place])


def _read(operand: Operand, registers: tuple[Register, ...]) -> tuple[Register, ...]:
    """The registers that are read for a source, which may be one of `registers`."""
    if isinstance(operand, (At, Symbol)):
        return _in_address(operand)
    return (registers[operand],)


def _written(operand: Operand, registers: tuple[Register, ...]) -> tuple[Register, ...]:
    """The register that is written for a target, which may be one of `registers`."""
    return () if isinstance(operand, (At, Symbol)) else (registers[operand],)
