"""The classes of what is found in kernels, by the names that switch them on and off."""

from typing import NamedTuple

FAULT = "fault"
"""What ends a kernel; no class that is switched."""
RACE, MIXED, SCOPE, FENCE, ACQUIRE, COPY = "race", "mixed", "scope", "fence", "acquire", "copy"
PROXY = "proxy"
VOLATILE, WARP, EQUAL = "volatile", "warp", "equal"
BARRIER, COUNT, MASK = "barrier", "count", "mask"
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
    one: str
    """What a finding of the class is called,"""
    several: str
    """and more of them."""


CLASSES = {
    RACE: FindingClass(
        "races", True, "accesses of two threads, one a write, that nothing orders", "race", "races"
    ),
    MIXED: FindingClass(
        "races",
        True,
        "an ordinary read of what other threads change by atomics",
        "race with an atomic",
        "races with atomics",
    ),
    SCOPE: FindingClass(
        "races",
        True,
        "atomic accesses, one of whose scopes lacks the other thread",
        "scope too narrow",
        "scopes too narrow",
    ),
    FENCE: FindingClass(
        "races", True, "a flag was read, and no fence made after it", "missing fence", "missing fences"
    ),
    ACQUIRE: FindingClass(
        "races",
        False,
        "like fence, of atomic or volatile data behind the flag",
        "missing acquire",
        "missing acquires",
    ),
    COPY: FindingClass(
        "races",
        True,
        "what an asynchronous copy has not finished with is accessed",
        "race with an asynchronous copy",
        "races with asynchronous copies",
    ),
    PROXY: FindingClass(
        "races",
        True,
        "an asynchronous read of what threads wrote, with no proxy fence between",
        "missing proxy fence",
        "missing proxy fences",
    ),
    VOLATILE: FindingClass(
        "races",
        True,
        "volatile accesses that nothing orders, where no thread polls",
        "race of volatile accesses",
        "races of volatile accesses",
    ),
    WARP: FindingClass(
        "races",
        True,
        "threads of one warp that rely on running in lockstep",
        "race within a warp",
        "races within warps",
    ),
    EQUAL: FindingClass(
        "races",
        False,
        "a race in which the value that is written is there already",
        "race of equal values",
        "races of equal values",
    ),
    BARRIER: FindingClass(
        "races",
        True,
        "a barrier that not all threads reach, or in divergent code",
        "misplaced barrier",
        "misplaced barriers",
    ),
    COUNT: FindingClass(
        "races",
        True,
        "threads that meet at a barrier disagree on for how many it is",
        "mismatched barrier count",
        "mismatched barrier counts",
    ),
    MASK: FindingClass(
        "races", True, "a warp operation by a thread outside of its mask", "wrong mask", "wrong masks"
    ),
    READONLY: FindingClass(
        "races",
        True,
        "memory that is only read, by what it is or how it is read, is written",
        "violation of read-only memory",
        "violations of read-only memory",
    ),
    LIFETIME: FindingClass(
        "races",
        True,
        "nothing orders an access before the end of the memory",
        "use beyond a lifetime",
        "uses beyond a lifetime",
    ),
    STREAM: FindingClass(
        "races",
        True,
        "kernels, copies or fills of two streams that nothing orders",
        "race between streams",
        "races between streams",
    ),
    UNINITIALIZED: FindingClass(
        "uninitialized",
        True,
        "bytes that nobody wrote matter",
        "read of uninitialized memory",
        "reads of uninitialized memory",
    ),
}
DEFAULT = frozenset(name for name, one in CLASSES.items() if one.by_default)
