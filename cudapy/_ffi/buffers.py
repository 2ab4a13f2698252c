"""Addresses of Python buffers."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_View: Any = ctypes.c_char * 0  # an array of unknown length: ctypes passes its address


class _PyBuffer(ctypes.Structure):
    """`Py_buffer` of Python's C API."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("rest", ctypes.c_byte * 128)]


def address_of(value: Any, const: bool, what: str) -> tuple[Any, int]:
    """What ctypes passes as a pointer to the bytes of `value`, and their number.

    Takes bytes, bytearray, memoryview, array.array, NumPy arrays: anything with the buffer protocol whose
    memory is contiguous. Unless `const`, C writes there, and read-only memory is refused, except for bytes
    objects, which ports of C programs hand out as buffers; one of a single byte is shared by the whole
    interpreter, so C gets a scratch byte in its place.
    """
    if isinstance(value, bytes):
        if not const and len(value) < 2:
            return ctypes.create_string_buffer(1), len(value)
        return value, len(value)
    try:
        view = memoryview(value)
    except (TypeError, BufferError) as error:
        owns = hasattr(type(value), "handle")  # memory of a device, say
        if isinstance(error, BufferError) and not owns:
            raise
        instead = ": give its .handle" if owns else ""
        raise TypeError(
            f"{what} must be an address or a buffer, not {type(value).__name__}{instead}"
        ) from None
    if not view.c_contiguous:
        raise ValueError(f"{what} must be contiguous memory: copy it first")
    if view.nbytes == 0:
        return None, 0
    if not view.readonly:
        return _View.from_buffer(view), view.nbytes
    if not const:
        raise ValueError(f"{what} must be writable memory")
    raw = _PyBuffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(raw), 0)
    pointer = ctypes.c_void_p(raw.buf)
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(raw))
    pointer.keep = view  # type: ignore[attr-defined]
    return pointer, view.nbytes


def start_of(value: Any, const: bool, what: str) -> int:
    """The address of the first byte of `value`, as `address_of` takes it; 0 where there is none."""
    pointer, _ = address_of(value, const, what)
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
