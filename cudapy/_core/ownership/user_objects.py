"""Python objects that the driver holds, as long as a graph, a copy of it or a launch of it may use them.

The driver has such references: a user object, which a graph retains. Copies of the graph, made by embedding
or instantiating it, retain it too, and a launch that is under way does until it has ended. Python cannot
know any of that; the driver tells by calling a function of ours once the last reference is gone.

That happens in a thread of the driver, from which CUDA must not be called, and perhaps while the interpreter
shuts down. So it is the C library's `sem_post`, not a Python function, on a semaphore that each user object
has; `sweep` sees it posted and drops what was held. A second user object, retained and released with the
first, wakes a thread of Python that sweeps; whoever makes or destroys a graph, or has waited, sweeps as well.
"""

import threading

from ..._ffi.semaphores import Block, Post
from ...driver import CUuserObject, CUuserObject_flags
from ..context.current import owning
from . import owned
from .deferred import deferred
from .sweeper import Sweeper

UserObjects = tuple[CUuserObject, CUuserObject]

_FLAGS = CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC

_post: Post | None = None
_blocks: list[Block] = []
_free: list[int] = []
_objects: dict[int, object] = {}  # by the address of their semaphore
_sweeping = threading.Lock()
_sweeper: Sweeper | None = None


def create_user_objects(held: UserObjects, obj: object) -> None:
    """Make in `held` the two user objects that keep `thing` alive; the references to them are the caller's.

    They are retained and released together. Source: cuUserObjectCreate.
    """
    global _post
    first, second = held
    sweep()
    sweeper = _running_sweeper()
    if _post is None:
        _post = Post()
        deferred.after_waiting.append(sweep)
    try:
        address = _free.pop()
    except IndexError:
        block = Block(_post)
        _blocks.append(block)
        address, *others = block.addresses()
        _free.extend(others)
    _objects[address] = obj
    try:
        owning.cuUserObjectCreate(first, address, _post.address, 1, _FLAGS)
        owning.cuUserObjectCreate(second, sweeper.signal.argument, sweeper.signal.address, 1, _FLAGS)
    except BaseException:
        if not first.value:
            del _objects[address]
            _free.append(address)
        elif not second.value:
            sweeper.expected += 1  # nothing wakes it for this one
        raise


def _running_sweeper() -> Sweeper:
    """The one of this process, which is another one after a fork."""
    global _sweeper
    if _sweeper is None or _sweeper.process is not owned.process:
        _sweeper = Sweeper(sweep)
    return _sweeper


def sweep() -> None:
    """Drop what no graph refers to any more."""
    if not _blocks:
        return
    assert _post is not None
    dropped = []
    (is_mine,) = map(_sweeping.acquire, (False,))  # one step: interrupt_safe
    if is_mine:
        try:
            for block in _blocks:
                for address in block.posted():
                    if is_held := address in _objects:
                        dropped.append(_objects.pop(address))
                        if _sweeper is not None:
                            _sweeper.dropped += 1
                    _post.prepare(address)  # after that: until then the next sweep sees it again
                    if is_held:
                        _free.append(address)
        finally:
            _sweeping.release()
    # `dropped` goes here: what that sets free may come by again
