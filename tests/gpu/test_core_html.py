"""Devices, buffers and programs as Jupyter shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from cudapy.core import Buffer, Device, LegacyPinnedMemoryResource, Program
from cudapy.driver import checked


@pytest.fixture
def device() -> Iterator[Device]:
    device = Device(0)
    device.set_current()
    yield device


def rows(table: str) -> dict[str, str]:
    assert table.startswith("<table><caption>") and table.endswith("</table>")
    return dict(re.findall(r"<tr><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td></tr>", table))


def test_a_device_shows_what_the_driver_says(device: Device) -> None:
    shown = rows(device._repr_html_())
    assert f"<caption>Device 0: {device.name}</caption>" in device._repr_html_()
    major, minor = checked.cuDeviceComputeCapability(0)
    assert shown["compute capability"] == f"{major}.{minor}"
    assert shown["memory"].startswith(f"{checked.cuDeviceTotalMem(0):,} bytes (")
    assert shown["PCI bus"] == device.pci_bus_id


def test_a_buffer_shows_its_memory(device: Device) -> None:
    with device.allocate(3 << 19) as buffer:
        shown = rows(buffer._repr_html_())
        assert shown["address"] == hex(int(buffer.handle))
        assert shown["size"] == "1,572,864 bytes (1.5 MiB)"
        assert shown["device"] == "0" and shown["accessible from"] == "device"
        assert shown["allocated by"] == type(device.memory_resource).__name__
    assert rows(buffer._repr_html_()) == {"closed": "its memory was given back"}


def test_memory_of_others_and_of_the_host(device: Device) -> None:
    with LegacyPinnedMemoryResource().allocate(100) as pinned:
        shown = rows(pinned._repr_html_())
        assert shown["size"] == "100 bytes" and shown["accessible from"] == "device and host"
        assert "device" not in shown
        assert "allocated by" not in rows(Buffer.from_handle(pinned.handle, 100)._repr_html_())


def test_a_program_shows_numbered_lines() -> None:
    code = "\n".join(["template <typename T>", *["//"] * 8, "__global__ void k() {}", ""])
    program = Program(code, "c++")
    title, lines = re.fullmatch(r"<div>(.*)</div><pre>(.*)</pre>", program._repr_html_(), re.DOTALL).groups()
    assert title == "&lt;Program &#x27;default_program&#x27;, c++&gt;"
    assert lines.split("\n")[0] == " 1  template &lt;typename T&gt;"
    assert lines.split("\n")[-1] == "10  __global__ void k() {}"
