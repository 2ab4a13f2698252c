"""simplePrintf: printf in a kernel.

    python samples/introduction/simple_print.py

What threads print goes to a buffer on the device, and from there to the process's standard output when the
host synchronises. The order of the blocks is nobody's promise.
"""

from __future__ import annotations

import os
import sys
import tempfile

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


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("say")

    # The driver writes to descriptor 1, not to Python's sys.stdout: to read it here, a file takes its place.
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        stdout = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            launch(stream, LaunchConfig(grid=GRID, block=BLOCK), kernel, VALUE)
            stream.sync()
        finally:
            os.dup2(stdout, 1)
            os.close(stdout)
        file.seek(0)
        text = file.read().decode()

    print(text, end="")
    expected = {f"[{block}, {thread}]:\t\tvalue is {VALUE}" for block in range(4) for thread in range(8)}
    right = set(text.splitlines()) == expected and len(text.splitlines()) == 32
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
