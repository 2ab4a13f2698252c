"""Names, parameters and results are those of `cuda.bindings`, and so is what it does with arguments."""

from __future__ import annotations

import ctypes
import importlib
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .peers.record import OF_ALL_STRUCTS
from .stub.record import Stub

PEERS = Path(__file__).parent / "peers"
RELEASES = ("12.9.10", "13.0.3", "13.5.0")
MODULES = ("cudla", "cufile", "driver", "nvfatbin", "nvjitlink", "nvml", "nvrtc", "nvvm", "runtime")
HAS_NONE = (("12.9.10", "cudla"), ("13.0.3", "cudla"), ("13.0.3", "nvfatbin"), ("13.0.3", "nvml"))
CASES = [(release, name) for release in RELEASES for name in MODULES if (release, name) not in HAS_NONE]

OLD_PARAMETERS = {
    "cuDevSmResourceSplitByCount": "nbGroups input_ useFlags minCount",
    "get_bar_size_in_kb": "gpu_ind_ex",
    "cudaGraphKernelNodeCopyAttributes": "hSrc hDst",
}
"""Functions whose parameters had other names before; by position they take the same."""

MORE_PARAMETERS = {
    "device_get_accounting_stats_v2": "pid",
    "device_get_cooler_info": "index",
    "device_get_memory_limits_v1": "name_space",
    "device_get_nv_link_telemetry_samples_v1": "telemetry_samples",
    "device_get_vgpu_instances_utilization_info": "last_seen_time_stamp",
    "device_get_vgpu_scheduler_log_v2": "engine_id",
    "device_get_vgpu_scheduler_state_v2": "engine_id",
    "device_set_nvlink_bw_mode_async_v1": "set_bw_mode_async",
    "gpu_instance_get_vgpu_scheduler_log": "engine_id",
    "gpu_instance_get_vgpu_scheduler_log_v2": "engine_id",
    "gpu_instance_get_vgpu_scheduler_state": "engine_id",
    "gpu_instance_get_vgpu_scheduler_state_v2": "engine_id",
    "system_get_cper_v1": "cursor",
}
"""Functions of nvml whose peer cannot say what C reads from the struct: here a parameter more says it."""

LESS_BEFORE = re.compile(r"GetEdges$|NodeGetDepend|StreamGetCaptureInfo$|Memcpy(3D)?BatchAsync$")
"""Functions whose results, not parameters, changed in CUDA 13: these have the form of 13."""


def peer(release: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PEERS / f"bindings-{release}.json").read_text())[name]
    return found


def ours(name: str) -> ModuleType:
    return importlib.import_module(f"cudapy.{name}")


def forms(module: ModuleType, function: str) -> list[Any]:
    """The functions behind a name: the newest, and those of CUDA 12 where they differ."""
    earlier = {"cuCtxCreate": "cuCtxCreate_v2"}.get(function, f"_{function}_12")
    return [getattr(module, function), *filter(None, [getattr(module, earlier, None)])]


def parameters(function: Any) -> str:
    return " ".join(inspect.signature(function).parameters)


def results(function: Any) -> int | None:
    """The number of results, without the status, by the annotation; None where it is open."""
    text = inspect.signature(function).return_annotation
    if function.__name__.islower():  # a face, with results alone
        return {"tuple": text.count(",") + 1, "None": 0}.get(text.split("[")[0], 1)
    if not isinstance(text, str) or not text.startswith("tuple["):
        return None
    return re.sub(r"\[[^\[\]]*\]", "", text[len("tuple[") : -1]).count(",")


@pytest.mark.parametrize(("release", "name"), CASES)
def test_no_name_is_missing(release: str, name: str) -> None:
    wanted = peer(release, name)
    missing = [
        key for key in [*wanted["functions"], *wanted["types"].split()] if not hasattr(ours(name), key)
    ]
    assert not missing


@pytest.mark.parametrize(("release", "name"), CASES)
def test_parameters(release: str, name: str) -> None:
    differ = []
    for function, signature in peer(release, name)["functions"].items():
        wanted = re.sub(r"=\S+", "", signature.split(" -> ")[0].strip())
        have = [parameters(form) for form in forms(ours(name), function)]
        have += [text.removesuffix(MORE_PARAMETERS.get(function, "")).strip() for text in have]
        if wanted not in (*have, OLD_PARAMETERS.get(function)):
            differ.append(f"{function}({wanted}), ours is {have}")
    assert not differ, "\n".join(differ)


@pytest.mark.parametrize(("release", "name"), CASES)
def test_defaults(release: str, name: str) -> None:
    """What may be left out there may be left out here, and means the same."""
    differ = []
    for function, signature in peer(release, name)["functions"].items():
        for parameter, default in re.findall(r"(\w+)=(\S+)", signature):
            have = [inspect.signature(form).parameters.get(parameter) for form in forms(ours(name), function)]
            if default not in [repr(found.default) for found in have if found]:
                differ.append(f"{function}({parameter}={default})")
    assert not differ, "\n".join(differ)


@pytest.mark.parametrize(("release", "name"), CASES)
def test_results(release: str, name: str) -> None:
    differ = []
    for function, signature in peer(release, name)["functions"].items():
        wanted = int(signature.split(" -> ")[1])
        if wanted < 0:  # the peer does not document what it returns
            continue
        if function.startswith("cuCoredumpSetAttribute"):  # it documents a size, and returns none
            wanted = 0
        have = results(getattr(ours(name), function))
        if (
            have != wanted
            and have is not None
            and not (release.startswith("12") and LESS_BEFORE.search(function))
        ):
            differ.append(f"{function}: {wanted} results, ours has {have}")
    assert not differ, "\n".join(differ)


OTHER_FIELD_IDS = re.compile(r"PWR_SMOOTHING_|DEV_POWER_SYNC_BALANCING_|DEV_CLOCKS_EVENT_REASON_")
"""FieldIds that nvml.h counted in another way in 12.9 alone; and what only counts members moves, too."""


WITH_TYPES = [case for case in CASES if case[1] in ("cudla", "cufile", "nvml")]
"""Modules whose enums and structs have names of their own there."""


@pytest.mark.parametrize(("release", "module"), WITH_TYPES)
def test_enums(release: str, module: str) -> None:
    differ = []
    for enum, members in peer(release, module)["enums"].items():
        have = getattr(ours(module), enum).__members__
        for member in members.split():
            name, _, value = member.partition("=")
            moves = re.fullmatch("MAX_TARGET_TYPES|IO_MAX_ERROR", name) or (
                release == "12.9.10" and (OTHER_FIELD_IDS.match(name) or re.search("COUNT$|MAX$", name))
            )
            if name not in have or (int(have[name]) != int(value) and not moves):
                differ.append(f"{enum}.{member} is {have.get(name)!r}")
    assert not differ, "\n".join(differ)


@pytest.mark.parametrize(("release", "module"), WITH_TYPES)
def test_fields(release: str, module: str) -> None:
    differ = {}
    for struct, fields in peer(release, module)["fields"].items():
        have = getattr(ours(module), struct, None)
        missing = [field for field in (*fields.split(), *OF_ALL_STRUCTS) if not hasattr(have, field)]
        if missing:
            differ[struct] = missing
    assert not differ


@pytest.mark.parametrize(("release", "module"), CASES)
def test_methods(release: str, module: str) -> None:
    """What some classes have beside their fields, such as the protocol of streams."""
    for cls, methods in peer(release, module).get("methods", {}).items():
        missing = [
            name for name in methods.split() if not callable(getattr(getattr(ours(module), cls), name))
        ]
        assert not missing, cls


OTHER_CONSTANTS = {
    "CUDA_VERSION",
    "CUDART_VERSION",
    "CUDA_EGL_INFINITE_TIMEOUT",  # -1 until 13: the same bits
    "RESOURCE_ABI_EXTERNAL_BYTES",  # grew
}
"""Constants that differ among the releases: cudapy has those of the newest."""


@pytest.mark.parametrize(("release", "module"), CASES)
def test_constants(release: str, module: str) -> None:
    differ = []
    for constant in peer(release, module)["constants"].split():
        name, _, value = constant.partition("=")
        have = getattr(ours(module), name, None)
        if have is None or (int(have) != int(value) and name not in OTHER_CONSTANTS):
            differ.append(f"{constant} is {have!r}")
    assert not differ


@pytest.mark.parametrize(("release", "module"), WITH_TYPES)
def test_types_of_numpy(release: str, module: str) -> None:
    """Each has the size of its struct: `tests/test_face_structs.py` says what is in them."""
    pytest.importorskip("numpy")
    for name in peer(release, module)["dtypes"].split():
        assert getattr(ours(module), name).itemsize > 0


@pytest.mark.parametrize(("release", "module"), WITH_TYPES)
def test_arrays_of_structs(release: str, module: str) -> None:
    for name in peer(release, module)["arrays"].split():
        cls = getattr(ours(module), name)
        assert len(cls(3)) == 3
        assert ctypes.sizeof(cls(3)) == 3 * ctypes.sizeof(cls())


def test_every_result_count_is_known() -> None:
    """An annotation that says nothing would pass `test_results`: few may."""
    unknown = {
        function
        for name in MODULES
        for function in peer("13.5.0", name)["functions"]
        if results(getattr(ours(name), function)) is None
    }
    assert all(
        re.match(r"nvrtcGet(PTX|CUBIN|LTOIR|OptiXIR|TileIR|ProgramLog)$|make_cuda", name) for name in unknown
    ), unknown


def test_calls(stub_of: Callable[[str], Stub]) -> None:
    """What the peer takes, in all forms that people pass, we take: C receives and returns the same.

    `python -m tests.peers.compare` has recorded it, and shows the difference where this test only says that
    there is one.
    """
    pytest.importorskip("numpy")
    from .peers.calls import DRIVER, Facts, Recorded, observe, plan

    recorded, facts = Recorded(PEERS / "calls-13.3.1.json"), Facts()
    stub, count = stub_of("driver"), 0
    for name, label, arguments in plan():
        if recorded.has(name, label):
            facts.add(name, label, *observe(stub, DRIVER, name, label, arguments))
            count += 1
    assert not recorded.differ(facts)
    assert count > 8_500


def test_the_stub_for_the_peer(gcc: str, tmp_path: Path) -> None:
    """The peer finds the functions of its stub by cuGetProcAddress."""
    from .peers.compare import stub

    library, found = ctypes.CDLL(str(stub(tmp_path)["driver"])), ctypes.c_void_p()
    for name, symbol in (
        ("cuMemAlloc", "cuMemAlloc_v2"),
        ("cuGetProcAddress", "cuGetProcAddress_v2_recorded"),
    ):
        assert (
            library.cuGetProcAddress_v2(name.encode(), ctypes.byref(found), 13000, ctypes.c_uint64(0), None)
            == 0
        )
        assert found.value == ctypes.cast(library[symbol], ctypes.c_void_p).value


def test_values_of_fields() -> None:
    """What the fields of structs take there, they take here: the same bytes, and the same is read.

    `python -m tests.peers.structs` has recorded it, and shows the differences.
    """
    pytest.importorskip("numpy")
    from .peers.calls import Facts, Recorded
    from .peers.structs import fields_of

    recorded, facts, count = Recorded(PEERS / "structs-13.3.1.json"), Facts(), 0
    for name in ("driver", "runtime"):
        for struct, label, attempt in fields_of(name):
            if recorded.has(f"{name}.{struct}", label):
                _, *seen = attempt()
                facts.add(f"{name}.{struct}", label, *(seen if len(seen) == 2 else (seen, None)))
                count += 1
    assert not recorded.differ(facts)
    assert count > 10_000
