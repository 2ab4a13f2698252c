"""What a texture or surface object is made of."""

from __future__ import annotations

from typing import Any

from ..._ffi.integers import exact_int
from ..._ffi.shown import type_name
from ...driver import (
    CUDA_RESOURCE_DESC,
    CUdevice_attribute,
    CUdeviceptr,
    CUresourcetype,
    checked,
)
from ..closable import NotCopyable
from ..memory.buffer import Buffer
from .array import OpaqueArray
from .choices import ArrayFormatType
from .elements import Elements, elements
from .mipmapped_array import MipmappedArray

_ADDRESS = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
_PITCH = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT


class ResourceDescriptor(NotCopyable):
    """The memory that a texture or surface object reads: made by one of the `from_...` constructors.

    It keeps the array or Buffer. Nothing of CUDA's is made yet. Source: CUDA_RESOURCE_DESC.
    """

    __slots__ = ("_elements", "_kind", "_plane", "_size_bytes", "_source")
    _elements: Elements | None  # None: those of the array
    _kind: str
    _plane: tuple[int, int, int] | None  # width, height, bytes from row to row
    _size_bytes: int | None
    _source: OpaqueArray | MipmappedArray | Buffer

    def __init__(self) -> None:
        raise TypeError("a ResourceDescriptor comes from one of its from_... constructors")

    @classmethod
    def _of(
        cls,
        kind: str,
        source: Any,
        elements: Elements | None = None,
        size_bytes: int | None = None,
        plane: tuple[int, int, int] | None = None,
    ) -> ResourceDescriptor:
        self = cls.__new__(cls)
        self._kind, self._source = kind, source
        self._elements, self._size_bytes, self._plane = elements, size_bytes, plane
        return self

    @classmethod
    def from_opaque_array(cls, array: OpaqueArray) -> ResourceDescriptor:
        """An array, for a texture, or for a surface if it was made with `is_surface_load_store`."""
        _require(array, OpaqueArray, "from_opaque_array")
        array._handle  # noqa: B018  # raises what a closed array has to say
        return cls._of("array", array)

    @classmethod
    def from_mipmapped_array(cls, mipmapped_array: MipmappedArray) -> ResourceDescriptor:
        """All levels of a mipmapped array, for a texture. A surface has one level: `get_level` gives it."""
        _require(mipmapped_array, MipmappedArray, "from_mipmapped_array")
        mipmapped_array._handle  # noqa: B018  # raises what a closed array has to say
        return cls._of("mipmapped_array", mipmapped_array)

    @classmethod
    def from_linear(
        cls,
        buffer: Buffer,
        *,
        format: Any,  # noqa: A002
        num_channels: int,
        size_bytes: int | None = None,
    ) -> ResourceDescriptor:
        """The elements of a Buffer, one after the other, for a texture that is read by `tex1Dfetch`.

        Such a texture has no filter, no normalized coordinates and no address modes: what is outside is 0.
        format, num_channels: of an element, as in OpaqueArrayOptions. size_bytes: how many bytes of the
        buffer belong to it, a multiple of an element; None: all.
        """
        _require(buffer, Buffer, "from_linear")
        element = elements(format, num_channels)
        available = buffer._size
        buffer._address  # noqa: B018  # raises what a closed buffer has to say
        size = available if size_bytes is None else exact_int(size_bytes, "from_linear: size_bytes")
        if not element.size <= size <= available:
            raise ValueError(
                f"from_linear: size_bytes must be {element.size} (an element) to {available} (the Buffer), "
                f"not {size}"
            )
        if size_bytes is not None and size % element.size:
            raise ValueError(f"from_linear: size_bytes is {size}, no multiple of {element.size} (an element)")
        return cls._of("linear", buffer, element, size)

    @classmethod
    def from_pitch2d(
        cls,
        buffer: Buffer,
        *,
        format: Any,  # noqa: A002
        num_channels: int,
        width: int,
        height: int,
        pitch_bytes: int,
    ) -> ResourceDescriptor:
        """`height` rows of `width` elements in a Buffer, for a texture of two dimensions.

        format, num_channels: of an element, as in OpaqueArrayOptions. pitch_bytes: from row to row, a
        multiple of `Device.properties.texture_pitch_alignment`. Raises ValueError for rows that the buffer
        has not.
        """
        _require(buffer, Buffer, "from_pitch2d")
        element = elements(format, num_channels)
        buffer._address  # noqa: B018  # raises what a closed buffer has to say
        columns = exact_int(width, "from_pitch2d: width")
        rows = exact_int(height, "from_pitch2d: height")
        pitch = exact_int(pitch_bytes, "from_pitch2d: pitch_bytes")
        if columns < 1 or rows < 1:
            raise ValueError(f"from_pitch2d: width and height must be at least 1, not {columns} x {rows}")
        row = columns * element.size
        if pitch < row:
            raise ValueError(f"from_pitch2d: pitch_bytes is {pitch}, a row has {row} bytes")
        if rows * pitch > buffer._size:
            raise ValueError(
                f"from_pitch2d: {rows} rows of {pitch} bytes are {rows * pitch}, "
                f"the Buffer has {buffer._size}"
            )
        return cls._of("pitch2d", buffer, element, None, (columns, rows, pitch))

    # -- for C ------------------------------------------------------------------------------------

    def _descriptor(self, device_id: int) -> CUDA_RESOURCE_DESC:
        """The descriptor for C. Raises ValueError for memory that lies where the device cannot read it."""
        desc, source, element = CUDA_RESOURCE_DESC(), self._source, self._elements
        if isinstance(source, OpaqueArray):
            desc.resType = CUresourcetype.CU_RESOURCE_TYPE_ARRAY
            desc.res.array.hArray = source._handle
        elif isinstance(source, MipmappedArray):
            desc.resType = CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
            desc.res.mipmap.hMipmappedArray = source._handle
        elif element is not None:
            _require_multiple(source._address, _ADDRESS, device_id, "the address of the Buffer")
            if self._plane is None:
                desc.resType = CUresourcetype.CU_RESOURCE_TYPE_LINEAR
                memory: Any = desc.res.linear
                memory.sizeInBytes = self._size_bytes
            else:
                desc.resType = CUresourcetype.CU_RESOURCE_TYPE_PITCH2D
                memory = desc.res.pitch2D
                memory.width, memory.height, memory.pitchInBytes = self._plane
                _require_multiple(memory.pitchInBytes, _PITCH, device_id, "pitch_bytes")
            memory.devPtr = CUdeviceptr(source._address)
            memory.format, memory.numChannels = element.cu_format, element.num_channels
        return desc

    @property
    def _read_as(self) -> Elements:
        """The elements that a texture reads."""
        if self._elements is not None:
            return self._elements
        source: Any = self._source
        elements: Elements = source._shape.elements
        return elements

    # -- what it is -------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """Which constructor made it: "array", "mipmapped_array", "linear" or "pitch2d"."""
        return self._kind

    @property
    def source(self) -> OpaqueArray | MipmappedArray | Buffer:
        """The array or the Buffer."""
        return self._source

    @property
    def format(self) -> ArrayFormatType | None:
        """The type of a channel, of a Buffer; None: that of the array."""
        return None if self._elements is None else self._elements.format

    @property
    def num_channels(self) -> int | None:
        """The channels of an element, of a Buffer; None: those of the array."""
        return None if self._elements is None else self._elements.num_channels

    @property
    def size_bytes(self) -> int | None:
        """The bytes that belong to it, of kind "linear"; else None."""
        return self._size_bytes

    @property
    def width(self) -> int | None:
        """The elements of a row, of kind "pitch2d"; else None."""
        return None if self._plane is None else self._plane[0]

    @property
    def height(self) -> int | None:
        """The rows, of kind "pitch2d"; else None."""
        return None if self._plane is None else self._plane[1]

    @property
    def pitch_bytes(self) -> int | None:
        """The bytes from row to row, of kind "pitch2d"; else None."""
        return None if self._plane is None else self._plane[2]

    def __repr__(self) -> str:
        return f"<ResourceDescriptor of {self._source!r}>"


def required(resource: Any) -> ResourceDescriptor:
    """`resource`. Raises TypeError for anything but a ResourceDescriptor."""
    if not isinstance(resource, ResourceDescriptor):
        raise TypeError(
            "resource must be a ResourceDescriptor, which its from_... constructors make, "
            f"not {type_name(resource)}"
        )
    return resource


def _require(source: object, cls: type, what: str) -> None:
    if not isinstance(source, cls):
        raise TypeError(f"{what}() is for objects of {cls.__name__}, not of {type_name(source)}")


def _require_multiple(value: int, attribute: CUdevice_attribute, device_id: int, what: str) -> None:
    unit = checked.cuDeviceGetAttribute(attribute, device_id)
    if value % unit:
        raise ValueError(f"{what} is {value:#x}: textures of this device need a multiple of {unit}")
