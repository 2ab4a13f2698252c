"""The primary context of each device."""

import threading

from ..fresh_devices import forgotten
from ..library import provides
from ..refused import Refused, invalid
from . import device as devices
from .context import Context, checked_flags, cuCtxDestroy_v2, current, find_or_none, get, top

_retained: dict[int, Context] = {}
_lock = threading.RLock()


def retained(dev: int) -> Context:
    """The primary context of a device, which the Runtime API keeps."""
    with _lock:
        context = _retained.get(dev)
        if context is None or find_or_none(context) is None:
            context = _retained[dev] = _primary(dev)
            context.retained += 1
        return context


def forget_retained(dev: int) -> None:
    """The Runtime API keeps it no more."""
    _retained.pop(dev, None)


forgotten(_retained.clear)


def _primary(dev: int) -> Context:
    """The primary context of a device, made if need be; for those that have the lock."""
    device = devices.device(dev)
    if device.primary is None:
        device.primary = Context(device, device.primary_flags, is_primary=True)
    return device.primary  # type: ignore[no-any-return]


@provides("driver")
def cuDevicePrimaryCtxRetain(dev: int) -> int:
    with _lock:
        context = _primary(dev)
        context.retained += 1
    return context.handle


@provides("driver", "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2")
def cuDevicePrimaryCtxRelease_v2(dev: int) -> None:
    device = devices.device(dev)
    with _lock:
        gone = device.primary
        if gone is None or not gone.retained:
            raise Refused("CUDA_ERROR_INVALID_CONTEXT", "the primary context is not retained")
        gone.retained -= 1
        if gone.retained:
            return
        device.primary = None
    gone.destroy()


@provides("driver", "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2")
def cuDevicePrimaryCtxReset_v2(dev: int) -> None:
    device = devices.device(dev)
    with _lock:
        gone, device.primary = device.primary, None
    if gone is not None:
        gone.destroy()


@provides("driver", "cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags_v2")
def cuDevicePrimaryCtxSetFlags_v2(dev: int, flags: int) -> None:
    device = devices.device(dev)
    device.primary_flags = checked_flags(flags)
    if device.primary is not None:
        device.primary.flags = flags


@provides("driver")
def cuDevicePrimaryCtxGetState(dev: int) -> tuple[int, int]:
    device = devices.device(dev)
    return device.primary_flags, int(device.primary is not None)


@provides("driver")
def cuCtxAttach(flags: int) -> int:
    if flags:
        raise invalid(f"the flags are {flags:#x}, and have to be 0")
    context = current(faulty=True)
    if context.is_primary:
        context.retained += 1
    else:
        context.attached += 1
    return context.handle


@provides("driver")
def cuCtxDetach(ctx: int) -> None:
    context = get(ctx)
    if top() is not context:
        raise Refused("CUDA_ERROR_INVALID_CONTEXT", "the context is not current on this thread")
    if context.is_primary:
        cuDevicePrimaryCtxRelease_v2(context.device.ordinal)
    elif context.attached:
        context.attached -= 1
    else:
        cuCtxDestroy_v2(ctx)
