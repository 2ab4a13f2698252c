"""The linker in the driver."""

import ctypes
import os
from typing import Any

from ..._types.driver.enums import CUjitInputType as Kind
from ..addresses import Pointer, require
from ..devices.context import current
from ..engine import Memory, Module, PTXError
from ..handles import Object, find
from ..library import provides
from ..refused import Refused, invalid
from . import device_runtime
from .images import EMPTY_ELF, Options, attach, of_cubin, of_fatbin, with_directive
from .merging import Unit, merged
from .targets import check_target, check_version


class Link(Object):
    """A linker and what it was given."""

    noun = "linker"

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.options = options
        self.units: list[Unit] = []
        self.image: Any = None

    def add(self, kind: int, data: bytes, name: str) -> None:
        """One unit more. Raises Refused."""
        if kind == Kind.CU_JIT_INPUT_PTX:
            text = data
        elif kind == Kind.CU_JIT_INPUT_CUBIN:
            text = of_cubin(data)
        elif kind == Kind.CU_JIT_INPUT_FATBINARY:
            text = of_fatbin(data)
        elif device_runtime.is_archive(data):
            text = device_runtime.PTX.encode()
        else:
            raise Refused(
                "CUDA_ERROR_NOT_SUPPORTED",
                "the simulator's linker takes PTX, cubins and fat binaries with PTX, and libcudadevrt",
            )
        try:
            if kind == Kind.CU_JIT_INPUT_PTX:
                check_version(text)
            check_target(text)
            unit = Unit(text.decode(errors="replace"), name)
            if not any(d.startswith(".extern") for d in unit.declarations):
                Module(text, Memory()).close()
        except MemoryError as error:
            raise Refused("CUDA_ERROR_OUT_OF_MEMORY", f"{name}: {error}") from None
        except (PTXError, Refused) as error:
            self.options.say(f"{name}: {error}", error=True)
            code = error.status if isinstance(error, Refused) else "CUDA_ERROR_INVALID_PTX"
            raise Refused(code, f"{name}: {error}") from None
        self.units.append(unit)


@provides("driver", "cuLinkCreate", "cuLinkCreate_v2")
def cuLinkCreate_v2(numOptions: int, options: Pointer, optionValues: Pointer) -> int:
    current()
    return Link(Options(numOptions, options, optionValues)).handle


@provides("driver", "cuLinkAddData", "cuLinkAddData_v2")
def cuLinkAddData_v2(
    state: int,
    typename: int,
    data: int | None,
    size: int,
    name: bytes | None,
    numOptions: int,
    options: Pointer,
    optionValues: Pointer,
) -> None:
    if not size:
        raise invalid("there is no data")
    link = find(state, Link)
    link.add(
        typename,
        ctypes.string_at(require(data, size, "data"), size),
        (name or b"a unit").decode(errors="replace"),
    )


@provides("driver", "cuLinkAddFile", "cuLinkAddFile_v2")
def cuLinkAddFile_v2(
    state: int, typename: int, path: bytes | None, numOptions: int, options: Pointer, optionValues: Pointer
) -> None:
    link = find(state, Link)
    try:
        with open(os.fsdecode(path or b""), "rb") as file:
            data = file.read()
    except OSError as error:
        raise Refused("CUDA_ERROR_FILE_NOT_FOUND", str(error)) from None
    link.add(typename, data, os.fsdecode(path or b""))


@provides("driver")
def cuLinkComplete(state: int, cubinOut: Pointer, sizeOut: Pointer) -> None:
    link = find(state, Link)
    try:
        if not link.units:
            raise invalid("nothing was added")
        most = link.options.registers
        image = attach(EMPTY_ELF, with_directive(merged(link.units).encode(), b"maxnreg", lambda name: most))
    except Refused as refused:
        link.options.say(refused.reason, error=True)
        raise
    link.image = ctypes.create_string_buffer(image, len(image))
    cubinOut[0] = ctypes.addressof(link.image)
    if sizeOut:
        sizeOut[0] = len(image)


@provides("driver")
def cuLinkDestroy(state: int) -> None:
    find(state, Link).forget()
