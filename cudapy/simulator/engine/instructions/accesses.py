"""Loads, stores and atomics, described once: what every back end makes of them it makes of this.

Source: PTX ISA, "ld", "st", "atom", "red", "multimem".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..access import ATOMIC, READ, WRITE, Access, accessed
from ..ptx.syntax import Address, PTXError, Symbol, parts_of
from ..ptx.types import TYPES, Type

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction, Operand


SHARED = "shared::cta|shared::cluster|shared"
"""How instructions name shared memory."""


class MemoryAccess(NamedTuple):
    """What an instruction does with memory: in each lane with items that lie beside each other."""

    mode: int
    """READ, WRITE or ATOMIC."""
    space: str
    """global, const, shared (of the block), cluster, local, param, or generic."""
    kind: Type
    """Of an item."""
    address: Operand
    items: tuple[Operand, ...]
    """The registers that a load gives; what a store stores, and an atomic combines with what is there."""
    targets: tuple[Operand, ...] = ()
    """What gets the values that an atomic found; none for a reduction."""
    operation: str = ""
    """What an atomic does, or a load of multicast memory with what the devices have."""
    precision: str = ""
    """The precision of sums of multicast memory, acc::f32 or acc::f16; "": the type's own."""
    swap: Operand | None = None
    """What `cas` stores."""
    order: str = ""
    """relaxed, acquire, release, acq_rel, volatile, mmio.relaxed; "" for a weak access."""
    scope: str = ""
    """cta, cluster, gpu, sys; "" if it does not say."""
    cache: str = ""
    """The cache operator: ca, cg, cs, lu, cv, wb, wt."""
    is_read_only: bool = False
    """Whether it reads what nothing writes while the kernel runs, as in `ld.global.nc`."""

    def access(self, number: int) -> Access:
        """What memory is asked, by the instruction of a number in its function."""
        return accessed(np.dtype(self.kind.code), len(self.items), number, self.mode)

    @property
    def variable(self) -> Symbol | None:
        """The variable, and the offset in it, of an address that names one; None for one in a register."""
        if isinstance(self.address, Address) and isinstance(self.address.base, Symbol):
            base = self.address.base
            return Symbol(base.name, base.offset + self.address.offset)
        return None

    @property
    def is_of_parameter(self) -> bool:
        """Whether it names a parameter: that is a register, or the same in all threads, and no memory."""
        return self.space == "param" and self.variable is not None


def space_of(groups: dict[str, str], name: str = "space") -> str:
    """The state space of an access; "generic" if it does not say."""
    space, _, part = (groups.get(name) or "generic").partition("::")
    return "cluster" if part == "cluster" else space


def load_of(instruction: Instruction, groups: dict[str, str]) -> MemoryAccess:
    """ld, ldu and multimem.ld_reduce. Raises PTXError."""
    data, address = _two(instruction)
    return _access(READ, address, data, groups)


def store_of(instruction: Instruction, groups: dict[str, str]) -> MemoryAccess:
    """st, multimem.st and multimem.red. Raises PTXError."""
    address, data = _two(instruction)
    return _access(ATOMIC if groups.get("op") else WRITE, address, data, groups)


def atomic_of(instruction: Instruction, groups: dict[str, str]) -> MemoryAccess:
    """atom and red: a reduction is an atomic whose old value nobody takes. Raises PTXError."""
    operands = list(instruction.operands)
    target = operands.pop(0) if instruction.name == "atom" else None
    is_swap = groups["op"] == "cas"
    if len(operands) < (3 if is_swap else 2):
        raise PTXError("an operand is missing")
    access = _access(ATOMIC, operands[0], operands[1], groups)
    targets = () if target is None else _items(target, groups)
    return access._replace(targets=targets, swap=operands[2] if is_swap else None)


def _two(instruction: Instruction) -> tuple[Operand, Operand]:
    if len(instruction.operands) < 2:
        raise PTXError("two operands are expected")
    return instruction.operands[0], instruction.operands[1]


def _access(mode: int, address: Operand, data: Operand, groups: dict[str, str]) -> MemoryAccess:
    order = groups.get("order") or ""
    return MemoryAccess(
        mode,
        space_of(groups),
        TYPES[groups["T"]],
        address,
        _items(data, groups),
        operation=groups.get("op") or "",
        precision=groups.get("precision") or "",
        order="" if order == "weak" else order,
        scope=groups.get("scope") or "",
        cache=groups.get("cop") or "",
        is_read_only=bool(groups.get("nc")),
    )


def _items(operand: Operand, groups: dict[str, str]) -> tuple[Operand, ...]:
    """The operands of an access: as many as it says. Raises PTXError."""
    items = parts_of(operand)
    wanted = int((groups.get("vector") or "v1")[1:])
    if len(items) != wanted:
        raise PTXError(f"a vector of {wanted} is expected" if wanted > 1 else "one register is expected")
    return items
