"""The linker of the toolkit, nvJitLink."""

from typing import Any

from ... import nvjitlink, pathfinder
from ..._bindings.errors import CUDAError
from ..._ffi.owning import Owning
from ..._pathfinder.libraries import LIBRARIES
from ..._types.meanings import NVJITLINKRESULT
from ...nvjitlink import nvJitLinkError, nvJitLinkHandle, nvJitLinkInputType, nvJitLinkResult
from ..kernels.object_code import ObjectCode
from ..kernels.parameter_kinds import without_note
from ..ownership.owned import Ownership
from .build import CompileError, LinkError, Tool, failure, text
from .linker_options import LinkerOptions
from .linker_thread import call, later

_owning = Owning(vars(nvjitlink), nvjitlink.libnvjitlink)


class NvJitLinkError(LinkError, nvJitLinkError):
    """Object code did not link: caught as the nvJitLinkError of cuda.bindings, too."""

    def __init__(self, message: str, code: Any = None, *more: Any) -> None:
        super().__init__(message, code, *more)
        self.status = self.statuses(code)


class PTXCompileError(CompileError, nvJitLinkError):
    """PTX did not compile: caught as the nvJitLinkError of cuda.bindings, too."""

    def __init__(self, message: str, code: Any = None, *more: Any) -> None:
        super().__init__(message, code, *more)
        self.status = self.statuses(code)


GETTERS = {"cubin": "LinkedCubin", "ptx": "LinkedPtx"}


class NvJitLink:
    """One nvJitLinkHandle. subject: what messages say is linked."""

    name = "nvJitLink"

    def __init__(self, options: LinkerOptions, subject: str) -> None:
        self.flags = options.as_bytes()
        self.subject = subject
        self.logs: tuple[str, str] | None = None  # once it has failed
        self.inputs: list[
            tuple[bytes, bytes]
        ] = []  # no word of nvJitLink's documentation that it copies them
        cell = nvJitLinkHandle()
        self.ownership = Ownership(later, _destroy, cell)
        try:
            call(_owning.nvJitLinkCreate, cell, len(self.flags), self.flags)
        except CUDAError as error:
            raise self.failed("nvJitLinkCreate", nvJitLinkResult(error.code)) from None
        self.handle = cell

    def add(self, code: ObjectCode) -> None:
        """Add an input. Source: nvJitLinkAddData."""
        call(self._add, code)

    def _add(self, code: ObjectCode) -> None:
        kind = nvJitLinkInputType[f"NVJITLINK_INPUT_{code.code_type.upper()}"]
        data, name = linker_input(code), code.name.encode()
        self.inputs.append((data, name))
        (status,) = nvjitlink.nvJitLinkAddData(self.handle, kind, data, len(data), name)
        if status:
            raise self.failed("nvJitLinkAddData", status)

    def complete(self, target: str) -> bytes:
        """Link. Source: nvJitLinkComplete, nvJitLinkGetLinkedCubin, nvJitLinkGetLinkedPtx."""
        return call(self._complete, target)

    def _complete(self, target: str) -> bytes:
        (status,) = nvjitlink.nvJitLinkComplete(self.handle)
        if status:
            raise self.failed("nvJitLinkComplete", status)
        return self.read(GETTERS[target])

    def read(self, what: str) -> bytes:
        """What nvJitLinkGet<what> gives."""
        size = getattr(nvjitlink.checked, f"nvJitLinkGet{what}Size")(self.handle)
        buffer = bytearray(size)
        getattr(nvjitlink.checked, f"nvJitLinkGet{what}")(self.handle, buffer)
        return bytes(buffer)

    def error_log(self) -> str:
        """The errors and warnings so far."""
        return self.logs[0] if self.logs else text(call(self.read, "ErrorLog"))

    def info_log(self) -> str:
        """The other messages so far."""
        return self.logs[1] if self.logs else text(call(self.read, "InfoLog"))

    def failed(self, function: str, status: nvJitLinkResult) -> LinkError:
        """The exception, with the logs, which outlive the handle."""
        self.logs = (self.error_log(), self.info_log()) if hasattr(self, "handle") else ("", "")
        log = "\n".join(filter(None, self.logs))
        return failure(NvJitLinkError, tool(), function, status, self.subject, self.flags, log, mixed())


def _destroy(handle: nvJitLinkHandle) -> None:
    if handle.value:
        nvjitlink.checked.nvJitLinkDestroy(handle)


def mixed() -> str:
    """What to do about a compiler and a linker of two majors; "" where they are of one, or one is absent."""
    linker = pathfinder.load("nvJitLink")
    try:
        compiler = pathfinder.locate("nvrtc")
    except pathfinder.LibraryNotFound:
        return ""
    if None in (compiler.major, linker.major) or compiler.major == linker.major:
        return ""
    return (
        f"nvJitLink is of CUDA {linker.major} ({linker.path}) and NVRTC of CUDA {compiler.major} "
        f"({compiler.path}): what one compiles the other may not link "
        f"(pip install {LIBRARIES['nvJitLink'].packages[compiler.major == 12]})"
    )


def tool() -> Tool:
    """nvJitLink for error messages."""
    loaded = pathfinder.load("nvJitLink")
    version = f" {loaded.major}"
    if hasattr(loaded.handle, "nvJitLinkVersion"):  # CUDA 12.3 and newer
        version = " {}.{}".format(*nvjitlink.checked.nvJitLinkVersion())
    return Tool(f"nvJitLink{version}", loaded.path, NVJITLINKRESULT)


def linker_input(code: ObjectCode) -> bytes:
    """The bytes as linkers want them: a NUL at the end of PTX, nothing behind a cubin."""
    if code.code_type == "ptx" and not code.code.endswith(b"\0"):
        return code.code + b"\0"
    return without_note(code.code) if code.code_type == "cubin" else code.code
