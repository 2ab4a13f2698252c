"""What a kernel of the collection is, and how it runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cudapy.core import Device, LaunchConfig, ObjectCode, Program, ProgramOptions, launch

Shape = int | tuple[int, ...]


@dataclass(frozen=True)
class Kernel:
    """A kernel, what it computes, and what says so."""

    name: str
    family: str
    title: str
    """What it does, in a line."""
    algorithm: str
    """Where its algorithm comes from."""
    reference: str
    """What its results are compared with."""
    code: str
    options: tuple[tuple[str, Any], ...]
    body: Callable[[Run], None]

    def check(self) -> None:
        """Compile it, run it, and compare: AssertionError if its results are wrong."""
        self.body(Run(self.code, self.options))


KERNELS: dict[str, Kernel] = {}
"""All kernels of the families that were imported, by name."""


def kernel(
    code: str, *, after: str, against: str, **options: Any
) -> Callable[[Callable[[Run], None]], Callable[[Run], None]]:
    """Add a kernel: CUDA C++, whose algorithm is described in `after`; the function launches it and compares
    its results with those of `against`. `options` are those of ProgramOptions.
    """

    def add(body: Callable[[Run], None]) -> Callable[[Run], None]:
        name, family = body.__name__, body.__module__.rpartition(".")[2]
        assert name not in KERNELS, f"two kernels are called {name}"
        assert body.__doc__, f"{name} has no docstring"
        KERNELS[name] = Kernel(
            name, family, body.__doc__.strip(), after, against, code, tuple(options.items()), body
        )
        return body

    return add


@functools.cache
def compiled(code: str, options: tuple[tuple[str, Any], ...]) -> ObjectCode:
    """A source's code, compiled once. For NVRTC 13.0, lambdas have to be declared the device's."""
    chosen = {"std": "c++17", "device_as_default_execution_space": True, **dict(options)}
    return Program(code, "c++", ProgramOptions(**chosen)).compile("cubin")


class Run:
    """Launches kernels of one source, whose variables nobody has changed: its code is loaded anew."""

    def __init__(self, code: str, options: tuple[tuple[str, Any], ...]) -> None:
        self.device = Device()
        self.device.set_current()
        self.stream = self.device.default_stream
        self.object = ObjectCode.from_cubin(compiled(code, options).code)

    def __call__(
        self, name: str, grid: Shape, block: Shape, *arguments: Any, shared: int = 0, **config: Any
    ) -> None:
        """Launch `name` and wait. An array is copied to the device before, and back into itself after it; one
        that is given twice is there once. `config` has further fields of LaunchConfig.
        """
        function = self.object.get_kernel(name)
        if shared > 48 << 10:
            function.attributes.max_dynamic_shared_size_bytes = shared
        arrays = {id(one): one for one in arguments if isinstance(one, np.ndarray)}
        buffers = {key: self.device.allocate(one.nbytes, stream=self.stream) for key, one in arrays.items()}
        for key, buffer in buffers.items():
            buffer.copy_from(arrays[key], stream=self.stream)
        values = (buffers.get(id(one), one) for one in arguments)
        where = LaunchConfig(grid=grid, block=block, shmem_size=shared, **config)
        launch(self.stream, where, function, *values)
        for key, buffer in buffers.items():
            buffer.copy_to(arrays[key], stream=self.stream)
        self.stream.sync()
        for buffer in buffers.values():
            buffer.close(self.stream)

    def assign(self, variable: str, value: np.ndarray) -> None:
        """Set a `__constant__` or `__device__` variable."""
        self.object.get_global(variable).copy_from(value, stream=self.stream)
