"""Bulk copies of tensors: boxes, or windows of pixels, between global and shared memory.

Source: PTX ISA, "Tensors", "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import fault
from ..access import ATOMIC, READ, VERBS, WRITE, accessed, put
from ..ptx.types import TYPES
from ..tensor_map import SIZE, TensorMap, refusal, replaced
from .bulk import combine

if TYPE_CHECKING:
    from ..access import Places
    from ..aliases import I32, I64, U64, Array, Bools, DType, Lanes
    from ..instructions.forms import TensorCopy
    from .bulk import Bulk
    from .report import Reporter
    from .spaces import Spaces

_BYTE = np.dtype("u1")
_ALIGN = 128
_PART = 16
"""Bytes that are moved together."""
_MAP_ALIGN = 64
_NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FFFFFFFFFFFFFFF}


class Tensors:
    """The copies of tensors of a batch."""

    def __init__(self, report: Reporter, spaces: Spaces, bulk: Bulk) -> None:
        self._report, self._spaces, self._bulk = report, spaces, bulk
        self._global, self._shared = spaces.global_memory, spaces.shared

    def copy(
        self,
        form: TensorCopy,
        lanes: Lanes,
        number: int,
        *,
        tensor: U64,
        coordinates: tuple[I32, ...],
        offsets: tuple[Array, ...] | None,
        shared: U64,
        barrier: U64 | None,
        mask: Array | None,
    ) -> None:
        """cp.async.bulk.tensor and cp.reduce.async.bulk.tensor, lane after lane.

        tensor: the address of the tensor map; shared: that of the box in shared memory.
        offsets: of windows of pixels how far each is from its first pixel; None for boxes.
        """
        if form.zeros:
            offsets = (np.zeros((), np.uint16),) * form.zeros
        signed = [one.view(np.int32) for one in coordinates]
        count = len(signed)
        operands = (tensor, shared, barrier, mask, *signed, *(offsets or ()))
        for lane, at, place, word, ranks, *where in self._bulk.each(lanes, *operands):
            described = self._tensor_map(lane, at, count, offsets is not None, number)
            self._check_alignment(described, where[0], lane, number)
            if offsets is None:
                if form.target == "global":
                    self._check_corner(where, lane, number)
                places, inside = box(described, where)
            else:
                places, inside = windows(described, where[:count], where[count:])
            size = TYPES[described.kind].size
            dtype = np.dtype(f"u{size}")
            self._check_swizzle(described, lane, number)
            moved = places.size * size
            if form.source == "global":
                values, undefined = self._loaded(described, places, inside, dtype, lane, number)
                for target in self._bulk.targets(
                    lane, place, word, ranks, moved, _ALIGN, form.target, number
                ):
                    index = self._in_shared(described, target.start, places.shape, size)
                    touched = _bytes_of(index, size)
                    self._bulk.held(touched, lane, number, target.barrier, undefined=undefined)
                    self._shared.view(dtype)[index] = values
                    self._bulk.completed(target.barrier, moved, lane, number)
                continue
            start = self._bulk.shared_start(lane, place, moved, _ALIGN, form.source, number, READ)
            index = self._in_shared(described, start, places.shape, size)
            touched = _bytes_of(index, size)
            self._bulk.seen(touched, lane, number)
            elements = self._elements(
                described, places[inside], dtype, lane, number, WRITE, bool(form.operation)
            )
            shadow = self._shared.shadow
            bits = None if shadow is None else shadow.seen().view(dtype)[index][inside]
            whole = 0 if form.operation else size
            self._bulk.check_defined(bits, "__shared__", lane, place, number, whole)
            if form.operation:
                self._bulk.check_defined(elements.undefined(), "__global__", lane, at, number)
            elements.put(self._shared.view(dtype)[index][inside], form.operation, described.kind, bits)
            self._bulk.grouped(lane, touched)

    def _loaded(
        self, tensor: TensorMap, places: I64, inside: Bools, dtype: DType, lane: int, number: int
    ) -> tuple[Array, Array | None]:
        """The elements at `places`, and their undefined bits as bytes, if there are any."""
        values = self._outside(tensor, places.shape, dtype)
        elements = self._elements(tensor, places[inside], dtype, lane, number, READ)
        values[inside], bits = elements.take(), elements.undefined()
        if bits is None or not bits.any():
            return values, None
        undefined: Array = np.zeros(places.shape, dtype)
        undefined[inside] = bits
        return values, undefined.reshape(-1).view(np.uint8)

    def check_map(self, tensor: U64, lanes: Lanes, number: int) -> None:
        """prefetch.tensormap: nothing but that the map must be one."""
        for lane, at in self._bulk.each(lanes, tensor):
            self._tensor_map(lane, at, 0, None, number)

    def replace(
        self, space: str, tensor: U64, field: str, ordinal: int, value: Array, lanes: Lanes, number: int
    ) -> None:
        """tensormap.replace, lane after lane."""
        for lane, at, wanted in self._bulk.each(lanes, tensor, value):
            why, one = refusal(field, wanted), np.array([lane])
            if why:
                self._report.fail(fault.ILLEGAL_INSTRUCTION, f"A tensor map whose {why}", number, one, True)
            try:
                changed = replaced(self._map_bytes(space, lane, at, number), field, ordinal, wanted)
            except ValueError:
                text = "What is not a tensor map of boxes that the simulator's cuTensorMapEncode* made"
                self._report.fail(fault.ILLEGAL_INSTRUCTION, text, number, one, True, np.uint64(at), SIZE)
            self._put_map(space, lane, at, changed, number)

    def publish(self, target: U64, source: U64, lanes: Lanes, number: int) -> None:
        """tensormap.cp_fenceproxy: the threads of a warp copy a tensor map to global memory."""
        for lane, to, at in self._bulk.each(lanes, target, source):
            self._put_map("global", lane, to, self._map_bytes("shared", lane, at, number), number)

    def _map_bytes(self, space: str, lane: int, address: int, number: int) -> bytes:
        array, index = self._map_places(space, lane, address, number, READ)
        return bytes(array.take(index).tobytes())

    def _put_map(self, space: str, lane: int, address: int, data: bytes, number: int) -> None:
        array, index = self._map_places(space, lane, address, number, WRITE)
        put(array, index, np.frombuffer(data, np.uint8))

    def _map_places(self, space: str, lane: int, address: int, number: int, mode: int) -> Places:
        """Where the bytes of a tensor map lie. Raises Fault."""
        self._check_map_alignment(lane, address, number)
        a = np.arange(address, address + SIZE, dtype=np.uint64)
        return self._spaces.at(space, a, accessed(_BYTE, 1, number, mode), np.array([lane]).repeat(SIZE))

    def _check_map_alignment(self, lane: int, address: int, number: int) -> None:
        if address % _MAP_ALIGN:
            text, one = "A tensor map off its alignment", np.array([lane])
            self._report.fail(fault.MISALIGNED_ADDRESS, text, number, one, True, np.uint64(address), SIZE)

    def _tensor_map(
        self, lane: int, address: int, rank: int, is_windowed: bool | None, number: int
    ) -> TensorMap:
        one = np.array([lane])
        self._check_map_alignment(lane, address, number)
        try:
            tensor_map = TensorMap.unpack(self._spaces.read_bytes(lane, address, SIZE, number))
        except ValueError:
            text = "What is not a tensor map that the simulator's cuTensorMapEncode* made"
            self._report.fail(fault.ILLEGAL_INSTRUCTION, text, number, one, True, np.uint64(address), SIZE)
        if rank and len(tensor_map.sizes) != rank:
            text = f"A copy in {rank} dimensions of a tensor of {len(tensor_map.sizes)}"
            self._report.fail(fault.ILLEGAL_INSTRUCTION, text, number, one, True)
        if is_windowed is not None and tensor_map.is_windowed != is_windowed:
            text = f"A copy of {'windows' if is_windowed else 'boxes'} with a tensor map of the other kind"
            self._report.fail(fault.ILLEGAL_INSTRUCTION, text, number, one, True)
        return tensor_map

    def _check_alignment(self, tensor: TensorMap, first: int, lane: int, number: int) -> None:
        """The address of a box is aligned. Source: PTX ISA, "Tiled Mode", "Bounding Box".

        An H200 says the same of windows.
        """
        size = TYPES[tensor.kind].size
        if first * size % _PART:
            text = (
                f"A copy that starts {first * size} bytes into the rows of a tensor: its first coordinate, "
                f"{first}, must be a multiple of {_PART // size} elements, which are {_PART} bytes"
            )
            self._report.fail(fault.ILLEGAL_INSTRUCTION, text, number, np.array([lane]), True)

    def _check_corner(self, start: list[int], lane: int, number: int) -> None:
        """Boxes that are written start inside. Source: CUDA Programming Guide, "Using TMA to transfer
        multi-dimensional arrays", "Negative indices and out of bounds".
        """
        if min(start) < 0:
            corner = ", ".join(map(str, start))
            text = f"A copy to a tensor that starts at ({corner}): only loads have negative coordinates"
            self._report.fail(fault.ILLEGAL_INSTRUCTION, text, number, np.array([lane]), True)

    def _check_swizzle(self, tensor: TensorMap, lane: int, number: int) -> None:
        """The layout of rows narrower than the swizzle is not documented."""
        size = TYPES[tensor.kind].size
        row = tensor.box[0] * size
        if tensor.swizzle and row != tensor.swizzle:
            text = (
                f"A swizzle of {tensor.swizzle} bytes of rows of {row}: the simulator has rows as wide as it"
            )
            self._report.fail(fault.ILLEGAL_INSTRUCTION, text, number, np.array([lane]), True)

    def _in_shared(self, tensor: TensorMap, start: int, shape: tuple[int, ...], size: int) -> I64:
        """Where the elements of a box lie among all of shared memory, row after row, or swizzled."""
        places: I64 = np.arange(int(np.prod(shape))) * size + start % self._shared.stride
        if tensor.swizzle:
            turns = places >> 7 & tensor.swizzle // _PART - 1
            places = places ^ turns * _PART
        return ((places + start // self._shared.stride * self._shared.stride) // size).reshape(shape)

    def _outside(self, tensor: TensorMap, shape: tuple[int, ...], dtype: DType) -> Array:
        """What a box holds where the tensor is not."""
        return np.full(shape, _NAN[tensor.kind] if tensor.fills_nan else 0, dtype)

    def _elements(
        self,
        tensor: TensorMap,
        places: I64,
        dtype: DType,
        lane: int,
        number: int,
        mode: int,
        reduces: bool = False,
    ) -> _Elements:
        """Elements of a tensor, by bytes from its start. Raises Fault."""
        if not len(places):
            return _Elements(np.empty(0, dtype), places)
        low, high = tensor.address + int(places.min()), tensor.address + int(places.max()) + dtype.itemsize
        allocation = self._global.allocations.find(low)
        if allocation is None or high > allocation.end:
            one, what = np.array([lane]), f"Invalid __global__ {VERBS[mode]} of a tensor"
            bad = low if allocation is None else high - dtype.itemsize
            self._report.fail(fault.ILLEGAL_ADDRESS, what, number, one, True, np.uint64(bad), dtype.itemsize)
        access = accessed(dtype, 1, number, mode)
        self._global.check_reach(allocation, np.array([low], np.uint64), access, np.array([lane]))
        offsets = places + (tensor.address - allocation.address)
        seen = ATOMIC if reduces else mode
        self._bulk.seen_in_global(allocation, offsets, dtype.itemsize, lane, number, seen)
        array, start = allocation.view(dtype)
        index = (places + (tensor.address - start)) // dtype.itemsize
        if allocation.undefined is None:
            return _Elements(array, index)
        skip, undefined = start - allocation.address, allocation.undefined
        bits = undefined.seen() if mode == READ else undefined.changing()
        return _Elements(array, index, bits[skip : skip + array.nbytes].view(dtype))


def _bytes_of(index: I64, size: int) -> I64:
    """The bytes of elements."""
    return (index.reshape(-1, 1) * size + np.arange(size)).ravel()


class _Elements:
    """Some elements of an array."""

    def __init__(self, array: Array, index: I64, shadow: Array | None = None) -> None:
        self._array, self._index, self._shadow = array, index, shadow

    def take(self) -> Array:
        return self._array[self._index]

    def undefined(self) -> Array | None:
        """Their undefined bits, if these are looked for."""
        return None if self._shadow is None else self._shadow[self._index]

    def put(self, values: Array, operation: str, kind: str, undefined: Array | None) -> None:
        if self._shadow is not None:
            self._shadow[self._index] = 0 if operation or undefined is None else undefined
        if operation:
            code = TYPES[kind].code
            with np.errstate(all="ignore"):
                combined = combine(self.take().view(code), values.view(code), operation, kind, True)
            values = combined.view(values.dtype)
        self._array[self._index] = values


def box(tensor: TensorMap, start: list[int]) -> tuple[I64, Bools]:
    """The elements of a box, slowest dimension first: bytes from the tensor's start, and which are inside."""
    places: I64 = np.zeros((), np.int64)
    inside: Bools = np.ones((), bool)
    strides = (TYPES[tensor.kind].size, *tensor.strides)
    for axis, first in enumerate(start):
        step = tensor.steps[axis] if axis else 1
        index = first + np.arange(0, tensor.box[axis], step)
        places = index.reshape(-1, *[1] * axis) * strides[axis] + places
        inside = ((index >= 0) & (index < tensor.sizes[axis])).reshape(-1, *[1] * axis) & inside
    return places, inside


def windows(tensor: TensorMap, start: list[int], offsets: list[int]) -> tuple[I64, Bools]:
    """Pixels with their channels: (pixel, channel). The first pixels go through a box, row after row and
    picture after picture; `offsets` lead from them to those that are moved.
    """
    channels, pixels = tensor.box
    index = start[0] + np.arange(channels)
    places = (index * TYPES[tensor.kind].size)[None, :]
    inside = ((index >= 0) & (index < tensor.sizes[0]))[None, :]
    turn = np.arange(pixels)
    for axis in range(1, len(start)):
        stride, size = tensor.strides[axis - 1], tensor.sizes[axis]
        if axis == len(start) - 1:
            index = start[axis] + turn
        else:
            step, lower = tensor.steps[axis], tensor.lower[axis - 1]
            length = -(-(size + tensor.upper[axis - 1] - lower) // step)  # first pixels of a row of the box
            turn = turn + (start[axis] - lower) // step
            index = lower + turn % length * step + offsets[axis - 1]
            turn = turn // length
        places = places + (index * stride)[:, None]
        inside = inside & ((index >= 0) & (index < size))[:, None]
    return places, inside
