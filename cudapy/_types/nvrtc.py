"""The types of nvrtc.h, CUDA 12.0 to 13.5."""

from __future__ import annotations

from .._ffi.enums import Enum
from .._ffi.handles import Pointer
from .._ffi.scalars import c_int, c_uint, size_t
from .._ffi.structs import Struct

NVRTC_INSTALL_HEADERS_SKIP_IF_EXISTS = 0
NVRTC_INSTALL_HEADERS_FORCE_OVERWRITE = 1
NVRTC_INSTALL_HEADERS_NO_WAIT = 2


class nvrtcResult(Enum):
    """What an NVRTC call returns."""

    NVRTC_SUCCESS = 0
    NVRTC_ERROR_OUT_OF_MEMORY = 1
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2
    NVRTC_ERROR_INVALID_INPUT = 3
    NVRTC_ERROR_INVALID_PROGRAM = 4
    NVRTC_ERROR_INVALID_OPTION = 5
    NVRTC_ERROR_COMPILATION = 6
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7
    NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8
    NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9
    NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10
    NVRTC_ERROR_INTERNAL_ERROR = 11
    NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12
    NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED = 13
    NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED = 14
    NVRTC_ERROR_PCH_CREATE = 15
    NVRTC_ERROR_CANCELLED = 16
    NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED = 17
    NVRTC_ERROR_BUSY = 18


class nvrtcProgram(Pointer):
    """A unit of compilation: a source and what was made of it."""


class nvrtcBundledHeadersInfo(Struct):
    """The CUDA headers that NVRTC carries: sizes in bytes, their release, the number of files."""

    available: c_int
    compressedSize: size_t
    uncompressedSize: size_t
    cudaVersionMajor: c_int
    cudaVersionMinor: c_int
    numFiles: c_uint
