"""PTX of strangers: compilers' PTX that is damaged, and instructions of the tables with random operands.

Each is a module, or CUDA_ERROR_INVALID_PTX with the line. The kernels of those that are modules are run, with
memory to work on, and end or fault.
"""

from __future__ import annotations

import functools
import random
import traceback

from cudapy.simulator.engine import instructions, launch, settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.instructions.rule import Rule, Slot
from cudapy.simulator.engine.module import Function, Module, PTXError
from tests.kernels.families import chosen
from tests.simulator.machine import Machine, ptx
from tests.simulator.test_hostile_ptx import SOURCES, kernel, mutated

LONGEST = 24_000
"""Characters of the kernels' PTX that are damaged: large ones take longer, and show no more."""
SECONDS = 0.5
"""How long a kernel runs."""
FAMILIES = (
    "cpp_language", "cooperative_groups", "instructions", "matrix_products", "textures",
    "asynchronous_copies", "reductions_and_scans", "sorting",
)  # fmt: skip
"""Whose kernels are damaged, beside those of test_hostile_ptx."""


@functools.cache
def corpus() -> tuple[str, ...]:
    """What is damaged."""
    texts = [ptx(source, 90) for source in SOURCES]
    for one in chosen(FAMILIES) if FAMILIES else ():
        if "#include <cub" not in one.code and not one.options:
            texts.append(ptx(one.code, 90))
    return tuple(text for text in dict.fromkeys(texts) if len(text) < LONGEST)


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Every line of the tables."""
    return tuple(rule for table in instructions.TABLES for rule in table.RULES)


@functools.cache
def opcodes(rule: Rule) -> tuple[str, ...]:
    """What a line stands for; some of it, where that is much."""
    found = []
    for opcode in rule.opcodes():
        found.append(opcode)
        if len(found) == 4000:
            break
    return tuple(found)


REGISTERS = {"p": "pred", "h": "b16", "r": "b32", "d": "b64", "q": "b128"}
HEAD = " ".join(f".reg .{kind} %{name}<8>;" for name, kind in REGISTERS.items())
MEMORY = ".shared .align 16 .b8 s[1024]; .local .align 16 .b8 l[256];"
POINTERS = "ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r7, s; mov.u64 %d7, l;"
NUMBERS = (
    "0", "1", "-1", "31", "32", "63", "64", "0xFFFFFFFF", "0x80000000", "4294967295", "9223372036854775807",
    "0f3F800000", "0f7FC00000", "0d7FF0000000000000", "0d3FF0000000000000", "1.5", "16", "255", "7",
)  # fmt: skip
PLACES = (
    "[%d0]", "[%d0+4]", "[%d0+16]", "[%d0+-8]", "[%r7]", "[%r7+8]", "[s]", "[l+4]", "[%d7]", "[%d0+1048576]",
    "[p]", "[0]", "[%r1]", "[%d1]",
)  # fmt: skip
SPECIAL = (
    "%tid",
    "%tid.x",
    "%ntid.y",
    "%laneid",
    "%clock64",
    "%lanemask_lt",
    "%ctaid",
    "%smid",
    "%warpid",
    "s",
    "l",
    "k",
    "L",
)


def operand(chance: random.Random, depth: int = 0) -> str:
    """An operand: which kind is random too, so most instructions get some that do not suit."""
    what = chance.randrange(10)
    if what < 5:
        return f"%{chance.choice('phrrrdddq')}{chance.randrange(8)}"
    if what == 5:
        return chance.choice(NUMBERS)
    if what == 6:
        return chance.choice(PLACES)
    if what == 7 and depth < 2:
        count = chance.choice((1, 2, 2, 4, 4, 8))
        return "{" + ", ".join(operand(chance, depth + 1) for _ in range(count)) + "}"
    if what == 8:
        return f"%{chance.choice('rdp')}{chance.randrange(8)}|%p{chance.randrange(8)}"
    return chance.choice(SPECIAL)


def suiting(chance: random.Random, rule: Rule, groups: dict[str, str]) -> list[str]:
    """A register or a number of the right width for each operand that the table tells of."""

    def register(slot: Slot, place: int) -> str:
        kind = rule.slot_type(slot, groups)
        letter = "p" if kind.kind == "p" else {1: "h", 2: "h", 4: "r", 8: "d", 16: "q"}[kind.size]
        if place and chance.random() < 0.2 and letter != "p":
            return chance.choice(NUMBERS)
        return f"%{letter}{chance.randrange(8)}"

    found = []
    for place, slot in enumerate(rule.slots):
        is_missing = slot.optional is not None and not groups.get(slot.optional) and chance.random() < 0.5
        if slot.name in ("-", "...") or slot.register or is_missing:
            continue
        if slot.place:
            vector = ", ".join(register(slot.place[1], place) for _ in range(chance.choice((1, 2, 3, 4))))
            found.append(f"[%d{chance.randrange(8)}, {{{vector}}}]")
        elif slot.shape == "[":
            found.append(chance.choice(PLACES))
        elif slot.shape == "{":
            count = chance.choice((1, 2, 4, 4, 8))
            found.append("{" + ", ".join(register(slot, place) for _ in range(count)) + "}")
        else:
            found.append(register(slot, place))
        if not place and rule.also is not None and chance.random() < 0.5:
            found[0] += f"|%p{chance.randrange(8)}"
    return found


def instruction(chance: random.Random) -> str:
    """An instruction of a random line of the tables."""
    rule = chance.choice(rules())
    opcode = chance.choice(opcodes(rule))
    match = instructions.match(opcode)
    if match is not None and match.rule.slots and chance.random() < 0.8:
        operands = suiting(chance, match.rule, match.groups)
    elif (
        rule.name in ("ld", "st", "atom", "red", "ldu", "cp", "prefetch", "mbarrier")
        and chance.random() < 0.8
    ):
        value = chance.choice(
            ("%r1", "%d1", "%h1", "%q1", "{%r1, %r2}", "{%r1, %r2, %r3, %r4}", "{%d1, %d2}")
        )
        operands = [value, chance.choice(PLACES)]
        if rule.name in ("st", "red", "cp"):
            operands.reverse()
        operands += [operand(chance) for _ in range(chance.choice((0, 0, 1, 1, 2)))]
    else:
        operands = [operand(chance) for _ in range(chance.choice((0, 1, 2, 2, 3, 3, 4, 5)))]
    guard = chance.choice(("", "", "", "", "@%p1 ", "@!%p2 "))
    return f"{guard}{opcode} {', '.join(operands)};"


def written(chance: random.Random) -> str:
    """A kernel of a few random instructions; one alone as a rule, as any that is wrong is the end of all."""
    lines = [instruction(chance) for _ in range(chance.choice((1, 1, 1, 2, 4)))]
    if chance.random() < 0.2:
        lines.insert(0, "setp.gt.u32 %p1, %r0, 15; @%p1 bra L;")
    return kernel(f"{HEAD} {MEMORY} {POINTERS}\n" + "\n".join(lines) + "\nL: bar.sync 0;")


def text(number: int) -> str:
    """The PTX of a number."""
    chance = random.Random(number)
    if number % 2:
        return written(chance)
    made = mutated(chance.choice(corpus()), number)
    while chance.random() < 0.2:
        made = mutated(made, chance.getrandbits(32))
    return made


class Fuzzer:
    at_once = 500
    is_spent = False

    def __init__(self) -> None:
        self._machine = Machine()
        self._memory = self._machine.zeros(1 << 16, "u1")
        settings.current.timeout = SECONDS

    def item(self, number: int) -> str:
        source = text(number)
        try:
            module = Module(source, self._machine.memory)
        except PTXError as error:
            assert str(error).startswith(("line ", "this is not PTX")), f"no line: {error}"
            assert len(str(error)) < 1000, f"long: {error}"
            return "refused"
        except MemoryError:
            return "too large"
        except BaseException:
            raise AssertionError(f"{traceback.format_exc(limit=-4)}\n{_shown(source)}") from None
        try:
            outcomes = [self._run(one, source) for one in module.functions.values()]
        finally:
            module.close()
        return max(outcomes, default="empty")

    def _run(self, function: Function, source: str) -> str:
        kernel_ = function.kernel
        address = self._memory.address.to_bytes(8, "little")
        params = (address * (kernel_.parameter_size // 8 + 1))[: kernel_.parameter_size]
        try:
            launch(
                function,
                (2, 1, 1),
                (min(function.max_threads, 32), 1, 1),
                params,
                device=self._machine.device,
            )
        except Fault as error:
            return f"faulted: {error.status}"
        except MemoryError:
            return "too large"
        except BaseException:
            raise AssertionError(f"{traceback.format_exc(limit=-6)}\n{_shown(source)}") from None
        return "ran"


def _shown(source: str) -> str:
    """The lines that a random kernel has of its own."""
    return source[-400:] if len(source) < 1500 else ""


def prepare() -> None:
    """Compile once what all processes damage."""
    corpus()
