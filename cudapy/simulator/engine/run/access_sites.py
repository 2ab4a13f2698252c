"""What an instruction that accesses memory says of its accesses: their order, scope and size.

Source: PTX ISA, "Memory Consistency Model", "ld", "st", "atom".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..access import ATOMIC
from ..ptx.types import TYPES
from .clocks import GPU, SCOPES

if TYPE_CHECKING:
    from ..compile.function import CompiledFunction
    from ..ptx.syntax import Instruction

_ORDERS = ("relaxed", "acquire", "release", "acq_rel", "volatile")


class Site(NamedTuple):
    """An instruction that accesses memory."""

    function: CompiledFunction
    instruction: Instruction
    mode: int
    scope: int
    """Of a strong access; 0 for a weak one."""
    acquires: bool
    releases: bool
    polls: bool
    """Whether it waits, in a loop, for what another thread writes."""
    is_read_only: bool
    """Whether it reads what the kernel does not write, as in `ld.global.nc`, or by a texture."""
    size: int
    """Bytes that each thread accesses; 0 if that is not a number of its own."""

    @property
    def is_volatile(self) -> bool:
        return ".volatile" in self.instruction.opcode


def site_of(function: CompiledFunction, number: int, mode: int) -> Site:
    """What an instruction, by its number, says of its accesses to memory."""
    site: Site | None = function.sites.get((number, mode))
    if site is None:
        site = function.sites[number, mode] = _site(function, function.instructions[number], mode)
    return site


def _site(function: CompiledFunction, instruction: Instruction, mode: int) -> Site:
    name, *modifiers = instruction.opcode.replace("::", "_").split(".")
    order = next((one for one in modifiers if one in _ORDERS), "")
    if name in ("atom", "red", "multimem") and not order:
        order = "relaxed"
    scope = next((SCOPES[one] for one in modifiers if one in SCOPES), GPU)
    if name == "mbarrier":
        order, scope = "" if modifiers[0] in ("init", "inval") else "relaxed", GPU
    acquires, releases = order in ("acquire", "acq_rel"), order in ("release", "acq_rel")
    scope = scope if order or mode == ATOMIC else 0
    polls = instruction.line in function.polls
    size = _size(name, modifiers)
    is_read_only = "nc" in modifiers or name in ("tex", "tld4", "suld")
    return Site(function, instruction, mode, scope, acquires, releases, polls, is_read_only, size)


def _size(name: str, modifiers: list[str]) -> int:
    """Bytes of a load, store or atomic."""
    type_ = TYPES.get(modifiers[-1]) if name in ("ld", "ldu", "st", "atom", "red") else None
    items = next((int(one[1:]) for one in modifiers if one in ("v2", "v4", "v8")), 1)
    return 0 if type_ is None else items * np.dtype(type_.code).itemsize


def is_generic(opcode: str) -> bool:
    """Whether an instruction writes by the generic proxy, as threads do, and not by the asynchronous one."""
    name, _, rest = opcode.partition(".")
    is_copy = ".bulk" in opcode or (name in ("st", "red") and rest.startswith("async"))
    return name not in ("mbarrier", "wgmma") and not is_copy


def may_synchronise(mine: Site, theirs: Site) -> bool:
    """Whether two accesses may be of a flag or a counter: strong ones. PTX has volatile accesses for strong;
    C++ does not order them, so that they are taken for a flag only if one of the threads polls it.
    """
    is_data = (mine.is_volatile or theirs.is_volatile) and not (mine.polls or theirs.polls)
    return bool(mine.scope and theirs.scope) and not is_data


def are_of_an_update(mine: Site, theirs: Site) -> bool:
    """Whether two threads read a place, change what they read and write it there, by the same lines."""
    update = mine.function.updates.get(mine.instruction.line)
    is_same = mine.function is theirs.function
    return is_same and update is not None and update == theirs.function.updates.get(theirs.instruction.line)
