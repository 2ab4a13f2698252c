"""The primary context of each device."""

from __future__ import annotations

from . import device as devices
from .context import Context, checked_flags, find_or_none
from .library import provides
from .log import Refused

_retained: dict[int, Context] = {}


def retained(dev: int) -> Context:
    """The primary context of a device, which the Runtime API keeps."""
    if dev not in _retained or find_or_none(_retained[dev]) is None:
        _retained[dev] = primary(dev)
        _retained[dev].retained += 1
    return _retained[dev]


def forget_retained(dev: int) -> None:
    """The Runtime API keeps it no more."""
    _retained.pop(dev, None)


def primary(dev: int) -> Context:
    """The primary context of a device, made if need be."""
    on = devices.device(dev)
    if on.primary is None:
        on.primary = Context(on, on.primary_flags, is_primary=True)
    return on.primary  # type: ignore[no-any-return]


@provides("driver")
def cuDevicePrimaryCtxRetain(dev: int) -> int:
    context = primary(dev)
    context.retained += 1
    return context.handle


@provides("driver")
def cuDevicePrimaryCtxRelease_v2(dev: int) -> None:
    on = devices.device(dev)
    if on.primary is None or not on.primary.retained:
        raise Refused("CUDA_ERROR_INVALID_CONTEXT", "the primary context is not retained")
    on.primary.retained -= 1
    if not on.primary.retained:
        on.primary.destroy()
        on.primary = None


@provides("driver")
def cuDevicePrimaryCtxReset_v2(dev: int) -> None:
    on = devices.device(dev)
    if on.primary is not None:
        on.primary.destroy()
        on.primary = None


@provides("driver")
def cuDevicePrimaryCtxSetFlags_v2(dev: int, flags: int) -> None:
    on = devices.device(dev)
    on.primary_flags = checked_flags(flags)
    if on.primary is not None:
        on.primary.flags = flags


@provides("driver")
def cuDevicePrimaryCtxGetState(dev: int) -> tuple[int, int]:
    on = devices.device(dev)
    return on.primary_flags, int(on.primary is not None)
