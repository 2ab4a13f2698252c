"""NCCL's functions for the simulated devices. Those that are not here fail, and are named."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..._ffi.prototypes import symbol_of
from ..._types.meanings import NCCLRESULT
from ..._types.nccl import (
    NCCL_SPLIT_NOCOLOR,
    NCCL_VERSION_CODE,
    ncclDataType_t,
    ncclResult_t,
    ncclUniqueId,
)
from ..addresses import require
from ..devices.context import Context, find_or_none, top
from ..devices.primary import retained
from ..handles import find
from ..library import provides, text
from ..log import Refused
from ..memory.allocations import blocks, check_range, cuMemAlloc_v2, cuMemFree_v2
from ..streams.stream import LEGACY, PER_THREAD, Stream
from . import group, numbers
from .board import Header, changed
from .communicator import KEY_SIZE, Communicator, join, last_error, meeting, note_last_error, unique_id
from .transfers import Call
from .waiting import Wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .waiting import Task

_STATUS = {
    "CUDA_ERROR_INVALID_VALUE": ncclResult_t.ncclInvalidArgument,
    "CUDA_ERROR_NOT_SUPPORTED": ncclResult_t.ncclInvalidUsage,
    "CUDA_ERROR_OUT_OF_MEMORY": ncclResult_t.ncclSystemError,
    "CUDA_ERROR_UNKNOWN": ncclResult_t.ncclInternalError,
}
"""What the simulator's own refusals are here; all others are errors of CUDA."""
_numbers = itertools.count(0x100)  # of operators, registrations and windows


def symbols() -> list[str]:
    """All functions of nccl.h, those that the simulator refuses among them."""
    from ... import nccl

    declarations = (getattr(value, "__declaration__", None) for value in vars(nccl).values())
    return [symbol_of(declaration.prototype) for declaration in declarations if declaration is not None]


def before(symbol: str) -> None:
    """What every function begins with: nothing."""


def failed(refused: Refused) -> int:
    """The status of a call that failed."""
    found = ncclResult_t.__members__.get(refused.status)
    return int(_STATUS.get(refused.status, ncclResult_t.ncclUnhandledCudaError) if found is None else found)


def said(symbol: str, refused: Refused) -> None:
    """A call failed: what ncclGetLastError tells, and the group that it is in."""
    note_last_error(f"{symbol}: {refused.reason}")
    if symbol != "ncclGroupEnd":
        group.note(refused)


def _comm(handle: int | None) -> Communicator:
    """The communicator behind a handle. Raises Refused."""
    return find(handle, Communicator, "ncclInvalidArgument")


def _usable(handle: int | None) -> Communicator:
    """One that can make calls. Raises Refused."""
    comm = _comm(handle)
    if comm.is_aborted:
        raise Refused("ncclInvalidUsage", f"{comm.name} was aborted")
    comm.context.check()
    return comm


def _context() -> Context:
    """The context that a new communicator is of: the current one, else that of device 0. Raises Refused."""
    found = top()
    if found is None or find_or_none(found) is None:
        return retained(0)
    found.check()
    return found.root


def _stream(comm: Communicator, handle: int | None) -> Stream:
    """The stream with this handle; default streams are those of the communicator's device. Raises Refused."""
    if handle in (None, 0, LEGACY):
        return comm.context.legacy
    if handle == PER_THREAD:
        return comm.context.own_stream()  # type: ignore[no-any-return]
    found = find(handle, Stream, "ncclInvalidArgument")
    if found.context.device is not comm.context.device:
        raise Refused(
            "ncclInvalidArgument",
            f"the stream is of device {found.context.device.ordinal}, and {comm.name} is not",
        )
    return found


def _invalid(reason: str) -> Refused:
    return Refused("ncclInvalidArgument", reason)


def _check_memory(comm: Communicator, address: int | None, size: int, what: str) -> int:
    """The address of memory that the device reaches. Raises Refused."""
    if not address:
        raise _invalid(f"{what} is NULL")
    try:
        check_range(address, size)
    except Refused as refused:
        raise _invalid(f"{what}: {refused.reason}") from None
    block = blocks.find(address)
    if block is not None and block.kind == "device" and block.device is not comm.context.device:
        raise _invalid(f"{what} is memory of device {block.device.ordinal}, and {comm.name} is not")
    return address


def _call(
    kind: str,
    handle: int | None,
    send: int | None,
    recv: int | None,
    count: int,
    data_type: int,
    on: int | None,
    operator: int | None = None,
    peer: int = -1,
) -> None:
    """Make a call of a rank, now or at the end of the group. Raises Refused."""
    comm = _usable(handle)
    stream = _stream(comm, on)
    if data_type not in numbers.SIZES:
        raise _invalid(f"{data_type} is no ncclDataType_t")
    if not -1 <= peer < comm.size or (peer < 0 and kind in _PEERED):
        raise _invalid(f"{'peer' if kind in ('send', 'recv') else 'root'} = {peer} is no rank of {comm.size}")
    name, scalar = ("", None) if operator is None else _operator(comm, operator, data_type)
    call = Call(comm, kind, send or 0, recv or 0, count, data_type, name, peer, scalar)
    if not count and kind not in ("send", "recv"):
        return
    if call.given:
        _check_memory(comm, send, call.given, "sendbuff")
    if call.taken:
        _check_memory(comm, recv, call.taken, "recvbuff")
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
        raise _invalid("sendbuff and recvbuff overlap, and not as what is in place does")


def _operator(comm: Communicator, number: int, data_type: int) -> tuple[str, bytes | int | None]:
    """The name of an operator, and its scalar. Raises Refused."""
    name = numbers.OPERATORS.get(number)
    if name is not None:
        return name, None
    made = comm.operators.get(number)
    if made is None:
        raise _invalid(f"{number} is no operator of {comm.name}")
    if made[0] != data_type:
        raise _invalid(f"the operator is for {numbers.name_of(made[0])}, not {numbers.name_of(data_type)}")
    return numbers.PREMULTIPLIED, made[1]


# -- Library ------------------------------------------------------------------------------------------------


@provides("nccl")
def ncclGetVersion() -> int:
    return NCCL_VERSION_CODE


@provides("nccl")
def ncclGetErrorString(result: int) -> int:
    meaning, _ = NCCLRESULT.get(ncclResult_t(result).name, ("an unknown error.", ""))
    return text(meaning.rstrip(".").encode())


@provides("nccl")
def ncclGetLastError(comm: int | None) -> int:
    return text(last_error().encode())


@provides("nccl")
def ncclResetDebugInit() -> None: ...


@provides("nccl")
def ncclParamDumpAll() -> None: ...


# -- Communicators ------------------------------------------------------------------------------------------


@provides("nccl")
def ncclGetUniqueId() -> ncclUniqueId:
    return ncclUniqueId(internal=unique_id())


def _init(target: Any, size: int, key: bytes, rank: int) -> None:
    """Make a rank on the current device, and write its handle to `target`."""
    require(_address(target), 8, "comm")
    target[0] = 0
    comm = join(_key(key), size, rank, _context())
    group.set_up(_initialised(comm, target))


def _key(internal: bytes) -> bytes:
    """What there is in an id."""
    return internal[:KEY_SIZE]


def _address(pointer: Any) -> int:
    from ..addresses import pointed

    return pointed(pointer)


def _initialised(comm: Communicator, target: Any) -> Task:
    try:
        yield from meeting(comm)
    except BaseException:
        comm.end("it was not made")
        raise
    target[0] = comm.handle


@provides("nccl")
def ncclCommInitRank(comm: Any, nranks: int, commId: Any, rank: int) -> None:
    _init(comm, nranks, bytes(commId), rank)


@provides("nccl")
def ncclCommInitRankConfig(comm: Any, nranks: int, commId: Any, rank: int, config: Any) -> None:
    _init(comm, nranks, bytes(commId), rank)


@provides("nccl")
def ncclCommInitRankScalable(
    newcomm: Any, nranks: int, myrank: int, nId: int, commIds: Any, config: Any
) -> None:
    if nId < 1:
        raise _invalid("there must be an id at least")
    _init(newcomm, nranks, bytes(commIds[0]), myrank)


@provides("nccl")
def ncclCommInitAll(comm: Any, ndev: int, devlist: Any) -> None:
    if ndev < 1:
        raise _invalid(f"ndev = {ndev}: there must be a device at least")
    require(_address(comm), 8 * ndev, "comm")
    devices = [devlist[i] for i in range(ndev)] if devlist else list(range(ndev))
    key = _key(unique_id())
    group.start()
    try:
        for rank, device in enumerate(devices):
            made = join(key, ndev, rank, retained(device))
            group.set_up(_initialised(made, _At(comm, rank)))
    except Refused as refused:
        group.note(refused)
        raise
    finally:
        group.end()


class _At:
    """A place in an array, as a pointer has it."""

    def __init__(self, array: Any, place: int) -> None:
        self._array, self._place = array, place

    def __setitem__(self, _: int, value: int) -> None:
        self._array[self._place] = value


@provides("nccl")
def ncclCommFinalize(comm: int) -> None:
    _wait(_comm(comm))


def _wait(comm: Communicator) -> None:
    """Wait for what is queued."""
    last = comm.last
    if last is not None:
        last.wait()


@provides("nccl")
def ncclCommDestroy(comm: int) -> None:
    found = _comm(comm)
    if not found.is_aborted:
        _wait(found)
    found.end("its communicator was destroyed")


@provides("nccl")
def ncclCommAbort(comm: int) -> None:
    found = _comm(comm)
    with changed:
        found.is_aborted = True
        changed.notify_all()
    _wait(found)
    found.end("its communicator was aborted")


@provides("nccl")
def ncclCommRevoke(comm: int, revokeFlags: int) -> None:
    found = _comm(comm)
    if revokeFlags:
        raise _invalid(f"revokeFlags = {revokeFlags}, which must be 0")
    with changed:
        found.is_aborted = True
        changed.notify_all()
    _wait(found)


@provides("nccl")
def ncclCommSplit(comm: int, color: int, key: int, newcomm: Any, config: Any) -> None:
    parent = _comm(comm)
    require(_address(newcomm), 8, "newcomm")
    if color < 0 and color != NCCL_SPLIT_NOCOLOR:
        raise _invalid(f"color = {color} is negative")
    newcomm[0] = 0
    group.set_up(_split(parent, color, key, range(parent.size), newcomm))


@provides("nccl")
def ncclCommShrink(
    comm: int, excludeRanksList: Any, excludeRanksCount: int, newcomm: Any, config: Any, shrinkFlags: int
) -> None:
    parent = _comm(comm)
    require(_address(newcomm), 8, "newcomm")
    gone = {excludeRanksList[i] for i in range(excludeRanksCount)}
    if not gone or not gone <= set(range(parent.size)) or parent.rank in gone:
        raise _invalid(f"{sorted(gone)} is no list of other ranks of {parent.size}")
    newcomm[0] = 0
    left = [rank for rank in range(parent.size) if rank not in gone]
    group.set_up(_split(parent, 0, parent.rank, left, newcomm))


def _split(parent: Communicator, color: int, order: int, ranks: Any, target: Any) -> Task:
    """Make a communicator of those of `ranks` that have the same color."""
    board, me = parent.board, parent.rank
    parent.splits += 1
    what = f"split {parent.splits}"
    header = Header(f"ncclCommSplit of ranks {list(ranks)}")
    board.post(what, me, header, np.array([color, order], np.int32).view(np.uint8))
    yield Wait(parent, "ncclCommSplit", lambda: board.missing(what, ranks), "split, too")
    with changed:
        told = {rank: board.slot(what).posts[rank].data.view(np.int32) for rank in ranks}
    board.has_read(what, me)
    members = sorted((rank for rank in ranks if told[rank][0] == color), key=lambda r: (told[r][1], r))
    yield Wait(parent, "ncclCommSplit", lambda: board.unread(what, ranks), "split, too")
    board.leave(what, me, ranks)
    if color == NCCL_SPLIT_NOCOLOR:
        return
    leader, its_id = members[0], f"{what}, id of {color}"
    if me == leader:
        board.post(its_id, me, header, np.frombuffer(unique_id(), np.uint8), members)
    yield Wait(parent, "ncclCommSplit", lambda: board.missing(its_id, [leader]), "make the id")
    with changed:
        key = bytes(board.slot(its_id).posts[leader].data)
    board.has_read(its_id, me, members)
    yield Wait(parent, "ncclCommSplit", lambda: board.unread(its_id, members), "read the id")
    board.leave(its_id, me, members)
    made = join(_key(key), len(members), members.index(me), parent.context)
    yield from _initialised(made, target)


@provides("nccl")
def ncclCommGetAsyncError(comm: int) -> int:
    error = _comm(comm).error
    return 0 if error is None else int(ncclResult_t[error[0]])


@provides("nccl")
def ncclCommCount(comm: int) -> int:
    return _comm(comm).size


@provides("nccl")
def ncclCommCuDevice(comm: int) -> int:
    return _comm(comm).context.device.ordinal


@provides("nccl")
def ncclCommUserRank(comm: int) -> int:
    return _comm(comm).rank


# -- Memory -------------------------------------------------------------------------------------------------


@provides("nccl")
def ncclMemAlloc(ptr: Any, size: int) -> None:
    ptr[0] = cuMemAlloc_v2(size)


@provides("nccl")
def ncclMemFree(ptr: int | None) -> None:
    if ptr:
        cuMemFree_v2(ptr)


@provides("nccl")
def ncclCommRegister(comm: int, buff: int | None, size: int, handle: Any) -> None:
    found = _comm(comm)
    number = next(_numbers)
    found.windows[number] = _check_memory(found, buff, size, "buff")
    handle[0] = number


@provides("nccl")
def ncclCommDeregister(comm: int, handle: int | None) -> None:
    if _comm(comm).windows.pop(handle or 0, None) is None:
        raise _invalid(f"{handle} is no registration of this communicator")


@provides("nccl")
def ncclCommWindowRegister(comm: int, buff: int | None, size: int, win: Any, winFlags: int) -> None:
    ncclCommRegister(comm, buff, size, win)


@provides("nccl")
def ncclCommWindowDeregister(comm: int, win: int | None) -> None:
    ncclCommDeregister(comm, win)


@provides("nccl")
def ncclWinGetUserPtr(comm: int, win: int | None, outUserPtr: Any) -> None:
    found = _comm(comm).windows.get(win or 0)
    if found is None:
        raise _invalid(f"{win} is no window of this communicator")
    outUserPtr[0] = found


# -- Operators ----------------------------------------------------------------------------------------------


@provides("nccl")
def ncclRedOpCreatePreMulSum(op: Any, scalar: int | None, datatype: int, residence: int, comm: int) -> None:
    found = _usable(comm)
    if datatype not in numbers.SIZES:
        raise _invalid(f"{datatype} is no ncclDataType_t")
    size = numbers.SIZES[ncclDataType_t(datatype)]
    value: bytes | int
    if residence == 1:  # ncclScalarHostImmediate
        from ..memory.copies import bytes_at

        value = bytes(bytes_at(require(scalar, size, "scalar"), size))
    elif residence == 0:
        value = _check_memory(found, scalar, size, "scalar")
    else:
        raise _invalid(f"{residence} is no ncclScalarResidence_t")
    number = next(_numbers)
    found.operators[number] = datatype, value
    op[0] = number


@provides("nccl")
def ncclRedOpDestroy(op: int, comm: int) -> None:
    if _comm(comm).operators.pop(op, None) is None:
        raise _invalid(f"{op} is no operator that this communicator made")


# -- Collectives --------------------------------------------------------------------------------------------


@provides("nccl")
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


@provides("nccl")
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


@provides("nccl")
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


@provides("nccl")
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


@provides("nccl")
def ncclAllGather(
    sendbuff: int | None, recvbuff: int | None, sendcount: int, datatype: int, comm: int, stream: int | None
) -> None:
    _call("all_gather", comm, sendbuff, recvbuff, sendcount, datatype, stream)


@provides("nccl")
def ncclAlltoAll(
    sendbuff: int | None, recvbuff: int | None, count: int, datatype: int, comm: int, stream: int | None
) -> None:
    _call("all_to_all", comm, sendbuff, recvbuff, count, datatype, stream)


@provides("nccl")
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


@provides("nccl")
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


@provides("nccl")
def ncclAllReduceConfig(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    op: int,
    comm: int,
    stream: int | None,
    config: Any,
) -> None:
    ncclAllReduce(sendbuff, recvbuff, count, datatype, op, comm, stream)


@provides("nccl")
def ncclBroadcastConfig(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    root: int,
    comm: int,
    stream: int | None,
    config: Any,
) -> None:
    ncclBroadcast(sendbuff, recvbuff, count, datatype, root, comm, stream)


@provides("nccl")
def ncclReduceConfig(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    op: int,
    root: int,
    comm: int,
    stream: int | None,
    config: Any,
) -> None:
    ncclReduce(sendbuff, recvbuff, count, datatype, op, root, comm, stream)


@provides("nccl")
def ncclAllGatherConfig(
    sendbuff: int | None,
    recvbuff: int | None,
    sendcount: int,
    datatype: int,
    comm: int,
    stream: int | None,
    config: Any,
) -> None:
    ncclAllGather(sendbuff, recvbuff, sendcount, datatype, comm, stream)


@provides("nccl")
def ncclReduceScatterConfig(
    sendbuff: int | None,
    recvbuff: int | None,
    recvcount: int,
    datatype: int,
    op: int,
    comm: int,
    stream: int | None,
    config: Any,
) -> None:
    ncclReduceScatter(sendbuff, recvbuff, recvcount, datatype, op, comm, stream)


@provides("nccl")
def ncclAlltoAllConfig(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    comm: int,
    stream: int | None,
    config: Any,
) -> None:
    ncclAlltoAll(sendbuff, recvbuff, count, datatype, comm, stream)


@provides("nccl")
def ncclGatherConfig(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    root: int,
    comm: int,
    stream: int | None,
    config: Any,
) -> None:
    ncclGather(sendbuff, recvbuff, count, datatype, root, comm, stream)


@provides("nccl")
def ncclScatterConfig(
    sendbuff: int | None,
    recvbuff: int | None,
    count: int,
    datatype: int,
    root: int,
    comm: int,
    stream: int | None,
    config: Any,
) -> None:
    ncclScatter(sendbuff, recvbuff, count, datatype, root, comm, stream)


# -- Groups -------------------------------------------------------------------------------------------------


@provides("nccl")
def ncclGroupStart() -> None:
    group.start()


@provides("nccl")
def ncclGroupEnd() -> None:
    group.end()
