"""What the differential tests run: every opcode of the tables of values, and sequences that tables cannot
say.

A column is a piece of PTX from operands %a, %b, ... to a result %z. Columns of equal operands share a kernel.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from cudapy.simulator.engine import instructions
from cudapy.simulator.engine.instructions.rule import Rule, Slot
from cudapy.simulator.engine.ptx.types import TYPES

KERNEL_COLUMNS = 16
"""Columns of one kernel."""
VALUE_TABLES = ("integer", "logic", "floating", "half", "convert")
_LETTERS = "abcem"


class Column(NamedTuple):
    name: str
    """The opcode, or what a sequence of them is called."""
    body: str
    operands: tuple[str, ...]
    """A type of PTX for each of %a, %b, ..."""
    result: str

    @property
    def is_approximate(self) -> bool:
        return ".approx" in self.name or ".full" in self.name


def _of_slot(rule: Rule, slot: Slot, opcode: str, groups: dict[str, str]) -> str:
    """The type of an operand: of halves that of the opcode, where the table has their bits."""
    name = rule.slot_type(slot, groups).name
    of_opcode = opcode.split(".")[-2] if rule.name == "set" and slot.name == "d" else groups.get("T", "")
    return of_opcode if of_opcode.removeprefix("b") in ("f16", "f16x2") and name in ("b16", "b32") else name


def _of_rule(rule: Rule, opcode: str) -> Column | None:
    match = instructions.match(opcode)
    if match is None or match.rule is not rule:
        return None  # another line of the table has it
    groups = match.groups
    if rule.name == "lop3" and groups.get("combine"):
        return None  # it has two results: see below
    types = [_of_slot(rule, slot, opcode, groups) for slot in rule.slots]
    operands = tuple(types[1:])
    if groups.get("combine") and groups["relation"] != "lt":
        return None  # combining is the same for all of them
    if groups.get("combine"):
        operands = (*operands, "pred")
    names = ["%" + letter for letter in _LETTERS[: len(operands)]]
    if rule.name == "lop3":
        names[3], operands = "0xCA", operands[:3]
    return Column(opcode, f"{opcode} %z, {', '.join(names)};", operands, types[0])


_CARRY = """
add.cc add.cc.{t} %x, %a, %b; addc.cc.{t} %y, %b, %c; addc.{t} %z, %a, %c; {both}
sub.cc sub.cc.{t} %x, %a, %b; subc.cc.{t} %y, %b, %c; subc.{t} %z, %a, %c; {both}
sub.addc sub.cc.{t} %x, %a, %b; addc.{t} %z, %c, 0; {one}
add.subc add.cc.{t} %x, %a, %b; subc.{t} %z, %c, 0; {one}
mad.lo.cc mad.lo.cc.{t} %x, %a, %b, %c; madc.hi.{t} %z, %a, %b, %c; {one}
mad.hi.cc mad.hi.cc.{t} %x, %a, %b, %c; madc.lo.cc.{t} %y, %a, %b, %c; addc.{t} %z, %y, 0; {one}
madc.hi.cc mad.lo.cc.{t} %x, %a, %b, %c; madc.hi.cc.{t} %y, %a, %b, %c; addc.{t} %z, %y, 0; {one}
"""
_PAIRS = """
setp.pair setp.lt.and.s32 %p|%q, %a, %b, %c; {both}|b32 b32 pred|b32
setp.f32.pair setp.geu.or.f32 %p|%q, %a, %b, %c; {both}|f32 f32 pred|b32
setp.f16x2.pair setp.lt.f16x2 %p|%q, %a, %b; {both}|f16x2 f16x2|b32
setp.bf16x2.pair setp.ge.bf16x2 %p|%q, %a, %b; {both}|bf16x2 bf16x2|b32
lop3.or lop3.or.b32 %z|%p, %a, %b, %c, 0xCA, %e; {add}|b32 b32 b32 pred|b32
lop3.and lop3.and.b32 %z|%p, %a, %b, %c, 0x80, %e; {add}|b32 b32 b32 pred|b32
mov.pack mov.b64 %z, {%a, %b};|b32 b32|b64
mov.unpack mov.b64 {%x, %y}, %a; sub.s32 %z, %x, %y;|b64|b32
mov.unpack16 mov.b32 {%h, %i}, %a; sub.s16 %z, %h, %i;|b32|b16
guard setp.lt.s32 %p, %a, %b; mov.b32 %z, %a; @%p add.s32 %z, %a, %b; @!%p sub.s32 %z, %a, %b;|b32 b32|b32
shfl.up shfl.sync.up.b32 %z|%p, %a, %b, 0, -1; @%p add.s32 %z, %z, 1;|b32 b32|b32
shfl.down shfl.sync.down.b32 %z|%p, %a, %b, 0x1f, -1; @%p add.s32 %z, %z, 1;|b32 b32|b32
shfl.bfly shfl.sync.bfly.b32 %z|%p, %a, %b, 0x1f, -1; @%p add.s32 %z, %z, 1;|b32 b32|b32
shfl.idx shfl.sync.idx.b32 %z|%p, %a, %b, 0x1f, -1; @%p add.s32 %z, %z, 1;|b32 b32|b32
shfl.up.part shfl.sync.up.b32 %z|%p, %a, %b, 0x1800, -1; @%p add.s32 %z, %z, 1;|b32 b32|b32
shfl.down.part shfl.sync.down.b32 %z|%p, %a, %b, 0x181f, -1; @%p add.s32 %z, %z, 1;|b32 b32|b32
shfl.bfly.part shfl.sync.bfly.b32 %z|%p, %a, %b, 0x1c1f, -1; @%p add.s32 %z, %z, 1;|b32 b32|b32
shfl.idx.part shfl.sync.idx.b32 %z|%p, %a, %b, 0x1c1f, -1; @%p add.s32 %z, %z, 1;|b32 b32|b32
shfl.clamp and.b32 %y, %b, 0x1f1f; shfl.sync.idx.b32 %z|%p, %a, %a, %y, -1; @%p add.s32 %z, %z, 1;|b32 b32|b32
vote.ballot vote.sync.ballot.b32 %z, %a, -1;|pred|b32
vote.any vote.sync.any.pred %p, %a, -1; selp.b32 %z, 1, 0, %p;|pred|b32
vote.all vote.sync.all.pred %p, %a, -1; selp.b32 %z, 1, 0, %p;|pred|b32
vote.uni vote.sync.uni.pred %p, %a, -1; selp.b32 %z, 1, 0, %p;|pred|b32
match.any.b32 and.b32 %x, %a, 3; match.any.sync.b32 %z, %x, -1;|b32|b32
match.any.b64 and.b64 %x, %a, 3; match.any.sync.b64 %z, %x, -1;|b64|b32
match.all.b32 and.b32 %x, %a, 0; match.all.sync.b32 %z|%p, %x, -1; {add}|b32|b32
match.all.some shr.u32 %x, %a, 31; match.all.sync.b32 %z|%p, %x, -1; {add}|b32|b32
redux.add.u32 redux.sync.add.u32 %z, %a, -1;|b32|b32
redux.add.s32 redux.sync.add.s32 %z, %a, -1;|b32|b32
redux.min.u32 redux.sync.min.u32 %z, %a, -1;|b32|b32
redux.min.s32 redux.sync.min.s32 %z, %a, -1;|b32|b32
redux.max.u32 redux.sync.max.u32 %z, %a, -1;|b32|b32
redux.max.s32 redux.sync.max.s32 %z, %a, -1;|b32|b32
redux.and.b32 redux.sync.and.b32 %z, %a, -1;|b32|b32
redux.or.b32 redux.sync.or.b32 %z, %a, -1;|b32|b32
redux.xor.b32 redux.sync.xor.b32 %z, %a, -1;|b32|b32
"""
_BOTH = "selp.b32 %x, 1, 0, %p; selp.b32 %y, 2, 0, %q; or.b32 %z, %x, %y;"
_ADD = "selp.b32 %x, 1, 0, %p; add.s32 %z, %z, %x;"
_MATRICES = """
m16n8k16.row.col.f32.f16.f16.f32 {%a,%b,%b,%a}, {%b,%a}, 4 f16x2 f32
m16n8k8.row.col.f32.f16.f16.f32 {%a,%b}, {%b}, 4 f16x2 f32
m16n8k16.row.col.f16.f16.f16.f16 {%a,%b,%b,%a}, {%b,%a}, 2 f16x2 f16x2
m16n8k8.row.col.f16.f16.f16.f16 {%a,%b}, {%b}, 2 f16x2 f16x2
m16n8k16.row.col.f32.bf16.bf16.f32 {%a,%b,%b,%a}, {%b,%a}, 4 bf16x2 f32
m16n8k8.row.col.f32.bf16.bf16.f32 {%a,%b}, {%b}, 4 bf16x2 f32
m16n8k8.row.col.f32.tf32.tf32.f32 {%a,%b,%b,%a}, {%b,%a}, 4 f32 f32
m16n8k4.row.col.f32.tf32.tf32.f32 {%a,%b}, {%b}, 4 f32 f32
m16n8k16.row.col.s32.s8.s8.s32 {%a,%b}, {%b}, 4 b32 b32
m16n8k32.row.col.s32.s8.u8.s32 {%a,%b,%b,%a}, {%b,%a}, 4 b32 b32
m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%a,%b,%b,%a}, {%b,%a}, 4 b32 b32
m16n8k16.row.col.satfinite.s32.u8.u8.s32 {%a,%b}, {%b}, 4 b32 b32
m8n8k4.row.col.f64.f64.f64.f64 {%a}, {%b}, 2 f64 f64
m16n8k32.row.col.f32.e4m3.e4m3.f32 {%a,%b,%b,%a}, {%b,%a}, 4 e4m3x4 f32
m16n8k32.row.col.f16.e5m2.e4m3.f16 {%a,%b,%b,%a}, {%b,%a}, 2 e5m2x4 f16x2
m16n8k4.row.col.f64.f64.f64.f64 {%a,%b}, {%b}, 4 f64 f64
m16n8k8.row.col.f64.f64.f64.f64 {%a,%b,%b,%a}, {%b,%a}, 4 f64 f64
m16n8k16.row.col.f64.f64.f64.f64 {%a,%b,%b,%a,%a,%a,%b,%b}, {%b,%a,%a,%b}, 4 f64 f64
m8n8k16.row.col.s32.u8.s8.s32 {%a}, {%b}, 2 b32 b32
m8n8k32.row.col.s32.s4.s4.s32 {%a}, {%b}, 2 b32 b32
m16n8k32.row.col.s32.s4.u4.s32 {%a,%b}, {%b}, 4 b32 b32
m16n8k64.row.col.satfinite.s32.u4.s4.s32 {%a,%b,%b,%a}, {%b,%a}, 4 b32 b32
m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%a}, {%b}, 2 b32 b32
m16n8k128.row.col.s32.b1.b1.s32.and.popc {%a,%b}, {%b}, 4 b32 b32
m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%a,%b,%b,%a}, {%b,%a}, 4 b32 b32
m16n8k256.row.col.s32.b1.b1.s32.and.popc {%a,%b,%b,%a}, {%b,%a}, 4 b32 b32
"""
"""mma: operands, how many registers c and d have, and the types of a and b, and of c."""
_SPARSE = """
m16n8k16.row.col.f32.f16.f16.f32 2 2 4 f16x2 f32 2
m16n8k32.row.col.f16.f16.f16.f16 4 4 2 f16x2 f16x2 1
m16n8k16.row.col.f32.bf16.bf16.f32 2 2 4 bf16x2 f32 0
m16n8k32.row.col.f32.bf16.bf16.f32 4 4 4 bf16x2 f32 0
m16n8k8.row.col.f32.tf32.tf32.f32 2 2 4 f32 f32 3
m16n8k16.row.col.f32.tf32.tf32.f32 4 4 4 f32 f32 1
m16n8k32.row.col.s32.s8.u8.s32 2 2 4 b32 b32 1
m16n8k64.row.col.satfinite.s32.u8.s8.s32 4 4 4 b32 b32 0
m16n8k64.row.col.s32.s4.u4.s32 2 2 4 b32 b32 1
m16n8k128.row.col.satfinite.s32.u4.s4.s32 4 4 4 b32 b32 0
"""
"""mma.sp: how many registers a, b, c and d have, the types of a and b, and of c, and the selector."""
_SMALL = {
    "f16x2": ("0x8C008C00", "0x30003000"),
    "bf16x2": ("0x80808080", "0x3F003F00"),
    "f32": ("0x80800000", "0x3F000000"),
    "e4m3x4": ("0x88888888", "0x30303030"),
    "e5m2x4": ("0x80808080", "0x38383838"),
    "f64": ("0x8010000000000000", "0x3FE0000000000000"),
}
"""Masks that make powers of two near 1 of any bits: how exact products and sums are rounded is no matter."""
_VIDEO = """
vabsdiff4.u32.u32.u32 vabsdiff4.u32.u32.u32.add vadd.u32.u32.u32.add vadd.s32.s32.s32.sat.min
vsub.s32.s32.s32.sat.max vabsdiff.u32.s32.u32.add vmin.s32.u32.s32.add vmax.s32.s32.s32.min
vset.s32.u32.lt.add vset.u32.u32.ge.max vshl.s32.s32.u32.clamp.add vshl.u32.u32.u32.wrap.add
vshr.s32.s32.u32.wrap.add vshr.u32.u32.u32.clamp.add vmad.u32.u32.u32 vmad.s32.s32.s32.sat.shr7
vmad.s32.s32.s32.shr15 vmad.s32.s32.s32.sat vmad.s32.s32.s32.po.shr7 vadd2.u32.u32.u32
vadd2.s32.s32.s32.sat vadd4.u32.s32.u32.sat vadd4.s32.s32.s32.add vsub2.s32.u32.s32.sat
vsub4.u32.u32.u32.sat vsub4.s32.s32.s32.add vavrg2.u32.u32.u32 vavrg2.s32.s32.s32 vavrg2.u32.s32.s32.sat
vavrg4.u32.u32.u32 vavrg4.s32.s32.s32 vavrg4.s32.s32.u32 vavrg4.s32.s32.s32.add vabsdiff2.s32.s32.s32
vabsdiff2.u32.s32.s32.sat vabsdiff4.s32.s32.s32 vabsdiff4.u32.s32.s32.add vmin2.s32.s32.s32
vmin4.u32.u32.s32.sat vmax2.u32.u32.u32.add vmax4.s32.s32.s32 vset2.u32.u32.lt vset2.s32.s32.ne.add
vset4.s32.u32.ge vset4.u32.u32.eq.add
"""
"""Video instructions of three operands."""
_VECTORS = """
add.v2 f32
add.noftz.v4 f16
max.noftz.v4 bf16
min.noftz.v2 f16x2
add.noftz.v2 bf16x2
"""
_ROWS = {"x1": "%z", "x2": "%z, %x", "x4": "%z, %x, %y, %w"}
_ATOMS = (
    ("add", "u32 s32 u64 f32 f64"),
    ("add.noftz", "f16 f16x2 bf16 bf16x2"),
    ("and", "b32 b64"),
    ("or", "b32 b64"),
    ("xor", "b32 b64"),
    ("min", "u32 s32 u64 s64"),
    ("max", "u32 s32 u64 s64"),
    ("inc", "u32"),
    ("dec", "u32"),
    ("exch", "b32 b64"),
    ("cas", "b16 b32 b64"),
)


def _sequences() -> list[Column]:
    columns = []
    for line in _CARRY.strip().splitlines():
        name, _, body = line.partition(" ")
        for kind in ("u32", "s32", "u64", "s64"):
            one = f"xor.b{kind[1:]} %z, %z, %x;"
            text = body.format(t=kind, one=one, both=f"{one} xor.b{kind[1:]} %z, %z, %y;")
            columns.append(Column(f"{name}.{kind}", text, (kind,) * 3, kind))
    for line in _PAIRS.strip().splitlines():
        head, operands, result = line.rsplit("|", 2)
        name, _, body = head.partition(" ")
        body = body.replace("{both}", _BOTH).replace("{add}", _ADD)
        columns.append(Column(name, body, tuple(operands.split()), result))
    columns += [_matrix(line) for line in _MATRICES.strip().splitlines()]
    columns += [_sparse(line) for line in _SPARSE.strip().splitlines()]
    for opcode in _VIDEO.split():
        columns.append(Column(opcode, f"{opcode} %z, %a, %b, %c;", ("u32",) * 3, "u32"))
    columns += [_vector(line) for line in _VECTORS.strip().splitlines()]
    for count, trans in itertools.product(_ROWS, ("", ".trans")):
        names = _ROWS[count]
        mixed = " ".join(f"mad.lo.s32 %z, %z, 31, {name};" for name in names.split(", ")[1:])
        body = (
            ".reg .b32 %u, %w; st.shared.v2.b32 [%slot], {%a, %b}; bar.warp.sync -1; "
            "and.b32 %x, %slot, 0xFFFFFF00; and.b32 %u, %slot, 0x78; shl.b32 %u, %u, 1; add.u32 %u, %u, %x; "
            f"ldmatrix.sync.aligned.m8n8.{count}{trans}.shared.b16 {{{names}}}, [%u]; {mixed}"
        )
        columns.append(Column(f"ldmatrix.{count}{trans}", body, ("b32", "b32"), "b32"))
    for count, trans in itertools.product(("x1", "x2"), ("", ".trans")):
        names = {"x1": "%a", "x2": "%a, %b"}[count]
        body = (
            ".reg .b32 %u; st.shared.v2.b32 [%slot], {0, 0}; bar.warp.sync -1; "
            "and.b32 %x, %slot, 0xFFFFFF00; and.b32 %u, %slot, 0x78; shl.b32 %u, %u, 1; add.u32 %u, %u, %x; "
            f"stmatrix.sync.aligned.m8n8.{count}{trans}.shared.b16 [%u], {{{names}}}; bar.warp.sync -1; "
            "ld.shared.v2.b32 {%z, %y}, [%slot]; mad.lo.s32 %z, %z, 31, %y;"
        )
        columns.append(Column(f"stmatrix.{count}{trans}", body, ("b32", "b32"), "b32"))
    for table in range(0, 256, 5):
        columns.append(Column(f"lop3.{table}", f"lop3.b32 %z, %a, %b, %c, {table};", ("b32",) * 3, "b32"))
    for (op, kinds), space in itertools.product(_ATOMS, ("global", "shared")):
        for kind in kinds.split():
            bits = f"b{8 * TYPES[kind].size}"
            address = "[%scratch]" if space == "global" else "[%slot]"
            more = ", %c" if op == "cas" else ""
            target = f"atom.{space}.{op}.{kind} %x, {address}, %b{more};"
            body = f"st.{space}.{bits} {address}, %a; {target} ld.{space}.{bits} %y, {address}; "
            body += f"mul.lo.u{bits[1:]} %x, %x, 31; xor.{bits} %z, %x, %y;"
            columns.append(Column(f"atom.{space}.{op}.{kind}", body, (kind,) * (3 if more else 2), bits))
            if op not in ("exch", "cas"):
                body = f"st.{space}.{bits} {address}, %a; red.{space}.{op}.{kind} {address}, %b; "
                body += f"ld.{space}.{bits} %z, {address};"
                columns.append(Column(f"red.{space}.{op}.{kind}", body, (kind, kind), bits))
    return columns


def _vector(line: str) -> Column:
    """An atomic on several places beside each other: what was there and what is left, mixed."""
    head, kind = line.split()
    count, bits = int(head.rpartition("v")[2][0]), f"b{8 * TYPES[kind].size}"
    pick = ", ".join(["%a", "%b", "%c", "%b"][:count])
    olds = [f"%o{place}" for place in range(count)]
    mixed = " ".join(f"cvt.u64.u{bits[1:]} %t, {one}; mad.lo.u64 %z, %z, 31, %t;" for one in olds)
    body = (
        f".reg .{bits} {', '.join(olds)}; .reg .b64 %t; st.global.v{count}.{bits} [%scratch], {{{pick}}}; "
        f"atom.global.{head}.{kind} {{{', '.join(olds)}}}, [%scratch], {{{', '.join(['%c'] * count)}}}; "
        f"ld.global.b64 %z, [%scratch]; {mixed}"
    )
    return Column(f"atom.global.{head}.{kind}", body, (kind,) * 3, "b64")


def _matrix(line: str) -> Column:
    head, _, rest = line.partition(" ")
    operands, count, kind, sum_kind = rest.rsplit(" ", 3)
    bits = "b64" if kind == "f64" else "b32"
    small = [
        f"and.{bits} %{name}, %{name}, {_SMALL[one][0]}; or.{bits} %{name}, %{name}, {_SMALL[one][1]};"
        for name, one in (("a", kind), ("b", kind), ("c", sum_kind))
        if one in _SMALL
    ]
    names = ["%z", "%x", "%y", "%w"][: int(count)]
    mixed = " ".join(f"xor.{bits} %z, %z, {name};" for name in names[1:])
    results, sums = ", ".join(names), ", ".join(["%c"] * int(count))
    text = f"mma.sync.aligned.{head} {{{results}}}, {operands} {{{sums}}};"
    body = f"{' '.join(small)} .reg .{bits} %w; {text} {mixed}"
    return Column(f"mma.{head}", body, (kind, kind, sum_kind), bits)


def _sparse(line: str) -> Column:
    """A product with a sparse matrix. Any bits of %e become metadata that the manual allows."""
    head, a, b, c, kind, sum_kind, selector = line.split()
    registers = [", ".join(("%a", "%b", "%b", "%a")[: int(a)]), ", ".join(("%b", "%a", "%a", "%b")[: int(b)])]
    column = _matrix(f"{head} {{{registers[0]}}}, {{{registers[1]}}}, {c} {kind} {sum_kind}")
    if ".tf32" in head:  # 0100 or 1110
        metadata = "and.b32 %e, %e, 0x11111111; mul.lo.u32 %e, %e, 10; xor.b32 %e, %e, 0x44444444;"
    else:  # one of the first two, and one of the last two
        metadata = "and.b32 %e, %e, 0x55555555; or.b32 %e, %e, 0x88888888;"
    body = column.body.replace("mma.sync", "mma.sp.sync")
    body = body.replace("};", f"}}, %e, {selector};", 1)
    name = f"mma.sp.{head}"
    return Column(name, f"{metadata} {body}", (*column.operands, "b32"), column.result)


def all_columns() -> list[Column]:
    """Every column, whether or not the opcode is legal PTX."""
    columns: dict[str, Column] = {}
    for name in VALUE_TABLES:
        for rule in getattr(instructions, name).RULES:
            if not rule.is_plain or rule.name == "vmad":
                continue
            for opcode in rule.opcodes():
                column = _of_rule(rule, opcode)
                if column is not None:
                    columns.setdefault(opcode, column)
    columns.update({column.name: column for column in _sequences()})
    return list(columns.values())


def grouped(columns: list[Column]) -> list[list[Column]]:
    """Columns of equal operands, at most KERNEL_COLUMNS together."""
    by_operands: dict[tuple[str, ...], list[Column]] = {}
    for column in columns:
        by_operands.setdefault(column.operands, []).append(column)
    return [
        group[start : start + KERNEL_COLUMNS]
        for group in by_operands.values()
        for start in range(0, len(group), KERNEL_COLUMNS)
    ]


def _register(kind: str) -> str:
    size = max(TYPES[kind].size, 2)
    return "pred" if kind == "pred" else f"b{8 * size}"


def _width(column: Column) -> str:
    """The type of the temporaries %x and %y."""
    wide = [kind for kind in (*column.operands, column.result) if kind != "pred"]
    if column.name.startswith(("mov.unpack", "match", "shfl", "setp", "guard")):
        return "b64" if column.name == "match.any.b64" else "b32"
    return _register(max(wide, key=lambda kind: TYPES[kind].size, default="b32"))


def kernel(name: str, columns: list[Column]) -> str:
    """A kernel (results, operands...): row i of column k is 8 bytes at results + 8 * (k * rows + i)."""
    operands = columns[0].operands
    lines = [
        f".visible .entry {name}(.param .u64 results, .param .u64 rows, .param .u64 memory"
        + "".join(f", .param .u64 in{place}" for place in range(len(operands))) + ")",
        "{",
        ".reg .b32 %i, %n, %slot; .reg .b64 %row, %out, %step, %scratch, %t;",
        ".shared .align 256 .b8 slots[2048];",
        "mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mul.lo.u32 %i, %i, %n; mov.u32 %n, %tid.x;",
        "add.u32 %i, %i, %n; mul.wide.u32 %row, %i, 8;",
        "ld.param.u64 %out, [results]; add.u64 %out, %out, %row;",
        "ld.param.u64 %step, [rows];",
        "ld.param.u64 %scratch, [memory]; add.u64 %scratch, %scratch, %row; shl.b64 %step, %step, 3;",
        "shl.b32 %n, %n, 3; mov.u32 %slot, slots; add.u32 %slot, %slot, %n;",
    ]  # fmt: skip
    for place, (letter, kind) in enumerate(zip(_LETTERS, operands, strict=False)):
        register = _register(kind)
        lines.append(f".reg .{register} %{letter}; ld.param.u64 %t, [in{place}]; add.u64 %t, %t, %row;")
        if kind == "pred":
            lines.append(
                f".reg .b64 %w{letter}; ld.global.u64 %w{letter}, [%t]; and.b64 %w{letter}, %w{letter}, 1; "
                f"setp.ne.u64 %{letter}, %w{letter}, 0;"
            )
        else:
            lines.append(f"ld.global.{register} %{letter}, [%t];")
    for column in columns:
        register = _register(column.result)
        width = _width(column)
        lines.append(f"{{ .reg .{register} %z; .reg .{width} %x, %y; .reg .pred %p, %q;")
        lines.append(".reg .b16 %h, %i; .reg .b64 %v;")
        lines.append(column.body)
        if register == "pred":
            lines.append("selp.u64 %v, 1, 0, %z;")
        elif register == "b64":
            lines.append("mov.b64 %v, %z;")
        else:
            lines.append(f"cvt.u64.u{register[1:]} %v, %z;")
        lines.append("st.global.u64 [%out], %v; add.u64 %out, %out, %step; }")
    return "\n".join([*lines, "ret;", "}", ""])


def module(columns: list[list[Column]], target: str = "sm_90") -> str:
    """A module with a kernel k0, k1, ... for each group."""
    kernels = [kernel(f"k{number}", group) for number, group in enumerate(columns)]
    return "\n".join([".version 8.3", f".target {target}", ".address_size 64", *kernels])
