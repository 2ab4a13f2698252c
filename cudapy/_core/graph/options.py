"""How a graph is made executable, and what its picture shows."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...driver import CUgraph, CUgraphDebugDot_flags, CUgraphInstantiate_flags, checked
from ..options import accepted

if TYPE_CHECKING:
    from ..streams.stream import IsStreamType, Stream


_AUTO_FREE, _UPLOAD, _DEVICE_LAUNCH, _USE_NODE_PRIORITY = (
    int(CUgraphInstantiate_flags[f"CUDA_GRAPH_INSTANTIATE_FLAG_{name}"])
    for name in ("AUTO_FREE_ON_LAUNCH", "UPLOAD", "DEVICE_LAUNCH", "USE_NODE_PRIORITY")
)


@dataclass
class GraphCompleteOptions:
    """How a graph is made executable.

    auto_free_on_launch: whether what the last launch allocated and did not free is freed before the next one,
    which would fail otherwise. upload_stream: the stream in which the graph is sent to the device at once,
    instead of at its first launch. device_launch: whether kernels can launch it. use_node_priority: whether
    nodes have the priority of the stream they were captured in, instead of that of the launch.
    """

    auto_free_on_launch: bool = False
    upload_stream: Stream | IsStreamType | None = None
    device_launch: bool = False
    use_node_priority: bool = False

    @property
    def flags(self) -> int:
        """The CUgraphInstantiate_flags."""
        return (
            _AUTO_FREE * bool(self.auto_free_on_launch)
            | _UPLOAD * (self.upload_stream is not None)
            | _DEVICE_LAUNCH * bool(self.device_launch)
            | _USE_NODE_PRIORITY * bool(self.use_node_priority)
        )


@dataclass
class GraphDebugPrintOptions:
    """What the picture of a graph shows, beside its nodes and edges; `verbose` is everything.

    The names are those of CUgraphDebugDot_flags in lower case.
    """

    verbose: bool = False
    runtime_types: bool = False
    kernel_node_params: bool = False
    memcpy_node_params: bool = False
    memset_node_params: bool = False
    host_node_params: bool = False
    event_node_params: bool = False
    ext_semas_signal_node_params: bool = False
    ext_semas_wait_node_params: bool = False
    kernel_node_attributes: bool = False
    handles: bool = False
    mem_alloc_node_params: bool = False
    mem_free_node_params: bool = False
    batch_mem_op_node_params: bool = False
    extra_topo_info: bool = False
    conditional_node_params: bool = False

    @property
    def flags(self) -> int:
        """The CUgraphDebugDot_flags."""
        chosen = [field.name.upper() for field in fields(self) if getattr(self, field.name)]
        return sum(CUgraphDebugDot_flags[f"CU_GRAPH_DEBUG_DOT_FLAGS_{name}"] for name in chosen)


class Drawn:
    """What has a picture, in the language of Graphviz: `dot -Tsvg graph.dot -o graph.svg` draws it."""

    __slots__ = ()

    def _drawn(self) -> CUgraph:
        """The graph."""
        raise NotImplementedError

    def debug_dot_print(
        self, path: str | os.PathLike[str], options: GraphDebugPrintOptions | Mapping[str, Any] | None = None
    ) -> None:
        """Write the graph to the file `path` as a picture in the language of Graphviz.

        Source: cuGraphDebugDotPrint.
        """
        flags = accepted(GraphDebugPrintOptions, options or {}).flags
        checked.cuGraphDebugDotPrint(self._drawn(), os.fsencode(path), flags)

    def dot(self, options: GraphDebugPrintOptions | Mapping[str, Any] | None = None) -> str:
        """The drawing as a str."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "graph.dot")
            self.debug_dot_print(path, options)
            return path.read_text()

    def debug_print(
        self,
        path: str | os.PathLike[str] | None = None,
        options: GraphDebugPrintOptions | Mapping[str, Any] | None = None,
    ) -> None:
        """`debug_dot_print`, or without a path: the same text on the standard output."""
        if path is None:
            print(self.dot(options))
        else:
            self.debug_dot_print(path, options)
