"""Memory of graphs is there as long as a graph, an instance or a launch has it, and no longer."""

from __future__ import annotations

from .test_device import PREPARE, output

CAPTURED = """
import ctypes, threading, time
from cudapy.simulator.memory.allocations import blocks, table
from cudapy.simulator.memory.pool_memory import graph_memory
call = driver.checked
stream = call.cuStreamCreate(0)
def captured(frees):
    call.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
    address = call.cuMemAllocAsync(1 << 16, stream)
    call.cuMemsetD8Async(address, 1, 1 << 16, stream)
    if frees:
        call.cuMemFreeAsync(address, stream)
    return call.cuStreamEndCapture(stream), address
def gone():
    call.cuCtxSynchronize()
    end = time.monotonic() + 30
    while graph_memory and time.monotonic() < end:  # an instance is let go behind its last launch
        time.sleep(1e-3)
    return len(graph_memory) == len(blocks.all()) == 0
"""
CASES = {
    "a graph that nobody launches": """
graph, _ = captured(True)
print(len(graph_memory))
call.cuGraphDestroy(graph)
print(gone())
""",
    "an instance of a graph that is gone": """
graph, _ = captured(True)
instance = call.cuGraphInstantiate(graph, 0)
call.cuGraphDestroy(graph)
call.cuGraphLaunch(instance, stream)
call.cuGraphLaunch(instance, stream)
print(len(graph_memory))
call.cuGraphExecDestroy(instance)
print(gone())
""",
    "memory that outlives its graph": """
graph, address = captured(False)
instance = call.cuGraphInstantiate(graph, 0)
call.cuGraphLaunch(instance, stream)
call.cuGraphExecDestroy(instance)
call.cuGraphDestroy(graph)
data = bytearray(1)
call.cuMemcpyDtoH(data, address, 1)
assert data == b"\\1"
print(len(graph_memory))
call.cuMemFreeAsync(address, stream)
print(gone())
""",
    "a launch that is under way as all goes": """
graph, address = captured(True)
instance = call.cuGraphInstantiate(graph, 0)
gate = threading.Event()
wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: gate.wait(60))
call.cuLaunchHostFunc(stream, ctypes.cast(wait, ctypes.c_void_p).value, 0)
call.cuGraphLaunch(instance, stream)
call.cuGraphExecDestroy(instance)
call.cuGraphDestroy(graph)
print(len(graph_memory))
gate.set()
print(gone())
""",
    "memory that a kernel may touch as it goes, which is a race": """
import gc, weakref
graph, address = captured(True)
instance = call.cuGraphInstantiate(graph, 0)
call.cuGraphLaunch(instance, stream)
call.cuCtxSynchronize()
[storage] = map(weakref.ref, graph_memory.values())
with table.in_use():
    call.cuGraphExecDestroy(instance)
    call.cuGraphDestroy(graph)
    found = gone()
    gc.collect()
    print(int(storage() is not None))
gc.collect()
print(found and storage() is None)
""",
    "a capture that comes to nothing": """
call.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
call.cuMemAllocAsync(1 << 16, stream)
print(len(graph_memory))
assert driver.cuStreamSynchronize(stream)[0] and driver.cuMemAllocAsync(64, stream)[0]
assert driver.cuStreamEndCapture(stream)[0]
print(gone())
""",
    "a node that a graph does not take": """
graph, other = call.cuGraphCreate(0), call.cuGraphCreate(0)
stranger = call.cuGraphAddEmptyNode(other, [], 0)
params = driver.CUDA_MEM_ALLOC_NODE_PARAMS(bytesize=64)
params.poolProps.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
params.poolProps.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
call.cuGraphAddMemAllocNode(graph, [], 0, params)
assert driver.cuGraphAddMemAllocNode(graph, [stranger], 1, params)[0]
print(len(graph_memory))
call.cuGraphDestroy(graph)
print(gone())
""",
}


def test_it_goes_with_the_last_that_has_it() -> None:
    found = output(PREPARE + CAPTURED + "".join(f"print({name!r})\n{code}" for name, code in CASES.items()))
    assert found == "".join(f"{name}\n1\nTrue\n" for name in CASES)
