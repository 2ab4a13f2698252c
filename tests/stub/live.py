"""Right arguments for the functions of the driver and the runtime, on the simulator: what is there for real.

Each object is made when it is asked for, and kept; what has a name of its own is a small number.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

from . import module
from .build import Parameter, is_aggregate
from .values import enums, handles

driver = module("driver")
SIZE = 64
PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry add(.param .u64 x)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    ld.global.u32 %r1, [%rd1];
    add.s32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
NUMBERS = {
    "flags": 0, "Flags": 0, "reserved": 0, "advice": 1, "ByteCount": SIZE, "Width": SIZE, "Height": 1,
    "Depth": 1, "WidthInBytes": SIZE, "height": 1, "depth": 1, "width": SIZE, "ElementSizeBytes": 4,
    "elementSize": 1, "dstPitch": 512, "srcPitch": 512, "Pitch": 512, "pitch": 512, "dpitch": 512,
    "spitch": 512, "N": SIZE, "size": SIZE, "bytesize": SIZE, "count": 1, "NumChannels": 1,
    "numChannels": 1, "minCount": 2, "length": SIZE, "cudaVersion": 13000, "version": 1, "value": 0,
    "arrayIndex": 0, "level": 0, "numMipmapLevels": 2, "numLevels": 2, "alignment": 0, "priority": 0,
    "sharedMemBytes": 0, "sharedMem": 0, "dynamicSMemSize": 0, "dynamicSmemBytes": 0, "offset": 0,
    "initialRefcount": 1, "x": SIZE, "y": 0, "z": 0, "f": 0, "w": 0, "id": 0, "wOffset": 0, "hOffset": 0,
    "wOffsetDst": 0, "hOffsetDst": 0, "wOffsetSrc": 0, "hOffsetSrc": 0, "dstOffset": 0, "srcOffset": 0,
    "minBytesToKeep": 0, "dim": 0, "maxSize": 0, "xsize": SIZE, "ysize": 1, "blockSizeLimit": 0,
    "summaryGranularity": SIZE, "samplingGranularity": SIZE, "offsetInBytes": 0, "sizeInBytes": SIZE,
}  # fmt: skip
"""By the names of parameters and of fields; 1 for all others."""
PAGE = 2 << 20
ENUMS = {
    "CUmemAllocationType": 1, "cudaMemAllocationType": 1, "CUmemAllocationHandleType": 1,
    "cudaMemAllocationHandleType": 1, "CUarray_format": 0x20, "CUstreamCaptureMode": 2,
    "cudaStreamCaptureMode": 2, "CUmemorytype": 2, "cudaMemcpyKind": 4,
    "CUmemLocationType": 1, "cudaMemLocationType": 1,
    "CUlimit": 0, "cudaLimit": 0, "CUjitInputType": 1, "CUmemPool_attribute": 4, "cudaMemPoolAttr": 4,
    "CUpointer_attribute": 2, "CUmem_advise": 1, "cudaMemoryAdvise": 1, "cudaChannelFormatKind": 0,
    "CUmem_range_attribute": 1, "cudaMemRangeAttribute": 1, "CUaccessProperty": 0,
    "CUlaunchAttributeID": 4, "cudaLaunchAttributeID": 4, "CUgraphNodeType": 5, "cudaGraphNodeType": 5,
    "CUgraphConditionalNodeType": 0, "CUtensorMapDataType": 7, "CUfunction_attribute": 0, "CUjit_option": 0,
    "CUdevResourceType": 1, "cudaDevResourceType": 1,
}  # fmt: skip
NODES = (
    "Kernel",
    "Memcpy",
    "Memset",
    "Host",
    "ChildGraph",
    "EventRecord",
    "EventWait",
    "MemAlloc",
    "MemFree",
    "BatchMemOp",
)


_registered: list[bytearray] = []


class Live:
    """The objects of one call."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.call = driver.checked
        self.kept: list[Any] = []
        self.made: dict[str, Any] = {}
        self.streams: list[int] = []

    # -- parameters -------------------------------------------------------------------------------------

    def arguments(self, found: list[Parameter]) -> dict[str, Any]:
        """The right arguments of a declared function."""
        counted = {p.count: p for p in found if p.count}
        values = {}
        for p in found:
            if p.role != "output":
                values[p.c.name] = self.parameter(p, counted)
        return values

    def parameter(self, p: Parameter, counted: dict[str, Parameter]) -> Any:
        name = p.c.name
        if p.variants:
            return 0
        of = counted.get(p.c.c_name)
        if of is not None:
            if name == "tensorRank":
                return 4
            return SIZE if of.cls in (None, ctypes.c_char) and of.c.stars == 1 else 1
        if p.count:
            if p.cls in (None, ctypes.c_char) and p.c.stars == 1:
                return self.memory()
            if p.c.stars == 2:
                return self.pointers(name)
            return [self.item(p, name)] * 4  # as many as any count of them asks for
        if p.c.stars == 2:
            return self.pointers(name)
        if p.c.stars == 1 and p.cls is None:
            if name in ("code", "image", "fatCubin"):
                return PTX
            if re.search("Host(Unreg|Get)|FreeHost|freeHost", self.function, re.IGNORECASE):
                return self.host_memory()
            if name == "func" or (name == "entryFuncAddr" and p.c.const):
                return self.handle("CUfunction", name)
            if name in ("devPtr", "ptr", "globalAddress", "dptr", "src", "dst"):
                return self.handle("CUdeviceptr", name)
            return self.memory()
        if p.c.stars == 1 and p.cls is ctypes.c_char:
            return self.text(name)
        return self.item(p, name)

    def item(self, p: Parameter, name: str) -> Any:
        cls = p.cls
        if is_aggregate(cls):
            return self.struct(cls)
        return self.scalar(cls, p.c.type, name)

    def scalar(self, cls: Any, kind: str, name: str) -> Any:
        if isinstance(cls, type) and issubclass(cls, enums.Enum):
            return self.enum(cls)
        if isinstance(cls, type) and issubclass(cls, handles.Callback):
            return self.callback(kind)
        if isinstance(cls, type) and issubclass(cls, handles.Handle):
            return self.handle(kind, name)
        return NUMBERS.get(name, 1)

    def enum(self, cls: Any) -> int:
        return ENUMS.get(cls.__name__, int(next(iter(cls), 0)))

    def by_name(self, name: str, before: Any) -> Any:
        """The argument of a function without a declaration, whose `before` is right on the stub."""
        if isinstance(before, list):
            return [self.by_name(name, item) for item in before]
        if is_aggregate(type(before)):
            return self.struct(type(before))
        for pattern, kind in BY_NAME:
            if re.fullmatch(pattern, name):
                return self.handle(kind, name)
        return before if name not in NUMBERS or not isinstance(before, int) else NUMBERS[name]

    # -- what there is ----------------------------------------------------------------------------------

    def host_memory(self) -> int:
        if "egister" in self.function or "GetFlags" in self.function:
            _registered.append(memory := bytearray(4096))
            address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            self.call.cuMemHostRegister(address, len(memory), 0)
            return address
        return int(self.call.cuMemHostAlloc(4096, 2))

    def memory(self) -> bytearray:
        self.kept.append(made := bytearray(4096))
        return made

    def pointers(self, name: str) -> Any:
        if name in ("kernelParams", "args"):
            return ((self.handle("CUdeviceptr", ""),), (ctypes.c_void_p,))
        if name == "extra" or "ption" in name:
            return 0 if name == "extra" else [SIZE]
        if name in ("data", "value"):
            return [self.memory()]
        return [self.handle("CUdeviceptr", name)]

    def text(self, name: str) -> bytes:
        if name == "pciBusId":
            return bytes(self.call.cuDeviceGetPCIBusId(20, 0))
        if name == "symbol":
            return b"cuInit"
        if name in ("code", "image", "fatCubin"):
            return PTX
        if name in ("fname", "path", "fileName", "pathToFile", "configFile", "outputFile"):
            return b"/nowhere/at/all"
        return b"counter" if "Global" in self.function else b"add"

    def callback(self, kind: str) -> Any:
        prototype = ctypes.CFUNCTYPE(ctypes.c_size_t if "B2D" in kind else None)
        self.kept.append(made := prototype(lambda: 0))
        return made

    def handle(self, kind: str, name: str) -> int:
        bare = re.sub(r"^(CU|cuda)|(_const)?_t$", "", kind).lower()
        maker: Callable[[], Any] | None = getattr(self, f"a_{bare}", None)
        if bare == "deviceptr" and re.search("(?i)mapped|^ptr$", name) and "MemMap" in self.function:
            maker = self.addresses
        if maker is None:
            return 5
        shared = bare in ("graph", "graphnode", "graphexec", "context", "module", "library")
        if shared and bare in self.made:
            return int(self.made[bare])
        found = maker()
        self.made[bare] = found
        return int(found)

    def a_device(self) -> int:
        return 0

    def a_context(self) -> Any:
        return self.call.cuCtxGetCurrent()

    def a_stream(self) -> Any:
        made = self.call.cuStreamCreate(1)
        self.streams.append(int(made))
        return made

    def a_event(self) -> Any:
        return self.call.cuEventCreate(0)

    def a_deviceptr(self) -> Any:
        if "Range" in self.function or "Advise" in self.function or "Prefetch" in self.function:
            return self.call.cuMemAllocManaged(1 << 16, 1)
        return self.call.cuMemAlloc(1 << 16)

    def addresses(self) -> Any:
        return self.call.cuMemAddressReserve(PAGE, 0, 0, 0)

    def a_memgenericallocationhandle(self) -> Any:
        return self.call.cuMemCreate(PAGE, self.struct(driver.CUmemAllocationProp), 0)

    def a_memorypool(self) -> Any:
        return self.call.cuMemPoolCreate(self.struct(driver.CUmemPoolProps))

    a_mempool = a_memorypool

    def a_graph(self) -> Any:
        graph = self.call.cuGraphCreate(0)
        self.made["graph"] = graph
        kind = next((kind for kind in NODES if f"{kind}Node" in self.function), "")
        self.made["graphnode"] = self.node(graph, kind)
        return graph

    def node(self, graph: Any, kind: str) -> Any:
        call, there = self.call, self.handle
        pointer = there("CUdeviceptr", "") if kind in ("Kernel", "Memcpy", "Memset", "BatchMemOp") else 0
        if kind == "Kernel":
            return call.cuGraphAddKernelNode(graph, None, 0, self.struct(driver.CUDA_KERNEL_NODE_PARAMS))
        if kind == "Memcpy":
            return call.cuGraphAddMemcpyNode(
                graph, None, 0, self.struct(driver.CUDA_MEMCPY3D), self.a_context()
            )
        if kind == "Memset":
            params = driver.CUDA_MEMSET_NODE_PARAMS(dst=pointer, elementSize=1, width=SIZE, height=1)
            return call.cuGraphAddMemsetNode(graph, None, 0, params, self.a_context())
        if kind == "Host":
            return call.cuGraphAddHostNode(graph, None, 0, self.struct(driver.CUDA_HOST_NODE_PARAMS))
        if kind == "ChildGraph":
            return call.cuGraphAddChildGraphNode(graph, None, 0, call.cuGraphCreate(0))
        if kind == "EventRecord":
            return call.cuGraphAddEventRecordNode(graph, None, 0, self.a_event())
        if kind == "EventWait":
            return call.cuGraphAddEventWaitNode(graph, None, 0, self.a_event())
        if kind in ("MemAlloc", "MemFree"):
            params = self.struct(driver.CUDA_MEM_ALLOC_NODE_PARAMS)
            node = call.cuGraphAddMemAllocNode(graph, None, 0, params)
            if kind == "MemFree":
                return call.cuGraphAddMemFreeNode(graph, [node], 1, params.dptr)
            return node
        if kind == "BatchMemOp":
            params = driver.CUDA_BATCH_MEM_OP_NODE_PARAMS(ctx=self.a_context(), count=1)
            self.kept.append(op := driver.CUstreamBatchMemOpParams())
            op.operation = driver.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WRITE_VALUE_32
            op.writeValue.address = pointer
            params.paramArray = [op]
            return call.cuGraphAddBatchMemOpNode(graph, None, 0, params)
        return call.cuGraphAddEmptyNode(graph, None, 0)

    def a_graphnode(self) -> Any:
        self.handle("CUgraph", "")
        return self.made["graphnode"]

    def a_graphexec(self) -> Any:
        return self.call.cuGraphInstantiate(self.handle("CUgraph", ""), 0)

    def a_module(self) -> Any:
        return self.call.cuModuleLoadData(PTX)

    def a_function(self) -> Any:
        return self.call.cuModuleGetFunction(self.handle("CUmodule", ""), b"add")

    def a_library(self) -> Any:
        return self.call.cuLibraryLoadData(PTX, None, None, 0, None, None, 0)

    def a_kernel(self) -> Any:
        return self.call.cuLibraryGetKernel(self.handle("CUlibrary", ""), b"add")

    def a_linkstate(self) -> Any:
        return self.call.cuLinkCreate(0, None, None)

    def _array_desc(self) -> Any:
        return driver.CUDA_ARRAY3D_DESCRIPTOR(Width=64, Height=64, Format=0x20, NumChannels=1, Flags=2)

    def a_array(self) -> Any:
        return self.call.cuArray3DCreate(self._array_desc())

    def a_mipmappedarray(self) -> Any:
        return self.call.cuMipmappedArrayCreate(self._array_desc(), 2)

    def _resource(self) -> Any:
        made = driver.CUDA_RESOURCE_DESC(resType=0)
        made.res.array.hArray = self.a_array()
        return made

    def a_texobject(self) -> Any:
        return self.call.cuTexObjectCreate(self._resource(), driver.CUDA_TEXTURE_DESC(), None)

    a_textureobject = a_texobject

    def a_surfobject(self) -> Any:
        return self.call.cuSurfObjectCreate(self._resource())

    a_surfaceobject = a_surfobject

    def a_texref(self) -> Any:
        return self.call.cuTexRefCreate()

    def a_userobject(self) -> Any:
        return self.call.cuUserObjectCreate(0, self.callback(""), 1, 1)

    def a_greenctx(self) -> Any:
        return self.call.cuGreenCtxCreate(self.a_devresourcedesc(), 0, 1)

    a_executioncontext = a_greenctx

    def a_devresourcedesc(self) -> Any:
        return self.call.cuDevResourceGenerateDesc([self._sms()], 1)

    def _sms(self) -> Any:
        return self.call.cuDeviceGetDevResource(0, driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM)

    def a_graphconditionalhandle(self) -> Any:
        return self.call.cuGraphConditionalHandleCreate(self.handle("CUgraph", ""), self.a_context(), 0, 0)

    # -- structs ----------------------------------------------------------------------------------------

    def struct(self, cls: Any) -> Any:
        """A struct whose fields are as right as their names tell."""
        name = cls.__name__
        if name in ("CUDA_ARRAY3D_DESCRIPTOR", "CUDA_ARRAY_DESCRIPTOR"):
            return cls(Width=64, Height=64, Format=0x20, NumChannels=1)
        if name == "CUDA_RESOURCE_DESC":
            return self._resource()
        if name in ("CUdevResource", "cudaDevResource"):
            made = cls()
            ctypes.memmove(ctypes.addressof(made), ctypes.addressof(self._sms()), ctypes.sizeof(cls))
            return made
        made = cls()
        if name in ("CUgraphNodeParams", "cudaGraphNodeParams"):  # of whose union one member is there
            made.type = 2  # a fill
            self.fill(made.memset)
        else:
            self.fill(made)
        return made

    def fill(self, made: Any) -> None:
        for name in dir(type(made)):
            if name.startswith("_") or name == "getPtr":
                continue
            try:
                value = getattr(made, name)
            except Exception:
                continue
            if is_aggregate(type(value)):
                if name not in ("v2", "reserved"):
                    self.fill(value)
                continue
            self.field(made, name, value)

    def field(self, made: Any, name: str, value: Any) -> None:
        right: Any = None
        if isinstance(value, enums.Enum):
            right = ENUMS.get(type(value).__name__)
        elif name in ("fn", "callback"):
            right = self.callback("")
        elif name in ("kernelParams", "args") and hasattr(made, "func"):
            right = ((self.handle("CUdeviceptr", ""),), (ctypes.c_void_p,))
        elif isinstance(value, handles.Handle):
            if name == "func" or re.search(
                "(?i)^(dst|src)?(device|ptr|dptr|address|hstream|ctx|event|harray|dst|src)$", name
            ):
                right = self.handle(type(value).__name__, name)
                if type(value).__name__ == "CUkernel":
                    return
        elif isinstance(value, bool) or not isinstance(value, int):
            return
        elif re.fullmatch("(grid|block)Dim[XYZ]", name):
            right = 1
        elif name in NUMBERS:
            right = NUMBERS[name]
        if right is not None:
            try:
                setattr(made, name, right)
            except Exception:
                return


BY_NAME = (
    ("h?[sS]tream", "CUstream"),
    ("(dev|d)?[pP]tr|dptr|dsts|srcs", "CUdeviceptr"),
    ("[hg]?[gG]raph", "CUgraph"),
    ("h?[nN]ode|p?[dD]ependencies|from_|to", "CUgraphNode"),
    ("f|func", "CUfunction"),
    ("dev|device", "CUdevice"),
)
