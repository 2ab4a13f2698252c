"""Tensor maps: what the Tensor Memory Accelerator is told about a tensor."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CU_TENSOR_MAP_NUM_QWORDS,
    CUdevice_attribute,
    CUdeviceptr,
    CUresult,
    CUtensorMap,
    CUtensorMapDataType,
    CUtensorMapFloatOOBfill,
    CUtensorMapInterleave,
    CUtensorMapL2promotion,
    CUtensorMapSwizzle,
    cuuint32_t,
    cuuint64_t,
)

from .kernels import context as context
from .kernels import cubin, function, memory, needs, needs_no_sanitizer, ok, read, run_python, write
from .tensor_kernels import TENSOR_HEADER

pytestmark = pytest.mark.gpu

WIDTH, HEIGHT = 64, 32  # of a tensor of floats, of which boxes of 16 x 8 are copied
SOURCE = (
    TENSOR_HEADER
    + r"""
extern "C" __global__ void copy_box(const __grid_constant__ TensorMap map, int x, int y, float *out)
{
    __shared__ __align__(128) float box[8 * 16];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned box_at = (unsigned)__cvta_generic_to_shared(box);
    unsigned barrier_at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        arrive(&barrier, sizeof box);
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
            " [%0], [%1, {%2, %3}], [%4];"
            :: "r"(box_at), "l"(&map), "r"(x), "r"(y), "r"(barrier_at) : "memory");
    }
    __syncthreads();
    wait(&barrier);
    out[threadIdx.x] = box[threadIdx.x];
}

extern "C" __global__ void store_box(const __grid_constant__ TensorMap map, int x, int y, const float *in)
{
    __shared__ __align__(128) float box[8 * 16];
    box[threadIdx.x] = in[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
            " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
            :: "l"(&map), "r"(x), "r"(y), "r"((unsigned)__cvta_generic_to_shared(box)) : "memory");
}
"""
)


@pytest.fixture
def tensor() -> Iterator[CUdeviceptr]:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED)
    with memory(4 * WIDTH * HEIGHT) as pointer:
        write(pointer, range(WIDTH * HEIGHT), np.float32)
        yield pointer


def encode(address: Any, **changes: Any) -> tuple[CUresult, CUtensorMap]:
    """Of the tensor at `address`, unless `changes` say otherwise."""
    arguments: dict[str, Any] = {
        "tensorDataType": CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        "tensorRank": 2,
        "globalAddress": address,
        "globalDim": [WIDTH, HEIGHT],
        "globalStrides": [4 * WIDTH],
        "boxDim": [16, 8],
        "elementStrides": [1, 1],
        "interleave": CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        "swizzle": CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_NONE,
        "l2Promotion": CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        "oobFill": CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    }
    return driver.cuTensorMapEncodeTiled(**{**arguments, **changes})


def test_a_map_is_aligned_and_depends_on_its_arguments(tensor: CUdeviceptr) -> None:
    first, again = ok(encode(tensor)), ok(encode(int(tensor)))
    assert [made.getPtr() % 128 for made in (first, again, CUtensorMap())] == [0, 0, 0]
    assert len(first.opaque) == CU_TENSOR_MAP_NUM_QWORDS
    assert any(int(word) for word in first.opaque)
    assert bytes(first) == bytes(again)
    assert bytes(first) != bytes(ok(encode(tensor, boxDim=[8, 8])))
    numbers = [cuuint64_t(WIDTH), cuuint64_t(HEIGHT)], [cuuint32_t(16), cuuint32_t(8)]
    assert bytes(first) == bytes(ok(encode(tensor, globalDim=numbers[0], boxDim=numbers[1])))


def test_the_address_can_be_replaced(tensor: CUdeviceptr) -> None:
    made, other = ok(encode(tensor)), ok(encode(int(tensor) + 1024))
    assert bytes(made) != bytes(other)
    ok(driver.cuTensorMapReplaceAddress(made, int(tensor) + 1024))
    assert bytes(made) == bytes(other)
    assert driver.cuTensorMapReplaceAddress(made, int(tensor) + 4) == (CUresult.CUDA_ERROR_INVALID_VALUE,)


@pytest.mark.parametrize(
    "changes",
    [
        {"tensorRank": 0},
        {
            "tensorRank": 6,
            "globalDim": [16] * 6,
            "globalStrides": [64] * 5,
            "boxDim": [1] * 6,
            "elementStrides": [1] * 6,
        },
        {"tensorRank": 1, "globalStrides": []},
        {"globalStrides": [4 * WIDTH + 4]},
        {"boxDim": [16, 257]},
        {"boxDim": [0, 8]},
        {"elementStrides": [1, 9]},
        {"globalDim": [0, HEIGHT]},
        {"tensorDataType": 99},
        {"interleave": CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_32B},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_what_the_hardware_cannot_do(tensor: CUdeviceptr, changes: dict[str, Any]) -> None:
    assert encode(tensor, **changes) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


def test_strides_of_nothing(tensor: CUdeviceptr) -> None:
    """0 is a multiple of 16, and dimensions of one element need no stride."""
    more = {"tensorRank": 5, "globalDim": [WIDTH, HEIGHT, 1, 1, 1], "globalStrides": [4 * WIDTH, 16, 0, 0]}
    assert ok(encode(tensor, **more, boxDim=[16, 8, 1, 1, 1], elementStrides=[1] * 5)).opaque is not None


def test_an_address_off_its_alignment(tensor: CUdeviceptr) -> None:
    assert encode(int(tensor) + 8) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)


@pytest.mark.parametrize("short", ["globalDim", "globalStrides", "boxDim", "elementStrides"])
def test_a_list_shorter_than_the_rank_is_refused(short: str) -> None:
    with pytest.raises(ValueError, match=short):
        encode(
            4096,
            tensorRank=3,
            **{
                name: [16] * (length - (name == short))
                for name, length in [
                    ("globalDim", 3),
                    ("globalStrides", 2),
                    ("boxDim", 3),
                    ("elementStrides", 3),
                ]
            },
        )


@pytest.mark.parametrize(("x", "y"), [(0, 0), (16, 8), (4, 3), (56, 28), (-4, -3)])
def test_a_kernel_copies_a_box(tensor: CUdeviceptr, x: int, y: int) -> None:
    whole = np.zeros((8 + HEIGHT + 8, 16 + WIDTH + 16))  # outside the tensor there is 0
    whole[8 : 8 + HEIGHT, 16 : 16 + WIDTH] = np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH)
    made = ok(encode(tensor))
    with memory(512) as out:
        arguments = (made, x, y, int(out)), (None, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
        ok(driver.cuLaunchKernel(function("copy_box", SOURCE), 1, 1, 1, 128, 1, 1, 0, 0, arguments, 0))
        assert read(out, 128, np.float32) == whole[y + 8 : y + 16, x + 16 : x + 32].ravel().tolist()


@pytest.mark.parametrize(("x", "y"), [(0, 0), (4, 3), (56, 28)])
def test_a_kernel_stores_a_box(tensor: CUdeviceptr, x: int, y: int) -> None:
    whole = np.zeros((HEIGHT + 8, WIDTH + 16), np.float32)
    whole[:HEIGHT, :WIDTH] = np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH)
    whole[y : y + 8, x : x + 16] = -np.arange(1, 129).reshape(8, 16)
    made = ok(encode(tensor))
    with memory(512) as data:
        write(data, range(-1, -129, -1), np.float32)
        arguments = (made, x, y, int(data)), (None, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
        ok(driver.cuLaunchKernel(function("store_box", SOURCE), 1, 1, 1, 128, 1, 1, 0, 0, arguments, 0))
        assert read(tensor, WIDTH * HEIGHT, np.float32) == whole[:HEIGHT, :WIDTH].ravel().tolist()


def test_a_tensor_of_one_dimension(tensor: CUdeviceptr) -> None:
    made = ok(encode(tensor, tensorRank=1))
    assert bytes(made) != bytes(ok(encode(tensor)))


OFF = """
import ctypes, sys
from cudapy.driver import cuCtxSynchronize
from cudapy.driver import checked as cu
path, name, x, y = sys.argv[1:]
cu.cuInit(0)
cu.cuCtxCreate(0, 0)
tensor, out = cu.cuMemAlloc(4 * 64 * 32), cu.cuMemAlloc(512)
made = cu.cuTensorMapEncodeTiled(7, 2, tensor, [64, 32], [256], [16, 8], [1, 1], 0, 0, 0, 0)
kernel = cu.cuModuleGetFunction(cu.cuModuleLoad(path.encode()), name.encode())
arguments = (made, int(x), int(y), int(out)), (None, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
cu.cuLaunchKernel(kernel, 1, 1, 1, 128, 1, 1, 0, 0, arguments, 0)
print(cuCtxSynchronize()[0].name, cuCtxSynchronize()[0].name)
"""


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [
        ("copy_box", -2, 3),
        ("copy_box", 3, 3),
        ("store_box", 2, 3),
        ("store_box", -4, 3),
        ("store_box", 4, -1),
    ],
)
def test_where_a_box_cannot_start(tensor: CUdeviceptr, name: str, x: int, y: int, tmp_path: Path) -> None:
    """Within 16 bytes; and if it is stored, before the tensor."""
    needs_no_sanitizer()
    path = tmp_path / "boxes.cubin"
    path.write_bytes(cubin(SOURCE))
    done = run_python(OFF, str(path), name, str(x), str(y))
    assert done.stdout.split() == ["CUDA_ERROR_ILLEGAL_INSTRUCTION"] * 2, done.stderr


def test_windows_of_pictures(tensor: CUdeviceptr) -> None:
    def encode_windows(**changes: Any) -> tuple[CUresult, CUtensorMap]:
        arguments: dict[str, Any] = {
            "tensorDataType": CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
            "tensorRank": 4,
            "globalAddress": tensor,
            "globalDim": [8, 8, 8, 2],  # channels, width, height, pictures
            "globalStrides": [16, 128, 1024],
            "pixelBoxLowerCorner": [-1, -1],
            "pixelBoxUpperCorner": [-1, -1],
            "channelsPerPixel": 8,
            "pixelsPerColumn": 16,
            "elementStrides": [1, 1, 1, 1],
            "interleave": CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            "swizzle": CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_NONE,
            "l2Promotion": CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
            "oobFill": CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        }
        return driver.cuTensorMapEncodeIm2col(**{**arguments, **changes})

    made = ok(encode_windows())
    assert bytes(made) != bytes(ok(encode_windows(pixelBoxLowerCorner=[0, 0])))
    assert encode_windows(channelsPerPixel=257) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
    with pytest.raises(ValueError, match="pixelBoxUpperCorner"):
        encode_windows(pixelBoxUpperCorner=[-1])
