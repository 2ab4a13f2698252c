"""Bulk copies, and stores that a barrier in shared memory counts.

Source: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy", "st.async", "red.async".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.syntax import Bracket, Integer, PTXError, Vector
from ..tensor_map import FIELDS, SIZE, refusal
from .accesses import space_of
from .forms import BulkCopy, TensorCopy
from .rule import Rule, rule

if TYPE_CHECKING:
    from ..ptx.syntax import Instruction


def _way(groups: dict[str, str]) -> tuple[str, str]:
    """The spaces that are written and read."""
    return space_of(groups, "to"), space_of(groups, "from")


def _copy(instruction: Instruction, groups: dict[str, str]) -> BulkCopy:
    return BulkCopy(*_way(groups), (groups["op"], groups["T"]) if "op" in groups else None)


def _tensor(instruction: Instruction, groups: dict[str, str]) -> TensorCopy:
    """Raises PTXError."""
    rank, how = int(groups["rank"]), groups.get("how", "")
    described = next((one for one in instruction.operands if isinstance(one, Bracket)), None)
    if described is None:
        raise PTXError("[tensor map, {coordinates}] is expected")
    counted = [(described.items[1], rank)]
    counted += [(one, rank - 2) for one in instruction.operands if isinstance(one, Vector)]
    for operand, count in counted:
        if not isinstance(operand, Vector) or len(operand.items) != count:
            raise PTXError(f"{count} numbers in braces are expected")
    zeros = rank - 2 if how == "im2col_no_offs" else 0
    return TensorCopy(*_way(groups), groups.get("op", ""), zeros)


def _ordinal(instruction: Instruction, groups: dict[str, str]) -> int:
    """The dimension that tensormap.replace changes. Raises PTXError."""
    _, *ordinal, value = instruction.operands
    name = groups["field"]
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
    return place.value


def _require_size(instruction: Instruction, groups: dict[str, str]) -> None:
    """Raises PTXError."""
    if instruction.operands[2] != Integer(SIZE):
        raise PTXError(f"a tensor map has {SIZE} bytes")


def _bulk(pattern: str, operands: str, barrier: str = "None", mask: str = "None") -> Rule:
    expression = f"bulk.copy(form, lanes, site, target=x, source=y, size=n, barrier={barrier}, mask={mask})"
    return rule(pattern, f"- [x] [y] n:u32 {operands}", expression, describe=_copy, has_effect=True)


def _tensors(pattern: str, operands: str, **more: str) -> Rule:
    names = {"offsets": "None", "barrier": "None", "mask": "None"} | more
    arguments = ", ".join(f"{name}={value}" for name, value in names.items())
    expression = f"tensors.copy(form, lanes, site, tensor=t, coordinates=c, shared=s, {arguments})"
    return rule(pattern, operands, expression, describe=_tensor, has_effect=True)


_COUNTED = ".mbarrier::complete_tx::bytes"
_HINT = "[.hint:L2::cache_hint]"
_POLICY = "policy?hint:b64"
_MASK = f"mask?multicast:u16 {_POLICY}"
_INTO = f".<to:shared::cluster|shared::cta>.<from:global>{{}}{_COUNTED}[.multicast:multicast::cluster]{_HINT}"
_ACROSS = f".<to:shared::cluster>.<from:shared::cta>{_COUNTED}"
_OUT = f".<to:global>.<from:shared::cta>{{}}.bulk_group{_HINT}"
_RANK = ".<rank:1|2|3|4|5>d"
_WIDE_RANK = ".<rank:3|4|5>d"


def _store(pattern: str, op: str = "''") -> Rule:
    """st.async and red.async."""
    expression = f"bulk.store_async(x, v, {op}, T_name, m, lanes, site)"
    return rule(pattern, "- [x] {v} [m]", expression, has_effect=True)


_BULK_OUT, _BULK_IN = _OUT.format(""), _INTO.format("")
_RED_ASYNC = f"red.async.relaxed.cluster.shared::cluster{_COUNTED}"
RULES = [
    _bulk(f"cp.async.bulk{_BULK_IN}", f"[m] {_MASK}", "m", "mask"),
    _bulk(f"cp.async.bulk{_ACROSS}", "[m]", "m"),
    _bulk(f"cp.async.bulk{_BULK_OUT}", _POLICY),
    *(
        _bulk(f"cp.reduce.async.bulk{_ACROSS}.{form}", "[m]", "m")
        for form in (
            "<op:and|or|xor>.<T:b32>",
            "<op:add>.<T:u32|s32|u64>",
            "<op:min|max>.<T:u32|s32>",
            "<op:inc|dec>.<T:u32>",
        )
    ),
    *(
        _bulk(f"cp.reduce.async.bulk{_BULK_OUT}.{form}", _POLICY)
        for form in (
            "<op:and|or|xor>.<T:b32|b64>",
            "<op:add>.<T:u32|s32|u64|f32|f64>",
            "<op:add>.noftz.<T:f16|bf16>",
            "<op:min|max>.<T:u32|s32|u64|s64|f16|bf16>",
            "<op:inc|dec>.<T:u32>",
        )
    ),
    rule(f"cp.async.bulk.prefetch.L2.global{_HINT}", effect="nothing"),
    rule("cp.async.bulk.commit_group", "-", "bulk.commit(lanes)", has_effect=True),
    rule("cp.async.bulk.wait_group[.read]", "- n:number", "bulk.wait(n, read, lanes)", has_effect=True),
    _tensors(
        f"cp.async.bulk.tensor{_RANK}{_INTO.format('[.how:tile]')}",
        f"- [s] [t,{{c}}:s32] [m] {_MASK}",
        barrier="m",
        mask="mask",
    ),
    _tensors(
        f"cp.async.bulk.tensor{_WIDE_RANK}{_INTO.format('.<how:im2col>')}",
        f"- [s] [t,{{c}}:s32] [m] {{o}}:u16 {_MASK}",
        barrier="m",
        mask="mask",
        offsets="o",
    ),
    _tensors(f"cp.async.bulk.tensor{_RANK}{_OUT.format('[.how:tile]')}", f"- [t,{{c}}:s32] [s] {_POLICY}"),
    _tensors(
        f"cp.async.bulk.tensor{_WIDE_RANK}{_OUT.format('.<how:im2col_no_offs>')}",
        f"- [t,{{c}}:s32] [s] {_POLICY}",
    ),
    _tensors(
        f"cp.reduce.async.bulk.tensor{_RANK}.<to:global>.<from:shared::cta>"
        f".<op:add|min|max|inc|dec|and|or|xor>[.how:tile].bulk_group{_HINT}",
        f"- [t,{{c}}:s32] [s] {_POLICY}",
    ),
    rule(
        f"cp.async.bulk.prefetch.tensor{_RANK}.L2.global[.how:tile|im2col]{_HINT}",
        "- [t,{c}:s32] ...",
        "tensors.check_map(t, lanes, site)",
        has_effect=True,
    ),
    rule(
        "prefetch[.space:param|const].tensormap",
        "- [t]",
        "tensors.check_map(t, lanes, site)",
        has_effect=True,
    ),
    *(
        rule(
            f"tensormap.replace.tile.<field:{names}>[.space:global|shared::cta].b1024.<T:{kind}>",
            f"- [t] {ordinal} v",
            "tensors.replace(space, t, field, form, v, lanes, site)",
            describe=_ordinal,
            has_effect=True,
            since=since,
        )
        for names, kind, since in (
            ("global_address|global_stride", "b64", 90),
            ("rank|box_dim|global_dim|element_stride", "b32", 90),
            ("elemtype|interleave_layout|swizzle_mode|fill_mode", "b32", 90),
            ("swizzle_atomicity", "b32", 100),
        )
        for ordinal in ("", "n:number")
    ),
    rule(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.<scope:cta|cluster|gpu|sys>"
        ".sync.aligned",
        "- [x] [y] n:number",
        "tensors.publish(x, y, lanes, site)",
        describe=_require_size,
        has_effect=True,
        since=90,
        convergence_mask="all",
    ),
    _store(f"st.async[.weak].shared::cluster{_COUNTED}[.vector:v2|v4].<T:b32|u32|s32|f32>"),
    _store(f"st.async[.weak].shared::cluster{_COUNTED}[.vector:v2].<T:b64|u64|s64|f64>"),
    _store(f"{_RED_ASYNC}.<op:inc|dec>.<T:u32>", "op"),
    _store(f"{_RED_ASYNC}.<op:min|max>.<T:u32|s32>", "op"),
    _store(f"{_RED_ASYNC}.<op:add>.<T:u32|s32|u64>", "op"),
    _store(f"{_RED_ASYNC}.<op:and|or|xor>.<T:b32>", "op"),
]
