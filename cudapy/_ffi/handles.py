"""Handles: classes around one C scalar, compared by value, that know the address of their storage."""

from __future__ import annotations

import ctypes

from .integers import as_int, exact_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _ctypes import _PyCSimpleType as SimpleType
    from typing import Any
else:
    SimpleType = type(ctypes.c_size_t)

PointerThunk: Any = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)(None, ctypes.c_void_p)
"""The ctypes function objects `void (*)(void *)`, as the libraries of the system call them."""
Thunk: Any = PointerThunk.__mro__[1]  # what every ctypes function object derives from
_thunks: dict[int, Any] = {}  # ctypes callbacks that C may still call, by address: kept for good


class HandleType(SimpleType):
    """The type of handle classes. `twin=True`: the class names the same as its base, as cudaStream_t does.

    The constructor is here, and not in the classes, where it would slow down `maker`. For a class of its own
    type ctypes makes another one, with its bytes swapped; not for a class of this type: half the time.
    """

    if not TYPE_CHECKING:

        def __new__(meta, name, bases, body, twin=False):
            return super().__new__(meta, name, bases, {**body, "_twin_": twin})

        def __init__(cls, name, bases, body, twin=False):  # noqa: N805
            super().__init__(name, bases, body)

        def __call__(cls, init_value=0, _ptr=0):  # noqa: N805
            if _ptr:
                return cls._at(_ptr)
            handle = type.__call__(cls)
            if (type(init_value) is not int and init_value is not None) or init_value:
                handle.value = number = cls._number(init_value)
                if handle.value != number:
                    raise OverflowError(f"{number} does not fit a {cls.__name__}")
            return handle


def maker(cls: Any) -> Any:
    """What makes a null handle of a class: what `type` does for a call, without the constructor."""
    return type.__call__.__get__(cls)


class Handle:
    """What every handle can do.

    `Class(init_value=0)` holds a value; `Class(_ptr=address)` is a view of the storage at `address`.
    Accepts an int, anything with `__index__` or `__int__`, None (0), the class itself and its twin in the
    other API. Raises TypeError for a handle of another kind, OverflowError for a value that C cannot hold.
    A float with a fraction loses it, with a warning, where the handle is a number such as CUdeviceptr; for a
    pointer it is a TypeError.
    """

    _twin_ = False
    _is_view = False  # whether it was made with `_ptr`
    value: int

    if TYPE_CHECKING:

        def __init_subclass__(cls, twin: bool = False) -> None: ...

        def __init__(self, init_value: Any = 0, _ptr: int = 0) -> None: ...

    @classmethod
    def _at(cls, address: int) -> Any:
        """The handle whose storage is at `address`."""
        handle = cls.from_address(address)  # type: ignore[attr-defined]
        handle._is_view = True
        return handle

    @classmethod
    def _number(cls, value: Any) -> int:
        if isinstance(value, Pointer) and not cls._takes(value):
            raise TypeError(f"a {type(value).__name__} is not a {cls.__name__}")
        try:
            return cls._index(value)
        except TypeError:
            given = type(value).__name__ + cls._instead(value)
            raise TypeError(f"a {cls.__name__} is made from {cls._made_from}, not {given}") from None

    @classmethod
    def _takes(cls, value: Pointer) -> bool:
        """Whether an opaque pointer may stand for this handle: the class itself and its twin."""
        return isinstance(value, cls) or (cls._twin_ and isinstance(value, cls.__bases__[0]))

    _made_from = "an integer"

    @classmethod
    def _instead(cls, value: Any) -> str:
        """What to write instead of a value that is none, behind a colon; "" if nobody knows."""
        if isinstance(value, tuple):
            return ": unpack what a function returns, (status, result), or use `checked`"
        return ": give its .handle" if hasattr(value, "handle") else ""

    @classmethod
    def _index(cls, value: Any) -> int:
        return as_int(value, cls.__name__)

    def getPtr(self) -> int:
        """The address of the storage that holds the value."""
        return ctypes.addressof(self)  # type: ignore[arg-type]

    def __int__(self) -> int:
        return self.value

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, type(self))):
            return self.value == int(other)
        return NotImplemented  # then Python asks `other`, which knows a twin derived from it

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.value}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.value,)


class Pointer(Handle, ctypes.c_size_t, metaclass=HandleType):
    """An opaque C pointer: `typedef struct X_st *X`."""

    @classmethod
    def _index(cls, value: Any) -> int:
        return exact_int(value, cls.__name__)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.value:#x}>"


class Int(Handle, ctypes.c_int, metaclass=HandleType):
    """A typedef of `int`."""


class UInt(Handle, ctypes.c_uint32, metaclass=HandleType):
    """A typedef of a 32-bit unsigned integer."""


class UInt64(Handle, ctypes.c_uint64, metaclass=HandleType):
    """A typedef of a 64-bit unsigned integer."""


def entry(thunk: Any) -> int:
    """The address of a ctypes function object's C function, good as long as the object is kept."""
    return ctypes.c_void_p.from_buffer_copy(thunk).value or 0  # a cast would leave a cycle to collect


def takes_pointer(thunk: Any) -> bool:
    """Whether a ctypes function object was declared as `void (*)(void *)`."""
    return thunk.restype is None and list(thunk.argtypes or ()) == [ctypes.c_void_p]


class Callback(Pointer):
    """A pointer to a C function. Takes a ctypes function object too, and keeps that one alive for good.

    `_ptr` is the address of such a pointer, as `ctypes.addressof` has it of a function object, or that of the
    function itself, as cuda.core takes it of a CUoccupancyB2DSize.
    """

    _function = 0  # what `_ptr` was, if it is the function
    _thunk = ""  # what makes a ctypes function object of a function

    @classmethod
    def _at(cls, address: int) -> Any:
        from .memory import is_code

        handle = super()._at(address)
        if is_code(address) and not is_code(handle.value):
            handle = cls(address)
            handle._function = address
        return handle

    def getPtr(self) -> int:
        """The address of the storage that holds the value; the function that `_ptr` was."""
        return self._function or super().getPtr()

    _made_from = "an address or a ctypes function object (see ctypes.CFUNCTYPE)"

    @classmethod
    def _instead(cls, value: Any) -> str:
        return f": {cls._thunk}(f)" if cls._thunk and callable(value) else ""

    @classmethod
    def _index(cls, value: Any) -> int:
        if isinstance(value, Thunk):
            address = entry(value)
            _thunks[address] = value
            return address
        return super()._index(value)
