"""The types of nvJitLink.h, CUDA 12.0 to 13.5, and the names that `cuda.bindings` has for them."""

from __future__ import annotations

from .._ffi.enums import Enum
from .._ffi.handles import Pointer


class nvJitLinkResult(Enum):
    """What an nvJitLink call returns. CUDA 12 has the first ten."""

    NVJITLINK_SUCCESS = 0
    NVJITLINK_ERROR_UNRECOGNIZED_OPTION = 1
    NVJITLINK_ERROR_MISSING_ARCH = 2
    NVJITLINK_ERROR_INVALID_INPUT = 3
    NVJITLINK_ERROR_PTX_COMPILE = 4
    NVJITLINK_ERROR_NVVM_COMPILE = 5
    NVJITLINK_ERROR_INTERNAL = 6
    NVJITLINK_ERROR_THREADPOOL = 7
    NVJITLINK_ERROR_UNRECOGNIZED_INPUT = 8
    NVJITLINK_ERROR_FINALIZE = 9
    NVJITLINK_ERROR_NULL_INPUT = 10
    NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS = 11
    NVJITLINK_ERROR_INCORRECT_INPUT_TYPE = 12
    NVJITLINK_ERROR_ARCH_MISMATCH = 13
    NVJITLINK_ERROR_OUTDATED_LIBRARY = 14
    NVJITLINK_ERROR_MISSING_FATBIN = 15
    NVJITLINK_ERROR_UNRECOGNIZED_ARCH = 16
    NVJITLINK_ERROR_UNSUPPORTED_ARCH = 17
    NVJITLINK_ERROR_LTO_NOT_ENABLED = 18


class nvJitLinkInputType(Enum):
    """What is linked. ANY has the library look."""

    NVJITLINK_INPUT_NONE = 0
    NVJITLINK_INPUT_CUBIN = 1
    NVJITLINK_INPUT_PTX = 2
    NVJITLINK_INPUT_LTOIR = 3
    NVJITLINK_INPUT_FATBIN = 4
    NVJITLINK_INPUT_OBJECT = 5
    NVJITLINK_INPUT_LIBRARY = 6
    NVJITLINK_INPUT_INDEX = 7
    NVJITLINK_INPUT_ANY = 10


class nvJitLinkHandle(Pointer):
    """A linker: its options, its inputs and what they were linked to."""


class Result(Enum):
    """An nvJitLinkResult under the name that the raising face has for it."""

    SUCCESS = 0
    ERROR_UNRECOGNIZED_OPTION = 1
    ERROR_MISSING_ARCH = 2
    ERROR_INVALID_INPUT = 3
    ERROR_PTX_COMPILE = 4
    ERROR_NVVM_COMPILE = 5
    ERROR_INTERNAL = 6
    ERROR_THREADPOOL = 7
    ERROR_UNRECOGNIZED_INPUT = 8
    ERROR_FINALIZE = 9
    ERROR_NULL_INPUT = 10
    ERROR_INCOMPATIBLE_OPTIONS = 11
    ERROR_INCORRECT_INPUT_TYPE = 12
    ERROR_ARCH_MISMATCH = 13
    ERROR_OUTDATED_LIBRARY = 14
    ERROR_MISSING_FATBIN = 15
    ERROR_UNRECOGNIZED_ARCH = 16
    ERROR_UNSUPPORTED_ARCH = 17
    ERROR_LTO_NOT_ENABLED = 18


class InputType(Enum):
    """An nvJitLinkInputType under the name that the raising face has for it."""

    NONE = 0
    CUBIN = 1
    PTX = 2
    LTOIR = 3
    FATBIN = 4
    OBJECT = 5
    LIBRARY = 6
    INDEX = 7
    ANY = 10
