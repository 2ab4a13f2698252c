"""What a collective reads and writes: memory of any library, as an address, a count and a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...nccl import ncclDataType_t as DataType
from ..arrays.strided import StridedMemoryView
from ..memory.buffer import Buffer
from .element import BYTES, Kind, kind_of, kind_of_element

if TYPE_CHECKING:
    from ..streams.stream import Stream

UINT8 = DataType.ncclUint8


class Operand(NamedTuple):
    """`length` elements at an address. keep: what has to live as long as the work that uses them."""

    address: int
    length: int
    kind: Kind
    keep: object

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self.length * self.kind.itemsize

    def counted(self, count: int) -> tuple[int, DataType]:
        """How many items of which type NCCL copies for `count` elements."""
        kind = self.kind
        if kind.data_type is None:
            return count * kind.itemsize, UINT8
        return count * kind.parts, kind.data_type


def operand(what: str, obj: Any, stream: Stream, dtype: Any = None, written: bool = False) -> Operand:
    """The elements of a Buffer, a StridedMemoryView or an array of any library, in the order of memory.

    What the array's own stream has queued comes before what `stream` is given next. dtype: that of the
    elements of a Buffer, which are bytes without one, or another one for those of an array. Raises TypeError
    and ValueError, BufferError for what is not an array.
    """
    if isinstance(obj, Buffer):
        kind = BYTES if dtype is None else kind_of(dtype)
        if not obj.is_device_accessible:
            raise ValueError(f"{what}: {obj!r} is memory that no device can use")
        return Operand(obj._address, _whole(what, obj._size, kind), kind, obj)
    view = obj
    if not isinstance(view, StridedMemoryView):
        if obj is None or isinstance(obj, (int, float, bytes, str, list, tuple)):
            raise TypeError(f"{what} must be a Buffer or an array on a device, not {type(obj).__name__}")
        view = StridedMemoryView.from_any_interface(obj, int(stream._handle))
    if not view.is_device_accessible:
        raise ValueError(f"{what}: {view!r} is memory of the host, which no device can use")
    layout = view.layout
    if not layout.is_contiguous_any:
        raise ValueError(f"{what}: {view!r} is not contiguous: copy it to an array that is")
    if written and view.readonly:
        raise ValueError(f"{what}: {view!r} is read-only")
    size = layout.volume * layout.itemsize
    if dtype is not None:
        kind = kind_of(dtype)
        return Operand(view.ptr, _whole(what, size, kind), kind, view)
    element = view._element
    known = None if element is not None else view.dtype
    kind = kind_of_element(element) if element is not None else Kind(layout.itemsize, None, 1, str(known))
    return Operand(view.ptr, layout.volume, kind, view)


def _whole(what: str, size: int, kind: Kind) -> int:
    """How many elements `size` bytes are. Raises ValueError."""
    count, rest = divmod(size, kind.itemsize)
    if rest:
        raise ValueError(f"{what}: {size} bytes hold no whole number of {kind.name} ({kind.itemsize} bytes)")
    return count
