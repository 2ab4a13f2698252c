"""The types of nccl.h, NCCL 2.18 to 2.32: constants, enums, handles and structs.

The constructor of a struct that begins with `size`, `magic` and `version` fills these in, and the other fields
with what NCCL takes for "not set". A library that is older than the struct reads as much of it as it knows.
"""

from __future__ import annotations

from .._ffi.enums import Enum
from .._ffi.handles import Pointer
from .._ffi.scalars import c_float, c_int, c_uint, c_ulonglong, char_p, size_t, void_p
from .._ffi.sizes import sizeof
from .._ffi.structs import Struct, Union
from .runtime.handles import cudaEvent_t as cudaEvent_t
from .runtime.handles import cudaStream_t as cudaStream_t

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any

    from .._ffi.scalars import Bytes

NCCL_MAJOR = 2
NCCL_MINOR = 32
NCCL_PATCH = 3
NCCL_SUFFIX = ""
NCCL_VERSION_CODE = 23203
NCCL_UNIQUE_ID_BYTES = 128
NCCL_CONFIG_UNDEF_INT = -2147483648
NCCL_SPLIT_NOCOLOR = -1
NCCL_UNDEF_FLOAT = -1.0
NCCL_API_MAGIC = 0xCAFEBEEF
NCCL_WIN_DEFAULT = 0x00
NCCL_WIN_COLL_SYMMETRIC = 0x01
NCCL_WIN_STRICT_ORDERING = 0x02
NCCL_WIN_GIN_ONLY = 0x04
NCCL_WIN_CFT_COUNTED = 0x08
NCCL_WIN_REQUIRED_ALIGNMENT = 4096
NCCL_CTA_POLICY_DEFAULT = 0x00
NCCL_CTA_POLICY_EFFICIENCY = 0x01
NCCL_CTA_POLICY_ZERO = 0x02
NCCL_SHRINK_DEFAULT = 0x00
NCCL_SHRINK_ABORT = 0x01
NCCL_REVOKE_DEFAULT = 0x00
NCCL_SUSPEND_MEM = 0x01


class ncclResult_t(Enum):
    """What an NCCL call returns. ncclInProgress is not a failure: the work of a non-blocking communicator."""

    ncclSuccess = 0
    ncclUnhandledCudaError = 1
    ncclSystemError = 2
    ncclInternalError = 3
    ncclInvalidArgument = 4
    ncclInvalidUsage = 5
    ncclRemoteError = 6
    ncclInProgress = 7
    ncclTimeout = 8
    ncclNumResults = 9


class ncclHostCftMode_t(Enum):
    """Whether the host uses counted flags for transfers (hostCftMode)."""

    ncclHostCftDefault = -2147483648
    ncclHostCftEnable = 1
    ncclHostCftDisable = 2
    ncclHostCftFallback = 3


class ncclNvlsHostMode_t(Enum):
    """Which parts of NVLink SHARP the host leaves out (nvlsHostMode); flags can be combined."""

    ncclNvlsHostModeDefault = -2147483648
    ncclNvlsHostModeEnable = 0
    ncclNvlsHostModeDisableTransport = 1
    ncclNvlsHostModeDisableSymmetricMultimem = 2
    ncclNvlsHostModeDisable = 2147483647


class ncclCommMemStat_t(Enum):
    """What ncclCommMemStats counts, in bytes; of the second, 1 means that the memory is suspended."""

    ncclStatGpuMemSuspend = 0
    ncclStatGpuMemSuspended = 1
    ncclStatGpuMemPersist = 2
    ncclStatGpuMemTotal = 3


class ncclRedOp_dummy_t(Enum):
    """What gives ncclRedOp_t its size in C."""

    ncclNumOps_dummy = 5


class ncclRedOp_t(Enum):
    """How elements are reduced. Operators that a program makes have other numbers."""

    ncclSum = 0
    ncclProd = 1
    ncclMax = 2
    ncclMin = 3
    ncclAvg = 4
    ncclNumOps = 5
    ncclMaxRedOp = 2147483647


class ncclDataType_t(Enum):
    """The type of an element. The 8-bit floats are those of NCCL 2.24 and newer."""

    ncclInt8 = 0
    ncclChar = 0
    ncclUint8 = 1
    ncclInt32 = 2
    ncclInt = 2
    ncclUint32 = 3
    ncclInt64 = 4
    ncclUint64 = 5
    ncclFloat16 = 6
    ncclHalf = 6
    ncclFloat32 = 7
    ncclFloat = 7
    ncclFloat64 = 8
    ncclDouble = 8
    ncclBfloat16 = 9
    ncclFloat8e4m3 = 10
    ncclFloat8e5m2 = 11
    ncclNumTypes = 12


class ncclScalarResidence_t(Enum):
    """Where a scalar is: in device memory, read as the collective runs; on the host, read at once."""

    ncclScalarDevice = 0
    ncclScalarHostImmediate = 1


class ncclEncryptionMode_t(Enum):
    """How NCCL's own TCP connections are encrypted: not at all, or with a key that all processes have."""

    NCCL_ENCRYPTION_MODE_NONE = 0
    NCCL_ENCRYPTION_MODE_PSK = 1


class ncclComm_t(Pointer):
    """A communicator: one rank's membership of a group of ranks."""


class ncclWindow_t(Pointer):
    """Memory that all ranks of a communicator have registered."""


class ncclParamHandle_t(Pointer):
    """One of NCCL's own parameters, such as NCCL_DEBUG."""


class ncclUniqueId(Struct):
    """What the ranks of a communicator find each other by: 128 bytes of one rank, handed to all others."""

    internal: Annotated[Bytes, "char[128]"]


class _Initialised(Struct):
    """A struct that says how large it is, what it is and of which release."""

    def __init__(self, _ptr: int = 0, **values: Any) -> None:
        if not _ptr:
            start = {"size": sizeof(type(self)), "magic": NCCL_API_MAGIC, "version": NCCL_VERSION_CODE}
            values = {**start, **_DEFAULTS.get(type(self).__name__, {}), **values}
        super().__init__(_ptr, **values)


class ncclConfig_t(_Initialised):
    """How a communicator is made. NCCL_CONFIG_UNDEF_INT and None leave a choice to NCCL."""

    size: size_t
    magic: c_uint
    version: c_uint
    blocking: c_int
    cgaClusterSize: c_int
    minCTAs: c_int
    maxCTAs: c_int
    netName: char_p
    splitShare: c_int
    trafficClass: c_int
    commName: char_p
    collnetEnable: c_int
    CTAPolicy: c_int
    shrinkShare: c_int
    nvlsCTAs: c_int
    nChannelsPerNetPeer: c_int
    nvlinkCentricSched: c_int
    graphUsageMode: c_int
    numRmaCtx: c_int
    maxP2pPeers: c_int
    graphStreamOrdering: c_int
    launchOrderImplicit: c_int
    numRmaSig: c_int
    rmaEagerInit: c_int
    hostCftMode: c_int
    nvlsHostMode: c_int


class ncclConfigExt_t(Struct):
    """An option of another vendor's library, which NVIDIA's ignores; `next` has the others."""

    class _key(Struct):
        vendorId: c_int
        optionId: c_int

    class _val(Union):
        i: c_int
        s: char_p
        raw: void_p

    next: Annotated[list[ncclConfigExt_t], "ncclConfigExt_t *"]
    key: _key
    val: _val


class ncclCollConfig_t(_Initialised):
    """How one collective is done. NCCL_CONFIG_UNDEF_INT and None leave a choice to NCCL."""

    size: size_t
    magic: c_uint
    version: c_uint
    ext: Annotated[list[ncclConfigExt_t], "ncclConfigExt_t *"]
    minCTAs: c_int
    maxCTAs: c_int
    nvlsCTAs: c_int
    cgaClusterSize: c_int
    algSelection: char_p
    forceAlgSelection: c_int
    CTAPolicy: c_int
    userProfilerTag: c_ulonglong
    launchCompletionEvent: cudaEvent_t


class ncclSimInfo_t(_Initialised):
    """What a group would take: seconds times 10^-6, by NCCL's own model."""

    size: size_t
    magic: c_uint
    version: c_uint
    estimatedTime: c_float


class ncclWaitSignalDesc_t(Struct):
    """How many signals of a peer to wait for."""

    opCnt: c_int
    peer: c_int
    sigIdx: c_int
    ctx: c_int


class ncclEncryptionConfig_t(_Initialised):
    """Whether NCCL's own connections are encrypted, and the key."""

    size: size_t
    magic: c_uint
    version: c_uint
    mode: c_int
    psk: char_p


_DEFAULTS: dict[str, dict[str, Any]] = {
    "ncclConfig_t": dict.fromkeys(
        (
            *("blocking", "cgaClusterSize", "minCTAs", "maxCTAs", "splitShare", "trafficClass"),
            *("collnetEnable", "CTAPolicy", "shrinkShare", "nvlsCTAs", "nChannelsPerNetPeer"),
            *("nvlinkCentricSched", "graphUsageMode", "numRmaCtx", "maxP2pPeers", "graphStreamOrdering"),
            *("launchOrderImplicit", "numRmaSig", "rmaEagerInit", "hostCftMode", "nvlsHostMode"),
        ),
        NCCL_CONFIG_UNDEF_INT,
    ),
    "ncclCollConfig_t": {
        **dict.fromkeys(("minCTAs", "maxCTAs", "nvlsCTAs", "cgaClusterSize"), NCCL_CONFIG_UNDEF_INT),
        "forceAlgSelection": 1,
        "CTAPolicy": NCCL_CONFIG_UNDEF_INT,
    },
    "ncclSimInfo_t": {"magic": 0x74685283, "estimatedTime": NCCL_UNDEF_FLOAT},
}
"""What the fields of a new struct are, where that is not zero."""
