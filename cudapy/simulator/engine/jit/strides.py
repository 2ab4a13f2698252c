"""How far apart the addresses of neighbouring threads probably lie.

What a register has in thread x of a row of threads is taken for `a + stride * x`, if all that it is computed
from looks so. This is a guess: bits that carry over, or threads that took different ways, are left out. So
code that is made by it has to look first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..compile.graph import read_registers
from ..ptx.syntax import Address, Float, Integer, Operand, Register, Special, Symbol, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..compile.graph import Step

_ALONG = ("%tid.x", "%laneid")


class Strides:
    """The strides of a function's registers."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._known: dict[str, int | None] = {}
        """None: there is none. What is not in it has not been computed."""
        pending = [step for step in steps if step.instruction.operands]
        changed = True
        while changed:
            changed = False
            for step in pending:
                changed |= self._follow(step)

    def of(self, operand: Operand) -> int | None:
        """The stride of a register, an address or a number; None if it is not known."""
        if isinstance(operand, Register):
            return self._known.get(operand.name)
        if isinstance(operand, Address):
            return self.of(operand.base)
        if isinstance(operand, Special):
            return int(operand.name in _ALONG)
        return 0 if isinstance(operand, (Integer, Float, Symbol)) else None

    def _follow(self, step: Step) -> bool:
        """Whether an instruction changes what is known of a register."""
        instruction = step.instruction
        if instruction.name in ("st", "red", "bra", "setp") or step.match.rule.ends_block:
            targets: tuple[Operand, ...] = instruction.operands[:1] if instruction.name == "setp" else ()
        else:
            targets = parts_of(instruction.operands[0])
        changed = False
        for target in targets:
            if not isinstance(target, Register):
                continue
            if any(name not in self._known for name in read_registers(instruction) - {target.name}):
                continue
            found = self._result(step)
            before = self._known.get(target.name, found)
            now = found if found == before else None
            if target.name not in self._known or self._known[target.name] != now:
                self._known[target.name] = now
                changed = True
        return changed

    def _result(self, step: Step) -> int | None:
        instruction = step.instruction
        sources, name = instruction.operands[1:], instruction.name
        strides = [self.of(one) for one in sources]
        if instruction.guard is not None and self.of(instruction.guard) != 0:
            return None
        if name == "ld":
            return 0 if strides[0] == 0 else None
        if all(one == 0 for one in strides):
            return 0
        first = strides[0]
        if first is None or (len(strides) > 1 and strides[1] is None):
            return None
        if name in ("mov", "cvt", "cvta"):
            return first
        second, number = (strides[1], sources[1]) if len(strides) > 1 else (0, None)
        assert second is not None
        if name in ("add", "or", "xor"):
            return first + second
        if name == "sub":
            return first - second
        if name == "and" and not second:
            return first
        if name == "shl" and isinstance(number, Integer):
            return first << (number.value & 63)
        if name == "shr" and isinstance(number, Integer):
            return 0 if first << 3 <= 1 << (number.value & 63) else None
        if name in ("mul", "mad"):
            product = None
            if isinstance(number, Integer):
                product = first * number.value
            elif isinstance(sources[0], Integer):
                product = sources[0].value * second
            elif not first and not second:
                product = 0
            added = strides[2] if name == "mad" else 0
            return None if product is None or added is None else product + added
        return None
