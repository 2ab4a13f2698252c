"""Launches: the forms of arguments, the attributes of a launch and of kernels, occupancy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from cudapy import driver, runtime
from cudapy.driver import (
    CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT,
    CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT,
    CU_LAUNCH_PARAM_END_AS_INT,
    CUdevice_attribute,
    CUdeviceptr,
    CUlaunchConfig,
    CUresult,
)
from cudapy.runtime import cudaDeviceAttr, dim3

from .apis import DRIVER, RUNTIME, Api, only
from .apis import api as api
from .kernels import (
    DEVICE,
    compute_capability,
    memory,
    module,
    needs,
    needs_capability,
    needs_driver,
    ok,
    read,
)
from .runtime_kernels import FILL_TYPES, attribute, kernel, library, needs_function

pytestmark = pytest.mark.gpu

CLUSTER = r"""
extern "C" __global__ void cluster_size(unsigned *out)
{
    unsigned size, rank;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) out[blockIdx.x] = 100 * size + rank;
}

extern "C" __global__ void after(int *out)  // may start early, then waits for the one before
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[threadIdx.x] += 1;
}
"""


class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_double)]


class TestArguments:
    @pytest.mark.parametrize("nothing", [None, 0, (), ((), ())])
    def test_none(self, api: Api, nothing: Any) -> None:
        if api.is_driver:
            counter, _ = ok(driver.cuModuleGetGlobal(module(), b"counter"))
        else:
            counter, _ = ok(runtime.cudaLibraryGetGlobal(library(), b"counter"))
        api.write(counter, [0])
        ok(api.launch_kernel(api.kernel("bump"), 2, 4, nothing))
        assert api.read(counter, 1) == [8]

    def test_values_and_types(self, api: Api) -> None:
        with api.memory(64) as pointer:
            ok(api.launch_kernel(api.kernel("fill"), 2, 4, ((int(pointer), -7, 6), FILL_TYPES)))
            assert api.read(pointer, 8) == [-7] * 6 + [0] * 2

    def test_handles_and_enums_have_the_type_none(self, api: Api) -> None:
        three = api.MemoryTypeArray if api.is_driver else api.MemcpyDeviceToDevice
        with api.memory(64) as pointer:
            values = (CUdeviceptr(int(pointer)), three, 6)
            ok(api.launch_kernel(api.kernel("fill"), 2, 4, (values, (None, None, ctypes.c_int))))
            assert api.read(pointer, 8) == [3] * 6 + [0] * 2

    def test_an_array_of_addresses(self, api: Api) -> None:
        with api.memory(64) as pointer:
            values = [np.array([int(pointer)], np.uint64), np.array([9], "i4"), np.array([5], "i4")]
            addresses = np.array([value.ctypes.data for value in values], np.uint64)
            ok(api.launch_kernel(api.kernel("fill"), 2, 4, addresses))
            assert api.read(pointer, 8) == [9] * 5 + [0] * 3

    def test_the_address_of_an_array_of_addresses(self, api: Api) -> None:
        with api.memory(64) as pointer:
            values = ctypes.c_void_p(int(pointer)), ctypes.c_int(4), ctypes.c_int(3)
            addresses = (ctypes.c_void_p * 3)(*[ctypes.addressof(value) for value in values])
            ok(api.launch_kernel(api.kernel("fill"), 2, 4, ctypes.addressof(addresses)))
            assert api.read(pointer, 8) == [4] * 3 + [0] * 5

    def test_every_kind_of_number(self, api: Api) -> None:
        with api.memory(64) as pointer:
            values = (-100, -30000, -(2**52), 0.5, 1e-300, True, int(pointer))
            c = ctypes
            whole, real = (c.c_byte, c.c_short, c.c_longlong), (c.c_float, c.c_double)
            types = (*whole, *real, c.c_bool, c.c_void_p)
            ok(api.launch_kernel(api.kernel("scalars"), 1, 1, (values, types)))
            assert api.read(pointer, 6, np.float64) == list(values[:6])

    @pytest.mark.parametrize("last", [None, ctypes.c_void_p])
    def test_a_struct_by_value(self, api: Api, last: Any) -> None:
        with api.memory(8) as pointer:
            out = CUdeviceptr(int(pointer)) if last is None else int(pointer)
            arguments = (Pair(3, 0.25), 4, out), (None, ctypes.c_int, last)
            ok(api.launch_kernel(api.kernel("sum_pair"), 1, 1, arguments))
            assert api.read(pointer, 1, np.float64) == [13.0]

    @only(DRIVER)
    def test_a_packed_buffer(self, api: Api) -> None:
        with memory(8) as pointer:
            packed = np.zeros(
                1,
                [
                    ("pair", [("first", "i4"), ("pad", "i4"), ("second", "f8")]),
                    ("scale", "i4"),
                    ("pad", "i4"),
                    ("out", "u8"),
                ],
            )
            packed["pair"]["first"], packed["pair"]["second"], packed["scale"] = 5, 0.5, 2
            packed["out"] = int(pointer)
            size = ctypes.c_size_t(packed.nbytes)
            extra = (ctypes.c_void_p * 5)(
                CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT,
                packed.ctypes.data,
                CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT,
                ctypes.addressof(size),
                CU_LAUNCH_PARAM_END_AS_INT,
            )
            kernel = api.kernel("sum_pair")
            ok(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, ctypes.addressof(extra)))
            assert read(pointer, 1, np.float64) == [11.0]

    @pytest.mark.parametrize(
        ("parameters", "error"),
        [
            (((1, 2, 3), FILL_TYPES[:2]), ValueError),
            (((1, 2**31, 3), FILL_TYPES), OverflowError),
            (((1, "2", 3), FILL_TYPES), TypeError),
            (((1, 2, 3), (ctypes.c_void_p, int, ctypes.c_int)), TypeError),
        ],
    )
    def test_what_is_no_argument_is_not_launched(
        self, api: Api, parameters: Any, error: type[Exception]
    ) -> None:
        with pytest.raises(error):
            api.launch_kernel(api.kernel("fill"), 2, 4, parameters)


class TestShape:
    def test_blocks_threads_and_shared_memory(self, api: Api) -> None:
        with api.memory(64) as pointer:
            arguments = ((int(pointer),), (ctypes.c_void_p,))
            ok(api.launch_kernel(api.kernel("shared_sum"), (3, 2), 100, arguments, 400))
            assert api.read(pointer, 6) == [4950] * 3 + [0] * 3  # by blockIdx.x alone

    @only(RUNTIME)
    @pytest.mark.parametrize("grid", [dim3(6), (6,), 6])
    def test_forms_of_a_grid(self, api: Api, grid: Any) -> None:
        with api.memory(64) as pointer:
            arguments = ((pointer,), (ctypes.c_void_p,))
            ok(runtime.cudaLaunchKernel(kernel("shared_sum"), grid, (100,), arguments, 400, 0))
            assert api.read(pointer, 6) == [4950] * 6

    @pytest.mark.parametrize(("grid", "block"), [(0, 1), (1, 0), (1, 2048), ((1, 70000), 1)])
    def test_impossible(self, api: Api, grid: Any, block: Any) -> None:
        (status,) = api.launch_kernel(api.kernel("bump"), grid, block, None)
        refused = [api.ErrorInvalidValue, *([] if api.is_driver else [api.ErrorInvalidConfiguration])]
        assert status in refused

    @only(DRIVER)
    def test_a_dimension_too_wide_for_c_is_refused(self, api: Api) -> None:
        with pytest.raises(OverflowError, match="gridDimX"):
            api.launch_kernel(api.kernel("bump"), 2**32, 1, None)


def attributed(api: Api, name: str, **members: Any) -> Any:
    """A launch attribute: its name and the members of its value."""
    made = api.LaunchAttribute(id=getattr(api, f"LaunchAttribute{name}"))
    for member, value in members.items():
        setattr(value_of(made), member, value)
    return made


def value_of(attribute: Any) -> Any:
    return attribute.val if hasattr(attribute, "val") else attribute.value


def cluster(api: Api, x: int) -> Any:
    made = attributed(api, "ClusterDimension")
    size = value_of(made).clusterDim
    size.x, size.y, size.z = x, 1, 1
    return made


def config(api: Api, blocks: int, threads: int, *attributes: Any, on: Any = 0) -> Any:
    made = api.LaunchConfig(attrs=list(attributes), numAttrs=len(attributes))
    if api.is_driver:
        made.gridDimX, made.gridDimY, made.gridDimZ = blocks, 1, 1
        made.blockDimX, made.blockDimY, made.blockDimZ = threads, 1, 1
        made.hStream = on
    else:
        made.gridDim, made.blockDim, made.stream = dim3(blocks), dim3(threads), on
    return made


def launch_ex(api: Api, configured: Any, func: Any, arguments: Any) -> tuple[Any, ...]:
    """The result of a launch with attributes."""
    if api.is_driver:
        return driver.cuLaunchKernelEx(configured, func, arguments, 0)
    return runtime.cudaLaunchKernelExC(configured, func, arguments)


class TestAttributes:
    def test_none(self, api: Api) -> None:
        with api.memory(64) as pointer, api.stream() as queue:
            arguments = ((int(pointer), 3, 8), FILL_TYPES)
            ok(launch_ex(api, config(api, 2, 4, on=queue), api.kernel("fill"), arguments))
            assert api.read(pointer, 8) == [3] * 8

    def test_clusters(self, api: Api) -> None:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)
        func = api.kernel("cluster_size", CLUSTER)

        def launch(blocks: int, size: int) -> Any:
            return launch_ex(api, config(api, blocks, 32, cluster(api, size)), func, arguments)

        with api.memory(64) as pointer:
            arguments = ((int(pointer),), (ctypes.c_void_p,))
            ok(launch(8, 4))
            assert api.read(pointer, 8) == [400, 401, 402, 403] * 2
            ok(launch(4, 2))
            assert api.read(pointer, 8) == [200, 201, 200, 201, 400, 401, 402, 403]
            (odd,) = launch(7, 2)
            if api.is_driver:
                assert odd in (api.ErrorInvalidValue, api.ErrorInvalidClusterSize)
            assert odd != api.Success
            assert launch(64, 32) != (api.Success,)

    @pytest.mark.parametrize("form", ["attribute", "function"])
    def test_cooperative(self, api: Api, form: str) -> None:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)
        blocks = 2 * attribute(cudaDeviceAttr.cudaDevAttrMultiProcessorCount)

        def meet(grid: int) -> Any:
            if form == "attribute":
                demand = attributed(api, "Cooperative", cooperative=1)
                return launch_ex(api, config(api, grid, 32, demand), func, arguments)
            if api.is_driver:
                return driver.cuLaunchCooperativeKernel(func, grid, 1, 1, 32, 1, 1, 0, 0, arguments)
            return runtime.cudaLaunchCooperativeKernel(func, grid, 32, arguments, 0, 0)

        func = api.kernel("meet")
        with api.memory(64) as arrived, api.memory(4 * blocks) as pointer:
            arguments = ((int(arrived), int(pointer)), (ctypes.c_void_p, ctypes.c_void_p))
            ok(meet(blocks))
            assert api.read(pointer, blocks) == [blocks] * blocks
            assert meet(1000 * blocks) == (api.ErrorCooperativeLaunchTooLarge,)
            ok(api.CtxSynchronize())  # that error does not stay

    def test_programmatic_serialization(self, api: Api) -> None:
        needs_capability(9)
        early = attributed(api, "ProgrammaticStreamSerialization", programmaticStreamSerializationAllowed=1)
        after = api.kernel("after", CLUSTER)
        with api.memory(64) as pointer, api.stream() as queue:
            api.launch(api.kernel("spin"), 1, (10**6,), (ctypes.c_longlong,), queue)
            api.launch(api.kernel("fill"), 16, (int(pointer), 5, 16), FILL_TYPES, queue)
            for _ in range(3):
                arguments = ((int(pointer),), (ctypes.c_void_p,))
                ok(launch_ex(api, config(api, 1, 16, early, on=queue), after, arguments))
            assert api.read(pointer, 16) == [8] * 16

    def test_priority(self, api: Api) -> None:
        _, greatest = ok(api.StreamPriorityRange())
        urgent = attributed(api, "Priority", priority=greatest)
        with api.memory(64) as pointer, api.stream() as queue:
            arguments = ((int(pointer), 6, 8), FILL_TYPES)
            ok(launch_ex(api, config(api, 1, 8, urgent, on=queue), api.kernel("fill"), arguments))
            assert api.read(pointer, 8) == [6] * 8

    def test_an_event_at_the_launch(self, api: Api) -> None:
        needs_capability(9)
        with api.memory(64) as pointer, api.stream() as queue, api.event(api.EventDisableTiming) as begun:
            mark = attributed(api, "LaunchCompletionEvent")
            value_of(mark).launchCompletionEvent.event = begun
            arguments = ((int(pointer), 7, 8), FILL_TYPES)
            ok(launch_ex(api, config(api, 1, 8, mark, on=queue), api.kernel("fill"), arguments))
            ok(api.EventSynchronize(begun))
            assert api.read(pointer, 8) == [7] * 8

    def test_the_config_shows_its_attributes(self, api: Api) -> None:
        made = config(api, 8, 32, cluster(api, 4), attributed(api, "Priority", priority=-1))
        expected = [api.LaunchAttributeClusterDimension, api.LaunchAttributePriority]
        assert [item.id for item in made.attrs] == expected
        assert value_of(made.attrs[0]).clusterDim.x == 4


REQUIRES = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {directive}
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    atom.global.add.u32 %r1, [%rd1], 1;
    mov.u32 %r2, %ntid.x;
    st.global.u32 [%rd1+4], %r2;
    mov.u32 %r2, %ntid.y;
    st.global.u32 [%rd1+8], %r2;
    ret;
}}
"""


@only(DRIVER)
class TestRequiredBlock:
    """`.reqntid`: only that block runs; a block of one thread means it, as compilers of tile kernels do."""

    @pytest.fixture(params=[(".reqntid 128", (128, 1, 1)), (".reqntid 16, 8", (16, 8, 1))])
    def kernel(self, request: Any) -> Any:
        directive, block = request.param
        loaded = ok(driver.cuModuleLoadData(REQUIRES.format(directive=directive).encode() + b"\0"))
        yield ok(driver.cuModuleGetFunction(loaded, b"k")), block
        ok(driver.cuModuleUnload(loaded))

    def statuses(self, kernel: Any, block: tuple[int, int, int], out: int) -> list[CUresult]:
        """Those of a launch in each way."""
        parameters = (out,), (ctypes.c_void_p,)
        config = CUlaunchConfig(**{f"gridDim{axis}": 1 for axis in "XYZ"})
        config.blockDimX, config.blockDimY, config.blockDimZ = block
        graph, node = ok(driver.cuGraphCreate(0)), driver.CUDA_KERNEL_NODE_PARAMS(func=kernel)
        node.gridDimX = node.gridDimY = node.gridDimZ = 1
        node.blockDimX, node.blockDimY, node.blockDimZ = block
        node.kernelParams = parameters
        added = driver.cuGraphAddKernelNode(graph, None, 0, node)[0]
        if not added:
            executable = ok(driver.cuGraphInstantiate(graph, 0))
            ok(driver.cuGraphLaunch(executable, 0))
            ok(driver.cuCtxSynchronize())
            ok(driver.cuGraphExecDestroy(executable))
        ok(driver.cuGraphDestroy(graph))
        return [
            added,
            driver.cuLaunchKernel(kernel, 1, 1, 1, *block, 0, 0, parameters, 0)[0],
            driver.cuLaunchKernelEx(config, kernel, parameters, 0)[0],
            driver.cuLaunchCooperativeKernel(kernel, 1, 1, 1, *block, 0, 0, parameters)[0],
        ]

    def test_the_block_and_one_thread_run_it(self, kernel: Any) -> None:
        function, required = kernel
        for block in (required, (1, 1, 1)):
            with memory(64) as out:
                assert self.statuses(function, block, int(out)) == [CUresult.CUDA_SUCCESS] * 4
                assert read(out, 3) == [4 * 128, required[0], required[1]]

    @pytest.mark.parametrize("block", [(64, 1, 1), (256, 1, 1), (8, 16, 1), (2, 1, 1), (1, 128, 1)])
    def test_another_block_is_refused(self, kernel: Any, block: tuple[int, int, int]) -> None:
        with memory(64) as out:
            wrong = [CUresult.CUDA_ERROR_INVALID_VALUE] * 4
            assert self.statuses(kernel[0], block, int(out)) == wrong and read(out, 3) == [0] * 3

    def test_a_node_that_runs_keeps_the_block(self, kernel: Any) -> None:
        function, required = kernel
        node = driver.CUDA_KERNEL_NODE_PARAMS(func=function)
        node.gridDimX = node.gridDimY = node.gridDimZ = 1
        node.blockDimX, node.blockDimY, node.blockDimZ = required
        with memory(64) as out:
            node.kernelParams = (int(out),), (ctypes.c_void_p,)
            graph = ok(driver.cuGraphCreate(0))
            added = ok(driver.cuGraphAddKernelNode(graph, None, 0, node))
            executable = ok(driver.cuGraphInstantiate(graph, 0))
            node.blockDimX = 2
            assert driver.cuGraphExecKernelNodeSetParams(executable, added, node)[0] != 0
            ok(driver.cuGraphLaunch(executable, 0))
            ok(driver.cuCtxSynchronize())
            assert read(out, 1) == [128]
            ok(driver.cuGraphExecDestroy(executable))
            ok(driver.cuGraphDestroy(graph))

    def test_attributes(self, kernel: Any) -> None:
        """What it requires is no limit; `.maxntid` is."""
        most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        assert ok(driver.cuFuncGetAttribute(most, kernel[0])) == 1024
        text = REQUIRES.format(directive=".maxntid 128").encode() + b"\0"
        loaded = ok(driver.cuModuleLoadData(text))
        assert ok(driver.cuFuncGetAttribute(most, ok(driver.cuModuleGetFunction(loaded, b"k")))) == 128
        ok(driver.cuModuleUnload(loaded))


@only(RUNTIME)
class TestKernels:
    def test_what_they_need(self) -> None:
        found = ok(runtime.cudaFuncGetAttributes(kernel("shared_sum")))
        major, minor = compute_capability()
        assert found.binaryVersion == 10 * major + minor
        assert found.maxThreadsPerBlock == 1024
        assert found.numRegs > 0 and found.sharedSizeBytes == 0
        assert ok(runtime.cudaFuncGetAttributes(kernel("bump"))).localSizeBytes == 0

    @pytest.mark.parametrize("form", ["function", "kernel"])
    def test_more_shared_memory_on_demand(self, api: Api, form: str) -> None:
        size = attribute(cudaDeviceAttr.cudaDevAttrMaxSharedMemoryPerBlockOptin)
        usual = attribute(cudaDeviceAttr.cudaDevAttrMaxSharedMemoryPerBlock)
        if size <= usual:
            pytest.skip("the device has no more shared memory on demand")
        name = runtime.cudaFuncAttribute.cudaFuncAttributeMaxDynamicSharedMemorySize
        func = kernel("shared_sum")

        def allow(bytes_: int) -> None:
            if form == "function":
                ok(runtime.cudaFuncSetAttribute(func, name, bytes_))
            else:
                ok(runtime.cudaKernelSetAttributeForDevice(func, name, bytes_, DEVICE))

        with api.memory(16) as pointer:
            arguments = ((pointer,), (ctypes.c_void_p,))
            refused = runtime.cudaLaunchKernel(func, 1, 10, arguments, size, 0)
            assert refused == (runtime.cudaError_t.cudaErrorInvalidValue,)
            try:
                allow(size)
                assert ok(runtime.cudaFuncGetAttributes(func)).maxDynamicSharedSizeBytes == size
                ok(runtime.cudaLaunchKernel(func, 1, 10, arguments, size, 0))
                assert api.read(pointer, 1) == [45]
            finally:
                allow(usual)
        assert runtime.cudaFuncSetAttribute(func, name, 2 * size) == (
            runtime.cudaError_t.cudaErrorInvalidValue,
        )

    def test_their_names_and_parameters(self) -> None:
        func = kernel("fill")
        needs_function("cudaFuncGetParamInfo")
        needs_driver(12, 4)
        assert ok(runtime.cudaFuncGetName(func)) == b"fill"
        assert [ok(runtime.cudaFuncGetParamInfo(func, i)) for i in range(3)] == [(0, 8), (8, 4), (12, 4)]
        assert runtime.cudaFuncGetParamInfo(func, 3) == (
            runtime.cudaError_t.cudaErrorInvalidValue,
            None,
            None,
        )

    def test_the_number_of_their_parameters(self) -> None:
        func = kernel("fill")
        needs_function("cudaFuncGetParamCount")
        needs_driver(13, 2)
        assert ok(runtime.cudaFuncGetParamCount(func)) == 3

    def test_cache_preference_is_an_enum(self) -> None:
        func = kernel("bump")
        ok(runtime.cudaFuncSetCacheConfig(func, runtime.cudaFuncCache.cudaFuncCachePreferShared))
        assert runtime.cudaFuncSetCacheConfig(func, 99) == (runtime.cudaError_t.cudaErrorInvalidValue,)

    def test_the_kernel_of_a_kernel(self) -> None:
        func = kernel("bump")
        needs_function("cudaGetKernel")
        status, found = runtime.cudaGetKernel(func)
        if status == runtime.cudaError_t.cudaSuccess:
            assert isinstance(found, runtime.cudaKernel_t) and found == func
        else:  # it is no host symbol
            assert (status, found) == (runtime.cudaError_t.cudaErrorInvalidDeviceFunction, None)


@only(RUNTIME)
class TestOccupancy:
    def test_blocks_of_a_multiprocessor(self) -> None:
        func = kernel("fill")
        function = ok(driver.cuKernelGetFunction(func))
        threads = attribute(cudaDeviceAttr.cudaDevAttrMaxThreadsPerMultiProcessor)
        for block in (32, 256, 1024):
            found = ok(runtime.cudaOccupancyMaxActiveBlocksPerMultiprocessor(func, block, 0))
            assert found == ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, block, 0))
            assert 1 <= found <= threads // block
            flags = runtime.cudaOccupancyDisableCachingOverride
            again = runtime.cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(func, block, 0, flags)
            assert ok(again) == found

    def test_shared_memory_that_is_left(self) -> None:
        func = kernel("shared_sum")
        one = ok(runtime.cudaOccupancyAvailableDynamicSMemPerBlock(func, 1, 128))
        four = ok(runtime.cudaOccupancyAvailableDynamicSMemPerBlock(func, 4, 128))
        assert one >= four > 0

    def test_clusters(self, api: Api) -> None:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)
        func = kernel("cluster_size", CLUSTER)
        largest = ok(runtime.cudaOccupancyMaxPotentialClusterSize(func, config(api, 64, 32)))
        assert largest >= 8
        small = ok(runtime.cudaOccupancyMaxActiveClusters(func, config(api, 64, 32, cluster(api, 2))))
        large = ok(runtime.cudaOccupancyMaxActiveClusters(func, config(api, 64, 32, cluster(api, 8))))
        assert small > large > 0
