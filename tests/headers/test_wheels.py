"""The header wheels: pins, downloads, the cache."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from . import wheels


def wheel(folder: Path, *names: str) -> Path:
    path = folder / "some.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


def test_unpack_keeps_headers_alone(tmp_path: Path) -> None:
    headers = ["nvidia/cu13/include/cuda.h", "nvidia/cu13/include/crt/x.hpp", "nvidia/other/y.h"]
    path = wheel(tmp_path, *headers, "nvidia/cu13/lib/libcuda.so", "nvidia/cu13/include/", "include")
    wheels.unpack(path, tmp_path / "out")
    found = [file.relative_to(tmp_path / "out").as_posix() for file in (tmp_path / "out").rglob("*.*")]
    assert sorted(found) == sorted(headers)


@pytest.mark.parametrize("name", ["../up.h", "a/../../up.h", "/etc/up.h", "a\\up.h", "C:/up.h"])
def test_unpack_refuses_paths_that_lead_out(tmp_path: Path, name: str) -> None:
    path = wheel(tmp_path, name)
    with pytest.raises(ValueError, match="unsafe path"):
        wheels.unpack(path, tmp_path / "out")
    assert list((tmp_path / "out").rglob("*")) == []


def test_requirement_for_every_release() -> None:
    assert wheels.requirement("12.4", "runtime") == "nvidia-cuda-runtime-cu12==12.4.127"
    assert wheels.requirement("13.0", "nvvm") == "nvidia-nvvm==13.0.88"
    assert wheels.requirement("12.0", "cufile") is None
    for _, versions in wheels.PACKAGES.values():
        assert len(versions.split()) == len(wheels.RELEASES)


def test_fetch_downloads_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def download(wanted: str, folder: Path) -> Path:
        asked.append(wanted)
        return wheel(folder, "nvidia/cu13/include/cuda.h")

    monkeypatch.setenv("CUDAPY_HEADER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(wheels, "_download", download)
    for _ in range(2):
        folders = wheels.fetch("13.0", "runtime")
        assert folders == [tmp_path / "cache/nvidia-cuda-runtime-13.0.96/nvidia/cu13/include"]
        assert (folders[0] / "cuda.h").is_file()
    assert asked == ["nvidia-cuda-runtime==13.0.96"]
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["nvidia-cuda-runtime-13.0.96"]


def test_fetch_of_a_wheel_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDAPY_HEADER_CACHE", str(tmp_path))
    with pytest.raises(LookupError, match="cufile headers of CUDA 12"):
        wheels.fetch("12.0", "cufile")


@pytest.mark.parametrize(("status", "found"), [(0, True), (0, False), (1, False)])
def test_pip_downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, found: bool) -> None:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert command[1:4] == ["-m", "pip", "download"]
        assert {"--no-deps", "--platform=manylinux2014_x86_64", "name==1.0"} < set(command)
        if found:
            wheel(Path(command[command.index("-d") + 1]))
        return subprocess.CompletedProcess(command, status, "", "no such wheel")

    monkeypatch.setattr(subprocess, "run", run)
    if found:
        assert wheels._download("name==1.0", tmp_path) == tmp_path / "some.whl"
    else:
        with pytest.raises(RuntimeError, match=r"could not download name==1\.0:\nno such wheel"):
            wheels._download("name==1.0", tmp_path)


def test_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDAPY_HEADER_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert wheels._cache() == tmp_path / "cudapy" / "headers"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert wheels._cache() == Path.home() / ".cache" / "cudapy" / "headers"
