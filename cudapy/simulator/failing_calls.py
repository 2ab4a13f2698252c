"""`simulator.failing`: calls that fail because a test wants them to."""

from __future__ import annotations

import re
import threading
from typing import Any

from .._bindings.errors import STICKY
from .._types.driver.enums import CUresult
from .._types.runtime.enums import cudaError_t
from .devices.context import top
from .process import tables
from .refused import Refused
from .refused import failing as active

_VERSION = re.compile(r"_v\d+$")


class Failure:
    """`with failing(...) as calls:`, see there."""

    def __init__(self, function: str | None, call: int, status: str) -> None:
        self.names: list[str] = []
        self.failed = ""
        self._function = function
        self._call = call
        self._status = status
        self._left = call
        self._lock = threading.Lock()
        self._faulty: list[Any] = []

    def before(self, symbol: str) -> None:
        """A function is called. Raises Refused if it is the one to fail."""
        name = _VERSION.sub("", symbol)
        with self._lock:
            if self._function not in (None, name, symbol):
                return
            self.names.append(name)
            self._left -= 1
            if self._left:
                return
            self.failed = name
        refused = Refused(self._status, "a test wants this call to fail")
        if refused.code in STICKY:
            self._break(refused)
        raise refused from None

    def _break(self, refused: Refused) -> None:
        """The current context has a fault, as after one of a kernel."""
        context = top()
        if context is not None and not context.root.is_lost:
            context.root.lose(Refused(refused.status, refused.reason))  # without a traceback
            self._faulty.append(context.root)

    def __enter__(self) -> Failure:
        if self in active:
            raise RuntimeError("failing() is for one `with` block")
        active.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        active.remove(self)
        for context in self._faulty:
            context.revive()


def failing(function: str | None, call: int, status: str) -> Failure:
    """See `cudapy.simulator.failing`."""
    if call < 0:
        raise ValueError(f"call = {call}: calls are counted from 1, and 0 lets none fail")
    if status not in CUresult.__members__ and status not in cudaError_t.__members__:
        raise ValueError(f"{status!r} is neither a CUresult nor a cudaError_t")
    known = (name for table in tables().values() for name in table.symbols)
    if function is not None and not any(function in (name, _VERSION.sub("", name)) for name in known):
        raise ValueError(f"the simulator has no function {function!r}")
    return Failure(function, call, status)
