"""The types of cufile.h, CUDA 12.6 to 13.5, and the names that `cuda.bindings` has for them.

Structs have the size of the newest release, whose libraries read and write no more than they know. Those of
the raising face are declared in full, as type checkers read them: fields may have another name or type there.
"""

from __future__ import annotations

from .._ffi.enums import Enum
from .._ffi.face_structs import ArrayStruct, FaceStruct
from .._ffi.handles import Callback, Pointer
from .._ffi.scalars import c_int, c_long, c_uint, c_ulonglong, char_p, size_t, void_p
from .._ffi.structs import Struct, Union
from .driver.enums import CUresult as CUresult
from .driver.handles import CUstream as CUstream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from .._ffi.scalars import Bytes

CUFILEOP_BASE_ERR = 5000
CUFILE_GPU_UUID_LEN = 16
CU_FILE_P2P_FLAG_PCI_P2PDMA = 1
CU_FILE_P2P_FLAG_NVFS = 2
CU_FILE_P2P_FLAG_DMABUF = 4
CU_FILE_P2P_FLAG_C2C = 8
CU_FILE_RDMA_REGISTER = 1
CU_FILE_RDMA_RELAXED_ORDERING = 2
CU_FILE_RDMA_ERR_BASE = 6000
CU_FILE_RDMA_SUCCESS = 0
CU_FILE_RDMA_RESET_TOKEN = 6001
CU_FILE_RDMA_RESET_TOKEN_FAILED = 6002
CU_FILE_STREAM_FIXED_BUF_OFFSET = 1
CU_FILE_STREAM_FIXED_FILE_OFFSET = 2
CU_FILE_STREAM_FIXED_FILE_SIZE = 4
CU_FILE_STREAM_PAGE_ALIGNED_INPUTS = 8


class CUfileOpError(Enum):
    """Why a cuFile call failed. Numbers below CUFILEOP_BASE_ERR are those of `errno`."""

    CU_FILE_SUCCESS = 0
    CU_FILE_DRIVER_NOT_INITIALIZED = 5001
    CU_FILE_DRIVER_INVALID_PROPS = 5002
    CU_FILE_DRIVER_UNSUPPORTED_LIMIT = 5003
    CU_FILE_DRIVER_VERSION_MISMATCH = 5004
    CU_FILE_DRIVER_VERSION_READ_ERROR = 5005
    CU_FILE_DRIVER_CLOSING = 5006
    CU_FILE_PLATFORM_NOT_SUPPORTED = 5007
    CU_FILE_IO_NOT_SUPPORTED = 5008
    CU_FILE_DEVICE_NOT_SUPPORTED = 5009
    CU_FILE_NVFS_DRIVER_ERROR = 5010
    CU_FILE_CUDA_DRIVER_ERROR = 5011
    CU_FILE_CUDA_POINTER_INVALID = 5012
    CU_FILE_CUDA_MEMORY_TYPE_INVALID = 5013
    CU_FILE_CUDA_POINTER_RANGE_ERROR = 5014
    CU_FILE_CUDA_CONTEXT_MISMATCH = 5015
    CU_FILE_INVALID_MAPPING_SIZE = 5016
    CU_FILE_INVALID_MAPPING_RANGE = 5017
    CU_FILE_INVALID_FILE_TYPE = 5018
    CU_FILE_INVALID_FILE_OPEN_FLAG = 5019
    CU_FILE_DIO_NOT_SET = 5020
    CU_FILE_INVALID_VALUE = 5022
    CU_FILE_MEMORY_ALREADY_REGISTERED = 5023
    CU_FILE_MEMORY_NOT_REGISTERED = 5024
    CU_FILE_PERMISSION_DENIED = 5025
    CU_FILE_DRIVER_ALREADY_OPEN = 5026
    CU_FILE_HANDLE_NOT_REGISTERED = 5027
    CU_FILE_HANDLE_ALREADY_REGISTERED = 5028
    CU_FILE_DEVICE_NOT_FOUND = 5029
    CU_FILE_INTERNAL_ERROR = 5030
    CU_FILE_GETNEWFD_FAILED = 5031
    CU_FILE_NVFS_SETUP_ERROR = 5033
    CU_FILE_IO_DISABLED = 5034
    CU_FILE_BATCH_SUBMIT_FAILED = 5035
    CU_FILE_GPU_MEMORY_PINNING_FAILED = 5036
    CU_FILE_BATCH_FULL = 5037
    CU_FILE_ASYNC_NOT_SUPPORTED = 5038
    CU_FILE_INTERNAL_BATCH_SETUP_ERROR = 5039
    CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR = 5040
    CU_FILE_INTERNAL_BATCH_GETSTATUS_ERROR = 5041
    CU_FILE_INTERNAL_BATCH_CANCEL_ERROR = 5042
    CU_FILE_NOMEM_ERROR = 5043
    CU_FILE_IO_ERROR = 5044
    CU_FILE_INTERNAL_BUF_REGISTER_ERROR = 5045
    CU_FILE_HASH_OPR_ERROR = 5046
    CU_FILE_INVALID_CONTEXT_ERROR = 5047
    CU_FILE_NVFS_INTERNAL_DRIVER_ERROR = 5048
    CU_FILE_BATCH_NOCOMPAT_ERROR = 5049
    CU_FILE_IO_MAX_ERROR = 5050


class CUfileDriverStatusFlags_t(Enum):
    """Bits of `dstatusflags`: the file systems and devices that GPUDirect Storage works with here."""

    CU_FILE_LUSTRE_SUPPORTED = 0
    CU_FILE_WEKAFS_SUPPORTED = 1
    CU_FILE_NFS_SUPPORTED = 2
    CU_FILE_GPFS_SUPPORTED = 3
    CU_FILE_NVME_SUPPORTED = 4
    CU_FILE_NVMEOF_SUPPORTED = 5
    CU_FILE_SCSI_SUPPORTED = 6
    CU_FILE_SCALEFLUX_CSD_SUPPORTED = 7
    CU_FILE_NVMESH_SUPPORTED = 8
    CU_FILE_BEEGFS_SUPPORTED = 9
    CU_FILE_NVME_P2P_SUPPORTED = 11
    CU_FILE_SCATEFS_SUPPORTED = 12
    CU_FILE_VIRTIOFS_SUPPORTED = 13
    CU_FILE_PANFS_SUPPORTED = 14
    CU_FILE_MAX_TARGET_TYPES = 15


CUfileDriverStatusFlags = CUfileDriverStatusFlags_t


class CUfileDriverControlFlags_t(Enum):
    """Bits of `dcontrolflags`: how the driver was told to work."""

    CU_FILE_USE_POLL_MODE = 0
    CU_FILE_ALLOW_COMPAT_MODE = 1
    CU_FILE_VANILLA_POSIX_IO_MODE = 2
    CU_FILE_POSIX_IO_MODE = 2
    CU_FILE_FALLBACK_IO_MODE = 4


CUfileDriverControlFlags = CUfileDriverControlFlags_t


class CUfileFeatureFlags_t(Enum):
    """Bits of `fflags`: what the library can do here."""

    CU_FILE_DYN_ROUTING_SUPPORTED = 0
    CU_FILE_BATCH_IO_SUPPORTED = 1
    CU_FILE_STREAMS_SUPPORTED = 2
    CU_FILE_PARALLEL_IO_SUPPORTED = 3
    CU_FILE_P2P_SUPPORTED = 4


CUfileFeatureFlags = CUfileFeatureFlags_t


class CUfileP2PFlags_t(Enum):
    """Bits of what moves data between storage and GPU; CU_FILE_P2P_FLAG_* are 1 << these."""

    CUFILE_P2PDMA = 0
    CUFILE_NVFS = 1
    CUFILE_DMABUF = 2
    CUFILE_C2C = 3
    CUFILE_NVIDIA_PEERMEM = 4


CUfileP2PFlags = CUfileP2PFlags_t


class CUfileOpcode_t(Enum):
    """What an operation of a batch does."""

    CUFILE_READ = 0
    CUFILE_WRITE = 1


CUfileOpcode = CUfileOpcode_t


class CUfileFileHandleType(Enum):
    """What the handle in a CUfileDescr_t is."""

    CU_FILE_HANDLE_TYPE_OPAQUE_FD = 1
    CU_FILE_HANDLE_TYPE_OPAQUE_WIN32 = 2
    CU_FILE_HANDLE_TYPE_USERSPACE_FS = 3


class CUfileStatus_t(Enum):
    """How an operation of a batch stands."""

    CUFILE_WAITING = 1
    CUFILE_PENDING = 2
    CUFILE_INVALID = 4
    CUFILE_CANCELED = 8
    CUFILE_COMPLETE = 16
    CUFILE_TIMEOUT = 32
    CUFILE_FAILED = 64


class CUfileBatchMode_t(Enum):
    """The kind of a CUfileIOParams_t."""

    CUFILE_BATCH = 1


cufileBatchMode = CUfileBatchMode_t


class CUFileSizeTConfigParameter_t(Enum):
    """Parameters that are a size or a number."""

    CUFILE_PARAM_PROFILE_STATS = 0
    CUFILE_PARAM_EXECUTION_MAX_IO_QUEUE_DEPTH = 1
    CUFILE_PARAM_EXECUTION_MAX_IO_THREADS = 2
    CUFILE_PARAM_EXECUTION_MIN_IO_THRESHOLD_SIZE_KB = 3
    CUFILE_PARAM_EXECUTION_MAX_REQUEST_PARALLELISM = 4
    CUFILE_PARAM_PROPERTIES_MAX_DIRECT_IO_SIZE_KB = 5
    CUFILE_PARAM_PROPERTIES_MAX_DEVICE_CACHE_SIZE_KB = 6
    CUFILE_PARAM_PROPERTIES_PER_BUFFER_CACHE_SIZE_KB = 7
    CUFILE_PARAM_PROPERTIES_MAX_DEVICE_PINNED_MEM_SIZE_KB = 8
    CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE = 9
    CUFILE_PARAM_POLLTHRESHOLD_SIZE_KB = 10
    CUFILE_PARAM_PROPERTIES_BATCH_IO_TIMEOUT_MS = 11


class CUFileBoolConfigParameter_t(Enum):
    """Parameters that are on or off."""

    CUFILE_PARAM_PROPERTIES_USE_POLL_MODE = 0
    CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE = 1
    CUFILE_PARAM_FORCE_COMPAT_MODE = 2
    CUFILE_PARAM_FS_MISC_API_CHECK_AGGRESSIVE = 3
    CUFILE_PARAM_EXECUTION_PARALLEL_IO = 4
    CUFILE_PARAM_PROFILE_NVTX = 5
    CUFILE_PARAM_PROPERTIES_ALLOW_SYSTEM_MEMORY = 6
    CUFILE_PARAM_USE_PCIP2PDMA = 7
    CUFILE_PARAM_PREFER_IO_URING = 8
    CUFILE_PARAM_FORCE_ODIRECT_MODE = 9
    CUFILE_PARAM_SKIP_TOPOLOGY_DETECTION = 10
    CUFILE_PARAM_STREAM_MEMOPS_BYPASS = 11
    CUFILE_PARAM_PROPERTIES_POSIX_IO_MODE = 12
    CUFILE_PARAM_GDS_FALLBACK_IO = 13


class CUFileStringConfigParameter_t(Enum):
    """Parameters that are texts."""

    CUFILE_PARAM_LOGGING_LEVEL = 0
    CUFILE_PARAM_ENV_LOGFILE_PATH = 1
    CUFILE_PARAM_LOG_DIR = 2
    CUFILE_PARAM_RDMA_TRANSPORT = 3


class CUFileArrayConfigParameter_t(Enum):
    """Parameters that are arrays; functions with Slab in their names set them."""

    CUFILE_PARAM_POSIX_POOL_SLAB_SIZE_KB = 0
    CUFILE_PARAM_POSIX_POOL_SLAB_COUNT = 1
    CUFILE_PARAM_GPU_BOUNCE_BUFFER_SLAB_SIZE_KB = 2
    CUFILE_PARAM_GPU_BOUNCE_BUFFER_SLAB_COUNT = 3


class CUfileHandle_t(Pointer):
    """A file that is registered."""


class CUfileBatchHandle_t(Pointer):
    """A batch: a queue of operations that are submitted together."""


class CUfileError_t(Struct):
    """What a cuFile call returns: `err`, and `cu_err`, the driver's status where it was the driver that failed.

    It is true after a failure. `int()` and `name` are those of `err`. A function that answers with a number
    of bytes has `errno` in `err` where the system refused.
    """

    err: CUfileOpError
    cu_err: CUresult

    def __bool__(self) -> bool:
        return bool(self.err or self.cu_err)

    def __int__(self) -> int:
        return int(self.err)

    @property
    def name(self) -> str:
        """The name of `err`, or that of the `errno`."""
        import errno

        return errno.errorcode.get(int(self.err), self.err.name)

    def __repr__(self) -> str:
        driver = f", {self.cu_err.name}: {int(self.cu_err)}" if self.cu_err else ""
        return f"<CUfileError_t {self.name}: {int(self)}{driver}>"


CUfileError = CUfileError_t


class timespec(Struct):
    """A length of time, as time.h has it: seconds and nanoseconds."""

    tv_sec: c_long
    tv_nsec: c_long


class CUfileDrvProps_t(Struct):
    """What the driver of GPUDirect Storage is, and its limits. Sizes are in KiB."""

    class _nvfs(Struct):
        major_version: c_uint
        minor_version: c_uint
        poll_thresh_size: size_t
        max_direct_io_size: size_t
        dstatusflags: c_uint
        dcontrolflags: c_uint

    nvfs: _nvfs
    fflags: c_uint
    max_device_cache_size: c_uint
    per_buffer_cache_size: c_uint
    max_device_pinned_mem_size: c_uint
    max_batch_io_size: c_uint
    max_batch_io_timeout_msecs: c_uint


CUfileDrvProps = CUfileDrvProps_t


class cufileRDMAInfo_t(Struct):
    """What a file system's read and write get of RDMA: a text that describes the memory, and its length."""

    version: c_int
    desc_len: c_int
    desc_str: char_p


cufileRDMAInfo = cufileRDMAInfo_t


class CUfileFSOps_t(Struct):
    """The functions of a file system in user space: ctypes function objects, or addresses; null for none."""

    fs_type: Callback
    getRDMADeviceList: Callback
    getRDMADevicePriority: Callback
    read: Callback
    write: Callback


CUfileFSOps = CUfileFSOps_t


class CUfileDescr_t(Struct):
    """A file to register: its kind, its descriptor or handle, and what serves it if it is in user space."""

    class _handle(Union):
        fd: c_int
        handle: void_p

    type: CUfileFileHandleType
    handle: _handle
    fs_ops: void_p


class CUfileIOParams_t(Struct):
    """An operation of a batch: what to read or write, and `cookie`, by which its event is known."""

    class _u(Union):
        class _batch(Struct):
            devPtr_base: void_p
            file_offset: c_long
            devPtr_offset: c_long
            size: size_t

        batch: _batch

    mode: CUfileBatchMode_t
    u: _u
    fh: CUfileHandle_t
    opcode: CUfileOpcode_t
    cookie: void_p


CUfileIOParams = CUfileIOParams_t


class CUfileIOEvents_t(Struct):
    """How an operation of a batch stands; `ret` is how many bytes, or a negative CUfileOpError, of 64 bits."""

    cookie: void_p
    status: CUfileStatus_t
    ret: size_t


CUfileIOEvents = CUfileIOEvents_t


class CUfileIOVec_t(Struct):
    """A piece of memory that cuFileReadv fills or cuFileWritev writes: its address and size in bytes."""

    base: void_p
    len: size_t


CUfileIOVec = CUfileIOVec_t


class CUfileOpCounter_t(Struct):
    """How many operations of a kind went well, and how many failed."""

    ok: c_ulonglong
    err: c_ulonglong


CUfileOpCounter = CUfileOpCounter_t


class CUfileStatsLevel1_t(Struct):
    """Statistics of level 1: operations, bytes, bytes a second and latencies in microseconds."""

    read_ops: CUfileOpCounter_t
    write_ops: CUfileOpCounter_t
    hdl_register_ops: CUfileOpCounter_t
    hdl_deregister_ops: CUfileOpCounter_t
    buf_register_ops: CUfileOpCounter_t
    buf_deregister_ops: CUfileOpCounter_t
    read_bytes: c_ulonglong
    write_bytes: c_ulonglong
    read_bw_bytes_per_sec: c_ulonglong
    write_bw_bytes_per_sec: c_ulonglong
    read_lat_avg_us: c_ulonglong
    write_lat_avg_us: c_ulonglong
    read_ops_per_sec: c_ulonglong
    write_ops_per_sec: c_ulonglong
    read_lat_sum_us: c_ulonglong
    write_lat_sum_us: c_ulonglong
    batch_submit_ops: CUfileOpCounter_t
    batch_complete_ops: CUfileOpCounter_t
    batch_setup_ops: CUfileOpCounter_t
    batch_cancel_ops: CUfileOpCounter_t
    batch_destroy_ops: CUfileOpCounter_t
    batch_enqueued_ops: CUfileOpCounter_t
    batch_posix_enqueued_ops: CUfileOpCounter_t
    batch_processed_ops: CUfileOpCounter_t
    batch_posix_processed_ops: CUfileOpCounter_t
    batch_nvfs_submit_ops: CUfileOpCounter_t
    batch_p2p_submit_ops: CUfileOpCounter_t
    batch_aio_submit_ops: CUfileOpCounter_t
    batch_iouring_submit_ops: CUfileOpCounter_t
    batch_mixed_io_submit_ops: CUfileOpCounter_t
    batch_total_submit_ops: CUfileOpCounter_t
    batch_read_bytes: c_ulonglong
    batch_write_bytes: c_ulonglong
    batch_read_bw_bytes: c_ulonglong
    batch_write_bw_bytes: c_ulonglong
    batch_submit_lat_avg_us: c_ulonglong
    batch_completion_lat_avg_us: c_ulonglong
    batch_submit_ops_per_sec: c_ulonglong
    batch_complete_ops_per_sec: c_ulonglong
    batch_submit_lat_sum_us: c_ulonglong
    batch_completion_lat_sum_us: c_ulonglong
    last_batch_read_bytes: c_ulonglong
    last_batch_write_bytes: c_ulonglong
    readv_ops: CUfileOpCounter_t
    writev_ops: CUfileOpCounter_t
    readv_bytes: c_ulonglong
    writev_bytes: c_ulonglong
    readv_bw_bytes_per_sec: c_ulonglong
    writev_bw_bytes_per_sec: c_ulonglong
    readv_lat_avg_us: c_ulonglong
    writev_lat_avg_us: c_ulonglong
    readv_ops_per_sec: c_ulonglong
    writev_ops_per_sec: c_ulonglong
    readv_lat_sum_us: c_ulonglong
    writev_lat_sum_us: c_ulonglong


CUfileStatsLevel1 = CUfileStatsLevel1_t


class CUfileStatsLevel2_t(Struct):
    """Statistics of level 2: those of level 1, and histograms of sizes, in KiB."""

    basic: CUfileStatsLevel1_t
    read_size_kb_hist: Annotated[list[int], "unsigned long long[32]"]
    write_size_kb_hist: Annotated[list[int], "unsigned long long[32]"]


CUfileStatsLevel2 = CUfileStatsLevel2_t


class CUfilePerGpuStats_t(Struct):
    """Statistics of one GPU, of level 3."""

    uuid: Annotated[Bytes, "char[16]"]
    read_bytes: c_ulonglong
    read_bw_bytes_per_sec: c_ulonglong
    read_utilization: c_ulonglong
    read_duration_us: c_ulonglong
    n_total_reads: c_ulonglong
    n_p2p_reads: c_ulonglong
    n_nvfs_reads: c_ulonglong
    n_posix_reads: c_ulonglong
    n_unaligned_reads: c_ulonglong
    n_dr_reads: c_ulonglong
    n_sparse_regions: c_ulonglong
    n_inline_regions: c_ulonglong
    n_reads_err: c_ulonglong
    writes_bytes: c_ulonglong
    write_bw_bytes_per_sec: c_ulonglong
    write_utilization: c_ulonglong
    write_duration_us: c_ulonglong
    n_total_writes: c_ulonglong
    n_p2p_writes: c_ulonglong
    n_nvfs_writes: c_ulonglong
    n_posix_writes: c_ulonglong
    n_unaligned_writes: c_ulonglong
    n_dr_writes: c_ulonglong
    n_writes_err: c_ulonglong
    n_mmap: c_ulonglong
    n_mmap_ok: c_ulonglong
    n_mmap_err: c_ulonglong
    n_mmap_free: c_ulonglong
    reg_bytes: c_ulonglong


CUfilePerGpuStats = CUfilePerGpuStats_t


class CUfileStatsLevel3_t(Struct):
    """Statistics of level 3: those of level 2, and those of each GPU."""

    detailed: CUfileStatsLevel2_t
    num_gpus: c_uint
    per_gpu_stats: Annotated[list[CUfilePerGpuStats_t], "CUfilePerGpuStats_t[16]"]


CUfileStatsLevel3 = CUfileStatsLevel3_t


class OpError(Enum):
    """A CUfileOpError under the name that the raising face has for it."""

    SUCCESS = 0
    DRIVER_NOT_INITIALIZED = 5001
    DRIVER_INVALID_PROPS = 5002
    DRIVER_UNSUPPORTED_LIMIT = 5003
    DRIVER_VERSION_MISMATCH = 5004
    DRIVER_VERSION_READ_ERROR = 5005
    DRIVER_CLOSING = 5006
    PLATFORM_NOT_SUPPORTED = 5007
    IO_NOT_SUPPORTED = 5008
    DEVICE_NOT_SUPPORTED = 5009
    NVFS_DRIVER_ERROR = 5010
    CUDA_DRIVER_ERROR = 5011
    CUDA_POINTER_INVALID = 5012
    CUDA_MEMORY_TYPE_INVALID = 5013
    CUDA_POINTER_RANGE_ERROR = 5014
    CUDA_CONTEXT_MISMATCH = 5015
    INVALID_MAPPING_SIZE = 5016
    INVALID_MAPPING_RANGE = 5017
    INVALID_FILE_TYPE = 5018
    INVALID_FILE_OPEN_FLAG = 5019
    DIO_NOT_SET = 5020
    INVALID_VALUE = 5022
    MEMORY_ALREADY_REGISTERED = 5023
    MEMORY_NOT_REGISTERED = 5024
    PERMISSION_DENIED = 5025
    DRIVER_ALREADY_OPEN = 5026
    HANDLE_NOT_REGISTERED = 5027
    HANDLE_ALREADY_REGISTERED = 5028
    DEVICE_NOT_FOUND = 5029
    INTERNAL_ERROR = 5030
    GETNEWFD_FAILED = 5031
    NVFS_SETUP_ERROR = 5033
    IO_DISABLED = 5034
    BATCH_SUBMIT_FAILED = 5035
    GPU_MEMORY_PINNING_FAILED = 5036
    BATCH_FULL = 5037
    ASYNC_NOT_SUPPORTED = 5038
    INTERNAL_BATCH_SETUP_ERROR = 5039
    INTERNAL_BATCH_SUBMIT_ERROR = 5040
    INTERNAL_BATCH_GETSTATUS_ERROR = 5041
    INTERNAL_BATCH_CANCEL_ERROR = 5042
    NOMEM_ERROR = 5043
    IO_ERROR = 5044
    INTERNAL_BUF_REGISTER_ERROR = 5045
    HASH_OPR_ERROR = 5046
    INVALID_CONTEXT_ERROR = 5047
    NVFS_INTERNAL_DRIVER_ERROR = 5048
    BATCH_NOCOMPAT_ERROR = 5049
    IO_MAX_ERROR = 5050


class DriverStatusFlags(Enum):
    """A CUfileDriverStatusFlags_t under the name that the raising face has for it."""

    LUSTRE_SUPPORTED = 0
    WEKAFS_SUPPORTED = 1
    NFS_SUPPORTED = 2
    GPFS_SUPPORTED = 3
    NVME_SUPPORTED = 4
    NVMEOF_SUPPORTED = 5
    SCSI_SUPPORTED = 6
    SCALEFLUX_CSD_SUPPORTED = 7
    NVMESH_SUPPORTED = 8
    BEEGFS_SUPPORTED = 9
    NVME_P2P_SUPPORTED = 11
    SCATEFS_SUPPORTED = 12
    VIRTIOFS_SUPPORTED = 13
    PANFS_SUPPORTED = 14
    MAX_TARGET_TYPES = 15


class DriverControlFlags(Enum):
    """A CUfileDriverControlFlags_t under the name that the raising face has for it."""

    USE_POLL_MODE = 0
    ALLOW_COMPAT_MODE = 1
    VANILLA_POSIX_IO_MODE = 2
    POSIX_IO_MODE = 2
    FALLBACK_IO_MODE = 4


class FeatureFlags(Enum):
    """A CUfileFeatureFlags_t under the name that the raising face has for it."""

    DYN_ROUTING_SUPPORTED = 0
    BATCH_IO_SUPPORTED = 1
    STREAMS_SUPPORTED = 2
    PARALLEL_IO_SUPPORTED = 3
    P2P_SUPPORTED = 4


class P2PFlags(Enum):
    """A CUfileP2PFlags_t under the name that the raising face has for it."""

    P2PDMA = 0
    NVFS = 1
    DMABUF = 2
    C2C = 3
    NVIDIA_PEERMEM = 4


class Opcode(Enum):
    """A CUfileOpcode_t under the name that the raising face has for it."""

    READ = 0
    WRITE = 1


class FileHandleType(Enum):
    """A CUfileFileHandleType under the name that the raising face has for it."""

    OPAQUE_FD = 1
    OPAQUE_WIN32 = 2
    USERSPACE_FS = 3


class Status(Enum):
    """A CUfileStatus_t under the name that the raising face has for it."""

    WAITING = 1
    PENDING = 2
    INVALID = 4
    CANCELED = 8
    COMPLETE = 16
    TIMEOUT = 32
    FAILED = 64


class BatchMode(Enum):
    """A CUfileBatchMode_t under the name that the raising face has for it."""

    BATCH = 1


class SizeTConfigParameter(Enum):
    """A CUFileSizeTConfigParameter_t under the name that the raising face has for it."""

    PROFILE_STATS = 0
    EXECUTION_MAX_IO_QUEUE_DEPTH = 1
    EXECUTION_MAX_IO_THREADS = 2
    EXECUTION_MIN_IO_THRESHOLD_SIZE_KB = 3
    EXECUTION_MAX_REQUEST_PARALLELISM = 4
    PROPERTIES_MAX_DIRECT_IO_SIZE_KB = 5
    PROPERTIES_MAX_DEVICE_CACHE_SIZE_KB = 6
    PROPERTIES_PER_BUFFER_CACHE_SIZE_KB = 7
    PROPERTIES_MAX_DEVICE_PINNED_MEM_SIZE_KB = 8
    PROPERTIES_IO_BATCHSIZE = 9
    POLLTHRESHOLD_SIZE_KB = 10
    PROPERTIES_BATCH_IO_TIMEOUT_MS = 11


class BoolConfigParameter(Enum):
    """A CUFileBoolConfigParameter_t under the name that the raising face has for it."""

    PROPERTIES_USE_POLL_MODE = 0
    PROPERTIES_ALLOW_COMPAT_MODE = 1
    FORCE_COMPAT_MODE = 2
    FS_MISC_API_CHECK_AGGRESSIVE = 3
    EXECUTION_PARALLEL_IO = 4
    PROFILE_NVTX = 5
    PROPERTIES_ALLOW_SYSTEM_MEMORY = 6
    USE_PCIP2PDMA = 7
    PREFER_IO_URING = 8
    FORCE_ODIRECT_MODE = 9
    SKIP_TOPOLOGY_DETECTION = 10
    STREAM_MEMOPS_BYPASS = 11
    PROPERTIES_POSIX_IO_MODE = 12
    GDS_FALLBACK_IO = 13


class StringConfigParameter(Enum):
    """A CUFileStringConfigParameter_t under the name that the raising face has for it."""

    LOGGING_LEVEL = 0
    ENV_LOGFILE_PATH = 1
    LOG_DIR = 2
    RDMA_TRANSPORT = 3


class ArrayConfigParameter(Enum):
    """A CUFileArrayConfigParameter_t under the name that the raising face has for it."""

    POSIX_POOL_SLAB_SIZE_KB = 0
    POSIX_POOL_SLAB_COUNT = 1
    GPU_BOUNCE_BUFFER_SLAB_SIZE_KB = 2
    GPU_BOUNCE_BUFFER_SLAB_COUNT = 3


class Descr(ArrayStruct):
    """A CUfileDescr_t under the name that the raising face has for it."""

    class _handle(Union):
        fd: c_int
        handle: void_p

    type: FileHandleType
    handle: _handle
    fs_ops: void_p


class IOParams(ArrayStruct):
    """A CUfileIOParams_t under the name that the raising face has for it; `IOParams(n)` is an array."""

    class _u(Union):
        class _batch(Struct):
            dev_ptr_base: void_p
            file_offset: c_long
            dev_ptr_offset: c_long
            size_: size_t

        batch: _batch

    mode: BatchMode
    u: _u
    fh: void_p
    opcode: Opcode
    cookie: void_p


class IOEvents(ArrayStruct):
    """A CUfileIOEvents_t under the name that the raising face has for it; `IOEvents(n)` is an array."""

    cookie: void_p
    status: Status
    ret: size_t


class IOVec(ArrayStruct):
    """A CUfileIOVec_t under the name that the raising face has for it; `IOVec(n)` is an array."""

    base_: void_p
    len: size_t


class OpCounter(FaceStruct):
    """A CUfileOpCounter_t under the name that the raising face has for it."""

    ok: c_ulonglong
    err: c_ulonglong


class StatsLevel1(FaceStruct):
    """A CUfileStatsLevel1_t under the name that the raising face has for it."""

    read_ops: OpCounter
    write_ops: OpCounter
    hdl_register_ops: OpCounter
    hdl_deregister_ops: OpCounter
    buf_register_ops: OpCounter
    buf_deregister_ops: OpCounter
    read_bytes: c_ulonglong
    write_bytes: c_ulonglong
    read_bw_bytes_per_sec: c_ulonglong
    write_bw_bytes_per_sec: c_ulonglong
    read_lat_avg_us: c_ulonglong
    write_lat_avg_us: c_ulonglong
    read_ops_per_sec: c_ulonglong
    write_ops_per_sec: c_ulonglong
    read_lat_sum_us: c_ulonglong
    write_lat_sum_us: c_ulonglong
    batch_submit_ops: OpCounter
    batch_complete_ops: OpCounter
    batch_setup_ops: OpCounter
    batch_cancel_ops: OpCounter
    batch_destroy_ops: OpCounter
    batch_enqueued_ops: OpCounter
    batch_posix_enqueued_ops: OpCounter
    batch_processed_ops: OpCounter
    batch_posix_processed_ops: OpCounter
    batch_nvfs_submit_ops: OpCounter
    batch_p2p_submit_ops: OpCounter
    batch_aio_submit_ops: OpCounter
    batch_iouring_submit_ops: OpCounter
    batch_mixed_io_submit_ops: OpCounter
    batch_total_submit_ops: OpCounter
    batch_read_bytes: c_ulonglong
    batch_write_bytes: c_ulonglong
    batch_read_bw_bytes: c_ulonglong
    batch_write_bw_bytes: c_ulonglong
    batch_submit_lat_avg_us: c_ulonglong
    batch_completion_lat_avg_us: c_ulonglong
    batch_submit_ops_per_sec: c_ulonglong
    batch_complete_ops_per_sec: c_ulonglong
    batch_submit_lat_sum_us: c_ulonglong
    batch_completion_lat_sum_us: c_ulonglong
    last_batch_read_bytes: c_ulonglong
    last_batch_write_bytes: c_ulonglong
    readv_ops: OpCounter
    writev_ops: OpCounter
    readv_bytes: c_ulonglong
    writev_bytes: c_ulonglong
    readv_bw_bytes_per_sec: c_ulonglong
    writev_bw_bytes_per_sec: c_ulonglong
    readv_lat_avg_us: c_ulonglong
    writev_lat_avg_us: c_ulonglong
    readv_ops_per_sec: c_ulonglong
    writev_ops_per_sec: c_ulonglong
    readv_lat_sum_us: c_ulonglong
    writev_lat_sum_us: c_ulonglong


class StatsLevel2(FaceStruct):
    """A CUfileStatsLevel2_t under the name that the raising face has for it."""

    basic: StatsLevel1
    read_size_kb_hist: Annotated[list[int], "unsigned long long[32]"]
    write_size_kb_hist: Annotated[list[int], "unsigned long long[32]"]


class PerGpuStats(ArrayStruct):
    """A CUfilePerGpuStats_t under the name that the raising face has for it."""

    uuid: Annotated[Bytes, "char[16]"]
    read_bytes: c_ulonglong
    read_bw_bytes_per_sec: c_ulonglong
    read_utilization: c_ulonglong
    read_duration_us: c_ulonglong
    n_total_reads: c_ulonglong
    n_p2p_reads: c_ulonglong
    n_nvfs_reads: c_ulonglong
    n_posix_reads: c_ulonglong
    n_unaligned_reads: c_ulonglong
    n_dr_reads: c_ulonglong
    n_sparse_regions: c_ulonglong
    n_inline_regions: c_ulonglong
    n_reads_err: c_ulonglong
    writes_bytes: c_ulonglong
    write_bw_bytes_per_sec: c_ulonglong
    write_utilization: c_ulonglong
    write_duration_us: c_ulonglong
    n_total_writes: c_ulonglong
    n_p2p_writes: c_ulonglong
    n_nvfs_writes: c_ulonglong
    n_posix_writes: c_ulonglong
    n_unaligned_writes: c_ulonglong
    n_dr_writes: c_ulonglong
    n_writes_err: c_ulonglong
    n_mmap: c_ulonglong
    n_mmap_ok: c_ulonglong
    n_mmap_err: c_ulonglong
    n_mmap_free: c_ulonglong
    reg_bytes: c_ulonglong


class StatsLevel3(FaceStruct):
    """A CUfileStatsLevel3_t under the name that the raising face has for it."""

    detailed: StatsLevel2
    num_gpus: c_uint
    per_gpu_stats: Annotated[list[PerGpuStats], "PerGpuStats[16]"]


pyCUresult = CUresult

TWINS = {
    CUfileDescr_t: Descr,
    CUfileIOParams_t: IOParams,
    CUfileIOEvents_t: IOEvents,
    CUfileIOVec_t: IOVec,
    CUfileOpCounter_t: OpCounter,
    CUfileStatsLevel1_t: StatsLevel1,
    CUfileStatsLevel2_t: StatsLevel2,
    CUfilePerGpuStats_t: PerGpuStats,
    CUfileStatsLevel3_t: StatsLevel3,
    CUfileOpError: OpError,
    CUfileDriverStatusFlags_t: DriverStatusFlags,
    CUfileDriverControlFlags_t: DriverControlFlags,
    CUfileFeatureFlags_t: FeatureFlags,
    CUfileP2PFlags_t: P2PFlags,
    CUfileOpcode_t: Opcode,
    CUfileFileHandleType: FileHandleType,
    CUfileStatus_t: Status,
    CUfileBatchMode_t: BatchMode,
    CUFileSizeTConfigParameter_t: SizeTConfigParameter,
    CUFileBoolConfigParameter_t: BoolConfigParameter,
    CUFileStringConfigParameter_t: StringConfigParameter,
    CUFileArrayConfigParameter_t: ArrayConfigParameter,
}
"""The enums and structs of C, and those of the raising face."""
