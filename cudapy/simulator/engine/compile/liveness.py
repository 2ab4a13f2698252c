"""Which registers are read later, before and after each basic block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .graph import Block


class Registers:
    """Names of registers, as the bits of a number: thousands of blocks may have thousands of them each."""

    __slots__ = ("_bits", "_numbers")

    def __init__(self, bits: int, numbers: dict[str, int]) -> None:
        self._bits = bits
        self._numbers = numbers  # of the bits, by names

    def __contains__(self, name: Any) -> bool:
        number = self._numbers.get(name)
        return number is not None and bool(self._bits >> number & 1)

    def __iter__(self) -> Iterator[str]:
        digits = reversed(f"{self._bits:b}")
        return (name for name, digit in zip(self._numbers, digits, strict=False) if digit == "1")


NONE = Registers(0, {})


def liveness(blocks: list[Block], at_return: set[str]) -> None:
    """Set `live_in` and `live_out` of each block: the registers that somebody reads later."""
    numbers: dict[str, int] = {}

    def bits(names: Iterable[str]) -> int:
        found = 0
        for name in names:
            found |= 1 << numbers.setdefault(name, len(numbers))
        return found

    uses = [bits(block.uses) for block in blocks]
    defines = [bits(block.defines) for block in blocks]
    ends = [bits(block.uses_at_end) for block in blocks]
    successors = [block.successors() for block in blocks]
    results = bits(at_return)
    live_in, live_out = uses[:], [-1] * len(blocks)
    changed = True
    while changed:
        changed = False
        for place in range(len(blocks) - 1, -1, -1):
            out = ends[place] | (results if blocks[place].end == "return" else 0)
            for following in successors[place]:
                out |= live_in[following]
            if out != live_out[place]:
                live_out[place] = out
                live_in[place] = uses[place] | (out & ~defines[place])
                changed = True
    for block, before, after in zip(blocks, live_in, live_out, strict=True):
        block.live_in, block.live_out = Registers(before, numbers), Registers(after, numbers)
