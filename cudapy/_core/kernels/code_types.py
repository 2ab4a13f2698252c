"""Choices by name of compilers: what they are called, what they take, and what they make of it."""

from ..options import Choice


class SourceCodeType(Choice):
    """What a Program is written in."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(Choice):
    """What an ObjectCode is: `code_type`, and what `Program.compile` makes."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


TARGETS = {
    SourceCodeType.CXX: ("ptx", "cubin", "ltoir"),
    SourceCodeType.PTX: ("cubin",),
    SourceCodeType.NVVM: ("ptx", "cubin", "ltoir"),
}
"""What each compiles to."""


class CompilerBackendType(Choice):
    """What compiles or links: `Program.backend`, `Linker.which_backend()`."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class PCHStatusType(Choice):
    """What became of a precompiled header: `Program.pch_status`."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"
