"""What the driver knows about an address, and where a Buffer is."""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import driver
from ..._errors import CUDAError
from ..._ffi.integers import as_int
from ..._ffi.shown import shown
from ...driver import CUdeviceptr, CUmemorytype, CUpointer_attribute, CUresult, checked
from ..closable import Closable


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


class Located(Closable):
    """The part of a Buffer that says where it is: as its memory resource has it, or else the driver."""

    __slots__ = ("_attributes",)
    _address: int
    _attributes: Location | None
    _resource: Any

    @property
    def device_id(self) -> int:
        """The ordinal of the device that has the memory; -1 for host memory."""
        address, mr = self._address, self._resource
        ordinal: int = self._located(address).device_id if mr is None else mr.device_id
        return ordinal

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can use it."""
        address, mr = self._address, self._resource
        return bool(self._located(address).device if mr is None else mr.is_device_accessible)

    @property
    def is_host_accessible(self) -> bool:
        """Whether Python can."""
        address, mr = self._address, self._resource
        return bool(self._located(address).host if mr is None else mr.is_host_accessible)

    @property
    def is_managed(self) -> bool:
        """Whether it moves between host and device by itself; the resource or the driver says so."""
        address, mr = self._address, self._resource
        return (mr is not None and bool(mr.is_managed)) or self._located(address).managed

    def _located(self, address: int) -> Location:
        if self._attributes is None:
            self._attributes = locate(address)
        return self._attributes


def is_allocated(address: int) -> bool:
    """Whether the driver has memory there now. Source: cuPointerGetAttribute."""
    kind = CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    return bool(driver.cuPointerGetAttribute(kind, address)[0] != CUresult.CUDA_ERROR_INVALID_VALUE)


def byte_count(size: int) -> int:
    """`size` as an int. Raises TypeError for what is no number, ValueError below 0."""
    if isinstance(size, (tuple, list)):
        raise TypeError(
            f"a size in bytes is one number, not {shown(size)}: the product of a shape and its itemsize"
        )
    number = as_int(size, "a size in bytes")
    if number < 0:
        raise ValueError(f"a size in bytes cannot be {number}")
    return number
