"""CUDA_VISIBLE_DEVICES on the simulator: for the driver, the runtime and libcuda.so.1, and not for NVML."""

from __future__ import annotations

import os
import platform
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from cudapy.simulator.devices.device import visible
from cudapy.simulator.refused import Refused
from cudapy.simulator.shared.architectures import ARCHITECTURES
from tests import warm

REPOSITORY = Path(__file__).parents[2]
UUIDS = [uuid.UUID(text).bytes for text in (f"{'a1' * 16}", f"{'a2' * 16}", f"{'b3' * 16}")]


@pytest.mark.parametrize(
    "text, indices",
    [
        (None, [0, 1, 2]),
        ("", []),
        ("-1", []),
        ("none", []),
        ("1", [1]),
        ("2,0,1", [2, 0, 1]),
        (" 2, 1", [2, 1]),
        ("0,2,-1,1", [0, 2]),
        ("0,3,1", [0]),
        ("0,,1", [0]),
        ("1gpu,2", [1, 2]),
        ("-0,+1", [0, 1]),
        ("4294967297", [1]),
        ("2147483648", []),
        ("GPU-b3b3b3b3-b3b3-b3b3-b3b3-b3b3b3b3b3b3,0", [2, 0]),
        ("GPU-b,GPU-a2", [2, 1]),
        ("GPU-B3B3B3B3-b3b3-b3b3-b3b3-b3b3b3b3b3b3 and more", [2]),
        ("gpu-b3", []),
        (" GPU-b3", []),
        ("GPU-", []),
        ("GPU-a", []),
        ("1,GPU-c", [1]),
        ("MIG-GPU-b3b3b3b3-b3b3-b3b3-b3b3-b3b3b3b3b3b3/0/0", []),
    ],
)
def test_what_a_value_shows(text: str | None, indices: list[int]) -> None:
    assert visible(text, UUIDS) == indices


@pytest.mark.parametrize("text", ["1,1", "0,GPU-a1"])
def test_a_device_is_in_the_list_once(text: str) -> None:
    """Driver 580 returns this from cuInit."""
    with pytest.raises(Refused, match=f"'{text}': [01] is twice in it") as refused:
        visible(text, UUIDS)
    assert refused.value.status == "CUDA_ERROR_INVALID_DEVICE"


def output(code: str, **environment: str) -> Any:
    """What a program evaluates to that ends well."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("CUDA")}
    given |= {"PYTHONPATH": str(REPOSITORY), "CUDAPY_SIMULATOR_DEVICES": "3", **environment}
    done = warm.run(["-c", code], env=given, ends_at_once=True)
    assert (done.returncode, done.stderr) == (0, "")
    return eval(done.stdout)


SHOW = """
from cudapy.core import Device, system
shown = [device.pci_bus_id for device in Device.get_all_devices()]
every = [device.pci_info.bus_id for device in system.Device.get_all_devices()]
back = [d.to_system_device().index for d in Device.get_all_devices()]
print(shown, ",", every, ",", back)
"""


def test_devices_are_numbered_in_the_order_of_the_list() -> None:
    shown, every, back = output(SHOW, CUDAPY_DRIVER="simulator", CUDA_VISIBLE_DEVICES="2,0")
    assert shown == ["FFFF:02:00.0", "FFFF:00:00.0"]
    assert len(every) == 3  # NVML shows all of them
    assert back == [2, 0]


NONE = """
from cudapy import nvml, runtime, driver
from cudapy.core import CUDAError, Device
names = [runtime.cudaGetDeviceCount()[0].name, runtime.cudaGetLastError()[0].name]
names += [call()[0].name for call in (runtime.cudaRuntimeGetVersion, runtime.cudaDriverGetVersion)]
names += [runtime.cudaGetErrorName(runtime.cudaError_t(100))[1].decode(), driver.cuInit(0)[0].name]
nvml.nvmlInit_v2()
try:
    Device()
except CUDAError as error:
    print(names, ",", nvml.nvmlDeviceGetCount_v2()[1], ",", [str(error)])
"""


def test_without_a_device_everything_says_so() -> None:
    names, count, (message,) = output(NONE, CUDAPY_DRIVER="simulator", CUDA_VISIBLE_DEVICES="7")
    assert names[:2] == ["cudaErrorNoDevice"] * 2
    assert names[2:] == ["cudaSuccess", "cudaSuccess", "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE"]
    assert count == 3
    assert "CUDA_VISIBLE_DEVICES is '7', which shows none of the simulator's devices: 0, 1, 2" in message


READ_ONCE = """
import os
from cudapy import driver, nvml, simulator
simulator.enable()
nvml.nvmlInit_v2(), nvml.nvmlDeviceGetCount_v2()  # a program may look for a free device first
def shown():
    count = driver.checked.cuDeviceGetCount()
    return [driver.checked.cuDeviceGetPCIBusId(20, i)[:7].decode() for i in range(count)]
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
driver.checked.cuInit(0)
before = shown()
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
driver.checked.cuInit(0)
simulator.reset()
print(before, ",", shown())
"""


def test_it_is_read_in_the_first_cuinit() -> None:
    assert output(READ_ONCE) == (["FFFF:01"], ["FFFF:01"])


def test_a_simulator_that_stands_in_shows_its_devices() -> None:
    code = """
from cudapy import simulator
simulator.stand_in()
from cudapy.core import Device
print(f"; {len(Device.get_all_devices())}")
"""
    given = {"CUDAPY_LIBCUDA": os.devnull, "CUDAPY_SIMULATOR_DEVICES": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = warm.run(["-c", code], env={"PYTHONPATH": str(REPOSITORY), **given}, ends_at_once=True)
    assert done.stdout.endswith("; 3\n"), done


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ARCHITECTURES,
    reason="there are shared libraries for Linux on x86-64 and aarch64",
)
def test_libcuda_obeys_it() -> None:
    code = """
from cudapy import simulator
simulator.install()
import ctypes
cuda, count, name = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.create_string_buffer(20)
print([cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(count)), count.value,
       cuda.cuDeviceGetPCIBusId(name, 20, 1), name.value.decode()])
"""
    assert output(code, CUDA_VISIBLE_DEVICES="1,2") == [0, 0, 2, 0, "FFFF:02:00.0"]
