"""What C++ that nvcc has compiled registers as it starts: kernels and variables, by addresses of the host.

A program is linked with code that nvcc writes: it hands each fat binary over, then the name of each kernel
with the address of the function on the host that launches it, and that of each variable with its twin's.
Nothing is loaded until one of them is used.

Source: crt/host_runtime.h and crt/device_functions.h of the toolkit, which declare these functions.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from ..addresses import Pointer, pointed
from ..code import images, kernel_library
from ..code.merging import together
from ..code.module import load
from ..devices.context import owner
from ..devices.export_tables import file_at
from ..fresh_devices import forgotten
from ..library import provides
from ..refused import Refused, invalid
from ..stderr import say

NO_CODE = "CUDA_ERROR_NO_BINARY_FOR_GPU"

_lock = threading.RLock()
_told: set[str] = set()
"""Files of which was printed that they have no code for the device."""
_binaries: dict[int, Binary] = {}
_variables: dict[int, tuple[Binary, bytes]] = {}


class Binary:
    """A fat binary of a program, which is loaded when something of it is first asked for."""

    def __init__(self, address: int) -> None:
        self.cell = ctypes.c_void_p(address)  # programs have its address for a handle
        self.functions: dict[int, bytes] = {}
        self.managed: list[tuple[int, bytes]] = []
        self._placed = 0  # so many of them
        self._library: int | None = None
        self._without_code = ""
        """Why there is nothing in it that the simulator runs, once that is known."""

    @property
    def handle(self) -> int:
        return ctypes.addressof(self.cell)

    def library(self) -> int:
        """The handle of the library that it is. Raises Refused."""
        with _lock:
            if self._library is None:
                self._library = load(self._code(), images.Options(0, None, None), kernel_library.Library)
            return self._library

    def _code(self) -> bytes:
        """Its PTX. Raises Refused; what the file has instead is printed once."""
        address = self.cell.value
        if self._without_code:
            raise Refused(NO_CODE, self._without_code)
        try:
            units = images.prelinked(address) if address else []
            return linked(units) if units else images.at(address)
        except Refused as refused:
            if refused.status == NO_CODE:
                self._without_code = refused.reason
                path = file_at(address)
                if path not in _told:
                    _told.add(path)
                    name = f"{path}: " if path else ""
                    say(f"{name}{refused.reason}")
            raise

    def place_managed(self) -> None:
        """Let the program find its managed variables, which the host uses too."""
        with _lock:
            waiting, self._placed = self.managed[self._placed :], len(self.managed)
            for place, name in waiting:
                address, _ = kernel_library.cuLibraryGetManaged(self.library(), name)
                ctypes.c_uint64.from_address(place).value = address

    def load_again(self) -> None:
        """The devices are others: it is yet to be loaded."""
        self._library, self._placed = None, 0

    def forget(self) -> None:
        for host in self.functions:
            kernel_library.host_functions.pop(host, None)
        for host in [host for host, (binary, _) in _variables.items() if binary is self]:
            del _variables[host]
        if self._library is not None:
            kernel_library.cuLibraryUnload(self._library)


@forgotten
def _forget() -> None:
    for binary in list(_binaries.values()):
        binary.load_again()


def linked(addresses: list[int]) -> bytes:
    """The PTX of the fat binaries of a program with relocatable device code, as one. Raises Refused.

    nvcc links such a program with libcudadevrt, which has no PTX.
    """
    return together([(images.at(address), f"unit {i}") for i, address in enumerate(addresses, 1)], True)


def _binary(handle: int | None) -> Binary:
    binary = _binaries.get(handle or 0)
    if binary is None:
        raise invalid("no fat binary is registered under this handle")
    return binary


@provides(
    "runtime",
    prototype="void *__cudaRegisterFatBinary(void *fatCubin)",
)
def __cudaRegisterFatBinary(fatCubin: int | None) -> int:
    binary = Binary(fatCubin or 0)
    _binaries[binary.handle] = binary
    return binary.handle


@provides(
    "runtime",
    prototype="cudaError_t __cudaRegisterFatBinaryEnd(void *handle)",
)
def __cudaRegisterFatBinaryEnd(handle: int | None) -> None:
    _binary(handle)


@provides(
    "runtime",
    prototype="cudaError_t __cudaUnregisterFatBinary(void *handle)",
)
def __cudaUnregisterFatBinary(handle: int | None) -> None:
    _binary(handle).forget()
    del _binaries[handle or 0]


@provides(
    "runtime",
    prototype="cudaError_t __cudaInitModule(void *handle)",
)
def __cudaInitModule(handle: int | None) -> None:
    _binary(handle).place_managed()


@provides(
    "runtime",
    prototype=(
        "cudaError_t __cudaRegisterFunction(void *handle, void *hostFun, void *deviceFun, const "
        "char *deviceName, int thread_limit, void *tid, void *bid, void *bDim, void *gDim, void "
        "*wSize)"
    ),
)
def __cudaRegisterFunction(
    handle: int | None,
    hostFun: int | None,
    deviceFun: int | None,
    deviceName: bytes | None,
    thread_limit: int,
    tid: int | None,
    bid: int | None,
    bDim: int | None,
    gDim: int | None,
    wSize: int | None,
) -> None:
    binary, host, name = _binary(handle), hostFun or 0, deviceName or b""
    binary.functions[host] = name

    def kernel() -> int:
        binary.place_managed()
        return kernel_library.cuLibraryGetKernel(binary.library(), name)

    kernel_library.host_functions[host] = kernel


@provides(
    "runtime",
    prototype=(
        "cudaError_t __cudaRegisterVar(void *handle, void *hostVar, void *deviceAddress, const "
        "char *deviceName, int ext, size_t size, int constant, int global_)"
    ),
)
def __cudaRegisterVar(
    handle: int | None,
    hostVar: int | None,
    deviceAddress: int | None,
    deviceName: bytes | None,
    ext: int,
    size: int,
    constant: int,
    global_: int,
) -> None:
    _variables[hostVar or 0] = _binary(handle), deviceName or b""


@provides(
    "runtime",
    prototype=(
        "cudaError_t __cudaRegisterManagedVar(void *handle, void *hostVarPtrAddress, void "
        "*deviceAddress, const char *deviceName, int ext, size_t size, int constant, int global_)"
    ),
)
def __cudaRegisterManagedVar(
    handle: int | None,
    hostVarPtrAddress: int | None,
    deviceAddress: int | None,
    deviceName: bytes | None,
    ext: int,
    size: int,
    constant: int,
    global_: int,
) -> None:
    _binary(handle).managed.append((hostVarPtrAddress or 0, deviceName or b""))


def variable(symbol: int | None) -> tuple[int, int]:
    """Where the variable is in the current context, and its bytes. Raises Refused."""
    if symbol not in _variables:
        raise Refused("cudaErrorInvalidSymbol", "no program has registered a variable of this address")
    binary, name = _variables[symbol]
    owner()
    place: tuple[int, int] = kernel_library.cuLibraryGetGlobal(binary.library(), name)
    return place


# -- <<< >>> -----------------------------------------------------------------------------------------------


class _Pushed(threading.local):
    """The configurations of launches whose arguments are being evaluated on this thread."""

    def __init__(self) -> None:
        self.configurations: list[tuple[Any, Any, int, int]] = []


_pushed = _Pushed()


@provides(
    "runtime",
    prototype=(
        "cudaError_t __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, void *stream)"
    ),
)
def __cudaPushCallConfiguration(gridDim: Any, blockDim: Any, sharedMem: int, stream: int | None) -> None:
    _pushed.configurations.append((bytes(gridDim), bytes(blockDim), sharedMem, stream or 0))


@provides(
    "runtime",
    prototype=(
        "cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,"
        " void *stream)"
    ),
)
def __cudaPopCallConfiguration(
    gridDim: Pointer, blockDim: Pointer, sharedMem: Pointer, stream: int | None
) -> None:
    if not _pushed.configurations:
        raise Refused("cudaErrorMissingConfiguration", "no launch has been configured on this thread")
    grid, block, size, queue = _pushed.configurations.pop()
    for place, data in ((gridDim, grid), (blockDim, block)):
        ctypes.memmove(pointed(place), data, len(data))
    sharedMem[0] = size
    ctypes.c_uint64.from_address(stream or 0).value = queue


@provides(
    "runtime",
    prototype="cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *func)",
)
def __cudaGetKernel(kernel: Pointer, func: int | None) -> None:
    make = kernel_library.host_functions.get(func or 0)
    if make is None:
        raise Refused("cudaErrorInvalidDeviceFunction", "no program has registered a kernel of this address")
    kernel[0] = func  # nvcc's code ignores a failure and launches this: each launch fails as this call does
    kernel[0] = make()
