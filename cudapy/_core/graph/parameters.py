"""Values as the C structs of nodes have them, checked."""

from __future__ import annotations

import operator
import struct
from typing import Any

from ..._ffi import memory
from ..._ffi.interrupts import finalizer
from ...driver import (
    CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS,
    CUgraphNode,
    CUkernel,
    CUkernelNodeAttrID,
    CUkernelNodeAttrValue,
    CUlaunchAttributeID,
    CUmemorytype,
    checked,
)
from ..buffer import Buffer
from ..kernel import Kernel, kernel_name
from ..launch import PACK_ERRORS, Writer
from ..launch_config import LaunchConfig
from ..pointer import locate
from .tree import Tree

_CLUSTER: CUkernelNodeAttrID = CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
_COOPERATIVE: CUkernelNodeAttrID = CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE


# A CUDA_KERNEL_NODE_PARAMS: these around the shape of a LaunchConfig, many times faster than field by field.
_NO_FUNCTION = bytes(8)
_REST = struct.Struct("=QQQQ")  # the arguments, twice; the kernel; the context

# -- kernels ------------------------------------------------------------------------------------------


def kernel_parameters(
    config: LaunchConfig, kernel: Kernel, table: int, context: int
) -> CUDA_KERNEL_NODE_PARAMS:
    """The launch of `kernel` with arguments of which pointers are at `table`, for the driver to copy."""
    if not isinstance(config, LaunchConfig):
        raise TypeError(f"launch takes a LaunchConfig first, not {type(config).__name__}")
    if config.programmatic_stream_serialization:
        raise ValueError(
            "a kernel node has no programmatic_stream_serialization, which is between two kernels in a "
            "stream: capture the kernels with a GraphBuilder"
        )
    rest = _REST.pack(table, 0, kernel._handle.value, context)
    return CUDA_KERNEL_NODE_PARAMS.from_buffer_copy(_NO_FUNCTION + config._shape + rest)


class Packed:
    """Arguments as the driver takes them for a node of a graph: a table of pointers at `address`, the values
    behind it. The memory is used again once this object is gone.
    """

    __slots__ = ("_free", "_slot", "address")

    def __init__(self, slot: tuple[Any, int], free: list[tuple[Any, int]]) -> None:
        self._slot, self._free = slot, free
        self.address = slot[1]

    @finalizer
    def __del__(self) -> None:
        try:
            slot = self._slot
            del self._slot
        except AttributeError:
            return
        self._free.append(slot)


def arguments(kernel: Kernel, args: Any) -> Packed:
    """`args` as C takes them. Raises as `launch` does."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"launch takes a Kernel second, not {type(kernel).__name__}")
    args = tuple(args)
    key = arguments, *map(type, args)
    writer = kernel._packers.get(key)
    if writer is None:
        writer = kernel._packers[key] = Writer(kernel, args)
    try:
        room, _ = slot = writer.free.pop()
    except IndexError:
        room, _ = slot = writer.table()
    made = Packed(slot, writer.free)
    try:
        writer.struct.pack_into(room, 0, *writer.values(*args))
    except PACK_ERRORS:
        writer.fill(room, args)
    return made


def arguments_at(kernel: Kernel, table: int) -> Packed:
    """The same from a table that somebody else has. Needs CUDA 12.4, which tells the sizes of the values."""
    found = kernel.arguments_info
    addresses = struct.unpack(f"={len(found)}Q", memory.read(table, 8 * len(found)))
    values = [memory.read(address, size) for address, (_, size) in zip(addresses, found, strict=True)]
    return arguments(kernel, values)


def set_attributes(node: CUgraphNode, config: LaunchConfig) -> None:
    """What `config` has beside its shape. Source: cuGraphKernelNodeSetAttribute."""
    if config.cluster:
        value = CUkernelNodeAttrValue()
        value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = config.cluster
        checked.cuGraphKernelNodeSetAttribute(node, _CLUSTER, value)
    if config.is_cooperative:
        checked.cuGraphKernelNodeSetAttribute(node, _COOPERATIVE, CUkernelNodeAttrValue(cooperative=1))


def launch_config(node: CUgraphNode, found: CUDA_KERNEL_NODE_PARAMS) -> LaunchConfig:
    """The configuration of a kernel node. Source: cuGraphKernelNodeGetAttribute."""
    grid: tuple[int, ...] = found.gridDimX, found.gridDimY, found.gridDimZ
    size = checked.cuGraphKernelNodeGetAttribute(node, _CLUSTER).clusterDim
    cluster = (size.x, size.y, size.z) if size.x else None
    if cluster:
        grid = tuple(g // c for g, c in zip(grid, cluster, strict=True))
    return LaunchConfig(
        grid=grid,
        cluster=cluster,
        block=(found.blockDimX, found.blockDimY, found.blockDimZ),
        shmem_size=found.sharedMemBytes,
        is_cooperative=bool(checked.cuGraphKernelNodeGetAttribute(node, _COOPERATIVE).cooperative),
    )


def kernel_of(found: CUDA_KERNEL_NODE_PARAMS) -> Kernel:
    """The kernel of a node that somebody else added."""
    if int(found.kern):
        return Kernel.from_handle(found.kern)
    function = CUkernel(int(found.func))  # which the driver takes for a kernel, but has no library of
    return Kernel(function, kernel_name(function), None)


# -- memory -------------------------------------------------------------------------------------------


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
        raise ValueError(f"memset: width = {width}, height = {height}, pitch = {pitch} is no piece of memory")
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


def memcpy_parameters(tree: Tree, dst: Any, src: Any, size: int) -> CUDA_MEMCPY3D:
    """A copy of `size` bytes between buffers, addresses and host arrays."""
    size = operator.index(size)
    if size < 1:
        raise ValueError(f"memcpy: {size} bytes are nothing to copy")
    made = CUDA_MEMCPY3D(WidthInBytes=size, Height=1, Depth=1)
    for side, operand in (("dst", dst), ("src", src)):
        array = _host_array(operand)
        room = operand._size if isinstance(operand, Buffer) else size if array is None else array.nbytes
        if side == "dst" and array is not None and array.readonly:
            raise TypeError("memcpy: dst is read-only")
        if size > room:
            raise ValueError(f"memcpy: {side} has {room} bytes, which are less than {size}")
        if array is not None or not _is_on_device(tree, operand):
            setattr(made, f"{side}MemoryType", CUmemorytype.CU_MEMORYTYPE_HOST)
            setattr(made, f"{side}Host", _address(side, operand) if array is None else operand)
        else:
            setattr(made, f"{side}MemoryType", CUmemorytype.CU_MEMORYTYPE_DEVICE)
            setattr(made, f"{side}Device", _address(side, operand))
    return made


def _host_array(operand: Any) -> memoryview | None:
    """The memory of an array; None for a Buffer, or an address as an int, a handle or a NumPy scalar."""
    if isinstance(operand, (Buffer, int)):
        return None
    try:
        view = memoryview(operand)
    except TypeError:
        return None
    return view if view.ndim else None


def _is_on_device(tree: Tree, operand: Any) -> bool:
    if isinstance(operand, Buffer):
        return operand.is_managed or not operand.is_host_accessible
    address = _address("a memcpy operand", operand)
    return tree.allocated(address) or locate(address).device_id >= 0


def _address(side: str, operand: Any) -> int:
    if isinstance(operand, Buffer):
        return operand._address
    try:
        return int(operator.index(operand))
    except TypeError:
        raise TypeError(f"{side} must be a Buffer or an address, not {type(operand).__name__}") from None


def end_of_copy(found: CUDA_MEMCPY3D, side: str) -> int:
    """The address that a copy node reads (`src`) or writes (`dst`)."""
    kind = getattr(found, f"{side}MemoryType")
    field = "Host" if kind == CUmemorytype.CU_MEMORYTYPE_HOST else "Device"
    return int(getattr(found, side + field) or 0)


def is_plain_copy(found: CUDA_MEMCPY3D) -> bool:
    """Whether it is one piece of memory from an address to an address."""
    array = CUmemorytype.CU_MEMORYTYPE_ARRAY
    offsets = (found.srcXInBytes, found.srcY, found.srcZ, found.dstXInBytes, found.dstY, found.dstZ)
    return (
        found.Height <= 1
        and found.Depth <= 1
        and not any(offsets)
        and array not in (found.srcMemoryType, found.dstMemoryType)
    )
