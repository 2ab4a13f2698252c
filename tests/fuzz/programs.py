"""Random programs in C++, as kernels on the simulator and for the processor by g++: both give the same.

Each is a function of two integers and two floats, and calls others: templates, functions that recur or
come from a table, with structs as parameters and results, or with an array that nobody else names. Nothing
in it is undefined: integers wrap, shifts are masked, no divisor is zero, no float becomes an integer.
Products and sums of floats stay apart.
"""

from __future__ import annotations

import ctypes
import functools
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
READ_ONLY = ("counter", "constant")
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
DEVICE static u32 twisted(u32 a, u32 b) { return a * 0x85ebca6bu ^ b >> 3; }
DEVICE static u32 blended(u32 a, u32 b) { return (a & b) + (a ^ 0x5bd1e995u); }
DEVICE static u32 either(u32 a, u32 b)
{ switch (b % 5) { case 0: return a; case 1: return a + b; case 3: a ^= b; default: return ~a; } }
DEVICE static u32 one_of(u32 which, u32 a, u32 b)
{
    u32 (*const table[])(u32, u32) = {twisted, blended, either};
    return table[which % 3](a, b);
}
DEVICE static u64 bits_double(double x)
{ u64 bits; memcpy(&bits, &x, 8); return x == x ? bits : 0x7ff8000000000000ull; }
"""
FOR_THE_PROCESSOR = """#include <cmath>
#include <cstring>
#define DEVICE
#define NOINLINE __attribute__((noinline))
"""
HALVES = """
DEVICE static u32 bits_half(half x)
{ u16 bits; memcpy(&bits, &x, 2); return (float)x == (float)x ? bits : 0x7e00u; }
"""
HALVES_FOR_THE_PROCESSOR = """typedef _Float16 half;
static half half_of(float x) { return (half)x; }
static half half_sum(half a, half b) { return a + b; }
static half half_product(half a, half b) { return a * b; }
static half half_quotient(half a, half b) { return a / b; }
"""
RUN = """
extern "C" void run(const u32 *a, const u32 *b, const float *c, const double *e, u64 *out, int n)
{ for (int i = 0; i < n; ++i) out[i] = top(a[i], b[i], c[i], e[i]); }
"""
FOR_THE_SIMULATOR = """#define DEVICE __device__
#define NOINLINE __noinline__
"""
HALVES_FOR_THE_SIMULATOR = """#include <cuda_fp16.h>
DEVICE static half half_of(float x) { return __float2half_rn(x); }
DEVICE static half half_sum(half a, half b) { return __hadd_rn(a, b); }
DEVICE static half half_product(half a, half b) { return __hmul_rn(a, b); }
DEVICE static half half_quotient(half a, half b) { return __hdiv(a, b); }
"""
KERNEL = """
extern "C" __global__ void run(const u32 *a, const u32 *b, const float *c, const double *e, u64 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = top(a[i], b[i], c[i], e[i]);
}
"""


class Writer:
    """Writes one program."""

    def __init__(self, number: int) -> None:
        self.chance = random.Random(number)
        self.functions: list[tuple[str, list[str]]] = []
        self.structs: dict[str, dict[str, str]] = {}
        self.has_halves = self.chance.random() < 0.25 and _knows_halves()
        self.result = "u32"
        """What the function returns; "" where it must not end early."""
        self._named = 0
        self._may_write = True

    def program(self) -> str:
        chance, texts = self.chance, [HALVES] if self.has_halves else [""]
        texts += [self._struct() for _ in range(chance.randint(0, 2))]
        texts += [self.function(f"f{number}") for number in range(chance.randint(1, 4))]
        self.result = "u64"
        known = {"a": "u32", "b": "u32", "c": "float", "e": "double"}
        known |= {"sum": "u64", "wide": "i64", "narrow": "u16", "byte": "i8"}
        texts.append(
            f"DEVICE NOINLINE u64 top(u32 a, u32 b, float c, double e)\n{{\nu32 words[{WORDS}];\n"
            f"for (int i = 0; i < {WORDS}; ++i) words[i] = a * (u32)i + b;\n"
            "u64 sum = 0; i64 wide = (i64)b; u16 narrow = (u16)a; i8 byte = (i8)b;\n"
            f"{self.statements(known, chance.randint(5, 10), 3)}\n"
            f"for (int i = 0; i < {WORDS}; ++i) sum = sum * 31 + words[i];\n"
            "return sum ^ (u64)wide ^ narrow ^ (u64)(i64)byte ^ bits_float(c) ^ bits_double(e);\n}\n"
        )
        return "".join(texts)

    def sources(self) -> tuple[str, str]:
        """The program for the processor, and for the simulator."""
        text = HEAD + self.program()
        halves = (HALVES_FOR_THE_PROCESSOR, HALVES_FOR_THE_SIMULATOR) if self.has_halves else ("", "")
        return FOR_THE_PROCESSOR + halves[0] + text + RUN, FOR_THE_SIMULATOR + halves[1] + text + KERNEL

    def _kinds(self) -> tuple[str, ...]:
        """Of variables that are not structs."""
        return INTEGERS + FLOATS + ("half",) * self.has_halves

    def _struct(self) -> str:
        """A struct, and the function that makes one."""
        name = f"S{len(self.structs)}"
        kinds = self.chance.choices(self._kinds(), k=self.chance.randint(1, 6))
        fields = {f"m{place}": kind for place, kind in enumerate(kinds)}
        self.structs[name] = fields
        head = ", ".join(f"{kind} {field}" for field, kind in fields.items())
        sets = " ".join(f"made.{field} = {field};" for field in fields)
        declared = " ".join(f"{kind} {field};" for field, kind in fields.items())
        way = self.chance.choice(("NOINLINE", "static"))
        return (
            f"struct {name} {{ {declared} }};\n"
            f"DEVICE {way} {name} make_{name}({head}) {{ {name} made; {sets} return made; }}\n"
        )

    def function(self, name: str) -> str:
        """One that those behind it call: a template, one that calls itself, or neither; with an array of its
        own, or one that it reads alone.
        """
        chance = self.chance
        kinds = [chance.choice(self._kinds() + tuple(self.structs)) for _ in range(chance.randint(1, 4))]
        self.result = chance.choice(INTEGERS)
        self._may_write = chance.random() < 0.7
        known: dict[str, str] = {}
        for place, kind in enumerate(kinds):
            known |= self.names(f"p{place}", kind)
        parameters = ", ".join(f"{kind} p{place}" for place, kind in enumerate(kinds))
        call, template, ends = name, "", ""
        way = chance.random()
        if way < 0.2:
            template, call = "template <u32 N> ", f"{name}<{chance.randint(0, 9)}>"
            known["N"] = "constant"
        elif way < 0.3:
            again = ", ".join(self.any(kind, known, 1) for kind in kinds) + ", words" * (not self._may_write)
            ends = f"if (depth & 3) p_more = {name}((depth & 3) - 1, {again});\n"
            parameters, known["p_more"] = f"u32 depth, {parameters}", "u32"
            call = f"{name}({chance.randint(0, 7)}"
        words = f"u32 words[{WORDS}];\nfor (int i = 0; i < {WORDS}; ++i) words[i] = (u32)i * 0x9e3779b9u;\n"
        if not self._may_write:
            parameters, words = f"{parameters}, const u32 *__restrict__ words", ""
        body = self.statements(known, chance.randint(3, 8), 2)
        kept, self._may_write = self._may_write, True
        self.functions.append((call, kinds + ["words"] * (not kept)))
        way = chance.choice(("NOINLINE", "static"))
        return (
            f"{template}DEVICE {way} {self.result} {name}({parameters})\n{{\n{words}u32 p_more = 0;\n"
            f"{ends}{body}\nreturn ({self.result})(words[{chance.randrange(WORDS)}] ^ p_more);\n}}\n"
        )

    def names(self, name: str, kind: str) -> dict[str, str]:
        """What a variable adds to what is known: itself, and the fields of a struct."""
        fields = self.structs.get(kind, {})
        return {name: kind} | {f"{name}.{field}": one for field, one in fields.items()}

    def some(self, known: dict[str, str], depth: int) -> str:
        """An integer of any type."""
        return self.integer(self.chance.choice(INTEGERS), known, depth)

    def any(self, kind: str, known: dict[str, str], depth: int) -> str:
        if kind in self.structs:
            ready = [name for name, one in known.items() if one == kind]
            if ready and self.chance.random() < 0.4:
                return self.chance.choice(ready)
            fields = self.structs[kind].values()
            return f"make_{kind}({', '.join(self.any(one, known, depth - 1) for one in fields)})"
        if kind == "half":
            return self._half(known, depth)
        return self._float(kind, known, depth) if kind in FLOATS else self.integer(kind, known, depth)

    def _half(self, known: dict[str, str], depth: int) -> str:
        chance, names = self.chance, [name for name, one in known.items() if one == "half"]
        if depth <= 0 and names:
            return chance.choice(names)
        if depth <= 0 or chance.random() < 0.3:
            return f"half_of({self._float('float', known, depth - 1)})"
        name = chance.choice(("sum", "sum", "product", "quotient"))
        return f"half_{name}({self._half(known, depth - 1)}, {self._half(known, depth - 1)})"

    def _leaf(self, kind: str, known: dict[str, str]) -> str:
        chance = self.chance
        names = [name for name, one in known.items() if one == kind or (one in READ_ONLY and kind == "u32")]
        if names and chance.random() < 0.8:
            return chance.choice(names)
        if kind in FLOATS:
            return chance.choice(FLOAT_CONSTANTS) + "f" * (kind == "float")
        return f"(({kind}){chance.choice((*CONSTANTS, chance.getrandbits(32), chance.getrandbits(8)))}u)"

    def _float(self, kind: str, known: dict[str, str], depth: int) -> str:
        chance, inner, tail = self.chance, depth - 1, "f" * (kind == "float")
        way = chance.random()
        if depth <= 0 or way < 0.15:
            return self._leaf(kind, known)
        if way < 0.6:
            operator = chance.choice("+-*/")
            return f"({self._float(kind, known, inner)} {operator} {self._float(kind, known, inner)})"
        if way < 0.7:
            return f"(({kind}){self.some(known, inner)})"
        if self.has_halves and way < 0.75:
            return f"(({kind})(float){self._half(known, inner)})"
        if way < 0.85:
            name = chance.choice((f"fabs{tail}", f"sqrt{tail}(fabs{tail}"))
            return f"{name}({self._float(kind, known, inner)}){')' * name.count('(')}"
        if way < 0.93:
            either = f"{self._float(kind, known, inner)} : {self._float(kind, known, inner)}"
            return f"({self.some(known, inner)} < {self.some(known, inner)} ? {either})"
        other = "float" if kind == "double" else "double"
        return f"(({kind}){self._float(other, known, inner)})"

    def integer(self, kind: str, known: dict[str, str], depth: int) -> str:
        chance, inner = self.chance, depth - 1
        wide = "64" in kind
        unsigned = "u64" if wide else "u32"
        way = chance.random()

        def same() -> str:
            return self.integer(kind, known, inner)

        def some() -> str:
            return self.some(known, inner)

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
            return f"(({kind})({self.any(of, known, inner)} {operator} {self.any(of, known, inner)}))"
        if way < 0.8:
            return f"(({some()} & 1) ? {same()} : {same()})"
        if way < 0.87:
            return f"(({kind}){some()})"
        if way < 0.9:
            return f"(({kind})~{same()})"
        if way < 0.95:
            return f"(({kind})words[{some()} & {WORDS - 1}])"
        if self.functions and way < 0.99:
            name, kinds = chance.choice(self.functions)
            given = ", ".join(one if one == "words" else self.any(one, known, depth - 2) for one in kinds)
            return f"(({kind}){name}{', ' if '(' in name else '('}{given}))"
        if way < 0.993:
            return f"(({kind})one_of({some()}, (u32){some()}, (u32){some()}))"
        if self.has_halves and way < 0.997:
            return f"(({kind})bits_half({self._half(known, inner)}))"
        of = chance.choice(FLOATS)
        return f"(({kind})bits_{of}({self._float(of, known, inner)}))"

    def name(self) -> str:
        self._named += 1
        return f"v{self._named}"

    def statements(self, known: dict[str, str], count: int, depth: int, counter: str = "") -> str:
        """A block; counters of loops are known, and are not changed."""
        known = dict(known)
        lines = [self.statement(known, depth) for _ in range(count)]
        if counter and self.chance.random() < 0.3:
            lines.append(f"if ({self.some(known, 2)} & 4) {self.chance.choice(('break', 'continue'))};")
        return "\n".join(["{", *lines, "}"])

    def statement(self, known: dict[str, str], depth: int) -> str:
        """One, which may add to what is known."""
        chance, way = self.chance, self.chance.random()
        if way < 0.2:
            name, kind = self.name(), chance.choice(self._kinds() + FLOATS + tuple(self.structs))
            text = f"{kind} {name} = {self.any(kind, known, 3)};"
            known |= self.names(name, kind)
            return text
        if way < 0.55 or not depth:
            name = chance.choice([one for one, kind in known.items() if kind not in READ_ONLY])
            return f"{name} = {self.any(known[name], known, 3)};"
        if way < 0.68 and not self._may_write:
            return f"{{ {self.statement(dict(known), 0)} }}"
        if way < 0.62:
            return f"words[{self.some(known, 2)} & {WORDS - 1}] = {self.integer('u32', known, 3)};"
        if way < 0.68:
            place = f"{self.some(known, 2)} & {4 * WORDS - 1}"
            return f"((u8 *)words)[{place}] = {self.integer('u8', known, 2)};"
        if way < 0.8:
            test = chance.choice(("& 1", "> 3", "!= 0", "== 5"))
            text = f"if ({self.some(known, 3)} {test}) {self.statements(known, 2, depth - 1)}"
            return text + (f" else {self.statements(known, 2, depth - 1)}" if chance.random() < 0.5 else "")
        if way < 0.9:
            name = self.name()
            most = f"({self.integer('u32', known, 2)} & {chance.choice((1, 3, 7))})"
            inside = known | {name: "counter"}
            body = self.statements(inside, chance.randint(1, 3), depth - 1, name)
            return f"for (u32 {name} = 0; {name} < {most}; ++{name}) {body}"
        if way < 0.97 or depth == 3 or not self.result:
            lines = []
            for case in sorted(chance.sample(range(8), chance.randint(2, 6))):
                ends = "break;" if chance.random() < 0.7 else ""
                lines.append(f"case {case}: {self.statements(known, 1, depth - 1)} {ends}")
            return "\n".join([f"switch ({self.some(known, 2)} & 7) {{", *lines, "default: ;", "}"])
        return f"if ({self.some(known, 2)} & 8) return {self.integer(self.result, known, 2)};"


def inputs(number: int, threads: int) -> list[Any]:
    """What each thread is given."""
    noise = np.random.default_rng(number)
    a, b = noise.integers(0, 1 << 32, (2, threads), np.uint32)
    a[::3] %= np.uint32(9)
    b[::4] %= np.uint32(300)
    return [a, b, noise.normal(0, 100, threads).astype(np.float32), noise.normal(0, 1000, threads)]


@functools.cache
def _knows_halves() -> bool:
    """Whether g++ has a type for them here."""
    command = ["g++", "-x", "c++", "-fsyntax-only", "-"]
    return not subprocess.run(command, input=b"_Float16 half;", capture_output=True).returncode


def on_the_processor(source: str, *arguments: Any) -> None:
    """Compile, and call `run` with the addresses of arrays, and numbers."""
    with tempfile.TemporaryDirectory() as folder:
        file, library = Path(folder, "program.cpp"), Path(folder, "program.so")
        file.write_text(source)
        options = "-O1 -w -fwrapv -fno-strict-aliasing -ffp-contract=off -fexcess-precision=16 -shared -fPIC"
        subprocess.run(["g++", *options.split(), str(file), "-o", str(library)], check=True)
        addresses = (
            one.ctypes.data_as(ctypes.c_void_p) if hasattr(one, "ctypes") else one for one in arguments
        )
        ctypes.CDLL(str(library)).run(*addresses)


def difference(got: Any, expected: Any) -> str:
    """The first number that differs, and how many do; "" if none does."""
    wrong = np.flatnonzero(got != expected)
    if not len(wrong):
        return ""
    first = wrong[0]
    return f"{int(got[first]):#x} and not {int(expected[first]):#x} in {first}, the first of {len(wrong)}"


class Fuzzer:
    at_once = 20
    is_spent = False

    def item(self, number: int) -> str:
        writer, given = Writer(number), inputs(number, THREADS)
        for_the_processor, for_the_simulator = writer.sources()
        expected = np.zeros(THREADS, np.uint64)
        on_the_processor(for_the_processor, *given, expected, THREADS)
        for machine_code in ("never", "always"):
            settings.current.machine_code = machine_code
            machine = Machine()
            module = machine.load(for_the_simulator, 90, "--fmad=false")
            out = machine.zeros(THREADS, np.uint64)
            machine.run(module, "run", 3, THREADS // 3, *(machine.array(one) for one in given), out)
            wrong = difference(out.get(), expected)
            assert not wrong, f"machine code {machine_code}: {wrong} threads\n{for_the_simulator}"
        return "equal"


def prepare() -> None:
    if shutil.which("g++") is None:
        raise SystemExit("there is no g++ to compare with")
