"""cuLaunchKernelEx with clusters, priorities and serialization, and what the structs say back."""

import ctypes

import numpy as np
from cuda.bindings import driver as cu
from cuda.bindings import nvrtc


def ok(t):
    err, *rest = t
    assert err == 0, err
    return rest[0] if len(rest) == 1 else tuple(rest)


ok(cu.cuInit(0))
device = ok(cu.cuDeviceGet(0))
context = ok(cu.cuDevicePrimaryCtxRetain(device))
ok(cu.cuCtxPushCurrent(context))
program = ok(
    nvrtc.nvrtcCreateProgram(
        b"""
extern "C" __global__ void __cluster_dims__(1) one(int *out) { out[blockIdx.x] = blockIdx.x; }
extern "C" __global__ void cluster(int *out)
{
    unsigned int rank, size;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    if (!threadIdx.x) out[blockIdx.x] = rank * 100 + size;
}""",
        b"c.cu",
        0,
        [],
        [],
    )
)
ok(nvrtc.nvrtcCompileProgram(program, 1, (b"-arch=sm_90",)))
image = bytes(ok(nvrtc.nvrtcGetCUBINSize(program)))
ok(nvrtc.nvrtcGetCUBIN(program, image))
library = ok(cu.cuLibraryLoadData(image, [], [], 0, [], [], 0))
kernel = ok(cu.cuLibraryGetKernel(library, b"cluster"))
function = ok(cu.cuKernelGetFunction(kernel))
out = ok(cu.cuMemAlloc(4 * 8))
stream = ok(cu.cuStreamCreateWithPriority(cu.CUstream_flags.CU_STREAM_NON_BLOCKING, 0))

dims = cu.CUlaunchAttribute()
dims.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
dims.value.clusterDim.x = 4
dims.value.clusterDim.y = dims.value.clusterDim.z = 1
priority = cu.CUlaunchAttribute()
priority.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY
priority.value.priority = -1
serial = cu.CUlaunchAttribute()
serial.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
serial.value.programmaticStreamSerializationAllowed = 1
config = cu.CUlaunchConfig()
config.gridDimX, config.gridDimY, config.gridDimZ = 8, 1, 1
config.blockDimX = 32
config.blockDimY = config.blockDimZ = 1
config.sharedMemBytes = 0
config.hStream = stream
config.attrs = [dims, priority, serial]
config.numAttrs = 3
print(len(config.attrs), [a.id.name for a in config.attrs], config.attrs[0].value.clusterDim.x)
print(int(config.hStream) == int(stream), config.numAttrs, config.gridDimX)
ok(cu.cuLaunchKernelEx(config, function, ((out,), (None,)), 0))
ok(cu.cuStreamSynchronize(stream))
host = np.empty(8, np.int32)
ok(cu.cuMemcpyDtoH(host.ctypes.data, out, host.nbytes))
print(host.tolist())
config.attrs = [dims]
config.numAttrs = 1
dims.value.clusterDim.x = 2
config.attrs = [dims]
argument = np.array([int(out)], dtype=np.uint64)
ok(
    cu.cuLaunchKernelEx(
        config, cu.CUfunction(int(kernel)), np.array([argument.ctypes.data], dtype=np.uint64), 0
    )
)
ok(cu.cuStreamSynchronize(stream))
ok(cu.cuMemcpyDtoH(host, out, host.nbytes))
print(host.tolist())
config.attrs = []
config.numAttrs = 0
ok(cu.cuLaunchKernelEx(config, function, ((int(out),), (ctypes.c_void_p,)), 0))
ok(cu.cuStreamSynchronize(stream))
ok(cu.cuMemcpyDtoH(host, out, host.nbytes))
print(host.tolist())
config.attrs = [dims]
config.numAttrs = 1
print(ok(cu.cuOccupancyMaxActiveClusters(function, config)) > 0)
config.attrs, config.numAttrs = [], 0
value = ok(cu.cuStreamGetAttribute(stream, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_PRIORITY))
print(value.priority)
attribute = cu.CUstreamAttrValue()
attribute.syncPolicy = cu.CUsynchronizationPolicy.CU_SYNC_POLICY_YIELD
ok(cu.cuStreamSetAttribute(stream, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, attribute))
print(
    ok(
        cu.cuStreamGetAttribute(stream, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
    ).syncPolicy.name
)
window = cu.CUaccessPolicyWindow()
window.base_ptr, window.num_bytes, window.hitRatio = out, 32, 0.5
window.hitProp = cu.CUaccessProperty.CU_ACCESS_PROPERTY_PERSISTING
window.missProp = cu.CUaccessProperty.CU_ACCESS_PROPERTY_STREAMING
attribute = cu.CUstreamAttrValue()
attribute.accessPolicyWindow = window
ok(cu.cuStreamSetAttribute(stream, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, attribute))
back = ok(
    cu.cuStreamGetAttribute(stream, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
).accessPolicyWindow
print(back.num_bytes, back.hitRatio, back.hitProp.name, back.missProp, back.base_ptr == int(out))
ok(cu.cuLibraryUnload(library))
ok(cu.cuCtxPopCurrent())
