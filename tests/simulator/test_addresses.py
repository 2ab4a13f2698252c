"""Addresses of the host's memory that a program gives, where there is none, or none that can be read."""

from __future__ import annotations

import ctypes
import mmap
import sys

import pytest

from cudapy.simulator.addresses import gathered

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
data = ctypes.create_string_buffer(64)
for address in (ctypes.addressof(data), id(data)):  # memory, but no code
    statuses = [
        driver.cuLaunchHostFunc(stream, address, 0)[0],
        driver.cuStreamAddCallback(stream, address, 0, 0)[0],
        driver.cuUserObjectCreate(0, address, 1, 1)[0],
        driver.cuLogsRegisterCallback(address, 0)[0],
    ]
    assert statuses == [INVALID] * len(statuses), (hex(address), statuses)
seen = []
function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append)
for number in (5, 6):
    call.cuLaunchHostFunc(stream, ctypes.cast(function, ctypes.c_void_p).value, number)
call.cuStreamSynchronize(stream)
assert seen == [5, 6]
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


STRUCTS = """
from cudapy.driver import CUresult
INVALID, call = CUresult.CUDA_ERROR_INVALID_VALUE, driver.checked
module = call.cuModuleLoadData(b'''.version 7.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 x) { ret; }''')
kernel, graph = call.cuModuleGetFunction(module, b"add"), call.cuGraphCreate(0)
for address in (5, 1 << 47, (1 << 64) - 8):
    config = driver.CUlaunchConfig(gridDimX=1, gridDimY=1, gridDimZ=1, blockDimX=1, blockDimY=1, blockDimZ=1)
    driver.CUlaunchConfig.attrs.raw.__set__(config, address)
    config.numAttrs = 2
    node = driver.CUDA_KERNEL_NODE_PARAMS(func=kernel, gridDimX=1, gridDimY=1, gridDimZ=1)
    node.blockDimX = node.blockDimY = node.blockDimZ = 1
    node.extra = address
    batch = driver.CUDA_BATCH_MEM_OP_NODE_PARAMS(ctx=call.cuCtxGetCurrent(), count=2)
    type(batch).paramArray.raw.__set__(batch, address)
    statuses = [
        driver.cuOccupancyMaxActiveClusters(kernel, config)[0],
        driver.cuLaunchKernelEx(config, kernel, 0, 0)[0],
        driver.cuGraphAddKernelNode(graph, None, 0, node)[0],
        driver.cuGraphAddBatchMemOpNode(graph, None, 0, batch)[0],
    ]
    assert statuses == [INVALID] * len(statuses), (hex(address), statuses)
print("fine")
"""


def test_what_structs_point_to_is_looked_at() -> None:
    assert output(PREPARE + STRUCTS) == "fine\n"


ABSURD = """
from cudapy import runtime
from cudapy.runtime import cudaError_t
address = driver.checked.cuMemHostAlloc(1 << 31, 0)  # untouched, it takes no memory
driver.checked.cuMemFreeHost(address)
call, bytesize = driver.checked, (65 << 20) + 5
for pool in (False, False, True, True):  # what was in memory is gone, on the device too
    address = call.cuMemAllocAsync(bytesize, 0) if pool else call.cuMemAlloc(bytesize)
    for place in (0, 4096, bytesize - 8):
        assert call.cuMemcpyDtoH(text := bytearray(8), int(address) + place, 8) is None and not any(text)
    call.cuMemsetD8(address, 7, bytesize)
    call.cuMemFree(address)
pointer = runtime.checked.cudaMalloc3D(runtime.cudaExtent(width=64, height=2, depth=2))
for rows in (0, 1):
    pointer.ysize = rows
    extent = runtime.cudaExtent(width=64, height=2, depth=1 << 49)
    assert runtime.cudaMemset3D(pointer, 0, extent)[0] == cudaError_t.cudaErrorInvalidValue
assert not runtime.cudaMemset3D(pointer, 0, runtime.cudaExtent(width=64, height=0, depth=1 << 49))[0]
graph = driver.checked.cuGraphCreate(0)
value = driver.checked.cuGraphConditionalHandleCreate(graph, driver.checked.cuCtxGetCurrent(), 0, 0)
node = driver.CUgraphNodeParams(type=driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL)
node.conditional.handle, node.conditional.size = value, 1 << 31
node.conditional.type = driver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_SWITCH
assert driver.cuGraphAddNode(graph, None, None, 0, node)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
memory = bytearray(b"x" * 64)
for size, written in ((1, b"\\0"), (2, b"\\n\\0")):
    assert driver.cuLogsDumpToMemory(0, memory, size, 0)[2] == size - 1
    assert memory == written.ljust(64, b"x"), memory
assert driver.cuLogsDumpToMemory(0, memory, 0, 0)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
destructor = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p).value
thing = call.cuUserObjectCreate(0, destructor, 1, 1)
assert driver.cuGraphReleaseUserObject(graph, thing, 0)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
print("fine")
"""


def test_absurd_sizes_are_answered_at_once() -> None:
    """Each of these took gigabytes, or for ever."""
    limited = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (20, 20))\n"
    assert output(limited + PREPARE + ABSURD) == "fine\n"


def test_the_one_of_several_places_that_cannot_be_read_is_named() -> None:
    from cudapy.simulator.addresses import PAGE, require_each
    from cudapy.simulator.refused import Refused

    libc = ctypes.CDLL(None)
    libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    with mmap.mmap(-1, 2 * PAGE) as memory:
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        assert libc.mprotect(start + PAGE, PAGE, 0) == 0
        good = [(start, 8, "first"), (start + PAGE - 8, 8, "last")]
        require_each(good)
        for bad in ((start + PAGE, 8), (start + PAGE - 4, 8)):  # the second begins in good memory
            for places in ([*good, (*bad, "bad")], [(*bad, "bad"), *good]):
                with pytest.raises(Refused, match="bad is 0x"):
                    require_each(places)
        assert libc.mprotect(start + PAGE, PAGE, mmap.PROT_READ | mmap.PROT_WRITE) == 0


def test_what_lies_in_several_places() -> None:
    numbers, many = (ctypes.c_int * 3)(1, 2, 3), ctypes.create_string_buffer(b"x" * 5000, 5000)
    a, b = ctypes.addressof(numbers), ctypes.addressof(many)
    assert gathered([(a, 12), (b, 5000), (a, 4)], 5016) == bytes(numbers) + many.raw + bytes(numbers)[:4]
    assert gathered([(a, 12), (16, 0)], 12) == bytes(numbers) and gathered([], 0) == b""
    for wrong in (0, -1, 1 << 64):
        assert gathered([(a, 12), (wrong, 4)], 16) is None
