"""Accesses whose lanes lie beside each other, or have one address, without a call for each.

Some steps of a block are a stretch, of which there is code for 32 active lanes: it looks at all addresses
first, changing nothing, and then computes, loads and stores a part of eight lanes at a time, in registers of
the processor. Accesses from one pointer, with constants added, are looked at as one. Where the addresses are
not of that kind, or out of bounds, or a part stores what a later one loads, the usual code runs in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..access import READ, WRITE
from ..assembler.x86_64 import RAX, RBX, RDI, RDX, RSI, At
from ..checks import RACES, UNDEFINED
from ..ptx.syntax import Address, Register
from ..ptx.types import BITS, TYPES
from . import layout, races
from .accesses import is_known
from .lanes import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..compile.graph import Step
    from ..instructions.accesses import MemoryAccess
    from .lanes import CodeContext, Lanes, Value
    from .strides import Strides

_MEMORY = {"global": "global", "const": "global", "shared": "shared"}
"""Spaces that do not overlap, and what is known of addresses in them."""
_BESIDE = 8
"""Lanes of a part."""
_PARTS = range(4)


class _Group:
    """Accesses from one pointer, whose lanes are `stride` bytes apart."""

    def __init__(self, space: str, address: Value, stride: int, found: int, pointer: int) -> None:
        self.space, self.address, self.stride = space, address, stride
        self.found = found
        """The offset of what the first of them remembers."""
        self.pointer = pointer
        """The offset where the address of each part's first lane is kept."""
        self.first = self.end = 0
        """The bytes that one lane accesses, from the pointer on."""
        self.alignment = 1

    def covers(self, displacement: int, size: int, alignment: int) -> None:
        if self.first == self.end:
            self.first, self.end = displacement, displacement + size
        self.first, self.end = min(self.first, displacement), max(self.end, displacement + size)
        self.alignment = max(self.alignment, alignment)

    @property
    def span(self) -> int:
        """The bytes that a part accesses."""
        return self.end - self.first + (_BESIDE - 1) * self.stride

    def at(self, part: int) -> At:
        """Where the address of a part's first lane is kept."""
        return At(RBX, self.pointer + 8 * _BESIDE * part)


class Stream:
    """The accesses of a stretch."""

    def __init__(self, context: CodeContext, strides: Strides, room: Callable[[int], int]) -> None:
        self._context, self._strides, self._room = context, strides, room
        self._groups: dict[tuple[str, Value, int], _Group] = {}
        self._loaded: dict[str, dict[_Group, None]] = {}
        """Of each kind of memory, what is loaded."""
        self._stored: dict[str, _Group] = {}
        """What is stored, which is the last access."""
        self._noted: list[tuple[_Group, int, MemoryAccess, int]] = []
        """For the check for races: where accesses are, and the offsets of the numbers of their sites."""

    @property
    def has_any(self) -> bool:
        """Whether there is an access yet."""
        return bool(self._groups)

    @property
    def takes_shared(self) -> bool:
        """Whether shared memory is accessed."""
        return any(group.space == "shared" for group in self._groups.values())

    def load(self, lanes: Lanes, access: MemoryAccess) -> None:
        """Raises Unsupported where the access cannot be part of this stretch."""
        kind, stride = access.kind, self._stride(access)
        pointer, displacement = self._pointer(lanes, access, stride)
        code = lanes.code
        bits = TYPES[BITS[kind.size]] if kind.kind == "f" else kind
        for number, item in enumerate(access.items):
            place = displacement + number * kind.size
            halves = (0, 32) if kind.size == 8 else (0,)
            value = tuple(
                code.beside(pointer, place + half, kind.size)
                if stride
                else code.alike(pointer, place, kind.size)
                for half in halves
            )
            lanes.write(item, value, bits)

    def store(self, lanes: Lanes, access: MemoryAccess) -> None:
        """Raises Unsupported where the access cannot be part of this stretch."""
        kind, stride = access.kind, self._stride(access)
        bits = TYPES[BITS[kind.size]] if isinstance(access.items[0], Register) else kind
        value = lanes.read(access.items[0], bits)
        pointer, displacement = self._pointer(lanes, access, stride)
        for number, part in enumerate(value):
            lanes.code.store_beside(pointer, displacement + 32 * number, part)

    def write_checks(self, lanes: Lanes, spill: Callable[[int], int], other: str) -> None:
        """Write the code that looks at the addresses, and goes to `other` where they are not good."""
        code, kept, bad = lanes.code, [], None
        if RACES in self._context.checks and self.takes_shared:
            self._context.out.number("cmp", At(RBX, layout.CALM), 0)
            self._context.out.jump_if("e", other)
        for group in self._groups.values():
            wrong, address = self._check(lanes, group)
            kept.append((group.pointer, address))
            bad = wrong if bad is None else code.op("por", bad, wrong)
        assert bad is not None
        code.emit_before(self._context.out, spill, kept, bad, other)
        for group in self._groups.values():
            self._write_bounds(group, other)
        for space, stored in self._stored.items():
            for loaded in self._loaded.get(space, ()):
                self._write_order(loaded, stored, other)
        self._write_races(other)

    # Inside.

    def _stride(self, access: MemoryAccess) -> int:
        """The bytes from lane to lane. Raises Unsupported."""
        stride = probable_stride(access, self._strides)
        if stride is None:
            raise Unsupported
        return stride

    def _pointer(self, lanes: Lanes, access: MemoryAccess, stride: int) -> tuple[int, int]:
        """Where the pointer of an access lies, and what is added to it."""
        space = _MEMORY[access.space]
        if space in self._stored:
            raise Unsupported  # lanes of one part would not see what those of another did
        operand, displacement = access.address, 0
        if isinstance(operand, Address) and isinstance(operand.base, Register):
            operand, displacement = Address(operand.base, 0), operand.offset
        address = lanes.address(operand)
        if displacement % access.kind.size or lanes.code.depends_on_memory(address):
            raise Unsupported
        key = space, address, stride
        group = self._groups.get(key)
        if group is None:
            pointer = self._room(len(self._groups))
            group = self._groups[key] = _Group(*key, self._context.found, pointer)
        size = access.kind.size * len(access.items)
        group.covers(displacement, size, size)
        if access.mode == WRITE:
            self._stored[space] = group
        else:
            self._loaded.setdefault(space, {})[group] = None
        if RACES in self._context.checks and access.space == "global":
            site = self._context.room_for_site(access.mode)
            self._noted.append((group, displacement, access, site))
        return group.pointer, displacement

    def _check(self, lanes: Lanes, group: _Group) -> tuple[int, int]:
        """What is 0 where the lanes of a part lie so, and what is to be kept: their addresses."""
        code, (low, high) = lanes.code, group.address
        first = code.unary("broadcastq", low)
        expected: Value = first, first
        if group.stride:
            steps = layout.STEPS + (group.stride.bit_length() - 1) * layout.WIDE
            expected = tuple(code.op("paddq", first, code.load(steps + 32 * half, 0)) for half in (0, 1))
        bad = code.op("por", code.op("pxor", low, expected[0]), code.op("pxor", high, expected[1]))
        if group.space == "shared":
            low = code.op("paddq", low, code.load(layout.SHARED_BASE, 2))
        return bad, low

    def _write_bounds(self, group: _Group, other: str) -> None:
        """Go to `other` unless all parts lie in one allocation, aligned."""
        out, is_shared = self._context.out, group.space == "shared"
        start, size, undefined = layout.SHARED_BASE, layout.SHARED_SIZE, layout.SHARED_UNDEFINED
        if not is_shared:
            start, size, undefined = group.found, group.found + 8, group.found + layout.FOUND_UNDEFINED
        out.word("mov", RSI, At(RBX, size))
        out.number("sub", RSI, group.span)
        out.jump_if("b", other)
        out.word("mov", RDI, At(RBX, start))
        for part in _PARTS:
            out.word("mov", RAX, group.at(part))
            if not is_shared and group.stride:
                # of the next warp: in a loop, that comes long after this one
                out.prefetch(At(RAX, layout.LANES * group.stride))
            if not is_shared:
                out.word("or" if part else "mov", RDX, RAX)
            out.word("sub", RAX, RDI)
            if is_shared:
                out.word("or" if part else "mov", RDX, RAX)
            if group.first:
                out.number("add", RAX, group.first)
            out.word("cmp", RAX, RSI)
            out.jump_if("a", other)
        if group.alignment > 1:
            out.number("and", RDX, group.alignment - 1, wide=False)
            out.jump_if("nz", other)
        if UNDEFINED in self._context.checks:  # 0: there are no undefined bytes
            out.number("cmp", At(RBX, undefined), 0)
            out.jump_if("ne", other)

    def _write_races(self, other: str) -> None:
        """Go to `other` unless all lanes lie beside each other, and nothing races. What was entered before
        that is entered again there, which changes nothing: stores come last.
        """
        out = self._context.out
        for group in dict.fromkeys(group for group, *_ in self._noted):
            for part in _PARTS[1:]:
                out.word("mov", RAX, group.at(part))
                out.word("sub", RAX, group.at(0))
                out.number("cmp", RAX, part * _BESIDE * group.stride)
                out.jump_if("ne", other)
        for group, displacement, access, site in self._noted:
            out.word("mov", RSI, group.at(0))
            out.number("add", RSI, displacement)
            shadow = At(RBX, group.found + layout.FOUND_SHADOW)
            races.check_row(out, access, shadow, site, other)

    def _write_order(self, loaded: _Group, stored: _Group, other: str) -> None:
        """Go to `other` if a part loads what an earlier one stores; or the same one, at another place."""
        out, apart = self._context.out, self._context.out.new_label()
        if loaded is not stored and loaded.space != "shared":
            out.word("mov", RAX, At(RBX, loaded.found))
            out.word("cmp", RAX, At(RBX, stored.found))
            out.jump_if("ne", apart)
        behind = loaded.first + loaded.span - stored.first
        before = stored.first + stored.span - loaded.first
        for part in _PARTS:
            for earlier in range(part + (loaded is not stored)):
                out.word("mov", RAX, loaded.at(part))
                out.word("sub", RAX, stored.at(earlier))
                out.number("add", RAX, behind - 1)
                out.number("cmp", RAX, behind + before - 1)
                out.jump_if("b", other)
        out.label(apart)


def probable_stride(access: MemoryAccess, strides: Strides) -> int | None:
    """The bytes between neighbouring lanes of an access, if it may be part of a stream: 0 of a load, or those
    of its one item.
    """
    if access.is_of_parameter or access.operation or access.space not in _MEMORY or not is_known(access):
        return None
    stride, size, is_load = strides.of(access.address), access.kind.size, access.mode == READ
    if stride == 0:
        return 0 if is_load and size >= 4 else None
    return stride if stride == size and len(access.items) == 1 and (is_load or size >= 4) else None


def may_stream(step: Step, strides: Strides, is_calm: bool | None) -> bool | None:
    """Whether an instruction is an access that may be part of a stream; None: it accesses no memory, and is
    part of any stretch.

    is_calm: whether it is in a calm block; None: nobody looks for races.
    """
    rule, instruction = step.match.rule, step.instruction
    if rule.expression or rule.effect in ("nothing", "move"):
        return False if rule.has_effect else None
    if rule.effect not in ("load", "store"):
        return False
    access = rule.description(instruction, step.match.groups)
    if access.is_of_parameter:
        return None
    stride = probable_stride(access, strides)
    is_row = access.space == "const" or (access.space == "global" and bool(stride))
    if is_calm is not None and not is_row and not races.is_calm(access, is_calm):
        return False
    return instruction.guard is None and stride is not None
