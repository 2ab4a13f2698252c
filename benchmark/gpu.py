"""The GPU that is measured: its primary context, which all Python packages share, and what the calls need."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path

from cudapy import pathfinder
from cudapy.driver import (
    CUDA_KERNEL_NODE_PARAMS,
    CUdevice_attribute,
    CUfunction,
    CUgraph,
    CUgraphExec,
    CUgraphNode,
    CUmodule,
    CUstream_flags,
    checked,
)
from turns.twin import folder

from . import kernels
from .calls import Arguments, Handles

ELEMENTS = 32
"""Of the arrays of the SAXPY launches: so few that the host is slower than the device."""


class Gpu:
    """Device 0. RuntimeError, with the reason, where there is none that works."""

    def __init__(self) -> None:
        checked.cuInit(0)
        if not checked.cuDeviceGetCount():
            raise RuntimeError("the driver sees no device")
        self.device = checked.cuDeviceGet(0)
        checked.cuCtxSetCurrent(checked.cuDevicePrimaryCtxRetain(self.device))
        self.stream = checked.cuStreamCreate(CUstream_flags.CU_STREAM_NON_BLOCKING)
        self.event = checked.cuEventCreate(0)
        self.memory = [checked.cuMemAlloc(4096) for _ in range(3)]

    @cached_property
    def library(self) -> str:
        """The path of libcuda."""
        return pathfinder.load("cuda").path

    @cached_property
    def arch(self) -> str:
        """For instance "sm_90"."""
        major, minor = (
            checked.cuDeviceGetAttribute(attribute, self.device)
            for attribute in (
                CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        return f"sm_{major}{minor}"

    @cached_property
    def cubin(self) -> bytes:
        """The kernels."""
        return kernels.cubin(self.arch)

    @cached_property
    def cubin_file(self) -> Path:
        """The kernels in a file."""
        path = folder() / "kernels.cubin"
        path.write_bytes(self.cubin)
        return path

    @cached_property
    def locked(self) -> int:
        """The address of 4 KB of page-locked memory."""
        return int(checked.cuMemHostAlloc(4096, 0))

    @cache  # noqa: B019 (there is one GPU)
    def graph(self, count: int) -> tuple[CUgraph, CUgraphExec]:
        """Launches of the empty kernel, one after the other: their graph, and that made executable.

        Not captured: in a program that has asked for captures core takes more care when it frees.
        """
        launch = CUDA_KERNEL_NODE_PARAMS(func=self.function("empty"), blockDimX=32, blockDimY=1, blockDimZ=1)
        launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1
        graph = checked.cuGraphCreate(0)
        before: list[CUgraphNode] = []
        for _ in range(count):
            before = [checked.cuGraphAddKernelNode(graph, before, len(before), launch)]
        return graph, checked.cuGraphInstantiate(graph, 0)

    @cached_property
    def _module(self) -> CUmodule:
        return checked.cuModuleLoadData(self.cubin)

    def function(self, name: str) -> CUfunction:
        """A kernel."""
        return checked.cuModuleGetFunction(self._module, name.encode())

    @property
    def drain(self) -> Callable[[], object]:
        """Waits until the stream is empty; RuntimeError if something in it failed."""
        stream, wait = self.stream, checked.cuStreamSynchronize
        return lambda: wait(stream)

    def handles(self, kernel: str = "empty", nodes: int = 20) -> Handles:
        """What the calls need, with a kernel and its arguments, and a graph of so many nodes."""
        graph, executable = self.graph(nodes)
        return Handles(
            int(self.stream),
            int(self.event),
            int(self.function(kernel)),
            int(executable),
            int(self.memory[0]),
            int(self._module),
            self.locked,
            int(graph),
            self.arguments(kernel),
        )

    def arguments(self, kernel: str) -> Arguments:
        """The arguments of a kernel of kernels.py."""
        if kernel == "saxpy":
            pointer, x, y, out = ctypes.c_void_p, *map(int, self.memory)
            return Arguments(
                (2.0, x, y, out, ELEMENTS), (ctypes.c_float, pointer, pointer, pointer, ctypes.c_size_t)
            )
        if kernel == "large":
            return Arguments((Large(),), (None,))
        if kernel.startswith("many"):
            count = int(kernel.removeprefix("many"))
            return Arguments(range(count), (ctypes.c_size_t,) * count)
        return Arguments()


class Large(ctypes.Structure):
    """The 2 KB struct."""

    _fields_ = [("words", ctypes.c_size_t * 256)]
