"""Structs of the raising faces: of memory that is there, compared, and in arrays."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any

import numpy as np
import pytest

from cudapy import cudla, cufile, nvml
from cudapy._ffi.face_structs import Face, dtype

SIZE = ctypes.sizeof(cufile.IOEvents)


class Owner(bytearray):
    """What can be referred to weakly."""


def test_the_memory_at_an_address_with_its_owner_or_a_copy() -> None:
    memory = nvml.Memory_v2(total=1)
    view, copy = nvml.Memory_v2.from_ptr(memory.ptr, owner=memory), nvml.Memory_v2.from_ptr(memory.ptr)
    memory.total = 2
    assert (view.total, view.version, copy.total) == (2, memory.version, 1)
    union = cudla.DevAttribute(device_version=3)
    assert cudla.DevAttribute.from_ptr(union.ptr).device_version == 3


@pytest.mark.parametrize("size", [1, 2])
def test_several_at_an_address(size: int) -> None:
    owner = Owner(2 * SIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(owner))
    events: Any = cufile.IOEvents.from_ptr(address, size, owner=owner)
    last = events if size == 1 else events[1]
    last.ret = 5
    assert owner[size * SIZE - 8] == 5 and events.ptr == address
    gone = weakref.ref(owner)
    del owner, events
    gc.collect()
    assert gone() is not None and last.ret == 5
    del last
    gc.collect()
    assert gone() is None


def test_the_memory_of_an_array_or_a_buffer() -> None:
    memory, counter = np.zeros(4 * SIZE, "u1"), np.zeros(2, "u8")
    for events in (cufile.IOEvents.from_data(memory), cufile.IOEvents.from_buffer(memory)):
        assert len(events) == 4
        events[3].ret += 1  # type: ignore[index]
    assert memory[-8] == 2
    cufile.OpCounter.from_data(counter).err = 7
    assert counter[1] == 7
    assert cufile.IOEvents.from_data(memory[:SIZE]).ret == 0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: nvml.Memory_v2.from_ptr(0), ValueError, "must not be null"),
        (lambda: nvml.Memory_v2.from_ptr("x"), TypeError, "ptr must be an integer, not 'x'"),
        (lambda: cufile.IOEvents.from_ptr(0, 2), ValueError, "must not be null"),
        (lambda: cufile.IOEvents.from_ptr(16, 0), ValueError, "one item or more"),
        (lambda: nvml.Memory_v2.from_ptr(16, True), ValueError, "readonly must be False"),
        (lambda: cufile.OpCounter.from_data(np.zeros(3, "u8")), ValueError, "must have 16 bytes, not 24"),
        (
            lambda: cufile.IOEvents.from_data(bytearray(5)),
            ValueError,
            f"multiple of {SIZE} bytes, not 5",
        ),
        (lambda: cufile.IOEvents.from_buffer(bytearray()), ValueError, f"multiple of {SIZE} bytes, not 0"),
        (lambda: cufile.OpCounter.from_data(bytes(16)), TypeError, "not writable"),
        (lambda: nvml.Memory_v2(4), TypeError, "positional"),
    ],
)
def test_what_is_no_memory_of_theirs(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_equal_are_those_with_the_same_bytes() -> None:
    assert cufile.OpCounter(ok=1) == cufile.OpCounter(ok=1) != cufile.OpCounter(ok=2)
    assert cufile.OpCounter() != cufile.IOVec()
    with pytest.raises(TypeError, match="unhashable"):
        hash(cufile.OpCounter())


def test_the_address_as_an_int() -> None:
    counter: Any
    for counter in (cufile.OpCounter(), cufile.IOEvents(3), cudla.DevAttribute(device_version=3)):
        assert int(counter) == counter.ptr == ctypes.addressof(counter)


def structs() -> list[Any]:
    """Every struct and union of the raising faces."""
    named = [getattr(module, name) for module in (cudla, cufile, nvml) for name in dir(module)]
    found = {cls for cls in named if isinstance(cls, type) and issubclass(cls, Face)}
    return sorted((cls for cls in found if hasattr(cls, "_fields_") and cls._fields_), key=str)


@pytest.mark.parametrize("struct", structs(), ids=lambda cls: cls.__name__)
def test_types_of_numpy_have_the_fields_where_c_has_them(struct: Any) -> None:
    found = dtype(struct)
    assert found.itemsize == ctypes.sizeof(struct) and found.names and found.fields
    for name in found.names:
        of_field, offset = found.fields[name][:2]
        raw = getattr(struct, name).raw
        assert (offset, of_field.itemsize) == (raw.offset, raw.size), name


def test_types_of_numpy_by_name() -> None:
    module: Any = nvml
    assert module.ba_r1memory_dtype == np.dtype(
        [(name, "u8") for name in ("bar1_total", "bar1_free", "bar1_used")]
    )
    # Behind a union that is aligned to 8: numpy.dtype(struct) would put it at 12.
    assert module.vgpu_instance_utilization_info_v1_dtype.fields["sm_util"][1] == 16
    assert module.pci_info_dtype["bus_id"] == np.dtype(("i1", (32,)))
    assert module.field_value_dtype["value"].fields["us_val"] == (np.dtype("u2"), 0)
    module = cufile
    events = np.zeros(2, module.io_events_dtype)
    events["ret"] = 4, 5
    assert [event.ret for event in module.IOEvents.from_data(events)] == [4, 5]
    with pytest.raises(AttributeError, match="no attribute 'nothing_dtype'"):
        _ = module.nothing_dtype
