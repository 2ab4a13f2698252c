"""Kernels that break: the same error from then on, no abort, and not a word twice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from ..gpu.core_kernels import ROOT
from .figures import Figure, judged
from .scale import Scale

ASSERT = """
extern "C" __device__ void __assertfail(const char *, const char *file, unsigned line, const char *, size_t);
extern "C" __global__ void broken(int *p) { if (!p) __assertfail("p", __FILE__, __LINE__, __func__, 1); }
"""
BODIES = {
    "illegal address": (
        'extern "C" __global__ void broken(int *p) { *(int *)0xdead0000 = 1; }',
        "ILLEGAL_ADDRESS",
    ),
    "trap": (
        'extern "C" __global__ void broken(int *p) { asm("trap;"); }',
        "LAUNCH_FAILED|ILLEGAL_INSTRUCTION",
    ),
    "misaligned address": (
        'extern "C" __global__ void broken(int *p) { *(int *)((char *)p + 1) = 1; }',
        "MISALIGNED_ADDRESS",
    ),
    "assertion": (ASSERT, "ASSERT"),
}
PROGRAM = """
import gc, sys
from cudapy.core import *
device = Device(0); device.set_current(); stream = device.create_stream(); other = device.create_stream()
code = Program(sys.stdin.read(), "c++").compile("cubin")
buffer, pinned = device.allocate(64, stream), LegacyPinnedMemoryResource().allocate(64)
event, words = stream.record(), device.allocate(64, other)
kernel = code.get_kernel("broken")
stream.sync()
launch(stream, LaunchConfig(grid=1, block=1), kernel, None if sys.argv[1] == "assertion" else buffer)
calls = (stream.sync, device.sync, stream.record, lambda: device.allocate(8, stream), other.sync,
    lambda: buffer.fill(0, stream=stream), lambda: pinned.copy_to(bytearray(64), stream=other),
    device.create_stream, Event, lambda: launch(other, LaunchConfig(grid=1, block=1), kernel, words))
for _ in range(3):
    for call in calls:
        try: call()
        except CUDAError as error: print(error.name, "restart the process" in str(error))
        else: print("no error")
cycle = [event, words, other, kernel]; cycle.append(cycle)
del cycle, event, words, other, kernel, code
gc.collect()
buffer.close(); pinned.close(); stream.close()
print("at the end", flush=True)
"""
CALLS = 30


def the_same_code_again(scale: Scale) -> Iterator[Figure]:
    """Each fault in processes of its own, which go on to use, drop and close what they have."""
    asked = f"{CALLS} calls, one code; at most one report; exit 0"
    for fault, (source, expected) in BODIES.items():
        rounds = scale.of(5, 1)
        seen = [_seen(fault, source, expected) for _ in range(rounds)]
        wrong = [each for each in seen if each]
        right = f"{rounds - len(wrong)} of {rounds} processes"
        article = "an" if fault[0] in "aio" else "a"
        yield judged(f"after {article} {fault}", asked, right, not wrong, "; ".join(wrong[:1]))


def _seen(fault: str, source: str, expected: str) -> str:
    """What was not as it should be; "" for nothing."""
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, fault],
            input=source,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
        )
    except subprocess.TimeoutExpired as late:
        return f"it hung, {late.stdout!r} {late.stderr!r}"
    *said, last = done.stdout.splitlines() or [""]
    names = {f"CUDA_ERROR_{name} True" for name in expected.split("|")}
    reports = [line for line in done.stderr.splitlines() if "Error" in line or "ignored" in line]
    same = len(said) == CALLS and len(set(said)) == 1 and set(said) <= names
    if same and last == "at the end" and not done.returncode and len(reports) <= 1:
        return ""
    return f"exit code {done.returncode}, {set(said)} in {len(said)} calls, stderr {done.stderr[-800:]!r}"
