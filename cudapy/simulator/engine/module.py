"""PTX, loaded."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import back_ends
from .addresses import FUNCTIONS
from .compile.function import CompiledFunction, FunctionCompiler
from .compile.inline import inlined
from .jit.back_end import Native
from .kernel import Kernel
from .ptx.declarations import LARGEST
from .ptx.parser import parse
from .ptx.syntax import ModuleText, PTXError, Symbol, Variable
from .run.device_runtime import DEVICE_RUNTIME
from .run.services import SERVICES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .compile.graph import Block
    from .memory import Memory

__all__ = ["Function", "Module", "PTXError"]

back_ends.register(Native())

_addresses = itertools.count(FUNCTIONS + 64, 64)
_MOST_THREADS = 1024
_REGISTERS = 1 << 16
"""Of a multiprocessor."""
_MOST_GLOBAL = 4 << 30
"""Bytes of the variables of a module: no simulated device has more."""


class GlobalVariable(NamedTuple):
    """A variable of a module, in memory."""

    address: int
    size: int
    is_managed: bool
    reference: str
    """"texture" or "surface": it is a reference, whose address kernels use as a handle; else ""."""


def _most_registers(directives: Mapping[str, tuple[int, ...]]) -> int:
    """Of a thread of a kernel that says how many threads its blocks have, at least one of which has to fit.

    Source: PTX ISA, ".maxntid", ".reqntid", ".minnctapersm"; CUDA Occupancy Calculator.
    """
    size = directives.get("reqntid") or directives.get("maxntid")
    if not size:
        return 255
    warps = -(-int(np.prod(size)) // 128) * 4 * max(directives.get("minnctapersm", (1,))[0], 1)
    return min(_REGISTERS // warps // 256 * 256 // 32, 255)


class Function:
    """A kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.name = kernel.name
        self.parameters: list[tuple[int, int]] = kernel.parameters
        """Offset and size of each parameter, in bytes."""
        self.parameter_size: int = kernel.parameter_size
        self.has_hidden_parameters = any(one.is_hidden for one in kernel.compiled.text.prototype.parameters)
        """Whether the driver adds some of them, such as tensor maps of tile kernels."""
        self.shared_size: int = kernel.shared_size
        """Bytes of static shared memory."""
        self.local_size: int = kernel.compiled.local_size
        """Bytes of local memory of a thread, without what it calls."""
        self.const_size: int = kernel.module.const_size
        """Bytes of constant memory of the module."""
        directives = kernel.compiled.text.directives
        self.max_threads: int = min(int(np.prod(directives.get("maxntid", _MOST_THREADS))), _MOST_THREADS)
        """Most threads of a block."""
        block = directives.get("reqntid")
        self.required_block: tuple[int, int, int] | None = (*block, 1, 1)[:3] if block else None  # type: ignore[assignment]
        """The only block that the kernel runs with (`.reqntid`)."""
        required = directives.get("reqnctapercluster")
        self.cluster: tuple[int, int, int] | None = (*required, 1, 1)[:3] if required else None  # type: ignore[assignment]
        """Blocks of a cluster that the kernel was made for (`__cluster_dims__`)."""
        self.needs_cluster: bool = "explicitcluster" in directives and not required
        """The launch must say how large clusters are."""
        self.largest_cluster: int | None = next(iter(directives.get("maxclusterrank", ())), None)
        """Most blocks of a cluster, where the kernel says so."""
        most = (*directives.get("maxnreg", ()), _most_registers(directives))[0]
        counted = (*directives.get("registers", ()), 16 + len(kernel.compiled.slots))[0]
        self.registers: int = min(counted, most, 255)
        """Of the cubin that the PTX came with (`.registers`, which is not PTX), or an estimate."""

    def __repr__(self) -> str:
        return f"<Function {self.name}>"

    def pack(self, arguments: Sequence[object]) -> bytes:
        """Arguments as the bytes that `launch` takes: for each parameter bytes, a NumPy scalar or array by
        value, or an int, such as an address, or a float. Raises TypeError for other sizes than a parameter's.
        """
        if len(arguments) != len(self.parameters):
            raise TypeError(f"{self.name} takes {len(self.parameters)} arguments, not {len(arguments)}")
        packed = bytearray(self.kernel.parameter_size)
        for number, ((offset, size), argument) in enumerate(zip(self.parameters, arguments, strict=True)):
            data = _bytes_of(argument, size)
            if len(data) != size:
                raise TypeError(f"{self.name}: argument {number} has {len(data)} bytes, its parameter {size}")
            packed[offset : offset + size] = data
        return bytes(packed)


def _bytes_of(argument: object, size: int) -> bytes:
    match argument:
        case bytes():
            return argument
        case np.generic() | np.ndarray():
            return argument.tobytes()
        case int():
            return (argument & (1 << 8 * size) - 1).to_bytes(size, "little")
        case float() if size in (2, 4, 8):
            return np.dtype(f"f{size}").type(argument).tobytes()
    raise TypeError(f"a {type(argument).__name__} is not an argument of {size} bytes")


def _line_of_call(compiled: CompiledFunction, name: str) -> int:
    calls = (one for one in compiled.instructions if one.name == "call" and Symbol(name) in one.operands)
    return next(calls).line


def _check_sizes(variables: list[Variable]) -> None:
    total = {"global": 0, "const": 0}
    for variable in variables:
        total[variable.space] += variable.size
        if total["const"] > LARGEST["const"]:
            most = LARGEST["const"]
            raise PTXError(f"line {variable.line}: constants of more than {most} bytes, the most of a module")
    if total["global"] > _MOST_GLOBAL:
        raise MemoryError(f"the variables of the module have {total['global']} bytes")


class Module:
    """A PTX module in a device's memory. Raises PTXError, with the line, for what is not supported, and
    MemoryError for variables that are larger than a device.
    """

    def __init__(self, ptx: bytes | str, memory: Memory) -> None:
        self.memory = memory
        self.text: ModuleText = parse(ptx)
        self.globals: dict[str, GlobalVariable] = {}
        """`.global` and `.const` variables."""
        self.const_size = 0
        self._functions_at: dict[int, str] = {}
        self._addresses: dict[str, int] = {}
        for name in (*self.text.functions, *self.text.aliases):
            address = next(_addresses)
            self._addresses[name] = address
            self._functions_at[address] = self.text.aliases.get(name, name)
        self.compiled: dict[str, CompiledFunction] = {}
        self.back_end = back_end = back_ends.chosen()
        """What runs its functions besides NumPy."""
        try:
            self._place_variables()
            for name, function in inlined(self.text.functions, self.text.aliases).items():
                self.compiled[name] = FunctionCompiler(
                    function,
                    self.text.architecture,
                    self._resolve,
                    back_end,
                    memory.settings.check_uninitialized,
                    memory.settings.schedule is not None,
                ).compile()
            for new, old in self.text.aliases.items():
                self.compiled[new] = self.compiled[old]
            self._check_calls()
            self.share_memory = self._that_share_memory()
            """The functions that use shared memory, and those that call them, directly or not."""
            self.functions: dict[str, Function] = {
                name: Function(Kernel(self, name))
                for name, function in self.text.functions.items()
                if function.is_entry and function.has_body
            }
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the variables."""
        for variable in self.globals.values():
            self.memory.release(variable.address)
        self.globals = {}

    def function_at(self, address: int) -> str | None:
        """The function that an address means."""
        return self._functions_at.get(address)

    def called_by(self, name: str) -> set[str]:
        """The functions that a function calls; by address it may be any."""
        compiled = self.compiled.get(name)
        if compiled is None:
            return set()
        if not compiled.calls_by_address:
            return compiled.calls
        return compiled.calls | {other for other, one in self.compiled.items() if not one.text.is_entry}

    def _that_share_memory(self) -> set[str]:
        callers: dict[str | None, list[str]] = {}
        for name, compiled in self.compiled.items():
            for called in (*compiled.calls, *((None,) if compiled.calls_by_address else ())):
                callers.setdefault(called, []).append(name)
        pending = [name for name, compiled in self.compiled.items() if compiled.shares_memory]
        found = set(pending)
        while pending:
            name = pending.pop()
            by_address = [] if self.compiled[name].text.is_entry else callers.pop(None, [])
            new = {*callers.get(name, ()), *by_address} - found
            found |= new
            pending += new
        return found

    def _check_calls(self) -> None:
        for compiled in self.compiled.values():
            for name in compiled.calls:
                if name in self.compiled:
                    continue
                why = ""
                if name in DEVICE_RUNTIME and self.text.functions[name].is_external:
                    why = f"{compiled.name} calls {name}, which is in libcudadevrt; link that, too"
                elif name not in SERVICES:
                    supported = ", ".join(name for name in SERVICES if name not in DEVICE_RUNTIME)
                    why = f"{compiled.name} calls {name}, which the module does not have; of the device's "
                    why += f"own functions there are {supported}"
                if why:
                    raise PTXError(f"line {_line_of_call(compiled, name)}: {why}")
            for block in compiled.blocks:
                self._check_arguments(block)

    def _check_arguments(self, block: Block) -> None:
        """Check how many arguments a call of one of the device's own functions has. Raises PTXError."""
        if block.end != "call" or block.info.name in self.compiled or block.info.name not in SERVICES:
            return
        name, given, wanted = block.info.name, len(block.info.arguments), SERVICES[block.info.name].takes
        if given != wanted:
            line = block.steps[-1].instruction.line
            raise PTXError(f"line {line}: {name} is called with {given} arguments instead of {wanted}")

    def _resolve(self, name: str) -> int | str | None:
        variable = self.text.variables.get(name)
        if variable is not None and variable.space == "shared":
            return f"L.shared_address[{name!r}]"
        if name in self.globals:
            return self.globals[name].address
        return self._addresses.get(name)

    def _place_variables(self) -> None:
        placed = [one for one in self.text.variables.values() if one.space in ("global", "const")]
        _check_sizes(placed)
        for variable in placed:
            if variable.is_external and not variable.values and variable.count is None:
                raise PTXError(f"line {variable.line}: {variable.name} is in another module; link them first")
            kind = "constant" if variable.space == "const" else "managed" if variable.is_managed else "global"
            align = max(variable.align, 256)
            address = self.memory.allocate(variable.size, f"{kind} variable {variable.name}", align)
            self.globals[variable.name] = GlobalVariable(
                address, variable.size, variable.is_managed, variable.reference
            )
            if variable.space == "const":
                self.const_size += variable.size
        for variable in self.text.variables.values():
            if variable.name in self.globals:
                self._initialize(variable)

    def _initialize(self, variable: Variable) -> None:
        address, size, *_ = self.globals[variable.name]
        allocation = self.memory.find(address)
        if allocation is None:  # of no bytes
            return
        allocation.data[:] = 0
        self.memory.written(address, size)
        width = variable.type.size
        raw_bytes = bytearray()
        for value in variable.values:
            if isinstance(value, tuple):
                name, offset = value
                resolved = self._resolve(name)
                if not isinstance(resolved, int):
                    raise PTXError(
                        f"line {variable.line}: {name}, in the first value of {variable.name}, is unknown"
                    )
                value = resolved + offset
            raw_bytes += (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        allocation.data[: len(raw_bytes)] = np.frombuffer(bytes(raw_bytes), np.uint8)
