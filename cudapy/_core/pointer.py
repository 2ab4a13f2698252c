"""What the driver knows about an address."""

from __future__ import annotations

from typing import NamedTuple

from .. import driver
from .._errors import CUDAError
from .._ffi.integers import as_int
from ..driver import CUmemorytype, CUpointer_attribute, CUresult, checked


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


def byte_count(size: int) -> int:
    """`size` as an int. Raises TypeError for what is no number, ValueError below 0."""
    number = as_int(size, "a size in bytes")
    if number < 0:
        raise ValueError(f"a size in bytes cannot be {number}")
    return number
