"""NCCL, NVIDIA's library of collectives: every function of nccl.h, by its groups.

Functions return `(status, results...)`, and None for each result after a failure; the status is an
ncclResult_t. `checked` has the same functions returning the results alone and raising CUDAError. A
communicator that was made with `blocking=0` answers ncclInProgress: the results are there, and nothing is
raised.

ncclConfig_t and its kin come with size, magic and version filled in. An ncclUniqueId is 128 bytes: its field
`internal`, which is what other processes are sent.

After them come the same functions with short names: `get_version`, `comm_init_rank`, `all_reduce`, ... return
the results alone, handles as ints, text as str; a failure raises NCCLError.

The pnccl functions are the same ones under a second name, for profilers, and are not here.
"""

from __future__ import annotations

from ._bindings.errors import Raiser
from ._bindings.libraries import loader, meanings, recipes
from ._ffi.lazy_types import on_demand
from ._ffi.library import Checked, Library
from ._ffi.snake_case import Face, FaceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._checked import nccl as _checked
    from ._ffi.scalars import void_p
    from ._types.nccl import *
else:
    __getattr__, __dir__ = on_demand(globals(), "._types", "nccl")


def _describe() -> str:
    from . import pathfinder

    path = pathfinder.load("nccl").path
    status, number = ncclGetVersion()
    if status:
        return path
    return f"{path}, which is NCCL {number // 10000}.{number // 100 % 100}.{number % 100}"


def _last_error() -> str:
    """What NCCL noted of the last failure in this process, in one line."""
    _, text = ncclGetLastError(None)
    return "; ".join(text.decode(errors="replace").split("\n")) if text else ""


_raiser = Raiser(meanings("NCCLRESULT"), _last_error, speaker="NCCL")
libnccl = Library(
    loader("nccl"), "ncclResult_t", _describe, _raiser, pending=7, counted_as="NCCL", recipes=recipes("NCCL")
)
if TYPE_CHECKING:
    checked = _checked
else:
    checked = Checked(globals(), libnccl)


# -- Library ----------------------------------------------------------------------------------------


@libnccl(
    "ncclResult_t ncclGetVersion(int *version)",
)
def ncclGetVersion() -> tuple[ncclResult_t, int]:
    """Return the version of the library: 10000 * major + 100 * minor + patch, such as 22703."""


@libnccl(
    "const char *ncclGetErrorString(ncclResult_t result)",
)
def ncclGetErrorString(result: ncclResult_t | int) -> tuple[ncclResult_t, bytes]:
    """Return what the status `result` means, in a few words."""


@libnccl(
    "const char *ncclGetLastError(ncclComm_t comm)",
)
def ncclGetLastError(comm: ncclComm_t | int | None) -> tuple[ncclResult_t, bytes]:
    """Return the last error that NCCL noted in this process, b"" for none; `comm` may be None."""


@libnccl(
    "void ncclResetDebugInit(void)",
    since="2.24.3",
)
def ncclResetDebugInit() -> tuple[ncclResult_t]:
    """Read the environment variables of logging again, such as NCCL_DEBUG."""


@libnccl(
    "ncclResult_t ncclSetEncryption(const ncclEncryptionConfig_t *config)",
    since="2.32.3",
)
def ncclSetEncryption(config: ncclEncryptionConfig_t | None) -> tuple[ncclResult_t]:
    """Have NCCL's own TCP connections encrypted, or not, before the first communicator is made."""


# -- Communicators ----------------------------------------------------------------------------------


@libnccl(
    "ncclResult_t ncclGetUniqueId(ncclUniqueId *uniqueId)",
)
def ncclGetUniqueId() -> tuple[ncclResult_t, ncclUniqueId]:
    """Make the id that the ranks of a new communicator find each other by: one rank does, and hands it to
    the others.
    """


@libnccl(
    "ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank)",
)
def ncclCommInitRank(nranks: int, commId: ncclUniqueId, rank: int) -> tuple[ncclResult_t, ncclComm_t]:
    """Make rank `rank`, 0 to `nranks` - 1, of a communicator, on the current device; waits for all others."""


@libnccl(
    "ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank, "
    "ncclConfig_t *config)",
)
def ncclCommInitRankConfig(
    nranks: int, commId: ncclUniqueId, rank: int, config: ncclConfig_t | None
) -> tuple[ncclResult_t, ncclComm_t]:
    """Make rank `rank` of a communicator with the choices in `config`; None is as ncclCommInitRank."""


@libnccl(
    "ncclResult_t ncclCommInitRankScalable(ncclComm_t *newcomm, int nranks, int myrank, int nId, "
    "ncclUniqueId *commIds, ncclConfig_t *config)",
    sizes={"commIds": "nId"},
    since="2.23.4",
)
def ncclCommInitRankScalable(
    nranks: int, myrank: int, nId: int, commIds: Sequence[ncclUniqueId] | None, config: ncclConfig_t | None
) -> tuple[ncclResult_t, ncclComm_t]:
    """Make rank `myrank` of a communicator by `nId` ids, the same on every rank, which is faster for many
    ranks.
    """


@libnccl(
    "ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ndev, const int *devlist)",
    sizes={"comm": "ndev", "devlist": "ndev"},
)
def ncclCommInitAll(ndev: int, devlist: Sequence[int] | None) -> tuple[ncclResult_t, list[ncclComm_t]]:
    """Make `ndev` communicators, one for each device of `devlist`, all in this process; None is 0, 1, ..."""


@libnccl(
    "ncclResult_t ncclCommFinalize(ncclComm_t comm)",
)
def ncclCommFinalize(comm: ncclComm_t | int | None) -> tuple[ncclResult_t]:
    """Let what was issued to `comm` end; ncclCommGetAsyncError tells when it has."""


@libnccl(
    "ncclResult_t ncclCommDestroy(ncclComm_t comm)",
)
def ncclCommDestroy(comm: ncclComm_t | int | None) -> tuple[ncclResult_t]:
    """Destroy `comm`, once its work has ended; every rank has to."""


@libnccl(
    "ncclResult_t ncclCommAbort(ncclComm_t comm)",
)
def ncclCommAbort(comm: ncclComm_t | int | None) -> tuple[ncclResult_t]:
    """Destroy `comm`, and stop its work wherever it is."""


@libnccl(
    "ncclResult_t ncclCommRevoke(ncclComm_t comm, int revokeFlags)",
    since="2.28.7",
)
def ncclCommRevoke(comm: ncclComm_t | int | None, revokeFlags: int) -> tuple[ncclResult_t]:
    """Stop the work of `comm`, which can then only be destroyed, split or shrunk."""


@libnccl(
    "ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *newcomm, "
    "ncclConfig_t *config)",
)
def ncclCommSplit(
    comm: ncclComm_t | int | None, color: int, key: int, config: ncclConfig_t | None
) -> tuple[ncclResult_t, ncclComm_t]:
    """Make a communicator of the ranks of `comm` with the same `color`, ordered by `key`; null for
    NCCL_SPLIT_NOCOLOR.
    """


@libnccl(
    "ncclResult_t ncclCommShrink(ncclComm_t comm, int *excludeRanksList, int excludeRanksCount, "
    "ncclComm_t *newcomm, ncclConfig_t *config, int shrinkFlags)",
    sizes={"excludeRanksList": "excludeRanksCount"},
    since="2.27.3",
)
def ncclCommShrink(
    comm: ncclComm_t | int | None,
    excludeRanksList: Sequence[int] | None,
    excludeRanksCount: int,
    config: ncclConfig_t | None,
    shrinkFlags: int,
) -> tuple[ncclResult_t, ncclComm_t]:
    """Make a communicator of the ranks of `comm` without those in the list, which do not call this."""


@libnccl(
    "ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId *uniqueId)",
    since="2.29.2",
)
def ncclCommGetUniqueId(comm: ncclComm_t | int | None) -> tuple[ncclResult_t, ncclUniqueId]:
    """Make the id by which new ranks join `comm`, for one ncclCommGrow."""


@libnccl(
    "ncclResult_t ncclCommGrow(ncclComm_t comm, int nRanks, const ncclUniqueId *uniqueId, int rank, "
    "ncclComm_t *newcomm, ncclConfig_t *config)",
    since="2.29.2",
)
def ncclCommGrow(
    comm: ncclComm_t | int | None,
    nRanks: int,
    uniqueId: ncclUniqueId | None,
    rank: int,
    config: ncclConfig_t | None,
) -> tuple[ncclResult_t, ncclComm_t]:
    """Make a communicator of `nRanks` ranks: those of `comm`, with `rank` -1, and new ones, whose
    `comm` is None.
    """


@libnccl(
    "ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *asyncError)",
)
def ncclCommGetAsyncError(comm: ncclComm_t | int | None) -> tuple[ncclResult_t, ncclResult_t]:
    """Return how `comm` is: an error of work that was issued before, or ncclInProgress."""


@libnccl(
    "ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)",
)
def ncclCommCount(comm: ncclComm_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the number of ranks of `comm`."""


@libnccl(
    "ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)",
)
def ncclCommCuDevice(comm: ncclComm_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the number of the device of `comm`."""


@libnccl(
    "ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)",
)
def ncclCommUserRank(comm: ncclComm_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the rank that `comm` is."""


@libnccl(
    "ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags)",
    since="2.29.7",
)
def ncclCommSuspend(comm: ncclComm_t | int | None, flags: int) -> tuple[ncclResult_t]:
    """Free device memory of `comm`, which cannot be used until it is resumed; `flags`:
    NCCL_SUSPEND_MEM.
    """


@libnccl(
    "ncclResult_t ncclCommResume(ncclComm_t comm)",
    since="2.29.7",
)
def ncclCommResume(comm: ncclComm_t | int | None) -> tuple[ncclResult_t]:
    """Undo ncclCommSuspend."""


@libnccl(
    "ncclResult_t ncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat, uint64_t *value)",
    since="2.29.7",
)
def ncclCommMemStats(
    comm: ncclComm_t | int | None, stat: ncclCommMemStat_t | int
) -> tuple[ncclResult_t, int]:
    """Return how much device memory `comm` has, in bytes."""


# -- Memory -----------------------------------------------------------------------------------------


@libnccl(
    "ncclResult_t ncclMemAlloc(void **ptr, size_t size)",
    since="2.19.3",
)
def ncclMemAlloc(size: int) -> tuple[ncclResult_t, int]:
    """Allocate `size` bytes of device memory that NCCL can register for all its ways of transfer."""


@libnccl(
    "ncclResult_t ncclMemFree(void *ptr)",
    since="2.19.3",
)
def ncclMemFree(ptr: void_p) -> tuple[ncclResult_t]:
    """Free memory of ncclMemAlloc."""


@libnccl(
    "ncclResult_t ncclCommRegister(const ncclComm_t comm, void *buff, size_t size, void **handle)",
    sizes={"buff": "size"},
    since="2.19.3",
)
def ncclCommRegister(comm: ncclComm_t | int | None, buff: void_p, size: int) -> tuple[ncclResult_t, int]:
    """Register `size` bytes of device memory for transfers without a copy; returns a handle, an int."""


@libnccl(
    "ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)",
    since="2.19.3",
)
def ncclCommDeregister(comm: ncclComm_t | int | None, handle: void_p) -> tuple[ncclResult_t]:
    """Undo ncclCommRegister."""


@libnccl(
    "ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *buff, size_t size, ncclWindow_t *win, "
    "int winFlags)",
    sizes={"buff": "size"},
    since="2.27.3",
)
def ncclCommWindowRegister(
    comm: ncclComm_t | int | None, buff: void_p, size: int, winFlags: int
) -> tuple[ncclResult_t, ncclWindow_t]:
    """Register `size` bytes of device memory of each rank; all ranks have to. `winFlags`: NCCL_WIN_*."""


@libnccl(
    "ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win)",
    since="2.27.3",
)
def ncclCommWindowDeregister(
    comm: ncclComm_t | int | None, win: ncclWindow_t | int | None
) -> tuple[ncclResult_t]:
    """Undo ncclCommWindowRegister."""


@libnccl(
    "ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void **outUserPtr)",
    since="2.29.2",
)
def ncclWinGetUserPtr(
    comm: ncclComm_t | int | None, win: ncclWindow_t | int | None
) -> tuple[ncclResult_t, int]:
    """Return the address of the memory that was registered as `win`."""


# -- Operators --------------------------------------------------------------------------------------


@libnccl(
    "ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar, ncclDataType_t datatype, "
    "ncclScalarResidence_t residence, ncclComm_t comm)",
)
def _ncclRedOpCreatePreMulSum(
    scalar: void_p,
    datatype: ncclDataType_t | int,
    residence: ncclScalarResidence_t | int,
    comm: ncclComm_t | int | None,
) -> tuple[ncclResult_t, ncclRedOp_t]: ...


def ncclRedOpCreatePreMulSum(
    scalar: void_p,
    datatype: ncclDataType_t | int,
    residence: ncclScalarResidence_t | int,
    comm: ncclComm_t | int | None,
) -> tuple[ncclResult_t, ncclRedOp_t]:
    """Make an operator of `comm`: the sum of each rank's elements times its `scalar`, which is of type
    `datatype`.
    """
    if isinstance(
        scalar, bytes
    ):  # of a single byte C would get a scratch one: it reads here, and writes nothing
        scalar = bytearray(scalar)
    return _ncclRedOpCreatePreMulSum(scalar, datatype, residence, comm)


@libnccl(
    "ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm)",
)
def ncclRedOpDestroy(op: ncclRedOp_t | int, comm: ncclComm_t | int | None) -> tuple[ncclResult_t]:
    """Destroy an operator, as soon as the calls that take it have returned."""


# -- Collectives ------------------------------------------------------------------------------------


@libnccl(
    "ncclResult_t ncclReduce(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype, "
    "ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)",
)
def ncclReduce(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    root: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Reduce the `count` elements of every rank to `recvbuff` of rank `root`."""


@libnccl(
    "ncclResult_t ncclBcast(void *buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm, "
    "cudaStream_t stream)",
)
def ncclBcast(
    buff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Copy the `count` elements in `buff` of rank `root` to that of every rank."""


@libnccl(
    "ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype, "
    "int root, ncclComm_t comm, cudaStream_t stream)",
)
def ncclBroadcast(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Copy the `count` elements in `sendbuff` of rank `root` to `recvbuff` of every rank."""


@libnccl(
    "ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype, "
    "ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)",
)
def ncclAllReduce(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Reduce the `count` elements of every rank to `recvbuff` of every rank."""


@libnccl(
    "ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff, size_t recvcount, "
    "ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)",
)
def ncclReduceScatter(
    sendbuff: void_p,
    recvbuff: void_p,
    recvcount: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Reduce `recvcount` times the number of ranks elements; rank r gets the r-th part."""


@libnccl(
    "ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount, "
    "ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream)",
)
def ncclAllGather(
    sendbuff: void_p,
    recvbuff: void_p,
    sendcount: int,
    datatype: ncclDataType_t | int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Copy the `sendcount` elements of every rank to `recvbuff` of every rank, in the order of ranks."""


@libnccl(
    "ncclResult_t ncclAlltoAll(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype, "
    "ncclComm_t comm, cudaStream_t stream)",
    since="2.28.3",
)
def ncclAlltoAll(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Send the r-th `count` elements of `sendbuff` to rank r, as every rank does; they come in the order of
    ranks.
    """


@libnccl(
    "ncclResult_t ncclGather(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype, "
    "int root, ncclComm_t comm, cudaStream_t stream)",
    since="2.28.3",
)
def ncclGather(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Copy the `count` elements of every rank to `recvbuff` of rank `root`, in the order of ranks."""


@libnccl(
    "ncclResult_t ncclScatter(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype, "
    "int root, ncclComm_t comm, cudaStream_t stream)",
    since="2.28.3",
)
def ncclScatter(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Copy the r-th `count` elements in `sendbuff` of rank `root` to `recvbuff` of rank r."""


# -- Collectives with a configuration ---------------------------------------------------------------


@libnccl(
    "ncclResult_t ncclAllReduceConfig(const void *sendbuff, void *recvbuff, size_t count, "
    "ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, "
    "const ncclCollConfig_t *config)",
    since="2.31.2",
)
def ncclAllReduceConfig(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> tuple[ncclResult_t]:
    """The same as ncclAllReduce, with the choices in `config`, the same on every rank."""


@libnccl(
    "ncclResult_t ncclBroadcastConfig(const void *sendbuff, void *recvbuff, size_t count, "
    "ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream, "
    "const ncclCollConfig_t *config)",
    since="2.31.2",
)
def ncclBroadcastConfig(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> tuple[ncclResult_t]:
    """The same as ncclBroadcast, with the choices in `config`, the same on every rank."""


@libnccl(
    "ncclResult_t ncclReduceConfig(const void *sendbuff, void *recvbuff, size_t count, "
    "ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream, "
    "const ncclCollConfig_t *config)",
    since="2.31.2",
)
def ncclReduceConfig(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    root: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> tuple[ncclResult_t]:
    """The same as ncclReduce, with the choices in `config`, the same on every rank."""


@libnccl(
    "ncclResult_t ncclAllGatherConfig(const void *sendbuff, void *recvbuff, size_t sendcount, "
    "ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t *config)",
    since="2.31.2",
)
def ncclAllGatherConfig(
    sendbuff: void_p,
    recvbuff: void_p,
    sendcount: int,
    datatype: ncclDataType_t | int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> tuple[ncclResult_t]:
    """The same as ncclAllGather, with the choices in `config`, the same on every rank."""


@libnccl(
    "ncclResult_t ncclReduceScatterConfig(const void *sendbuff, void *recvbuff, size_t recvcount, "
    "ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream, "
    "const ncclCollConfig_t *config)",
    since="2.31.2",
)
def ncclReduceScatterConfig(
    sendbuff: void_p,
    recvbuff: void_p,
    recvcount: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> tuple[ncclResult_t]:
    """The same as ncclReduceScatter, with the choices in `config`, the same on every rank."""


@libnccl(
    "ncclResult_t ncclAlltoAllConfig(const void *sendbuff, void *recvbuff, size_t count, "
    "ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t *config)",
    since="2.31.2",
)
def ncclAlltoAllConfig(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> tuple[ncclResult_t]:
    """The same as ncclAlltoAll, with the choices in `config`, the same on every rank."""


@libnccl(
    "ncclResult_t ncclGatherConfig(const void *sendbuff, void *recvbuff, size_t count, "
    "ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream, "
    "const ncclCollConfig_t *config)",
    since="2.31.2",
)
def ncclGatherConfig(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> tuple[ncclResult_t]:
    """The same as ncclGather, with the choices in `config`, the same on every rank."""


@libnccl(
    "ncclResult_t ncclScatterConfig(const void *sendbuff, void *recvbuff, size_t count, "
    "ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream, "
    "const ncclCollConfig_t *config)",
    since="2.31.2",
)
def ncclScatterConfig(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> tuple[ncclResult_t]:
    """The same as ncclScatter, with the choices in `config`, the same on every rank."""


# -- Point to point ---------------------------------------------------------------------------------


@libnccl(
    "ncclResult_t ncclSend(const void *sendbuff, size_t count, ncclDataType_t datatype, int peer, "
    "ncclComm_t comm, cudaStream_t stream)",
)
def ncclSend(
    sendbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    peer: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Send `count` elements to rank `peer`, which has to receive as many of this type."""


@libnccl(
    "ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm, "
    "cudaStream_t stream)",
)
def ncclRecv(
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    peer: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Receive `count` elements of rank `peer`, which has to send as many of this type."""


@libnccl(
    "ncclResult_t ncclPutSignal(const void *localbuff, size_t count, ncclDataType_t datatype, int peer, "
    "ncclWindow_t peerWin, size_t peerWinOffset, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm, "
    "cudaStream_t stream)",
    since="2.29.2",
)
def ncclPutSignal(
    localbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    peer: int,
    peerWin: ncclWindow_t | int | None,
    peerWinOffset: int,
    sigIdx: int,
    ctx: int,
    flags: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Write `count` elements to a peer's window, `peerWinOffset` bytes behind its start, and signal it."""


@libnccl(
    "ncclResult_t ncclSignal(int peer, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm, "
    "cudaStream_t stream)",
    since="2.29.2",
)
def ncclSignal(
    peer: int,
    sigIdx: int,
    ctx: int,
    flags: int,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Signal a peer, without data."""


@libnccl(
    "ncclResult_t ncclWaitSignal(int nDesc, ncclWaitSignalDesc_t *signalDescs, ncclComm_t comm, "
    "cudaStream_t stream)",
    sizes={"signalDescs": "nDesc"},
    since="2.29.2",
)
def ncclWaitSignal(
    nDesc: int,
    signalDescs: Sequence[ncclWaitSignalDesc_t] | None,
    comm: ncclComm_t | int | None,
    stream: cudaStream_t | int | None,
) -> tuple[ncclResult_t]:
    """Wait for signals, as many of each peer as `signalDescs` says."""


# -- Groups -----------------------------------------------------------------------------------------


@libnccl(
    "ncclResult_t ncclGroupStart(void)",
)
def ncclGroupStart() -> tuple[ncclResult_t]:
    """Begin a group: the calls of this thread up to ncclGroupEnd are one, and wait for nobody before it."""


@libnccl(
    "ncclResult_t ncclGroupEnd(void)",
)
def ncclGroupEnd() -> tuple[ncclResult_t]:
    """End a group, and issue its calls."""


@libnccl(
    "ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t *simInfo)",
    since="2.22.3",
)
def ncclGroupSimulateEnd(simInfo: ncclSimInfo_t | None) -> tuple[ncclResult_t]:
    """End a group without issuing its calls, and write to `simInfo` what it would take."""


# -- Parameters -------------------------------------------------------------------------------------


@libnccl(
    "ncclResult_t ncclParamBind(ncclParamHandle_t *out, const char *key)",
    since="2.30.4",
)
def ncclParamBind(key: bytes | None) -> tuple[ncclResult_t, ncclParamHandle_t]:
    """Return a handle of the parameter `key`, such as b"NCCL_DEBUG", which is not to be freed."""


@libnccl(
    "ncclResult_t ncclParamGetI8(ncclParamHandle_t h, int8_t *out)",
    since="2.30.4",
)
def ncclParamGetI8(h: ncclParamHandle_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the parameter as a signed integer of 8 bits."""


@libnccl(
    "ncclResult_t ncclParamGetI16(ncclParamHandle_t h, int16_t *out)",
    since="2.30.4",
)
def ncclParamGetI16(h: ncclParamHandle_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the parameter as a signed integer of 16 bits."""


@libnccl(
    "ncclResult_t ncclParamGetI32(ncclParamHandle_t h, int32_t *out)",
    since="2.30.4",
)
def ncclParamGetI32(h: ncclParamHandle_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the parameter as a signed integer of 32 bits."""


@libnccl(
    "ncclResult_t ncclParamGetI64(ncclParamHandle_t h, int64_t *out)",
    since="2.30.4",
)
def ncclParamGetI64(h: ncclParamHandle_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the parameter as a signed integer of 64 bits."""


@libnccl(
    "ncclResult_t ncclParamGetU8(ncclParamHandle_t h, uint8_t *out)",
    since="2.30.4",
)
def ncclParamGetU8(h: ncclParamHandle_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the parameter as an unsigned integer of 8 bits."""


@libnccl(
    "ncclResult_t ncclParamGetU16(ncclParamHandle_t h, uint16_t *out)",
    since="2.30.4",
)
def ncclParamGetU16(h: ncclParamHandle_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the parameter as an unsigned integer of 16 bits."""


@libnccl(
    "ncclResult_t ncclParamGetU32(ncclParamHandle_t h, uint32_t *out)",
    since="2.30.4",
)
def ncclParamGetU32(h: ncclParamHandle_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the parameter as an unsigned integer of 32 bits."""


@libnccl(
    "ncclResult_t ncclParamGetU64(ncclParamHandle_t h, uint64_t *out)",
    since="2.30.4",
)
def ncclParamGetU64(h: ncclParamHandle_t | int | None) -> tuple[ncclResult_t, int]:
    """Return the parameter as an unsigned integer of 64 bits."""


@libnccl(
    "ncclResult_t ncclParamGetStr(ncclParamHandle_t h, const char **out)",
    since="2.30.4",
)
def ncclParamGetStr(h: ncclParamHandle_t | int | None) -> tuple[ncclResult_t, bytes]:
    """Return the parameter as text."""


@libnccl(
    "ncclResult_t ncclParamGet(ncclParamHandle_t h, void *out, int maxLen, int *len)",
    sizes={"out": "maxLen"},
    since="2.30.4",
)
def ncclParamGet(h: ncclParamHandle_t | int | None, out: void_p, maxLen: int) -> tuple[ncclResult_t, int]:
    """Write the parameter to the buffer `out` of `maxLen` bytes, and return how many bytes it has."""


@libnccl(
    "ncclResult_t ncclParamGetParameter(const char *key, const char **value, int *valueLen)",
    since="2.30.4",
)
def ncclParamGetParameter(key: bytes | None) -> tuple[ncclResult_t, bytes, int]:
    """Return the parameter `key` as text, and its length."""


@libnccl(
    "ncclResult_t ncclParamGetAllParameterKeys(const char ***table, int *tableLen)",
    sizes={"table": "tableLen"},
    since="2.30.4",
)
def ncclParamGetAllParameterKeys() -> tuple[ncclResult_t, list[bytes], int]:
    """Return the names of the parameters, and how many there are."""


@libnccl(
    "void ncclParamDumpAll(void)",
    since="2.30.4",
)
def ncclParamDumpAll() -> tuple[ncclResult_t]:
    """Write all parameters to NCCL's log."""


# -- The raising face with short names -----------------------------------------------------------------


class NCCLError(FaceError):
    """An NCCL function failed; `status` is the ncclResult_t."""

    @staticmethod
    def statuses(status: int) -> ncclResult_t:
        from ._types.nccl import ncclResult_t

        return ncclResult_t(status)


_face = Face(NCCLError, _raiser)


@_face(ncclGetVersion)
def get_version() -> int: ...


@_face(ncclGetErrorString)
def get_error_string(result: ncclResult_t | int) -> str: ...


@_face(ncclGetLastError)
def get_last_error(comm: int) -> str: ...


@_face(ncclResetDebugInit)
def reset_debug_init() -> None: ...


@_face(ncclSetEncryption)
def set_encryption(config: ncclEncryptionConfig_t | None) -> None: ...


@_face(ncclGetUniqueId)
def get_unique_id() -> ncclUniqueId: ...


@_face(ncclCommInitRank)
def comm_init_rank(nranks: int, comm_id: ncclUniqueId, rank: int) -> int: ...


@_face(ncclCommInitRankConfig)
def comm_init_rank_config(
    nranks: int, comm_id: ncclUniqueId, rank: int, config: ncclConfig_t | None
) -> int: ...


@_face(ncclCommInitRankScalable)
def comm_init_rank_scalable(
    nranks: int, myrank: int, n_id: int, comm_ids: Sequence[ncclUniqueId] | None, config: ncclConfig_t | None
) -> int: ...


@_face(ncclCommInitAll)
def comm_init_all(ndev: int, devlist: Sequence[int] | None) -> list[int]: ...


@_face(ncclCommFinalize)
def comm_finalize(comm: int) -> None: ...


@_face(ncclCommDestroy)
def comm_destroy(comm: int) -> None: ...


@_face(ncclCommAbort)
def comm_abort(comm: int) -> None: ...


@_face(ncclCommRevoke)
def comm_revoke(comm: int, revoke_flags: int) -> None: ...


@_face(ncclCommSplit)
def comm_split(comm: int, color: int, key: int, config: ncclConfig_t | None) -> int: ...


@_face(ncclCommShrink)
def comm_shrink(
    comm: int,
    exclude_ranks_list: Sequence[int] | None,
    exclude_ranks_count: int,
    config: ncclConfig_t | None,
    shrink_flags: int,
) -> int: ...


@_face(ncclCommGetUniqueId)
def comm_get_unique_id(comm: int) -> ncclUniqueId: ...


@_face(ncclCommGrow)
def comm_grow(
    comm: int, n_ranks: int, unique_id: ncclUniqueId | None, rank: int, config: ncclConfig_t | None
) -> int: ...


@_face(ncclCommGetAsyncError)
def comm_get_async_error(comm: int) -> ncclResult_t: ...


@_face(ncclCommCount)
def comm_count(comm: int) -> int: ...


@_face(ncclCommCuDevice)
def comm_cu_device(comm: int) -> int: ...


@_face(ncclCommUserRank)
def comm_user_rank(comm: int) -> int: ...


@_face(ncclCommSuspend)
def comm_suspend(comm: int, flags: int) -> None: ...


@_face(ncclCommResume)
def comm_resume(comm: int) -> None: ...


@_face(ncclCommMemStats)
def comm_mem_stats(comm: int, stat: ncclCommMemStat_t | int) -> int: ...


@_face(ncclMemAlloc)
def mem_alloc(size: int) -> int: ...


@_face(ncclMemFree)
def mem_free(ptr: void_p) -> None: ...


@_face(ncclCommRegister)
def comm_register(comm: int, buff: void_p, size: int) -> int: ...


@_face(ncclCommDeregister)
def comm_deregister(comm: int, handle: void_p) -> None: ...


@_face(ncclCommWindowRegister)
def comm_window_register(comm: int, buff: void_p, size: int, win_flags: int) -> int: ...


@_face(ncclCommWindowDeregister)
def comm_window_deregister(comm: int, win: int) -> None: ...


@_face(ncclWinGetUserPtr)
def win_get_user_ptr(comm: int, win: int) -> int: ...


@_face(ncclRedOpCreatePreMulSum)
def red_op_create_pre_mul_sum(
    scalar: void_p, datatype: ncclDataType_t | int, residence: ncclScalarResidence_t | int, comm: int
) -> ncclRedOp_t: ...


@_face(ncclRedOpDestroy)
def red_op_destroy(op: ncclRedOp_t | int, comm: int) -> None: ...


@_face(ncclReduce)
def reduce(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    root: int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclBcast)
def bcast(
    buff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclBroadcast)
def broadcast(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclAllReduce)
def all_reduce(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclReduceScatter)
def reduce_scatter(
    sendbuff: void_p,
    recvbuff: void_p,
    recvcount: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclAllGather)
def all_gather(
    sendbuff: void_p,
    recvbuff: void_p,
    sendcount: int,
    datatype: ncclDataType_t | int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclAlltoAll)
def all_to_all(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclGather)
def gather(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclScatter)
def scatter(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclAllReduceConfig)
def all_reduce_config(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    comm: int,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> None: ...


@_face(ncclBroadcastConfig)
def broadcast_config(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: int,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> None: ...


@_face(ncclReduceConfig)
def reduce_config(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    root: int,
    comm: int,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> None: ...


@_face(ncclAllGatherConfig)
def all_gather_config(
    sendbuff: void_p,
    recvbuff: void_p,
    sendcount: int,
    datatype: ncclDataType_t | int,
    comm: int,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> None: ...


@_face(ncclReduceScatterConfig)
def reduce_scatter_config(
    sendbuff: void_p,
    recvbuff: void_p,
    recvcount: int,
    datatype: ncclDataType_t | int,
    op: ncclRedOp_t | int,
    comm: int,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> None: ...


@_face(ncclAlltoAllConfig)
def all_to_all_config(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    comm: int,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> None: ...


@_face(ncclGatherConfig)
def gather_config(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: int,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> None: ...


@_face(ncclScatterConfig)
def scatter_config(
    sendbuff: void_p,
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    root: int,
    comm: int,
    stream: cudaStream_t | int | None,
    config: ncclCollConfig_t | None,
) -> None: ...


@_face(ncclSend)
def send(
    sendbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    peer: int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclRecv)
def recv(
    recvbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    peer: int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclPutSignal)
def put_signal(
    localbuff: void_p,
    count: int,
    datatype: ncclDataType_t | int,
    peer: int,
    peer_win: int,
    peer_win_offset: int,
    sig_idx: int,
    ctx: int,
    flags: int,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclSignal)
def signal(
    peer: int, sig_idx: int, ctx: int, flags: int, comm: int, stream: cudaStream_t | int | None
) -> None: ...


@_face(ncclWaitSignal)
def wait_signal(
    n_desc: int,
    signal_descs: Sequence[ncclWaitSignalDesc_t] | None,
    comm: int,
    stream: cudaStream_t | int | None,
) -> None: ...


@_face(ncclGroupStart)
def group_start() -> None: ...


@_face(ncclGroupEnd)
def group_end() -> None: ...


@_face(ncclGroupSimulateEnd)
def group_simulate_end(sim_info: ncclSimInfo_t | None) -> None: ...


@_face(ncclParamBind)
def param_bind(key: str | bytes) -> int: ...


@_face(ncclParamGetI8)
def param_get_i8(h: int) -> int: ...


@_face(ncclParamGetI16)
def param_get_i16(h: int) -> int: ...


@_face(ncclParamGetI32)
def param_get_i32(h: int) -> int: ...


@_face(ncclParamGetI64)
def param_get_i64(h: int) -> int: ...


@_face(ncclParamGetU8)
def param_get_u8(h: int) -> int: ...


@_face(ncclParamGetU16)
def param_get_u16(h: int) -> int: ...


@_face(ncclParamGetU32)
def param_get_u32(h: int) -> int: ...


@_face(ncclParamGetU64)
def param_get_u64(h: int) -> int: ...


@_face(ncclParamGetStr)
def param_get_str(h: int) -> str: ...


@_face(ncclParamGet)
def param_get(h: int, out: void_p, max_len: int) -> int: ...


@_face(ncclParamGetParameter)
def param_get_parameter(key: str | bytes) -> tuple[str, int]: ...


@_face(ncclParamGetAllParameterKeys)
def param_get_all_parameter_keys() -> tuple[list[str], int]: ...


@_face(ncclParamDumpAll)
def param_dump_all() -> None: ...
