"""What PTX consists of."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from .types import Type


class PTXError(Exception):
    """PTX that is wrong, or that the simulator has no instruction for; the message says the line."""


class Register(NamedTuple):
    name: str


class Special(NamedTuple):
    """A special register, such as %tid.x."""

    name: str


class Integer(NamedTuple):
    value: int


class Float(NamedTuple):
    """`bits` of `size` bytes, or a decimal number."""

    bits: int
    size: int
    number: float


class Symbol(NamedTuple):
    """A variable, function or label, and bytes behind its start."""

    name: str
    offset: int = 0


class Address(NamedTuple):
    """[base + offset]"""

    base: Register | Special | Symbol | Integer
    offset: int


class Bracket(NamedTuple):
    """[a, b, ...]: the operand of a texture instruction."""

    items: tuple[Operand, ...]


class Vector(NamedTuple):
    """{a, b, ...}, or the (a, b, ...) of a call."""

    items: tuple[Operand, ...]


class Pair(NamedTuple):
    """d|p: two destinations."""

    first: Operand
    second: Operand


class Negation(NamedTuple):
    """!p"""

    operand: Register


class Part(NamedTuple):
    """r.b0: a part of a register, or some of its lanes."""

    register: Register
    selector: str


class Sink(NamedTuple):
    """_: nobody wants to know."""


Operand: TypeAlias = (
    "Register | Special | Integer | Float | Symbol | Address | Bracket | Vector | Pair | Negation | Part"
    " | Sink"
)


def parts_of(operand: Operand) -> tuple[Operand, ...]:
    """The parts of a vector operand, or the operand alone."""
    return operand.items if isinstance(operand, Vector) else (operand,)


class Location(NamedTuple):
    """A line of the source that PTX was made of."""

    file: str
    line: int


@dataclass
class Instruction:
    opcode: str
    """With everything behind the dots: "ld.global.u32"."""
    operands: tuple[Operand, ...]
    guard: Register | None
    negated: bool
    """It runs where the guard is false."""
    line: int
    text: str
    location: Location | None = None
    callers: tuple[Location, ...] = ()
    """Where the inlined function that it is of was called, and the one around that, outwards."""
    number: int = 0
    """Its place in the text of its function."""
    function: str = ""
    """Of a copy in another function: the function that it is of."""

    @property
    def name(self) -> str:
        """The opcode up to its first dot."""
        return self.opcode.partition(".")[0]


@dataclass
class Variable:
    name: str
    space: str
    type: Type
    count: int | None
    """None: an array of unknown length, such as dynamic shared memory."""
    align: int
    values: list[int | tuple[str, int]]
    """The first values: numbers as bits, or (symbol, offset)."""
    line: int
    is_external: bool = False
    is_managed: bool = False
    reference: str = ""
    """"texture" or "surface": it is a reference, whose address kernels use as a handle."""
    is_hidden: bool = False
    """Of a parameter: the driver makes it, and no launch passes it."""

    @property
    def size(self) -> int:
        return self.type.size * (self.count or 0)


@dataclass
class Prototype:
    """What a function takes and returns."""

    results: list[Variable]
    parameters: list[Variable]


@dataclass
class FunctionText:
    name: str
    is_entry: bool
    prototype: Prototype
    line: int
    directives: dict[str, tuple[int, ...]]
    """.maxntid and its like."""
    is_external: bool = False
    """It is declared to be in another module."""
    has_body: bool = False
    registers: dict[str, Type] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    """.local, .shared and .param variables of its own."""
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    """The number of the instruction that a label stands before."""
    tables: dict[str, list[str]] = field(default_factory=dict)
    """.branchtargets: labels that brx.idx chooses among."""
    prototypes: dict[str, Prototype] = field(default_factory=dict)
    """.callprototype: what an indirect call calls."""


@dataclass
class ModuleText:
    target: str
    version: str
    variables: dict[str, Variable]
    functions: dict[str, FunctionText]
    aliases: dict[str, str]

    @property
    def architecture(self) -> int:
        """The number of the target: 90 of sm_90a."""
        match = re.match(r"sm_(\d+)", self.target)
        return int(match[1]) if match else 0
