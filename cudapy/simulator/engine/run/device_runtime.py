"""libcudadevrt: what kernels launch, and the part of the Runtime API that they have.

Streams and events of kernels order what is in order already: see `children.py`.

Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"; cuda_device_runtime_api.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..access import WRITE, accessed, put
from .arguments import assembled, function_number, give
from .children import DEFAULT, ChildGrid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..aliases import U8, Dim3, Lanes
    from ..compile.function import CompiledFunction
    from ..compile.graph import Block
    from ..device import Device
    from ..module import Function
    from .batch import Batch
    from .frame import Frame

SUCCESS, INVALID_VALUE, OUT_OF_MEMORY = 0, 1, 2
INVALID_CONFIGURATION, INVALID_DIRECTION, UNSUPPORTED_LIMIT = 9, 21, 42
LAUNCH_PENDING_COUNT_EXCEEDED, INVALID_FUNCTION, INVALID_DEVICE, INVALID_HANDLE = 69, 98, 101, 400
"""cudaError_t"""
_NON_BLOCKING = 1
_DISABLE_TIMING = 2
_DIRECTIONS = (3, 4)
"""cudaMemcpyKind: from device to device, or as the addresses say."""


class _Thread:
    """One thread that calls."""

    def __init__(self, batch: Batch, lane: int, number: int) -> None:
        self.batch, self.device, self.children = batch, batch.device, batch.launch.children
        self._lane, self._number = lane, number

    def failed(self, status: int) -> int:
        """The status, which is the thread's last error if it is one."""
        if status:
            self.batch.errors[self._lane] = status
        return status

    def last_error(self, forget: bool) -> int:
        errors = self.batch.errors
        return errors.pop(self._lane, SUCCESS) if forget else errors.get(self._lane, SUCCESS)

    def text(self, error: int, which: int) -> int:
        """The address of the name (0) of a cudaError_t, or of what it means (1)."""
        return self.device.text(self.device.answers.error(error)[which])

    def store(self, address: int, value: int, code: str) -> None:
        """Write a result where the caller wants it. Raises Fault."""
        access = accessed(np.dtype(code), 1, self._number, WRITE)
        array, index = self.batch.spaces.at(
            "generic", np.array([address], np.uint64), access, np.array([self._lane])
        )
        put(array, index, np.array([value]).astype(code))

    def function(self, address: int) -> Function | None:
        """A kernel of the module by its address."""
        module = self.batch.launch.kernel.module
        return module.functions.get(module.function_at(address) or "")


# Launches. A buffer of 0 is an error that the launch, which is left out then, would have returned.


def _buffer_of_launch(thread: _Thread, address: int, grid: Dim3, block: Dim3, shared_size: int) -> int:
    """cudaGetParameterBufferV2"""
    function = thread.function(address)
    status = _refusal(thread, function, grid, block, shared_size)
    if status or function is None:
        thread.failed(status)
        return 0
    return thread.children.buffer(function, grid, block, shared_size, function.kernel.parameter_size)


def _refusal(thread: _Thread, function: Function | None, grid: Dim3, block: Dim3, shared_size: int) -> int:
    """Why a launch is not possible: a cudaError_t."""
    if function is None:
        return INVALID_FUNCTION
    if thread.children.pending >= thread.device.pending_launches:
        return LAUNCH_PENDING_COUNT_EXCEEDED
    return thread.device.answers.refusal(function, grid, block, shared_size)


def _launch(thread: _Thread, buffer: int, stream: int) -> int:
    """cudaLaunchDeviceV2"""
    buffer_with_content = thread.children.take_buffer(buffer)
    if buffer_with_content is None or buffer_with_content[0].function is None:
        return thread.failed(INVALID_VALUE)
    launch_buffer, content = buffer_with_content
    assert launch_buffer.function is not None
    child = ChildGrid(
        launch_buffer.function, launch_buffer.grid, launch_buffer.block, launch_buffer.shared_size, content
    )
    return SUCCESS if thread.children.queue(stream, child) else thread.failed(INVALID_HANDLE)


def _buffer_of_size(thread: _Thread, align: int, size: int) -> int:
    """cudaGetParameterBuffer"""
    if thread.children.pending >= thread.device.pending_launches:
        thread.failed(LAUNCH_PENDING_COUNT_EXCEEDED)
        return 0
    if align > 256 or size > 1 << 16:
        thread.failed(INVALID_VALUE)
        return 0
    return thread.children.buffer(None, (1, 1, 1), (1, 1, 1), 0, size)


def _launch_all_told(
    thread: _Thread, address: int, buffer: int, grid: Dim3, block: Dim3, shared_size: int, stream: int
) -> int:
    """cudaLaunchDevice"""
    content = b""
    if buffer:
        taken = thread.children.take_buffer(buffer)
        if taken is None:
            return thread.failed(INVALID_VALUE)
        content = taken[1]
    function = thread.function(address)
    status = _refusal(thread, function, grid, block, shared_size)
    if status or function is None:
        return thread.failed(status)
    if len(content) < function.kernel.parameter_size:
        return thread.failed(INVALID_VALUE)
    child = ChildGrid(function, grid, block, shared_size, content)
    return SUCCESS if thread.children.queue(stream, child) else thread.failed(INVALID_HANDLE)


# Copies and fills.


def _copy(thread: _Thread, target: int, source: int, size: int, kind: int, stream: int) -> int:
    """cudaMemcpyAsync"""
    return _copy_rows(thread, target, size, source, size, size, 1, kind, stream)


def _copy_rows(
    thread: _Thread,
    target: int,
    target_pitch: int,
    source: int,
    source_pitch: int,
    width: int,
    height: int,
    kind: int,
    stream: int,
) -> int:
    """cudaMemcpy2DAsync"""
    if kind not in _DIRECTIONS:
        return thread.failed(INVALID_DIRECTION)
    targets = _rows(thread.device, target, target_pitch, width, height)
    sources = _rows(thread.device, source, source_pitch, width, height)
    if targets is None or sources is None:
        return thread.failed(INVALID_VALUE)

    def copy() -> None:
        targets.put(sources.raw_bytes.copy())

    return SUCCESS if thread.children.queue(stream, copy) else thread.failed(INVALID_HANDLE)


def _fill(thread: _Thread, target: int, value: int, size: int, stream: int) -> int:
    """cudaMemsetAsync"""
    return _fill_rows(thread, target, size, value, size, 1, stream)


def _fill_rows(
    thread: _Thread, target: int, pitch: int, value: int, width: int, height: int, stream: int
) -> int:
    """cudaMemset2DAsync"""
    rows = _rows(thread.device, target, pitch, width, height)
    if rows is None:
        return thread.failed(INVALID_VALUE)

    def fill() -> None:
        rows.put(value & 0xFF)

    return SUCCESS if thread.children.queue(stream, fill) else thread.failed(INVALID_HANDLE)


class _Rows(NamedTuple):
    """Rows of memory."""

    raw_bytes: U8
    undefined: U8 | None

    def put(self, values: U8 | int) -> None:
        self.raw_bytes[:] = values
        if self.undefined is not None:
            self.undefined[:] = 0


def _rows(device: Device, address: int, pitch: int, width: int, height: int) -> _Rows | None:
    """Rows of memory, or None where there is not that much, or no access to it."""
    if not width or not height:
        return _Rows(np.empty((0, 0), np.uint8), None)
    allocation = device.memory.find(address)
    if (
        allocation is None
        or allocation.team is not None
        or (allocation.reach is not None and not allocation.reach(device.origin))
        or width > pitch
        or address + (height - 1) * pitch + width > allocation.end
    ):
        return None
    start, shape, strides = address - allocation.address, (height, width), (pitch, 1)
    raw_bytes = as_strided(allocation.data[start:], shape, strides)
    bits = allocation.undefined
    return _Rows(raw_bytes, None if bits is None else as_strided(bits.seen()[start:], shape, strides))


# Memory, streams, events, and what the device is asked.


def _allocate(thread: _Thread, place: int, size: int) -> int:
    """cudaMalloc"""
    address = thread.device.heap_allocate(size)
    if not address:
        return thread.failed(OUT_OF_MEMORY)
    thread.store(place, address, "u8")
    return SUCCESS


def _free(thread: _Thread, address: int) -> int:
    """cudaFree"""
    is_known = not address or thread.device.heap_free(address)
    return SUCCESS if is_known else thread.failed(INVALID_VALUE)


def _create(wanted: int, thread: _Thread, place: int, flags: int) -> int:
    """A stream or an event, which kernels only make with the flags `wanted`."""
    if flags != wanted:
        return thread.failed(INVALID_VALUE)
    thread.store(place, thread.children.handle(), "u8")
    return SUCCESS


def _known(thread: _Thread, *handles: int) -> int:
    """Of streams and events: whether they are some."""
    known = all(handle in DEFAULT or thread.children.is_handle(handle) for handle in handles)
    return SUCCESS if known else thread.failed(INVALID_HANDLE)


def _told(thread: _Thread, place: int, value: int | None, status: int, code: str = "i4") -> int:
    """What was asked for, stored; `status` if there is no such thing."""
    if value is None:
        return thread.failed(status)
    thread.store(place, value, code)
    return SUCCESS


def _attribute(thread: _Thread, place: int, name: int, device: int) -> int:
    """cudaDeviceGetAttribute"""
    answers = thread.device.answers
    if device != answers.ordinal:
        return thread.failed(INVALID_DEVICE)
    return _told(thread, place, answers.attribute(name), INVALID_VALUE)


def _occupancy(thread: _Thread, place: int, address: int, threads: int, shared_size: int) -> int:
    """cudaOccupancyMaxActiveBlocksPerMultiprocessor"""
    function = thread.function(address)
    if function is None:
        return thread.failed(INVALID_FUNCTION)
    return _told(
        thread, place, thread.device.answers.occupancy(function, threads, shared_size), INVALID_VALUE
    )


class Service(NamedTuple):
    """What the device does for a call."""

    takes: int
    """How many arguments."""
    act: Callable[[Batch, CompiledFunction, Block, Frame, Lanes], None]


@dataclass(frozen=True)
class _Function:
    sizes: str
    """Of its arguments, in bytes; 12 are those of a dim3."""
    result: str
    act: Callable[..., int]

    def __call__(
        self, batch: Batch, function: CompiledFunction, block: Block, frame: Frame, lanes: Lanes
    ) -> None:
        number = function_number(function, block)
        numbers = batch.threads.numbers(lanes).tolist()
        columns = [
            self._column(function, frame, name, int(size), lanes, len(numbers))
            for name, size in zip(block.info.arguments, self.sizes.split(), strict=True)
        ]
        results = [
            self.act(_Thread(batch, lane, number), *(next(column) for column in columns)) for lane in numbers
        ]
        give(function, block, frame, lanes, np.array(results, self.result))

    @staticmethod
    def _column(
        function: CompiledFunction, frame: Frame, name: str, size: int, lanes: Lanes, count: int
    ) -> Iterator[Any]:
        """An argument of each lane: a number, or the three of a dim3."""
        have = function.param_slots.get(name, {})
        width = 4 if size == 12 else size
        parts = [
            np.broadcast_to(assembled(function, frame, name, have, offset, width, lanes), count).tolist()
            for offset in range(0, size, width)
        ]
        return zip(*parts, strict=True) if size == 12 else iter(parts[0])


_FUNCTIONS = {
    "GetParameterBufferV2": _Function("8 12 12 4", "u8", _buffer_of_launch),
    "LaunchDeviceV2": _Function("8 8", "u4", _launch),
    "GetParameterBuffer": _Function("8 8", "u8", _buffer_of_size),
    "LaunchDevice": _Function("8 8 12 12 4 8", "u4", _launch_all_told),
    "GetLastError": _Function("", "u4", lambda thread: thread.last_error(True)),
    "PeekAtLastError": _Function("", "u4", lambda thread: thread.last_error(False)),
    "GetErrorName": _Function("4", "u8", lambda thread, error: thread.text(error, 0)),
    "GetErrorString": _Function("4", "u8", lambda thread, error: thread.text(error, 1)),
    "Malloc": _Function("8 8", "u4", _allocate),
    "Free": _Function("8", "u4", _free),
    "MemcpyAsync": _Function("8 8 8 4 8", "u4", _copy),
    "Memcpy2DAsync": _Function("8 8 8 8 8 8 4 8", "u4", _copy_rows),
    "MemsetAsync": _Function("8 4 8 8", "u4", _fill),
    "Memset2DAsync": _Function("8 8 4 8 8 8", "u4", _fill_rows),
    "StreamCreateWithFlags": _Function("8 4", "u4", partial(_create, _NON_BLOCKING)),
    "StreamDestroy": _Function("8", "u4", _known),
    "StreamWaitEvent": _Function("8 8 4", "u4", lambda thread, *arguments: _known(thread, *arguments[:2])),
    "EventCreateWithFlags": _Function("8 4", "u4", partial(_create, _DISABLE_TIMING)),
    "EventRecord": _Function("8 8", "u4", _known),
    "EventRecordWithFlags": _Function(
        "8 8 4", "u4", lambda thread, *arguments: _known(thread, *arguments[:2])
    ),
    "EventDestroy": _Function("8", "u4", _known),
    "DeviceGetAttribute": _Function("8 4 4", "u4", _attribute),
    "DeviceGetLimit": _Function(
        "8 4",
        "u4",
        lambda thread, place, name: _told(
            thread, place, thread.device.answers.limit(name), UNSUPPORTED_LIMIT, "u8"
        ),
    ),
    "GetDevice": _Function("8", "u4", lambda t, place: _told(t, place, t.device.answers.ordinal, 0)),
    "GetDeviceCount": _Function("8", "u4", lambda t, place: _told(t, place, t.device.answers.devices, 0)),
    "RuntimeGetVersion": _Function("8", "u4", lambda t, place: _told(t, place, t.device.answers.version, 0)),
    "GraphLaunch": _Function("8 8", "u4", lambda t, *what: t.failed(t.device.answers.launch_graph(*what))),
    "OccupancyMaxActiveBlocksPerMultiprocessor": _Function("8 8 4 8", "u4", _occupancy),
    "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags": _Function(
        "8 8 4 8 4", "u4", lambda *arguments: _occupancy(*arguments[:-1])
    ),
}
_OF_THREADS = (
    *("LaunchDevice", "LaunchDeviceV2", "MemcpyAsync", "Memcpy2DAsync", "MemsetAsync", "Memset2DAsync"),
    *("StreamWaitEvent", "EventRecord", "EventRecordWithFlags"),
)
"""The functions with a form for programs whose default stream is that of the thread."""

DEVICE_RUNTIME: dict[str, Service] = {
    f"{prefix}{name}{suffix}": Service(len(function.sizes.split()), function)
    for prefix in ("cuda", "__cudaCDP2")
    for name, function in _FUNCTIONS.items()
    for suffix in (("", "_ptsz") if name in _OF_THREADS else ("",))
}
"""By the names that they have in the library, of old and of today."""
