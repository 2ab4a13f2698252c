"""Texture and surface objects, as kernels use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import fault
from ..arithmetic import sampling
from .report import Reporter

if TYPE_CHECKING:
    from ..device import Device
    from ..texture import Surface, Texture

_LAYERED = ("a1d", "a2d", "acube")
_CODES = {"f32": np.dtype("f4"), "u32": np.dtype("u4"), "s32": np.dtype("i4")}


class Texturing(Reporter):
    """The part of a batch that reads textures, and reads and writes surfaces."""

    device: Device

    def texture(
        self,
        handle: Any,
        shape: str,
        coordinates: tuple[Any, ...],
        kind: str,
        lanes: Any,
        number: int,
        level: Any = None,
        slopes: tuple[Any, ...] = (),
    ) -> list[Any]:
        """tex: four arrays of type `kind`."""
        count = len(self.numbers(lanes))
        wide = [np.broadcast_to(one, (count,)) for one in coordinates]
        result = np.zeros((count, 4), _CODES[kind])
        for texture, chosen in self._objects(self.device.textures, handle, lanes, number, "texture"):
            layer, places = _split(shape, [one[chosen] for one in wide])
            levels = (texture.data, *texture.levels)
            if texture.is_linear:
                values = _linear(texture, places[0])
            elif len(levels) == 1:
                values = sampling.sample(texture, levels[0], layer, places)
            else:
                depth = None if level is None else np.broadcast_to(level, (count,))[chosen]
                ramps = [np.broadcast_to(one, (count,))[chosen].astype(np.float64) for one in slopes]
                values = _mipmapped(texture, levels, layer, places, depth, ramps)
            result[chosen] = values if kind == "f32" else values.astype(np.int64).astype(_CODES[kind])
        return [np.ascontiguousarray(result[:, place]) for place in range(4)]

    def gather(
        self,
        handle: Any,
        shape: str,
        coordinates: tuple[Any, ...],
        channel: int,
        kind: str,
        lanes: Any,
        number: int,
    ) -> list[Any]:
        """tld4."""
        count = len(self.numbers(lanes))
        wide = [np.broadcast_to(one, (count,)) for one in coordinates]
        result = np.zeros((count, 4), _CODES[kind])
        for texture, chosen in self._objects(self.device.textures, handle, lanes, number, "texture"):
            layer, places = _split(shape, [one[chosen] for one in wide])
            values = sampling.gather(texture, texture.data, layer, places, channel)
            result[chosen] = values if kind == "f32" else values.astype(np.int64).astype(_CODES[kind])
        return [np.ascontiguousarray(result[:, place]) for place in range(4)]

    def query(self, name: str, handle: Any, what: str, lanes: Any, number: int) -> Any:
        """txq and suq."""
        known: Any = self.device.textures if name == "txq" else self.device.surfaces
        result = np.zeros(len(self.numbers(lanes)), np.uint32)
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
        handle: Any,
        shape: str,
        coordinates: tuple[Any, ...],
        dtype: Any,
        count: int,
        outside: str,
        lanes: Any,
        number: int,
    ) -> list[Any]:
        """suld.b: `count` arrays."""
        size = dtype.itemsize * count
        octets = np.zeros((len(self.numbers(lanes)), size), np.uint8)
        for surface, chosen, place in self._surfaces(
            handle, shape, coordinates, size, outside, lanes, number
        ):
            z, y, x, inside = place
            values = np.stack([_octet(surface, z, y, x + step) for step in range(size)], 1)
            octets[chosen] = np.where(inside[:, None], values, 0)
        items = octets.view(dtype)
        return [np.ascontiguousarray(items[:, place]) for place in range(count)]

    def store_surface(
        self,
        handle: Any,
        shape: str,
        coordinates: tuple[Any, ...],
        dtype: Any,
        values: tuple[Any, ...],
        outside: str,
        lanes: Any,
        number: int,
    ) -> None:
        """sust.b."""
        size = dtype.itemsize * len(values)
        total = len(self.numbers(lanes))
        items = np.empty((total, len(values)), dtype)
        for place, value in enumerate(values):
            items[:, place] = value
        octets = items.view(np.uint8).reshape(total, size)
        for surface, chosen, place in self._surfaces(
            handle, shape, coordinates, size, outside, lanes, number
        ):
            z, y, x, inside = place
            width = surface.data.shape[3]
            for step in range(size):
                column, octet = divmod(x[inside] + step, width)
                surface.data[z[inside], y[inside], column, octet] = octets[chosen][inside, step]

    def _surfaces(
        self,
        handle: Any,
        shape: str,
        coordinates: tuple[Any, ...],
        size: int,
        outside: str,
        lanes: Any,
        number: int,
    ) -> Any:
        """Each surface, the lanes that mean it, and where: layer or depth, row, byte in the row, and what is
        inside.
        """
        count = len(self.numbers(lanes))
        wide = [np.broadcast_to(one, (count,)).astype(np.int64) for one in coordinates]
        for surface, chosen in self._objects(self.device.surfaces, handle, lanes, number, "surface"):
            own = [one[chosen] for one in wide]
            layer = own.pop(0) if shape in _LAYERED else None
            zero = np.zeros(len(own[0]), np.int64)
            x, y, z = (*own, zero, zero)[:3]
            z = z if layer is None else layer
            depth, height, width, octets = surface.data.shape
            inside = (
                (x >= 0) & (x + size <= width * octets) & (y >= 0) & (y < height) & (z >= 0) & (z < depth)
            )
            crooked = x % size != 0
            if crooked.any():
                self.fail(fault.MISALIGNED_ADDRESS, "Misaligned surface access", number, lanes, chosen_mask(
                    count, chosen, crooked), size=size)  # fmt: skip
            if outside == "trap" and not inside.all():
                what = f"Surface access outside of {width} x {height} x {depth} elements of {octets} bytes"
                self.fail(fault.LAUNCH_FAILED, what, number, lanes, chosen_mask(count, chosen, ~inside))
            if outside == "clamp":
                x = np.clip(x, 0, width * octets - size)
                y, z = np.clip(y, 0, height - 1), np.clip(z, 0, depth - 1)
                inside = np.ones_like(inside)
            x, y, z = (np.where(inside, one, 0) for one in (x, y, z))
            yield surface, chosen, (z, y, x, inside)

    def _objects(self, known: dict[int, Any], handle: Any, lanes: Any, number: int, what: str) -> Any:
        """Each object that lanes mean, and the positions of these lanes."""
        count = len(self.numbers(lanes))
        handles = np.broadcast_to(handle, (count,))
        for one in np.unique(handles):
            chosen = np.flatnonzero(handles == one)
            found = known.get(int(one))
            if found is None:
                text = f"{int(one):#x} is the handle of no {what} object"
                self.fail(fault.ILLEGAL_ADDRESS, text, number, lanes, chosen_mask(count, chosen, True))
            yield found, chosen


def chosen_mask(count: int, chosen: Any, bad: Any) -> Any:
    """Which of `count` lanes are both chosen and bad."""
    mask = np.zeros(count, bool)
    mask[chosen] = bad
    return mask


def _octet(surface: Surface, z: Any, y: Any, x: Any) -> Any:
    column, octet = divmod(x, surface.data.shape[3])
    return surface.data[z, y, column, octet]


def _split(shape: str, coordinates: list[Any]) -> tuple[Any, list[Any]]:
    """The layer, or None, and the coordinates within it."""
    layer = None
    if shape in _LAYERED:
        layer, *coordinates = coordinates
        layer = layer.astype(np.int32).astype(np.int64)
    places = [one.astype(np.float64) for one in coordinates]
    if shape.endswith("cube"):
        number, s, t = sampling.face(*places)
        return number + 6 * (0 if layer is None else layer), [s, t]
    return layer, places


def _linear(texture: Texture, place: Any) -> Any:
    """Linear memory: what is outside is 0."""
    width = texture.data.shape[2]
    inside = (place >= 0) & (place < width)
    values = sampling.texels(texture, texture.data[0, 0, np.where(inside, place, 0).astype(np.int64)])
    result = np.zeros((len(place), 4))
    result[:, 3] = 1.0
    result[:, : values.shape[1]] = np.where(inside[:, None], values, 0.0)
    return result


def _mipmapped(
    texture: Texture, levels: tuple[Any, ...], layer: Any, places: list[Any], depth: Any, slopes: list[Any]
) -> Any:
    """tex of a mipmapped texture: by level, by slopes, or the first."""
    count = len(places[0])
    if slopes:
        half = len(slopes) // 2
        sizes = (levels[0].shape[2], levels[0].shape[1], levels[0].shape[0])
        lengths = [
            np.sqrt(
                sum(
                    (slope * (size if texture.is_normalized else 1)) ** 2
                    for slope, size in zip(part, sizes, strict=False)
                )
            )
            for part in (slopes[:half], slopes[half:])
        ]
        with np.errstate(all="ignore"):
            depth = np.log2(np.maximum(*lengths))
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
                own = None if layer is None else layer[chosen]
                values = sampling.sample(texture, level, own, [one[chosen] for one in places])
                result[chosen] += values * weight[chosen, None]
    return result
