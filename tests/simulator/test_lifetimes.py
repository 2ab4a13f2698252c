"""What becomes of work and memory when a fault ends a context, or what they belong to is destroyed."""

from __future__ import annotations

import pytest

from cudapy.simulator import handles

from .test_device import output, run

PRELUDE = '''
import ctypes, threading, time
import numpy as np
from cudapy import driver, runtime
from cudapy.driver import checked

PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 p)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %q;
    ld.param.u64 %rd1, [p];
L:  ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %q, %r1, 0;
    @%q bra L;
    ret;
}
.visible .entry put(.param .u64 p, .param .u32 v)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [v];
    st.volatile.global.u32 [%rd1], %r1;
    ret;
}
"""
checked.cuInit(0)
LIMIT = 60  # seconds, for what would wait for ever
LOST = "CUDA_ERROR_ILLEGAL_ADDRESS"

def u32(): return np.zeros(16, np.uint32)

class World:
    """A context, and in it a kernel that spins for good, and work behind that."""
    def __init__(self, primary=False):
        self.context = checked.cuDevicePrimaryCtxRetain(0) if primary else checked.cuCtxCreate(0, 0)
        checked.cuCtxSetCurrent(self.context)
        self.module = checked.cuModuleLoadData(PTX + b"\\0")
        self.spin, self.put = (checked.cuModuleGetFunction(self.module, n) for n in (b"spin", b"put"))
        self.memory = checked.cuMemAlloc(64)
        checked.cuMemsetD8(self.memory, 0, 64)
        self.slow, self.other = checked.cuStreamCreate(1), checked.cuStreamCreate(1)
        self.event = checked.cuEventCreate(0)

    def launch(self, stream, kernel, address, *more):
        values = (int(address), *more), (ctypes.c_void_p, ctypes.c_uint32)[: 1 + len(more)]
        checked.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, values, 0)

    def begin(self):
        self.launch(self.slow, self.spin, self.memory)
        checked.cuEventRecord(self.event, self.slow)
        return self

    def fault(self):
        self.launch(self.other, self.put, 16, 5)

    def lose(self):
        self.begin().fault()
        assert driver.cuStreamSynchronize(self.other)[0].name == LOST
        return self

def name(result): return (result[0] if isinstance(result, tuple) else result).name
'''


def test_after_a_fault_nothing_waits_for_a_kernel_that_spins() -> None:
    """What waits fails with the status of the fault, and tearing down ends."""
    calls = """
WAITS = {
    "stream": lambda w: driver.cuStreamSynchronize(w.slow),
    "query": lambda w: driver.cuStreamQuery(w.slow),
    "context": lambda w: driver.cuCtxSynchronize(),
    "event": lambda w: driver.cuEventSynchronize(w.event),
    "event query": lambda w: driver.cuEventQuery(w.event),
    "free": lambda w: driver.cuMemFree(w.memory),
    "copy": lambda w: driver.cuMemcpyDtoH(u32(), w.memory, 64),
    "copy in the stream": lambda w: driver.cuMemcpyDtoHAsync(u32(), w.memory, 64, w.slow),
    "unload": lambda w: driver.cuModuleUnload(w.module),
    "runtime": lambda w: runtime.cudaDeviceSynchronize(),
}
seen = []
for what, call in WAITS.items():
    world = World().lose()
    seen.append((what, name(call(world))))
    checked.cuCtxDestroy(world.context)
assert all(status in (LOST, "cudaErrorIllegalAddress") for what, status in seen), seen
world = World().lose()
for stream in (world.slow, world.other): checked.cuStreamDestroy(stream)
checked.cuEventDestroy(world.event)
checked.cuCtxDestroy(world.context)
print("ends")
"""
    assert output(PRELUDE + calls, CUDAPY_SIMULATOR_REPORTS="0") == "ends\n"


@pytest.mark.parametrize("reset", ["driver.cuDevicePrimaryCtxReset(0)", "runtime.cudaDeviceReset()"])
def test_a_reset_after_a_fault_ends(reset: str) -> None:
    calls = f"""
for _ in range(2):
    world = World(primary=True).lose()
    {reset}
world = World(primary=True)
world.launch(world.slow, world.put, world.memory, 7)
checked.cuStreamSynchronize(world.slow)
out = u32()
checked.cuMemcpyDtoH(out, world.memory, 64)
print(out[0])
"""
    assert output(PRELUDE + calls, CUDAPY_SIMULATOR_REPORTS="0") == "7\n"


def test_a_fault_ends_waits_that_began_before() -> None:
    """Of all threads, for kernels, words of memory, events and host functions; and no other context's."""
    calls = """
world, other = World().begin(), World()
other.launch(other.slow, other.spin, other.memory)
checked.cuCtxSetCurrent(world.context)
word = checked.cuStreamCreate(1)
checked.cuStreamWaitValue32(word, world.memory, 1, 0)
follows = checked.cuStreamCreate(1)
checked.cuStreamWaitEvent(follows, world.event, 0)
ran, called, graph = [], [], checked.cuGraphCreate(0)
note = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ran.append)
kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
was_called = threading.Event()
callback = kind(lambda stream, status, data: (called.append(status), was_called.set()))
checked.cuLaunchHostFunc(follows, note, None)
checked.cuStreamAddCallback(follows, callback, None, 0)
params = driver.CUDA_HOST_NODE_PARAMS(fn=ctypes.cast(note, ctypes.c_void_p).value)
checked.cuGraphAddEventWaitNode(graph, [], 0, world.event)
checked.cuGraphAddHostNode(graph, [], 0, params)
launched = checked.cuStreamCreate(1)
checked.cuGraphLaunch(checked.cuGraphInstantiate(graph, 0), launched)
seen, started = [], threading.Barrier(7)
def wait(call, *arguments):
    checked.cuCtxSetCurrent(world.context)
    started.wait()
    seen.append(name(call(*arguments)))
threads = [
    threading.Thread(target=wait, args=arguments, daemon=True)
    for arguments in [
        (driver.cuStreamSynchronize, world.slow), (driver.cuStreamSynchronize, word),
        (driver.cuStreamSynchronize, follows), (driver.cuStreamSynchronize, launched),
        (driver.cuCtxSynchronize,), (driver.cuEventSynchronize, world.event),
    ]
]
for thread in threads: thread.start()
started.wait()
world.fault()
for thread in threads: thread.join(LIMIT)
assert seen == [LOST] * 6, seen
checked.cuCtxDestroy(world.context)
assert was_called.wait(LIMIT)
assert ran == [] and called == [700], (ran, called)
checked.cuCtxSetCurrent(other.context)
assert name(driver.cuStreamQuery(other.slow)) == "CUDA_ERROR_NOT_READY"
checked.cuMemsetD32Async(other.memory, 1, 1, other.other)
checked.cuCtxSynchronize()
print("ends")
"""
    assert output(PRELUDE + calls, CUDAPY_SIMULATOR_REPORTS="0") == "ends\n"


def test_a_fault_does_not_wait_for_functions_of_the_program() -> None:
    """One that runs goes on; nothing that waits, waits for it."""
    calls = """
world, gate, ran = World(), threading.Event(), []
hold = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: (gate.wait(LIMIT), ran.append(1)))
checked.cuLaunchHostFunc(world.slow, hold, None)
checked.cuLaunchHostFunc(world.slow, hold, None)
world.fault()
for call in (lambda: driver.cuStreamSynchronize(world.slow), driver.cuCtxSynchronize):
    assert name(call()) == LOST
checked.cuCtxDestroy(world.context)
assert ran == []
gate.set()
print("ends")
"""
    assert output(PRELUDE + calls, CUDAPY_SIMULATOR_REPORTS="0") == "ends\n"


def test_no_kernel_runs_once_a_fault_shows() -> None:
    """A program may release memory of its own then, that it has registered."""
    calls = """
for number in range(5):
    world = World()
    words = np.zeros(1024, np.uint32)
    checked.cuMemHostRegister(words.ctypes.data, words.nbytes, 0)
    for stream in (checked.cuStreamCreate(1) for _ in range(4)):
        for _ in range(300): world.launch(stream, world.put, words.ctypes.data, 1)
        world.launch(stream, world.spin, world.memory)
    world.fault()
    assert name(driver.cuStreamSynchronize(world.other)) == LOST
    words[:] = 0
    checked.cuCtxDestroy(world.context)
    assert not words.any()
print("ends")
"""
    assert output(PRELUDE + calls, CUDAPY_SIMULATOR_REPORTS="0") == "ends\n"


POOL = """
world = World(primary=True)
stream = world.other
addresses = [int(checked.cuMemAllocAsync(4096, stream)) for _ in range(64)]
checked.cuStreamSynchronize(stream)
are_queued = threading.Event()
wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: are_queued.wait(LIMIT))
checked.cuLaunchHostFunc(stream, ctypes.cast(wait, ctypes.c_void_p).value, 0)
world.fault()
for address in addresses: checked.cuMemFreeAsync(address, stream)
are_queued.set()
assert name(driver.cuStreamSynchronize(stream)) == LOST
checked.cuDevicePrimaryCtxReset(0)
time.sleep(0.3)  # a thread of the simulator does what is left: nothing waits for it
"""


def test_what_was_freed_after_a_fault_is_out_of_reach_once_it_is_the_program_s() -> None:
    """After a reset and a trim, arrays of the program may lie where memory of the pool did."""
    calls = """
checked.cuMemPoolTrimTo(checked.cuDeviceGetDefaultMemPool(0), 0)
arrays = [np.zeros(4096 // 4, np.uint32) for _ in range(256)]
for address in addresses:
    world = World()
    world.launch(world.slow, world.put, address, 7)
    assert name(driver.cuStreamSynchronize(world.slow)) == LOST
    checked.cuCtxDestroy(world.context)
assert not any(array.any() for array in arrays)
print("ends")
"""
    assert output(PRELUDE + POOL + calls, CUDAPY_SIMULATOR_REPORTS="0") == "ends\n"


def test_what_was_freed_after_a_fault_is_given_out_again() -> None:
    calls = """
world = World(primary=True)
seen = []
for _ in range(2):
    again = [checked.cuMemAllocAsync(4096, world.slow) for _ in addresses]
    for address in again: world.launch(world.slow, world.put, address, 7)
    out = u32()
    for address in again:
        checked.cuMemcpyDtoHAsync(out, address, 4, world.slow)
        assert out[0] == 7
        checked.cuMemFreeAsync(address, world.slow)
    checked.cuStreamSynchronize(world.slow)  # which trims the pool
    seen.append({int(address) for address in again})
print(seen[0] == {*addresses})
"""
    assert output(PRELUDE + POOL + calls, CUDAPY_SIMULATOR_REPORTS="0") == "True\n"


QUARANTINE = """
world = World(primary=True)
def freed():
    address = checked.cuMemAllocAsync(4096, world.slow)
    checked.cuMemFreeAsync(address, world.slow)
    return int(address)
"""


def test_a_late_use_of_memory_of_a_pool_is_found_with_the_checks() -> None:
    """Without them the pool gives the memory out again at once."""
    calls = """
address = freed()
other = checked.cuMemAllocAsync(4096, world.slow)
world.launch(world.slow, world.put, address, 7)
print(name(driver.cuStreamSynchronize(world.slow)))
"""
    program = PRELUDE + QUARANTINE + calls
    assert output(program, CUDAPY_SIMULATOR_REPORTS="0") == "CUDA_SUCCESS\n"
    checked = output(program, CUDAPY_SIMULATOR_REPORTS="0", CUDAPY_SIMULATOR_CHECK="uninitialized")
    assert checked == "CUDA_ERROR_ILLEGAL_ADDRESS\n"


def test_memory_of_a_pool_that_is_used_before_its_stream_gets_there() -> None:
    calls = """
world = World(primary=True)
world.begin()
late = checked.cuMemAllocAsync(4096, world.slow)
world.launch(world.other, world.put, late, 7)
assert name(driver.cuStreamSynchronize(world.other)) == LOST
"""
    done = run(PRELUDE + calls)
    assert "in device memory of 4096 bytes at 0x" in done.stderr
    assert "that its stream has not allocated yet: an event behind the allocation" in done.stderr


def test_memory_of_a_pool_is_not_kept_for_ever_for_the_checks() -> None:
    calls = """
import cudapy.simulator.memory.pool_memory as memory
memory.QUARANTINE = 8192
seen = [freed() for _ in range(20)]
print(len({*seen[-3:]}), sum(one.size for one in memory._quarantine))
"""
    assert output(PRELUDE + QUARANTINE + calls, CUDAPY_SIMULATOR_CHECK="races") == "3 8192\n"


def test_memory_of_a_pool_that_its_context_left_is_freed_in_another() -> None:
    """The fault of that one is over, and the status is the other's."""
    calls = """
world = World(primary=True)
addresses = [checked.cuMemAllocAsync(4096, world.slow) for _ in range(3)]
used = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
def in_use(): return int(checked.cuMemPoolGetAttribute(checked.cuDeviceGetDefaultMemPool(0), used))
world.lose()
checked.cuDevicePrimaryCtxReset(0)
world = World(primary=True)
checked.cuMemFree(addresses.pop()), checked.cuMemFreeAsync(addresses.pop(), world.slow)
print(in_use())
world.lose()
print(name(driver.cuMemFree(addresses.pop())))
"""
    said = output(PRELUDE + calls, CUDAPY_SIMULATOR_REPORTS="0")
    assert said == "4096\nCUDA_ERROR_ILLEGAL_ADDRESS\n"


def test_memory_of_a_graph_that_a_fault_ended() -> None:
    """Its launch allocated and did not free: the memory stays as long as kernels may touch it."""
    calls = """
world = World(primary=True)
graph = checked.cuGraphCreate(0)
params = driver.CUDA_MEM_ALLOC_NODE_PARAMS(bytesize=4096)
params.poolProps.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
params.poolProps.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
node = checked.cuGraphAddMemAllocNode(graph, [], 0, params)
address = int(params.dptr)
kernel = driver.CUDA_KERNEL_NODE_PARAMS(func=world.put)
for size in ("gridDim", "blockDim"):
    for axis in "XYZ": setattr(kernel, size + axis, 1)
word, value = ctypes.c_void_p(16), ctypes.c_uint32(7)
table = (ctypes.c_void_p * 2)(ctypes.addressof(word), ctypes.addressof(value))
kernel.kernelParams = ctypes.addressof(table)
faulty = checked.cuGraphAddKernelNode(graph, [node], 1, kernel)
checked.cuGraphAddMemFreeNode(graph, [faulty], 1, address)
instance = checked.cuGraphInstantiate(graph, 0)
checked.cuGraphLaunch(instance, world.slow)
assert name(driver.cuStreamSynchronize(world.slow)) == LOST
checked.cuGraphExecDestroy(instance), checked.cuGraphDestroy(graph)
checked.cuDevicePrimaryCtxReset(0)
arrays = [np.zeros(4096 // 4, np.uint32) for _ in range(256)]
world = World(primary=True)
world.launch(world.slow, world.put, address, 7)
driver.cuStreamSynchronize(world.slow)
assert not any(array.any() for array in arrays)
print("ends")
"""
    assert output(PRELUDE + calls, CUDAPY_SIMULATOR_REPORTS="0") == "ends\n"


def test_page_locked_memory_is_the_program_s_again_after_a_fault() -> None:
    """cuMemHostUnregister returns the status of the fault; no kernel may touch the memory."""
    calls = """
world, words = World(), np.zeros(1024, np.uint32)
checked.cuMemHostRegister(words.ctypes.data, words.nbytes, 0)
world.lose()
assert name(driver.cuMemHostUnregister(words.ctypes.data)) == LOST
world = World()
world.launch(world.slow, world.put, words.ctypes.data, 7)
assert name(driver.cuStreamSynchronize(world.slow)) == LOST
print(words.any())
"""
    assert output(PRELUDE + calls, CUDAPY_SIMULATOR_REPORTS="0") == "False\n"


def test_a_library_may_be_unloaded_while_its_kernel_runs() -> None:
    """A program that drops a kernel before it has let the kernel go on would else wait for itself."""
    calls = """
world = World()
library = checked.cuLibraryLoadData(PTX + b"\\0", [], [], 0, [], [], 0)
spin, put = (checked.cuLibraryGetKernel(library, name) for name in (b"spin", b"put"))
world.launch(world.slow, driver.CUfunction(int(spin)), world.memory)
world.launch(world.slow, driver.CUfunction(int(put)), world.memory, 7)
checked.cuLibraryUnload(library)
print(name(driver.cuStreamQuery(world.slow)), name(driver.cuLibraryUnload(library)))
world.launch(world.other, world.put, world.memory, 1)
checked.cuCtxSynchronize()
out = u32()
checked.cuMemcpyDtoH(out, world.memory, 64)
print(out[0])
"""
    assert output(PRELUDE + calls) == "CUDA_ERROR_NOT_READY CUDA_ERROR_INVALID_HANDLE\n7\n"


def test_a_kernel_for_which_the_host_has_no_memory() -> None:
    """Its context is lost, and is told why; that is no mistake in the simulator."""
    calls = """
import resource
LARGE = PTX.replace(b".entry put", b".entry large").replace(
    b"{", b"{ .local .b8 l[400000]; .reg .b64 %a; mov.u64 %a, l; st.local.u32 [%a], 1;"
)
world = World(primary=True)
large = checked.cuModuleGetFunction(checked.cuModuleLoadData(LARGE + b"\\0"), b"large")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
before = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (used + (24 << 20), before[1]))
values = (int(world.memory), 5), (ctypes.c_void_p, ctypes.c_uint32)
driver.cuLaunchKernel(large, 1, 1, 1, 1024, 1, 1, 0, world.slow, values, 0)
status = driver.cuStreamSynchronize(world.slow)
resource.setrlimit(resource.RLIMIT_AS, before)
print(name(status))
try: checked.cuCtxSynchronize()
except MemoryError as error: print("the host has not that much memory" in str(error))
checked.cuDevicePrimaryCtxReset(0)
world = World(primary=True)
world.launch(world.slow, world.put, world.memory, 7)
print(name(driver.cuStreamSynchronize(world.slow)))
"""
    expected = "CUDA_ERROR_OUT_OF_MEMORY\nTrue\nCUDA_SUCCESS\n"
    assert output(PRELUDE + calls, CUDAPY_SIMULATOR_REPORTS="0") == expected


def test_managed_memory_of_gigabytes_is_zero_and_takes_none_before_it_is_touched() -> None:
    calls = """
import resource
def resident(): return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
context = checked.cuCtxCreate(0, 0)
for size in (1 << 20, (64 << 20) - 1, 64 << 20, 1 << 30):
    for _ in range(2):
        before = resident()
        memory = int(checked.cuMemAllocManaged(size, 1))
        grown = resident() - before
        view = np.frombuffer((ctypes.c_uint8 * size).from_address(memory), np.uint8)
        assert size < 1 << 30 or grown < 64 << 20, grown
        assert not view[:: size // 4096].any() and not view[-4096:].any(), size
        view[-4096:] = view[:4096] = 0xAB
        del view
        checked.cuMemFree(memory)
print("zero")
"""
    assert output(PRELUDE + calls, CUDAPY_SIMULATOR_REPORTS="0") == "zero\n"


def test_objects_of_a_kind_are_found_without_the_others() -> None:
    class Thing(handles.Object):
        pass

    class Special(Thing):
        pass

    made = [kind() for kind in (Thing, Special, Thing, handles.Object)]
    assert handles.every(Thing) == made[:3] and handles.every(Special) == made[1:2]
    made[0].forget()
    made[0].forget()
    assert handles.every(Thing) == made[1:3] and handles.is_a(made[1].handle, Thing)
    handles.relist(made[0])
    assert handles.every(Thing) == made[:3]
    assert list(handles._kinds[Special]) == [made[1].handle]
    for one in made:
        one.forget()
    assert handles.every(Thing) == [] and not handles.is_a(made[1].handle, Thing)
