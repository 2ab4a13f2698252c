"""Random programs in C++, as kernels on the simulator and for the processor by g++: both give the same.

Each is a function of two integers and two floats, and calls others. Nothing in it is undefined: integers
wrap, shifts are masked, no divisor is zero, no float becomes an integer. Products and sums of floats stay
apart.
"""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from cudapy.simulator.engine import settings
from tests.simulator.machine import Machine

INTEGERS = ("u32", "i32", "u64", "i64", "u16", "i16", "u8", "i8")
FLOATS = ("float", "double")
CONSTANTS = (0, 1, 2, 3, 7, 31, 255, 256, 65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
FLOAT_CONSTANTS = ("0.0", "1.0", "0.5", "-2.25", "3.0e3", "1e-3", "-0.0", "123456.75")
WORDS = 16
"""Of the array that each function has."""
THREADS = 96

HEAD = """
typedef unsigned u32; typedef int i32; typedef unsigned long long u64; typedef long long i64;
typedef unsigned short u16; typedef short i16; typedef unsigned char u8; typedef signed char i8;
DEVICE static u32 quotient32(i64 a, i64 b) { return (u32)(a / (b ? b : 1)); }
DEVICE static u32 remainder32(i64 a, i64 b) { return (u32)(a % (b ? b : 1)); }
DEVICE static u64 quotient64(i64 a, i64 b) { return b == 0 || b == -1 ? (u64)a : (u64)(a / b); }
DEVICE static u64 remainder64(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : (u64)(a % b); }
DEVICE static u32 bits_float(float x)
{ u32 bits; memcpy(&bits, &x, 4); return x == x ? bits : 0x7fc00000u; }
DEVICE static u64 bits_double(double x)
{ u64 bits; memcpy(&bits, &x, 8); return x == x ? bits : 0x7ff8000000000000ull; }
"""
FOR_THE_PROCESSOR = """#include <cmath>
#include <cstring>
#define DEVICE
#define NOINLINE __attribute__((noinline))
"""
RUN = """
extern "C" void run(const u32 *a, const u32 *b, const float *c, const double *e, u64 *out, int n)
{ for (int i = 0; i < n; ++i) out[i] = top(a[i], b[i], c[i], e[i]); }
"""
FOR_THE_SIMULATOR = """#define DEVICE __device__
#define NOINLINE __noinline__
"""
KERNEL = """
extern "C" __global__ void run(const u32 *a, const u32 *b, const float *c, const double *e, u64 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = top(a[i], b[i], c[i], e[i]);
}
"""


class _Writer:
    """Writes one program."""

    def __init__(self, number: int) -> None:
        self._chance = random.Random(number)
        self._functions: list[tuple[str, list[str]]] = []
        self._names = 0
        self._result = "u32"

    def program(self) -> str:
        chance, texts = self._chance, []
        for number in range(chance.randint(1, 4)):
            kinds = [chance.choice(INTEGERS + FLOATS) for _ in range(chance.randint(1, 4))]
            self._result = chance.choice(INTEGERS)
            known = {f"p{place}": kind for place, kind in enumerate(kinds)}
            body = self._statements(known, chance.randint(3, 8), 2)
            head = f"DEVICE {chance.choice(('NOINLINE', 'static'))} {self._result} f{number}"
            parameters = ", ".join(f"{kind} {name}" for name, kind in known.items())
            texts.append(
                f"{head}({parameters})\n{{\nu32 words[{WORDS}];\n"
                f"for (int i = 0; i < {WORDS}; ++i) words[i] = (u32)i * 0x9e3779b9u;\n"
                f"{body}\nreturn ({self._result})words[{chance.randrange(WORDS)}];\n}}\n"
            )
            self._functions.append((f"f{number}", kinds))
        self._result = "u64"
        known = {"a": "u32", "b": "u32", "c": "float", "e": "double"}
        known |= {"sum": "u64", "wide": "i64", "narrow": "u16", "byte": "i8"}
        texts.append(
            f"DEVICE NOINLINE u64 top(u32 a, u32 b, float c, double e)\n{{\nu32 words[{WORDS}];\n"
            f"for (int i = 0; i < {WORDS}; ++i) words[i] = a * (u32)i + b;\n"
            "u64 sum = 0; i64 wide = (i64)b; u16 narrow = (u16)a; i8 byte = (i8)b;\n"
            f"{self._statements(known, chance.randint(5, 10), 3)}\n"
            f"for (int i = 0; i < {WORDS}; ++i) sum = sum * 31 + words[i];\n"
            "return sum ^ (u64)wide ^ narrow ^ (u64)(i64)byte ^ bits_float(c) ^ bits_double(e);\n}\n"
        )
        return "".join(texts)

    def _some(self, known: dict[str, str], depth: int) -> str:
        """An integer of any type."""
        return self._integer(self._chance.choice(INTEGERS), known, depth)

    def _any(self, kind: str, known: dict[str, str], depth: int) -> str:
        return self._float(kind, known, depth) if kind in FLOATS else self._integer(kind, known, depth)

    def _leaf(self, kind: str, known: dict[str, str]) -> str:
        chance = self._chance
        names = [name for name, one in known.items() if one == kind or (one, kind) == ("counter", "u32")]
        if names and chance.random() < 0.8:
            return chance.choice(names)
        if kind in FLOATS:
            return chance.choice(FLOAT_CONSTANTS) + "f" * (kind == "float")
        return f"(({kind}){chance.choice((*CONSTANTS, chance.getrandbits(32), chance.getrandbits(8)))}u)"

    def _float(self, kind: str, known: dict[str, str], depth: int) -> str:
        chance, inner, tail = self._chance, depth - 1, "f" * (kind == "float")
        way = chance.random()
        if depth <= 0 or way < 0.15:
            return self._leaf(kind, known)
        if way < 0.6:
            operator = chance.choice("+-*/")
            return f"({self._float(kind, known, inner)} {operator} {self._float(kind, known, inner)})"
        if way < 0.7:
            return f"(({kind}){self._some(known, inner)})"
        if way < 0.85:
            name = chance.choice((f"fabs{tail}", f"sqrt{tail}(fabs{tail}"))
            return f"{name}({self._float(kind, known, inner)}){')' * name.count('(')}"
        if way < 0.93:
            either = f"{self._float(kind, known, inner)} : {self._float(kind, known, inner)}"
            return f"({self._some(known, inner)} < {self._some(known, inner)} ? {either})"
        other = "float" if kind == "double" else "double"
        return f"(({kind}){self._float(other, known, inner)})"

    def _integer(self, kind: str, known: dict[str, str], depth: int) -> str:
        chance, inner = self._chance, depth - 1
        wide = "64" in kind
        unsigned = "u64" if wide else "u32"
        way = chance.random()

        def same() -> str:
            return self._integer(kind, known, inner)

        def some() -> str:
            return self._some(known, inner)

        if depth <= 0 or way < 0.15:
            return self._leaf(kind, known)
        if way < 0.5:
            other = same() if chance.random() < 0.6 else some()
            return f"(({kind})(({unsigned}){same()} {chance.choice('+-*&|^')} ({unsigned}){other}))"
        if way < 0.58:
            operator = chance.choice(("<<", ">>"))
            of = kind if operator == ">>" else unsigned
            return f"(({kind})((({of}){same()}) {operator} ({some()} & {63 if wide else 31})))"
        if way < 0.65:
            if kind.startswith("i"):
                name = chance.choice(("quotient", "remainder")) + unsigned[1:]
                return f"(({kind}){name}({same()}, {same()}))"
            return f"(({kind})(({unsigned}){same()} {chance.choice('/%')} (({unsigned}){same()} | 1)))"
        if way < 0.73:
            of = chance.choice(INTEGERS + FLOATS)
            operator = chance.choice(("<", "<=", ">", ">=", "==", "!="))
            return f"(({kind})({self._any(of, known, inner)} {operator} {self._any(of, known, inner)}))"
        if way < 0.8:
            return f"(({some()} & 1) ? {same()} : {same()})"
        if way < 0.87:
            return f"(({kind}){some()})"
        if way < 0.9:
            return f"(({kind})~{same()})"
        if way < 0.95:
            return f"(({kind})words[{some()} & {WORDS - 1}])"
        if self._functions and way < 0.99:
            name, kinds = chance.choice(self._functions)
            return f"(({kind}){name}({', '.join(self._any(one, known, depth - 2) for one in kinds)}))"
        of = chance.choice(FLOATS)
        return f"(({kind})bits_{of}({self._float(of, known, inner)}))"

    def _name(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def _statements(self, known: dict[str, str], count: int, depth: int, counter: str = "") -> str:
        """A block; counters of loops are known, and are not changed."""
        known = dict(known)
        lines = [self._statement(known, depth) for _ in range(count)]
        if counter and self._chance.random() < 0.3:
            lines.append(f"if ({self._some(known, 2)} & 4) {self._chance.choice(('break', 'continue'))};")
        return "\n".join(["{", *lines, "}"])

    def _statement(self, known: dict[str, str], depth: int) -> str:
        """One, which may add to what is known."""
        chance, way = self._chance, self._chance.random()
        if way < 0.2:
            name, kind = self._name(), chance.choice(INTEGERS + FLOATS + FLOATS)
            text = f"{kind} {name} = {self._any(kind, known, 3)};"
            known[name] = kind
            return text
        if way < 0.55 or not depth:
            name = chance.choice([one for one, kind in known.items() if kind != "counter"])
            return f"{name} = {self._any(known[name], known, 3)};"
        if way < 0.62:
            return f"words[{self._some(known, 2)} & {WORDS - 1}] = {self._integer('u32', known, 3)};"
        if way < 0.68:
            place = f"{self._some(known, 2)} & {4 * WORDS - 1}"
            return f"((u8 *)words)[{place}] = {self._integer('u8', known, 2)};"
        if way < 0.8:
            test = chance.choice(("& 1", "> 3", "!= 0", "== 5"))
            text = f"if ({self._some(known, 3)} {test}) {self._statements(known, 2, depth - 1)}"
            return text + (f" else {self._statements(known, 2, depth - 1)}" if chance.random() < 0.5 else "")
        if way < 0.9:
            name = self._name()
            most = f"({self._integer('u32', known, 2)} & {chance.choice((1, 3, 7))})"
            inside = known | {name: "counter"}
            body = self._statements(inside, chance.randint(1, 3), depth - 1, name)
            return f"for (u32 {name} = 0; {name} < {most}; ++{name}) {body}"
        if way < 0.97 or depth == 3:
            lines = []
            for case in sorted(chance.sample(range(8), chance.randint(2, 6))):
                ends = "break;" if chance.random() < 0.7 else ""
                lines.append(f"case {case}: {self._statements(known, 1, depth - 1)} {ends}")
            return "\n".join([f"switch ({self._some(known, 2)} & 7) {{", *lines, "default: ;", "}"])
        return f"if ({self._some(known, 2)} & 8) return {self._integer(self._result, known, 2)};"


def _inputs(number: int) -> list[Any]:
    noise = np.random.default_rng(number)
    a, b = noise.integers(0, 1 << 32, (2, THREADS), np.uint32)
    a[::3] %= np.uint32(9)
    b[::4] %= np.uint32(300)
    return [a, b, noise.normal(0, 100, THREADS).astype(np.float32), noise.normal(0, 1000, THREADS)]


def _on_the_processor(text: str, inputs: list[Any]) -> Any:
    out = np.zeros(THREADS, np.uint64)
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "program.cpp"), Path(folder, "program.so")
        source.write_text(FOR_THE_PROCESSOR + HEAD + text + RUN)
        options = ["-O1", "-w", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-shared", "-fPIC"]
        subprocess.run(["g++", *options, str(source), "-o", str(library)], check=True)
        addresses = [ctypes.c_void_p(one.ctypes.data) for one in (*inputs, out)]
        ctypes.CDLL(str(library)).run(*addresses, THREADS)
    return out


class Fuzzer:
    at_once = 20
    is_spent = False

    def item(self, number: int) -> str:
        text, inputs = _Writer(number).program(), _inputs(number)
        expected = _on_the_processor(text, inputs)
        for machine_code in ("never", "always"):
            settings.current.machine_code = machine_code
            machine = Machine()
            module = machine.load(FOR_THE_SIMULATOR + HEAD + text + KERNEL, 90, "--fmad=false")
            out = machine.zeros(THREADS, np.uint64)
            machine.run(module, "run", 3, THREADS // 3, *(machine.array(one) for one in inputs), out)
            different = np.flatnonzero(out.get() != expected)
            assert not len(different), (
                f"machine code {machine_code}: {len(different)} threads differ, the first is {different[0]}:"
                f" {int(out.get()[different[0]]):#x} and not {int(expected[different[0]]):#x}\n{text}"
            )
        return "equal"


def prepare() -> None:
    if shutil.which("g++") is None:
        raise SystemExit("there is no g++ to compare with")
