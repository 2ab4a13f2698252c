"""NumPy's types of the structs of the raising faces."""

from __future__ import annotations

import ctypes

from . import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy


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
