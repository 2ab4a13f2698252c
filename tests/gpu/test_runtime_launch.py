"""The Runtime API: launches, the forms of arguments, attributes of launches and of kernels, occupancy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy import runtime as rt
from cudapy.runtime import (
    cudaDeviceAttr,
    cudaError_t,
    cudaFuncAttribute,
    cudaFuncCache,
    cudaLaunchAttribute,
    cudaLaunchAttributeID,
    cudaLaunchConfig_t,
    cudaMemcpyKind,
    dim3,
)

from .kernels import DEVICE, compute_capability, needs_driver, ok
from .runtime_kernels import (
    FILL_TYPES,
    attribute,
    kernel,
    launch,
    library,
    memory,
    needs,
    needs_function,
    read,
    stream,
    write,
)
from .runtime_kernels import device as device

pytestmark = pytest.mark.gpu

Attribute = cudaLaunchAttributeID

CLUSTER = r"""
extern "C" __global__ void cluster_size(unsigned *out)
{
    unsigned size, rank;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) out[blockIdx.x] = 100 * size + rank;
}
"""


class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_double)]


class TestArguments:
    @pytest.mark.parametrize("nothing", [None, 0, (), ((), ())])
    def test_none(self, nothing: Any) -> None:
        counter, _ = ok(rt.cudaLibraryGetGlobal(library(), b"counter"))
        write(counter, [0])
        ok(rt.cudaLaunchKernel(kernel("bump"), 2, 4, nothing, 0, 0))
        assert read(counter, 1) == [8]

    def test_values_and_types(self) -> None:
        with memory(64) as pointer:
            launch(kernel("fill"), 8, (pointer, -7, 6), FILL_TYPES)
            assert read(pointer, 8) == [-7] * 6 + [0] * 2

    def test_handles_and_enums_have_the_type_none(self) -> None:
        with memory(64) as pointer:
            values = (driver.CUdeviceptr(pointer), cudaMemcpyKind.cudaMemcpyDeviceToDevice, 6)
            launch(kernel("fill"), 8, values, (None, None, ctypes.c_int))
            assert read(pointer, 8) == [3] * 6 + [0] * 2

    def test_an_array_of_addresses(self) -> None:
        with memory(64) as pointer:
            values = [np.array([pointer], np.uint64), np.array([9], "i4"), np.array([5], "i4")]
            addresses = np.array([value.ctypes.data for value in values], np.uint64)
            ok(rt.cudaLaunchKernel(kernel("fill"), dim3(2), dim3(4), addresses, 0, 0))
            assert read(pointer, 8) == [9] * 5 + [0] * 3
            ok(rt.cudaLaunchKernel(kernel("fill"), dim3(1), dim3(4), addresses.ctypes.data, 0, 0))
            assert read(pointer, 8) == [9] * 5 + [0] * 3

    def test_every_kind_of_number(self) -> None:
        with memory(64) as pointer:
            values = (-100, -30000, -(2**52), 0.5, 1e-300, True, pointer)
            c = ctypes
            whole, real = (c.c_byte, c.c_short, c.c_longlong), (c.c_float, c.c_double)
            launch(kernel("scalars"), 1, values, (*whole, *real, c.c_bool, c.c_void_p))
            assert read(pointer, 6, np.float64) == list(values[:6])

    def test_a_struct_by_value(self) -> None:
        with memory(8) as pointer:
            types = (None, ctypes.c_int, ctypes.c_void_p)
            launch(kernel("sum_pair"), 1, (Pair(3, 0.25), 4, pointer), types)
            assert read(pointer, 1, np.float64) == [13.0]

    @pytest.mark.parametrize(
        ("parameters", "error"),
        [
            (((1, 2, 3), FILL_TYPES[:2]), ValueError),
            (((1, 2**31, 3), FILL_TYPES), OverflowError),
            (((1, "2", 3), FILL_TYPES), TypeError),
        ],
    )
    def test_what_is_no_argument_is_not_launched(self, parameters: Any, error: type[Exception]) -> None:
        with pytest.raises(error):
            rt.cudaLaunchKernel(kernel("fill"), 1, 1, parameters, 0, 0)


class TestShape:
    @pytest.mark.parametrize("grid", [(3, 2), dim3(3, 2), 6])
    def test_blocks_threads_and_shared_memory(self, grid: Any) -> None:
        with memory(64) as pointer:
            arguments = ((pointer,), (ctypes.c_void_p,))
            ok(rt.cudaLaunchKernel(kernel("shared_sum"), grid, (100,), arguments, 400, 0))
            expected = [4950] * 6 if grid == 6 else [4950] * 3 + [0] * 3  # by blockIdx.x alone
            assert read(pointer, 6) == expected

    @pytest.mark.parametrize(("grid", "block"), [(0, 1), (1, 0), (1, 2048), ((1, 70000), 1)])
    def test_impossible(self, grid: Any, block: Any) -> None:
        status = rt.cudaLaunchKernel(kernel("bump"), grid, block, None, 0, 0)
        assert status[0] in (
            cudaError_t.cudaErrorInvalidConfiguration,
            cudaError_t.cudaErrorInvalidValue,
        )


def config(blocks: int, threads: int, *attributes: cudaLaunchAttribute, on: Any = 0) -> cudaLaunchConfig_t:
    return cudaLaunchConfig_t(
        gridDim=dim3(blocks),
        blockDim=dim3(threads),
        stream=on,
        attrs=list(attributes),
        numAttrs=len(attributes),
    )


def cluster(x: int) -> cudaLaunchAttribute:
    made = cudaLaunchAttribute(id=Attribute.cudaLaunchAttributeClusterDimension)
    made.val.clusterDim.x, made.val.clusterDim.y, made.val.clusterDim.z = x, 1, 1
    return made


class TestAttributes:
    def test_none(self) -> None:
        with memory(64) as pointer, stream() as queue:
            arguments = ((pointer, 3, 8), FILL_TYPES)
            ok(rt.cudaLaunchKernelExC(config(2, 4, on=queue), kernel("fill"), arguments))
            assert read(pointer, 8) == [3] * 8

    def test_clusters(self) -> None:
        needs(cudaDeviceAttr.cudaDevAttrClusterLaunch)
        func = kernel("cluster_size", CLUSTER)
        with memory(64) as pointer:
            arguments = ((pointer,), (ctypes.c_void_p,))
            ok(rt.cudaLaunchKernelExC(config(8, 32, cluster(4)), func, arguments))
            assert read(pointer, 8) == [400, 401, 402, 403] * 2
            ok(rt.cudaLaunchKernelExC(config(4, 32, cluster(2)), func, arguments))
            assert read(pointer, 8) == [200, 201, 200, 201, 400, 401, 402, 403]
            odd = rt.cudaLaunchKernelExC(config(7, 32, cluster(2)), func, arguments)
            assert odd != (cudaError_t.cudaSuccess,)

    @pytest.mark.parametrize("form", ["attribute", "function"])
    def test_cooperative(self, form: str) -> None:
        needs(cudaDeviceAttr.cudaDevAttrCooperativeLaunch)
        blocks = 2 * attribute(cudaDeviceAttr.cudaDevAttrMultiProcessorCount)

        def meet(grid: int) -> tuple[cudaError_t]:
            if form == "function":
                return rt.cudaLaunchCooperativeKernel(func, grid, 32, arguments, 0, 0)
            demand = cudaLaunchAttribute(id=Attribute.cudaLaunchAttributeCooperative)
            demand.val.cooperative = 1
            return rt.cudaLaunchKernelExC(config(grid, 32, demand), func, arguments)

        func = kernel("meet")
        with memory(64) as arrived, memory(4 * blocks) as pointer:
            arguments = ((arrived, pointer), (ctypes.c_void_p, ctypes.c_void_p))
            ok(meet(blocks))
            assert read(pointer, blocks) == [blocks] * blocks
            assert meet(1000 * blocks) == (cudaError_t.cudaErrorCooperativeLaunchTooLarge,)
            ok(rt.cudaDeviceSynchronize())  # that error does not stay


class TestKernels:
    def test_what_they_need(self) -> None:
        found = ok(rt.cudaFuncGetAttributes(kernel("shared_sum")))
        major, minor = compute_capability()
        assert found.binaryVersion == 10 * major + minor
        assert found.maxThreadsPerBlock == 1024
        assert found.numRegs > 0 and found.sharedSizeBytes == 0
        assert ok(rt.cudaFuncGetAttributes(kernel("bump"))).localSizeBytes == 0

    @pytest.mark.parametrize("form", ["function", "kernel"])
    def test_more_shared_memory_on_demand(self, form: str) -> None:
        size = attribute(cudaDeviceAttr.cudaDevAttrMaxSharedMemoryPerBlockOptin)
        usual = attribute(cudaDeviceAttr.cudaDevAttrMaxSharedMemoryPerBlock)
        if size <= usual:
            pytest.skip("the device has no more shared memory on demand")
        name = cudaFuncAttribute.cudaFuncAttributeMaxDynamicSharedMemorySize
        func = kernel("shared_sum")

        def allow(bytes_: int) -> None:
            if form == "function":
                ok(rt.cudaFuncSetAttribute(func, name, bytes_))
            else:
                ok(rt.cudaKernelSetAttributeForDevice(func, name, bytes_, DEVICE))

        with memory(16) as pointer:
            arguments = ((pointer,), (ctypes.c_void_p,))
            refused = rt.cudaLaunchKernel(func, 1, 10, arguments, size, 0)
            assert refused == (cudaError_t.cudaErrorInvalidValue,)
            try:
                allow(size)
                assert ok(rt.cudaFuncGetAttributes(func)).maxDynamicSharedSizeBytes == size
                ok(rt.cudaLaunchKernel(func, 1, 10, arguments, size, 0))
                assert read(pointer, 1) == [45]
            finally:
                allow(usual)
        assert rt.cudaFuncSetAttribute(func, name, 2 * size) == (cudaError_t.cudaErrorInvalidValue,)

    def test_their_names_and_parameters(self) -> None:
        func = kernel("fill")
        needs_function("cudaFuncGetParamInfo")
        needs_driver(12, 4)
        assert ok(rt.cudaFuncGetName(func)) == b"fill"
        assert [ok(rt.cudaFuncGetParamInfo(func, i)) for i in range(3)] == [(0, 8), (8, 4), (12, 4)]
        assert rt.cudaFuncGetParamInfo(func, 3) == (cudaError_t.cudaErrorInvalidValue, None, None)

    def test_the_number_of_their_parameters(self) -> None:
        func = kernel("fill")
        needs_function("cudaFuncGetParamCount")
        needs_driver(13, 2)
        assert ok(rt.cudaFuncGetParamCount(func)) == 3

    def test_cache_preference_is_an_enum(self) -> None:
        func = kernel("bump")
        ok(rt.cudaFuncSetCacheConfig(func, cudaFuncCache.cudaFuncCachePreferShared))
        assert rt.cudaFuncSetCacheConfig(func, 99) == (cudaError_t.cudaErrorInvalidValue,)

    def test_the_kernel_of_a_kernel(self) -> None:
        func = kernel("bump")
        needs_function("cudaGetKernel")
        status, found = rt.cudaGetKernel(func)
        if status == cudaError_t.cudaSuccess:
            assert isinstance(found, rt.cudaKernel_t) and found == func
        else:  # it is no host symbol
            assert (status, found) == (cudaError_t.cudaErrorInvalidDeviceFunction, None)


class TestOccupancy:
    def test_blocks_of_a_multiprocessor(self) -> None:
        func = kernel("fill")
        function = ok(driver.cuKernelGetFunction(func))
        threads = attribute(cudaDeviceAttr.cudaDevAttrMaxThreadsPerMultiProcessor)
        for block in (32, 256, 1024):
            found = ok(rt.cudaOccupancyMaxActiveBlocksPerMultiprocessor(func, block, 0))
            assert found == ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, block, 0))
            assert 1 <= found <= threads // block
            flags = rt.cudaOccupancyDisableCachingOverride
            again = rt.cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(func, block, 0, flags)
            assert ok(again) == found

    def test_shared_memory_that_is_left(self) -> None:
        func = kernel("shared_sum")
        one = ok(rt.cudaOccupancyAvailableDynamicSMemPerBlock(func, 1, 128))
        four = ok(rt.cudaOccupancyAvailableDynamicSMemPerBlock(func, 4, 128))
        assert one >= four > 0

    def test_clusters(self) -> None:
        needs(cudaDeviceAttr.cudaDevAttrClusterLaunch)
        func = kernel("cluster_size", CLUSTER)
        largest = ok(rt.cudaOccupancyMaxPotentialClusterSize(func, config(64, 32)))
        assert largest >= 8
        small = ok(rt.cudaOccupancyMaxActiveClusters(func, config(64, 32, cluster(2))))
        large = ok(rt.cudaOccupancyMaxActiveClusters(func, config(64, 32, cluster(8))))
        assert small > large > 0
