"""Functions that the host runs in the middle of a graph."""

import operator
from collections.abc import Callable
from typing import Any

from ..._ffi import memory
from ..._ffi.handles import PointerThunk, Thunk, entry, takes_pointer
from ...driver import CUDA_HOST_NODE_PARAMS


class HostFunction:
    """A function as C calls it, and what has to live as long as it may be called.

    fn: a Python callable without parameters, or a ctypes function `void (*)(void *)`. user_data: for the
    latter alone, what it is called with: an address, or bytes, of which it gets a copy.
    """

    def __init__(self, fn: Any, user_data: Any = None) -> None:
        data: object = None
        if isinstance(fn, Thunk):
            self.callback: Callable[[], object] | None = None
            if not takes_pointer(fn):
                raise TypeError(
                    "callback: a C function must be void (*)(void *), that is "
                    "ctypes.CFUNCTYPE(None, ctypes.c_void_p)"
                )
            thunk = fn
            try:
                argument = operator.index(0 if user_data is None else user_data)
            except TypeError:
                data, argument = memory.block(memoryview(user_data).tobytes())
        else:
            if not callable(fn):
                raise TypeError(f"callback: a {type(fn).__name__} cannot be called")
            if user_data is not None:
                raise ValueError(
                    "callback: user_data is for C functions; a Python function gets its data from "
                    "functools.partial or a closure"
                )
            self.callback = fn
            thunk, argument = PointerThunk(lambda _: fn()), 0
        self.objects = fn, thunk, data
        self.parameters = CUDA_HOST_NODE_PARAMS(fn=entry(thunk), userData=argument)
