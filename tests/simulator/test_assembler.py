"""The assemblers: encodings, labels, and routines that say which registers they use.

Encodings are those that the manuals of Intel and Arm have as examples, or that follow from their tables of
opcodes. tests/simulator/test_shared.py runs whole functions.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable

import pytest

from cudapy.simulator.engine.assembler import aarch64
from cudapy.simulator.engine.assembler.aarch64 import FRAME, LINK, SP, X
from cudapy.simulator.engine.assembler.code import RoutineError, Symbol
from cudapy.simulator.engine.assembler.x86_64 import (
    R8,
    R9,
    R12,
    R13,
    RAX,
    RBP,
    RBX,
    RCX,
    RDI,
    RDX,
    RSP,
    YMM,
    Assembler,
    At,
)


def encoded(write: Callable[[Assembler], object]) -> str:
    out = Assembler()
    write(out)
    return out.finish().hex(" ")


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda out: out.word("add", RAX, RCX), "48 03 c1"),
        (lambda out: out.word("xor", RDI, RDI, wide=False), "33 ff"),
        (lambda out: out.word("cmp", R8, At(RBX, 8)), "4c 3b 43 08"),
        (lambda out: out.word("mov", RAX, At(RSP, 8)), "48 8b 44 24 08"),  # a base of 4 needs a SIB byte
        (lambda out: out.word("mov", RAX, At(R12)), "49 8b 44 24 00"),
        (lambda out: out.word("mov", RAX, At(R13)), "49 8b 45 00"),
        (lambda out: out.word("mov", RAX, At(RBP, 128)), "48 8b 85 80 00 00 00"),
        (lambda out: out.word("mov", R9, At(RAX, 0, RCX, 8)), "4c 8b 4c c8 00"),
        (lambda out: out.number("sub", RSP, 128), "48 81 ec 80 00 00 00"),
        (lambda out: out.set(R9, 1), "41 b9 01 00 00 00"),
        (lambda out: out.keep(At(RDI), RAX, 1), "40 88 47 00"),
        (lambda out: out.keep(At(RDI), RAX, 2), "66 89 47 00"),
        (lambda out: out.fetch(RAX, At(RDI), 2), "0f b7 47 00"),
        (lambda out: out.push(R12), "41 54"),
        (lambda out: out.pop(RBX), "5b"),
        (lambda out: out.lowest_bit(RAX, RCX), "f3 0f bc c1"),
        (lambda out: out.count_bits(RAX, RCX), "f3 0f b8 c1"),
        (lambda out: out.shift_by_cl("shr", RAX), "48 d3 e8"),
        (lambda out: out.add_to(At(RBX, 8), RAX), "48 01 43 08"),
        (lambda out: out.call_at(RAX), "ff d0"),
        (lambda out: out.jump_to(At(RDX, 0, RAX, 8)), "ff 64 c2 00"),
        (lambda out: out.store_vector(At(RSP, 16), YMM[1]), "0f 11 4c 24 10"),
        (lambda out: out.vector("paddd", YMM[1], YMM[2], YMM[3]), "c4 e1 6d fe cb"),
        (lambda out: out.vector("paddd", YMM[9], YMM[10], YMM[11]), "c4 41 2d fe cb"),
        (lambda out: out.unary("movups", YMM[0], At(RBX, 32)), "c4 e1 7c 10 43 20"),
        (lambda out: out.movd(RAX, YMM[4]), "c4 e1 79 7e e0"),
    ],
)
def test_encodings_of_x86_64(write: Callable[[Assembler], object], expected: str) -> None:
    assert encoded(write) == expected


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda out: out.nop(), 0xD503201F),
        (lambda out: out.ret(), 0xD65F03C0),
        (lambda out: out.mov(X[1], X[8]), 0xAA0803E1),
        (lambda out: out.mov(X[0], X[17], wide=False), 0x2A1103E0),
        (lambda out: out.set(X[0], 2), 0x52800040),
        (lambda out: out.add(X[0], SP, 96), 0x910183E0),
        (lambda out: out.sub(X[0], X[19], 1, wide=False), 0x51000660),
        (lambda out: out.cmp(X[5], X[3]), 0xEB0300BF),
        (lambda out: out.cmp_number(X[19], 10), 0x71002A7F),
        (lambda out: out.ldr(X[19], SP, 16), 0xF9400BF3),
        (lambda out: out.str_(X[0], SP, 120, wide=False), 0xB9007BE0),
        (lambda out: out.str_(aarch64.ZERO, X[0]), 0xF900001F),
        (lambda out: out.ldr_item(X[16], X[16], X[17]), 0xF8717A10),
        (lambda out: out.sub_then_stp(FRAME, LINK, SP, 224), 0xA9B27BFD),
        (lambda out: out.ldp_then_add(FRAME, LINK, SP, 224), 0xA8CE7BFD),
        (lambda out: out.stp_vectors(0, 1, SP, 96), 0xAD0307E0),
        (lambda out: out.br(X[16]), 0xD61F0200),
        (lambda out: out.blr(X[9]), 0xD63F0120),
    ],
)
def test_encodings_of_aarch64(write: Callable[[aarch64.Assembler], object], expected: int) -> None:
    out = aarch64.Assembler()
    write(out)
    assert int.from_bytes(out.finish(), "little") == expected


def test_branches_and_places_of_aarch64() -> None:
    out = aarch64.Assembler()
    out.label("start")
    out.cbz(X[0], "end")
    out.b("start")
    out.b_if("ne", "start")
    out.address(X[16], Symbol("far", 8))
    out.load(X[2], Symbol("far"))
    out.label("end")
    words = [word for (word,) in struct.iter_unpack("<I", out.finish(0x1FF0, {"far": 0x12345678}))]
    assert words == [
        0xB40000E0, 0x17FFFFFF, 0x54FFFFC1,  # 7 words on, 1 and 2 words back
        0x90091A30, 0x911A0210,  # 0x12344 pages on, as this is in page 1, and 0x680 bytes
        0xF0091A02, 0xF9433C42,  # one page less, as this is in page 2
    ]  # fmt: skip


def test_a_jump_says_how_far_it_is_from_its_end() -> None:
    out = Assembler()
    out.label("start")
    out.jump("end")
    out.jump_if("ne", "start")
    out.label("end")
    assert out.finish().hex(" ") == "e9 06 00 00 00 0f 85 f5 ff ff ff"


def test_symbols_are_bound_at_the_end() -> None:
    out = Assembler()
    out.jump_to(Symbol("slots", 16))
    assert out.finish(0x1000, {"slots": 0x2000}).hex(" ") == "ff 25 0a 10 00 00"


def test_a_name_that_is_nowhere() -> None:
    out = Assembler()
    out.jump("nowhere")
    with pytest.raises(KeyError, match="nowhere"):
        out.finish()


def test_labels_of_routines_are_their_own() -> None:
    out = Assembler()
    for name in ("first", "second"):
        with out.routine(name):
            out.jump("end")
            out.trap()
            with out.scope():
                out.jump("end")  # of the innermost scope
                out.label("end")
            out.label("end")
            out.jump("second")
    code = out.finish()
    assert code[:11].hex(" ") == "e9 06 00 00 00 cc e9 00 00 00 00"
    assert code[16:27] == code[:11]
    assert out.labels["second"] == 16 and "end" not in out.labels


def test_a_label_is_there_once() -> None:
    out = Assembler()
    out.label("end")
    with pytest.raises(ValueError, match="two labels end"):
        out.label("end")


class TestRoutines:
    """A routine is refused that uses registers that it does not name, also where another one does."""

    def refused(self, write: Callable[[Assembler], object], match: str) -> None:
        out = Assembler()
        with out.routine("other", takes=(R8,), clobbers=(RAX,)):
            out.word("mov", RAX, R8)
        with out.routine("tested", takes=(RCX, R8), clobbers=(RCX, YMM[1])):
            write(out)
        with pytest.raises(RoutineError, match=f"^the routine tested {match}$"):
            out.finish()

    def test_it_changes(self) -> None:
        self.refused(lambda out: out.set(RDX, 0), "changes rdx")
        self.refused(lambda out: out.vector("paddd", YMM[2], YMM[1], YMM[1]), "changes ymm2")
        self.refused(lambda out: out.vector("paddd", YMM[1], YMM[3], YMM[3]), "reads ymm3")
        self.refused(lambda out: out.call("other"), "changes rax")
        self.refused(lambda out: out.jump_if("e", "other"), "changes rax")

    def test_it_reads(self) -> None:
        self.refused(lambda out: out.word("add", RCX, R9), "reads r9")
        self.refused(lambda out: out.fetch(RCX, At(RBX, 0, RDX, 4), 4), "reads rdx")
        self.refused(lambda out: out.word("cmp", RCX, At(RDI)), "reads rdi")

    def test_nothing_is_said_of_one_that_says_all(self) -> None:
        out = Assembler()
        with out.routine("tested", takes=(RCX,), clobbers=(RAX, YMM[1])):
            out.word("mov", RAX, RCX)
            out.vector("pxor", YMM[1], YMM[1], YMM[1])
            out.push(RDX)
            out.set(RDX, 0)
            out.pop(RDX)
            out.saves((RDX,))
        assert out.finish()


def test_it_needs_no_numpy() -> None:
    """The shared libraries are written before a program runs that may never call CUDA."""
    code = "import sys; from cudapy.simulator.engine.assembler import x86_64; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
