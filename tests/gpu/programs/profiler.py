"""Profiler marks, logs and what surrounds a program: start, stop, flush."""

from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt

print(rt.cudaSetDevice(0), rt.cudaFree(0))
print(cu.cuProfilerStart(), rt.cudaProfilerStart())
err, p = rt.cudaMalloc(1024)
print(err, rt.cudaMemset(p, 0, 1024), rt.cudaDeviceSynchronize())
print(rt.cudaProfilerStop(), cu.cuProfilerStop(), rt.cudaFree(p))
print(
    cu.cuFlushGPUDirectRDMAWrites(
        cu.CUflushGPUDirectRDMAWritesTarget.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
        cu.CUflushGPUDirectRDMAWritesScope.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER,
    )[0].name
)
print(rt.cudaDeviceReset(), rt.cudaGetLastError())
