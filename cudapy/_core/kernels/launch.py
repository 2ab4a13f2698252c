"""launch: the hot path.

A kernel keeps what launches it with arguments of the types of its last launch: a fast lane (`launch_lane`),
and a function for exactly these types, in which every argument is one expression, one `struct` call packs
them all, and one foreign call starts the kernel. Where there is a lane the function is written for the first
launch that this leaves to Python.
"""

from __future__ import annotations

import ctypes
from functools import cached_property
from itertools import count, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import driver
from ..._ffi.codegen import function_of_object as generated
from ..._ffi.mangled import readable
from ..._ffi.packed_launch import STREAM, Layout, launch_function
from ..._ffi.shown import type_name
from ..._process import environment
from ..context.current import when_prepared
from ..kernel_argument import KernelArgument
from ..ownership.graph_references import is_builder
from ..ownership.keep_alive import keep_alive_for_graph
from ..streams.stream import IsStreamType, Stream
from ..upward import upward
from . import launch_lane
from .arguments import HELPERS, encode, encoding, keep, layout
from .kernel import HOW_TO_LAUNCH, NO_LANE, Kernel
from .launch_config import LaunchConfig
from .launch_failure import failed
from .parameter_kinds import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable

NO_STREAM = object(), b""  # no stream has this handle
STREAMS = 16
"""How many streams in turns, as of several threads, are as quick as one, for each kernel."""


def launch(stream: Stream | IsStreamType, config: LaunchConfig, kernel: Kernel, *args: Any) -> None:
    """Start `kernel` on `stream` with `args`, asynchronously.

    stream: a Stream, a GraphBuilder, or any object with `__cuda_stream__`.
    args: one for each parameter of the kernel. Buffers and objects with `__cuda_array_interface__` pass their
    device address; int, float, bool and complex take the parameter's own size, and int and bool become floats
    where the kernel takes one; NumPy and ctypes scalars, ctypes structs and structured NumPy scalars pass
    their bytes, and so do a TextureObject, a SurfaceObject and a TensorMapDescriptor; None is a null pointer.
    Which parameters are floats is known for code made from PTX.

    Raises TypeError for a wrong number, type, kind or size of arguments, OverflowError for a number that does
    not fit, CUDAError when the driver refuses the launch. `prepare` makes a loop of launches faster.
    Source: cuLaunchKernelEx.
    """
    try:
        run = kernel._launch
    except AttributeError:
        raise _no_kernel(kernel) from None
    try:
        run(kernel, stream, config, args)
    except (TypeError, AttributeError):
        if isinstance(kernel, Kernel):
            raise
        # It is of another copy of this package, which expects that the rest is of that copy, too.
        raise _no_kernel(kernel) from None


def _no_kernel(kernel: Any) -> TypeError:
    """The error for what stands where a Kernel is expected."""
    name = type_name(kernel)
    hint = "" if " " in name else f": {HOW_TO_LAUNCH}"  # of another copy it says what to do
    if isinstance(kernel, str) or hasattr(kernel, "get_kernel"):
        is_source = isinstance(kernel, str) and "(" in kernel
        code = 'Program(source, "c++").compile("cubin")' if is_source else "code"
        named = "name" if is_source or not isinstance(kernel, str) else kernel
        hint = f": get it by {code}.get_kernel({named!r})"
    return TypeError(f"launch takes a Kernel third, not {name}{hint}")


def check(config: Any) -> None:
    """Raise TypeError for what is not a LaunchConfig."""
    if not isinstance(config, LaunchConfig):
        hint = (
            "" if type(config).__name__ == "LaunchConfig" else f": {HOW_TO_LAUNCH}"
        )  # it is of another copy
        raise TypeError(f"launch takes a LaunchConfig second, not {type_name(config)}{hint}")


def dispatch(kernel: Kernel, stream: Any, config: Any, args: tuple[Any, ...]) -> None:
    """Launch with arguments whose types the last launch of this kernel did not have."""
    check(config)
    types = tuple(map(type, args))
    try:
        run, lane = kernel._packers[types]
    except KeyError:
        writer = Writer(kernel, args)
        lane = _lane(writer, kernel, args)
        run = writer.general() if lane is NO_LANE else _unwritten(writer, lane)
        keep(kernel._packers, types, (run, lane))
    kernel._launch, kernel._lane = run, lane
    if lane is NO_LANE:
        run(kernel, stream, config, args)
    else:
        launch(stream, config, kernel, *args)


upward.dispatch = dispatch


def _unwritten(writer: Writer, lane: Any) -> Callable[..., None]:
    """What stands for a function until a launch comes that the lane of these types leaves to Python."""

    def first(kernel: Kernel, stream: Any, config: Any, args: tuple[Any, ...]) -> None:
        if tuple(map(type, args)) != writer.types:
            return dispatch(kernel, stream, config, args)
        run = writer.general()
        keep(kernel._packers, writer.types, (run, lane))
        kernel._launch = run
        return run(kernel, stream, config, args)  # type: ignore[no-any-return]

    return first


_has_lane: bool | None = None  # None: nobody has looked


def _lane(writer: Writer, kernel: Kernel, args: tuple[Any, ...]) -> Any:
    """What `kernel` keeps for the fast lane of `launch` with arguments of these types."""
    if not has_lanes():
        return NO_LANE
    launch_ex = driver.libcuda.function("cuLaunchKernelEx")
    return launch_lane.lane_of(writer.function, launch_ex, args, writer.encodings, writer.offsets)


def has_lanes() -> bool:
    """Whether launches have a fast lane; `launch` itself gets it now."""
    global _has_lane
    if _has_lane is None:
        _has_lane = environment.LANES_WANTED and _install_lane()
    return _has_lane


when_prepared.append(has_lanes)


def _install_lane() -> bool:
    def refused(status: int, kernel: Kernel, config: LaunchConfig, stream: Any) -> None:
        raise failed(status, kernel, config, stream)

    return bool(launch_lane.install(launch, refused))


class Call(NamedTuple):
    """The foreign call of a launch function, as text."""

    slot: str  # names of what a slot has, the `room` for the values first; "": the call needs none
    status: str
    refused: str  # what is done about a status that is not 0


PACKED = Call(
    "room, table",
    "launch_ex(reference, function, table, None)",
    "raise failed(err, kernel, config, stream)",
)
BARE = Call("", "launch_ex(reference, function, None, None)", PACKED.refused)


class Writer:
    """Writes the launch function of `kernel` for the types of `args`.

    Nothing here refers to the kernel, which has what is written here.
    """

    def __init__(self, kernel: Kernel, args: tuple[Any, ...]) -> None:
        self.parameters = kernel._signature(len(args))
        self.name = kernel.name
        self.function = kernel._function.value
        self.types = tuple(map(type, args))
        self.encodings = [*map(self.told, count(), repeat(encoding), args, self.parameters)]
        self.offsets = layout(self.encodings, kernel._parameters)
        self.free: list[tuple[Any, int]] = []  # tables that nodes of graphs are done with

    @cached_property
    def names(self) -> list[str]:
        """The names of the arguments."""
        return [f"a{i}" for i in range(len(self.types))]

    @cached_property
    def noted(self) -> list[str]:
        """Those of what a launch has to note, which no lane takes."""
        kinds = zip(self.names, self.types, strict=True)
        return [name for name, cls in kinds if issubclass(cls, KernelArgument) and cls._is_noted]

    @cached_property
    def is_plain(self) -> bool:
        """Whether the values are packed as they are: they stay the tuple that they came in."""
        return bool(self.types) and all(each.is_plain for each in self.encodings)

    def scope(self) -> dict[str, Any]:
        """What a function needs."""
        return {
            "dispatch": dispatch,
            "failed": failed,
            "fill": self.fill,
            "function": ctypes.c_void_p.from_param(self.function),  # what C takes without converting
            "keep_alive_for_graph": keep_alive_for_graph,
            "launch_ex": driver.libcuda.function("cuLaunchKernelEx"),
            "make": self.layout.make,
            "pack": self.layout.struct.pack,
            "pack_into": self.layout.struct.pack_into,
            "types": self.types,
            **HELPERS,
            **{f"{name}_type": cls for name, cls in zip(self.names, self.types, strict=True)},
        }

    @cached_property
    def layout(self) -> Layout:
        """Where the values lie for Python."""
        return Layout([each.codes for each in self.encodings], self.offsets)

    @cached_property
    def values(self) -> Callable[..., tuple[Any, ...]]:
        """The function from the arguments to what `struct` packs."""
        expressions = [
            e.format(n) for n, each in zip(self.names, self.encodings, strict=True) for e in each.expressions
        ]
        source = (
            f"def values({', '.join(self.names)}):\n    return ({''.join(e + ', ' for e in expressions)})\n"
        )
        function: Callable[..., tuple[Any, ...]] = generated(
            "values", source, f"cudapy arguments of {self.name}", dict(HELPERS)
        )
        return function

    def table(self) -> tuple[Any, int]:
        """A block for a node of a graph: the room, and where the table is as long as that is kept."""
        room, _ = self.layout.make()
        return room, ctypes.addressof(room.obj)

    def fill(self, room: Any, args: tuple[Any, ...]) -> None:
        """Pack the values one by one: what the single call would not take, or the error that says why."""
        for i, (arg, parameter, each) in enumerate(zip(args, self.parameters, self.encodings, strict=True)):
            data = self.told(i, encode, arg, parameter._replace(size=each.size))
            start = self.layout.offsets[i]
            room[start : start + len(data)] = data

    def told(
        self, index: int, function: Callable[[Any, Parameter], Any], value: Any, parameter: Parameter
    ) -> Any:
        """`function(value, parameter)`, its error saying which argument of which kernel it is about."""
        try:
            return function(value, parameter)
        except (TypeError, OverflowError) as error:
            raise type(error)(f"{readable(self.name)}: argument {index}: {error}") from None

    def general(self) -> Any:
        """The function behind `launch`."""
        scope = self.scope()
        streams: dict[int, tuple[Any, bytes]] = {}  # what C takes of them, by the address of the object

        def resolve(stream: Any, config: Any) -> bytes:
            """What C takes of both, remembered for the next launch in this stream."""
            check(config)
            handle, tail = streams.get(id(stream), NO_STREAM)
            own = getattr(stream, "_handle", None)  # what the next launch looks at: a GraphBuilder has one
            if own is not handle:
                handle = (stream.stream if is_builder(stream) else Stream._accept(stream))._handle
                tail = STREAM.pack(handle.value)
                if type(own) is type(handle):
                    if len(streams) >= STREAMS:
                        streams.clear()
                    streams[id(stream)] = own, tail
                    handle = own
            shape = config._shape
            reference: bytes = shape + tail + config._more
            scope["last"] = handle, tail, shape, reference
            return reference

        def recorded(stream: Any, config: Any) -> bytes:
            """The same for a GraphBuilder, if it is that of the last launch."""
            handle, tail, known, reference = scope["last"]
            try:
                if stream._stream._handle is handle:
                    packed: bytes = (
                        reference if config._shape is known else config._shape + tail + config._more
                    )
                    return packed
            except AttributeError:
                pass
            return resolve(stream, config)

        scope.update(last=(None, None, None, None), recorded=recorded, resolve=resolve)
        dispatch = "    return dispatch(kernel, stream, config, args)"
        unpack = ["try:", f"    {', '.join(self.names)}, = args", "except ValueError:", dispatch]
        return self.function_of(
            scope,
            "kernel, stream, config, args",
            [
                *([] if self.is_plain else unpack if self.names else ["if args:", dispatch]),
                "try:",
                "    handle, tail, known, reference = last",
                "    if stream._handle is not handle:",
                "        reference = resolve(stream, config)",
                "    elif config._shape is not known:",
                "        reference = config._shape + tail + config._more",
                "except AttributeError:",
                "    keep_alive_for_graph(stream, kernel, *args)",
                "    reference = recorded(stream, config)",
            ],
            "args",
            PACKED if self.names else BARE,
        )

    def function_of(
        self, scope: dict[str, Any], parameters: str, lines: list[str], args: str, call: Call
    ) -> Any:
        """A function that runs `lines`, packs the arguments and makes the call. args: all, as a tuple."""
        packing, otherwise = self.packing(args) if self.names else ([], [])
        noted = [f"{name}._launched_in(stream)" for name in self.noted]
        return launch_function(
            self.name,
            scope,
            parameters,
            lines,
            call.slot,
            packing,
            otherwise,
            [*noted, f"err = {call.status}"],
            ["if err:", f"    {call.refused}"],
        )

    def packing(self, args: str) -> tuple[list[str], list[str]]:
        """The lines that pack the arguments into `room`, and those for arguments of other types or values."""
        named = list(zip(self.names, self.encodings, strict=True))
        values = ", ".join(e.format(name) for name, each in named for e in each.expressions)
        given = [f"args[{i}]" for i in range(len(named))] if self.is_plain else self.names
        wrong = " or ".join(f"type({arg}) is not a{i}_type" for i, arg in enumerate(given))
        packing = [
            f"if {wrong}: raise TypeError",
            "room[:] = pack(*args)" if self.is_plain else f"pack_into(room, 0, {values})",
        ]
        return packing, [
            f"if tuple(map(type, {args})) != types:",
            "    push(slot)",
            f"    return dispatch(kernel, stream, config, {args})",
            "try:",
            f"    fill(room, {args})",
            "except BaseException:",
            "    push(slot)",
            "    raise",
        ]
