"""The approximate instructions. The hardware looks values up and interpolates; here they are rounded correctly,
so the results differ in the last bits: docs/simulator.md says by how many units in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import f8, u8


def _wide(function: Any) -> Any:
    def approximate(x: Any) -> Any:
        return function(x.astype(f8)).astype(x.dtype)

    return approximate


exp2 = _wide(np.exp2)
log2 = _wide(np.log2)
sine = _wide(np.sin)
cosine = _wide(np.cos)
tanh = _wide(np.tanh)
inverse_root = _wide(lambda x: 1.0 / np.sqrt(x))


def truncated64(x: Any) -> Any:
    """A binary64 number with its lower word cleared: what the approximate binary64 instructions take and give."""
    return (x.view(u8) & np.uint64(0xFFFFFFFF00000000)).view(f8)


def reciprocal64(x: Any) -> Any:
    """rcp.approx.ftz.f64: the upper word of 1/x, subnormal numbers taken and given as 0."""
    return _flushed64(truncated64(1.0 / _flushed64(truncated64(x))))


def inverse_root64(x: Any) -> Any:
    """rsqrt.approx.ftz.f64."""
    return _flushed64(truncated64(1.0 / np.sqrt(_flushed64(truncated64(x)))))


def _flushed64(x: Any) -> Any:
    return np.where(np.abs(x) < np.finfo(f8).tiny, np.copysign(0.0, x), x)[()]
