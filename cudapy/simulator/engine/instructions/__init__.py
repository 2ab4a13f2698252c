"""The tables: what each instruction does.

integer.py  video.py  logic.py  floating.py  half.py  convert.py  values
data.py     moving, loading and storing                    atomic.py   atomics and reductions
accesses.py what loads, stores and atomics are described by
warp.py     what threads of a warp do together             control.py  branches, calls, barriers
mbarrier.py barriers in shared memory                      texture.py  textures and surfaces
matrix.py   products of matrices                           cluster.py  blocks of a cluster
bulk.py     bulk copies, tensors                           warpgroup.py products of matrices by four warps
multimem.py multicast memory
"""

import collections
import functools
import re
from typing import NamedTuple

from ..ptx.syntax import Instruction, PTXError
from . import (
    atomic,
    bulk,
    cluster,
    control,
    convert,
    data,
    floating,
    half,
    integer,
    logic,
    matrix,
    mbarrier,
    multimem,
    texture,
    video,
    warp,
    warpgroup,
)
from .rule import Rule

TABLES = (
    integer,
    video,
    logic,
    floating,
    half,
    convert,
    data,
    atomic,
    multimem,
    mbarrier,
    texture,
    warp,
    matrix,
    warpgroup,
    cluster,
    bulk,
    control,
)


class Match(NamedTuple):
    """The rule for an opcode, and what its groups stand for."""

    rule: Rule
    groups: dict[str, str]


@functools.cache
def _rules() -> dict[str, list[Rule]]:
    rules: dict[str, list[Rule]] = collections.defaultdict(list)
    for table in TABLES:
        for rule in table.RULES:
            rules[rule.name].append(rule)
    return rules


@functools.lru_cache(1 << 14)
def match(opcode: str, operands: int | None = None) -> Match | None:
    """The rule for a whole opcode, with so many operands if that is said, or None."""
    for rule in _rules().get(opcode.partition(".")[0], ()):
        groups = rule.groups(opcode)
        if groups is not None and (operands is None or not rule.expression or rule.takes(operands, groups)):
            return Match(rule, groups)
    return None


def read_again() -> None:
    """Forget what was found in the tables, after one of them has changed."""
    for cached in (_rules, match):
        cached.cache_clear()


_WORDS = re.compile(r"[\w:]+")
_ORDERS = {"weak", "relaxed", "acquire", "release", "acq_rel", "volatile", "sc"}
_SCOPES = {"cta", "cluster", "gpu", "sys"}
_SPACES = {"global", "shared", "shared::cta", "shared::cluster", "local", "const"}


def _usual_order(opcode: str) -> str:
    """Ordering, scope and space first, as the manual has them: assemblers take them in any order."""
    name, *modifiers = opcode.split(".")
    ranks = [{"mmio"}, _ORDERS, _SCOPES, _SPACES]
    rank = {word: place for place, words in enumerate(ranks) for word in words}
    return ".".join([name, *sorted(modifiers, key=lambda word: rank.get(word, len(ranks)))])


_ANYWHERE = {"rn", "rz", "rm", "rp", "ftz", "sat", "satfinite", "relu", "NaN", "sync", "m8n8"}
"""Modifiers that compilers and libraries write elsewhere than the manual: behind the types; behind the mode,
as in CUB's `vote.ballot.sync.b32`; or the count, as in CUTLASS's `ldmatrix.sync.aligned.x4.m8n8.shared.b16`.
"""


def _elsewhere(opcode: str) -> Match | None:
    """The rule for an opcode, one modifier of which stands elsewhere than in the manual."""
    words = opcode.split(".")
    for place, word in enumerate(words):
        if word in _ANYWHERE:
            others = words[:place] + words[place + 1 :]
            for target in range(1, len(words)):
                matched = match(".".join([*others[:target], word, *others[target:]]))
                if matched is not None:
                    return matched
    return None


def _hint(instruction: Instruction) -> str:
    """What there is instead: of the forms of the instruction the one that has most of its words."""
    known = [rule.pattern for rule in _rules().get(instruction.name, ())]
    if not known:
        return f"it has no {instruction.name[:60]} at all"
    words = set(instruction.opcode.split("."))
    return f"it has {max(known, key=lambda pattern: len(words & set(_WORDS.findall(pattern))))}"


def find(instruction: Instruction) -> Match:
    """The rule for an instruction. Raises PTXError, which says what there is instead."""
    matched = match(instruction.opcode, len(instruction.operands)) or match(instruction.opcode)
    if matched is None and instruction.name in ("ld", "st", "atom", "red", "fence"):
        matched = match(_usual_order(instruction.opcode))
    if matched is None:
        matched = _elsewhere(instruction.opcode)
    if matched is None:
        raise PTXError(
            f"line {instruction.line}: {instruction.text[:200]}: the simulator does not support this; "
            f"{_hint(instruction)}"
        )
    return matched
