"""NCCL's functions that make communicators, end them, ask them, and tell them of memory and operators."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np

from ..._types.nccl import (
    NCCL_SPLIT_NOCOLOR,
    NCCL_SUSPEND_MEM,
    ncclCommMemStat_t,
    ncclDataType_t,
    ncclResult_t,
    ncclUniqueId,
)
from ..addresses import Pointer, pointed, require
from ..devices.primary import retained
from ..library import provides
from ..memory.allocations import cuMemAlloc_v2, cuMemFree_v2
from ..memory.copies import bytes_at
from ..refused import Refused
from . import group, numbers
from .board import Header, changed
from .checks import check_memory, check_suspended, comm_of, current_context, invalid, usable
from .communicator import ID_SIZE, KEY_SIZE, Communicator, join, meeting, unique_id
from .waiting import Wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .waiting import Task


@provides("nccl")
def ncclGetUniqueId() -> ncclUniqueId:
    return ncclUniqueId(internal=unique_id())


def _init(target: Any, size: int, key: bytes, rank: int) -> None:
    """Make a rank on the current device, and write its handle to `target`."""
    require(pointed(target), 8, "comm")
    target[0] = 0
    comm = join(_key(key), size, rank, current_context())
    group.set_up(_initialised(comm, target), comm)


def _key(internal: bytes) -> bytes:
    """What there is in an id."""
    return internal[:KEY_SIZE]


def _initialised(comm: Communicator, target: Any) -> Task:
    try:
        yield from meeting(comm)
    except BaseException:
        comm.end("it was not made")
        raise
    target[0] = comm.handle


@provides("nccl")
def ncclCommInitRank(comm: Pointer, nranks: int, commId: Any, rank: int) -> None:
    _init(comm, nranks, bytes(commId), rank)


@provides("nccl")
def ncclCommInitRankConfig(comm: Pointer, nranks: int, commId: Any, rank: int, config: Pointer) -> None:
    _init(comm, nranks, bytes(commId), rank)


@provides("nccl")
def ncclCommInitRankScalable(
    newcomm: Pointer, nranks: int, myrank: int, nId: int, commIds: Pointer, config: Pointer
) -> None:
    if nId < 1:
        raise invalid("there must be an id at least")
    _init(newcomm, nranks, bytes(commIds[0]), myrank)


@provides("nccl")
def ncclCommInitAll(comm: Pointer, ndev: int, devlist: Pointer) -> None:
    if ndev < 1:
        raise invalid(f"ndev = {ndev}: there must be a device at least")
    require(pointed(comm), 8 * ndev, "comm")
    devices = [devlist[i] for i in range(ndev)] if devlist else list(range(ndev))
    key = _key(unique_id())
    group.start()
    try:
        for rank, device in enumerate(devices):
            communicator = join(key, ndev, rank, retained(device))
            group.set_up(_initialised(communicator, _At(comm, rank)), communicator)
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
    _wait(comm_of(comm))


def _wait(comm: Communicator) -> None:
    """Wait for what is queued."""
    last = comm.last
    if last is not None:
        last.wait()


@provides("nccl")
def ncclCommDestroy(comm: int) -> None:
    communicator = comm_of(comm)
    if not communicator.is_aborted:
        _wait(communicator)
    communicator.end("its communicator was destroyed")


@provides("nccl")
def ncclCommAbort(comm: int) -> None:
    communicator = comm_of(comm)
    with changed:
        communicator.is_aborted = True
        changed.notify_all()
    _wait(communicator)
    communicator.end("its communicator was aborted")


@provides("nccl")
def ncclCommRevoke(comm: int, revokeFlags: int) -> None:
    communicator = comm_of(comm)
    if revokeFlags:
        raise invalid(f"revokeFlags = {revokeFlags}, which must be 0")
    with changed:
        communicator.is_aborted = True
        changed.notify_all()
    _wait(communicator)


@provides("nccl")
def ncclCommSplit(comm: int, color: int, key: int, newcomm: Pointer, config: Pointer) -> None:
    parent = comm_of(comm)
    check_suspended(parent)
    require(pointed(newcomm), 8, "newcomm")
    if color < 0 and color != NCCL_SPLIT_NOCOLOR:
        raise invalid(f"color = {color} is negative")
    newcomm[0] = 0
    group.set_up(_split(parent, color, key, range(parent.size), newcomm))


@provides("nccl")
def ncclCommShrink(
    comm: int,
    excludeRanksList: Pointer,
    excludeRanksCount: int,
    newcomm: Pointer,
    config: Pointer,
    shrinkFlags: int,
) -> None:
    parent = comm_of(comm)
    check_suspended(parent)
    require(pointed(newcomm), 8, "newcomm")
    gone = {excludeRanksList[i] for i in range(excludeRanksCount)}
    if not gone or not gone <= set(range(parent.size)) or parent.rank in gone:
        raise invalid(f"{sorted(gone)} is not a list of other ranks of {parent.size}")
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
    part = join(_key(key), len(members), members.index(me), parent.context)
    yield from _initialised(part, target)


@provides("nccl")
def ncclCommGetUniqueId(comm: int) -> ncclUniqueId:
    communicator = usable(comm)
    if communicator.grow_key is not None:
        raise Refused(
            "ncclInvalidUsage", f"{communicator.name} has an id already that no ncclCommGrow has used"
        )
    internal = unique_id()
    communicator.grow_key = _key(internal)
    grown = internal[:KEY_SIZE] + communicator.size.to_bytes(4, "little")
    return ncclUniqueId(internal=grown.ljust(len(internal), b"\0"))


@provides("nccl")
def ncclCommGrow(
    comm: int | None, nRanks: int, uniqueId: Pointer, rank: int, newcomm: Pointer, config: Pointer
) -> None:
    require(pointed(newcomm), 8, "newcomm")
    internal = b""
    if uniqueId:
        require(pointed(uniqueId), ID_SIZE, "uniqueId")
        internal = bytes(uniqueId[0])
    if not comm:
        before = int.from_bytes(internal[KEY_SIZE : KEY_SIZE + 4], "little")
        if not before:
            raise invalid("a new rank needs an id of ncclCommGetUniqueId")
        if not before <= rank < nRanks:
            raise invalid(f"rank = {rank}: new ranks are {before} to nRanks - 1 = {nRanks - 1}")
        _init(newcomm, nRanks, internal, rank)
        return
    parent = usable(comm)
    if rank != -1:
        raise invalid(f"rank = {rank}, which is -1 for a rank of the communicator that grows")
    if nRanks <= parent.size:
        raise invalid(f"nRanks = {nRanks} is not more than the {parent.size} that there are")
    if parent.pending():
        raise Refused("ncclInvalidUsage", f"{parent.name} has calls that have not ended: NCCL may hang")
    newcomm[0] = 0
    group.set_up(_grown(parent, nRanks, _key(internal), newcomm))


def _grown(parent: Communicator, size: int, key: bytes, target: Any) -> Task:
    """The ranks tell each other the id, and meet the new ones."""
    board, me, everybody = parent.board, parent.rank, range(parent.size)
    parent.grows += 1
    what, header = f"grow {parent.grows}", Header(f"ncclCommGrow to {size} ranks")
    its_own = bool(key) and parent.grow_key == key
    board.post(what, me, header, np.frombuffer(bytes([its_own]) + key, np.uint8))
    yield Wait(parent, "ncclCommGrow", lambda: board.missing(what, everybody), "grow, too")
    with changed:
        posts = dict(board.slot(what).posts)
    board.has_read(what, me)
    yield Wait(parent, "ncclCommGrow", lambda: board.unread(what, everybody), "grow, too")
    board.leave(what, me, everybody)
    said = [bytes(posts[rank].data) for rank in everybody]
    keys = {data[1:] for data in said} - {b""}
    different = [rank for rank in everybody if posts[rank].header != header]
    if different:
        raise invalid(f"rank {different[0]} said another number of ranks")
    if len(keys) != 1 or not any(data[0] for data in said):
        raise invalid("one rank has to give the id that it got of ncclCommGetUniqueId for this communicator")
    grown = join(keys.pop(), size, me, parent.context)
    yield from _initialised(grown, target)
    parent.grow_key = None if its_own else parent.grow_key


@provides("nccl")
def ncclCommSuspend(comm: int, flags: int) -> None:
    communicator = usable(comm)
    if flags != NCCL_SUSPEND_MEM:
        raise invalid(f"flags = {flags}, which must be NCCL_SUSPEND_MEM")
    group.set_up(_suspended(communicator, True))


@provides("nccl")
def ncclCommResume(comm: int) -> None:
    communicator = comm_of(comm)
    if not communicator.is_suspended:
        raise Refused("ncclInvalidUsage", f"{communicator.name} is not suspended")
    group.set_up(_suspended(communicator, False))


def _suspended(comm: Communicator, is_suspended: bool) -> Task:
    """All ranks do it together."""
    board, me, everybody = comm.board, comm.rank, range(comm.size)
    name = "ncclCommSuspend" if is_suspended else "ncclCommResume"
    comm.suspensions += 1
    what = f"suspension {comm.suspensions}"
    board.post(what, me, Header(name))
    yield Wait(comm, name, lambda: board.missing(what, everybody), "call it, too")
    board.has_read(what, me)
    yield Wait(comm, name, lambda: board.unread(what, everybody), "call it, too")
    board.leave(what, me, everybody)
    comm.is_suspended = is_suspended


@provides("nccl")
def ncclCommMemStats(comm: int, stat: int) -> int:
    communicator = comm_of(comm)
    if stat not in set(ncclCommMemStat_t):
        raise invalid(f"{stat} is not an ncclCommMemStat_t")
    return int(stat == ncclCommMemStat_t.ncclStatGpuMemSuspended and communicator.is_suspended)


@provides("nccl")
def ncclCommGetAsyncError(comm: int) -> int:
    communicator = comm_of(comm)
    communicator.asked = time.monotonic()
    error = communicator.error
    communicator.is_told |= error is not None
    return 0 if error is None else int(ncclResult_t[error[0]])


@provides("nccl")
def ncclCommCount(comm: int) -> int:
    return comm_of(comm).size


@provides("nccl")
def ncclCommCuDevice(comm: int) -> int:
    return comm_of(comm).context.device.ordinal


@provides("nccl")
def ncclCommUserRank(comm: int) -> int:
    return comm_of(comm).rank


# -- Memory, windows and operators of a program -------------------------------------------------------------

_numbers = itertools.count(0x100)  # of operators, registrations and windows


@provides("nccl")
def ncclMemAlloc(ptr: Pointer, size: int) -> None:
    ptr[0] = cuMemAlloc_v2(size)


@provides("nccl")
def ncclMemFree(ptr: int | None) -> None:
    if ptr:
        cuMemFree_v2(ptr)


@provides("nccl")
def ncclCommRegister(comm: int, buff: int | None, size: int, handle: Pointer) -> None:
    communicator = comm_of(comm)
    number = next(_numbers)
    communicator.windows[number] = check_memory(communicator, buff, size, "buff")
    handle[0] = number


@provides("nccl")
def ncclCommDeregister(comm: int, handle: int | None) -> None:
    if comm_of(comm).windows.pop(handle or 0, None) is None:
        raise invalid(f"{handle} is not a registration of this communicator")


@provides("nccl")
def ncclCommWindowRegister(comm: int, buff: int | None, size: int, win: Pointer, winFlags: int) -> None:
    ncclCommRegister(comm, buff, size, win)
    communicator = comm_of(comm)
    communicator.shared_windows.append(win[0])
    communicator.window_sizes[win[0]] = size


@provides("nccl")
def ncclCommWindowDeregister(comm: int, win: int | None) -> None:
    ncclCommDeregister(comm, win)


@provides("nccl")
def ncclWinGetUserPtr(comm: int, win: int | None, outUserPtr: Pointer) -> None:
    window = comm_of(comm).windows.get(win or 0)
    if window is None:
        raise invalid(f"{win} is not a window of this communicator")
    outUserPtr[0] = window


@provides("nccl")
def ncclRedOpCreatePreMulSum(
    op: Pointer, scalar: int | None, datatype: int, residence: int, comm: int
) -> None:
    communicator = usable(comm)
    if datatype not in numbers.SIZES:
        raise invalid(f"{datatype} is not an ncclDataType_t")
    size = numbers.SIZES[ncclDataType_t(datatype)]
    value: bytes | int
    if residence == 1:  # ncclScalarHostImmediate
        value = bytes(bytes_at(require(scalar, size, "scalar"), size))
    elif residence == 0:
        value = check_memory(communicator, scalar, size, "scalar")
    else:
        raise invalid(f"{residence} is not an ncclScalarResidence_t")
    number = next(_numbers)
    communicator.operators[number] = datatype, value
    op[0] = number


@provides("nccl")
def ncclRedOpDestroy(op: int, comm: int) -> None:
    if comm_of(comm).operators.pop(op, None) is None:
        raise invalid(f"{op} is not an operator that this communicator made")
