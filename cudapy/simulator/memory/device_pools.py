"""The pools that devices have by themselves and use."""

import threading

from ..addresses import Pointer
from ..devices.device import Device, device
from ..fresh_devices import forgotten
from ..handles import find
from ..library import provides
from ..refused import invalid
from ..streams.operations import needed
from ..streams.stream import stream
from .pool import Pool, asked

_lock = threading.Lock()


def default_pool(device: Device) -> Pool:
    """The pool that a device has by itself."""
    with _lock:
        if device.default_pool is None:
            device.default_pool = Pool(device)
        return device.default_pool  # type: ignore[no-any-return]


def pool_of(device: Device) -> Pool:
    """The pool that a device uses."""
    return device.pool or default_pool(device)


@provides("driver")
def cuMemAllocAsync(bytesize: int, hStream: int) -> int:
    in_stream = stream(hStream)
    return pool_of(in_stream.context.device).allocate(bytesize, in_stream)


@provides("driver")
def cuDeviceGetDefaultMemPool(dev: int) -> int:
    return default_pool(device(dev)).handle


@provides("driver")
def cuDeviceGetMemPool(dev: int) -> int:
    return pool_of(device(dev)).handle


@provides("driver")
def cuDeviceSetMemPool(dev: int, pool: int) -> None:
    this_device, chosen = device(dev), find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    if chosen.device is not this_device:
        raise invalid("the pool is one of another device")
    this_device.pool = chosen


_defaults: dict[tuple[str, int], Pool] = {}


_chosen: dict[tuple[str, int], Pool] = {}
forgotten(_defaults.clear)
forgotten(_chosen.clear)


@provides("driver")
def cuMemGetDefaultMemPool(location: Pointer, typename: int) -> int:
    device, kind = asked(needed(location, "location"), typename)
    if kind == "device":
        return default_pool(device).handle
    with _lock:
        if (kind, device.ordinal) not in _defaults:
            _defaults[kind, device.ordinal] = Pool(device, 0, kind)
        return _defaults[kind, device.ordinal].handle


@provides("driver")
def cuMemGetMemPool(location: Pointer, typename: int) -> int:
    device, kind = asked(needed(location, "location"), typename)
    if kind == "device":
        return pool_of(device).handle
    chosen = _chosen.get((kind, device.ordinal))
    return chosen.handle if chosen is not None else cuMemGetDefaultMemPool(location, typename)


@provides("driver")
def cuMemSetMemPool(location: Pointer, typename: int, pool: int) -> None:
    device, kind = asked(needed(location, "location"), typename)
    if kind == "device":
        cuDeviceSetMemPool(device.ordinal, pool)
        return
    chosen = find(pool, Pool, "CUDA_ERROR_INVALID_VALUE")
    if chosen.kind != kind:
        raise invalid(f"the pool has {chosen.kind} memory, not {kind}")
    _chosen[kind, device.ordinal] = chosen
