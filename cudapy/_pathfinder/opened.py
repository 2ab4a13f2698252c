"""Where an open library is, and who has to know when another one takes its place."""

import ctypes
import os
from typing import Any

when_replaced: list[Any] = []
"""Functions to call when `pathfinder.load` returns another library than before."""


class _LinkMap(ctypes.Structure):
    """The first members of `struct link_map`, of link.h."""

    _fields_ = [("l_addr", ctypes.c_void_p), ("l_name", ctypes.c_char_p)]


def path_of(handle: ctypes.CDLL, name: str) -> str:
    """The absolute real path of a library that was opened as `name`; `name` if the loader does not say."""
    if os.path.isabs(name):
        return name
    link_map = ctypes.POINTER(_LinkMap)()
    get = ctypes.CDLL(None).dlinfo  # with RTLD_DI_LINKMAP, which is 2
    failed = get(ctypes.c_void_p(handle._handle), 2, ctypes.byref(link_map))
    return name if failed else os.path.realpath(os.fsdecode(link_map.contents.l_name))
