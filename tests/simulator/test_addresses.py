"""Addresses of the host's memory that a program gives, where there is none, or none that can be read."""

from __future__ import annotations

import ctypes
import mmap
import sys

import pytest

from .test_device import PREPARE, output

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system does not tell")

CALLS = """
from cudapy.driver import CUresult
INVALID = CUresult.CUDA_ERROR_INVALID_VALUE
call = driver.checked
memory, stream = call.cuMemAlloc(1 << 20), call.cuStreamCreate(1)
blank = int(call.cuMemAddressReserve(2 << 20, 0, 0, 0))
for address in (1, 5, 4096, 1 << 47, (1 << 63) + 8, (1 << 64) - 8, blank):
    box = driver.CUDA_MEMCPY2D(srcMemoryType=1, srcHost=address, dstMemoryType=2, dstDevice=memory)
    box.WidthInBytes, box.Height = 8, 2
    statuses = [
        driver.cuMemcpyHtoD(memory, address, 8)[0],
        driver.cuMemcpyDtoH(address, memory, 8)[0],
        driver.cuMemcpyHtoDAsync(memory, address, 8, stream)[0],
        driver.cuMemcpy(memory, address, 8)[0],
        driver.cuMemcpy2D(box)[0],
        driver.cuMemHostRegister(address, 8, 0)[0],
        driver.cuLaunchHostFunc(stream, address, 0)[0],
        driver.cuStreamAddCallback(stream, address, 0, 0)[0],
        driver.cuUserObjectCreate(0, address, 1, 1)[0],
    ]
    assert statuses == [INVALID] * len(statuses), (hex(address), statuses)
    assert driver.cuModuleLoadData(address)[0]
call.cuStreamSynchronize(stream)
print("fine")
"""


def test_an_address_of_nothing_is_a_status() -> None:
    assert output(PREPARE + CALLS) == "fine\n"


def test_every_page_is_looked_at() -> None:
    """Also those that are in the midst of many, and those that are mapped and cannot be read."""
    from cudapy.simulator.addresses import AT_ONCE, PAGE, is_readable

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    pages = 2 * AT_ONCE + 3
    with mmap.mmap(-1, pages * PAGE) as memory:
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        assert is_readable(start, pages * PAGE) and is_readable(start + 5, 1)
        for page in (0, 1, AT_ONCE - 1, AT_ONCE, pages - 1):
            assert libc.mprotect(start + page * PAGE, PAGE, 0) == 0
            assert not is_readable(start, pages * PAGE)
            assert not is_readable(start + page * PAGE + 7, 1)
            assert not page or is_readable(start, page * PAGE)
            assert libc.mprotect(start + page * PAGE, PAGE, mmap.PROT_READ | mmap.PROT_WRITE) == 0
        assert is_readable(start, pages * PAGE)
    assert not is_readable(-8, 8) and not is_readable((1 << 64) - 4, 8)
