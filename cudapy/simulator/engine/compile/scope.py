"""The names that compiled blocks may use."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import (
    approximate,
    arrays,
    bits,
    convert,
    double,
    floating,
    half,
    integer,
    mbarrier,
    rounding,
    select,
    small,
    stochastic,
    video,
    wide,
)
from ..run.access import put
from ..run.frame import part
from ..run.special import NAMES as SPECIALS

NAMES: dict[str, Any] = {
    "np": np,
    "part": part,
    "put": put,
    "mbarrier": mbarrier,
    "ZERO": np.uint32(0),
    "ONE": np.uint32(1),
    "TRUE": np.True_,
    "FALSE": np.False_,
}
for _module in (
    arrays,
    integer,
    bits,
    floating,
    double,
    approximate,
    half,
    convert,
    rounding,
    select,
    small,
    stochastic,
    video,
    wide,
):
    NAMES.update({name: value for name, value in vars(_module).items() if not name.startswith("_")})

__all__ = ["NAMES", "SPECIALS", "special_code"]

_WIDE = ("%gridid", "%current_graph_exec")


def special_code(name: str) -> str:
    """The NumPy type of a special register."""
    if name == "%is_explicit_cluster":
        return "?"
    return "u8" if name in _WIDE else "u4"
