"""Memory pools in both APIs: properties, access descriptors, attributes, a shared handle."""

import os

import numpy as np
from cuda.bindings import driver, runtime

(err,) = runtime.cudaFree(0)
assert err == runtime.cudaError_t.cudaSuccess
err, dev = driver.cuDeviceGet(0)
props = driver.CUmemPoolProps()
props.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
props.handleTypes = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
props.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
props.location.id = 0
props.maxSize = 1 << 26
print(props.location.type.name, props.handleTypes.name, props.maxSize)
err, pool = driver.cuMemPoolCreate(props)
print(err, type(pool).__name__)
A = driver.CUmemPool_attribute
for attribute in (
    A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
    A.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
    A.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
):
    err, value = driver.cuMemPoolGetAttribute(pool, attribute)
    print(err.name, attribute.name, int(value))
(err,) = driver.cuMemPoolSetAttribute(pool, A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, driver.cuuint64_t(1 << 20))
err, value = driver.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
print(err, int(value))
(err,) = driver.cuMemPoolSetAttribute(pool, A.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 0)
print(err, driver.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC)[1])
desc = driver.CUmemAccessDesc()
desc.location = props.location
desc.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
print(driver.cuMemPoolSetAccess(pool, [desc], 1))
print(driver.cuMemPoolGetAccess(pool, props.location))
err, stream = driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)
err, p = driver.cuMemAllocFromPoolAsync(1 << 16, pool, stream)
print(err, type(p).__name__)
(err,) = driver.cuMemsetD8Async(p, 0x5A, 1 << 16, stream)
host = np.zeros(1 << 16, np.uint8)
(err,) = driver.cuMemcpyDtoHAsync(host, p, host.nbytes, stream)
driver.cuStreamSynchronize(stream)
print(set(host.tolist()))
err, used = driver.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
print(int(used) >= 1 << 16)
err, fd = driver.cuMemPoolExportToShareableHandle(
    pool, driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0
)
print(err, type(fd).__name__, fd > 2)
err, data = driver.cuMemPoolExportPointer(p)
print(err, type(data).__name__, type(data.reserved).__name__, len(data.reserved))
err, imported = driver.cuMemPoolImportFromShareableHandle(
    fd, driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0
)
print(err, imported is None or type(imported).__name__)
os.close(fd)
print(driver.cuMemFreeAsync(p, stream), driver.cuStreamSynchronize(stream))
print(driver.cuMemPoolTrimTo(pool, 0), driver.cuMemPoolDestroy(pool))

err, default = runtime.cudaDeviceGetDefaultMemPool(0)
err, current = runtime.cudaDeviceGetMemPool(0)
print(default == current, type(default).__name__)
err, threshold = runtime.cudaMemPoolGetAttribute(
    default, runtime.cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold
)
print(err, int(threshold))
print(
    runtime.cudaMemPoolSetAttribute(
        default, runtime.cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold, driver.cuuint64_t(2**64 - 1)
    )
)
err, p = runtime.cudaMallocAsync(1024, stream)
print(err, type(p).__name__)
rprops = runtime.cudaMemPoolProps()
rprops.allocType = runtime.cudaMemAllocationType.cudaMemAllocationTypePinned
rprops.location.type = runtime.cudaMemLocationType.cudaMemLocationTypeDevice
err, rpool = runtime.cudaMemPoolCreate(rprops)
print(err, type(rpool).__name__)
access = runtime.cudaMemAccessDesc()
access.location = rprops.location
access.flags = runtime.cudaMemAccessFlags.cudaMemAccessFlagsProtReadWrite
print(runtime.cudaMemPoolSetAccess(rpool, [access], 1), runtime.cudaMemPoolGetAccess(rpool, rprops.location))
err, q = runtime.cudaMallocFromPoolAsync(1024, rpool, stream)
print(err, runtime.cudaFreeAsync(p, stream), runtime.cudaFreeAsync(q, stream))
print(runtime.cudaStreamSynchronize(stream), runtime.cudaMemPoolDestroy(rpool))
