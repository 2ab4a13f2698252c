"""NCCL's collectives, and what a rank sends and receives. Configurations say how, not what: none is read."""

from ..library import provides
from . import group, numbers
from .checks import check_memory, invalid, stream_of, usable
from .communicator import Communicator
from .transfers import Call


def _call(
    kind: str,
    handle: int | None,
    send: int | None,
    recv: int | None,
    count: int,
    data_type: int,
    stream_handle: int | None,
    operator: int | None = None,
    peer: int = -1,
) -> None:
    """Make a call of a rank, now or at the end of the group. Raises Refused."""
    comm = usable(handle)
    stream = stream_of(comm, stream_handle)
    if data_type not in numbers.SIZES:
        raise invalid(f"{data_type} is not an ncclDataType_t")
    if not -1 <= peer < comm.size or (peer < 0 and kind in _PEERED):
        what = "peer" if kind in ("send", "recv") else "root"
        raise invalid(f"{what} = {peer} is not a rank of {comm.size}")
    name, scalar = ("", None) if operator is None else _operator(comm, operator, data_type)
    call = Call(comm, kind, send or 0, recv or 0, count, data_type, name, peer, scalar)
    if not count and kind not in ("send", "recv"):
        return
    if call.given:
        check_memory(comm, send, call.given, "sendbuff")
    if call.taken:
        check_memory(comm, recv, call.taken, "recvbuff")
    _check_overlap(call)
    group.make(call, stream)


_PEERED = ("send", "recv", "broadcast", "reduce", "gather", "scatter")


def _check_overlap(call: Call) -> None:
    """Raise Refused for memory that is read and written, but where NCCL allows it: in place."""
    given, taken = call.given, call.taken
    if not given or not taken:
        return
    if call.send >= call.recv + taken or call.recv >= call.send + given:
        return
    mine = call.comm.rank * call.unit
    places = {
        "all_gather": call.send == call.recv + mine,
        "gather": call.send == call.recv + mine,
        "reduce_scatter": call.recv == call.send + mine,
        "scatter": call.recv == call.send + mine,
        "all_to_all": False,
    }
    if not places.get(call.kind, call.send == call.recv):
        raise invalid("sendbuff and recvbuff overlap, and not as what is in place does")


def _operator(comm: Communicator, number: int, data_type: int) -> tuple[str, bytes | int | None]:
    """The name of an operator, and its scalar. Raises Refused."""
    name = numbers.OPERATORS.get(number)
    if name is not None:
        return name, None
    operator = comm.operators.get(number)
    if operator is None:
        raise invalid(f"{number} is not an operator of {comm.name}")
    if operator[0] != data_type:
        raise invalid(f"the operator is for {numbers.name_of(operator[0])}, not {numbers.name_of(data_type)}")
    return numbers.PREMULTIPLIED, operator[1]


@provides("nccl", "ncclReduce", "ncclReduceConfig")
def ncclReduce(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    op: int,
    root: int,
    comm: int,
    stream: int | None,
) -> None:
    _call("reduce", comm, sendbuff, recvbuff, count, datatype, stream, op, root)


@provides("nccl")
def ncclBcast(buff: int | None, count: int, datatype: int, root: int, comm: int, stream: int | None) -> None:
    _call("broadcast", comm, buff, buff, count, datatype, stream, None, root)


@provides("nccl", "ncclBroadcast", "ncclBroadcastConfig")
def ncclBroadcast(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    root: int,
    comm: int,
    stream: int | None,
) -> None:
    _call("broadcast", comm, sendbuff, recvbuff, count, datatype, stream, None, root)


@provides("nccl", "ncclAllReduce", "ncclAllReduceConfig")
def ncclAllReduce(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    op: int,
    comm: int,
    stream: int | None,
) -> None:
    _call("all_reduce", comm, sendbuff, recvbuff, count, datatype, stream, op)


@provides("nccl", "ncclReduceScatter", "ncclReduceScatterConfig")
def ncclReduceScatter(
    sendbuff: int | None,
    recvbuff: int | None,
    recvcount: int,
    datatype: int,
    op: int,
    comm: int,
    stream: int | None,
) -> None:
    _call("reduce_scatter", comm, sendbuff, recvbuff, recvcount, datatype, stream, op)


@provides("nccl", "ncclAllGather", "ncclAllGatherConfig")
def ncclAllGather(
    sendbuff: int | None, recvbuff: int | None, sendcount: int, datatype: int, comm: int, stream: int | None
) -> None:
    _call("all_gather", comm, sendbuff, recvbuff, sendcount, datatype, stream)


@provides("nccl", "ncclAlltoAll", "ncclAlltoAllConfig")
def ncclAlltoAll(
    sendbuff: int | None, recvbuff: int | None, count: int, datatype: int, comm: int, stream: int | None
) -> None:
    _call("all_to_all", comm, sendbuff, recvbuff, count, datatype, stream)


@provides("nccl", "ncclGather", "ncclGatherConfig")
def ncclGather(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    root: int,
    comm: int,
    stream: int | None,
) -> None:
    _call("gather", comm, sendbuff, recvbuff, count, datatype, stream, None, root)


@provides("nccl", "ncclScatter", "ncclScatterConfig")
def ncclScatter(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    root: int,
    comm: int,
    stream: int | None,
) -> None:
    _call("scatter", comm, sendbuff, recvbuff, count, datatype, stream, None, root)


@provides("nccl")
def ncclSend(
    sendbuff: int | None, count: int, datatype: int, peer: int, comm: int, stream: int | None
) -> None:
    _call("send", comm, sendbuff, None, count, datatype, stream, None, peer)


@provides("nccl")
def ncclRecv(
    recvbuff: int | None, count: int, datatype: int, peer: int, comm: int, stream: int | None
) -> None:
    _call("recv", comm, None, recvbuff, count, datatype, stream, None, peer)
