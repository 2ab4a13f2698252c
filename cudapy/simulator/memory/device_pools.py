"""The pools that devices have by themselves and use."""

from __future__ import annotations

import threading

from ..addresses import Pointer
from ..devices.device import Device, device
from ..handles import find
from ..library import provides
from ..refused import invalid
from ..streams.operations import needed
from ..streams.stream import stream
from .pool import Pool, asked

_lock = threading.Lock()


def default_pool(on: Device) -> Pool:
    """The pool that a device has by itself."""
    with _lock:
        if on.default_pool is None:
            on.default_pool = Pool(on)
        return on.default_pool  # type: ignore[no-any-return]


def pool_of(on: Device) -> Pool:
    """The pool that a device uses."""
    return on.pool or default_pool(on)


@provides("driver")
def cuMemAllocAsync(bytesize: int, hStream: int) -> int:
    on = stream(hStream)
    return pool_of(on.context.device).allocate(bytesize, on)


@provides("driver")
def cuDeviceGetDefaultMemPool(dev: int) -> int:
    return default_pool(device(dev)).handle


@provides("driver")
def cuDeviceGetMemPool(dev: int) -> int:
    return pool_of(device(dev)).handle


@provides("driver")
def cuDeviceSetMemPool(dev: int, pool: int) -> None:
    on, chosen = device(dev), find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    if chosen.device is not on:
        raise invalid("the pool is one of another device")
    on.pool = chosen


_defaults: dict[tuple[str, int], Pool] = {}


_chosen: dict[tuple[str, int], Pool] = {}


@provides("driver")
def cuMemGetDefaultMemPool(location: Pointer, typename: int) -> int:
    on, kind = asked(needed(location, "location"), typename)
    if kind == "device":
        return default_pool(on).handle
    with _lock:
        if (kind, on.ordinal) not in _defaults:
            _defaults[kind, on.ordinal] = Pool(on, 0, kind)
        return _defaults[kind, on.ordinal].handle


@provides("driver")
def cuMemGetMemPool(location: Pointer, typename: int) -> int:
    on, kind = asked(needed(location, "location"), typename)
    if kind == "device":
        return pool_of(on).handle
    chosen = _chosen.get((kind, on.ordinal))
    return chosen.handle if chosen is not None else cuMemGetDefaultMemPool(location, typename)


@provides("driver")
def cuMemSetMemPool(location: Pointer, typename: int, pool: int) -> None:
    on, kind = asked(needed(location, "location"), typename)
    if kind == "device":
        cuDeviceSetMemPool(on.ordinal, pool)
        return
    chosen = find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    if chosen.kind != kind:
        raise invalid(f"the pool has {chosen.kind} memory, not {kind}")
    _chosen[kind, on.ordinal] = chosen
