"""Bodies of functions: instructions, labels, and the names of each scope."""

import re
from typing import Any

from .declarations import call_prototype, variable
from .operands import OperandReader, count, split
from .syntax import FunctionText, Instruction, Location, Operand, Part, PTXError, Register, Special, Symbol
from .types import TYPES, Type

_PIECE = re.compile(
    r"(?:(?P<open>\{)|(?P<close>\})|(?P<loc>\.loc\b[^\n]*)|(?P<label>[A-Za-z_$%][\w$]*)\s*:(?!:)"
    r"|(?P<statement>[^;{}]*(?:\{[^{}]*\}[^;{}]*)*);)"
)
_BLANK = re.compile(r"\s+")
_LABEL = re.compile(r"[;{\n][^\S\n]*([A-Za-z_$%][\w$]*)\s*:(?!:)")
_LOC = re.compile(
    r"\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?"
    r"(?:\s*,\s*function_name\s+[^,]+,\s*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?"
)
_LOC_WITHIN = re.compile(r"\n[^\S\n]*\.loc\b[^\n]*")
"""Between the operands of a call, as NVRTC writes it with lines; it says nothing of its own."""
_DEEPEST = 64
"""Calls within calls that are followed to where a line of an inlined function was called."""
_REGISTERS = re.compile(r"\.reg\s*(?:\.v[24]\s*)?\.(\w+)\s+(.*)", re.DOTALL)
_RANGE = re.compile(r"([%\w$]+)<(\d+)>$")
_REGISTER = re.compile(r"[%\w$]+$")
_DEEPEST = 100
"""Most scopes that are open at a time."""
_INSTRUCTION = re.compile(r"(?:@(!?)\s*([%\w$]+)\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)


class BodyReader:
    """Fills a FunctionText. Names declared in inner braces, and labels there, get a number of their scope."""

    def __init__(self, function: FunctionText, files: dict[int, str]) -> None:
        self._function = function
        self._files = files
        self._scopes: list[dict[str, str]] = [{}]
        self._ranges: list[dict[str, tuple[int, Type, str]]] = [{}]
        """Of each scope the registers that were declared together: how many, of which type, and what their
        names end with elsewhere. They are only told apart when they are used: there may be billions.
        """
        self._count = 0
        self._location: Location | None = None
        self._callers: tuple[Location, ...] = ()
        self._called_at: dict[tuple[str, ...], tuple[str, ...]] = {}
        """Of places in inlined functions, each a file, line and column, where those are called."""
        self._label = ""
        self._operands: dict[str, Operand] = {}
        """Those read so far in the scopes that are open, by their texts."""
        for parameter in (*function.prototype.results, *function.prototype.parameters):
            self._scopes[0][parameter.name] = parameter.name
        self._reader = OperandReader(self._operand)

    def read(self, text: str, place: int, line: int) -> int:
        """Read up to the brace that ends the body; returns the place behind it. Raises PTXError."""
        while True:
            blank = _BLANK.match(text, place)
            if blank is not None:
                line += text.count("\n", place, blank.end())
                place = blank.end()
            match = _PIECE.match(text, place)
            if match is None:
                raise PTXError(f"line {line}: {self._function.name} has no end")
            kind = match.lastgroup
            try:
                if kind == "open":
                    if len(self._scopes) > _DEEPEST:
                        raise PTXError(f"more than {_DEEPEST} braces are open")
                    self._scopes.append({})
                    self._ranges.append({})
                    self._count += 1
                    self._labels_ahead(text, match.end())
                elif kind == "close":
                    self._scopes.pop()
                    self._ranges.pop()
                    self._operands.clear()
                    if not self._scopes:
                        return match.end()
                elif kind == "loc":
                    self._loc(match["loc"])
                elif kind == "label":
                    self._function.labels[self._known(match["label"])] = len(self._function.instructions)
                    self._label = match["label"]
                else:
                    self._statement(_LOC_WITHIN.sub("", match["statement"]).strip(), line)
            except PTXError as error:
                if str(error).startswith("line "):
                    raise
                raise PTXError(f"line {line}: {error}") from None
            line += text.count("\n", place, match.end())
            place = match.end()

    def _labels_ahead(self, text: str, place: int) -> None:
        """Labels of an inner scope are its own, and jumps may go to those further down."""
        end = text.find("}", place)
        for name in _LABEL.findall(text, place - 1, end):
            if not name.startswith("$L__"):  # those of the compiler are unique
                self._declare(name)

    def _declare(self, name: str) -> str:
        unique = name if len(self._scopes) == 1 else f"{name}@{self._count}"
        self._scopes[-1][name] = unique
        self._operands.clear()
        return unique

    def _known(self, name: str) -> str:
        for scope, ranges in zip(reversed(self._scopes), reversed(self._ranges), strict=True):
            if name in scope:
                return scope[name]
            if ranges and self._is_declared(name, scope, ranges):
                return scope[name]
        return name

    def _is_declared(self, name: str, scope: dict[str, str], ranges: dict[str, Any]) -> bool:
        """Whether a name is one of a range of registers; it is then among those that are used."""
        for length in range(1, min(len(name), 11)):
            digits = name[-length:]
            if not digits[0].isdigit():
                return False
            declared = ranges.get(name[:-length])
            if declared and (digits[0] != "0" or length == 1) and int(digits) < declared[0]:
                scope[name] = name + declared[2]
                self._function.registers[scope[name]] = declared[1]
                return True
        return False

    def _operand(self, name: str) -> Operand:
        unique = self._known(name)
        if unique in self._function.registers:
            return Register(unique)
        register, dot, selector = name.rpartition(".")
        if dot and self._known(register) in self._function.registers:
            return Part(Register(self._known(register)), selector)
        return Special(name) if name.startswith("%") else Symbol(unique)

    def _loc(self, text: str) -> None:
        match = _LOC.match(text)
        if match is not None and count(match[2]):  # line 0: made by the compiler
            self._location = self._place(match.groups()[:2])
            callers: list[Location] = []
            if match[4]:
                place: tuple[str, ...] | None = match.groups()[3:]
                self._called_at[match.groups()[:3]] = match.groups()[3:]
                while place is not None and len(callers) < _DEEPEST:
                    callers.append(self._place(place))
                    place = self._called_at.get(place)
            self._callers = tuple(callers)

    def _place(self, place: tuple[str, ...]) -> Location:
        return Location(self._files.get(count(place[0]), "?"), count(place[1]))

    def _statement(self, text: str, line: int) -> None:
        if not text:
            return
        if text[0] != ".":
            self._instruction(text, line)
        elif text.startswith(".reg"):
            self._registers(text)
        elif text.startswith((".callprototype", ".branchtargets", ".calltargets")) and not self._label:
            raise PTXError("a label is expected before it")
        elif text.startswith(".callprototype"):
            self._function.prototypes[self._known(self._label)] = call_prototype(text, line)
        elif text.startswith((".branchtargets", ".calltargets")):
            names = split(text.partition(" ")[2].strip())
            self._function.tables[self._known(self._label)] = [self._known(name) for name in names]
        elif not text.startswith(".pragma"):
            declared = variable(text, line)
            declared.name = self._declare(declared.name)
            self._function.variables[declared.name] = declared

    def _registers(self, text: str) -> None:
        match = _REGISTERS.match(text)
        kind = TYPES.get(match[1]) if match else None
        if match is None or kind is None:
            raise PTXError(f"registers of {text[:200]!r} are not supported")
        if ".v2" in text or ".v4" in text:
            raise PTXError("vector registers are not supported")
        for name in split(match[2].strip()):
            many = _RANGE.match(name)
            if many:
                suffix = "" if len(self._scopes) == 1 else f"@{self._count}"
                self._ranges[-1][many[1]] = count(many[2]), kind, suffix
                self._operands.clear()
            elif _REGISTER.match(name):
                self._function.registers[self._declare(name)] = kind
            else:
                raise PTXError(f"what does {name[:60]!r} declare?")

    def _instruction(self, text: str, line: int) -> None:
        match = _INSTRUCTION.match(text)
        if match is None:
            raise PTXError(f"what is {text[:200]!r}?")
        negated, guard, opcode, rest = match.groups()
        register = self._operand(guard) if guard else None
        if guard and not isinstance(register, Register):
            raise PTXError(f"{guard} is not a register")
        parts = split(_calls_apart(rest) if opcode.startswith("call") else rest.strip())
        self._function.instructions.append(
            Instruction(
                opcode,
                tuple(self._operands.get(part) or self._read(part) for part in parts),
                register if isinstance(register, Register) else None,
                bool(negated),
                line,
                " ".join(text.split()),
                self._location,
                self._callers,
                len(self._function.instructions),
            )
        )

    def _read(self, text: str) -> Operand:
        operand = self._operands[text] = self._reader.read(text)
        return operand


def _calls_apart(text: str) -> str:
    """The commas that PTX lets one leave out of `call (result), name, (parameters)`."""
    return re.sub(r"\)\s*(?=[%\w$])", "), ", text.strip())
