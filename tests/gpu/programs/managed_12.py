"""Managed memory as programs for CUDA 12 have it: device ordinals in place of locations.

Form of CUDA 12: the peer of CUDA 13 does not take it.
"""

from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt

print(rt.cudaSetDevice(0))
N = 1 << 20
e, p = rt.cudaMallocManaged(N, rt.cudaMemAttachGlobal)
print(e)
print(rt.cudaMemAdvise(p, N, rt.cudaMemoryAdvise.cudaMemAdviseSetPreferredLocation, 0))
print(rt.cudaMemAdvise(p, N, rt.cudaMemoryAdvise.cudaMemAdviseSetAccessedBy, rt.cudaCpuDeviceId))
print(rt.cudaMemPrefetchAsync(p, N, 0, 0), rt.cudaDeviceSynchronize())
print(
    rt.cudaMemRangeGetAttribute(4, rt.cudaMemRangeAttribute.cudaMemRangeAttributeLastPrefetchLocation, p, N)
)
print(rt.cudaMemPrefetchAsync(p, N, rt.cudaCpuDeviceId, 0), rt.cudaDeviceSynchronize())
print(
    rt.cudaMemRangeGetAttribute(4, rt.cudaMemRangeAttribute.cudaMemRangeAttributeLastPrefetchLocation, p, N)
)
print(rt.cudaFree(p))
e, q = cu.cuMemAllocManaged(N, 1)
e, device = cu.cuDeviceGet(0)
print(cu.cuMemAdvise(q, N, cu.CUmem_advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device))
print(cu.cuMemPrefetchAsync(q, N, device, 0), cu.cuCtxSynchronize())
print(cu.cuMemRangeGetAttribute(4, cu.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, q, N))
print(cu.cuMemFree(q))
e, context = cu.cuCtxCreate(0, device)
print(e, type(context).__name__, cu.cuCtxDestroy(context))
e, graph = cu.cuGraphCreate(0)
e, a = cu.cuGraphAddEmptyNode(graph, [], 0)
e, b = cu.cuGraphAddEmptyNode(graph, [], 0)
print(cu.cuGraphAddDependencies(graph, [a], [b], 1), cu.cuGraphRemoveDependencies(graph, [a], [b], 1))
e, graph = rt.cudaGraphCreate(0)
e, a = rt.cudaGraphAddEmptyNode(graph, None, 0)
e, b = rt.cudaGraphAddEmptyNode(graph, None, 0)
print(rt.cudaGraphAddDependencies(graph, [a], [b], 1), rt.cudaGraphRemoveDependencies(graph, [a], [b], 1))
