"""The kinds of nodes: what is special about each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...driver import (
    CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS,
    CUevent,
    CUgraphNodeParams,
    CUgraphNodeType,
    checked,
)
from ..event import Event, EventOptions
from ..kernel import Kernel
from ..launch import packed_again
from ..launch_config import LaunchConfig
from . import allocation, parameters
from .host_function import HostFunction
from .node import GraphNode

if TYPE_CHECKING:
    from .definition import GraphDefinition


class EmptyNode(GraphNode, kind="EMPTY"):
    """A node that does nothing; what follows it follows all that it follows."""

    __slots__ = ()


class KernelNode(GraphNode, kind="KERNEL"):
    """A node that runs a kernel."""

    __slots__ = ()

    def _found(self) -> CUDA_KERNEL_NODE_PARAMS:
        found: CUDA_KERNEL_NODE_PARAMS = checked.cuGraphKernelNodeGetParams(self._checked())
        return found

    @property
    def grid(self) -> tuple[int, int, int]:
        """The blocks of the grid, or its clusters, as in `config`."""
        return self.config.grid

    @property
    def block(self) -> tuple[int, int, int]:
        """The threads of a block."""
        return self.config.block

    @property
    def shmem_size(self) -> int:
        """The bytes of dynamic shared memory of a block."""
        return self.config.shmem_size

    @property
    def config(self) -> LaunchConfig:
        """The shape of the launch. Source: cuGraphKernelNodeGetParams, cuGraphKernelNodeGetAttribute."""
        return parameters.launch_config(self._checked(), self._found())

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        if self._record.kernel is None:
            self._record.kernel = parameters.kernel_of(self._found())
        kernel: Kernel = self._record.kernel
        return kernel

    def update(
        self, *, config: LaunchConfig | None = None, kernel: Kernel | None = None, args: Any = None
    ) -> None:
        """Change the launch; what is None stays as it is, but another kernel needs its `args`.

        Executables made before are not changed. Source: cuGraphKernelNodeSetParams.
        """
        handle, found = self._checked(), self._found()
        used = self.kernel if kernel is None else kernel
        if args is not None:
            block = parameters.arguments(used, args)
        elif kernel is None:
            block = packed_again(used, int(found.kernelParams or 0))
        else:
            raise ValueError("update: another kernel needs its args, args=() if it takes none")
        shape = parameters.launch_config(handle, found)
        wanted = parameters.kernel_parameters(
            shape if config is None else config, used, block, int(found.ctx)
        )
        checked.cuGraphKernelNodeSetParams(handle, wanted)
        if config is not None:
            parameters.set_attributes(handle, config)
        self._record.kernel = used
        things = {} if args is None else {"args": tuple(args)}
        self._tree.keep(handle, self._record, kernel=used, **things)


class AllocNode(GraphNode, kind="MEM_ALLOC"):
    """A node that allocates memory."""

    __slots__ = ()

    def _found(self) -> CUDA_MEM_ALLOC_NODE_PARAMS:
        found: CUDA_MEM_ALLOC_NODE_PARAMS = checked.cuGraphMemAllocNodeGetParams(self._checked())
        return found

    @property
    def dptr(self) -> int:
        """The address of the memory."""
        return int(self._found().dptr)

    @property
    def bytesize(self) -> int:
        """The size of the memory in bytes."""
        return int(self._found().bytesize)

    @property
    def device_id(self) -> int:
        """The ordinal of the device that has the memory; -1 for host memory."""
        found = self._found()
        return -1 if allocation.memory_type(found) == "host" else int(found.poolProps.location.id)

    @property
    def memory_type(self) -> allocation.GraphMemoryType:
        """ "device", "host" or "managed"."""
        return allocation.memory_type(self._found())

    @property
    def peer_access(self) -> tuple[int, ...]:
        """The ordinals of the other devices that may use the memory."""
        found = self._found()
        return tuple(int(access.location.id) for access in found.accessDescs or ())


class FreeNode(GraphNode, kind="MEM_FREE"):
    """A node that frees memory."""

    __slots__ = ()

    @property
    def dptr(self) -> int:
        """The address of the memory."""
        return int(checked.cuGraphMemFreeNodeGetParams(self._checked()))


class MemsetNode(GraphNode, kind="MEMSET"):
    """A node that fills memory."""

    __slots__ = ()

    def _found(self) -> CUDA_MEMSET_NODE_PARAMS:
        found: CUDA_MEMSET_NODE_PARAMS = checked.cuGraphMemsetNodeGetParams(self._checked())
        return found

    @property
    def dptr(self) -> int:
        """The address of the first element."""
        return int(self._found().dst)

    @property
    def value(self) -> int:
        """The element, as a number."""
        return int(self._found().value)

    @property
    def element_size(self) -> int:
        """The size of an element: 1, 2 or 4 bytes."""
        return int(self._found().elementSize)

    @property
    def width(self) -> int:
        """The elements of a row."""
        return int(self._found().width)

    @property
    def height(self) -> int:
        """How many rows there are."""
        return int(self._found().height)

    @property
    def pitch(self) -> int:
        """The bytes from one row to the next; without a meaning for one row."""
        return int(self._found().pitch)

    def update(
        self,
        *,
        dst: Any = None,
        value: Any = None,
        width: int | None = None,
        height: int | None = None,
        pitch: int | None = None,
        dst_owner: object = None,
    ) -> None:
        """Change the fill; what is None stays as it is. Executables made before are not changed.

        Source: cuGraphMemsetNodeSetParams.
        """
        handle, found = self._checked(), self._found()
        if dst is None and dst_owner is not None:
            raise ValueError("update: dst_owner is for a dst that is an address")
        wanted = parameters.memset_parameters(
            int(found.dst) if dst is None else dst,
            found.value.to_bytes(4, "little")[: found.elementSize] if value is None else value,
            found.width if width is None else width,
            found.height if height is None else height,
            found.pitch if pitch is None else pitch,
        )
        things = {} if dst is None else {"dst": parameters.owned("dst", dst, dst_owner)}
        checked.cuGraphMemsetNodeSetParams(handle, wanted)
        self._tree.keep(handle, self._record, **things)


class MemcpyNode(GraphNode, kind="MEMCPY"):
    """A node that copies memory."""

    __slots__ = ()

    def _found(self) -> CUDA_MEMCPY3D:
        found: CUDA_MEMCPY3D = checked.cuGraphMemcpyNodeGetParams(self._checked())
        return found

    @property
    def dst(self) -> int:
        """The address that is written."""
        return parameters.end_of_copy(self._found(), "dst")

    @property
    def src(self) -> int:
        """The address that is read."""
        return parameters.end_of_copy(self._found(), "src")

    @property
    def size(self) -> int:
        """How many bytes are copied, in one row."""
        return int(self._found().WidthInBytes)

    def update(
        self,
        *,
        dst: Any = None,
        src: Any = None,
        size: int | None = None,
        dst_owner: object = None,
        src_owner: object = None,
    ) -> None:
        """Change the copy; what is None stays as it is. Executables made before are not changed.

        Raises ValueError for a copy that is no single piece of memory, which only a captured one can be.
        Source: cuGraphMemcpyNodeSetParams.
        """
        handle, found = self._checked(), self._found()
        if not parameters.is_plain_copy(found):
            raise ValueError("update: this node copies more than one piece of memory, or an array")
        if (dst is None and dst_owner is not None) or (src is None and src_owner is not None):
            raise ValueError("update: an owner is for an address that is given with it")
        things = {
            side: parameters.owned(side, operand, owner)
            for side, operand, owner in (("dst", dst, dst_owner), ("src", src, src_owner))
            if operand is not None
        }
        wanted = parameters.memcpy_parameters(
            self._tree,
            parameters.end_of_copy(found, "dst") if dst is None else dst,
            parameters.end_of_copy(found, "src") if src is None else src,
            found.WidthInBytes if size is None else size,
        )
        checked.cuGraphMemcpyNodeSetParams(handle, wanted)
        self._tree.keep(handle, self._record, **things)


class ChildGraphNode(GraphNode, kind="GRAPH"):
    """A node that runs another graph, of which it has a copy."""

    __slots__ = ()

    @property
    def child_graph(self) -> GraphDefinition:
        """The copy; what is added to it belongs to this graph. Source: cuGraphChildGraphNodeGetGraph."""
        from .definition import GraphDefinition

        inner = checked.cuGraphChildGraphNodeGetGraph(self._checked())
        return GraphDefinition._of(self._tree, inner, self)

    def update(self, child: GraphDefinition) -> None:
        """Run a copy, made now, of another graph, which is not part of this one. Needs CUDA 12.2.

        Source: cuGraphNodeSetParams.
        """
        handle = self._checked()
        if child._tree is self._tree:
            raise ValueError("update: the child is a part of the graph that it would go into")
        wanted = CUgraphNodeParams(type=CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH)
        wanted.graph.graph = child._graph
        checked.cuGraphNodeSetParams(handle, wanted)
        things = tuple(child._tree.kept.share().values())
        self._tree.keep(handle, self._record, child=things)


class _EventNode(GraphNode):
    """What records an event and what waits for one."""

    __slots__ = ()

    @property
    def event(self) -> Event:
        """The event."""
        if self._record.event is None:
            self._record.event = _foreign(self._event())
        event: Event = self._record.event
        return event

    def _event(self) -> Any:
        raise NotImplementedError

    def _changed(self, event: Event) -> None:
        self._record.event = event
        self._tree.keep(self._handle, self._record, event=event)


def _foreign(handle: CUevent) -> Event:
    """The event of somebody else."""
    event = Event.__new__(Event)
    event._handle, event._context = handle, int(checked.cuCtxGetCurrent())
    event._options, event._ownership = EventOptions(), None
    return event


class EventRecordNode(_EventNode, kind="EVENT_RECORD"):
    """A node that records an event."""

    __slots__ = ()

    def _event(self) -> Any:
        return checked.cuGraphEventRecordNodeGetEvent(self._checked())

    def update(self, event: Event) -> None:
        """Record another event. Source: cuGraphEventRecordNodeSetEvent."""
        checked.cuGraphEventRecordNodeSetEvent(self._checked(), event.handle)
        self._changed(event)


class EventWaitNode(_EventNode, kind="WAIT_EVENT"):
    """A node that waits for an event."""

    __slots__ = ()

    def _event(self) -> Any:
        return checked.cuGraphEventWaitNodeGetEvent(self._checked())

    def update(self, event: Event) -> None:
        """Wait for another event. Source: cuGraphEventWaitNodeSetEvent."""
        checked.cuGraphEventWaitNodeSetEvent(self._checked(), event.handle)
        self._changed(event)


class HostCallbackNode(GraphNode, kind="HOST"):
    """A node that calls a function on the host."""

    __slots__ = ()

    @property
    def callback(self) -> Callable[[], object] | None:  # type: ignore[override]
        """The Python function; None for a C function.

        It takes the place of the method: what follows is added with `node.join().callback(fn)`.
        """
        found: Callable[[], object] | None = self._record.callback
        return found

    def update(self, fn: Any, *, user_data: Any = None) -> None:
        """Call another function, as in `GraphDefinition.callback`. Source: cuGraphHostNodeSetParams."""
        function = HostFunction(fn, user_data)
        checked.cuGraphHostNodeSetParams(self._checked(), function.parameters)
        self._record.callback = function.callback
        self._tree.keep(self._handle, self._record, fn=function.things)
