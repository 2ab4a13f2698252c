"""Where a program calls PyTorch."""

from __future__ import annotations

import os
import sys
from types import FrameType

import torch

_PACKAGE = __package__.partition(".")[0]
_FOLDERS = tuple(
    os.path.dirname(str(sys.modules[name].__file__)) + os.sep for name in (torch.__name__, _PACKAGE)
)


def calling_line() -> str:
    """The line of the program that has called PyTorch: "file:number"; "" if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDERS):
        frame = frame.f_back
    return "" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
