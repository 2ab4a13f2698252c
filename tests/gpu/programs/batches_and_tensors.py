"""Batched copies, tensor maps, peer copies, conversions: the newer and rarer calls."""

import numpy as np
from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt


def ok(t):
    assert t[0] == 0, t
    return t[1] if len(t) == 2 else t[1:]


ok(rt.cudaSetDevice(0))
ok(rt.cudaFree(0))
stream = ok(rt.cudaStreamCreate())
parts = [ok(rt.cudaMalloc(256)) for _ in range(4)]
for i, part in enumerate(parts):
    ok(rt.cudaMemset(part, i + 1, 256))
attributes = rt.cudaMemcpyAttributes()
attributes.srcAccessOrder = rt.cudaMemcpySrcAccessOrder.cudaMemcpySrcAccessOrderStream
ok(
    rt.cudaMemcpyBatchAsync(
        [parts[0], parts[1]], [parts[2], parts[3]], [256, 128], 2, [attributes], [0], 1, stream
    )
)
ok(rt.cudaStreamSynchronize(stream))
host = np.zeros(512, np.uint8)
ok(rt.cudaMemcpy(host.ctypes.data, parts[0], 256, rt.cudaMemcpyKind.cudaMemcpyDeviceToHost))
ok(rt.cudaMemcpy(host.ctypes.data + 256, parts[1], 256, rt.cudaMemcpyKind.cudaMemcpyDeviceToHost))
print(set(host[:256].tolist()), set(host[256:384].tolist()), set(host[384:].tolist()))
da = cu.CUmemcpyAttributes()
da.srcAccessOrder = cu.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
ok(
    cu.cuMemcpyBatchAsync(
        [cu.CUdeviceptr(parts[2])], [cu.CUdeviceptr(parts[1])], [64], 1, [da], [0], 1, stream
    )
)
ok(cu.cuStreamSynchronize(stream))
ok(cu.cuMemcpyDtoH(host, parts[2], 256))
print(host[:64].tolist() == [4] * 64, host[64])
ok(cu.cuMemcpyPeer(parts[0], ok(cu.cuCtxGetCurrent()), parts[3], ok(cu.cuCtxGetCurrent()), 256))
ok(rt.cudaMemcpyPeerAsync(parts[1], 0, parts[3], 0, 256, stream))
ok(rt.cudaStreamSynchronize(stream))
ok(cu.cuMemcpy(parts[2], parts[3], 256))
ok(cu.cuMemcpyDtoD(parts[3], parts[2], 16))
ok(cu.cuMemcpyAsync(parts[2], parts[3], 256, stream))

err, tensor = cu.cuTensorMapEncodeTiled(
    cu.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, ok(cu.cuMemAlloc(64 * 64 * 4)),
    [cu.cuuint64_t(64), cu.cuuint64_t(64)], [cu.cuuint64_t(256)], [cu.cuuint32_t(16), cu.cuuint32_t(16)],
    [cu.cuuint32_t(1), cu.cuuint32_t(1)], cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
    cu.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_NONE, cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
    cu.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
)  # fmt: skip
print(
    err,
    type(tensor).__name__,
    type(tensor.opaque).__name__,
    len(tensor.opaque),
    any(int(x) for x in tensor.opaque),
)
print(cu.cuTensorMapReplaceAddress(tensor, ok(cu.cuMemAlloc(64 * 64 * 4))))
err, _ = cu.cuTensorMapEncodeTiled(
    cu.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, 3, [cu.cuuint64_t(64)], [], [cu.cuuint32_t(16)],
    [cu.cuuint32_t(1)], cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
    cu.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_NONE, cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
    cu.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
)  # fmt: skip
print(err.name)
prop = cu.CUmemAllocationProp()
prop.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
prop.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
prop.requestedHandleTypes = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
size = ok(cu.cuMemGetAllocationGranularity(prop, 0))
handle = ok(cu.cuMemCreate(size, prop, 0))
fd = ok(
    cu.cuMemExportToShareableHandle(
        handle, cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0
    )
)
print(type(fd).__name__, fd > 2)
imported = ok(
    cu.cuMemImportFromShareableHandle(
        fd, cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    )
)
print(type(imported).__name__)
description = cu.CUDA_EXTERNAL_MEMORY_HANDLE_DESC()
description.type = cu.CUexternalMemoryHandleType.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
description.handle.fd = -1
description.size = size
err, external = cu.cuImportExternalMemory(description)
print(err.name, external)
r = rt.cudaExternalMemoryHandleDesc()
r.type = rt.cudaExternalMemoryHandleType.cudaExternalMemoryHandleTypeOpaqueFd
r.handle.fd = -1
r.size = size
print(rt.cudaImportExternalMemory(r)[0].name, rt.cudaGetLastError()[0].name)
for part in parts:
    ok(rt.cudaFree(part))
print(cu.cuMemRelease(handle), cu.cuMemRelease(imported))
