"""What collectives are given: whether it fits together, and what NCCL is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...nccl import ncclRedOp_t
from .operand import Operand, operand
from .operator import ReductionOperator

if TYPE_CHECKING:
    from ..streams.stream import Stream
    from .communicator import Communicator

OPERATORS = {
    "sum": ncclRedOp_t.ncclSum,
    "prod": ncclRedOp_t.ncclProd,
    "max": ncclRedOp_t.ncclMax,
    "min": ncclRedOp_t.ncclMin,
    "avg": ncclRedOp_t.ncclAvg,
}
"""How elements are reduced, by name."""


def pair(
    what: str, send: Any, recv: Any, stream: Stream, dtype: Any, in_place: bool = True
) -> tuple[Operand, Operand]:
    """What is read and what is written."""
    if recv is None and in_place:
        both = operand(f"{what}: send", send, stream, dtype, written=True)
        return both, both
    source = operand(f"{what}: send", send, stream, dtype)
    target = operand(f"{what}: recv", recv, stream, dtype, written=True)
    if source.kind is not target.kind and source.kind[:3] != target.kind[:3]:
        raise TypeError(f"{what}: send is of {source.kind.name}, recv of {target.kind.name}")
    return source, target


def elements_per_rank(what: str, whole: Operand, size: int) -> int:
    """How many elements a rank has of `whole`. Raises ValueError."""
    part, rest = divmod(whole.length, size)
    if rest:
        raise ValueError(f"{what}: {whole.length} elements are not to be divided by {size} ranks")
    return part


def part(what: str, whole: Operand, rank: int, size: int) -> Operand:
    """A rank's part of `whole`, for what is in place."""
    length = elements_per_rank(what, whole, size)
    return whole._replace(address=whole.address + rank * length * whole.kind.itemsize, length=length)


def check_in_place(what: str, whole: Operand, part: Operand, rank: int) -> None:
    """Raise ValueError unless the two are apart or the part is the rank's own."""
    if overlap(whole, part) and part.address != whole.address + rank * part.size:
        raise ValueError(f"{what}: send and recv overlap, and not so that rank {rank}'s part is in its place")


def check_length(what: str, source: Operand, target: Operand, count: int) -> None:
    """Raise ValueError unless `target` has `count` elements."""
    if target.length != count:
        raise ValueError(
            f"{what}: {source.length} elements of {source.kind.name} on the one side need {count} on the "
            f"other, which has {target.length}"
        )


def overlap(one: Operand, other: Operand) -> bool:
    """Whether two operands share memory."""
    return one.address < other.address + other.size and other.address < one.address + one.size


def reduced(what: str, operand: Operand, op: Any, comm: Communicator) -> tuple[int, Any, Any]:
    """How many numbers of which type are reduced, and the operator. Raises TypeError and ValueError."""
    kind = operand.kind
    if kind.data_type is None:
        hint = (
            "give it a dtype"
            if kind.name == "bytes"
            else "view it as uint8, with op 'max' for or and 'min' for and"
            if kind.name == "bool"
            else "NCCL reduces integers of 8, 32 and 64 bits and floats"
        )
        raise TypeError(f"{what}: NCCL cannot reduce {kind.name}: {hint}")
    if isinstance(op, ReductionOperator):
        number = op._for(comm, kind)
    elif isinstance(op, ncclRedOp_t):
        number = op
    else:
        try:
            number = OPERATORS[op]
        except (KeyError, TypeError):
            raise ValueError(f"{what}: op = {op!r} is none of {', '.join(OPERATORS)}") from None
    if kind.parts > 1 and number not in (ncclRedOp_t.ncclSum, ncclRedOp_t.ncclAvg):
        raise TypeError(f"{what}: of {kind.name} there are 'sum' and 'avg' alone, not {op!r}")
    return operand.length * kind.parts, kind.data_type, number
