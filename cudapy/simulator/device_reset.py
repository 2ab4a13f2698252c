"""`simulator.reset()`: fresh devices for a process whose devices have a fault, or what else is to go.

Every context is lost, so its work ends. Then each module forgets what it knows of the devices: see
`fresh_devices`.
"""

import threading

from .._process.resets import resets
from . import fresh_devices
from .devices import device
from .devices.context import Context
from .gc_pause import gc_pause
from .handles import every, forget_all
from .interrupts import undisturbed
from .log import log
from .process import is_enabled
from .refused import Refused
from .streams.faults import may_wait

_lock = threading.RLock()


def has_fault() -> bool:
    """Whether a context has a fault, so that calls fail until a reset."""
    return any(context.root.is_lost for context in every(Context))


def reset() -> None:
    """See `cudapy.simulator.reset`."""
    if not is_enabled():
        raise RuntimeError("reset: the driver of this process is not the simulator")
    undisturbed(_reset)()


def _reset() -> None:
    if device.is_forked():
        raise RuntimeError(f"reset: {device.FORKED}, so it cannot use CUDA")
    try:
        may_wait()
    except Refused as refused:
        raise RuntimeError(f"reset: {refused.reason}") from None
    with _lock:
        with gc_pause:
            for context in every(Context):
                context.root.end(
                    Refused("CUDA_ERROR_CONTEXT_IS_DESTROYED", f"the context {fresh_devices.BEFORE}")
                )
            log.show_all()
            fresh_devices.forget()
            forget_all()
        for function in list(resets.functions):
            function()
