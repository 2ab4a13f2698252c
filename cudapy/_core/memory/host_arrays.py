"""Host arrays: what core takes for one, in which order its elements are copied, and new ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from ..._ffi.shown import type_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex

    import numpy
    from numpy.typing import DTypeLike


def host_bytes(host: Any, what: str, takes: str = "a Buffer or a host array") -> memoryview:
    """The memory of a host array, whatever its elements are, but for Python objects. Raises TypeError.

    what, takes: the name of the parameter, and what it may be, for the message.
    """
    if isinstance(host, (list, tuple, int, float, complex)) and not hasattr(host, "dtype"):
        raise TypeError(
            f"{what} must be an array: a Python {type(host).__name__} has no element type, as "
            f"np.{'array' if isinstance(host, (list, tuple)) else 'float32'}(...) has"
        )
    try:
        view = memoryview(host)
    except (TypeError, ValueError, BufferError) as error:  # elements without a name there: dates, bfloat16
        import numpy

        if not isinstance(host, (numpy.ndarray, numpy.generic)):
            if isinstance(error, ValueError):
                raise
            why = error if isinstance(error, BufferError) else None
            raise TypeError(f"{what} must be {takes}, not {type_name(host)}") from why
        view = memoryview(cast("Any", host.view(f"V{host.itemsize}")))
    if getattr(getattr(view.obj, "dtype", None), "hasobject", False):
        raise TypeError(f"{what} has Python objects for elements, which no device can use")
    return view


def contiguous(array: Any) -> tuple[Any, int]:
    """`array` in C order, a copy if it has another order, and its size in bytes."""
    view = host_bytes(array, "upload: array", "a host array")
    if not view.c_contiguous:
        import numpy

        array = numpy.ascontiguousarray(array)
    return array, view.nbytes


def elements(
    size: int, dtype: DTypeLike, shape: SupportsIndex | Sequence[int] | None, call: str
) -> tuple[numpy.dtype[Any], tuple[int, ...]]:
    """The element type and the extents of an array in a Buffer of `size` bytes; None: all of it, as one axis.

    Raises TypeError for Python objects, ValueError for a Buffer that is not a whole number of elements.
    """
    import numpy

    element = numpy.dtype(dtype)
    if element.hasobject:
        raise TypeError(f"{call}: elements of {element} are Python objects, which no device can use")
    if shape is None:
        if not element.itemsize or size % element.itemsize:
            raise ValueError(
                f"{call}: the Buffer has {size} bytes, no multiple of the {element.itemsize} of {element}"
            )
        shape = size // element.itemsize
    return element, (int(shape),) if hasattr(shape, "__index__") else tuple(shape)


def empty(
    size: int, dtype: DTypeLike, shape: SupportsIndex | Sequence[int] | None
) -> numpy.ndarray[Any, Any]:
    """A new array for what a Buffer of `size` bytes has. Raises ValueError for one that needs more."""
    import numpy

    element, extents = elements(size, dtype, shape, "download")
    needed = math.prod(extents) * element.itemsize
    if needed > size:
        raise ValueError(f"download: {extents} of {element} needs {needed} bytes, the Buffer has {size}")
    return numpy.empty(extents, element)
