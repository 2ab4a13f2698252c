"""Things of the program that graphs keep alive."""

import threading

from ..addresses import require_code
from ..handles import Object, find
from ..library import provides
from ..refused import invalid
from ..streams.operations import HOST_FUNCTION
from ..streams.threads import beside
from .graph import Graph

_lock = threading.Lock()


class UserObject(Object):
    """A thing of the program that graphs keep alive."""

    noun = "user object"

    def __init__(self, data: int | None, destroy: int, count: int) -> None:
        super().__init__()
        self.data = data
        self.destroy = destroy
        self.count = count

    def retain(self, count: int) -> None:
        """Add references."""
        with _lock:
            self.count += count

    def release(self, count: int) -> None:
        """Drop references; the last calls the destructor, on a thread of the driver."""
        with _lock:
            if not 0 < count <= self.count:
                raise invalid(f"{count} references are dropped, and there are {self.count}")
            self.count -= count
            is_last = not self.count
        if is_last:
            self.forget()
            if not beside(self._destroy):
                self._destroy()

    def _destroy(self) -> None:
        HOST_FUNCTION(self.destroy)(self.data)


@provides("driver")
def cuUserObjectCreate(ptr: int | None, destroy: int, initialRefcount: int, flags: int) -> int:
    require_code(destroy, "the destructor")
    if not initialRefcount or flags != 1:
        raise invalid("no references, or flags other than CU_USER_OBJECT_NO_DESTRUCTOR_SYNC")
    return UserObject(ptr, destroy, initialRefcount).handle


@provides("driver")
def cuUserObjectRetain(object: int, count: int) -> None:  # noqa: A002
    find(object, UserObject, "CUDA_ERROR_INVALID_VALUE").retain(count)


@provides("driver")
def cuUserObjectRelease(object: int, count: int) -> None:  # noqa: A002
    find(object, UserObject, "CUDA_ERROR_INVALID_VALUE").release(count)


@provides("driver")
def cuGraphRetainUserObject(graph: int, object: int, count: int, flags: int) -> None:  # noqa: A002
    of, user_object = find(graph, Graph), find(object, UserObject, "CUDA_ERROR_INVALID_VALUE")
    if not flags & 1:  # CU_GRAPH_USER_OBJECT_MOVE hands references over
        user_object.retain(count)
    of.kept[user_object] = of.kept.get(user_object, 0) + count


@provides("driver")
def cuGraphReleaseUserObject(graph: int, object: int, count: int) -> None:  # noqa: A002
    of, user_object = find(graph, Graph), find(object, UserObject, "CUDA_ERROR_INVALID_VALUE")
    if of.kept.get(user_object, 0) < count:
        raise invalid("the graph has fewer references")
    left = of.kept.pop(user_object, 0) - count
    if left:
        of.kept[user_object] = left
    user_object.release(count)
