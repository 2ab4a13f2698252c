"""What kernels that use the Runtime API are told, and why they may not launch what they want to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..._types.driver.enums import CUlimit
from ..._types.meanings import CUDAERROR
from ..._types.runtime.enums import cudaError_t
from ..devices.device import cuDriverGetVersion, devices
from ..devices.occupancy import blocks_per_multiprocessor
from ..engine import Answers
from ..graphs import device_launch

if TYPE_CHECKING:
    from .. import engine
    from .module import Function, Module

Three = tuple[int, int, int]


class KernelAnswers(Answers):
    """Of the device and the context that a module is in; `refusal` gives the cudaError_t of a launch or 0."""

    def __init__(self, module: Module, refusal: Callable[[Function, Three, Three, int], int]) -> None:
        self._module, self._context, self._refusal = module, module.context, refusal
        self.ordinal = self._context.device.ordinal
        self.devices = len(devices)
        self.version = cuDriverGetVersion()

    def attribute(self, name: int) -> int | None:
        return self._context.device.attributes.get(name)

    def limit(self, name: int) -> int | None:
        return self._context.limits.get(CUlimit(name))

    def occupancy(self, function: engine.Function, threads: int, shared_size: int) -> int | None:
        if not 0 < threads <= function.max_threads:
            return None
        return blocks_per_multiprocessor(self._of(function), threads, shared_size)

    def refusal(self, function: engine.Function, grid: Three, block: Three, shared_size: int) -> int:
        return self._refusal(self._of(function), grid, block, shared_size)

    def graph(self) -> int:
        return device_launch.current()

    def launch_graph(self, graph: int, stream: int) -> int:
        return device_launch.launch(graph, stream)

    def error(self, code: int) -> tuple[str, str]:
        name = cudaError_t(code).name
        unknown = "unrecognized error code"
        return (name, CUDAERROR[name][0]) if name in CUDAERROR else (unknown, unknown)

    def _of(self, function: engine.Function) -> Function:
        return self._module.function(function.name.encode())
