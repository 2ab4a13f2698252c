"""What arrays of other libraries say of themselves, by each of the protocols, filled into a view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from .._ffi import dlpack as dl
from ..driver import CUpointer_attribute, checked
from . import element_types
from .layout import StridedLayout
from .stream import Stream
from .stream_order import follow

if TYPE_CHECKING:
    from .strided import StridedMemoryView

    V = TypeVar("V", bound=StridedMemoryView)


def from_any(view: V, obj: Any, stream_ptr: int | None) -> V:
    if hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__"):
        return from_dlpack(view, obj, stream_ptr)
    if hasattr(obj, "__cuda_array_interface__"):
        return from_cuda_array_interface(view, obj, stream_ptr)
    if hasattr(obj, "__array_interface__"):
        return from_interface(view, obj, obj.__array_interface__)
    raise BufferError(
        f"a {type(obj).__name__} has neither __dlpack__ nor __cuda_array_interface__ nor __array_interface__"
    )


def _asked_stream(stream_ptr: int | None) -> int:
    if stream_ptr is None:
        raise BufferError("which stream will use the array? stream_ptr is its address, or -1 for no order")
    return int(stream_ptr)


def from_dlpack(view: V, obj: Any, stream_ptr: int | None) -> V:
    kind, device_id = (int(number) for number in obj.__dlpack_device__())
    if kind not in (dl.CPU, dl.CUDA, dl.CUDA_HOST, dl.CUDA_MANAGED):
        raise BufferError(f"device type {kind} of DLPack is neither the host nor CUDA")
    asked: dict[str, Any] = {"stream": _asked_stream(stream_ptr)} if kind == dl.CUDA else {}
    try:
        capsule = obj.__dlpack__(max_version=dl.VERSION, **asked)
    except TypeError:  # a library that knows no versions
        capsule = obj.__dlpack__(**asked)
    found = dl.describe(capsule)
    view._kept, view.exporting_obj = capsule, obj
    view.ptr, view.readonly = found.address, found.is_readonly
    view.is_device_accessible = kind != dl.CPU
    if kind == dl.CUDA:
        view.device_id = device_id
    elif kind != dl.CPU:
        view.device_id = int(checked.cuCtxGetDevice())
    view._element = element_types.Element(found.code, found.bits, found.lanes)
    view._layout = StridedLayout(found.shape, found.strides, view._element.size)
    return view


def from_cuda_array_interface(view: V, obj: Any, stream_ptr: int | None) -> V:
    found = obj.__cuda_array_interface__
    if not isinstance(found, dict):
        raise BufferError(f"__cuda_array_interface__ is a {type(found).__name__}, not a dict")
    if found.get("version", 0) < 3:
        raise BufferError("__cuda_array_interface__ must have version 3, which says what to wait for")
    if found.get("mask") is not None:
        raise BufferError("an array with a mask is not one strided array")
    asked = _asked_stream(stream_ptr)
    producer = found.get("stream")
    if producer == 0:
        raise BufferError("stream 0 is ambiguous in __cuda_array_interface__: 1 is the legacy default stream")
    if producer is not None and asked != -1:
        follow(Stream.from_handle(asked), Stream.from_handle(producer))
    from_interface(view, obj, found)
    view.is_device_accessible = True
    if view.ptr:
        ordinal = CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        view.device_id = int(checked.cuPointerGetAttribute(ordinal, view.ptr))
    else:
        view.device_id = int(checked.cuCtxGetDevice())
    return view


def from_interface(view: V, obj: Any, found: Any) -> V:
    import numpy

    try:
        dtype = numpy.dtype(found["typestr"])
        address, readonly = found["data"]
        shape, strides = tuple(found["shape"]), found.get("strides")
    except (KeyError, TypeError, ValueError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else error
        raise BufferError(f"the array interface of a {type(obj).__name__} is not complete: {what}") from error
    if dtype.hasobject:
        raise BufferError("an array of Python objects has no elements that a device can use")
    view.ptr, view.readonly, view.exporting_obj = int(address or 0), bool(readonly), obj
    view._dtype, view._element = dtype, element_types.of(dtype)
    if strides is None:
        view._layout = StridedLayout.dense(shape, dtype.itemsize)
    else:
        view._layout = StridedLayout(shape, strides, dtype.itemsize, divide_strides=True)
    return view
