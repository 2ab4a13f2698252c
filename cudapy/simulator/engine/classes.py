"""The classes of what is found in kernels, by the names that switch them on and off."""

from __future__ import annotations

from typing import NamedTuple

FAULT = "fault"
"""What ends a kernel; no class that is switched."""
RACE, MIXED, SCOPE, FENCE, ACQUIRE, COPY = "race", "mixed", "scope", "fence", "acquire", "copy"
VOLATILE, WARP, EQUAL = "volatile", "warp", "equal"
BARRIER, MASK = "barrier", "mask"
READONLY, LIFETIME = "readonly", "lifetime"
STREAM = "stream"
"""Found by who launches kernels."""
UNINITIALIZED = "uninitialized"


class FindingClass(NamedTuple):
    check: str
    """The check that finds it: "races" or "uninitialized"."""
    by_default: bool
    """Whether it is reported unless it is switched off."""
    text: str


CLASSES = {
    RACE: FindingClass("races", True, "accesses of two threads, one a write, that nothing orders"),
    MIXED: FindingClass("races", True, "an ordinary read of what other threads change by atomics"),
    SCOPE: FindingClass("races", True, "atomic accesses, one of whose scopes lacks the other thread"),
    FENCE: FindingClass("races", True, "a flag was read, and no fence made after it"),
    ACQUIRE: FindingClass("races", False, "like fence, of atomic or volatile data behind the flag"),
    COPY: FindingClass("races", True, "what an asynchronous copy has not finished with is accessed"),
    VOLATILE: FindingClass("races", True, "volatile accesses that nothing orders, where no thread polls"),
    WARP: FindingClass("races", True, "threads of one warp that rely on running in lockstep"),
    EQUAL: FindingClass("races", False, "a race in which the value that is written is there already"),
    BARRIER: FindingClass("races", True, "a barrier that not all threads reach, or in divergent code"),
    MASK: FindingClass("races", True, "a warp operation by a thread outside of its mask"),
    READONLY: FindingClass(
        "races", True, "memory that is only read, by what it is or how it is read, is written"
    ),
    LIFETIME: FindingClass("races", True, "nothing orders an access before the end of the memory"),
    STREAM: FindingClass("races", True, "kernels, copies or fills of two streams that nothing orders"),
    UNINITIALIZED: FindingClass("uninitialized", True, "bytes that nobody wrote matter"),
}
DEFAULT = frozenset(name for name, one in CLASSES.items() if one.by_default)
