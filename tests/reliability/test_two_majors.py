"""CUDA 12 and CUDA 13 on one machine: libraries of one major work together, and a mixture says so."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cudapy import pathfinder
from cudapy._core.compile import linker_nvjitlink
from cudapy.core import Linker, LinkerOptions, LinkError, ObjectCode
from cudapy.pathfinder import Candidate, Host, Loaded
from tests.loader import forget_libraries

FILES = {
    ("nvrtc", 12): "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    ("nvJitLink", 12): "nvidia/nvjitlink/lib/libnvJitLink.so.12",
    ("nvrtc", 13): "nvidia/cu13/lib/libnvrtc.so.13",
    ("nvJitLink", 13): "nvidia/cu13/lib/libnvJitLink.so.13",
}


class Machine:
    """Folders with wheels and a toolkit, whose libraries are empty but open."""

    def __init__(self, base: Path, gcc: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.base = base.resolve()
        self.library = self.base / "empty.so"
        done = subprocess.run([gcc, "-shared", "-x", "c", os.devnull, "-o", self.library], check=False)
        assert done.returncode == 0
        environ = {"CUDA_PATH": str(self.base / "toolkit")}
        host = Host((str(self.base / "site"),), environ, root=str(self.base / "root"))
        real = ctypes.CDLL

        def cdll(name: str, *rest: Any, **more: Any) -> ctypes.CDLL:
            if not os.path.isabs(name):
                raise OSError(f"{name}: no such file")  # whatever this machine's loader knows
            return real(name, *rest, **more)

        monkeypatch.setattr(ctypes, "CDLL", cdll)
        monkeypatch.setattr(pathfinder, "this_host", lambda: host)
        forget_libraries(monkeypatch)

    def wheel(self, name: str, major: int) -> str:
        return self.add(f"site/{FILES[name, major]}")

    def toolkit(self, name: str, major: int) -> str:
        return self.add(f"toolkit/lib64/{os.path.basename(FILES[name, major])}")

    def add(self, path: str) -> str:
        file = self.base / path
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.library, file)
        return str(file)


@pytest.fixture
def machine(tmp_path: Path, gcc: str, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, gcc, monkeypatch)


@pytest.mark.parametrize(("first", "second"), [("nvrtc", "nvJitLink"), ("nvJitLink", "nvrtc")])
@pytest.mark.parametrize("major", [12, 13])
def test_the_second_library_is_of_the_major_of_the_first(
    machine: Machine, first: str, second: str, major: int
) -> None:
    """Wheels with one of the two, a toolkit of the other major with both: which is not mixed into them."""
    one = machine.wheel(first, major)
    machine.toolkit(first, 25 - major)
    machine.toolkit(second, 25 - major)
    other = machine.add(f"root/usr/local/cuda-{major}.0/lib64/{os.path.basename(FILES[second, major])}")
    assert (pathfinder.load(first).path, pathfinder.load(first).major) == (one, major)
    before_it_is_open = pathfinder.locate(second)
    assert (before_it_is_open.path, before_it_is_open.major) == (other, major), (
        "as the keys of the cache have it"
    )
    assert next(c.path for c in pathfinder.find(second) if os.path.isabs(c.path) and not c.refused) == other
    assert pathfinder.load(second).path == other
    assert pathfinder.load(second, 25 - major).major == 25 - major, "unless one asks for the other"


def test_the_other_major_is_better_than_none(machine: Machine) -> None:
    machine.wheel("nvrtc", 13)
    file = machine.wheel("nvJitLink", 12)
    assert pathfinder.load("nvrtc").major == 13
    assert (pathfinder.load("nvJitLink").path, pathfinder.load("nvJitLink").major) == (file, 12)


def test_with_two_majors_open_the_order_is_as_ever(machine: Machine) -> None:
    for major in (12, 13):
        machine.wheel("nvrtc", major)
        assert pathfinder.load("nvrtc", major).major == major
    machine.wheel("nvJitLink", 12)
    new = machine.wheel("nvJitLink", 13)
    assert pathfinder.load("nvJitLink").path == new


def test_a_mixture_is_said_where_linking_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """With both paths, and the package that would fit."""
    try:
        real = pathfinder.load("nvJitLink")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    assert real.major is not None
    compilers = {
        25 - real.major: Loaded("nvrtc", real.handle, "/opt/other/libnvrtc.so", "CUDA_PATH", 25 - real.major),
        real.major: Candidate("pip", "/opt/same/libnvrtc.so", real.major),
        None: Candidate("pip", "/opt/unknown/libnvrtc.so"),
    }
    said = {}
    for major, compiler in compilers.items():
        monkeypatch.setattr(linker_nvjitlink.pathfinder, "locate", lambda name, found=compiler: found)  # type: ignore[attr-defined]
        with pytest.raises(LinkError) as caught:
            Linker(ObjectCode.from_cubin(b"not a cubin"), options=LinkerOptions(arch="sm_90")).link("cubin")
        assert f"With: nvJitLink {real.major}." in str(caught.value) and real.path in str(caught.value)
        said[major] = "what one compiles the other may not link" in str(caught.value)
        if said[major]:
            assert "/opt/other/libnvrtc.so" in str(caught.value)
            assert f"NVRTC of CUDA {25 - real.major}" in str(caught.value)
    assert said == {25 - real.major: True, real.major: False, None: False}
