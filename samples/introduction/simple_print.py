"""simplePrintf: printf in a kernel.

    python samples/introduction/simple_print.py

What threads print goes to a buffer on the device, and from there to the process's standard output when the
host synchronises. The order of the blocks is nobody's promise.
"""

from __future__ import annotations

import subprocess
import sys

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch

KERNEL = r"""
extern "C" __global__ void say(int value)
{
    printf("[%d, %d]:\t\tvalue is %d\n", blockIdx.y * gridDim.x + blockIdx.x,
           threadIdx.z * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x, value);
}
"""
GRID, BLOCK, VALUE = (2, 2), (2, 2, 2), 10


def child() -> int:
    """Launch the kernel."""
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("say")
    launch(stream, LaunchConfig(grid=GRID, block=BLOCK), kernel, VALUE)
    stream.sync()
    return 0


def main() -> int:
    # The driver prints with C's stdio, past sys.stdout: to read it here, a process of its own does so.
    done = subprocess.run([sys.executable, __file__, "child"], stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="")
    expected = [f"[{block}, {thread}]:\t\tvalue is {VALUE}" for block in range(4) for thread in range(8)]
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    right = done.returncode == 0 and sorted(lines) == expected
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(child() if "child" in sys.argv[1:] else main())
