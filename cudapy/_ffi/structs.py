"""C structs and unions as Python classes whose annotations are the fields.

    class CUmemLocation(Struct):
        type: CUmemLocationType
        id: c_int

A field's type is a scalar of `scalars`, an enum, a handle or another struct; or, in the form
`Annotated[what Python sees, "what C has"]`, an array ("char[64]", "unsigned int[4]") or a pointer to structs
("CUlaunchAttribute *", "numAttrs": the field that counts them). Neighbours that end in "union" share their
memory, as the members of an anonymous union do. Reading a struct inside a struct gives a view that keeps the
outer one alive. `class CUtensorMap(Struct, align=64)` is allocated at multiples of 64 bytes. The field
`version` of `class nvmlMemory_v2_t(Struct, version=2)` starts as NVML's number for it, which has the size of
the struct in its lower 24 bits; with `sized=False` as the version alone.
"""

from __future__ import annotations

import ctypes
import sys

from . import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UnionMeta: Any = type(ctypes.Union)


class _Declared:
    """Makes ctypes' `_fields_` of the annotations, and puts our descriptors in front of those of ctypes."""

    def __new__(
        meta,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, Any],
        align: int = 0,
        version: int = 0,
        sized: bool = True,
    ) -> Any:
        scope = sys.modules[body["__module__"]].__dict__
        makers: dict[str, Any] = {}
        declared: list[tuple[str, Any]] = []
        anonymous: list[str] = []
        open_union: list[tuple[str, Any]] | None = None
        for field, text in body.get("__annotations__", {}).items():
            cls = body.get(text) or scope.get(text)
            extra = ""
            if cls is not None:
                storage, makers[field] = fields.plain(cls)
            else:
                what, *c_text = text[:-1].split(", '")  # Annotated[what, 'C type', 'extra']
                if not what.startswith("Annotated[") or not c_text:
                    raise TypeError(f"{name}.{field}: {text!r} is not a C type")
                c_type, extra = [part.rstrip("'") for part in (*c_text, "")][:2]
                storage, makers[field] = fields.annotated(c_type, extra, body, scope)
            if extra != "union":
                open_union = None
                declared.append((field, storage))
                continue
            if open_union is None:
                open_union = []
                anonymous.append(f"_anonymous{len(anonymous)}")
                declared.append((anonymous[-1], open_union))
            open_union.append((field, storage))
        if declared or not any(
            getattr(base, "_fields_", ()) for base in bases
        ):  # else a union would be empty
            body["_fields_"] = [
                (field, _UnionMeta(field, (ctypes.Union,), {"_fields_": storage}))
                if isinstance(storage, list)
                else (field, storage)
                for field, storage in declared
            ]
        body["_anonymous_"] = anonymous
        body["_makers_"] = makers
        body["_alignment_"] = align
        if align:
            body["_spare_"] = []
        body.setdefault("__slots__", ())
        return super().__new__(meta, name, bases, body)  # type: ignore[call-arg]

    def __init__(
        cls,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, Any],
        align: int = 0,
        version: int = 0,
        sized: bool = True,
    ) -> None:
        super().__init__(name, bases, body)  # type: ignore[call-arg]  # ctypes lays the fields out by now
        if version:
            size = ctypes.sizeof(cls)  # type: ignore[arg-type]
            cls._version_ = size | version << 24 if sized else version
            cls.__init__ = cls._with_version  # type: ignore[attr-defined, misc]
        for field, maker in body["_makers_"].items():
            descriptor = maker(cls.__dict__[field])
            if isinstance(descriptor, fields.Structs) and descriptor.cls is None:
                descriptor.cls = cls
            descriptor.what = f"{name}.{field}"
            setattr(cls, field, descriptor)
        counted = [item for item in cls.__dict__.values() if isinstance(item, fields.Structs) and item.count]
        for count in {item.count for item in counted}:
            number = cls.__dict__[count]
            descriptor = fields.Count(number.raw, number.cls)
            descriptor.what = number.what
            descriptor.lists = tuple(item for item in counted if item.count == count)
            setattr(cls, count, descriptor)


def _more(cls: Any) -> Any:
    """A struct of a class with an alignment. Others beside it are spare, if they are aligned there."""
    size, alignment = ctypes.sizeof(cls), cls._alignment_
    count = 1 if size % alignment else _TOGETHER
    block = (ctypes.c_char * (count * size + alignment))()
    structs = (cls * count).from_buffer(block, -ctypes.addressof(block) % alignment)
    first, *rest = structs
    cls._spare_ += rest
    return first


_TOGETHER = 32


class StructType(_Declared, type(ctypes.Structure)):  # type: ignore[misc]
    """The type of struct classes."""


class UnionType(_Declared, type(ctypes.Union)):  # type: ignore[misc]
    """The type of union classes."""


class Aggregate:
    """What structs and unions share.

    `Class(field=value, ...)` starts from zero; `Class(_ptr=address)` is a view of the struct at `address`.
    """

    __slots__ = ()
    _makers_: dict[str, Any]
    _alignment_: int
    _version_ = 0
    _spare_: list[Any]
    """Structs of a class with an alignment that nobody has had: made together, since one takes long."""

    if not TYPE_CHECKING:  # which take the class from __init__

        def __new__(cls, _ptr=0, **values):
            if _ptr:
                return cls.from_address(_ptr)
            if cls._alignment_:
                try:
                    return cls._spare_.pop()
                except IndexError:
                    return _more(cls)
            return super().__new__(cls)

    def __init__(self, _ptr: int = 0, **values: Any) -> None:
        for name, value in values.items():
            if not isinstance(getattr(type(self), name, None), property):
                raise TypeError(f"{type(self).__name__} has no field {name!r}")
            setattr(self, name, value)

    def _with_version(self: Any, _ptr: int = 0, **values: Any) -> None:
        """The constructor of a struct that says which version of it the caller has."""
        if not _ptr:
            self.version = self._version_
        Aggregate.__init__(self, _ptr, **values)

    _at_: Any
    """What C takes for the address of the struct, once `convert.address` has been asked for it."""

    def getPtr(self) -> int:
        """The address of the struct."""
        return ctypes.addressof(self)  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"{type(self).__name__} objects cannot be copied or pickled: they may hold addresses")

    def __repr__(self) -> str:
        lines = []
        for name in self._makers_:
            field = getattr(type(self), name)
            if isinstance(field, fields.Nested):
                lines.append(f"{name} :")
                lines += ["    " + line for line in field.text(self).splitlines()]
            else:
                lines.append(f"{name} : {field.text(self)}")
        return "\n".join(lines)


if TYPE_CHECKING:

    class Struct(Aggregate, ctypes.Structure):
        """Base of every C struct."""

        def __init_subclass__(cls, align: int = 0, version: int = 0, sized: bool = True) -> None: ...

    class Union(Aggregate, ctypes.Union):
        """Base of every C union."""

        def __init_subclass__(cls, align: int = 0) -> None: ...

else:
    _SLOTS = ("_at_", "_keep_")
    if not hasattr(ctypes.Structure, "__weakref__"):  # PyPy's has it
        _SLOTS += ("__weakref__",)

    class Struct(Aggregate, ctypes.Structure, metaclass=StructType):
        """Base of every C struct."""

        __slots__ = _SLOTS

    class Union(Aggregate, ctypes.Union, metaclass=UnionType):
        """Base of every C union."""

        __slots__ = _SLOTS
