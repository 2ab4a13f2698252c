"""Operators that fill tensors with random numbers: the numbers that a GPU gives for the same seed.

Of half and float32, the logarithms and sines of a GPU differ in the last bits. Poisson, binomial, gamma and
Dirichlet distributions, and `multinomial` with replacement, are not here: their numbers are the CPU's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch

from . import philox
from .philox import Layout

_NARROW = 1 << 28
"""Ranges of integers from here on take 64 random bits each."""


class Source(Protocol):
    """A generator: see `random_numbers.Draws`."""

    def take(self, increment: int) -> tuple[int, int]:
        """The seed, and the offset, which then grows."""


def _fill(target: Any, values: Any) -> Any:
    """Fill a tensor, in the order of its memory. values: a flat array."""
    place = _in_memory_order(target)
    place.copy_(torch.from_numpy(np.ascontiguousarray(values)).view(place.shape))
    return target


def _in_memory_order(tensor: Any) -> Any:
    """The tensor with its axes in the order of their strides."""
    return tensor.permute(sorted(range(tensor.dim()), key=lambda axis: -tensor.stride(axis)))


def _drawn(source: Source, count: int, unroll: int) -> tuple[Layout, Any]:
    layout = Layout(count, unroll)
    seed, offset = source.take(layout.increment)
    return layout, philox.words(seed, offset, np.arange(layout.threads), layout.calls)


def _uniforms(source: Source, count: int, is_double: bool) -> Any:
    """So many numbers in (0, 1]."""
    layout, drawn = _drawn(source, count, 2 if is_double else 4)
    return layout.dealt(philox.uniform_double(drawn) if is_double else philox.uniform(drawn))


def _normals(source: Source, count: int, is_double: bool) -> Any:
    layout, drawn = _drawn(source, count, 2 if is_double else 4)
    return layout.dealt(philox.normal_double(drawn) if is_double else philox.normal(drawn))


def _integers(source: Source, count: int, is_wide: bool) -> Any:
    layout, drawn = _drawn(source, count, 2 if is_wide else 4)
    return layout.dealt(philox.pairs_of_words(drawn) if is_wide else drawn)


def _like(target: Any, values: Any) -> Any:
    """Values in the type that a kernel computes in for this tensor: float64 or float32."""
    return values.astype(np.float64 if target.dtype == torch.float64 else np.float32)


def _scaled(target: Any, values: Any, scale: float, added: float) -> Any:
    """`values * scale + added`, rounded once."""
    kind = values.dtype.type
    return _like(target, values.astype(np.float64) * float(kind(scale)) + float(kind(added)))


def _uniform(source: Source, target: Any, low: float = 0, high: float = 1, **named: Any) -> Any:
    low, high = named.get("from", low), named.get("to", high)
    if not target.numel():
        return target
    if target.is_complex():
        return torch.view_as_complex(_uniform(source, torch.view_as_real(target), low, high))
    values = _uniforms(source, target.numel(), target.dtype == torch.float64)
    _fill(target, _scaled(target, values, high - low, low))
    return target.masked_fill_(target == high, low)


def _normal(source: Source, target: Any, mean: float = 0, std: float = 1, **named: Any) -> Any:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if target.is_complex():
        _normal(source, torch.view_as_real(target), mean, std / math.sqrt(2))
    elif target.numel():
        values = _normals(source, target.numel(), target.dtype == torch.float64)
        _fill(target, _scaled(target, values, std, mean))
    return target


def _normal_of(source: Source, mean: Any, std: Any = 1, generator: Any = None, out: Any = None) -> Any:
    """`mean`, `std` or both are tensors."""
    if out is None:
        shape = torch.broadcast_shapes(
            *(each.shape for each in (mean, std) if isinstance(each, torch.Tensor))
        )
        like = mean if isinstance(mean, torch.Tensor) else std
        out = torch.empty(shape, dtype=like.dtype)
    if isinstance(std, torch.Tensor):
        return _normal(source, out).mul_(std).add_(mean)
    return _normal(source, out, 0, std).add_(mean)


def _range(source: Source, target: Any, low: int, high: int) -> Any:
    """Integers from `low` to `high - 1`."""
    if target.numel():
        size = high - low
        values = _integers(source, target.numel(), size >= _NARROW)
        values = values if size >= 1 << 64 else values % np.uint64(size)
        _fill(target, (values + np.uint64(low & (1 << 64) - 1)).astype(np.int64))
    return target


_DIGITS = {torch.float64: 53, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}


def _random(source: Source, target: Any, generator: Any = None) -> Any:
    """All numbers that are not negative; of floating types, all whole ones up to where some are missing."""
    if not target.numel():
        return target
    if target.dtype in _DIGITS:
        size = (1 << _DIGITS[target.dtype]) + 1
    else:
        size = 2 if target.dtype == torch.bool else torch.iinfo(target.dtype).max + 1
    values = _integers(source, target.numel(), target.dtype in (torch.float64, torch.int64))
    return _fill(target, (values % np.uint64(size)).astype(np.int64))


def _random_to(source: Source, target: Any, to: int, generator: Any = None) -> Any:
    return _range(source, target, 0, to)


def _random_from(
    source: Source, target: Any, low: Any = None, to: int | None = None, generator: Any = None, **named: Any
) -> Any:
    low = named.get("from", low)
    if to is None:
        to = (1 << _DIGITS[target.dtype] if target.dtype in _DIGITS else torch.iinfo(target.dtype).max) + 1
    if low >= to:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={to}")
    return _range(source, target, low, to)


def _from_uniforms(formula: Callable[..., Any]) -> Callable[..., Any]:
    """An operator that fills a tensor by a formula of numbers in (0, 1] and its own arguments."""

    def fill(source: Source, target: Any, *arguments: Any, generator: Any = None, **named: Any) -> Any:
        if target.numel():
            values = _uniforms(source, target.numel(), target.dtype == torch.float64)
            _fill(target, formula(values, *arguments, **named))
        return target

    return fill


def _bernoulli(values: Any, p: float = 0.5) -> Any:
    return (values < values.dtype.type(p)).astype(np.float32)


def _exponential(values: Any, lambd: float = 1) -> Any:
    kind = values.dtype.type
    least = np.finfo(kind).eps / 2
    logarithms = np.where(values >= 1 - least, -least, np.log(values))
    return kind(-1 / lambd) * logarithms


def _cauchy(values: Any, median: float = 0, sigma: float = 1) -> Any:
    kind = values.dtype.type
    return kind(median) + kind(sigma) * np.tan(kind(math.pi) * (values - kind(0.5)))


def _geometric(values: Any, p: float) -> Any:
    return np.ceil(np.log(values) / values.dtype.type(math.log1p(-p)))


def _log_normal(source: Source, target: Any, mean: float = 1, std: float = 2, generator: Any = None) -> Any:
    if target.numel():
        values = _normals(source, target.numel(), target.dtype == torch.float64)
        _fill(target, np.exp(_scaled(target, values, std, mean)))
    return target


def _bernoulli_of(source: Source, target: Any, p: Any, generator: Any = None) -> Any:
    """A probability for each element: each thread has four elements side by side."""
    count = target.numel()
    if count:
        seed, offset = source.take(12)
        drawn = philox.uniform(philox.words(seed, offset, np.arange(-(-count // 4))))
        values = torch.from_numpy(drawn[0].T.reshape(-1)[:count].copy())
        target.copy_(values.view(target.shape) <= p)
    return target


def _bernoulli_out(source: Source, p: Any, generator: Any = None, *, out: Any) -> Any:
    out.resize_(p.shape)
    return _bernoulli_of(source, out, p)


def _kept(source: Source, value: Any, p: float) -> Any:
    """Which elements dropout keeps, with probability `p`.

    A thread has elements side by side, as many as are 16 bytes, or fewer if they do not come out even.
    """
    count, size = value.numel(), value.element_size()
    together = 16 // size if _in_memory_order(value).is_contiguous() else 1
    while together > 1 and (count % together or value.data_ptr() % (together * size)):
        together //= 2
    kept = torch.empty_like(value, dtype=torch.bool)
    if together == 1:
        return _fill(kept, _uniforms(source, count, False) < np.float32(p))
    layout = Layout(count, 4)
    rounds = (count - 1) // (layout.threads * together) + 1
    calls = -(-together // 4)
    seed, offset = source.take(layout.increment)
    drawn = philox.uniform(philox.words(seed, offset, np.arange(layout.threads), rounds * calls))
    of_threads = drawn.reshape(rounds, 4 * calls, layout.threads)[:, :together].transpose(0, 2, 1)
    return _fill(kept, of_threads.reshape(-1)[:count] < np.float32(p))


def _dropped(source: Source, value: Any, p: float) -> tuple[Any, Any]:
    kept = _kept(source, value, p)
    wide = value.to(torch.float64 if value.dtype == torch.float64 else torch.float32)
    return (wide * kept * (1 / p)).to(value.dtype), kept


def _fused_dropout(source: Source, value: Any, p: float, generator: Any = None) -> Any:
    """p: of being kept."""
    result, kept = _dropped(source, value, p)
    return result, kept.to(torch.uint8)


def _native_dropout(source: Source, value: Any, p: float, train: bool | None) -> Any:
    """p: of being dropped."""
    if train is False or not 0 < p < 1 or not value.numel():
        return torch.ops.aten.native_dropout.default(value, p, train)
    return _dropped(source, value, 1 - p)


def _rrelu(
    source: Source,
    value: Any,
    noise: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
    out: Any = None,
) -> Any:
    if not training:
        result = torch.ops.aten.leaky_relu.default(value, (lower + upper) / 2)
    else:
        slopes = torch.empty_like(value, dtype=torch.float64)
        if value.numel():
            values = _uniforms(source, value.numel(), value.dtype == torch.float64)
            _fill(slopes, _scaled(value, values, upper - lower, lower))
        noise.copy_(torch.where(value <= 0, slopes, 1))
        result = value * noise
    return result if out is None else out.resize_(value.shape).copy_(result)


def _rrelu_in_place(source: Source, value: Any, noise: Any, *arguments: Any, **named: Any) -> Any:
    return value.copy_(_rrelu(source, value, noise, *arguments, **named))


def _multinomial(
    source: Source, weights: Any, num_samples: int, replacement: bool = False, generator: Any = None
) -> Any:
    if replacement and num_samples > 1:
        with source.drawn():  # type: ignore[attr-defined]
            return torch.multinomial(weights, num_samples, replacement)
    torch.multinomial(weights, num_samples, replacement, generator=torch.Generator())  # checks what it gets
    waits = torch.empty_like(weights)
    if waits.numel():
        _fill(waits, _exponential(_uniforms(source, waits.numel(), weights.dtype == torch.float64)))
    return (weights / waits).topk(num_samples, -1).indices


def _multinomial_out(source: Source, *arguments: Any, out: Any, **named: Any) -> Any:
    result = _multinomial(source, *arguments, **named)
    return out.resize_(result.shape).copy_(result)


def _randperm(source: Source, n: int, generator: Any = None, *, out: Any) -> Any:
    """In the order of random keys; those with the same key are shuffled."""
    out.resize_(n)
    if n < 2:
        return out.zero_()
    bits = min(64, math.ceil(math.log2(n - (6.0 * n * n + 1) / (math.log(0.9) * 12))))
    dtype = torch.int32 if bits <= 32 else torch.int64
    limits = torch.iinfo(dtype)
    keys = _range(source, torch.empty(n, dtype=dtype), limits.min, limits.max).numpy()
    if bits < limits.bits:
        keys = keys & (1 << bits) - 1
    order = np.argsort(keys, kind="stable")
    seed, offset = source.take(-(-n // 4) * 4)
    ordered = keys[order]
    same = np.concatenate([[False], ordered[1:] == ordered[:-1], [False]])
    for first in np.flatnonzero(same[1:] & ~same[:-1]):
        size = 1 + int(np.argmin(same[first + 1 :]))
        drawn = philox.words(seed, offset, [first], -(-size // 4))[:, :, 0].reshape(-1)
        for last in range(size - 1, 0, -1):
            other = int(drawn[size - 1 - last]) % (last + 1)
            pair = [first + last, first + other]
            order[pair] = order[pair[::-1]]
    return out.copy_(torch.from_numpy(order))


DISTRIBUTIONS: dict[str, Callable[..., Any]] = {
    "_fused_dropout": _fused_dropout,
    "bernoulli.out": _bernoulli_out,
    "bernoulli_.Tensor": _bernoulli_of,
    "bernoulli_.float": _from_uniforms(_bernoulli),
    "cauchy_": _from_uniforms(_cauchy),
    "exponential_": _from_uniforms(_exponential),
    "geometric_": _from_uniforms(_geometric),
    "log_normal_": _log_normal,
    "multinomial": _multinomial,
    "multinomial.out": _multinomial_out,
    "native_dropout": _native_dropout,
    "normal.Tensor_Tensor": _normal_of,
    "normal.Tensor_Tensor_out": _normal_of,
    "normal.Tensor_float": _normal_of,
    "normal.Tensor_float_out": _normal_of,
    "normal.float_Tensor": _normal_of,
    "normal.float_Tensor_out": _normal_of,
    "normal_": _normal,
    "random_": _random,
    "random_.from": _random_from,
    "random_.to": _random_to,
    "randperm.generator_out": _randperm,
    "rrelu_with_noise": _rrelu,
    "rrelu_with_noise.out": _rrelu,
    "rrelu_with_noise_": _rrelu_in_place,
    "uniform_": _uniform,
}
"""By the name of an operator, what computes it from the generator and its arguments."""
