"""simpleAssert: what happens when a kernel's assert fails.

    python samples/introduction/simple_assert.py

Each failing thread is reported on the standard error, and the next synchronisation raises CUDAError with
CUDA_ERROR_ASSERT. The context is lost: every later call gives the same error, and only a new process helps.
So the kernel runs in one.
"""

from __future__ import annotations

import subprocess
import sys

from cudapy import simulator
from cudapy.core import CUDAError, Device, LaunchConfig, Program, launch
from cudapy.driver import CUresult

KERNEL = """
extern "C" __global__ void check(int limit)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    assert(thread < limit);
}
"""
BLOCKS, THREADS = 2, 32
LIMIT = 60  # of 64 threads, the last 4 fail


def child() -> int:
    """Launch the kernel; 0 if the error is the one that must come."""
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("check")
    launch(stream, LaunchConfig(grid=BLOCKS, block=THREADS), kernel, LIMIT)
    try:
        stream.sync()
    except CUDAError as error:
        print(error)
        return 0 if error.code == CUresult.CUDA_ERROR_ASSERT else 1
    print("no error was raised")
    return 1


def main() -> int:
    done = subprocess.run([sys.executable, __file__, "child"], capture_output=True, text=True)
    print(done.stdout, end="")
    lines = done.stderr.splitlines()
    failed = [
        line for line in lines if line.startswith("default_program") and "`thread < limit` failed" in line
    ]
    print(*failed, sep="\n")
    right = done.returncode == 0 and len(failed) == BLOCKS * THREADS - LIMIT
    if not right:
        print(done.stderr)
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(child() if "child" in sys.argv[1:] else main())
