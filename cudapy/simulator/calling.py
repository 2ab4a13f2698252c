"""Which call of the program the simulator serves, for what is said of it later."""

import os
import re
import sys
from typing import NamedTuple

from .engine import fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_CALLBACKS = os.path.join(os.path.dirname(__file__), "callbacks.py")
"""There a function `run` calls that of a `symbol`."""
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_INNER = _PACKAGE, "<cudapy ", "cudapy "
"""What the names of the files of this package begin with, and those of the functions that it writes."""
_LIBRARY = os.path.dirname(os.__file__) + os.sep, "<frozen "
_frameworks: list[str] = []
"""Folders of packages that call CUDA for the program."""
_PACKAGES = os.path.join("", "site-packages", "")
_VERSION = re.compile(r"(_v\d+)?(_ptsz|_ptds)?$")


class CallSite(NamedTuple):
    """A call of CUDA's API: the function, and the line of Python that led to it."""

    function: str
    """"" outside of a call."""
    file: str
    """"" where no Python outside of this package called, as in a program in C."""
    line: int

    @property
    def place(self) -> fault.Place:
        """As reports have it."""
        return fault.Place("", self.function or "an operation", "", 0, self.file or None, self.line or None)

    @property
    def shown(self) -> str:
        """The line as reports name it."""
        return f"{fault.relative(self.file)}:{self.line}"


def add_framework(folder: str) -> None:
    """Calls from files in this folder are those of whoever calls them."""
    _frameworks.append(os.path.join(folder, ""))


def _is_inner(file: str) -> bool:
    if file.startswith(_INNER) or (file.startswith(_LIBRARY) and _PACKAGES not in file):
        return True
    return file.startswith(tuple(_frameworks))


def call_site() -> CallSite:
    """The call that runs on this thread. Its line is the innermost one that is neither in this package nor in
    Python's standard library nor in a framework.
    """
    frame: FrameType | None = sys._getframe(1)
    symbol = ""
    while frame is not None and _is_inner(frame.f_code.co_filename):
        if frame.f_code.co_name == "run" and frame.f_code.co_filename == _CALLBACKS:
            symbol = frame.f_locals["symbol"]
        frame = frame.f_back
    function = _VERSION.sub("", symbol)
    if frame is None:
        return CallSite(function, "", 0)
    return CallSite(function, frame.f_code.co_filename, frame.f_lineno)
