"""Devices: where everything starts."""

from __future__ import annotations

import re
import threading
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import ref

from ... import driver
from ..._ffi.integers import exact_int
from ..._ffi.library import SymbolNotFound
from ..._ffi.shown import shown, type_name
from ..._ffi.status_calls import SIGNED, Goes, InSlot, OfThread, Same, give_class_lane, give_lane
from ..._process import forks
from ..._process.interrupt_safe import unchecked_entry
from ..._process.resets import in_reset
from ...driver import CUcontext, checked
from ..context.context import Context, primaries, primary
from ..context.current import c_function, current_context, initialise, number_lane, started, with_context
from ..memory.buffer import Buffer
from ..memory.device import DeviceMemoryResource
from ..memory.host_arrays import contiguous
from ..memory.legacy import SynchronousMemoryResource
from ..memory.resource import MemoryResource
from ..ownership.deferred import deferred
from ..streams import event, stream
from ..streams.event import Event
from ..streams.event_options import EventOptions
from ..streams.stream import IsStreamType, Stream, StreamOptions, default_stream
from ..streams.waiting import wait
from ..upward import upward
from .properties import DeviceProperties
from .scope import Block, leave

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..context.resources import ContextOptions, DeviceResources
    from ..graph.builder import GraphBuilder
    from ..modules import system
    from ..textures.array import OpaqueArray, OpaqueArrayOptions
    from ..textures.mipmapped_array import MipmappedArray, MipmappedArrayOptions
    from ..textures.resource import ResourceDescriptor
    from ..textures.surface import SurfaceObject
    from ..textures.texture import TextureObject, TextureObjectOptions

T = TypeVar("T")
Self = TypeVar("Self", bound="Device")

__all__ = ["ComputeCapability", "Device", "DeviceProperties"]


_set_current = checked.cuCtxSetCurrent


class ComputeCapability(NamedTuple):
    """The version of a device's instruction set and features: (9, 0) is a Hopper."""

    major: int
    minor: int


class _Devices(threading.local):
    """The devices of the calling thread, by ordinal."""

    def __init__(self) -> None:
        self.known: dict[int, Device] = {}


_MOST = 64
_devices = _Devices()
_of_main_thread = OfThread(lambda ordinal: Device._of(ordinal), _MOST)


@forks.in_child
def _know_none() -> None:
    """What is asked for says then that CUDA cannot be used here."""
    _devices.known.clear()
    _of_main_thread.clear()


_all: list[ref[Device]] = []
"""The devices of all threads."""


@in_reset
def _forget() -> None:
    """What was made on the devices is no more."""
    for reference in list(_all):
        device = reference()
        if device is not None:
            device._keep(None)
            device._memory_resource = None


class Device:
    """A GPU: `Device(1)` is the one with ordinal 1, `Device()` the current one, or 0 if none is current.

    Each thread has one Device for each ordinal: `Device(0) is Device(0)`. Creating it initializes CUDA but
    no context; call `set_current()` in each thread that launches kernels.
    `with Device(1):` makes it current for a block, and restores what was current before.

    Raises ValueError for an ordinal that does not exist, pathfinder.LibraryNotFound without a driver,
    CUDAError in a process forked from one that has used CUDA.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_context",
        "_current",
        "_device_id",
        "_memory_resource",
        "_number",
    )
    _device_id: int
    _context: Context | None
    _current: CUcontext | None  # of the context, if that is the primary one,
    _number: int  # and its number
    _memory_resource: MemoryResource | None

    def __new__(cls, device_id: Device | int | None = None) -> Device:
        if type(device_id) is int:
            ordinal = device_id
        elif device_id is None:
            if not started:
                initialise()
            ordinal = _current_ordinal()
        else:
            ordinal = device_id._device_id if isinstance(device_id, Device) else _ordinal(device_id)
        return cls._of(ordinal)

    @classmethod
    def _of(cls, ordinal: int) -> Device:
        """The device with this ordinal, for this thread."""
        try:
            return _devices.known[ordinal]
        except KeyError:
            return cls._new(ordinal)

    @classmethod
    def _new(cls, ordinal: int) -> Device:
        """The device with this ordinal, for this thread."""
        initialise()
        _give_lanes()
        count = checked.cuDeviceGetCount()
        if not 0 <= ordinal < count:
            raise ValueError(f"there is no device {ordinal}: this machine has {count}, counted from 0")
        self = super().__new__(cls)
        self._device_id = ordinal
        self._context = self._current = None
        self._memory_resource = None
        _all.append(ref(self, _all.remove))
        _devices.known[ordinal] = self
        if cls is Device and threading.current_thread() is threading.main_thread():
            _of_main_thread.keep(ordinal, self)
        return self

    @classmethod
    def get_all_devices(cls) -> tuple[Device, ...]:
        """All devices visible to this process. Source: cuDeviceGetCount."""
        initialise()
        return tuple(cls(ordinal) for ordinal in range(checked.cuDeviceGetCount()))

    # -- what it is -------------------------------------------------------------------------------

    @property
    def device_id(self) -> int:
        """The ordinal, counted from 0 among the devices that CUDA_VISIBLE_DEVICES exposes."""
        return self._device_id

    @cached_property
    def name(self) -> str:
        """The name, e.g. "NVIDIA H200". Source: cuDeviceGetName."""
        return _text(checked.cuDeviceGetName(256, self._device_id))

    @cached_property
    def uuid(self) -> str:
        """Its identity, the same on every start, as 8-4-4-4-12 hexadecimal digits.

        Source: cuDeviceGetUuid.
        """
        digits = bytes(checked.cuDeviceGetUuid(self._device_id).bytes).hex()
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def to_system_device(self) -> system.Device:
        """The same device, or MIG instance, for NVML. Raises NvmlError if NVML does not have it."""
        from ...nvml import NotFoundError
        from ..management.device import Device as SystemDevice

        try:
            return SystemDevice(uuid=f"GPU-{self.uuid}")
        except NotFoundError:
            return SystemDevice(uuid=f"MIG-{self.uuid}")

    @cached_property
    def pci_bus_id(self) -> str:
        """The PCI address, as domain:bus:device.function. Source: cuDeviceGetPCIBusId."""
        return _text(checked.cuDeviceGetPCIBusId(16, self._device_id))

    @cached_property
    def total_memory(self) -> int:
        """The size of its memory in bytes. Source: cuDeviceTotalMem."""
        return checked.cuDeviceTotalMem(self._device_id)

    @cached_property
    def compute_capability(self) -> ComputeCapability:
        """The version of its instruction set and features."""
        properties = self.properties
        return ComputeCapability(properties.compute_capability_major, properties.compute_capability_minor)

    @property
    def arch(self) -> str:
        """The compute capability as in `sm_90`: "90"."""
        return f"{self.compute_capability.major}{self.compute_capability.minor}"

    @cached_property
    def properties(self) -> DeviceProperties:
        """The attributes, e.g. `properties.multiprocessor_count`."""
        return DeviceProperties(self._device_id)

    def can_access_peer(self, peer: Device | int) -> bool:
        """Whether its kernels can be given access to the memory of `peer`. Source: cuDeviceCanAccessPeer."""
        return bool(checked.cuDeviceCanAccessPeer(self._device_id, int(Device(peer))))

    # -- its context ------------------------------------------------------------------------------

    def set_current(self, ctx: Context | None = None) -> Context | None:
        """Make this device the current one of the calling thread, with its primary context or with `ctx`.

        Returns the context that was current before, if `ctx` was given and there was one.
        Source: cuDevicePrimaryCtxRetain, cuCtxSetCurrent.
        """
        if ctx is None:
            context = primaries.get(self._device_id) or primary(self._device_id)
            if self._context is context:
                _set_current(context._handle)
            else:
                self._make_current(context)
            return None
        if not isinstance(ctx, Context):
            raise TypeError(f"set_current() takes a Context, not {type_name(ctx)}")
        if ctx.device != self:
            raise ValueError(f"set_current: {ctx!r} is a context of {ctx.device!r}, not of {self!r}")
        before = current_context()
        previous = Context._of(before) if before else None
        self._make_current(Context._of(ctx._handle.value))  # which nobody else closes
        return previous

    def _make_current(self, context: Context) -> None:
        """Keep a green context while it is current, also if this is interrupted."""
        before = self._context
        self._keep(context)
        try:
            _set_current(context._handle)
        except BaseException:
            if current_context() != context._handle.value:
                self._keep(before)
            raise

    def _keep(self, context: Context | None) -> None:
        """Have this context, with what machine code reads of it, if it is the primary one, which stays."""
        self._current = None
        self._context = context
        if context is not None and context is primaries.get(self._device_id):
            self._number = context._handle.value
            self._current = context._handle

    def __enter__(self: Self) -> Self:
        """Make the device current as `set_current()` does; the end of the block restores what was before."""
        context, block = primary(self._device_id), Block(self._device_id)
        try:
            block.begin(int(context._handle))
            self._keep(context)
            return self
        except BaseException:  # interrupted before or after, or refused
            leave(self._device_id, block)
            raise

    @unchecked_entry
    def __exit__(self, *exception: object) -> None:
        try:
            leave(self._device_id)
        except BaseException:  # the `try`: see interrupt_safe
            raise

    @property
    def context(self) -> Context:
        """The context that the calling thread uses of this device: the current one, if it is of this device;
        else that of the last `set_current`, or the primary context.
        """
        return Context._of(self._in_context(_context))

    @property
    def resources(self) -> DeviceResources:
        """The resources for green contexts: multiprocessors, workqueues."""
        from ..context.resources import device_resources

        return device_resources(self._device_id)

    def create_context(self, options: ContextOptions | Mapping[str, Any] | None = None) -> Context:
        """Create a green context with `options.resources` of the device. It is not made current.

        Its streams (`context.create_stream()`) run in parallel with contexts on other multiprocessors.
        ValueError without options, and for resources of another device. Source: cuDevResourceGenerateDesc,
        cuGreenCtxCreate (CUDA 12.4).
        """
        from .green_context import create_green_context

        return create_green_context(self._device_id, options)

    def _in_context(self, function: Callable[..., T], *args: Any) -> T:
        """`function(context, *args)` with a context of this device current, the caller's one if it is one."""
        current = current_context()
        mine = self._context
        if mine is not None and mine._handle.value == current:
            return function(current, *args)
        if current and checked.cuCtxGetDevice().value == self._device_id:
            return function(current, *args)
        context = int((mine or primary(self._device_id))._handle)
        return with_context(context, function, context, *args)

    def sync(self) -> None:
        """Wait until all work of all streams of the device has run; Ctrl-C ends the wait.

        Source: cuCtxSynchronize; cuCtxRecordEvent (CUDA 12.5 and newer), without which it does not.
        """
        self._in_context(_synchronize)
        deferred.drain()

    # -- what it makes ----------------------------------------------------------------------------

    def create_stream(
        self,
        obj: IsStreamType | StreamOptions | None = None,
        options: StreamOptions | Mapping[str, Any] | None = None,
    ) -> Stream:
        """Create a stream; with `obj`, which has `__cuda_stream__`, wrap the stream that it stands for."""
        if isinstance(obj, StreamOptions):
            options = obj
        elif obj is not None:
            if options is not None:
                raise ValueError("create_stream: options are for a new stream, and obj stands for an old one")
            return Stream._accept(obj)
        current, mine = current_context(), self._context
        if mine is not None and mine._handle.value == current:
            return Stream._new(current, options)
        return self._in_context(Stream._new, options)

    def create_event(self, options: EventOptions | Mapping[str, Any] | None = None) -> Event:
        """Create an event, to be recorded with `stream.record(event)`."""
        current, mine = current_context(), self._context
        if mine is not None and mine._handle.value == current:
            return Event._new(current, options)
        return self._in_context(Event._new, options)

    def create_graph_builder(self) -> GraphBuilder:
        """Create a graph builder in a stream of its own."""
        return self.create_stream().create_graph_builder()

    def create_opaque_array(self, options: OpaqueArrayOptions | Mapping[str, Any]) -> OpaqueArray:
        """Create an array for textures and surfaces. Source: cuArray3DCreate."""
        from ..textures.array import OpaqueArray

        return self._in_context(OpaqueArray._new, options)

    def create_mipmapped_array(self, options: MipmappedArrayOptions | Mapping[str, Any]) -> MipmappedArray:
        """Create an array with several mipmap levels. Source: cuMipmappedArrayCreate."""
        from ..textures.mipmapped_array import MipmappedArray

        return self._in_context(MipmappedArray._new, options)

    def create_texture_object(
        self,
        *,
        resource: ResourceDescriptor,
        options: TextureObjectOptions | Mapping[str, Any] | None = None,
    ) -> TextureObject:
        """Create a texture of an array or a Buffer for kernels to sample. options: None for the defaults.

        Raises ValueError for options that do not fit the elements, such as a linear filter of integers.
        Source: cuTexObjectCreate.
        """
        from ..textures.texture import TextureObject

        return self._in_context(TextureObject._new, resource, options)

    def create_surface_object(self, *, resource: ResourceDescriptor) -> SurfaceObject:
        """Create a surface of an OpaqueArray for kernels to read and write.

        Raises ValueError for an array created without `is_surface_load_store`.
        Source: cuSurfObjectCreate.
        """
        from ..textures.surface import SurfaceObject

        return self._in_context(SurfaceObject._new, resource)

    def allocate(self, size: int, stream: Stream | IsStreamType | None = None) -> Buffer:
        """Allocate `size` bytes on the device, for later work in `stream` (None: the default stream)."""
        if stream is None:  # which is the device's own: that of a context of it
            current, mine = current_context(), self._context
            if mine is None or mine._handle.value != current:
                return self._in_context(self._allocate, size)
        return (self._memory_resource or self.memory_resource).allocate(size, stream=stream)

    def _allocate(self, context: int, size: int) -> Buffer:
        return self.memory_resource.allocate(size, stream=None)

    def upload(self, array: Any, stream: Stream | IsStreamType | None = None) -> Buffer:
        """Allocate a Buffer of the size of `array`, and copy it there in `stream`.

        stream: None for the default stream, which is waited for: others may use the Buffer at once.
        array: a host array (numpy, bytes), whose elements arrive in C order; one with another order is copied
        first. It is kept alive until the copy is done. `Buffer.download` is the way back. Raises TypeError
        for what is not an array, such as a list. Source: cuMemAllocFromPoolAsync, cuMemcpyHtoDAsync.
        """
        host, size = contiguous(array)
        if stream is None:
            return self._in_context(self._upload, host, size)
        return self._upload(0, host, size, stream)

    def _upload(
        self, context: int, host: Any, size: int, stream: Stream | IsStreamType | None = None
    ) -> Buffer:
        buffer = self.allocate(size, stream)
        try:
            buffer.copy_from(host, stream=stream)
            if stream is None:
                self.default_stream.sync()
        except BaseException:
            buffer.close()
            raise
        return buffer

    @property
    def memory_resource(self) -> MemoryResource:
        """The resource that `allocate` uses; can be assigned.

        By default the device's default pool, if it supports pools.
        """
        if self._memory_resource is None:
            pools = self.properties.memory_pools_supported
            make = DeviceMemoryResource if pools else SynchronousMemoryResource
            self._memory_resource = make(self._device_id)
        return self._memory_resource

    @memory_resource.setter
    def memory_resource(self, resource: MemoryResource) -> None:
        if not isinstance(resource, MemoryResource):
            raise TypeError(f"memory_resource must be a MemoryResource, not {type_name(resource)}")
        self._memory_resource = resource

    @property
    def default_stream(self) -> Stream:
        """The default stream."""
        return default_stream()

    def __int__(self) -> int:
        return self._device_id

    def __eq__(self, other: object) -> bool:  # each thread has an object of its own
        return self._device_id == other._device_id if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._device_id)

    def __reduce__(self) -> tuple[Any, ...]:
        return Device, (self._device_id,)

    def __repr__(self) -> str:
        return f"<Device {self._device_id} ({self.name})>"

    def _repr_html_(self) -> str:
        from ..html_tables import html_table, memory_size

        capability = self.compute_capability
        rows = (
            ("compute capability", f"{capability.major}.{capability.minor}"),
            ("multiprocessors", self.properties.multiprocessor_count),
            ("memory", memory_size(self.total_memory)),
            ("PCI bus", self.pci_bus_id),
        )
        return html_table(f"Device {self._device_id}: {self.name}", rows)


upward.device = Device


def _ordinal(device_id: Any) -> int:
    """The number of a device. Raises TypeError for what is none."""
    try:
        return exact_int(device_id, "Device: device_id")
    except TypeError:
        number = re.fullmatch(r"(?:cuda|gpu):?(\d+)", device_id) if isinstance(device_id, str) else None
        instead = f": write Device({number[1]})" if number else ""
        raise TypeError(
            f"Device: device_id must be the number of a device, not {shown(device_id)}{instead}"
        ) from None


@cache
def _give_lanes() -> None:
    """Have the usual calls of a Device made without a step of Python, where that is possible."""
    new: Any = Device.__dict__["__new__"].__func__

    def not_told(status: int, *_: object) -> Device:
        if not started:
            initialise()
        return Device(_no_ordinal(status))

    def not_set(status: int, device: Device, *_: None) -> None:
        arguments = {"ctx": device._current}
        raise driver.libcuda.error("cuCtxSetCurrent", driver.CUresult(status), arguments)

    current, gives = InSlot(Device, "_current", CUcontext), (0, "of thread", _of_main_thread)
    ordinal = (0, Same(Device)), (0, SIGNED)
    give_lane(new, None, ordinal, not_told, gives=(1, "of thread", _of_main_thread))
    takes = [(0, Same(Device))]
    give_lane(new, c_function("cuCtxGetDevice"), takes, not_told, gives=gives, optional=1, more=True)
    give_class_lane(Device)
    give_lane(Device.set_current, c_function("cuCtxSetCurrent"), [(0, current)], not_set, optional=1)
    number = Goes("_context", InSlot(Device, "_number", int))
    event.give_lane_of_default(Device.create_event, current, number)
    stream.give_lane_of_default(Device.create_stream, current, number)


def _current_ordinal() -> int:
    number_lane(_current_ordinal, "cuCtxGetDevice", "signed 4", _no_ordinal)
    status, device = driver.cuCtxGetDevice()
    return _no_ordinal(status) if status else int(device)


def _no_ordinal(status: int) -> int:
    """That of the device that is taken where no context is current. Raises CUDAError for another failure."""
    if status == driver.CUresult.CUDA_ERROR_INVALID_CONTEXT and not current_context():
        return 0
    raise driver.libcuda.error("cuCtxGetDevice", driver.CUresult(status), {})


def _context(context: int) -> int:
    return context


def _synchronize(context: int) -> None:
    """cuCtxSynchronize, which cannot be interrupted, after the wait for an event that stands for all work."""
    with Event._new(context, None) as end:
        try:
            (refused,) = driver.cuCtxRecordEvent(context, end._handle)
            if not refused:
                wait(driver.cuEventQuery, id, end._handle)
        except SymbolNotFound:
            pass
    checked.cuCtxSynchronize()


def _text(padded: bytes) -> str:
    return padded.split(b"\0")[0].decode()
