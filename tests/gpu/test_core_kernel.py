"""core on a real GPU: what kernels say of themselves."""

from __future__ import annotations

import ctypes
import gc
import weakref

import numpy as np
import pytest

from cudapy import driver
from cudapy._core.kernels.kernel import kernel_name, kernel_names
from cudapy._ffi.library import SymbolNotFound
from cudapy.core import CUDAError, Kernel, LaunchConfig, Program, launch

from .core_kernels import content
from .kernels import needs_driver

pytestmark = pytest.mark.gpu


def test_arguments_info(code) -> None:
    if driver.checked.cuDriverGetVersion() < 12040:
        pytest.skip("the driver cannot tell the parameters of a kernel before CUDA 12.4")
    axpy = code.get_kernel("axpy")
    assert axpy.arguments_info == [(0, 4), (8, 8), (16, 8), (24, 4)] and axpy.num_arguments == 4
    assert axpy.arguments_info[1].offset == axpy.arguments_info[1].size == 8


def test_attributes(device, code) -> None:
    attributes = code.get_kernel("axpy").attributes
    assert attributes.max_threads_per_block == attributes.max_threads_per_block() == 1024
    assert attributes.num_regs > 0 and attributes.shared_size_bytes == 0
    assert attributes.binary_version == int(device.arch)
    assert attributes.cluster_size_must_be_set is False
    assert attributes[device].num_regs == attributes[0].num_regs == attributes.num_regs
    names = [name for name in dir(attributes) if not name.startswith("_")]
    assert len(names) == 16
    for name in names:
        assert isinstance(getattr(attributes, name), int), name
    assert attributes.cache_mode_ca in (True, False)
    with pytest.raises(AttributeError, match="no attribute"):
        attributes.registers = 1
    with pytest.raises(TypeError, match="val must be an integer"):
        attributes.max_dynamic_shared_size_bytes = "1024"
    with pytest.warns(RuntimeWarning, match="val is an integer"):
        attributes.max_dynamic_shared_size_bytes = 1024.5
    assert attributes.max_dynamic_shared_size_bytes == 1024


def test_attributes_and_occupancy_keep_the_kernel(device) -> None:
    kernel = Program('extern "C" __global__ void k() {}', "c++").compile("cubin").get_kernel("k")
    attributes, occupancy = kernel.attributes, kernel.occupancy
    del kernel
    gc.collect()
    assert attributes.max_threads_per_block == attributes[device].max_threads_per_block == 1024
    assert occupancy.max_active_blocks_per_multiprocessor(1024) >= 1


def test_occupancy(device, code) -> None:
    occupancy = code.get_kernel("shared").occupancy
    alone = occupancy.max_active_blocks_per_multiprocessor(256, 0)
    crowded = occupancy.max_active_blocks_per_multiprocessor(256, dynamic_shared_memory_size=40_000)
    assert alone == device.properties.max_threads_per_multiprocessor // 256
    assert 1 <= crowded < alone
    best = occupancy.max_potential_block_size(dynamic_shared_memory_needed=0, block_size_limit=128)
    assert best.max_block_size <= 128
    assert best.min_grid_size >= device.properties.multiprocessor_count
    by_size = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda block: 4 * block)
    assert occupancy.max_potential_block_size(by_size).max_block_size > 0
    assert occupancy.available_dynamic_shared_memory_per_block(1, 256) > 40_000
    numbers = np.int64(4096), np.int32(128)  # the first is no address of a function
    assert occupancy.max_potential_block_size(*numbers) == occupancy.max_potential_block_size(4096, 128)


def test_clusters(device, code, stream) -> None:
    if not device.properties.cluster_launch:
        pytest.skip("this device has no clusters")
    occupancy = code.get_kernel("axpy").occupancy
    config = LaunchConfig(grid=4, cluster=2, block=128)
    assert occupancy.max_active_clusters(config, stream=stream) >= 1
    assert occupancy.max_potential_cluster_size(config, stream=stream) >= 2
    for function in (occupancy.max_active_clusters, occupancy.max_potential_cluster_size):
        with pytest.raises(TypeError, match="a LaunchConfig, not dict"):
            function({"grid": 4})


def test_kernels_are_equal_by_handle(code) -> None:
    axpy, same, other = (code.get_kernel(name) for name in ("axpy", "axpy", "spin"))
    assert axpy == same and len({axpy, same, other}) == 2 and axpy != other
    assert Kernel.from_handle(axpy.handle) == axpy and Kernel.from_handle(int(axpy.handle)).name == "axpy"


def test_a_kernel_by_its_handle_keeps_its_code(device, stream) -> None:
    needs_driver(12, 5)
    source = 'extern "C" __global__ void five(int *x) { *x = 5; }'
    code = Program(source, "c++").compile("cubin")
    reference, library = weakref.ref(code), int(code.handle)
    kernel = Kernel.from_handle(int(code.get_kernel("five").handle))
    again = Kernel.from_handle(kernel.handle)
    del code, kernel
    gc.collect()
    assert reference() is not None and int(reference().handle) == library
    buffer = device.allocate(4, stream)
    launch(stream, LaunchConfig(grid=1, block=1), again, buffer)
    assert content(buffer, np.int32, stream).tolist() == [5]
    del again
    gc.collect()
    assert reference() is None


def test_a_kernel_of_code_that_others_loaded(device, stream) -> None:
    source = 'extern "C" __global__ void six(int *x) { *x = 6; }'
    code = Program(source, "c++").compile("cubin").code
    library = driver.checked.cuLibraryLoadData(code, [], [], 0, [], [], 0)
    kernel = Kernel.from_handle(driver.checked.cuLibraryGetKernel(library, b"six"))
    buffer = device.allocate(4, stream)
    launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
    assert content(buffer, np.int32, stream).tolist() == [6]
    driver.checked.cuLibraryUnload(library)


@pytest.mark.parametrize("wrong", [1.5, "5", None, b"5", np.float32(4)])
def test_what_is_no_handle_of_a_kernel(device, wrong) -> None:
    with pytest.raises(TypeError, match="CUkernel or its address as an int"):
        Kernel.from_handle(wrong)


def test_the_shared_memory_of_a_block_may_depend_on_its_size(code) -> None:
    """As a ctypes function, and as a CUoccupancyB2DSize at a pointer to it, or at itself as in cuda.core."""
    occupancy = code.get_kernel("shared").occupancy
    small = occupancy.max_potential_block_size(0, 0)
    by_size = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda block: 100 * block)
    address = ctypes.cast(by_size, ctypes.c_void_p).value
    handles = [driver.CUoccupancyB2DSize(_ptr=at) for at in (address, ctypes.addressof(by_size))]
    for function in (by_size, driver.CUoccupancyB2DSize(address), *handles):
        assert occupancy.max_potential_block_size(function, 0).max_block_size < small.max_block_size


def test_what_attributes_show(code) -> None:
    attributes = code.get_kernel("axpy").attributes
    assert repr(attributes) == "<KernelAttributes on the current device>"
    assert repr(attributes[0]) == "<KernelAttributes on device 0>"


def test_a_driver_that_tells_less_of_kernels(code, monkeypatch) -> None:
    """Before CUDA 12.5, 12.4 and 12.3: no code, no names."""

    def lacks(*arguments):
        raise SymbolNotFound("it", "the driver lacks it")

    kernel = code.get_kernel("axpy")
    assert kernel_name(kernel.handle) == "axpy"
    monkeypatch.setattr(driver, "cuKernelGetLibrary", lacks)
    monkeypatch.setattr(driver, "cuKernelGetName", lacks)
    monkeypatch.setattr(driver.checked, "cuLibraryGetKernelCount", lacks)
    assert kernel_name(kernel.handle) == "" and kernel_names(code.handle) == []
    assert Kernel.from_handle(int(kernel.handle)).num_arguments == kernel.num_arguments
    with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_FOUND"):
        code.get_kernel("nothing")
