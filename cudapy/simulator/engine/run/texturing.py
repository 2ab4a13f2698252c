"""Texture and surface objects, as kernels use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from .. import fault
from ..access import READ, WRITE, accessed
from ..arithmetic import sampling

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..access import Access
    from ..aliases import F64, I64, U8, U32, U64, Array, Bools, DType, Lanes
    from ..device import Device
    from ..texture import Surface, Texture
    from .race_detector import RaceDetector
    from .report import Reporter
    from .threads import Threads

_Object = TypeVar("_Object")
_LAYERED = ("a1d", "a2d", "acube")
_COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3, "cube": 3, "acube": 4}
"""Of each shape, a layer first among them; vectors may have more."""
_AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
_CODES = {"f32": np.dtype("f4"), "u32": np.dtype("u4"), "s32": np.dtype("i4")}


class Textures:
    """The textures and surfaces of a batch's device."""

    def __init__(
        self, threads: Threads, report: Reporter, device: Device, races: RaceDetector | None
    ) -> None:
        self._threads, self._report, self._device = threads, report, device
        self._races = races

    def _reader(self, chosen: I64, lanes: Lanes, number: int) -> sampling.Seen:
        """What tells the race detector of the texels that chosen lanes read."""
        races = self._races
        if races is None:
            return None
        numbers = self._threads.numbers(lanes)[chosen]

        def seen(level: Array, z: Array, y: Array, x: Array, counts: Array) -> None:
            every = np.flatnonzero(np.broadcast_to(counts, numbers.shape))
            access = accessed(level.dtype, level.shape[3], number, READ)
            z, y, x = (np.broadcast_to(one, numbers.shape)[every] for one in (z, y, x))
            races.in_array(self._device.memory, level, (z, y, x), 0, access, numbers[every])

        return seen

    def sample(
        self,
        handle: U64,
        shape: str,
        coordinates: tuple[Array, ...],
        kind: str,
        lanes: Lanes,
        number: int,
        level: Array | None = None,
        slopes: tuple[tuple[Array, ...], ...] = (),
    ) -> list[Array]:
        """tex: four arrays of type `kind`."""
        count = len(self._threads.numbers(lanes))
        wide = [np.broadcast_to(one, (count,)) for one in coordinates[: _COORDINATES[shape]]]
        along = [one for part in slopes for one in part[: _AXES[shape]]]
        result = np.zeros((count, 4), _CODES[kind])
        for texture, chosen in self._objects(self._device.textures, handle, lanes, number, "texture"):
            if not texture.data.size or (texture.is_linear and wide[0].dtype.kind == "f"):
                continue  # linear memory is read by whole numbers alone
            layer, places = _split(shape, [one[chosen] for one in wide])
            seen = self._reader(chosen, lanes, number)
            levels = (texture.data, *texture.levels)
            if texture.is_linear:
                values = _linear(texture, places[0], seen)
            elif len(levels) == 1:
                values = sampling.sample(texture, levels[0], layer, places, seen)
            else:
                depth = None if level is None else np.broadcast_to(level, (count,))[chosen]
                ramps = [np.broadcast_to(one, (count,))[chosen].astype(np.float64) for one in along]
                values = _mipmapped(texture, levels, layer, places, depth, ramps)
            result[chosen] = values if kind == "f32" else values.astype(np.int64).astype(_CODES[kind])
        return [np.ascontiguousarray(result[:, place]) for place in range(4)]

    def gather(
        self,
        handle: U64,
        shape: str,
        coordinates: tuple[Array, ...],
        channel: int,
        kind: str,
        lanes: Lanes,
        number: int,
    ) -> list[Array]:
        """tld4."""
        count = len(self._threads.numbers(lanes))
        wide = [np.broadcast_to(one, (count,)) for one in coordinates[: _COORDINATES[shape]]]
        result = np.zeros((count, 4), _CODES[kind])
        for texture, chosen in self._objects(self._device.textures, handle, lanes, number, "texture"):
            if not texture.data.size:
                continue
            layer, places = _split(shape, [one[chosen] for one in wide])
            seen = self._reader(chosen, lanes, number)
            values = sampling.gather(texture, texture.data, layer, places, channel, seen)
            result[chosen] = values if kind == "f32" else values.astype(np.int64).astype(_CODES[kind])
        return [np.ascontiguousarray(result[:, place]) for place in range(4)]

    def query(self, name: str, handle: U64, what: str, lanes: Lanes, number: int) -> U32:
        """txq and suq."""
        known: Mapping[int, Texture | Surface] = (
            self._device.textures if name == "txq" else self._device.surfaces
        )
        result = np.zeros(len(self._threads.numbers(lanes)), np.uint32)
        for one, chosen in self._objects(
            known, handle, lanes, number, "texture" if name == "txq" else "surface"
        ):
            layers, height, width = one.data.shape[:3]
            volume = one.dimensions == 3
            result[chosen] = {
                "width": width,
                "height": height if one.dimensions > 1 else 0,
                "depth": layers if volume else 0,
                "array_size": 0 if volume else layers // (6 if one.is_cubemap else 1),
                "num_mipmap_levels": 1 + len(getattr(one, "levels", ())),
            }[what]
        return result

    def load_surface(
        self,
        handle: U64,
        shape: str,
        coordinates: tuple[Array, ...],
        dtype: DType,
        count: int,
        outside: str,
        lanes: Lanes,
        number: int,
    ) -> list[Array]:
        """suld.b: `count` arrays."""
        size = dtype.itemsize * count
        raw_bytes = np.zeros((len(self._threads.numbers(lanes)), size), np.uint8)
        for surface, chosen, (z, y, x, inside) in self._surfaces(
            handle, shape, coordinates, size, outside, lanes, number
        ):
            self._see_surface(surface, (z, y, x), inside, chosen, lanes, accessed(dtype, count, number, READ))
            values = np.stack([_byte_at(surface, z, y, x + step) for step in range(size)], 1)
            raw_bytes[chosen] = np.where(inside[:, None], values, 0)
        items = raw_bytes.view(dtype)
        return [np.ascontiguousarray(items[:, place]) for place in range(count)]

    def store_surface(
        self,
        handle: U64,
        shape: str,
        coordinates: tuple[Array, ...],
        dtype: DType,
        values: tuple[Array, ...],
        outside: str,
        lanes: Lanes,
        number: int,
    ) -> None:
        """sust.b."""
        size = dtype.itemsize * len(values)
        total = len(self._threads.numbers(lanes))
        items = np.empty((total, len(values)), dtype)
        for place, value in enumerate(values):
            items[:, place] = value
        raw_bytes = items.view(np.uint8).reshape(total, size)
        for surface, chosen, (z, y, x, inside) in self._surfaces(
            handle, shape, coordinates, size, outside, lanes, number
        ):
            stored = tuple(items[chosen][inside, place] for place in range(len(values)))
            access = accessed(dtype, len(values), number, WRITE)
            self._see_surface(surface, (z, y, x), inside, chosen, lanes, access, stored)
            width = surface.data.shape[3]
            for step in range(size):
                column, byte = divmod(x[inside] + step, width)
                surface.data[z[inside], y[inside], column, byte] = raw_bytes[chosen][inside, step]

    def _see_surface(
        self,
        surface: Surface,
        where: tuple[I64, I64, I64],
        inside: Bools,
        chosen: I64,
        lanes: Lanes,
        access: Access,
        stored: tuple[Array, ...] = (),
    ) -> None:
        """Tell the race detector what chosen lanes read or store, inside of a surface."""
        if self._races is not None and inside.any():
            z, y, x = (one[inside] for one in where)
            column, byte = np.divmod(x, surface.data.shape[3])
            numbers = self._threads.numbers(lanes)[chosen][inside]
            self._races.in_array(
                self._device.memory, surface.data, (z, y, column), byte, access, numbers, stored
            )

    def _surfaces(
        self,
        handle: U64,
        shape: str,
        coordinates: tuple[Array, ...],
        size: int,
        outside: str,
        lanes: Lanes,
        number: int,
    ) -> Iterator[tuple[Surface, I64, tuple[I64, I64, I64, Bools]]]:
        """Each surface, the lanes that mean it, and where: layer or depth, row, byte in the row, and what is
        inside.
        """
        count = len(self._threads.numbers(lanes))
        wide = [np.broadcast_to(one, (count,)).astype(np.int64) for one in coordinates[: _COORDINATES[shape]]]
        for surface, chosen in self._objects(self._device.surfaces, handle, lanes, number, "surface"):
            if not surface.data.size:
                continue
            chosen_coordinates = [one[chosen] for one in wide]
            layer = chosen_coordinates.pop(0) & 0xFFFFFFFF if shape in _LAYERED else None
            zero = np.zeros(len(chosen_coordinates[0]), np.int64)
            x, y, z = (*chosen_coordinates, zero, zero)[:3]
            z = z if layer is None else layer
            depth, height, width, itemsize = surface.data.shape
            inside = (
                (x >= 0) & (x + size <= width * itemsize) & (y >= 0) & (y < height) & (z >= 0) & (z < depth)
            )
            misaligned = x % size != 0
            if misaligned.any():
                text, bad = "Misaligned surface access", chosen_mask(count, chosen, misaligned)
                self._report.fail(fault.MISALIGNED_ADDRESS, text, number, lanes, bad, size=size)
            if outside == "trap" and not inside.all():
                text, bad = f"Surface access outside of {_size(surface)}", chosen_mask(count, chosen, ~inside)
                self._report.fail(fault.LAUNCH_FAILED, text, number, lanes, bad)
            if outside == "clamp":
                x = np.clip(x, 0, width * itemsize - size)
                y, z = np.clip(y, 0, height - 1), np.clip(z, 0, depth - 1)
                inside = np.ones_like(inside)
            x, y, z = (np.where(inside, one, 0) for one in (x, y, z))
            yield surface, chosen, (z, y, x, inside)

    def _objects(
        self, known: Mapping[int, _Object], handle: U64, lanes: Lanes, number: int, what: str
    ) -> Iterator[tuple[_Object, I64]]:
        """Each object that lanes mean, and the positions of these lanes."""
        count = len(self._threads.numbers(lanes))
        handles = np.broadcast_to(handle, (count,))
        for one in np.unique(handles):
            chosen = np.flatnonzero(handles == one)
            bound_object = known.get(int(one))
            if bound_object is None:
                text = f"{int(one):#x} is the handle of no {what} object"
                self._report.fail(
                    fault.ILLEGAL_ADDRESS, text, number, lanes, chosen_mask(count, chosen, True)
                )
            yield bound_object, chosen


def chosen_mask(count: int, chosen: I64, bad: Bools | bool) -> Bools:
    """Which of `count` lanes are both chosen and bad."""
    mask = np.zeros(count, bool)
    mask[chosen] = bad
    return mask


def _byte_at(surface: Surface, z: I64, y: I64, x: I64) -> U8:
    column, byte = divmod(x, surface.data.shape[3])
    return surface.data[z, y, column, byte]


def _split(shape: str, coordinates: list[Array]) -> tuple[I64 | None, list[F64]]:
    """The layer, or None, and the coordinates within it."""
    layer = None
    if shape in _LAYERED:
        layer, *coordinates = coordinates
        layer = layer.view(np.int32).astype(np.int64)
    places = [one.astype(np.float64) for one in coordinates]
    if shape.endswith("cube"):
        number, s, t = sampling.face(*places)
        return number + 6 * (0 if layer is None else layer), [s, t]
    return layer, places


def _linear(texture: Texture, place: F64, seen: sampling.Seen) -> F64:
    """Linear memory: what is outside is 0."""
    width = texture.data.shape[2]
    inside = (place >= 0) & (place < width)
    column = np.where(inside, place, 0).astype(np.int64)
    if seen is not None:
        zero = np.zeros_like(column)
        seen(texture.data, zero, zero, column, inside)
    values = sampling.texels(texture, texture.data[0, 0, column])
    result = np.zeros((len(place), 4))
    result[:, : values.shape[1]] = np.where(inside[:, None], values, 0.0)
    return result


def _size(surface: Surface) -> str:
    depth, height, width, itemsize = surface.data.shape
    return f"{width} x {height} x {depth} elements of {itemsize} bytes"


def _depth_of_slopes(texture: Texture, first: Array, slopes: list[F64]) -> F64:
    """The level whose pixels are as large as the slopes of the coordinates, in x and y of the screen."""
    half = len(slopes) // 2
    sizes = (first.shape[2], first.shape[1], first.shape[0]) if texture.is_normalized else (1, 1, 1)
    x, y = (
        np.sqrt(sum((slope * size) ** 2 for slope, size in zip(part, sizes, strict=False)))
        for part in (slopes[:half], slopes[half:])
    )
    with np.errstate(all="ignore"):
        return np.asarray(np.log2(np.maximum(x, y)))


def _mipmapped(
    texture: Texture,
    levels: tuple[Array, ...],
    layer: I64 | None,
    places: list[F64],
    depth: Array | None,
    slopes: list[F64],
) -> F64:
    """tex of a mipmapped texture: by level, by slopes, or the first."""
    count = len(places[0])
    if slopes:
        depth = _depth_of_slopes(texture, levels[0], slopes)
    wanted = np.zeros(count) if depth is None else np.nan_to_num(np.asarray(depth, np.float64), neginf=-1e9)
    low, high = texture.level_clamp
    wanted = np.clip(wanted + texture.level_bias, low, high)
    wanted = np.clip(wanted, 0, len(levels) - 1)
    lower = np.floor(wanted if texture.has_linear_levels else wanted + 0.5).astype(np.int64)
    lower = np.minimum(lower, len(levels) - 1)
    fraction = np.floor((wanted - lower) * 256) / 256 if texture.has_linear_levels else np.zeros(count)
    result = np.zeros((count, 4))
    for number, level in enumerate(levels):
        for weight, chosen in (
            (1 - fraction, lower == number),
            (fraction, (lower + 1 == number) & (fraction > 0)),
        ):
            if chosen.any():
                chosen_layer = None if layer is None else layer[chosen]
                values = sampling.sample(texture, level, chosen_layer, [one[chosen] for one in places])
                result[chosen] += values * weight[chosen, None]
    return result
