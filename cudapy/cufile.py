"""cuFile, the library of GPUDirect Storage: every function of cufile.h, by its groups.

It moves data between files and device memory: directly where the machine has the nvidia-fs driver, else in
compatibility mode, through the host's memory.

Functions return `(status, results...)`, and None for each result after a failure. The status is a
CUfileError_t, which is true after a failure: `err` is a CUfileOpError, and `cu_err` the driver's CUresult
where it was the driver that failed. cuFileRead, cuFileWrite, cuFileReadv and cuFileWritev return a negative
number in C for a failure, and a status here; where the system refused, its `err` is the `errno`, a number
below CUFILEOP_BASE_ERR. `checked` has the same functions returning the results alone and raising CUDAError:
`code` is the CUfileOpError, `cuda_code` the CUresult.

After them comes the face of `cuda.bindings`: `driver_open`, `handle_register`, `read`, ... return the
results alone, handles as ints, text as str, and structs and enums with the names that it has for them; a
failure raises cuFileError. What takes a struct there takes its address as well.
"""

from __future__ import annotations

import ctypes
import os

from ._bindings.errors import CUDAError, Raiser
from ._bindings.libraries import meanings
from ._ffi.lazy_types import on_demand, with_dtypes
from ._ffi.library import Checked, Library, SymbolNotFound
from ._ffi.snake_case import Face, FaceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._checked import cufile as _checked
    from ._ffi.scalars import void_p
    from ._types.cufile import *
else:
    __getattr__, __dir__ = with_dtypes(globals(), *on_demand(globals(), "._types", "cufile"))


def _load() -> ctypes.CDLL:
    from . import pathfinder

    loaded = pathfinder.load("cufile")
    return ctypes.CDLL(loaded.path, handle=loaded.handle._handle, use_errno=True)


def _describe() -> str:
    from . import pathfinder

    path = pathfinder.load("cufile").path
    status, number = cuFileGetVersion()
    return path if status else f"{path}, which is cuFile {number // 1000}.{number % 1000 // 10}"


def _error_number(error: Any) -> Any:
    """A member of CUfileOpError or OpError; one that stands for an `errno` has its name."""
    import errno

    number = int(error)
    if number in errno.errorcode:
        error.name = errno.errorcode[number]
    return error


def _failed(function: str, status: CUfileError_t, arguments: dict[str, Any]) -> CUDAError:
    """The exception for a failure, which names both statuses."""
    code = _error_number(status.err)
    meaning = (f"{os.strerror(code)}.", "") if code.name[:1] == "E" else None
    if not code:
        meaning = ("The driver alone reports a failure.", "")
    return _raiser(function, code, arguments, meaning, status.cu_err)


def _negative(number: int) -> CUfileError_t:
    """The status that a negative number of bytes stands for: -1 for `errno`, else less a CUfileOpError."""
    from ._types.cufile import CUfileError_t, CUfileOpError

    if number != -1:
        return CUfileError_t(err=-number)
    return CUfileError_t(err=ctypes.get_errno() or CUfileOpError.CU_FILE_IO_ERROR)


_raiser = Raiser(meanings("CUFILEOPERROR"))
libcufile = Library(_load, "CUfileError_t", _describe, _failed, negative=_negative)
if TYPE_CHECKING:
    checked = _checked
else:
    checked = Checked(globals(), libcufile)


# -- Driver --------------------------------------------------------------------------------------------


@libcufile(
    "CUfileError_t cuFileDriverOpen(void)",
)
def cuFileDriverOpen() -> tuple[CUfileError_t]:
    """Open the library's driver, with the configuration of cufile.json; other calls open it where they need
    it. Each call needs a cuFileDriverClose.
    """


@libcufile(
    "CUfileError_t cuFileDriverClose_v2(void)",
    before="cuFileDriverClose",
)
def cuFileDriverClose() -> tuple[CUfileError_t]:
    """Undo one cuFileDriverOpen; with the last one everything that is registered is given up."""


@libcufile(
    "long cuFileUseCount(void)",
)
def cuFileUseCount() -> tuple[CUfileError_t, int]:
    """Return how many times the driver is open."""


@libcufile(
    "CUfileError_t cuFileDriverGetProperties(CUfileDrvProps_t *props)",
)
def cuFileDriverGetProperties() -> tuple[CUfileError_t, CUfileDrvProps_t]:
    """Return what the driver is, what it works with here, and its limits; it has to be open."""


@libcufile(
    "CUfileError_t cuFileDriverSetPollMode(bool poll, size_t poll_threshold_size)",
)
def cuFileDriverSetPollMode(poll: bool, poll_threshold_size: int) -> tuple[CUfileError_t]:
    """Have reads and writes of up to `poll_threshold_size` KiB poll for their end rather than sleep, or
    not.
    """


@libcufile(
    "CUfileError_t cuFileDriverSetMaxDirectIOSize(size_t max_direct_io_size)",
)
def cuFileDriverSetMaxDirectIOSize(max_direct_io_size: int) -> tuple[CUfileError_t]:
    """Set how many KiB one request to the kernel's driver has at most."""


@libcufile(
    "CUfileError_t cuFileDriverSetMaxCacheSize(size_t max_cache_size)",
)
def cuFileDriverSetMaxCacheSize(max_cache_size: int) -> tuple[CUfileError_t]:
    """Set how many KiB of device memory the library has for buffers of its own, on each device."""


@libcufile(
    "CUfileError_t cuFileDriverSetMaxPinnedMemSize(size_t max_pinned_size)",
)
def cuFileDriverSetMaxPinnedMemSize(max_pinned_size: int) -> tuple[CUfileError_t]:
    """Set how many KiB of device memory can be registered at a time."""


@libcufile(
    "CUfileError_t cuFileDriverGetP2PFlags(CUfileDriverStatusFlags_t status_flag, "
    "CUfileP2PFlags_t *p2p_flags)",
    since="13.2",
)
def cuFileDriverGetP2PFlags(
    status_flag: CUfileDriverStatusFlags_t | int,
) -> tuple[CUfileError_t, CUfileP2PFlags_t]:
    """Return the CU_FILE_P2P_FLAG_* of a file system or kind of device, or-ed."""


@libcufile(
    "CUfileError_t cuFileDriverSetP2PFlags(CUfileDriverStatusFlags_t status_flag, "
    "CUfileP2PFlags_t p2p_flags)",
    since="13.2",
)
def cuFileDriverSetP2PFlags(
    status_flag: CUfileDriverStatusFlags_t | int, p2p_flags: CUfileP2PFlags_t | int
) -> tuple[CUfileError_t]:
    """Set the CU_FILE_P2P_FLAG_* of a file system or kind of device: those that the platform lets a program
    set.
    """


@libcufile(
    "CUfileError_t cuFileGetVersion(int *version)",
)
def cuFileGetVersion() -> tuple[CUfileError_t, int]:
    """Return the version of the library: 1000 * major + 10 * minor, such as 1140 for 1.14."""


@libcufile(
    "CUfileError_t cuFileExportPCIeTopology(const char *filename)",
    since="13.2",
)
def cuFileExportPCIeTopology(filename: bytes | None) -> tuple[CUfileError_t]:
    """Write the PCIe topology that the library found, and the distances in it, to a file."""


@libcufile(
    "CUfileError_t cuFileGetBARSizeInKB(int gpuIndex, size_t *barSize)",
    since="13.0",
)
def cuFileGetBARSizeInKB(gpuIndex: int) -> tuple[CUfileError_t, int]:
    """Return the size of the BAR1 memory of a GPU, in KiB: how much of it can be registered."""


# -- Files and memory ----------------------------------------------------------------------------------


@libcufile(
    "CUfileError_t cuFileHandleRegister(CUfileHandle_t *fh, CUfileDescr_t *descr)",
    keeps=("descr",),
)
def cuFileHandleRegister(descr: CUfileDescr_t | None) -> tuple[CUfileError_t, CUfileHandle_t]:
    """Register a file, which stays open meanwhile. Opened without O_DIRECT, it is read and written through
    the host's memory.
    """


@libcufile(
    "void cuFileHandleDeregister(CUfileHandle_t fh)",
    frees="fh",
)
def cuFileHandleDeregister(fh: CUfileHandle_t | int | None) -> tuple[CUfileError_t]:
    """Undo cuFileHandleRegister; the file's descriptor stays open."""


@libcufile(
    "CUfileError_t cuFileBufRegister(const void *bufPtr_base, size_t length, int flags)",
    sizes={"bufPtr_base": "length"},
)
def cuFileBufRegister(bufPtr_base: void_p, length: int, flags: int) -> tuple[CUfileError_t]:
    """Register `length` bytes of device or host memory, which is not freed before cuFileBufDeregister:
    transfers go there without a copy. `flags`: 0, or CU_FILE_RDMA_*.
    """


@libcufile(
    "CUfileError_t cuFileBufDeregister(const void *bufPtr_base)",
)
def cuFileBufDeregister(bufPtr_base: void_p) -> tuple[CUfileError_t]:
    """Undo cuFileBufRegister."""


# -- Reading and writing -------------------------------------------------------------------------------


@libcufile(
    "ssize_t cuFileRead(CUfileHandle_t fh, void *bufPtr_base, size_t size, off_t file_offset, "
    "off_t bufPtr_offset)",
    sizes={"bufPtr_base": "bufPtr_offset + size"},
)
def cuFileRead(
    fh: CUfileHandle_t | int | None, bufPtr_base: void_p, size: int, file_offset: int, bufPtr_offset: int
) -> tuple[CUfileError_t, int]:
    """Read `size` bytes of a file to memory, and return how many were read: fewer at its end. The memory
    begins `bufPtr_offset` bytes behind `bufPtr_base`. Where the system refuses, `err` of the status is
    `errno`.
    """


@libcufile(
    "ssize_t cuFileWrite(CUfileHandle_t fh, const void *bufPtr_base, size_t size, off_t file_offset, "
    "off_t bufPtr_offset)",
    sizes={"bufPtr_base": "bufPtr_offset + size"},
)
def cuFileWrite(
    fh: CUfileHandle_t | int | None, bufPtr_base: void_p, size: int, file_offset: int, bufPtr_offset: int
) -> tuple[CUfileError_t, int]:
    """Write `size` bytes of memory to a file, and return how many were written. The memory begins
    `bufPtr_offset` bytes behind `bufPtr_base`. Where the system refuses, `err` of the status is `errno`.
    """


@libcufile(
    "ssize_t cuFileReadv(CUfileHandle_t fh, const CUfileIOVec_t *iov, size_t iovcnt, off_t file_offset, "
    "unsigned flags)",
    sizes={"iov": "iovcnt"},
    since="13.4",
)
def cuFileReadv(
    fh: CUfileHandle_t | int | None,
    iov: Sequence[CUfileIOVec_t] | None,
    iovcnt: int,
    file_offset: int,
    flags: int,
) -> tuple[CUfileError_t, int]:
    """Read a file to `iovcnt` pieces of memory, one after the other, and return how many bytes were read.
    `flags` is 0.
    """


@libcufile(
    "ssize_t cuFileWritev(CUfileHandle_t fh, const CUfileIOVec_t *iov, size_t iovcnt, off_t file_offset, "
    "unsigned flags)",
    sizes={"iov": "iovcnt"},
    since="13.4",
)
def cuFileWritev(
    fh: CUfileHandle_t | int | None,
    iov: Sequence[CUfileIOVec_t] | None,
    iovcnt: int,
    file_offset: int,
    flags: int,
) -> tuple[CUfileError_t, int]:
    """Write `iovcnt` pieces of memory, one after the other, to a file, and return how many bytes were
    written. `flags` is 0.
    """


@libcufile(
    "CUfileError_t cuFileReadAsync(CUfileHandle_t fh, void *bufPtr_base, size_t *size_p, "
    "off_t *file_offset_p, off_t *bufPtr_offset_p, ssize_t *bytes_read_p, CUstream stream)",
    later=("size_p", "file_offset_p", "bufPtr_offset_p", "bytes_read_p"),
)
def cuFileReadAsync(
    fh: CUfileHandle_t | int | None,
    bufPtr_base: void_p,
    size_p: void_p,
    file_offset_p: void_p,
    bufPtr_offset_p: void_p,
    bytes_read_p: void_p,
    stream: CUstream | int | None,
) -> tuple[CUfileError_t]:
    """cuFileRead in a stream. What ends in `_p` is the address of a number, or an object that has it, such
    as `ctypes.c_size_t(n)`: the caller keeps them and the memory until the work is done. `bytes_read_p`
    is then how many bytes, -1 or a negative CUfileOpError.
    """


@libcufile(
    "CUfileError_t cuFileWriteAsync(CUfileHandle_t fh, void *bufPtr_base, size_t *size_p, "
    "off_t *file_offset_p, off_t *bufPtr_offset_p, ssize_t *bytes_written_p, CUstream stream)",
    later=("size_p", "file_offset_p", "bufPtr_offset_p", "bytes_written_p"),
)
def cuFileWriteAsync(
    fh: CUfileHandle_t | int | None,
    bufPtr_base: void_p,
    size_p: void_p,
    file_offset_p: void_p,
    bufPtr_offset_p: void_p,
    bytes_written_p: void_p,
    stream: CUstream | int | None,
) -> tuple[CUfileError_t]:
    """cuFileWrite in a stream. What ends in `_p` is the address of a number, or an object that has it, such
    as `ctypes.c_size_t(n)`: the caller keeps them and the memory until the work is done.
    `bytes_written_p` is then how many bytes, -1 or a negative CUfileOpError.
    """


@libcufile(
    "CUfileError_t cuFileStreamRegister(CUstream stream, unsigned flags)",
)
def cuFileStreamRegister(stream: CUstream | int | None, flags: int) -> tuple[CUfileError_t]:
    """Say what holds for all reads and writes in a stream, by CU_FILE_STREAM_* in `flags`, which makes them
    faster.
    """


@libcufile(
    "CUfileError_t cuFileStreamDeregister(CUstream stream)",
)
def cuFileStreamDeregister(stream: CUstream | int | None) -> tuple[CUfileError_t]:
    """Undo cuFileStreamRegister."""


# -- Batches -------------------------------------------------------------------------------------------


@libcufile(
    "CUfileError_t cuFileBatchIOSetUp(CUfileBatchHandle_t *batch_idp, unsigned nr)",
)
def cuFileBatchIOSetUp(nr: int) -> tuple[CUfileError_t, CUfileBatchHandle_t]:
    """Make a batch that holds up to `nr` operations."""


@libcufile(
    "CUfileError_t cuFileBatchIOSubmit(CUfileBatchHandle_t batch_idp, unsigned nr, CUfileIOParams_t *iocbp, "
    "unsigned int flags)",
    sizes={"iocbp": "nr"},
)
def cuFileBatchIOSubmit(
    batch_idp: CUfileBatchHandle_t | int | None, nr: int, iocbp: Sequence[CUfileIOParams_t] | None, flags: int
) -> tuple[CUfileError_t]:
    """Submit `nr` operations. `flags` is 0."""


@libcufile(
    "CUfileError_t cuFileBatchIOGetStatus(CUfileBatchHandle_t batch_idp, unsigned min_nr, unsigned *nr, "
    "CUfileIOEvents_t *iocbp, timespec *timeout)",
    sizes={"iocbp": "nr"},
)
def cuFileBatchIOGetStatus(
    batch_idp: CUfileBatchHandle_t | int | None, min_nr: int, nr: int, timeout: timespec | None
) -> tuple[CUfileError_t, int, list[CUfileIOEvents_t]]:
    """Wait for `min_nr` operations to end, or for `timeout`, for ever without one. Return how many have
    ended, of those that were not told before and up to `nr`, and their events.
    """


@libcufile(
    "CUfileError_t cuFileBatchIOCancel(CUfileBatchHandle_t batch_idp)",
)
def cuFileBatchIOCancel(batch_idp: CUfileBatchHandle_t | int | None) -> tuple[CUfileError_t]:
    """Cancel the operations of a batch that have not begun."""


@libcufile(
    "void cuFileBatchIODestroy(CUfileBatchHandle_t batch_idp)",
)
def cuFileBatchIODestroy(batch_idp: CUfileBatchHandle_t | int | None) -> tuple[CUfileError_t]:
    """Destroy a batch."""


# -- Parameters ----------------------------------------------------------------------------------------


@libcufile(
    "CUfileError_t cuFileGetParameterSizeT(CUFileSizeTConfigParameter_t param, size_t *value)",
    since="12.9",
)
def cuFileGetParameterSizeT(param: CUFileSizeTConfigParameter_t | int) -> tuple[CUfileError_t, int]:
    """Return a parameter of the configuration that is a number."""


@libcufile(
    "CUfileError_t cuFileGetParameterBool(CUFileBoolConfigParameter_t param, bool *value)",
    since="12.9",
)
def cuFileGetParameterBool(param: CUFileBoolConfigParameter_t | int) -> tuple[CUfileError_t, bool]:
    """Return whether a parameter of the configuration is on."""


@libcufile(
    "CUfileError_t cuFileGetParameterString(CUFileStringConfigParameter_t param, char *desc_str, int len)",
    sizes={"desc_str": "len"},
    since="12.9",
)
def cuFileGetParameterString(
    param: CUFileStringConfigParameter_t | int, length: int
) -> tuple[CUfileError_t, bytes]:
    """Return a parameter of the configuration that is a text, in `length` bytes: up to the first NUL."""


@libcufile(
    "CUfileError_t cuFileGetParameterMinMaxValue(CUFileSizeTConfigParameter_t param, size_t *min_value, "
    "size_t *max_value)",
    since="13.0",
)
def cuFileGetParameterMinMaxValue(
    param: CUFileSizeTConfigParameter_t | int,
) -> tuple[CUfileError_t, int, int]:
    """Return the least and the greatest value of a parameter."""


@libcufile(
    "CUfileError_t cuFileSetParameterSizeT(CUFileSizeTConfigParameter_t param, size_t value)",
    since="12.9",
)
def cuFileSetParameterSizeT(param: CUFileSizeTConfigParameter_t | int, value: int) -> tuple[CUfileError_t]:
    """Set a parameter that is a number, before the driver is opened; cufile.json counts less."""


@libcufile(
    "CUfileError_t cuFileSetParameterBool(CUFileBoolConfigParameter_t param, bool value)",
    since="12.9",
)
def cuFileSetParameterBool(param: CUFileBoolConfigParameter_t | int, value: bool) -> tuple[CUfileError_t]:
    """Switch a parameter on or off, before the driver is opened; cufile.json counts less."""


@libcufile(
    "CUfileError_t cuFileSetParameterString(CUFileStringConfigParameter_t param, const char *desc_str)",
    since="12.9",
)
def cuFileSetParameterString(
    param: CUFileStringConfigParameter_t | int, desc_str: bytes | None
) -> tuple[CUfileError_t]:
    """Set a parameter that is a text, before the driver is opened; cufile.json counts less."""


@libcufile(
    "CUfileError_t cuFileSetParameterPosixPoolSlabArray(const size_t *size_values, "
    "const size_t *count_values, int len)",
    sizes={"size_values": "len", "count_values": "len"},
    since="13.0",
)
def cuFileSetParameterPosixPoolSlabArray(
    size_values: Sequence[int] | None, count_values: Sequence[int] | None, length: int
) -> tuple[CUfileError_t]:
    """Set the pools of host memory that transfers without GPUDirect Storage go through:
    `length` sizes of buffers in KiB, and how many there are of each. The driver must not be open.
    """


@libcufile(
    "CUfileError_t cuFileGetParameterPosixPoolSlabArray(size_t *size_values, size_t *count_values, int len)",
    sizes={"size_values": "len", "count_values": "len"},
    since="13.0",
)
def cuFileGetParameterPosixPoolSlabArray(length: int) -> tuple[CUfileError_t, list[int], list[int]]:
    """Return the pools of host memory that transfers without GPUDirect Storage go through:
    their `length` sizes in KiB, and how many buffers there are of each.
    """


@libcufile(
    "CUfileError_t cuFileSetParameterGpuBounceBufferSlabArray(const size_t *size_values, "
    "const size_t *count_values, int len)",
    sizes={"size_values": "len", "count_values": "len"},
    since="13.2",
)
def cuFileSetParameterGpuBounceBufferSlabArray(
    size_values: Sequence[int] | None, count_values: Sequence[int] | None, length: int
) -> tuple[CUfileError_t]:
    """Set the pools of device memory that transfers of memory which is not registered go through:
    `length` sizes of buffers in KiB, and how many there are of each. The driver must not be open.
    """


@libcufile(
    "CUfileError_t cuFileGetParameterGpuBounceBufferSlabArray(size_t *size_values, size_t *count_values, "
    "int len)",
    sizes={"size_values": "len", "count_values": "len"},
    since="13.2",
)
def cuFileGetParameterGpuBounceBufferSlabArray(length: int) -> tuple[CUfileError_t, list[int], list[int]]:
    """Return the pools of device memory that transfers of memory which is not registered go through:
    their `length` sizes in KiB, and how many buffers there are of each.
    """


# -- Statistics ----------------------------------------------------------------------------------------


@libcufile(
    "CUfileError_t cuFileSetStatsLevel(int level)",
    since="13.0",
)
def cuFileSetStatsLevel(level: int) -> tuple[CUfileError_t]:
    """Set how much is counted, 0 (nothing) to 3."""


@libcufile(
    "CUfileError_t cuFileGetStatsLevel(int *level)",
    since="13.0",
)
def cuFileGetStatsLevel() -> tuple[CUfileError_t, int]:
    """Return how much is counted."""


@libcufile(
    "CUfileError_t cuFileStatsStart(void)",
    since="13.0",
)
def cuFileStatsStart() -> tuple[CUfileError_t]:
    """Begin to count, at the level that is set."""


@libcufile(
    "CUfileError_t cuFileStatsStop(void)",
    since="13.0",
)
def cuFileStatsStop() -> tuple[CUfileError_t]:
    """Stop counting."""


@libcufile(
    "CUfileError_t cuFileStatsReset(void)",
    since="13.0",
)
def cuFileStatsReset() -> tuple[CUfileError_t]:
    """Set all counts to zero."""


@libcufile(
    "CUfileError_t cuFileGetStatsL1(CUfileStatsLevel1_t *stats)",
    since="13.0",
)
def cuFileGetStatsL1() -> tuple[CUfileError_t, CUfileStatsLevel1_t]:
    """Return the statistics of level 1, which has to be set."""


@libcufile(
    "CUfileError_t cuFileGetStatsL2(CUfileStatsLevel2_t *stats)",
    since="13.0",
)
def _cuFileGetStatsL2() -> tuple[CUfileError_t, CUfileStatsLevel2_t]: ...


def cuFileGetStatsL2() -> tuple[CUfileError_t, CUfileStatsLevel2_t]:
    """Return the statistics of level 2, which has to be set."""
    return _laid_out(_cuFileGetStatsL2())


@libcufile(
    "CUfileError_t cuFileGetStatsL3(CUfileStatsLevel3_t *stats)",
    since="13.0",
)
def _cuFileGetStatsL3() -> tuple[CUfileError_t, CUfileStatsLevel3_t]: ...


def cuFileGetStatsL3() -> tuple[CUfileError_t, CUfileStatsLevel3_t]:
    """Return the statistics of level 3, which has to be set."""
    return _laid_out(_cuFileGetStatsL3())


def _laid_out(result: tuple[Any, Any]) -> tuple[Any, Any]:
    """Statistics as CUDA 13.4 and newer lay them out: what begins them was shorter before."""
    from ._types.cufile import CUfileStatsLevel1_t

    status, struct = result
    try:
        libcufile.symbol("cuFileReadv")  # what the counts are of that came with 13.4
    except SymbolNotFound:
        if struct is not None:
            readv_ops: Any = CUfileStatsLevel1_t.readv_ops
            end, size = readv_ops.raw.offset, ctypes.sizeof(CUfileStatsLevel1_t)
            data = bytes(struct)
            struct = type(struct).from_buffer_copy(data[:end] + bytes(size - end) + data[end : end - size])
    return status, struct


# -- The face of cuda.bindings ------------------------------------------------------------------------


class cuFileError(FaceError):
    """A cuFile function failed. `status` is the OpError, or an int below 5000 with the name of an `errno`;
    `cuda_error` the driver's CUresult, None where C returns none.
    """

    @staticmethod
    def statuses(status: int) -> OpError:
        from ._types.cufile import OpError

        member: OpError = _error_number(OpError(status))
        return member

    def __init__(self, status: CUfileError_t | int, cuda_error: int | None = None) -> None:
        from ._types.cufile import CUfileError_t, CUresult

        if isinstance(status, CUfileError_t):
            cuda_error = status.cu_err or cuda_error
        super().__init__(int(status))
        self.cuda_error = None if cuda_error is None else CUresult(cuda_error)
        text = f"{self.args[0]}: {op_status_error(self.status)}"
        if self.cuda_error is not None:
            text += f"; CUDA status: {self.cuda_error.name} ({int(self.cuda_error)})"
        self.args = (text,)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (int(self.status), self.cuda_error)


def _twins() -> dict[type, Any]:
    from ._types.cufile import TWINS

    return TWINS


_face = Face(cuFileError, _failed, _twins)


def _structs(value: Any, cls: Any, count: int, what: str) -> Any:
    """`count` structs of C: those at the address `value`, or of an object that has it as `ptr`; or a list."""
    from ._ffi.convert import integer

    if isinstance(value, (list, tuple)):
        return [_face.original(item) for item in value]
    address = value if isinstance(value, int) else getattr(value, "ptr", None)
    if address is None:
        return value
    address = integer(address, 0, (1 << 64) - 1, what)
    return (cls * count).from_address(address) if address and count else None


def _struct(value: Any, cls: Any, what: str) -> Any:
    """The struct of C that is `value`, or at that address; None for null."""
    structs = _structs(value, cls, 1, what)
    return structs[0] if isinstance(structs, ctypes.Array) else structs


def _fill(value: Any, source: Any, what: str) -> None:
    """Copy the struct `found` to `value`, a struct or an address."""
    target = _struct(value, type(source), what)
    if type(target) is not type(source):
        raise TypeError(f"{what} must be a struct or its address, not {type(value).__name__}")
    ctypes.memmove(target.getPtr(), source.getPtr(), ctypes.sizeof(source))


def op_status_error(status: int) -> str:
    """Return what the status means, in a sentence. Source: cufileop_status_error."""
    from ._types.cufile import CUfileOpError

    code = _error_number(CUfileOpError(status))
    if code.name[:1] == "E":
        return os.strerror(code)
    unknown = "an error that this version of cudapy does not know."
    return meanings("CUFILEOPERROR")().get(code.name, (unknown, ""))[0].rstrip(".")


@_face(cuFileDriverOpen)
def driver_open() -> None: ...


@_face(cuFileDriverClose)
def driver_close() -> None: ...


@_face(cuFileUseCount)
def use_count() -> int: ...


def driver_get_properties(props: Any) -> None:
    """Write what the driver is, and its limits, to `props`: a CUfileDrvProps_t or its address."""
    _fill(props, _face.call(cuFileDriverGetProperties), "driver_get_properties: props")


@_face(cuFileDriverSetPollMode)
def driver_set_poll_mode(poll: bool, poll_threshold_size: int) -> None: ...


@_face(cuFileDriverSetMaxDirectIOSize)
def driver_set_max_direct_io_size(max_direct_io_size: int) -> None: ...


@_face(cuFileDriverSetMaxCacheSize)
def driver_set_max_cache_size(max_cache_size: int) -> None: ...


@_face(cuFileDriverSetMaxPinnedMemSize)
def driver_set_max_pinned_mem_size(max_pinned_size: int) -> None: ...


@_face(cuFileDriverGetP2PFlags)
def driver_get_p2p_flags(status_flag: DriverStatusFlags | int) -> P2PFlags: ...


@_face(cuFileDriverSetP2PFlags)
def driver_set_p2p_flags(status_flag: DriverStatusFlags | int, p2p_flags: P2PFlags | int) -> None: ...


@_face(cuFileGetVersion)
def get_version() -> int: ...


@_face(cuFileExportPCIeTopology)
def export_pcie_topology(filename: str | bytes) -> None: ...


@_face(cuFileGetBARSizeInKB)
def get_bar_size_in_kb(gpu_index: int) -> int: ...


def handle_register(descr: Descr | int) -> int:
    """Register a file, and return its handle. `descr` is a Descr or its address."""
    from ._types.cufile import CUfileDescr_t

    given = _struct(descr, CUfileDescr_t, "handle_register: descr")
    handle: int = _face.call(cuFileHandleRegister, given)
    return handle


@_face(cuFileHandleDeregister)
def handle_deregister(fh: int) -> None: ...


@_face(cuFileBufRegister)
def buf_register(buf_ptr_base: void_p, length: int, flags: int) -> None: ...


@_face(cuFileBufDeregister)
def buf_deregister(buf_ptr_base: void_p) -> None: ...


@_face(cuFileRead)
def read(fh: int, buf_ptr_base: void_p, size: int, file_offset: int, buf_ptr_offset: int) -> int: ...


@_face(cuFileWrite)
def write(fh: int, buf_ptr_base: void_p, size: int, file_offset: int, buf_ptr_offset: int) -> int: ...


def readv(fh: int, iov: Any, file_offset: int, flags: int = 0) -> int:
    """Read a file to the memory of `iov`, an IOVec, an array or a list of them; return how many bytes."""
    return _vector(cuFileReadv, fh, iov, file_offset, flags, "readv: iov")


def writev(fh: int, iov: Any, file_offset: int, flags: int = 0) -> int:
    """Write the memory of `iov`, an IOVec, an array or a list of them, to a file; return how many bytes."""
    return _vector(cuFileWritev, fh, iov, file_offset, flags, "writev: iov")


def _vector(function: Any, fh: int, iov: Any, file_offset: int, flags: int, what: str) -> int:
    from ._types.cufile import CUfileIOVec_t, IOVec

    if isinstance(iov, IOVec):
        iov = [iov]
    if not isinstance(iov, (list, tuple, ctypes.Array)):
        raise TypeError(f"{what} must be an IOVec, an array or a list of them, not {type(iov).__name__}")
    pieces = _structs(iov, CUfileIOVec_t, len(iov), what)
    count: int = _face.call(function, fh, pieces, len(iov), file_offset, flags)
    return count


@_face(cuFileReadAsync)
def read_async(
    fh: int,
    buf_ptr_base: void_p,
    size_p: void_p,
    file_offset_p: void_p,
    buf_ptr_offset_p: void_p,
    bytes_read_p: void_p,
    stream: CUstream | int | None,
) -> None: ...


@_face(cuFileWriteAsync)
def write_async(
    fh: int,
    buf_ptr_base: void_p,
    size_p: void_p,
    file_offset_p: void_p,
    buf_ptr_offset_p: void_p,
    bytes_written_p: void_p,
    stream: CUstream | int | None,
) -> None: ...


@_face(cuFileStreamRegister)
def stream_register(stream: CUstream | int | None, flags: int) -> None: ...


@_face(cuFileStreamDeregister)
def stream_deregister(stream: CUstream | int | None) -> None: ...


@_face(cuFileBatchIOSetUp)
def batch_io_set_up(nr: int) -> int: ...


def batch_io_submit(batch_idp: int, nr: int, iocbp: Any, flags: int) -> None:
    """Submit `nr` operations: an IOParams, an array or a list of them, or the address of the first."""
    from ._types.cufile import CUfileIOParams_t

    operations = _structs(iocbp, CUfileIOParams_t, _room(iocbp, nr), "batch_io_submit: iocbp")
    _face.call(cuFileBatchIOSubmit, batch_idp, nr, operations, flags)


def batch_io_get_status(batch_idp: int, min_nr: int, nr: int, iocbp: Any, timeout: Any) -> None:
    """Wait for `min_nr` operations. `nr` is the address of an unsigned int: how many events there is room for
    in `iocbp`, an array of IOEvents or its address, and then how many there are. `timeout` is a timespec, its
    address, or 0 for none.
    """
    from ._ffi.convert import integer
    from ._types.cufile import CUfileIOEvents_t, timespec

    address = integer(nr, 1, (1 << 64) - 1, "batch_io_get_status: nr")
    count = ctypes.c_uint.from_address(address)
    room = _room(iocbp, count.value)
    events = _structs(iocbp, CUfileIOEvents_t, room, "batch_io_get_status: iocbp")
    if count.value > room or (count.value and not isinstance(events, ctypes.Array)):
        raise ValueError(f"batch_io_get_status: iocbp has room for {room} events, not {count.value}")
    limit = _struct(timeout, timespec, "batch_io_get_status: timeout")
    status, ended, ended_events = cuFileBatchIOGetStatus(batch_idp, min_nr, count.value, limit)
    _face.check(cuFileBatchIOGetStatus, status, batch_idp, min_nr, count.value, timeout)
    for i, event in enumerate(ended_events):
        events[i] = event
    count.value = ended


def _room(structs: Any, nr: int) -> int:
    """How many structs there are: as many as an array has, one of one, `nr` at an address."""
    if isinstance(structs, ctypes.Array):
        return len(structs)
    return nr if isinstance(structs, int) else 1


@_face(cuFileBatchIOCancel)
def batch_io_cancel(batch_idp: int) -> None: ...


@_face(cuFileBatchIODestroy)
def batch_io_destroy(batch_idp: int) -> None: ...


@_face(cuFileGetParameterSizeT)
def get_parameter_size_t(param: SizeTConfigParameter | int) -> int: ...


@_face(cuFileGetParameterBool)
def get_parameter_bool(param: BoolConfigParameter | int) -> bool: ...


@_face(cuFileGetParameterString)
def get_parameter_string(param: StringConfigParameter | int, len: int) -> str: ...


@_face(cuFileGetParameterMinMaxValue)
def get_parameter_min_max_value(param: SizeTConfigParameter | int) -> tuple[int, int]: ...


@_face(cuFileSetParameterSizeT)
def set_parameter_size_t(param: SizeTConfigParameter | int, value: int) -> None: ...


@_face(cuFileSetParameterBool)
def set_parameter_bool(param: BoolConfigParameter | int, value: bool) -> None: ...


def set_parameter_string(param: StringConfigParameter | int, desc_str: str | bytes | int) -> None:
    """Set a parameter that is a text, before the driver is opened; an int is the address of one."""
    from ._ffi.snake_case import encoded

    text = ctypes.string_at(desc_str) if isinstance(desc_str, int) else encoded(desc_str)
    _face.call(cuFileSetParameterString, param, text)


def set_parameter_posix_pool_slab_array(size_values: Any, count_values: Any, len: int) -> None:
    """Set the pools of host memory: `len` sizes in KiB and counts, lists or the addresses of size_t."""
    _face.call(cuFileSetParameterPosixPoolSlabArray, *_numbers(size_values, count_values, len), len)


def get_parameter_posix_pool_slab_array(size_values: Any, count_values: Any, len: int) -> None:
    """Write the pools of host memory, sizes in KiB and counts, to the addresses of `len` size_t each, or to
    arrays of them.
    """
    _write_numbers(cuFileGetParameterPosixPoolSlabArray, size_values, count_values, len)


def set_parameter_gpu_bounce_buffer_slab_array(size_values: Any, count_values: Any, len: int) -> None:
    """Set the pools of device memory: `len` sizes in KiB and counts, lists or the addresses of size_t."""
    _face.call(cuFileSetParameterGpuBounceBufferSlabArray, *_numbers(size_values, count_values, len), len)


def get_parameter_gpu_bounce_buffer_slab_array(size_values: Any, count_values: Any, len: int) -> None:
    """Write the pools of device memory, sizes in KiB and counts, to the addresses of `len` size_t each, or to
    arrays of them.
    """
    _write_numbers(cuFileGetParameterGpuBounceBufferSlabArray, size_values, count_values, len)


def _numbers(size_values: Any, count_values: Any, count: int) -> list[Any]:
    """`count` size_t each, those at an address."""
    return [
        (ctypes.c_size_t * count).from_address(value) if isinstance(value, int) and value else value or None
        for value in (size_values, count_values)
    ]


def _write_numbers(function: Any, size_values: Any, count_values: Any, count: int) -> None:
    for target, number in zip(
        _numbers(size_values, count_values, count), _face.call(function, count), strict=True
    ):
        target[:count] = number


@_face(cuFileSetStatsLevel)
def set_stats_level(level: int) -> None: ...


@_face(cuFileGetStatsLevel)
def get_stats_level() -> int: ...


@_face(cuFileStatsStart)
def stats_start() -> None: ...


@_face(cuFileStatsStop)
def stats_stop() -> None: ...


@_face(cuFileStatsReset)
def stats_reset() -> None: ...


def get_stats_l1(stats: Any) -> None:
    """Write the statistics of level 1 to `stats`, a StatsLevel1 or its address."""
    _statistics(cuFileGetStatsL1, stats)


def get_stats_l2(stats: Any) -> None:
    """Write the statistics of level 2 to `stats`, a StatsLevel2 or its address."""
    _statistics(cuFileGetStatsL2, stats)


def get_stats_l3(stats: Any) -> None:
    """Write the statistics of level 3 to `stats`, a StatsLevel3 or its address."""
    _statistics(cuFileGetStatsL3, stats)


def _statistics(function: Any, stats: Any) -> None:
    status, statistics = function()
    _face.check(function, status)
    _fill(stats, statistics, f"get_stats_l{function.__name__[-1]}: stats")
