"""Words of memory that streams wait for and write."""

from typing import Any

from ..._types.driver.enums import CUstreamBatchMemOpType as MemOp
from ..addresses import Pointer
from ..library import provides
from ..refused import invalid
from .operations import MemoryOperations
from .stream import stream


def _word(stream_handle: int, kind: MemOp, addr: int, value: int, flags: int) -> None:
    in_stream = stream(stream_handle)
    in_stream.add(MemoryOperations(in_stream.context, [(kind, addr, value, flags)]))


@provides("driver", "cuStreamWaitValue32", "cuStreamWaitValue32_v2")
def cuStreamWaitValue32_v2(stream: int, addr: int, value: int, flags: int) -> None:
    _word(stream, MemOp.CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags)


@provides("driver", "cuStreamWaitValue64", "cuStreamWaitValue64_v2")
def cuStreamWaitValue64_v2(stream: int, addr: int, value: int, flags: int) -> None:
    _word(stream, MemOp.CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags)


@provides("driver", "cuStreamWriteValue32", "cuStreamWriteValue32_v2")
def cuStreamWriteValue32_v2(stream: int, addr: int, value: int, flags: int) -> None:
    _word(stream, MemOp.CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags)


@provides("driver", "cuStreamWriteValue64", "cuStreamWriteValue64_v2")
def cuStreamWriteValue64_v2(stream: int, addr: int, value: int, flags: int) -> None:
    _word(stream, MemOp.CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags)


def batch(paramArray: Any, count: int) -> list[tuple[MemOp, int, int, int]]:
    """The operations in an array of CUstreamBatchMemOpParams."""
    operations = []
    for i in range(count):
        kind = MemOp(paramArray[i].operation)
        part = paramArray[i].waitValue  # laid out as writeValue is
        value = part.value64 if kind in _WIDE else part.value
        operations.append((kind, int(part.address), int(value), part.flags))
    return operations


_WIDE = (MemOp.CU_STREAM_MEM_OP_WAIT_VALUE_64, MemOp.CU_STREAM_MEM_OP_WRITE_VALUE_64)


@provides("driver", "cuStreamBatchMemOp", "cuStreamBatchMemOp_v2")
def cuStreamBatchMemOp_v2(stream: int, count: int, paramArray: Pointer, flags: int) -> None:
    from .stream import stream as find_stream

    in_stream = find_stream(stream)
    if flags or count > 256:
        raise invalid("flags must be 0, and a batch has at most 256 operations")
    in_stream.add(MemoryOperations(in_stream.context, batch(paramArray, count)))
