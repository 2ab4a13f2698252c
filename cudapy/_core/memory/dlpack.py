"""DLPack: arrays handed from library to library, as a C struct in a capsule.

A capsule's destructor and a tensor's deleter may be called while an exception is being raised, without the
GIL, or after the end of the interpreter. No Python function can stand that, so none is used here. Those of
NumPy, which are C, do all of it: a capsule of ours is NumPy's for a host array at the same address, which it
never reads, and then device, type and strides are written into it. A capsule of another library is read and
kept as it is; its own destructor lets go of the tensor.

Source: dlpack.h, version 1.0; https://dmlc.github.io/dlpack/latest/python_spec.html
"""

import contextlib
from collections.abc import Sequence
from typing import Any

from ..._ffi.dlpack import READ_ONLY, VERSION, Described, capsule_of, int64s, open_capsule


class _Anchor(bytearray):
    """The one byte of host memory that NumPy's array has, and what its capsule keeps alive."""

    __slots__ = ("owner", "strides")
    owner: object
    strides: object


def capsule(owner: object, what: Described, max_version: tuple[int, int] | None = None) -> object:
    """A capsule that says `what` and keeps `owner` alive; versioned if the consumer takes that.

    Raises BufferError for read-only memory if it does not.
    """
    import numpy

    anchor = _Anchor(1)
    anchor.owner = owner
    array: Any = numpy.ndarray(what.shape, "u1", buffer=anchor, strides=(0,) * len(what.shape))
    exported = None
    if max_version is not None and max_version[0] >= VERSION[0]:
        with contextlib.suppress(TypeError):  # NumPy before 2.1
            exported = array.__dlpack__(max_version=VERSION)
    exported = exported or array.__dlpack__()
    tensor, managed = open_capsule(exported)
    if managed is not None:
        managed.flags = READ_ONLY if what.is_readonly else 0
    elif what.is_readonly:
        raise BufferError("read-only memory needs a consumer, and a NumPy, that takes DLPack 1.0")
    tensor.data, tensor.byte_offset = what.address, 0
    tensor.device_type, tensor.device_id = what.device_type, what.device_id
    tensor.code, tensor.bits, tensor.lanes = what.code, what.bits, what.lanes
    strides = dense(what.shape) if what.strides is None else what.strides
    if strides and not tensor.strides:  # NumPy has none for one element, or none; DLPack 1.2 wants them
        anchor.strides = tensor.strides = int64s(strides)
    for axis, stride in enumerate(strides):
        tensor.strides[axis] = stride
    return exported


def adopted(address: int) -> object:
    """A capsule for a versioned tensor of another library, which is deleted with it."""
    none = Described(0, 1, 0, (1,), None, 0, 8, 1, False)
    return capsule_of(address, capsule(None, none, VERSION))


def dense(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of C order, counted in elements."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
