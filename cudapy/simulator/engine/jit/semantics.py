"""What PTX instructions do to the lanes of a chunk.

Results are bit for bit those of `instructions/` and `arithmetic/`. What is not here is Unsupported, and runs
there.

Source: PTX ISA, "Instruction Set".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import conversions, data, floats, whole_numbers
from .lanes import Lanes, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..ptx.syntax import Instruction


def run(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """Add the steps of an instruction. Raises Unsupported."""
    name = instruction.name
    rule = INSTRUCTIONS.get(f"{name}.param" if name in ("ld", "st") else name)
    if rule is None:
        raise Unsupported
    lanes.guard = None
    lanes.guard = lanes.truth(instruction)
    try:
        rule(lanes, instruction, groups)
    except (KeyError, IndexError, ValueError) as error:
        raise Unsupported from error
    lanes.guard = None


def _nothing(lanes: Lanes, instruction: Instruction, groups: dict[str, str]) -> None:
    """Without an effect that a program can see."""


INSTRUCTIONS: dict[str, Callable[[Lanes, Instruction, dict[str, str]], None]] = {
    "add": whole_numbers.add,
    "sub": whole_numbers.add,
    "mul": whole_numbers.multiply,
    "mad": whole_numbers.multiply,
    "fma": whole_numbers.multiply,
    "div": whole_numbers.divide,
    "rem": whole_numbers.divide,
    "min": whole_numbers.extreme,
    "max": whole_numbers.extreme,
    "neg": whole_numbers.negate,
    "abs": whole_numbers.negate,
    "and": whole_numbers.logic,
    "or": whole_numbers.logic,
    "xor": whole_numbers.logic,
    "not": whole_numbers.invert,
    "lop3": whole_numbers.logic_of_three,
    "shl": whole_numbers.shift,
    "shr": whole_numbers.shift,
    "shf": whole_numbers.shift_funnel,
    "setp": whole_numbers.set_predicate,
    "set": whole_numbers.set_number,
    "selp": whole_numbers.select,
    "rcp": floats.reciprocal,
    "sqrt": floats.reciprocal,
    "rsqrt": floats.reciprocal,
    "cvt": conversions.convert,
    "mov": data.move,
    "cvta": data.convert_address,
    "ld.param": data.load_parameter,
    "st.param": data.store_parameter,
    "membar": _nothing,
    "fence": _nothing,
}
