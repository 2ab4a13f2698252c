"""Textures and surfaces: arrays that kernels sample and write. The names of `cudapy.core.texture`.

    array = dev.create_opaque_array({"shape": (width, height), "format": "float32", "num_channels": 1})
    array.copy_from(picture, stream=stream)         # a host array or a Buffer
    texture = dev.create_texture_object(
        resource=ResourceDescriptor.from_opaque_array(array), options={"filter_mode": "linear"}
    )
    launch(stream, config, kernel, texture, out)    # for a cudaTextureObject_t

OpaqueArray, MipmappedArray  device memory in the order that textures have; made by a Device
ResourceDescriptor           what a texture or surface is made of: an array, or a Buffer
TextureObject                what a kernel samples: `tex2D`, `tex1Dfetch`; TextureObjectOptions say how
SurfaceObject                what a kernel reads and writes: `surf2Dread`, `surf2Dwrite`

They are loaded when they are asked for. The choices by name are in `cudapy.core.typing`.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..textures.array import OpaqueArray, OpaqueArrayOptions
    from ..textures.mipmapped_array import MipmappedArray, MipmappedArrayOptions
    from ..textures.resource import ResourceDescriptor
    from ..textures.surface import SurfaceObject
    from ..textures.texture import TextureObject, TextureObjectOptions

_FROM = {
    "OpaqueArray": "array",
    "OpaqueArrayOptions": "array",
    "MipmappedArray": "mipmapped_array",
    "MipmappedArrayOptions": "mipmapped_array",
    "ResourceDescriptor": "resource",
    "SurfaceObject": "surface",
    "TextureObject": "texture",
    "TextureObjectOptions": "texture",
}
"""Where the names are."""

__all__ = [
    "MipmappedArray",
    "MipmappedArrayOptions",
    "OpaqueArray",
    "OpaqueArrayOptions",
    "ResourceDescriptor",
    "SurfaceObject",
    "TextureObject",
    "TextureObjectOptions",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _FROM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = importlib.import_module(f"..textures.{_FROM[name]}", __package__)
        value = globals()[name] = getattr(module, name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
