"""The Runtime API: textures and surfaces, arrays that kernels sample and write."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from cudapy import runtime as rt
from cudapy.runtime import (
    cudaChannelFormatKind,
    cudaDeviceAttr,
    cudaError_t,
    cudaMemcpy3DParms,
    cudaMemcpyKind,
    cudaResourceDesc,
    cudaResourceType,
    cudaResourceViewDesc,
    cudaResourceViewFormat,
    cudaTextureAddressMode,
    cudaTextureDesc,
    cudaTextureFilterMode,
    cudaTextureReadMode,
    make_cudaExtent,
    make_cudaPitchedPtr,
)

from .kernels import ok, owned
from .runtime_kernels import attribute, kernel, launch, memory, read, write
from .runtime_kernels import device as device

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
Address = cudaTextureAddressMode
Filter = cudaTextureFilterMode
POINT, LINEAR = Filter.cudaFilterModePoint, Filter.cudaFilterModeLinear
TO, FROM = cudaMemcpyKind.cudaMemcpyHostToDevice, cudaMemcpyKind.cudaMemcpyDeviceToHost
FLOAT, SIGNED, UNSIGNED = (
    cudaChannelFormatKind[f"cudaChannelFormatKind{name}"] for name in ("Float", "Signed", "Unsigned")
)


def channels(kind: cudaChannelFormatKind, bits: int = 32) -> Any:
    return ok(rt.cudaCreateChannelDesc(bits, 0, 0, 0, kind))


def of_array(array: Any) -> cudaResourceDesc:
    made = cudaResourceDesc(resType=cudaResourceType.cudaResourceTypeArray)
    made.res.array.array = array
    return made


def sampling(
    filter_: cudaTextureFilterMode, address: Any = Address.cudaAddressModeClamp, **more: Any
) -> cudaTextureDesc:
    return cudaTextureDesc(addressMode=[address] * 3, filterMode=filter_, **more)


def texture(resource: cudaResourceDesc, rules: cudaTextureDesc, view: Any = None) -> Any:
    return owned(rt.cudaCreateTextureObject(resource, rules, view), rt.cudaDestroyTextureObject)


def sample(name: str, of: Any, places: Any) -> list[float]:
    """The values of a texture at some places, by a kernel of SOURCE."""
    points = np.asarray(places, np.float32)
    with memory(points.nbytes) as at, memory(4 * len(points)) as out:
        write(at, points, np.float32)
        types = (None, ctypes.c_void_p, ctypes.c_void_p)
        launch(kernel(name, SOURCE), len(points), (of, at, out), types)
        return read(out, len(points), np.float32)


class TestTwoDimensions:
    @pytest.fixture
    def array(self) -> Any:
        data = np.array([[0, 1, 2, 3], [10, 11, 12, 13]], np.float32)
        with owned(rt.cudaMallocArray(channels(FLOAT), 4, 2, 0), rt.cudaFreeArray) as made:
            ok(rt.cudaMemcpy2DToArray(made, 0, 0, data, 16, 16, 2, TO))
            yield made

    def test_point_and_linear(self, array: Any) -> None:
        places = [(0.5, 0.5), (1.0, 0.5), (0.5, 1.0), (2.0, 1.0), (3.5, 1.5)]
        for mode, expected in [(POINT, [0, 1, 10, 12, 13]), (LINEAR, [0, 0.5, 5, 6.5, 13])]:
            with texture(of_array(array), sampling(mode)) as made:
                assert sample("sample", made, places) == expected

    @pytest.mark.parametrize(
        ("name", "expected"),
        [("Clamp", [0, 3]), ("Wrap", [3, 0]), ("Mirror", [0, 3]), ("Border", [7, 7])],
    )
    def test_outside(self, array: Any, name: str, expected: list[float]) -> None:
        mode = Address[f"cudaAddressMode{name}"]  # type: ignore[misc, valid-type]
        rules = sampling(POINT, mode, normalizedCoords=1, borderColor=[7, 7, 7, 7])
        with texture(of_array(array), rules) as made:
            assert sample("sample", made, [(-0.125, 0.25), (1.125, 0.25)]) == expected

    def test_the_descriptions_come_back(self, array: Any) -> None:
        view = cudaResourceViewDesc(format=cudaResourceViewFormat.cudaResViewFormatFloat1, width=4, height=2)
        with texture(of_array(array), sampling(LINEAR), view) as made:
            resource = ok(rt.cudaGetTextureObjectResourceDesc(made))
            assert resource.resType == cudaResourceType.cudaResourceTypeArray
            assert resource.res.array.array == array
            found = ok(rt.cudaGetTextureObjectTextureDesc(made))
            assert found.filterMode == LINEAR
            assert found.addressMode[0] == Address.cudaAddressModeClamp
            found = ok(rt.cudaGetTextureObjectResourceViewDesc(made))
            assert (found.width, found.height) == (4, 2)
            assert found.format == cudaResourceViewFormat.cudaResViewFormatFloat1

    def test_no_resource_no_texture(self) -> None:
        status, made = rt.cudaCreateTextureObject(cudaResourceDesc(resType=99), sampling(POINT), None)
        assert status != cudaError_t.cudaSuccess and made is None


def test_bytes_read_as_fractions() -> None:
    with owned(rt.cudaMallocArray(channels(UNSIGNED, 8), 3, 1, 0), rt.cudaFreeArray) as array:
        ok(rt.cudaMemcpy2DToArray(array, 0, 0, bytes([0, 51, 255]), 3, 3, 1, TO))
        rules = sampling(POINT, readMode=cudaTextureReadMode.cudaReadModeNormalizedFloat)
        with texture(of_array(array), rules) as made:
            found = sample("sample", made, [(0.5, 0.5), (1.5, 0.5), (2.5, 0.5)])
    assert found == pytest.approx([0, 0.2, 1])


def test_linear_memory() -> None:
    with memory(64) as pointer, memory(64) as out:
        write(pointer, range(100, 116))
        resource = cudaResourceDesc(resType=cudaResourceType.cudaResourceTypeLinear)
        resource.res.linear.devPtr = pointer
        resource.res.linear.desc = channels(SIGNED)
        resource.res.linear.sizeInBytes = 64
        with texture(resource, cudaTextureDesc()) as made:
            launch(kernel("fetch", SOURCE), 16, (made, out), (None, ctypes.c_void_p))
            assert read(out, 16) == list(range(100, 116))
            assert ok(rt.cudaGetTextureObjectResourceDesc(made)).res.linear.sizeInBytes == 64


def test_pitched_memory() -> None:
    pitch = max(64, attribute(cudaDeviceAttr.cudaDevAttrTexturePitchAlignment))
    with memory(2 * pitch) as pointer:
        write(pointer, [1, 2], np.float32)
        write(pointer + pitch, [3, 4], np.float32)
        resource = cudaResourceDesc(resType=cudaResourceType.cudaResourceTypePitch2D)
        plane = resource.res.pitch2D
        plane.devPtr, plane.desc = pointer, channels(FLOAT)
        plane.width, plane.height, plane.pitchInBytes = 2, 2, pitch
        with texture(resource, sampling(LINEAR)) as made:
            assert sample("sample", made, [(0.5, 0.5), (1.0, 1.0), (1.5, 1.5)]) == [1, 2.5, 4]


class TestCubes:
    FACES = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))

    def cube(self, flags: int = 0) -> Any:
        extent = make_cudaExtent(4, 4, 6)
        made = rt.cudaMalloc3DArray(channels(FLOAT), extent, rt.cudaArrayCubemap | flags)
        return owned(made, rt.cudaFreeArray)

    def test_each_face_is_sampled(self) -> None:
        data = np.repeat(np.arange(6, dtype=np.float32), 16).reshape(6, 4, 4)
        with self.cube() as array:
            copy = cudaMemcpy3DParms(dstArray=array, extent=make_cudaExtent(4, 4, 6), kind=TO)
            copy.srcPtr = make_cudaPitchedPtr(data.ctypes.data, 16, 4, 4)
            ok(rt.cudaMemcpy3D(copy))
            with texture(of_array(array), sampling(POINT, normalizedCoords=1)) as made:
                assert sample("sample_cube", made, self.FACES) == [0, 1, 2, 3, 4, 5]
            _, extent, flags = ok(rt.cudaArrayGetInfo(array))
            assert extent.depth == 6 and flags & rt.cudaArrayCubemap

    def test_each_face_is_written(self) -> None:
        with self.cube(rt.cudaArraySurfaceLoadStore) as array:
            surface = rt.cudaCreateSurfaceObject(of_array(array))
            with owned(surface, rt.cudaDestroySurfaceObject) as made:
                arguments = ((made, 10.0), (None, ctypes.c_float))
                ok(rt.cudaLaunchKernel(kernel("paint_cube", SOURCE), 1, (4, 4, 6), arguments, 0, 0))
                ok(rt.cudaDeviceSynchronize())
            with texture(of_array(array), sampling(LINEAR, normalizedCoords=1)) as made:
                assert sample("sample_cube", made, self.FACES) == [10, 11, 12, 13, 14, 15]


def test_a_surface_is_written() -> None:
    back = np.zeros((4, 8), np.int32)
    flags = rt.cudaArraySurfaceLoadStore
    with (
        owned(rt.cudaMallocArray(channels(SIGNED), 8, 4, flags), rt.cudaFreeArray) as array,
        owned(rt.cudaCreateSurfaceObject(of_array(array)), rt.cudaDestroySurfaceObject) as surface,
    ):
        assert ok(rt.cudaGetSurfaceObjectResourceDesc(surface)).res.array.array == array
        paint = kernel("paint", SOURCE)
        ok(rt.cudaLaunchKernel(paint, 1, rt.dim3(8, 4), ((surface,), (None,)), 0, 0))
        ok(rt.cudaMemcpy2DFromArray(back, 32, array, 0, 0, 32, 4, FROM))
    assert back.tolist() == [[10 * y + x for x in range(8)] for y in range(4)]
