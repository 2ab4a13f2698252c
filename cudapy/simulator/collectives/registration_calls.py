"""What NCCL's communicators are told of: memory, windows and operators of a program."""

from __future__ import annotations

import itertools

from ..._types.nccl import ncclDataType_t
from ..addresses import Pointer, require
from ..library import provides
from ..memory.allocations import cuMemAlloc_v2, cuMemFree_v2
from ..memory.copies import bytes_at
from . import numbers
from .checks import check_memory, comm_of, invalid, usable

_numbers = itertools.count(0x100)  # of operators, registrations and windows


@provides("nccl")
def ncclMemAlloc(ptr: Pointer, size: int) -> None:
    ptr[0] = cuMemAlloc_v2(size)


@provides("nccl")
def ncclMemFree(ptr: int | None) -> None:
    if ptr:
        cuMemFree_v2(ptr)


@provides("nccl")
def ncclCommRegister(comm: int, buff: int | None, size: int, handle: Pointer) -> None:
    communicator = comm_of(comm)
    number = next(_numbers)
    communicator.windows[number] = check_memory(communicator, buff, size, "buff")
    handle[0] = number


@provides("nccl")
def ncclCommDeregister(comm: int, handle: int | None) -> None:
    if comm_of(comm).windows.pop(handle or 0, None) is None:
        raise invalid(f"{handle} is not a registration of this communicator")


@provides("nccl")
def ncclCommWindowRegister(comm: int, buff: int | None, size: int, win: Pointer, winFlags: int) -> None:
    ncclCommRegister(comm, buff, size, win)
    communicator = comm_of(comm)
    communicator.shared_windows.append(win[0])
    communicator.window_sizes[win[0]] = size


@provides("nccl")
def ncclCommWindowDeregister(comm: int, win: int | None) -> None:
    ncclCommDeregister(comm, win)


@provides("nccl")
def ncclWinGetUserPtr(comm: int, win: int | None, outUserPtr: Pointer) -> None:
    window = comm_of(comm).windows.get(win or 0)
    if window is None:
        raise invalid(f"{win} is not a window of this communicator")
    outUserPtr[0] = window


@provides("nccl")
def ncclRedOpCreatePreMulSum(
    op: Pointer, scalar: int | None, datatype: int, residence: int, comm: int
) -> None:
    communicator = usable(comm)
    if datatype not in numbers.SIZES:
        raise invalid(f"{datatype} is not an ncclDataType_t")
    size = numbers.SIZES[ncclDataType_t(datatype)]
    value: bytes | int
    if residence == 1:  # ncclScalarHostImmediate
        value = bytes(bytes_at(require(scalar, size, "scalar"), size))
    elif residence == 0:
        value = check_memory(communicator, scalar, size, "scalar")
    else:
        raise invalid(f"{residence} is not an ncclScalarResidence_t")
    number = next(_numbers)
    communicator.operators[number] = datatype, value
    op[0] = number


@provides("nccl")
def ncclRedOpDestroy(op: int, comm: int) -> None:
    if comm_of(comm).operators.pop(op, None) is None:
        raise invalid(f"{op} is not an operator that this communicator made")
