"""DLPack: the structs that libraries hand arrays over in, and the capsules that they lie in.

Source: dlpack.h, version 1.0; https://dmlc.github.io/dlpack/latest/python_spec.html
"""

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

from .shown import shown

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
INT, UINT, FLOAT, BFLOAT, COMPLEX, BOOL = 0, 1, 2, 4, 5, 6
READ_ONLY = 1
VERSION = (1, 0)
MOST_AXES = 64  # of NumPy, and of every library that exchanges arrays with it
WIDTHS = {BOOL: (8,), BFLOAT: (16,), FLOAT: (16, 32, 64, 128), COMPLEX: (32, 64, 128, 256)}
"""The bits that elements may have; those of integers, and of what is newer, may be any."""
_KINDS = {BOOL: "bool", BFLOAT: "bfloat", FLOAT: "float", COMPLEX: "complex"}

_NAMES = (b"dltensor_versioned", b"dltensor")


class Tensor(ctypes.Structure):
    """DLTensor. shape and strides are counted in elements; strides may be null: C order."""

    _fields_ = [
        ("data", ctypes.c_size_t),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class ManagedVersioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Described(NamedTuple):
    """What a capsule says. strides: counted in elements; None: C order."""

    address: int
    device_type: int
    device_id: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    code: int
    bits: int
    lanes: int
    is_readonly: bool


def _api(name: str, restype: Any, *argtypes: Any) -> Any:
    function = ctypes.pythonapi[name]
    function.restype, function.argtypes = restype, argtypes
    return function


_VERSIONED, _USED = b"dltensor_versioned", b"used_dltensor_versioned"
_new = _api("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_set_name = _api("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_destructor = _api("PyCapsule_GetDestructor", ctypes.c_void_p, ctypes.py_object)
_is_valid = _api("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_get_pointer = _api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)


def open_capsule(capsule: object) -> tuple[Tensor, ManagedVersioned | None]:
    """The structs in a capsule, and the versioned one around them."""
    for name in _NAMES:
        if _is_valid(capsule, name):
            address = _get_pointer(capsule, name)
            if name == b"dltensor":
                return Managed.from_address(address).tensor, None
            managed = ManagedVersioned.from_address(address)
            if managed.major != VERSION[0]:  # nothing behind the version is known to be where it is in ours
                raise BufferError(f"this is DLPack {managed.major}.{managed.minor}, not {VERSION[0]}.x")
            return managed.tensor, managed
    raise BufferError(f"{shown(capsule)} is not a DLPack capsule, or it was used before")


def released(capsule: object) -> int:
    """The address of the versioned tensor in `capsule`, which whoever gets it has to delete from now on."""
    if not _is_valid(capsule, _VERSIONED):
        raise BufferError(f"{shown(capsule)} has no versioned tensor: that needs NumPy 2.1")
    address: int = _get_pointer(capsule, _VERSIONED)
    _set_name(capsule, _USED)
    return address


def capsule_of(address: int, like: object) -> object:
    """A capsule with the versioned tensor at `address`, which it deletes as the capsule `like` does its."""
    if not _is_valid(like, _VERSIONED):
        raise BufferError("a versioned tensor needs NumPy 2.1")
    return _new(address, _VERSIONED, _destructor(like))


def int64s(values: Sequence[int]) -> Any:
    """An array of C."""
    return (ctypes.c_int64 * len(values))(*values)


def describe(capsule: object) -> Described:
    """What an unused capsule says. Its tensor is there as long as the capsule.

    Raises BufferError for what no tensor can be.
    """
    tensor, managed = open_capsule(capsule)
    if not 0 <= tensor.ndim <= MOST_AXES:
        raise BufferError(f"a DLPack tensor of {tensor.ndim} axes: there may be {MOST_AXES}")
    axes = range(tensor.ndim)
    if tensor.ndim and not tensor.shape:
        raise BufferError("a DLPack tensor has axes, and no shape")
    if any(tensor.shape[i] < 0 for i in axes):
        raise BufferError("a DLPack tensor has a negative extent")
    if not tensor.bits or not tensor.lanes:
        raise BufferError(f"a DLPack tensor has elements of {tensor.bits} bits, {tensor.lanes} at a time")
    if tensor.bits not in WIDTHS.get(tensor.code, (tensor.bits,)):
        raise BufferError(f"a DLPack tensor has {_KINDS[tensor.code]} of {tensor.bits} bits")
    if tensor.data + tensor.byte_offset >= 1 << 64:
        raise BufferError(f"byte_offset = {tensor.byte_offset} of a DLPack tensor leads beyond all addresses")
    return Described(
        tensor.data + tensor.byte_offset,
        tensor.device_type,
        tensor.device_id,
        tuple(tensor.shape[i] for i in axes),
        tuple(tensor.strides[i] for i in axes) if tensor.strides else None,
        tensor.code,
        tensor.bits,
        tensor.lanes,
        bool(managed is not None and managed.flags & READ_ONLY),
    )
