"""Textures and surfaces: arrays that kernels sample and write."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CU_TRSF_NORMALIZED_COORDINATES,
    CU_TRSF_READ_AS_INTEGER,
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY3D_SURFACE_LDST,
    CUDA_ARRAY_DESCRIPTOR,
    CUDA_MEMCPY2D,
    CUDA_RESOURCE_DESC,
    CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC,
    CUaddress_mode,
    CUarray,
    CUarray_format,
    CUdevice_attribute,
    CUfilter_mode,
    CUmemorytype,
    CUresourcetype,
    CUresourceViewFormat,
    CUresult,
    CUtexObject,
)

from .kernels import attribute, function, memory, ok, owned, read, write
from .kernels import context as context

pytestmark = pytest.mark.gpu

SOURCE = r"""
extern "C" __global__ void sample1(cudaTextureObject_t texture, const float *x, float *out)
{
    out[threadIdx.x] = tex1D<float>(texture, x[threadIdx.x]);
}

extern "C" __global__ void sample2(cudaTextureObject_t texture, const float2 *x, float *out)
{
    out[threadIdx.x] = tex2D<float>(texture, x[threadIdx.x].x, x[threadIdx.x].y);
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
"""
FLOAT = CUarray_format.CU_AD_FORMAT_FLOAT
Kind = CUresourcetype
Filter = CUfilter_mode
Address = CUaddress_mode


def of_array(array: CUarray) -> CUDA_RESOURCE_DESC:
    made = CUDA_RESOURCE_DESC(resType=Kind.CU_RESOURCE_TYPE_ARRAY)
    made.res.array.hArray = array
    return made


def sampling(
    filter_: CUfilter_mode, address: CUaddress_mode, flags: int = 0, **more: Any
) -> CUDA_TEXTURE_DESC:
    return CUDA_TEXTURE_DESC(addressMode=[address] * 3, filterMode=filter_, flags=flags, **more)


def sample(kernel: str, texture: CUtexObject, places: Any) -> list[float]:
    """The values of a texture at some places, by a kernel of SOURCE."""
    points = np.asarray(places, np.float32)
    count = len(points)
    with memory(points.nbytes) as at, memory(4 * count) as out:
        write(at, points, np.float32)
        arguments = (texture, int(at), int(out)), (None, ctypes.c_void_p, ctypes.c_void_p)
        ok(driver.cuLaunchKernel(function(kernel, SOURCE), 1, 1, 1, count, 1, 1, 0, 0, arguments, 0))
        return read(out, count, np.float32)


class TestOneDimension:
    @pytest.fixture
    def array(self) -> Iterator[CUarray]:
        shape = CUDA_ARRAY_DESCRIPTOR(Width=4, Height=0, Format=FLOAT, NumChannels=1)
        with owned(driver.cuArrayCreate(shape), driver.cuArrayDestroy) as made:
            ok(driver.cuMemcpyHtoA(made, 0, np.array([10, 20, 30, 40], np.float32), 16))
            yield made

    def test_point_and_linear(self, array: CUarray) -> None:
        places = [0.5, 1.0, 1.5, 1.75, 3.5]
        for mode, expected in [
            (Filter.CU_TR_FILTER_MODE_POINT, [10, 20, 20, 20, 40]),
            (Filter.CU_TR_FILTER_MODE_LINEAR, [10, 15, 20, 22.5, 40]),
        ]:
            rules = sampling(mode, Address.CU_TR_ADDRESS_MODE_CLAMP)
            with owned(
                driver.cuTexObjectCreate(of_array(array), rules, None), driver.cuTexObjectDestroy
            ) as texture:
                assert sample("sample1", texture, places) == expected

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("CU_TR_ADDRESS_MODE_CLAMP", [10, 40, 40]),
            ("CU_TR_ADDRESS_MODE_WRAP", [40, 10, 20]),
            ("CU_TR_ADDRESS_MODE_MIRROR", [10, 40, 30]),
            ("CU_TR_ADDRESS_MODE_BORDER", [7, 7, 7]),
        ],
    )
    def test_outside(self, array: CUarray, name: str, expected: list[float]) -> None:
        rules = sampling(
            Filter.CU_TR_FILTER_MODE_POINT,
            Address[name],  # type: ignore[misc, valid-type]
            CU_TRSF_NORMALIZED_COORDINATES,
            borderColor=[7, 7, 7, 7],
        )
        with owned(
            driver.cuTexObjectCreate(of_array(array), rules, None), driver.cuTexObjectDestroy
        ) as texture:
            assert sample("sample1", texture, [-0.125, 1.125, 1.375]) == expected

    def test_the_descriptions_come_back(self, array: CUarray) -> None:
        rules = sampling(Filter.CU_TR_FILTER_MODE_LINEAR, Address.CU_TR_ADDRESS_MODE_CLAMP, maxAnisotropy=1)
        view = CUDA_RESOURCE_VIEW_DESC(format=CUresourceViewFormat.CU_RES_VIEW_FORMAT_FLOAT_1X32, width=4)
        with owned(
            driver.cuTexObjectCreate(of_array(array), rules, view), driver.cuTexObjectDestroy
        ) as texture:
            resource = ok(driver.cuTexObjectGetResourceDesc(texture))
            assert (resource.resType, resource.res.array.hArray) == (Kind.CU_RESOURCE_TYPE_ARRAY, array)
            found = ok(driver.cuTexObjectGetTextureDesc(texture))
            assert found.filterMode == Filter.CU_TR_FILTER_MODE_LINEAR
            assert found.addressMode[0] == Address.CU_TR_ADDRESS_MODE_CLAMP
            assert ok(driver.cuTexObjectGetResourceViewDesc(texture)).width == 4
            assert sample("sample1", texture, [1.0]) == [15]

    def test_no_resource_no_texture(self) -> None:
        rules = sampling(Filter.CU_TR_FILTER_MODE_POINT, Address.CU_TR_ADDRESS_MODE_CLAMP)
        status, texture = driver.cuTexObjectCreate(CUDA_RESOURCE_DESC(resType=99), rules, None)
        assert (status, texture) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_two_dimensions() -> None:
    shape = CUDA_ARRAY_DESCRIPTOR(Width=4, Height=2, Format=FLOAT, NumChannels=1)
    data = np.array([[0, 1, 2, 3], [10, 11, 12, 13]], np.float32)
    with owned(driver.cuArrayCreate(shape), driver.cuArrayDestroy) as array:
        copy = CUDA_MEMCPY2D(
            srcMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
            srcHost=data,
            srcPitch=16,
            dstMemoryType=CUmemorytype.CU_MEMORYTYPE_ARRAY,
            dstArray=array,
            WidthInBytes=16,
            Height=2,
        )
        ok(driver.cuMemcpy2D(copy))
        rules = sampling(Filter.CU_TR_FILTER_MODE_LINEAR, Address.CU_TR_ADDRESS_MODE_CLAMP)
        with owned(
            driver.cuTexObjectCreate(of_array(array), rules, None), driver.cuTexObjectDestroy
        ) as texture:
            places = [(0.5, 0.5), (1.0, 0.5), (0.5, 1.0), (2.0, 1.0), (3.5, 1.5)]
            assert sample("sample2", texture, places) == [0, 0.5, 5, 6.5, 13]


def test_linear_memory() -> None:
    with memory(64) as pointer, memory(64) as out:
        write(pointer, range(100, 116))
        resource = CUDA_RESOURCE_DESC(resType=Kind.CU_RESOURCE_TYPE_LINEAR)
        resource.res.linear.devPtr = pointer
        resource.res.linear.format = CUarray_format.CU_AD_FORMAT_SIGNED_INT32
        resource.res.linear.numChannels = 1
        resource.res.linear.sizeInBytes = 64
        rules = CUDA_TEXTURE_DESC(flags=CU_TRSF_READ_AS_INTEGER)
        with owned(driver.cuTexObjectCreate(resource, rules, None), driver.cuTexObjectDestroy) as texture:
            arguments = (texture, int(out)), (None, ctypes.c_void_p)
            ok(driver.cuLaunchKernel(function("fetch", SOURCE), 1, 1, 1, 16, 1, 1, 0, 0, arguments, 0))
            assert read(out, 16) == list(range(100, 116))
            assert ok(driver.cuTexObjectGetResourceDesc(texture)).res.linear.sizeInBytes == 64


def test_pitched_memory() -> None:
    pitch = max(64, attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT))
    with memory(2 * pitch) as pointer:
        write(pointer, [1, 2], np.float32)
        write(int(pointer) + pitch, [3, 4], np.float32)
        resource = CUDA_RESOURCE_DESC(resType=Kind.CU_RESOURCE_TYPE_PITCH2D)
        plane = resource.res.pitch2D
        plane.devPtr, plane.format, plane.numChannels = pointer, FLOAT, 1
        plane.width, plane.height, plane.pitchInBytes = 2, 2, pitch
        rules = sampling(Filter.CU_TR_FILTER_MODE_LINEAR, Address.CU_TR_ADDRESS_MODE_CLAMP)
        with owned(driver.cuTexObjectCreate(resource, rules, None), driver.cuTexObjectDestroy) as texture:
            assert sample("sample2", texture, [(0.5, 0.5), (1.0, 1.0), (1.5, 1.5)]) == [1, 2.5, 4]


def test_levels_of_a_mipmapped_array() -> None:
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
        resource = CUDA_RESOURCE_DESC(resType=Kind.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        resource.res.mipmap.hMipmappedArray = mipmap
        rules = sampling(
            Filter.CU_TR_FILTER_MODE_LINEAR,
            Address.CU_TR_ADDRESS_MODE_CLAMP,
            CU_TRSF_NORMALIZED_COORDINATES,
            mipmapFilterMode=Filter.CU_TR_FILTER_MODE_LINEAR,
            maxMipmapLevelClamp=2,
        )
        with owned(driver.cuTexObjectCreate(resource, rules, None), driver.cuTexObjectDestroy) as texture:
            assert sample("sample_level", texture, [0, 1, 1.5, 2, 9]) == [0, 100, 150, 200, 200]


def test_a_surface_is_written() -> None:
    shape = CUDA_ARRAY3D_DESCRIPTOR(
        Width=8,
        Height=4,
        Depth=0,
        Format=CUarray_format.CU_AD_FORMAT_SIGNED_INT32,
        NumChannels=1,
        Flags=CUDA_ARRAY3D_SURFACE_LDST,
    )
    back = np.zeros((4, 8), np.int32)
    with owned(driver.cuArray3DCreate(shape), driver.cuArrayDestroy) as array:
        with owned(driver.cuSurfObjectCreate(of_array(array)), driver.cuSurfObjectDestroy) as surface:
            assert ok(driver.cuSurfObjectGetResourceDesc(surface)).res.array.hArray == array
            paint = function("paint", SOURCE)
            ok(driver.cuLaunchKernel(paint, 1, 1, 1, 8, 4, 1, 0, 0, ((surface,), (None,)), 0))
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
    assert back.tolist() == [[10 * y + x for x in range(8)] for y in range(4)]


def test_texture_references_remember_their_settings() -> None:
    with owned(driver.cuTexRefCreate(), driver.cuTexRefDestroy) as reference, memory(1024) as pointer:
        ok(driver.cuTexRefSetFormat(reference, FLOAT, 2))
        assert ok(driver.cuTexRefGetFormat(reference)) == (FLOAT, 2)
        ok(driver.cuTexRefSetAddressMode(reference, 1, Address.CU_TR_ADDRESS_MODE_MIRROR))
        assert ok(driver.cuTexRefGetAddressMode(reference, 1)) == Address.CU_TR_ADDRESS_MODE_MIRROR
        ok(driver.cuTexRefSetFilterMode(reference, Filter.CU_TR_FILTER_MODE_LINEAR))
        assert ok(driver.cuTexRefGetFilterMode(reference)) == Filter.CU_TR_FILTER_MODE_LINEAR
        ok(driver.cuTexRefSetBorderColor(reference, [0.25, 0.5, 0.75, 1]))
        assert ok(driver.cuTexRefGetBorderColor(reference)) == [0.25, 0.5, 0.75, 1]
        ok(driver.cuTexRefSetMipmapLevelClamp(reference, 0.5, 2.5))
        assert ok(driver.cuTexRefGetMipmapLevelClamp(reference)) == (0.5, 2.5)
        ok(driver.cuTexRefSetFlags(reference, CU_TRSF_NORMALIZED_COORDINATES))
        assert ok(driver.cuTexRefGetFlags(reference)) & CU_TRSF_NORMALIZED_COORDINATES
        assert ok(driver.cuTexRefSetAddress(reference, pointer, 1024)) == 0
        assert ok(driver.cuTexRefGetAddress(reference)) == pointer
