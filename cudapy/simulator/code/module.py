"""Modules: code that was loaded, its kernels and variables."""

from __future__ import annotations

import threading
from typing import Any

from ..._types.driver.enums import CUfunction_attribute as Attribute
from ..._types.driver.enums import CUjit_option
from .. import engine
from ..addresses import Pointer
from ..devices.context import Context, OfContext, owner
from ..handles import Object, find
from ..library import provides
from ..memory.allocations import Block, blocks, table
from ..refused import Refused, invalid
from ..streams.capturing import forbid
from . import images as code
from .images import Code, Options
from .targets import check_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..devices.device import Device
    from .kernel_library import Library


lock = threading.RLock()
"""Held where something is made that is there once: a library's module in a context, a kernel."""


references: dict[str, Callable[[Context, int], Any]] = {}
"""What makes a reference that PTX declares, "texture" or "surface", at an address; `textures` enters it."""


class Module(OfContext):
    """Code in a context."""

    noun = "module"

    def __init__(
        self,
        source: Code,
        context: Context,
        library: Library | None = None,
        engine: engine.Module | None = None,
    ) -> None:
        engine = engine or loaded(source)  # what does not load is no module
        super().__init__()
        self.source = source
        self.context = context
        self.library = library
        self.engine = engine
        self.functions: dict[str, Function] = {}
        self.variables = {name: one for name, one in self.engine.globals.items() if not one.reference}
        self.references = {
            name: references[one.reference](context, one.address)
            for name, one in self.engine.globals.items()
            if one.reference
        }
        for one in self.variables.values():
            kind = "managed variable" if one.is_managed else "variable"
            blocks.add(Block(one.address, one.size, kind, context))

    def function(self, name: bytes | None) -> Function:
        """A kernel by its name. Raises Refused."""
        kernel = entry(self.engine, name)
        with lock:
            if kernel.name not in self.functions:
                self.functions[kernel.name] = Function(self, kernel)
            return self.functions[kernel.name]

    def on_device(self, kernel: engine.Function) -> OnDevice:
        """A kernel with its attributes: of a library, they are those of all contexts of the device."""
        if self.library is not None:
            return self.library.kernel(kernel.name.encode()).on(self.context.device)
        return OnDevice(self.source, kernel, self.context.device)

    def variable(self, name: bytes | None, managed: bool = False) -> tuple[int, int]:
        """The address and the size of a variable. Raises Refused."""
        key = (name or b"").decode(errors="replace")
        if key in self.references:
            raise invalid(f"{key} is a reference, which has no address")
        found = self.variables.get(key)
        if found is None or (managed and not found.is_managed):
            raise Refused("CUDA_ERROR_NOT_FOUND", f"the module has no {'managed ' * managed}variable {key!r}")
        return found.address, found.size

    def reference(self, name: bytes | None, cls: type[Object]) -> int:
        """The handle of a texture or surface reference. Raises Refused."""
        key = (name or b"").decode(errors="replace")
        found = self.references.get(key)
        if not isinstance(found, cls):
            raise Refused("CUDA_ERROR_NOT_FOUND", f"the module has no {cls.noun} {key!r}")
        return found.handle

    def forget(self) -> None:
        super().forget()
        for function in self.functions.values():
            function.forget()
        for reference in self.references.values():
            reference.forget()
        self.context.once_idle(self._release)

    def _release(self) -> None:
        """Release the variables."""
        for one in self.variables.values():
            block = blocks.at(one.address)
            if block is not None:
                blocks.remove(block)
        self.engine.close()


class OnDevice:
    """A kernel on a device, and the attributes that were set for it there."""

    def __init__(self, source: Code, kernel: engine.Function, device: Device) -> None:
        self.source = source
        self.kernel = kernel
        self.device = device
        self.set: dict[Attribute, int] = {}
        self.possible: object = None
        """The last configuration that was found to be possible with these attributes."""
        self.compiled_attributes: dict[Attribute, int] | None = None
        """The others, once one was asked for."""

    @property
    def registers(self) -> int:
        """Of a thread: an estimate, for occupancy."""
        limit = self.source.registers
        return min(self.kernel.registers, limit) if limit else self.kernel.registers


class Function(Object):
    """A kernel in a context."""

    noun = "function"

    def __init__(self, module: Module, kernel: engine.Function) -> None:
        super().__init__()
        self.module = module
        self.kernel = kernel
        self.name = kernel.name
        self.on_device = module.on_device(kernel)

    @property
    def context(self) -> Context:
        return self.module.context


def loaded(source: Code) -> engine.Module:
    """The code, ready to run. Raises Refused."""
    check_target(source.ptx)
    try:
        return engine.Module(source.ptx, table)
    except engine.PTXError as error:
        raise Refused("CUDA_ERROR_INVALID_PTX", str(error)) from None
    except MemoryError as error:
        raise Refused("CUDA_ERROR_OUT_OF_MEMORY", str(error)) from None


def entry(code: engine.Module, name: bytes | None) -> engine.Function:
    """A kernel by its name. Raises Refused."""
    key = (name or b"").decode(errors="replace")
    if key not in code.functions:
        known = ", ".join(sorted(code.functions)) or "no kernels"
        raise Refused("CUDA_ERROR_NOT_FOUND", f"the module has no kernel {key!r}; it has {known}")
    return code.functions[key]


def load(ptx: bytes, options: Options, make: Any) -> int:
    """What `make` makes of the code, its messages where the options want them; its handle."""
    if CUjit_option.CU_JIT_LTO in options.places and options.get(CUjit_option.CU_JIT_LTO):
        raise invalid("the simulator's compiler does not optimize at link time")
    try:
        module = make(Code(ptx, options.registers))
    except Refused as refused:
        options.say(refused.reason, error=True)
        raise
    kernels = list(module.engine.functions.values())
    if options.get(CUjit_option.CU_JIT_LOG_VERBOSE):
        options.say(
            "\n".join(
                f"cudapy simulator: {k.name}: about {k.registers} registers, {k.shared_size} bytes shared"
                for k in kernels
            )
        )
    else:
        options.say("")
    return int(module.handle)


# -- Modules -----------------------------------------------------------------------------------------------


@provides("driver")
def cuModuleLoad(fname: bytes | None) -> int:
    context = owner()
    return Module(Code(code.in_file(fname)), context).handle


@provides("driver", "cuModuleLoadData", "cuModuleLoadFatBinary")
def cuModuleLoadData(image: int | None) -> int:
    context = owner()
    return Module(Code(code.at(image)), context).handle


@provides("driver", "cuModuleLoadFatBinary")
def cuModuleLoadFatBinary(fatCubin: int | None) -> int:
    return cuModuleLoadData(fatCubin)


@provides("driver")
def cuModuleLoadDataEx(image: int | None, numOptions: int, options: Pointer, optionValues: Pointer) -> int:
    context = owner()
    told = Options(numOptions, options, optionValues)
    return load(code.at(image), told, lambda source: Module(source, context))


@provides("driver")
def cuModuleUnload(hmod: int) -> None:
    module = find(hmod, Module)
    forbid()
    module.context.finish()
    module.forget()


@provides("driver")
def cuModuleGetLoadingMode() -> int:
    return 1  # CU_MODULE_EAGER_LOADING


@provides("driver")
def cuModuleGetFunction(hmod: int, name: bytes | None) -> int:
    return find(hmod, Module).function(name).handle


@provides("driver")
def cuModuleGetFunctionCount(mod: int) -> int:
    return len(find(mod, Module).engine.functions)


@provides("driver")
def cuModuleEnumerateFunctions(functions: Pointer, numFunctions: int, mod: int) -> None:
    module = find(mod, Module)
    for i, name in zip(range(numFunctions), module.engine.functions, strict=False):
        functions[i] = module.function(name.encode()).handle


@provides("driver")
def cuModuleGetGlobal_v2(hmod: int, name: bytes | None) -> tuple[int, int]:
    return find(hmod, Module).variable(name)
