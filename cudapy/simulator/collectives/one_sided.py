"""One-sided calls: a rank writes to a window of another and signals it, which waits for signals.

A put leaves a copy of its data for its target, and does not wait. The target takes what has come, in the
order of each rank's calls, when its own calls run: a rank knows what it has when it has waited for a signal.
"""

from ..addresses import Pointer, pointed, require
from ..library import provides
from . import group, numbers
from .checks import check_memory, invalid, stream_of, usable
from .communicator import Communicator
from .puts import Put, WaitSignal

DESCRIPTION = 16  # bytes of an ncclWaitSignalDesc_t


def _checked(comm: Communicator, peer: int, index: int, context: int, flags: int) -> None:
    if not 0 <= peer < comm.size:
        raise invalid(f"peer = {peer} is not a rank of {comm.size}")
    for name, value in (("sigIdx", index), ("ctx", context), ("flags", flags)):
        if value:
            raise invalid(f"{name} = {value}: the simulator has 0 alone")


@provides("nccl")
def ncclPutSignal(
    localbuff: int | None,
    count: int,
    datatype: int,
    peer: int,
    peerWin: int | None,
    peerWinOffset: int,
    sigIdx: int,
    ctx: int,
    flags: int,
    comm: int,
    stream: int | None,
) -> None:
    communicator = usable(comm)
    _checked(communicator, peer, sigIdx, ctx, flags)
    if datatype not in numbers.SIZES:
        raise invalid(f"{datatype} is not an ncclDataType_t")
    size = count * numbers.SIZES[datatype]  # type: ignore[index]
    window = communicator.window_number(peerWin or 0)
    if window is None:
        raise invalid(f"{peerWin} is not a window of this communicator")
    address = check_memory(communicator, localbuff, size, "localbuff") if size else 0
    call = Put(communicator, peer, address, size, window, peerWinOffset)
    group.make(call, stream_of(communicator, stream), waits=False)


@provides("nccl")
def ncclSignal(peer: int, sigIdx: int, ctx: int, flags: int, comm: int, stream: int | None) -> None:
    communicator = usable(comm)
    _checked(communicator, peer, sigIdx, ctx, flags)
    group.make(Put(communicator, peer), stream_of(communicator, stream), waits=False)


@provides("nccl")
def ncclWaitSignal(nDesc: int, signalDescs: Pointer, comm: int, stream: int | None) -> None:
    communicator = usable(comm)
    if nDesc < 0:
        raise invalid(f"nDesc = {nDesc} is negative")
    if nDesc:
        require(pointed(signalDescs), DESCRIPTION * nDesc, "signalDescs")
    counts: dict[int, int] = {}
    for description in (signalDescs[i] for i in range(nDesc)):
        _checked(communicator, description.peer, description.sigIdx, description.ctx, 0)
        if description.opCnt < 0:
            raise invalid(f"opCnt = {description.opCnt} is negative")
        counts[description.peer] = counts.get(description.peer, 0) + description.opCnt
    group.make(WaitSignal(communicator, counts), stream_of(communicator, stream), waits=False)
