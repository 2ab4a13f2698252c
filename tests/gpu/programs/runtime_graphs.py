"""Graphs with the Runtime API: kernel, 1D copies, memset, host, event, allocation, child, conditional nodes."""

import ctypes

import numpy as np
from cuda.bindings import nvrtc
from cuda.bindings import runtime as rt


def ck(result):
    if result[0].value:
        raise RuntimeError(f"{result[0].name}")
    return result[1] if len(result) == 2 else result[1:]


ck(rt.cudaSetDevice(0))
prog = ck(
    nvrtc.nvrtcCreateProgram(
        b"""
extern "C" __global__ void inc(int *p, int v) { p[threadIdx.x] += v; }
""",
        b"",
        0,
        [],
        [],
    )
)
ck(nvrtc.nvrtcCompileProgram(prog, 1, [b"-arch=sm_90"]))
cubin = bytes(ck(nvrtc.nvrtcGetCUBINSize(prog)))
ck(nvrtc.nvrtcGetCUBIN(prog, cubin))
library = ck(rt.cudaLibraryLoadData(cubin, None, None, 0, None, None, 0))
inc = ck(rt.cudaLibraryGetKernel(library, b"inc"))

graph = ck(rt.cudaGraphCreate(0))
p = ck(rt.cudaMalloc(128))
source = np.arange(32, dtype=np.int32)
target = np.zeros(32, np.int32)
first = ck(
    rt.cudaGraphAddMemcpyNode1D(
        graph, None, 0, p, source.ctypes.data, 128, rt.cudaMemcpyKind.cudaMemcpyHostToDevice
    )
)
node = rt.cudaKernelNodeParams()
node.func = inc
node.gridDim.x = node.gridDim.y = node.gridDim.z = 1
node.blockDim.x, node.blockDim.y, node.blockDim.z = 32, 1, 1
node.sharedMemBytes = 0
node.kernelParams = ((p, 5), (ctypes.c_void_p, ctypes.c_int))
second = ck(rt.cudaGraphAddKernelNode(graph, [first], 1, node))
third = ck(
    rt.cudaGraphAddMemcpyNode1D(
        graph, [second], 1, target.ctypes.data, p, 128, rt.cudaMemcpyKind.cudaMemcpyDeviceToHost
    )
)
event = ck(rt.cudaEventCreate())
record = ck(rt.cudaGraphAddEventRecordNode(graph, [third], 1, event))
print(ck(rt.cudaGraphEventRecordNodeGetEvent(record)) == event)
memset = rt.cudaMemsetParams()
memset.dst, memset.elementSize, memset.width, memset.height, memset.pitch, memset.value = p, 1, 128, 1, 128, 0
last = ck(rt.cudaGraphAddMemsetNode(graph, [record], 1, memset))
nodes, count = ck(rt.cudaGraphGetNodes(graph, 9))
print(count, [ck(rt.cudaGraphNodeGetType(n)).name for n in (first, second, third, record, last)])
print(
    ck(rt.cudaGraphNodeGetDependencies(second, 4))[-1], ck(rt.cudaGraphNodeGetDependentNodes(second, 4))[-1]
)
exe = ck(rt.cudaGraphInstantiate(graph, 0))
stream = ck(rt.cudaStreamCreate())
ck(rt.cudaGraphLaunch(exe, stream))
ck(rt.cudaStreamSynchronize(stream))
print((target == source + 5).all())
node.kernelParams = ((p, 100), (ctypes.c_void_p, ctypes.c_int))
ck(rt.cudaGraphExecKernelNodeSetParams(exe, second, node))
ck(rt.cudaGraphLaunch(exe, stream))
ck(rt.cudaStreamSynchronize(stream))
print((target == source + 100).all())
err, info = rt.cudaGraphExecUpdate(exe, graph)
print(err, info.result.name, type(info.errorNode).__name__)

outer = ck(rt.cudaGraphCreate(0))
child = ck(rt.cudaGraphAddChildGraphNode(outer, [], 0, graph))
print(type(ck(rt.cudaGraphChildGraphNodeGetGraph(child))).__name__)
alloc = rt.cudaMemAllocNodeParams()
alloc.poolProps.allocType = rt.cudaMemAllocationType.cudaMemAllocationTypePinned
alloc.poolProps.location.type = rt.cudaMemLocationType.cudaMemLocationTypeDevice
alloc.poolProps.location.id = 0
alloc.bytesize = 1024
alloc_node = ck(rt.cudaGraphAddMemAllocNode(outer, [child], 1, alloc))
print(alloc.dptr != 0, type(alloc.dptr).__name__)
back = ck(rt.cudaGraphMemAllocNodeGetParams(alloc_node))
print(back.bytesize, back.dptr == alloc.dptr, back.poolProps.allocType.name)
free_node = ck(rt.cudaGraphAddMemFreeNode(outer, [alloc_node], 1, alloc.dptr))
print(ck(rt.cudaGraphMemFreeNodeGetParams(free_node)) == alloc.dptr)

branch = ck(rt.cudaGraphCreate(0))
handle = ck(
    rt.cudaGraphConditionalHandleCreate(
        branch, 1, rt.cudaGraphConditionalHandleFlags.cudaGraphCondAssignDefault
    )
)
cond = rt.cudaGraphNodeParams()
cond.type = rt.cudaGraphNodeType.cudaGraphNodeTypeConditional
cond.conditional.handle = handle
cond.conditional.type = rt.cudaGraphConditionalNodeType.cudaGraphCondTypeIf
cond.conditional.size = 1
cond_node = ck(rt.cudaGraphAddNode(branch, None, None, 0, cond))
bodies = cond.conditional.phGraph_out
print(type(handle).__name__, type(bodies).__name__, type(bodies[0]).__name__, len(bodies))
counter = ck(rt.cudaMalloc(4))
inside = rt.cudaMemsetParams()
inside.dst, inside.elementSize, inside.width, inside.height, inside.value = counter, 4, 1, 1, 10
ck(rt.cudaGraphAddMemsetNode(bodies[0], None, 0, inside))
ck(rt.cudaMemset(counter, 0, 4))
exe2 = ck(
    rt.cudaGraphInstantiateWithFlags(
        outer, rt.cudaGraphInstantiateFlags.cudaGraphInstantiateFlagAutoFreeOnLaunch
    )
)
exe3 = ck(rt.cudaGraphInstantiate(branch, 0))
ck(rt.cudaGraphLaunch(exe2, stream))
ck(rt.cudaGraphLaunch(exe3, stream))
ck(rt.cudaStreamSynchronize(stream))
value = np.zeros(1, np.int32)
ck(rt.cudaMemcpy(value.ctypes.data, counter, 4, rt.cudaMemcpyKind.cudaMemcpyDeviceToHost))
print(value[0])
used = ck(rt.cudaDeviceGetGraphMemAttribute(0, rt.cudaGraphMemAttributeType.cudaGraphMemAttrUsedMemCurrent))
print(int(used), rt.cudaDeviceGraphMemTrim(0))
for e in (exe, exe2, exe3):
    ck(rt.cudaGraphExecDestroy(e))
for g in (branch, outer, graph):
    ck(rt.cudaGraphDestroy(g))
ck(rt.cudaLibraryUnload(library))
