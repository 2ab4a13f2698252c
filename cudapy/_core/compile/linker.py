"""Linkers: several pieces of object code on their way to one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ... import driver, pathfinder
from ..._ffi.shown import type_name
from ..._pathfinder.libraries import LIBRARIES
from ..closable import SlotClosable
from ..kernels.code_types import CompilerBackendType
from ..kernels.object_code import ObjectCode, require_intact
from ..kernels.parameter_kinds import with_note
from ..options import accepted
from .build import LinkError
from .linker_options import LinkerOptions

if TYPE_CHECKING:
    from .linker_driver import DriverLinker
    from .linker_nvjitlink import NvJitLink

__all__ = ["LinkError", "Linker", "LinkerOptions"]

TARGETS = ("cubin", "ptx")


class Linker(SlotClosable):
    """Links object code: cubin, PTX, LTO-IR, fat binaries, host objects and libraries, to a cubin or PTX.

    By nvJitLink, which needs no GPU; by the driver, where nvJitLink is missing or newer than the driver. The
    driver takes no LTO-IR. The inputs are read at once.

    Raises LinkError for an input that is not what it is said to be, ValueError for options that the linker
    lacks, pathfinder.LibraryNotFound if there is neither. Source: nvJitLinkCreate, cuLinkCreate.
    """

    __slots__ = ("_codes", "_error", "_handle", "_logs", "_null", "_options", "_results")
    _handle: NvJitLink | DriverLinker
    _logs: tuple[str, str]  # of a closed one that has linked
    _null: Any  # its handle then

    def __init__(
        self, *object_codes: ObjectCode, options: LinkerOptions | Mapping[str, Any] | None = None
    ) -> None:
        self._options = accepted(LinkerOptions, options or {})
        self._results: dict[str, ObjectCode] = {}
        self._ownership = None
        self._error: LinkError | None = None
        if not object_codes:
            raise ValueError("Linker: there is nothing to link: give it one ObjectCode or more")
        for code in object_codes:
            if not isinstance(code, ObjectCode):
                raise TypeError(f"Linker: an input must be an ObjectCode, not {type_name(code)}")
        if (
            any(code.code_type == "ltoir" for code in object_codes)
            and not self._options.link_time_optimization
        ):
            raise ValueError("Linker: LTO-IR needs LinkerOptions(link_time_optimization=True)")
        if self._options.ptx and not self._options.link_time_optimization:
            raise ValueError("Linker: LinkerOptions(ptx=True) needs link_time_optimization=True, too")
        self._codes = object_codes
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        """The linker, with the inputs."""
        for code in self._codes:
            require_intact(code, "Linker", LinkError)
        names = [f"{code.name or 'input'} ({code.code_type})" for code in self._codes]
        linker = _linker(self._options, f"Linker: {self._options.name}, of {', '.join(names)}")
        self._handle, self._ownership = linker, linker.ownership
        self._null = type(linker.handle)()
        for code in self._codes:
            linker.add(code)

    def link(self, target_type: str) -> ObjectCode:
        """The linked code: 'cubin' or, with the options ptx and link_time_optimization, 'ptx'.

        It knows the names that its inputs know, in `symbol_mapping`. After a failure nothing is left but the
        logs.

        Raises LinkError, which has the whole log. Source: nvJitLinkComplete, cuLinkComplete.
        """
        linker, target = self._handle, str(target_type).lower()
        if target not in TARGETS:
            raise ValueError(f"Linker.link: target_type {target_type!r} is not one of 'cubin', 'ptx'")
        if (target == "ptx") is not bool(self._options.ptx):
            needed = "link_time_optimization=True, ptx=True" if target == "ptx" else "ptx=False"
            raise ValueError(f"Linker.link: {target!r} needs LinkerOptions({needed})")
        if self._error is not None:
            raise self._error
        if target not in self._results:
            try:
                code = linker.complete(target)
            except LinkError as error:
                ownership, self._ownership, self._error = self._ownership, None, error
                if ownership is not None:
                    ownership.close()
                raise
            if target == "cubin":
                code = with_note(code, {k: v for one in self._codes for k, v in one._kernels().items()})
            symbols = {name: symbol for one in self._codes for name, symbol in one.symbol_mapping.items()}
            self._results[target] = ObjectCode._of(code, target, self._options.name, symbols)
        return self._results[target]

    def close(self) -> None:
        """Close the linker. Its handle is null then; the logs stay if it has linked."""
        try:
            if not self.is_closed and (self._results or self._error is not None):
                self._logs = self._handle.error_log(), self._handle.info_log()
        finally:
            super().close()

    def get_error_log(self) -> str:
        """The errors and warnings so far."""
        logs = getattr(self, "_logs", None)
        return self._handle.error_log() if logs is None else logs[0]

    def get_info_log(self) -> str:
        """The other messages so far: those that the options verbose and time ask for."""
        logs = getattr(self, "_logs", None)
        return self._handle.info_log() if logs is None else logs[1]

    @property
    def handle(self) -> Any:
        """The nvJitLinkHandle or CUlinkState; a null one after a failure, and once it is closed."""
        return self._null if self.is_closed else self._handle.handle

    @property
    def backend(self) -> CompilerBackendType:
        """The linker: "nvJitLink" or "driver"."""
        return CompilerBackendType(self._handle.name)

    @classmethod
    def which_backend(cls) -> CompilerBackendType:
        """The linker that a new Linker would use: "nvJitLink" or "driver"."""
        return CompilerBackendType.DRIVER if _nvjitlink_is_missing() else CompilerBackendType.NVJITLINK

    def __repr__(self) -> str:
        return f"<Linker {self._options.name!r}, {'closed' if self.is_closed else self.backend}>"


def _linker(options: LinkerOptions, subject: str) -> NvJitLink | DriverLinker:
    reason = _nvjitlink_is_missing()
    if not reason:
        from .linker_nvjitlink import NvJitLink

        return NvJitLink(options, subject)
    from .linker_driver import DriverLinker

    if driver_major() is None:
        pathfinder.load("nvJitLink")  # raises: of the two it is the one that can be installed everywhere
    return DriverLinker(options, subject, reason)


def _nvjitlink_is_missing() -> str:
    """Why nvJitLink does not link here; "" if it does."""
    try:
        loaded = pathfinder.load("nvJitLink")
    except pathfinder.LibraryNotFound as error:
        return f"there is no nvJitLink ({str(error).splitlines()[-1]})"
    newest = driver_major()
    if newest is None or loaded.major is None or loaded.major <= newest:
        return ""
    return (
        f"nvJitLink is of CUDA {loaded.major} ({loaded.path}), and the driver, of CUDA {newest}, runs "
        f"nothing newer (pip install {LIBRARIES['nvJitLink'].packages[newest == 12]})"
    )


def driver_major() -> int | None:
    """The CUDA major of the driver; None if there is no driver. Source: cuDriverGetVersion."""
    try:
        status, version = driver.cuDriverGetVersion()
    except pathfinder.LibraryNotFound:
        return None
    return None if status else version // 1000
