"""Object code: what compilers make, and kernels are found in."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any
from weakref import ref

from ... import driver
from ..._bindings.errors import CUDAError
from ..._ffi.elf import DamagedError
from ..._ffi.fatbin import check_object
from ..._ffi.library import settled
from ...driver import CUdeviceptr, CUjit_option, CUlibrary, CUmodule, CUresult, checked
from ..context.current import RelaxedCaptureMode, initialise, owning, when_prepared
from ..memory.buffer import Buffer
from ..memory.managed_buffer import ManagedBuffer
from ..options import c_text, suggestion
from ..ownership.owned import Ownership
from ..streams.waiting import PRINTS, synchronizing
from .code_types import ObjectCodeFormatType
from .kernel import Kernel, kernel_names, loaded
from .parameter_kinds import Kernels, declared, noted
from .variables import variable_names

__all__ = ["Kernel", "ObjectCode"]

LOADABLE = ("cubin", "ptx", "fatbin")
_PRINTING = b"vprintf"
"""What code names that prints. Source: PTX Interoperability, System Calls."""

_loading = threading.RLock()  # a finalizer may come by that uses a kernel for the first time

when_prepared += (
    lambda: settled(owning.cuLibraryLoadData),
    lambda: settled(checked.cuLibraryGetKernel),
    lambda: settled(driver.cuKernelGetParamInfo),
)

Code = bytes | bytearray | str | os.PathLike[str]
Symbol = str | bytes


class ObjectCode:
    """Compiled code from `Program.compile`, or from bytes or a file by `from_cubin` and similar methods.

    Loaded at the first use of a kernel, once for all contexts; unloaded with the last reference to it and its
    kernels. Can be pickled. Source: cuLibraryLoadData.
    """

    __slots__ = (
        "__weakref__",
        "_code",
        "_code_type",
        "_declared",
        "_library",
        "_log",
        "_name",
        "_ownership",
        "_symbol_mapping",
    )

    _code: bytes
    _code_type: ObjectCodeFormatType
    _declared: Kernels | None
    _library: CUlibrary | None
    _log: bytearray
    _name: str
    _ownership: Ownership | None
    _symbol_mapping: dict[Symbol, Symbol]

    def __init__(self) -> None:
        raise TypeError("an ObjectCode comes from Program.compile() or ObjectCode.from_cubin() and the like")

    @classmethod
    def _of(
        cls,
        code: bytes,
        code_type: str,
        name: str = "",
        symbol_mapping: Mapping[Any, Symbol] | None = None,
    ) -> ObjectCode:
        self = cls.__new__(cls)
        self._code = code
        self._code_type = ObjectCodeFormatType(code_type)
        self._name = name
        self._symbol_mapping = dict(symbol_mapping or {})
        self._declared = None
        self._library = None
        self._log = bytearray()
        self._ownership = None
        return self

    @staticmethod
    def from_cubin(
        module: Code, *, name: str = "", symbol_mapping: Mapping[Any, Symbol] | None = None
    ) -> ObjectCode:
        """Machine code of one architecture, as bytes or the path of a file.

        symbol_mapping: names for `get_kernel`, and the (mangled) names in the code that they stand for.
        """
        return ObjectCode._of(_read(module), "cubin", name, symbol_mapping)

    @staticmethod
    def from_ptx(
        module: Code, *, name: str = "", symbol_mapping: Mapping[Any, Symbol] | None = None
    ) -> ObjectCode:
        """PTX, which the driver compiles when it is loaded: bytes, the path of a file, or the text itself."""
        if isinstance(module, str) and "\n" in module:
            module = module.encode()
        return ObjectCode._of(_read(module), "ptx", name, symbol_mapping)

    @staticmethod
    def from_ltoir(
        module: Code, *, name: str = "", symbol_mapping: Mapping[Any, Symbol] | None = None
    ) -> ObjectCode:
        """Code for link-time optimization, which must be linked before it can be loaded."""
        return ObjectCode._of(_read(module), "ltoir", name, symbol_mapping)

    @staticmethod
    def from_fatbin(
        module: Code, *, name: str = "", symbol_mapping: Mapping[Any, Symbol] | None = None
    ) -> ObjectCode:
        """Machine code and PTX of several architectures."""
        return ObjectCode._of(_read(module), "fatbin", name, symbol_mapping)

    @staticmethod
    def from_object(
        module: Code, *, name: str = "", symbol_mapping: Mapping[Any, Symbol] | None = None
    ) -> ObjectCode:
        """A host object file with device code, which must be linked."""
        return ObjectCode._of(_read(module), "object", name, symbol_mapping)

    @staticmethod
    def from_library(
        module: Code, *, name: str = "", symbol_mapping: Mapping[Any, Symbol] | None = None
    ) -> ObjectCode:
        """An archive of such object files, which must be linked."""
        return ObjectCode._of(_read(module), "library", name, symbol_mapping)

    def get_kernel(self, name: str | bytes) -> Kernel:
        """The kernel `name`: as in `symbol_mapping` or in the code itself. Source: cuLibraryGetKernel."""
        symbol = self._symbol(name, "get_kernel")
        library = self._loaded()
        try:
            return Kernel(self._logged(checked.cuLibraryGetKernel, library, symbol), symbol.decode(), self)
        except CUDAError as error:
            if error.code != CUresult.CUDA_ERROR_NOT_FOUND:
                raise
            hint = (
                'the names of C++ functions are mangled: declare the kernel extern "C", or name it in '
                "name_expressions when you compile"
            )
            raise self._not_found(error, "kernel", name, kernel_names(library), hint) from None

    @property
    def kernel_names(self) -> list[str]:
        """The names of its kernels as they are in the code, in order; [] where the driver cannot tell.

        Those of C++ are mangled. Source: cuLibraryEnumerateKernels, CUDA 12.4; cuKernelGetName.
        """
        return kernel_names(self._loaded())

    def get_global(self, name: str | bytes) -> Buffer:
        """The `__device__`, `__constant__` or `__managed__` variable `name` in the current context, a Buffer.

        It is named as in the code or in `symbol_mapping`, with or without the `&` of its name expression. The
        memory belongs to the code, which stays loaded as long as the Buffer is open and referred to; closing
        it frees nothing. A managed variable is a ManagedBuffer. Raises CUDAError.
        Source: cuLibraryGetGlobal, cuLibraryGetManaged.
        """
        symbol = self._symbol(name, "get_global", "&")
        library = self._loaded()
        try:
            address, size = self._logged(_variable, library, symbol)
        except CUDAError as error:
            names = variable_names(self._code)
            if error.code not in _NO_VARIABLE or _text(symbol) in names:
                raise
            hint = (
                "the names in C++ namespaces and those of templates are mangled: name the variable in "
                'name_expressions when you compile, as in "&limits::factor"'
            )
            raise self._not_found(error, "variable", name, names, hint) from None
        buffer = Buffer.from_handle(address, size, owner=self)
        return ManagedBuffer.from_handle(address, size, owner=self) if buffer.is_managed else buffer

    def _symbol(self, name: str | bytes, function: str, prefix: str = "") -> bytes:
        """The name in the code that `name` stands for; `prefix`: what name expressions may begin with."""
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"{function}: name must be str or bytes, not {type(name).__name__}")
        asked = _text(name)
        for known in (asked, prefix + asked) if self._symbol_mapping else ():
            symbol = self._symbol_mapping.get(known) or self._symbol_mapping.get(known.encode())
            if symbol:
                return c_text(symbol, f"{function}: the name")
        return c_text(asked, f"{function}: the name")

    def _not_found(
        self, error: CUDAError, what: str, name: str | bytes, names: list[str], hint: str
    ) -> CUDAError:
        """`error`, of a kernel or variable that is not there, with the names of those that are."""
        name = _text(name)
        mapped = [_text(known) for known, symbol in self._symbol_mapping.items() if _text(symbol) in names]
        there = list(dict.fromkeys([*mapped, *names]))
        return CUDAError(
            f"{error.function}: CUDA_ERROR_NOT_FOUND (500): {self!r} has no {what} {name!r}. "
            + (f"It has: {', '.join(there)}.{suggestion(name, there)} " if there else "")
            + f"Hint: {hint}.",
            CUresult.CUDA_ERROR_NOT_FOUND,
            error.function,
        )

    def _kernels(self) -> Kernels:
        """What is known of the parameters of its kernels without the driver: of PTX, and of what was PTX."""
        if self._declared is None:
            read = {"ptx": declared, "cubin": noted}.get(self._code_type)
            self._declared = {} if read is None else read(self._code)
        return self._declared

    def get_module(self) -> CUmodule:
        """The code as a module of the current context. Source: cuLibraryGetModule."""
        return checked.cuLibraryGetModule(self._loaded())

    @property
    def handle(self) -> CUlibrary:
        """The CUlibrary, loaded if it is not yet.

        It belongs to whoever asked for it, too: numba-cuda unloads it. So from then on it stays loaded until
        somebody calls cuLibraryUnload. Raises CUDAError, with the log of the driver's compiler for PTX.
        """
        library = self._loaded()
        if self._ownership is not None:
            self._ownership.forget()
        return library

    def _loaded(self) -> CUlibrary:
        """The CUlibrary, loaded if it is not yet. Raises CUDAError."""
        if self._library is None:
            if self._code_type not in LOADABLE:
                raise RuntimeError(f"{self!r} cannot be loaded as it is: link it to a cubin first")
            initialise()
            with _loading:  # two threads must not load it twice: the first kernel would lose its code
                if self._library is None:
                    self._load()
        assert self._library is not None
        return self._library

    def _load(self) -> None:
        require_intact(self, "cuLibraryLoadData")
        if self._code_type == "fatbin" or _PRINTING in self._code:  # which may be compressed
            synchronizing.add(PRINTS)
        options: dict[CUjit_option, Any] = {}
        if self._code_type != "cubin":
            self._log = bytearray(LOG_SIZE)
            options[CUjit_option.CU_JIT_ERROR_LOG_BUFFER] = self._log
            options[CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES] = LOG_SIZE
        settings = list(options), list(options.values()), len(options)
        # The driver compiles PTX when a kernel is first asked for, and then writes to the log.
        cell = CUlibrary()
        ownership = Ownership(_unload, cell, self._log)
        self._logged(owning.cuLibraryLoadData, cell, self._code, *settings, None, None, 0)
        library = CUlibrary.from_buffer_copy(cell)
        if self._library is None:  # no finalizer was faster
            self._ownership, self._library = ownership, library
            loaded[library.value] = ref(self)

    def _logged(self, function: Callable[..., Any], *args: Any) -> Any:
        """`function(*args)`; its exception has the log of the driver's compiler."""
        try:
            return function(*args)
        except CUDAError as error:
            said = log_text(self._log)
            if not said:
                raise
            raise CUDAError(f"{error}\nLog:\n{said}", error.code, error.function) from None

    @property
    def code(self) -> bytes:
        """The bytes. A compiled cubin ends with a note of the types of its kernels' parameters."""
        return self._code

    @property
    def code_type(self) -> ObjectCodeFormatType:
        """'cubin', 'ptx', 'ltoir', 'fatbin', 'object' or 'library'."""
        return self._code_type

    @property
    def name(self) -> str:
        """The name in messages."""
        return self._name

    @property
    def symbol_mapping(self) -> dict[Any, Any]:
        """Names for `get_kernel`, and those in the code that they stand for: bytes, if a Program made it."""
        return dict(self._symbol_mapping)

    def __reduce__(self) -> tuple[Any, ...]:
        return ObjectCode._of, (self._code, str(self._code_type), self._name, self._symbol_mapping)

    def __repr__(self) -> str:
        return f"<ObjectCode {self._name!r}, {self._code_type}, {len(self._code)} bytes>"


def _variable(library: CUlibrary, symbol: bytes) -> tuple[CUdeviceptr, int]:
    """The address and size of a variable."""
    try:
        return checked.cuLibraryGetGlobal(library, symbol)
    except CUDAError as error:
        if error.code != CUresult.CUDA_ERROR_NOT_FOUND:
            raise
    return checked.cuLibraryGetManaged(library, symbol)


_NO_VARIABLE = CUresult.CUDA_ERROR_NOT_FOUND, CUresult.CUDA_ERROR_INVALID_VALUE
"""What drivers say of a variable that is not there: the latter, driver 580."""


def _text(name: Symbol) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _read(module: Code) -> bytes:
    if isinstance(module, (bytes, bytearray)):
        return bytes(module)
    with open(module, "rb") as file:
        return file.read()


def require_intact(code: ObjectCode, function: str, error: type[CUDAError] = CUDAError) -> None:
    """Raise `error` for a cubin, fat binary or object file whose tables reach outside of its bytes.

    A C function that is not told how many there are would follow them.
    """
    try:
        check_object(code.code)
    except DamagedError as damage:
        status = CUresult.CUDA_ERROR_INVALID_IMAGE
        message = (
            f"{function}: {status.name} ({int(status)}): {code!r} is damaged: {damage}. "
            "It was refused before C read it."
        )
        raise error(message, status, function) from None


def _unload(library: CUlibrary, log: bytearray) -> None:
    loaded.pop(library.value, None)
    with RelaxedCaptureMode():
        owning.cuLibraryUnload(library)


LOG_SIZE = 16384  # bytes; the driver cuts what is longer


def log_text(log: bytes | bytearray) -> str:
    """What is in the buffer of a log."""
    return log.partition(b"\0")[0].decode(errors="replace").strip()
