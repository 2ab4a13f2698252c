"""The Runtime API's launches, attributes of kernels, and nodes of graphs with parameters of their own."""

import ctypes
from typing import Any

from ..._types.driver.enums import CUfunction_attribute as Attribute
from ..._types.driver.enums import CUgraphNodeType as Type
from ..._types.driver.enums import CUlaunchAttributeID as LaunchAttribute
from ..._types.driver.structs import CUgraphNodeParams, CUlaunchAttributeValue
from ..._types.runtime.structs import (
    cudaExtent,
    cudaFuncAttributes,
    cudaKernelNodeParams,
    cudaMemcpy3DParms,
    cudaPitchedPtr,
    cudaPos,
    dim3,
)
from ..addresses import Pointer
from ..code.function import get, put
from ..code.kernel_library import function
from ..code.launch_parameters import pack, pointers
from ..code.launching import ImpossibleConfiguration, KernelLaunch, attributes_of, submit
from ..devices.context import current
from ..graphs import nodes
from ..graphs.conditional import Conditional
from ..graphs.node_params import any_of, fill_of
from ..library import provides
from ..memory.copies import ARRAY, HOST, Copy
from ..refused import Refused
from ..streams.operations import Operation, needed
from ..streams.stream import stream as find_stream
from ..textures.array import find_array
from .calls import Status, of_thread
from .memory import box, line


def _launch(
    func: int | None,
    grid: dim3,
    block: dim3,
    args: Pointer,
    shared: int,
    stream: int,
    attributes: dict[LaunchAttribute, CUlaunchAttributeValue] | None,
) -> None:
    kernel = function(func or 0)
    arguments = pack(kernel, args, None)
    sizes = (grid.x, grid.y, grid.z), (block.x, block.y, block.z)
    try:
        launch = KernelLaunch(kernel, *sizes, shared, arguments, attributes)
        submit(find_stream(stream), launch)
    except ImpossibleConfiguration as refused:
        raise Refused("cudaErrorInvalidConfiguration", refused.reason) from None


@provides("runtime")
def cudaLaunchKernel(
    func: int | None, gridDim: dim3, blockDim: dim3, args: Pointer, sharedMem: int, stream: int
) -> None:
    _launch(func, gridDim, blockDim, args, sharedMem, stream, None)


@provides(
    "runtime",
    prototype=(
        "cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void "
        "**args, size_t sharedMem, cudaStream_t stream)"
    ),
)
def __cudaLaunchKernel(
    kernel: int, gridDim: Any, blockDim: Any, args: Pointer, sharedMem: int, stream: int
) -> None:
    if not kernel and of_thread().error:
        raise Status(of_thread().error)  # the program did not look at what __cudaGetKernel returned
    cudaLaunchKernel(kernel, gridDim, blockDim, args, sharedMem, stream)


@provides("runtime")
def cudaLaunchCooperativeKernel(
    func: int | None, gridDim: dim3, blockDim: dim3, args: Pointer, sharedMem: int, stream: int
) -> None:
    together = {LaunchAttribute.CU_LAUNCH_ATTRIBUTE_COOPERATIVE: CUlaunchAttributeValue(cooperative=1)}
    _launch(func, gridDim, blockDim, args, sharedMem, stream, together)


@provides("runtime")
def cudaLaunchKernelExC(config: Pointer, func: int | None, args: Pointer) -> None:
    told = needed(config, "config")
    _launch(
        func,
        told.gridDim,
        told.blockDim,
        args,
        told.dynamicSmemBytes,
        int(told.stream),
        attributes_of(told),
    )


@provides("runtime")
def cudaFuncGetAttributes(func: int | None) -> cudaFuncAttributes:
    kernel = function(func or 0)
    fields = {
        "sharedSizeBytes": Attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
        "constSizeBytes": Attribute.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
        "localSizeBytes": Attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        "maxThreadsPerBlock": Attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        "numRegs": Attribute.CU_FUNC_ATTRIBUTE_NUM_REGS,
        "ptxVersion": Attribute.CU_FUNC_ATTRIBUTE_PTX_VERSION,
        "binaryVersion": Attribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION,
        "maxDynamicSharedSizeBytes": Attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        "preferredShmemCarveout": Attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    }
    return cudaFuncAttributes(**{field: get(kernel.on_device, int(name)) for field, name in fields.items()})


@provides("runtime")
def cudaFuncSetAttribute(func: int | None, attr: int, value: int) -> None:
    put(function(func or 0).on_device, attr, value)


@provides("runtime")
def cudaKernelSetAttributeForDevice(kernel: int, attr: int, value: int, device: int) -> None:
    put(function(kernel).on_device, attr, value)


@provides("runtime")
def cudaGetKernel(entryFuncAddr: int | None) -> int:
    function(entryFuncAddr or 0)
    return entryFuncAddr or 0


# -- Nodes -------------------------------------------------------------------------------------------------


def _kernel(params: cudaKernelNodeParams) -> KernelLaunch:
    kernel = function(int(params.func))
    grid, block = params.gridDim, params.blockDim
    return KernelLaunch(
        kernel,
        (grid.x, grid.y, grid.z),
        (block.x, block.y, block.z),
        params.sharedMemBytes,
        pack(kernel, pointers(params.kernelParams), pointers(params.extra)),
    )


@provides("runtime")
def cudaGraphAddKernelNode(
    graph: int, pDependencies: Pointer, numDependencies: int, pNodeParams: Pointer
) -> int:
    return nodes.added(graph, _kernel(needed(pNodeParams, "pNodeParams")), pDependencies, numDependencies)


@provides("runtime")
def cudaGraphKernelNodeGetParams(node: int) -> cudaKernelNodeParams:
    told = nodes.operation_of(node, KernelLaunch).node_params()
    params = cudaKernelNodeParams(
        func=int(told.func), sharedMemBytes=told.sharedMemBytes, kernelParams=told.kernelParams
    )
    for axis in "XYZ":
        setattr(params.gridDim, axis.lower(), getattr(told, "gridDim" + axis))
        setattr(params.blockDim, axis.lower(), getattr(told, "blockDim" + axis))
    return params


@provides("runtime")
def cudaGraphKernelNodeSetParams(node: int, pNodeParams: Pointer) -> None:
    nodes.put(node, _kernel(needed(pNodeParams, "pNodeParams")))


@provides("runtime")
def cudaGraphExecKernelNodeSetParams(hGraphExec: int, node: int, pNodeParams: Pointer) -> None:
    nodes.put_exec(hGraphExec, node, _kernel(needed(pNodeParams, "pNodeParams")))


@provides("runtime")
def cudaGraphAddMemcpyNode(
    graph: int, pDependencies: Pointer, numDependencies: int, pCopyParams: Pointer
) -> int:
    return nodes.added(graph, box(needed(pCopyParams, "pCopyParams")), pDependencies, numDependencies)


@provides("runtime")
def cudaGraphAddMemcpyNode1D(
    graph: int,
    pDependencies: Pointer,
    numDependencies: int,
    dst: int | None,
    src: int | None,
    count: int,
    kind: int,
) -> int:
    return nodes.added(graph, line(dst, src, count, kind), pDependencies, numDependencies)


@provides("runtime")
def cudaGraphMemcpyNodeGetParams(node: int) -> cudaMemcpy3DParms:
    copy = nodes.operation_of(node, Copy)
    params = cudaMemcpy3DParms(kind=4)  # cudaMemcpyDefault
    size = 1
    for prefix, side in (("src", copy.src), ("dst", copy.dst)):
        if side.kind == ARRAY:
            size = find_array(side.address).element_size
            setattr(params, prefix + "Array", side.address)
        else:
            pointer = cudaPitchedPtr(ptr=side.address, pitch=side.pitch, xsize=copy.width, ysize=side.height)
            setattr(params, prefix + "Ptr", pointer)
        x = side.x // size if side.kind == ARRAY else side.x
        setattr(params, prefix + "Pos", cudaPos(x=x, y=side.y, z=side.z))
    params.extent = cudaExtent(width=copy.width // size, height=copy.height, depth=copy.depth)
    params.kind = 3 - 2 * (copy.src.kind == HOST) - (copy.dst.kind == HOST)
    return params


@provides("runtime")
def cudaGraphMemcpyNodeSetParams(node: int, pNodeParams: Pointer) -> None:
    nodes.put(node, box(needed(pNodeParams, "pNodeParams")))


@provides("runtime")
def cudaGraphMemcpyNodeSetParams1D(
    node: int, dst: int | None, src: int | None, count: int, kind: int
) -> None:
    nodes.put(node, line(dst, src, count, kind))


@provides("runtime")
def cudaGraphExecMemcpyNodeSetParams(hGraphExec: int, node: int, pNodeParams: Pointer) -> None:
    nodes.put_exec(hGraphExec, node, box(needed(pNodeParams, "pNodeParams")))


@provides("runtime")
def cudaGraphExecMemcpyNodeSetParams1D(
    hGraphExec: int, node: int, dst: int | None, src: int | None, count: int, kind: int
) -> None:
    nodes.put_exec(hGraphExec, node, line(dst, src, count, kind))


@provides("runtime")
def cudaGraphAddMemsetNode(
    graph: int, pDependencies: Pointer, numDependencies: int, pMemsetParams: Pointer
) -> int:
    fill = fill_of(needed(pMemsetParams, "pMemsetParams"))
    return nodes.added(graph, fill, pDependencies, numDependencies)


@provides("runtime")
def cudaGraphExecMemsetNodeSetParams(hGraphExec: int, node: int, pNodeParams: Pointer) -> None:
    nodes.put_exec(hGraphExec, node, fill_of(needed(pNodeParams, "pNodeParams")))


@provides("runtime")
def cudaGraphConditionalHandleCreate(graph: int, defaultLaunchValue: int, flags: int) -> int:
    from ..graphs.graph import graph as find_graph

    current()
    return Conditional(find_graph(graph), defaultLaunchValue, flags).handle


def _any(of: Any, params: Any) -> Operation:
    """The operation that a cudaGraphNodeParams describes: that of the driver but for copies."""
    if int(params.type) == Type.CU_GRAPH_NODE_TYPE_MEMCPY:
        return box(params.memcpy.copyParams)
    if int(params.type) == Type.CU_GRAPH_NODE_TYPE_KERNEL:
        return _kernel(params.kernel)
    return any_of(of, CUgraphNodeParams.from_address(ctypes.addressof(params)))


@provides("runtime")
def cudaGraphAddNode(
    graph: int,
    pDependencies: Pointer,
    dependencyData: Pointer | None,
    numDependencies: int,
    nodeParams: Pointer,
) -> int:
    from ..graphs.graph import graph as find_graph

    operation = _any(find_graph(graph), needed(nodeParams, "nodeParams"))
    return nodes.added(graph, operation, pDependencies, numDependencies, dependencyData)


@provides("runtime")
def cudaGraphNodeSetParams(node: int, nodeParams: Pointer) -> None:
    from ..graphs.graph import node as find_node

    nodes.put(node, _any(find_node(node).graph, needed(nodeParams, "nodeParams")))


@provides("runtime")
def cudaGraphExecNodeSetParams(graphExec: int, node: int, nodeParams: Pointer) -> None:
    from ..graphs.graph import node as find_node

    nodes.put_exec(graphExec, node, _any(find_node(node).graph, needed(nodeParams, "nodeParams")))
