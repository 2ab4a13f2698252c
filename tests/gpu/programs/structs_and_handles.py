"""Structs, unions, handles and enums alone: what people print, compare, copy and keep in dictionaries."""

import ctypes

import numpy as np
from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt

s = cu.CUstream(5)
print(
    repr(s),
    int(s),
    s == cu.CUstream(5),
    hash(s) == hash(cu.CUstream(5)),
    {s: 1}[cu.CUstream(5)],
    s != cu.CUstream(6),
)
print(
    ctypes.c_uint64.from_address(s.getPtr()).value,
    cu.CUstream(_ptr=s.getPtr()) == s,
    cu.CUstream(s) == s,
    int(cu.CUstream()),
)
print(
    repr(cu.CUdeviceptr(0x1000)),
    repr(cu.CUdevice(3)),
    repr(cu.cuuint32_t(7)),
    repr(cu.CUgraphConditionalHandle(4)),
)
print(
    np.uint64(int(cu.CUdeviceptr(77))), int(cu.CUdeviceptr(np.uint64(78))), int(rt.cudaEvent_t(np.int32(4)))
)
storage = ctypes.c_uint64(1234)
alias = cu.CUdeviceptr(_ptr=ctypes.addressof(storage))
storage.value = 4321
print(int(alias))
location = cu.CUmemLocation()
location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA
location.id = 3
print(repr(location).splitlines()[:2])
desc = cu.CUmemAccessDesc()
desc.location = location
location.id = 9
print(desc.location.id, desc.location.type.name, desc.flags.name)
print(repr(desc).splitlines()[-1])
copy = cu.CUDA_MEMCPY2D()
copy.srcHost = 0x1234
copy.srcMemoryType = copy.dstMemoryType = cu.CUmemorytype.CU_MEMORYTYPE_HOST
copy.WidthInBytes = 12
print(copy)
window = cu.CUaccessPolicyWindow()
window.hitRatio = 0.25
print(window)
params = cu.CUDA_EXTERNAL_MEMORY_HANDLE_DESC()
params.type = cu.CUexternalMemoryHandleType.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
params.handle.fd = 12
params.size = 1 << 20
params.flags = 0
print(params.type.name, params.handle.fd, params.size, params.flags)
params.handle.win32.name = 0x55
print(params.handle.win32.handle, params.handle.win32.name)
wait = cu.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS()
wait.params.fence.value = 2**40
wait.params.keyedMutex.key = 5
wait.params.keyedMutex.timeoutMs = 100
print(wait.params.fence.value, wait.params.keyedMutex.key, wait.params.keyedMutex.timeoutMs)
buffer = cu.CUDA_EXTERNAL_MEMORY_BUFFER_DESC()
buffer.offset, buffer.size, buffer.flags = 1, 2, 3
print(buffer.offset, buffer.size, buffer.flags)
handle = cu.CUipcMemHandle()
handle.reserved = bytes(range(64))
print(handle.reserved == bytes(range(64)), type(handle.reserved).__name__)
prop = rt.cudaMemPoolProps()
prop.location.id = 2
print(prop.location.id, prop.maxSize, prop.win32SecurityAttributes, prop.allocType, prop.handleTypes)
texture = rt.cudaTextureDesc()
texture.borderColor = [1.0, 2.0, 3.0, 4.0]
print(texture.borderColor, [m.name for m in texture.addressMode], texture.sRGB)
d = rt.dim3()
d.x, d.y, d.z = 4, 5, 6
print(d, d.x, d.y, d.z)
extent = rt.make_cudaExtent(1, 2, 3)
print(extent)
pitched = rt.make_cudaPitchedPtr(16, 2, 3, 4)
print(pitched.ptr, pitched.pitch, pitched.xsize, pitched.ysize)
attribute = cu.CUlaunchAttributeValue()
attribute.clusterDim.x, attribute.clusterDim.y, attribute.clusterDim.z = 1, 2, 3
print(attribute.clusterDim.x, attribute.clusterDim.y, attribute.clusterDim.z)
attribute.launchCompletionEvent.event = cu.CUevent(11)
attribute.launchCompletionEvent.flags = 2
print(repr(attribute.launchCompletionEvent.event), attribute.launchCompletionEvent.flags)
other = cu.CUmemLocation(_ptr=location.getPtr())
other.id = 21
print(location.id)
uuid = cu.CUuuid()
print(uuid.bytes, len(uuid.bytes))
print(
    cu.CUmemLocationType(1),
    cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE,
    repr(cu.CUjit_option.CU_JIT_MAX_REGISTERS),
)
print(
    cu.CU_STREAM_PER_THREAD,
    cu.CU_IPC_HANDLE_SIZE,
    rt.cudaHostAllocMapped,
    rt.cudaStreamNonBlocking,
    cu.CU_LAUNCH_PARAM_END is not None,
)
memop = cu.CUstreamBatchMemOpParams()
memop.writeValue.address = 0x1000
memop.writeValue.value64 = 2**40 + 5
print(int(memop.writeValue.address), int(memop.writeValue.value64), int(memop.writeValue.value))
node = cu.CUgraphNodeParams()
node.type = cu.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET
node.memset.width = 5
node.memset.dst = 0x77
print(node.type.name, node.memset.width, int(node.memset.dst), node.memset.ctx)
resource = rt.cudaResourceDesc()
resource.res.pitch2D.devPtr = 4096
resource.res.pitch2D.width = 12
print(resource.res.pitch2D.devPtr, resource.res.pitch2D.width, resource.res.pitch2D.desc.f)
