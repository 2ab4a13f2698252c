"""Structs and unions of the raising faces: what those of `cuda.bindings` have beside their fields.

Each is a view of memory or has memory of its own. `ptr`, or `int`, is the address; `from_ptr`, `from_data`
and `from_buffer` make one of memory that is there; two are equal that have the same bytes. Of an ArrayStruct
programs make arrays, too: `IOParams(4)`.
"""

from __future__ import annotations

import ctypes

from . import fields
from .integers import exact_int
from .structs import Struct, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    import numpy

    Self = TypeVar("Self", bound="Face")


class Face:
    """What structs and unions share."""

    __slots__ = ()

    if not TYPE_CHECKING:  # which know the fields

        def __init__(self, **values):  # an address is for from_ptr
            super().__init__(**values)

        def _with_version(self, **values):
            super()._with_version(**values)

    @property
    def ptr(self) -> int:
        """The address."""
        return ctypes.addressof(self)  # type: ignore[arg-type]

    @classmethod
    def from_ptr(cls: type[Self], ptr: int, readonly: bool = False, owner: object = None) -> Self:
        """The one at the address `ptr`: the memory itself, with `owner`, which is kept alive; else a copy.

        Raises ValueError for the null pointer, and for `readonly`, which ctypes cannot hold anybody to.
        """
        view = _at(cls, ptr, readonly)
        if owner is None:
            return type(cls).from_buffer_copy(cls, view)  # type: ignore[attr-defined, no-any-return]
        view._keep_ = {-1: owner}
        return view  # type: ignore[no-any-return]

    @classmethod
    def from_data(cls: type[Self], data: Any) -> Self:
        """The one in a NumPy array of its size: the same memory."""
        size, wanted = memoryview(data).nbytes, ctypes.sizeof(cls)  # type: ignore[arg-type]
        if size != wanted:
            raise ValueError(f"{cls.__name__}.from_data: data must have {wanted} bytes, not {size}")
        return cls.from_buffer(data)  # type: ignore[attr-defined, no-any-return]

    def __int__(self) -> int:
        return self.ptr

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bytes(self) == bytes(other)  # type: ignore[call-overload, no-any-return]

    __hash__ = None  # type: ignore[assignment]


class FaceStruct(Face, Struct):
    """A struct."""


class FaceUnion(Face, Union):
    """A union."""


class ArrayStruct(FaceStruct):
    """A struct: `Class()`, or with its fields as keywords. `Class(n)`, n > 1, is an array of n of them: a
    ctypes array, whose items are views, with `ptr`.
    """

    if not TYPE_CHECKING:

        def __new__(cls, size=1, **values):
            if type(size) is int and size == 1:
                return super().__new__(cls, **values)
            if values:
                raise TypeError(f"an array of {cls.__name__} takes no fields: set those of its items")
            return _array_type(cls, size)()

        def __init__(self, size=1, **values):
            super().__init__(**values)

        @classmethod
        def from_ptr(cls, ptr, size=1, readonly=False, owner=None):
            """The `size` structs at the address `ptr`, the memory itself; `owner` is kept alive.

            Raises ValueError for the null pointer, and for `readonly`, which ctypes cannot hold anybody to.
            """
            view = _at(cls if size == 1 else _array_type(cls, size), ptr, readonly)
            view._keep_ = {-1: owner}
            return view

        @classmethod
        def from_data(cls, data):
            """The structs in a NumPy array, whose size says how many there are: the same memory."""
            return _in_buffer(cls, data, f"{cls.__name__}.from_data: data")

        @classmethod
        def from_buffer(cls, buffer):
            """The structs in a writable buffer, whose size says how many there are: the same memory."""
            return _in_buffer(cls, buffer, f"{cls.__name__}.from_buffer: the buffer")


def _at(cls: Any, ptr: int, readonly: bool) -> Any:
    """A view of the memory at an address."""
    if readonly:
        raise ValueError(f"{cls.__name__}.from_ptr: readonly must be False: ctypes lets all fields be set")
    address = exact_int(ptr, f"{cls.__name__}.from_ptr: ptr")
    if not address:
        raise ValueError(f"{cls.__name__}.from_ptr: ptr must not be null")
    return cls.from_address(address)


def _in_buffer(cls: Any, buffer: Any, what: str) -> Any:
    """A view of all of a buffer: a struct, or an array of them."""
    size, item = memoryview(buffer).nbytes, ctypes.sizeof(cls)
    if not size or size % item:
        raise ValueError(f"{what} must have a multiple of {item} bytes, not {size}")
    if size == item:
        return type(cls).from_buffer(cls, buffer)
    return _array_type(cls, size // item).from_buffer(buffer)


def _array_type(cls: Any, size: int) -> Any:
    """The type of arrays of `size` structs."""
    what = f"the size of an array of {cls.__name__}"
    try:
        size = exact_int(size, what)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {size!r}") from None
    if size < 1:
        raise ValueError(f"an array of {cls.__name__} has one item or more, not {size}")
    address = {"ptr": property(ctypes.addressof), "__int__": lambda array: ctypes.addressof(array)}
    return type(f"{cls.__name__}_{size}", (cls * size,), address)


def dtype(cls: Any) -> numpy.dtype[Any]:
    """The type of NumPy with the fields of a struct or union at the places that C has them.

    `numpy.dtype(cls)` lays them out anew, and aligns a union inside a struct by its bytes.
    """
    import numpy

    declared = {name: getattr(cls, name) for name in cls._makers_}
    return numpy.dtype(
        {
            "names": list(declared),
            "formats": [_format(field) for field in declared.values()],
            "offsets": [field.raw.offset for field in declared.values()],
            "itemsize": ctypes.sizeof(cls),
        }
    )


def _format(field: fields.Field) -> Any:
    """What NumPy takes for the type of a field: addresses are signed, and characters, as bytes are not."""
    if isinstance(field, fields.Bytes):
        return "i1" if field.low else "u1", (field.length,)
    if isinstance(field, fields.Items):
        aggregate = issubclass(field.item, (ctypes.Structure, ctypes.Union))
        return dtype(field.item) if aggregate else field.item, (field.length,)
    if isinstance(field, fields.Nested):
        return dtype(field.cls)
    if isinstance(field, fields.EnumField):
        return f"i{field.raw.size}"
    if isinstance(field, (fields.Pointer, fields.Structs, fields.Text)):
        return "intp"
    return field.cls
