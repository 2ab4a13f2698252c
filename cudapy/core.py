"""CUDA as Python objects: devices, streams, events, memory, programs and launches.

    from cudapy.core import Device, LaunchConfig, Program, ProgramOptions, launch

    dev = Device()                                  # the current GPU, or the first
    dev.set_current()                               # makes its context; once in each thread
    stream = dev.create_stream()                    # a queue of work; the calls below return at once

    code = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
    program = Program(code, "c++", ProgramOptions(std="c++17"))
    kernel = program.compile("cubin").get_kernel("twice")

    numbers = numpy.arange(256, dtype=numpy.float32)
    buffer = dev.upload(numbers, stream)
    launch(stream, LaunchConfig(grid=1, block=256), kernel, buffer)
    doubled = buffer.download(numpy.float32)        # waits for the stream

Device, Context              GPUs, their properties (`dev.properties`), and the current context
ContextOptions, SMResource   green contexts, with some of the multiprocessors: `dev.create_context`
Stream, Event                order, waiting and timing: `end - start` is in milliseconds
Buffer, MemoryResource       device, page-locked, managed, virtual, graph and shared memory
GraphicsResource             buffers and images of OpenGL and EGL
Communicator                 collectives of several devices and processes, on NCCL
utils                        arrays of any library as StridedMemoryView, batched copies
Program, ProgramOptions      compile CUDA C++, PTX or NVVM IR to ObjectCode; CompileError has the log
Linker, LinkerOptions        link several ObjectCodes, with link-time optimization; LinkError has the log
ObjectCode, Kernel           compiled code, also from files, and its kernels
LaunchConfig, launch         launch kernels; `prepare` for launches that repeat
TensorMapDescriptor          tensors for the tensor memory accelerator: `StridedMemoryView.as_tensor_map`
graph                        work defined once and launched many times: `cudapy.core.graph`
system                       device management with NVML: memory, clocks, temperatures: `cudapy.core.system`
texture                      textures and surfaces: `cudapy.core.texture`
checkpoint                   checkpoints of a process's GPU memory: `cudapy.core.checkpoint`
typing                       enums such as ObjectCodeFormatType: `cudapy.core.typing`

Every resource is released with its last reference, or earlier by `close()` or a `with` block. A failure
raises CUDAError; out-of-memory errors are also a MemoryError.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from ._bindings.errors import CUDAError, CUDAOutOfMemoryError
from ._core.compile.linker import Linker, LinkerOptions, LinkError
from ._core.compile.program import CompileError, Program
from ._core.compile.program_cache import FileStreamProgramCache, InMemoryProgramCache, ProgramCacheResource
from ._core.compile.program_key import make_program_cache_key
from ._core.compile.program_options import ProgramOptions
from ._core.context.context import Context
from ._core.device.device import ComputeCapability, Device
from ._core.device.properties import DeviceProperties
from ._core.kernels.kernel import Kernel
from ._core.kernels.launch import launch
from ._core.kernels.launch_config import LaunchConfig
from ._core.kernels.object_code import ObjectCode
from ._core.kernels.prepared import prepare
from ._core.memory.buffer import Buffer
from ._core.memory.device import DeviceMemoryResource, DeviceMemoryResourceOptions
from ._core.memory.graph import GraphMemoryResource
from ._core.memory.legacy import LegacyPinnedMemoryResource
from ._core.memory.location import Host
from ._core.memory.managed import ManagedMemoryResource, ManagedMemoryResourceOptions
from ._core.memory.managed_buffer import ManagedBuffer
from ._core.memory.pinned import PinnedMemoryResource, PinnedMemoryResourceOptions
from ._core.memory.resource import MemoryResource
from ._core.memory.virtual import VirtualMemoryResource
from ._core.memory.virtual_options import VirtualMemoryResourceOptions
from ._core.modules import (
    checkpoint,
    graph,
    system,
    system_exceptions,
    system_typing,
    texture,
    typing,
    utils,
)
from ._core.streams.event import Event, IPCEventDescriptor
from ._core.streams.event_options import EventOptions
from ._core.streams.stream import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Stream,
    StreamOptions,
    default_stream,
)

if TYPE_CHECKING:
    from ._core.arrays.tensor_map import TensorMapDescriptor
    from ._core.arrays.tensor_map_options import (
        TensorMapDataType,
        TensorMapDescriptorOptions,
        TensorMapIm2ColWideMode,
        TensorMapInterleave,
        TensorMapL2Promotion,
        TensorMapOOBFill,
        TensorMapSwizzle,
    )
    from ._core.collectives.communicator import Communicator
    from ._core.collectives.failure import CollectiveError
    from ._core.context.resources import (
        ContextOptions,
        DeviceResources,
        SMResource,
        SMResourceOptions,
        WorkqueueResource,
        WorkqueueResourceOptions,
    )
    from ._core.memory.graphics import GraphicsResource

__version__ = "1.2.2"
"""The release of cuda.core whose API this module has."""

__all__ = [
    "LEGACY_DEFAULT_STREAM",
    "PER_THREAD_DEFAULT_STREAM",
    "Buffer",
    "CUDAError",
    "CUDAOutOfMemoryError",
    "CollectiveError",
    "Communicator",
    "CompileError",
    "ComputeCapability",
    "Context",
    "ContextOptions",
    "Device",
    "DeviceMemoryResource",
    "DeviceMemoryResourceOptions",
    "DeviceProperties",
    "DeviceResources",
    "Event",
    "EventOptions",
    "FileStreamProgramCache",
    "GraphMemoryResource",
    "GraphicsResource",
    "Host",
    "IPCEventDescriptor",
    "InMemoryProgramCache",
    "Kernel",
    "LaunchConfig",
    "LegacyPinnedMemoryResource",
    "LinkError",
    "Linker",
    "LinkerOptions",
    "ManagedBuffer",
    "ManagedMemoryResource",
    "ManagedMemoryResourceOptions",
    "MemoryResource",
    "ObjectCode",
    "PinnedMemoryResource",
    "PinnedMemoryResourceOptions",
    "Program",
    "ProgramCacheResource",
    "ProgramOptions",
    "SMResource",
    "SMResourceOptions",
    "Stream",
    "StreamOptions",
    "TensorMapDataType",
    "TensorMapDescriptor",
    "TensorMapDescriptorOptions",
    "TensorMapIm2ColWideMode",
    "TensorMapInterleave",
    "TensorMapL2Promotion",
    "TensorMapOOBFill",
    "TensorMapSwizzle",
    "VirtualMemoryResource",
    "VirtualMemoryResourceOptions",
    "WorkqueueResource",
    "WorkqueueResourceOptions",
    "checkpoint",
    "default_stream",
    "graph",
    "launch",
    "make_program_cache_key",
    "prepare",
    "system",
    "texture",
    "utils",
]

# So that they can be imported by these names, as os.path can.
sys.modules[f"{__name__}.checkpoint"] = checkpoint
sys.modules[f"{__name__}.graph"] = graph
sys.modules[f"{__name__}.system"] = system
sys.modules[f"{__name__}.system.exceptions"] = system_exceptions
sys.modules[f"{__name__}.system.typing"] = system_typing
sys.modules[f"{__name__}.texture"] = texture
sys.modules[f"{__name__}.typing"] = typing
sys.modules[f"{__name__}.utils"] = utils


_LATER = {
    "Communicator": "collectives.communicator",
    "CollectiveError": "collectives.failure",
    "ContextOptions": "context.resources",
    "DeviceResources": "context.resources",
    "GraphicsResource": "memory.graphics",
    "SMResource": "context.resources",
    "SMResourceOptions": "context.resources",
    "TensorMapDescriptor": "arrays.tensor_map",
    "WorkqueueResource": "context.resources",
    "WorkqueueResourceOptions": "context.resources",
    **dict.fromkeys(
        (
            "TensorMapDataType",
            "TensorMapDescriptorOptions",
            "TensorMapIm2ColWideMode",
            "TensorMapInterleave",
            "TensorMapL2Promotion",
            "TensorMapOOBFill",
            "TensorMapSwizzle",
        ),
        "arrays.tensor_map_options",
    ),
}
"""What few programs use, and where it comes from when it is asked for."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            module = importlib.import_module(f"._core.{_LATER[name]}", __package__)
        except ModuleNotFoundError:
            from ._commands.vendored import left_out

            hint = left_out("nccl") if _LATER[name].startswith("collectives.") else ""
            if not hint:
                raise
            raise ImportError(f"{__name__} has no {name}: {hint}", name=__name__) from None
        value = globals()[name] = getattr(module, name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
