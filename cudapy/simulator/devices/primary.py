"""The primary context of each device."""

from __future__ import annotations

import threading

from ..library import provides
from ..refused import Refused
from . import device as devices
from .context import Context, checked_flags, find_or_none

_retained: dict[int, Context] = {}
_lock = threading.RLock()


def retained(dev: int) -> Context:
    """The primary context of a device, which the Runtime API keeps."""
    with _lock:
        found = _retained.get(dev)
        if found is None or find_or_none(found) is None:
            found = _retained[dev] = _primary(dev)
            found.retained += 1
        return found


def forget_retained(dev: int) -> None:
    """The Runtime API keeps it no more."""
    _retained.pop(dev, None)


def _primary(dev: int) -> Context:
    """The primary context of a device, made if need be; for those that have the lock."""
    on = devices.device(dev)
    if on.primary is None:
        on.primary = Context(on, on.primary_flags, is_primary=True)
    return on.primary  # type: ignore[no-any-return]


@provides("driver")
def cuDevicePrimaryCtxRetain(dev: int) -> int:
    with _lock:
        context = _primary(dev)
        context.retained += 1
    return context.handle


@provides("driver", "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2")
def cuDevicePrimaryCtxRelease_v2(dev: int) -> None:
    on = devices.device(dev)
    with _lock:
        gone = on.primary
        if gone is None or not gone.retained:
            raise Refused("CUDA_ERROR_INVALID_CONTEXT", "the primary context is not retained")
        gone.retained -= 1
        if gone.retained:
            return
        on.primary = None
    gone.destroy()


@provides("driver", "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2")
def cuDevicePrimaryCtxReset_v2(dev: int) -> None:
    on = devices.device(dev)
    with _lock:
        gone, on.primary = on.primary, None
    if gone is not None:
        gone.destroy()


@provides("driver", "cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags_v2")
def cuDevicePrimaryCtxSetFlags_v2(dev: int, flags: int) -> None:
    on = devices.device(dev)
    on.primary_flags = checked_flags(flags)
    if on.primary is not None:
        on.primary.flags = flags


@provides("driver")
def cuDevicePrimaryCtxGetState(dev: int) -> tuple[int, int]:
    on = devices.device(dev)
    return on.primary_flags, int(on.primary is not None)
