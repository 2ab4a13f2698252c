"""What the threads of a warp do together. All that a mask names come together before such an instruction.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions".
"""

from typing import Any

from .rule import Rule, rule


def _warp(pattern: str, operands: str, expression: str, mask: str, **more: Any) -> Rule:
    """mask: where it stands among the operands."""
    return rule(pattern, operands, expression, has_effect=True, convergence_mask=mask, **more)


RULES = [
    _warp(
        "shfl.sync.<mode:up|down|bfly|idx>.<T:b32>",
        "d|p:pred a b c m",
        "warps.shuffle(mode, a, b, c, lanes)",
        "4",
    ),
    _warp("vote.sync.<mode:all|any|uni>.<T:pred>", "d a m:b32", "warps.vote(mode, a, m, lanes)", "2"),
    _warp("vote.sync.<mode:ballot>.<T:b32>", "d a:pred m", "warps.vote(mode, a, m, lanes)", "2"),
    _warp(
        "match.<mode:any|all>.sync.<T:b32|b64>",
        "d:b32|p:pred a m:b32",
        "warps.match(mode, a, m, lanes)",
        "2",
    ),
    _warp("redux.sync.<op:add|min|max>.<T:u32|s32>", "d a m:b32", "warps.redux(op, a, m, lanes)", "2"),
    _warp("redux.sync.<op:and|or|xor>.<T:b32>", "d a m:b32", "warps.redux(op, a, m, lanes)", "2"),
    _warp(
        "redux.sync.<op:min|max>[.size:abs][.NaN].<T:f32>",
        "d a m:b32",
        "warps.redux_float(op, a, m, lanes, is_size=bool(size), spreads=bool(NaN))",
        "2",
        since=100,
    ),
    _warp("elect.sync", "d:b32|p:pred m:b32", "warps.elect(m, lanes)", "1"),
    _warp("activemask.<T:b32>", "d", "warps.active_mask(lanes)", "present"),
    _warp("bar.warp.sync", "- m:b32", "warps.synchronize(m, lanes)", "0"),
    rule("griddepcontrol.<what:launch_dependents|wait>", effect="nothing"),
]
