"""`cudapy.core.checkpoint`: save what a process has on its GPUs in its own memory, and put it back.

    process = checkpoint.Process(pid)
    process.lock()        # its CUDA calls wait from now on
    process.checkpoint()  # the memory of its GPUs is in that of the host; it uses no GPU
    process.restore()     # back on the GPUs, or on others
    process.unlock()      # its calls go on

Between the second and the third a program such as CRIU can save the process, and the GPUs are free.
Needs a driver of CUDA 12.8, on Linux.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..._ffi.integers import exact_int
from ...driver import checked
from ..context.current import initialise

if TYPE_CHECKING:
    from ...driver import CUuuid
    from .typing import ProcessStateType

__all__ = ["Process"]


class Process:
    """A process that uses CUDA, by its number: another one, of a user whose processes this one may control.

    Each method raises CUDAError with the reason of the driver: CUDA_ERROR_ILLEGAL_STATE in a state that does
    not allow it, CUDA_ERROR_NOT_SUPPORTED where there are no checkpoints, CUDA_ERROR_INVALID_VALUE for a
    process that does not use CUDA. RuntimeError from a driver older than CUDA 12.8.
    """

    __slots__ = ("_pid",)

    def __init__(self, pid: int) -> None:
        if isinstance(pid, bool) or not isinstance(pid, int):
            raise TypeError(f"Process: pid must be an int, not {type(pid).__name__}")
        if not 0 < pid < 1 << 31:
            raise ValueError(f"Process: pid = {pid} is outside 1 .. 2**31-1")
        self._pid = pid

    @property
    def pid(self) -> int:
        """Its number."""
        return self._pid

    @property
    def state(self) -> ProcessStateType:
        """ "running", "locked", "checkpointed", or "failed": it cannot go on. RuntimeError for a state that
        newer drivers have. Source: cuCheckpointProcessGetState.
        """
        initialise()
        state = checked.cuCheckpointProcessGetState(self._pid)
        states: tuple[ProcessStateType, ...] = ("running", "locked", "checkpointed", "failed")
        if not 0 <= state < len(states):
            raise RuntimeError(f"process {self._pid} is in a state that core has no name for: {state!r}")
        return states[state]

    @property
    def restore_thread_id(self) -> int:
        """The thread of the process that restores it, which has to run meanwhile.

        Source: cuCheckpointProcessGetRestoreThreadId.
        """
        initialise()
        return int(checked.cuCheckpointProcessGetRestoreThreadId(self._pid))

    def lock(self, timeout_ms: int = 0) -> None:
        """Let its CUDA calls wait, once those that have begun have ended. "running" becomes "locked".

        timeout_ms: after so many milliseconds, CUDA_ERROR_NOT_READY, and it stays "running"; 0: wait without
        an end, also for Ctrl-C. Source: cuCheckpointProcessLock.
        """
        from ...driver import CUcheckpointLockArgs

        milliseconds = exact_int(timeout_ms, "lock: timeout_ms")
        if not 0 <= milliseconds < 1 << 32:
            raise ValueError(f"lock: timeout_ms = {milliseconds} is outside 0 .. 2**32-1")
        initialise()
        checked.cuCheckpointProcessLock(self._pid, CUcheckpointLockArgs(timeoutMs=milliseconds))

    def checkpoint(self) -> None:
        """Bring the memory of its GPUs to the host, and let go of the GPUs. "locked" becomes "checkpointed".

        Source: cuCheckpointProcessCheckpoint.
        """
        initialise()
        checked.cuCheckpointProcessCheckpoint(self._pid, None)

    def restore(self, gpu_mapping: Mapping[CUuuid | str, CUuuid | str] | None = None) -> None:
        """Bring it back to its GPUs. "checkpointed" becomes "locked".

        gpu_mapping: for each GPU that it had, by UUID, the one that it is to have, of the same kind. It names
        all GPUs of the machine, those that CUDA_VISIBLE_DEVICES hides too. Source:
        cuCheckpointProcessRestore.
        """
        from ...driver import CUcheckpointGpuPair, CUcheckpointRestoreArgs

        if gpu_mapping is not None and not isinstance(gpu_mapping, Mapping):
            raise TypeError(
                f"restore: gpu_mapping must be a mapping of UUIDs, not {type(gpu_mapping).__name__}"
            )
        pairs = [
            CUcheckpointGpuPair(oldUuid=_uuid(old), newUuid=_uuid(new))
            for old, new in (gpu_mapping or {}).items()
        ]
        initialise()
        wanted = CUcheckpointRestoreArgs(gpuPairs=pairs, gpuPairsCount=len(pairs)) if pairs else None
        checked.cuCheckpointProcessRestore(self._pid, wanted)

    def unlock(self) -> None:
        """Let its CUDA calls go on. "locked" becomes "running". Source: cuCheckpointProcessUnlock."""
        initialise()
        checked.cuCheckpointProcessUnlock(self._pid, None)

    def __repr__(self) -> str:
        return f"<checkpoint.Process {self._pid}>"


def _uuid(value: CUuuid | str) -> CUuuid:
    """The UUID of a GPU, as `Device.uuid` or `system.Device.uuid` has it. Raises TypeError and ValueError."""
    from ...driver import CUuuid

    if isinstance(value, CUuuid):
        return value
    if not isinstance(value, str):
        raise TypeError(f"restore: a GPU is named by its UUID, a CUuuid or a str, not {type(value).__name__}")
    digits = value.removeprefix("GPU-").replace("-", "")
    if not re.fullmatch("[0-9a-fA-F]{32}", digits):
        raise ValueError(f"restore: {value!r} is not a GPU's UUID: 32 hexadecimal digits, as in Device.uuid")
    return CUuuid(bytes=bytes.fromhex(digits))
