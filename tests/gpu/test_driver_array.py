"""Arrays: device memory laid out for textures and surfaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CUDA_ARRAY3D_DEFERRED_MAPPING,
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY3D_SPARSE,
    CUDA_ARRAY_DESCRIPTOR,
    CUDA_MEMCPY3D,
    CUarray_format,
    CUdevice_attribute,
    CUmemorytype,
    CUresult,
)

from .kernels import DEVICE, memory, needs, ok, owned, read, stream, write
from .kernels import context as context

pytestmark = pytest.mark.gpu

FLOAT = CUarray_format.CU_AD_FORMAT_FLOAT


def line(width: int) -> CUDA_ARRAY_DESCRIPTOR:
    """The shape of a 1D array of floats."""
    return CUDA_ARRAY_DESCRIPTOR(Width=width, Height=0, Format=FLOAT, NumChannels=1)


def box(width: int, height: int, depth: int, flags: int = 0, **changes: Any) -> CUDA_ARRAY3D_DESCRIPTOR:
    """The shape of an array of floats."""
    shape = {
        "Width": width,
        "Height": height,
        "Depth": depth,
        "Format": FLOAT,
        "NumChannels": 1,
        "Flags": flags,
    }
    return CUDA_ARRAY3D_DESCRIPTOR(**{**shape, **changes})


def test_the_descriptor_comes_back() -> None:
    shape = CUDA_ARRAY_DESCRIPTOR(
        Width=32, Height=16, Format=CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8, NumChannels=4
    )
    with owned(driver.cuArrayCreate(shape), driver.cuArrayDestroy) as array:
        assert bytes(ok(driver.cuArrayGetDescriptor(array))) == bytes(shape)
        found = ok(driver.cuArray3DGetDescriptor(array))
        assert (found.Width, found.Height, found.Depth, found.NumChannels, found.Flags) == (32, 16, 0, 4, 0)
        assert found.Format == CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8
    shape.NumChannels = 3
    assert driver.cuArrayCreate(shape) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_copies_of_one_dimension() -> None:
    data = np.arange(64, dtype=np.float32)
    back = np.zeros(64, np.float32)
    with (
        owned(driver.cuArrayCreate(line(64)), driver.cuArrayDestroy) as first,
        owned(driver.cuArrayCreate(line(64)), driver.cuArrayDestroy) as second,
        memory(256) as pointer,
    ):
        ok(driver.cuMemcpyHtoA(first, 0, data, 256))
        ok(driver.cuMemcpyAtoD(pointer, first, 128, 128))
        assert read(pointer, 32, np.float32) == list(range(32, 64))
        ok(driver.cuMemcpyDtoA(second, 128, pointer, 128))
        ok(driver.cuMemcpyAtoA(second, 0, first, 0, 128))
        ok(driver.cuMemcpyAtoH(back, second, 0, 256))
    assert back.tolist() == data.tolist()


def test_queued_copies_of_one_dimension() -> None:
    data, back = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    with owned(driver.cuArrayCreate(line(64)), driver.cuArrayDestroy) as array, stream() as queue:
        ok(driver.cuMemcpyHtoAAsync(array, 0, data, 256, queue))
        ok(driver.cuMemcpyAtoHAsync(back, array, 128, 128, queue))
        ok(driver.cuStreamSynchronize(queue))
    assert back.tolist() == [*range(32, 64), *[0] * 32]


def test_copies_of_three_dimensions() -> None:
    data = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    back = np.zeros((2, 2, 2), np.float32)
    with (
        owned(driver.cuArray3DCreate(box(4, 3, 2)), driver.cuArrayDestroy) as array,
        memory(data.nbytes) as pointer,
    ):
        write(pointer, data, np.float32)
        ok(
            driver.cuMemcpy3D(
                CUDA_MEMCPY3D(
                    srcMemoryType=CUmemorytype.CU_MEMORYTYPE_DEVICE,
                    srcDevice=pointer,
                    srcPitch=16,
                    srcHeight=3,
                    dstMemoryType=CUmemorytype.CU_MEMORYTYPE_ARRAY,
                    dstArray=array,
                    WidthInBytes=16,
                    Height=3,
                    Depth=2,
                )
            )
        )
        ok(
            driver.cuMemcpy3D(
                CUDA_MEMCPY3D(
                    srcXInBytes=8,
                    srcY=1,
                    srcMemoryType=CUmemorytype.CU_MEMORYTYPE_ARRAY,
                    srcArray=array,
                    dstMemoryType=CUmemorytype.CU_MEMORYTYPE_HOST,
                    dstHost=back,
                    dstPitch=8,
                    dstHeight=2,
                    WidthInBytes=8,
                    Height=2,
                    Depth=2,
                )
            )
        )
    assert back.tolist() == data[:, 1:, 2:].tolist()


def test_levels_of_a_mipmapped_array() -> None:
    with owned(driver.cuMipmappedArrayCreate(box(16, 8, 0), 3), driver.cuMipmappedArrayDestroy) as mipmap:
        shapes = [
            ok(driver.cuArray3DGetDescriptor(ok(driver.cuMipmappedArrayGetLevel(mipmap, i))))
            for i in range(3)
        ]
        assert [(shape.Width, shape.Height) for shape in shapes] == [(16, 8), (8, 4), (4, 2)]
        assert driver.cuMipmappedArrayGetLevel(mipmap, 3)[0] == CUresult.CUDA_ERROR_INVALID_VALUE


def test_an_array_of_one_plane_has_no_others() -> None:
    with owned(driver.cuArray3DCreate(box(64, 32, 0)), driver.cuArrayDestroy) as array:
        assert driver.cuArrayGetPlane(array, 5) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_what_a_deferred_array_will_need() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED)
    with owned(
        driver.cuArray3DCreate(box(256, 256, 0, CUDA_ARRAY3D_DEFERRED_MAPPING)), driver.cuArrayDestroy
    ) as array:
        found = ok(driver.cuArrayGetMemoryRequirements(array, DEVICE))
        assert found.size >= 4 * 256 * 256
        assert found.alignment > 0
    shape = box(256, 256, 0, CUDA_ARRAY3D_DEFERRED_MAPPING)
    with owned(driver.cuMipmappedArrayCreate(shape, 2), driver.cuMipmappedArrayDestroy) as mipmap:
        assert ok(driver.cuMipmappedArrayGetMemoryRequirements(mipmap, DEVICE)).size > found.size


def test_tiles_of_a_sparse_array() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED)
    with owned(
        driver.cuArray3DCreate(box(1024, 1024, 0, CUDA_ARRAY3D_SPARSE)), driver.cuArrayDestroy
    ) as array:
        tile = ok(driver.cuArrayGetSparseProperties(array)).tileExtent
        assert tile.width * tile.height * tile.depth * 4 == 65536
    with owned(driver.cuArrayCreate(line(64)), driver.cuArrayDestroy) as plain:
        assert driver.cuArrayGetSparseProperties(plain) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
