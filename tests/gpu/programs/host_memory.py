"""Pinned, mapped and registered host memory."""

import ctypes

import numpy as np
from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt

print(rt.cudaSetDeviceFlags(rt.cudaDeviceMapHost), rt.cudaSetDevice(0))
err, host = rt.cudaHostAlloc(4096, rt.cudaHostAllocMapped | rt.cudaHostAllocPortable)
print(err, type(host).__name__)
err, flags = rt.cudaHostGetFlags(host)
print(err, flags & rt.cudaHostAllocMapped, flags & rt.cudaHostAllocPortable)
err, device = rt.cudaHostGetDevicePointer(host, 0)
print(err, type(device).__name__)
view = np.frombuffer((ctypes.c_char * 4096).from_address(host), dtype=np.uint8)
print(rt.cudaMemset(device, 0x21, 4096), rt.cudaDeviceSynchronize(), set(view.tolist()))
mine = np.full(8192, 7, np.uint8)
print(rt.cudaHostRegister(mine.ctypes.data, mine.nbytes, rt.cudaHostRegisterMapped))
print(
    rt.cudaHostRegister(mine.ctypes.data, mine.nbytes, rt.cudaHostRegisterMapped)[0].name,
    rt.cudaGetLastError(),
)
err, mapped = rt.cudaHostGetDevicePointer(mine.ctypes.data, 0)
print(err, rt.cudaMemset(mapped, 1, 16), rt.cudaDeviceSynchronize(), mine[:20].tolist())
err, attributes = rt.cudaPointerGetAttributes(mine.ctypes.data)
print(attributes.type.name, attributes.device, attributes.hostPointer == mine.ctypes.data)
print(rt.cudaHostUnregister(mine.ctypes.data), rt.cudaFreeHost(host))
err, p = cu.cuMemHostAlloc(256, cu.CU_MEMHOSTALLOC_DEVICEMAP | cu.CU_MEMHOSTALLOC_WRITECOMBINED)
print(err, type(p).__name__, cu.cuMemHostGetFlags(p)[0])
err, d = cu.cuMemHostGetDevicePointer(p, 0)
print(err, type(d).__name__, cu.cuMemsetD8(d, 3, 256), cu.cuMemFreeHost(p))
err, q = cu.cuMemAllocHost(64)
print(err, cu.cuMemHostGetFlags(q)[0], cu.cuMemFreeHost(q))
buffer = bytearray(4096)
address = ctypes.addressof((ctypes.c_char * 4096).from_buffer(buffer))
print(cu.cuMemHostRegister(address, 4096, cu.CU_MEMHOSTREGISTER_PORTABLE), cu.cuMemHostUnregister(address))
print(rt.cudaHostUnregister(address)[0].name)
err, a = rt.cudaPointerGetAttributes(address)
print(err, a.type.name, a.device, a.devicePointer)
err, free, total = cu.cuMemGetInfo()
print(err, 0 < free <= total, [type(x).__name__ for x in rt.cudaMemGetInfo()])
