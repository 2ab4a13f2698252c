"""What the functions of NCCL are given: handles and memory, checked."""

from ..devices.context import Context, find_or_none, top
from ..devices.primary import retained
from ..handles import find
from ..memory.allocations import blocks, check_range
from ..refused import Refused
from ..streams.stream import LEGACY, PER_THREAD, Stream
from .communicator import Communicator


def comm_of(handle: int | None) -> Communicator:
    """The communicator behind a handle. Raises Refused."""
    return find(handle, Communicator, "ncclInvalidArgument")


def usable(handle: int | None) -> Communicator:
    """One that can make calls. Raises Refused."""
    comm = comm_of(handle)
    if comm.is_aborted:
        raise Refused("ncclInvalidUsage", f"{comm.name} was aborted")
    check_suspended(comm)
    comm.context.check()
    return comm


def check_suspended(comm: Communicator) -> None:
    """Raise Refused for a communicator that is suspended."""
    if comm.is_suspended:
        raise Refused("ncclInvalidUsage", f"{comm.name} is suspended: ncclCommResume ends that")


def current_context() -> Context:
    """The context that a new communicator is of: the current one, else that of device 0. Raises Refused."""
    context = top()
    if context is None or find_or_none(context) is None:
        return retained(0)
    context.check()
    return context.root


def stream_of(comm: Communicator, handle: int | None) -> Stream:
    """The stream with this handle; default streams are those of the communicator's device. Raises Refused."""
    if handle in (None, 0, LEGACY):
        return comm.context.legacy
    if handle == PER_THREAD:
        return comm.context.own_stream()  # type: ignore[no-any-return]
    stream = find(handle, Stream, "ncclInvalidArgument")
    if stream.context.device is not comm.context.device:
        raise Refused(
            "ncclInvalidArgument",
            f"the stream is of device {stream.context.device.ordinal}, and {comm.name} is not",
        )
    return stream


def invalid(reason: str) -> Refused:
    return Refused("ncclInvalidArgument", reason)


def check_memory(comm: Communicator, address: int | None, size: int, what: str) -> int:
    """The address of memory that the device reaches. Raises Refused."""
    if not address:
        raise invalid(f"{what} is NULL")
    try:
        check_range(address, size)
    except Refused as refused:
        raise invalid(f"{what}: {refused.reason}") from None
    block = blocks.find(address)
    if block is not None and block.kind == "device" and block.device is not comm.context.device:
        raise invalid(f"{what} is memory of device {block.device.ordinal}, and {comm.name} is not")
    return address
