"""core on a real GPU: devices and their contexts."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
import pytest

from cudapy import driver, nvml
from cudapy._core.management import device as system_device
from cudapy._ffi.library import SymbolNotFound
from cudapy.core import CUDAError, Device, Event, Stream, system

from .core_kernels import content, current, spin

pytestmark = pytest.mark.gpu


def test_a_device_is_one_object_in_a_thread(device) -> None:
    assert Device(0) is device is Device(device) is Device()
    others = []
    thread = threading.Thread(target=lambda: others.append(Device(0)))
    thread.start()
    thread.join()
    assert others[0] is not device and others[0].uuid == device.uuid
    assert others[0] == device and {device: 1}[others[0]] == 1 and device != 0
    before = others[0].set_current(device.context)
    assert before == device.context, "contexts go from thread to thread"
    assert pickle.loads(pickle.dumps(device)) is device
    assert Device.get_all_devices()[0] is device
    assert int(device) == device.device_id == 0


def test_the_forms_of_its_call(device) -> None:
    """Machine code may take the first calls: the others go on as those of any class."""
    assert Device(device_id=0) is device is Device(*[0]) is Device(device_id=None)
    assert [*map(Device, [0, device, np.int64(0)])] == [device] * 3
    for arguments, named, message in (
        ((0, 1), {}, r"__new__\(\) takes from 1 to 2 positional arguments but 3 were given"),
        ((0,), {"device_id": 0}, "got multiple values for argument 'device_id'"),
        ((), {"ordinal": 0}, "got an unexpected keyword argument 'ordinal'"),
        (("cuda:1",), {}, r"write Device\(1\)"),
    ):
        with pytest.raises(TypeError, match=message):
            Device(*arguments, **named)
    for ordinal in (-1, 1000, 2**31, 2**70):
        with pytest.raises(ValueError, match=f"there is no device {ordinal}"):
            Device(ordinal)

    class Mine(Device):
        pass

    assert Mine(0) is device
    with mock.patch.object(Device, "__new__", lambda cls, *arguments: arguments):
        assert (Device(0), Device()) == ((0,), ())
    assert Device(0) is device is Device()


def test_what_a_device_is(device) -> None:
    assert "NVIDIA" in device.name or device.name.startswith(("Tesla", "Quadro", "GeForce"))
    assert [len(part) for part in device.uuid.split("-")] == [8, 4, 4, 4, 12]
    assert len(device.pci_bus_id.split(":")) == 3
    major, minor = device.compute_capability
    assert device.arch == f"{major}{minor}"
    assert not device.can_access_peer(device)
    assert 0.9 < driver.checked.cuMemGetInfo()[1] / device.total_memory <= 1


def test_every_property_has_its_type(device) -> None:
    kinds = type(device.properties).__annotations__
    assert len(kinds) == 143
    for name, kind in kinds.items():
        value = getattr(device.properties, name)
        assert type(value).__name__ == kind, name
    assert device.properties.warp_size == 32
    assert device.properties.max_threads_per_block == 1024
    assert device.properties.unified_addressing is True
    with pytest.raises(AttributeError, match="no property 'warp'"):
        _ = device.properties.warp
    with pytest.raises(AttributeError, match=r"warp_size .* cannot be set"):
        device.properties.warp_size = 64


@pytest.mark.parametrize("ordinal", ["0", 0.5, b"0"])
def test_what_is_no_ordinal(device, ordinal) -> None:
    with pytest.raises(TypeError):
        Device(ordinal)
    with pytest.raises(TypeError):
        device.can_access_peer(ordinal)
    with pytest.raises(TypeError, match="Context"):
        device.set_current(ordinal)


def test_a_device_that_does_not_exist() -> None:
    for ordinal in (-1, 1000):
        with pytest.raises(ValueError, match=f"no device {ordinal}"):
            Device(ordinal)


def in_thread(function):
    """What `function()` returns in a new thread, and the context that is current there afterwards."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: (function(), current())).result()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Device(0).create_stream(),
        lambda: Device(0).create_event(),
        lambda: Device(0).context.create_stream(),
        Stream,
        Event,
    ],
)
def test_a_thread_without_a_context_has_none_afterwards(device, make) -> None:
    made, context = in_thread(make)
    assert context == 0
    assert made.device is device and made.context == device.context
    with made:
        pass


def test_memory_for_a_thread_without_a_context(device, stream) -> None:
    buffer, context = in_thread(lambda: Device(0).allocate(64))
    assert context == 0
    buffer.fill(3, stream=stream)
    assert content(buffer, np.uint8, stream).tolist() == [3] * 64


def test_another_context_of_the_device(device) -> None:
    """What is made, is made in the current one if it is the device's, and it stays current."""
    primary = device.context
    other = driver.checked.cuCtxCreate(None, 0, 0)
    try:
        assert int(device.context.handle) == int(other) != int(primary.handle)
        with device.create_stream() as stream, device.create_event() as event:
            assert stream.context == event.context == device.context
            stream.record(event)
            stream.sync()
        device.sync()
        assert current() == int(other)
        assert int(device.set_current(primary).handle) == int(other)
        assert device.context == primary and current() == int(primary.handle)
    finally:
        driver.checked.cuCtxDestroy(other)


def test_what_is_made_elsewhere_is_used_and_closed_from_here(device, code) -> None:
    """Handles know their context: recording, waiting and closing change nothing of the caller's."""
    primary = device.context
    stream, event = device.create_stream(), device.create_event()
    other = driver.checked.cuCtxCreate(None, 0, 0)
    try:
        stream.record(event)
        made = stream.record()
        assert made.context == primary
        stream.wait(made)
        stream.sync()
        event.sync()
        assert event.is_done
        for thing in (made, event, stream):
            thing.close()
        assert current() == int(other)
    finally:
        driver.checked.cuCtxDestroy(other)


def test_set_current_with_a_context_gives_the_one_before(device) -> None:
    context = device.context
    assert device.set_current(context) == context
    assert device.context == context and not context.is_green and not context.is_closed


def test_sync_waits_for_every_stream(device, code, stream) -> None:
    other = device.create_stream()
    spin(code, stream, 20)
    spin(code, other, 20)
    device.sync()
    for each in (stream, other):
        assert driver.cuStreamQuery(each.handle) == (driver.CUresult.CUDA_SUCCESS,)


def test_the_system(monkeypatch) -> None:
    count = system.get_num_devices()
    assert count == len(Device.get_all_devices()) > 0
    major, minor = system.get_user_mode_driver_version()
    assert driver.checked.cuDriverGetVersion() == 1000 * major + 10 * minor

    def nothing():
        raise CUDAError("none", driver.CUresult.CUDA_ERROR_NO_DEVICE, "cuDeviceGetCount")

    monkeypatch.setattr(driver.checked, "cuDeviceGetCount", nothing)
    assert system.get_num_devices() == 0


def test_what_a_device_shows(device) -> None:
    assert repr(device) == f"<Device 0 ({device.name})>"
    assert repr(device.properties) == "<DeviceProperties of device 0>"
    assert {"multiprocessor_count", "warp_size"} <= set(dir(device.properties))


def test_streams_of_others_take_no_options(device, stream) -> None:
    with pytest.raises(ValueError, match="options are for a new stream"):
        device.create_stream(stream, {"priority": 0})


def test_a_context_of_another_device(device) -> None:
    if len(Device.get_all_devices()) == 1:
        pytest.skip("there is one GPU")
    other = Device(1)
    other.set_current()
    context = other.context
    device.set_current()
    with pytest.raises(ValueError, match=r"is a context of <Device 1 .*, not of <Device 0 "):
        device.set_current(context)
    assert Device() is device


def test_the_current_device_by_a_context_that_core_did_not_make(device) -> None:
    if len(Device.get_all_devices()) == 1:
        pytest.skip("there is one GPU")
    context = driver.checked.cuCtxCreate(None, 0, 1)
    try:
        assert Device() == Device(1)
    finally:
        driver.checked.cuCtxDestroy(context)
        device.set_current()


def test_a_mig_device_for_nvml(device, monkeypatch) -> None:
    """NVML knows it by the other prefix."""
    asked = []

    def made(uuid):
        asked.append(uuid)
        if uuid.startswith("GPU-"):
            raise nvml.NotFoundError(nvml.Return.ERROR_NOT_FOUND)
        return "the MIG device"

    monkeypatch.setattr(system_device, "Device", made)
    assert device.to_system_device() == "the MIG device"
    assert asked == [f"GPU-{device.uuid}", f"MIG-{device.uuid}"]


def lacks(*arguments):
    raise SymbolNotFound("it", "the driver lacks it")


def test_a_driver_that_records_no_events_of_contexts(device, stream, monkeypatch) -> None:
    """Before CUDA 12.5: the wait is that of C."""
    waited = []
    wait = driver.checked.cuCtxSynchronize
    monkeypatch.setattr(driver, "cuCtxRecordEvent", lacks)
    monkeypatch.setattr(driver.checked, "cuCtxSynchronize", lambda: waited.append(wait()))
    device.sync()
    assert waited == [None]


def test_a_driver_that_fails_to_count_devices(monkeypatch) -> None:
    def fail(code):
        def count():
            raise CUDAError("failed", code, "cuDeviceGetCount")

        monkeypatch.setattr(driver.checked, "cuDeviceGetCount", count)

    fail(driver.CUresult.CUDA_ERROR_NO_DEVICE)
    assert system.get_num_devices() == 0
    fail(driver.CUresult.CUDA_ERROR_UNKNOWN)
    with pytest.raises(CUDAError, match="failed"):
        system.get_num_devices()
