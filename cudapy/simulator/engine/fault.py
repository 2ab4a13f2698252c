"""Why a kernel was stopped."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .aliases import Dim3

BETWEEN = "\n\n"
"""What stands between the reports of a launch in which several things were found."""
ILLEGAL_ADDRESS = 700
LAUNCH_OUT_OF_RESOURCES = 701
LAUNCH_TIMEOUT = 702
ASSERT = 710
HARDWARE_STACK_ERROR = 714
ILLEGAL_INSTRUCTION = 715
MISALIGNED_ADDRESS = 716
INVALID_ADDRESS_SPACE = 717
INVALID_PC = 718
LAUNCH_FAILED = 719
COOPERATIVE_LAUNCH_TOO_LARGE = 720


@dataclass(frozen=True)
class Place:
    """An instruction of a kernel, or of a function that it called; or a call of the host."""

    kernel: str
    """"" for a call of the host, which has neither an instruction nor a line of PTX."""
    function: str
    """Its name, the kernel's if the instruction is the kernel's own."""
    instruction: str
    """The text in PTX."""
    ptx_line: int
    file: str | None = None
    """The source file, where the PTX has line numbers of it (`-lineinfo`)."""
    line: int | None = None
    inlined: str = ""
    """The line of the header, as file:line, if it is code that was inlined from one of a toolkit."""

    @property
    def shown_line(self) -> str | None:
        """The line of the source as file:line, with the file as it was given; None without one."""
        return None if self.file is None else f"{relative(self.file)}:{self.line}"

    def __str__(self) -> str:
        text = f"in {self.kernel or self.function}"
        if self.function != self.kernel and self.kernel:
            text += f", in {self.function}"
        if self.file is not None:
            text += f", {self.shown_line}"
        if not self.kernel:
            return text
        inlined = f" (inlined from {self.inlined})" if self.inlined else ""
        return f"{text}, PTX line {self.ptx_line}: {self.instruction}{inlined}"


@dataclass(frozen=True)
class AllocatedMemory:
    """What an address lies in, or near to."""

    kind: str
    """Such as "device", "host" or "managed"."""
    address: int
    """Where it starts."""
    size: int
    place: Place | None = None
    """The call that allocated it; None for what the engine has allocated, such as a module's variables."""
    fate: str = ""
    """What became of it, if it is there no more: "that was freed"."""

    def __str__(self) -> str:
        noun = "" if " variable " in self.kind else " memory"
        text = f"{self.kind}{noun} of {self.size} bytes at {self.address:#x}"
        if self.fate:
            text += f" {self.fate}"
        return text if self.place is None else f"{text}, allocated {self.place}"


Value: TypeAlias = "int | float | tuple[int | float, ...] | None"
"""Of an access: what is stored or loaded; several numbers for a vector, None where it is not known."""


@dataclass(frozen=True)
class OtherAccess:
    """The access with which another one races."""

    place: Place
    verb: str
    """read, write or atomic."""
    block: Dim3 | None
    """None if no thread is to blame, but an operation of a stream."""
    thread: Dim3 | None
    is_same: bool = False
    """It is the same instruction, which several threads ran at once."""
    value: Value = None
    """What it has read or written; of an atomic what is there since."""

    def __str__(self) -> str:
        if self.block is None or self.thread is None:
            return f"the other is a {self.verb} {self.place}"
        text = f"the other is {thread_name(self.block, self.thread)}"
        return text if self.is_same else f"{text}, {self.verb} {self.place}"


@dataclass(frozen=True)
class Finding:
    """What an instruction must not do, and who did it."""

    kind: str
    """"fault", or its class: see `classes`."""
    what: str
    """Such as "Invalid __global__ write"."""
    place: Place
    block: Dim3 | None
    """Of the first thread that did it, its `blockIdx`; None if it is an operation of a stream."""
    thread: Dim3 | None
    """Its `threadIdx`."""
    count: int
    """How many threads did it."""
    running: int
    """How many threads ran the instruction."""
    address: int | None = None
    """What the first thread accessed."""
    size: int = 0
    """Bytes of the access; 0 if it is none."""
    note: str = ""
    """What lies near the address, or another hint."""
    other: OtherAccess | None = None
    times: int = 1
    """How often an instruction did it, for threads side by side."""
    verb: str = ""
    """Of an access: read, write or atomic."""
    value: Value = None
    """What the first thread reads or writes; of an atomic what it finds."""
    allocation: AllocatedMemory | None = None
    """What the address lies in, or near to, if it is global memory."""

    def threads(self) -> str:
        """Who did it: the first thread, and how many more; "" for an operation of a stream."""
        if self.block is None or self.thread is None:
            return ""
        others = f" and {self.count - 1} more of {self.running} in this instruction" if self.count > 1 else ""
        return f"{thread_name(self.block, self.thread)}{others}"

    def _values(self) -> str:
        """What both accesses of a race have read or written, as far as that is known."""
        parts = []
        if self.value is not None:
            parts.append(f"{_DOES[self.verb]} {_shown(self.value)}")
        if self.other is not None and self.other.value is not None:
            parts.append(f"the other {_DID[self.other.verb]} {_shown(self.other.value)}")
        return "; ".join(parts)

    def __str__(self) -> str:
        what = f"{self.what} of {self.size} bytes" if self.size else self.what
        lines = [what, str(self.place)]
        if self.block is not None:
            lines.append(f"by {self.threads()}")
        if self.address is not None:
            lines.append(f"address {self.address:#x}")
        if self.allocation is not None and str(self.allocation) not in self.note:
            offset = (self.address or 0) - self.allocation.address
            lines.append(f"at offset {offset} of {self.allocation}")
        lines += [str(one) for one in (self.other, self._values(), self.note) if one]
        if self.place.kernel and self.place.file is None:
            lines.append("compile with lineinfo=True to see the line of the source")
        return "\n    ".join(lines)


class Fault(Exception):
    """A kernel did what it must not."""

    def __init__(self, status: int, *reports: Finding | str) -> None:
        report = BETWEEN.join(map(str, reports))
        super().__init__(report)
        self.status = status
        """The number of the CUresult that a program sees."""
        self.reports = reports
        self.report = report
        """What, where, which thread and which address, in lines for people."""
        self.findings = tuple(one for one in reports if isinstance(one, Finding))
        """The report as data, one for each instruction to blame; none for deadlocks and timeouts."""
        self.details = self.findings[0] if self.findings else None
        """The first of them."""


_DOES = {"read": "reads", "write": "writes", "atomic": "finds"}
_DID = {"read": "read", "write": "wrote", "atomic": "left"}


def _shown(value: Value) -> str:
    """A number, or several, as reports have them."""
    return f"({', '.join(map(repr, value))})" if isinstance(value, tuple) else repr(value)


def thread_name(block: Dim3, thread: Dim3) -> str:
    """A thread, as reports name it."""
    return f"{block_name(block)} thread ({thread[0]},{thread[1]},{thread[2]})"


def block_name(block: Dim3) -> str:
    """A block, as reports name it."""
    return f"block ({block[0]},{block[1]},{block[2]})"


def relative(file: str) -> str:
    """The path of a file as it was given: NVRTC puts the working directory in front of it."""
    with contextlib.suppress(OSError):  # the working directory is gone
        return file.removeprefix(os.path.join(os.getcwd(), ""))
    return file
