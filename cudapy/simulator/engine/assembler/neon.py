"""The operations of `x86_64.Assembler` that `jit/` writes, in instructions of AArch64 with NEON and LSE.

Its sixteen general registers are x0 to x15, and each vector of 256 bits is two registers of 128; the last two
vectors, x16, x17 and x19 are for the operations themselves. Results are those of x86-64, to the bit, but for
which NaN arithmetic of binary32 makes, and for conversions of what is out of range.

Source: Arm Architecture Reference Manual for A-profile architecture, chapters C6, "A64 Base Instruction
Descriptions", and C7, "A64 Advanced SIMD and Floating-point Instruction Descriptions".
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, ClassVar

from . import aarch64
from .aarch64 import LINK, SP, ZERO, X
from .x86_64 import RAX, RCX, RDI, At

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .code import Register

_VALUE, _ADDRESS, _NUMBER = X[16], X[17], X[19]
_FRAME = 80
"""Bytes of the stack that functions need."""
_WIDE, _LOAD, _PAIR = 1 << 31, 1 << 22, 0xAD000000
"""What tells instructions for 64 bits from those for 32, and loads from stores; stp of two vectors."""
_LOADS = {1: 0x39400000, 2: 0x79400000, 4: 0xB9400000, 8: 0xF9400000, 16: 0x3DC00000}

_TEXT = """
fadd 4E20D400 fsub 4EA0D400 fmul 6E20DC00 fdiv 6E20FC00 fmla 4E20CC00 fsqrt 6EA1F800 fabs 4EA0F800
fneg 6EA0F800 fcmeq 4E20E400 fcmge 6E20E400 fcmgt 6EA0E400 frintn 4E218800 frintm 4E219800 frintp 4EA18800
frintz 4EA19800 add 4EA08400 sub 6EA08400 mul 4EA09C00 abs 4EA0B800 neg 6EA0B800 cmeq 6EA08C00 cmgt 4EA03400
cmhi 6EA03400 smin 4EA06C00 umin 6EA06C00 smax 4EA06400 umax 6EA06400 sshl 4EA04400 ushl 6EA04400
umull 2EA0C000 smull 0EA0C000 and 4E201C00 orr 4EA01C00 eor 6E201C00 mvn 6E205800 mov 4EA01C00 bsl 6E601C00
bif 6EE01C00 zero 6F00E400 uzp1 4E801800 uzp2 4E805800 uzp2.8h 4E405800 zip1 4EC03800 zip2 4EC07800
ext8 6E004000 rev64 4EA00800 tbl 4E002000 dup 4E040400 dup.d 4E080400 dup.w 4E040C00 sxtl 0F20A400
uxtl 2F20A400 uxtl.h 2F10A400 uxtl.b 2F08A400 xtn 0EA12800 xtn.h 0E612800 xtn.b 0E212800 scvtf 4E21D800
fcvtzs 4EA1B800 fcvtl 0E617800 fcvtn 0E616800 umaxv 6EB0A800 uminv 6EB1A800 cnt 0E205800 addv 0E31B800
to_s 1E270000 to_d 9E670000 from_s 1E260000 from_d 9E660000 from_b 0E013C00 movi7 4F0004E0
movi63 4F0107E0 movi64 4F020400 bytes4 4F00E480 sshr31 4F210400 ushr31 6F210400 ushr15.h 6F110400
ushr32.d 6F600400 usra7 7F791400 usra14 7F721400 usra28 7F641400 usra15 7F711400 usra30 7F621400
"""
_FORMS = dict(zip(_TEXT.split()[::2], (int(one, 16) for one in _TEXT.split()[1::2]), strict=True))
"""Instructions for lanes of 32 bits, or of what the name says."""
_SUFFIXES = {"!": 1 << 22, "+": 1 << 30}
"""! is for lanes of 64 bits, + of the upper half of a register; * is ! in operations of 64 bits."""
_REGISTERS = {"t": 28, "u": 29, "v": 30, "w": 31, "x": _VALUE}
_HALVES = {
    "addp": "fadd* d a b", "subp": "fsub* d a b", "mulp": "fmul* d a b", "divp": "fdiv* d a b",
    "padd": "add* d a b", "psub": "sub* d a b", "pmull": "mul d a b", "pand": "and d a b", "por": "orr d a b",
    "pxor": "eor d a b", "pcmpeq": "cmeq* d a b", "pcmpgt": "cmgt* d a b", "pmins": "smin d a b",
    "pminu": "umin d a b", "pmaxs": "smax d a b", "pmaxu": "umax d a b", "sqrtp": "fsqrt d a",
    "pabs": "abs d a", "fmadd213p": "mov t b;fmla t d a;mov d t", "cvtdq2p": "scvtf d a",
    "blendvp": "sshr31 t c;bsl t b a;mov d t", "minp": "fcmgt* t b a;bsl t a b;mov d t",
    "maxp": "fcmgt* t a b;bsl t a b;mov d t", "pmuludq": "xtn t a;xtn u b;umull d t u",
    "pmuldq": "xtn t a;xtn u b;smull d t u", "psllvd": "movi63 t;umin t t b;ushl d a t",
    "psrlvd": "movi63 t;umin t t b;neg t t;ushl d a t", "psravd": "movi63 t;umin t t b;neg t t;sshl d a t",
    "psllvq": "movi64 t;ushr32.d t t;cmhi! t t b;ushl! u a b;and d u t",
    "psrlvq": "movi64 t;ushr32.d t t;cmhi! t t b;neg! u b;ushl! u a u;and d u t", "cmpp0": "fcmeq* d a b",
    "cmpp1": "fcmgt* d b a", "cmpp2": "fcmge* d b a", "cmpp13": "fcmge* d a b", "cmpp14": "fcmgt* d a b",
    "cmpp7": "fcmge* t a b;fcmgt* u b a;orr d t u", "cmpp12": "fcmgt* t a b;fcmgt* u b a;orr d t u",
    "shufp136": "uzp1 d a b", "shufp221": "uzp2 d a b", "roundp8": "frintn* d a", "roundp9": "frintm* d a",
    "roundp10": "frintp* d a", "roundp11": "frintz* d a", "pshuf78": "ext8 d a a", "pshuf177": "rev64 d a",
}  # fmt: skip
"""What operations do to each half of their target, d, with those of their sources; t to w are for themselves.
Names are without the size of lanes; numbers follow.
"""
_BOTH = {
    "movups": "mov d a;mov D A", "inserti1280": "mov d b;mov D A", "inserti1281": "mov D b;mov d a",
    "extracti1280": "mov d a;zero D", "extracti1281": "mov d A;zero D", "broadcastd": "dup d a;mov D d",
    "broadcastq": "dup.d d a;mov D d", "pmovsxdq": "sxtl+ D a;sxtl d a", "pmovzxdq": "uxtl+ D a;uxtl d a",
    "pmovzxwd": "uxtl.h+ D a;uxtl.h d a", "pmovzxbd": "uxtl.b w a;uxtl.h+ D w;uxtl.h d w",
    "cvtps2pd": "fcvtl+ D a;fcvtl d a", "cvtdq2pd": "sxtl+ D a;sxtl d a;scvtf! d d;scvtf! D D",
    "cvtpd2ps": "fcvtn d a;fcvtn+ d A;zero D", "cvttpd2dq": "fcvtzs! t a;fcvtzs! u A;xtn d t;xtn+ d u;zero D",
    "permq216": "zip1 t a A;zip2 u a A;mov d t;mov D u", "permq78": "mov t a;mov d A;mov D t",
    "permd": "movi7 v;and t a v;and u A v;bytes4 v;mul t t v;mul u u v;dup.w v x;add t t v;"
    "add u u v;tbl t b t;tbl u b u;mov d t;mov D u",
    "ptest": "and t a b;and u A B;orr t t u;umaxv t t;from_s x t",
    "movmskps": "uzp2.8h t a A;ushr15.h t t;xtn.b t t;usra7 t t;usra14 t t;usra28 t t;from_b r t",
    "movmskpd": "uzp2 t a A;ushr31 t t;xtn.h t t;usra15 t t;usra30 t t;from_b r t",
}  # fmt: skip
"""The same where the upper halves, in capitals, are other ones; r: a general register."""
_FIND_NAN = "fcmeq! v t t;fcmeq! w u u;and v v w;uminv v v;from_s x v"
_SIGN_NAN = "fcmeq! v r r;fabs! w r;fneg! w w;bif r w v"
_QUIET_NAN = "fcmeq! v a a;fadd! w a a;bif r w v"
_INVERSE = (3, 4, 5, 6, 8, 9, 10)
"""Relations that hold where those do not whose third bit is another."""
_FIXED = {
    "psrld": (0x6F000400, 64), "psrad": (0x4F000400, 64), "psrlq": (0x6F000400, 128),
    "pslld": (0x4F005400, 32), "psllq": (0x4F005400, 64),
}  # fmt: skip
"""Shifts, and what the count is taken from, to the right, or added to."""

_WORD = {"add": 0xAB000000, "sub": 0xEB000000, "cmp": 0xEB000000, "and": 0xEA000000,
         "or": 0xAA000000, "xor": 0xCA000000}  # fmt: skip
_ATOMIC = {"add": 0xB8E00000, "and": 0xB8E01000, "xor": 0xB8E02000, "or": 0xB8E03000}
"""With "and", bits are cleared."""
_BY_CL = {"shl": 0x9AC02000, "shr": 0x9AC02400}
_BASIC = {"e": "eq", "z": "eq", "ne": "ne", "nz": "ne", "s": "mi", "ns": "pl"}
_CONDITIONS = {
    "any": _BASIC,
    "logic": _BASIC,
    "add": _BASIC | {"b": "hs", "ae": "lo"},
    "sub": _BASIC
    | {"b": "lo", "ae": "hs", "be": "ls", "a": "hi", "l": "lt", "ge": "ge", "le": "le", "g": "gt"},
}
"""By what has set the flags: the carry of a difference is the opposite one."""


class Assembler(aarch64.Assembler):
    """The same operations; those of `aarch64` are for itself."""

    VECTORS = 14
    CONTROL: ClassVar = {"rn": 0, "rp": 1 << 22, "rm": 2 << 22, "rz": 3 << 22}
    """FPCR"""
    IN_ORDER = False
    REACH = 1 << 20
    DISASSEMBLER = "ARM64", "ARM"

    def __init__(self) -> None:
        super().__init__()
        self._flags = "any"
        self._result: tuple[int, int, bool] | None = None
        """A register that the flags are to be of where they are asked for at this offset."""

    def _op(self, form: int, d: int, n: int = 0, m: int = 0) -> None:
        self._word(form, d=d, n=n, m=m)

    @contextlib.contextmanager
    def routine(
        self, name: str, takes: Iterable[Register] = (), clobbers: Iterable[Register] = ()
    ) -> Iterator[None]:
        """What a routine says of its registers is checked on x86-64."""
        self.label(name)
        with self.scope(name):
            yield

    def label(self, name: str) -> None:
        super().label(name)
        self._set_flags("any")

    def _set_flags(self, kind: str, register: int | None = None, wide: bool = True) -> None:
        self._flags = kind
        self._result = None if register is None else (len(self.code), register, wide)

    # Functions of C: of one argument, in rdi.

    def begin_function(self) -> None:
        """Keep what a function may not change, and take its argument."""
        self.sub(SP, SP, _FRAME)
        self.str_(_NUMBER, SP, 64)
        for first in range(8, 16, 2):
            self._pair(0x6D000000, first, first + 1, SP, first - 8)
        self.mov(RDI, X[0])

    def end_function(self) -> None:
        for first in range(8, 16, 2):
            self._pair(0x6D400000, first, first + 1, SP, first - 8)
        self.ldr(_NUMBER, SP, 64)
        self.add(SP, SP, _FRAME)

    # Memory.

    def _place(self, source: At, size: int, more: int = 0) -> int:
        """The fields for the base and offset of memory of `size` bytes, and `more` behind."""
        base, offset = source.base, source.displacement
        if source.place is not None:
            shift = source.scale.bit_length() - 1
            self._op(0x8B000000 | shift << 10, _ADDRESS, base, source.place)
            base = _ADDRESS
        if offset % size or not 0 <= offset <= 4095 * size - more:
            self._plus(_ADDRESS, base, offset)
            base, offset = _ADDRESS, 0
        return offset // size << 10 | base << 5

    def _plus(self, target: int, source: int, value: int) -> None:
        """The sum of a register and a number."""
        if abs(value) >> 24:
            self._signed(_NUMBER, value)
            self._op(0x8B000000, target, source, _NUMBER)
            return
        add, (high, low) = self.sub if value < 0 else self.add, divmod(abs(value), 4096)
        if low or not high:
            add(target, source, low)
        if high:
            add(target, target if low else source, high | 4096)

    def _signed(self, target: int, value: int) -> None:
        """A number of 32 bits, whose sign is extended."""
        if value >= 0:
            self.set(target, value)
        else:
            self._op(0x92800000 | (~value & 0xFFFF) << 5, target)
            self._op(0xF2A00000 | (value >> 16 & 0xFFFF) << 5, target)

    def fetch(self, target: int, source: At, size: int) -> None:
        self._op(_LOADS[size] | self._place(source, size), target)

    def keep(self, target: At, source: int, size: int = 8) -> None:
        self._op(_LOADS[size] - _LOAD | self._place(target, size), source)

    def put(self, target: At, value: int, wide: bool = False) -> None:
        self._signed(_VALUE, value)
        self.keep(target, _VALUE, 8 if wide else 4)

    def lea(self, target: int, source: At) -> None:
        base = source.base
        if source.place is not None:
            shift = source.scale.bit_length() - 1
            self._op(0x8B000000 | shift << 10, target, base, source.place)
            base = target
        if source.displacement or base != target:
            self._plus(target, base, source.displacement)

    def prefetch(self, source: At) -> None:
        self._word(0xF9800000 | self._place(source, 8))

    def _get(self, source: int | At, wide: bool = True) -> int:
        """The register of an operand."""
        if not isinstance(source, At):
            return source
        self.fetch(_VALUE, source, 8 if wide else 4)
        return _VALUE

    # Integers.

    def word(self, name: str, target: int, source: int | At, wide: bool = True) -> None:
        if name != "mov":
            self._combine(name, target, target, self._get(source, wide), wide)
        elif isinstance(source, At):
            self.fetch(target, source, 8 if wide else 4)
        else:
            self.mov(target, source, wide)

    def _combine(self, name: str, target: int, a: int, b: int, wide: bool) -> None:
        target = ZERO if name == "cmp" else target
        self._op(_WORD[name] - (not wide) * _WIDE, target, a, b)
        if name in ("or", "xor"):
            self._set_flags("logic", target, wide)
        else:
            self._set_flags({"cmp": "sub", "and": "logic"}.get(name, name))

    def number(self, name: str, target: int | At, value: int, wide: bool = True) -> None:
        size = 8 if wide else 4
        place = self._place(target, size) if isinstance(target, At) else 0
        source = _VALUE if isinstance(target, At) else target
        if isinstance(target, At):
            self._op(_LOADS[size] | place, source)
        if name in ("and", "or", "xor") or abs(value) > 4095:
            self._signed(_NUMBER, value)
            self._combine(name, source, source, _NUMBER, wide)
        else:
            form = 0xF1000000 if (name == "add") == (value < 0) else 0xB1000000
            result = ZERO if name == "cmp" else source
            self._op((form | abs(value) << 10) - (not wide) * _WIDE, result, source)
            self._set_flags("add" if name == "add" else "sub")
        if isinstance(target, At) and name != "cmp":
            self._op(_LOADS[size] - _LOAD | place, source)

    def test(self, a: int, b: int, wide: bool = True) -> None:
        self._combine("and", ZERO, a, b, wide)

    def add_to(self, target: At, source: int) -> None:
        self.combine("add", target, source, True, False)

    def combine(self, name: str, target: At, source: int, wide: bool, is_locked: bool) -> None:
        if is_locked:
            self.lea(_ADDRESS, target)
            if name == "and":
                self._op(0xAA2003E0, _VALUE, 0, source)
                source = _VALUE
            self._op(_ATOMIC[name] | wide << 30, _VALUE, _ADDRESS, source)
            return
        size = 8 if wide else 4
        place = self._place(target, size)
        self._op(_LOADS[size] | place, _VALUE)
        self._combine(name, _VALUE, _VALUE, source, wide)
        self._op(_LOADS[size] - _LOAD | place, _VALUE)

    def exchange_if_equal(self, target: At, source: int, wide: bool) -> None:
        self.lea(_ADDRESS, target)
        self.mov(_VALUE, RAX)
        self._op(0x88E0FC00 | wide << 30, source, _ADDRESS, RAX)
        self._combine("cmp", ZERO, RAX, _VALUE, wide)

    def shift_word(self, name: str, target: int, count: int, wide: bool = True) -> None:
        last = 63 if wide else 31
        first, last = (-count & last, last - count) if name == "shl" else (count, last)
        self._op((0xD3400000 if wide else 0x53000000) | first << 16 | last << 10, target, target)
        self._set_flags("logic", target, wide)

    def shift_by_cl(self, name: str, target: int) -> None:
        self._op(_BY_CL[name], target, target, RCX)

    def lowest_bit(self, target: int, source: int) -> None:
        self._op(0x5AC00000, target, source)
        self._op(0x5AC01000, target, target)

    def count_bits(self, target: int, source: int) -> None:
        self._run("to_s t a;cnt t t;addv t t;from_s d t", d=target, a=source)

    def clear_lowest_bit(self, target: int, spare: int) -> None:
        self.sub(spare, target, 1, wide=False)
        self._combine("and", target, target, spare, False)

    def invert(self, register: int) -> None:
        self._op(0x2A2003E0, register, 0, register)

    def multiply(self, target: int, source: int | At, wide: bool = True) -> None:
        self._op(0x1B007C00 | wide << 31, target, target, self._get(source, wide))

    def push(self, register: int) -> None:
        self._op(0xF81F0FE0, register)

    def pop(self, register: int) -> None:
        self._op(0xF84107E0, register)

    # Jumps.

    def jump(self, name: str) -> None:
        self.b(name)

    def jump_if(self, condition: str, name: str) -> None:
        """Raises ValueError if the flags do not say that."""
        if self._result is not None:
            place, register, wide = self._result
            if place != len(self.code):
                raise ValueError("flags are asked for too late")
            self.test(register, register, wide)
        if condition not in _CONDITIONS[self._flags]:
            raise ValueError(f"{condition} of {self._flags}")
        self.b_if(_CONDITIONS[self._flags][condition], name)

    def call(self, name: str) -> None:
        self.push(LINK)
        self.bl(name)
        self.pop(LINK)
        self._set_flags("any")

    def call_at(self, target: int | At) -> None:
        register = self._get(target)
        self.push(LINK)
        self.blr(register)
        self.pop(LINK)
        self._set_flags("any")

    def jump_to(self, target: int | At) -> None:
        self.br(self._get(target))

    def load_label(self, target: int, name: str) -> None:
        self.adr(target, name)

    # Vectors.

    def load_control(self, source: At) -> None:
        self.fetch(_VALUE, source, 4)
        self._op(0xD51B4400, _VALUE)

    def _run(self, text: str, wide: bool = False, **registers: int) -> None:
        """Write instructions."""
        for step in text.split(";"):
            name, *operands = step.split()
            numbers = [registers[one] if one in registers else _REGISTERS[one] for one in operands]
            if name == "mov":
                self._copy(*numbers)
                continue
            form = _FORMS[name.rstrip("*!+")] | _SUFFIXES.get(name[-1], 0)
            self._op(form | (wide and name[-1] == "*") << 22, *numbers)

    def _compute(self, name: str, number: int | None, target: int, a: int, b: int = 0) -> None:
        is_inverse = name.startswith("cmp") and (number := (number or 0) & 15) in _INVERSE
        known = name if name in _HALVES else name[:-1]
        if number is not None and name != "blendvps":
            known += str(number ^ is_inverse << 2)
        text = _HALVES[known] + ";mvn d d" * is_inverse
        for half in range(2):
            mask = (number or 0) >> 4 << 1 | half
            registers = {"d": 2 * target + half, "a": 2 * a + half, "b": 2 * b + half, "c": mask}
            self._run(text, name.endswith(("pd", "q")), **registers)

    def _both(self, name: str, target: int, a: int, b: int = 0) -> None:
        low, high = 2 * target, 2 * target + 1
        self._run(_BOTH[name], d=low, D=high, a=2 * a, A=2 * a + 1, b=2 * b, B=2 * b + 1, r=target)

    def vector(self, name: str, target: int, a: int, b: int | At, number: int | None = None) -> None:
        if isinstance(b, At):
            self._load(15, b)
            b = 15
        if name in ("addpd", "subpd", "mulpd", "divpd"):
            self._doubles(_HALVES[name[:-1]], target, a, b)
        elif name == "fmadd213pd":
            self._doubles("mov d b;fmla* d a c", target, a, b, target)
        elif name == "permd":
            self.set(_VALUE, 0x03020100)
            self._both(name, target, a, b)
        elif name == "pblendd":
            assert target == a and number is not None
            for lane in range(8):
                if number >> lane & 1:
                    place = lane % 4
                    form = 0x6E000400 | (place << 3 | 4) << 16 | place << 13
                    self._op(form, 2 * target + lane // 4, 2 * b + lane // 4)
        elif name == "inserti128":
            self._both(f"{name}{number}", target, a, b)
        else:
            self._compute(name, number, target, a, b)

    def _doubles(self, text: str, target: int, a: int, b: int = 0, c: int | None = None) -> None:
        """Where a result is NaN, the first of a, c and b that is one, quiet; if none is, one with a sign."""
        over, results = self.new_label(), (28, 29)
        for half, result in enumerate(results):
            self._run(text, True, d=result, a=2 * a + half, b=2 * b + half, c=2 * (c or 0) + half)
        self._run(_FIND_NAN)
        self.cbnz(_VALUE, over, wide=False)
        sources = (a,) if "b" not in text else (b, a) if c is None else (b, c, a)
        for half, result in enumerate(results):
            self._run(_SIGN_NAN, r=result)
            for one in sources:
                self._run(_QUIET_NAN, r=result, a=2 * one + half)
        super().label(over)
        self._both("movups", target, 14)

    def unary(self, name: str, target: int, source: int | At, number: int | None = None) -> None:
        if isinstance(source, At):
            if name == "movups":
                self._load(target, source)
                return
            if name.startswith("broadcast"):
                self.lea(_ADDRESS, source)
                self._op(0x4D40C800 | (name[-1] == "q") << 10, 2 * target, _ADDRESS)
                self._copy(2 * target + 1, 2 * target)
                return
            is_short = name == "pmovzxbd"  # 64 bits of a vector
            self._op(
                (0xFD400000 if is_short else _LOADS[16]) | self._place(source, 8 if is_short else 16), 30
            )
            source = 15
        if name == "sqrtpd":
            self._doubles("fsqrt! d a", target, source)
        elif name == "ptest":
            self._both(name, 0, target, source)
            self.test(_VALUE, _VALUE, wide=False)
        elif name in _BOTH or name == "permq":
            self._both(name if number is None else f"{name}{number}", target, source)
        else:
            self._compute(name, number, target, source)

    def shift(self, name: str, target: int, source: int, number: int) -> None:
        form, base = _FIXED[name]
        is_left = form == 0x4F005400
        bits = base if is_left else base // 2
        for half in range(2):
            d, n = 2 * target + half, 2 * source + half
            if number >= bits and name != "psrad":
                self._run("zero d", d=d)
            elif number:
                count = base + number if is_left else base - min(number, bits)
                self._op(form | count << 16, d, n)
            else:
                self._copy(d, n)

    def store(self, name: str, target: int | At, source: int, number: int | None = None) -> None:
        if isinstance(target, int):
            self._both(name if number is None else f"{name}{number}", target, source)
        else:
            assert name == "movups"
            self._move_pair(target, source, 0)

    def movd(self, target: int, source: int, wide: bool = False) -> None:
        self._run("from_d d a" if wide else "from_s d a", d=target, a=2 * source)

    def movd_in(self, target: int, source: int, wide: bool = False) -> None:
        self._run(("to_d" if wide else "to_s") + " d a;zero D", d=2 * target, D=2 * target + 1, a=source)

    def _load(self, target: int, source: At) -> None:
        self._move_pair(source, target, _LOAD)

    def _move_pair(self, place: At, vector: int, load: int) -> None:
        if place.place is None and not place.displacement % 16 and -1024 <= place.displacement < 1008:
            self._pair(_PAIR | load, 2 * vector, 2 * vector + 1, place.base, place.displacement // 16)
        else:
            fields = self._place(place, 16, 16)
            for half in range(2):
                self._op((_LOADS[16] - _LOAD + load | fields) + (half << 10), 2 * vector + half)

    def _copy(self, target: int, source: int) -> None:
        if target != source:
            self._op(_FORMS["mov"], target, source, source)
