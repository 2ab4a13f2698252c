"""What a texture holds at a place: addressing and filtering.

Source: CUDA C++ Programming Guide, "Texture Fetching", "Cubemap Textures".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..aliases import Array
    from ..texture import Texture

Seen: TypeAlias = "Callable[[Array, Array, Array, Array, Array], None] | None"
WRAP, CLAMP, MIRROR, BORDER = range(4)
_WEIGHTS = 256.0
"""A linear filter's weights have 8 bits behind the point."""


def texels(texture: Texture, data: Array) -> Array:
    """A view of the texture's memory as float64 of four channels, as kernels read them; integers stay what
    they are where they are read as integers.
    """
    kind = data.dtype.kind
    wide = data.astype(np.float64)
    if kind in "ui" and not texture.reads_integers and data.dtype.itemsize < 4:
        limit = float(np.iinfo(data.dtype).max)
        wide = np.maximum(wide / limit, -1.0)
        if texture.is_srgb:
            colours = wide[..., :3]
            wide[..., :3] = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return wide


def face(x: Array, y: Array, z: Array) -> tuple[Array, Array, Array]:
    """The face of a cube that a direction meets, and where: from 0 to 1."""
    ax, ay, az = np.abs(x), np.abs(y), np.abs(z)
    on_x, on_y = (ax >= ay) & (ax >= az), (ay >= az) & (ay > ax)
    number = np.where(
        on_x, np.where(x >= 0, 0, 1), np.where(on_y, np.where(y >= 0, 2, 3), np.where(z >= 0, 4, 5))
    )
    m = np.where(on_x, ax, np.where(on_y, ay, az))
    s = np.select([number == 0, number == 1, number == 5], [-z, z, -x], x)
    t = np.select([number == 2, number == 3], [z, -z], -y)
    with np.errstate(all="ignore"):
        return number, (s / m + 1) / 2, (t / m + 1) / 2


def _address(index: Array, size: int, mode: int) -> tuple[Array, Array]:
    """Whole places into 0 ... size - 1, and which of them are outside of a border."""
    inside = (index >= 0) & (index < size)
    if mode == WRAP:
        return index % size, np.ones_like(inside)
    if mode == MIRROR:
        place = index % (2 * size)
        return np.where(place >= size, 2 * size - 1 - place, place), np.ones_like(inside)
    return np.clip(index, 0, size - 1), inside if mode == BORDER else np.ones_like(inside)


def _whole(x: Array) -> Array:
    return np.clip(np.nan_to_num(np.floor(x), nan=0.0), -(2.0**40), 2.0**40).astype(np.int64)


def _scaled(texture: Texture, coordinate: Array, size: int, axis: int) -> tuple[Array, int]:
    """A coordinate in texels, and how what is outside is addressed."""
    mode = texture.address_modes[axis]
    if texture.is_normalized:
        return coordinate * size, mode
    return coordinate, mode if mode in (CLAMP, BORDER) else CLAMP


def sample(
    texture: Texture, level: Array, layer: Array | None, coordinates: list[Array], seen: Seen = None
) -> Array:
    """The four channels at some places of a mipmap level: x, y, z of its dimensions, and layers.

    seen: is told which texels are read: the level, z, y and x of each, and which of these count.
    """
    sizes = (level.shape[2], level.shape[1], level.shape[0])
    axes = [_scaled(texture, x, sizes[axis], axis) for axis, x in enumerate(coordinates)]
    if not texture.has_linear_filter:
        return _fetch(texture, level, layer, [(_whole(x), mode) for x, mode in axes], seen)
    corners: list[tuple[Array, Array]] = []
    for x, _ in axes:
        start = _whole(x - 0.5)
        fraction = np.floor((x - 0.5 - start) * _WEIGHTS + 0.5) / _WEIGHTS
        corners.append((start, np.nan_to_num(fraction)))
    total: Array = np.zeros(4)
    for corner in range(1 << len(axes)):
        weight: Array = np.ones(())
        places = []
        for axis, (start, fraction) in enumerate(corners):
            upper = corner >> axis & 1
            weight = weight * (fraction if upper else 1 - fraction)
            places.append((start + upper, axes[axis][1]))
        values = _fetch(texture, level, layer, places, seen, weight > 0)
        total = total + np.where(weight[:, None] == 0, 0.0, values * weight[:, None])
    if len(axes) == 1 and layer is None and texture.address_modes[1] == BORDER:
        return (total + _border(texture, level)) / 2  # the hardware mixes the row with the one before it
    return total


def gather(
    texture: Texture,
    level: Array,
    layer: Array | None,
    coordinates: list[Array],
    channel: int,
    seen: Seen = None,
) -> Array:
    """One channel of the four texels around a place, from the lower left against the clock."""
    sizes = (level.shape[2], level.shape[1])
    (x, x_mode), (y, y_mode) = (
        _scaled(texture, one, sizes[axis], axis) for axis, one in enumerate(coordinates)
    )
    left, top = _whole(x - 0.5), _whole(y - 0.5)
    corners = ((0, 1), (1, 1), (1, 0), (0, 0))
    corner_values = [
        _fetch(texture, level, layer, [(left + right, x_mode), (top + down, y_mode)], seen)[:, channel]
        for right, down in corners
    ]
    return np.stack(corner_values, 1)


def _fetch(
    texture: Texture,
    level: Array,
    layer: Array | None,
    places: list[tuple[Array, int]],
    seen: Seen = None,
    counts: Array | np.bool_ | bool = True,
) -> Array:
    """The texels at whole places. counts: which of them matter."""
    sizes = (level.shape[2], level.shape[1], level.shape[0])
    index: list[Array] = []
    inside: Array = np.ones((), bool)
    for axis, (place, mode) in enumerate(places):
        where, fits = _address(place, sizes[axis], mode)
        index.append(where)
        inside = inside & fits
    zero = np.zeros_like(index[0])
    x, y, z = (*index, zero, zero)[:3]
    if layer is not None:
        z = np.clip(layer, 0, level.shape[0] - 1)
    if seen is not None:
        seen(level, z, y, x, inside & counts)
    values = texels(texture, level[z, y, x])
    values = np.pad(values, ((0, 0), (0, 4 - values.shape[1])))
    return np.where(np.broadcast_to(inside, (len(values),))[:, None], values, _border(texture, level))


def _border(texture: Texture, level: Array) -> Array:
    """The colour of what is outside: with the steps that the texels have, the low bits of the floats where
    integers are read; 0 in channels that the texture does not have. An H200 has it so.
    """
    border = np.array(texture.border, np.float32)
    border[level.shape[3] :] = 0
    if level.dtype.kind not in "ui":
        return border.astype(np.float64)
    if texture.reads_integers or level.dtype.itemsize == 4:
        return border.view(np.uint32).astype(level.dtype).astype(np.float64)
    limits = np.iinfo(level.dtype)
    steps = np.ceil(border.astype(np.float64) * limits.max - 0.5)  # halves go down
    steps = np.clip(steps, -limits.max if limits.min else 0, limits.max)
    return np.asarray(steps / limits.max, np.float64)
