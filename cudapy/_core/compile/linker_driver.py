"""The linker in the driver, cuLink*."""

from typing import Any

from ... import driver, pathfinder
from ..._bindings.errors import CUDAError
from ..._ffi import memory
from ..._types.meanings import CURESULT
from ...driver import CUjit_option, CUjit_target, CUjitInputType, CUlinkState, CUresult, checked
from ..context.current import initialise, owning
from ..kernels.object_code import ObjectCode
from ..ownership.owned import Ownership
from .build import LinkError, Tool, failure, text
from .flags import set_fields
from .linker_nvjitlink import linker_input
from .linker_options import LinkerOptions

LOG_SIZE = 1 << 18  # bytes; the driver cuts what is longer

INPUTS = {
    "cubin": CUjitInputType.CU_JIT_INPUT_CUBIN,
    "ptx": CUjitInputType.CU_JIT_INPUT_PTX,
    "fatbin": CUjitInputType.CU_JIT_INPUT_FATBINARY,
    "object": CUjitInputType.CU_JIT_INPUT_OBJECT,
    "library": CUjitInputType.CU_JIT_INPUT_LIBRARY,
}
OPTIONS = {
    "max_register_count": CUjit_option.CU_JIT_MAX_REGISTERS,
    "optimization_level": CUjit_option.CU_JIT_OPTIMIZATION_LEVEL,
    "debug": CUjit_option.CU_JIT_GENERATE_DEBUG_INFO,
    "lineinfo": CUjit_option.CU_JIT_GENERATE_LINE_INFO,
    "verbose": CUjit_option.CU_JIT_LOG_VERBOSE,
}
WITHOUT = {"name", "arch", "no_cache", "numba_debug"}  # no_cache: it caches nothing


class DriverLinker:
    """One CUlinkState. subject: what messages say is linked; reason: why nvJitLink does not do it."""

    name = "driver"

    def __init__(self, options: LinkerOptions, subject: str, reason: str) -> None:
        lacking = sorted(set_fields(options) - OPTIONS.keys() - WITHOUT)
        if lacking:
            names = ", ".join(lacking)
            raise ValueError(f"LinkerOptions: the driver's linker has no {names}, and {reason}")
        self.subject = subject
        self.info, self.errors = bytearray(LOG_SIZE), bytearray(LOG_SIZE)
        initialise()
        settings: dict[CUjit_option, Any] = {
            CUjit_option.CU_JIT_INFO_LOG_BUFFER: self.info,
            CUjit_option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: LOG_SIZE,
            CUjit_option.CU_JIT_ERROR_LOG_BUFFER: self.errors,
            CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: LOG_SIZE,
            CUjit_option.CU_JIT_TARGET: jit_target(options.arch_number()),
        }
        for name, option in OPTIONS.items():
            if (given := getattr(options, name)) is not None:
                settings[option] = int(given)
        numbers = {option: given for option, given in settings.items() if isinstance(given, int)}
        self.flags = [f"{option.name}={int(given)}".encode() for option, given in numbers.items()]
        cell = CUlinkState()
        self.ownership = Ownership(_destroy, cell, self.info, self.errors)  # the logs must live as long
        try:
            owning.cuLinkCreate(cell, len(settings), list(settings), list(settings.values()))
        except CUDAError as error:
            raise self.failed("cuLinkCreate", CUresult(error.code)) from None
        self.handle = CUlinkState(cell.value)

    def add(self, code: ObjectCode) -> None:
        """Add an input, of a type in INPUTS. Source: cuLinkAddData."""
        data = linker_input(code)
        name = code.name.encode()
        (status,) = driver.cuLinkAddData(
            self.handle, INPUTS[code.code_type], data, len(data), name, 0, None, None
        )
        if status:
            raise self.failed("cuLinkAddData", status)

    def complete(self, target: str) -> bytes:
        """Link. Source: cuLinkComplete, whose result the linker owns."""
        status, address, size = driver.cuLinkComplete(self.handle)
        if status:
            raise self.failed("cuLinkComplete", status)
        return memory.read(address, size)

    def error_log(self) -> str:
        """The errors and warnings so far."""
        return text(self.errors.partition(b"\0")[0])

    def info_log(self) -> str:
        """The other messages so far."""
        return text(self.info.partition(b"\0")[0])

    def failed(self, function: str, status: CUresult) -> LinkError:
        """The exception, with the logs."""
        log = "\n".join(filter(None, (self.error_log(), self.info_log())))
        return failure(LinkError, tool(), function, status, self.subject, self.flags, log)


def _destroy(handle: CUlinkState, *logs: bytearray) -> None:
    owning.cuLinkDestroy(handle)


def tool() -> Tool:
    """The driver for error messages."""
    version = checked.cuDriverGetVersion()
    path = pathfinder.load("cuda").path
    return Tool(f"the driver of CUDA {version // 1000}.{version % 1000 // 10}", path, CURESULT)


def jit_target(arch: str) -> CUjit_target:
    """The CUjit_target of an architecture such as "90a". Raises ValueError for an unknown one."""
    name = f"CU_TARGET_COMPUTE_{arch.upper()}"
    if name not in CUjit_target.__members__:
        raise ValueError(f"LinkerOptions: the driver has no target for arch {arch!r}")
    return CUjit_target[name]
