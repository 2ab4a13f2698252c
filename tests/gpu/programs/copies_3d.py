"""Pitched and 3D memory: cudaMalloc3D, cudaMallocPitch, cudaMemcpy3DParms, the 2D copies of both APIs."""

import numpy as np
from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt

H2D = rt.cudaMemcpyKind.cudaMemcpyHostToDevice
D2H = rt.cudaMemcpyKind.cudaMemcpyDeviceToHost


def go(r):
    if r[0] != rt.cudaError_t.cudaSuccess:
        raise SystemExit(f"failed: {r[0]!r}")
    return r[1] if len(r) == 2 else r[1:]


go(rt.cudaSetDevice(0))
extent = rt.make_cudaExtent(40, 5, 3)
pitched = go(rt.cudaMalloc3D(extent))
print(type(pitched).__name__, pitched.xsize, pitched.ysize, pitched.pitch % 32, type(pitched.ptr).__name__)
source = np.arange(40 * 5 * 3, dtype=np.uint8).reshape(3, 5, 40)
parms = rt.cudaMemcpy3DParms()
parms.srcPtr = rt.make_cudaPitchedPtr(source.ctypes.data, 40, 40, 5)
parms.dstPtr = pitched
parms.extent = extent
parms.kind = H2D
go(rt.cudaMemcpy3D(parms))
target = np.zeros_like(source)
parms = rt.cudaMemcpy3DParms()
parms.srcPtr = pitched
parms.srcPos = rt.make_cudaPos(1, 0, 0)
parms.dstPtr.ptr = target.ctypes.data
parms.dstPtr.pitch = 40
parms.dstPtr.xsize, parms.dstPtr.ysize = 40, 5
parms.extent.width, parms.extent.height, parms.extent.depth = 39, 5, 3
parms.kind = D2H
go(rt.cudaMemcpy3DAsync(parms, 0))
go(rt.cudaStreamSynchronize(0))
print(np.array_equal(target[:, :, :39], source[:, :, 1:]), target[0, 0, 39])
go(rt.cudaMemset3D(pitched, 9, rt.make_cudaExtent(4, 1, 1)))
go(rt.cudaFree(pitched.ptr))

p, pitch = go(rt.cudaMallocPitch(100, 7))
print(type(p).__name__, type(pitch).__name__, pitch >= 100)
rows = np.random.default_rng(0).integers(0, 255, (7, 100), dtype=np.uint8)
go(rt.cudaMemcpy2D(p, pitch, rows.ctypes.data, 100, 100, 7, H2D))
go(rt.cudaMemset2D(p + 10, pitch, 0, 5, 7))
out = np.zeros_like(rows)
go(rt.cudaMemcpy2DAsync(out.ctypes.data, 100, p, pitch, 100, 7, D2H, rt.cudaStream_t(rt.cudaStreamPerThread)))
go(rt.cudaStreamSynchronize(rt.cudaStreamPerThread))
rows[:, 10:15] = 0
print(np.array_equal(out, rows))

copy = cu.CUDA_MEMCPY2D()
copy.srcMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
copy.srcDevice = cu.CUdeviceptr(p)
copy.srcPitch = pitch
copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
small = np.zeros((7, 20), np.uint8)
copy.dstHost = small
copy.dstPitch = 20
copy.WidthInBytes = 20
copy.Height = 7
print(cu.cuMemcpy2D(copy), np.array_equal(small, rows[:, :20]))
print(
    copy.srcMemoryType,
    copy.dstMemoryType.value,
    copy.Height,
    int(copy.srcDevice) == p,
    copy.dstHost == small.ctypes.data,
)
copy.srcXInBytes = 80
print(cu.cuMemcpy2DUnaligned(copy), np.array_equal(small, rows[:, 80:]))
err, q, dpitch = cu.cuMemAllocPitch(64, 3, 16)
print(err, type(q).__name__, dpitch % 16)
print(cu.cuMemsetD2D32(q, dpitch, 0xDEADBEEF, 16, 3), cu.cuMemsetD2D8Async(q, dpitch, 1, 4, 3, 0))
line = np.zeros(16, np.uint32)
print(cu.cuMemcpyDtoH(line, int(q) + dpitch, 64), [hex(x) for x in line[:3]])
c3 = cu.CUDA_MEMCPY3D()
c3.srcMemoryType = c3.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
c3.srcDevice, c3.dstDevice = q, p
c3.srcPitch = c3.dstPitch = dpitch
c3.srcHeight = c3.dstHeight = 3
c3.WidthInBytes, c3.Height, c3.Depth = 64, 1, 1
print(cu.cuMemcpy3D(c3), cu.cuMemFree(q))
desc = go(rt.cudaCreateChannelDesc(8, 8, 0, 0, rt.cudaChannelFormatKind.cudaChannelFormatKindUnsigned))
volume = go(rt.cudaMalloc3DArray(desc, rt.make_cudaExtent(16, 8, 4), 0))
block = np.arange(16 * 8 * 4 * 2, dtype=np.uint16).astype(np.uint8)
parms = rt.cudaMemcpy3DParms()
parms.srcPtr = rt.make_cudaPitchedPtr(block.ctypes.data, 32, 16, 8)
parms.dstArray = volume
parms.extent = rt.make_cudaExtent(16, 8, 4)
parms.kind = rt.cudaMemcpyKind.cudaMemcpyHostToDevice
go(rt.cudaMemcpy3D(parms))
back = np.zeros_like(block)
parms = rt.cudaMemcpy3DParms()
parms.srcArray = volume
parms.dstPtr = rt.make_cudaPitchedPtr(back.ctypes.data, 32, 16, 8)
parms.extent = rt.make_cudaExtent(16, 8, 4)
parms.kind = D2H
go(rt.cudaMemcpy3D(parms))
print(np.array_equal(back, block), int(parms.srcArray) == int(volume), int(parms.dstArray))
go(rt.cudaFreeArray(volume))
go(rt.cudaFree(p))
