"""`python -m cudapy`: problems of made-up machines, and real runs on broken ones."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cudapy
from cudapy import __main__ as command
from cudapy import driver as cuda
from cudapy import nvml, pathfinder, simulator
from cudapy._commands.doctor import machine, probe
from cudapy._commands.doctor.facts import (
    CacheFacts,
    CompilerFacts,
    DeviceFacts,
    DriverFacts,
    Facts,
    JobFacts,
    LibraryFacts,
    ProcessFacts,
    ToolkitFacts,
)
from cudapy._commands.doctor.problems import problems
from cudapy._commands.doctor.report import as_json, as_text
from cudapy._core.compile import compile_cache
from cudapy._pathfinder.libraries import USED
from cudapy.core import FileStreamProgramCache

from .stub import module

REPOSITORY = Path(cudapy.__file__).parents[1]
H200 = DeviceFacts(0, "NVIDIA H200", (9, 0), 150754820096)
SITE = "/v/site-packages/nvidia/cu13"


def library(name: str, release: tuple[int, int], path: str = "", found_by: str = "pip") -> LibraryFacts:
    return LibraryFacts(name, path or f"/lib/lib{name}.so.{release[0]}", found_by, release, release[0])


def facts(*libraries: LibraryFacts, **more: Any) -> Facts:
    """A machine on which kernels run, with these libraries in place of its own."""
    own = [
        library("cuda", (13, 0), "/usr/lib/libcuda.so.1", "driver"),
        library("nvrtc", (13, 0)),
        library("nvJitLink", (13, 0)),
    ]
    given = {lib.name: lib for lib in (*own, *libraries)}
    good = Facts(
        cudapy="0.1", python="3.11", platform="linux", libraries=tuple(given.values()),
        driver=DriverFacts("CUDA_SUCCESS", "", (H200,)),
        compiler=CompilerFacts(True, "", (75, 80, 90, 100)),
        job=JobFacts(True, 0), headers=(f"{SITE}/include", f"{SITE}/include/cccl"),
        toolkits=(ToolkitFacts("pip", f"{SITE}/include", (13, 0)),),
    )  # fmt: skip
    return dataclasses.replace(good, **more)


def failing(*libraries: LibraryFacts, **more: Any) -> Facts:
    """The same, where no kernel runs."""
    return facts(*libraries, **{"job": JobFacts(), **more})


def only(found: Facts) -> tuple[str, str, bool]:
    """The one problem: its text, its fix, and whether it keeps kernels from running."""
    (problem,) = problems(found)
    return problem.text, problem.fix, problem.stops


def has(text: str, *parts: str) -> bool:
    return all(part in text for part in parts)


# -- problems: made-up machines ---------------------------------------------------------------------------


def test_nothing_wrong() -> None:
    assert problems(facts()) == []
    assert problems(facts(library("nvrtc", (12, 9)), library("nvJitLink", (12, 9)))) == []
    assert problems(facts(library("cuda", (13, 5)))) == []


def test_no_driver() -> None:
    text, fix, stops = only(failing(LibraryFacts("cuda"), driver=DriverFacts()))
    assert text.startswith("There is no NVIDIA driver") and stops
    assert has(fix, "install the NVIDIA driver", "--gpus all", "CUDAPY_DRIVER=simulator")


def test_a_cache_that_must_not_be_used() -> None:
    cache = CacheFacts("/c/programs", problem="the cache folder /c/programs is a symbolic link")
    text, fix, stops = only(facts(cache=cache))
    assert has(text, "not kept on disk", "/c/programs is a symbolic link") and not stops
    assert "CUDAPY_CACHE_DIR" in fix
    assert "Compiled programs\n  not kept on disk" in as_text(facts(cache=cache), [])


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("off", "not kept on disk"),
        ("none", "0 in {}, 0.0 MiB"),
        ("one", "1 in {}, 1.0 MiB"),
        ("relative", ""),
    ],
)
def test_the_cache_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, how: str, expected: str
) -> None:
    monkeypatch.setenv("CUDAPY_CACHE", "0" if how == "off" else "1")
    monkeypatch.setenv("CUDAPY_CACHE_DIR", "relative" if how == "relative" else str(tmp_path))
    if how == "one":
        FileStreamProgramCache(tmp_path / "programs")["k"] = bytes(1 << 20)
    found = CacheFacts(*compile_cache.state())
    if how == "relative":
        assert "'relative' is not an absolute path" in found.problem
    else:
        assert expected.format(tmp_path / "programs") in as_text(facts(cache=found), [])
    assert (tmp_path / "programs").exists() is (how == "one"), "nothing is made"


def test_a_broken_driver() -> None:
    broken = LibraryFacts("cuda", broken=("driver /usr/lib/libcuda.so.1: file too short",))
    text, _, stops = only(failing(broken, driver=DriverFacts()))
    assert has(text, "driver is broken", "/usr/lib/libcuda.so.1: file too short") and stops


@pytest.mark.parametrize(
    ("status", "environment", "words", "fix"),
    [
        ("CUDA_ERROR_NO_DEVICE", {}, "shows no device", "nvidia-smi"),
        ("CUDA_SUCCESS", {}, "shows no device", "nvidia-smi"),
        ("CUDA_ERROR_NO_DEVICE", {"CUDA_VISIBLE_DEVICES": ""}, "is ''", "unset CUDA_VISIBLE_DEVICES"),
        ("CUDA_ERROR_STUB_LIBRARY", {}, "CUDA_ERROR_STUB_LIBRARY", "LD_LIBRARY_PATH"),
        ("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", {}, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", ""),
        ("CUDA_ERROR_THAT_IS_NEW", {}, "CUDA_ERROR_THAT_IS_NEW", "NVIDIA driver"),
        ("", {}, "ended by SIGSEGV", "NVIDIA driver"),
    ],
)
def test_a_driver_without_devices(status: str, environment: dict[str, str], words: str, fix: str) -> None:
    driver = DriverFacts(status, "" if status else "the process that asked was ended by SIGSEGV")
    text, how, stops = only(failing(driver=driver, environment=environment))
    assert words in text and fix in how and how and stops


def test_a_driver_that_is_too_old() -> None:
    found = problems(failing(library("cuda", (11, 8), found_by="driver"), library("nvrtc", (11, 8))))
    assert has(found[0].text, "CUDA 11.8", "12.0") and found[0].stops


def test_a_device_that_is_full() -> None:
    """Who has its memory, as NVML says; not a word without NVML, or with a tenth left."""

    def of(**more: Any) -> Facts:
        device = dataclasses.replace(H200, **{"free": 1 << 30, "processes": processes, **more})
        return facts(driver=DriverFacts("CUDA_SUCCESS", "", (device,)))

    processes = (ProcessFacts(7, "python train.py", 100 << 30),)
    text, fix, stops = only(of())
    assert "1.0 GiB of its 140.4 GiB" in text and "process 7 (python train.py) has 100.0 GiB" in text
    assert "CUDA_VISIBLE_DEVICES" in fix and not stops
    assert "are not shown" in only(of(processes=()))[0]
    assert not problems(of(free=None)) and not problems(of(free=20 << 30))


def test_no_nvrtc() -> None:
    nothing = LibraryFacts("nvrtc")
    text, fix, stops = only(failing(nothing, compiler=CompilerFacts(), headers=()))
    assert "no NVRTC" in text and fix == 'pip install "cudapy[cuda13]"' and stops
    old = failing(nothing, library("cuda", (12, 4)), compiler=CompilerFacts(), headers=())
    assert only(old)[1] == 'pip install "cudapy[cuda12]"'  # what the driver can run


def test_nvrtc_that_does_not_compile() -> None:
    found = failing(compiler=CompilerFacts(error="no builtins"), wheels={"nvidia-cuda-nvrtc": "13.0.88"})
    text, fix, stops = only(found)
    assert has(text, "/lib/libnvrtc.so.13", "does not compile: no builtins") and stops
    assert fix == "pip install --force-reinstall --no-deps nvidia-cuda-nvrtc==13.0.88"


def test_broken_libraries() -> None:
    broken = LibraryFacts("nvJitLink", broken=("pip /x/libnvJitLink.so.12: file too short",))
    text, fix, stops = only(facts(broken, wheels={"nvidia-nvjitlink-cu12": "12.9.86"}))
    assert has(text, "nvJitLink is broken", "/x/libnvJitLink.so.12: file too short") and not stops
    assert fix == "pip install --force-reinstall --no-deps nvidia-nvjitlink-cu12==12.9.86"


def test_a_broken_library_is_said_even_where_another_was_taken() -> None:
    nvrtc = dataclasses.replace(library("nvrtc", (13, 0)), broken=("pip /x/libnvrtc.so.13: file too short",))
    text, fix, stops = only(facts(nvrtc))
    assert has(text, "/x/libnvrtc.so.13: file too short", "used instead: /lib/libnvrtc.so.13") and not stops
    assert fix == 'pip install "cudapy[cuda13]"'
    nothing = dataclasses.replace(nvrtc, path="", version=None, major=None)
    assert only(failing(nothing, compiler=CompilerFacts(), headers=()))[2]


def test_nvrtc_of_a_newer_major_than_the_driver() -> None:
    wheels = {"nvidia-cuda-nvrtc": "13.0.88", "nvidia-nvjitlink": "13.0.88"}
    found = failing(library("cuda", (12, 4), found_by="driver"), wheels=wheels)
    text, fix, stops = only(found)
    assert has(text, "NVRTC is of CUDA 13.0 (/lib/libnvrtc.so.13)", "the driver has CUDA 12.4") and stops
    assert fix.startswith(
        'pip uninstall -y nvidia-cuda-nvrtc nvidia-nvjitlink && pip install "cudapy[cuda12]"'
    )
    assert not only(dataclasses.replace(found, job=JobFacts(True, 0)))[2], "it was seen to run"
    linker = failing(library("cuda", (12, 4)), library("nvJitLink", (12, 4)))
    assert "newer major" in only(linker)[0], "and no advice to make nvJitLink as new"
    toolkit = failing(library("cuda", (12, 4)), library("nvrtc", (13, 0), found_by="system"), wheels=wheels)
    assert only(toolkit)[1].startswith('pip install "cudapy[cuda12]"')


def test_nvrtc_of_a_newer_minor_than_the_driver() -> None:
    text, fix, stops = only(facts(library("nvrtc", (13, 2)), library("nvJitLink", (13, 2))))
    assert has(text, "CUDA 13.2", "the driver has CUDA 13.0", "cubins work", "PTX is too new") and not stops
    assert 'pip install "nvidia-cuda-nvrtc==13.0.*"' in fix
    older = facts(library("cuda", (12, 4)), library("nvrtc", (12, 9)), library("nvJitLink", (12, 9)))
    assert "nvidia-cuda-nvrtc-cu12==12.4.*" in only(older)[1]


@pytest.mark.parametrize(("capability", "fix"), [((7, 0), "cuda12"), ((12, 1), "--upgrade")])
def test_a_device_that_nvrtc_does_not_know(capability: tuple[int, int], fix: str) -> None:
    device = dataclasses.replace(H200, name="Titan", compute_capability=capability)
    text, how, stops = only(failing(driver=DriverFacts("CUDA_SUCCESS", "", (device,))))
    assert has(text, "Titan", f"sm_{capability[0]}{capability[1]}", "sm_75 to sm_100") and stops
    assert fix in how


def test_two_majors() -> None:
    text, fix, stops = only(facts(library("nvJitLink", (12, 9), "/x/libnvJitLink.so.12")))
    parts = ("NVRTC is of CUDA 13 (/lib/libnvrtc.so.13)", "nvJitLink of CUDA 12 (/x/libnvJitLink.so.12)")
    assert has(text, *parts) and not stops
    assert fix == 'pip install "nvidia-nvjitlink>=13,<14"'
    old = library("nvrtc", (12, 9)), LibraryFacts("nvvm", "/x/libnvvm.so.4", "system", None, 13)
    text, fix, _ = only(facts(*old, library("nvJitLink", (12, 9))))
    assert "nvvm of CUDA 13 (/x/libnvvm.so.4)" in text and fix == "pip install nvidia-cuda-nvcc-cu12"


def test_a_linker_older_than_the_compiler() -> None:
    text, fix, _ = only(facts(library("cuda", (13, 5)), library("nvrtc", (13, 2))))
    assert has(text, "nvJitLink 13.0", "NVRTC 13.2") and fix == 'pip install "nvidia-nvjitlink>=13.2"'
    assert problems(facts(library("nvJitLink", (13, 4)))) == []


def test_wheels_of_both_majors() -> None:
    wheels = {"nvidia-cuda-nvrtc": "13.0.88", "nvidia-nvjitlink-cu12": "12.9.86"}
    text, fix, _ = only(facts(wheels=wheels))
    assert has(text, "CUDA 13: nvidia-cuda-nvrtc 13.0.88; CUDA 12: nvidia-nvjitlink-cu12 12.9.86")
    assert fix.startswith("pip uninstall -y nvidia-nvjitlink-cu12 ")
    old = library("cuda", (12, 4)), library("nvrtc", (12, 4)), library("nvJitLink", (12, 4))
    assert only(facts(*old, wheels=wheels))[1].startswith("pip uninstall -y nvidia-cuda-nvrtc ")


def test_no_headers() -> None:
    text, fix, _ = only(facts(headers=(), toolkits=()))
    assert "cuda_fp16.h" in text
    assert fix == 'pip install "cuda-toolkit[cudart]==13.0.*" "cuda-toolkit[cccl]==13.0.*"'
    assert only(facts(headers=(f"{SITE}/include/cccl",), toolkits=()))[0] == text


def test_headers_of_another_release() -> None:
    toolkits = (ToolkitFacts("pip", f"{SITE}/include", (13, 2)),)
    text, _, _ = only(facts(headers=(), toolkits=toolkits))
    assert has(text, f"CUDA 13.2 in {SITE}/include", "CUDA 13.0", "/lib/libnvrtc.so.13")


def test_headers_in_two_halves() -> None:
    wheels = {"nvidia-cuda-runtime": "13.0.96", "nvidia-cuda-crt": "13.2.78"}
    text, fix, _ = only(facts(wheels=wheels))
    assert has(text, *(f"{name} {number}" for name, number in wheels.items()))
    assert fix == 'pip install "nvidia-cuda-crt==13.0.*"'
    assert problems(facts(wheels={**wheels, "nvidia-cuda-crt": "13.0.88"})) == []


def test_several_toolkits() -> None:
    toolkits = [
        ToolkitFacts("CUDA_PATH", "/opt/cuda-12.4/include", (12, 4)),
        ToolkitFacts("system", "/usr/local/cuda-13.0/include", (13, 0)),
    ]
    text, fix, _ = only(facts(toolkits=tuple(toolkits)))
    assert has(text, "12.4 in /opt/cuda-12.4 (CUDA_PATH)", "13.0 in /usr/local/cuda-13.0 (system)")
    assert fix == "export CUDA_PATH=/usr/local/cuda-13.0; unset CUDA_HOME"  # that of NVRTC's release
    wheel = ToolkitFacts("pip", f"{SITE}/include", (13, 0))
    assert problems(facts(toolkits=(wheel, toolkits[0]))) == [], "wheels are no toolkit"
    same = [dataclasses.replace(toolkit, release=(13, 0)) for toolkit in toolkits]
    assert problems(facts(toolkits=tuple(same))) == []


@pytest.mark.parametrize("name", ["CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX"])
def test_relative_and_absent_roots(name: str) -> None:
    text, fix, _ = only(facts(environment={name: "cuda"}))
    assert has(text, name, "'cuda'", "ignored") and f'export {name}="$(realpath cuda)"' in fix
    text, fix, _ = only(facts(environment={name: "/gone"}, absent=(name,)))
    assert has(text, name, "/gone", "not there") and fix == f"unset {name}"
    assert problems(facts(environment={name: "/usr/local/cuda"})) == []


def test_stubs() -> None:
    stub = "/usr/local/cuda/lib64/stubs"
    environment = {"LD_LIBRARY_PATH": f"/a:{stub}:/b", "LIBRARY_PATH": stub}
    text, fix, _ = only(facts(environment=environment, stubs=(("LD_LIBRARY_PATH", stub),)))
    assert has(text, "LD_LIBRARY_PATH", stub, "stub") and fix == "export LD_LIBRARY_PATH=/a:/b"
    text, fix, _ = only(facts(environment=environment, stubs=(("LIBRARY_PATH", stub),)))
    assert has(text, "LIBRARY_PATH", stub) and fix == "unset LIBRARY_PATH"


@pytest.mark.parametrize(("value", "fix"), [("/a:", "=/a"), (":", "unset"), ("lib:/a:/b", "=/a:/b")])
def test_a_library_path_with_the_working_directory(value: str, fix: str) -> None:
    text, how, _ = only(facts(environment={"LD_LIBRARY_PATH": value}))
    assert has(text, repr(value), "working directory") and fix in how


def test_what_stops_comes_first_and_a_failure_is_never_without_a_reason() -> None:
    toolkits = (ToolkitFacts("pip", f"{SITE}/include", (13, 2)),)
    found = failing(headers=(), toolkits=toolkits, job=JobFacts(error="out of memory"))
    first, second = problems(found)
    assert first.stops and "out of memory" in first.text and not second.stops
    assert all(problem.stops is False for problem in problems(dataclasses.replace(found, job=JobFacts(True))))


def test_every_problem_has_a_fix_and_no_machine_is_too_odd() -> None:
    empty = Facts("0.1", "3.11", "plan9")
    bare = dataclasses.replace(empty, libraries=tuple(LibraryFacts(name) for name in USED))
    for odd in (
        empty,
        bare,
        failing(LibraryFacts("nvrtc", "/x", "pip"), LibraryFacts("cuda", "/y", "driver")),
    ):
        found = problems(odd)
        assert found[0].stops and all(problem.text and problem.fix for problem in found)
        assert as_text(odd, found) and json.loads(as_json(odd, found))["works"] is False


# -- the report -------------------------------------------------------------------------------------------


def test_why_there_is_no_fast_lane() -> None:
    assert "\nFast lane: on\n" in as_text(facts(), [])
    off = dataclasses.replace(facts(), no_fast_lane="CUDAPY_FAST_LANE is 0")
    assert "\nFast lane: none, CUDAPY_FAST_LANE is 0\n" in as_text(off, [])
    assert json.loads(as_json(off, []))["no_fast_lane"] == "CUDAPY_FAST_LANE is 0"


def test_the_text_has_it_all() -> None:
    text = as_text(facts(), [])
    for part in (
        "cudapy 0.1", "Python 3.11", "/usr/lib/libcuda.so.1", "/lib/libnvrtc.so.13",
        "NVIDIA H200, compute capability 9.0, 140.4 GiB", "No problems.", f"{SITE}/include", "device 0",
    ):  # fmt: skip
        assert part in text
    assert "simulator" not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("version: 2.25.7\n", "GPUDirect Storage: the nvidia-fs driver 2.25.7 is loaded"),
        ("?\n", "GPUDirect Storage: the nvidia-fs driver of an unknown version is loaded"),
        (None, "compatibility mode: there is no nvidia-fs driver"),
    ],
)
def test_how_files_come_to_device_memory(text: str | None, expected: str, tmp_path: Path) -> None:
    version = tmp_path / "version"
    if text is not None:
        version.write_text(text)
    there = facts(library("cufile", (1, 15)), nvidia_fs=machine.nvidia_fs(str(version)))
    assert f"\nFiles to device memory\n  {expected}" in as_text(there, [])
    assert "Files to device memory" not in as_text(facts(LibraryFacts("cufile")), [])


def test_a_fix_is_on_one_line_to_be_copied() -> None:
    wheels = {name: "13.0" for lib in USED.values() for name in lib.packages}
    found = facts(wheels=wheels)
    (problem,) = problems(found)
    assert len(problem.fix) > 110 and f"Fix: {problem.fix}\n" in as_text(found, [problem])


@pytest.mark.parametrize(("works", "status"), [(True, 0), (False, 1)])
def test_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], works: bool, status: int
) -> None:
    monkeypatch.setattr(command, "this_machine", lambda: facts(job=JobFacts(works, 0)))
    assert command.main([]) == status
    assert command.main(["--json"]) == status
    out = capsys.readouterr().out
    assert json.loads(out[out.index("{") :])["works"] is works


NO_DRIVER, BROKEN_DRIVER = (
    LibraryFacts("cuda"),
    LibraryFacts("cuda", broken=("/lib/libcuda.so.1: too short",)),
)


@pytest.mark.parametrize(
    ("driver", "simulated", "status", "words"),
    [
        (
            NO_DRIVER,
            JobFacts(True, 0),
            0,
            "\nOn the simulator one ran. Next: CUDAPY_DRIVER=simulator python program.py, or",
        ),
        (
            BROKEN_DRIVER,
            JobFacts(True, 0),
            1,
            "\nOn the simulator one ran. Next: CUDAPY_DRIVER=simulator python program.py, or",
        ),
        (
            NO_DRIVER,
            JobFacts(error="it needs NumPy 2"),
            1,
            "\nOn the simulator none ran either: it needs NumPy 2",
        ),
        (NO_DRIVER, JobFacts(), 1, "nothing was run)."),
    ],
)
def test_without_a_driver_the_simulator_counts(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    driver: LibraryFacts,
    simulated: JobFacts,
    status: int,
    words: str,
) -> None:
    """A driver that is broken is one that somebody wants to use."""
    found = failing(driver, driver=DriverFacts(), simulated=simulated)
    monkeypatch.setattr(command, "this_machine", lambda: found)
    assert command.main([]) == status
    assert words in capsys.readouterr().out


# -- a process of its own ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("os.abort()", "SIGABRT"),
        ("os._exit(3)", "ended with 3"),
        ("sys.exit('a reason')", "a reason"),
        ("time.sleep(60)", "no answer in 2 seconds"),
    ],
)
def test_a_process_that_gives_no_answer(monkeypatch: pytest.MonkeyPatch, code: str, words: str) -> None:
    if os.name == "nt" and "SIG" in words:
        pytest.skip("no signals")
    monkeypatch.setattr(probe, "_CHILD", f"import os, sys, time; {code}")
    assert words in probe.ask("library", "cuda", timeout=2)["error"]


def test_an_interpreter_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "/nowhere/python" in probe.ask("library", "cuda")["error"]
    monkeypatch.setattr(sys, "executable", "")
    assert "sys.executable" in probe.ask("library", "cuda")["error"]


def test_an_exception_is_an_answer() -> None:
    assert "no library 'nonsense'" in probe.ask("library", "nonsense")["error"]


def test_the_report_goes_to_any_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also to one that has no encoding to change, as in a notebook."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(command, "this_machine", facts)
    assert command.main([]) == 0
    assert out.getvalue() == as_text(facts(), []) + "\n"


def test_a_driver_that_gives_no_release() -> None:
    """Of its package, whose number NVML has; and of CUDA."""
    text = as_text(facts(driver=DriverFacts("CUDA_SUCCESS", "", (H200,), "580.65.06")), [])
    assert "  release    580.65.06\n" in text
    assert "  release" not in as_text(facts(), [])

    class Handle:
        def cuDriverGetVersion(self, address: Any) -> int:
            return 999

    loaded = pathfinder.Loaded("cuda", Handle(), "/lib/libcuda.so.1", "driver", None)
    assert probe._version(loaded) is None


def test_a_file_that_the_loader_takes_by_itself() -> None:
    """But not with what it needs, so that `load` passed over it."""
    assert probe._why("/nowhere/libnvrtc.so.13").startswith("cannot open shared object file")
    assert probe._why(pathfinder.load("nvrtc").path) == "what it needs beside it cannot be loaded"


def test_a_broken_library_of_the_driver() -> None:
    nvml = LibraryFacts("nvml", broken=("driver /usr/lib/libnvidia-ml.so.1: file too short",))
    assert "install the NVIDIA driver" in only(facts(nvml))[1]


def test_a_machine_without_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise pathfinder.LibraryNotFound("nvml", (), "no NVML")

    monkeypatch.setattr(nvml, "init_v2", missing)
    assert probe._package() == "" and probe._use(0) == {}


def test_who_else_has_memory_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest first; not this process, nor those whose memory NVML does not tell."""

    def process(pid: int, memory: int) -> Any:
        return nvml.ProcessInfo(pid=pid, used_gpu_memory=memory)

    all_of_them = [process(5, 10), process(6, 20), process(7, 2**64 - 1), process(os.getpid(), 30)]
    monkeypatch.setattr(cuda.checked, "cuDeviceGetPCIBusId", lambda length, device: b"0:01:00.0\0")
    for name, answer in {
        "init_v2": lambda: None,
        "device_get_handle_by_pci_bus_id_v2": lambda bus: bus,
        "device_get_memory_info_v2": lambda bus: nvml.Memory_v2(free=77),
        "device_get_compute_running_processes_v3": lambda bus: all_of_them,
        "system_get_process_name": lambda pid: f"process {pid}",
    }.items():
        monkeypatch.setattr(nvml, name, answer)
    assert probe._use(0) == {"free": 77, "processes": [(6, "process 6", 20), (5, "process 5", 10)]}


def test_the_job_is_tried_on_the_next_device_too() -> None:
    asked = []

    def ask(question: str, argument: str) -> dict[str, Any]:
        asked.append((question, argument))
        if question == "library":
            return {"path": f"/{argument}", "found_by": "x", "major": 13, "version": [13, 0]}
        if question == "devices":
            shown = {"name": "N", "compute_capability": [9, 0], "memory": 1}
            return {"status": "CUDA_SUCCESS", "devices": [{**shown, "ordinal": i} for i in range(3)]}
        if question == "compiler":
            return {"works": True, "architectures": [90]}
        return {"works": True, "device": 1} if argument == "1" else {"error": f"device {argument} is ill"}

    assert machine.this_machine(ask).job == JobFacts(True, 1, "")
    assert [argument for question, argument in asked if question == "job"] == ["0", "1"]


# -- real runs --------------------------------------------------------------------------------------------


ASKED = """
import sys
from cudapy import __main__ as command
from cudapy._commands.doctor import machine, probe
asked = sys.argv.pop(1).split(",")
def ask(question, argument):
    return probe.ask(question, argument) if f"{question} {argument}".strip() in asked else {}
command.this_machine = lambda: machine.this_machine(ask)
sys.exit(command.main())
"""


def doctor(
    *arguments: str,
    cwd: Path = REPOSITORY,
    python: tuple[str, ...] = (),
    asked: str = "",
    **environment: str,
) -> tuple[int, str]:
    """The exit code and what was printed; nothing may be printed as an error.

    asked: the only questions that processes answer, where a test needs no more of the machine.
    """
    clean = {name: value for name, value in os.environ.items() if name not in machine.VARIABLES}  # type: ignore[attr-defined]
    program = ["-c", ASKED, asked] if asked else ["-m", "cudapy"]
    done = subprocess.run(
        [sys.executable, *python, *program, *arguments],
        cwd=cwd, env={**clean, "PYTHONPATH": str(REPOSITORY), **environment}, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_this_machine() -> None:
    status, text = doctor("--json")
    report = json.loads(text)
    assert status == (0 if report["works"] or report["simulated"]["works"] else 1)
    assert [lib["name"] for lib in report["libraries"]] == list(USED)
    assert report["cudapy"] == cudapy.__version__
    if not report["works"]:
        assert report["problems"][0]["stops"]
    for lib in report["libraries"]:
        if lib["path"]:
            assert module("pathfinder").load(lib["name"]).path == lib["path"]


def test_the_simulator_is_a_machine(nvrtc) -> None:
    """A kernel compiled and run; asked in this process."""
    if not simulator.is_enabled():
        pytest.skip("the tests run on a GPU")
    found = machine.this_machine(lambda question, argument: probe.QUESTIONS[question](argument))
    assert found.compiler.works and found.job == JobFacts(True, 0, "")
    assert found.driver.package == "580.0" and found.driver.devices[0].free
    assert re.search(r"\n  cuda +\d+\.\d+ +cudapy simulator\n", as_text(found, []))
    newer = dataclasses.replace(found.library("nvrtc"), version=(99, 0))
    libraries = tuple(newer if lib.name == "nvrtc" else lib for lib in found.libraries)
    texts = [problem.text for problem in problems(dataclasses.replace(found, libraries=libraries))]
    assert not any("newer" in text for text in texts), "it takes the PTX of every NVRTC"


def test_a_kernel_that_writes_something_else(nvrtc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "KERNEL", probe.KERNEL.replace("42", "43"))
    assert probe.job("0") == {"error": "the kernel should have written 42, and wrote 43"}


def test_a_reader_that_goes_away() -> None:
    command = [sys.executable, "-c", ASKED, "nothing"]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout and run.stderr
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode in (0, 1)


DRIVER = """
#include <string.h>
int cuInit(unsigned flags) { return INIT; }
int cuDriverGetVersion(int *version) { *version = 12040; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int length, int device) { strncpy(name, "Made Up", length); return 0; }
int cuDeviceGetAttribute(int *value, int what, int device) { *value = what == 75 ? 9 : 0; return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 3UL << 30; return 0; }
"""


@pytest.fixture
def driver(gcc: str, tmp_path: Path):
    """Make a libcuda of C code, with -D options; its folder."""
    if not sys.platform.startswith("linux"):
        pytest.skip("a made-up driver is for Linux")

    def make(*options: str, folder: str = "driver", source: str = DRIVER) -> str:
        path = tmp_path / folder / "libcuda.so.1"
        path.parent.mkdir(parents=True)
        command = [gcc, "-shared", "-fPIC", *options, "-x", "c", "-", "-o", str(path)]
        subprocess.run(command, input=source.encode(), check=True)
        return str(path.parent)

    return make


def only_made_up() -> None:
    """Skip where a driver under WSL comes before what LD_LIBRARY_PATH has."""
    if Path("/usr/lib/wsl/lib/libcuda.so.1").exists():
        pytest.skip("WSL")


def test_a_device_is_described(driver, nvrtc) -> None:
    only_made_up()
    folder = driver("-DINIT=0")
    status, text = doctor(asked="library cuda,devices", LD_LIBRARY_PATH=folder)
    assert status == 1
    assert "Made Up, compute capability 9.0, 3.0 GiB" in text
    assert f"12.4            driver    {folder}/libcuda.so.1" in text
    assert "[no kernel runs on a GPU]" in text


@pytest.mark.parametrize(
    ("options", "source", "words"),
    [
        (["-DINIT=100"], DRIVER, "shows no device"),
        pytest.param(["-DINIT=34"], DRIVER, "CUDA_ERROR_STUB_LIBRARY", marks=pytest.mark.thorough),
        (["-DINIT=(abort(), 0)", "-include", "stdlib.h"], DRIVER, "SIGABRT"),
        ([], "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }", "SIGABRT"),
        pytest.param(
            [],
            "int cuDriverGetVersion(int *v) { *v = 13000; return 0; }",
            '"cuInit" not found',
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_driver_that_fails(driver, options: list[str], source: str, words: str) -> None:
    only_made_up()
    status, text = doctor(asked="library cuda,devices", LD_LIBRARY_PATH=driver(*options, source=source))
    assert status == 1 and words in " ".join(text.split())


def test_a_library_that_hangs_when_the_process_ends(driver, monkeypatch: pytest.MonkeyPatch) -> None:
    only_made_up()
    slow = "#include <unistd.h>\n__attribute__((destructor)) static void f(void) { sleep(600); }"
    folder = driver("-DINIT=0", source=DRIVER + slow)
    monkeypatch.setenv("LD_LIBRARY_PATH", folder)
    assert probe.ask("library", "cuda", timeout=60)["path"] == f"{folder}/libcuda.so.1"


def test_stubs_on_the_library_paths(driver) -> None:
    folder, good = driver("-DINIT=0", folder="stubs"), driver("-DINIT=0")
    _, text = doctor(
        "--json",
        asked="library cuda",
        LD_LIBRARY_PATH=folder,
        LIBRARY_PATH=f"/nowhere:{folder}:{good}",
    )
    report = json.loads(text)
    assert report["stubs"] == [["LD_LIBRARY_PATH", folder], ["LIBRARY_PATH", folder]]
    assert (
        next(lib for lib in report["libraries"] if lib["name"] == "cuda")["path"] != f"{folder}/libcuda.so.1"
    )


def test_broken_files_are_lines_of_the_report(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for path in ("nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                 "nvidia/cu13/lib/libnvJitLink.so.13", "nvidia/cu13/lib/libcudart.so.13"):  # fmt: skip
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text("not a library")
    info = site / "nvidia_cuda_nvrtc-13.0.88.dist-info"  # without the metadata that it should have
    info.mkdir()
    status, text = doctor(
        asked="library nvrtc,library nvJitLink,library cudart",
        PYTHONPATH=os.pathsep.join([str(site), str(REPOSITORY)]),
    )
    flat = " ".join(text.split())
    assert status in (0, 1)
    for name in ("nvrtc", "nvJitLink", "cudart"):
        assert f"{name} is broken: pip {site}/nvidia/cu13/lib/lib{name}.so.13: " in flat
    assert "file too short" in flat or "invalid ELF header" in flat


def test_a_file_cut_short_does_not_end_the_report(nvrtc, tmp_path: Path) -> None:
    # The loader maps it, touches what is not there, and the process gets SIGBUS.
    whole = Path(pathfinder.load("nvrtc").path).read_bytes()
    file = tmp_path / f"site/nvidia/cu13/lib/libnvrtc.so.{pathfinder.load('nvrtc').major}"
    file.parent.mkdir(parents=True)
    file.write_bytes(whole[: len(whole) // 3])
    if file.suffix != ".13":
        pytest.skip("the wheels of CUDA 12 have another folder")
    paths = os.pathsep.join([str(tmp_path / "site"), str(REPOSITORY)])
    _, text = doctor(asked="library nvrtc", PYTHONPATH=paths)
    assert f"nvrtc is broken: pip {file}" in " ".join(text.split())


def test_relative_and_absent_roots_of_this_process(tmp_path: Path) -> None:
    _, text = doctor("--json", asked="library nvrtc", CUDA_PATH="toolkit", CUDA_HOME=str(tmp_path / "gone"))
    report = json.loads(text)
    assert report["environment"] == {"CUDA_PATH": "toolkit", "CUDA_HOME": str(tmp_path / "gone")}
    assert report["absent"] == ["CUDA_HOME"]
    assert any("CUDA_PATH is 'toolkit'" in problem["text"] for problem in report["problems"])


def test_a_library_planted_in_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "nvidia/cu13/lib").mkdir(parents=True)
    (tmp_path / "nvidia/cu13/lib/libnvrtc.so.13").write_text("not a library")
    _, text = doctor(cwd=tmp_path, asked="library nvrtc,compiler")
    assert "nvrtc" in text and str(tmp_path) not in text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="-P is of Python 3.11")
def test_a_module_planted_in_the_working_directory(tmp_path: Path) -> None:
    # The report does not search there (-P), and neither may the processes that it starts.
    for name in ("json", "importlib", "cudapy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')")
    _, text = doctor(cwd=tmp_path, python=("-P",), asked="library nvrtc,compiler")
    assert "nvrtc" in text and "planted" not in text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["simulator", "program.py"], "simulator is a module: python -m cudapy.simulator program.py"),
        (["topp"], "there is no command 'topp': ranks, top, vendor"),
    ],
)
def test_a_command_that_there_is_not(
    given: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(given)
    assert ended.value.code == 2 and words in capsys.readouterr().err
