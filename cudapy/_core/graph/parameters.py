"""Copies and fills as the C structs of nodes have them, checked."""

import operator
from typing import Any

from ..._ffi.shown import type_name
from ...driver import (
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS,
    CUmemorytype,
)
from ..memory.buffer import Buffer
from ..memory.pointer import locate
from .hierarchy import GraphHierarchy


def owned(what: str, operand: Any, owner: Any) -> tuple[Any, ...]:
    """What has to be kept alive for `operand`: it itself, or its `owner` if it is an address."""
    if owner is not None and not isinstance(operand, int):
        raise ValueError(
            f"{what}_owner is for a {what} that is an address: a {type(operand).__name__} owns itself"
        )
    return (operand, owner)


def memset_parameters(dst: Any, value: Any, width: int, height: int, pitch: int) -> CUDA_MEMSET_NODE_PARAMS:
    """`height` rows of `width` elements, `pitch` bytes from one to the next."""
    size, number = _pattern(value)
    width, height, pitch = (operator.index(n) for n in (width, height, pitch))
    if width < 1 or height < 1 or pitch < 0:
        raise ValueError(f"memset: width {width}, height {height}, pitch {pitch} are not a piece of memory")
    if height > 1 and pitch < width * size:
        raise ValueError(f"memset: rows of {width * size} bytes need at least that pitch, not {pitch}")
    last = (height - 1) * pitch + width * size
    if isinstance(dst, Buffer) and last > dst._size:
        raise ValueError(f"memset: {last} bytes do not fit the {dst._size} bytes of the Buffer")
    return CUDA_MEMSET_NODE_PARAMS(
        dst=_address("dst", dst), value=number, elementSize=size, width=width, height=height, pitch=pitch
    )


def _pattern(value: Any) -> tuple[int, int]:
    """The size of an element in bytes, and the element as a number."""
    if isinstance(value, int):
        if not 0 <= value <= 255:
            raise OverflowError(f"memset: {value} is not a byte; give an element of 2 or 4 bytes as bytes")
        return 1, value
    data = memoryview(value).tobytes()
    if len(data) not in (1, 2, 4):
        raise ValueError(f"memset: an element has 1, 2 or 4 bytes, not {len(data)}")
    return len(data), int.from_bytes(data, "little")


def memcpy_parameters(hierarchy: GraphHierarchy, dst: Any, src: Any, size: int) -> CUDA_MEMCPY3D:
    """A copy of `size` bytes between buffers, addresses and host arrays."""
    size = operator.index(size)
    if size < 1:
        raise ValueError(f"memcpy: {size} bytes are nothing to copy")
    params = CUDA_MEMCPY3D(WidthInBytes=size, Height=1, Depth=1)
    for side, operand in (("dst", dst), ("src", src)):
        array = _host_array(operand)
        room = operand._size if isinstance(operand, Buffer) else size if array is None else array.nbytes
        if side == "dst" and array is not None and array.readonly:
            raise TypeError("memcpy: dst is read-only")
        if size > room:
            raise ValueError(f"memcpy: {side} has {room} bytes, which are less than {size}")
        if array is not None or not _is_on_device(hierarchy, operand):
            setattr(params, f"{side}MemoryType", CUmemorytype.CU_MEMORYTYPE_HOST)
            setattr(params, f"{side}Host", _address(side, operand) if array is None else operand)
        else:
            setattr(params, f"{side}MemoryType", CUmemorytype.CU_MEMORYTYPE_DEVICE)
            setattr(params, f"{side}Device", _address(side, operand))
    return params


def _host_array(operand: Any) -> memoryview | None:
    """The memory of an array; None for a Buffer, or an address as an int, a handle or a NumPy scalar."""
    if isinstance(operand, (Buffer, int)):
        return None
    try:
        view = memoryview(operand)
    except TypeError:
        return None
    return view if view.ndim else None


def _is_on_device(hierarchy: GraphHierarchy, operand: Any) -> bool:
    if isinstance(operand, Buffer):
        return operand.is_managed or not operand.is_host_accessible
    address = _address("a memcpy operand", operand)
    return hierarchy.allocated(address) or locate(address).device_id >= 0


def _address(side: str, operand: Any) -> int:
    if isinstance(operand, Buffer):
        return operand._address
    try:
        return int(operator.index(operand))
    except TypeError:
        raise TypeError(f"{side} must be a Buffer or an address, not {type_name(operand)}") from None


def end_of_copy(params: CUDA_MEMCPY3D, side: str) -> int:
    """The address that a copy node reads (`src`) or writes (`dst`)."""
    kind = getattr(params, f"{side}MemoryType")
    field = "Host" if kind == CUmemorytype.CU_MEMORYTYPE_HOST else "Device"
    return int(getattr(params, side + field) or 0)


def is_plain_copy(params: CUDA_MEMCPY3D) -> bool:
    """Whether it is one piece of memory from an address to an address."""
    array = CUmemorytype.CU_MEMORYTYPE_ARRAY
    offsets = (params.srcXInBytes, params.srcY, params.srcZ, params.dstXInBytes, params.dstY, params.dstZ)
    return (
        params.Height <= 1
        and params.Depth <= 1
        and not any(offsets)
        and array not in (params.srcMemoryType, params.dstMemoryType)
    )
