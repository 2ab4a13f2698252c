"""Memory that NCCL knows ahead of the collectives that use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import nccl
from ..._bindings.errors import CUDAError
from ...nccl import ncclComm_t
from ..closable import SlotClosable
from ..ownership.owned import Ownership
from ..streams.stream import default_stream
from .failure import failure
from .operand import operand

if TYPE_CHECKING:
    from .communicator import Communicator


class Registration(SlotClosable):
    """Memory registered with a communicator, from `Communicator.register`: kept and known until closed.

    Source: ncclCommRegister, ncclCommDeregister.
    """

    __slots__ = ("_comm", "_handle", "_memory")
    _comm: Communicator
    _handle: int
    _memory: object

    def __init__(self) -> None:
        raise TypeError("a Registration comes from Communicator.register()")

    @classmethod
    def _new(cls, comm: Communicator, handle: ncclComm_t, memory: Any) -> Registration:
        registered = operand("register", memory, default_stream())
        self = cls.__new__(cls)
        self._comm, self._memory = comm, registered.keep
        try:
            number = nccl.checked.ncclCommRegister(handle, registered.address, registered.size)
        except CUDAError as error:
            raise failure(repr(comm), error, comm.rank, comm.size) from None
        self._handle = number
        self._ownership = Ownership(_deregister, comm, number, registered.keep)
        return self

    def __repr__(self) -> str:
        return f"<Registration{', closed' if self.is_closed else ''}>"


def _deregister(comm: Communicator, number: int, memory: object) -> None:
    handle = comm.handle
    if number and handle.value:  # it is null in garbage that was finalized in another order
        nccl.checked.ncclCommDeregister(handle, number)
