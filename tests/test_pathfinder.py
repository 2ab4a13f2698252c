"""cudapy.pathfinder on made-up trees of wheels, conda, toolkits, WSL, stubs and planted files."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cudapy import pathfinder
from cudapy.pathfinder import LIBRARIES, Host, LibraryNotFound

from .loader import forget_libraries

REPOSITORY = Path(pathfinder.__file__).parents[1]
Build = Callable[..., Path]
Here = Callable[[Host], None]


class Tree:
    """A made-up machine below `base`: a site-packages, an environment, toolkits and a system."""

    def __init__(self, base: Path) -> None:
        # Real, as candidates are.
        self.base = base.resolve()
        self.site = self.base / "site-packages"
        self.site.mkdir()

    def add(self, path: str, content: str = "not a library") -> str:
        """Write a file; its path, as candidates give it."""
        file = self.base / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return str(file)

    def host(
        self,
        environ: Mapping[str, str] | None = None,
        paths: tuple[str, ...] | None = None,
        platform: str = "linux",
        cpu: str = "x86_64",
    ) -> Host:
        return Host(
            paths=(str(self.site),) if paths is None else paths,
            environ=environ or {},
            platform=platform,
            cpu=cpu,
            root=str(self.base / "root"),
        )


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Compile a shared library. Without a soname, lest a later test is given it for a real one."""
    gcc = shutil.which("gcc")
    if gcc is None or not sys.platform.startswith("linux"):
        pytest.skip("needs gcc on Linux, to build libraries that load")

    def compiler(path: Path | str, source: str = "int answer(void) { return 42; }", soname: str = "") -> Path:
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        code = tmp_path / f"{path.name}.c"
        code.write_text(source)
        options = [f"-Wl,-soname,{soname}"] if soname else []
        subprocess.run([str(gcc), "-shared", "-fPIC", "-o", path, code, *options, "-ldl"], check=True)
        return path

    return compiler


@pytest.fixture
def no_system(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Hide what this machine's loader knows; the paths that were opened."""
    real = ctypes.CDLL
    opened: list[str] = []

    def cdll(name: str | None, *args: Any, **keywords: Any) -> ctypes.CDLL:
        if name is not None and not os.path.isabs(name):
            raise OSError(f"{name}: cannot open shared object file: No such file or directory")
        library = real(name, *args, **keywords)
        opened.append(str(name))
        return library

    monkeypatch.setattr(ctypes, "CDLL", cdll)
    forget_libraries(monkeypatch)
    return opened


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    """Make a made-up machine the one that `load` and `find` search."""
    return lambda host: monkeypatch.setattr(pathfinder, "this_host", lambda: host)


def found(name: str, host: Host, major: int | None = None) -> list[str]:
    """What `load` would try, in order."""
    return [c.path for c in pathfinder.candidates(LIBRARIES[name], major, host) if not c.refused]  # type: ignore[attr-defined]


def files(name: str, host: Host, major: int | None = None) -> list[str]:
    """The same without the sonames, which are for the loader."""
    return [path for path in found(name, host, major) if os.path.isabs(path)]


def refused(name: str, host: Host, major: int | None = None) -> list[str]:
    """What `load` would not try, each with the reason."""
    return [str(c) for c in pathfinder.candidates(LIBRARIES[name], major, host) if c.refused]  # type: ignore[attr-defined]


# ---- Layouts ----

LINUX_WHEELS = [  # as `unzip -l` shows the wheels of 12.9 and 13.0
    ("nvrtc", 13, "nvidia/cu13/lib/libnvrtc.so.13"),
    ("nvrtc", 12, "nvidia/cuda_nvrtc/lib/libnvrtc.so.12"),
    ("nvJitLink", 13, "nvidia/cu13/lib/libnvJitLink.so.13"),
    ("nvJitLink", 12, "nvidia/nvjitlink/lib/libnvJitLink.so.12"),
    ("nvvm", 13, "nvidia/cu13/lib/libnvvm.so.4"),
    ("nvvm", 12, "nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so"),
    ("nvvm", 12, "nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so.4"),
    ("nvfatbin", 13, "nvidia/cu13/lib/libnvfatbin.so.13"),
    ("nvfatbin", 12, "nvidia/nvfatbin/lib/libnvfatbin.so.12"),
    ("cudart", 13, "nvidia/cu13/lib/libcudart.so.13"),
    ("cudart", 12, "nvidia/cuda_runtime/lib/libcudart.so.12"),
    ("cufile", 13, "nvidia/cu13/lib/libcufile.so.0"),
    ("cufile", 12, "nvidia/cufile/lib/libcufile.so.0"),
]
WINDOWS_WHEELS = [
    ("nvrtc", 13, "nvidia/cu13/bin/x86_64/nvrtc64_130_0.dll"),
    ("nvrtc", 13, "nvidia/cu13/bin/nvrtc64_130_0.dll"),
    ("nvrtc", 12, "nvidia/cuda_nvrtc/bin/nvrtc64_120_0.dll"),
    ("nvJitLink", 13, "nvidia/cu13/bin/x86_64/nvJitLink_130_0.dll"),
    ("nvJitLink", 12, "nvidia/nvjitlink/bin/nvJitLink_120_0.dll"),
    ("nvvm", 13, "nvidia/cu13/bin/x86_64/nvvm64_40_0.dll"),
    ("nvvm", 12, "nvidia/cuda_nvcc/nvvm/bin/nvvm64_40_0.dll"),
    ("nvfatbin", 13, "nvidia/cu13/bin/x86_64/nvfatbin_130_0.dll"),
    ("nvfatbin", 12, "nvidia/nvfatbin/bin/nvfatbin_120_0.dll"),
    ("cudart", 13, "nvidia/cu13/bin/x86_64/cudart64_13.dll"),
    ("cudart", 12, "nvidia/cuda_runtime/bin/cudart64_12.dll"),
]


@pytest.mark.parametrize(
    ("platform", "name", "major", "path"),
    [("linux", *row) for row in LINUX_WHEELS] + [("win32", *row) for row in WINDOWS_WHEELS],
)
def test_wheels(tree: Tree, platform: str, name: str, major: int, path: str) -> None:
    file = tree.add(f"site-packages/{path}")
    host = tree.host(platform=platform)
    first = next(c for c in pathfinder.candidates(LIBRARIES[name], None, host) if not c.refused)  # type: ignore[attr-defined]
    assert (first.found_by, first.path, first.major) == ("pip", file, major)
    assert files(name, host, major) == [file]
    assert files(name, host, 25 - major) == []


def test_the_alternative_nvrtc_of_a_wheel_is_not_nvrtc(tree: Tree) -> None:
    tree.add("site-packages/nvidia/cu13/lib/libnvrtc.alt.so.13")
    tree.add("site-packages/nvidia/cu13/bin/nvrtc64_130_0.alt.dll")
    tree.add("site-packages/nvidia/cu13/bin/nvrtc-builtins64_130.dll")
    assert files("nvrtc", tree.host()) == []
    assert files("nvrtc", tree.host(platform="win32")) == []


@pytest.mark.parametrize(
    ("name", "platform", "path"),
    [
        ("nvrtc", "linux", "lib/libnvrtc.so.12"),
        ("nvvm", "linux", "nvvm/lib64/libnvvm.so.4"),
        ("nvrtc", "win32", "Library/bin/nvrtc64_120_0.dll"),
        ("nvvm", "win32", "Library/nvvm/bin/nvvm64_40_0.dll"),
    ],
)
def test_conda(tree: Tree, name: str, platform: str, path: str) -> None:
    file = tree.add(f"conda/{path}")
    host = tree.host({"CONDA_PREFIX": str(tree.base / "conda")}, platform=platform)
    assert ("conda", file) in [
        (c.found_by, c.path)
        for c in pathfinder.candidates(LIBRARIES[name], None, host)  # type: ignore[attr-defined]
    ]


@pytest.mark.parametrize("variable", ["CUDA_PATH", "CUDA_HOME"])
@pytest.mark.parametrize(
    ("name", "platform", "cpu", "path"),
    [
        ("nvrtc", "linux", "x86_64", "lib64/libnvrtc.so.13"),
        ("nvrtc", "linux", "x86_64", "lib/libnvrtc.so.13"),
        ("nvrtc", "linux", "x86_64", "targets/x86_64-linux/lib/libnvrtc.so.13"),
        ("nvrtc", "linux", "aarch64", "targets/sbsa-linux/lib/libnvrtc.so.13"),
        ("nvvm", "linux", "x86_64", "nvvm/lib64/libnvvm.so.4"),
        ("cufile", "linux", "x86_64", "lib64/libcufile.so.0"),
        ("nvrtc", "win32", "AMD64", "bin/nvrtc64_120_0.dll"),
        ("nvrtc", "win32", "AMD64", "bin/x64/nvrtc64_130_0.dll"),
        ("nvvm", "win32", "AMD64", "nvvm/bin/nvvm64_40_0.dll"),
        ("nvvm", "win32", "AMD64", "nvvm/bin/x64/nvvm70.dll"),
    ],
)
def test_toolkit(tree: Tree, variable: str, name: str, platform: str, cpu: str, path: str) -> None:
    file = tree.add(f"toolkit/{path}")
    host = tree.host({variable: str(tree.base / "toolkit")}, platform=platform, cpu=cpu)
    places = [
        (c.found_by, c.path)
        for c in pathfinder.candidates(LIBRARIES[name], None, host)  # type: ignore[attr-defined]
        if not c.refused
    ]
    assert [place for place in places if os.path.isabs(place[1])] == [(variable, file)]


def test_a_toolkit_for_another_processor_is_passed_over(tree: Tree) -> None:
    tree.add("toolkit/targets/sbsa-linux/lib/libnvrtc.so.13")
    assert files("nvrtc", tree.host({"CUDA_PATH": str(tree.base / "toolkit")}, cpu="x86_64")) == []


def test_every_place_in_order(tree: Tree) -> None:
    wheel = tree.add("site-packages/nvidia/cu13/lib/libnvrtc.so.13")
    conda = tree.add("conda/lib/libnvrtc.so.13")
    path = tree.add("path/lib64/libnvrtc.so.13")
    home = tree.add("home/lib64/libnvrtc.so.13")
    local = tree.add("root/usr/local/cuda/lib64/libnvrtc.so.13")
    roots = {"CONDA_PREFIX": "conda", "CUDA_PATH": "path", "CUDA_HOME": "home"}
    host = tree.host({name: str(tree.base / folder) for name, folder in roots.items()})
    places = [c for c in pathfinder.candidates(LIBRARIES["nvrtc"], 13, host) if not c.refused]  # type: ignore[attr-defined]
    assert [(c.found_by, c.path) for c in places] == [
        ("pip", wheel),
        ("conda", conda),
        ("CUDA_PATH", path),
        ("CUDA_HOME", home),
        ("system", "libnvrtc.so.13"),
        ("system", local),
    ]


def test_system_toolkits_of_windows_newest_first(tree: Tree) -> None:
    toolkits = "Programs/NVIDIA GPU Computing Toolkit/CUDA"
    old = tree.add(f"{toolkits}/v12.9/bin/nvrtc64_120_0.dll")
    oldest = tree.add(f"{toolkits}/v12.10/bin/nvrtc64_120_0.dll")  # 10 is more than 9
    new = tree.add(f"{toolkits}/v13.0/bin/x64/nvrtc64_130_0.dll")
    host = tree.host({"ProgramFiles": str(tree.base / "Programs")}, platform="win32")
    assert found("nvrtc", host) == [new, oldest, old]


def test_system_toolkits_of_linux(tree: Tree) -> None:
    old = tree.add("root/usr/local/cuda-12.4/lib64/libnvrtc.so.12")
    new = tree.add("root/usr/local/cuda-12.9/lib64/libnvrtc.so.12")
    (tree.base / "root/usr/local/cuda").symlink_to("cuda-12.9")
    debian = tree.add("root/usr/lib/x86_64-linux-gnu/libnvrtc.so.12")
    assert found("nvrtc", tree.host()) == ["libnvrtc.so.13", "libnvrtc.so.12", new, old, debian]


def test_one_file_under_many_names_is_one_candidate(tree: Tree) -> None:
    file = tree.add("toolkit/lib64/libnvrtc.so.13.0.88")
    (tree.base / "toolkit/lib64/libnvrtc.so.13").symlink_to("libnvrtc.so.13.0.88")
    (tree.base / "toolkit/lib").symlink_to("lib64")
    toolkit = str(tree.base / "toolkit")
    assert files("nvrtc", tree.host({"CUDA_PATH": toolkit, "CUDA_HOME": toolkit})) == [file]


# ---- The driver ----


def test_wsl_before_the_loader(tree: Tree) -> None:
    wsl = tree.add("root/usr/lib/wsl/lib/libcuda.so.1")
    debian = tree.add("root/usr/lib/x86_64-linux-gnu/libcuda.so.1")
    assert found("cuda", tree.host()) == [wsl, "libcuda.so.1", debian]
    assert {c.found_by for c in pathfinder.candidates(LIBRARIES["cuda"], None, tree.host())} == {"driver"}  # type: ignore[attr-defined]


def test_the_driver_has_no_major_and_is_not_in_wheels(tree: Tree) -> None:
    tree.add("site-packages/nvidia/cu13/lib/libcuda.so.1")
    tree.add("toolkit/lib64/libcuda.so.1")
    tree.add("root/usr/lib/libcudart.so.13")
    file = tree.add("root/usr/lib/libcuda.so.1")
    host = tree.host({"CUDA_HOME": str(tree.base / "toolkit")})
    entries = [c for c in pathfinder.candidates(LIBRARIES["cuda"], 12, host) if not c.refused]  # type: ignore[attr-defined]
    assert [(c.path, c.major) for c in entries] == [("libcuda.so.1", None), (file, None)]


@pytest.mark.parametrize(("name", "dll"), [("cuda", "nvcuda.dll"), ("nvml", "nvml.dll")])
def test_the_driver_of_windows_only_from_system32(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, name: str, dll: str
) -> None:
    for folder in ("planted", "planted/bin", "site-packages/nvidia/cu13/bin", "Windows"):
        tree.add(f"{folder}/{dll}")
    monkeypatch.chdir(tree.base / "planted")
    planted = str(tree.base / "planted")
    environ = {"PATH": planted, "CUDA_PATH": planted, "CONDA_PREFIX": planted}
    environ["SystemRoot"] = str(tree.base / "Windows")
    assert found(name, tree.host(environ, platform="win32")) == []
    file = tree.add(f"Windows/System32/{dll}")
    assert found(name, tree.host(environ, platform="win32")) == [file]


@pytest.mark.parametrize(("name", "platform"), [("cuda", "darwin"), ("nvrtc", "darwin"), ("cufile", "win32")])
def test_a_platform_without_the_library(tree: Tree, name: str, platform: str) -> None:
    host = tree.host(platform=platform)
    assert refused(name, host) == [str(c) for c in pathfinder.candidates(LIBRARIES[name], None, host)]  # type: ignore[attr-defined]
    assert refused(name, host) == [f"system {platform}: NVIDIA has no {name} for it"]


# ---- CUDA 12 and 13 ----


def test_13_before_12_unless_the_caller_says(tree: Tree) -> None:
    # In two folders of sys.path, the one with 12 first.
    old = tree.add("venv/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
    new = tree.add("site-packages/nvidia/cu13/lib/libnvrtc.so.13")
    host = tree.host(paths=(str(tree.base / "venv"), str(tree.site)))
    assert files("nvrtc", host) == [new, old]
    assert files("nvrtc", host, 13) == [new]
    assert files("nvrtc", host, 12) == [old]
    assert found("nvrtc", host, 12) == [old, "libnvrtc.so.12"]


def test_within_one_place_the_newest(tree: Tree) -> None:
    old = tree.add("conda/lib64/libnvrtc.so.12")
    new = tree.add("conda/lib/libnvrtc.so.13")
    host = tree.host({"CONDA_PREFIX": str(tree.base / "conda")})
    assert files("nvrtc", host) == [new, old]
    assert files("nvrtc", host, 12) == [old]


def test_nvvm_is_of_the_cuda_that_is_beside_it(tree: Tree) -> None:
    # libnvvm.so.4 is in CUDA 12 and in CUDA 13.
    file = tree.add("toolkit/nvvm/lib64/libnvvm.so.4")
    host = tree.host({"CUDA_HOME": str(tree.base / "toolkit")})

    def majors(major: int | None = None) -> list[int | None]:
        return [c.major for c in pathfinder.candidates(LIBRARIES["nvvm"], major, host) if c.path == file]  # type: ignore[attr-defined]

    assert majors() == [None]
    assert majors(12) == [None]  # not known: better than nothing
    tree.add("toolkit/lib64/libcudart.so.12")
    assert majors() == majors(12) == [12]
    assert majors(13) == []
    assert f"CUDA_HOME {tree.base}/toolkit: no libnvvm.so.4 or libnvvm.so of CUDA 13" in refused(
        "nvvm", host, 13
    )
    tree.add("toolkit/lib64/libcudart.so.13")
    assert majors() == [None]


def test_the_loader_is_not_trusted_with_the_major_of_nvvm(tree: Tree) -> None:
    assert found("nvvm", tree.host()) == ["libnvvm.so.4"]
    assert found("nvvm", tree.host(), 12) == []


# ---- What must not be loaded ----


def test_stubs(tree: Tree) -> None:
    tree.add("toolkit/lib64/stubs/libnvrtc.so.13")
    tree.add("root/usr/lib/stubs/libcuda.so.1")
    environ = {"CUDA_PATH": str(tree.base / "toolkit"), "CUDA_HOME": str(tree.base / "toolkit/lib64/stubs")}
    assert files("nvrtc", tree.host(environ)) == files("cuda", tree.host(environ)) == []


def test_stubs_behind_links(tree: Tree) -> None:
    tree.add("toolkit/lib64/stubs/libnvrtc.so.13")
    (tree.base / "toolkit/lib64/libnvrtc.so.13").symlink_to("stubs/libnvrtc.so.13")
    (tree.base / "toolkit/lib").symlink_to("lib64/stubs")
    host = tree.host({"CUDA_PATH": str(tree.base / "toolkit")})
    assert files("nvrtc", host) == []
    stub = tree.base / "toolkit/lib64/stubs/libnvrtc.so.13"
    assert f"CUDA_PATH {stub}: a stub, which is for linking only" in refused("nvrtc", host)


def test_a_link_in_stubs_to_a_library_elsewhere(tree: Tree) -> None:
    file = tree.add("toolkit/compat/libcuda.so.1")
    stubs = tree.base / "toolkit/stubs"
    stubs.mkdir()
    (stubs / "libcuda.so.1").symlink_to(file)
    host = tree.host({"LD_LIBRARY_PATH": f"{stubs}:"})  # with the colon it is searched here
    assert found("cuda", host) == []
    assert f"driver {file}: a stub, which is for linking only" in refused("cuda", host)


def test_a_folder_called_stubs_further_up_is_nobodys_business(tree: Tree) -> None:
    file = tree.add("stubs/venv/nvidia/cu13/lib/libnvrtc.so.13")
    assert files("nvrtc", tree.host(paths=(str(tree.base / "stubs/venv"),))) == [file]


@pytest.mark.parametrize("variable", ["CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX"])
@pytest.mark.parametrize("value", ["toolkit", ".", "./toolkit"])
def test_relative_roots_are_ignored_and_said_so(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.chdir(tree.base)
    tree.add("toolkit/lib64/libnvrtc.so.13")
    tree.add("lib64/libnvrtc.so.13")
    host = tree.host({variable: value})
    assert files("nvrtc", host) == []
    found_by = "conda" if variable == "CONDA_PREFIX" else variable
    assert f"{found_by} {value!r}: ignored, as it is not an absolute path" in refused("nvrtc", host)


def test_entries_of_sys_path_that_mean_the_working_directory(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.add("work/nvidia/cu13/lib/libnvrtc.so.13")
    work = tree.base / "work"
    (tree.base / "link").symlink_to("work")
    monkeypatch.chdir(work)
    host = tree.host(paths=("", ".", "../work", str(work), str(tree.base / "link"), str(tree.site)))
    assert files("nvrtc", host) == []
    assert "pip '': ignored, as it is not an absolute path" in refused("nvrtc", host)
    assert f"pip {work}: ignored, as it is the working directory" in refused("nvrtc", host)
    file = tree.add("site-packages/nvidia/cu13/lib/libnvrtc.so.13")
    assert files("nvrtc", host) == [file]


def test_what_is_no_text_on_sys_path_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the import system does."""
    monkeypatch.setattr(sys, "path", [None, b"/bytes", 5, "/text"])
    assert pathfinder.this_host().paths == ("/text",)


def test_the_working_directory_may_be_gone(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tree.base / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    try:
        gone.rmdir()
    except OSError:
        pytest.skip("this system does not remove a working directory")
    file = tree.add("site-packages/nvidia/cu13/lib/libnvrtc.so.13")
    assert files("nvrtc", tree.host()) == [file]


@pytest.mark.parametrize(
    "variable", [":{lib}", "{lib}:", "{lib}::/", ".:{lib}", "lib;{lib}", "$ORIGIN:{lib}"]
)
def test_a_loader_that_would_search_the_working_directory_is_not_asked(tree: Tree, variable: str) -> None:
    file = tree.add("lib/libcuda.so.1")
    nvrtc = tree.add("lib/libnvrtc.so.13")
    host = tree.host({"LD_LIBRARY_PATH": variable.format(lib=tree.base / "lib")})
    assert found("cuda", host) == [file]
    assert found("nvrtc", host) == [nvrtc]
    assert any(line.startswith("driver libcuda.so.1: not looked up") for line in refused("cuda", host))


@pytest.mark.parametrize("variable", ["", "/nowhere", "/nowhere:/nothing"])
def test_other_loaders_are_asked(tree: Tree, variable: str) -> None:
    assert found("cuda", tree.host({"LD_LIBRARY_PATH": variable})) == ["libcuda.so.1"]


@pytest.fixture
def planted(tmp_path: Path, build: Build) -> Path:
    """A folder of libraries that leave the file `mark` beside it when they are loaded."""
    folder = tmp_path / "planted"
    source = f"""
        #include <stdio.h>
        __attribute__((constructor)) static void run(void) {{ fclose(fopen("{tmp_path / "mark"}", "w")); }}
    """
    library = build(tmp_path / "library.so", source)
    places = {
        ".",
        "lib",
        "lib64",
        "lib/x86_64-linux-gnu",
        "nvidia/cu13/lib",
        "nvvm/lib64",
        "usr/lib/wsl/lib",
    }
    places |= {f"{row.wheel12}/lib" for row in LIBRARIES.values() if row.wheel12}
    for place in places | {f"packages/{place}" for place in places}:
        target = folder / place
        assert target.is_relative_to(folder)  # an absolute folder would be one of the system's
        target.mkdir(parents=True, exist_ok=True)
        for name in {row.linux[0].format(major=major) for row in LIBRARIES.values() for major in (12, 13)}:
            (target / name).hardlink_to(library)
    return folder


def run_in(folder: Path, arguments: list[str], environ: Mapping[str, str]) -> str:
    """What a program prints that starts in a folder."""
    names = ("LD_LIBRARY_PATH", "PYTHONSAFEPATH", "PYTHONPATH", "PWD")
    environ = {**{k: v for k, v in os.environ.items() if k not in names}, **environ}
    return subprocess.run(
        [sys.executable, "-B", *arguments],
        cwd=folder, env=environ, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


LOOK = """
import os, sys
{later}
from cudapy import pathfinder
if not {{"", {planted!r}, {planted!r} + "/packages"}}.isdisjoint(sys.path):
    print("the working directory is on sys.path")
for name in pathfinder.LIBRARIES:
    try:
        print(pathfinder.load(name).path)
    except pathfinder.LibraryNotFound:
        pass
"""


@pytest.mark.parametrize("module", [False, True], ids=["python -c", "python -m"])
@pytest.mark.parametrize(
    ("variable", "later"),
    [
        *((variable, "") for variable in (None, "", ":", "/nowhere:", ".")),
        ("/nowhere:", "del os.environ['LD_LIBRARY_PATH']"),  # the loader keeps what it was started with
        (".", "os.environ['LD_LIBRARY_PATH'] = '/nowhere'"),
    ],
)
def test_planted_libraries_never_run(planted: Path, module: bool, variable: str | None, later: str) -> None:
    # The real loader.
    script = LOOK.format(planted=str(planted), later=later)
    (planted / "look.py").write_text(script)
    environ = {"PYTHONPATH": str(REPOSITORY)}
    if variable is not None:
        environ["LD_LIBRARY_PATH"] = variable
    said = run_in(planted, ["-m", "look"] if module else ["-c", script], environ)
    assert said.startswith("the working directory is on sys.path")
    assert str(planted) not in said.split("\n", 1)[1]
    assert not (planted.parent / "mark").exists()


CHANGES = {
    "before the import": "os.chdir('/')",
    "after it": "import cudapy.pathfinder; os.chdir('/')",
    "with another folder in front": "os.chdir('/'); sys.path.insert(0, '/nowhere')",
    "in a child": "os.chdir('/')",  # of multiprocessing, which hands its sys.path over
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("module", "path", "told"),
    [
        (True, "", False),
        *(
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in (
                (True, "", True),
                (False, ":{repository}", True),
                (False, "packages:{repository}", False),
                (True, "packages::{repository}", False),
            )
        ),
    ],
)
def test_planted_libraries_never_run_after_a_change_of_directory(
    planted: Path, change: str, module: bool, path: str, told: bool
) -> None:
    """The interpreter has put the first directory on sys.path as an absolute folder.

    told: whether PWD says where the program started.
    """
    look = LOOK.format(planted=str(planted), later=CHANGES[change])
    if change == "in a child":
        look = f"""
import multiprocessing, os, sys
def look():
    exec({look!r})
if __name__ == "__main__":
    os.chdir("/")
    child = multiprocessing.get_context("spawn").Process(target=look)
    child.start()
    child.join()
"""
    (planted / "program").mkdir()
    (planted / "program/look.py").write_text(look)
    environ = {"PYTHONPATH": path.format(repository=REPOSITORY) or str(REPOSITORY)}
    if told:
        environ["PWD"] = str(planted)
    said = run_in(planted, ["-m", "program.look"] if module else ["program/look.py"], environ)
    assert said.startswith("the working directory is on sys.path")
    assert str(planted) not in said.split("\n", 1)[1]
    assert not (planted.parent / "mark").exists()


def test_what_a_program_puts_on_sys_path_counts_after_a_change_of_directory(tmp_path: Path) -> None:
    """`python -m` has put the first directory behind it."""
    file = tmp_path / "wheels/nvidia/cu13/lib/libnvrtc.so.13"
    file.parent.mkdir(parents=True)
    file.touch()
    program = f"""
import os, sys
sys.path.insert(0, {str(tmp_path / "wheels")!r})
os.chdir("/")
from cudapy import pathfinder
print(next(c.path for c in pathfinder.find("nvrtc") if not c.refused))
"""
    (tmp_path / "look.py").write_text(program)
    assert run_in(tmp_path, ["-m", "look"], {"PYTHONPATH": str(REPOSITORY)}) == f"{file}\n"


# ---- Loading ----


def test_load_opens_the_file_and_says_which(
    tree: Tree, build: Build, no_system: list[str], here: Here
) -> None:
    file = build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    here(tree.host())
    loaded = pathfinder.load("nvrtc")
    assert (loaded.name, loaded.path, loaded.found_by, loaded.major) == ("nvrtc", str(file), "pip", 13)
    assert loaded.handle.answer() == 42
    # A PyDLL would hold the GIL; errno would cost every call.
    flags = vars(loaded.handle._FuncPtr)["_flags_"]
    assert flags == vars(ctypes.CDLL(None)._FuncPtr)["_flags_"]
    assert flags != vars(ctypes.PyDLL(None)._FuncPtr)["_flags_"]
    assert flags != vars(ctypes.CDLL(None, use_errno=True)._FuncPtr)["_flags_"]


def test_this_machine_is_the_default(tree: Tree, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    file = build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    other = build(tree.base / "toolkit/lib64/libnvfatbin.so.12")
    forget_libraries(monkeypatch)
    monkeypatch.setattr(sys, "path", [str(tree.site), *sys.path])
    monkeypatch.setenv("CUDA_HOME", str(tree.base / "toolkit"))
    assert next(c.path for c in pathfinder.find("nvrtc") if not c.refused) == str(file)
    assert pathfinder.load("nvrtc").path == str(file)
    assert ("CUDA_HOME", str(other), 12) in [
        (c.found_by, c.path, c.major) for c in pathfinder.find("nvfatbin")
    ]


def test_find_opens_nothing(tree: Tree, build: Build, no_system: list[str], here: Here) -> None:
    build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    here(tree.host())
    assert pathfinder.find("nvrtc")
    assert no_system == []


def test_one_object_a_library_and_failures_are_forgotten(
    tree: Tree, build: Build, no_system: list[str], here: Here
) -> None:
    here(tree.host())
    with pytest.raises(LibraryNotFound):
        pathfinder.load("nvrtc")
    build(tree.site / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
    old = pathfinder.load("nvrtc")
    assert old.major == 12
    assert pathfinder.load("nvrtc") is pathfinder.load("nvrtc", 12) is old
    with pytest.raises(LibraryNotFound, match="nvrtc of CUDA 13 was not found"):
        pathfinder.load("nvrtc", 13)
    build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    assert pathfinder.load("nvrtc", 13).major == 13
    assert pathfinder.load("nvrtc") is old  # what a program has begun with, it keeps


def test_threads_get_one_object(
    tree: Tree, build: Build, no_system: list[str], here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    here(tree.host())
    quick = pathfinder.open_candidate

    def slow(*args: Any) -> ctypes.CDLL:
        time.sleep(0.05)  # for the others to get in
        return quick(*args)

    monkeypatch.setattr(pathfinder, "open_candidate", slow)
    start = threading.Barrier(16)
    results = []

    def work() -> None:
        start.wait()
        results.append(pathfinder.load("nvrtc"))

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 16
    assert len({id(result) for result in results}) == 1
    assert no_system == [str(file)]


def test_a_broken_file_is_reported_and_the_search_goes_on(
    tree: Tree, build: Build, no_system: list[str], here: Here
) -> None:
    broken = tree.add(
        "site-packages/nvidia/cu13/lib/libnvrtc.so.13", "version https://git-lfs.github.com/spec/v1"
    )
    here(tree.host({"CONDA_PREFIX": str(tree.base / "conda")}))
    with pytest.raises(LibraryNotFound) as caught:
        pathfinder.load("nvrtc")
    reason = next(line for line in caught.value.tried if broken in line)
    assert reason == f"pip {broken}: file too short" or reason == f"pip {broken}: invalid ELF header"
    assert "nvrtc was found but cannot be loaded" in str(caught.value)
    file = build(tree.base / "conda/lib/libnvrtc.so.13")
    assert pathfinder.load("nvrtc").path == str(file)


def test_the_path_of_what_the_loader_found(tree: Tree, build: Build) -> None:
    # The loader gives a library that is open already for its soname.
    file = build(tree.base / "other/libcudapy_test.so.4.0", soname="libcudapy_test.so.4")
    link = tree.base / "libcudapy_test.so.4"
    link.symlink_to(file)
    keep = ctypes.CDLL(str(link))
    library = LIBRARIES["nvvm"]._replace(linux=("libcudapy_test.so.4",))
    loaded = pathfinder._load(library, None, tree.host())
    assert loaded.handle._handle == keep._handle
    assert (loaded.path, loaded.found_by, loaded.major) == (str(file), "system", None)
    tree.add("other/libcudart.so.13")
    assert pathfinder._load(library, None, tree.host()).major == 13


def test_a_stub_that_the_loader_found_is_refused(tree: Tree, build: Build) -> None:
    file = build(tree.base / "stubs/libcudapy_stub.so.1", soname="libcudapy_stub.so.1")
    ctypes.CDLL(str(file))
    library = LIBRARIES["cuda"]._replace(linux=("libcudapy_stub.so.1",))
    with pytest.raises(LibraryNotFound, match="there is no NVIDIA driver") as caught:
        pathfinder._load(library, None, tree.host())
    assert "driver libcudapy_stub.so.1: a stub, which is for linking only" in caught.value.tried
    real = build(tree.base / "root/usr/lib/libcudapy_stub.so.1")
    assert pathfinder._load(library, None, tree.host()).path == str(real)


# ---- NVRTC's second library ----

# Does what NVRTC does at the first compilation.
NVRTC = """
    #include <dlfcn.h>
    int compile(void) {
        void *builtins = dlopen("libnvrtc-builtins.so.13.99", RTLD_NOW);
        return builtins ? ((int (*)(void)) dlsym(builtins, "builtins"))() : -1;
    }
"""


def test_builtins_come_from_the_folder_of_nvrtc(
    tree: Tree, build: Build, no_system: list[str], here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    lib = tree.site / "nvidia/cu13/lib"
    file = build(lib / "libnvrtc.so.13", NVRTC)
    builtins = build(
        lib / "libnvrtc-builtins.so.13.99", "int builtins(void) { return 7; }", "libnvrtc-builtins.so.13.99"
    )
    # None of these is it, and none of them would load.
    for name in ("libnvrtc-builtins.alt.so.13.99", "libnvrtc-builtins.so.12.9", "libnvrtc-builtins.so"):
        tree.add(f"site-packages/nvidia/cu13/lib/{name}")
    tree.add("work/libnvrtc-builtins.so.13.99")
    monkeypatch.chdir(tree.base / "work")
    here(tree.host())
    loaded = pathfinder.load("nvrtc")
    assert no_system == [str(builtins), str(file)]
    assert loaded.handle.compile() == 7
    assert ctypes.CDLL(None).builtins() == 7  # RTLD_GLOBAL


def test_nvrtc_with_broken_builtins_is_passed_over(
    tree: Tree, build: Build, no_system: list[str], here: Here
) -> None:
    build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    builtins = tree.add("site-packages/nvidia/cu13/lib/libnvrtc-builtins.so.13.98")
    here(tree.host())
    with pytest.raises(LibraryNotFound) as caught:
        pathfinder.load("nvrtc")
    assert any(builtins in line for line in caught.value.tried)
    file = build(tree.site / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
    assert pathfinder.load("nvrtc").path == str(file)


def test_real_nvrtc_compiles(tmp_path: Path) -> None:
    spec = importlib.util.find_spec("nvidia")
    wheels = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    if not any(
        found("nvrtc", Host(paths=(str(w.parent),), environ={}, root=str(tmp_path)))[2:] for w in wheels
    ):
        pytest.skip("NVRTC is not installed from PyPI (pip install nvidia-cuda-nvrtc)")
    script = r"""if True:
        import ctypes
        from cudapy import pathfinder
        loaded = pathfinder.load("nvrtc")
        program = ctypes.c_void_p()
        source = b'extern "C" __global__ void f(float *x) { x[0] = 1; }'
        nvrtc = loaded.handle
        assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"f.cu", 0, None, None) == 0
        print(loaded.found_by, nvrtc.nvrtcCompileProgram(program, 0, None))
    """
    environ = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    environ["PYTHONPATH"] = str(REPOSITORY)
    run = subprocess.run(
        [sys.executable, "-B", "-c", script],
        cwd=tmp_path, env=environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout == "pip 0\n"


# ---- Providers ----


def other(loaded: pathfinder.Loaded) -> pathfinder.Loaded:
    """What a provider makes of a file."""
    return loaded._replace(handle=object())


def test_a_provider_replaces_what_is_loaded_and_what_is_loaded_later(
    tree: Tree, build: Build, no_system: list[str], here: Here
) -> None:
    old = build(tree.site / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
    new = build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    here(tree.host())
    file = pathfinder.load("nvrtc")
    asked = []

    def provide(major: int | None, below: Callable[[], pathfinder.Loaded]) -> pathfinder.Loaded:
        asked.append(major)
        return other(below())

    pathfinder.register("nvrtc", provide)
    assert asked == [None]
    provided = pathfinder.load("nvrtc")
    assert provided.path == file.path and provided.handle is not file.handle
    assert pathfinder.load("nvrtc", 13) is provided  # one file is one object
    assert pathfinder.load("nvrtc", 12).path == str(old)
    assert asked == [None, 13, 12]
    pathfinder.unregister("nvrtc")
    assert pathfinder.load("nvrtc") is pathfinder.load("nvrtc", 13) is file
    assert pathfinder.load("nvrtc", 12).handle.answer() == 42
    assert no_system == [str(new), str(new), str(old)]  # by 13 alone, as by none, leads to the same file


def test_a_provider_needs_no_file(tree: Tree, no_system: list[str], here: Here) -> None:
    here(tree.host())
    stand_in = pathfinder.Loaded("cuda", object(), "nowhere", "test", None)
    pathfinder.register("cuda", lambda major, below: stand_in)
    assert not pathfinder.is_open("cuda") and pathfinder.opened("cuda") == ()
    assert pathfinder.load("cuda") is pathfinder.load("cuda", 12) is stand_in
    assert pathfinder.is_open("cuda") and pathfinder.opened("cuda") == (stand_in, stand_in)
    pathfinder.unregister("cuda")
    assert pathfinder.opened("cuda") == ()
    with pytest.raises(LibraryNotFound):
        pathfinder.load("cuda")


def test_providers_lie_on_top_of_one_another(
    tree: Tree, build: Build, no_system: list[str], here: Here
) -> None:
    build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    here(tree.host())
    pathfinder.register("nvrtc", lambda major, below: other(below()), variant=" one")
    first, seen = pathfinder.load("nvrtc"), []

    def provide(major: int | None, below: Callable[[], pathfinder.Loaded]) -> pathfinder.Loaded:
        seen.append(below())
        return other(seen[-1])

    pathfinder.register("nvrtc", provide, variant=" two")
    assert seen == [first] and pathfinder.load("nvrtc").handle is not first.handle
    assert pathfinder.load("nvrtc", 13) is pathfinder.load("nvrtc")
    assert pathfinder.stamp("nvrtc").endswith(" one two")
    pathfinder.unregister("nvrtc")
    assert pathfinder.load("nvrtc") is pathfinder.load("nvrtc", 13) is first
    assert pathfinder.stamp("nvrtc").endswith(" one")
    pathfinder.unregister("nvrtc")
    assert pathfinder.load("nvrtc").handle.answer() == 42


def test_a_provider_that_fails_changes_nothing(
    tree: Tree, build: Build, no_system: list[str], here: Here
) -> None:
    build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    here(tree.host())
    file = pathfinder.load("nvrtc")

    def provide(major: int | None, below: Callable[[], pathfinder.Loaded]) -> pathfinder.Loaded:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        pathfinder.register("nvrtc", provide)
    assert pathfinder.load("nvrtc") is file
    with pytest.raises(ValueError, match="no provider is registered for 'nvrtc'"):
        pathfinder.unregister("nvrtc")


def test_results_of_a_provider_have_another_stamp(
    tree: Tree, build: Build, no_system: list[str], here: Here
) -> None:
    build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    here(tree.host())
    stamp = pathfinder.stamp("nvrtc")
    pathfinder.register("nvrtc", lambda major, below: other(below()), variant=" changed")
    assert pathfinder.stamp("nvrtc") == f"{stamp} changed" and no_system == []
    pathfinder.load("nvrtc")
    assert pathfinder.stamp("nvrtc") == f"{stamp} changed"
    pathfinder.unregister("nvrtc")
    assert pathfinder.stamp("nvrtc") == stamp


PROVIDER = """
from cudapy import pathfinder
def provide():
    print("asked")
    mine = pathfinder.Loaded("cuda", None, "here", "mine", None)
    pathfinder.register("cuda", lambda major, below: mine)
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mine.driver", "asked\nTrue here"),
        ("mine.nothing", "ValueError: CUDAPY_DRIVER is 'mine.nothing', but there is no module mine.nothing"),
        ("mine.broken", "ModuleNotFoundError: No module named 'whatever'"),
        ("driver", "ValueError: CUDAPY_DRIVER is 'driver', but there is no module cudapy.driver with a"),
    ],
)
def test_the_environment_names_a_module_that_provides(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/driver.py").write_text(PROVIDER)
    (tmp_path / "mine/broken.py").write_text("import whatever")
    code = "from cudapy import pathfinder as p; print(p.is_open('cuda') is False, p.load('cuda').path)"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(REPOSITORY)])}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environ, "CUDAPY_DRIVER": name}, cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert said in done.stdout + done.stderr


# ---- Errors ----


def test_the_error_names_every_place_and_the_way_out(tree: Tree, no_system: list[str], here: Here) -> None:
    here(tree.host({"CUDA_PATH": str(tree.base / "toolkit"), "CUDA_HOME": "cuda"}))
    with pytest.raises(LibraryNotFound) as caught:
        pathfinder.load("nvrtc")
    error = caught.value
    assert isinstance(error, RuntimeError)
    assert error.name == "nvrtc"
    assert error.tried == (
        f"pip {tree.site}/nvidia/cu13: no libnvrtc.so.13",
        f"pip {tree.site}/nvidia/cuda_nvrtc: no libnvrtc.so.12",
        "conda: CONDA_PREFIX is not set",
        f"CUDA_PATH {tree.base}/toolkit: no libnvrtc.so.13 or libnvrtc.so.12",
        "CUDA_HOME 'cuda': ignored, as it is not an absolute path",
        "system libnvrtc.so.13: cannot open shared object file: No such file or directory",
        "system libnvrtc.so.12: cannot open shared object file: No such file or directory",
        f"system {tree.base}/root/usr/local/cuda: no libnvrtc.so.13 or libnvrtc.so.12",
        f"system {tree.base}/root/opt/cuda: no libnvrtc.so.13 or libnvrtc.so.12",
        f"system {tree.base}/root/usr: no libnvrtc.so.13 or libnvrtc.so.12",
    )
    message = str(error)
    assert message.startswith("nvrtc was not found")
    for part in (
        *error.tried,
        "pip install nvidia-cuda-nvrtc for CUDA 13, or nvidia-cuda-nvrtc-cu12 for CUDA 12",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("name", "words"), [("cuda", "there is no NVIDIA driver on this machine"), ("nvml", "there is no NVML")]
)
def test_the_error_without_a_driver(
    tree: Tree, no_system: list[str], here: Here, name: str, words: str
) -> None:
    here(tree.host())
    with pytest.raises(LibraryNotFound) as caught:
        pathfinder.load(name)
    assert words in str(caught.value)
    assert "install the NVIDIA driver" in str(caught.value)
    assert ("CUDAPY_DRIVER=simulator" in str(caught.value)) == (name == "cuda")
    assert "pip install" not in str(caught.value)


def test_a_broken_driver_is_not_called_absent(tree: Tree, no_system: list[str], here: Here) -> None:
    # Some container images hold an empty file in its place.
    file = tree.add("root/usr/lib/x86_64-linux-gnu/libcuda.so.1", "")
    here(tree.host())
    with pytest.raises(LibraryNotFound, match="cuda was found but cannot be loaded") as caught:
        pathfinder.load("cuda")
    assert f"driver {file}: file too short" in caught.value.tried
    assert "there is no NVIDIA driver" not in str(caught.value)


@pytest.mark.parametrize("reason", ["/usr/lib/libcuda.so.1: file too short", "libelf.so.1: cannot open"])
def test_nor_is_one_that_the_loader_found(
    tree: Tree, here: Here, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    def cdll(name: str, *args: Any) -> None:
        raise OSError(reason)

    monkeypatch.setattr(ctypes, "CDLL", cdll)
    forget_libraries(monkeypatch)
    here(tree.host())
    with pytest.raises(LibraryNotFound, match="cuda was found but cannot be loaded") as caught:
        pathfinder.load("cuda")
    assert f"driver libcuda.so.1: {reason}" in caught.value.tried


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_the_error_can_be_pickled(protocol: int) -> None:
    error = LibraryNotFound("nvrtc", ("pip /x: no libnvrtc.so.13",), "nvrtc was not found")
    copy = pickle.loads(pickle.dumps(error, protocol))
    assert type(copy) is LibraryNotFound
    assert (copy.name, copy.tried, str(copy)) == (error.name, error.tried, str(error))


@pytest.mark.parametrize("function", [pathfinder.load, pathfinder.find])
def test_unknown_names_and_majors(function: Callable[..., object]) -> None:
    for unknown in (lambda: pathfinder.register("nvRTC", None), lambda: pathfinder.unregister("nvRTC")):
        with pytest.raises(ValueError, match="no library 'nvRTC'"):
            unknown()
    with pytest.raises(ValueError, match=r"no library 'nvRTC'.*nvrtc.*cufile"):
        function("nvRTC")
    with pytest.raises(ValueError, match="no CUDA 11: cudapy knows 13 and 12"):
        function("nvrtc", 11)


def test_the_environment_is_left_alone(tree: Tree, no_system: list[str], build: Build, here: Here) -> None:
    build(tree.site / "nvidia/cu13/lib/libnvrtc.so.13")
    here(tree.host())
    before = (dict(os.environ), list(sys.path), Path.cwd())
    pathfinder.load("nvrtc")
    assert (dict(os.environ), list(sys.path), Path.cwd()) == before
