"""Machine code for AArch64, in an emulator: operations do what they do on x86-64, kernels what NumPy does.

With CUDAPY_EMULATE_AARCH64=1 all tests of this folder run so, those of the back end among them.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine.assembler import neon
from cudapy.simulator.engine.assembler.x86_64 import (
    R8,
    R9,
    R10,
    R11,
    RAX,
    RCX,
    RDI,
    RDX,
    RSI,
    Assembler,
    At,
)
from cudapy.simulator.engine.jit import processor
from cudapy.simulator.engine.jit.layout import address_of
from cudapy.simulator.engine.settings import MACHINE_CODE

from . import test_machine_programs as programs
from .machine_emulator import emulate, emulator
from .machine_programs import Loaded, difference, program

pytestmark = pytest.mark.skipif(not processor.is_supported(), reason="it is compared with x86-64 with AVX2")

Call = tuple[Any, ...]
"""The name of a method of an assembler, and its arguments."""
Operation = tuple[Call, ...]
VECTOR, SIZE = 32, 1 << 16
A, B, C, TARGET = 3, 5, 0, 12
RESULTS = 1024
"""Where they lie behind the operands."""
ROUNDS = 30
ANY_NAN = {"addps", "subps", "mulps", "divps", "sqrtps", "fmadd213ps"}
"""What makes NaN whose bits are nobody's business."""
SPECIAL = {
    32: (
        "0 80000000 1 7F800000 FF800000 7FC00001 FFC00002 7F800003 3F800000 BF800000 1F 20 21 40 7F 80 FF 100"
        " 7FFFFFFF FFFFFFFF 00800000 80800001 4B000001 3F000000 BFC00000"
    ),
    64: (
        "0 8000000000000000 1 7FF0000000000000 FFF0000000000000 7FF8000000000005 FFF8000000000006"
        " 7FF0000000000007 3FF0000000000000 BFF0000000000000 3F 40 41 7F 80 100000000 FFFFFFFFFFFFFFFF"
        " 7FFFFFFFFFFFFFFF 3FE0000000000000 BFF8000000000000 41E0000000000000"
    ),
}
"""Zeros, infinities, NaN of both kinds, counts to shift by, limits."""


def _of_vectors() -> Iterator[Operation]:
    """Operations of A, B and C, whose result is in another register or in one of these."""
    floats = "add", "sub", "mul", "div", "min", "max"
    names = [name + kind for name in floats for kind in ("ps", "pd")]
    names += [f"p{name}{kind}" for name in ("add", "sub", "cmpeq", "cmpgt") for kind in "dq"]
    names += [f"p{name}{kind}" for name in ("min", "max") for kind in ("sd", "ud")]
    names += ["pmulld", "pmuludq", "pmuldq", "pand", "por", "pxor"]
    names += ["psllvd", "psllvq", "psrlvd", "psrlvq", "psravd", "permd"]
    for name, target in itertools.product(names, (TARGET, A, B)):
        yield _stored(target, "vector", name, target, A, B)
    numbered = [(f"cmp{kind}", i) for kind in ("ps", "pd") for i in (*range(11), 12, 13, 14)]
    numbered += [("shufps", 0x88), ("shufps", 0xDD), ("inserti128", 0), ("inserti128", 1)]
    for (name, number), target in itertools.product(numbered, (TARGET, A, B)):
        yield _stored(target, "vector", name, target, A, B, number)
    for target in (TARGET, A, B, C):
        yield _stored(target, "vector", "blendvps", target, A, B, C << 4)
    for name in ("fmadd213ps", "fmadd213pd"):
        yield _stored(C, "vector", name, C, A, B)
    for number in (1, 2, 16, 128, 3, 12, 192):
        yield _stored(A, "vector", "pblendd", A, A, B, number)
    for name in ("paddq", "psubq", "pxor", "pcmpeqq", "por", "pand"):
        yield _stored(A, "vector", name, A, A, At(RDI, VECTOR * 2 + 8))


def _of_one_vector() -> Iterator[Operation]:
    plain = ["movups", "sqrtps", "sqrtpd", "pabsd", "cvtps2pd", "cvtpd2ps", "cvtdq2ps", "cvtdq2pd"]
    of_memory = ["movups", "cvtps2pd", "pmovsxdq", "pmovzxbd", "pmovzxwd", "broadcastd", "broadcastq"]
    numbered: list[tuple[Any, ...]] = [(name,) for name in (*plain, *of_memory, "pmovzxdq")]
    numbered += [(f"round{kind}", number) for kind in ("ps", "pd") for number in (8, 9, 10, 11)]
    numbered += [("pshufd", 0x4E), ("pshufd", 0xB1)]
    numbered += [("permq", number) for number in (0xD8, 0x4E)]
    for (name, *number), target in itertools.product(numbered, (TARGET, A)):
        yield _stored(target, "unary", name, target, A, *number)
    for name, place in itertools.product(of_memory, (At(RDI, 32), At(RDI, 41), At(RDI, 3, R9, 8))):
        yield _stored(A, "unary", name, A, place)
    counts = {"psrld": (0, 1, 16, 31, 32), "psrlq": (0, 1, 33, 63, 64)}
    counts |= {"psrad": counts["psrld"], "pslld": counts["psrld"], "psllq": counts["psrlq"]}
    for name, target in itertools.product(counts, (TARGET, A)):
        for count in counts[name]:
            yield _stored(target, "shift", name, target, A, count)
    for half in (0, 1):
        yield _stored(B, "store", "extracti128", B, A, half)
    yield ("unary", "cvtdq2pd", B, A), *_stored(B, "unary", "cvttpd2dq", B, B)
    for wide in (False, True):
        yield ("fetch", RAX, At(RDI, 0), 8), *_stored(TARGET, "movd_in", TARGET, RAX, wide)


def _stored(target: int, *call: Any) -> Operation:
    return call, ("store", "movups", At(RSI, 0), target)


def _of_words() -> Iterator[Operation]:
    """Operations on integers: the result is in rax, and rcx says whether a condition holds."""
    memory, both = At(RSI, 8), (True, False)
    numbers = (0, 1, -1, 4095, -4096, 40000, -(1 << 31), 0x7FFFFFFF)
    for name, wide in itertools.product(("add", "or", "and", "sub", "xor"), both):
        yield (("word", name, RAX, R8, wide),)
        yield (("word", name, RAX, At(RDI, 40), wide),)
        yield ("keep", memory, RAX), ("combine", name, memory, R8, wide, False)
        if name != "sub":
            yield ("keep", memory, RAX), ("combine", name, memory, R8, wide, True)
        for value in numbers:
            yield (("number", name, RAX, value, wide),)
            yield ("keep", memory, RAX), ("number", name, memory, value, wide)
    for wide in both:
        yield (("word", "mov", RAX, R8, wide),)
        yield (("word", "mov", RAX, At(RDI, 40), wide),)
        for condition in ("b", "ae", "e", "ne", "be", "a", "s", "ns", "l", "ge", "le", "g"):
            for call in (("word", "cmp", RAX, R8, wide), *(("number", "cmp", RAX, i, wide) for i in numbers)):
                yield call, ("jump_if", condition)
        for other in (RAX, R8):
            exchange = ("exchange_if_equal", memory, R8, wide), ("jump_if", "ne")
            yield ("keep", memory, other), *exchange, ("word", "mov", RAX, RAX, wide)
    for name, condition in itertools.product(("add", "sub"), ("b", "ae", "e", "s")):
        yield ("word", name, RAX, R8), ("jump_if", condition)
    for name, condition in itertools.product(("and", "or", "xor"), ("z", "nz", "s", "ns")):
        yield ("word", name, RAX, R8), ("jump_if", condition)
    calls: list[Call] = [("test", RAX, R8), ("unary", "ptest", A, B), ("unary", "ptest", A, A)]
    calls += [("shift_word", "shr", RAX, 40), ("clear_lowest_bit", RAX, R10)]
    for call, condition in itertools.product(calls, ("z", "nz")):
        yield call, ("jump_if", condition)
    for name, count, wide in itertools.product(("shl", "shr"), (1, 7, 31), both):
        yield (("shift_word", name, RAX, count, wide),)
    for name in ("shl", "shr"):
        yield ("word", "mov", RCX, R8), ("shift_by_cl", name, RAX)
    yield (("set", RAX, 0x89ABCDEF),)
    yield (("lowest_bit", RAX, R8),)
    yield (("count_bits", RAX, R8),)
    yield (("invert", RAX),)
    yield (("multiply", RAX, R8),)
    yield (("multiply", RAX, At(RDI, 48)),)
    yield (("movd", RAX, A),)
    yield (("movd", RAX, A, True),)
    yield (("unary", "movmskps", RAX, A),)
    yield (("unary", "movmskpd", RAX, B),)
    yield ("keep", memory, RAX), ("add_to", memory, R8)
    for size, offset in itertools.product((1, 2, 4, 8), (0, 5, -3, 300, 5000)):
        place = At(R11, offset)
        yield ("lea", R11, At(RSI, 16 - offset)), ("keep", place, RAX, size), ("fetch", RAX, place, size)
    yield ("put", memory, -5), ("put", At(RSI, 16), 0x12345678, True)
    for place in (At(RDI, 0), At(RDI, 5, R9, 8), At(RDI, -70000), At(RDI, 1 << 26)):
        yield ("lea", RAX, place), ("word", "sub", RAX, RDI)
    for place in (At(RAX, -1), At(RAX, 1 << 26), At(R9, 0, R9, 1)):
        yield (("lea", RAX, place),)
    yield ("call", "routine"), ("prefetch", At(RDI, 64))
    yield ("load_label", RDX, "routine"), ("call_at", RDX)
    yield ("push", R8), ("pop", RAX)


def _write(out: Assembler, operations: list[Operation]) -> None:
    """A function whose argument points to operands, and to room for results behind them."""
    out.begin_function()
    for place, operation in enumerate(operations):
        for register, number in ((A, 0), (B, 1), (C, 2)):
            out.unary("movups", register, At(RDI, VECTOR * number))
        out.lea(RSI, At(RDI, RESULTS + VECTOR * place))
        out.set(R9, 1)
        out.set(RCX, 11)
        out.fetch(RAX, At(RDI, 0), 8)
        out.fetch(R8, At(RDI, VECTOR), 8)
        over = out.new_label()
        for name, *arguments in operation:
            if name == "jump_if":
                out.jump_if(arguments[0], over)
                out.set(RCX, 77)
                out.label(over)
            else:
                getattr(out, name)(*arguments)
        if operation[-1][0] != "store":
            out.keep(At(RSI, 0), RAX)
            out.keep(At(RSI, 24), RCX)
    out.set(RAX, 5)
    out.end_function()
    out.ret()
    out.label("routine")
    out.number("add", RAX, 3)
    out.ret()


def _operands(random: np.random.Generator, is_random: bool) -> Any:
    """For each 4 or 8 bytes of them what is special for numbers of this size, or anything."""
    operands = np.zeros(3 * VECTOR + 64, np.uint8)
    for bits, text in SPECIAL.items():
        view = operands.view(f"u{bits // 8}")
        special = np.array([int(word, 16) for word in text.split()], view.dtype)
        values: Any = special[random.integers(0, len(special), len(view))]
        if is_random:
            values = random.integers(0, 1 << bits, len(view), view.dtype)
        view[:] = np.where(random.random(len(view)) < 0.6, values, view)
    return operands


@pytest.mark.parametrize("kind", ["vectors", "words"])
def test_each_operation(kind: str) -> None:
    """Only NaN that arithmetic of binary32 makes may differ."""
    operations = [*_of_vectors(), *_of_one_vector()] if kind == "vectors" else [*_of_words()]
    addresses = []
    assemblers: tuple[Any, ...] = (Assembler(), neon.Assembler())
    for out in assemblers:
        _write(out, operations)
        addresses.append(processor.place_code(out.finish()))
    native = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(addresses[0])
    any_nan = np.array([not ANY_NAN.isdisjoint(itertools.chain(*one)) for one in operations])
    random, differ = np.random.default_rng(1), set[Operation]()
    for number in range(ROUNDS):
        expected, found = np.zeros((2, SIZE), np.uint8)
        expected[: 3 * VECTOR + 64] = found[: 3 * VECTOR + 64] = _operands(random, number % 3 == 2)
        assert native(address_of(expected)) == emulator().call(addresses[1], address_of(found)) == 5
        results = [
            one[RESULTS : RESULTS + VECTOR * len(operations)].view(np.uint32).reshape(-1, 8)
            for one in (expected, found)
        ]
        both_nan = np.isnan(results[0].view(np.float32)) & np.isnan(results[1].view(np.float32))
        wrong = (results[0] != results[1]) & ~(both_nan & any_nan[:, None])
        differ |= {operations[place] for place in np.flatnonzero(wrong.any(axis=1))}
    assert differ == set()


def test_flags_that_are_lost_are_an_error() -> None:
    """Those of or, xor and shifts are made where they are asked for, which has to be at once."""
    out = neon.Assembler()
    out.word("or", RAX, RCX)
    out.word("mov", RAX, RCX)
    with pytest.raises(ValueError, match="too late"):
        out.jump_if("z", "label")
    out.test(RAX, RAX)
    with pytest.raises(ValueError, match="be of logic"):
        out.jump_if("be", "label")


def test_it_is_off_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "is_aarch64", lambda: True)
    monkeypatch.delenv(MACHINE_CODE, raising=False)
    assert not processor.is_supported.__wrapped__()
    monkeypatch.setenv(MACHINE_CODE, "auto")
    monkeypatch.setattr(processor, "neon", None)  # as in a wheel
    assert not processor.is_supported.__wrapped__()


def test_code_lies_in_memory_that_holds_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "is_aarch64", lambda: True)
    files = len([*Path("/proc/self/fd").iterdir()])
    code = bytes(range(256)) * 40
    assert ctypes.string_at(processor.place_code(code), len(code)) == code
    assert len([*Path("/proc/self/fd").iterdir()]) == files
    with pytest.raises(OSError, match="code cannot be mapped"):
        processor.place_code(b"")


def test_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    emulate(monkeypatch)
    calls = emulator().calls
    assert difference(Loaded(program(10, wild=True))) == ""
    assert emulator().calls > calls


@pytest.mark.thorough
def test_many_programs_and_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    emulate(monkeypatch)
    programs.test_random_programs(0)
    programs.test_each_instruction(1, monkeypatch)  # of eight parts
