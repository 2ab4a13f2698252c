"""Binary64 arithmetic, exactly rounded.

Source: PTX ISA, "Floating Point Instructions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import exact
from .arrays import arrays, f8, in_pieces, u8
from .floating import all_positive, maximum, minimum, zero_of_sum
from .rounding import step, to_odd, two_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import F64, Bools

_QUIET = np.uint64(1 << 51)
_SPLIT = np.float64(134217729.0)
_ABOVE, _BELOW = np.float64(1 + 2.0**-51), np.float64(1 - 2.0**-51)


def chosen_nan(r: F64, *operands: F64) -> F64:
    """The result `r` of binary64 operands; if it is NaN, the last of these that is one, quiet."""
    bad = r != r
    if not (np.count_nonzero(bad) if r.ndim else bad):
        return r
    for operand in operands:
        r = np.where(bad & (operand != operand), canonicalize_nan64(operand), r)[()]
    return r


def canonicalize_nan64(x: F64) -> F64:
    """Binary64 with every NaN quiet, its other bits kept."""
    if x.ndim and not np.count_nonzero(x != x):
        return x
    return np.where(x != x, x.view(u8) | _QUIET, x.view(u8))[()].view(f8)


def _two_product(a: F64, b: F64) -> tuple[F64, F64]:
    """The rounded product and its exact error. Source: T. Dekker, Numer. Math. 18 (1971)."""
    t = a * _SPLIT
    ah = t - (t - a)
    al = a - ah
    t = b * _SPLIT
    bh = t - (t - b)
    bl = b - bh
    p = a * b
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def _ordinary(product: F64, *factors: F64) -> Bools:
    """Where neither a product nor its error leaves the range of normal numbers."""
    size = np.abs(product)
    result = (size > 2.0**-900) & (size < 2.0**1000)
    for factor in factors:
        result &= np.abs(factor) < 2.0**990
    return result


def _patched(r: F64, ordinary: Bools, function: Callable[..., float], rnd: str | None, *operands: F64) -> F64:
    """`r`, with what is out of the ordinary but finite computed by `function` of exact.py."""
    if not ordinary.all():
        odd = ~ordinary
        for operand in operands:
            odd &= np.isfinite(operand)
        few = np.flatnonzero(odd)
        r[few] = exact.each(function, rnd, *[operand[few] for operand in operands])
    return r


def add64(a: F64, b: F64, rnd: str | None = None) -> F64:
    return chosen_nan(a + b if rnd in (None, "rn") else _add64(a, b, rnd=rnd), a, b)


@arrays
def _add64(a: F64, b: F64, rnd: str) -> F64:
    s, error = two_sum(a, b)
    fits = np.abs(s) < 2.0**1000
    r = np.where(fits, step(s, error, rnd), s)
    r = _patched(r, fits, lambda x, y, mode: exact.fma(x, 1.0, y, mode), rnd, a, b)
    return zero_of_sum(r, s, all_positive(a, b)) if rnd == "rm" else r


def subtract64(a: F64, b: F64, rnd: str | None = None) -> F64:
    return chosen_nan(a - b if rnd in (None, "rn") else _add64(a, -b, rnd=rnd), a, b)


def multiply64(a: F64, b: F64, rnd: str | None = None) -> F64:
    return chosen_nan(a * b if rnd in (None, "rn") else _multiply64(a, b, rnd=rnd), a, b)


@arrays
def _multiply64(a: F64, b: F64, rnd: str) -> F64:
    p, error = _two_product(a, b)
    ordinary = _ordinary(p, a, b)
    return _patched(np.where(ordinary, step(p, error, rnd), p), ordinary, exact.multiply, rnd, a, b)


def divide64(a: F64, b: F64, rnd: str | None = None) -> F64:
    return a / b if rnd in (None, "rn") else _divide64(a, b, rnd=rnd)


@arrays
def _divide64(a: F64, b: F64, rnd: str) -> F64:
    q = a / b
    p, error = _two_product(q, b)
    rest = ((a - p) - error) * np.where(b < 0, -1.0, 1.0)
    ordinary = _ordinary(p, q, b) & (np.abs(q) > 2.0**-900)
    return _patched(np.where(ordinary, step(q, rest, rnd), q), ordinary, exact.divide, rnd, a, b)


def root64(a: F64, rnd: str | None = None) -> F64:
    return np.sqrt(a) if rnd in (None, "rn") else _root64(a, rnd=rnd)


@arrays
def _root64(a: F64, rnd: str) -> F64:
    q = np.sqrt(a)
    p, error = _two_product(q, q)
    ordinary = _ordinary(p, q)
    return _patched(np.where(ordinary, step(q, (a - p) - error, rnd), q), ordinary, exact.root, rnd, a)


@arrays
def fma64(a: F64, b: F64, c: F64, mode: str | None = None) -> F64:
    """a * b + c, rounded once."""
    if mode in (None, "rn"):
        r = in_pieces(_fma_to_nearest, a, b, c)
    else:
        r = in_pieces(lambda a, b, c: _fma(a, b, c, mode), a, b, c)
    return chosen_nan(r, a, c, b)


def _fma_to_nearest(a: F64, b: F64, c: F64) -> F64:
    """The sum of the rounded product and `c`, and of their errors. That is rounded itself: where it might be
    too far off, both ends of where the exact one lies do not round to the same result.

    Source: A. Ziv, ACM Trans. Math. Software 17 (1991).
    """
    product, low = _two_product(a, b)
    s, error = two_sum(product, c)
    error += low
    r = s + error * _ABOVE
    certain = r == s + error * _BELOW
    certain &= _ordinary(product, a, b)
    certain &= np.abs(c) < 2.0**1000
    if not certain.all():
        few = np.flatnonzero(~certain)
        r[few] = _fma(a[few], b[few], c[few], None)
    return r


def _fma(a: F64, b: F64, c: F64, mode: str | None) -> F64:
    """In each mode. Source: as in rounding.py, algorithm 5."""
    product, low = _two_product(a, b)
    ordinary = _ordinary(product, a, b) & (np.abs(c) < 2.0**1000)
    th, tl = two_sum(c, low)
    vh, vl = two_sum(product, th)
    odd = to_odd(*two_sum(tl, vl))
    r, error = two_sum(vh, odd)
    if mode not in (None, "rn"):
        r = step(r, error, mode)
    plain = product + c
    r = np.where(ordinary, r, plain)
    trivial = (a == 0) | (b == 0)
    r = _patched(r, ordinary | trivial, exact.fma, mode, a, b, c)
    r = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, r)  # however large the product is
    if mode == "rm":
        r = np.where((r == 0) & ordinary & (error == 0), -0.0, r)
        r = np.where(trivial, zero_of_sum(plain, plain, all_positive(product, c)), r)
    return r


def minimum64(a: F64, b: F64) -> F64:
    return chosen_nan(minimum(a, b), a, b)


def maximum64(a: F64, b: F64) -> F64:
    return chosen_nan(maximum(a, b), a, b)
