"""Textures and surfaces: arrays that kernels sample and write."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import driver, runtime
from cudapy.driver import (
    CU_TRSF_NORMALIZED_COORDINATES,
    CU_TRSF_READ_AS_INTEGER,
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY3D_SURFACE_LDST,
    CUDA_MEMCPY2D,
    CUaddress_mode,
    CUarray_format,
    CUfilter_mode,
    CUmemorytype,
)
from cudapy.runtime import (
    cudaChannelFormatKind,
    cudaDeviceAttr,
    cudaMemcpy3DParms,
    cudaMemcpyKind,
    cudaTextureReadMode,
    make_cudaExtent,
    make_cudaPitchedPtr,
)

from .apis import DRIVER, RUNTIME, Api, only
from .apis import api as api
from .kernels import memory, ok, owned
from .runtime_kernels import attribute

pytestmark = pytest.mark.gpu

SOURCE = r"""
extern "C" __global__ void sample(cudaTextureObject_t texture, const float2 *x, float *out)
{
    out[threadIdx.x] = tex2D<float>(texture, x[threadIdx.x].x, x[threadIdx.x].y);
}

extern "C" __global__ void sample_cube(cudaTextureObject_t texture, const float3 *x, float *out)
{
    out[threadIdx.x] = texCubemap<float>(texture, x[threadIdx.x].x, x[threadIdx.x].y, x[threadIdx.x].z);
}

extern "C" __global__ void sample1(cudaTextureObject_t texture, const float *x, float *out)
{
    out[threadIdx.x] = tex1D<float>(texture, x[threadIdx.x]);
}

extern "C" __global__ void sample_level(cudaTextureObject_t texture, const float *level, float *out)
{
    out[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, level[threadIdx.x]);
}

extern "C" __global__ void fetch(cudaTextureObject_t texture, int *out)
{
    out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x);
}

extern "C" __global__ void paint(cudaSurfaceObject_t surface)
{
    surf2Dwrite((int)(10 * threadIdx.y + threadIdx.x), surface, threadIdx.x * 4, threadIdx.y);
}

extern "C" __global__ void paint_cube(cudaSurfaceObject_t surface, float first)
{
    surfCubemapwrite(first + threadIdx.z, surface, threadIdx.x * 4, threadIdx.y, threadIdx.z);
}
"""
FLOAT, INT = CUarray_format.CU_AD_FORMAT_FLOAT, CUarray_format.CU_AD_FORMAT_SIGNED_INT32
TO, FROM = cudaMemcpyKind.cudaMemcpyHostToDevice, cudaMemcpyKind.cudaMemcpyDeviceToHost


def channels(kind: str, bits: int = 32) -> Any:
    """The format of one channel, as the runtime has it."""
    kinds = cudaChannelFormatKind
    return ok(runtime.cudaCreateChannelDesc(bits, 0, 0, 0, kinds[f"cudaChannelFormatKind{kind}"]))


@contextlib.contextmanager
def array_of(api: Api, data: np.ndarray) -> Iterator[Any]:
    """An array with this 32-bit data, of one or two dimensions, that surfaces may write."""
    width, height = data.shape[-1], len(data) if data.ndim == 2 else 0
    pitch, rows = 4 * width, max(height, 1)
    if api.is_driver:
        kind = FLOAT if data.dtype == np.float32 else INT
        shape = CUDA_ARRAY3D_DESCRIPTOR(
            Width=width, Height=height, Format=kind, NumChannels=1, Flags=CUDA_ARRAY3D_SURFACE_LDST
        )
        copy = CUDA_MEMCPY2D(
            srcMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
            srcHost=data,
            srcPitch=pitch,
            dstMemoryType=CUmemorytype.CU_MEMORYTYPE_ARRAY,
            WidthInBytes=pitch,
            Height=rows,
        )
        with owned(driver.cuArray3DCreate(shape), driver.cuArrayDestroy) as made:
            copy.dstArray = made
            ok(driver.cuMemcpy2D(copy))
            yield made
        return
    desc = channels("Float" if data.dtype == np.float32 else "Signed")
    flags = runtime.cudaArraySurfaceLoadStore
    with owned(runtime.cudaMallocArray(desc, width, height, flags), runtime.cudaFreeArray) as made:
        ok(runtime.cudaMemcpy2DToArray(made, 0, 0, data, pitch, pitch, rows, TO))
        yield made


def of_array(api: Api, array: Any) -> Any:
    made = api.ResourceDesc(resType=api.ResourceTypeArray)
    setattr(made.res.array, "hArray" if api.is_driver else "array", array)
    return made


def array_in(api: Api, resource: Any) -> Any:
    return resource.res.array.hArray if api.is_driver else resource.res.array.array


def set_format(api: Api, memory: Any, kind: str) -> None:
    """Elements of linear or pitched memory: "Float" or "Signed"."""
    if api.is_driver:
        memory.format, memory.numChannels = (FLOAT if kind == "Float" else INT), 1
    else:
        memory.desc = channels(kind)


def sampling(api: Api, mode: str, address: str = "Clamp", normalized: bool = False, **more: Any) -> Any:
    """How a texture is sampled: "Point" or "Linear"."""
    made = api.TextureDesc(
        addressMode=[getattr(api, f"AddressMode{address}")] * 3,
        filterMode=getattr(api, f"FilterMode{mode}"),
        **more,
    )
    if api.is_driver:
        made.flags = CU_TRSF_NORMALIZED_COORDINATES if normalized else 0
    else:
        made.normalizedCoords = normalized
    return made


def texture(api: Api, resource: Any, rules: Any, view: Any = None) -> Any:
    return owned(api.TexObjectCreate(resource, rules, view), api.TexObjectDestroy)


def sample(api: Api, name: str, of: Any, places: Any) -> list[float]:
    """The values of a texture at some places, by a kernel of SOURCE."""
    points = np.asarray(places, np.float32)
    with api.memory(points.nbytes) as at, api.memory(4 * len(points)) as out:
        api.write(at, points, np.float32)
        arguments = (of, int(at), int(out)), (None, ctypes.c_void_p, ctypes.c_void_p)
        ok(api.launch_kernel(api.kernel(name, SOURCE), 1, len(points), arguments))
        return api.read(out, len(points), np.float32)


class TestOneDimension:
    @pytest.fixture
    def array(self, api: Api) -> Iterator[Any]:
        with array_of(api, np.array([10, 20, 30, 40], np.float32)) as made:
            yield made

    def test_point_and_linear(self, api: Api, array: Any) -> None:
        places = [0.5, 1.0, 1.5, 1.75, 3.5]
        for mode, expected in [("Point", [10, 20, 20, 20, 40]), ("Linear", [10, 15, 20, 22.5, 40])]:
            with texture(api, of_array(api, array), sampling(api, mode)) as made:
                assert sample(api, "sample1", made, places) == expected

    @pytest.mark.parametrize(
        ("address", "expected"),
        [
            ("Clamp", [10, 40, 40]),
            ("Wrap", [40, 10, 20]),
            ("Mirror", [10, 40, 30]),
            ("Border", [7, 7, 7]),
        ],
    )
    def test_outside(self, api: Api, array: Any, address: str, expected: list[float]) -> None:
        rules = sampling(api, "Point", address, normalized=True, borderColor=[7, 7, 7, 7])
        with texture(api, of_array(api, array), rules) as made:
            assert sample(api, "sample1", made, [-0.125, 1.125, 1.375]) == expected


class TestTwoDimensions:
    @pytest.fixture
    def array(self, api: Api) -> Iterator[Any]:
        with array_of(api, np.array([[0, 1, 2, 3], [10, 11, 12, 13]], np.float32)) as made:
            yield made

    def test_point_and_linear(self, api: Api, array: Any) -> None:
        places = [(0.5, 0.5), (1.0, 0.5), (0.5, 1.0), (2.0, 1.0), (3.5, 1.5)]
        for mode, expected in [("Point", [0, 1, 10, 12, 13]), ("Linear", [0, 0.5, 5, 6.5, 13])]:
            with texture(api, of_array(api, array), sampling(api, mode)) as made:
                assert sample(api, "sample", made, places) == expected

    @pytest.mark.parametrize(
        ("address", "expected"),
        [("Clamp", [0, 3]), ("Wrap", [3, 0]), ("Mirror", [0, 3]), ("Border", [7, 7])],
    )
    def test_outside(self, api: Api, array: Any, address: str, expected: list[float]) -> None:
        rules = sampling(api, "Point", address, normalized=True, borderColor=[7, 7, 7, 7])
        with texture(api, of_array(api, array), rules) as made:
            assert sample(api, "sample", made, [(-0.125, 0.25), (1.125, 0.25)]) == expected

    def test_the_descriptions_come_back(self, api: Api, array: Any) -> None:
        view = api.ResourceViewDesc(format=api.ResViewFormatFloat1, width=4, height=2)
        with texture(api, of_array(api, array), sampling(api, "Linear", maxAnisotropy=1), view) as made:
            resource = ok(api.TexObjectGetResourceDesc(made))
            assert resource.resType == api.ResourceTypeArray
            assert array_in(api, resource) == array
            found = ok(api.TexObjectGetTextureDesc(made))
            assert found.filterMode == api.FilterModeLinear
            assert found.addressMode[0] == api.AddressModeClamp
            found = ok(api.TexObjectGetResourceViewDesc(made))
            assert (found.width, found.height, found.format) == (4, 2, api.ResViewFormatFloat1)
            assert sample(api, "sample", made, [(1.0, 0.5)]) == [0.5]

    def test_no_resource_no_texture(self, api: Api) -> None:
        status, made = api.TexObjectCreate(api.ResourceDesc(resType=99), sampling(api, "Point"), None)
        assert status != api.Success and made is None
        if api.is_driver:
            assert status == api.ErrorInvalidValue


@only(RUNTIME)
def test_bytes_read_as_fractions(api: Api) -> None:
    made = runtime.cudaMallocArray(channels("Unsigned", 8), 3, 1, 0)
    with owned(made, runtime.cudaFreeArray) as array:
        ok(runtime.cudaMemcpy2DToArray(array, 0, 0, bytes([0, 51, 255]), 3, 3, 1, TO))
        rules = sampling(api, "Point", readMode=cudaTextureReadMode.cudaReadModeNormalizedFloat)
        with texture(api, of_array(api, array), rules) as made:
            found = sample(api, "sample", made, [(0.5, 0.5), (1.5, 0.5), (2.5, 0.5)])
    assert found == pytest.approx([0, 0.2, 1])


def test_linear_memory(api: Api) -> None:
    with api.memory(64) as pointer, api.memory(64) as out:
        api.write(pointer, range(100, 116))
        resource = api.ResourceDesc(resType=api.ResourceTypeLinear)
        resource.res.linear.devPtr, resource.res.linear.sizeInBytes = pointer, 64
        set_format(api, resource.res.linear, "Signed")
        rules = api.TextureDesc(**({"flags": CU_TRSF_READ_AS_INTEGER} if api.is_driver else {}))
        with texture(api, resource, rules) as made:
            arguments = (made, int(out)), (None, ctypes.c_void_p)
            ok(api.launch_kernel(api.kernel("fetch", SOURCE), 1, 16, arguments))
            assert api.read(out, 16) == list(range(100, 116))
            assert ok(api.TexObjectGetResourceDesc(made)).res.linear.sizeInBytes == 64


def test_pitched_memory(api: Api) -> None:
    pitch = max(64, attribute(cudaDeviceAttr.cudaDevAttrTexturePitchAlignment))
    with api.memory(2 * pitch) as pointer:
        api.write(pointer, [1, 2], np.float32)
        api.write(int(pointer) + pitch, [3, 4], np.float32)
        resource = api.ResourceDesc(resType=api.ResourceTypePitch2D)
        plane = resource.res.pitch2D
        plane.devPtr, plane.width, plane.height, plane.pitchInBytes = pointer, 2, 2, pitch
        set_format(api, plane, "Float")
        with texture(api, resource, sampling(api, "Linear")) as made:
            assert sample(api, "sample", made, [(0.5, 0.5), (1.0, 1.0), (1.5, 1.5)]) == [1, 2.5, 4]


@only(DRIVER)
def test_levels_of_a_mipmapped_array(api: Api) -> None:
    shape = CUDA_ARRAY3D_DESCRIPTOR(Width=8, Height=8, Depth=0, Format=FLOAT, NumChannels=1)
    with owned(driver.cuMipmappedArrayCreate(shape, 3), driver.cuMipmappedArrayDestroy) as mipmap:
        for level in range(3):
            size = 8 >> level
            copy = CUDA_MEMCPY2D(
                srcMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
                srcHost=np.full((size, size), 100 * level, np.float32),
                srcPitch=4 * size,
                dstMemoryType=CUmemorytype.CU_MEMORYTYPE_ARRAY,
                dstArray=ok(driver.cuMipmappedArrayGetLevel(mipmap, level)),
                WidthInBytes=4 * size,
                Height=size,
            )
            ok(driver.cuMemcpy2D(copy))
        resource = api.ResourceDesc(resType=api.ResourceTypeMipmappedArray)
        resource.res.mipmap.hMipmappedArray = mipmap
        linear = CUfilter_mode.CU_TR_FILTER_MODE_LINEAR
        rules = sampling(api, "Linear", normalized=True, mipmapFilterMode=linear, maxMipmapLevelClamp=2)
        with texture(api, resource, rules) as made:
            levels = [0, 1, 1.5, 2, 9]
            assert sample(api, "sample_level", made, levels) == [0, 100, 150, 200, 200]


@only(RUNTIME)
class TestCubes:
    FACES = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))

    def cube(self, flags: int = 0) -> Any:
        extent = make_cudaExtent(4, 4, 6)
        made = runtime.cudaMalloc3DArray(channels("Float"), extent, runtime.cudaArrayCubemap | flags)
        return owned(made, runtime.cudaFreeArray)

    def test_each_face_is_sampled(self, api: Api) -> None:
        data = np.repeat(np.arange(6, dtype=np.float32), 16).reshape(6, 4, 4)
        with self.cube() as array:
            copy = cudaMemcpy3DParms(dstArray=array, extent=make_cudaExtent(4, 4, 6), kind=TO)
            copy.srcPtr = make_cudaPitchedPtr(data.ctypes.data, 16, 4, 4)
            ok(runtime.cudaMemcpy3D(copy))
            with texture(api, of_array(api, array), sampling(api, "Point", normalized=True)) as made:
                assert sample(api, "sample_cube", made, self.FACES) == [0, 1, 2, 3, 4, 5]
            _, extent, flags = ok(runtime.cudaArrayGetInfo(array))
            assert extent.depth == 6 and flags & runtime.cudaArrayCubemap

    def test_each_face_is_written(self, api: Api) -> None:
        with self.cube(runtime.cudaArraySurfaceLoadStore) as array:
            surface = runtime.cudaCreateSurfaceObject(of_array(api, array))
            with owned(surface, runtime.cudaDestroySurfaceObject) as made:
                arguments = ((made, 10.0), (None, ctypes.c_float))
                ok(runtime.cudaLaunchKernel(api.kernel("paint_cube", SOURCE), 1, (4, 4, 6), arguments, 0, 0))
                ok(runtime.cudaDeviceSynchronize())
            with texture(api, of_array(api, array), sampling(api, "Linear", normalized=True)) as made:
                assert sample(api, "sample_cube", made, self.FACES) == [10, 11, 12, 13, 14, 15]


def test_a_surface_is_written(api: Api) -> None:
    back = np.zeros((4, 8), np.int32)
    with array_of(api, back) as array:
        made = api.SurfObjectCreate(of_array(api, array))
        with owned(made, api.SurfObjectDestroy) as surface:
            assert array_in(api, ok(api.SurfObjectGetResourceDesc(surface))) == array
            ok(api.launch_kernel(api.kernel("paint", SOURCE), 1, (8, 4), ((surface,), (None,))))
        if api.is_driver:
            copy = CUDA_MEMCPY2D(
                srcMemoryType=CUmemorytype.CU_MEMORYTYPE_ARRAY,
                srcArray=array,
                dstMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
                dstHost=back,
                dstPitch=32,
                WidthInBytes=32,
                Height=4,
            )
            ok(driver.cuMemcpy2D(copy))
        else:
            ok(runtime.cudaMemcpy2DFromArray(back, 32, array, 0, 0, 32, 4, FROM))
    assert back.tolist() == [[10 * y + x for x in range(8)] for y in range(4)]


@only(DRIVER)
def test_texture_references_remember_their_settings() -> None:
    with owned(driver.cuTexRefCreate(), driver.cuTexRefDestroy) as reference, memory(1024) as pointer:
        ok(driver.cuTexRefSetFormat(reference, FLOAT, 2))
        assert ok(driver.cuTexRefGetFormat(reference)) == (FLOAT, 2)
        ok(driver.cuTexRefSetAddressMode(reference, 1, CUaddress_mode.CU_TR_ADDRESS_MODE_MIRROR))
        assert ok(driver.cuTexRefGetAddressMode(reference, 1)) == CUaddress_mode.CU_TR_ADDRESS_MODE_MIRROR
        ok(driver.cuTexRefSetFilterMode(reference, CUfilter_mode.CU_TR_FILTER_MODE_LINEAR))
        assert ok(driver.cuTexRefGetFilterMode(reference)) == CUfilter_mode.CU_TR_FILTER_MODE_LINEAR
        ok(driver.cuTexRefSetBorderColor(reference, [0.25, 0.5, 0.75, 1]))
        assert ok(driver.cuTexRefGetBorderColor(reference)) == [0.25, 0.5, 0.75, 1]
        ok(driver.cuTexRefSetMipmapLevelClamp(reference, 0.5, 2.5))
        assert ok(driver.cuTexRefGetMipmapLevelClamp(reference)) == (0.5, 2.5)
        ok(driver.cuTexRefSetFlags(reference, CU_TRSF_NORMALIZED_COORDINATES))
        assert ok(driver.cuTexRefGetFlags(reference)) & CU_TRSF_NORMALIZED_COORDINATES
        assert ok(driver.cuTexRefSetAddress(reference, pointer, 1024)) == 0
        assert ok(driver.cuTexRefGetAddress(reference)) == pointer
