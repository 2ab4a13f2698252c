"""The captures that are under way, and what they forbid."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ..._types.driver.enums import CUstreamCaptureMode as Mode
from ..fresh_devices import forgotten
from ..refused import Refused

if TYPE_CHECKING:
    from ..devices.context import Context
    from .capture import Capture

active: list[Capture] = []


class _Thread(threading.local):
    mode = Mode.CU_STREAM_CAPTURE_MODE_GLOBAL


_thread = _Thread()


@forgotten
def _forget() -> None:
    """In every thread."""
    global _thread
    _thread = _Thread()
    active.clear()


def exchange_mode(mode: Mode) -> Mode:
    """Set the mode of this thread; the one that it had."""
    before, _thread.mode = _thread.mode, mode
    return before


def forbid() -> None:
    """Raise Refused for a call that CUDA holds for unsafe, where a capture forbids it to this thread.

    Those are calls that may wait, make or destroy; NVIDIA does not say which. Of those that are in
    `tests/gpu_tier/capture_rules.py` an H200 with driver 580 has the same.
    """
    if _thread.mode == Mode.CU_STREAM_CAPTURE_MODE_RELAXED:
        return
    for capture in list(active):
        if capture.mode == Mode.CU_STREAM_CAPTURE_MODE_RELAXED:
            continue
        mine = capture.thread == threading.get_ident()
        everywhere = (
            capture.mode == Mode.CU_STREAM_CAPTURE_MODE_GLOBAL
            and _thread.mode == Mode.CU_STREAM_CAPTURE_MODE_GLOBAL
        )
        if mine or everywhere:
            capture.invalidate()
            raise Refused("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "the call is not allowed during a capture")


def implicit(context: Context) -> None:
    """Raise Refused for a use of the legacy default stream, which waits for a stream in a capture."""
    for capture in list(active):
        if any(stream.context is context and not stream.flags & 1 for stream in capture.follows):
            capture.invalidate()
            raise Refused(
                "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
                "the legacy default stream would wait for a stream in a capture",
            )
