"""cuGetProcAddress and calls through ctypes; pointer attributes one by one and many at once."""

import ctypes

from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt

print(cu.cuInit(0))
err, ctx = cu.cuDevicePrimaryCtxRetain(0)
print(cu.cuCtxSetCurrent(ctx))
err, address, status = cu.cuGetProcAddress(
    b"cuDeviceGetCount", 12000, cu.CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT.value
)
print(err, type(address).__name__, address > 0, status)
count = ctypes.c_int()
print(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))(address)(count), count.value >= 1)
print(cu.cuGetProcAddress(b"cuNoSuchFunction", 12000, 0))
print(cu.cuGetProcAddress(b"cuMemAlloc", 2000, 0)[2])
err, address, status = rt.cudaGetDriverEntryPointByVersion(b"cuMemAlloc", 12000, 0)
print(err, address > 0, status)

err, p = cu.cuMemAlloc(1 << 16)
P = cu.CUpointer_attribute
names = [
    P.CU_POINTER_ATTRIBUTE_CONTEXT, P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, P.CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
    P.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, P.CU_POINTER_ATTRIBUTE_IS_MANAGED, P.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    P.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, P.CU_POINTER_ATTRIBUTE_RANGE_SIZE, P.CU_POINTER_ATTRIBUTE_MAPPED,
    P.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, P.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
]  # fmt: skip
for name in names:
    err, value = cu.cuPointerGetAttribute(name, int(p) + 16)
    try:
        shown = int(value) in (int(p), int(p) + 16, int(ctx)) or int(value)
    except TypeError:
        shown = value
    print(name.name, err.name, isinstance(value, int), shown)
err, values = cu.cuPointerGetAttributes(len(names), names, p)
print(err, type(values).__name__, len(values), [isinstance(v, int) for v in values])
print(cu.cuPointerSetAttribute(True, P.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p))
print(cu.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p))
err, values = cu.cuPointerGetAttributes(
    2, [P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, P.CU_POINTER_ATTRIBUTE_CONTEXT], 16
)
print(err, [int(v) for v in values])
err, base, size = cu.cuMemGetAddressRange(int(p) + 100)
print(err, int(base) == int(p), size, type(base).__name__)
err, handle = cu.cuMemGetHandleForAddressRange(
    p, 1 << 16, cu.CUmemRangeHandleType.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0
)
print(err.name, type(handle).__name__ if err == 0 else handle)
print(cu.cuMemFree(p), cu.cuMemFree(cu.CUdeviceptr(0)))
