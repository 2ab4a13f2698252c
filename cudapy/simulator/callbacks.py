"""What C calls: the ctypes function around the Python function of a `Binding`.

It checks the pointers that the program passes, runs the function, stores what it returns, and makes a status
of what it raises.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, NamedTuple

from .._ffi.handles import Thunk
from .._ffi.prototypes import CParameter, Prototype
from . import interrupts
from .addresses import lists, pointed, require_each, require_lists
from .gc_pause import gc_pause
from .refused import Refused, check
from .stderr import say_mistake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .._ffi.library import Declaration

STATUSES = ("CUresult", "cudaError_t", "nvmlReturn_t", "ncclResult_t")
"""The types that functions return, but for a few."""

FIRST_BYTES = "first_bytes"
"""The one field of a struct of which only the size matters: it is the beginning of a newer one."""


class Binding(NamedTuple):
    """A C function, and the Python function that it runs."""

    symbol: str
    """Without the suffix of the per-thread default stream."""
    function: Callable[..., Any]
    prototype: Prototype
    """The prototype of `function`: in the runtime, it may be the driver's."""
    types: list[Any]
    """The ctypes classes in which the parameters arrive."""
    declaration: Declaration | None
    per_thread_stream: bool = False
    """Whether the default stream is the thread's own."""

    @property
    def has_status(self) -> bool:
        """Whether it returns a status, and everything else through pointers."""
        return self.prototype.returns in STATUSES

    def places(self) -> tuple[list[int], list[int]]:
        """The indices of the C parameters that `function` takes, in its order, and of those for results.
        Const structs that it leaves out are not looked at.

        Raises TypeError for a function that does not fit.
        """
        if getattr(self.function, "is_missing", False):
            return [], []
        names = self.function.__code__.co_varnames[: self.function.__code__.co_argcount]
        positions = {parameter.name: i for i, parameter in enumerate(self.prototype.parameters)}
        unknown = set(names) - set(positions)
        if unknown:
            raise TypeError(
                f"the simulator's {self.symbol} takes {sorted(unknown)}, which the prototype does not have"
            )
        outputs = [
            i
            for i, one in enumerate(self.prototype.parameters)
            if one.name not in names and not (one.const and one.stars == 1)
        ]
        if any(self.types[i] is ctypes.c_void_p or not self.is_pointer(i) for i in outputs):
            raise TypeError(f"the simulator's {self.symbol} leaves out a parameter that cannot be an output")
        return [positions[name] for name in names], outputs

    def is_pointer(self, index: int) -> bool:
        """Whether a parameter arrives as a ctypes pointer."""
        return hasattr(self.types[index], "contents")

    def is_read(self, index: int) -> bool:
        """Whether the memory behind a parameter means something before the call."""
        return self.declaration is None or self.prototype.parameters[index].name in self.declaration.inputs


class LibraryHooks(NamedTuple):
    """What the functions of one simulated library have in common.

    before: called with the symbol before each function; raises Refused.
    failed: makes the status of a Refused.
    said: called with the symbol and the Refused of each call that fails.
    """

    before: Callable[[str], None]
    failed: Callable[[Refused], int]
    said: Callable[[str, Refused], None]

    def status(self, symbol: str, error: BaseException) -> int:
        """The status that C gets where the function of `symbol` raised an exception."""
        refused = _refusal(symbol, error)
        self.said(symbol, refused)
        return self.failed(refused)


class Layouts(NamedTuple):
    """The structs that a CUDA major lays out otherwise than the provided functions have them."""

    of_major: Mapping[str, Any]
    """By name."""
    newest: Callable[[CParameter], Any]
    """The class that the functions have for the struct of a parameter."""

    def converting(
        self, function: Callable[..., Any], inputs: list[CParameter], outputs: list[CParameter]
    ) -> Callable[..., Any]:
        """`function`, for structs in the layouts of the major."""
        if not any(parameter.type in self.of_major for parameter in (*inputs, *outputs)):
            return function
        taken = [self.newest(p) if p.type in self.of_major else None for p in inputs]
        given = [self.of_major.get(p.type) for p in outputs]

        def call(*arguments: Any) -> Any:
            result = function(
                *(
                    ctypes.pointer(_converted(argument[0], cls)) if cls and argument else argument
                    for argument, cls in zip(arguments, taken, strict=True)
                )
            )
            if len(given) == 1:
                return _converted(result, given[0]) if given[0] else result
            results = zip(result or (), given, strict=True)
            return tuple(_converted(value, cls) if cls else value for value, cls in results) or None

        return call


class CFunction(Thunk):  # type: ignore[misc]
    """A C function as a ctypes.CDLL has it: no argument types, an int comes back.

    But it keeps the GIL, which what it runs needs.
    """

    _flags_ = 1 | 4  # FUNCFLAG_CDECL, FUNCFLAG_PYTHONAPI
    _restype_ = ctypes.c_int


class ByValue:
    """A function that returns a struct, which no ctypes callback can: called from Python alone."""

    restype: Any = None

    def __init__(self, function: Callable[..., Any], struct: Any) -> None:
        self._function = function
        self.struct = struct

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*[getattr(argument, "value", argument) for argument in arguments])


def keep_thread() -> None:
    """Called at the first call on a thread. The shared libraries have it keep Python's state of the
    thread.
    """


class _PerThread(threading.local):
    """Whether the C function that runs on this thread is one whose default stream is the thread's own."""

    default = False

    def __init__(self) -> None:
        keep_thread()


per_thread = _PerThread()


def callback(binding: Binding, returns: Any, hooks: LibraryHooks, layouts: Layouts) -> Any:
    """The ctypes function object of a binding. returns: the ctypes class of its result; None for void."""
    if returns is not None and issubclass(returns, ctypes.Structure):
        return ByValue(binding.function, returns)
    run = _function(binding, hooks, layouts)
    per_thread_stream, failed = binding.per_thread_stream, hooks.failed

    @interrupts.undisturbed
    def call(*arguments: Any) -> Any:
        try:
            with gc_pause:
                previous, per_thread.default = per_thread.default, per_thread_stream
                try:
                    return run(arguments)
                finally:
                    per_thread.default = previous
        except KeyboardInterrupt as error:  # no exception leaves a callback
            if not isinstance(error, interrupts.Left):
                interrupts.errors.append(error)
            return failed(Refused("CUDA_ERROR_UNKNOWN", "interrupted from the keyboard"))

    return ctypes.CFUNCTYPE(returns, *binding.types)(call)


def _function(binding: Binding, hooks: LibraryHooks, layouts: Layouts) -> Callable[[tuple[Any, ...]], Any]:
    """What runs a binding's Python function with the arguments of C, and returns what C gets."""
    symbol, types, parameters = binding.symbol, binding.types, binding.prototype.parameters
    inputs, outputs = binding.places()
    function = layouts.converting(
        binding.function, [parameters[i] for i in inputs], [parameters[i] for i in outputs]
    )
    looked_at = [  # what the program points to; the places for results are cudapy's
        (i, (ctypes.sizeof(types[i]._type_), parameters[i].name)) for i in inputs if binding.is_pointer(i)
    ]
    with_lists = [i for i, _ in looked_at if lists(types[i]._type_) and binding.is_read(i)]
    before, has_status = hooks.before, binding.has_status

    def run(arguments: tuple[Any, ...]) -> Any:
        try:
            before(symbol)
            check(symbol)
            if looked_at:
                require_each([(pointed(arguments[i]), *what) for i, what in looked_at if arguments[i]])
            for i in with_lists:
                if arguments[i]:
                    require_lists(arguments[i][0])
            if len(outputs) == 1 and not arguments[outputs[0]]:
                raise Refused("CUDA_ERROR_INVALID_VALUE", "the pointer to the result is NULL")
            result = function(*[arguments[i] for i in inputs])
            if not has_status:
                return result
            _store(result, outputs, arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return hooks.status(symbol, error)
        return 0

    return run


def _refusal(symbol: str, error: BaseException) -> Refused:
    """The failure that an exception in the function of `symbol` is. A mistake in the simulator is shown."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, MemoryError):
        return Refused("CUDA_ERROR_OUT_OF_MEMORY", str(error) or "the host has not that much memory")
    if isinstance(error, ValueError) and str(error) == "NULL pointer access":  # by ctypes
        return Refused("CUDA_ERROR_INVALID_VALUE", "a pointer that must not be NULL is")
    return Refused("CUDA_ERROR_UNKNOWN", say_mistake(symbol, error))


def _store(result: Any, outputs: list[int], arguments: tuple[Any, ...]) -> None:
    """Write what a function returns to where the output parameters point; several may be NULL."""
    if len(outputs) == 1:
        arguments[outputs[0]][0] = result
        return
    if outputs:
        for i, value in zip(outputs, result, strict=True):
            if arguments[i]:
                arguments[i][0] = value


def _converted(value: Any, cls: type[ctypes.Structure]) -> Any:
    """A struct in the layout that another major gives it: `cls`, with the fields that both have.

    A layout of unnamed bytes is the beginning of the other one.
    """
    if isinstance(value, cls):
        return value
    other = cls()
    if FIRST_BYTES in (value._fields_[0][0], cls._fields_[0][0]):
        size = min(ctypes.sizeof(value), ctypes.sizeof(cls))
        ctypes.memmove(ctypes.addressof(other), ctypes.addressof(value), size)
        return other
    both = {name for name, *_ in cls._fields_} & {name for name, *_ in value._fields_}
    for name in both - {"reserved"}:
        setattr(other, name, getattr(value, name))
    return other
