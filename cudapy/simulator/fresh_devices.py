"""`simulator.reset()`: fresh devices for a process whose devices have a fault, or what else is to go.

Every context is lost, so its work ends. Then each module that knows of something on the devices forgets it,
by a function that it has given to `forgotten`. Handles and addresses are not given out again: what a program
still has of before is refused with the reason `BEFORE`, and never means something new.
"""

from __future__ import annotations

import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    F = TypeVar("F", bound=Callable[[], object])

BEFORE = "belongs to the devices before simulator.reset()"
"""What there is to say of handles and memory of before."""

_functions: list[Callable[[], object]] = []
_lock = threading.RLock()


def has_fault() -> bool:
    """Whether a context has a fault, so that calls fail until a reset."""
    from .devices.context import Context
    from .handles import every

    return any(context.root.is_lost for context in every(Context))


def forgotten(function: F) -> F:
    """Have `function()` called in a reset, when no work runs any more, in the order of the definitions."""
    _functions.append(function)
    return function


def reset() -> None:
    """See `cudapy.simulator.reset`."""
    from .interrupts import undisturbed
    from .process import is_enabled

    if not is_enabled():
        raise RuntimeError("reset: the driver of this process is not the simulator")
    undisturbed(_reset)()


def _reset() -> None:
    from .._process.resets import resets
    from .devices import device
    from .devices.context import Context
    from .gc_pause import gc_pause
    from .handles import every, forget_all
    from .log import log
    from .refused import Refused
    from .streams.work import may_wait

    if device.is_forked():
        raise RuntimeError(f"reset: {device.FORKED}, so it cannot use CUDA")
    try:
        may_wait()
    except Refused as refused:
        raise RuntimeError(f"reset: {refused.reason}") from None
    with _lock:
        with gc_pause:
            for context in every(Context):
                context.root.end(Refused("CUDA_ERROR_CONTEXT_IS_DESTROYED", f"the context {BEFORE}"))
            log.show_all()
            for function in _functions:
                function()
            forget_all()
        for function in list(resets.functions):
            function()
