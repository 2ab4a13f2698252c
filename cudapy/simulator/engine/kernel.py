"""A kernel with all that it calls, laid out: what a launch runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .addresses import round_up
from .ptx.declarations import LARGEST
from .ptx.syntax import PTXError, Variable

if TYPE_CHECKING:
    from .compile.function import CompiledFunction
    from .module import Module


RESERVED = 1024
"""Bytes of the reserved shared memory of a block, as on hardware since compute capability 8.0."""


class Kernel:
    """The functions that one kernel reaches, and where its shared variables and parameters lie."""

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name
        self.functions: list[CompiledFunction] = []
        self._numbers: dict[str, int] = {}
        self.function_number(name)
        self.compiled = self.functions[0]
        self.parameter_offsets: dict[str, int] = {}
        self.parameters: list[tuple[int, int]] = []
        end = 0
        for variable in self.compiled.text.prototype.parameters:
            end = round_up(end, variable.align)
            self.parameter_offsets[variable.name] = end
            self.parameters.append((end, variable.size))
            end += variable.size
        self.parameter_size = end
        self._limit("param", end, "parameters")
        self.shared_address: dict[str, object] = {}
        self.shared_size = 0
        self.growth = 1
        """How many times as many threads as usual run side by side, as nothing is kept for each of them."""
        self.reserved_size = 0
        """Bytes of the reserved shared memory: none for a kernel that does not ask where it is."""
        self.parts_accessed: dict[int, int] = {}
        """By the offset of a parameter, the bytes of the parts in which races are looked for there."""
        self._lay_out_shared()

    def function_number(self, name: str) -> int:
        """The number of a function of the kernel; one called by address gets it at its first call."""
        number = self._numbers.get(name)
        if number is None:
            compiled = self.module.compiled.get(name)
            if compiled is None:
                raise PTXError(f"{name} is declared, but has no body")
            number = self._numbers[name] = len(self.functions)
            self.functions.append(compiled)
        return number

    def _lay_out_shared(self) -> None:
        """Static variables first, then dynamic shared memory, which all arrays of unknown length start at."""
        variables: dict[str, Variable] = {}
        for name in self._reachable():
            compiled = self.module.compiled.get(name)
            if compiled is None:
                continue
            if compiled.takes_reserved:
                self.reserved_size = RESERVED
            for used in compiled.shared:
                variables[used] = compiled.text.variables.get(used) or self.module.text.variables[used]
            for variable in compiled.text.variables.values():
                if variable.space == "shared":
                    variables[variable.name] = variable
        end, largest = 0, 1
        for name, variable in variables.items():
            largest = max(largest, variable.align)
            if variable.count is not None:
                end = round_up(end, variable.align)
                self.shared_address[name] = np.uint64(end)
                end += variable.size
        self._limit("shared", end, "shared memory")
        self.shared_size = end
        dynamic = round_up(end, largest)
        for name, variable in variables.items():
            if variable.count is None:
                self.shared_address[name] = np.uint64(dynamic)
                self.shared_size = dynamic

    def _limit(self, space: str, size: int, what: str) -> None:
        if size > LARGEST[space]:
            line = self.compiled.text.line
            raise PTXError(
                f"line {line}: {self.name} has {size} bytes of {what}, {LARGEST[space]} are the most"
            )

    def _reachable(self) -> list[str]:
        """The names of the functions that the kernel calls, directly or not, as far as these have to do with
        shared memory.
        """
        reachable, met = [self.name], {self.name}
        for name in reachable:
            if name in self.module.share_memory:
                names = self.module.called_by(name) & self.module.share_memory - met
                reachable += sorted(names)
                met |= names
        return reachable
