"""Loads, stores and atomics in machine code, from their descriptions: `instructions.accesses`.

The addresses are put where the routines of `library` look for them. Each check then leads to `failed` where
an access is not plainly good: Python makes it, with all checks, and the code goes on behind it. So a check
has to be right only where it passes, and reports nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..access import Access
from ..assembler.x86_64 import R8, RAX, RBX, RDI, RDX, At
from ..checks import BOUNDS, RACES, UNDEFINED
from ..ptx.syntax import Register
from ..ptx.types import BITS, TYPES, Type
from . import data, layout, races, undefined
from .atomics import write_atomic, write_reduction
from .lanes import Unsupported
from .layout import WIDE
from .library import routine

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..instructions.accesses import MemoryAccess
    from ..ptx.syntax import Operand
    from .lanes import CodeContext, Lanes

_BOUNDS = {
    "global": layout.CHECK_GLOBAL,
    "const": layout.CHECK_GLOBAL,
    "shared": layout.CHECK_SHARED,
    "local": layout.CHECK_LOCAL,
    "generic": layout.CHECK_GENERIC,
}
"""The spaces that there is machine code for, and the routine that looks whether addresses are good."""
_KNOWN_CACHES = ("", "ca", "cs", "lu", "wb", "wt")
"""Other loads may wait for what other threads write."""
_ATOMIC = ("add", "and", "or", "xor", "min", "max")
_ATOMIC_TYPES = ("u32", "s32", "b32", "u64", "s64", "b64", "f32", "f64")


class MemoryStep(NamedTuple):
    """An access, for when Python has to make it."""

    space: str
    access: Access
    items: tuple[int, ...]
    """The offsets of the arrays that the items go to, or come from."""
    operation: tuple[str, str] | None = None
    """Of an atomic, and its type: the second array gets what was there."""
    keeps_order: bool = False
    """Whether its results depend on the order of blocks."""


def load(lanes: Lanes, access: MemoryAccess) -> None:
    if access.is_of_parameter:
        data.load_parameter(lanes, access)
        return
    if lanes.context.stream is not None:
        lanes.context.stream.load(lanes, access)
        return
    _require_known(access)
    kind, context = access.kind, lanes.context
    _put_addresses(lanes, access)
    registers = [one.name for one in access.items if isinstance(one, Register)]
    is_direct = len(registers) == len(access.items) and all(_holds(lanes, one, kind) for one in registers)
    if is_direct:
        offsets = tuple(context.location(one) for one in registers)
    else:
        offsets = tuple(layout.LOADED + number * WIDE for number in range(len(access.items)))
    context.end_stretch()
    if is_direct:
        context.changes(registers)
    resume = _check(context, access, MemoryStep(access.space, access.access(context.number), offsets))
    _transfer(context, layout.LOAD, kind, offsets, resume)
    if not is_direct:
        _give(lanes, access.items, offsets, kind)


def store(lanes: Lanes, access: MemoryAccess) -> None:
    if access.is_of_parameter:
        data.store_parameter(lanes, access)
        return
    if lanes.context.stream is not None:
        lanes.context.stream.store(lanes, access)
        return
    _require_known(access)
    context = lanes.context
    _put_addresses(lanes, access)
    offsets = tuple(layout.VALUES + number * WIDE for number in range(len(access.items)))
    for operand, offset in zip(access.items, offsets, strict=True):
        lanes.put(operand, access.kind, offset)
    context.end_stretch()
    resume = _check(context, access, MemoryStep(access.space, access.access(context.number), offsets))
    _transfer(context, layout.STORE, access.kind, offsets, resume)


def atomic(lanes: Lanes, access: MemoryAccess) -> None:
    """Lane after lane.

    Other blocks may run beside this one. Integers are combined as one access of the processor then, and their
    order shows nowhere. Where it would, as the kernel takes what was there, or sums are rounded, blocks run
    one after the other. Nobody else has a block's shared memory.
    """
    kind, operation, context = access.kind, access.operation, lanes.context
    if access.space not in _BOUNDS or access.space == "const" or len(access.items) != 1:
        raise Unsupported
    if operation not in _ATOMIC or kind.name not in _ATOMIC_TYPES:
        raise Unsupported
    if kind.kind == "f" and access.space == "generic":  # memory of each kind adds in its own way
        raise Unsupported
    values, found = layout.VALUES, layout.LOADED
    _put_addresses(lanes, access)
    lanes.put(access.items[0], kind, values)
    context.end_stretch()
    is_own = access.space == "shared"
    is_taken = any(isinstance(one, Register) and context.is_read(one.name) for one in access.targets)
    keeps_order = not is_own and (is_taken or kind.kind == "f")
    does = operation, kind.name
    step = MemoryStep(access.space, access.access(context.number), (values, found), does, keeps_order)
    resume = _check(context, access, step)
    if is_taken or kind.kind == "f" or (is_own and operation in ("min", "max")):
        write_atomic(context.out, operation, kind, access.space, values, found, context)
    else:
        write_reduction(context.out, operation, kind, values, is_own)
    context.out.label(resume)
    _give(lanes, access.targets, (found,) * len(access.targets), kind)


def _put_addresses(lanes: Lanes, access: MemoryAccess) -> None:
    addresses = lanes.address(access.address)
    lanes.store(addresses, layout.ADDRESS)
    if lanes.context.checks > {BOUNDS}:
        lanes.store(addresses, layout.ASKED)


def is_known(access: MemoryAccess) -> bool:
    """Whether there is machine code for a load or store."""
    if access.space not in _BOUNDS or access.kind.size > 8 or access.order:
        return False
    return access.cache in _KNOWN_CACHES


def _require_known(access: MemoryAccess) -> None:
    """Raises Unsupported."""
    if not is_known(access):
        raise Unsupported


def _holds(lanes: Lanes, register: str, kind: Type) -> bool:
    """Whether what is loaded can go to the location of a register as it is."""
    declared = lanes.function.registers.get(register)
    if declared is None or declared.kind == "p":
        return False
    if kind.size >= 4:
        return declared.size == kind.size
    return kind.kind != "s" and kind.size <= declared.size <= 4


# Checks.


def _check_bounds(context: CodeContext, access: MemoryAccess, size: int, failed: str) -> None:
    out = context.out
    out.lea(RDX, At(RBX, context.found))
    out.set(R8, size)
    out.call_at(routine(_BOUNDS[access.space]))
    out.test(RAX, RAX, wide=False)
    out.jump_if("nz", failed)


CHECKS: dict[str, Callable[[CodeContext, MemoryAccess, int, str], None]] = {
    BOUNDS: _check_bounds,
    UNDEFINED: undefined.check,
    RACES: races.check,
}
"""What writes the code of each check, by its name in `checks`: of the access's description and the size of
all of its items, with the label to go to where Python is to make the access. They come in this order: behind
the first one ADDRESS has the addresses of this process, and ASKED those of the kernel.
"""


def _check(context: CodeContext, access: MemoryAccess, step: MemoryStep) -> str:
    """Write the checks that the region makes. Returns the label behind the access."""
    failed, resume = context.leave_to_python(step)
    for name, write in CHECKS.items():
        if name in context.checks:
            write(context, access, step.access.size, failed)
    return resume


# What is done where they pass.


def _transfer(context: CodeContext, which: int, kind: Type, offsets: tuple[int, ...], resume: str) -> None:
    """Load to, or store from, an array for each item."""
    out = context.out
    for item, offset in enumerate(offsets):
        out.lea(RDI, At(RBX, offset))
        out.set(R8, item * kind.size)
        out.call_at(routine(which + kind.size.bit_length() - 1))
    out.label(resume)


def _give(lanes: Lanes, targets: tuple[Operand, ...], offsets: tuple[int, ...], kind: Type) -> None:
    """What lies in arrays to registers: of a float its bits, and a whole number keeps its sign."""
    bits = TYPES[BITS[kind.size]] if kind.kind == "f" else kind
    for target, offset in zip(targets, offsets, strict=True):
        lanes.write(target, lanes.at(offset, kind.size == 8), bits)
