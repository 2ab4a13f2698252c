"""core.system: what NVML and CUDA say of the same devices. It reads alone: nothing here sets anything."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from cudapy.core.system import Device, NotSupportedError, NvmlError, exceptions, typing

from cudapy import nvml
from cudapy._ffi.library import SymbolNotFound
from cudapy.core import Device as CudaDevice
from cudapy.core import system


@pytest.fixture
def cuda() -> CudaDevice:
    device = CudaDevice(0)
    device.set_current()
    return device


@pytest.fixture
def device(cuda: CudaDevice) -> Device:
    return cuda.to_system_device()


def test_a_device_is_the_same_for_cuda_and_nvml(cuda: CudaDevice, device: Device) -> None:
    assert device.uuid_without_prefix == cuda.uuid
    assert device.to_cuda_device() == cuda
    assert device.name == cuda.name
    assert device.cuda_compute_capability == tuple(cuda.compute_capability)
    assert device.pci_bus_id.upper().endswith(cuda.pci_bus_id.upper().partition(":")[2])
    assert device.uuid.startswith(("GPU-", "MIG-"))


def test_a_device_by_each_of_its_names(device: Device) -> None:
    for same in (
        Device(uuid=device.uuid),
        Device(uuid=device.uuid.encode()),
        Device(pci_bus_id=device.pci_bus_id),
        Device(index=device.index),
    ):
        assert same == device and hash(same) == hash(device)
    assert device in list(Device.get_all_devices())
    assert len(list(Device.get_all_devices())) == Device.get_device_count() >= system.get_num_devices()
    assert device != 5


@pytest.mark.parametrize("given", [{}, {"index": 0, "uuid": "GPU-1"}])
def test_a_device_has_one_name(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="one of index, uuid and pci_bus_id"):
        Device(**given)


@pytest.mark.parametrize(
    "given", [{"index": 99}, {"uuid": "GPU-nothing"}, {"pci_bus_id": "00000000:77:00.0"}]
)
def test_a_device_that_is_not_there(given: dict[str, Any]) -> None:
    with pytest.raises(NvmlError) as caught:
        Device(**given)
    assert caught.value.status in (nvml.Return.ERROR_INVALID_ARGUMENT, nvml.Return.ERROR_NOT_FOUND)
    assert "nvmlDeviceGetHandleBy" in str(caught.value.__cause__)


def test_memory(cuda: CudaDevice, device: Device) -> None:
    before = device.memory_info
    assert before.total >= before.free + before.used > 0
    buffer = cuda.allocate(64 << 20)
    after = device.memory_info
    assert after.total == before.total
    assert after.used >= 64 << 20 and after.free <= after.total - (64 << 20)
    assert f"total={after.total}" in repr(after)
    buffer.close()


def test_this_process_uses_the_device(cuda: CudaDevice, device: Device) -> None:
    buffer = cuda.allocate(1 << 20)
    mine = [process for process in device.compute_running_processes if process.pid == os.getpid()]
    if not mine and "simulator" not in device.name:
        pytest.skip("in a container NVML does not see the numbers of its processes")
    assert mine[0].used_gpu_memory >= 1 << 20
    buffer.close()


def test_releases() -> None:
    driver, library = system.get_kernel_mode_driver_version(), system.get_nvml_version()
    assert len(driver) >= 2 and driver[0] >= 450
    assert library[-len(driver) :][0] == driver[0] or library[1] == driver[0]
    major, minor = system.get_user_mode_driver_version()
    assert nvml.system_get_cuda_driver_version_v2() == 1000 * major + 10 * minor


def test_the_name_of_a_process() -> None:
    assert "python" in system.get_process_name(os.getpid()) or "pytest" in system.get_process_name(
        os.getpid()
    )


PROPERTIES = [name for name, value in vars(Device).items() if isinstance(value, property)]


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_has_a_value_or_is_not_supported(device: Device, name: str) -> None:
    """Whatever the device: no property fails in any other way, and all can be shown."""
    try:
        value = getattr(device, name)
    except NotSupportedError as error:
        assert error.status == nvml.Return.ERROR_NOT_SUPPORTED
        return
    except NvmlError as error:
        assert error.status in (nvml.Return.ERROR_FUNCTION_NOT_FOUND, nvml.Return.ERROR_INVALID_ARGUMENT)
        return
    assert repr(value)


def readings(device: Device) -> Iterator[tuple[str, Any]]:
    for clock in typing.ClockType:
        info = device.get_clock(clock)
        yield f"clock {clock}", info.get_current_mhz
        yield f"highest clock {clock}", info.get_max_mhz
    yield "temperature", device.temperature.get_sensor
    for threshold in typing.TemperatureThresholds:
        yield (
            f"threshold {threshold}",
            lambda threshold=threshold: device.temperature.get_threshold(threshold),
        )
    yield "thermal settings", lambda: list(device.temperature.get_thermal_settings("all"))
    yield "links", lambda: [(link.state, link.version) for link in device.get_nvlinks()]
    yield "CPUs", device.get_cpu_affinity
    yield "nodes", device.get_memory_affinity
    yield "events", device.get_supported_event_types
    yield "fan", lambda: device.get_fan(0).speed
    yield "MIG", lambda: (device.mig.is_mig_device, device.mig.mode, device.mig.device_count)
    yield "peers", lambda: list(device.get_topology_nearest_gpus("system"))
    yield "PCIe", lambda: (device.pci_info.link_generation, device.pci_info.current_link_width)
    yield "inforom", lambda: device.inforom.image_version
    yield "branch", system.get_driver_branch


def test_readings(device: Device) -> None:
    """Those of a GPU that supports them are plain values."""
    for what, read in readings(device):
        try:
            value = read()
        except NvmlError as error:
            assert error.status in (
                nvml.Return.ERROR_NOT_SUPPORTED,
                nvml.Return.ERROR_INVALID_ARGUMENT,
                nvml.Return.ERROR_FUNCTION_NOT_FOUND,
                nvml.Return.ERROR_NO_PERMISSION,
            ), what
        except SymbolNotFound:
            continue  # a driver older than the function
        else:
            assert isinstance(value, (int, str, list, tuple)), what


def test_fields(device: Device) -> None:
    wanted = [typing.FieldId.DEV_POWER_INSTANT, (typing.FieldId.DEV_NVLINK_LINK_COUNT, 0)]
    try:
        values = device.get_field_values(wanted)
    except NotSupportedError:
        assert "simulator" in device.name
        return
    assert [value.field_id for value in values] == [186, 91]
    assert len(values) == 2
    for value in values:
        assert repr(value)


def test_a_choice_that_is_none(device: Device) -> None:
    with pytest.raises(ValueError, match="'gpu' is not a member of ClockType: there are 'graphics'"):
        device.get_clock("gpu")


def test_utilization_of_a_busy_device(cuda: CudaDevice, device: Device) -> None:
    """On the simulator a device is busy as long as there is work: on a GPU the sample period decides."""
    if "simulator" not in device.name:
        pytest.skip("how busy a GPU is NVML samples over up to a second")
    from cudapy import driver

    assert device.utilization.gpu == 0
    stream = cuda.create_stream()
    flag = cuda.allocate(4)
    flag.fill(0, stream=stream)
    stream.sync()
    driver.checked.cuStreamWaitValue32(stream.handle, int(flag.handle), 1, 0)
    assert device.utilization.gpu == 100
    driver.checked.cuMemsetD32(int(flag.handle), 1, 1)
    stream.sync()
    assert device.utilization.gpu == 0


def test_exceptions_are_those_of_nvml() -> None:
    for name in exceptions.__all__:
        assert getattr(system, name) is getattr(nvml, name) is getattr(exceptions, name)
    assert pickle.loads(pickle.dumps(NotSupportedError(3))).status == 3
    for module in (system, exceptions, typing):
        with pytest.raises(AttributeError, match="nothing"):
            module.nothing  # noqa: B018


def test_an_array_that_is_short_says_so(cuda: CudaDevice, device: Device) -> None:
    """Source: nvmlDeviceGetComputeRunningProcesses."""
    (_, handle) = nvml.nvmlDeviceGetHandleByUUID(device.uuid.encode())
    status, count, infos = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
    assert status == 0 and len(infos) == count
    if count:
        short, needed, nothing = nvml.nvmlDeviceGetComputeRunningProcesses(handle, 0)
        assert short == nvml.nvmlReturn_t.NVML_ERROR_INSUFFICIENT_SIZE
        assert needed >= 1 and nothing is None
