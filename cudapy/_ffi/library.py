"""A C library: the decorator that declares its functions, and the symbols behind them."""

from __future__ import annotations

import ctypes

from .._process import environment
from .lazy_types import find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import CodeType
    from typing import Any, ClassVar, TypeVar

    from .functions import Writer

    F = TypeVar("F", bound=Callable[..., Any])
    R = TypeVar("R")

_Function: Any = type(lambda: None)
_NOTHING: dict[Any, Any] = {}  # nobody writes to it


class SymbolNotFound(RuntimeError):
    """The library that was loaded lacks a function. Has `.symbol`; the message says which version has it."""

    def __init__(self, symbol: str, message: str) -> None:
        super().__init__(message)
        self.symbol = symbol

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.symbol, str(self))


class Library:
    """A shared library whose functions a module declares.

    load: returns the ctypes.CDLL, or raises; called at the first call of any function.
    status: the name of the enum that functions return.
    describe: returns what messages call the loaded library, e.g. "libcuda.so.1 (CUDA 12.4)".
    error: makes the exception of the raising face from (function name, status, arguments).
    suffixes: tried before the bare symbol, e.g. ("_ptsz",) for the per-thread default stream.
    major: returns the CUDA major of the loaded library, where one symbol is not the same function in each.
    short: the status of a function whose array has too little room, which says how much it needs.
    pending: the status of a function whose work goes on: no failure, and the results are there.
    counted_as: whose releases `since` has.
    negative: makes the status of a negative number from a function that returns how many bytes there were.
    address: the class of addresses of the device, if there is one.
    recipes: returns what the fast lane has to know of the functions, as in `_types.lanes`.
    """

    _observed: ClassVar[dict[str, set[Any]]] = {}  # by symbol, the names it was found by; of all libraries
    _early: ClassVar[
        dict[int, tuple[str, Any]]
    ] = {}  # symbols and tables of lanes that nobody called, of all

    def __init__(
        self,
        load: Callable[[], ctypes.CDLL],
        status: str,
        describe: Callable[[], str],
        error: Callable[[str, Any, dict[str, Any]], Exception],
        suffixes: Callable[[], Iterable[str]] = tuple,
        major: Callable[[], int | None] = lambda: None,
        short: int | None = None,
        pending: int | None = None,
        counted_as: str = "CUDA",
        negative: Callable[[int], Any] | None = None,
        address: str = "",
        recipes: Callable[[], tuple[str, str, int, str]] = lambda: ("", "", 0, ""),
    ) -> None:
        self._load = load
        self.status = status
        self.describe = describe
        self.error = error
        self.suffixes = suffixes
        self.major = major
        self.short = short
        self.pending = pending
        self.counted_as = counted_as
        self.negative = negative
        self.address_class = address  # its name
        self.recipes = recipes
        self.rows: Any = None  # which `lanes` makes of the recipes
        self.is_prepared = False  # whether functions have lanes before their first call
        self._found: dict[str, Any] = {}  # by symbol
        self._found_in = load
        self._bound: dict[str, tuple[dict[str, Any], tuple[Any, ...]]] = {}  # by name in the namespace
        self.declared: list[Declaration] = []
        self.lanes: dict[Declaration, dict[Any, Any]] = {}  # functions and their fast lanes' tables

    @property
    def load(self) -> Callable[[], ctypes.CDLL]:
        return self._load

    @load.setter
    def load(self, load: Callable[[], ctypes.CDLL]) -> None:
        self._load = load
        self.close_early()

    def __call__(self, prototype: str, **options: Any) -> Declaration:
        """Declare the function below by its C prototype. `options` are those of Declaration."""
        return Declaration(self, prototype, **options)

    def address(self, find_symbol: Callable[[int, str], int], declaration: Declaration) -> Any:
        """The address of a C function, if the library is one of the system; or what `symbol` returns.

        find_symbol: finds a name in an open library of the system, or raises OSError.
        """
        library = self.load()
        if type(library) is ctypes.CDLL and not declaration.symbols and not self.suffixes():
            name = symbol_of(declaration.prototype)
            try:
                address = find_symbol(library._handle, name)
            except OSError:  # there may be an older one
                return self.symbol(*declaration.found_by)
            names = self._observed.get(name)
            if names is None:
                self._observed[name] = {name}
            else:
                names.add(name)
            return address
        return self.symbol(*declaration.found_by)

    def symbol(
        self,
        name: str,
        since: str | None = None,
        before: str | None = None,
        symbols: Mapping[int, str | None] | None = None,
    ) -> Any:
        """The C function `name`, else `before`. Raises SymbolNotFound, or what `load` raises."""
        library = self.load()
        here = symbols.get(self.major() or 0, name) if symbols else name
        for symbol in filter(None, (here, before)):
            for suffix in (*self.suffixes(), ""):
                try:
                    function = library[symbol + suffix]
                except AttributeError:
                    continue
                self._observed.setdefault(symbol, set()).add(symbol + suffix)
                return function
        needs = f": it needs {self.counted_as} {since} or newer" if since else ""
        if here is None:
            needs = ", where that name has other parameters"
        raise SymbolNotFound(name, f'Function "{name}" not found in {self.describe()}{needs}')

    @classmethod
    def observe(cls, symbol: str, names: set[Any]) -> None:
        """Have `names` get the name by which a C function is found, with its suffix and in any library.

        If it was found before, `names` gets that now.
        """
        cls.close_early(symbol)
        names |= cls._observed.get(symbol, set())
        cls._observed[symbol] = names

    @classmethod
    def observed(cls) -> list[str]:
        """The C functions that were found so far, in any library: most are found as they are first called."""
        cls._note_calls()
        return [symbol for symbol, names in cls._observed.items() if names]

    def add_early(self, declaration: Declaration, function: Any, symbol: str, table: Any) -> None:
        """Note the lane that a function has before it is called: its symbol counts as found after that."""
        self.lanes.setdefault(declaration, {})[function] = table
        if function is declaration.stub:
            declaration.lane = table
        self._early[id(table)] = symbol, table

    @classmethod
    def close_early(cls, symbol: str = "") -> None:
        """Have functions, all or one, that got lanes before their first call find their symbols in that."""
        cls._note_calls()
        for name, table in [*cls._early.values()]:
            if not symbol or name == symbol:
                lane_module().close(table)

    @classmethod
    def _note_calls(cls) -> None:
        """Look which functions that got their lanes before their first call have had that."""
        for key, (symbol, table) in [*cls._early.items()]:
            if lane_module().is_called(table):
                cls._early.pop(key, None)
                cls._observed.setdefault(symbol, set()).add(symbol)

    def prepare(self) -> bool:
        """Give the functions that programs call most their lanes, once another one has its.

        Returns whether that was done now.
        """
        return self.rows is not None and not self.is_prepared and lane_module().prepare(self)

    def function(self, name: str) -> Any:
        """What `symbol(name)` returns, found once: for callers that set no types of it."""
        if self._found_in is not self.load:
            self._found, self._found_in = {}, self.load
        if name not in self._found:
            self._found[name] = self.symbol(name)
        return self._found[name]

    def bind(self, function: Any, name: str, scope: dict[str, Any], *symbol: Any) -> None:
        """Have generated code, whose namespace is `scope`, call `function`: what `symbol(*symbol)` found."""
        self._bound[name] = scope, symbol
        scope[name] = function

    def rebind(self) -> None:
        """Find every C function again that was found before, in the library that `load` returns now."""
        self._found = {}
        self.close_early()
        for name, (scope, symbol) in [*self._bound.items()]:
            function = self.symbol(*symbol)
            function.restype, function.argtypes = scope[name].restype, scope[name].argtypes
            scope[name] = function
        for declaration, tables in [*self.lanes.items()]:
            called = [table for table in tables.values() if lane_module().is_called(table)]
            function = called and self.symbol(*declaration.found_by)
            for table in called:
                lane_module().set_function(table, function)


def symbol_of(text: str) -> str:
    """The name of the function in a prototype that is not taken apart."""
    return text[: text.index("(")].rstrip().rpartition(" ")[2].lstrip("*")


class Declaration:
    """A prototype and the Python function that stands for it until, and after, the first call.

    It decorates that function.

    prototype: letter for letter as the header has it.
    sizes: C names of arrays to that of their count (of bytes, for `void *` and `char *`), or to a number.
    variants: `void *` parameters to (attribute parameter, name of the table of its types).
    in_place: handles that C takes by address and may change where they are, as a destructor does.
    later: pointers to one number that C follows after the call, too: given by their address.
    keeps: arguments that C uses as long as the handle it returns lives.
    frees: the handle that is no more after the call, and with it what was kept for it.
    since: the first version that has the symbol, of CUDA where 12.0 lacks it.
    before: the symbol that older libraries have in its place, with the same parameters.
    symbols: CUDA majors to the symbol there, where it is another one; to None, where there is none.
    """

    stub: Any
    lane: Any = None  # its table; False: it has none
    public: Any = None  # what is called in place of the stub, and its code
    sizes: Mapping[str, str | int] = _NOTHING
    variants: Mapping[str, tuple[str, str]] = _NOTHING
    in_place: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    frees: str = ""
    since: str | None = None
    before: str | None = None
    symbols: Mapping[int, str | None] = _NOTHING

    def __init__(self, library: Library, prototype: str, **options: Any) -> None:
        self.library = library
        self.prototype = prototype
        if options:
            self.__dict__.update(options)
        library.declared.append(self)

    def __call__(self, stub: F) -> F:
        """Make `stub` the declared function. An import does this hundreds of times: what can wait, waits."""
        function: Any = stub
        self.stub = function
        original = _Function(
            function.__code__, function.__globals__, function.__name__, function.__defaults__
        )
        original.__annotations__ = function.__annotations__
        function.__wrapped__ = original  # for `inspect`
        function.__declaration__ = self
        function.__kwdefaults__ = {"declaration": self}
        function.__code__ = _first_call.__code__
        return stub

    @property
    def found_by(self) -> tuple[Any, ...]:
        """The arguments of `Library.symbol`."""
        return symbol_of(self.prototype), self.since, self.before, self.symbols

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the parameters that Python has."""
        code: CodeType = self.stub.__wrapped__.__code__
        return code.co_varnames[: code.co_argcount]

    @property
    def optional(self) -> dict[str, Any]:
        """The parameters that have a default, and it."""
        defaults = self.stub.__defaults__ or ()
        return dict(zip(self.inputs[len(self.inputs) - len(defaults) :], defaults, strict=True))

    def writer(self) -> Writer:
        """What writes the Python text of the function."""
        from .functions import Writer  # not before it is needed: most functions never are

        return Writer(self)

    @property
    def whole(self) -> str:
        """The count whose default is None, for which the whole array is returned; "" if there is none."""
        if not self.stub.__defaults__:
            return ""
        return next((name for name, default in self.optional.items() if default is None), "")

    def write(self, raising: bool = False, owning: bool = False) -> Any:
        """The function itself, its C symbol found, its text where tracebacks look for it."""
        from .first_call import write  # not before it is needed: most functions never are

        return write(self, raising, owning)

    def install(self) -> None:
        """Write the function, and have the stub be it from now on."""
        give_code(self.stub, self.lane, self.write().__code__, _first_call.__code__)

    def open_lane(self, is_called: bool = True) -> bool:
        """Give the stub its fast lane. Returns whether it has got one now."""
        if self.lane is None and environment.LANES_WANTED:
            lanes = _lanes or lane_module()
            self.lane = lanes.attach(self, self.stub) or False
            if self.lane and is_called:
                self.library.prepare()
            return self.lane is not False
        return bool(self.lane) and lane_module().reopen(self.lane, self)

    def untouched(self) -> tuple[Any, str]:
        """What is called, if it is as declared and nobody waits for its symbol, else None; the symbol."""
        function, code = self.public or (self.stub, _first_call.__code__)
        symbol = symbol_of(self.prototype)
        free = self.lane is None and function.__code__ is code and symbol not in Library._observed
        return (function if free else None), symbol


def attach_lane(declaration: Declaration, function: Any, raising: bool = False, owning: bool = False) -> Any:
    """Give a function that does what a declaration says its fast lane: the table of that, or None."""
    return lane_module().attach(declaration, function, raising, owning) if environment.LANES_WANTED else None


def lane_module() -> Any:
    """The module `lanes`, imported for the first function that asks for a lane."""
    global _lanes
    if _lanes is None:
        from . import lanes as _lanes
    return _lanes


_lanes: Any = None


def give_code(function: Any, lane: Any, code: Any, trampoline: Any) -> None:
    """Give a function the code that was written for it, in the place of the trampoline's; lane: its table."""
    if lane:
        lane_module().set_code(lane, function, code, trampoline)
    else:
        from .codegen import install_code

        install_code(function, code, trampoline)


def _first_call(*args: Any, declaration: Declaration, **kwargs: Any) -> Any:
    """Calls with a lane come here, too, if it leaves them to Python: then the function is written."""
    if not declaration.open_lane():
        declaration.install()
    return declaration.stub(*args, **kwargs)


class Checked:
    """The raising face of a module: the same functions, results alone, an exception for a failure.

    `checked.cuMemAlloc(n)` returns the pointer: nothing, one value or a tuple, where the function itself
    returns the status before them. Like the functions themselves, these look for the library when they are
    called first. What type checkers and editors see of them is in `_checked`.
    """

    def __init__(self, module: dict[str, Any], library: Library) -> None:
        self._module = module
        self._library = library

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = self._function(name)
        if function is None:
            module = self._module["__name__"]
            raise AttributeError(f"{module} has no function {name!r}", name=name, obj=self)
        declaration = getattr(function, "__declaration__", None)
        raising = self._declared(declaration) if declaration else self._wrap(function)
        raising.__name__ = raising.__qualname__ = function.__name__
        raising.__module__ = function.__module__
        raising.__doc__ = function.__doc__
        return self.__dict__.setdefault(name, raising)  # type: ignore[no-any-return]

    def __dir__(self) -> list[str]:
        return [name for name in [*self._module] if self._function(name)]

    def _function(self, name: str) -> Any:
        """The function of the module, if it is one that returns a status; else None."""
        function: Any = self._module.get(name)
        if name.startswith("_") or type(function) is not _Function:
            return None
        returns = _as_written(forms(function)[0]).__annotations__.get("return", "")
        return function if returns.startswith(f"tuple[{self._library.status}") else None

    def _declared(self, declaration: Declaration) -> Any:
        return Raising(declaration).stub

    def _wrap(self, function: Callable[..., Any]) -> Any:
        """A function written by hand returns its tuple; take that apart."""
        code = _as_written(function).__code__
        names = code.co_varnames[: code.co_argcount]

        def raising(*args: Any, **kwargs: Any) -> Any:
            status, *results = function(*args, **kwargs)
            if status:
                named = dict(zip(names, args, strict=False))
                raise self._library.error(function.__name__, status, {**named, **kwargs})
            return results[0] if len(results) == 1 else tuple(results) or None

        raising.__wrapped__ = results_alone(function)  # type: ignore[attr-defined]  # for `inspect`
        return raising


class Raising:
    """The raising form of a declared function: what stands for it until, and after, the first call.

    owning: that of `Owning`, with a cell first.
    """

    __slots__ = ("declaration", "lane", "owning", "stub")

    def __init__(self, declaration: Declaration, owning: bool = False) -> None:
        function = declaration.stub
        self.owning = owning
        self.declaration = declaration
        self.lane: Any = None
        self.stub: Any = _Function(_first_call.__code__, function.__globals__)
        self.stub.__defaults__ = function.__defaults__
        self.stub.__kwdefaults__ = {"declaration": self}
        self.stub.__declaration__ = self
        self.stub.__wrapped__ = results_alone(function)  # for `inspect`

    def install(self) -> None:
        """Write the function, and have the stub be it from now on."""
        written = self.declaration.write(raising=True, owning=self.owning)
        give_code(self.stub, self.lane, written.__code__, _first_call.__code__)

    def open_lane(self, is_called: bool = True) -> bool:
        """Give the stub its fast lane. Returns whether it has got one now."""
        if self.lane is None:
            self.lane = attach_lane(self.declaration, self.stub, True, self.owning) or False
            return self.lane is not False
        return False


def settled(raising: F) -> F:
    """A function of a module; if it is declared, its C symbol is found now, not at the first call.

    Raises SymbolNotFound, or what loading the library raises.
    """
    declaration = getattr(raising, "__declaration__", None)
    if (
        declaration
        and raising.__code__ is _first_call.__code__
        and not (declaration.open_lane(is_called=False) or declaration.lane)
    ):
        declaration.install()
    return raising


def _as_written(function: Any) -> Any:
    """What a function was declared by: its parameters and annotations."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def results_alone(function: Callable[..., Any]) -> Any:
    """The parameters and annotations of a function without the status: `tuple[CUresult, int]` is `int`."""
    written = _as_written(function)
    copy = _Function(written.__code__, written.__globals__, written.__name__, written.__defaults__)
    returns = written.__annotations__["return"]
    if returns.startswith("tuple["):
        _, _, results = returns[len("tuple[") : -1].partition(", ")
        returns = f"tuple[{results}]" if _is_list(results) else results or "None"
    copy.__annotations__ = {**written.__annotations__, "return": returns}
    return copy


def _is_list(text: str) -> bool:
    """Whether there is a comma outside brackets."""
    depth = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and not depth:
            return True
    return False


def either(newer: Callable[..., R], older: Callable[..., R], extra: str | None) -> Callable[..., R]:
    """A function whose signature changed between CUDA versions: `newer`, and `older` where it fits.

    A call with as many arguments as `older` has is meant for it. The argument `extra`, which `newer` added,
    is left out or made None when the library has only the other of the two.
    """
    inputs = newer.__declaration__.inputs  # type: ignore[attr-defined]
    count = len(older.__declaration__.inputs)  # type: ignore[attr-defined]

    def function(*args: Any, **kwargs: Any) -> Any:
        if len(args) + len(kwargs) == count:
            try:
                return older(*args, **kwargs)
            except SymbolNotFound:
                if extra is None:
                    raise
                names = older.__declaration__.inputs  # type: ignore[attr-defined]
                return newer(**{extra: None}, **dict(zip(names, args, strict=False)), **kwargs)
        try:
            return newer(*args, **kwargs)
        except SymbolNotFound:
            arguments = {**dict(zip(inputs, args, strict=False)), **kwargs}
            if extra is None or arguments.pop(extra) is not None:
                raise
            return older(**arguments)

    return two_forms(newer, older, function)


def two_forms(
    newer: Callable[..., R], older: Callable[..., R], function: Callable[..., R]
) -> Callable[..., R]:
    """`function`, which takes the arguments of `newer` or of `older`, under the public name of `newer`."""
    named_after(newer, function)
    _forms[function.__module__, function.__name__] = [newer, older]
    return function


def overload(form: F) -> F:
    """Declare a form of the function below, as `typing.overload` does, which takes longer to import."""
    _forms.setdefault((form.__module__, form.__name__), []).append(form)
    return form


_forms: dict[tuple[str, str], list[Callable[..., Any]]] = {}


def forms(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The functions with whose parameters a function of a library can be called: most often itself alone."""
    return _forms.get((function.__module__, function.__name__), [function])


def padded(newer: F, older: Callable[..., Any], item: str) -> F:
    """A function that got one more result, a list before its count: `newer`, or `older` for lack of it.

    Each item of the list is then a zeroed struct `item` of the module, one for each in the list before it.
    """

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return newer(*args, **kwargs)
        except SymbolNotFound:
            err, *results, count = older(*args, **kwargs)
            struct = find(newer.__globals__, item)
            return err, *results, None if err else [struct() for _ in results[-1]], count

    return named_after(newer, function)


def renamed(function: F, **names: str) -> F:
    """`function`, a private declaration, under its public name; it takes `names`, older keywords, too."""

    def taking(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{names.get(name, name): value for name, value in kwargs.items()})

    return named_after(function, taking)


def named_after(newest: F, function: Any) -> F:
    """`function` under the public name of `newest`, without its version, and with its signature."""
    name = newest.__name__.lstrip("_")
    base, _, version = name.rpartition("_v")
    function.__name__ = function.__qualname__ = base if version.isdigit() else name
    function.__module__ = newest.__module__
    function.__doc__ = newest.__doc__
    function.__wrapped__ = newest
    return function  # type: ignore[no-any-return]
