"""Checkpoints of processes: there are none, and need be none.

The memory of a simulated device is memory of the process: what saves the process saves that, too.
"""

import os
from contextlib import suppress
from typing import Any

from ..._types.driver.enums import CUprocessState
from ..library import provides
from ..refused import Refused, invalid


def _process(pid: int) -> None:
    """Raise Refused for a process that is not there."""
    exists = pid > 0
    if exists:
        with suppress(PermissionError):
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                exists = False
    if not exists:
        raise invalid(f"there is no process {pid}")


def _refuse(pid: int) -> Refused:
    _process(pid)
    return Refused(
        "CUDA_ERROR_NOT_SUPPORTED",
        "the simulator has no checkpoints: simulated memory is memory of the process, and is saved with it",
    )


@provides("driver")
def cuCheckpointProcessGetState(pid: int) -> int:
    if pid == os.getpid():  # nobody can have locked it
        return int(CUprocessState.CU_PROCESS_STATE_RUNNING)
    raise _refuse(pid)


@provides("driver")
def cuCheckpointProcessGetRestoreThreadId(pid: int) -> int:
    raise _refuse(pid)


@provides("driver")
def cuCheckpointProcessLock(pid: int, args: Any) -> None:
    raise _refuse(pid)


@provides("driver")
def cuCheckpointProcessCheckpoint(pid: int, args: Any) -> None:
    raise _refuse(pid)


@provides("driver")
def cuCheckpointProcessRestore(pid: int, args: Any) -> None:
    raise _refuse(pid)


@provides("driver")
def cuCheckpointProcessUnlock(pid: int, args: Any) -> None:
    raise _refuse(pid)
