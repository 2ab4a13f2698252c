"""Python objects that the driver holds, as long as a graph, a copy of it or a launch of it may use them.

The driver has such references: a user object, which a graph retains. Copies of the graph, made by embedding
or instantiating it, retain it too, and a launch that is under way does until it has ended. Python cannot
know any of that; the driver tells by calling a function of ours once the last reference is gone.

That happens in a thread of the driver, from which CUDA must not be called, and perhaps while the interpreter
shuts down. So it is no Python function but the C library's `sem_post`, on a semaphore that each user object
has; whoever comes by later (`sweep`) sees it posted and drops what was held.
"""

from __future__ import annotations

import threading

from ..._ffi.semaphores import Block, Post
from ...driver import CUuserObject, CUuserObject_flags, checked
from .. import lifetime

_post: Post | None = None
_blocks: list[Block] = []
_free: list[int] = []
_things: dict[int, object] = {}  # by the address of their semaphore
_sweeping = threading.Lock()


def hold(thing: object) -> CUuserObject:
    """A user object that keeps `thing` alive; the one reference to it is the caller's.

    Source: cuUserObjectCreate.
    """
    global _post
    sweep()
    if _post is None:
        _post = Post()
        lifetime.after_waiting.append(sweep)
    try:
        address = _free.pop()
    except IndexError:
        block = Block(_post)
        _blocks.append(block)
        address, *others = block.addresses()
        _free.extend(others)
    _things[address] = thing
    try:
        made: CUuserObject = checked.cuUserObjectCreate(
            address, _post.address, 1, CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
        )
    except BaseException:
        del _things[address]
        _free.append(address)
        raise
    return made


def sweep() -> None:
    """Drop what no graph refers to any more."""
    if not _blocks or not _sweeping.acquire(blocking=False):
        return
    assert _post is not None
    dropped = []
    try:
        for block in _blocks:
            for address in block.posted():
                _post.prepare(address)
                if address in _things:
                    dropped.append(_things.pop(address))
                    _free.append(address)
    finally:
        _sweeping.release()
    # `dropped` goes here: what that sets free may come by again
