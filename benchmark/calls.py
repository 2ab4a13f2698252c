"""The driver calls that are measured: as a user of a binding writes them, and by hand with ctypes.

By hand means the fastest call of the same C function in plain ctypes: no argtypes; Python's ints and None
where C takes an int or a null pointer; and for everything else, where a result goes included, an object that
was made before. It is not safe between threads, and checks nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Call(NamedTuple):
    """One measured call. name: its case in cpp/launch.cpp, where that has one."""

    name: str
    statement: str
    by_hand: str | None
    calls: int = 200


GETTERS_AND_QUEUES = (
    Call("cuCtxGetCurrent", "cuCtxGetCurrent()", "cuCtxGetCurrent(handle_at); handle.value"),
    Call(
        "cuDeviceGetAttribute",
        "cuDeviceGetAttribute(attribute, device)",
        "cuDeviceGetAttribute(number_at, 16, 0); number.value",
    ),
    Call(
        "cuPointerGetAttribute",
        "cuPointerGetAttribute(memory_type, pointer)",
        "cuPointerGetAttribute(number_at, 2, pointer); number.value",
    ),
    Call("cuStreamQuery", "cuStreamQuery(stream)", "cuStreamQuery(stream)"),
    Call("cuEventRecord", "cuEventRecord(event, stream)", "cuEventRecord(event, stream)"),
    Call(
        "cuMemAllocAsync+cuMemFreeAsync",
        "err, memory = cuMemAllocAsync(4096, stream); err, = cuMemFreeAsync(memory, stream)",
        "cuMemAllocAsync(memory_at, size, stream); cuMemFreeAsync(memory, stream)",
    ),
    Call(
        "cuMemcpyHtoDAsync",
        "cuMemcpyHtoDAsync(pointer, host, 4096, stream)",
        "cuMemcpyHtoDAsync_v2(pointer, host, size, stream)",
    ),
    Call(
        "cuMemcpyDtoHAsync",
        "cuMemcpyDtoHAsync(host, pointer, 4096, stream)",
        "cuMemcpyDtoHAsync_v2(host, pointer, size, stream)",
        50,  # to pageable memory: it waits
    ),
    Call("cuEventQuery", "cuEventQuery(event)", "cuEventQuery(event)"),
    Call("cuEventSynchronize", "cuEventSynchronize(event)", "cuEventSynchronize(event)"),
    Call("cuStreamSynchronize", "cuStreamSynchronize(stream)", "cuStreamSynchronize(stream)"),
)

OTHERS = (
    Call("cuCtxSetCurrent", "cuCtxSetCurrent(context)", "cuCtxSetCurrent(context)"),
    Call("cuCtxGetDevice", "cuCtxGetDevice()", "cuCtxGetDevice(number_at); number.value"),
    Call("cuDeviceGet", "cuDeviceGet(0)", "cuDeviceGet(number_at, 0); number.value"),
    Call(
        "cuFuncGetAttribute",
        "cuFuncGetAttribute(most_threads, f)",
        "cuFuncGetAttribute(number_at, 0, f); number.value",
    ),
    Call(
        "cuMemAlloc+cuMemFree",
        "err, memory = cuMemAlloc(4096); err, = cuMemFree(memory)",
        "cuMemAlloc_v2(memory_at, size); cuMemFree_v2(memory)",
        50,
    ),
    Call("cuMemcpyHtoD", "cuMemcpyHtoD(pointer, host, 8)", "cuMemcpyHtoD_v2(pointer, host, few)", 50),
    Call("cuMemcpyDtoH", "cuMemcpyDtoH(host, pointer, 8)", "cuMemcpyDtoH_v2(host, pointer, few)", 50),
    Call("cuMemcpyDtoD", "cuMemcpyDtoD(other, pointer, 8)", "cuMemcpyDtoD_v2(other, pointer, few)", 50),
)

ENUMS = (
    Call("CUresult(0)", "value = CUresult(0)", None),
    Call("CUresult.CUDA_SUCCESS", "value = CUresult.CUDA_SUCCESS", None),
    Call("CUdevice_attribute(1)", "value = CUdevice_attribute(1)", None),
)
"""What members of enums cost, without a call."""

PAGE_LOCKED = (
    Call(
        "cuMemcpyHtoDAsync, page-locked",
        "cuMemcpyHtoDAsync(pointer, locked, 4096, stream)",
        "cuMemcpyHtoDAsync_v2(pointer, locked, size, stream)",
    ),
    Call(
        "cuMemcpyDtoHAsync, page-locked",
        "cuMemcpyDtoHAsync(locked, pointer, 4096, stream)",
        "cuMemcpyDtoHAsync_v2(locked, pointer, size, stream)",
    ),
)

LOOKUPS = (
    Call(
        "cuModuleGetFunction",
        "cuModuleGetFunction(module, b'saxpy')",
        "cuModuleGetFunction(handle_at, module, b'saxpy')",
    ),
    Call(
        "cuTensorMapEncodeTiled",
        "cuTensorMapEncodeTiled(float32, 2, pointer, lengths, strides, box, steps, *modes)",
        None,
    ),
    Call(
        "cuTensorMapEncodeIm2col",
        "cuTensorMapEncodeIm2col(float32, 3, pointer, cube, strides3, (0,), (0,), 32, 32, steps3, *modes)",
        None,
    ),
)

MAKERS = (
    Call(
        "cuStreamCreate+cuStreamDestroy",
        "err, made = cuStreamCreate(1); err, = cuStreamDestroy(made)",
        "cuStreamCreate(handle_at, 1); cuStreamDestroy_v2(handle)",
    ),
    Call(
        "cuEventCreate+cuEventDestroy",
        "err, made = cuEventCreate(2); err, = cuEventDestroy(made)",
        "cuEventCreate(handle_at, 2); cuEventDestroy_v2(handle)",
    ),
)

CORE = (
    Call("cuMemAllocAsync+cuMemFreeAsync", "allocate(4096, stream=stream).close()", None),
    Call("cuEventRecord", "record(event)", None),
    Call("cuStreamCreate+cuStreamDestroy", "create_stream().close()", None),
    Call("cuEventCreate+cuEventDestroy", "create_event().close()", None),
    Call("cuCtxGetCurrent", "current = Device()", None),
    Call("cuCtxSetCurrent", "device.set_current()", None),
    Call("cuDeviceGet", "first = Device(0)", None),
    Call("cuDeviceGetAttribute", "major = device.properties.compute_capability_major", None),
    Call("cuStreamSynchronize", "stream.sync()", None),
    Call("cuEventQuery", "done = event.is_done", None),
    Call("cuEventSynchronize", "event.sync()", None),
    Call(
        "cuEventRecord+cuEventSynchronize",
        "record(event); event.sync()",
        "cuEventRecord(event, stream); cuEventSynchronize(event)",
        50,
    ),
    Call(
        "cuMemAllocAsync+cuMemFreeAsync",
        "made = allocate(4096, stream=stream); handle = made.handle; made.close()",
        None,
    ),
    Call(
        "cuMemcpyAsync",
        "source.copy_to(target, stream=stream)",
        "cuMemcpyAsync(pointer, other, few, stream)",
    ),
    Call(
        "cuMemcpyAsync",
        "target.copy_from(source, stream=stream)",
        "cuMemcpyAsync(pointer, other, few, stream)",
    ),
    Call("cuMemsetD8Async", "target.fill(0, stream=stream)", "cuMemsetD8Async(pointer, 0, size, stream)"),
)
"""What core's objects cost, under the names of the C functions behind them."""

DEFAULT_STREAM = Call("cuMemAllocAsync+cuMemFreeAsync", "allocate(4096).close()", None)

GRAPH = Call("cuGraphLaunch", "cuGraphLaunch(graph, stream)", "cuGraphLaunch(graph, stream)", 50)

INSTANTIATE = Call(
    "cuGraphInstantiate",
    "err, made = cuGraphInstantiate(nodes, 0); err, = cuGraphExecDestroy(made)",
    "cuGraphInstantiateWithFlags(handle_at, nodes, no_flags); cuGraphExecDestroy(handle)",
    20,
)
UPDATE = Call(
    "cuGraphExecUpdate", "cuGraphExecUpdate(graph, nodes)", "cuGraphExecUpdate_v2(graph, nodes, info_at)", 20
)

POINTERS = Call(
    "cuLaunchKernel, pointers made before",
    "cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, pointers, 0)",
    "cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, pointers, None)",
)
_TURNS = ("f, 1", "stream"), ("other_f, 1", "stream"), ("f, 1", "other_stream"), ("f, 2", "stream")
TURNS = Call(
    "cuLaunchKernel four times, of kernels, streams and grids in turns",
    "; ".join(f"err, = cuLaunchKernel({f}, 1, 1, 32, 1, 1, 0, {s}, pointers, 0)" for f, s in _TURNS),
    "; ".join(f"err = cuLaunchKernel({f}, 1, 1, 32, 1, 1, 0, {s}, pointers, None)" for f, s in _TURNS),
    50,
)
TUPLES = Call(
    "cuLaunchKernel, ctypes tuples",
    "cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, (values, types), 0)",
    None,
)
ARRAYS = Call(
    "cuLaunchKernel, new numpy arrays",
    "arrays = [array(v, t) for v, t in zip(values, dtypes)]; "
    "addresses = array([a.ctypes.data for a in arrays], uint64); "
    "err, = cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, addresses.ctypes.data, 0)",
    None,
)
EX = Call(
    "cuLaunchKernelEx, pointers made before",
    "cuLaunchKernelEx(config, f, pointers, 0)",
    "cuLaunchKernelEx(config_at, f, pointers, None)",
)

ROUND_TRIP = Call(
    "cuLaunchKernel+cuStreamSynchronize",
    "err, = cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, pointers, 0); err, = cuStreamSynchronize(stream)",
    "cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, pointers, None); cuStreamSynchronize(stream)",
    50,
)

LAUNCH = Call("core.launch", "launch(stream, config, kernel, *ARGUMENTS)", None)
LAUNCH_SYNC = Call(
    "core.launch+stream.sync", "launch(stream, config, kernel, *ARGUMENTS); stream.sync()", None, 50
)
LAUNCH_CONFIG = Call(
    "core.launch, new LaunchConfig",
    "launch(stream, LaunchConfig(grid=1, block=32), kernel, *ARGUMENTS)",
    None,
)

_IN_A_LOOP = "cuDeviceGetAttribute", "cuEventRecord", "cuMemcpyHtoDAsync"
GATE = {*(call for call in GETTERS_AND_QUEUES if call.name in _IN_A_LOOP), *CORE[:2]}
GATE |= {POINTERS, TURNS, TUPLES, LAUNCH}
"""The calls that matter most, which a gate measures alone: SAXPY's launches, and these calls."""

FUNCTIONS = (
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuFuncGetAttribute",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemcpyAsync",
    "cuMemcpyDtoD",
    "cuMemcpyDtoH",
    "cuMemcpyHtoD",
    "cuMemsetD8Async",
    "cuPointerGetAttribute",
    "cuStreamQuery",
    "cuEventCreate",
    "cuEventDestroy",
    "cuEventRecord",
    "cuStreamCreate",
    "cuStreamDestroy",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuMemcpyDtoHAsync",
    "cuMemcpyHtoDAsync",
    "cuEventQuery",
    "cuEventSynchronize",
    "cuStreamSynchronize",
    "cuGraphExecDestroy",
    "cuGraphExecUpdate",
    "cuGraphInstantiate",
    "cuGraphLaunch",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuTensorMapEncodeIm2col",
    "cuTensorMapEncodeTiled",
)

_V2 = (
    "cuGraphExecUpdate",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemcpyDtoD",
    "cuMemcpyDtoH",
    "cuMemcpyHtoD",
    "cuMemcpyDtoHAsync",
    "cuMemcpyHtoDAsync",
    "cuStreamDestroy",
    "cuEventDestroy",
)
SYMBOLS = {name: f"{name}_v2" for name in _V2} | {"cuGraphInstantiate": "cuGraphInstantiateWithFlags"}
"""What the library calls them, where that is something else."""


class Arguments:
    """Kernel arguments in every form: the values, their ctypes types, and an array of pointers to them."""

    def __init__(self, values: Sequence[Any] = (), types: Sequence[Any] = ()) -> None:
        self.values = tuple(values)
        self.types = tuple(types)
        self.objects = [v if t is None else t(v) for v, t in zip(values, types, strict=True)]
        self.pointers = (ctypes.c_void_p * len(self.objects))(*map(ctypes.addressof, self.objects))
        self.address = ctypes.addressof(self.pointers)


@dataclass
class Handles:
    """What the calls are made with, as plain numbers."""

    stream: int
    event: int
    function: int
    graph: int
    pointer: int
    module: int = 0
    locked: int = 0
    nodes: int = 0
    arguments: Arguments = field(default_factory=Arguments)
    host: Any = field(default_factory=lambda: ctypes.create_string_buffer(4096))


class Config(ctypes.Structure):
    """`CUlaunchConfig`, of cuda.h."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    ]


def scope_of(driver: Any, handles: Handles) -> dict[str, Any]:
    """What the statements mean with `driver`: cudapy.driver, or cuda.bindings.driver."""
    config = driver.CUlaunchConfig()
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1
    config.blockDimX = 32
    config.hStream = driver.CUstream(handles.stream)
    return {
        **{name: getattr(driver, name) for name in FUNCTIONS},
        "CUdevice_attribute": driver.CUdevice_attribute,
        "CUresult": driver.CUresult,
        "attribute": driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        "config": config,
        "context": driver.cuCtxGetCurrent()[1],
        "device": driver.CUdevice(0),
        "event": driver.CUevent(handles.event),
        "f": driver.CUfunction(handles.function),
        "graph": driver.CUgraphExec(handles.graph),
        "handles": handles,  # whose memory `pointers` and `host` are addresses of
        "host": ctypes.addressof(handles.host),
        "locked": handles.locked,
        "module": driver.CUmodule(handles.module),
        "most_threads": driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        "nodes": driver.CUgraph(handles.nodes),
        "other": driver.CUdeviceptr(handles.pointer + 64),
        "other_f": driver.CUfunction(handles.function),  # another object, and so another to compare with
        "other_stream": driver.CUstream(handles.stream),
        **tensor_map(driver),
        "memory_type": driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        "pointer": driver.CUdeviceptr(handles.pointer),
        "pointers": handles.arguments.address,
        "stream": driver.CUstream(handles.stream),
        "types": handles.arguments.types,
        "values": handles.arguments.values,
    }


def tensor_map(driver: Any) -> dict[str, Any]:
    """What describes 32 x 32 floats, for `cuTensorMapEncodeTiled`."""
    kinds = (
        "CUtensorMapInterleave",
        "CUtensorMapSwizzle",
        "CUtensorMapL2promotion",
        "CUtensorMapFloatOOBfill",
    )
    return {
        "float32": driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        "lengths": [driver.cuuint64_t(32)] * 2,
        "strides": [driver.cuuint64_t(128)],
        "box": [driver.cuuint32_t(32)] * 2,
        "steps": [driver.cuuint32_t(1)] * 2,
        "cube": [driver.cuuint64_t(32)] * 3,
        "strides3": [driver.cuuint64_t(128), driver.cuuint64_t(4096)],
        "steps3": [driver.cuuint32_t(1)] * 3,
        "modes": [getattr(driver, kind)(0) for kind in kinds],
    }


def scope_of_core(
    core: Any, cubin: bytes, kernel: str, handles: Handles, buffers: bool = False
) -> dict[str, Any]:
    """What the statements mean with `core`: cudapy.core, or cuda.core; pointers are numbers, or buffers."""
    device = core.Device(0)
    device.set_current()
    stream = device.create_stream()  # one that no other library can use, as most are
    values = list(handles.arguments.values)
    if kernel == "saxpy":
        import numpy

        values[0] = numpy.float32(values[0])  # cuda.core takes a float of Python for a double
        if buffers:
            values[1:4] = [device.allocate(4096, stream=stream) for _ in range(3)]
    return {
        "LaunchConfig": core.LaunchConfig,
        "config": core.LaunchConfig(grid=1, block=32),
        "kernel": core.ObjectCode.from_cubin(cubin).get_kernel(kernel),
        "launch": core.launch,
        "stream": stream,
        **{f"a{i}": value for i, value in enumerate(values)},
    }


def scope_of_core_calls(core: Any) -> dict[str, Any]:
    """What the statements of `CORE` mean with `core`."""
    device = core.Device(0)
    device.set_current()
    stream = device.create_stream()
    source, target = (device.allocate(4096, stream=stream) for _ in range(2))
    return {
        "Device": core.Device,
        "allocate": device.allocate,
        "device": device,
        "create_event": device.create_event,
        "create_stream": device.create_stream,
        "event": device.create_event(with_timing(core)),  # as those of C++ and ctypes
        "record": stream.record,
        "source": source,
        "stream": stream,
        "target": target,
    }


def with_timing(core: Any) -> Any:
    """Options of an event that measures time, as the flags 0 are to C; core's own events do not."""
    try:
        return core.EventOptions(timing_enabled=True)
    except TypeError:  # the name that it had before
        return core.EventOptions(enable_timing=True)


def with_arguments(call: Call, scope: dict[str, Any]) -> str:
    """The statement of a launch with core, with the arguments that its scope has."""
    arguments = (f", {name}" for name in scope if name[0] == "a" and name[1:].isdigit())
    return call.statement.replace(", *ARGUMENTS", "".join(arguments))


def scope_by_hand(path: str, handles: Handles) -> dict[str, Any]:
    """What the statements by hand mean; `path` is that of libcuda."""
    library = ctypes.CDLL(path)  # an object of our own: its functions have no argtypes, whatever others do
    config = Config((1, 1, 1), (32, 1, 1), 0, handles.stream, None, 0)
    handle, number, memory = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_uint64()
    context = ctypes.c_void_p()
    library.cuCtxGetCurrent(ctypes.byref(context))
    functions = [SYMBOLS.get(name, name) for name in FUNCTIONS]
    return {
        **{name: getattr(library, name) for name in functions},
        "config_at": ctypes.byref(config),
        "context": context,
        "handles": handles,
        "event": ctypes.c_void_p(handles.event),
        "f": ctypes.c_void_p(handles.function),
        "few": ctypes.c_size_t(8),
        "graph": ctypes.c_void_p(handles.graph),
        "handle": handle,
        "handle_at": ctypes.byref(handle),
        "host": ctypes.c_void_p(ctypes.addressof(handles.host)),
        "info_at": ctypes.create_string_buffer(64),  # more than a CUgraphExecUpdateResultInfo has
        "locked": ctypes.c_void_p(handles.locked),
        "memory": memory,
        "memory_at": ctypes.byref(memory),
        "module": ctypes.c_void_p(handles.module),
        "no_flags": ctypes.c_uint64(0),
        "nodes": ctypes.c_void_p(handles.nodes),
        "number": number,
        "number_at": ctypes.byref(number),
        "other": ctypes.c_uint64(handles.pointer + 64),
        "other_f": ctypes.c_void_p(handles.function),
        "other_stream": ctypes.c_void_p(handles.stream),
        "pointer": ctypes.c_uint64(handles.pointer),
        "pointers": ctypes.c_void_p(handles.arguments.address),
        "size": ctypes.c_size_t(4096),
        "stream": ctypes.c_void_p(handles.stream),
    }
