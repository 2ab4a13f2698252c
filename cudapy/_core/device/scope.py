"""`with Device(1):`: which device is current in a block, and what is current after it.

The end of a block makes current what was current before it. Blocks of generators and coroutines may end in
any order, and in other threads than they began in. So a block that ends before one that began later in the
same thread changes nothing there: it leaves to the later one what is to be current in the end.
"""

from __future__ import annotations

import threading

from ... import driver
from ..._process.interrupt_safe import unchecked_entry
from ...driver import checked
from ..context.current import current_context
from ..ownership import owned

_blocks: list[Block] = []  # of all threads, in the order in which they began
_lock = threading.RLock()  # a garbage collection ends the blocks of generators, at any time


class _This(threading.local):
    """The calling thread; its number would go to another one after its end."""

    def __init__(self) -> None:
        self.thread = object()


_this = _This()


class Block:
    """A `with` block of a device.

    thread: that in which it began. before: the context that was current; 0: none.
    """

    __slots__ = ("before", "device_id", "process", "thread")

    def __init__(self, device_id: int) -> None:
        self.device_id = device_id
        self.thread = _this.thread
        self.process = owned.process
        self.before = current_context()

    def begin(self, context: int) -> None:
        """Make `context` current. Raises CUDAError. Source: cuCtxSetCurrent."""
        _blocks.append(self)
        checked.cuCtxSetCurrent(context)

    def end(self) -> None:
        """End the block, if it has begun and not ended. Raises CUDAError if what was current is no more.

        It can be called again where it was interrupted. In a forked process, and once Python ends,
        there is nothing to restore. Source: cuCtxSetCurrent.
        """
        if not self.process.alive:
            return
        with _lock:
            if self not in _blocks:
                return
            of_thread = [block for block in _blocks if block.thread is self.thread]
            later = of_thread[of_thread.index(self) + 1 :]
            status = 0
            if later:
                later[0].before = self.before
            elif self.thread is _this.thread:
                (status,) = driver.cuCtxSetCurrent(self.before)
            _blocks.remove(self)
        if status:
            raise driver.libcuda.error("cuCtxSetCurrent", status, {"ctx": self.before})


@unchecked_entry
def leave(device_id: int, block: Block | None = None) -> None:
    """End `block`: the last one of the device that began in this thread, or else in another one.

    Raises RuntimeError if there is none.
    """
    try:
        block = block or _last(device_id)
        block.end()
    except Exception:
        raise
    except BaseException:  # to the end: interrupt_safe
        leave(device_id, block)
        raise


def _last(device_id: int) -> Block:
    of_device = [block for block in _blocks if block.device_id == device_id]
    if not of_device:
        raise RuntimeError(f"no block of device {device_id} has begun that could end")
    return max(reversed(of_device), key=lambda block: block.thread is _this.thread)
