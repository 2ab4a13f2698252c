"""Operators that a program makes: sums of elements that are multiplied before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import nccl
from ..._bindings.errors import CUDAError
from ...nccl import ncclComm_t, ncclRedOp_t, ncclScalarResidence_t
from ..arrays import element_types
from ..arrays.strided import StridedMemoryView
from ..closable import SlotClosable
from ..memory.buffer import Buffer
from ..ownership.owned import Ownership
from ..streams.stream import default_stream
from .element import ELEMENTS, Kind, kind_of
from .failure import failure
from .operand import operand
from .small_float import FORMATS, pattern

if TYPE_CHECKING:
    from .communicator import Communicator


class ReductionOperator(SlotClosable):
    """The sum of each rank's elements times a scalar of its own: from `Communicator.premultiplied_sum`.

    For the collectives of that communicator, and arrays of that type. Closed with its last reference or by
    `close`, at any time behind the calls that take it. Source: ncclRedOpCreatePreMulSum, ncclRedOpDestroy.
    """

    __slots__ = ("_comm", "_handle", "_kind", "_scalar")
    _comm: Communicator
    _handle: ncclRedOp_t
    _kind: Kind
    _scalar: Any

    def __init__(self) -> None:
        raise TypeError("a ReductionOperator comes from Communicator.premultiplied_sum()")

    @classmethod
    def _new(cls, comm: Communicator, handle: ncclComm_t, scalar: Any, dtype: Any) -> ReductionOperator:
        kind = kind_of(dtype)
        if kind.data_type is None or kind.parts > 1:
            raise TypeError(f"premultiplied_sum: NCCL cannot multiply {kind.name}")
        is_array = isinstance(scalar, (Buffer, StridedMemoryView)) or hasattr(
            scalar, "__cuda_array_interface__"
        )
        if is_array:
            factor = operand("premultiplied_sum: scalar", scalar, default_stream(), dtype)
            if factor.length != 1:
                raise ValueError(f"premultiplied_sum: scalar has {factor.length} elements, not one")
            value: Any = factor.address
            residence = ncclScalarResidence_t.ncclScalarDevice
        else:
            value, residence = scalar_bytes(scalar, kind), ncclScalarResidence_t.ncclScalarHostImmediate
        operator = cls.__new__(cls)
        operator._comm, operator._kind, operator._scalar = comm, kind, scalar
        try:
            number = nccl.checked.ncclRedOpCreatePreMulSum(value, kind.data_type, residence, handle)
        except CUDAError as error:
            raise failure(repr(comm), error, comm.rank, comm.size) from None
        operator._handle = number
        operator._ownership = Ownership(_destroy, comm, number)
        return operator

    def _for(self, comm: Communicator, kind: Kind) -> ncclRedOp_t:
        """The number for a call of `comm` on elements of this kind. Raises ValueError."""
        if comm is not self._comm:
            raise ValueError(f"{self!r} is of {self._comm!r}, and not for {comm!r}")
        if kind.data_type != self._kind.data_type:
            raise ValueError(f"{self!r} is not for {kind.name}")
        return self._handle

    def __repr__(self) -> str:
        what = "closed" if self.is_closed else f"times {self._scalar!r}, of {self._kind.name}"
        return f"<ReductionOperator, {what}>"


def scalar_bytes(scalar: Any, kind: Kind) -> bytes:
    """A number as one element of a kind. Raises ValueError, OverflowError for one that does not fit."""
    import numpy

    data_type = kind.data_type
    assert data_type is not None
    if data_type in FORMATS:
        return pattern(float(scalar), FORMATS[data_type]).to_bytes(kind.itemsize, "little")
    dtype = element_types.dtype(element_types.Element(*ELEMENTS[data_type]))
    if dtype.kind in "iu" and int(scalar) != scalar:
        raise ValueError(f"premultiplied_sum: {scalar!r} is not a {dtype}")
    return numpy.asarray(scalar).astype(dtype).tobytes()


def _destroy(comm: Communicator, number: ncclRedOp_t) -> None:
    handle = comm.handle
    if handle.value:  # it is null in garbage that was finalized in another order
        nccl.checked.ncclRedOpDestroy(number, handle)
