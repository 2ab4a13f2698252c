"""Random kernels whose threads work together, on the simulator and by g++, which runs them in turns.

Shuffles, votes, matches and reductions of whole warps and of the lanes that took one way of a branch, in
loops that lanes leave one by one, and in functions; exchanges through shared memory under `__syncwarp` and
`__syncthreads`; atomics whose order does not matter; blocks of any shape. No kernel has a race or reads what
nobody wrote, so the checks find nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cudapy.simulator.engine import settings
from tests.simulator.machine import Machine

from .programs import (
    FOR_THE_PROCESSOR,
    FOR_THE_SIMULATOR,
    HEAD,
    INTEGERS,
    WORDS,
    Writer,
    difference,
    inputs,
    on_the_processor,
)
from .programs import prepare as prepare

SHAPES = (1, 7, 31, 32, 33, 64, 96, 100, 128, 160, (16, 3), (5, 7, 2), (32, 2), (2, 33), (8, 8, 2))
MOST = 160
"""Threads in a block."""
CELLS = 8
OWN = {f"u{bits}": f"((u{bits} *)(memory + {CELLS + MOST * (bits - 8) // 64}))" for bits in (8, 16, 32, 64)}
"""Arrays in shared memory, behind the cells of atomics: an element for each thread."""
MEMORY = CELLS + MOST * (8 + 16 + 32 + 64) // 64
"""In words of 64 bits."""
KINDS = ("u32", "i32", "u64", "i64", "float", "double")
"""Of variables that collectives change."""
ATOMICS = ("add", "exclusive", "least", "most", "both", "either_of")
LANES = """
DEVICE static u32 place(u32 group, u32 which)
{ for (which %= count(group); which; --which) group &= group - 1; return first(group); }
DEVICE static u32 above(u32 lane, u32 by, u32 width) { return lane % width < by ? lane : lane - by; }
DEVICE static u32 below(u32 lane, u32 by, u32 width) { return lane % width + by >= width ? lane : lane + by; }
DEVICE static u32 across(u32 lane, u32 by, u32 width)
{ u32 other = lane ^ by; return other / width > lane / width ? lane : other; }
"""
"""Where shuffles take from, on both sides."""
START = """
u32 group = THREADS - WARP >= 32 ? ~0u : (1u << (THREADS - WARP)) - 1;
u64 sum = 0; i64 wide = (i64)b; u16 narrow = (u16)a;
"""


class Kernel(Writer):
    """Writes one: a function of each thread, which the kernel calls."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.has_halves = False
        self._groups: list[tuple[str, str]] = []
        self._step = self.chance.choice(ATOMICS)
        """What the whole grid does to its cells."""

    def program(self) -> str:
        chance = self.chance
        texts = [self.function(f"f{number}") for number in range(chance.randint(0, 2))]
        self.result = ""
        for number in range(chance.randint(0, 2)):
            kind = chance.choice(INTEGERS)
            head = f"DEVICE {chance.choice(('NOINLINE', 'static'))} {kind} g{number}"
            body = self._in_group({"x": kind, "y": "u32", "group": "constant"}, chance.randint(2, 4), 1)
            texts.append(
                f"{head}(u32 group, {kind} x, u32 y, u64 *all)\n{{\nu32 words[{WORDS}];\n"
                f"for (int i = 0; i < {WORDS}; ++i) words[i] = y * (u32)i;\n{body}\nreturn x;\n}}\n"
            )
            self._groups.append((f"g{number}", kind))
        known = {"a": "u32", "b": "u32", "c": "float", "e": "double", "sum": "u64", "wide": "i64"}
        known |= {"narrow": "u16", "group": "constant", "THREAD": "constant", "LANE": "constant"}
        body = "\n".join(self._in_block(known) for _ in range(chance.randint(3, 7)))
        texts.append(
            f"DEVICE NOINLINE u64 top(u32 a, u32 b, float c, double e, u64 *all)\n{{\nu32 words[{WORDS}];\n"
            f"for (int i = 0; i < {WORDS}; ++i) words[i] = a * (u32)i + b;\n{START}{body}\n"
            f"for (int i = 0; i < {WORDS}; ++i) sum = sum * 31 + words[i];\n"
            "return sum ^ (u64)wide ^ narrow ^ a ^ b ^ bits_float(c) ^ bits_double(e);\n}\n"
        )
        return "".join(texts)

    def sources(self) -> tuple[str, str]:
        program = self.program()

        def whole(name: str) -> str:
            text = Path(__file__).with_name(name).read_text()
            return HEAD + text.replace("// LANES", LANES).replace("// PROGRAM", program)

        sizes = f"#define MOST {MOST}\n#define MEMORY {MEMORY}\n"
        return FOR_THE_PROCESSOR + sizes + whole("warps.hpp"), FOR_THE_SIMULATOR + whole("warps.cuh")

    def _variable(self, known: dict[str, str]) -> tuple[str, str]:
        """One to write to, and its kind."""
        name = self.chance.choice([name for name, kind in known.items() if kind in KINDS])
        return name, known[name]

    def _cell(self, known: dict[str, str]) -> str:
        return f"{self.some(known, 2)} & {CELLS - 1}"

    def _in_block(self, known: dict[str, str]) -> str:
        """A statement that all threads of a block come to."""
        chance, way = self.chance, self.chance.random()
        if way < 0.25:
            return self.statement(known, 3)
        if way < 0.6:
            return self._in_group(known, chance.randint(1, 3), 2)
        name, kind = self._variable(known)
        if way < 0.7:
            vote = chance.choice(("count", "and", "or"))
            return f"{name} = ({kind})barrier_{vote}({self.some(known, 2)} & 1);"
        if way < 0.8:
            size, own = chance.choice(list(OWN.items()))
            return (
                f"{own}[THREAD] = {self.integer(size, known, 3)};\nbarrier();\n"
                f"{name} = ({kind}){own}[(u32){self.some(known, 2)} % THREADS];\nbarrier();"
            )
        if way < 0.86:
            turn, turns = self.name(), chance.choice(("2", "3", "(BLOCK & 1) + 1"))
            body = "\n".join(self._in_block(dict(known)) for _ in range(chance.randint(1, 2)))
            return f"for (u32 {turn} = 0; {turn} < {turns}; ++{turn}) {{\n{body}\n}}"
        if way < 0.9:
            return self._halves(known, name, kind)
        return self._compacted(known) if way < 0.94 else self._atomics(known, name, kind)

    def _halves(self, known: dict[str, str], name: str, kind: str) -> str:
        """The whole warps of a block exchange in two parts, each with a barrier of its own."""
        size, own = self.chance.choice(list(OWN.items()))
        given, other = self.integer(size, known, 3), f"from + (u32){self.some(known, 2)} % threads"
        return (
            "{ const u32 part = THREADS / 64 * 32, which = 1 + (THREAD >= part), from = (which - 1) * part;\n"
            "const u32 threads = which == 1 ? part : THREADS / 32 * 32 - part;\n"
            "if (THREAD < from + threads) {\n"
            f"{own}[THREAD] = {given};\nbarrier_of(which, threads);\n{name} = ({kind}){own}[{other}];\n"
            "barrier_of(which, threads);\n} }"
        )

    def _atomics(self, known: dict[str, str], name: str, kind: str) -> str:
        """Those of one kind on cells in shared memory, and what one of the cells holds then."""
        chance = self.chance
        of, way = chance.choice(("u32", "u64", "float", "double")), chance.random()
        step = chance.choice(ATOMICS) if of in INTEGERS else "add"
        cells = f"(({of} *)memory)"
        at = f"&{cells}[{self._cell(known)}]"
        given = self.integer(of, known, 3) if of in INTEGERS else f"({of})({self.some(known, 3)} & 255)"
        body = f"{step}({at}, {given});"
        if way < 0.3:
            body = f"if ({self.some(known, 2)} & 1) {{ {body} }} else {{ {step}({at}, ({of})THREAD); }}"
        elif way < 0.5:
            turn = self.name()
            body = f"for (u32 {turn} = 0; {turn} < (u32)({self.some(known, 2)} & 3); ++{turn}) {body}"
        elif way < 0.7 and of in INTEGERS:
            body = (
                f"{{ {of} *at = {at}, x = {self.integer(of, known, 2)}, found = 0, seen;\n"
                "while ((seen = replaced(at, found, found + x)) != found) found = seen; }"
            )
        return (
            f"for (u32 i = THREAD; i < {CELLS}; i += THREADS) {cells}[i] = ({of})(i * 999u);\n"
            f"barrier();\n{body}\nbarrier();\n{name} = ({kind}){cells}[{self._cell(known)}];\nbarrier();"
        )

    def _compacted(self, known: dict[str, str]) -> str:
        """Some threads take a place each, and write to it."""
        own, turn = OWN["u32"], self.name()
        return (
            "if (THREAD == 0) *(u32 *)memory = 0;\nbarrier();\n"
            f"if ({self.some(known, 2)} & 1)"
            f" {own}[add((u32 *)memory, 1u)] = {self.integer('u32', known, 3)};\nbarrier();\n"
            f"for (u32 {turn} = 0; {turn} < *(u32 *)memory; ++{turn}) sum += {own}[{turn}];\nbarrier();"
        )

    def _in_group(self, known: dict[str, str], count: int, depth: int) -> str:
        """A block of statements that the lanes of `group` come to."""
        known = dict(known)
        return "\n".join(["{", *(self._together(known, depth) for _ in range(count)), "}"])

    def _together(self, known: dict[str, str], depth: int) -> str:
        chance, way = self.chance, self.chance.random()
        name, kind = self._variable(known)
        if way < 0.25:
            return f"{name} = {self._shuffle(kind, known)};"
        if way < 0.35:
            vote = chance.choice(("ballot", "any_of", "all_of"))
            return f"{name} = ({kind}){vote}(group, {self.some(known, 3)} & 1);"
        if way < 0.45:
            of = chance.choice(("u32", "i32"))
            names = ("sum_of", "least_of", "most_of") + ("both_of", "any_bits", "odd_bits") * (of == "u32")
            return f"{name} = ({kind}){chance.choice(names)}(group, {self.integer(of, known, 3)});"
        if way < 0.52:
            of = chance.choice(("u32", "i32", "u64"))
            few = f"({of})({self.integer(of, known, 2)} & {chance.choice((1, 3))})"
            return f"{name} = ({kind}){chance.choice(('same', 'all_same'))}(group, {few});"
        if way < 0.6:
            size, own = chance.choice(list(OWN.items()))
            other = f"WARP + place(group, (u32){self.some(known, 2)})"
            return (
                f"together(group);\n{own}[THREAD] = {self.integer(size, known, 2)};\ntogether(group);\n"
                f"{name} = ({kind}){own}[{other}];\ntogether(group);"
            )
        if way < 0.66:
            return f"{self._step}(&all[{self._cell(known)}], {self.integer('u64', known, 2)});"
        if way < 0.78 and depth:
            return self._branch(known, depth - 1, has_else=way < 0.74)
        if way < 0.84 and depth:
            left, turns = self.name(), f"{self.integer('u32', known, 2)} & {chance.choice((1, 3, 7))}"
            body = self._in_group(known, chance.randint(1, 2), depth - 1)
            return (
                f"{{ u32 left = {turns}, active = group;\nfor (;; --left) {{\n"
                f"active = ballot(active, left > 0); if (!left) break; const u32 {left} = left;\n"
                f"{{ const u32 group = active;\n{body} }} }} }}"
            )
        if way < 0.9 and self._groups:
            call, of = chance.choice(self._groups)
            given = f"{self.integer(of, known, 2)}, {self.integer('u32', known, 2)}"
            return f"{name} = ({kind}){call}(group, {given}, all);"
        return self.statement(known, 2)

    def _shuffle(self, kind: str, known: dict[str, str]) -> str:
        chance, x, by = self.chance, f"({kind}){self.any(kind, known, 3)}", self.integer("u32", known, 2)
        shuffle = chance.choice(("taken", "from_above", "from_below", "from_across"))
        if shuffle == "taken":
            return f"taken(group, {x}, place(group, {by}))"
        width = chance.choice((32, 32, 16, 8, 4, 2, 1))
        by = f"{chance.randrange(width)}u" if chance.random() < 0.6 else f"({by} & {width - 1})"
        return f"{shuffle}(group, {x}, {by}, {width}u)"

    def _branch(self, known: dict[str, str], depth: int, has_else: bool) -> str:
        """The lanes of a group part, and are groups of their own until they come together again."""
        chance, takes = self.chance, self.name()
        test = f"({self.some(known, 2)} & {chance.choice((1, 2, 3))}) != 0"
        bodies = [self._in_group(known, chance.randint(1, 2), depth) for _ in range(1 + has_else)]
        text = (
            f"{{ const bool takes = {test}; const u32 outer = group, {takes} = ballot(group, takes);\n"
            f"if (takes) {{ const u32 group = {takes};\n{bodies[0]} }}"
        )
        return text + (
            f" else {{ const u32 group = outer & ~{takes};\n{bodies[1]} }} }}" if has_else else " }"
        )


class Fuzzer:
    at_once = 20
    is_spent = False

    def item(self, number: int) -> str:
        kernel = Kernel(number)
        shape, blocks = kernel.chance.choice(SHAPES), kernel.chance.randint(1, 3)
        threads = int(np.prod(shape))
        for_the_processor, for_the_simulator = kernel.sources()
        given, cells = inputs(number, blocks * threads), np.arange(CELLS, dtype=np.uint64)
        expected = np.zeros(blocks * threads, np.uint64), cells.copy()
        on_the_processor(for_the_processor, *given, *expected, blocks, threads)
        for machine_code, checks in (("never", False), ("always", False), ("always", True), ("never", True)):
            settings.current.machine_code = machine_code
            settings.current.check_races = settings.current.check_uninitialized = checks
            found: list[Any] = []
            machine = Machine(**({"record": found.extend} if checks else {}))
            module = machine.load(for_the_simulator, 90, "--fmad=false")
            results = machine.zeros(blocks * threads, np.uint64), machine.array(cells)
            arrays = (*(machine.array(one) for one in given), *results)
            machine.run(module, "run", blocks, shape, *arrays, shared=8 * MEMORY)
            how = f"machine code {machine_code}{', with checks' * checks}, {blocks} blocks of {shape}"
            assert not found, f"{how}: {found[0]}\n{for_the_simulator}"
            for what, result, right in zip(("threads", "cells"), results, expected, strict=True):
                wrong = difference(result.get(), right)
                assert not wrong, f"{how}: {wrong} {what}\n{for_the_simulator}"
        return "equal"
