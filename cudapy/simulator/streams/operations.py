"""What streams and graphs do: copies, fills, kernels, calls of the host, records of events and so on.

An operation is made and checked when a program asks for it, and runs once its turn has come: on a stream, or
as a node of a graph each time that is launched. `soon` says that it ends soon.
"""

from __future__ import annotations

import copy
import ctypes
import time
from typing import Any

from ..._types.driver.enums import CUgraphNodeType as Type
from ..._types.driver.enums import CUstreamBatchMemOpType as MemOp
from ..addresses import require_code
from ..devices.context import Context
from ..memory.allocations import check_range, table
from ..refused import Refused, invalid
from .event import Event
from .faults import go_on, in_program, learn_here
from .work import Work

HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
STREAM_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


class Operation:
    """Base. `type` is that of the graph node that does the same."""

    type = Type.CU_GRAPH_NODE_TYPE_EMPTY
    soon = True
    is_bookkeeping = False  # it is done in a lost context as well
    in_wait = False  # a thread that waits for it may do it: it calls nothing of the program
    context: Context | None = None

    def run(self) -> None:
        """Do it."""

    def clone(self) -> Operation:
        """A copy in another graph."""
        return copy.copy(self)

    def inherit(self, before: Operation) -> None:
        """Take over what new parameters of a node leave as it is. Raises Refused."""

    def forget(self) -> None:
        """It is of no more use: what it alone holds goes."""

    def details(self) -> list[str]:
        """What a drawing of the graph says of it."""
        return []


class Empty(Operation):
    """A point to wait for."""


class HostCall(Operation):
    """A host function, of which CUDA says that it makes no CUDA calls."""

    type = Type.CU_GRAPH_NODE_TYPE_HOST
    soon = False

    def __init__(self, function: int | None, data: int | None) -> None:
        self.function = require_code(function, "the host function")
        self.data = data

    def run(self) -> None:
        go_on()
        with in_program():
            HOST_FUNCTION(self.function)(self.data)


class EventRecord(Operation):
    """The record of an event, in a graph."""

    type = Type.CU_GRAPH_NODE_TYPE_EVENT_RECORD

    def __init__(self, event: Event) -> None:
        self.event = event

    def run(self) -> None:
        record = self.event.begin()
        record.work = Work.point()
        record.stamp()
        self.event.captured = None
        self.event.put(record)


class EventWait(Operation):
    """The wait for an event, in a graph."""

    type = Type.CU_GRAPH_NODE_TYPE_WAIT_EVENT
    soon = False

    def __init__(self, event: Event) -> None:
        self.event = event

    def run(self) -> None:
        for work in self.event.works:
            work.follow()


class MemoryOperations(Operation):
    """Waits for words of memory, and writes of them, in order: (operation, address, value, flags) each."""

    type = Type.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
    GEQ, EQ, AND, NOR = range(4)

    def __init__(self, context: Context, operations: list[tuple[MemOp, int, int, int]]) -> None:
        self.context = context
        self.operations = operations
        for kind, address, _, _flags in operations:
            if kind in _WIDTHS:
                if address % _WIDTHS[kind]:
                    raise invalid(f"{address:#x} is not a multiple of {_WIDTHS[kind]}")
                check_range(address, _WIDTHS[kind])
            elif kind not in (MemOp.CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, MemOp.CU_STREAM_MEM_OP_BARRIER):
                raise invalid(f"{int(kind)} is not a CUstreamBatchMemOpType")
        self.soon = not any(kind in _WAITS for kind, *_ in operations)

    def run(self) -> None:
        for kind, address, value, flags in self.operations:
            if kind not in _WIDTHS:
                continue
            bits = 8 * _WIDTHS[kind]
            word = (ctypes.c_uint32 if bits == 32 else ctypes.c_uint64).from_address(address)
            value &= (1 << bits) - 1
            if kind not in _WAITS:
                word.value = value
                table.written(address, bits // 8)
                continue
            while not self._holds(word.value, value, flags & 3, bits):
                go_on(f"a wait for a value at {address:#x}", waits=True)
                time.sleep(0.0002)
            learn_here()

    def _holds(self, present: int, value: int, test: int, bits: int) -> bool:
        if test == self.GEQ:
            return (present - value) & (1 << bits - 1) == 0  # as signed numbers that may wrap
        if test == self.EQ:
            return present == value
        if test == self.AND:
            return bool(present & value)
        return bool(~(present | value) & ((1 << bits) - 1))


_WIDTHS = {
    MemOp.CU_STREAM_MEM_OP_WAIT_VALUE_32: 4,
    MemOp.CU_STREAM_MEM_OP_WRITE_VALUE_32: 4,
    MemOp.CU_STREAM_MEM_OP_WAIT_VALUE_64: 8,
    MemOp.CU_STREAM_MEM_OP_WRITE_VALUE_64: 8,
}
_WAITS = (MemOp.CU_STREAM_MEM_OP_WAIT_VALUE_32, MemOp.CU_STREAM_MEM_OP_WAIT_VALUE_64)


def needed(value: Any, what: str) -> Any:
    """`value`, a pointer to a struct. Raises Refused for NULL."""
    if not value:
        raise Refused("CUDA_ERROR_INVALID_VALUE", f"{what} is NULL")
    return value[0]
