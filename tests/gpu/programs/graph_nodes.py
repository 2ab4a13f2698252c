"""A graph built node by node in the driver API: memset, copy, kernel, host function, and its update."""

import ctypes

import numpy as np
from cuda.bindings import driver, nvrtc
from cuda.bindings.driver import CUresult, cuCtxSetCurrent, cuDeviceGet, cuDevicePrimaryCtxRetain, cuInit


def checkCudaErrors(result):
    if result[0] != CUresult.CUDA_SUCCESS:
        _, name = driver.cuGetErrorName(result[0])
        raise RuntimeError(name.decode())
    if len(result) == 1:
        return None
    elif len(result) == 2:
        return result[1]
    else:
        return result[1:]


checkCudaErrors(cuInit(0))
checkCudaErrors(
    cuCtxSetCurrent(ctx := checkCudaErrors(cuDevicePrimaryCtxRetain(checkCudaErrors(cuDeviceGet(0)))))
)
source = (
    b'extern "C" __global__ void add(int *p, int n, int v) { int i = threadIdx.x; if (i < n) p[i] += v; }'
)
_, prog = nvrtc.nvrtcCreateProgram(source, b"", 0, [], [])
assert nvrtc.nvrtcCompileProgram(prog, 0, [])[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS
_, size = nvrtc.nvrtcGetPTXSize(prog)
ptx = bytearray(size)
nvrtc.nvrtcGetPTX(prog, ptx)
module = checkCudaErrors(driver.cuModuleLoadDataEx(bytes(ptx), 0, [], []))
add = checkCudaErrors(driver.cuModuleGetFunction(module, b"add"))

N = 64
buffer = checkCudaErrors(driver.cuMemAlloc(N * 4))
graph = checkCudaErrors(driver.cuGraphCreate(0))

memset = driver.CUDA_MEMSET_NODE_PARAMS()
memset.dst = buffer
memset.value = 3
memset.pitch = 0
memset.elementSize = 4
memset.width = N
memset.height = 1
first = checkCudaErrors(driver.cuGraphAddMemsetNode(graph, None, 0, memset, ctx))

arguments = ((buffer, N, 4), (None, ctypes.c_int, ctypes.c_int))
params = driver.CUDA_KERNEL_NODE_PARAMS()
params.func = add
params.gridDimX = params.gridDimY = params.gridDimZ = 1
params.blockDimX, params.blockDimY, params.blockDimZ = N, 1, 1
params.sharedMemBytes = 0
n_, v_ = np.array([N], np.int32), np.array([4], np.int32)
p_ = np.array([int(buffer)], np.uint64)
pointers = np.array([x.ctypes.data for x in (p_, n_, v_)], dtype=np.uint64)
params.kernelParams = pointers.ctypes.data
params.extra = 0
second = checkCudaErrors(driver.cuGraphAddKernelNode(graph, [first], 1, params))

host = np.zeros(N, np.int32)
copy = driver.CUDA_MEMCPY3D()
copy.srcMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
copy.srcDevice = buffer
copy.srcPitch = N * 4
copy.srcHeight = 1
copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_HOST
copy.dstHost = host.ctypes.data
copy.dstPitch = N * 4
copy.dstHeight = 1
copy.WidthInBytes, copy.Height, copy.Depth = N * 4, 1, 1
third = checkCudaErrors(driver.cuGraphAddMemcpyNode(graph, (second,), 1, copy, ctx))

seen = []
Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@Callback
def called(data):
    seen.append(ctypes.cast(data, ctypes.POINTER(ctypes.c_int)).contents.value)


number = ctypes.c_int(42)
host_params = driver.CUDA_HOST_NODE_PARAMS()
host_params.fn = driver.CUhostFn(_ptr=ctypes.addressof(called))
host_params.userData = ctypes.addressof(number)
fourth = checkCudaErrors(driver.cuGraphAddHostNode(graph, [third], 1, host_params))
empty = checkCudaErrors(driver.cuGraphAddEmptyNode(graph, [first, third], 2))

nodes, count = checkCudaErrors(driver.cuGraphGetNodes(graph))
print(count)
nodes, count = checkCudaErrors(driver.cuGraphGetNodes(graph, count))
print(sorted(checkCudaErrors(driver.cuGraphNodeGetType(node)).name for node in nodes))
print(nodes[0] == first, first in nodes, [int(n) for n in nodes].index(int(second)))
roots, count = checkCudaErrors(driver.cuGraphGetRootNodes(graph, 5))
print(count, roots[0] == first)
back = checkCudaErrors(driver.cuGraphKernelNodeGetParams(second))
print(back.blockDimX, int(back.func) == int(add), type(back.kernelParams).__name__, type(back.extra).__name__)
back = checkCudaErrors(driver.cuGraphMemsetNodeGetParams(first))
print(back.value, back.width, back.elementSize, int(back.dst) == int(buffer))
back = checkCudaErrors(driver.cuGraphMemcpyNodeGetParams(third))
print(
    back.srcMemoryType,
    back.WidthInBytes,
    int(back.srcDevice) == int(buffer),
    back.dstHost == host.ctypes.data,
)
back = checkCudaErrors(driver.cuGraphHostNodeGetParams(fourth))
print(back.userData == ctypes.addressof(number), int(back.fn) == ctypes.cast(called, ctypes.c_void_p).value)

exe = checkCudaErrors(driver.cuGraphInstantiate(graph, 0))
stream = checkCudaErrors(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value))
checkCudaErrors(driver.cuGraphLaunch(exe, stream))
checkCudaErrors(driver.cuStreamSynchronize(stream))
print(host.tolist() == [7] * N, seen)

v_[0] = 10
checkCudaErrors(driver.cuGraphExecKernelNodeSetParams(exe, second, params))
memset.value = 5
checkCudaErrors(driver.cuGraphExecMemsetNodeSetParams(exe, first, memset, ctx))
number.value = 43
checkCudaErrors(driver.cuGraphLaunch(exe, stream))
checkCudaErrors(driver.cuStreamSynchronize(stream))
print(host.tolist() == [15] * N, seen)
checkCudaErrors(driver.cuGraphKernelNodeSetParams(second, params))
info = checkCudaErrors(driver.cuGraphExecUpdate(exe, graph))
print(type(info).__name__, info.result.name)
checkCudaErrors(driver.cuGraphLaunch(exe, stream))
checkCudaErrors(driver.cuStreamSynchronize(stream))
print(host.tolist() == [13] * N)

clone = checkCudaErrors(driver.cuGraphClone(graph))
same = checkCudaErrors(driver.cuGraphNodeFindInClone(second, clone))
print(checkCudaErrors(driver.cuGraphNodeGetType(same)).name, same == second)
checkCudaErrors(driver.cuGraphNodeSetEnabled(exe, second, 0))
print(checkCudaErrors(driver.cuGraphNodeGetEnabled(exe, second)))
created = driver.CUDA_GRAPH_INSTANTIATE_PARAMS()
created.flags = driver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
other = checkCudaErrors(driver.cuGraphInstantiateWithParams(clone, created))
print(created.result_out, int(created.hErrNode_out))
checkCudaErrors(driver.cuGraphExecDestroy(other))
checkCudaErrors(driver.cuGraphDestroyNode(empty))
print(checkCudaErrors(driver.cuGraphGetNodes(graph))[1])
checkCudaErrors(driver.cuGraphExecDestroy(exe))
checkCudaErrors(driver.cuGraphDestroy(clone))
checkCudaErrors(driver.cuGraphDestroy(graph))
