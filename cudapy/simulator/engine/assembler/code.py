"""What the assemblers share: bytes that grow, labels, and routines that say which registers they change.

    with out.routine("check", takes=(R8,), clobbers=(RAX,)):
        ...
        out.jump_if("ne", "wrong")
        ...
        out.label("wrong")

A label is found from inside the routine or scope in which it is, so that routines may use the same names. The
name of a routine is found from everywhere, and so is a label outside of routines. Other names are `symbols`,
whose addresses `finish` takes.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping


class Register(int):
    """A register: the number that instructions have for it, and its name."""

    name: str

    def __new__(cls, number: int, name: str) -> Register:
        """`int.__new__` takes no name."""
        self = super().__new__(cls, number)
        self.name = name
        return self

    def __repr__(self) -> str:
        return self.name


class Symbol(NamedTuple):
    """A place by its name: that of a label or of a symbol, or `offset` bytes behind it."""

    name: str
    offset: int = 0


class RoutineError(ValueError):
    """A routine that uses other registers than it says."""


class _Reference(NamedTuple):
    """Bytes that are to say where a symbol is."""

    place: int
    symbol: Symbol
    scope: tuple[str, ...]
    encode: Callable[[bytearray, int, int, int], None]
    """Takes the code, `place`, the address of that, and the address of the symbol."""


class _Routine:
    """The registers that a routine uses, by name."""

    def __init__(self, takes: Iterable[Register], clobbers: Iterable[Register]) -> None:
        self.takes = {register.name for register in takes}
        self.clobbers = {register.name for register in clobbers}
        self.saved: set[str] = set()
        self.read: set[str] = set()
        self.written: set[str] = set()
        self.references: list[_Reference] = []


class Code:
    """Bytes of instructions."""

    kept: Collection[str] = ()
    """The names of the registers that all routines may read, such as the stack pointer."""

    def __init__(self) -> None:
        self.code = bytearray()
        self.labels: dict[str, int] = {}
        """The offset of each label; of those in a scope by `scope.label`."""
        self._references: list[_Reference] = []
        self._scope: tuple[str, ...] = ()
        self._names = 0
        self._routine: _Routine | None = None
        self.in_routine = False
        """Whether what instructions use is noted."""
        self._routines: dict[str, _Routine] = {}

    def __len__(self) -> int:
        return len(self.code)

    def trap(self) -> None:
        """An instruction that is not to be reached."""
        raise NotImplementedError

    def align(self, size: int) -> None:
        """Fill up with traps to a multiple of `size` bytes."""
        while len(self.code) % size:
            self.trap()

    # Labels.

    def new_label(self) -> str:
        """A name that no other label has."""
        self._names += 1
        return f"L{self._names}"

    def label(self, name: str) -> None:
        """Have a name mean the next instruction, in this scope. Raises ValueError if it has one already."""
        full = ".".join((*self._scope, name))
        if full in self.labels:
            raise ValueError(f"there are two labels {full}")
        self.labels[full] = len(self.code)

    @contextlib.contextmanager
    def scope(self, name: str = "") -> Iterator[None]:
        """Labels in this block are found from inside it alone."""
        outer = self._scope
        self._scope = (*outer, name or self.new_label())
        yield
        self._scope = outer

    def refer(
        self,
        symbol: Symbol,
        encode: Callable[[bytearray, int, int, int], None],
        size: int,
        goes: bool = False,
    ) -> None:
        """Add `size` bytes into which `finish` has `encode` put where a symbol is.

        goes: the instruction goes there, so that the routine changes what that one does.
        """
        reference = _Reference(len(self.code), symbol, self._scope, encode)
        self._references.append(reference)
        if goes and self._routine is not None:
            self._routine.references.append(reference)
        self.code += bytes(size)

    def finish(self, address: int = 0, symbols: Mapping[str, int] | None = None) -> bytes:
        """The code, for an address, with the addresses of symbols.

        Raises KeyError for a name that is neither a label nor a symbol, RoutineError.
        """
        for name, routine in self._routines.items():
            self._check(name, routine)
        for place, symbol, scope, encode in self._references:
            label = self._label(symbol.name, scope)
            start = (symbols or {})[symbol.name] if label is None else address + self.labels[label]
            encode(self.code, place, address + place, start + symbol.offset)
        self._references.clear()
        return bytes(self.code)

    def _label(self, name: str, scope: tuple[str, ...]) -> str | None:
        """The label that a name means in a scope; None if it is none."""
        while scope:
            full = ".".join((*scope, name))
            if full in self.labels:
                return full
            scope = scope[:-1]
        return name if name in self.labels else None

    # Routines.

    @contextlib.contextmanager
    def routine(
        self, name: str, takes: Iterable[Register] = (), clobbers: Iterable[Register] = ()
    ) -> Iterator[None]:
        """A routine: its name is a label, and labels in it are its own.

        takes: the registers that it reads. clobbers: those that it changes, itself or by other routines.
        `finish` raises RoutineError if it uses others.
        """
        self.label(name)
        self._routine = self._routines[name] = _Routine(takes, clobbers)
        self.in_routine = True
        with self.scope(name):
            yield
        self._routine, self.in_routine = None, False

    def saves(self, registers: Iterable[Register]) -> None:
        """The routine has kept these registers, and loads them again before it returns."""
        if self._routine is not None:
            self._routine.saved.update(register.name for register in registers)

    def note(self, written: Iterable[Register] = (), read: Iterable[Register] = ()) -> None:
        """An instruction of the routine writes and reads registers."""
        if self._routine is not None:
            self._routine.written.update(register.name for register in written)
            self._routine.read.update(register.name for register in read)

    def _check(self, name: str, routine: _Routine) -> None:
        changed = routine.written - routine.saved
        read = set(routine.read)
        for reference in routine.references:
            other = self._routines.get(self._label(reference.symbol.name, reference.scope) or "")
            if other is not None and other is not routine:
                changed |= other.clobbers
                read |= other.takes
        known = routine.takes | routine.written | changed | {*self.kept}
        for names, what in ((changed - routine.clobbers, "changes"), (read - known, "reads")):
            if names:
                raise RoutineError(f"the routine {name} {what} {', '.join(sorted(names))}")
