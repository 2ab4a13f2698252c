"""Binary32 arithmetic, exactly rounded, and what is the same for binary64.

Source: PTX ISA, "Floating Point Instructions".
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import f4, f8, u2, u4, u8
from .rounding import narrow, to_odd, two_sum

if TYPE_CHECKING:
    from ..aliases import I64, Array, Bools, Function

_SMALLEST = np.float32(1.1754943508222875e-38)
_LOW_BITS_OF_ALL, _HALFWAY_OF_ALL = np.array(0x1FFFFFFF, np.uint64), np.array(0x10000000, np.uint64)
_SMALLEST_OF_ALL = np.array(_SMALLEST)
"""Arrays: NumPy would make one of a number, each time."""
_DOUBLE, _BITS = struct.Struct("<d"), struct.Struct("<Q")
_NAN: dict[int, np.unsignedinteger[Any]] = {2: np.uint16(0x7FFF), 4: np.uint32(0x7FFFFFFF)}


def canonicalize_nan(x: Array) -> Array:
    """Every NaN as the hardware makes it: one pattern for each format, whatever went in. Not for binary64."""
    bad = x != x
    if x.ndim:
        if not np.count_nonzero(bad):
            return x
        bits = x.view(u4 if x.dtype.itemsize == 4 else u2)
        return np.where(bad, _NAN[x.dtype.itemsize], bits).view(x.dtype)
    return _NAN[x.dtype.itemsize].view(x.dtype) if bad else x


def flush(x: Array) -> Array:
    """.ftz: subnormal numbers become zeros of their sign."""
    small = np.abs(x) < _SMALLEST
    if not (np.count_nonzero(small) if x.ndim else small):
        return x
    return np.where(small, np.copysign(np.float32(0), x), x)[()]


def flush16(x: Array) -> Array:
    """.ftz of f16."""
    return np.where(np.abs(x) < np.float16(2.0**-14), np.copysign(np.float16(0), x), x)[()]


def saturate(x: Array) -> Array:
    """.sat: into 0 to 1; NaN becomes +0."""
    one, zero = x.dtype.type(1), x.dtype.type(0)
    return np.where(x > zero, np.where(x < one, x, one), zero)[()]


def all_positive(*terms: Array) -> Bools:
    result = ~np.signbit(terms[0])
    for term in terms[1:]:
        result = result & ~np.signbit(term)
    return result


def add32(a: Array, b: Array, rnd: str | None = None) -> Array:
    if rnd in (None, "rn"):
        return a + b
    s, error = two_sum(a.astype(f8), b.astype(f8))
    r = narrow(to_odd(s, error), f4, rnd)
    return zero_of_sum(r, s, all_positive(a, b)) if rnd == "rm" else r


def subtract32(a: Array, b: Array, rnd: str | None = None) -> Array:
    return add32(a, -b, rnd)


def zero_of_sum(r: Array, s: Array, all_positive: Bools) -> Array:
    """Rounding down, a sum that is exactly zero is -0, unless all its terms are +0."""
    return np.where((s == 0) & ~all_positive, -r.dtype.type(0), r)[()]


def _settled(r: Array, exact: Array, rnd: str | None) -> Array:
    """.ftz of a result that was rounded up to the smallest normal number: 0 if it had stayed below with any
    exponent.
    """
    doubtful = np.abs(r) == _SMALLEST
    if not np.count_nonzero(doubtful):
        return r
    tiny = np.abs(narrow(exact * 2.0**64, f4, rnd)) < _SMALLEST * np.float32(2.0**64)
    return np.where(doubtful & tiny, np.copysign(np.float32(0), r), r)[()]


def multiply32(a: Array, b: Array | np.float32, rnd: str | None = None, ftz: bool = False) -> Array:
    if rnd in (None, "rn"):
        r = a * b
        if not ftz or not np.count_nonzero(np.abs(r) == _SMALLEST):
            return r
        return _settled(r, a.astype(f8) * b.astype(f8), rnd)
    product = a.astype(f8) * b.astype(f8)
    r = narrow(product, f4, rnd)
    return _settled(r, product, rnd) if ftz else r


def divide32(a: Array, b: Array, rnd: str | None = None, ftz: bool = False) -> Array:
    if rnd in (None, "rn"):
        return a / b
    quotient = a.astype(f8) / b.astype(f8)
    r = narrow(quotient, f4, rnd)
    return _settled(r, quotient, rnd) if ftz else r


def root32(a: Array, rnd: str | None = None) -> Array:
    return np.sqrt(a) if rnd in (None, "rn") else narrow(np.sqrt(a.astype(f8)), f4, rnd)


def fma32(a: Array, b: Array, c: Array, rnd: str | None = None, ftz: bool = False) -> Array:
    """a * b + c, rounded once. The product is exact in binary64; the sum may be rounded there first, which
    matters where it then lies halfway between two results, or the result is subnormal.
    """
    if rnd not in (None, "rn"):
        product, wide = _widen(a) * _widen(b), _widen(c)
        s, error = two_sum(product, wide)
        odd = to_odd(s, error)
        r = narrow(odd, f4, rnd)
        if rnd == "rm":
            r = zero_of_sum(r, s, all_positive(product, c))
        return _settled(r, odd, rnd) if ftz else r
    # arrays are widened in pieces that stay in the cache
    s = np.multiply(a, b, dtype=f8) if a.ndim and b.ndim else _widen(a) * _widen(b)
    s = np.add(s, c if c.ndim else _widen(c), s) if s.ndim else s + _widen(c)
    if not s.ndim:
        if not _is_doubtful(float(s)):
            return f4.type(s)
        return _from_sum(*two_sum(_widen(a) * _widen(b), _widen(c)), ftz)
    r = s.astype(f4)
    doubtful = (s.view(u8) & _LOW_BITS_OF_ALL) == _HALFWAY_OF_ALL
    doubtful |= np.abs(r) <= _SMALLEST_OF_ALL
    if np.count_nonzero(doubtful):
        doubtful &= s != 0
        few = np.flatnonzero(doubtful)
        if len(few):
            _round_again(r, few, a, b, c, ftz)
    return r


def _round_again(r: Array, few: I64, a: Array, b: Array, c: Array, ftz: bool) -> None:
    """Set those results of fma32 that were rounded to binary64 first where that may matter."""
    a, b, c = (x.take(few) if x.ndim else x for x in (a, b, c))
    s, error = two_sum(_widen(a) * _widen(b), _widen(c))
    if ftz or np.count_nonzero(error != 0):  # of numbers that are no bools they are counted slowly
        r[few] = _from_sum(s, error, ftz)


def _widen(x: Array) -> Array:
    """Binary32 as binary64; `astype` of one number takes ten times as long."""
    return x.astype(f8) if x.ndim else f8.type(x)


def _is_doubtful(s: float) -> bool:
    """Whether a sum that was rounded to binary64 may become another binary32 number than the exact one."""
    (bits,) = _BITS.unpack(_DOUBLE.pack(s))
    return bits & 0x1FFFFFFF == 0x10000000 or 0 < abs(s) <= 2.0**-126


def _from_sum(s: Array, error: Array, ftz: bool) -> Array:
    """A sum in binary64 with its exact error, rounded once."""
    odd = to_odd(s, error)
    r = narrow(odd, f4)
    return _settled(r, odd, "rn") if ftz else r


def minimum(a: Array, b: Array, nan: bool = False) -> Array:
    """The smaller one, -0 before +0; of a number and NaN the number, unless `nan`."""
    lower = np.where(a == b, np.where(np.signbit(a), a, b), np.where((a < b) | (b != b), a, b))[()]
    return np.where((a != a) | (b != b), a + b, lower)[()] if nan else lower


def maximum(a: Array, b: Array, nan: bool = False) -> Array:
    """The larger one, +0 before -0; of a number and NaN the number, unless `nan`."""
    upper = np.where(a == b, np.where(np.signbit(a), b, a), np.where((a > b) | (b != b), a, b))[()]
    return np.where((a != a) | (b != b), a + b, upper)[()] if nan else upper


def of_three(choose: Function, a: Array, b: Array, c: Array, spreads: bool, is_size: bool) -> Array:
    """minimum or maximum of three numbers, or of their sizes."""
    if is_size:
        a, b, c = np.abs(a), np.abs(b), np.abs(c)
    return choose(choose(a, b, spreads), c, spreads)


def with_sign(a: Array, b: Array, changed: bool = False) -> Array:
    """The magnitude of `b` with the sign of `a`. Of NaN too."""
    bits = u4 if a.dtype.itemsize == 4 else u8
    sign = bits.type(1 << (8 * bits.itemsize - 1))
    return ((b.view(bits) & ~sign) | (a.view(bits) & sign)).view(b.dtype)


def is_kind(a: Array, kind: str) -> Bools:
    """testp: is it finite, infinite, number, notanumber, normal, subnormal?"""
    limits, size = np.finfo(a.dtype), np.abs(a)
    infinity, least = limits.dtype.type(np.inf), limits.tiny
    if kind == "finite":
        return size < infinity
    if kind == "infinite":
        return size == infinity
    if kind in ("number", "notanumber"):
        return a == a if kind == "number" else a != a
    if kind == "normal":
        return (size < infinity) & ((size >= least) | (size == 0))
    return (size < least) & (size > 0)


def compare(a: Array, b: Array, relation: str) -> Bools:
    """An ordered relation (eq, lt ...), an unordered one (equ, ltu ...), num or nan."""
    unordered = (a != a) | (b != b)
    if relation == "nan":
        return unordered
    if relation == "num":
        return ~unordered
    if relation in _INVERSE:
        return np.logical_not(_INVERSE[relation](a, b))
    if relation == "equ":
        return (a == b) | unordered
    if relation == "neu":
        return a != b
    return (a < b) | (a > b)  # ne


_INVERSE = {"ltu": np.greater_equal, "leu": np.greater, "gtu": np.less_equal, "geu": np.less}


def of_singles(function: Function, *pairs: Array, mode: str, flushes: bool) -> Array:
    """What `function` makes of each of the two binary32 numbers in words of 64 bits."""
    more = (flushes,) if function in (multiply32, fma32) else ()
    results = []
    for shift in (0, 32):
        numbers = [(one >> np.uint64(shift)).astype(u4).view(f4) for one in pairs]
        if flushes:
            numbers = [flush(one) for one in numbers]
        result = canonicalize_nan(function(*numbers, mode, *more))
        results.append((flush(result) if flushes else result).view(u4).astype(u8))
    return results[0] | results[1] << np.uint64(32)
