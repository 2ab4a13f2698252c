"""The dictionaries of `__array_interface__` and `__cuda_array_interface__`, read strictly.

A producer states an address and a layout, and nothing vouches for them but the protocol's own rules. What
breaks one is a BufferError here, before anything follows the address.

Source: https://numpy.org/doc/stable/reference/arrays.interface.html,
https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._ffi.buffers import start_of
from .layout import StridedLayout

if TYPE_CHECKING:
    import numpy

ADDRESS_SPACE = 1 << 64
MAX_AXES = 64  # of NumPy and of every library that exchanges arrays with it


class InvalidArrayInterface(BufferError, ValueError):
    """An array interface with a wrong value: caught as a ValueError too, as cuda.core raises for strides."""


class ArrayInterface(NamedTuple):
    """A checked dictionary. keep: what has to stay alive as long as the address is used."""

    address: int
    readonly: bool
    layout: StridedLayout
    dtype: numpy.dtype[Any]
    keep: object


def read_array_interface(obj: object, interface: Any, is_cuda: bool = False) -> ArrayInterface:
    """What the `interface` of `obj` says. Raises BufferError for what the protocol does not allow.

    is_cuda: whether it is `__cuda_array_interface__`, whose data is always an address. The result keeps the
    dictionary: NumPy's scalars hold their memory through it.
    """
    name = "__cuda_array_interface__" if is_cuda else "__array_interface__"
    what = f"{name} of a {type(obj).__name__}"
    if not isinstance(interface, dict):
        raise BufferError(f"{what} is a {type(interface).__name__}, not a dict")
    try:
        if interface.get("mask") is not None:
            raise ValueError("an array with a mask is not one strided array")
        dtype = _dtype(interface)
        layout = _layout(interface, dtype.itemsize)
        low, high = (bound * dtype.itemsize for bound in layout.offset_bounds)
        end = high + dtype.itemsize
        data, offset = interface.get("data"), integer(interface.get("offset", 0), "offset", ADDRESS_SPACE)
        if is_cuda or isinstance(data, (tuple, list)):
            if offset:
                raise ValueError("an offset goes with a buffer, not with an address")
            address, readonly = address_and_flag(data)
            keep: object = interface
        else:
            owner = obj if data is None else data
            if isinstance(owner, str):
                raise TypeError("data is a str, not (address, flag) or a buffer")
            view = memoryview(owner)  # type: ignore[arg-type]
            if layout.volume and (offset + low < 0 or offset + end > view.nbytes):
                raise ValueError(
                    f"bytes {offset + low} to {offset + end} are outside of data, which has {view.nbytes}"
                )
            address, readonly = start_of(view, True, "data") + offset, view.readonly
            keep = interface, view
        check_span(address, layout)
    except KeyError as error:
        raise BufferError(f"{what} is not complete: no {error}") from error
    except ValueError as error:
        raise InvalidArrayInterface(f"{what} is not valid: {error}") from error
    except TypeError as error:
        raise BufferError(f"{what} is not valid: {error}") from error
    return ArrayInterface(address, readonly, layout, dtype, keep)


def address_and_flag(data: Any) -> tuple[int, bool]:
    """`data` of either protocol: an address of 64 bits, and whether the memory is read-only."""
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise TypeError(f"data is {_kind(data)}, not (address, flag)")
    address, readonly = data
    if type(readonly).__name__ not in ("bool", "bool_", "int"):
        raise TypeError(f"the flag in data is {_kind(readonly)}, not a bool")
    return integer(0 if address is None else address, "the address in data", ADDRESS_SPACE), bool(readonly)


def check_span(address: int, layout: StridedLayout) -> None:
    """Raise ValueError for elements that are at no address, or at that of the null pointer."""
    if not layout.volume:
        return
    low, high = (bound * layout.itemsize for bound in layout.offset_bounds)
    if not address:
        raise ValueError(f"{layout.volume} elements are at the null pointer")
    if address + low < 0 or address + high + layout.itemsize > ADDRESS_SPACE:
        raise ValueError(f"{layout} at {address:#x} reaches beyond 64-bit addresses")


def integer(value: Any, what: str, limit: int, least: int = 0) -> int:
    """`value`, an int from `least` up to `limit`, exclusively. Raises TypeError and ValueError."""
    if type(value).__name__ in ("bool", "bool_") or not hasattr(type(value), "__index__"):
        raise TypeError(f"{what} is {_kind(value)}, not an int")
    number = operator.index(value)
    if not least <= number < limit:
        raise ValueError(f"{what} is outside of {least} .. {limit - 1}")
    return int(number)


def _dtype(interface: dict[str, Any]) -> numpy.dtype[Any]:
    import numpy

    typestr, descr = interface["typestr"], interface.get("descr")
    if not isinstance(typestr, str):
        raise TypeError(f"typestr is {_kind(typestr)}, not a str")
    try:
        dtype = numpy.dtype(typestr)
    except (SyntaxError, DeprecationWarning):  # NumPy parses types as Python; "a" is an old "S"
        raise TypeError(f"typestr {typestr!r} is not understood") from None
    if dtype.hasobject:
        raise ValueError("an array of Python objects has no elements that a device can use")
    if dtype.names is not None or dtype.subdtype is not None or not dtype.itemsize:
        raise ValueError(f"typestr is {typestr!r}, not one type with a size")
    if descr is None:
        return dtype
    if not isinstance(descr, list) or not all(isinstance(field, tuple) for field in descr):
        raise TypeError("descr is not a list of tuples")
    try:
        if len(descr) == 1 and descr[0][:1] == ("",) and dtype.kind != "V":
            fields = numpy.dtype(descr[0][1])
        else:
            fields = numpy.lib.format.descr_to_dtype(descr)
    except (LookupError, SyntaxError, RecursionError, DeprecationWarning) as error:  # it is no description
        raise ValueError(f"descr describes no type: {error}") from None
    if fields.hasobject:
        raise ValueError("an array of Python objects has no elements that a device can use")
    if fields.itemsize != dtype.itemsize or (dtype.kind != "V" and fields != dtype):
        raise ValueError(f"descr is {fields}, typestr is {dtype}")
    return fields if fields.names else dtype


def _layout(interface: dict[str, Any], itemsize: int) -> StridedLayout:
    shape, strides = interface["shape"], interface.get("strides")
    for name, value in (("shape", shape), ("strides", strides)):
        if not isinstance(value, (tuple, list)) and (name == "shape" or value is not None):
            raise TypeError(f"{name} is {_kind(value)}, not a tuple")
    if len(shape) > MAX_AXES:
        raise ValueError(f"shape has {len(shape)} axes, more than {MAX_AXES}")
    extents = [integer(extent, "an extent in shape", 2**63) for extent in shape]
    if strides is None:
        return StridedLayout.dense(extents, itemsize)
    steps = [integer(stride, "a stride", 2**63, -(2**63)) for stride in strides]
    return StridedLayout(extents, steps, itemsize, divide_strides=True)


def _kind(value: object) -> str:
    return f"of type {type(value).__name__}"
