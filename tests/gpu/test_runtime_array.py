"""The Runtime API: arrays, their copies and what they say of themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy import runtime as rt
from cudapy.runtime import (
    cudaChannelFormatDesc,
    cudaChannelFormatKind,
    cudaDeviceAttr,
    cudaError_t,
    cudaMemcpy3DParms,
    cudaMemcpyKind,
    make_cudaExtent,
    make_cudaPitchedPtr,
    make_cudaPos,
)

from .kernels import DEVICE, ok, owned
from .runtime_kernels import device as device
from .runtime_kernels import needs, stream

pytestmark = pytest.mark.gpu

Kind = cudaMemcpyKind
TO, FROM = Kind.cudaMemcpyHostToDevice, Kind.cudaMemcpyDeviceToHost


def words(channels: int = 1) -> cudaChannelFormatDesc:
    """The format of elements of signed 32-bit numbers."""
    bits = [32] * channels + [0] * (4 - channels)
    return ok(rt.cudaCreateChannelDesc(*bits, cudaChannelFormatKind.cudaChannelFormatKindSigned))  # type: ignore[call-arg]


def array(width: int, height: int, flags: int = 0) -> Any:
    return owned(rt.cudaMallocArray(words(), width, height, flags), rt.cudaFreeArray)


def test_what_it_is() -> None:
    with array(8, 4, rt.cudaArraySurfaceLoadStore) as made:
        assert isinstance(made, rt.cudaArray_t)
        desc, extent, flags = ok(rt.cudaArrayGetInfo(made))
        assert (desc.x, desc.y, desc.f) == (32, 0, cudaChannelFormatKind.cudaChannelFormatKindSigned)
        assert (extent.width, extent.height, extent.depth) == (8, 4, 0)
        assert flags == rt.cudaArraySurfaceLoadStore
        assert ok(rt.cudaGetChannelDesc(made)).x == 32
    assert rt.cudaMallocArray(words(3), 8, 4, 0)[1] is None  # three channels there are not


class TestCopies:
    SOURCE = np.arange(32, dtype=np.int32).reshape(4, 8)

    @pytest.mark.parametrize("form", ["blocking", "stream"])
    def test_rows(self, form: str) -> None:
        back = np.zeros((2, 4), np.int32)
        with array(8, 4) as made, stream() as queue:
            there = (made, 0, 0, self.SOURCE, 32, 32, 4, TO)
            home = (back, 16, made, 8, 1, 16, 2, FROM)
            if form == "blocking":
                ok(rt.cudaMemcpy2DToArray(*there))
                ok(rt.cudaMemcpy2DFromArray(*home))
            else:
                ok(rt.cudaMemcpy2DToArrayAsync(*there, queue))
                ok(rt.cudaMemcpy2DFromArrayAsync(*home, queue))
                ok(rt.cudaStreamSynchronize(queue))
        assert back.tolist() == self.SOURCE[1:3, 2:6].tolist()

    def test_between_arrays(self) -> None:
        back = np.zeros((4, 8), np.int32)
        with array(8, 4) as first, array(8, 4) as second:
            ok(rt.cudaMemcpy2DToArray(first, 0, 0, self.SOURCE, 32, 32, 4, TO))
            ok(rt.cudaMemcpy2DToArray(second, 0, 0, back, 32, 32, 4, TO))
            ok(rt.cudaMemcpy2DArrayToArray(second, 8, 2, first, 0, 0, 16, 2, Kind.cudaMemcpyDeviceToDevice))
            ok(rt.cudaMemcpy2DFromArray(back, 32, second, 0, 0, 32, 4, FROM))
        expected = np.zeros((4, 8), np.int32)
        expected[2:4, 2:6] = self.SOURCE[:2, :4]
        assert back.tolist() == expected.tolist()

    def test_the_older_functions(self) -> None:
        back = np.zeros(8, np.int32)
        with array(8, 0) as made:
            ok(rt.cudaMemcpyToArray(made, 0, 0, self.SOURCE, 32, TO))
            ok(rt.cudaMemcpyFromArray(back, made, 8, 0, 16, FROM))
        assert back.tolist() == [2, 3, 4, 5, 0, 0, 0, 0]

    @pytest.mark.parametrize(
        ("to", "from_", "count"), [((8, 1), (12, 2), 12), ((0, 1), (0, 0), 64), ((16, 0), (16, 1), 48)]
    )
    def test_bytes_between_arrays(self, to: tuple[int, int], from_: tuple[int, int], count: int) -> None:
        """Row after row, from a column of one to a column of the other, the columns in bytes."""
        back = np.full((4, 8), -1, np.int32)
        expected = back.copy()
        with array(8, 4) as first, array(8, 4) as second:
            ok(rt.cudaMemcpy2DToArray(first, 0, 0, self.SOURCE, 32, 32, 4, TO))
            ok(rt.cudaMemcpy2DToArray(second, 0, 0, back, 32, 32, 4, TO))
            ok(rt.cudaMemcpyArrayToArray(second, *to, first, *from_, count, Kind.cudaMemcpyDeviceToDevice))
            ok(rt.cudaMemcpy2DFromArray(back, 32, second, 0, 0, 32, 4, FROM))
            beyond = rt.cudaMemcpyArrayToArray(second, 0, 3, first, 0, 3, 64, Kind.cudaMemcpyDeviceToDevice)
            assert beyond == (cudaError_t.cudaErrorInvalidValue,)
        at, start = (32 * row + column for column, row in (to, from_))
        expected.reshape(-1).view(np.uint8)[at : at + count] = self.SOURCE.reshape(-1).view(np.uint8)[
            start : start + count
        ]
        assert back.tolist() == expected.tolist()

    def test_boxes(self) -> None:
        source = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
        back = np.zeros((1, 2, 2), np.int32)
        extent = make_cudaExtent(4, 3, 2)
        with owned(rt.cudaMalloc3DArray(words(), extent, rt.cudaArrayDefault), rt.cudaFreeArray) as made:
            there = cudaMemcpy3DParms(dstArray=made, extent=extent, kind=TO)
            there.srcPtr = make_cudaPitchedPtr(source.ctypes.data, 16, 4, 3)
            ok(rt.cudaMemcpy3D(there))
            home = cudaMemcpy3DParms(srcArray=made, srcPos=make_cudaPos(1, 1, 1), kind=FROM)
            home.dstPtr = make_cudaPitchedPtr(back.ctypes.data, 8, 2, 2)
            home.extent = make_cudaExtent(2, 2, 1)  # in elements, as an array takes part
            ok(rt.cudaMemcpy3D(home))
            found = ok(rt.cudaArrayGetInfo(made))[1]
        assert (found.width, found.height, found.depth) == (4, 3, 2)
        assert back.tolist() == source[1:, 1:, 1:3].tolist()


def test_levels_of_a_mipmapped_array() -> None:
    made = rt.cudaMallocMipmappedArray(words(), make_cudaExtent(8, 8, 0), 3, 0)
    with owned(made, rt.cudaFreeMipmappedArray) as mipmap:
        for level in range(3):
            size = 8 >> level
            extent = ok(rt.cudaArrayGetInfo(ok(rt.cudaGetMipmappedArrayLevel(mipmap, level))))[1]
            assert (extent.width, extent.height) == (size, size)
        assert rt.cudaGetMipmappedArrayLevel(mipmap, 9)[0] == cudaError_t.cudaErrorInvalidValue


def test_memory_that_is_mapped_later() -> None:
    needs(cudaDeviceAttr.cudaDevAttrDeferredMappingCudaArraySupported)
    with array(256, 256, rt.cudaArrayDeferredMapping) as made:
        needed = ok(rt.cudaArrayGetMemoryRequirements(made, DEVICE))
        assert needed.size >= 256 * 256 * 4 and needed.alignment > 0
    extent = make_cudaExtent(256, 256, 0)
    mipmap = rt.cudaMallocMipmappedArray(words(), extent, 2, rt.cudaArrayDeferredMapping)
    with owned(mipmap, rt.cudaFreeMipmappedArray) as levels:
        assert ok(rt.cudaMipmappedArrayGetMemoryRequirements(levels, DEVICE)).size >= needed.size


def test_sparse_arrays() -> None:
    needs(cudaDeviceAttr.cudaDevAttrSparseCudaArraySupported)
    with array(1024, 1024, rt.cudaArraySparse) as made:
        found = ok(rt.cudaArrayGetSparseProperties(made))
        tile = found.tileExtent
        assert tile.width * tile.height * tile.depth * 4 == 1 << 16
    with array(8, 8) as plain:
        assert rt.cudaArrayGetSparseProperties(plain) == (cudaError_t.cudaErrorInvalidValue, None)
