"""The face that `cuda.bindings` gives some modules: short names, results alone, an exception for a failure.

    @face(nvJitLinkCreate)
    def create(num_options: int, options: Sequence[str | bytes] | None) -> int: ...

becomes, at the first call,

    def create(num_options, options):
        err, *values = nvJitLinkCreate(num_options, _encoded(options))
        if err:
            raise _face.failure('nvJitLinkCreate', err, {'num_options': num_options, 'options': options})
        return _alone(values)

A handle is an int there, and a `char *` takes a str as well and comes back as one, up to its NUL. A parameter
with a default may be left out of the stub; of an array whose count is left out all is returned, without the
count. A module whose face has enums and structs of its own names them as the twins of those of C: its
functions take and return those. A function that fails with None for a buffer raises what is a ValueError,
too: that was the one of cuda.bindings up to 13.3, before C was asked.
"""

from __future__ import annotations

import functools

from .._process import environment
from .enums import Enum
from .handles import Handle
from .library import give_code, lane_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CodeType
    from typing import Any, TypeVar

    from .prototypes import CParameter

    F = TypeVar("F", bound=Callable[..., Any])


class FaceError(RuntimeError):
    """A function failed: what the exceptions of all faces are. `status` says why, an int."""

    @staticmethod
    def statuses(status: int) -> Enum:
        """The member of the library's enum."""
        raise NotImplementedError

    def __init__(self, status: int) -> None:
        self.status = self.statuses(status)
        super().__init__(f"{self.status.name} ({int(status)})")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (int(self.status),)


class Face:
    """A module's face.

    error: the class of its exceptions.
    explain: makes the exception that says more from (C function, status, arguments): the `__cause__`.
    twins: returns the enums and structs of C, each with that of the face.
    """

    def __init__(
        self,
        error: type[FaceError],
        explain: Callable[[str, Any, dict[str, Any]], Exception],
        twins: Callable[[], Mapping[type, Any]] = dict,
    ) -> None:
        self.error = error
        self.explain = explain
        self._twins = twins
        self.rows: Any = None  # which `lanes` makes of the recipes
        self._lanes: dict[Any, Any] = {}  # of the stubs that were called: their tables, None for none

    @functools.cached_property
    def twins(self) -> Mapping[type, Any]:
        """The classes of C that the face has a class of its own for, and those."""
        return self._twins()

    @functools.cached_property
    def originals(self) -> Mapping[type, Any]:
        """The structs of the face, and those of C."""
        return {twin: cls for cls, twin in self.twins.items() if not issubclass(twin, Enum)}

    def __call__(self, function: Callable[..., tuple[Any, ...]]) -> Callable[[F], F]:
        """Make the stub below the face of `function`: the same parameters, whatever their names are, but for
        those at the end that have a default.
        """

        def declare(stub: Any) -> Any:
            code = stub.__code__
            stub.__wrapped__ = copy = _Function(code, stub.__globals__, stub.__name__)  # for `inspect`
            copy.__annotations__ = stub.__annotations__
            names = code.co_varnames[: code.co_argcount]
            inputs = inputs_of(function)
            text = stub.__doc__ or function.__doc__ or ""  # nothing under -OO
            if set(inputs[len(names) :]) - set(optional_of(function)):
                raise TypeError(f"{stub.__name__} lacks parameters of {function.__name__}")
            for name, c_name in zip(names, inputs, strict=False):
                text = text.replace(f"`{c_name}`", f"`{name}`")
            stub.__doc__ = text
            stub.__kwdefaults__ = {"face": self, "stub": stub, "function": function, "names": names}
            stub.__code__ = _first_call.__code__
            return stub

        return declare

    def write(self, function: Any, name: str, names: tuple[str, ...]) -> Any:
        """The function itself, its text where tracebacks look for it."""
        from .codegen import function as generated

        texts, structs = texts_of(function), structs_of(function) if self.twins else ()
        calls = {**dict.fromkeys(structs, "_face.original({})"), **dict.fromkeys(texts, "_encoded({})")}
        given = [
            calls.get(c_name, "{}").format(name)
            for name, c_name in zip(names, inputs_of(function), strict=False)
        ]
        arguments = ", ".join(f"{name!r}: {name}" for name in names)
        by_c_name, buffers = dict(zip(inputs_of(function), names, strict=False)), buffers_of(function)
        null = " or ".join(f"{name} is None" for c_name, name in by_c_name.items() if c_name in buffers)
        failure = ", ".join([f"{function.__name__!r}, err, {{{arguments}}}", *([null] if null else [])])
        pending = pending_of(function)
        failed = "err" if pending is None else f"err and err != {pending}"
        source = (
            f"def {name}({', '.join(names)}):\n"
            f"    err, *values = {function.__name__}({', '.join(given)})\n"
            f"    if {failed}:\n"
            f"        raise _face.failure({failure})\n"
            + "".join(f"    del values[{at}]\n" for at in counts_of(function, names))
            + "    return _face.alone(values)\n"
        )
        scope = function.__globals__
        scope.update(_face=self, _encoded=encoded)
        return generated(name, source, f"<cudapy {function.__module__} {name}>", scope)

    def alone(self, values: list[Any]) -> Any:
        """Nothing, one value or a tuple, of plain Python types and the classes of the face."""
        plain = [self.plain(value) for value in values]
        return plain[0] if len(plain) == 1 else tuple(plain) or None

    def plain(self, value: Any) -> Any:
        """`value` with an int for a handle, a str for the bytes of a C string, its twin for what has one."""
        if isinstance(value, Handle):
            return value.value
        if isinstance(value, bytes):
            return value.partition(b"\0")[0].decode("utf-8", "replace")
        if isinstance(value, list):
            return [self.plain(item) for item in value]
        twin = self.twins.get(type(value))
        if twin is None:
            return value
        return twin(value) if isinstance(value, Enum) else twin.from_buffer(value)  # the same memory

    def original(self, value: Any) -> Any:
        """`value` with the struct of C, in the same memory, for one of the face; those in a list, too."""
        if isinstance(value, (list, tuple)):
            return [self.original(item) for item in value]
        cls = self.originals.get(type(value))
        return value if cls is None else cls.from_buffer(value)

    def call(self, function: Any, *arguments: Any) -> Any:
        """The results of a function of C alone, for a function of the face that is written by hand."""
        status, *values = function(*arguments)
        self.check(function, status, *arguments)
        return self.alone(values)

    def check(self, function: Any, status: Any, *arguments: Any) -> None:
        """Raise the exception for a failure of `function`, called with `arguments`."""
        if status:
            named = dict(zip(inputs_of(function), arguments, strict=False))
            raise self.failure(function.__name__, status, named)

    def install(self, function: Any, stub: Any, names: tuple[str, ...]) -> None:
        """Write the function, and have the stub be it from now on."""
        code = self.write(function, stub.__name__, names).__code__
        give_code(stub, self._lanes.get(stub), code, _first_call.__code__)

    def open_lane(self, function: Any, stub: Any, names: tuple[str, ...]) -> bool:
        """Give the stub its fast lane. Returns whether it has got one now."""
        declaration = getattr(function, "__declaration__", None)
        if stub in self._lanes or declaration is None or not environment.LANES_WANTED:
            return False
        self._lanes[stub] = lane = lane_module().attach_face(self, declaration, stub, names)
        return lane is not None

    def failed(
        self, function: Any, status: Any, names: tuple[str, ...], arguments: tuple[Any, ...]
    ) -> FaceError:
        """The exception for a C function that returned `status` to a stub with these parameters."""
        given = dict(zip(names, arguments, strict=True))
        buffers = buffers_of(function)
        inputs = zip(inputs_of(function), arguments, strict=True)
        null_buffer = any(name in buffers and value is None for name, value in inputs)
        return self.failure(function.__name__, status, given, null_buffer)

    def failure(
        self, function: str, status: Any, arguments: dict[str, Any], null_buffer: bool = False
    ) -> FaceError:
        """The exception for a C function that returned `status`."""
        error = null_buffer_error(self.error, status) if null_buffer else self.error(status)
        error.__cause__ = self.explain(function, status, arguments)
        return error


def null_buffer_error(error: Any, status: int) -> FaceError:
    """A failure that is a ValueError, too."""
    error_with_value: FaceError = _with_value_error(error)(status)
    return error_with_value


@functools.cache
def _with_value_error(error: Any) -> Any:
    def reduce(self: FaceError) -> tuple[Any, ...]:
        return null_buffer_error, (error, int(self.status))

    return type(error.__name__, (error, ValueError), {"__module__": error.__module__, "__reduce__": reduce})


_Function: Any = type(lambda: None)


def _first_call(*args: Any, face: Face, stub: Any, function: Any, names: Any, **kwargs: Any) -> Any:
    if not face.open_lane(function, stub, names):
        face.install(function, stub, names)
    return stub(*args, **kwargs)


def inputs_of(function: Any) -> tuple[str, ...]:
    """The names of the parameters of a C-named function, one written by hand included."""
    declaration = getattr(function, "__declaration__", None)
    if declaration is not None:
        return tuple(declaration.inputs)
    code: CodeType = function.__code__
    return code.co_varnames[: code.co_argcount]


def optional_of(function: Any) -> tuple[str, ...]:
    """The parameters that have a default."""
    names = inputs_of(function)
    return names[len(names) - len(function.__defaults__ or ()) :]


def pending_of(function: Any) -> int | None:
    """The status of a function whose work goes on, which is not a failure; None: its library has none."""
    declaration = getattr(function, "__declaration__", None)
    return None if declaration is None else declaration.library.pending


def counts_of(function: Any, names: tuple[str, ...]) -> list[int]:
    """Where the results have the count of an array all of which is returned, as `names` have none for it."""
    declaration = getattr(function, "__declaration__", None)
    if declaration is None or len(names) == len(inputs_of(function)):
        return []
    writer = declaration.writer()
    return [at for at, p in enumerate(writer.returned) if writer.counted(p)]


def structs_of(function: Any) -> set[str]:
    """The parameters that are structs, or arrays of them."""
    from .scalars import SCALARS

    return {p.name for p, is_text in _declared(function) if p.stars == 1 and p.type not in (*SCALARS, "void")}


def _declared(function: Any) -> list[tuple[CParameter, bool]]:
    """The parameters in C, and whether each is a text or an array of texts; none if written by hand."""
    from .prototypes import parse

    declaration = getattr(function, "__declaration__", None)
    if declaration is None:
        return []
    return [
        (p, p.type == "char" and p.const and (p.stars == 2 or p.c_name not in declaration.sizes))
        for p in parse(declaration.prototype).parameters
    ]


def texts_of(function: Any) -> set[str]:
    """The parameters that are C strings or arrays of them; a `char *` with a size is data."""
    return {p.name for p, is_text in _declared(function) if is_text}


def buffers_of(function: Any) -> set[str]:
    """The parameters that are memory: `void *`, and `char *` with a size or to be written."""
    return {
        p.name
        for p, is_text in _declared(function)
        if p.stars == 1 and p.type in ("void", "char") and not is_text
    }


def encoded(value: Any) -> Any:
    """`value` with bytes for str, in a list or tuple too."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")  # a file name need not be UTF-8
    if isinstance(value, (list, tuple)):
        return [encoded(item) for item in value]
    return value
