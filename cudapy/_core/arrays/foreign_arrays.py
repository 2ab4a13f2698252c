"""What arrays of other libraries say of themselves, by each of the protocols, filled into a view."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

from ..._ffi import dlpack as dl
from ...driver import CUpointer_attribute, checked
from ..memory.dlpack import adopted
from ..streams.order import follow
from ..streams.stream import Stream
from . import element_types
from .array_interface import ADDRESS_SPACE, ArrayInterface, check_span, integer, read_array_interface
from .layout import StridedLayout

if TYPE_CHECKING:
    from .strided import StridedMemoryView

    V = TypeVar("V", bound=StridedMemoryView)


def from_any(view: V, obj: Any, stream_ptr: int | None) -> V:
    if hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__"):
        return from_dlpack(view, obj, stream_ptr)
    if hasattr(obj, "__cuda_array_interface__"):
        return from_cuda_array_interface(view, obj, stream_ptr)
    if hasattr(obj, "__array_interface__"):
        return from_interface(view, obj)
    raise BufferError(
        f"a {type(obj).__name__} has neither __dlpack__ nor __cuda_array_interface__ nor __array_interface__"
    )


def _asked_stream(stream_ptr: int | None) -> int:
    if stream_ptr is None:
        raise BufferError("which stream will use the array? stream_ptr is its address, or -1 for no order")
    return int(stream_ptr)


def _check_kind(kind: int) -> None:
    if kind not in (dl.CPU, dl.CUDA, dl.CUDA_HOST, dl.CUDA_MANAGED):
        raise BufferError(f"device type {kind} of DLPack is neither the host nor CUDA")


def from_dlpack(view: V, obj: Any, stream_ptr: int | None) -> V:
    kind, device_id = (int(number) for number in obj.__dlpack_device__())
    _check_kind(kind)
    asked: dict[str, Any] = {}
    if kind == dl.CUDA:
        asked["stream"] = _asked_stream(stream_ptr) or 1  # DLPack has no 0; the default streams wait for 1
    try:
        capsule = obj.__dlpack__(max_version=dl.VERSION, **asked)
    except TypeError:  # a library that knows no versions
        capsule = obj.__dlpack__(**asked)
    return from_capsule(view, capsule, obj, kind, device_id)


def from_capsule(view: V, capsule: Any, obj: Any, kind: int, device_id: int) -> V:
    described = dl.describe(capsule)
    of_capsule = described.device_type, described.device_id
    if _memory(*of_capsule) != _memory(kind, device_id):
        raise BufferError(
            f"the capsule of a {type(obj).__name__} is on device {of_capsule} of"
            f" DLPack, __dlpack_device__ says {(kind, device_id)}"
        )
    view._kept, view._dlpack_device, view.exporting_obj = capsule, (kind, device_id), obj
    view.ptr, view.readonly = described.address, described.is_readonly
    view.is_device_accessible = kind != dl.CPU
    if kind == dl.CUDA:
        view.device_id = device_id
    else:
        view.device_id = -1 if kind == dl.CPU else int(checked.cuCtxGetDevice())
    view._element = element_types.Element(described.code, described.bits, described.lanes)
    view._layout = StridedLayout(described.shape, described.strides, view._element.size)
    try:
        check_span(view.ptr, view._layout)
    except ValueError as error:
        raise BufferError(f"the capsule of a {type(obj).__name__} is not valid: {error}") from None
    return view


def from_tensor(view: V, address: int) -> V:
    """A view of the versioned tensor at `address`, which is the view's own from then on. No order is made."""
    capsule = adopted(address)
    described = dl.describe(capsule)
    _check_kind(described.device_type)
    return from_capsule(view, capsule, capsule, described.device_type, described.device_id)


def _memory(kind: int, device_id: int) -> tuple[int, int]:
    """Which memory a device of DLPack is: page-locked or not, that of the host is one."""
    return (dl.CPU, 0) if kind in (dl.CPU, dl.CUDA_HOST) else (kind, device_id)


def from_cuda_array_interface(view: V, obj: Any, stream_ptr: int | None) -> V:
    interface = obj.__cuda_array_interface__
    array = read_array_interface(obj, interface, is_cuda=True)
    what = f"__cuda_array_interface__ of a {type(obj).__name__}"
    try:
        version = integer(interface.get("version", 0), "version", 2**31)
        producer = interface.get("stream")
        if producer is not None:
            producer = integer(producer, "stream", ADDRESS_SPACE)
    except (TypeError, ValueError) as error:
        raise BufferError(f"{what} is not valid: {error}") from error
    if version < 3:
        if hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__"):  # a tensor of PyTorch
            return from_dlpack(view, obj, stream_ptr)
        raise BufferError(f"{what} must have version 3, which says what to wait for, or __dlpack__ beside it")
    asked = _asked_stream(stream_ptr)
    if producer == 0:
        raise BufferError("stream 0 is ambiguous in __cuda_array_interface__: 1 is the legacy default stream")
    if producer is not None and asked != -1:
        follow(Stream.from_handle(asked), Stream.from_handle(producer))
    _fill(view, obj, array)
    view.is_device_accessible = True
    if view.ptr:
        ordinal = CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        view.device_id = int(checked.cuPointerGetAttribute(ordinal, view.ptr))
    else:
        view.device_id = int(checked.cuCtxGetDevice())
    return view


def from_interface(view: V, obj: Any) -> V:
    _fill(view, obj, read_array_interface(obj, obj.__array_interface__))
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(obj, numpy.generic):
        view.readonly = True  # what is seen is a copy: a scalar cannot be changed
    return view


def _fill(view: V, obj: Any, array: ArrayInterface) -> None:
    view.ptr, view.readonly, view.exporting_obj = array.address, array.readonly, obj
    view._dtype, view._element, view._layout = array.dtype, element_types.of(array.dtype), array.layout
    view._kept = array.keep
