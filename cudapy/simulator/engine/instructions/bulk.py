"""Bulk copies, and stores that a barrier in shared memory counts.

Source: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy", "st.async", "red.async".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ptx.syntax import Address, Bracket, Integer, PTXError, Register, Symbol, Vector, parts_of
from ..ptx.types import TYPES
from ..tensor_map import FIELDS, SIZE, refusal
from .accesses import space_of
from .forms import BulkCopy, TensorCopy
from .rule import rule

if TYPE_CHECKING:
    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction, Operand

_COUNTED = ".mbarrier::complete_tx::bytes"
_HINT = "[.hint:L2::cache_hint]"


def _rest(writer: BlockWriter, operands: list[Operand], groups: dict[str, str]) -> str:
    """Behind the barrier: a mask of blocks, and a cache policy, which does nothing."""
    mask = "None"
    if groups.get("multicast"):
        mask = writer.read(operands.pop(0), TYPES["u16"])
    if groups.get("hint"):
        writer.read(operands.pop(0), TYPES["b64"])
    if operands:
        raise PTXError("more operands than expected")
    return mask


def _space(groups: dict[str, str], name: str) -> str:
    return space_of({"space": groups[name]})


def _copy(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cp.async.bulk and cp.reduce.async.bulk."""
    to, start, size, *more = instruction.operands
    way = _space(groups, "to"), _space(groups, "from")
    target, source = writer.address(to), writer.address(start)
    count = writer.read(size, TYPES["u32"])
    barrier = "None" if way[0] == "global" else writer.address(more.pop(0))
    mask = _rest(writer, more, groups)
    reduction = (groups["op"], groups["T"]) if "op" in groups else None
    form = writer.function.constant_object(BulkCopy(*way, reduction))
    writer.line(
        f"L.bulk.copy({form}, I, {writer.number}, target={target}, source={source}, size={count}, "
        f"barrier={barrier}, mask={mask})"
    )


def _place(writer: BlockWriter, operand: Operand) -> str:
    """The name of an address that stands beside coordinates."""
    if isinstance(operand, Address):
        return writer.address(operand)
    if isinstance(operand, (Register, Symbol)):
        return writer.address(Address(operand, 0))
    raise PTXError("the address of a tensor map is expected")


def _numbers(writer: BlockWriter, operand: Operand, count: int, kind: str) -> str:
    items = parts_of(operand)
    if len(items) != count or not isinstance(operand, Vector):
        raise PTXError(f"{count} numbers in braces are expected")
    return f"({', '.join(writer.read(item, TYPES[kind]) for item in items)},)"


def _tensor(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cp.async.bulk.tensor and cp.reduce.async.bulk.tensor."""
    operands = list(instruction.operands)
    way = _space(groups, "to"), _space(groups, "from")
    shared = writer.address(operands.pop(0)) if way[1] == "global" else ""
    tensor = operands.pop(0)
    if not isinstance(tensor, Bracket):
        raise PTXError("[tensor map, {coordinates}] is expected")
    rank = int(groups["rank"])
    at = _place(writer, tensor.items[0])
    coordinates = _numbers(writer, tensor.items[1], rank, "s32")
    offsets, barrier = "None", "None"
    if way[1] == "global":
        barrier = writer.address(operands.pop(0))
        if groups.get("how") == "im2col":
            offsets = _numbers(writer, operands.pop(0), rank - 2, "u16")
    else:
        shared = writer.address(operands.pop(0))
        if groups.get("how") == "im2col_no_offs":
            offsets = f"({', '.join([writer.constant(0, 'u2')] * (rank - 2))},)"
    mask = _rest(writer, operands, groups)
    form = writer.function.constant_object(TensorCopy(*way, groups.get("op", "")))
    writer.line(
        f"L.tensors.copy({form}, I, {writer.number}, tensor={at}, coordinates={coordinates}, "
        f"offsets={offsets}, shared={shared}, barrier={barrier}, mask={mask})"
    )


def _prefetch(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """A prefetch of part of a tensor: the map must be one."""
    tensor = instruction.operands[0]
    where = tensor.items[0] if isinstance(tensor, Bracket) else tensor
    writer.line(f"L.tensors.check_map({_place(writer, where)}, I, {writer.number})")


def _replace(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """tensormap.replace: another value of a field of a tensor map."""
    at, *ordinal, value = instruction.operands
    name, wanted = groups["field"], TYPES[groups["T"]]
    count = FIELDS[name].dimensions
    place = ordinal[0] if ordinal else Integer(0)
    if len(ordinal) != (count > 1):
        raise PTXError("the number of a dimension is expected" if count > 1 else "two operands are expected")
    if not isinstance(place, Integer) or not 0 <= place.value < count:
        raise PTXError(f"the number of a dimension is a number below {count}")
    if FIELDS[name].choices and not isinstance(value, Integer):
        raise PTXError(f"{name} is a number, no register")
    why = refusal(name, value.value) if isinstance(value, Integer) else ""
    if why:
        raise PTXError(why)
    space = space_of({"space": groups["space"]}) if groups.get("space") else "generic"
    writer.line(
        f"L.tensors.replace({space!r}, {writer.address(at)}, {name!r}, {place.value}, "
        f"{writer.read(value, wanted)}, I, {writer.number})"
    )


def _publish(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """tensormap.cp_fenceproxy: a tensor map from shared to global memory."""
    to, source, size = instruction.operands
    if size != Integer(SIZE):
        raise PTXError(f"a tensor map has {SIZE} bytes")
    writer.line(f"L.tensors.publish({writer.address(to)}, {writer.address(source)}, I, {writer.number})")


def _store(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """st.async and red.async."""
    to, source, barrier = instruction.operands
    kind = TYPES[groups["T"]]
    address = writer.address(to)
    values = ", ".join(writer.canonicalized(item, kind) for item in parts_of(source))
    writer.line(
        f"L.bulk.store_async({address}, ({values},), {groups.get('op', '')!r}, {groups['T']!r}, "
        f"{writer.address(barrier)}, I, {writer.number})"
    )


def _commit(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    writer.line("L.bulk.commit(I)")


def _wait(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    max_pending = instruction.operands[0]
    if not isinstance(max_pending, Integer):
        raise PTXError("a number of groups is expected")
    writer.line(f"L.bulk.wait({max_pending.value}, I)")


_COPIES: dict[str, Any] = {"emit": _copy, "has_effect": True}
_TENSORS: dict[str, Any] = {"emit": _tensor, "has_effect": True}
_STORES: dict[str, Any] = {"emit": _store, "has_effect": True}
_INTO = f".<to:shared::cluster|shared::cta>.<from:global>{{}}{_COUNTED}[.multicast:multicast::cluster]{_HINT}"
_ACROSS = f".<to:shared::cluster>.<from:shared::cta>{_COUNTED}"
_OUT = f".<to:global>.<from:shared::cta>{{}}.bulk_group{_HINT}"
_RANK = ".<rank:1|2|3|4|5>d"
_WIDE_RANK = ".<rank:3|4|5>d"

RULES = [
    rule(f"cp.async.bulk{_INTO.format('')}", **_COPIES),
    rule(f"cp.async.bulk{_ACROSS}", **_COPIES),
    rule(f"cp.async.bulk{_OUT.format('')}", **_COPIES),
    rule(f"cp.reduce.async.bulk{_ACROSS}.<op:and|or|xor>.<T:b32>", **_COPIES),
    rule(f"cp.reduce.async.bulk{_ACROSS}.<op:add>.<T:u32|s32|u64>", **_COPIES),
    rule(f"cp.reduce.async.bulk{_ACROSS}.<op:min|max>.<T:u32|s32>", **_COPIES),
    rule(f"cp.reduce.async.bulk{_ACROSS}.<op:inc|dec>.<T:u32>", **_COPIES),
    rule(f"cp.reduce.async.bulk{_OUT.format('')}.<op:and|or|xor>.<T:b32|b64>", **_COPIES),
    rule(f"cp.reduce.async.bulk{_OUT.format('')}.<op:add>.<T:u32|s32|u64|f32|f64>", **_COPIES),
    rule(f"cp.reduce.async.bulk{_OUT.format('')}.<op:add>.noftz.<T:f16|bf16>", **_COPIES),
    rule(f"cp.reduce.async.bulk{_OUT.format('')}.<op:min|max>.<T:u32|s32|u64|s64|f16|bf16>", **_COPIES),
    rule(f"cp.reduce.async.bulk{_OUT.format('')}.<op:inc|dec>.<T:u32>", **_COPIES),
    rule(f"cp.async.bulk.prefetch.L2.global{_HINT}", effect="nothing"),
    rule("cp.async.bulk.commit_group", emit=_commit, has_effect=True),
    rule("cp.async.bulk.wait_group[.read]", emit=_wait, has_effect=True),
    rule(f"cp.async.bulk.tensor{_RANK}{_INTO.format('[.how:tile]')}", **_TENSORS),
    rule(f"cp.async.bulk.tensor{_WIDE_RANK}{_INTO.format('.<how:im2col>')}", **_TENSORS),
    rule(f"cp.async.bulk.tensor{_RANK}{_OUT.format('[.how:tile]')}", **_TENSORS),
    rule(f"cp.async.bulk.tensor{_WIDE_RANK}{_OUT.format('.<how:im2col_no_offs>')}", **_TENSORS),
    rule(
        f"cp.reduce.async.bulk.tensor{_RANK}.<to:global>.<from:shared::cta>"
        f".<op:add|min|max|inc|dec|and|or|xor>[.how:tile].bulk_group{_HINT}",
        **_TENSORS,
    ),
    rule(
        f"cp.async.bulk.prefetch.tensor{_RANK}.L2.global[.how:tile|im2col]{_HINT}",
        emit=_prefetch,
        has_effect=True,
    ),
    rule("prefetch[.space:param|const].tensormap", emit=_prefetch, has_effect=True),
    *(
        rule(
            f"tensormap.replace.tile.<field:{names}>[.space:global|shared::cta].b1024.<T:{kind}>",
            emit=_replace,
            has_effect=True,
            since=since,
        )
        for names, kind, since in (
            ("global_address|global_stride", "b64", 90),
            ("rank|box_dim|global_dim|element_stride", "b32", 90),
            ("elemtype|interleave_layout|swizzle_mode|fill_mode", "b32", 90),
            ("swizzle_atomicity", "b32", 100),
        )
    ),
    rule(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.<scope:cta|cluster|gpu|sys>"
        ".sync.aligned",
        emit=_publish,
        has_effect=True,
        since=90,
        convergence_mask="all",
    ),
    rule(f"st.async[.weak].shared::cluster{_COUNTED}[.vector:v2|v4].<T:b32|u32|s32|f32>", **_STORES),
    rule(f"st.async[.weak].shared::cluster{_COUNTED}[.vector:v2].<T:b64|u64|s64|f64>", **_STORES),
    rule(f"red.async.relaxed.cluster.shared::cluster{_COUNTED}.<op:inc|dec>.<T:u32>", **_STORES),
    rule(f"red.async.relaxed.cluster.shared::cluster{_COUNTED}.<op:min|max>.<T:u32|s32>", **_STORES),
    rule(f"red.async.relaxed.cluster.shared::cluster{_COUNTED}.<op:add>.<T:u32|s32|u64>", **_STORES),
    rule(f"red.async.relaxed.cluster.shared::cluster{_COUNTED}.<op:and|or|xor>.<T:b32>", **_STORES),
]
