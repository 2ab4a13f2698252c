"""The Driver API and the Runtime API by the same names, for tests of what both have."""

from __future__ import annotations

import contextlib
import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from cudapy import driver, runtime
from cudapy._ffi.enums import Enum

from . import kernels, runtime_kernels
from .kernels import ok, owned

IRREGULAR = {  # the name here: those of the driver and of the runtime
    "CtxSynchronize": ("cuCtxSynchronize", "cudaDeviceSynchronize"),
    "DeviceCpu": ("CU_DEVICE_CPU", "cudaCpuDeviceId"),
    "DeviceInvalid": ("CU_DEVICE_INVALID", "cudaInvalidDeviceId"),
    "ErrorMemoryAllocation": ("CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation"),
    "ErrorInvalidHandle": ("CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle"),
    "Free": ("cuMemFree", "cudaFree"),
    "DeviceFlushGPUDirectRDMAWrites": ("cuFlushGPUDirectRDMAWrites", "cudaDeviceFlushGPUDirectRDMAWrites"),
    "FlushGPUDirectRDMAWritesTargetCurrentDevice": (
        "CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX",
        "cudaFlushGPUDirectRDMAWritesTargetCurrentDevice",
    ),
    "ErrorSymbolNotFound": ("CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound"),
    "Kernel": ("CUkernel", "cudaKernel_t"),
    "EventCreate": ("cuEventCreate", "cudaEventCreateWithFlags"),
    "FreeAsync": ("cuMemFreeAsync", "cudaFreeAsync"),
    "FreeHost": ("cuMemFreeHost", "cudaFreeHost"),
    "Graph": ("CUgraph", "cudaGraph_t"),
    "GraphMemAttribute": ("CUgraphMem_attribute", "cudaGraphMemAttributeType"),
    "GraphNode": ("CUgraphNode", "cudaGraphNode_t"),
    "LaunchConfig": ("CUlaunchConfig", "cudaLaunchConfig_t"),
    "MemoryTypeArray": ("CU_MEMORYTYPE_ARRAY", "cudaMemoryTypeArray"),
    "HostAlloc": ("cuMemHostAlloc", "cudaHostAlloc"),
    "HostAllocMapped": ("CU_MEMHOSTALLOC_DEVICEMAP", "cudaHostAllocMapped"),
    "HostAllocPortable": ("CU_MEMHOSTALLOC_PORTABLE", "cudaHostAllocPortable"),
    "HostAllocWriteCombined": ("CU_MEMHOSTALLOC_WRITECOMBINED", "cudaHostAllocWriteCombined"),
    "HostFn": ("CUhostFn", "cudaHostFn_t"),
    "HostGetDevicePointer": ("cuMemHostGetDevicePointer", "cudaHostGetDevicePointer"),
    "HostGetFlags": ("cuMemHostGetFlags", "cudaHostGetFlags"),
    "HostRegister": ("cuMemHostRegister", "cudaHostRegister"),
    "HostRegisterMapped": ("CU_MEMHOSTREGISTER_DEVICEMAP", "cudaHostRegisterMapped"),
    "HostTaskSpinWait": ("CU_HOST_TASK_SPINWAIT", "cudaHostTaskSpinWait"),
    "HostUnregister": ("cuMemHostUnregister", "cudaHostUnregister"),
    "Malloc": ("cuMemAlloc", "cudaMalloc"),
    "MallocAsync": ("cuMemAllocAsync", "cudaMallocAsync"),
    "MallocFromPoolAsync": ("cuMemAllocFromPoolAsync", "cudaMallocFromPoolAsync"),
    "MallocHost": ("cuMemAllocHost", "cudaMallocHost"),
    "MallocManaged": ("cuMemAllocManaged", "cudaMallocManaged"),
    "MemsetAsync": ("cuMemsetD8Async", "cudaMemsetAsync"),
    "MemsetParams": ("CUDA_MEMSET_NODE_PARAMS", "cudaMemsetParams"),
    "StreamCreate": ("cuStreamCreate", "cudaStreamCreateWithFlags"),
    "StreamPriorityRange": ("cuCtxGetStreamPriorityRange", "cudaDeviceGetStreamPriorityRange"),
    "SurfObjectCreate": ("cuSurfObjectCreate", "cudaCreateSurfaceObject"),
    "SurfObjectDestroy": ("cuSurfObjectDestroy", "cudaDestroySurfaceObject"),
    "SurfObjectGetResourceDesc": ("cuSurfObjectGetResourceDesc", "cudaGetSurfaceObjectResourceDesc"),
    "TexObjectCreate": ("cuTexObjectCreate", "cudaCreateTextureObject"),
    "TexObjectDestroy": ("cuTexObjectDestroy", "cudaDestroyTextureObject"),
    "TexObjectGetResourceDesc": ("cuTexObjectGetResourceDesc", "cudaGetTextureObjectResourceDesc"),
    "TexObjectGetResourceViewDesc": (
        "cuTexObjectGetResourceViewDesc",
        "cudaGetTextureObjectResourceViewDesc",
    ),
    "TexObjectGetTextureDesc": ("cuTexObjectGetTextureDesc", "cudaGetTextureObjectTextureDesc"),
    "TextureDesc": ("CUDA_TEXTURE_DESC", "cudaTextureDesc"),
}
PREFIXES = {  # of names here, and what stands there in those of the driver
    "DevAttr": "DeviceAttribute",
    "MemPoolReuse": "MempoolAttrReuse",
    "AddressMode": "TrAddressMode",
    "FilterMode": "TrFilterMode",
    "ResViewFormatFloat1": "ResViewFormatFloat1x32",
}


def _plain(name: str) -> str:
    """A name as both APIs have it: without CU or cuda in front, underscores and capitals."""
    return re.sub("^(cuda|cu)", "", name.lower().replace("_", ""))


class Api:
    """One of the two. Its attributes are the functions, types, constants and members of enums.

    `api.StreamQuery` is cuStreamQuery or cudaStreamQuery, `api.MemPoolProps` CUmemPoolProps or
    cudaMemPoolProps, `api.ErrorInvalidValue` CUDA_ERROR_INVALID_VALUE or cudaErrorInvalidValue; IRREGULAR has
    those whose names differ. Names in lower case are those of kernels.py or runtime_kernels.py.
    """

    def __init__(self, module: ModuleType, helpers: ModuleType) -> None:
        self.module, self.helpers = module, helpers
        self.is_driver = module is driver
        self._prefix = "cu" if self.is_driver else "cuda"

    def __repr__(self) -> str:
        return "driver" if self.is_driver else "runtime"

    @functools.cached_property
    def _names(self) -> dict[str, list[Any]]:
        """Everything in the module, by its plain name."""
        found = defaultdict(list)
        for name in dir(self.module):
            if name[:2].lower() == "cu":
                value = getattr(self.module, name)
                found[_plain(name)].append(value)
                if isinstance(value, type) and issubclass(value, Enum):
                    for member in value:
                        found[_plain(member.name)].append(member)
        return found

    def __getattr__(self, name: str) -> Any:
        if not name[0].isupper():
            return getattr(self.helpers, name)
        exact = IRREGULAR[name][not self.is_driver] if name in IRREGULAR else f"{self._prefix}{name}"
        if hasattr(self.module, exact):
            return getattr(self.module, exact)
        if self.is_driver:
            for ours, theirs in PREFIXES.items():
                name = re.sub(f"^{ours}", theirs, name)
        found = self._names.get(_plain(exact if name in IRREGULAR else name)) or []
        assert found, f"{self}: no {name}"
        assert all(value == found[0] for value in found), f"{self}: {name} is more than one thing: {found}"
        return found[0]

    # -- What is asked for in other ways -----------------------------------------------------------------

    def kernel(self, name: str, source: str = kernels.SOURCE) -> Any:
        """A kernel of `source`."""
        return (kernels.function if self.is_driver else runtime_kernels.kernel)(name, source)

    def launch_kernel(
        self, kernel: Any, grid: Any, block: Any, arguments: Any, shared: int = 0, on: Any = 0
    ) -> Any:
        """The result of cuLaunchKernel or cudaLaunchKernel."""
        if not self.is_driver:
            return runtime.cudaLaunchKernel(kernel, grid, block, arguments, shared, on)
        shape = (*self._three(grid), *self._three(block))
        return driver.cuLaunchKernel(kernel, *shape, shared, on, arguments, 0)  # type: ignore[call-arg]

    def needs_function(self, name: str) -> None:
        """Skip a test of the runtime unless the libcudart that was loaded has this function."""
        if not self.is_driver:
            runtime_kernels.needs_function(f"cuda{name}")

    def graph(self) -> contextlib.AbstractContextManager[Any]:
        """An empty graph."""
        return owned(self.GraphCreate(0), self.GraphDestroy)

    def executable(self, graph: Any) -> contextlib.AbstractContextManager[Any]:
        """An instance of a graph."""
        return owned(self.GraphInstantiate(graph, 0), self.GraphExecDestroy)

    def add_fill(self, graph: Any, pointer: Any, value: int, width: int = 16, after: Any = ()) -> Any:
        """A node of a graph that writes `width` words."""
        parameters = self.MemsetParams(dst=pointer, value=value, elementSize=4, width=width, height=1)
        return ok(self.GraphAddMemsetNode(graph, after, len(after), parameters, *self.context()))

    def context(self) -> tuple[Any, ...]:
        """The argument that only the driver takes where a node is made."""
        return (ok(driver.cuCtxGetCurrent()),) if self.is_driver else ()

    @staticmethod
    def _three(shape: Any) -> tuple[int, ...]:
        shape = shape if isinstance(shape, tuple) else (shape,)
        return (*shape, 1, 1)[:3]


DRIVER, RUNTIME = Api(driver, kernels), Api(runtime, runtime_kernels)


@pytest.fixture(params=[DRIVER, RUNTIME], ids=repr)
def api(request: pytest.FixtureRequest) -> Iterator[Api]:
    """Each API in turn. The device is current, and the thread's stack of contexts stays as it was."""
    chosen: Api = request.param
    with chosen.helpers.current():
        yield chosen


def only(chosen: Api) -> Any:
    """A mark of tests of what one API alone has."""
    of_one = pytest.mark.parametrize("api", [chosen], indirect=True, ids=repr)
    return lambda test: pytest.mark.usefixtures("api")(of_one(test))
