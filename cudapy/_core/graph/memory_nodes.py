"""Nodes that allocate, free, fill and copy memory."""

from typing import Any

from ...driver import (
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS,
    checked,
)
from . import allocation, parameters
from .node import GraphNode


class AllocNode(GraphNode, kind="MEM_ALLOC"):
    """A node that allocates memory."""

    __slots__ = ()

    def _params(self) -> CUDA_MEM_ALLOC_NODE_PARAMS:
        return checked.cuGraphMemAllocNodeGetParams(self._checked())

    @property
    def dptr(self) -> int:
        """The address of the memory."""
        return int(self._params().dptr)

    @property
    def bytesize(self) -> int:
        """The size of the memory in bytes."""
        return int(self._params().bytesize)

    @property
    def device_id(self) -> int:
        """The ordinal of the device that has the memory; -1 for host memory."""
        params = self._params()
        return -1 if allocation.memory_type(params) == "host" else int(params.poolProps.location.id)

    @property
    def memory_type(self) -> allocation.GraphMemoryType:
        """ "device", "host" or "managed"."""
        return allocation.memory_type(self._params())

    @property
    def peer_access(self) -> tuple[int, ...]:
        """The ordinals of the other devices that may use the memory."""
        params = self._params()
        return tuple(int(access.location.id) for access in params.accessDescs or ())


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

    def _params(self) -> CUDA_MEMSET_NODE_PARAMS:
        return checked.cuGraphMemsetNodeGetParams(self._checked())

    @property
    def dptr(self) -> int:
        """The address of the first element."""
        return int(self._params().dst)

    @property
    def value(self) -> int:
        """The element, as a number."""
        return int(self._params().value)

    @property
    def element_size(self) -> int:
        """The size of an element: 1, 2 or 4 bytes."""
        return int(self._params().elementSize)

    @property
    def width(self) -> int:
        """The elements of a row."""
        return int(self._params().width)

    @property
    def height(self) -> int:
        """How many rows there are."""
        return int(self._params().height)

    @property
    def pitch(self) -> int:
        """The bytes from one row to the next; without a meaning for one row."""
        return int(self._params().pitch)

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
        handle, params = self._checked(), self._params()
        if dst is None and dst_owner is not None:
            raise ValueError("update: dst_owner is for a dst that is an address")
        wanted = parameters.memset_parameters(
            int(params.dst) if dst is None else dst,
            params.value.to_bytes(4, "little")[: params.elementSize] if value is None else value,
            params.width if width is None else width,
            params.height if height is None else height,
            params.pitch if pitch is None else pitch,
        )
        objects = {} if dst is None else {"dst": parameters.owned("dst", dst, dst_owner)}
        checked.cuGraphMemsetNodeSetParams(handle, wanted)
        self._hierarchy.keep_alive(handle, self._record, **objects)


class MemcpyNode(GraphNode, kind="MEMCPY"):
    """A node that copies memory."""

    __slots__ = ()

    def _params(self) -> CUDA_MEMCPY3D:
        return checked.cuGraphMemcpyNodeGetParams(self._checked())

    @property
    def dst(self) -> int:
        """The address that is written."""
        return parameters.end_of_copy(self._params(), "dst")

    @property
    def src(self) -> int:
        """The address that is read."""
        return parameters.end_of_copy(self._params(), "src")

    @property
    def size(self) -> int:
        """How many bytes are copied, in one row."""
        return int(self._params().WidthInBytes)

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

        Raises ValueError for a copy that is not a single piece of memory, which only a captured one can be.
        Source: cuGraphMemcpyNodeSetParams.
        """
        handle, params = self._checked(), self._params()
        if not parameters.is_plain_copy(params):
            raise ValueError("update: this node copies more than one piece of memory, or an array")
        if (dst is None and dst_owner is not None) or (src is None and src_owner is not None):
            raise ValueError("update: an owner is for an address that is given with it")
        objects = {
            side: parameters.owned(side, operand, owner)
            for side, operand, owner in (("dst", dst, dst_owner), ("src", src, src_owner))
            if operand is not None
        }
        wanted = parameters.memcpy_parameters(
            self._hierarchy,
            parameters.end_of_copy(params, "dst") if dst is None else dst,
            parameters.end_of_copy(params, "src") if src is None else src,
            params.WidthInBytes if size is None else size,
        )
        checked.cuGraphMemcpyNodeSetParams(handle, wanted)
        self._hierarchy.keep_alive(handle, self._record, **objects)
