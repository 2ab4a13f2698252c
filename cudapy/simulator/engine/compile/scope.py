"""The names that compiled blocks may use."""

from typing import Any

import numpy as np

from ..access import put
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
)

NAMES: dict[str, Any] = {
    "np": np,
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
):
    NAMES.update({name: value for name, value in vars(_module).items() if not name.startswith("_")})
