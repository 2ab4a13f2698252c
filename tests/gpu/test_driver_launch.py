"""Launches: the forms of arguments, and the attributes of a launch."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT,
    CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT,
    CU_LAUNCH_PARAM_END_AS_INT,
    CUdevice_attribute,
    CUevent_flags,
    CUlaunchAttribute,
    CUlaunchAttributeID,
    CUlaunchAttributeValue,
    CUlaunchConfig,
    CUmemorytype,
    CUresult,
)

from .kernels import (
    attribute,
    event,
    function,
    memory,
    module,
    needs,
    needs_capability,
    ok,
    read,
    stream,
    write,
)
from .kernels import context as context

pytestmark = pytest.mark.gpu

FILL_TYPES = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
Attribute = CUlaunchAttributeID

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
    def launch(self, kernel: Any, parameters: Any, extra: Any = 0) -> None:
        ok(driver.cuLaunchKernel(kernel, 2, 1, 1, 4, 1, 1, 0, None, parameters, extra))

    @pytest.mark.parametrize("nothing", [None, 0, (), ((), ())])
    def test_none(self, nothing: Any) -> None:
        counter, _ = ok(driver.cuModuleGetGlobal(module(), b"counter"))
        write(counter, [0])
        self.launch(function("bump"), nothing)
        assert read(counter, 1) == [8]

    def test_values_and_types(self) -> None:
        with memory(64) as pointer:
            self.launch(function("fill"), ((int(pointer), -7, 6), FILL_TYPES))
            assert read(pointer, 8) == [-7] * 6 + [0] * 2

    def test_handles_and_enums_have_the_type_none(self) -> None:
        with memory(64) as pointer:
            value = CUmemorytype.CU_MEMORYTYPE_ARRAY
            self.launch(function("fill"), ((pointer, value, 6), (None, None, ctypes.c_int)))
            assert read(pointer, 8) == [3] * 6 + [0] * 2

    def test_an_array_of_addresses(self) -> None:
        with memory(64) as pointer:
            address, value, count = (
                np.array([int(pointer)], np.uint64),
                np.array([9], "i4"),
                np.array([5], "i4"),
            )
            addresses = np.array([a.ctypes.data for a in (address, value, count)], dtype=np.uint64)
            self.launch(function("fill"), addresses)
            assert read(pointer, 8) == [9] * 5 + [0] * 3

    def test_the_address_of_an_array_of_addresses(self) -> None:
        with memory(64) as pointer:
            values = ctypes.c_void_p(int(pointer)), ctypes.c_int(4), ctypes.c_int(3)
            addresses = (ctypes.c_void_p * 3)(*[ctypes.addressof(value) for value in values])
            self.launch(function("fill"), ctypes.addressof(addresses))
            assert read(pointer, 8) == [4] * 3 + [0] * 5

    def test_every_kind_of_number(self) -> None:
        with memory(64) as pointer:
            values = (-100, -30000, -(2**52), 0.5, 1e-300, True, int(pointer))
            types = (
                ctypes.c_byte,
                ctypes.c_short,
                ctypes.c_longlong,
                ctypes.c_float,
                ctypes.c_double,
                ctypes.c_bool,
                ctypes.c_void_p,
            )
            ok(driver.cuLaunchKernel(function("scalars"), 1, 1, 1, 1, 1, 1, 0, 0, (values, types), 0))
            assert read(pointer, 6, np.float64) == list(values[:6])

    def test_a_struct_by_value(self) -> None:
        with memory(8) as pointer:
            values = (Pair(3, 0.25), 4, pointer)
            ok(
                driver.cuLaunchKernel(
                    function("sum_pair"), 1, 1, 1, 1, 1, 1, 0, 0, (values, (None, ctypes.c_int, None)), 0
                )
            )
            assert read(pointer, 1, np.float64) == [13.0]

    def test_a_packed_buffer(self) -> None:
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
            kernel = function("sum_pair")
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
    def test_what_is_no_argument_is_not_launched(self, parameters: Any, error: type[Exception]) -> None:
        with pytest.raises(error):
            self.launch(function("fill"), parameters)


class TestShape:
    def test_blocks_threads_and_shared_memory(self) -> None:
        with memory(64) as pointer:
            arguments = ((int(pointer),), (ctypes.c_void_p,))
            ok(driver.cuLaunchKernel(function("shared_sum"), 3, 2, 1, 100, 1, 1, 400, 0, arguments, 0))
            assert read(pointer, 6) == [4950] * 3 + [0] * 3

    @pytest.mark.parametrize(
        "shape", [(0, 1, 1, 1, 1, 1), (1, 1, 1, 0, 1, 1), (1, 1, 1, 2048, 1, 1), (1, 70000, 1, 1, 1, 1)]
    )
    def test_impossible(self, shape: tuple[int, ...]) -> None:
        status = driver.cuLaunchKernel(function("bump"), *shape, 0, 0, None, None)  # type: ignore[call-arg]
        assert status == (CUresult.CUDA_ERROR_INVALID_VALUE,)

    def test_a_dimension_too_wide_for_c_is_refused(self) -> None:
        with pytest.raises(OverflowError, match="gridDimX"):
            driver.cuLaunchKernel(function("bump"), 2**32, 1, 1, 1, 1, 1, 0, 0, None, None)


def config(blocks: int, threads: int, *attributes: CUlaunchAttribute, on: Any = 0) -> CUlaunchConfig:
    return CUlaunchConfig(
        gridDimX=blocks,
        gridDimY=1,
        gridDimZ=1,
        blockDimX=threads,
        blockDimY=1,
        blockDimZ=1,
        hStream=on,
        attrs=list(attributes),
        numAttrs=len(attributes),
    )


def with_value(name: CUlaunchAttributeID, **members: Any) -> CUlaunchAttribute:
    return CUlaunchAttribute(id=name, value=CUlaunchAttributeValue(**members))


def cluster(x: int) -> CUlaunchAttribute:
    made = CUlaunchAttribute(id=Attribute.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
    made.value.clusterDim.x, made.value.clusterDim.y, made.value.clusterDim.z = x, 1, 1
    return made


class TestAttributes:
    def test_none(self) -> None:
        with memory(64) as pointer, stream() as queue:
            arguments = ((int(pointer), 3, 8), FILL_TYPES)
            ok(driver.cuLaunchKernelEx(config(2, 4, on=queue), function("fill"), arguments, 0))
            assert read(pointer, 8) == [3] * 8

    def test_clusters(self) -> None:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)
        kernel = function("cluster_size", CLUSTER)
        with memory(64) as pointer:
            arguments = ((int(pointer),), (ctypes.c_void_p,))
            ok(driver.cuLaunchKernelEx(config(8, 32, cluster(4)), kernel, arguments, 0))
            assert read(pointer, 8) == [400, 401, 402, 403] * 2
            ok(driver.cuLaunchKernelEx(config(4, 32, cluster(2)), kernel, arguments, 0))
            assert read(pointer, 8) == [200, 201, 200, 201, 400, 401, 402, 403]
            status = driver.cuLaunchKernelEx(config(7, 32, cluster(2)), kernel, arguments, 0)
            assert status[0] in (CUresult.CUDA_ERROR_INVALID_VALUE, CUresult.CUDA_ERROR_INVALID_CLUSTER_SIZE)
            assert driver.cuLaunchKernelEx(config(64, 32, cluster(32)), kernel, arguments, 0)[0] != 0

    @pytest.mark.parametrize("form", ["attribute", "function"])
    def test_cooperative(self, form: str) -> None:
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)
        blocks = 2 * attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)

        def launch(grid: int) -> tuple[CUresult]:
            if form == "function":
                return driver.cuLaunchCooperativeKernel(kernel, grid, 1, 1, 32, 1, 1, 0, 0, arguments)
            demand = with_value(Attribute.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, cooperative=1)
            return driver.cuLaunchKernelEx(config(grid, 32, demand), kernel, arguments, 0)

        kernel = function("meet")
        with memory(64) as arrived, memory(4 * blocks) as pointer:
            arguments = ((int(arrived), int(pointer)), (ctypes.c_void_p, ctypes.c_void_p))
            ok(launch(blocks))
            assert read(pointer, blocks) == [blocks] * blocks
            assert launch(1000 * blocks) == (CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,)
            ok(driver.cuCtxSynchronize())  # that error does not stay

    def test_programmatic_serialization(self) -> None:
        needs_capability(9)
        early = with_value(
            Attribute.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            programmaticStreamSerializationAllowed=1,
        )
        kernel = function("after", CLUSTER)
        with memory(64) as pointer, stream() as queue:
            ok(
                driver.cuLaunchKernel(
                    function("spin"), 1, 1, 1, 1, 1, 1, 0, queue, ((10**6,), (ctypes.c_longlong,)), 0
                )
            )
            ok(
                driver.cuLaunchKernel(
                    function("fill"), 1, 1, 1, 16, 1, 1, 0, queue, ((int(pointer), 5, 16), FILL_TYPES), 0
                )
            )
            for _ in range(3):
                ok(
                    driver.cuLaunchKernelEx(
                        config(1, 16, early, on=queue), kernel, ((int(pointer),), (ctypes.c_void_p,)), 0
                    )
                )
            assert read(pointer, 16) == [8] * 16

    def test_priority(self) -> None:
        _, greatest = ok(driver.cuCtxGetStreamPriorityRange())
        urgent = with_value(Attribute.CU_LAUNCH_ATTRIBUTE_PRIORITY, priority=greatest)
        with memory(64) as pointer, stream() as queue:
            ok(
                driver.cuLaunchKernelEx(
                    config(1, 8, urgent, on=queue), function("fill"), ((int(pointer), 6, 8), FILL_TYPES), 0
                )
            )
            assert read(pointer, 8) == [6] * 8

    def test_an_event_at_the_launch(self) -> None:
        needs_capability(9)
        with memory(64) as pointer, stream() as queue, event(CUevent_flags.CU_EVENT_DISABLE_TIMING) as begun:
            mark = CUlaunchAttribute(id=Attribute.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            mark.value.launchCompletionEvent.event = begun
            arguments = ((int(pointer), 7, 8), FILL_TYPES)
            ok(driver.cuLaunchKernelEx(config(1, 8, mark, on=queue), function("fill"), arguments, 0))
            ok(driver.cuEventSynchronize(begun))
            assert read(pointer, 8) == [7] * 8

    def test_the_config_shows_its_attributes(self) -> None:
        made = config(8, 32, cluster(4), with_value(Attribute.CU_LAUNCH_ATTRIBUTE_PRIORITY, priority=-1))
        assert [item.id.name for item in made.attrs] == [
            "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION",
            "CU_LAUNCH_ATTRIBUTE_PRIORITY",
        ]
        assert made.attrs[0].value.clusterDim.x == 4


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
