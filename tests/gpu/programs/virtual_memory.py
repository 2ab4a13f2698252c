"""Virtual memory management: reserve, create, map, set access, grow, unmap."""

import numpy as np
from cuda.bindings import driver as cuda


class CudaError(Exception):
    pass


def _check(result):
    status, *values = result
    if isinstance(status, cuda.CUresult) and status is not cuda.CUresult.CUDA_SUCCESS:
        err, name = cuda.cuGetErrorName(status)
        name = name if err == cuda.CUresult.CUDA_SUCCESS else "<unknown>"
        raise CudaError(name)
    return values[0] if len(values) == 1 else values or None


_check(cuda.cuInit(0))
device = _check(cuda.cuDeviceGet(0))
context = _check(cuda.cuCtxCreate(None, 0, device))
print(
    _check(
        cuda.cuDeviceGetAttribute(
            cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device
        )
    )
)
prop = cuda.CUmemAllocationProp()
prop.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
prop.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
prop.location.id = int(device)
prop.allocFlags.gpuDirectRDMACapable = 0
granularity = _check(
    cuda.cuMemGetAllocationGranularity(
        prop, cuda.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    )
)
print(granularity)
size = 2 * granularity
base = _check(cuda.cuMemAddressReserve(size, 0, cuda.CUdeviceptr(0), 0))
first = _check(cuda.cuMemCreate(granularity, prop, 0))
second = _check(cuda.cuMemCreate(granularity, prop, 0))
print(type(base).__name__, type(first).__name__)
_check(cuda.cuMemMap(base, granularity, 0, first, 0))
_check(cuda.cuMemMap(int(base) + granularity, granularity, 0, second, 0))
desc = cuda.CUmemAccessDesc()
desc.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
desc.location.id = 0
desc.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
_check(cuda.cuMemSetAccess(base, size, [desc], 1))
flags = _check(cuda.cuMemGetAccess(desc.location, base))
print(int(flags) == desc.flags.value, type(flags).__name__)
_check(cuda.cuMemsetD32(base, 0x01020304, size // 4))
out = np.zeros(4, dtype=np.uint32)
_check(cuda.cuMemcpyDtoH(out.ctypes.data, int(base) + granularity - 8, 16))
print([hex(v) for v in out])
back = _check(cuda.cuMemGetAllocationPropertiesFromHandle(first))
print(
    back.type.name,
    back.location.type.name,
    back.location.id,
    back.allocFlags.compressionType,
    bytes(back.allocFlags.reserved),
)
again = _check(cuda.cuMemRetainAllocationHandle(base))
print(int(again) == int(first))
_check(cuda.cuMemRelease(again))
try:
    _check(cuda.cuMemMap(base, granularity, 0, first, 0))
except CudaError as e:
    print("refused", e)
_check(cuda.cuMemUnmap(base, size))
_check(cuda.cuMemRelease(first))
_check(cuda.cuMemRelease(second))
_check(cuda.cuMemAddressFree(base, size))
_check(cuda.cuCtxDestroy(context))
