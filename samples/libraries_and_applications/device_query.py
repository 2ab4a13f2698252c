"""deviceQuery: what the devices of this machine are and can do.

    python samples/libraries_and_applications/device_query.py

All of it comes from `Device.properties`, which asks the driver for each fact once.
"""

from __future__ import annotations

import sys

from cudapy import simulator
from cudapy.core import Device
from cudapy.driver import checked as cu


def report(device: Device) -> dict[str, str]:
    """The facts that people ask for, in words."""
    p = device.properties
    device.set_current()
    free, total = cu.cuMemGetInfo()
    return {
        "compute capability": "{}.{}".format(*device.compute_capability),
        "memory": f"{total / 2**30:.1f} GiB, {free / 2**30:.1f} free",
        "multiprocessors": f"{p.multiprocessor_count}, {p.clock_rate / 1e6:.2f} GHz",
        "memory bus": f"{p.global_memory_bus_width} bits, {p.memory_clock_rate / 1e6:.2f} GHz",
        "L2 cache": f"{p.l2_cache_size / 2**20:.0f} MiB",
        "shared memory": f"{p.max_shared_memory_per_block >> 10} KiB a block, up to "
        f"{p.max_shared_memory_per_block_optin >> 10} on request; "
        f"{p.max_shared_memory_per_multiprocessor >> 10} a multiprocessor",
        "registers": f"{p.max_registers_per_block} a block",
        "threads": f"{p.max_threads_per_block} a block, {p.max_threads_per_multiprocessor} a multiprocessor; "
        f"warps of {p.warp_size}",
        "block": f"at most {p.max_block_dim_x} x {p.max_block_dim_y} x {p.max_block_dim_z}",
        "grid": f"at most {p.max_grid_dim_x} x {p.max_grid_dim_y} x {p.max_grid_dim_z}",
        "copy engines": str(p.async_engine_count),
        "can do": ", ".join(
            name.replace("_", " ")
            for name in (
                "unified_addressing",
                "managed_memory",
                "memory_pools_supported",
                "virtual_memory_management_supported",
                "cooperative_launch",
                "cluster_launch",
                "stream_priorities_supported",
            )
            if getattr(p, name)
        ),
        "PCI bus": device.pci_bus_id,
        "UUID": str(device.uuid),
    }


def main() -> int:
    simulator.stand_in()
    version = cu.cuDriverGetVersion()
    devices = Device.get_all_devices()
    print(f"a driver of CUDA {version // 1000}.{version % 1000 // 10}, {len(devices)} device(s)")
    for device in devices:
        print(f"\n{device.device_id}: {device.name}")
        for name, value in report(device).items():
            print(f"  {name:20} {value}")
    right = bool(devices) and all(device.properties.warp_size == 32 for device in devices)
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
