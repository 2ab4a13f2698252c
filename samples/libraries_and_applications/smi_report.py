"""nvidia-smi: a table of the devices, as far as the CUDA driver knows.

    python samples/libraries_and_applications/smi_report.py

Names, bus addresses, memory and modes are attributes of the driver API. What changes while a device works
(temperature, power, utilization, the clocks of this moment, the processes) only NVML tells, another library.
"""

from __future__ import annotations

import sys

from cudapy import simulator
from cudapy.driver import CUcomputemode, CUdevice, CUdevice_attribute
from cudapy.driver import checked as cu

MIB = 1 << 20


def attribute(name: str, device: CUdevice) -> int:
    """The attribute CU_DEVICE_ATTRIBUTE_`name`."""
    return cu.cuDeviceGetAttribute(CUdevice_attribute[f"CU_DEVICE_ATTRIBUTE_{name}"], device)


def memory(device: CUdevice) -> tuple[int, int]:
    """Bytes in use, by whatever process, and in all. To ask takes a context, which uses memory itself."""
    context = cu.cuDevicePrimaryCtxRetain(device)
    cu.cuCtxPushCurrent(context)
    free, total = cu.cuMemGetInfo()
    cu.cuCtxPopCurrent()
    cu.cuDevicePrimaryCtxRelease(device)
    return total - free, total


def row(device: CUdevice) -> tuple[str, ...]:
    """What the table says about a device."""
    used, total = memory(device)
    clocks = attribute("CLOCK_RATE", device), attribute("MEMORY_CLOCK_RATE", device)  # kHz
    return (
        str(int(device)),
        cu.cuDeviceGetName(256, device).split(b"\0")[0].decode(),
        cu.cuDeviceGetPCIBusId(32, device).split(b"\0")[0].decode(),
        f"{used // MIB} / {total // MIB} MiB",
        " / ".join(f"{clock // 1000}" for clock in clocks) + " MHz",
        "on" if attribute("ECC_ENABLED", device) else "off",
        CUcomputemode(attribute("COMPUTE_MODE", device)).name.removeprefix("CU_COMPUTEMODE_").lower(),
    )


def main() -> int:
    simulator.stand_in()
    cu.cuInit(0)
    version = cu.cuDriverGetVersion()
    devices = [cu.cuDeviceGet(i) for i in range(cu.cuDeviceGetCount())]
    head = ("", "name", "bus address", "memory used / all", "highest clocks", "ECC", "compute mode")
    rows = [head, *(row(device) for device in devices)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(f"a driver of CUDA {version // 1000}.{version % 1000 // 10}, {len(devices)} device(s)\n")
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    print("\nNVML's: the driver's release, temperature, fan, power, utilization, processes\n")

    right = bool(devices)
    for device in devices:  # the bus address leads back to the device, and memory in use is a part of it
        used, total = memory(device)
        found = cu.cuDeviceGetByPCIBusId(cu.cuDeviceGetPCIBusId(32, device))
        right = right and found == device and 0 <= used <= total <= cu.cuDeviceTotalMem(device)
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
