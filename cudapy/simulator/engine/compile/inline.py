"""Functions of a module in place of their calls.

Registers, labels and `.param` variables get a number of the call behind their names. Parameters and results
become the variables that the call names, and so registers. Each instruction says which function it is of, so
that reports and coverage tell of the functions that the module has.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..instructions import find
from ..ptx.syntax import (
    Address,
    Bracket,
    FunctionText,
    Instruction,
    Integer,
    Negation,
    Operand,
    Pair,
    Part,
    PTXError,
    Register,
    Special,
    Symbol,
    Variable,
    Vector,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 128
"""Instructions of a function that takes the place of its calls, with those of functions in it."""
MOST = 4096
"""Instructions that functions may have from which on their calls stay calls."""
_JUMPS = ("bra", "brx", "ret", "exit", "call")
_ON_STACK = ("alloca", "stacksave", "stackrestore")

Renaming: TypeAlias = Callable[[str], str]


class _Call(NamedTuple):
    """A call of a function by its name, and the `.param` variables that go along."""

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]


def inlined(functions: Mapping[str, FunctionText], aliases: Mapping[str, str]) -> dict[str, FunctionText]:
    """The functions that have bodies, with the bodies of small ones in place of their calls."""
    bodies = {name: text for name, text in functions.items() if text.has_body}
    bodies |= {new: bodies[old] for new, old in aliases.items() if old in bodies}
    aliased: dict[str, list[str]] = {}
    for name, text in bodies.items():
        aliased.setdefault(text.name, []).append(name)
    calls = TopologicalSorter(
        {text.name: [bodies[one].name for one in _called(text) if one in bodies] for text in bodies.values()}
    )
    with suppress(CycleError):  # what calls itself comes last
        calls.prepare()
    found: dict[str, FunctionText] = {}
    small: dict[str, FunctionText] = {}
    """Those that take the place of calls: none that calls itself, through whatever others."""
    while ready := calls.get_ready():
        for name in ready:
            found[name] = text = _Inliner(bodies[name], small).inlined()
            if _can_be_inlined(text, bodies):
                small |= dict.fromkeys(aliased[name], text)
        calls.done(*ready)
    for name in [name for name in aliased if name not in found]:
        found[name] = _Inliner(bodies[name], small).inlined()
    return {name: found[name] for name in functions if name in found}


def _called(text: FunctionText) -> Iterator[str]:
    for instruction in text.instructions:
        if instruction.name == "call":
            yield from (one.name for one in instruction.operands if isinstance(one, Symbol))


def _can_be_inlined(text: FunctionText, bodies: Container[str]) -> bool:
    """Whether threads in a function behave as they would in copies of it: they do not wait there for threads
    that came by another call, and it has no memory of its own.
    """
    if text.is_entry or len(text.instructions) > LARGEST:
        return False
    if any(one.space != "param" for one in text.variables.values()):
        return False
    own = {one.name for one in text.prototype.parameters}
    return all(_may_be_copied(one, own, bodies) for one in text.instructions)


def _may_be_copied(instruction: Instruction, own: Container[str], bodies: Container[str]) -> bool:
    try:
        rule = find(instruction).rule
    except PTXError:  # it is raised where the function is compiled
        return False
    name, operands = instruction.name, instruction.operands
    if rule.convergence_mask or name in _ON_STACK or (rule.ends_block and name not in _JUMPS):
        return False
    if name == "ret":
        return instruction.guard is None
    if name == "call":
        return (call := _call(instruction)) is not None and call.name not in bodies
    if name == "st" and operands and isinstance(operands[0], Address):
        base = operands[0].base
        return not isinstance(base, Symbol) or base.name not in own
    return True


def _call(instruction: Instruction) -> _Call | None:
    """None if it is a call by address."""
    lists: list[tuple[str, ...]] = []
    names: list[str] = []
    has_results = isinstance(next(iter(instruction.operands), None), Vector)
    for operand in instruction.operands:
        if isinstance(operand, Vector) and all(isinstance(one, Symbol) for one in operand.items):
            lists.append(tuple(one.name for one in operand.items if isinstance(one, Symbol)))
        elif isinstance(operand, Symbol):
            names.append(operand.name)
    if len(names) != 1 or len(lists) > 2 or len(lists) + 1 != len(instruction.operands):
        return None
    results = lists.pop(0) if has_results else ()
    return _Call(names[0], lists[0] if lists else (), results)


def _names(call: _Call, body: FunctionText, suffix: str) -> tuple[dict[str, str], dict[str, Variable]]:
    """What a body's names are in the caller, and the variables that the caller gets: those of the body, and
    parameters that the call leaves out.
    """
    names = {name: name + suffix for name in (*body.variables, *body.labels, *body.tables, *body.prototypes)}
    declared: dict[str, Variable] = {**body.variables}
    for variables, given in (
        (body.prototype.parameters, call.arguments),
        (body.prototype.results, call.results),
    ):
        for place, variable in enumerate(variables):
            if place < len(given):
                names[variable.name] = given[place]
            else:
                names[variable.name] = variable.name + suffix
                declared[variable.name] = replace(variable, space="param")
    return names, declared


class _Inliner:
    """Writes the text of a function anew."""

    def __init__(self, text: FunctionText, small: Mapping[str, FunctionText]) -> None:
        self._text, self._small = text, small
        self._instructions: list[Instruction] = []
        self._calls = 0
        self._new = replace(
            text,
            registers=dict(text.registers),
            variables=dict(text.variables),
            instructions=self._instructions,
            labels={},
            tables=dict(text.tables),
            prototypes=dict(text.prototypes),
        )

    def inlined(self) -> FunctionText:
        """The text itself if there is nothing to put into it."""
        places = []
        room = MOST - len(self._text.instructions)
        for instruction in self._text.instructions:
            places.append(len(self._instructions))
            call = _call(instruction) if instruction.name == "call" else None
            body = None if call is None else self._small.get(call.name)
            if call is None or body is None or len(body.instructions) > room or not self._fits(call, body):
                self._instructions.append(instruction)
            else:
                room -= len(body.instructions)
                self._put(instruction, call, body)
        if not self._calls:
            return self._text
        places.append(len(self._instructions))
        self._new.labels.update({name: places[place] for name, place in self._text.labels.items()})
        return self._new

    def _fits(self, call: _Call, body: FunctionText) -> bool:
        """Whether variables of the function can be the parameters and results of another."""
        names = {*call.arguments, *call.results}
        is_right = len(call.arguments) == len(body.prototype.parameters)
        is_right &= len(call.results) <= len(body.prototype.results)
        is_right &= not {*call.arguments} & {*call.results}
        variables = self._text.variables
        return is_right and all(name in variables and variables[name].space == "param" for name in names)

    def _put(self, instruction: Instruction, call: _Call, body: FunctionText) -> None:
        """The body in place of a call, which is a branch to it."""
        suffix = f"#{self._calls}"
        self._calls += 1
        new, target = self._new, self._instructions
        names, declared = _names(call, body, suffix)
        new.registers.update({name + suffix: kind for name, kind in body.registers.items()})
        new.variables.update({names[name]: replace(one, name=names[name]) for name, one in declared.items()})
        first, last = f"begin{suffix}", f"end{suffix}"
        if instruction.guard is not None:
            target.append(_branch(instruction, last, not instruction.negated))
        target.append(replace(_branch(instruction, first, False), opcode="bra.uni", guard=None))
        begin = new.labels[first] = len(target)

        def renamed(name: str) -> str:
            return names.get(name, name)

        for one in body.instructions:
            copy = replace(
                one,
                operands=tuple(_renamed(operand, renamed, suffix) for operand in one.operands),
                guard=None if one.guard is None else Register(one.guard.name + suffix),
                function=one.function or body.name,
            )
            target.append(_branch(copy, last, copy.negated) if one.name == "ret" else copy)
        new.labels[last] = len(target)
        new.labels.update({names[name]: begin + place for name, place in body.labels.items()})
        new.tables.update({names[name]: [*map(renamed, labels)] for name, labels in body.tables.items()})
        new.prototypes.update({names[name]: one for name, one in body.prototypes.items()})


def _branch(instruction: Instruction, label: str, negated: bool) -> Instruction:
    """A branch in place of an instruction."""
    return replace(instruction, opcode="bra", operands=(Symbol(label),), negated=negated)


def _renamed(operand: Operand, symbol: Renaming, suffix: str) -> Operand:
    """An operand of a function in one of its copies."""
    if isinstance(operand, Register):
        return Register(operand.name + suffix)
    if isinstance(operand, Symbol):
        return operand._replace(name=symbol(operand.name))
    if isinstance(operand, Address):
        base = _renamed(operand.base, symbol, suffix)
        assert isinstance(base, (Register, Special, Symbol, Integer))
        return operand._replace(base=base)
    if isinstance(operand, (Vector, Bracket)):
        return operand._replace(items=tuple(_renamed(one, symbol, suffix) for one in operand.items))
    if isinstance(operand, Pair):
        return Pair(_renamed(operand.first, symbol, suffix), _renamed(operand.second, symbol, suffix))
    if isinstance(operand, Negation):
        return Negation(Register(operand.operand.name + suffix))
    if isinstance(operand, Part):
        return operand._replace(register=Register(operand.register.name + suffix))
    return operand
