"""Launches as nodes of graphs have them: the struct of a configuration, arguments that the driver copies."""

from __future__ import annotations

import struct
from typing import Any

from ..._ffi import memory
from ..._ffi.packed_launch import PACK_ERRORS
from ..._ffi.shown import type_name
from ..._process.interrupt_safe import finalizer
from ...driver import (
    CUDA_KERNEL_NODE_PARAMS,
    CUgraphNode,
    CUkernel,
    CUkernelNodeAttrID,
    CUkernelNodeAttrValue,
    CUlaunchAttributeID,
    checked,
)
from .arguments import keep
from .kernel import Kernel, kernel_name
from .launch import Writer
from .launch_config import LaunchConfig

_CLUSTER: CUkernelNodeAttrID = CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
_COOPERATIVE: CUkernelNodeAttrID = CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE

# A CUDA_KERNEL_NODE_PARAMS: these around the shape of a LaunchConfig, many times faster than field by field.
_NO_FUNCTION = bytes(8)
_REST = struct.Struct("=QQQQ")  # the arguments, twice; the kernel; the context


def kernel_parameters(
    config: LaunchConfig, kernel: Kernel, table: int, context: int
) -> CUDA_KERNEL_NODE_PARAMS:
    """The launch of `kernel` with arguments of which pointers are at `table`, for the driver to copy."""
    if not isinstance(config, LaunchConfig):
        raise TypeError(f"launch takes a LaunchConfig first, not {type_name(config)}")
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
        raise TypeError(f"launch takes a Kernel second, not {type_name(kernel)}")
    args = tuple(args)
    key = arguments, *map(type, args)
    writer = kernel._packers.get(key)
    if writer is None:
        writer = keep(kernel._packers, key, Writer(kernel, args))
    try:
        room, _ = slot = writer.free.pop()
    except IndexError:
        room, _ = slot = writer.table()
    packed = Packed(slot, writer.free)
    try:
        writer.layout.struct.pack_into(room, 0, *writer.values(*args))
    except PACK_ERRORS:
        writer.fill(room, args)
    return packed


def arguments_at(kernel: Kernel, table: int) -> Packed:
    """The same from a table that somebody else has. Needs CUDA 12.4, which tells the sizes of the values."""
    infos = kernel.arguments_info
    addresses = struct.unpack(f"={len(infos)}Q", memory.read(table, 8 * len(infos)))
    values = [memory.read(address, size) for address, (_, size) in zip(addresses, infos, strict=True)]
    return arguments(kernel, values)


def set_attributes(node: CUgraphNode, config: LaunchConfig) -> None:
    """What `config` has beside its shape. Source: cuGraphKernelNodeSetAttribute."""
    if config.cluster:
        value = CUkernelNodeAttrValue()
        value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = config.cluster
        checked.cuGraphKernelNodeSetAttribute(node, _CLUSTER, value)
    if config.is_cooperative:
        checked.cuGraphKernelNodeSetAttribute(node, _COOPERATIVE, CUkernelNodeAttrValue(cooperative=1))


def launch_config(node: CUgraphNode, params: CUDA_KERNEL_NODE_PARAMS) -> LaunchConfig:
    """The configuration of a kernel node. Source: cuGraphKernelNodeGetAttribute."""
    grid: tuple[int, ...] = params.gridDimX, params.gridDimY, params.gridDimZ
    size = checked.cuGraphKernelNodeGetAttribute(node, _CLUSTER).clusterDim
    cluster = (size.x, size.y, size.z) if size.x else None
    if cluster:
        grid = tuple(g // c for g, c in zip(grid, cluster, strict=True))
    return LaunchConfig(
        grid=grid,
        cluster=cluster,
        block=(params.blockDimX, params.blockDimY, params.blockDimZ),
        shmem_size=params.sharedMemBytes,
        is_cooperative=bool(checked.cuGraphKernelNodeGetAttribute(node, _COOPERATIVE).cooperative),
    )


def kernel_of(params: CUDA_KERNEL_NODE_PARAMS) -> Kernel:
    """The kernel of a node that somebody else added."""
    if int(params.kern):
        return Kernel.from_handle(params.kern)
    function = CUkernel(int(params.func))  # which the driver takes for a kernel, but has no library of
    return Kernel(function, kernel_name(function), None)
