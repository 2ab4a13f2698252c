"""Modules and libraries: code that was loaded, its kernels and variables."""

from __future__ import annotations

import re
from typing import Any

from .._types.driver.enums import CUfunction_attribute as Attribute
from .._types.driver.enums import CUjit_option
from . import code
from .code import Code, Options
from .context import Context, current
from .device import device
from .engine import module as engine
from .handles import Object, find
from .library import provides, text
from .log import Refused, invalid
from .memory import Block, blocks, table

MANAGED = re.compile(rb"\.attribute\s*\(\s*\.managed\s*\)[^;]*?\b(\w+)\s*[\[=;]")


class Module(Object):
    """Code in a context."""

    noun = "module"

    def __init__(self, source: Code, context: Context, library: Library | None = None) -> None:
        engine = _loaded(source)  # what does not load is no module
        super().__init__()
        self.source = source
        self.context = context
        self.library = library
        self.engine = engine
        self.functions: dict[str, Function] = {}
        self.variables = dict(self.engine.globals)
        for address, size in self.variables.values():
            blocks.add(Block(address, size, "variable", context))

    def function(self, name: bytes | None) -> Function:
        """A kernel by its name. Raises Refused."""
        key = (name or b"").decode(errors="replace")
        if key not in self.engine.functions:
            known = ", ".join(sorted(self.engine.functions)) or "no kernels"
            raise Refused("CUDA_ERROR_NOT_FOUND", f"the module has no kernel {key!r}; it has {known}")
        if key not in self.functions:
            self.functions[key] = Function(self, self.engine.functions[key])
        return self.functions[key]

    def variable(self, name: bytes | None, managed: bool = False) -> tuple[int, int]:
        """The address and the size of a variable. Raises Refused."""
        key = (name or b"").decode(errors="replace")
        if key not in self.variables or (managed and (name or b"") not in MANAGED.findall(self.source.ptx)):
            raise Refused("CUDA_ERROR_NOT_FOUND", f"the module has no {'managed ' * managed}variable {key!r}")
        return self.variables[key]

    def forget(self) -> None:
        super().forget()
        for function in self.functions.values():
            function.forget()
        for address, _ in self.variables.values():
            block = blocks.at(address)
            if block is not None:
                blocks.remove(block)
        self.engine.close()


class Function(Object):
    """A kernel in a context."""

    noun = "function"

    def __init__(self, module: Module, kernel: engine.Function) -> None:
        super().__init__()
        self.module = module
        self.kernel = kernel
        self.name = kernel.name
        self.set: dict[Attribute, int] = {}

    @property
    def context(self) -> Context:
        return self.module.context

    @property
    def registers(self) -> int:
        """Of a thread: an estimate, for occupancy."""
        limit = self.module.source.registers
        return min(self.kernel.registers, limit) if limit else self.kernel.registers


class Library(Object):
    """Code that is loaded into each context that needs it."""

    noun = "library"

    def __init__(self, source: Code) -> None:
        super().__init__()
        self.source = source
        self.kernels: dict[str, Kernel] = {}
        self.modules: dict[Context, Module] = {}
        self.module(current())

    def module(self, context: Context) -> Module:
        """The library in a context."""
        if context not in self.modules:
            self.modules[context] = Module(self.source, context, self)
        return self.modules[context]

    def kernel(self, name: bytes | None) -> Kernel:
        """A kernel by its name. Raises Refused."""
        function = self.module(current()).function(name)
        if function.name not in self.kernels:
            self.kernels[function.name] = Kernel(self, function.name)
        return self.kernels[function.name]

    def forget(self) -> None:
        super().forget()
        for kernel in self.kernels.values():
            kernel.forget()
        for module in self.modules.values():
            module.forget()


class Kernel(Object):
    """A kernel of a library."""

    noun = "kernel"

    def __init__(self, library: Library, name: str) -> None:
        super().__init__()
        self.library = library
        self.name = name

    def function(self, context: Context) -> Function:
        """The kernel in a context."""
        return self.library.module(context).function(self.name.encode())


def _loaded(source: Code) -> engine.Module:
    try:
        return engine.Module(source.ptx, table)
    except engine.PTXError as error:
        raise Refused("CUDA_ERROR_INVALID_PTX", str(error)) from None


def function(handle: int, context: Context | None = None) -> Function:
    """The function with this handle; a kernel of a library is one in `context`, or the current one.

    Raises Refused.
    """
    try:
        return find(handle, Function)
    except Refused:
        return find(handle, Kernel).function(context or current())


def load(ptx: bytes, options: Options, make: Any) -> int:
    """What `make` makes of the code, its messages where the options want them; its handle."""
    if CUjit_option.CU_JIT_LTO in options.places and options.get(CUjit_option.CU_JIT_LTO):
        raise invalid("the simulator's compiler does not optimize at link time")
    try:
        made = make(Code(ptx, options.registers))
    except Refused as refused:
        options.say(refused.reason, error=True)
        raise
    kernels = _kernels(made)
    if options.get(CUjit_option.CU_JIT_LOG_VERBOSE):
        options.say(
            "\n".join(
                f"cudapy simulator: {k.name}: about {k.registers} registers, {k.shared_size} bytes shared"
                for k in kernels
            )
        )
    else:
        options.say("")
    return int(made.handle)


def _kernels(made: Module | Library) -> list[engine.Function]:
    module = made if isinstance(made, Module) else next(iter(made.modules.values()))
    return list(module.engine.functions.values())


# -- Modules -----------------------------------------------------------------------------------------------


@provides("driver")
def cuModuleLoad(fname: bytes | None) -> int:
    context = current()
    return Module(Code(code.in_file(fname)), context).handle


@provides("driver", "cuModuleLoadData", "cuModuleLoadFatBinary")
def cuModuleLoadData(image: int | None) -> int:
    context = current()
    return Module(Code(code.at(image)), context).handle


@provides("driver", "cuModuleLoadFatBinary")
def cuModuleLoadFatBinary(fatCubin: int | None) -> int:
    return cuModuleLoadData(fatCubin)


@provides("driver")
def cuModuleLoadDataEx(image: int | None, numOptions: int, options: Any, optionValues: Any) -> int:
    context = current()
    told = Options(numOptions, options, optionValues)
    return load(code.at(image), told, lambda source: Module(source, context))


@provides("driver")
def cuModuleUnload(hmod: int) -> None:
    module = find(hmod, Module)
    for work in module.context.pending():
        work.wait()
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
def cuModuleEnumerateFunctions(functions: Any, numFunctions: int, mod: int) -> None:
    module = find(mod, Module)
    for i, name in zip(range(numFunctions), module.engine.functions, strict=False):
        functions[i] = module.function(name.encode()).handle


@provides("driver")
def cuModuleGetGlobal_v2(hmod: int, name: bytes | None) -> tuple[int, int]:
    return find(hmod, Module).variable(name)


@provides("driver")
def cuModuleGetTexRef(hmod: int, name: bytes | None) -> int:
    find(hmod, Module)
    raise Refused("CUDA_ERROR_NOT_FOUND", "the simulator has texture objects, no texture references")


@provides("driver")
def cuModuleGetSurfRef(hmod: int, name: bytes | None) -> int:
    find(hmod, Module)
    raise Refused("CUDA_ERROR_NOT_FOUND", "the simulator has surface objects, no surface references")


# -- Libraries ---------------------------------------------------------------------------------------------


@provides("driver")
def cuLibraryLoadData(
    code: int | None,
    jitOptions: Any,
    jitOptionsValues: Any,
    numJitOptions: int,
    libraryOptions: Any,
    libraryOptionValues: Any,
    numLibraryOptions: int,
) -> int:
    from .code import at

    return load(at(code), Options(numJitOptions, jitOptions, jitOptionsValues), Library)


@provides("driver")
def cuLibraryLoadFromFile(
    fileName: bytes | None,
    jitOptions: Any,
    jitOptionsValues: Any,
    numJitOptions: int,
    libraryOptions: Any,
    libraryOptionValues: Any,
    numLibraryOptions: int,
) -> int:
    return load(code.in_file(fileName), Options(numJitOptions, jitOptions, jitOptionsValues), Library)


@provides("driver")
def cuLibraryUnload(library: int) -> None:
    gone = find(library, Library)
    for context in gone.modules:
        for work in context.pending():
            work.wait()
    gone.forget()


@provides("driver")
def cuLibraryGetKernel(library: int, name: bytes | None) -> int:
    return find(library, Library).kernel(name).handle


@provides("driver")
def cuLibraryGetKernelCount(lib: int) -> int:
    return len(find(lib, Library).module(current()).engine.functions)


@provides("driver")
def cuLibraryEnumerateKernels(kernels: Any, numKernels: int, lib: int) -> None:
    library = find(lib, Library)
    names = library.module(current()).engine.functions
    for i, name in zip(range(numKernels), names, strict=False):
        kernels[i] = library.kernel(name.encode()).handle


@provides("driver")
def cuLibraryGetModule(library: int) -> int:
    return find(library, Library).module(current()).handle


@provides("driver")
def cuLibraryGetGlobal(library: int, name: bytes | None) -> tuple[int, int]:
    return find(library, Library).module(current()).variable(name)


@provides("driver")
def cuLibraryGetManaged(library: int, name: bytes | None) -> tuple[int, int]:
    return find(library, Library).module(current()).variable(name, managed=True)


@provides("driver")
def cuLibraryGetUnifiedFunction(fptr: Any, library: int, symbol: bytes | None) -> None:
    find(library, Library)
    raise invalid("the simulator has no unified functions")


@provides("driver")
def cuKernelGetFunction(kernel: int) -> int:
    return find(kernel, Kernel).function(current()).handle


@provides("driver")
def cuKernelGetLibrary(kernel: int) -> int:
    return find(kernel, Kernel).library.handle


@provides("driver")
def cuKernelGetName(hfunc: int) -> int:
    return text(find(hfunc, Kernel).name.encode())


@provides("driver")
def cuKernelGetParamInfo(kernel: int, paramIndex: int) -> tuple[int, int]:
    return parameter(find(kernel, Kernel).function(current()), paramIndex)


@provides("driver")
def cuKernelGetAttribute(attrib: int, kernel: int, dev: int) -> int:
    device(dev)
    return get(find(kernel, Kernel).function(current()), attrib)


@provides("driver")
def cuKernelSetAttribute(attrib: int, val: int, kernel: int, dev: int) -> None:
    device(dev)
    put(find(kernel, Kernel).function(current()), attrib, val)


@provides("driver")
def cuKernelSetCacheConfig(kernel: int, config: int, dev: int) -> None:
    find(kernel, Kernel)
    device(dev)


# -- Functions ---------------------------------------------------------------------------------------------


def parameter(of: Function, index: int) -> tuple[int, int]:
    """The offset and the size of a parameter."""
    if not 0 <= index < len(of.kernel.parameters):
        raise invalid(f"{of.name} has {len(of.kernel.parameters)} parameters, no number {index}")
    return of.kernel.parameters[index]


def get(of: Function, attrib: int) -> int:
    """An attribute."""
    from .._types.driver.enums import CUdevice_attribute as OfDevice

    name, kernel = Attribute(attrib), of.kernel
    if name in of.set:
        return of.set[name]
    on = of.context.device
    major, minor = (
        on[OfDevice.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR],
        on[OfDevice.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR],
    )
    target = re.search(rb"\.target\s+(?:sm|compute)_(\d+)", of.module.source.ptx)
    values = {
        Attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: min(kernel.max_threads or 1024, 1024),
        Attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: kernel.shared_size,
        Attribute.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: kernel.const_size,
        Attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: kernel.local_size,
        Attribute.CU_FUNC_ATTRIBUTE_NUM_REGS: of.registers,
        Attribute.CU_FUNC_ATTRIBUTE_PTX_VERSION: int(target[1]) if target else 10 * major + minor,
        Attribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION: 10 * major + minor,
        Attribute.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: 0,
        Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: (48 << 10) - kernel.shared_size,
        Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: -1,
        Attribute.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: 0,
        Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: 0,
        Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: 0,
        Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: 0,
        Attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: 0,
        Attribute.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: 0,
    }
    if name not in values:
        raise invalid(f"{attrib} is no attribute of a function")
    return values[name]


def put(of: Function, attrib: int, value: int) -> None:
    """Set an attribute."""
    from .._types.driver.enums import CUdevice_attribute as OfDevice

    name = Attribute(attrib)
    if name == Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        largest = of.context.device[OfDevice.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN]
        if not 0 <= value <= largest - of.kernel.shared_size:
            raise invalid(
                f"{of.name} can have 0 .. {largest - of.kernel.shared_size} dynamic bytes, not {value}"
            )
    elif name == Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if not -1 <= value <= 100:
            raise invalid(f"a carveout is -1 .. 100, not {value}")
    elif name not in (
        Attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        Attribute.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        Attribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
    ):
        raise invalid(f"{name.name} cannot be set")
    of.set[name] = value


@provides("driver")
def cuFuncGetAttribute(attrib: int, hfunc: int) -> int:
    return get(function(hfunc), attrib)


@provides("driver")
def cuFuncSetAttribute(hfunc: int, attrib: int, value: int) -> None:
    put(function(hfunc), attrib, value)


@provides("driver")
def cuFuncSetCacheConfig(hfunc: int, config: int) -> None:
    function(hfunc)  # there are no caches
    if config not in range(4):
        raise invalid(f"{config} is no CUfunc_cache")


@provides("driver")
def cuFuncSetSharedMemConfig(hfunc: int, config: int) -> None:
    function(hfunc)


@provides("driver")
def cuFuncGetModule(hfunc: int) -> int:
    return function(hfunc).module.handle


@provides("driver")
def cuFuncGetName(hfunc: int) -> int:
    return text(function(hfunc).name.encode())


@provides("driver")
def cuFuncGetParamInfo(func: int, paramIndex: int) -> tuple[int, int]:
    return parameter(function(func), paramIndex)


@provides("driver")
def cuFuncIsLoaded(function: int) -> int:
    from .module import function as find_function

    find_function(function)
    return 1  # CU_FUNCTION_LOADING_STATE_LOADED


@provides("driver")
def cuFuncLoad(function: int) -> None:
    from .module import function as find_function

    find_function(function)
