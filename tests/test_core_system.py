"""core.system on the stub of NVML: what reaches C, setters among it, which run nowhere else."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

from .stub import module
from .stub.record import Stub

devices, events = module("_core.management.device"), module("_core.management.events")
initialise = module("_core.management.initialise")
choices = module("_core.management.choices")
nvml = module("nvml")


@pytest.fixture
def stub(stub_of: Callable[[str], Stub]) -> Stub:
    return stub_of("nvml")


@pytest.fixture
def device(stub: Stub) -> Any:
    return devices.Device._of(5)


def last(stub: Stub) -> tuple[str, list[int]]:
    """The last call, and those of its arguments that are numbers."""
    call = stub.calls()[-1]
    numbers = [int.from_bytes(a.raw, "little") for a in call.arguments.values() if a.memory is None]
    return call.symbol, numbers


SETTERS: list[tuple[Callable[[Any], Any], str, list[int]]] = [
    (lambda d: setattr(d, "is_persistence_mode_enabled", True), "nvmlDeviceSetPersistenceMode", [5, 1]),
    (lambda d: setattr(d.get_fan(2), "speed", 40), "nvmlDeviceSetFanSpeed_v2", [5, 2, 40]),
    (lambda d: d.get_fan(1).set_default_speed(), "nvmlDeviceSetDefaultFanSpeed_v2", [5, 1]),
    (lambda d: d.set_cpu_affinity(), "nvmlDeviceSetCpuAffinity", [5]),
    (lambda d: d.clear_cpu_affinity(), "nvmlDeviceClearCpuAffinity", [5]),
    (lambda d: d.inforom.validate(), "nvmlDeviceValidateInforom", [5]),
]


@pytest.mark.parametrize(("act", "symbol", "numbers"), SETTERS, ids=[symbol for _, symbol, _ in SETTERS])
def test_setters(act: Any, symbol: str, numbers: list[int], device: Any, stub: Stub) -> None:
    act(device)
    assert last(stub) == (symbol, numbers)


def test_the_mode_of_mig_says_what_became_of_it(device: Any, stub: Stub) -> None:
    """C returns a status of the change beside that of the call: here a value that no status has."""
    with pytest.raises(nvml.NvmlError) as caught:
        device.mig.mode = True
    assert type(caught.value) is nvml.NvmlError
    assert last(stub)[0] == "nvmlDeviceSetMigMode"


CHOSEN = [
    (lambda d: d.get_clock("memory").get_current_mhz("customer_boost_max"), "nvmlDeviceGetClock", [5, 2, 3]),
    (lambda d: d.get_clock(choices.ClockType.VIDEO).get_max_mhz(), "nvmlDeviceGetMaxClockInfo", [5, 3]),
    (lambda d: d.temperature.get_threshold("gps_curr"), "nvmlDeviceGetTemperatureThreshold", [5, 7]),
    (lambda d: list(d.get_topology_nearest_gpus("hostbridge")), "nvmlDeviceGetTopologyNearestGpus", [5, 30]),
    (lambda d: d.inforom.get_version("power"), "nvmlDeviceGetInforomVersion", [5, 2, 16]),
]


@pytest.mark.parametrize(("act", "symbol", "numbers"), CHOSEN, ids=[symbol for _, symbol, _ in CHOSEN])
def test_choices_reach_c_as_numbers(
    act: Any, symbol: str, numbers: list[int], device: Any, stub: Stub
) -> None:
    act(device)
    name, found = last(stub)
    assert (name, found[: len(numbers)]) == (symbol, numbers)


def test_events_are_registered_and_their_set_is_destroyed(device: Any, stub: Stub) -> None:
    registered = device.register_events(["xid_critical_error", choices.EventType.CLOCK])
    made, registration = stub.calls()
    assert (made.symbol, registration.symbol) == ("nvmlEventSetCreate", "nvmlDeviceRegisterEvents")
    assert int.from_bytes(registration.arguments["eventTypes"].raw, "little") == 8 | 16
    event_set = registration.arguments["set"].raw
    assert isinstance(registered.wait(timeout_ms=50), events.EventData)
    assert last(stub) == ("nvmlEventSetWait_v2", [int.from_bytes(event_set, "little"), 50])
    del registered
    gc.collect()
    (freed,) = stub.calls()
    assert (freed.symbol, freed.arguments["set"].raw) == ("nvmlEventSetFree", event_set)


def test_a_wait_ends_in_time(device: Any, stub: Stub) -> None:
    """It is made of short ones, for Ctrl-C; each fails with NVML_ERROR_TIMEOUT."""
    registered = device.register_events("clock")
    stub.calls()
    stub.status = 10
    with pytest.raises(nvml.NvmlTimeoutError):
        registered.wait(timeout_ms=1)
    assert {call.symbol for call in stub.calls()} == {"nvmlEventSetWait_v2"}
    stub.status = 3
    with pytest.raises(nvml.NotSupportedError):
        registered.wait()
    stub.status = 0


def test_events_of_the_system(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "initialise", lambda: None)
    registered = events.register_events(["bind", "unbind"])
    symbols = [call.symbol for call in stub.calls()]
    assert symbols == ["nvmlSystemEventSetCreate", "nvmlSystemRegisterEvents"]
    del registered
    gc.collect()
    assert [call.symbol for call in stub.calls()] == ["nvmlSystemEventSetFree"]


def test_an_event_says_what_it_has() -> None:
    xid = events.EventData(nvml.EventData(event_type=8, event_data=79))
    assert (xid.event_type, xid.event_data) == (choices.EventType.XID_CRITICAL_ERROR, 79)
    clock = events.EventData(nvml.EventData(event_type=16, event_data=79))
    with pytest.raises(ValueError, match="XID_CRITICAL_ERROR alone, not for CLOCK"):
        clock.event_data  # noqa: B018
    with pytest.raises(ValueError, match="no EventType for"):
        events.EventData(nvml.EventData(event_type=1 << 40)).event_type  # noqa: B018


def test_the_address_of_a_device_of_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "Device", lambda **given: given)
    event = events.SystemEvent(nvml.SystemEventData_v1(gpu_id=0x1A000, event_type=2))
    assert event.device == {"pci_bus_id": "00000001:A0:00.0"}
    assert event.event_type is choices.SystemEventType.BIND


def test_a_field_has_a_value_of_its_type_or_an_exception() -> None:
    readings = module("_core.management.readings")
    signed = nvml.FieldValue(field_id=5, value_type=nvml.ValueType.SIGNED_INT)
    signed.value.si_val = -7
    wide = nvml.FieldValue(field_id=6, value_type=nvml.ValueType.UNSIGNED_LONG_LONG)
    wide.value.ull_val = 2**40
    failed = nvml.FieldValue(field_id=7, nvml_return=3)
    values = readings.FieldValues([signed, wide, failed])
    assert [value.value for value in values[:2]] == [-7, 2**40]
    with pytest.raises(nvml.NotSupportedError):
        values.validate()
    assert "ERROR_NOT_SUPPORTED" in repr(values)
    assert readings.FieldValues([signed, wide]).get_all_values() == [-7, 2**40]


def test_bits() -> None:
    assert devices.places([5, 1 << 63]) == [0, 2, 127]
    assert choices.bits(choices.CoolerTarget, 2 | 8) == ["gpu", "power_supply"]
    assert choices.bits(choices.ClocksEventReasons, 1 << 40) == []


def test_each_process_initialises_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(initialise.nvml, "init_v2", lambda: calls.append(1))
    monkeypatch.setattr(initialise, "_process", 0)
    initialise.initialise()
    initialise.initialise()
    assert calls == [1]
    monkeypatch.setattr(initialise.os, "getpid", lambda: -5)
    initialise.initialise()
    assert calls == [1, 1]
