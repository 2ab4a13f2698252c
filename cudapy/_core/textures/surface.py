"""Surfaces: arrays that kernels read and write, element by element."""

from __future__ import annotations

from ...driver import CUsurfObject
from ..context.current import owning
from .array import OpaqueArray
from .bindless import BindlessObject
from .resource import ResourceDescriptor, required


class SurfaceObject(BindlessObject):
    """An array that kernels read and write by `surf2Dread`, `surf2Dwrite` and their siblings.

    `Device.create_surface_object` makes one of an OpaqueArray; `launch` takes it for a `cudaSurfaceObject_t`.
    The array stays as long as it. Source: cuSurfObjectCreate, cuSurfObjectDestroy.
    """

    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError("a SurfaceObject comes from dev.create_surface_object()")

    @classmethod
    def _new(cls, context: int, resource: ResourceDescriptor) -> SurfaceObject:
        """A new surface in `context`, which is current."""
        source = required(resource)._source
        if not isinstance(source, OpaqueArray):
            raise ValueError(f"a surface is made of an OpaqueArray, not of a {type(source).__name__}")
        if not source.is_surface_load_store:
            raise ValueError(f"{source!r} is not a surface: make it with is_surface_load_store=True")
        surface = cls.__new__(cls)
        handle = CUsurfObject()
        surface._own(context, handle, owning.cuSurfObjectDestroy, resource)
        owning.cuSurfObjectCreate(handle, resource._descriptor(surface._device_id))
        return surface
