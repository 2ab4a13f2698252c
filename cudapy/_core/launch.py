"""launch: the hot path.

The first launch of a kernel with arguments of certain types writes a function for exactly these types, in
which every argument is one expression, one `struct` call packs them all, and one foreign call starts the
kernel. Later launches with the same types go straight there.
"""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING, Any

from .. import driver
from .._ffi.convert import word
from .._ffi.generated import function as generated
from .arguments import encode, encoding, layout
from .graph.kept import is_builder, keep_for
from .launch_config import LaunchConfig, c_config
from .module import Kernel
from .stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

_DISPATCH = "return dispatch(kernel, stream, config, args)"
_PACK_ERRORS = (struct.error, TypeError, OverflowError, AttributeError, ValueError)


def launch(stream: Stream, config: LaunchConfig, kernel: Kernel, *args: Any) -> None:
    """Start `kernel` on `stream` with `args`, asynchronously.

    stream: a Stream, a GraphBuilder, or any object with `__cuda_stream__`.
    args: one for each parameter of the kernel. Buffers and objects with `__cuda_array_interface__` pass their
    device address; int, float, bool and complex take the parameter's own size; NumPy and ctypes scalars,
    ctypes structs and structured NumPy scalars pass their bytes; None is a null pointer.

    Raises TypeError for a wrong number, type or size of arguments, OverflowError for an integer that does not
    fit, CUDAError when the driver refuses the launch. Source: cuLaunchKernelEx.
    """
    try:
        run = kernel._launch or _dispatch
    except AttributeError:
        raise TypeError(f"launch takes a Kernel third, not {type(kernel).__name__}") from None
    run(kernel, stream, config, args)


def prepare(stream: Stream, config: LaunchConfig, kernel: Kernel, *args: Any) -> Callable[..., None]:
    """Make a function of the kernel's arguments alone, for a loop that launches it again and again.

    `args` are an example: `run = prepare(stream, config, kernel, 2.0, x, y)`, then `run(a, x, y)`. Calls are
    faster with arguments of the same types, and right with any others. Raises as `launch` does.
    """
    _check(config, kernel)
    run: Callable[..., None] = _Writer(kernel, args).prepared(config, _reference(stream, config))
    if not is_builder(stream):
        return run

    def recorded(*args: Any) -> None:  # in a GraphBuilder
        keep_for(stream, kernel, *args)
        run(*args)

    return recorded


def packed(kernel: Kernel, args: tuple[Any, ...]) -> Any:
    """`args` as the driver takes them for a node of a graph: a table of pointers, and the values behind it.

    Raises as `launch` does.
    """
    writer = _Writer(kernel, args)
    block, _ = writer.make()
    writer.fill(block, *args)
    return block


def packed_again(kernel: Kernel, table: int) -> Any:
    """The same from a table that somebody else has. Needs CUDA 12.4, which tells the sizes of the values."""
    values = []
    for i, (_, size) in enumerate(kernel.arguments_info):
        address = ctypes.c_void_p.from_address(table + 8 * i).value or 0
        values.append(ctypes.string_at(address, size))
    return packed(kernel, tuple(values))


def _check(config: Any, kernel: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise TypeError(f"launch takes a Kernel third, not {type(kernel).__name__}")
    if not isinstance(config, LaunchConfig):
        raise TypeError(f"launch takes a LaunchConfig second, not {type(config).__name__}")


def _dispatch(kernel: Kernel, stream: Any, config: Any, args: tuple[Any, ...]) -> None:
    """Launch with arguments whose types the last launch of this kernel did not have."""
    _check(config, kernel)
    types = tuple(map(type, args))
    run = kernel._packers.get(types)
    if run is None:
        run = kernel._packers[types] = _Writer(kernel, args).general()
    kernel._launch = run
    run(kernel, stream, config, args)


def _reference(stream: Any, config: LaunchConfig) -> bytes:
    """`config` with `stream` as what C takes."""
    handle = stream._handle if type(stream) is Stream else Stream._accept(stream)._handle
    return c_config(config, handle.value)


class _Writer:
    """Writes the launch function of `kernel` for the types of `args`.

    The values lie behind a table of pointers to them, in blocks that are taken from a list and put back: the
    foreign call gives up the GIL before the driver reads them, so two threads must not share one.
    """

    def __init__(self, kernel: Kernel, args: tuple[Any, ...]) -> None:
        parameters = kernel._parameters
        if parameters is not None and len(args) != len(parameters):
            raise TypeError(f"{kernel.name} takes {len(parameters)} arguments, not {len(args)}")
        self.kernel = kernel
        self.types = tuple(map(type, args))
        self.sizes = [size for _, size in parameters] if parameters is not None else [None] * len(args)
        self.encodings = [
            _told(kernel, i, encoding, arg, size)
            for i, (arg, size) in enumerate(zip(args, self.sizes, strict=True))
        ]
        self.base = -(-8 * len(args) // 16) * 16
        self.offsets = layout(self.encodings, parameters)
        self.names = [f"a{i}" for i in range(len(args))]
        self.scope: dict[str, Any] = {
            "IndexError": IndexError,
            "PACK_ERRORS": _PACK_ERRORS,
            "dispatch": _dispatch,
            "failed": _failed,
            "fill": self.fill,
            "function": word(int(kernel._function)),
            "keep_for": keep_for,
            "launch_ex": driver.libcuda.symbol("cuLaunchKernelEx"),
            "make": self.make,
            "pack_into": struct.Struct(self.format()).pack_into,
            "resolve": self.resolve,
            "types": self.types,
            **{f"T{i}": cls for i, cls in enumerate(self.types)},
        }
        free: list[Any] = []
        self.scope["pop"], self.scope["push"] = free.pop, free.append

    def format(self) -> str:
        """The `struct` format of the values, with the gaps that the kernel has between them."""
        text, end = "=", 0
        for made, offset in zip(self.encodings, self.offsets, strict=True):
            text += f"{offset - end}x{made.codes}" if offset > end else made.codes
            end = offset + made.size
        self.size = end
        return text

    def make(self) -> Any:
        """A block, which is the table of pointers and room for the values, and what C takes for it."""
        block = (ctypes.c_char * (self.base + self.size + 16))()
        first = ctypes.addressof(block) + self.base
        struct.pack_into(f"{len(self.offsets)}Q", block, 0, *[first + offset for offset in self.offsets])
        return block, ctypes.byref(block)

    def fill(self, block: Any, *args: Any) -> None:
        """Pack the values one by one: what the single call would not take, or the error that says why."""
        for i, (arg, size, made) in enumerate(zip(args, self.sizes, self.encodings, strict=True)):
            data = _told(self.kernel, i, encode, arg, made.size if size is None else size)
            ctypes.memmove(ctypes.addressof(block) + self.base + self.offsets[i], data, len(data))

    def core(self, otherwise: list[str]) -> list[str]:
        """The lines that pack the arguments and launch; `otherwise`: those for what one call cannot pack."""
        if not self.names:
            return ["err = launch_ex(reference, function, None, None)"]
        values = [
            e.format(n) for n, made in zip(self.names, self.encodings, strict=True) for e in made.expressions
        ]
        return [
            "try:",
            "    block, table = slot = pop()",
            "except IndexError:",
            "    block, table = slot = make()",
            "try:",
            f"    pack_into(block, {self.base}, {', '.join(values)})",
            "except PACK_ERRORS:",
            *("    " + line for line in otherwise),
            f"    fill(block, {', '.join(self.names)})",
            "err = launch_ex(reference, function, table, None)",
            "push(slot)",
        ]

    def general(self) -> Any:
        """The function behind `launch`."""
        self.scope["last"] = (None, None, None)
        unpack = ["try:", f"    {', '.join(self.names)}, = args", "except ValueError:", "    " + _DISPATCH]
        strict = [i for i, made in enumerate(self.encodings) if made.is_strict]
        checks = " or ".join(f"type(a{i}) is not T{i}" for i in strict)
        return self.compile(
            "def run(kernel, stream, config, args):",
            [
                *(unpack if self.names else ["if args:", "    " + _DISPATCH]),
                *([f"if {checks}:", "    " + _DISPATCH] if checks else []),
                "try:",
                "    handle, known, reference = last",
                "    if stream._handle is not handle or config is not known:",
                "        reference = resolve(stream, config)",
                "except AttributeError:",
                "    reference = resolve(stream, config)",
                "    keep_for(stream, kernel, *args)",
                *self.core(["if tuple(map(type, args)) != types:", "    push(slot)", "    " + _DISPATCH]),
                "if err:",
                "    raise failed(err, kernel, config)",
            ],
        )

    def resolve(self, stream: Any, config: Any) -> Any:
        """`_reference`, remembered for the next launch in this stream with this configuration."""
        _check(config, self.kernel)
        reference = _reference(stream, config)
        self.scope["last"] = (getattr(stream, "_handle", None), config, reference)
        return reference

    def prepared(self, config: LaunchConfig, reference: Any) -> Any:
        """The function that `prepare` returns."""
        self.scope.update(config=config, reference=reference, kernel=self.kernel)
        return self.compile(
            f"def run({', '.join(self.names)}):",
            [*self.core([]), "if err:", "    raise failed(err, kernel, config)"],
        )

    def compile(self, head: str, body: list[str]) -> Any:
        source = head + "\n    " + "\n    ".join(body) + "\n"
        return generated("run", source, f"<cudapy launch of {self.kernel.name}>", self.scope)


def _told(
    kernel: Kernel, index: int, function: Callable[[Any, int | None], Any], value: Any, size: int | None
) -> Any:
    """`function(value, size)`, its error saying which argument of which kernel it is about."""
    try:
        return function(value, size)
    except (TypeError, OverflowError) as error:
        raise type(error)(f"{kernel.name}: argument {index}: {error}") from None


def _failed(err: int, kernel: Kernel, config: LaunchConfig) -> Exception:
    arguments = {
        "kernel": kernel.name,
        "grid": config.grid,
        "block": config.block,
        "shmem_size": config.shmem_size,
    }
    if config.cluster:
        arguments["cluster"] = config.cluster
    return driver.libcuda.error("cuLaunchKernelEx", driver.CUresult(err), arguments)
