"""The devices of the engine, on which kernels run: one for each device of the driver."""

import threading

from ..._types.driver.enums import CUdevice_attribute
from ..devices.device import Device
from ..engine import Device as EngineDevice
from ..fresh_devices import forgotten
from ..memory.allocations import table
from ..stderr import say

_devices: dict[int, EngineDevice] = {}
_lock = threading.Lock()
forgotten(_devices.clear)


def engine_device(device: Device) -> EngineDevice:
    """What kernels see of a device."""
    with _lock:
        if device.index not in _devices:
            count = device[CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT]
            _devices[device.index] = EngineDevice(table, count, notify=say)
        return _devices[device.index]
