"""What nodes of an executable graph were given since it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import driver
from ..captures import is_capturing
from ..current import Uncaptured
from ..stream_order import keep_for

if TYPE_CHECKING:
    from ..stream import Stream

Things = tuple[Any, ...]


class Given:
    """What an executable uses that its definition does not, by node. The driver knows nothing of it.

    Launches of one executable never overlap. So what is replaced has to last until `last`, the stream of the
    last launch that may use it, gets past the work that it has by then.
    """

    __slots__ = ("last", "things")

    def __init__(self) -> None:
        self.things: dict[int, Things] = {}
        self.last: Stream | None = None

    def put(self, node: int, things: Things) -> None:
        """Keep alive what a node uses from the next launch on."""
        before = self.things.get(node, ())
        self.things[node] = things
        self._release(before)

    def replace(self, things: dict[int, Things]) -> None:
        """The same for all nodes at once."""
        before, self.things = self.things, things
        still = {id(thing) for used in things.values() for thing in used}
        self._release(tuple(thing for used in before.values() for thing in used if id(thing) not in still))

    def _release(self, things: Things) -> None:
        if not things or self.last is None:
            return
        with Uncaptured():
            if not is_capturing(self.last) and not driver.cuStreamQuery(self.last._handle)[0]:
                return
        keep_for(self.last, *things)
