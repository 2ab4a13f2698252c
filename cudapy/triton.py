"""Triton's kernels on cudapy, on a GPU or the simulator: without a C compiler, and without PyTorch.

    import cudapy.triton
    cudapy.triton.install()

From then on `kernel[grid](...)` loads and launches through cudapy. Triton's own driver compiles C when it is
first used; this one takes its place, and writes a Python function for each compiled kernel.
"""

from __future__ import annotations

import ctypes
import re
import struct
import sys
from collections import defaultdict
from contextvars import ContextVar
from functools import cached_property
from math import prod
from types import SimpleNamespace
from typing import Any

from ._core.arrays.strided import StridedMemoryView
from ._ffi.packed_launch import CONFIG, Layout, launch_function
from ._ffi.shown import type_name
from ._ffi.sizes import round_up
from .core import Buffer, Device, Stream
from .driver import (
    CUclusterSchedulingPolicy,
    CUdevice_attribute,
    CUfunc_cache,
    CUfunction_attribute,
    CUlaunchAttribute,
    CUlaunchAttributeID,
    CUlaunchConfig,
    CUlimit,
    CUpointer_attribute,
    CUresult,
    checked,
    cuModuleUnload,
    cuPointerGetAttribute,
    libcuda,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._core.streams.stream import IsStreamType

__all__ = ["Tensor", "allocate", "install", "set_stream"]

FIRST, LAST = (3, 6), (3, 9)
"""The releases of Triton whose interface to drivers this is."""
_release = LAST
_stream: ContextVar[tuple[int, Any] | None] = ContextVar("cudapy_triton_stream", default=None)


def install() -> None:
    """Make cudapy the driver of Triton in this process; `triton.runtime.driver.reset_active()` undoes it.

    Kernels compile for the current device, the simulator's too. They run in the stream of `set_stream`, else
    in the current stream of PyTorch if that uses the GPU, else in the default stream. Raises ImportError
    without Triton, and RuntimeError for a release whose interface to drivers is not known.
    """
    import triton

    global _release
    major, minor = map(int, triton.__version__.split(".")[:2])
    if not FIRST <= (major, minor) <= LAST:
        known = " to ".join(".".join(map(str, release)) for release in (FIRST, LAST))
        raise RuntimeError(f"cudapy.triton is for Triton {known}; this is Triton {triton.__version__}")
    _release = major, minor
    triton.runtime.driver.set_active(_Driver())


def set_stream(stream: Stream | IsStreamType | None) -> None:
    """Have Triton launch in `stream` from now on, in this thread or task. None: no such stream.

    stream: a Stream, a GraphBuilder, or any object with `__cuda_stream__()`.
    """
    protocol = getattr(stream, "__cuda_stream__", None)
    if stream is not None and protocol is None:
        raise TypeError(f"set_stream: a {type_name(stream)} has no __cuda_stream__()")
    _stream.set(protocol and (protocol()[1], stream))


class Tensor:
    """Device memory as Triton takes it: an object with `data_ptr()` and `dtype`. It keeps the memory.

    memory: a Buffer, or an array with `__cuda_array_interface__` or DLPack, whose work so far Triton's stream
    waits for. dtype: what `numpy.dtype` takes, or a type of triton.language, such as tl.bfloat16; an array
    has its own. shape: of a Buffer; None is one axis, all of it.
    """

    def __init__(self, memory: Any, dtype: Any = None, shape: Sequence[int] | None = None) -> None:
        bits = getattr(dtype, "primitive_bitwidth", 0)  # of a type of triton.language
        if isinstance(memory, Buffer):
            if dtype is None:
                raise TypeError("Tensor: a Buffer does not say what its elements are; pass dtype=")
            view = memory.view(f"u{max(bits // 8, 1)}" if bits else dtype, shape)
        else:
            view = StridedMemoryView(memory, int(_current_stream().handle))
            if shape is not None or not view.is_device_accessible:
                what = "has a shape of its own" if shape is not None else "is in the memory of the host"
                raise TypeError(f"Tensor: a {type_name(memory)} {what}")
        self.base, self.shape, self._address, self._strides = memory, view.shape, view.ptr, view.strides
        self.dtype = dtype if bits else view.dtype
        self._view = view

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._address

    def stride(self) -> tuple[int, ...]:
        """Elements from one to the next, along each axis."""
        return self._strides or tuple(prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))


def allocate(size: int, alignment: int, stream: int | None) -> Tensor:
    """An allocator for `triton.set_allocator`: zeroed memory, which is freed in the order of the stream.

    size: bytes. alignment: of the address, 256 at most. stream: the handle of that of the launch.
    """
    within = Stream.from_handle(stream) if stream else Device().default_stream
    buffer = Device().allocate(size, stream=within)
    buffer.fill(b"\0", stream=within)
    return Tensor(buffer, "u1")


# -- launches ----------------------------------------------------------------------------------------------

_CODES = {
    "i1": "b", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u1": "B", "u8": "B", "u16": "H", "u32": "I",
    "u64": "Q", "fp16": "e", "bf16": "H", "fp32": "f", "f32": "f", "fp64": "d", "*": "Q", "map": "128s",
}  # fmt: skip
"""Triton's types, a pointer and a tensor map as `struct` packs them."""
_HEAD = CONFIG.format.removeprefix("=") + "8x"  # a CUlaunchConfig, filled up to 64 bytes
_SCRATCH = ("global_scratch", "profile_scratch")  # the last two parameters of each kernel


def _bf16(value: float) -> int:
    """The upper half of a binary32, as in Triton's own driver."""
    bits: int = struct.unpack("=I", struct.pack("=f", value))[0]
    return bits >> 16


class _Addresses(dict[int, int]):
    """The addresses by which kernels use memory, by those of tensors. The driver is asked once for each."""

    def __missing__(self, address: int) -> int:
        kind = CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER
        status, usable = cuPointerGetAttribute(kind, address) if address else (0, 0)
        if status == CUresult.CUDA_ERROR_INVALID_VALUE:
            raise ValueError("no kernel can use its memory; is it a tensor of the CPU?")
        if status:
            raise libcuda.error("cuPointerGetAttribute", CUresult(status), {"ptr": address})
        if len(self) >= 1 << 14:
            self.clear()
        self[address] = int(usable)
        return self[address]


_addresses: defaultdict[int, _Addresses] = defaultdict(_Addresses)  # of each device


class _Handles(dict[int, Any]):
    """Kernels by their handles, as ctypes takes them."""

    def __missing__(self, handle: int) -> Any:
        self[handle] = ctypes.c_void_p.from_param(handle)
        return self[handle]


def _cluster(blocks: int) -> CUlaunchAttribute:
    attribute = CUlaunchAttribute(id=CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
    size = attribute.value.clusterDim
    size.x, size.y, size.z = blocks, 1, 1
    return attribute


class _Launcher:
    """Writes the function that launches one compiled kernel, and does what that leaves to others."""

    def __init__(self, source: Any, metadata: Any) -> None:
        if "gsan" in (getattr(metadata, "instrumentation_mode", "") or ""):
            raise NotImplementedError("cudapy.triton: gsan, Triton's sanitizer, needs Triton's own driver")
        self.metadata, self.name = metadata, metadata.name
        self.arguments = len(source.signature)
        self.tensor_maps = getattr(metadata, "tensordesc_meta", None) or []
        self.descriptors: dict[str, str] = {}  # a variable for each, and the expression for the argument
        self.parameters: list[tuple[str, str, str]] = []  # of the kernel: type, expression, argument's name
        for i, (name, kind) in enumerate(source.signature.items()):
            self._add(kind, f"a{i}", name)
        codes, offsets, end = [], [], struct.calcsize(f"={_HEAD}")
        for kind in [*(kind for kind, *_ in self.parameters), "*", "*"]:
            if kind not in _CODES:
                raise NotImplementedError(f"{self.name}: cudapy.triton knows no arguments of type {kind}")
            codes.append(_CODES[kind])
            size = struct.calcsize("=" + codes[-1])
            offsets.append(round_up(end, min(size, 64)))
            end = offsets[-1] + size
        self.layout = Layout(codes, offsets, _HEAD)
        self.device = Device().device_id
        self.known = _addresses[self.device]

    def _add(self, kind: Any, value: str, name: str) -> None:
        """Add the parameters for (a part of) argument `name`, of type `kind`. value: its expression."""
        if isinstance(kind, tuple):
            for i, part in enumerate(kind):
                self._add(part, f"{value}[{i}]", name)
        elif kind.startswith("tensordesc"):
            rank = re.search(r"input_rank=(\d+)", kind)
            axes = int(rank[1]) if rank else kind.partition("[")[2].partition("]")[0].count(",") + 1
            flags = 1 if _release == (3, 6) else 2
            first = ["map"] if self.tensor_maps else ["*", *["i64"] * 2 * axes, *["i1"] * flags]
            variable = f"d{len(self.descriptors)}"
            self.descriptors[variable] = value
            for i, part in enumerate([*first, *["i32"] * axes, *["i64"] * axes]):
                self._add(part, f"{variable}[{i}]", name)
        elif kind != "constexpr":
            self.parameters.append(("*" if kind[0] == "*" else kind, value, name))

    def _attributes(self) -> Any:
        """The launch's attributes, as a C array."""
        meta, kind, found = self.metadata, CUlaunchAttributeID, []
        if meta.launch_pdl:
            found.append(CUlaunchAttribute(id=kind.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION))
            found[-1].value.programmaticStreamSerializationAllowed = 1
        if meta.launch_cooperative_grid:
            found.append(CUlaunchAttribute(id=kind.CU_LAUNCH_ATTRIBUTE_COOPERATIVE))
            found[-1].value.cooperative = 1
        if meta.num_ctas > 1:
            found.append(_cluster(meta.num_ctas))
            policy = kind.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
            found.append(CUlaunchAttribute(id=policy))
            found[-1].value.clusterSchedulingPolicyPreference = CUclusterSchedulingPolicy(1)  # spread
        return (CUlaunchAttribute * len(found))(*found)

    def function(self) -> Any:
        """The function, whose arguments are those that Triton passes to a launcher."""
        meta, attributes = self.metadata, self._attributes()
        blocks = f"x * {meta.num_ctas}" if meta.num_ctas > 1 else "x"
        where = attributes[0].getPtr() if attributes else 0
        block = f"{32 * meta.num_warps}, 1, 1, {meta.shared}"
        config = f"{blocks}, y, z, {block}, stream, {where}, {len(attributes)}"
        held = [name for name in _SCRATCH if getattr(meta, f"{name}_size")]
        scratch = ", ".join(f"{name}.data_ptr()" if name in held else "0" for name in _SCRATCH)
        form = {"*": "known[{}.data_ptr()], ", "bf16": "bf16({}), "}
        packed = "".join(form.get(kind, "{}, ").format(value) for kind, value, _ in self.parameters)
        values = "".join(f"{value}, " for _, value, _ in self.parameters)
        names = ", ".join(f"a{i}" for i in range(self.arguments))
        is_hook = "{0} is not None and (type({0}) is not HookChain or {0}.calls)"  # no call of an empty chain
        before = [
            f"if {is_hook.format('enter')}: enter(launch_metadata)",
            *(f"{name} = allocate('{name}', x * y * z, stream)" for name in held),
            *(f"{d} = parts({i}, {value})" for i, (d, value) in enumerate(self.descriptors.items())),
        ]
        call = [
            "if x and y and z:",
            "    err = launch_ex(config, handles[function], table, None)",
            "    if err: refused(err, slot, handles[function])",
        ]
        scope = {
            "HookChain": getattr(sys.modules.get("triton.knobs"), "HookChain", None),
            "attributes": attributes, "allocate": self.allocate, "bf16": _bf16,
            "fill": self.fill, "handles": _Handles(), "known": self.known, "make": self.make,
            "launch_ex": libcuda.function("cuLaunchKernelEx"), "pack_into": self.layout.struct.pack_into,
            "parts": self.parts, "refused": self.refused,
        }  # fmt: skip
        return launch_function(
            self.name,
            scope,
            f"x, y, z, stream, function, packed, launch_metadata, enter, leave, {names}",
            before,
            "room, table, config",
            [f"pack_into(room, 0, {config}, {packed}{scratch})"],
            [f"fill(room, ({config}), ({values}), ({scratch}))"],
            call,
            [f"if {is_hook.format('leave')}: leave(launch_metadata)"],
        )

    def make(self) -> Any:
        """Room for the configuration and the values; a table of pointers and the former, as C takes them."""
        room, table = self.layout.make()
        return room, table, self.layout.head_of(room)

    def parts(self, index: int, descriptor: Any) -> Any:
        """What kernels take for a tensor descriptor: a tensor map or the tensor, and sizes and strides."""
        from triton.backends.nvidia.driver import make_tensordesc_arg

        chosen = self.tensor_maps[index] if self.tensor_maps else None
        return make_tensordesc_arg(descriptor, chosen, *[None] * (_release > (3, 7)))

    def allocate(self, name: str, blocks: int, stream: int) -> Any:
        """Scratch memory for a launch, from the allocator that Triton was given."""
        from triton.runtime import _allocation as given

        allocator: Any = (given._allocator if name == _SCRATCH[0] else given._profile_allocator).get()
        if name != _SCRATCH[0] and isinstance(allocator, given.NullAllocator):
            allocator = allocate
        size = getattr(self.metadata, f"{name}_size") * blocks * self.metadata.num_ctas
        return allocator(size, getattr(self.metadata, f"{name}_align"), stream)

    def fill(self, block: Any, config: Sequence[int], values: Sequence[Any], scratch: Sequence[int]) -> None:
        """Pack what the single call would not take, or raise the error that says what is wrong."""
        packed = []
        for (kind, _, name), value in zip(self.parameters, values, strict=True):
            try:
                packed.append(self.converted(kind, value))
            except (struct.error, TypeError, OverflowError, ValueError) as error:
                raised = TypeError if isinstance(error, struct.error) else type(error)
                raise raised(f"{self.name}: argument {name!r} of type {kind}: {error}") from None
        try:
            self.layout.struct.pack_into(block, 0, *config, *packed, *scratch)
        except struct.error:
            raise ValueError(f"{self.name}: there is no grid of {tuple(config[:3])} blocks") from None

    def converted(self, kind: str, value: Any) -> Any:
        """An argument as `struct` packs it."""
        if kind == "*":
            if hasattr(value, "data_ptr"):
                return self.known[value.data_ptr()]
            if value is not None and not isinstance(value, int):
                raise TypeError(f"a {type_name(value)} has no data_ptr(); wrap it in cudapy.triton.Tensor")
            value = value or 0
        elif kind in ("fp32", "f32", "bf16"):
            value = ctypes.c_float(value).value  # infinite if it is too large, as in C
            value = _bf16(value) if kind == "bf16" else value
        struct.pack(f"={_CODES[kind]}", value)
        return value

    def refused(self, err: int, slot: Any, handle: Any) -> None:
        """Launch again, now with a context if the thread has none; or raise the launch's error."""
        if err == CUresult.CUDA_ERROR_INVALID_CONTEXT and not checked.cuCtxGetCurrent():
            Device(self.device).set_current()
            err = libcuda.function("cuLaunchKernelEx")(slot[2], handle, slot[1], None)
        if err:
            x, y, z, threads, _, _, shared, *_ = CONFIG.unpack_from(slot[0])
            told = {"kernel": self.name, "grid": (x, y, z), "block": threads, "shmem_size": shared}
            raise libcuda.error("cuLaunchKernelEx", CUresult(err), told)


# -- what Triton asks of a driver --------------------------------------------------------------------------

_PROPERTIES = {
    "max_shared_mem": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "max_num_regs": "MAX_REGISTERS_PER_BLOCK",
    "multiprocessor_count": "MULTIPROCESSOR_COUNT",
    "warpSize": "WARP_SIZE",
    "sm_clock_rate": "CLOCK_RATE",
    "mem_clock_rate": "MEMORY_CLOCK_RATE",
    "mem_bus_width": "GLOBAL_MEMORY_BUS_WIDTH",
}


def _attribute(name: str, device: int) -> int:
    return checked.cuDeviceGetAttribute(CUdevice_attribute[f"CU_DEVICE_ATTRIBUTE_{name}"], device)


def _set_attribute(kernel: Any, name: str, value: int) -> None:
    checked.cuFuncSetAttribute(kernel, CUfunction_attribute[f"CU_FUNC_ATTRIBUTE_{name}"], value)


def _torch() -> Any:
    """PyTorch, if it uses the GPU."""
    torch = sys.modules.get("torch")
    return torch if torch and torch.cuda.is_initialized() else None


def _current_stream() -> Stream:
    """The stream that Triton launches in."""
    handle = _Driver.get_current_stream(Device().device_id)
    return Stream.from_handle(handle) if handle else Device().default_stream


class _Event:
    """An event as `triton.testing` uses those of torch.cuda."""

    def __init__(self, enable_timing: bool) -> None:
        self.options = {"timing_enabled": enable_timing}

    def record(self) -> None:
        self.event = _current_stream().record(options=self.options)

    def elapsed_time(self, end: _Event) -> float:  # milliseconds
        return end.event - self.event


class _Driver:
    """A driver of Triton, and its `utils`: the methods' names and arguments are Triton's."""

    def __init__(self) -> None:
        self.utils = self

    @staticmethod
    def is_active() -> bool:
        return True

    @staticmethod
    def launcher_cls(source: Any, metadata: Any) -> Any:
        return _Launcher(source, metadata).function()

    @cached_property
    def get_current_device(self) -> Callable[[], int]:
        """The device of the current context; that of the first device becomes current if there is none."""
        get = libcuda.function("cuCtxGetDevice")

        def get_current_device() -> int:
            device = ctypes.c_int()
            if get(ctypes.byref(device)):
                Device().set_current()
                return Device().device_id
            return device.value

        return get_current_device

    @staticmethod
    def set_current_device(device: int) -> None:
        Device(device).set_current()

    @staticmethod
    def get_current_stream(device: int) -> int:
        """The handle of that of `set_stream`, else of PyTorch's, else 0."""
        chosen = _stream.get()
        if chosen:
            return chosen[0]
        torch = _torch()
        return torch._C._cuda_getCurrentRawStream(device) if torch else 0

    @staticmethod
    def get_device_capability(device: int) -> tuple[int, int]:
        major, minor = Device(device).compute_capability
        return major, minor

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        major, minor = self.get_device_capability(self.get_current_device())
        return GPUTarget("cuda", 10 * major + minor, 32)

    @staticmethod
    def get_device_properties(device: int) -> dict[str, int]:
        return {name: _attribute(attribute, device) for name, attribute in _PROPERTIES.items()}

    def load_binary(self, name: str, code: bytes, shared: int, device: int) -> tuple[int, ...]:
        """Load a cubin: handles of module and kernel, registers, spilled registers, most threads of a block.

        shared: bytes of dynamic shared memory that launches will use.
        """
        self.get_current_device()  # there is a context
        module = checked.cuModuleLoadData(code)
        kernel = checked.cuModuleGetFunction(module, name.encode())
        registers, local, threads, static = (
            checked.cuFuncGetAttribute(CUfunction_attribute[f"CU_FUNC_ATTRIBUTE_{which}"], kernel)
            for which in ("NUM_REGS", "LOCAL_SIZE_BYTES", "MAX_THREADS_PER_BLOCK", "SHARED_SIZE_BYTES")
        )
        if shared > 48 << 10:
            checked.cuFuncSetCacheConfig(kernel, CUfunc_cache.CU_FUNC_CACHE_PREFER_SHARED)
            room = _attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", device) - static
            _set_attribute(kernel, "MAX_DYNAMIC_SHARED_SIZE_BYTES", room)
        if self.get_device_capability(device) >= (9, 0):  # for clusters of 16
            _set_attribute(kernel, "NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)
        return int(module), int(kernel), registers, local // 4, threads

    @staticmethod
    def unload_module(module: int) -> None:
        cuModuleUnload(module)  # which fails where the context is no more

    @staticmethod
    def cuOccupancyMaxActiveClusters(kernel: int, shared: int, size: int) -> int:
        """How many clusters of `size` blocks the device runs at once."""
        _set_attribute(kernel, "MAX_DYNAMIC_SHARED_SIZE_BYTES", shared)
        config = CUlaunchConfig(
            gridDimX=size, gridDimY=1, gridDimZ=1, blockDimX=128, blockDimY=1, blockDimZ=1
        )
        config.sharedMemBytes, config.attrs, config.numAttrs = shared, [_cluster(size)], 1
        return checked.cuOccupancyMaxActiveClusters(kernel, config)

    def set_printf_fifo_size(self, size: int) -> None:
        self.get_current_device()  # there is a context
        limit = CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE
        if checked.cuCtxGetLimit(limit) != size:  # fixed once a kernel has printed
            checked.cuCtxSetLimit(limit, size)

    @staticmethod
    def fill_tma_descriptor_tiled(
        address: int, swizzle: int, width: int, kind: int, box: Any, shape: Any, strides: Any, padding: int
    ) -> bytes:
        """A tensor map, of elements of `width` bytes. Sizes and strides are those of `shape`, in elements."""
        sizes, steps = list(shape)[::-1], [width * stride for stride in list(strides)[-2::-1]]
        how = 0, swizzle, 2, padding  # no interleaving, L2 promotion of 128 bytes
        tensor = kind, len(sizes), address, sizes, steps or [16]
        made = bytes(checked.cuTensorMapEncodeTiled(*tensor, list(box)[::-1], [1] * len(sizes), *how))
        words = list(struct.unpack("16Q", made))
        end = sum((size - 1) * step for size, step in zip(sizes, [width, *steps], strict=True)) + 1
        if end < 128 << 10 and words[0] == address and checked.cuDriverGetVersion() <= 13010:
            words[1] &= ~(1 << 21)  # wrong for small tensors in these drivers: as Triton and CUTLASS do
        return struct.pack("16Q", *words)

    fill_tma_descriptor = fill_tma_descriptor_tiled  # of Triton 3.6

    @staticmethod
    def fill_tma_descriptor_im2col(
        address: int, swizzle: int, width: int, kind: int, box: Any, shape: Any, strides: Any, *how: Any
    ) -> bytes:
        """A tensor map for windows of pixels. box: pixels, channels. how: padding, corners, steps."""
        sizes, steps = list(shape)[::-1], [width * stride for stride in list(strides)[-2::-1]]
        lower, upper, every = (list(each)[::-1] for each in how[1:])
        tensor = kind, len(sizes), address, sizes, steps, lower, upper, box[1], box[0], every
        return bytes(checked.cuTensorMapEncodeIm2col(*tensor, 0, swizzle, 2, how[0]))

    @staticmethod
    def get_benchmarker() -> Any:
        from triton.testing import do_bench

        return do_bench

    @staticmethod
    def get_device_interface() -> Any:
        """torch.cuda, or what benchmarks need of it."""
        torch = _torch()
        return torch.cuda if torch else SimpleNamespace(Event=_Event, synchronize=lambda: Device().sync())

    def get_empty_cache_for_benchmark(self) -> Buffer:
        return Device().allocate(2 * _attribute("L2_CACHE_SIZE", self.get_current_device()))

    @staticmethod
    def clear_cache(cache: Buffer) -> None:
        cache.fill(b"\0", stream=_current_stream())

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", self.get_current_device())

    @staticmethod
    def map_python_to_cpp_type(kind: str) -> Any:
        from triton.backends.nvidia.driver import ty_to_cpp

        return ty_to_cpp(kind)
