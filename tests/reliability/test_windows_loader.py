"""Windows by simulation: its paths, its folders, its names of libraries; and what is opened, and how."""

from __future__ import annotations

import fnmatch
import ntpath
import re
from types import SimpleNamespace
from typing import Any

import pytest

from cudapy import pathfinder
from cudapy._pathfinder import files, headers, nvidia, opened, places, toolkit_files
from cudapy.pathfinder import LIBRARIES, Host, LibraryNotFound
from tests.loader import forget_libraries

SITE = "C:\\venv\\Lib\\site-packages"
SYSTEM = "C:\\Windows"
PROGRAMS = "C:\\Program Files"
TOOLKIT = PROGRAMS + "\\NVIDIA GPU Computing Toolkit\\CUDA\\v"
HERE = "C:\\work"


class Windows:
    """A made-up machine in the place of `os` and ctypes: files, what is opened, and the variables."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: set[str] = set()
        self.opened: list[str] = []
        self.environ: dict[str, str] = {"SYSTEMROOT": SYSTEM, "PROGRAMFILES": PROGRAMS}
        self.paths = [SITE]
        path = SimpleNamespace(**vars(ntpath))
        path.realpath = lambda name: ntpath.normpath(name)
        path.exists = lambda name: any(self.inside(name))
        path.isfile = lambda name: ntpath.normpath(name).lower() in map(str.lower, self.files)
        path.samefile = lambda a, b: self.real(a) == self.real(b)
        system = SimpleNamespace(
            path=path, sep="\\", curdir=".", environ=Environ(self.environ), stat=self.stat
        )
        for module in (places, files, headers, nvidia, opened, toolkit_files, pathfinder):
            monkeypatch.setattr(module, "os", system)
        for module in (places, files, pathfinder):
            monkeypatch.setattr(module, "newest", self.newest)
        monkeypatch.setattr(pathfinder, "this_host", self.host)
        forget_libraries(monkeypatch)
        monkeypatch.setattr(pathfinder, "ctypes", SimpleNamespace(CDLL=self.open, RTLD_GLOBAL=0))

    def host(self) -> Host:
        return Host(tuple(self.paths), Environ(self.environ), "win32", "AMD64", "\\")

    def stat(self, name: str) -> Any:
        raise FileNotFoundError(name)  # a stamp without size and time

    def real(self, name: str) -> str:
        return ntpath.normpath(ntpath.join(HERE, name)).lower()

    def inside(self, folder: str) -> list[str]:
        below = ntpath.normpath(folder).lower() + "\\"
        return [name for name in self.files if name.lower().startswith(below)]

    def newest(self, folder: str, pattern: str) -> list[str]:
        """What `places.newest` finds in the made-up folders: files and folders, the highest version first."""
        parts = ntpath.normpath(pattern).split("\\")
        names = set()
        for name in self.inside(folder):
            rest = name[len(ntpath.normpath(folder)) + 1 :].split("\\")
            pairs = zip(rest, parts, strict=False)
            if len(rest) >= len(parts) and all(fnmatch.fnmatchcase(a.lower(), b.lower()) for a, b in pairs):
                names.add("\\".join(rest[: len(parts)]))
        numbers = {name: [int(digits) for digits in re.findall(r"\d+", name)] for name in names}
        return [ntpath.join(folder, name) for name in sorted(names, key=numbers.__getitem__, reverse=True)]

    def open(self, name: str, mode: int = 0, **more: Any) -> Any:
        """LoadLibraryEx: a bare or relative name must not come here, as Windows would look around for it."""
        assert ntpath.isabs(name) and ntpath.splitdrive(name)[0], name
        assert not more, (
            "winmode: Python's own searches the folder of the library, and no other of the user's"
        )
        if ntpath.normpath(name) not in self.files:
            raise OSError(f"[WinError 126] The specified module could not be found: {name}")
        self.opened.append(ntpath.normpath(name))
        return SimpleNamespace(_name=name)


class Environ(dict):  # type: ignore[type-arg]
    """Variables, whose names have no case on Windows."""

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name.upper(), default)


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Windows:
    return Windows(monkeypatch)


DLLS = {  # as NVIDIA's wheels and toolkits for Windows have them
    "nvrtc": ("nvrtc64_130_0.dll", "nvrtc64_120_0.dll"),
    "nvJitLink": ("nvJitLink_130_0.dll", "nvJitLink_120_0.dll"),
    "nvfatbin": ("nvfatbin_130_0.dll", "nvfatbin_120_0.dll"),
    "cudart": ("cudart64_13.dll", "cudart64_12.dll"),
}


@pytest.mark.parametrize("name", DLLS)
def test_wheels_of_two_majors(windows: Windows, name: str) -> None:
    """13 before 12, and each where it is asked for."""
    new, old = DLLS[name]
    folder = LIBRARIES[name].wheel12.replace("/", "\\")
    windows.files = {f"{SITE}\\{folder}\\bin\\{old}", f"{SITE}\\nvidia\\cu13\\bin\\x86_64\\{new}"}
    first, second = pathfinder.load(name), pathfinder.load(name, 12)
    assert (first.path, first.major) == (f"{SITE}\\nvidia\\cu13\\bin\\x86_64\\{new}", 13)
    assert (second.path, second.major) == (f"{SITE}\\{folder}\\bin\\{old}", 12)
    assert windows.opened == [first.path, second.path]


def test_the_driver_is_system32s(windows: Windows) -> None:
    """By its full path; not what lies in the working directory, beside Python, on PATH or in a wheel."""
    wheel = f"{SITE}\\nvidia\\cu13\\bin"
    windows.files = {f"{folder}\\nvcuda.dll" for folder in (HERE, "C:\\venv\\Scripts", wheel, SYSTEM)}
    windows.environ["PATH"] = f"{HERE};C:\\venv\\Scripts"
    with pytest.raises(LibraryNotFound, match="there is no NVIDIA driver"):
        pathfinder.load("cuda")
    windows.files.add(f"{SYSTEM}\\System32\\nvcuda.dll")
    assert pathfinder.load("cuda").path == f"{SYSTEM}\\System32\\nvcuda.dll"
    assert windows.opened == [f"{SYSTEM}\\System32\\nvcuda.dll"]


def test_nvvm_and_its_bitcode(windows: Windows) -> None:
    """Whose name tells no major: that of the libraries beside it."""
    root = TOOLKIT + "13.0"
    windows.files = {
        f"{root}\\nvvm\\bin\\x64\\nvvm64_40_0.dll",
        f"{root}\\nvvm\\libdevice\\libdevice.10.bc",
        f"{root}\\bin\\x64\\nvrtc64_130_0.dll",
    }
    windows.environ["CUDA_PATH"] = root
    loaded = pathfinder.load("nvvm")
    assert (loaded.path, loaded.found_by) == (f"{root}\\nvvm\\bin\\x64\\nvvm64_40_0.dll", "CUDA_PATH")
    assert loaded.major == 13
    assert pathfinder.find_bitcode_lib("device") == f"{root}\\nvvm\\libdevice\\libdevice.10.bc"


def test_toolkits_newest_first(windows: Windows) -> None:
    windows.files = {f"{TOOLKIT}{v}\\bin\\nvrtc64_120_0.dll" for v in ("12.4", "12.10", "12.9")}
    assert pathfinder.load("nvrtc").path == f"{TOOLKIT}12.10\\bin\\nvrtc64_120_0.dll"


def test_nvrtc_is_opened_after_its_companion(windows: Windows) -> None:
    """Which NVRTC opens by bare name later, and Windows then finds open already."""
    folder = f"{SITE}\\nvidia\\cu13\\bin\\x86_64"
    windows.files = {f"{folder}\\nvrtc64_130_0.dll", f"{folder}\\nvrtc-builtins64_130.dll"}
    windows.files.add(f"{folder}\\nvrtc64_130_0.alt.dll")
    pathfinder.load("nvrtc")
    assert windows.opened == [f"{folder}\\nvrtc-builtins64_130.dll", f"{folder}\\nvrtc64_130_0.dll"]


@pytest.mark.parametrize("root", [".", "work", "..\\work", "C:work", "C:", "work\\cuda"])
@pytest.mark.parametrize("variable", ["CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX"])
def test_relative_roots(windows: Windows, variable: str, root: str) -> None:
    """Also what is relative to the working directory of a drive."""
    windows.files = {f"{HERE}\\{place}\\nvrtc64_130_0.dll" for place in ("bin", "Library\\bin", "cuda\\bin")}
    windows.environ[variable] = root
    with pytest.raises(LibraryNotFound, match="ignored, as it is not an absolute path"):
        pathfinder.load("nvrtc")
    assert windows.opened == []


def test_the_working_directory_on_sys_path(windows: Windows) -> None:
    windows.files = {f"{HERE}\\nvidia\\cu13\\bin\\x86_64\\nvrtc64_130_0.dll"}
    windows.paths = ["", ".", HERE, "C:\\WORK", SITE]
    with pytest.raises(LibraryNotFound, match="ignored, as it is the working directory"):
        pathfinder.load("nvrtc")
    assert windows.opened == []


def test_path_is_not_searched(windows: Windows) -> None:
    """PATH is where programs are; libraries come from places that say whose they are."""
    windows.files = {"C:\\tools\\nvrtc64_130_0.dll", f"{SYSTEM}\\System32\\nvrtc64_130_0.dll"}
    windows.environ["PATH"] = "C:\\tools"
    with pytest.raises(LibraryNotFound):
        pathfinder.load("nvrtc")
    assert windows.opened == []


def test_conda(windows: Windows) -> None:
    windows.environ["CONDA_PREFIX"] = "D:\\conda\\envs\\a b"
    windows.files = {"D:\\conda\\envs\\a b\\Library\\bin\\cudart64_12.dll"}
    assert pathfinder.load("cudart").found_by == "conda"
