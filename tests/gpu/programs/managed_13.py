"""Managed memory with the locations of CUDA 13: advice, prefetch and the attributes of a range."""

import numpy as np
from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt

(e,) = rt.cudaSetDevice(0)
N = 1 << 20
e, p = rt.cudaMallocManaged(N, rt.cudaMemAttachGlobal)
assert e == rt.cudaError_t.cudaSuccess, e
gpu = rt.cudaMemLocation()
gpu.type = rt.cudaMemLocationType.cudaMemLocationTypeDevice
gpu.id = 0
host = rt.cudaMemLocation()
host.type = rt.cudaMemLocationType.cudaMemLocationTypeHost
print(rt.cudaMemAdvise(p, N, rt.cudaMemoryAdvise.cudaMemAdviseSetReadMostly, gpu))
print(rt.cudaMemAdvise(p, N, rt.cudaMemoryAdvise.cudaMemAdviseSetPreferredLocation, gpu))
print(rt.cudaMemAdvise(p, N, rt.cudaMemoryAdvise.cudaMemAdviseSetAccessedBy, gpu))
print(rt.cudaMemPrefetchAsync(p, N, gpu, 0, 0))
print(rt.cudaStreamSynchronize(0))
A = rt.cudaMemRangeAttribute
for attribute, size in (
    (A.cudaMemRangeAttributeReadMostly, 4),
    (A.cudaMemRangeAttributePreferredLocation, 4),
    (A.cudaMemRangeAttributeLastPrefetchLocation, 4),
    (A.cudaMemRangeAttributeAccessedBy, 8),
):
    e, value = rt.cudaMemRangeGetAttribute(size, attribute, p, N)
    print(e, attribute.name, value if isinstance(value, list) else int(value))
print(
    rt.cudaMemRangeGetAttributes(
        [4, 4], [A.cudaMemRangeAttributeReadMostly, A.cudaMemRangeAttributePreferredLocation], 2, p, N
    )
)
print(rt.cudaMemAdvise(p, N, rt.cudaMemoryAdvise.cudaMemAdviseUnsetReadMostly, gpu))
print(rt.cudaMemPrefetchAsync(p, N, host, 0, rt.cudaStream_t(0)), rt.cudaDeviceSynchronize())
import ctypes

view = np.ctypeslib.as_array(ctypes.cast(p, ctypes.POINTER(ctypes.c_uint8)), (N,))
view[:] = 3
print(rt.cudaMemset(p, 4, 10), rt.cudaDeviceSynchronize(), view[:12].tolist())
e, attributes = rt.cudaPointerGetAttributes(p)
print(e, attributes.type.name, attributes.device, attributes.devicePointer == p, attributes.hostPointer == p)
print(rt.cudaFree(p))

e, q = cu.cuMemAllocManaged(N, cu.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value)
location = cu.CUmemLocation()
location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
location.id = 0
print(cu.cuMemAdvise(q, N, cu.CUmem_advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location))
print(cu.cuMemPrefetchAsync(q, N, location, 0, cu.CUstream(0)), cu.cuCtxSynchronize())
R = cu.CUmem_range_attribute
print(cu.cuMemRangeGetAttribute(4, R.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, q, N))
print(
    cu.cuMemRangeGetAttributes(
        [4, 4],
        [R.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, R.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION],
        2,
        q,
        N,
    )
)
print(cu.cuPointerGetAttribute(cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED, q))
print(cu.cuMemFree(q))
