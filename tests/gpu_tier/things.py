"""One of every class, made, used and given back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cudapy.core.texture import MipmappedArrayOptions, OpaqueArrayOptions, ResourceDescriptor

from cudapy import driver, nvrtc, pathfinder, runtime
from cudapy._bindings.errors import CUDAError
from cudapy.core import (
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    Event,
    GraphMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
    Program,
    ProgramOptions,
    VirtualMemoryResource,
    graph,
    launch,
    prepare,
)

from .bench import SOURCE, Bench
from .scale import Scale


@dataclass(frozen=True)
class Thing:
    """Something to make and give back `full` times: `once`. missing: why it cannot be made here.

    below: the same by the driver's functions alone; what those keep for good is not held against `once`.
    """

    name: str
    once: Callable[[], Any]
    full: int = 10_000
    small: int = 20
    missing: str = ""
    below: Callable[[], Any] | None = None

    def cycles(self, scale: Scale) -> int:
        """How often."""
        return scale.of(self.full, self.small)


def of_core(bench: Bench) -> list[Thing]:
    """Streams, events, memory, graphs, kernels."""
    device, stream = bench.device, bench.stream
    one, kernel, cubin = LaunchConfig(grid=1, block=1), bench.kernel("nothing"), bench.code.code
    words, texels = bench.words(32), bench.words(256)

    def stream_of_its_own() -> None:
        with device.create_stream() as made:
            made.record()

    def recorded_event() -> None:
        stream.record(options={"timing_enabled": True}).close()

    def own_pool() -> None:
        DeviceMemoryResource(device, DeviceMemoryResourceOptions()).close()

    def shared_pool() -> None:
        resource = DeviceMemoryResource(device, DeviceMemoryResourceOptions(ipc_enabled=True))
        int(resource.allocation_handle)
        resource.close()

    def pinned_pool() -> None:
        PinnedMemoryResource(PinnedMemoryResourceOptions()).close()

    def builder() -> graph.GraphBuilder:
        made = stream.create_graph_builder().begin_building()
        launch(made, one, kernel)
        return made.end_building()

    def built() -> None:
        builder().close()

    def definition() -> graph.GraphDefinition:
        made = graph.GraphDefinition()
        made.launch(one, kernel)
        made.memset(words, 0, 32)
        return made

    def executable() -> None:
        definition().instantiate().launch(stream)

    kept = definition()

    def executable_below() -> None:
        made = driver.checked.cuGraphInstantiate(kept.handle, 0)
        driver.checked.cuGraphLaunch(made, stream.handle)
        driver.checked.cuGraphExecDestroy(made)

    def memory_of_a_graph() -> None:
        made = stream.create_graph_builder().begin_building()
        resource = GraphMemoryResource(device)
        resource.allocate(1024, stream=made).close(made)
        made.end_building().close()

    def object_code() -> None:
        launch(stream, one, ObjectCode.from_cubin(cubin).get_kernel("nothing"))

    def prepared() -> None:
        prepare(stream, one, bench.kernel("add"), words, 1)(words, 1)

    def capsule() -> None:
        with device.allocate(4096, stream) as buffer:
            buffer.__dlpack__(stream=int(stream.handle))

    def texture() -> None:
        array = device.create_opaque_array(OpaqueArrayOptions((16, 16), "float32", 1, True))
        resource = ResourceDescriptor.from_opaque_array(array)
        array.copy_from(texels, stream=stream)
        with device.create_texture_object(resource=resource):
            device.create_surface_object(resource=resource).close()

    def levels() -> None:
        with device.create_mipmapped_array(MipmappedArrayOptions((16, 16), "uint8", 1, 3)) as made:
            made.get_level(1).copy_from(texels, stream=stream)

    def abandoned() -> None:
        cycle: list[Any] = [device.create_stream(), device.allocate(64, stream), Event()]
        cycle.append(cycle)

    things = [
        Thing("Stream", stream_of_its_own),
        Thing("Event", lambda: Event().close()),
        Thing("Event, recorded and timed", recorded_event),
        Thing("Buffer", lambda: device.allocate(1 << 20, stream).close()),
        Thing("Buffer, kept by DLPack", capsule),
        Thing("OpaqueArray, TextureObject, SurfaceObject", texture),
        Thing("MipmappedArray", levels),
        Thing("garbage in a cycle", abandoned),
        *_memory(bench),
        Thing("DeviceMemoryResource with a pool", own_pool),
        Thing("PinnedMemoryResource with a pool", pinned_pool, full=1_000),
        Thing("DeviceMemoryResource that is shared", shared_pool, missing=_missing(shared_pool)),
        Thing("GraphBuilder", built),
        Thing("GraphBuilder with memory", memory_of_a_graph),
        Thing("GraphDefinition", definition),
        Thing("Graph", lambda: definition().instantiate()),
        Thing("Graph, launched", executable, below=executable_below),
        Thing("ObjectCode and Kernel", object_code),
        Thing("prepared launch", prepared),
    ]
    return things


def _memory(bench: Bench) -> list[Thing]:
    """A buffer of each memory resource."""
    device, stream = bench.device, bench.stream
    makers: dict[str, tuple[Callable[[], Any], int, int]] = {
        "pool of its own": (
            lambda: DeviceMemoryResource(device, DeviceMemoryResourceOptions()),
            1 << 20,
            10_000,
        ),
        "PinnedMemoryResource": (PinnedMemoryResource, 1 << 16, 10_000),
        "LegacyPinnedMemoryResource": (LegacyPinnedMemoryResource, 1 << 16, 10_000),
        "ManagedMemoryResource": (ManagedMemoryResource, 1 << 16, 10_000),
        "VirtualMemoryResource": (lambda: VirtualMemoryResource(device), 1 << 20, 10_000),
    }
    found = []
    for name, (make, size, full) in makers.items():
        try:
            resource = make()

            def once(resource: Any = resource, size: int = size) -> None:
                resource.allocate(size, stream=stream).close()

            found.append(Thing(f"Buffer of a {name}", once, full, missing=_missing(once)))
        except (CUDAError, RuntimeError) as error:
            found.append(Thing(f"Buffer of a {name}", lambda: None, full, missing=str(error)))
    return found


def of_compilers(bench: Bench) -> list[Thing]:
    """Programs and linkers; fewer of those that compile and link."""
    arch = f"sm_{bench.device.arch}"
    options = ProgramOptions(arch=arch, relocatable_device_code=True)
    unit = Program(SOURCE, "c++", options).compile("cubin" if _has_nvjitlink() else "ptx")

    def failed() -> None:
        try:
            Program("not C++", "c++", ProgramOptions(arch=arch)).compile("ptx")
        except RuntimeError:
            return
        raise AssertionError("it compiled")

    def linked() -> None:
        Linker(unit, options=LinkerOptions(arch=arch)).link("cubin")

    def made() -> None:
        with Program(SOURCE, "c++", options) as program:
            assert program.handle  # it is made when it is asked for

    def raw() -> None:
        program = nvrtc.checked.nvrtcCreateProgram(SOURCE.encode(), b"raw.cu", 0, [], [])
        nvrtc.checked.nvrtcDestroyProgram(program)

    return [
        Thing("Program", made),
        Thing("nvrtcProgram", raw),
        Thing("Program, compiled", lambda: Program(SOURCE, "c++").compile("ptx"), 500, 5),
        Thing("Program that does not compile", failed, 500, 5),
        Thing(
            "Linker", lambda: Linker(unit, options=LinkerOptions(arch=arch)).close(), missing=_missing(linked)
        ),
        Thing("Linker, linked", linked, 300, 5, missing=_missing(linked)),
    ]


def of_driver(bench: Bench) -> list[Thing]:
    """Contexts, arrays, mipmaps, textures and surfaces."""
    call = driver.checked
    float32 = driver.CUarray_format.CU_AD_FORMAT_FLOAT
    flat = driver.CUDA_ARRAY_DESCRIPTOR(Width=64, Height=64, Format=float32, NumChannels=1)
    deep = driver.CUDA_ARRAY3D_DESCRIPTOR(
        Width=64, Height=64, Format=float32, NumChannels=1, Flags=driver.CUDA_ARRAY3D_SURFACE_LDST
    )

    def context() -> None:
        made = call.cuCtxCreate(0, 0)
        call.cuMemFree(call.cuMemAlloc(64))
        call.cuCtxDestroy(made)

    def texture() -> None:
        array = call.cuArrayCreate(flat)
        where = driver.CUDA_RESOURCE_DESC(resType=driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY)
        where.res.array.hArray = array
        made = call.cuTexObjectCreate(where, driver.CUDA_TEXTURE_DESC(), None)
        call.cuTexObjectDestroy(made)
        call.cuArrayDestroy(array)

    def surface() -> None:
        array = call.cuArray3DCreate(deep)
        where = driver.CUDA_RESOURCE_DESC(resType=driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY)
        where.res.array.hArray = array
        call.cuSurfObjectDestroy(call.cuSurfObjectCreate(where))
        call.cuArrayDestroy(array)

    return [
        Thing("CUcontext", context, 30, 3),
        Thing("CUdeviceptr", lambda: call.cuMemFree(call.cuMemAlloc(1 << 16))),
        Thing("CUarray and CUtexObject", texture),
        Thing("CUarray and CUsurfObject", surface),
        Thing("CUmipmappedArray", lambda: call.cuMipmappedArrayDestroy(call.cuMipmappedArrayCreate(deep, 3))),
        Thing("CUmodule", lambda: call.cuModuleUnload(call.cuModuleLoadData(bench.code.code))),
    ]


def of_runtime(bench: Bench) -> list[Thing]:
    """The Runtime API's own."""
    call = runtime.checked
    try:
        channels = call.cudaCreateChannelDesc(
            32, 0, 0, 0, runtime.cudaChannelFormatKind.cudaChannelFormatKindFloat
        )
    except pathfinder.LibraryNotFound as error:
        return [Thing("things of the Runtime API", lambda: None, missing=str(error).splitlines()[0])]

    def texture() -> None:
        array = call.cudaMallocArray(channels, 64, 64, 0)
        where = runtime.cudaResourceDesc(resType=runtime.cudaResourceType.cudaResourceTypeArray)
        where.res.array.array = array
        made = call.cudaCreateTextureObject(where, runtime.cudaTextureDesc(), None)
        call.cudaDestroyTextureObject(made)
        call.cudaFreeArray(array)

    return [
        Thing("cudaStream_t", lambda: call.cudaStreamDestroy(call.cudaStreamCreate())),
        Thing("cudaEvent_t", lambda: call.cudaEventDestroy(call.cudaEventCreate())),
        Thing("cudaMalloc", lambda: call.cudaFree(call.cudaMalloc(1 << 16))),
        Thing("cudaMallocHost", lambda: call.cudaFreeHost(call.cudaMallocHost(1 << 16))),
        Thing("cudaArray_t and cudaTextureObject_t", texture),
        Thing("cudaGraph_t", lambda: call.cudaGraphDestroy(call.cudaGraphCreate(0))),
    ]


def _has_nvjitlink() -> bool:
    try:
        pathfinder.load("nvJitLink")
    except pathfinder.LibraryNotFound:
        return False
    return True


def _missing(once: Callable[[], Any]) -> str:
    """Why this cannot be made here; "" if it can."""
    try:
        once()
    except (CUDAError, RuntimeError) as error:
        return str(error).splitlines()[0]
    return ""
