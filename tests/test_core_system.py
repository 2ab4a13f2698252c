"""core.system on the stub of NVML: what reaches C, setters among it, which run nowhere else."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

from .stub import module
from .stub.record import Stub

devices, events = module("_core.management.device"), module("_core.management.events")
system_events = module("_core.management.system_events")
library = module("_core.management.library")
core = module("core")
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


@pytest.fixture
def made(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of events of the system are made as NVML does, which writes them to the request."""
    create = nvml.nvmlSystemEventSetCreate

    def created(request: Any) -> Any:
        request.set = 9
        return create(request)

    monkeypatch.setattr(system_events, "initialise", lambda: None)
    monkeypatch.setattr(nvml, "nvmlSystemEventSetCreate", created)


def test_events_of_the_system(stub: Stub, made: None) -> None:
    registered = system_events.register_events(["bind", "unbind"])
    symbols = [call.symbol for call in stub.calls()]
    assert symbols == ["nvmlSystemEventSetCreate", "nvmlSystemRegisterEvents"]
    del registered
    gc.collect()
    assert [call.symbol for call in stub.calls()] == ["nvmlSystemEventSetFree"]


def test_they_are_freed_though_ctrl_c_comes_as_they_are_made(
    stub: Stub, made: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = nvml.nvmlSystemEventSetCreate

    def interrupted(request: Any) -> None:
        create(request)
        raise KeyboardInterrupt

    monkeypatch.setattr(nvml, "nvmlSystemEventSetCreate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        system_events.register_events("bind")
    gc.collect()
    assert [call.symbol for call in stub.calls()] == ["nvmlSystemEventSetCreate", "nvmlSystemEventSetFree"]


def test_an_event_says_what_it_has() -> None:
    xid = events.EventData(nvml.EventData(event_type=8, event_data=79))
    assert (xid.event_type, xid.event_data) == (choices.EventType.XID_CRITICAL_ERROR, 79)
    part = events.EventData(nvml.EventData(event_type=8, device_=5, gpu_instance_id=2, compute_instance_id=3))
    assert (part.gpu_instance_id, part.compute_instance_id, part.device._handle) == (2, 3, 5)
    assert repr(part) == f"EventData({choices.EventType.XID_CRITICAL_ERROR!r})"
    clock = events.EventData(nvml.EventData(event_type=16, event_data=79))
    with pytest.raises(ValueError, match="XID_CRITICAL_ERROR alone, not for CLOCK"):
        clock.event_data  # noqa: B018
    with pytest.raises(ValueError, match="no EventType for"):
        events.EventData(nvml.EventData(event_type=1 << 40)).event_type  # noqa: B018


def test_the_address_of_a_device_of_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_events, "Device", lambda **given: given)
    event = system_events.SystemEvent(nvml.SystemEventData_v1(gpu_id=0x1A000, event_type=2))
    assert event.device == {"pci_bus_id": "00000001:A0:00.0"}
    assert event.event_type is choices.SystemEventType.BIND


def test_events_of_the_system_come_together(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_events, "initialise", lambda: None)
    registered = system_events.register_events("bind")
    found = [nvml.SystemEventData_v1(gpu_id=0x1A000, event_type=kind) for kind in (2, 1)]
    asked = []

    def wait(event_set: int, timeout_ms: int, buffer_size: int) -> list[Any]:
        asked.append((timeout_ms, buffer_size))
        if len(asked) == 1:
            raise nvml.NvmlTimeoutError(nvml.Return.ERROR_TIMEOUT)  # one wait of several is over
        return found

    monkeypatch.setattr(nvml, "system_event_set_wait", wait)
    came = registered.wait(buffer_size=4)
    assert [event.event_type for event in came] == ["bind", "unbind"]
    assert asked == [(200, 4)] * 2
    assert repr(came[0]) == f"SystemEvent({choices.SystemEventType.BIND!r}, gpu_id=0x1a000)"


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


STRUCTS: list[tuple[str, Any, dict[str, Any]]] = [
    (
        "BAR1MemoryInfo",
        nvml.BAR1Memory(bar1_total=7, bar1_free=5, bar1_used=2),
        {"total": 7, "free": 5, "used": 2},
    ),
    (
        "DeviceAttributes",
        nvml.DeviceAttributes(
            multiprocessor_count=1,
            shared_copy_engine_count=2,
            shared_decoder_count=3,
            shared_encoder_count=4,
            shared_jpeg_count=5,
            shared_ofa_count=6,
            gpu_instance_slice_count=7,
            compute_instance_slice_count=8,
            memory_size_mb=9,
        ),
        {
            "multiprocessor_count": 1,
            "shared_copy_engine_count": 2,
            "shared_decoder_count": 3,
            "shared_encoder_count": 4,
            "shared_jpeg_count": 5,
            "shared_ofa_count": 6,
            "gpu_instance_slice_count": 7,
            "compute_instance_slice_count": 8,
            "memory_size_mb": 9,
        },
    ),
    (
        "ClockOffsets",
        nvml.ClockOffset_v1(clock_offset_m_hz=-3, min_clock_offset_m_hz=-9, max_clock_offset_m_hz=8),
        {"clock_offset_mhz": -3, "min_offset_mhz": -9, "max_offset_mhz": 8},
    ),
    (
        "CoolerInfo",
        nvml.CoolerInfo_v1(signal_type=2, target=2 | 4),
        {"signal_type": choices.CoolerControl.VARIABLE, "target": ["gpu", "memory"]},
    ),
    ("CoolerInfo", nvml.CoolerInfo_v1(signal_type=0), {"signal_type": None, "target": []}),
    (
        "FieldValue",
        nvml.FieldValue(field_id=186, scope_id=3, timestamp=2**40, latency_usec=17),
        {"field_id": nvml.FieldId.DEV_POWER_INSTANT, "scope_id": 3, "timestamp": 2**40, "latency_usec": 17},
    ),
    (
        "GpuDynamicPstatesUtilization",
        nvml.GpuDynamicPstatesInfo().utilization[0],
        {"is_present": False, "percentage": 0, "inc_threshold": 0, "dec_threshold": 0},
    ),
]


@pytest.mark.parametrize(("name", "struct", "wanted"), STRUCTS, ids=[name for name, _, _ in STRUCTS])
def test_a_reading_has_the_fields_of_its_struct(name: str, struct: Any, wanted: dict[str, Any]) -> None:
    reading = getattr(module("_core.management.readings"), name)(struct)
    assert {key: getattr(reading, key) for key in wanted} == wanted


def test_a_reading_shows_its_values() -> None:
    readings = module("_core.management.readings")
    memory = readings.BAR1MemoryInfo(nvml.BAR1Memory(bar1_total=7, bar1_free=5, bar1_used=2))
    assert repr(memory) == "BAR1MemoryInfo(free=5, total=7, used=2)"


def test_the_utilization_of_parts() -> None:
    info = nvml.GpuDynamicPstatesInfo()
    used = info.utilization
    for part, percentage in zip(used, (90, 40, 20, 10), strict=False):
        part.b_is_present, part.percentage, part.inc_threshold, part.dec_threshold = 1, percentage, 80, 30
    info.utilization = used
    parts = module("_core.management.readings").GpuDynamicPstatesInfo(info)
    assert [part.percentage for part in parts][:4] == [90, 40, 20, 10]
    assert len(parts) == len(info.utilization)
    gpu = parts[0]
    assert (gpu.is_present, gpu.inc_threshold, gpu.dec_threshold) == (True, 80, 30)
    assert repr(parts).startswith("GpuDynamicPstatesInfo([GpuDynamicPstatesUtilization(dec_threshold=30, ")


def test_thermal_settings_are_as_many_sensors_as_there_are() -> None:
    settings = nvml.GpuThermalSettings(count=1)
    sensors = settings.sensor
    sensor = sensors[0]
    sensor.controller, sensor.target = 1, 1
    sensor.default_min_temp, sensor.default_max_temp, sensor.current_temp = -5, 95, 40
    settings.sensor = sensors
    (found,) = module("_core.management.readings").ThermalSettings(settings)
    assert (found.default_min_temp, found.default_max_temp, found.current_temp) == (-5, 95, 40)
    assert found.controller is choices.ThermalController.GPU_INTERNAL
    assert found.target is choices.ThermalTarget.GPU


def test_pci() -> None:
    struct = nvml.PciInfoExt_v1(
        domain=1,
        bus=0xA0,
        device_=3,
        pci_device_id=0x233510DE,
        pci_sub_system_id=0x18BE10DE,
        base_class=3,
        sub_class=2,
        bus_id=b"00000001:A0:03.0",
    )
    pci = module("_core.management.readings").PciInfo(struct, 5)
    assert (pci.domain, pci.bus, pci.device, pci.bus_id) == (1, 0xA0, 3, "00000001:A0:03.0")
    assert (pci.vendor_id, pci.device_id, pci.subsystem_id) == (0x10DE, 0x2335, 0x18BE10DE)
    assert (pci.base_class, pci.sub_class) == (3, 2)
    assert repr(pci) == "PciInfo(bus_id='00000001:A0:03.0')"


RX, TX = nvml.PcieUtilCounter.PCIE_UTIL_RX_BYTES, nvml.PcieUtilCounter.PCIE_UTIL_TX_BYTES
RESULTS: list[tuple[Callable[[Any], Any], str, tuple[int, ...], Any, Any]] = [
    (
        lambda d: d.get_clock("sm").get_max_customer_boost_mhz(),
        "device_get_max_customer_boost_clock",
        (5, 1),
        1980,
        1980,
    ),
    (
        lambda d: d.get_clock("sm").get_min_max_clock_of_pstate_mhz(2),
        "device_get_min_max_clock_of_p_state",
        (5, 1, 2),
        (345, 1980),
        (345, 1980),
    ),
    (
        lambda d: d.get_clock("sm").get_offsets(2).max_offset_mhz,
        "device_get_clock_offsets",
        (5, 1, 2),
        nvml.ClockOffset_v1(max_clock_offset_m_hz=8),
        8,
    ),
    (lambda d: d.get_fan(1).speed_rpm, "device_get_fan_speed_rpm", (5, 1), 1200, 1200),
    (lambda d: d.get_fan(1).target_speed, "device_get_target_fan_speed", (5, 1), 40, 40),
    (lambda d: d.get_fan(1).min_max_speed, "device_get_min_max_fan_speed", (5,), (30, 100), (30, 100)),
    (
        lambda d: d.get_fan(1).control_policy,
        "device_get_fan_control_policy_v2",
        (5, 1),
        1,
        choices.FanControlPolicy.MANUAL,
    ),
    (lambda d: d.temperature.margin, "device_get_margin_temperature", (5,), 33, 33),
    (
        lambda d: (d.repair_status.channel_repair_pending, d.repair_status.tpc_repair_pending),
        "device_get_repair_status",
        (5,),
        nvml.RepairStatus_v1(b_channel_repair_pending=1),
        (True, False),
    ),
    (
        lambda d: d.repair_status.tpc_repair_pending,
        "device_get_repair_status",
        (5,),
        nvml.RepairStatus_v1(b_tpc_repair_pending=1),
        True,
    ),
    (lambda d: d.performance_state, "device_get_performance_state", (5,), 8, 8),
    (lambda d: d.performance_state, "device_get_performance_state", (5,), 32, None),
    (
        lambda d: d.is_auto_boosted_clocks_enabled,
        "device_get_auto_boosted_clocks_enabled",
        (5,),
        (1, 0),
        (True, False),
    ),
    (lambda d: d.inforom.configuration_checksum, "device_get_inforom_configuration_checksum", (5,), 77, 77),
    (lambda d: d.inforom.bbx_flush_time, "device_get_last_bbx_flush_time", (5,), (2**40, 9), (2**40, 9)),
    (lambda d: d.inforom.board_part_number, "device_get_board_part_number", (5,), "900", "900"),
    (lambda d: (d.mig.mode, d.mig.pending_mode), "device_get_mig_mode", (5,), (0, 1), (False, True)),
    (lambda d: d.mig.device_count, "device_get_max_mig_device_count", (5,), 7, 7),
    (lambda d: d.mig.parent._handle, "device_get_device_handle_from_mig_device_handle", (5,), 4, 4),
    (lambda d: d.mig.get_device_by_index(2)._handle, "device_get_mig_device_handle_by_index", (5, 2), 6, 6),
    (lambda d: d.get_nvlink(3).version, "device_get_nvlink_version", (5, 3), 6, (4, 0)),
    (lambda d: d.get_nvlink(3).state, "device_get_nvlink_state", (5, 3), 1, True),
    (
        lambda d: [near._handle for near in d.get_topology_nearest_gpus("hostbridge")],
        "device_get_topology_nearest_gpus",
        (5, 30),
        [6, 7],
        [6, 7],
    ),
    (
        lambda d: devices.get_topology_common_ancestor(d, devices.Device._of(6)),
        "device_get_topology_common_ancestor",
        (5, 6),
        50,
        choices.GpuTopologyLevel.SYSTEM,
    ),
    (
        lambda d: devices.get_p2p_status(d, devices.Device._of(6), "nvlink"),
        "device_get_p2p_status",
        (5, 6, 2),
        0,
        choices.GpuP2PStatus.OK,
    ),
    (lambda d: d.pci_info.max_link_generation, "device_get_gpu_max_pcie_link_generation", (5,), 5, 5),
    (lambda d: d.pci_info.link_generation, "device_get_max_pcie_link_generation", (5,), 4, 4),
    (lambda d: d.pci_info.max_link_width, "device_get_max_pcie_link_width", (5,), 16, 16),
    (lambda d: d.pci_info.current_link_generation, "device_get_curr_pcie_link_generation", (5,), 3, 3),
    (lambda d: d.pci_info.current_link_width, "device_get_curr_pcie_link_width", (5,), 8, 8),
    (lambda d: d.pci_info.rx_throughput, "device_get_pcie_throughput", (5, RX), 100, 100),
    (lambda d: d.pci_info.tx_throughput, "device_get_pcie_throughput", (5, TX), 200, 200),
    (lambda d: d.pci_info.replay_counter, "device_get_pcie_replay_counter", (5,), 1, 1),
]


@pytest.mark.parametrize(
    ("act", "function", "arguments", "found", "wanted"), RESULTS, ids=[result[1] for result in RESULTS]
)
def test_what_nvml_returns_comes_back(
    act: Any, function: str, arguments: Any, found: Any, wanted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def answer(*given: Any) -> Any:
        calls.append(given)
        return found

    assert callable(getattr(nvml, function))
    monkeypatch.setattr(nvml, "device_get_pci_info_ext", lambda handle: nvml.PciInfoExt_v1())
    monkeypatch.setattr(nvml, function, answer)
    assert act(devices.Device._of(5)) == wanted
    assert {*calls} == {arguments}


def test_a_version_of_a_link_that_nvml_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "device_get_nvlink_version", lambda device, link: 0xFF)
    with pytest.raises(ValueError, match="does not know the version of link 3"):
        devices.Device._of(5).get_nvlink(3).version  # noqa: B018


def test_links_are_counted_from_0(monkeypatch: pytest.MonkeyPatch) -> None:
    count = nvml.FieldValue(field_id=91, value_type=nvml.ValueType.UNSIGNED_INT)
    count.value.ui_val = 2
    monkeypatch.setattr(nvml, "device_get_field_values", lambda device, fields: [count])
    monkeypatch.setattr(nvml, "device_get_nvlink_state", lambda device, link: link)
    assert [link.state for link in devices.Device._of(5).get_nvlinks()] == [False, True]


def test_mig_devices_have_numbers_with_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_index(device: int, index: int) -> int:
        if index == 1:
            raise nvml.NotFoundError(nvml.Return.ERROR_NOT_FOUND)
        return 100 + index

    monkeypatch.setattr(nvml, "device_get_max_mig_device_count", lambda device: 3)
    monkeypatch.setattr(nvml, "device_get_mig_device_handle_by_index", by_index)
    assert [part._handle for part in devices.Device._of(5).mig.get_all_devices()] == [100, 102]


def test_devices_near_to_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(devices, "initialise", lambda: asked.append("initialise"))
    monkeypatch.setattr(nvml, "system_get_topology_gpu_set", lambda cpu: asked.append(cpu) or [5, 6])
    found = devices.Device.get_all_devices_with_cpu_affinity(3)
    assert [device._handle for device in found] == [5, 6]
    assert asked == ["initialise", 3]


def test_a_field_that_cannot_be_cleared_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    cleared = []

    def clear(device: int, fields: Any) -> None:
        cleared.extend((device, field.field_id, field.scope_id) for field in fields)
        fields[1].nvml_return = 3

    monkeypatch.setattr(nvml, "device_clear_field_values", clear)
    device = devices.Device._of(5)
    with pytest.raises(nvml.NotSupportedError):
        device.clear_field_values([7, (8, 2)])
    assert cleared == [(5, 7, 0), (5, 8, 2)]


def test_a_device_that_cuda_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "device_get_uuid", lambda device: "GPU-5")
    monkeypatch.setattr(nvml, "device_get_name", lambda device: "NVIDIA H200")
    others = [type("Other", (), {"uuid": "4"})()]
    monkeypatch.setattr(core.Device, "get_all_devices", lambda: others)
    with pytest.raises(RuntimeError, match=r"'NVIDIA H200' GPU-5> is not among the devices .*VISIBLE"):
        devices.Device._of(5).to_cuda_device()
    others.append(type("Same", (), {"uuid": "5"})())
    assert devices.Device._of(5).to_cuda_device() is others[1]


def test_bits() -> None:
    assert devices.places([5, 1 << 63]) == [0, 2, 127]
    assert choices.bits(choices.CoolerTarget, 2 | 8) == ["gpu", "power_supply"]
    assert choices.bits(choices.ClocksEventReasons, 1 << 40) == []


def test_each_process_initialises_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    monkeypatch.setattr(library.nvml, "init_v2", lambda: calls.append(1))
    monkeypatch.setattr(library, "_process", 0)
    library.initialise()
    library.initialise()
    assert calls == [1]
    monkeypatch.setattr(library.os, "getpid", lambda: -5)
    library.initialise()
    assert calls == [1, 1]
