"""Instructions of AArch64 as bytes, those that the simulator's shared libraries need.

Source: Arm Architecture Reference Manual for A-profile architecture, chapter C6, "A64 Base Instruction
Descriptions", and C7 for pairs of vector registers.
"""

import struct

from .code import Code, Register, Symbol

X = tuple(Register(number, f"x{number}") for number in range(31))
SP = Register(31, "sp")
ZERO = Register(31, "zr")
FRAME, LINK = X[29], X[30]
_NAMES = "eq ne hs lo mi pl vs vc hi ls ge lt gt le"
_CONDITIONS = {name: number for number, name in enumerate(_NAMES.split())}


class Assembler(Code):
    """Code for AArch64. wide: of 64 bits, not 32."""

    def _word(self, instruction: int, *, d: int = 0, n: int = 0, m: int = 0) -> None:
        """An instruction with the registers in its three usual fields."""
        self.code += struct.pack("<I", instruction | m << 16 | n << 5 | d)

    # Integers.

    def mov(self, target: int, source: int, wide: bool = True) -> None:
        self._word(0xAA0003E0 if wide else 0x2A0003E0, d=target, m=source)

    def set(self, target: int, value: int, wide: bool = False) -> None:
        """A number of up to 32 bits, without a sign."""
        self._word((0xD2800000 if wide else 0x52800000) | (value & 0xFFFF) << 5, d=target)
        if value >> 16:
            self._word((0xF2A00000 if wide else 0x72A00000) | value >> 16 << 5, d=target)

    def add(self, target: int, source: int, value: int, wide: bool = True) -> None:
        """A number of 12 bits."""
        self._word((0x91000000 if wide else 0x11000000) | value << 10, d=target, n=source)

    def sub(self, target: int, source: int, value: int, wide: bool = True) -> None:
        """A number of 12 bits."""
        self._word((0xD1000000 if wide else 0x51000000) | value << 10, d=target, n=source)

    def cmp(self, a: int, b: int) -> None:
        self._word(0xEB00001F, n=a, m=b)

    def cmp_number(self, a: int, value: int) -> None:
        """32 bits with a number of 12 bits."""
        self._word(0x7100001F | value << 10, n=a)

    # Memory.

    def ldr(self, target: int, base: int, offset: int = 0, wide: bool = True) -> None:
        self._word(
            (0xF9400000 if wide else 0xB9400000) | offset // (8 if wide else 4) << 10, d=target, n=base
        )

    def str_(self, source: int, base: int, offset: int = 0, wide: bool = True) -> None:
        self._word(
            (0xF9000000 if wide else 0xB9000000) | offset // (8 if wide else 4) << 10, d=source, n=base
        )

    def ldr_item(self, target: int, base: int, index: int) -> None:
        """The item of an array of 8 bytes."""
        self._word(0xF8607800, d=target, n=base, m=index)

    def ldp(self, first: int, second: int, base: int, offset: int = 0) -> None:
        self._pair(0xA9400000, first, second, base, offset // 8)

    def stp(self, first: int, second: int, base: int, offset: int = 0) -> None:
        self._pair(0xA9000000, first, second, base, offset // 8)

    def ldp_vectors(self, first: int, second: int, base: int, offset: int) -> None:
        """128 bits of two vector registers."""
        self._pair(0xAD400000, first, second, base, offset // 16)

    def stp_vectors(self, first: int, second: int, base: int, offset: int) -> None:
        self._pair(0xAD000000, first, second, base, offset // 16)

    def ldp_then_add(self, first: int, second: int, base: int, size: int) -> None:
        """Two registers from `base`, which then is `size` bytes further."""
        self._pair(0xA8C00000, first, second, base, size // 8)

    def sub_then_stp(self, first: int, second: int, base: int, size: int) -> None:
        """`size` bytes are taken from `base`, where two registers go then."""
        self._pair(0xA9800000, first, second, base, -size // 8)

    def _pair(self, instruction: int, first: int, second: int, base: int, place: int) -> None:
        self._word(instruction | (place & 0x7F) << 15 | second << 10, d=first, n=base)

    # Places.

    def address(self, target: int, symbol: Symbol) -> None:
        """The address of a place, up to 4 GiB away."""
        self._page(target, symbol)
        self.refer(symbol, _put_low_bits, 4)
        self._patch(0x91000000, d=target, n=target)

    def load(self, target: int, symbol: Symbol) -> None:
        """The 8 bytes at a place, which is a multiple of 8."""
        self._page(target, symbol)
        self.refer(symbol, _put_low_bits_of_eights, 4)
        self._patch(0xF9400000, d=target, n=target)

    def adr(self, target: int, label: str) -> None:
        """The address of a label, up to 1 MiB away."""
        self.refer(Symbol(label), _put_19_bits, 4)
        self._patch(0x10000000, d=target)

    def _page(self, target: int, symbol: Symbol) -> None:
        """adrp: the page of 4 KiB of a place."""
        self.refer(symbol, _put_page, 4)
        self._patch(0x90000000, d=target)

    def _patch(self, instruction: int, *, d: int = 0, n: int = 0) -> None:
        """The rest of the instruction that refers to a symbol."""
        struct.pack_into("<I", self.code, len(self.code) - 4, instruction | n << 5 | d)

    # Branches.

    def b(self, label: str) -> None:
        self.refer(Symbol(label), _put_26_bits, 4, goes=True)
        self._patch(0x14000000)

    def bl(self, label: str) -> None:
        self.refer(Symbol(label), _put_26_bits, 4, goes=True)
        self._patch(0x94000000)

    def b_if(self, condition: str, label: str) -> None:
        self.refer(Symbol(label), _put_19_bits, 4, goes=True)
        self._patch(0x54000000, d=_CONDITIONS[condition])

    def cbz(self, register: int, label: str, wide: bool = True) -> None:
        self.refer(Symbol(label), _put_19_bits, 4, goes=True)
        self._patch(0xB4000000 if wide else 0x34000000, d=register)

    def cbnz(self, register: int, label: str, wide: bool = True) -> None:
        self.refer(Symbol(label), _put_19_bits, 4, goes=True)
        self._patch(0xB5000000 if wide else 0x35000000, d=register)

    def br(self, register: int) -> None:
        self._word(0xD61F0000, n=register)

    def blr(self, register: int) -> None:
        self._word(0xD63F0000, n=register)

    def ret(self) -> None:
        self._word(0xD65F0000, n=LINK)

    def nop(self) -> None:
        self._word(0xD503201F)

    def trap(self) -> None:
        """brk #0"""
        self._word(0xD4200000)


def _put(code: bytearray, place: int, bits: int) -> None:
    (instruction,) = struct.unpack_from("<I", code, place)
    struct.pack_into("<I", code, place, instruction | bits)


def _put_26_bits(code: bytearray, place: int, address: int, target: int) -> None:
    _put(code, place, (target - address) >> 2 & 0x3FFFFFF)


def _put_19_bits(code: bytearray, place: int, address: int, target: int) -> None:
    _put(code, place, ((target - address) >> 2 & 0x7FFFF) << 5)


def _put_page(code: bytearray, place: int, address: int, target: int) -> None:
    pages = (target >> 12) - (address >> 12)
    _put(code, place, (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5)


def _put_low_bits(code: bytearray, place: int, address: int, target: int) -> None:
    _put(code, place, (target & 0xFFF) << 10)


def _put_low_bits_of_eights(code: bytearray, place: int, address: int, target: int) -> None:
    _put(code, place, (target & 0xFFF) >> 3 << 10)
