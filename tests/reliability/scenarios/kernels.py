"""Object code, kernels and launches."""

from __future__ import annotations

import ctypes

import numpy as np

from ..world import PTX, World

_CUBIN = b"\x7fELF" + bytes(252)


def object_code(w: World) -> None:
    code = w.core.ObjectCode.from_ptx(PTX, name="mine", symbol_mapping={"plus": "add"})
    kernel = code.get_kernel("plus")
    assert (code.name, code.code_type, code.code, code.symbol_mapping) == (
        "mine",
        "ptx",
        PTX,
        {"plus": "add"},
    )
    assert int(code.get_module()) and int(kernel.handle) and "add" in code.kernel_names
    try:
        code.get_kernel("absent")
    except w.core.CUDAError as error:
        if error.name != "CUDA_ERROR_NOT_FOUND":
            raise
        if "a test wants" in str(error):
            raise
    w.driver.checked.cuLibraryUnload(code.handle)  # for whoever reads it to do


def variables(w: World) -> None:
    code = w.core.ObjectCode.from_ptx(PTX, symbol_mapping={"&count": "counter"})
    counter = code.get_global("count")
    assert counter == code.get_global(b"counter") and counter.owner is code
    view = counter.view("i4")
    assert view.shape == (1,)
    counter.close()
    try:
        code.get_global("absent")
    except w.core.CUDAError as error:
        if error.name != "CUDA_ERROR_NOT_FOUND" or "a test wants" in str(error):
            raise


def object_code_of_bytes(w: World) -> None:
    of = w.core.ObjectCode
    for make in (of.from_cubin, of.from_fatbin, of.from_library, of.from_ltoir, of.from_object):
        assert make(_CUBIN).code == _CUBIN
    try:
        of.from_cubin(_CUBIN).get_kernel("absent")
    except w.core.CUDAError as error:
        if "a test wants" in str(error):
            raise
    else:
        raise AssertionError("zeros are a cubin")


def kernel(w: World) -> None:
    kernel = w.core.ObjectCode.from_ptx(PTX).get_kernel("add")
    assert kernel.num_arguments == 2 and kernel.arguments_info[1] == (8, 4)
    assert kernel.attributes.num_regs() and kernel.attributes[1].max_threads_per_block
    kernel.attributes.max_dynamic_shared_size_bytes = 1024
    assert kernel.attributes.max_dynamic_shared_size_bytes == 1024
    occupancy = kernel.occupancy
    assert occupancy.max_active_blocks_per_multiprocessor(32)
    assert occupancy.max_potential_block_size(0, 64).max_block_size == 64
    assert occupancy.available_dynamic_shared_memory_per_block(1, 32)
    config = w.core.LaunchConfig(grid=1, cluster=2, block=32)
    assert occupancy.max_potential_cluster_size(config) and occupancy.max_active_clusters(config)
    assert w.core.Kernel.from_handle(int(kernel.handle), kernel._module) == kernel


def launches(w: World) -> None:
    stream = w.device.create_stream()
    kernel = w.core.ObjectCode.from_ptx(PTX).get_kernel("add")
    buffer = w.device.allocate(128, stream)
    buffer.fill(0, stream=stream)
    w.core.launch(stream, w.one, kernel, buffer, 1)
    w.core.launch(stream, w.one, kernel, buffer, np.int32(2))
    stream.sync()
    found = np.empty(32, np.int32)
    buffer.copy_to(found, stream=stream)
    stream.sync()
    assert set(found.tolist()) == {3}


def prepared(w: World) -> None:
    with w.device.create_stream() as stream, w.device.allocate(128, stream) as buffer:
        buffer.fill(0, stream=stream)
        run = w.core.prepare(stream, w.one, w.add, buffer, 3)
        run(buffer, 3)
        run(ctypes.c_void_p(buffer.handle), ctypes.c_int(4))
        del run
        stream.sync()
        found = np.empty(32, np.int32)
        buffer.copy_to(found, stream=stream)
        stream.sync()
        assert set(found.tolist()) == {7}


def a_launch_that_is_too_large(w: World) -> None:
    for config in (
        w.core.LaunchConfig(grid=1, block=2048),
        w.core.LaunchConfig(grid=1, block=32, shmem_size=1 << 20),
        w.core.LaunchConfig(grid=1 << 20, block=32, is_cooperative=True),
        w.core.LaunchConfig(grid=1, cluster=64, block=32),
    ):
        try:
            w.core.launch(w.device.default_stream, config, w.nothing)
        except w.core.CUDAError as error:
            if error.code not in (1, 701, 720, 912):
                raise
        else:
            raise AssertionError("the device takes it")
