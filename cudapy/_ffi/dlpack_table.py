"""DLPack's table of C functions, by which libraries in C exchange arrays without a call of a Python method.

A type has it as `__dlpack_c_exchange_api__`: a capsule with the name "dlpack_exchange_api" and a
DLPackExchangeAPI, which others keep for as long as the process. Its functions are called with the GIL held.

They return -1 with a Python exception set. ctypes sets none for the caller of a callback: it prints what a
callback raises. But an exception that is set when the callback's result is given back stays: the -1 is an
object of its own, and has a capsule whose destructor is PyErr_SetNone. As a capsule is not a class of
exceptions, that makes a SystemError; its message has the capsule's name: what the exception had to say.

Source: dlpack.h, version 1.3; https://dmlc.github.io/dlpack/latest/python_spec.html
"""

import ctypes
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from .dlpack import Described, Tensor, released

VERSION = (1, 3)
NAME = b"dlpack_exchange_api"
_LONGEST = 400  # bytes of a message


class Table(ctypes.Structure):
    """DLPackExchangeAPI."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("managed_tensor_allocator", ctypes.c_void_p),
        ("managed_tensor_from_py_object_no_sync", ctypes.c_void_p),
        ("managed_tensor_to_py_object_no_sync", ctypes.c_void_p),
        ("dltensor_from_py_object_no_sync", ctypes.c_void_p),
        ("current_work_stream", ctypes.c_void_p),
    ]


class Exchange(NamedTuple):
    """What the table's functions do, in Python. Each raises what it cannot do."""

    capsule: Callable[[Any], Any]
    """From an array to a versioned capsule of it."""
    described: Callable[[Any], tuple[Described, Any]]
    """From an array to what DLPack says of it; and its shape and strides as int64, good as long as it is."""
    view: Callable[[int], Any]
    """From the address of a versioned tensor, which is its own from then on, to an array."""


_pointer = ctypes.c_void_p
_api = ctypes.pythonapi
_new_capsule = _api.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [_pointer, ctypes.c_char_p, _pointer]
_set_none = ctypes.cast(_api.PyErr_SetNone, _pointer)
_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer, _pointer, _pointer)
_OBJECT = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer)
_STREAM = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, _pointer)
_SET_ERROR = ctypes.PYFUNCTYPE(None, _pointer, ctypes.c_char_p, ctypes.c_char_p)
_kept: list[Any] = []
_said: deque[bytes] = deque(maxlen=64)  # the names of capsules, which have a pointer to them


class _Failed(int):
    """-1, which leaves an exception when it is gone."""

    capsule: object


def _failed(error: BaseException) -> int:
    text = f"{type(error).__name__}: {error}".encode(errors="replace")[:_LONGEST].replace(b"\0", b" ")
    _said.append(text)
    failed = _Failed(-1)
    failed.capsule = _new_capsule(1, text, _set_none)
    return failed


def _guarded(
    function: Callable[..., int | None], failed: Callable[[BaseException], int] = _failed
) -> Callable[..., int]:
    """`function` for C: what it returns, 0 for None; -1 and an exception for one that it raises.

    -1 alone while the interpreter goes, which takes the names of this module away.
    """

    def call(*args: Any) -> int:
        try:
            return function(*args) or 0
        except BaseException as error:  # or the caller would read what was not written
            try:
                return failed(error)
            except BaseException:
                return -1

    return call


def _out(address: int | None, what: str) -> ctypes.c_void_p:
    """The pointer that C wants to be written."""
    if not address:
        raise ValueError(f"DLPack: {what} is a null pointer")
    return _pointer.from_address(address)


def exchange_table(of: type, exchange: Exchange) -> object:
    """A capsule with the table for arrays of the class `of`, which is there for good."""

    def array(address: int | None) -> Any:
        value = ctypes.cast(address, ctypes.py_object).value if address else None
        if not isinstance(value, of):
            raise TypeError(f"DLPack: the object must be a {of.__name__}, not {type(value).__name__}")
        return value

    def allocate(prototype: int, out: int, context: int, set_error: int) -> int:
        text = f"{of.__name__} is a view of memory, and allocates none"
        if not set_error:
            raise NotImplementedError(text)
        _SET_ERROR(set_error)(context, b"NotImplementedError", text.encode())  # it may set an exception
        return -1

    def from_object(address: int, out: int) -> None:
        slot = _out(out, "out")
        slot.value = released(exchange.capsule(array(address)))

    def to_object(tensor: int, out: int) -> None:
        slot = _out(out, "out_py_object")
        if not tensor:
            raise ValueError("DLPack: tensor is a null pointer")
        view = exchange.view(tensor)
        _api.Py_IncRef(ctypes.py_object(view))
        slot.value = id(view)

    def tensor_from_object(address: int, out: int) -> None:
        _out(out, "out")
        said, axes = exchange.described(array(address))
        into = Tensor.from_address(out)
        into.data = said.address if all(said.shape) else 0
        into.device_type, into.device_id, into.ndim = said.device_type, said.device_id, len(said.shape)
        into.code, into.bits, into.lanes, into.byte_offset = said.code, said.bits, said.lanes, 0
        where = ctypes.addressof(axes) if said.shape else 0
        into.shape = _int64s(where)
        into.strides = _int64s(where + 8 * len(said.shape) if where else 0)

    def stream(device_type: int, device_id: int, out: int) -> None:
        _out(out, "out_current_stream").value = None  # the default stream: core has no other current one

    functions = [
        _ALLOCATE(_guarded(allocate)),
        _OBJECT(_guarded(from_object)),
        _OBJECT(_guarded(to_object)),
        _OBJECT(_guarded(tensor_from_object)),
        _STREAM(_guarded(stream)),
    ]
    table = Table(*VERSION, None, *(ctypes.cast(function, _pointer).value for function in functions))
    for obj in (table, *functions):  # other libraries have their addresses, also when modules are gone
        _api.Py_IncRef(ctypes.py_object(obj))
    _kept.append((table, functions))
    return _new_capsule(ctypes.addressof(table), NAME, None)


def _int64s(address: int) -> Any:
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_int64))
