"""A program that gives memory back while a kernel uses it gets a report, and its process lives."""

from __future__ import annotations

from .test_device import run

RACE = '''
import time
from cudapy.core import *
from cudapy.simulator.memory.allocations import table
ADD = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry spin(.param .u64 x, .param .u32 count)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, 0;
    mov.u32 %r5, %tid.x;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
LOOP:
    ld.global.u32 %r3, [%rd4];
    add.s32 %r3, %r3, 1;
    st.global.u32 [%rd4], %r3;
    add.s32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra LOOP;
    ret;
}
"""
device = Device(0); device.set_current()
kernel = ObjectCode.from_ptx(ADD).get_kernel("spin")
first, second = device.create_stream(), device.create_stream()
pool = DeviceMemoryResource(0, DeviceMemoryResourceOptions())
buffer = pool.allocate(64 << 20, first)  # the C library gives so much back to the system at once
first.sync()
launch(first, LaunchConfig(grid=1, block=1024), kernel, buffer, 1_000_000)
while not table._runs: time.sleep(1e-3)
time.sleep(0.05)
buffer.close(second)
second.sync()
pool.trim()
try:
    first.sync()
except CUDAError as error:
    print(error.name, table._waiting)
'''


def test_memory_that_is_trimmed_while_a_kernel_uses_it() -> None:
    done = run(RACE)
    assert (done.returncode, done.stdout) == (0, "CUDA_ERROR_ILLEGAL_ADDRESS []\n"), done.stderr
