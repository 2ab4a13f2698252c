"""How calls of a Python function come to machine code.

CPython calls a function through its `vectorcall`, a pointer in the function object: `Vectorcall` replaces
that. The interpreter of CPython 3.11 enters Python functions without looking at it, and calls all others. So
there a function gets the code of a forwarder, which passes its parameters on to a builtin function, whose C
function is the machine code, and whose `self` is the function as it was: `Forwarder`. Functions that are
entered unchecked (`interrupt_safe`) keep their code, since Python checks after each call: `called_for` has
their builtin function.
"""

from __future__ import annotations

import ctypes
from types import BuiltinFunctionType, CodeType, FunctionType

from .._process.interrupt_safe import has_unchecked_entry
from .lane_layout import NoLanes, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Vectorcall:
    """The `vectorcall` of functions. plain: that of every function of Python."""

    prologue = b""
    """What a stub of machine code does first."""
    passes_all = False
    """Whether the machine code gets all parameters, those that are left out as what they are then."""
    is_quick = True
    """Whether to enter takes a fraction of what else a lane takes."""

    def __init__(self) -> None:
        def function() -> None: ...

        of_type = words(FunctionType)
        size, at = of_type[_SIZE], of_type[_VECTORCALL_OFFSET]
        if size != FunctionType.__basicsize__ or at % 8 or not 0 < at < size:
            raise NoLanes("the vectorcall of a function is not where it was expected")
        self._at = at
        self.plain: int = _Word.from_address(id(function) + at).value

    def is_free(self, function: Any) -> bool:
        """Whether a function has no lane."""
        return self.of(function) == self.plain

    def of(self, function: Any) -> int:
        """The `vectorcall` of a function."""
        return int(_Word.from_address(id(function) + self._at).value)

    def enter(self, function: Any, address: int, parameters: tuple[str, ...] | None) -> None:
        """Have calls of a function go to `address`, as (function, arguments, count, keywords)."""
        if not _set_vectorcall:
            _Word.from_address(id(function) + self._at).value = address
        else:  # of 3.12 and newer, which specialise calls
            _set_vectorcall(function, address)


class Forwarder(Vectorcall):
    """The code of a function, for 3.11. The pointer stays, and is where machine code leaves calls to."""

    passes_all = True
    is_quick = False
    prologue = b"\x31\xc9"  # xor ECX, ECX: no keywords

    def is_free(self, function: Any) -> bool:
        return python_of(function) is function and function not in _builtins

    def enter(self, function: Any, address: int, parameters: tuple[str, ...] | None) -> None:
        """Have calls of a function go to `address`, as (what `python_of` returns, arguments, count, 0).

        parameters: all names; None for those of its code.
        """
        name, code = function.__name__, function.__code__
        python = FunctionType(code, function.__globals__, name, function.__defaults__, function.__closure__)
        python.__kwdefaults__, python.__qualname__ = function.__kwdefaults__, function.__qualname__
        definition = _definitions.setdefault(address, _MethodDefinition(name.encode(), address, _FASTCALL))
        builtin = _new_builtin(ctypes.addressof(definition), python, None)
        if has_unchecked_entry(function):
            _builtins[function] = builtin
        else:
            function.__code__ = forwarder(code, name, builtin, parameters)


_Word = ctypes.c_uint64
_SIZE, _VECTORCALL_OFFSET = 4, 7  # words of a type
_VARARGS = 4  # a flag of code objects
_FASTCALL = 0x80  # METH_FASTCALL
_api: Any = getattr(ctypes, "pythonapi", None)
_set_vectorcall: Any = hasattr(_api, "PyFunction_SetVectorcall") and ctypes.PYFUNCTYPE(
    None, ctypes.py_object, ctypes.c_void_p
)(("PyFunction_SetVectorcall", _api))
_new_builtin: Any = _api and ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
)(("PyCFunction_NewEx", _api))


class _MethodDefinition(ctypes.Structure):
    """A PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_builtins: dict[Any, Any] = {}  # of functions that keep their code
_definitions: dict[int, _MethodDefinition] = {}  # by address: builtin functions do not own theirs
if _api is not None:
    _api.Py_IncRef(ctypes.py_object(_definitions))


def forwarder(code: CodeType, name: str, builtin: Any, parameters: tuple[str, ...] | None) -> CodeType:
    """Code for CPython 3.11 that calls `builtin` with all its parameters by position.

    code: of the function that gets it, from which it has what `parameters` does not say.
    """
    from opcode import opmap

    rest = parameters is None and code.co_flags & _VARARGS
    count = len(parameters) if parameters is not None else code.co_argcount
    names = parameters if parameters is not None else code.co_varnames[: count + bool(rest)]
    steps: list[tuple[str, int]] = [("COPY_FREE_VARS", len(code.co_freevars))] if code.co_freevars else []
    steps += [("RESUME", 0), ("PUSH_NULL", 0), ("LOAD_CONST", 0)]
    steps += [("LOAD_FAST", i) for i in range(count)]
    if rest:
        steps += [("BUILD_LIST", count), ("LOAD_FAST", count), ("LIST_EXTEND", 1), ("LIST_TO_TUPLE", 0)]
        steps += [("CALL_FUNCTION_EX", 0)]
    else:
        steps += [("PRECALL", count), ("CACHE", 0), ("CALL", count), *[("CACHE", 0)] * 4]
    steps += [("RETURN_VALUE", 0)]
    place: dict[str, Any] = {} if parameters is None else {"co_filename": f"<cudapy {name}>"}
    # One line, of eight steps at most each: a head, of no columns, and a step to the next line, of none.
    left = [min(8, len(steps) - i) for i in range(0, len(steps), 8)]
    return code.replace(
        co_code=b"".join([bytes((opmap[step], argument)) for step, argument in steps]),
        co_linetable=b"".join([bytes((0x80 | 13 << 3 | each - 1, 0)) for each in left]),
        co_exceptiontable=b"",
        co_consts=(builtin,),
        co_names=(),
        co_varnames=names,
        co_nlocals=len(names),
        co_cellvars=(),
        co_argcount=count,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=3 | (rest and _VARARGS),
        co_stacksize=count + 4,
        co_name=name,
        co_qualname=name,
        co_firstlineno=1 if place else code.co_firstlineno,
        **place,
    )


def called_for(function: Any) -> Any:
    """What is called for a function with a lane: a builtin function, or itself."""
    if function in _builtins:
        return _builtins[function]
    constants = function.__code__.co_consts
    forwards = len(constants) == 1 and type(constants[0]) is BuiltinFunctionType
    return constants[0] if forwards else function


def python_of(function: Any) -> Any:
    """The function whose code is run for calls that a lane leaves to Python: most often itself."""
    builtin = called_for(function)
    return builtin.__self__ if type(builtin) is BuiltinFunctionType else function
