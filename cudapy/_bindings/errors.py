"""From a status to an exception: the second layer, between the C functions and core.

It stands below the modules of functions, because their raising face (`driver.checked`) needs it too.
"""

from __future__ import annotations

import ctypes
import os

from .._ffi.library import Library, SymbolNotFound
from .._ffi.shown import shown
from .._process import forks
from .._process.resets import RESTART, advice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

STICKY = frozenset({700, 702, 710, 714, 715, 716, 717, 718, 719, 721})
"""The CUresult and cudaError_t values after which the context, and with it the process, is of no more use."""


class CUDAError(RuntimeError):
    """A CUDA function failed.

    code: the status, an enum member (an int). name: its C name. function: the C function that returned it.
    cuda_code: the status of the driver, where another library returns it beside its own; else None.
    """

    def __init__(self, message: str, code: Any = None, function: str = "", cuda_code: Any = None) -> None:
        RuntimeError.__init__(self, message)  # of classes that are another exception, too, as well
        self.code = code
        self.name = getattr(code, "name", "")
        self.function = function
        self.cuda_code = cuda_code

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.code, self.function, self.cuda_code)


class CUDAOutOfMemoryError(CUDAError, MemoryError):
    """CUDA_ERROR_OUT_OF_MEMORY, caught as a MemoryError too."""


NEED_NO_CUDA = frozenset(
    {
        "cudaDriverGetVersion",
        "cudaGetErrorName",
        "cudaGetErrorString",
        "cudaGetLastError",
        "cudaPeekAtLastError",
        "cudaRuntimeGetVersion",
    }
)
"""The functions of the runtime that do not start CUDA in the process, as all others do."""
_NOT_STARTED = ("CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError")
_process = os.getpid()
_used_by = 0  # the process that used CUDA before it forked this one, or one of its ancestors; 0: none


@forks.in_child
def _remember_parent() -> None:
    global _process, _used_by
    if not _used_by and any(
        name == "cuInit" or (name.startswith("cuda") and name not in NEED_NO_CUDA)
        for name in Library.observed()
    ):
        _used_by = _process
    _process = os.getpid()


def _because_forked(function: str, status: str) -> tuple[str, str] | None:
    """What `status` means and what to do, if CUDA cannot be used as it was used before a fork; else None.

    cuInit returns it for no other reason, also where a library other than this one used CUDA.
    """
    if status not in _NOT_STARTED or not (_used_by or function == "cuInit"):
        return None
    who = f"process {_used_by}" if _used_by else "a process"
    return (
        f"{who} used CUDA before it forked this one ({_process}), and a fork inherits nothing of CUDA that "
        "works.",
        "start the processes that use CUDA with multiprocessing.get_context('spawn'), or fork before the "
        "first use of CUDA",
    )


_UNKNOWN = "an error that this version of cudapy does not know.", ""


class Raiser:
    """Makes the exceptions of one library.

    meanings: returns {status name: (a sentence, a hint or "")}, asked for at the first failure.
    log: returns what the library itself says about the failure, or "".
    forget: called with the function and its status; makes the library forget a failure that is told now.
    speaker: who wrote what `log` returns.
    """

    def __init__(
        self, meanings: Any, log: Any = None, forget: Any = None, speaker: str = "The driver"
    ) -> None:
        self.speaker = speaker
        self.meanings = meanings
        self.log = log
        self.forget = forget

    def __call__(
        self,
        function: str,
        status: Any,
        arguments: Mapping[str, Any],
        meaning: tuple[str, str] | None = None,
        cuda_code: Any = None,
        explain: Callable[[], str] | None = None,
    ) -> CUDAError:
        """The exception for `function`, called with `arguments`, having returned `status`.

        meaning: what the status means, where `meanings` does not have it. cuda_code: the status of the driver
        that `function` returned, too. explain: called after the log was read; where it knows the reason, that
        stands for the log and the hint.
        """
        known = meaning or _because_forked(function, status.name)
        sentence, hint = known or self.meanings().get(status.name, _UNKNOWN)
        parts = [f"{function}: {status.name} ({int(status)}): {sentence}"]
        if arguments:
            parts.append("Called with " + ", ".join(f"{k}={shown(v)}" for k, v in arguments.items()) + ".")
        if cuda_code:
            from .._types.meanings import CURESULT

            because, _ = CURESULT.get(cuda_code.name, _UNKNOWN)
            parts.append(f"The driver's status is {cuda_code.name} ({int(cuda_code)}): {because}")
        said = self.log() if self.log else ""
        if self.forget:
            self.forget(function, status)
        if reason := explain() if explain else "":
            parts.append(reason)
            said = hint = ""
        if "\n" in said:  # the simulator's report, which tells the place
            parts.append(f"{self.speaker} says:\n{said}\n")
            hint = ""
        elif said:
            parts.append(f"{self.speaker} says: {said.rstrip('.')}.")
        parts += _advised(status, hint)
        is_full = status.name.endswith(("OUT_OF_MEMORY", "MemoryAllocation"))
        cls = CUDAOutOfMemoryError if is_full else CUDAError
        return cls(_joined(parts), status, function, cuda_code)


def _advised(status: Any, hint: str) -> Iterator[str]:
    """What to do after it: that of a fault that stays, or the hint."""
    if type(status).__name__ in ("CUresult", "cudaError_t") and status in STICKY:
        yield (
            "The fault happened in earlier asynchronous work, and every later call in this process will "
            f"fail with it: {advice()}."
        )
        if advice() != RESTART:
            return  # the hint is about hardware
    if hint:
        yield f"Hint: {hint}."


def _joined(parts: list[str]) -> str:
    """Sentences in a row; a part that ends a line is followed by a new one."""
    return "".join(part if part.endswith("\n") else f"{part} " for part in parts).rstrip()


class DriverLog:
    """What the driver wrote to its error log (CUDA 12.9 and newer) since the last time it was asked.

    Source: cuLogsDumpToMemory.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.iterator = ctypes.c_uint(0)

    def __call__(self) -> str:
        """What the last call that failed had to say, or ""."""
        try:
            dump = self.library.symbol("cuLogsDumpToMemory", None)
        except (SymbolNotFound, RuntimeError):
            return ""
        size = ctypes.c_size_t(25600)  # the size of the driver's log
        buffer = ctypes.create_string_buffer(size.value)
        status = dump(ctypes.byref(self.iterator), buffer, ctypes.byref(size), ctypes.c_uint(0))
        if status:
            return ""
        said: list[str] = []
        reason: list[str] = []
        for line in buffer.value.decode(errors="replace").splitlines():
            text = line.partition("] ")[2].rstrip()  # after [time][thread][CUDA][E]
            if text.startswith("Returning "):  # the last line of every failed call
                reason, said = said, []
            elif text.startswith("    ") and said:  # of a report of several lines
                said[-1] += f"\n{text}"
            elif text:
                said.append(text)
        told = dict.fromkeys(reason)  # drivers repeat what calls that went well have to remark
        return ("\n" if any("\n" in each for each in told) else "; ").join(told)
