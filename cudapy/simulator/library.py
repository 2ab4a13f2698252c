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
from .._ffi.lazy_types import find
from .._ffi.library import symbol_of
from .._ffi.prototypes import FUNCTION_POINTER, CParameter, Prototype, parse
from .._ffi.scalars import AGGREGATES, SCALARS, SimpleData
from . import callbacks
from .addresses import require
from .callbacks import STATUSES, Binding, ByValue, CFunction, Layouts, LibraryHooks
from .entry_points import IMPLICIT_STREAM, Release
from .log import log
from .refused import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
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


def provides(library: str, *symbols: str, prototype: str | None = None) -> Callable[[F], F]:
    """Make the function below the C function of its name, or those named `symbols`, of one of NAMES.

    The symbols are versions of one function with the same parameters, but for const structs that it does
    not look at. prototype: that of a version that is not in `cudapy.driver`.
    """

    def register(function: F) -> F:
        for symbol in symbols or (function.__name__,):
            provided[library][symbol] = function
        if prototype is not None:
            declared[library][symbol_of(prototype)] = prototype
        return function

    return register


class Table:
    """A simulated library: the functions `provided` under `name`, as `module` declares them.

    before: called with the symbol before each function; raises Refused.
    failed: makes the status of a Refused.
    said: called with the symbol and the Refused of each call that fails.
    twin: what a symbol is bound to that is a function of another library under another name, or None.
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
        twin: Callable[[Table, str], Binding | None] = lambda table, symbol: None,
        said: Callable[[str, Refused], None] = log.refused,
        exported: Iterable[str] | None = None,
        major: int | None = None,
        layouts: Mapping[str, Any] | None = None,
    ) -> None:
        self._name = name
        self._layouts = Layouts(layouts or {}, self._newest)
        self._of_major = f"{name} {major}" if f"{name} {major}" in NAMES else None
        self._module = module
        self._hooks = LibraryHooks(before, failed, said)
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
                binding = self.resolve(symbol)
                self._callbacks[symbol] = binding and callbacks.callback(
                    binding, self._result_type(binding.prototype.returns), self._hooks, self._layouts
                )
            return self._callbacks[symbol]

    def resolve(self, symbol: str) -> Binding | None:
        """What the C function `symbol` is; None if this library has no such function.

        One that the simulator lacks has a function that raises Refused.
        """
        base = symbol.removesuffix("_ptsz").removesuffix("_ptds")
        if not self._has(symbol, base):
            return None
        binding = self.bind(base) or self._twin(self, base) or self._bound(base, _missing(base))
        return binding._replace(symbol=base, per_thread_stream=base != symbol)

    def bind(self, symbol: str) -> Binding | None:
        """A symbol and the Python function that is provided for it, if one is, whatever the exports are."""
        function = self._provided(symbol)
        return None if function is None else self._bound(symbol, function)

    def _has(self, symbol: str, base: str) -> bool:
        """Whether the library has a C function. base: `symbol` without its suffix."""
        if self._exported is not None:
            return symbol in self._exported
        prototype = self.prototype(base)
        return prototype is not None and (base == symbol or _has_default_stream(prototype, symbol))

    def _bound(self, symbol: str, function: Callable[..., Any]) -> Binding:
        prototype = self.prototype(symbol) or Prototype("CUresult", symbol, ())
        types = [self.storage(parameter) for parameter in prototype.parameters]
        return Binding(symbol, function, prototype, types, self._declarations.get(symbol))

    def _result_type(self, returns: str) -> Any:
        """The ctypes class of what a function returns; None for void."""
        if returns == "void":
            return None
        if returns.endswith("*"):
            return ctypes.c_void_p
        if returns in STATUSES:
            return ctypes.c_int
        cls: Any = find(vars(self._module), returns)
        return ctypes.c_int if issubclass(cls, Enum) else cls

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
        cls = self._layouts.of_major.get(parameter.type) or self._newest(parameter)
        if not issubclass(cls, AGGREGATES):
            cls = ctypes.c_int if issubclass(cls, Enum) else _plain(cls)
        if stars == 2:
            return ctypes.POINTER(ctypes.c_void_p)
        return ctypes.POINTER(cls) if stars else cls

    def _newest(self, parameter: CParameter) -> Any:
        return SCALARS.get(parameter.type) or find(vars(self._module), parameter.type)


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


def number(since: str | None) -> int:
    """A CUDA version as cuDriverGetVersion has it: "12.4" is 12040; 0 for None."""
    major, _, minor = (since or "0.0").partition(".")
    return 1000 * int(major) + 10 * int(minor)


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
