"""Libraries: code that is loaded without a context, and into each one that needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..addresses import Pointer
from ..devices.context import Context, find_or_none, owner, top
from ..devices.device import Device
from ..handles import Object, find, is_a
from ..library import provides
from ..refused import invalid
from ..streams.capturing import forbid
from . import images as code
from .images import Code, Options, at
from .module import Function, Module, OnDevice, entry, load, loaded, lock


class Library(Object):
    """Code that is loaded into each context that needs it."""

    noun = "library"

    def __init__(self, source: Code) -> None:
        engine = loaded(source)  # what does not load is no library
        super().__init__()
        self.source = source
        self.engine = engine
        self.unused: list[Any] = [engine]  # until the first context takes it
        self.kernels: dict[str, Kernel] = {}
        self.modules: dict[Context, Module] = {}
        context = top()
        if context is not None and find_or_none(context) is not None:
            self.module(owner())

    def module(self, context: Context) -> Module:
        """The library in a context."""
        context = context.root
        with lock:
            if context not in self.modules:
                engine = self.unused.pop() if self.unused else None
                self.modules[context] = Module(self.source, context, self, engine)
            return self.modules[context]

    def kernel(self, name: bytes | None) -> Kernel:
        """A kernel by its name. Raises Refused."""
        key = entry(self.engine, name).name
        with lock:
            if key not in self.kernels:
                self.kernels[key] = Kernel(self, key)
            return self.kernels[key]

    def forget(self) -> None:
        super().forget()
        for kernel in self.kernels.values():
            kernel.forget()
        for module in self.modules.values():
            module.forget()
        for engine in self.unused:
            engine.close()


class Kernel(Object):
    """A kernel of a library."""

    noun = "kernel"

    def __init__(self, library: Library, name: str) -> None:
        super().__init__()
        self.library = library
        self.name = name
        self.devices: dict[Device, OnDevice] = {}
        self._functions: dict[Context, Function] = {}

    @property
    def kernel(self) -> Any:
        """What is known of it without a context."""
        return self.library.engine.functions[self.name]

    def on(self, device: Device) -> OnDevice:
        """The kernel on a device, in whatever context."""
        with lock:
            if device not in self.devices:
                self.devices[device] = OnDevice(self.library.source, self.kernel, device)
            return self.devices[device]

    def function(self, context: Context) -> Function:
        """The kernel in a context."""
        function = self._functions.get(context.root)
        if function is None:
            function = self.library.module(context).function(self.name.encode())
            self._functions[context.root] = function
        return function


host_functions: dict[int, Callable[[], int]] = {}
"""What makes the handle of the kernel that a function of the host launches, by its address."""


def function(handle: int, context: Context | None = None) -> Function:
    """The function with this handle; a kernel of a library is one in `context`, or the current one.

    In C++ that nvcc has compiled a function of the host stands for its kernel. Raises Refused.
    """
    if handle in host_functions:
        handle = host_functions[handle]()
    if is_a(handle, Function):
        return find(handle, Function)
    return find(handle, Kernel).function(context or owner())


@provides("driver")
def cuLibraryLoadData(
    code: int | None,
    jitOptions: Pointer | None,
    jitOptionsValues: Pointer | None,
    numJitOptions: int,
    libraryOptions: Pointer | None,
    libraryOptionValues: Pointer | None,
    numLibraryOptions: int,
) -> int:
    return load(at(code), Options(numJitOptions, jitOptions, jitOptionsValues), Library)


@provides("driver")
def cuLibraryLoadFromFile(
    fileName: bytes | None,
    jitOptions: Pointer | None,
    jitOptionsValues: Pointer | None,
    numJitOptions: int,
    libraryOptions: Pointer | None,
    libraryOptionValues: Pointer | None,
    numLibraryOptions: int,
) -> int:
    return load(code.in_file(fileName), Options(numJitOptions, jitOptions, jitOptionsValues), Library)


@provides("driver")
def cuLibraryUnload(library: int) -> None:
    gone = find(library, Library)
    forbid()
    for context in list(gone.modules):
        context.check()
    gone.forget()


@provides("driver")
def cuLibraryGetKernel(library: int, name: bytes | None) -> int:
    return find(library, Library).kernel(name).handle


@provides("driver")
def cuLibraryGetKernelCount(lib: int) -> int:
    return len(find(lib, Library).engine.functions)


@provides("driver")
def cuLibraryEnumerateKernels(kernels: Pointer, numKernels: int, lib: int) -> None:
    library = find(lib, Library)
    for i, name in zip(range(numKernels), library.engine.functions, strict=False):
        kernels[i] = library.kernel(name.encode()).handle


@provides("driver")
def cuLibraryGetModule(library: int) -> int:
    return find(library, Library).module(owner()).handle


@provides("driver")
def cuLibraryGetGlobal(library: int, name: bytes | None) -> tuple[int, int]:
    return find(library, Library).module(owner()).variable(name)


@provides("driver")
def cuLibraryGetManaged(library: int, name: bytes | None) -> tuple[int, int]:
    return find(library, Library).module(owner()).variable(name, managed=True)


@provides("driver")
def cuLibraryGetUnifiedFunction(fptr: Pointer, library: int, symbol: bytes | None) -> None:
    find(library, Library)
    raise invalid("the simulator has no unified functions")
