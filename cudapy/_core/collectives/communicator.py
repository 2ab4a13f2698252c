"""Communicators: a rank among several, one device each, and what they do together."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from ... import nccl
from ..._bindings.errors import CUDAError
from ..._ffi.handles import maker
from ..._ffi.owning import Owning
from ..._process.polled import polled
from ...driver import CUresult, cuStreamQuery
from ...nccl import ncclComm_t, ncclConfig_t, ncclRedOp_t, ncclUniqueId
from ..closable import SlotClosable
from ..context.context import primary
from ..context.current import initialise, with_context
from ..device.device import Device
from ..ownership.captures import captures, is_capturing
from ..ownership.keep_alive import keep_alive_for_capture
from ..ownership.owned import Ownership
from ..streams.stream import Stream
from . import checks
from .element import Kind
from .failure import CollectiveError, failure
from .group import Call, group, is_open, issue
from .operand import Operand, operand
from .operator import ReductionOperator
from .registration import Registration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..streams.stream import IsStreamType

owning = Owning(vars(nccl), nccl.libnccl)
_null = maker(ncclComm_t)

_PAUSE = 0.001  # seconds between two looks at a stream and at errors


class Communicator(SlotClosable):
    """One rank of a communicator: rank `rank` of `size`, on one device. Its collectives are NCCL's.

    `init_all` makes all ranks in this process, `from_unique_id` one rank, `from_environment` the rank that a
    launcher (torchrun, mpiexec, srun) has started this process as.

    Every rank makes the same collectives, in the same order. One thread that has several ranks makes theirs
    in one `group()`. A call returns when its work is queued in `stream`, the default stream if none is given.
    Operands are Buffers, StridedMemoryViews and arrays of any library with DLPack or
    `__cuda_array_interface__`, contiguous and on the rank's device; `dtype` is the type of the elements of a
    Buffer. They must stay until the work is done; what a graph captures is kept with the graph. Counts are
    checked here; that all ranks mean the same only NCCL could check, and does not.

    Failures are CollectiveErrors, which name the rank and what it did. Closed with its last reference or by
    `close`, which waits for the work that is queued. Source: ncclCommInitRank, ncclCommDestroy.
    """

    __slots__ = ("_device", "_handle", "_rank", "_size")
    _handle: ncclComm_t  # C writes it, and who destroys the communicator leaves 0 there
    _device: Device
    _rank: int  # -1: not asked for yet
    _size: int

    def __init__(self) -> None:
        raise TypeError(
            "a Communicator comes from Communicator.init_all(), from_unique_id() or from_environment()"
        )

    @classmethod
    def _new(cls, device: Device, rank: int = -1, size: int = -1) -> Communicator:
        """A communicator that is still to be made in its handle."""
        comm = cls.__new__(cls)
        comm._device, comm._rank, comm._size = device, rank, size
        comm._handle = _null()
        comm._ownership = Ownership(_destroy, comm._handle, context=int(primary(device.device_id)._handle))
        return comm

    # -- making them --------------------------------------------------------------------------------------

    @staticmethod
    def unique_id() -> bytes:
        """The 128 bytes that one rank makes and all ranks give to `from_unique_id`.

        Source: ncclGetUniqueId.
        """
        initialise()
        try:
            return bytes(nccl.checked.ncclGetUniqueId())
        except CUDAError as error:
            raise failure("unique_id()", error) from None

    @classmethod
    def from_unique_id(
        cls,
        rank: int,
        size: int,
        id: bytes | ncclUniqueId,  # noqa: A002  # what NCCL calls it
        *,
        device: Device | int | None = None,
        config: ncclConfig_t | None = None,
    ) -> Communicator:
        """Rank `rank` of `size` on `device`, the current one by default; waits until all ranks are there.

        config: NCCL's choices, such as `ncclConfig_t(maxCTAs=8)`; blocking ones alone.
        Source: ncclCommInitRankConfig.
        """
        if not 0 <= rank < size:
            raise ValueError(f"rank = {rank} is outside 0 .. {size - 1}")
        key = id if isinstance(id, ncclUniqueId) else ncclUniqueId(internal=_id_bytes(id))
        if config is not None and config.blocking == 0:
            raise ValueError("config: blocking=0 is for programs that ask NCCL itself for the progress")
        comm = cls._new(_device_of(device), rank, size)
        context = int(primary(comm._device.device_id)._handle)

        def make() -> None:
            with_context(context, owning.ncclCommInitRankConfig, comm._handle, size, key, rank, config)

        comm._issue(make, "from_unique_id", "ncclCommInitRankConfig")
        return comm

    @classmethod
    def init_all(cls, devices: Iterable[Device | int] | int | None = None) -> list[Communicator]:
        """One communicator for each of `devices`, by ordinal or as Devices, all in this process.

        None: all devices; a number: the first so many. Rank r is on the r-th. Source: ncclGetUniqueId,
        ncclCommInitRankConfig in a group, as ncclCommInitAll does.
        """
        if devices is None:
            chosen = list(Device.get_all_devices())
        elif isinstance(devices, int):
            chosen = [Device(ordinal) for ordinal in range(devices)]
        else:
            chosen = [_device_of(device) for device in devices]
        if not chosen:
            raise ValueError("init_all needs a device at least")
        ordinals = [device.device_id for device in chosen]
        twice = sorted({ordinal for ordinal in ordinals if ordinals.count(ordinal) > 1})
        if twice:
            raise ValueError(f"NCCL has one rank a device: device {twice[0]} is there twice in {ordinals}")
        key, size = cls.unique_id(), len(chosen)
        with group():
            return [cls.from_unique_id(rank, size, key, device=d) for rank, d in enumerate(chosen)]

    @classmethod
    def from_environment(
        cls,
        *,
        device: Device | int | None = None,
        file: str | None = None,
        address: str | None = None,
        timeout: float = 300.0,
        config: ncclConfig_t | None = None,
    ) -> Communicator:
        """The rank that a launcher (torchrun, mpiexec, srun) has started this process as; 0 of 1 without one.

        The rank, the number of ranks and the rank on this host come from RANK, WORLD_SIZE and LOCAL_RANK,
        else from what Open MPI, MPICH and Slurm set. The id goes from rank 0 to the others by the first of
        these:

        - `file`, a path that all ranks can write, and that is not there yet;
        - `address`, "host:port" of a socket that rank 0 opens;
        - MASTER_ADDR and MASTER_PORT, that socket; under torchrun, whose store has that port, the store;
        - mpi4py, where it is installed and the ranks are MPI's.

        device: by default the one whose number is the rank on this host. timeout: seconds to wait for the
        others; then TimeoutError names those that did not come. Raises RuntimeError if it cannot be told who
        this process is or how to reach the others.
        """
        from .launcher import exchange, launched

        place = launched()
        if place is None:
            return cls.from_unique_id(0, 1, cls.unique_id(), device=device, config=config)
        if device is None:
            device = place.device(Device.get_all_devices())
        key = exchange(place, cls.unique_id, file, address, timeout)
        return cls.from_unique_id(place.rank, place.size, key, device=device, config=config)

    def split(
        self, color: int | None, key: int | None = None, config: ncclConfig_t | None = None
    ) -> Communicator | None:
        """A communicator of the ranks that give the same `color`, ordered by `key`, the rank by default.

        All ranks call it; those with color None are in none, and get None. Source: ncclCommSplit.
        """
        if color is not None and color < 0:
            raise ValueError(f"color = {color} is negative: None is for no communicator")
        part = type(self)._new(self._device)
        group_of = nccl.NCCL_SPLIT_NOCOLOR if color is None else color
        order = self.rank if key is None else key
        parent = self._handle

        def make() -> None:
            owning.ncclCommSplit(part._handle, parent, group_of, order, config)

        self._issue(make, f"split(color={color}, key={order})", "ncclCommSplit")
        return None if color is None else part

    def shrink(
        self, excluded: Sequence[int], *, abort: bool = False, config: ncclConfig_t | None = None
    ) -> Communicator:
        """A communicator of all ranks but those in `excluded`, which do not call it.

        abort: whether work that this one has under way is ended first. Source: ncclCommShrink, NCCL 2.27.
        """
        smaller = type(self)._new(self._device)
        flags = nccl.NCCL_SHRINK_ABORT if abort else nccl.NCCL_SHRINK_DEFAULT
        gone, parent = list(excluded), self._handle

        def make() -> None:
            owning.ncclCommShrink(smaller._handle, parent, gone, len(gone), config, flags)

        self._issue(make, f"shrink({gone})", "ncclCommShrink")
        return smaller

    @staticmethod
    def group() -> group:
        """`with comm.group():` gives NCCL the calls of the block together: see `group`."""
        return group()

    # -- what it is ---------------------------------------------------------------------------------------

    @property
    def handle(self) -> ncclComm_t:
        """The ncclComm_t, null once it is closed."""
        try:
            return self._handle
        except RuntimeError:
            return ncclComm_t()

    @property
    def rank(self) -> int:
        """Which rank this is. Source: ncclCommUserRank."""
        if self._rank < 0:
            self._rank = nccl.checked.ncclCommUserRank(self._made())
        return self._rank

    @property
    def size(self) -> int:
        """How many ranks there are. Source: ncclCommCount."""
        if self._size < 0:
            self._size = nccl.checked.ncclCommCount(self._made())
        return self._size

    @property
    def device(self) -> Device:
        """The device of this rank."""
        return self._device

    def _made(self) -> ncclComm_t:
        """The handle. RuntimeError before the end of the group in which it is made."""
        handle = self._handle
        if not handle.value:
            raise RuntimeError("this Communicator is made at the end of the group: use it after that")
        return handle

    def __repr__(self) -> str:
        if self.is_closed:
            return "<Communicator, closed>"
        if not self._handle.value:
            return "<Communicator, not made yet>"
        return f"<Communicator, rank {self.rank} of {self.size} on device {self._device.device_id}>"

    # -- errors -------------------------------------------------------------------------------------------

    @property
    def error(self) -> CollectiveError | None:
        """What went wrong in work that was queued, in this rank or another; None if nothing did.

        Source: ncclCommGetAsyncError.
        """
        try:
            status = nccl.checked.ncclCommGetAsyncError(self._made())
        except CUDAError as error:
            raise failure(self._where("error"), error, self._rank, self._size) from None
        if not status or status == nccl.libnccl.pending:
            return None
        cause = nccl.libnccl.error("ncclCommGetAsyncError", status, {})
        return failure(self._where("its queued work"), cause, self.rank, self.size)

    def check(self) -> None:
        """Raise `error`, if there is one."""
        error = self.error
        if error is not None:
            raise error

    def sync(self, stream: Stream | IsStreamType | None = None, timeout: float | None = None) -> None:
        """Wait for the work in `stream`, and raise what went wrong in it; Ctrl-C ends the wait.

        A rank that does not come leaves the others waiting: after `timeout` seconds this is a TimeoutError,
        and the work still under way, until `abort`.
        """
        in_stream = Stream._accept(stream)
        end = None if timeout is None else time.monotonic() + timeout
        with_device = int(primary(self._device.device_id)._handle)
        me = threading.get_ident()
        if end is None:
            polled[me] = in_stream._handle, time.monotonic()
        try:
            while (
                with_context(with_device, cuStreamQuery, in_stream._handle)[0]
                == CUresult.CUDA_ERROR_NOT_READY
            ):
                self.check()
                if end is not None and time.monotonic() > end:
                    raise TimeoutError(
                        self._where(f"the work in its stream has not ended in {timeout} s")
                        + ". Hint: a rank has not made the same call, or has ended; abort() ends the wait"
                    )
                time.sleep(_PAUSE)
        finally:
            polled.pop(me, None)
        with_context(with_device, in_stream.sync)
        self.check()

    def abort(self) -> None:
        """End what is under way in this rank, whether the others come or not, and close the communicator.

        Any thread may call it. Source: ncclCommAbort.
        """
        handle = self._handle
        del self._handle
        ownership, self._ownership = self._ownership, None
        if handle.value:
            try:
                owning.ncclCommAbort(handle)
            except CUDAError as error:
                raise failure(self._where("abort()"), error, self._rank, self._size) from None
        if ownership is not None:
            ownership.forget()

    def _retain(self) -> object:
        """What the communicator belongs to, for a graph that uses it: it is destroyed once both are gone."""
        ownership = self._ownership
        if ownership is not None:
            ownership.mark_shared()
        return ownership

    # -- collectives --------------------------------------------------------------------------------------

    def all_reduce(
        self,
        send: Any,
        recv: Any = None,
        op: str | ReductionOperator | ncclRedOp_t = "sum",
        *,
        dtype: Any = None,
        stream: Stream | IsStreamType | None = None,
    ) -> None:
        """Reduce the elements of `send` of all ranks into `recv` of each; None: in place.

        op: "sum", "prod", "max", "min", "avg" or a ReductionOperator. Source: ncclAllReduce.
        """
        in_stream = Stream._accept(stream)
        source, target = checks.pair("all_reduce", send, recv, in_stream, dtype)
        if target is not source:
            checks.check_length("all_reduce", source, target, source.length)
        count, kind, number = checks.reduced("all_reduce", source, op, self)

        arguments = source.address, target.address, count, kind, number
        self._collective(nccl.ncclAllReduce, "all_reduce", source, in_stream, arguments, target, op)

    def reduce(
        self,
        send: Any,
        recv: Any = None,
        op: str | ReductionOperator | ncclRedOp_t = "sum",
        root: int = 0,
        *,
        dtype: Any = None,
        stream: Stream | IsStreamType | None = None,
    ) -> None:
        """Reduce the elements of `send` of all ranks into `recv` of rank `root`; None: in place.

        The others need no `recv`. Source: ncclReduce.
        """
        in_stream = Stream._accept(stream)
        self._check_rank("root", root)
        if self.rank != root:
            recv = None
        source, target = checks.pair("reduce", send, recv, in_stream, dtype)
        checks.check_length("reduce", source, target, source.length)
        count, kind, number = checks.reduced("reduce", source, op, self)

        arguments = source.address, target.address, count, kind, number, root
        self._collective(nccl.ncclReduce, "reduce", source, in_stream, arguments, target, op, root)

    def broadcast(
        self,
        send: Any,
        recv: Any = None,
        root: int = 0,
        *,
        dtype: Any = None,
        stream: Stream | IsStreamType | None = None,
    ) -> None:
        """Copy the elements of `send` of rank `root` to `recv` of all ranks; None: in place, to their `send`.

        The others need no `send` but None, if they have a `recv`. Source: ncclBroadcast.
        """
        in_stream = Stream._accept(stream)
        self._check_rank("root", root)
        if send is None and recv is not None and self.rank != root:
            send = recv
        source, target = checks.pair("broadcast", send, recv, in_stream, dtype)
        checks.check_length("broadcast", source, target, source.length)
        count, kind = source.counted(source.length)

        arguments = source.address, target.address, count, kind, root
        self._collective(nccl.ncclBroadcast, "broadcast", source, in_stream, arguments, target, peer=root)

    def all_gather(
        self,
        send: Any,
        recv: Any = None,
        *,
        dtype: Any = None,
        stream: Stream | IsStreamType | None = None,
    ) -> None:
        """Copy the elements of `send` of all ranks to `recv` of each, in the order of ranks.

        With `recv` alone, given first, it is in place: rank r's elements are the r-th part of it already.
        Source: ncclAllGather.
        """
        in_stream = Stream._accept(stream)
        if recv is None:
            target = operand("all_gather: send", send, in_stream, dtype, written=True)
            source = checks.part("all_gather", target, self.rank, self.size)
        else:
            source, target = checks.pair("all_gather", send, recv, in_stream, dtype)
        checks.check_length("all_gather", source, target, source.length * self.size)
        checks.check_in_place("all_gather", target, source, self.rank)
        count, kind = source.counted(source.length)

        arguments = source.address, target.address, count, kind
        self._collective(nccl.ncclAllGather, "all_gather", source, in_stream, arguments, target)

    def reduce_scatter(
        self,
        send: Any,
        recv: Any = None,
        op: str | ReductionOperator | ncclRedOp_t = "sum",
        *,
        dtype: Any = None,
        stream: Stream | IsStreamType | None = None,
    ) -> None:
        """Reduce the elements of `send` of all ranks, and give rank r the r-th part, in `recv`.

        None: in place, in the r-th part of `send`. Source: ncclReduceScatter.
        """
        in_stream = Stream._accept(stream)
        if recv is None:
            source = operand("reduce_scatter: send", send, in_stream, dtype, written=True)
            target = checks.part("reduce_scatter", source, self.rank, self.size)
        else:
            source, target = checks.pair("reduce_scatter", send, recv, in_stream, dtype)
        checks.check_length("reduce_scatter", target, source, target.length * self.size)
        checks.check_in_place("reduce_scatter", source, target, self.rank)
        count, kind, number = checks.reduced("reduce_scatter", target, op, self)

        arguments = source.address, target.address, count, kind, number
        self._collective(nccl.ncclReduceScatter, "reduce_scatter", target, in_stream, arguments, source, op)

    def all_to_all(
        self, send: Any, recv: Any, *, dtype: Any = None, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Send the r-th part of `send` to rank r, as every rank does; the parts come in the order of ranks.

        `recv` must not be `send`. Source: ncclAlltoAll; ncclSend and ncclRecv before NCCL 2.28.
        """
        in_stream = Stream._accept(stream)
        source, target = checks.pair("all_to_all", send, recv, in_stream, dtype)
        checks.check_length("all_to_all", source, target, source.length)
        part = checks.elements_per_rank("all_to_all", source, self.size)
        if checks.overlap(source, target):
            raise ValueError("all_to_all: send and recv overlap: NCCL has none in place")
        count, kind = source.counted(part)
        step = part * source.kind.itemsize
        if _has("ncclAlltoAll"):
            arguments = source.address, target.address, count, kind
            self._collective(nccl.ncclAlltoAll, "all_to_all", source, in_stream, arguments, target)
            return
        with group():
            for peer in range(self.size):
                self._send(source, source.address + peer * step, count, kind, peer, in_stream)
                self._recv(target, target.address + peer * step, count, kind, peer, in_stream)

    def gather(
        self,
        send: Any,
        recv: Any = None,
        root: int = 0,
        *,
        dtype: Any = None,
        stream: Stream | IsStreamType | None = None,
    ) -> None:
        """Copy the elements of `send` of all ranks to `recv` of rank `root`, in the order of ranks.

        The others need no `recv`. Source: ncclSend, ncclRecv in a group.
        """
        in_stream = Stream._accept(stream)
        self._check_rank("root", root)
        if self.rank != root:
            source = operand("gather: send", send, in_stream, dtype)
            count, kind = source.counted(source.length)
            self._send(source, source.address, count, kind, root, in_stream)
            return
        source, target = checks.pair("gather", send, recv, in_stream, dtype, in_place=False)
        checks.check_length("gather", source, target, source.length * self.size)
        count, kind = source.counted(source.length)
        with group():
            self._send(source, source.address, count, kind, root, in_stream)
            for peer in range(self.size):
                self._recv(target, target.address + peer * source.size, count, kind, peer, in_stream)

    def scatter(
        self,
        send: Any,
        recv: Any,
        root: int = 0,
        *,
        dtype: Any = None,
        stream: Stream | IsStreamType | None = None,
    ) -> None:
        """Copy the r-th part of `send` of rank `root` to `recv` of rank r.

        The others need no `send` but None. Source: ncclSend, ncclRecv in a group.
        """
        in_stream = Stream._accept(stream)
        self._check_rank("root", root)
        target = operand("scatter: recv", recv, in_stream, dtype, written=True)
        count, kind = target.counted(target.length)
        if self.rank != root:
            self._recv(target, target.address, count, kind, root, in_stream)
            return
        source = operand("scatter: send", send, in_stream, dtype)
        checks.check_length("scatter", target, source, target.length * self.size)
        with group():
            for peer in range(self.size):
                self._send(source, source.address + peer * target.size, count, kind, peer, in_stream)
            self._recv(target, target.address, count, kind, root, in_stream)

    # -- point to point -----------------------------------------------------------------------------------

    def send(
        self, send: Any, peer: int, *, dtype: Any = None, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Send the elements to rank `peer`, which has to receive as many of the type. Source: ncclSend.

        A rank that sends and receives at the same time does so in a `group()`.
        """
        in_stream = Stream._accept(stream)
        self._check_rank("peer", peer)
        source = operand("send", send, in_stream, dtype)
        self._send(source, source.address, *source.counted(source.length), peer, in_stream)

    def recv(
        self, recv: Any, peer: int, *, dtype: Any = None, stream: Stream | IsStreamType | None = None
    ) -> None:
        """Receive elements of rank `peer`, which has to send as many of the type. Source: ncclRecv."""
        in_stream = Stream._accept(stream)
        self._check_rank("peer", peer)
        target = operand("recv", recv, in_stream, dtype, written=True)
        self._recv(target, target.address, *target.counted(target.length), peer, in_stream)

    def _send(self, source: Operand, address: int, count: int, kind: Any, peer: int, stream: Stream) -> None:
        arguments = address, count, kind, peer
        self._collective(nccl.ncclSend, f"send to rank {peer}", source, stream, arguments, peer=peer)

    def _recv(self, target: Operand, address: int, count: int, kind: Any, peer: int, stream: Stream) -> None:
        arguments = address, count, kind, peer
        self._collective(nccl.ncclRecv, f"recv from rank {peer}", target, stream, arguments, peer=peer)

    # -- operators and memory -----------------------------------------------------------------------------

    def premultiplied_sum(self, scalar: Any, dtype: Any) -> ReductionOperator:
        """An operator: the sum of the elements of each rank times its `scalar`, for arrays of type `dtype`.

        scalar: a number, read now; or a Buffer or array on the device with one element of that type, read
        whenever the operator is used. Source: ncclRedOpCreatePreMulSum.
        """
        return ReductionOperator._new(self, self._made(), scalar, dtype)

    def register(self, memory: Any) -> Registration:
        """Register a Buffer or array, so that NCCL can transfer it without copies of its own, until `close`.

        Source: ncclCommRegister, NCCL 2.19.
        """
        return Registration._new(self, self._made(), memory)

    # -- inside -------------------------------------------------------------------------------------------

    def _check_rank(self, what: str, rank: int) -> None:
        if not 0 <= rank < self.size:
            raise ValueError(f"{what} = {rank} is outside 0 .. {self.size - 1}, the ranks of {self!r}")

    def _where(self, what: str) -> str:
        """What messages begin with."""
        rank = self._rank if self._rank >= 0 else "?"
        size = self._size if self._size >= 0 else "?"
        return f"rank {rank} of {size} (device {self._device.device_id}), {what}"

    def _issue(self, make: Callable[[], None], what: str, function: str) -> None:
        """Make a communicator, now or at the end of the group."""
        issue(Call(make, lambda: self._where(what), self._rank, self._size, None, function))

    def _collective(
        self,
        function: Callable[..., Any],
        what: str,
        operand: Operand,
        stream: Stream,
        arguments: tuple[Any, ...],
        other: Operand | None = None,
        op: Any = None,
        peer: int | None = None,
    ) -> None:
        """Issue a call of `function` with `arguments`, this rank and a stream, and keep with a graph what it
        uses.
        """
        handle, in_group = self._handle, is_open()
        if not handle.value and not in_group:
            self._made()
        if captures.may_be_active and is_capturing(stream):
            keep_alive_for_capture(stream._handle, self, operand.keep, other and other.keep, op)
        if not in_group:  # what a `Call` does, without making one
            try:
                (status,) = function(*arguments, handle, int(stream._handle))
            except CUDAError as error:
                where = self._where(_described(what, operand, op, peer))
                raise failure(where, error, self._rank, self._size, peer) from None
            if status and status != nccl.libnccl.pending:
                where = self._where(_described(what, operand, op, peer))
                cause = nccl.libnccl.error(function.__name__, status, {})
                raise failure(where, cause, self._rank, self._size, peer)
            return

        def do() -> Any:
            return function(*arguments, self._handle, int(stream._handle))[0]

        def where_later() -> str:
            return self._where(_described(what, operand, op, peer))

        kept = operand, other
        issue(Call(do, where_later, self._rank, self._size, peer, function.__name__, kept=kept))


def _described(what: str, operand: Operand, op: Any, peer: int | None) -> str:
    """A collective, for a message."""
    text = f"{what} of {operand.length} {operand.kind.name}"
    text += "" if op is None else f", op {op}"
    return text + ("" if peer is None or "rank" in what else f", root {peer}")


def _has(function: str) -> bool:
    """Whether the NCCL that is loaded has a function."""
    try:
        nccl.libnccl.symbol(function)
    except RuntimeError:
        return False
    return True


def _device_of(device: Device | int | None) -> Device:
    return device if isinstance(device, Device) else Device(device)


def _id_bytes(value: Any) -> bytes:
    data = bytes(memoryview(value))
    if len(data) != nccl.NCCL_UNIQUE_ID_BYTES:
        raise ValueError(f"an id has {nccl.NCCL_UNIQUE_ID_BYTES} bytes, not {len(data)}")
    return data


def _destroy(handle: ncclComm_t) -> None:
    captures.relaxed(owning.ncclCommDestroy, handle)


__all__ = ["CollectiveError", "Communicator", "Kind", "group"]
