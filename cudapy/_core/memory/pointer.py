"""What the driver knows about an address."""

from __future__ import annotations

from typing import NamedTuple

from ... import driver
from ..._bindings.errors import CUDAError
from ..._ffi.integers import as_int
from ..._ffi.shown import shown
from ...driver import CUdeviceptr, CUmemorytype, CUpointer_attribute, CUresult, checked


class Address(CUdeviceptr):
    """The address of memory as its owner has it: C writes it, and who frees the memory leaves 0 there."""

    @classmethod
    def of(cls, ptr: int | CUdeviceptr) -> Address:
        """`ptr`, if it is one."""
        return ptr if type(ptr) is cls else cls(ptr)


class Location(NamedTuple):
    """Where memory is, and who can use it."""

    device_id: int
    device: bool
    host: bool
    managed: bool


def locate(address: int) -> Location:
    """What the driver knows about an address. Source: cuPointerGetAttribute."""
    try:
        kind = checked.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)
    except CUDAError as error:
        if error.code != CUresult.CUDA_ERROR_INVALID_VALUE:
            raise
        return Location(-1, False, True, False)  # memory that CUDA has never heard of
    managed = checked.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED, address)
    if kind == CUmemorytype.CU_MEMORYTYPE_HOST and not managed:
        return Location(-1, True, True, False)
    device = checked.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)
    return Location(int(device), True, bool(managed), bool(managed))


def is_allocated(address: int) -> bool:
    """Whether the driver has memory there now. Source: cuPointerGetAttribute."""
    kind = CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    return bool(driver.cuPointerGetAttribute(kind, address)[0] != CUresult.CUDA_ERROR_INVALID_VALUE)


def size_at(address: int) -> int:
    """How many bytes were allocated where an address lies. Source: cuPointerGetAttribute."""
    return int(checked.cuPointerGetAttribute(CUpointer_attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE, address))


def byte_count(size: int) -> int:
    """`size` as an int. Raises TypeError for what is not a number, ValueError below 0."""
    if isinstance(size, (tuple, list)):
        raise TypeError(
            f"a size in bytes is one number, not {shown(size)}: the product of a shape and its itemsize"
        )
    if getattr(size, "shape", ()):
        raise TypeError(
            f"a size in bytes is a number, not {shown(size)}: its .nbytes, or Device.upload(array)"
        )
    number = as_int(size, "a size in bytes")
    if number < 0:
        raise ValueError(f"a size in bytes cannot be {number}")
    return number
