"""What NumPy does for instructions that are described, and not expressions: by the names of effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ptx.syntax import Register, Vector, parts_of
from ..ptx.types import BITS, TYPES, register_of
from . import memory
from .operands import PRED, WORD

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..instructions.data import AsyncCopy, Move
    from ..instructions.warpgroup import Warpgroup
    from ..ptx.syntax import Operand
    from .block import BlockWriter


def _move(writer: BlockWriter, move: Move) -> None:
    kind, target, source, part = move
    if part is None:
        writer.move(target, source, kind)
    elif kind.size == 16 and isinstance(target, Vector):
        names = writer.let_pair(f"halves128({writer.read(source, kind)})")
        for item, half in zip(target.items, names, strict=True):
            writer.write(item, half, part)
    elif kind.size == 16:
        low, high = (writer.read(item, part) for item in parts_of(source))
        writer.write(target, f"join128({low}, {high})", kind)
    elif isinstance(target, Vector):
        whole = writer.read(source, TYPES[BITS[kind.size]])
        for place, item in enumerate(target.items):
            shift = writer.constant(8 * part.size * place, f"u{kind.size}")
            shifted = f"({whole} >> {shift})" if place else whole
            writer.write(item, f"{shifted}.astype({part.code})", part)
    else:
        terms = []
        for place, item in enumerate(parts_of(source)):
            shift = writer.constant(8 * part.size * place, f"u{kind.size}")
            widened = f"{writer.read(item, part)}.astype(u{kind.size})"
            terms.append(f"({widened} << {shift})" if place else widened)
        writer.write(target, " | ".join(terms), TYPES[BITS[kind.size]])


def _copy_async(writer: BlockWriter, copy: AsyncCopy) -> None:
    """The copy is made at once."""
    target, source = writer.address(copy.target), writer.address(copy.source)
    operand, amount = copy.amount, "None"
    if isinstance(operand, Register) and writer.function.registers[operand.name].kind == "p":
        amount = writer.let(f"np.where({writer.read(operand, PRED)}, 0, {copy.size})[()]")
    elif operand is not None:
        amount = writer.read(operand, WORD)
    writer.line(f"L.spaces.copy_async({target}, {source}, {copy.size}, {amount}, I, {writer.number})")


def _multiply_by_warpgroup(writer: BlockWriter, one: Warpgroup) -> None:
    def together(operand: Operand, kind: str) -> str:
        names = [writer.canonicalized(item, register_of(kind)) for item in parts_of(operand)]
        return f"({', '.join(names)},)"

    d_kind, a_kind, _ = one.form.kinds
    a = together(one.a, a_kind) if isinstance(one.a, Vector) else writer.read(one.a, TYPES["b64"])
    b, keeps = writer.read(one.b, TYPES["b64"]), writer.read(one.keeps, PRED)
    form = writer.function.constant_object(one.form)
    arguments = f"{form}, {together(one.d, d_kind)}, {a}, {b}, {keeps}, I, {writer.number}"
    values = writer.let(f"L.warpgroups.multiply({arguments})")
    for place, item in enumerate(parts_of(one.d)):
        writer.write(item, f"{values}[{place}]", register_of(d_kind))


EFFECTS: dict[str, Callable[[BlockWriter, Any], None]] = {
    "nothing": lambda writer, description: None,
    "load": memory.load,
    "store": memory.store,
    "atomic": memory.atomic,
    "multimem": memory.multimem,
    "move": _move,
    "copy_async": _copy_async,
    "multiply_by_warpgroup": _multiply_by_warpgroup,
}
