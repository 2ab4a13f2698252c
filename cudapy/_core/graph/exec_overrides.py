"""What nodes of an executable graph were given since it was made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import driver
from ..context.current import RelaxedCaptureMode
from ..ownership.captures import is_capturing
from ..ownership.keep_alive import keep_alive_for_work

if TYPE_CHECKING:
    from ...driver import CUgraphExec
    from ..streams.stream import Stream

Objects = tuple[Any, ...]


class ExecOverrides:
    """What an executable uses that its definition does not, by node. The driver knows nothing of it.

    Launches of one executable never overlap. So what is replaced has to last until `last`, the stream of the
    last launch that may use it, gets past the work that it has by then.
    """

    __slots__ = ("last", "objects")

    def __init__(self) -> None:
        self.objects: dict[object, Objects] = {}
        self.last: Stream | None = None

    def launch(self, launch: Callable[..., int], handle: CUgraphExec, stream: Stream) -> int:
        """`launch(handle, stream)`, a C function; its status."""
        deallocation_stream = stream._twin or stream._for_deallocation()
        (status,) = map(launch, (handle,), (stream._handle,))
        if not status:
            self.last = deallocation_stream  # one step: interrupt_safe
        return status

    def keep_alive(self, node: int, objects: Objects, change: Callable[..., object], *args: Any) -> None:
        """Keep alive what a node uses from the next launch on, which `change(*args)` sees to."""
        self.replace({**self.objects, node: objects}, change, *args)

    def replace(self, objects: dict[object, Objects], change: Callable[..., object], *args: Any) -> None:
        """Replace the objects of all nodes. If that is interrupted, old and new ones are kept alive."""
        before = self.objects
        self.objects = {**before, object(): tuple(objects.values())}
        try:
            change(*args)
        except Exception:
            self.objects = before
            raise
        self._release(before, objects)
        self.objects = objects

    def clear(self) -> None:
        """There is no launch to come."""
        self._release(self.objects, {})
        self.objects = {}

    def _release(self, before: dict[object, Objects], after: dict[object, Objects]) -> None:
        """Keep what is used no more until the last launch is over."""
        still = {id(obj) for used in after.values() for obj in used}
        objects = [obj for used in before.values() for obj in used if id(obj) not in still]
        if not objects or self.last is None:
            return
        with RelaxedCaptureMode():
            if not is_capturing(self.last) and not driver.cuStreamQuery(self.last._handle)[0]:
                return
        keep_alive_for_work(self.last, *objects)
