"""core.system and `nvidia-smi -q -x`: field by field the same. Both read alone."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from cudapy.core.system import Device, NvmlError

from cudapy import nvml, simulator
from cudapy.core import system

pytestmark = pytest.mark.gpu

NOT_TOLD = re.compile(
    r"(\[?N/A\]?|.*not supported.*|.*deprecated.*|.*unknown error.*|\[?ERR.*|)", re.IGNORECASE
)
SNAPSHOTS = 20  # how often a value that changes may be another one at the other's moment
LEAST = 20  # fields that every GPU tells: fewer mean that the names of the report are others


class Field(NamedTuple):
    """An element of the report, its text as a value, the same of core.system, how far apart they may be."""

    path: str
    value: Callable[[str], Any]
    ours: Callable[[Device], Any]
    tolerance: float = 0


def number(text: str) -> int:
    return int(text.split()[0].rstrip("x%"))


def hexadecimal(text: str) -> int:
    return int(text, 16)


def enabled(text: str) -> bool:
    return {"enabled": True, "yes": True, "disabled": False, "no": False}[text.lower()]


def or_none(text: str) -> str | None:
    return None if text == "None" else text.lower()


def mib(size: int) -> int:
    return size >> 20


FIXED = [
    Field("product_name", str, lambda d: d.name),
    Field("product_brand", str, lambda d: d.brand),
    Field("product_architecture", lambda text: text.split()[0].upper(), lambda d: d.arch.name),
    Field("display_attached", enabled, lambda d: d.is_display_connected),
    Field("display_active", enabled, lambda d: d.is_display_active),
    Field("persistence_mode", enabled, lambda d: d.is_persistence_mode_enabled),
    Field("addressing_mode", or_none, lambda d: d.addressing_mode),
    Field("mig_mode/current_mig", enabled, lambda d: d.mig.mode),
    Field("mig_mode/pending_mig", enabled, lambda d: d.mig.pending_mode),
    Field("serial", str, lambda d: d.serial),
    Field("uuid", str, lambda d: d.uuid),
    Field("minor_number", number, lambda d: d.minor_number),
    Field("board_part_number", str, lambda d: d.inforom.board_part_number),
    Field("gpu_module_id", number, lambda d: d.module_id),
    Field("platformInfo/module_id", number, lambda d: d.module_id),
    Field("inforom_version/img_version", str, lambda d: d.inforom.image_version),
    Field("inforom_version/oem_object", str, lambda d: d.inforom.get_version("oem")),
    Field("inforom_version/ecc_object", str, lambda d: d.inforom.get_version("ecc")),
    Field("inforom_version/pwr_object", str, lambda d: d.inforom.get_version("power")),
    Field("pci/pci_bus", hexadecimal, lambda d: d.pci_info.bus),
    Field("pci/pci_device", hexadecimal, lambda d: d.pci_info.device),
    Field("pci/pci_domain", hexadecimal, lambda d: d.pci_info.domain),
    Field("pci/pci_device_id", hexadecimal, lambda d: d.pci_info.device_id << 16 | d.pci_info.vendor_id),
    Field("pci/pci_bus_id", str.upper, lambda d: d.pci_bus_id.upper()),
    Field("pci/pci_sub_system_id", hexadecimal, lambda d: d.pci_info.subsystem_id),
    Field("pci/pci_gpu_link_info/pcie_gen/max_link_gen", number, lambda d: d.pci_info.link_generation),
    Field(
        "pci/pci_gpu_link_info/pcie_gen/max_device_link_gen",
        number,
        lambda d: d.pci_info.max_link_generation,
    ),
    Field("pci/pci_gpu_link_info/link_widths/max_link_width", number, lambda d: d.pci_info.max_link_width),
    Field("fb_memory_usage/total", number, lambda d: mib(d.memory_info.total), 1),
    Field("fb_memory_usage/reserved", number, lambda d: mib(d.memory_info.reserved), 1),
    Field("bar1_memory_usage/total", number, lambda d: mib(d.bar1_memory_info.total), 1),
    Field("max_clocks/graphics_clock", number, lambda d: d.get_clock("graphics").get_max_mhz()),
    Field("max_clocks/sm_clock", number, lambda d: d.get_clock("sm").get_max_mhz()),
    Field("max_clocks/mem_clock", number, lambda d: d.get_clock("memory").get_max_mhz()),
    Field("max_clocks/video_clock", number, lambda d: d.get_clock("video").get_max_mhz()),
    Field("temperature/gpu_temp_max_threshold", number, lambda d: d.temperature.get_threshold("shutdown")),
    Field("temperature/gpu_temp_slow_threshold", number, lambda d: d.temperature.get_threshold("slowdown")),
]
CHANGING = [
    Field("pci/replay_counter", number, lambda d: d.pci_info.replay_counter),
    Field(
        "pci/pci_gpu_link_info/pcie_gen/current_link_gen",
        number,
        lambda d: d.pci_info.current_link_generation,
    ),
    Field(
        "pci/pci_gpu_link_info/link_widths/current_link_width",
        number,
        lambda d: d.pci_info.current_link_width,
    ),
    Field("fan_speed", number, lambda d: d.get_fan().speed, 5),
    Field("performance_state", lambda text: int(text[1:]), lambda d: d.performance_state),
    Field("fb_memory_usage/used", number, lambda d: mib(d.memory_info.used), 64),
    Field("fb_memory_usage/free", number, lambda d: mib(d.memory_info.free), 64),
    Field("bar1_memory_usage/used", number, lambda d: mib(d.bar1_memory_info.used), 16),
    Field("utilization/gpu_util", number, lambda d: d.utilization.gpu, 10),
    Field("utilization/memory_util", number, lambda d: d.utilization.memory, 10),
    Field("temperature/gpu_temp", number, lambda d: d.temperature.get_sensor(), 3),
    Field("clocks/graphics_clock", number, lambda d: d.get_clock("graphics").get_current_mhz(), 60),
    Field("clocks/sm_clock", number, lambda d: d.get_clock("sm").get_current_mhz(), 60),
    Field("clocks/mem_clock", number, lambda d: d.get_clock("memory").get_current_mhz(), 60),
    Field("clocks/video_clock", number, lambda d: d.get_clock("video").get_current_mhz(), 60),
]


def told(gpu: Element, path: str) -> str | None:
    """The text of an element; None where the report has none, or says that there is no value."""
    found = gpu.findtext(path)
    return None if found is None or NOT_TOLD.fullmatch(found.strip()) else found.strip()


def differences(gpu: Element, device: Device, fields: list[Field]) -> tuple[dict[str, str], int]:
    """What the report says otherwise than core.system, by path, and how many fields were compared."""
    different, compared = {}, 0
    for field in fields:
        text = told(gpu, field.path)
        if text is None:
            continue
        compared += 1
        theirs = field.value(text)
        try:
            ours = field.ours(device)
        except NvmlError as error:
            different[field.path] = f"{text!r}, and core.system says {error}"
            continue
        near = abs(ours - theirs) <= field.tolerance if field.tolerance else ours == theirs
        if not near:
            different[field.path] = f"{text!r}, and core.system says {ours!r}"
    return different, compared


def processes(gpu: Element) -> set[int]:
    """The processes of the report that use CUDA."""
    found = gpu.findall("processes/process_info")
    return {int(each.findtext("pid") or 0) for each in found if "C" in (each.findtext("type") or "")}


@pytest.fixture
def report() -> Callable[[], Element]:
    if simulator.is_enabled():
        pytest.skip("nvidia-smi needs a GPU")
    program = shutil.which("nvidia-smi")
    if program is None:
        pytest.skip("there is no nvidia-smi")

    def ask() -> Element:
        done = subprocess.run([program, "-q", "-x"], capture_output=True, text=True, timeout=60)
        if done.returncode:
            pytest.skip(f"nvidia-smi -q -x fails here: {(done.stderr or done.stdout).strip()[:200]}")
        return ElementTree.fromstring(done.stdout)

    return ask


def test_the_system(report: Callable[[], Element]) -> None:
    log = report()
    release = log.findtext("driver_version", "")
    assert system.get_kernel_mode_driver_version() == tuple(map(int, release.split(".")))
    number = nvml.system_get_cuda_driver_version_v2()
    assert log.findtext("cuda_version") == f"{number // 1000}.{number % 1000 // 10}"
    assert int(log.findtext("attached_gpus", "0")) == Device.get_device_count() == len(log.findall("gpu"))


def test_what_stays(report: Callable[[], Element]) -> None:
    for gpu in report().findall("gpu"):
        different, compared = differences(gpu, Device(pci_bus_id=gpu.get("id")), FIXED)
        assert different == {} and compared >= LEAST


def test_what_changes(report: Callable[[], Element]) -> None:
    """The same at one of several moments."""
    wrong: dict[tuple[str, str], str] = {}
    for snapshot in range(SNAPSHOTS):
        now: dict[tuple[str, str], str] = {}
        for gpu in report().findall("gpu"):
            index = gpu.get("id", "")
            device = Device(pci_bus_id=index)
            for path, text in differences(gpu, device, CHANGING)[0].items():
                now[index, path] = text
            ours = {process.pid for process in device.compute_running_processes}
            if processes(gpu) != ours:
                now[index, "processes"] = f"{processes(gpu)}, and core.system says {ours}"
        wrong = {key: text for key, text in now.items() if not snapshot or key in wrong}
        if not wrong:
            break
        time.sleep(0.2)
    assert wrong == {}


def test_the_comparison_finds_what_is_wrong() -> None:
    """With reports that are made up from what core.system says."""

    def made(**texts: str) -> Element:
        gpu = Element("gpu")
        for path, text in texts.items():
            ElementTree.SubElement(gpu, path).text = text
        return gpu

    device = next(iter(Device.get_all_devices()))
    right = made(product_name=device.name, uuid=device.uuid, serial="N/A", minor_number="[N/A]")
    assert differences(right, device, FIXED) == ({}, 2)
    wrong, compared = differences(made(product_name="Another", uuid=device.uuid), device, FIXED)
    assert wrong.keys() == {"product_name"} and "'Another'" in wrong["product_name"] and compared == 2
    memory = Element("gpu")
    ElementTree.SubElement(
        ElementTree.SubElement(memory, "fb_memory_usage"), "total"
    ).text = f"{mib(device.memory_info.total) + 9} MiB"
    assert differences(memory, device, FIXED)[0].keys() == {"fb_memory_usage/total"}
    listed = ElementTree.fromstring(
        "<gpu><processes>"
        "<process_info><pid>5</pid><type>C</type></process_info>"
        "<process_info><pid>6</pid><type>G</type></process_info>"
        "<process_info><pid>7</pid><type>C+G</type></process_info>"
        "</processes></gpu>"
    )
    assert processes(listed) == {5, 7}
