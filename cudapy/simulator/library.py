"""C functions that are Python inside: a libcuda, or a libcudart, that ctypes calls as it calls the real one.

    @provides("driver")
    def cuMemAlloc_v2(bytesize): ...

is the C function of that name. Its prototype is the one that `cudapy.driver` declares, and the rule is the
one that holds there: a C parameter that the Python function names is an input, one that it leaves out is an
output and takes the value returned, several in the order of the prototype. A pointer that it names comes as a
ctypes pointer (`p[0]`; false if NULL), a `void *` as an int or None, a `const char *` as bytes or None.

A function fails by raising `Refused`, whose reason goes to the log that cuLogsDumpToMemory reads. A function
of the header that nobody provides is there too: it returns CUDA_ERROR_NOT_SUPPORTED and says so in the log.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any

from .._ffi.enums import Enum
from .._ffi.handles import Thunk
from .._ffi.lazy_types import find
from .._ffi.prototypes import FUNCTION_POINTER, CParameter, Prototype, parse, symbol_of
from .._ffi.scalars import AGGREGATES, SCALARS, SimpleData
from . import failures, interrupts, mistakes
from .addresses import lists, pointed, require, require_lists
from .entry_points import IMPLICIT_STREAM, Release
from .gc_pause import gc_pause
from .log import log
from .refused import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from types import ModuleType
    from typing import TypeVar

    from .._ffi.library import Declaration

    F = TypeVar("F", bound=Callable[..., Any])

NAMES = ("driver", "runtime", "runtime 12", "nvml", "nccl")

provided: dict[str, dict[str, Callable[..., Any]]] = {name: {} for name in NAMES}
"""What each simulated library has: C symbol to Python function. "runtime 12": what the libcudart of CUDA 12
has otherwise, by the symbols of that.
"""

declared: dict[str, dict[str, str]] = {name: {} for name in NAMES}
"""The prototypes of functions that `cudapy.driver` and `cudapy.runtime` do not have: older versions of
theirs.
"""

BYTES = "first_bytes"
"""The one field of a struct of which only the size matters: it is the beginning of a newer one."""

STATUSES = ("CUresult", "cudaError_t", "nvmlReturn_t", "ncclResult_t")
"""What their functions return, but for a few."""


def provides(library: str, *symbols: str, prototype: str | None = None) -> Callable[[F], F]:
    """Make the function below the C function of its name, or those named `symbols`, of one of NAMES.

    The symbols are versions of one function that have the same parameters. prototype: that of a version that
    is not in `cudapy.driver`.
    """

    def register(function: F) -> F:
        for symbol in symbols or (function.__name__,):
            provided[library][symbol] = function
        if prototype is not None:
            declared[library][symbol_of(prototype)] = prototype
        return function

    return register


def keep_thread() -> None:
    """Called at the first call on a thread. The shared libraries have it keep Python's state of the
    thread.
    """


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


class _PerThread(threading.local):
    """Whether the C function that runs on this thread is one whose default stream is the thread's own."""

    default = False

    def __init__(self) -> None:
        keep_thread()


per_thread = _PerThread()


class Table:
    """A simulated library: the functions `provided` under `name`, as `module` declares them.

    before: called with the symbol before each function; raises Refused.
    failed: makes the status of a Refused.
    said: called with the symbol and the Refused of each call that fails.
    twin: returns another table and the prototype in it of the same function under another name, or None.
    exported: its symbols, if they are not those that `module` declares.
    major: the CUDA major whose names and parameters the functions have; the newest by default.
    layouts: by name, the structs that this major lays out otherwise than `module`. The provided functions
        have those of `module`.
    """

    def __init__(
        self,
        name: str,
        module: ModuleType,
        before: Callable[[str], None],
        failed: Callable[[Refused], int],
        twin: Callable[[Table, str], tuple[Table, Prototype] | None] = lambda table, symbol: None,
        said: Callable[[str, Refused], None] = log.refused,
        exported: Iterable[str] | None = None,
        major: int | None = None,
        layouts: Mapping[str, Any] | None = None,
    ) -> None:
        self._name = name
        self._layouts = layouts or {}
        self._of_major = f"{name} {major}" if f"{name} {major}" in NAMES else None
        self._said = said
        self._module = module
        self._before = before
        self._failed = failed
        self._twin = twin
        self._callbacks: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._prototypes: dict[str, Prototype] = {}  # those that were asked for
        self._declared: dict[str, str] = dict(declared[name])
        self._declarations: dict[str, Declaration] = {}  # in `module`, by symbol
        self._provided_as: dict[str, str] = {}
        for value in vars(module).values():
            declaration = getattr(value, "__declaration__", None)
            if declaration is None or (exported is None and number(declaration.since) > Release.number):
                continue
            newest = symbol_of(declaration.prototype)
            symbol = declaration.symbols.get(major, newest) if major else newest
            if symbol is not None:
                self._declared[symbol] = declaration.prototype
                self._declarations[symbol] = declaration
                # One that newer majors have no more is of no Python function under the name it shares.
                self._provided_as[symbol] = "" if major and None in declaration.symbols.values() else newest
        if self._of_major:
            self._declared.update(declared[self._of_major])
        self._exported = exported and frozenset(exported)
        self.entries: dict[str, int] = {}
        """Where C finds the functions of which there is a shared library."""

    def __getitem__(self, symbol: str) -> Any:
        """The C function `symbol`. Raises AttributeError, as ctypes.CDLL does."""
        callback = self.callback(symbol)
        if callback is None:
            raise AttributeError(f"the simulator has no function {symbol!r}")
        if isinstance(callback, ByValue):
            return callback
        return CFunction(ctypes.cast(callback, ctypes.c_void_p).value)

    def __getattr__(self, symbol: str) -> Any:
        if symbol.startswith("_"):
            raise AttributeError(symbol)
        function = self[symbol]
        self.__dict__[symbol] = function
        return function

    @property
    def symbols(self) -> list[str]:
        """The C functions that it has."""
        return sorted(self._exported or self._declared)

    def address(self, symbol: str) -> int | None:
        """Where C finds the function `symbol`; None if there is none."""
        if symbol in self.entries:
            return self.entries[symbol]
        callback = self.callback(symbol)
        return None if callback is None else ctypes.cast(callback, ctypes.c_void_p).value

    def prototype(self, symbol: str) -> Prototype | None:
        """The prototype of a C function; None if it is not known."""
        prototype = self._prototypes.get(symbol)
        if prototype is None:
            text = self._declared.get(symbol) or self._declared_alike(symbol)
            if text is not None:
                prototype = self._prototypes[symbol] = parse(text)
        return prototype

    def _declared_alike(self, symbol: str) -> str | None:
        """The prototype of another version of a function that one Python function provides with it."""
        function = provided[self._name].get(symbol)
        if function is None:
            return None
        alike = (other for other, its in provided[self._name].items() if its is function)
        return next((self._declared[other] for other in alike if other in self._declared), None)

    def callback(self, symbol: str) -> Any:
        """The ctypes function object behind `symbol`, kept for good; None if the header has none."""
        with self._lock:
            if symbol not in self._callbacks:
                self._callbacks[symbol] = self._make(symbol)
            return self._callbacks[symbol]

    def _make(self, symbol: str) -> Any:
        base = symbol.removesuffix("_ptsz").removesuffix("_ptds")
        if self._exported is not None and symbol not in self._exported:
            return None
        prototype = self.prototype(base)
        if prototype is None:
            if self._exported is None:
                return None
            prototype = Prototype("CUresult", base, ())
        if self._exported is None and base != symbol and not _has_default_stream(prototype, symbol):
            return None
        function = self._provided(base)
        types = [self.storage(p) for p in prototype.parameters]
        twin = self._twin(self, base) if function is None else None
        declaration = self._declarations.get(base)
        if twin is not None:
            other, prototype = twin
            declaration = other._declarations.get(prototype.symbol)
            function = provided[other._name][prototype.symbol]
            types = [other.storage(p) for p in prototype.parameters]
        if function is None:
            function = _missing(base)
        read = declaration.inputs if declaration is not None else [p.name for p in prototype.parameters]
        returns = ctypes.c_void_p if prototype.returns.endswith("*") else ctypes.c_int
        if prototype.returns == "void":
            call = self._wrapped(base, prototype, function, types, base != symbol, read)
            return ctypes.CFUNCTYPE(None, *types)(call)
        if prototype.returns not in STATUSES and returns is ctypes.c_int:
            returns = find(vars(self._module), prototype.returns)
            if issubclass(returns, Enum):
                returns = ctypes.c_int
        if issubclass(returns, ctypes.Structure):
            return ByValue(function, returns)
        call = self._wrapped(base, prototype, function, types, base != symbol, read)
        return ctypes.CFUNCTYPE(returns, *types)(call)

    def _provided(self, symbol: str) -> Any:
        """The Python function of a symbol; None if there is none."""
        if self._of_major and symbol in provided[self._of_major]:
            return provided[self._of_major][symbol]
        return provided[self._name].get(self._provided_as.get(symbol, symbol))

    def storage(self, parameter: CParameter) -> Any:
        """The ctypes class that a parameter arrives in."""
        stars = parameter.stars
        if parameter.type == FUNCTION_POINTER:
            return ctypes.c_void_p
        if parameter.type == "void":
            return ctypes.c_void_p if stars < 2 else ctypes.POINTER(ctypes.c_void_p)
        if parameter.type == "char" and stars:
            if stars == 2:
                return ctypes.POINTER(ctypes.c_void_p)
            return ctypes.c_char_p if parameter.const else ctypes.c_void_p
        cls = self._layouts.get(parameter.type) or self._newest(parameter)
        if not issubclass(cls, AGGREGATES):
            cls = ctypes.c_int if issubclass(cls, Enum) else _plain(cls)
        if stars == 2:
            return ctypes.POINTER(ctypes.c_void_p)
        return ctypes.POINTER(cls) if stars else cls

    def _newest(self, parameter: CParameter) -> Any:
        return SCALARS.get(parameter.type) or find(vars(self._module), parameter.type)

    def _converting(
        self, function: Callable[..., Any], inputs: list[CParameter], outputs: list[CParameter]
    ) -> Callable[..., Any]:
        """`function`, for structs in the layouts of this table's major."""
        if not any(parameter.type in self._layouts for parameter in (*inputs, *outputs)):
            return function
        taken = [self._newest(p) if p.type in self._layouts else None for p in inputs]
        given = [self._layouts.get(p.type) for p in outputs]

        def call(*arguments: Any) -> Any:
            result = function(
                *(
                    ctypes.pointer(converted(argument[0], cls)) if cls and argument else argument
                    for argument, cls in zip(arguments, taken, strict=True)
                )
            )
            if len(given) == 1:
                return converted(result, given[0]) if given[0] else result
            results = zip(result or (), given, strict=True)
            return tuple(converted(value, cls) if cls else value for value, cls in results) or None

        return call

    def _wrapped(
        self,
        symbol: str,
        prototype: Prototype,
        function: Any,
        types: list[Any],
        own_stream: bool,
        read: Collection[str],
    ) -> Callable[..., int]:
        """What C calls: runs `function`, stores what it returns, makes a status of what it raises.

        `read`: the parameters whose memory says something; that of others has any bytes before the call.
        """
        inputs, outputs = _places(symbol, prototype, function, types)
        function = self._converting(
            function, *([prototype.parameters[i] for i in places] for places in (inputs, outputs))
        )
        looked_at = [  # what the program points to; the places for results are cudapy's
            (i, ctypes.sizeof(types[i]._type_), prototype.parameters[i].name)
            for i in inputs
            if hasattr(types[i], "contents")
        ]
        with_lists = [
            i for i, _, _ in looked_at if lists(types[i]._type_) and prototype.parameters[i].name in read
        ]
        before, failed = self._before, self._failed
        has_status = prototype.returns in STATUSES

        @interrupts.undisturbed
        def call(*arguments: Any) -> Any:
            try:
                with gc_pause:
                    return answer(*arguments)
            except KeyboardInterrupt as error:  # no exception leaves a callback
                if not isinstance(error, interrupts.Left):
                    interrupts.errors.append(error)
                return failed(Refused("CUDA_ERROR_UNKNOWN", "interrupted from the keyboard"))

        def answer(*arguments: Any) -> Any:
            previous, per_thread.default = per_thread.default, own_stream
            try:
                before(symbol)
                failures.check(symbol)
                for i, size, name in looked_at:
                    if arguments[i]:
                        require(pointed(arguments[i]), size, name)
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
                return self._status(symbol, error)
            finally:
                per_thread.default = previous
            return 0

        return call

    def _status(self, symbol: str, error: BaseException) -> int:
        """What C gets where the function of `symbol` raised something."""
        if isinstance(error, Refused):
            self._said(symbol, error)
            return self._failed(error)
        if isinstance(error, MemoryError):
            return self._refuse(symbol, "OUT_OF_MEMORY", str(error) or "the host has not that much memory")
        if isinstance(error, ValueError) and str(error) == "NULL pointer access":  # by ctypes
            return self._refuse(symbol, "INVALID_VALUE", "a pointer that must not be NULL is")
        return self._broken(symbol, error)

    def _broken(self, symbol: str, error: BaseException) -> int:
        """A mistake in the simulator itself: shown, and CUDA_ERROR_UNKNOWN."""
        return self._refuse(symbol, "UNKNOWN", mistakes.show(symbol, error))

    def _refuse(self, symbol: str, status: str, reason: str) -> int:
        """The status of a failure that no function raised."""
        refused = Refused(f"CUDA_ERROR_{status}", reason)
        self._said(symbol, refused)
        return self._failed(refused)


class LateTable:
    """A table that `make` makes when a function of it is asked for."""

    def __init__(self, make: Callable[[], Table]) -> None:
        self._make = make

    @functools.cached_property
    def _table(self) -> Table:
        return self._make()

    def __getitem__(self, symbol: str) -> Any:
        return self._table[symbol]

    def __getattr__(self, symbol: str) -> Any:
        if symbol.startswith("__"):
            raise AttributeError(symbol)
        return getattr(self._table, symbol)


def converted(value: Any, cls: type[ctypes.Structure]) -> Any:
    """A struct in the layout that another major gives it: `cls`, with the fields that both have.

    A layout of unnamed bytes is the beginning of the other one.
    """
    if isinstance(value, cls):
        return value
    other = cls()
    if BYTES in (value._fields_[0][0], cls._fields_[0][0]):
        size = min(ctypes.sizeof(value), ctypes.sizeof(cls))
        ctypes.memmove(ctypes.addressof(other), ctypes.addressof(value), size)
        return other
    both = {name for name, *_ in cls._fields_} & {name for name, *_ in value._fields_}
    for name in both - {"reserved"}:
        setattr(other, name, getattr(value, name))
    return other


def number(since: str | None) -> int:
    """A CUDA version as cuDriverGetVersion has it: "12.4" is 12040; 0 for None."""
    major, _, minor = (since or "0.0").partition(".")
    return 1000 * int(major) + 10 * int(minor)


def _places(
    symbol: str, prototype: Prototype, function: Any, types: list[Any]
) -> tuple[list[int], list[int]]:
    """Which parameters of the C function are those of `function`, in its order, and which take its results.

    Raises TypeError for a function that does not fit.
    """
    if getattr(function, "is_missing", False):
        return [], []
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    positions = {parameter.name: i for i, parameter in enumerate(prototype.parameters)}
    unknown = set(names) - set(positions)
    if unknown:
        raise TypeError(
            f"the simulator's {symbol} takes {sorted(unknown)}, which the prototype does not have"
        )
    outputs = [i for i, parameter in enumerate(prototype.parameters) if parameter.name not in names]
    if any(types[i] is ctypes.c_void_p or not hasattr(types[i], "contents") for i in outputs):
        raise TypeError(f"the simulator's {symbol} leaves out a parameter that cannot be an output")
    return [positions[name] for name in names], outputs


def _store(result: Any, outputs: list[int], arguments: tuple[Any, ...]) -> None:
    """Write what a function returns to where the output parameters point; several may be NULL."""
    if len(outputs) == 1:
        arguments[outputs[0]][0] = result
        return
    if outputs:
        for i, value in zip(outputs, result, strict=True):
            if arguments[i]:
                arguments[i][0] = value


def _missing(symbol: str) -> Callable[..., Any]:
    """Stands for a function that the simulator does not have."""

    newer = sorted(other for other in provided["driver"] if other.startswith(f"{symbol}_v"))
    instead = f", which is older than {newer[-1]}" if newer else ""

    def function() -> None:
        raise Refused("CUDA_ERROR_NOT_SUPPORTED", f"the simulator has no {symbol}{instead}")

    function.is_missing = True  # type: ignore[attr-defined]
    return function


def _has_default_stream(prototype: Prototype, symbol: str) -> bool:
    """Whether a function comes in two forms, one for each meaning of the default stream."""
    takes_stream = prototype.symbol in IMPLICIT_STREAM or any(
        p.type in ("CUstream", "cudaStream_t") and not p.stars for p in prototype.parameters
    )
    copies = prototype.symbol.startswith(("cuMemcpy", "cuMemset", "cudaMemcpy", "cudaMemset"))
    return takes_stream if symbol.endswith("_ptsz") else copies and not takes_stream


def _plain(cls: Any) -> Any:
    """The ctypes scalar that a handle is kept in."""
    return next(base for base in cls.__mro__ if base.__base__ is SimpleData)


def fill_text(address: int | None, size: int, value: bytes) -> None:
    """Write `value` and its NUL to a buffer of `size` bytes, cut to fit."""
    if not address or size <= 0:
        raise Refused("CUDA_ERROR_INVALID_VALUE", "no room for the text")
    cut = value[: size - 1]
    ctypes.memmove(require(address, len(cut) + 1, "the buffer"), cut + b"\0", len(cut) + 1)
