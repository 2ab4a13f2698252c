"""How many blocks fit a multiprocessor."""

from __future__ import annotations

import ctypes

import pytest

from cudapy import driver
from cudapy.driver import (
    CUdevice_attribute,
    CUlaunchAttribute,
    CUlaunchAttributeID,
    CUlaunchConfig,
    CUoccupancy_flags,
    CUoccupancyB2DSize,
    CUresult,
)

from .kernels import attribute, function, needs, ok
from .kernels import context as context

pytestmark = pytest.mark.gpu

BLOCK_TO_SHARED = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)
DEFAULT = CUoccupancy_flags.CU_OCCUPANCY_DEFAULT


def test_blocks_of_a_multiprocessor() -> None:
    kernel = function("shared_sum")
    threads = attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
    shared = attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
    blocks = ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel, 256, 0))
    assert 0 < blocks <= threads // 256
    assert ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(kernel, 256, 0, DEFAULT)) == blocks
    assert (
        0
        < ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel, 256, 40 << 10))
        <= shared // (40 << 10)
    )


def test_the_best_block_without_shared_memory() -> None:
    grid, block = ok(driver.cuOccupancyMaxPotentialBlockSize(function("fill"), None, 0, 0))
    assert block % 32 == 0 and 32 <= block <= 1024
    assert grid % attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) == 0
    _, smaller = ok(driver.cuOccupancyMaxPotentialBlockSizeWithFlags(function("fill"), None, 0, 100, DEFAULT))
    assert smaller <= 100


@pytest.mark.parametrize("given", ["as it is", "at its pointer", "at itself"])
def test_the_best_block_for_shared_memory_that_grows(given: str) -> None:
    asked: list[int] = []

    @BLOCK_TO_SHARED
    def shared(block: int) -> int:
        asked.append(block)
        return 40 << 10 if block > 128 else 64 * block

    pointer, itself = ctypes.addressof(shared), ctypes.cast(shared, ctypes.c_void_p).value
    at = {"at its pointer": pointer, "at itself": itself}.get(given)
    callback = shared if at is None else CUoccupancyB2DSize(_ptr=at)
    kernel = function("shared_sum")
    _, block = ok(driver.cuOccupancyMaxPotentialBlockSize(kernel, callback, 0, 0))
    assert ok(driver.cuOccupancyMaxPotentialBlockSizeWithFlags(kernel, callback, 0, 0, DEFAULT))[1] == block
    assert asked and set(asked) <= set(range(1, 1025))
    assert block in asked


def test_shared_memory_that_is_left() -> None:
    kernel = function("shared_sum")
    few = ok(driver.cuOccupancyAvailableDynamicSMemPerBlock(kernel, 2, 128))
    many = ok(driver.cuOccupancyAvailableDynamicSMemPerBlock(kernel, 8, 128))
    assert few >= many > 0


def test_clusters() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)
    kernel = function("fill")
    size = CUlaunchAttribute(id=CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
    size.value.clusterDim.x, size.value.clusterDim.y, size.value.clusterDim.z = 4, 1, 1
    config = CUlaunchConfig(
        gridDimX=64, gridDimY=1, gridDimZ=1, blockDimX=128, blockDimY=1, blockDimZ=1, attrs=[size], numAttrs=1
    )
    assert (
        ok(driver.cuOccupancyMaxPotentialClusterSize(kernel, config)) == 8
    )  # what every GPU with clusters can do
    multiprocessors = attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    clusters = ok(driver.cuOccupancyMaxActiveClusters(kernel, config))
    assert multiprocessors // 8 <= clusters <= multiprocessors * 32


def test_a_block_of_no_threads_is_an_error() -> None:
    status, blocks = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function("fill"), 0, 0)
    assert (status, blocks) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
