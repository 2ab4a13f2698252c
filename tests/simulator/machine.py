"""CUDA C++ through NVRTC onto the engine of the simulator."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from cudapy import nvrtc, pathfinder
from cudapy.simulator.engine import launch
from cudapy.simulator.engine.device import Device
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.ptx.types import TYPES
from cudapy.simulator.engine.run.batch import Counters

from .columns import Column, module

ARCHITECTURES = (75, 80, 90)


def _headers() -> list[str]:
    """Where CUDA's headers are, and those of its C++ library."""
    found = [pathfinder.find_nvidia_header_directory(name) for name in ("cudart", "crt", "cccl")]
    return [folder for folder in dict.fromkeys(found) if folder is not None]


@functools.cache
def ptx(source: str, arch: int | str = 80, *options: str) -> str:
    """The PTX of a program."""
    flags = [f"--gpu-architecture=compute_{arch}", "--std=c++17", "-default-device", "-lineinfo", *options]
    flags += [f"-I{folder}" for folder in _headers()]
    encoded = [flag.encode() for flag in flags]
    program = nvrtc.checked.nvrtcCreateProgram(source.encode(), b"program.cu", 0, [], [])
    (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
    if status:
        size = nvrtc.checked.nvrtcGetProgramLogSize(program)
        log = bytearray(size)
        nvrtc.checked.nvrtcGetProgramLog(program, log)
        raise AssertionError(log.decode())
    text = bytearray(nvrtc.checked.nvrtcGetPTXSize(program))
    nvrtc.checked.nvrtcGetPTX(program, text)
    return bytes(text).rstrip(b"\0").decode()


class Machine:
    """A device with memory; arrays go to it and come back."""

    def __init__(self, **device: Any) -> None:
        self.memory = Memory()
        self.device = Device(self.memory, **device)

    def load(self, source: str, arch: int | str = 80, *options: str) -> Module:
        return Module(ptx(source, arch, *options), self.memory)

    def array(self, values: Any) -> Array:
        return Array(self, np.ascontiguousarray(values))

    def zeros(self, shape: Any, dtype: Any) -> Array:
        return self.array(np.zeros(shape, dtype))

    def run(
        self, module: Module, name: str, grid: Any, block: Any, *arguments: Any, shared: int = 0, **more: Any
    ) -> Counters:
        """Launch: Arrays, NumPy scalars, or bytes as arguments."""
        given = [one.address if isinstance(one, Array) else one for one in arguments]
        shape = _three(grid), _three(block)
        return launch(module.functions[name], *shape, given, shared, device=self.device, **more)


def computed(body: str, operands: str, result: str, *values: Any, target: str = "sm_90") -> Any:
    """What a piece of PTX, as the columns have them, makes of arrays: from %a, %b ... of the types of PTX
    `operands` to %z of the type `result`, as unsigned numbers of its size.
    """
    machine = Machine()
    kinds = tuple(operands.split())
    count = len(values[0])
    wide = [np.zeros(-(-count // 32) * 32, np.uint64) for _ in values]
    for whole, given, kind in zip(wide, values, kinds, strict=True):
        whole[:count] = np.ascontiguousarray(given).view(f"u{max(TYPES[kind].size, 1)}")
    code = Module(module([[Column("one", body, kinds, result)]], target), machine.memory)
    out = machine.zeros(len(wide[0]), np.uint64)
    scratch = machine.zeros(len(wide[0]), np.uint64)
    rows = np.uint64(len(wide[0]))
    blocks = -(-count // 32)
    machine.run(code, "k0", blocks, 32, out, rows, scratch, *(machine.array(one) for one in wide))
    return out.get()[:count].astype(f"u{max(TYPES[result].size, 2)}")


class Array:
    """An array in the memory of a machine."""

    def __init__(self, machine: Machine, values: Any) -> None:
        self.machine, self.shape, self.dtype, self.nbytes = machine, values.shape, values.dtype, values.nbytes
        self.address = machine.memory.upload(values)

    def get(self) -> Any:
        return self.machine.memory.download(self.address, self.shape, self.dtype)

    def set(self, values: Any) -> None:
        allocation = self.machine.memory.find(self.address)
        assert allocation is not None
        allocation.data[: self.nbytes] = values.reshape(-1).view(np.uint8)

    def free(self) -> None:
        self.machine.memory.release(self.address)


def _three(shape: Any) -> Any:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return shape + (1,) * (3 - len(shape))
