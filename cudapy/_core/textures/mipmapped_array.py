"""Mipmapped arrays: an array, and the same smaller and smaller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._ffi.integers import exact_int
from ...driver import CUmipmappedArray, checked
from ..context.current import owning
from ..context.green import kept_number
from ..options import accepted, known_names
from ..ownership.deferred import deferred
from ..ownership.owned import Ownership
from .array import OpaqueArray, destroy_in_context
from .element_array import ElementArray
from .elements import shape_of


@known_names
@dataclass
class MipmappedArrayOptions:
    """What `Device.create_mipmapped_array` makes.

    shape, format, num_channels, is_surface_load_store: those of level 0, as in OpaqueArrayOptions.
    num_levels: how many there are, each with half the extents of the one before, rounded down and at least 1;
    from 1 to that which has but one element. Raises TypeError and ValueError for others.
    """

    shape: tuple[int, ...]
    format: Any
    num_channels: int
    num_levels: int
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        self.shape, (self.format, self.num_channels), self.is_surface_load_store = shape_of(self)
        self.num_levels = self._levels()

    def _levels(self) -> int:
        number, most = exact_int(self.num_levels, "num_levels"), max(self.shape).bit_length()
        if not 1 <= number <= most:
            raise ValueError(f"num_levels must be 1 to {most} for shape = {self.shape}, not {number}")
        return number


class MipmappedArray(ElementArray):
    """An array in several sizes, between which a texture chooses: `Device.create_mipmapped_array`.

    `get_level` gives each of them, to be copied to or written. Given back with its last reference or by
    `close`, once none of its levels is referred to, nor a texture made of it.
    Source: cuMipmappedArrayCreate, cuMipmappedArrayDestroy.
    """

    __slots__ = ("_num_levels",)
    _handle: CUmipmappedArray
    _num_levels: int

    def __init__(self) -> None:
        raise TypeError("a MipmappedArray comes from dev.create_mipmapped_array()")

    @classmethod
    def _new(cls, context: int, options: MipmappedArrayOptions | Mapping[str, Any]) -> MipmappedArray:
        """A new mipmapped array in `context`, which is current."""
        chosen = accepted(MipmappedArrayOptions, options)
        deferred.drain()
        array = cls.__new__(cls)
        array._shape, array._num_levels = shape_of(chosen), chosen._levels()
        array._handle, array._device_id = CUmipmappedArray(), int(checked.cuCtxGetDevice())
        array._ownership = Ownership(
            destroy_in_context, array._handle, kept_number(context), owning.cuMipmappedArrayDestroy
        )
        owning.cuMipmappedArrayCreate(array._handle, array._shape.descriptor(), array._num_levels)
        return array

    def _retain(self) -> object:
        self._handle  # noqa: B018  # raises what a closed array has to say
        ownership: Any = self._ownership
        ownership.mark_shared()
        return ownership

    def get_level(self, level: int) -> OpaqueArray:
        """The array of one level, counted from 0, which keeps all of them. Source: cuMipmappedArrayGetLevel.

        Raises ValueError for a level that there is not.
        """
        number, handle = exact_int(level, "get_level: level"), self._handle
        if not 0 <= number < self._num_levels:
            raise ValueError(f"get_level: there is no level {number}: there are {self._num_levels}, from 0")
        level_handle = checked.cuMipmappedArrayGetLevel(handle, number)
        array = OpaqueArray._of(level_handle, self._device_id, self._shape.level(number), None)
        array._mipmapped_array = self._retain()
        return array

    @property
    def num_levels(self) -> int:
        """How many levels there are."""
        return self._num_levels

    def __repr__(self) -> str:
        state = ", closed" if self.is_closed else ""
        return f"<MipmappedArray of {self._num_levels} levels, {self._shape}{state}>"
