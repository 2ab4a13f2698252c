"""Moving, loading and storing.

Source: PTX ISA, "Data Movement and Conversion Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..access import ATOMIC, READ, WRITE, accessed
from ..address_spaces import SPACES
from ..ptx.syntax import Address, Integer, PTXError, Register, Symbol, Vector
from ..ptx.types import BITS, TYPES
from .rule import rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..compile.block import BlockWriter
    from ..ptx.syntax import Instruction, Operand
    from ..ptx.types import Type

_METHODS = {
    "global": "global_memory.at",
    "shared": "shared.at",
    "cluster": "shared.at_cluster",
    "local": "local.at",
    "generic": "spaces.at_generic",
}
"""What finds the places of addresses: see `run.spaces`."""
_GLOBAL = ("global", "const", "param")
_SCOPE = "[.order:weak|relaxed|acquire|release|volatile|mmio.relaxed][.scope:cta|cluster|gpu|sys]"
_FETCH = "[.hint:L2::cache_hint][.prefetch:L2::64B|L2::128B|L2::256B]"
_POLICIES = "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"
_HINTS = (
    "[.cop:ca|cg|cs|lu|cv|wb|wt]"
    "[.l1:L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate]"
    f"[.l2:L2::evict_normal|L2::evict_first|L2::evict_last]{_FETCH}"
    "[.vector:v2|v4]"
)
SHARED = "shared::cta|shared::cluster|shared"
_SPACES = f"global|local|{SHARED}"
_WIDE = f"{_SCOPE}[.space:{_SPACES}|const][.nc]{_HINTS.removesuffix('[.vector:v2|v4]')}"
_EIGHT = (
    f"{_SCOPE}[.space:global][.nc]{_HINTS.replace('[.vector:v2|v4]', '.<vector:v8>')}.<T:b32|u32|s32|f32>"
)


def _require_parts(size: int, count: int) -> None:
    """Whether a register of `size` bytes has `count` parts. Raises PTXError."""
    if not count or size % count or size // count not in BITS or (size == 16 and count != 2):
        raise PTXError(f"mov: {8 * size} bits do not have {count} parts")


def move(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """mov: a register, an address, or parts of a register put together or taken apart."""
    target, source = instruction.operands
    kind = TYPES[groups["T"]]
    for operand in (target, source):
        if isinstance(operand, Vector):
            _require_parts(kind.size, len(operand.items))
    if kind.size == 16 and isinstance(target, Vector):
        low, high = writer.let_pair(f"halves128({writer.read(source, kind)})")
        for item, half in zip(target.items, (low, high), strict=True):
            writer.write(item, half, TYPES["b64"])
    elif kind.size == 16 and isinstance(source, Vector):
        low, high = (writer.read(item, TYPES["b64"]) for item in source.items)
        writer.write(target, f"join128({low}, {high})", kind)
    elif isinstance(target, Vector):
        part = TYPES[BITS[kind.size // len(target.items)]]
        whole = writer.read(source, TYPES[BITS[kind.size]])
        for place, item in enumerate(target.items):
            shift = writer.constant(8 * part.size * place, f"u{kind.size}")
            shifted = f"({whole} >> {shift})" if place else whole
            writer.write(item, f"{shifted}.astype({part.code})", part)
    elif isinstance(source, Vector):
        part = TYPES[BITS[kind.size // len(source.items)]]
        terms = []
        for place, item in enumerate(source.items):
            shift = writer.constant(8 * part.size * place, f"u{kind.size}")
            widened = f"{writer.read(item, part)}.astype(u{kind.size})"
            terms.append(f"({widened} << {shift})" if place else widened)
        writer.write(target, " | ".join(terms), TYPES[BITS[kind.size]])
    else:
        writer.move(target, source, kind)


def space_of(groups: dict[str, str]) -> str:
    """The state space of an access; "generic" if it does not say."""
    space, _, part = (groups.get("space") or "generic").partition("::")
    return "cluster" if part == "cluster" else space


def place(
    writer: BlockWriter,
    address: Operand,
    space: str,
    kind: Type,
    count: int,
    mode: int,
    values: Sequence[str] = (),
) -> tuple[str, str]:
    """The names of an array and of the items in it that an address means; `values` are to be stored there."""
    near = writer.near(address) if space == "shared" and mode != ATOMIC else None
    if near is not None:
        access = _access(writer, kind, count, mode)
        return writer.let_pair(f"L.shared.at_near({', '.join([near, access, 'I', *values])})")
    where, access = asked(writer, address, kind, count, mode)
    if space == "param":
        where = writer.let(f"L.whole_parameter_address({where})")
    method = _METHODS["global" if space in _GLOBAL else space]
    checked = () if space == "local" else values
    return writer.let_pair(f"L.{method}({', '.join([where, access, 'I', *checked])})")


def asked(writer: BlockWriter, address: Operand, kind: Type, count: int, mode: int) -> tuple[str, str]:
    """The names of addresses, and of what an instruction asks memory for there."""
    return writer.address(address), _access(writer, kind, count, mode)


def _access(writer: BlockWriter, kind: Type, count: int, mode: int) -> str:
    """The name of what an instruction asks memory for."""
    return writer.function.constant_object(accessed(np.dtype(kind.code), count, writer.number, mode))


def _parameter(writer: BlockWriter, address: Operand) -> tuple[str, int] | None:
    """The parameter and offset of [name + offset]; None for an address in a register."""
    if isinstance(address, Address) and isinstance(address.base, Symbol):
        return address.base.name, address.base.offset + address.offset
    return None


def parts(writer: BlockWriter, operand: Operand, groups: dict[str, str]) -> tuple[Operand, ...]:
    """The operands of an access: as many as it says. Raises PTXError."""
    items, wanted = writer.items(operand), int((groups.get("vector") or "v1")[1:])
    if len(items) != wanted:
        raise PTXError(f"a vector of {wanted} is expected" if wanted > 1 else "one register is expected")
    return items


def load(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """ld and ldu."""
    kind, space = TYPES[groups["T"]], space_of(groups)
    items = parts(writer, instruction.operands[0], groups)
    parameter = _parameter(writer, instruction.operands[1]) if space == "param" else None
    if parameter is not None:
        name, offset = parameter
        for number, item in enumerate(items):
            _load_parameter(writer, item, name, offset + number * kind.size, kind)
        return
    if space in _GLOBAL and space != "param" and len(items) == 1:
        where, access = asked(writer, instruction.operands[1], kind, 1, READ)
        arguments = ", ".join(filter(None, (where, access, "I", writer.terms(where))))
        writer.write(items[0], f"L.global_memory.load({arguments})", kind)
        return
    if space == "shared":
        near = writer.near(instruction.operands[1])
        if near is not None:
            access = _access(writer, kind, len(items), READ)
            values = writer.let(f"L.shared.load_near({near}, {access}, I)")
        else:
            where, access = asked(writer, instruction.operands[1], kind, len(items), READ)
            values = writer.let(f"L.shared.load({where}, {access}, I)")
        for number, item in enumerate(items):
            writer.write(item, f"{values}[{number}]", kind)
        return
    array, index = place(writer, instruction.operands[1], space, kind, len(items), READ)
    for number, item in enumerate(items):
        writer.write(item, f"{array}.take({index} + {number})" if number else f"{array}.take({index})", kind)


def _load_parameter(writer: BlockWriter, target: Operand, name: str, offset: int, kind: Type) -> None:
    param_slots = writer.function.compiled.param_slots.get(name)
    if param_slots is None:
        _require_parameter(writer, name, offset, kind)
        writer.write(target, f"L.parameter({name!r}, {offset}, {kind.code})", kind)
        return
    size = param_slots[offset]
    part = TYPES[BITS[size]]
    if size == kind.size:
        if isinstance(target, Register) and writer.function.registers[target.name].size == size:
            writer.move(target, Register(f"{name}+{offset}"), part)
        else:
            writer.write(target, writer.read(Register(f"{name}+{offset}"), kind), kind)
        return
    whole = TYPES[BITS[kind.size]]
    terms = []
    for step in range(0, kind.size, size):
        widened = f"{writer.read(Register(f'{name}+{offset + step}'), part)}.astype({whole.code})"
        terms.append(f"({widened} << {writer.constant(8 * step, whole.code)})" if step else widened)
    joined = writer.let(" | ".join(terms))
    writer.write(target, f"{joined}.view({kind.code})", kind)


def _require_parameter(writer: BlockWriter, name: str, offset: int, kind: Type) -> None:
    """Whether a kernel has a parameter with a value there. Raises PTXError."""
    sizes = {one.name: one.size for one in writer.function.text.prototype.parameters}
    if name not in sizes:
        raise PTXError(f"{name} is no parameter of {writer.function.text.name}")
    if not 0 <= offset <= sizes[name] - kind.size:
        raise PTXError(f"{name} has {sizes[name]} bytes, none of them {kind.size} at {offset}")


def store(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """st."""
    kind, space = TYPES[groups["T"]], space_of(groups)
    items = parts(writer, instruction.operands[1], groups)
    parameter = _parameter(writer, instruction.operands[0]) if space == "param" else None
    if parameter is not None:
        name, offset = parameter
        for number, item in enumerate(items):
            _store_parameter(writer, item, name, offset + number * kind.size, kind)
        return
    values = [writer.canonicalized(item, kind) for item in items]
    if space in _GLOBAL and len(items) == 1:
        where, access = asked(writer, instruction.operands[0], kind, 1, WRITE)
        arguments = ", ".join(filter(None, (where, access, values[0], "I", writer.terms(where))))
        writer.line(f"L.global_memory.store({arguments})")
        return
    array, index = place(writer, instruction.operands[0], space, kind, len(items), WRITE, values)
    for number, value in enumerate(values):
        writer.line(
            f"put({array}, {index} + {number}, {value})" if number else f"put({array}, {index}, {value})"
        )


def _store_parameter(writer: BlockWriter, source: Operand, name: str, offset: int, kind: Type) -> None:
    param_slots = writer.function.compiled.param_slots.get(name)
    if param_slots is None:
        raise PTXError(f"{name} is no .param variable that can be written")
    size = param_slots[offset]
    whole, part = TYPES[BITS[kind.size]], TYPES[BITS[size]]
    value = writer.read(source, whole)
    if size == kind.size:
        writer.write(Register(f"{name}+{offset}"), value, part)
        return
    for step in range(0, kind.size, size):
        shift = writer.constant(8 * step, whole.code)
        writer.write(Register(f"{name}+{offset + step}"), f"({value} >> {shift}).astype({part.code})", part)


def _convert_address(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cvta: between the generic window and a state space."""
    kind = TYPES["u64"]
    base = SPACES.get(space_of(groups), 0)
    target, source = instruction.operands
    if groups["space"] == "param" and not groups.get("to"):
        writer.write(target, f"L.whole_parameter_address({writer.read(source, kind)})", kind)
        return
    if not base:
        writer.move(target, source, kind)
        return
    sign = "-" if groups.get("to") else "+"
    writer.write(target, f"{writer.read(source, kind)} {sign} {writer.constant(base, 'u8')}", kind)


def _is_in_space(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """isspacep."""
    address = writer.read(instruction.operands[1], TYPES["u64"])
    space = "param" if groups["space"] == "param::entry" else space_of(groups)
    writer.write(instruction.operands[0], f"L.spaces.is_in({address}, {space!r}, I)", TYPES["pred"])


def _commit_copies(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    writer.line("L.spaces.commit_copies(I)")


def _wait_for_copies(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cp.async.wait_group, and wait_all, which also waits for the open group."""
    max_pending = instruction.operands[0] if instruction.operands else Integer(0)
    if not isinstance(max_pending, Integer):
        raise PTXError("a number of groups is expected")
    if not instruction.operands:
        writer.line("L.spaces.commit_copies(I)")
    writer.line(f"L.spaces.wait_for_copies({max_pending.value}, I)")


def _copy_async(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """cp.async: the copy is made at once; what is past the source's size becomes 0."""
    operands = instruction.operands
    target, source = writer.address(operands[0]), writer.address(operands[1])
    size = operands[2]
    if not isinstance(size, Integer) or size.value not in (4, 8, 16):
        raise PTXError("the size must be 4, 8 or 16")
    amount = "None"
    if len(operands) > 3 and not (groups.get("hint") and len(operands) == 4):
        operand = operands[3]
        is_flag = isinstance(operand, Register) and writer.function.registers[operand.name].kind == "p"
        if is_flag:
            amount = writer.let(f"np.where({writer.read(operand, TYPES['pred'])}, 0, {size.value})[()]")
        else:
            amount = writer.read(operand, TYPES["u32"])
    writer.line(f"L.spaces.copy_async({target}, {source}, {size.value}, {amount}, I, {writer.number})")


def _whole_line(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """applypriority and discard: of lines of the cache, which are not there."""
    size = instruction.operands[1]
    if not isinstance(size, Integer) or size.value != 128:
        raise PTXError("the size must be 128")


def _policy(writer: BlockWriter, instruction: Instruction, groups: dict[str, str]) -> None:
    """createpolicy: what is made is taken by accesses, and does nothing."""
    writer.write(instruction.operands[0], writer.constant(0, "u8"), TYPES["b64"])


RULES = [
    rule("mov.<T:pred|bits|integers|f32|f64|b128>", "d a", emit=move, effect="move", copies=True),
    rule(
        f"ld{_SCOPE}[.space:{_SPACES}|const|param::entry|param::func|param][.nc]{_HINTS}.<T:data>",
        "d a",
        emit=load,
        effect="load",
        has_effect=True,
        copies=True,
    ),
    rule(f"ld{_WIDE}.<T:b128>", "d a", emit=load, effect="load", has_effect=True, copies=True),
    rule(f"st{_WIDE}.<T:b128>", "a", emit=store, effect="store", has_effect=True),
    rule(f"ld{_EIGHT}", "d a", emit=load, effect="load", has_effect=True, copies=True, since=100),
    rule(f"st{_EIGHT}", "a", emit=store, effect="store", has_effect=True, since=100),
    rule(
        "ldu[.space:global][.vector:v2|v4].<T:data>",
        "d a",
        emit=load,
        effect="load",
        has_effect=True,
        copies=True,
    ),
    rule(
        f"st{_SCOPE}[.space:{_SPACES}|param::func|param]{_HINTS}.<T:data>",
        "a",
        emit=store,
        effect="store",
        has_effect=True,
    ),
    rule(
        f"cvta[.to].<space:{_SPACES}|const|param>.<T:u64>",
        "d a",
        emit=_convert_address,
        effect="convert_address",
        copies=True,
    ),
    rule(f"isspacep.<space:{_SPACES}|const|param|param::entry>", "d:pred a:u64", emit=_is_in_space),
    rule("prefetch[.space:global|local].<level:L1|L2>", effect="nothing"),
    rule("prefetch[.space:global].<level:L2::evict_last|L2::evict_normal>", effect="nothing"),
    rule("prefetchu.L1", effect="nothing"),
    rule("applypriority[.space:global].L2::evict_normal", emit=_whole_line),
    rule("discard[.space:global].L2", emit=_whole_line),
    rule(
        f"createpolicy.fractional.<level:{_POLICIES}>[.second:L2::evict_first|L2::evict_unchanged].<T:b64>",
        emit=_policy,
    ),
    rule(
        f"createpolicy.range[.space:global].<level:{_POLICIES}>[.second:L2::evict_first|L2::evict_unchanged]"
        ".<T:b64>",
        emit=_policy,
    ),
    rule("createpolicy.cvt.L2.<T:b64>", emit=_policy),
    rule(
        f"cp.async.<cop:ca|cg>.shared[.cta:cta].global{_FETCH}",
        emit=_copy_async,
        has_effect=True,
    ),
    rule("cp.async.commit_group", emit=_commit_copies, has_effect=True),
    rule("cp.async.wait_group", emit=_wait_for_copies, has_effect=True),
    rule("cp.async.wait_all", emit=_wait_for_copies, has_effect=True),
]
