"""A picture through a texture object and back through a surface object, with the Runtime API."""

import ctypes

import numpy as np
from cuda.bindings import driver, nvrtc
from cuda.bindings import runtime as cudart


def checkCudaErrors(result):
    if result[0].value:
        raise RuntimeError(f"CUDA error code={result[0].value}({cudart.cudaGetErrorName(result[0])[1]})")
    if len(result) == 1:
        return None
    elif len(result) == 2:
        return result[1]
    else:
        return result[1:]


KERNEL = r"""
extern "C" __global__ void sample(cudaTextureObject_t tex, float *out, int w, int h)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * w + x] = tex2D<float>(tex, x + 0.5f, y + 0.5f);
}
extern "C" __global__ void paint(cudaSurfaceObject_t surf, int w)
{
    int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite((float)(y * 1000 + x), surf, x * 4, y);
}
extern "C" __global__ void line(cudaTextureObject_t tex, float *out)
{
    out[threadIdx.x] = tex1Dfetch<float>(tex, threadIdx.x);
}
"""
checkCudaErrors(cudart.cudaSetDevice(0))
checkCudaErrors(cudart.cudaFree(0))
prog = checkCudaErrors(nvrtc.nvrtcCreateProgram(KERNEL.encode(), b"t.cu", 0, [], []))
checkCudaErrors(nvrtc.nvrtcCompileProgram(prog, 1, [b"--gpu-architecture=sm_90"]))
cubin = b" " * checkCudaErrors(nvrtc.nvrtcGetCUBINSize(prog))
checkCudaErrors(nvrtc.nvrtcGetCUBIN(prog, cubin))
module = checkCudaErrors(driver.cuModuleLoadData(np.char.array(cubin)))
sample, paint, line = (
    checkCudaErrors(driver.cuModuleGetFunction(module, n)) for n in (b"sample", b"paint", b"line")
)

W, H = 32, 8
picture = np.arange(W * H, dtype=np.float32).reshape(H, W)
desc = checkCudaErrors(
    cudart.cudaCreateChannelDesc(32, 0, 0, 0, cudart.cudaChannelFormatKind.cudaChannelFormatKindFloat)
)
print(desc.x, desc.y, desc.z, desc.w, desc.f.name)
array = checkCudaErrors(cudart.cudaMallocArray(desc, W, H, cudart.cudaArraySurfaceLoadStore))
checkCudaErrors(
    cudart.cudaMemcpy2DToArray(
        array, 0, 0, picture.ctypes.data, W * 4, W * 4, H, cudart.cudaMemcpyKind.cudaMemcpyHostToDevice
    )
)
print(
    [type(x).__name__ for x in checkCudaErrors(cudart.cudaArrayGetInfo(array))],
    checkCudaErrors(cudart.cudaArrayGetInfo(array))[1].width,
)
resource = cudart.cudaResourceDesc()
resource.resType = cudart.cudaResourceType.cudaResourceTypeArray
resource.res.array.array = array
texture = cudart.cudaTextureDesc()
texture.addressMode = [
    cudart.cudaTextureAddressMode.cudaAddressModeClamp,
    cudart.cudaTextureAddressMode.cudaAddressModeWrap,
    cudart.cudaTextureAddressMode.cudaAddressModeClamp,
]
texture.filterMode = cudart.cudaTextureFilterMode.cudaFilterModePoint
texture.readMode = cudart.cudaTextureReadMode.cudaReadModeElementType
texture.normalizedCoords = 0
print([m.name for m in texture.addressMode], texture.borderColor)
tex = checkCudaErrors(cudart.cudaCreateTextureObject(resource, texture, None))
print(type(tex).__name__)
d_out = checkCudaErrors(cudart.cudaMalloc(W * H * 4))
args = ((tex, d_out, W, H), (None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int))
checkCudaErrors(driver.cuLaunchKernel(sample, H, 1, 1, W, 1, 1, 0, 0, args, 0))
out = np.zeros_like(picture)
checkCudaErrors(
    cudart.cudaMemcpy(out.ctypes.data, d_out, out.nbytes, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost)
)
print(np.array_equal(out, picture))
back = checkCudaErrors(cudart.cudaGetTextureObjectResourceDesc(tex))
print(back.resType.name, int(back.res.array.array) == int(array))
back = checkCudaErrors(cudart.cudaGetTextureObjectTextureDesc(tex))
print(back.addressMode[0].name, back.filterMode.name, back.readMode.name, back.maxAnisotropy)
checkCudaErrors(cudart.cudaDestroyTextureObject(tex))

surface = checkCudaErrors(cudart.cudaCreateSurfaceObject(resource))
checkCudaErrors(driver.cuLaunchKernel(paint, H, 1, 1, W, 1, 1, 0, 0, ((surface, W), (None, ctypes.c_int)), 0))
checkCudaErrors(
    cudart.cudaMemcpy2DFromArray(
        out.ctypes.data, W * 4, array, 0, 0, W * 4, H, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost
    )
)
print(out[3, 5], out[7, 31])
checkCudaErrors(cudart.cudaDestroySurfaceObject(surface))

linear = cudart.cudaResourceDesc()
linear.resType = cudart.cudaResourceType.cudaResourceTypeLinear
linear.res.linear.devPtr = d_out
linear.res.linear.desc = desc
linear.res.linear.sizeInBytes = W * H * 4
texture = cudart.cudaTextureDesc()
texture.readMode = cudart.cudaTextureReadMode.cudaReadModeElementType
tex = checkCudaErrors(cudart.cudaCreateTextureObject(linear, texture, None))
d_line = checkCudaErrors(cudart.cudaMalloc(W * 4))
checkCudaErrors(
    driver.cuLaunchKernel(line, 1, 1, 1, W, 1, 1, 0, 0, ((tex, d_line), (None, ctypes.c_void_p)), 0)
)
row = np.zeros(W, np.float32)
checkCudaErrors(
    cudart.cudaMemcpy(row.ctypes.data, d_line, row.nbytes, cudart.cudaMemcpyKind.cudaMemcpyDefault)
)
print(np.array_equal(row, picture[0]))

ad = driver.CUDA_ARRAY3D_DESCRIPTOR()
ad.Width, ad.Height, ad.Depth = 16, 16, 4
ad.Format = driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8
ad.NumChannels = 4
ad.Flags = driver.CUDA_ARRAY3D_LAYERED
layered = checkCudaErrors(driver.cuArray3DCreate(ad))
again = checkCudaErrors(driver.cuArray3DGetDescriptor(layered))
print(again.Width, again.Depth, again.Format.name, again.NumChannels, again.Flags)
rd = driver.CUDA_RESOURCE_DESC()
rd.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
rd.res.array.hArray = layered
td = driver.CUDA_TEXTURE_DESC()
td.addressMode = [driver.CUaddress_mode.CU_TR_ADDRESS_MODE_BORDER] * 3
td.filterMode = driver.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR
td.flags = driver.CU_TRSF_NORMALIZED_COORDINATES
td.borderColor = [0.25, 0.5, 0.75, 1.0]
texobj = checkCudaErrors(driver.cuTexObjectCreate(rd, td, None))
got = checkCudaErrors(driver.cuTexObjectGetTextureDesc(texobj))
print([a.name for a in got.addressMode], got.borderColor, got.flags)
checkCudaErrors(driver.cuTexObjectDestroy(texobj))
checkCudaErrors(driver.cuArrayDestroy(layered))
checkCudaErrors(cudart.cudaFreeArray(array))
