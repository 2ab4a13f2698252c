"""Fetch CUDA's C headers from PyPI: pinned wheels, the newest patch of each release, kept in a cache.

`fetch("13.0", "runtime")` returns include directories. The first call runs `pip download`, keeps the
headers and throws the rest of the wheel away; later calls touch nothing but the cache. The cache is
$CUDAPY_HEADER_CACHE, else $XDG_CACHE_HOME/cudapy/headers, else ~/.cache/cudapy/headers.

Wheels of runtime, crt, profiler, nvml, cufile and nvfatbin are small (0.02 to 4 MB); those of nvrtc,
nvjitlink and nvvm (20 to 90 MB) carry a library that is not needed here, but pip takes them whole.

To compile in plain C with gcc, `#include <cuda.h>` needs "runtime" alone, and `#include
<cuda_runtime_api.h>` needs "crt" beside it, for crt/host_defines.h. On CUDA 12 only nvidia-cuda-nvcc-cu12
(20 to 41 MB) holds that file. The one of nvidia-cuda-crt 13.0 (0.1 MB) serves instead: it defines every
macro that those of 12.0 and 12.9 define in gcc's eyes, with the same body, and three more; what the
preprocessor makes of cuda_runtime_api.h 12.0 and 12.9 is the same text with it as with their own, in C
and in C++. So "crt" is nvidia-cuda-crt 13.0 for the 12.x releases.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

RELEASES = ("12.0", "12.4", "12.8", "12.9", "13.0", "13.2", "13.4", "13.5")

# Component -> packages for CUDA 12 and 13, and the version for each release; "-" where PyPI has none.
PACKAGES = {
    "runtime": (
        ("nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime"),
        "12.0.146 12.4.127 12.8.90 12.9.79 13.0.96 13.2.86 13.4.92 13.5.37",
    ),
    "crt": (
        ("nvidia-cuda-crt", "nvidia-cuda-crt"),
        "13.0.88 13.0.88 13.0.88 13.0.88 13.0.88 13.2.86 13.4.92 13.5.37",
    ),
    "profiler": (
        ("nvidia-cuda-profiler-api-cu12", "nvidia-cuda-profiler-api"),
        "12.0.140 12.4.127 12.8.90 12.9.79 13.0.85 13.2.86 13.4.92 13.5.25",
    ),
    "nvrtc": (
        ("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc"),
        "12.0.140 12.4.127 12.8.93 12.9.86 13.0.88 13.2.86 13.4.92 13.5.37",
    ),
    "nvjitlink": (
        ("nvidia-nvjitlink-cu12", "nvidia-nvjitlink"),
        "12.0.140 12.4.127 12.8.93 12.9.86 13.0.88 13.2.86 13.4.92 13.5.37",
    ),
    "nvvm": (
        ("nvidia-cuda-nvcc-cu12", "nvidia-nvvm"),
        "12.0.140 12.4.131 12.8.93 12.9.86 13.0.88 13.2.86 13.4.92 13.5.37",
    ),
    "nvfatbin": (
        ("nvidia-nvfatbin-cu12", "nvidia-nvfatbin"),
        "- 12.4.127 12.8.90 12.9.82 13.0.85 13.2.86 13.4.92 13.5.37",
    ),
    "cufile": (  # in the column of 12.4 that of 12.6, the first that PyPI has
        ("nvidia-cufile-cu12", "nvidia-cufile"),
        "- 1.11.1.6 1.13.1.3 1.14.1.1 1.15.1.6 1.17.1.22 1.19.1.55 1.20.0.107",
    ),
    "cudla": (
        ("nvidia-cudla-cu12", "nvidia-cudla"),
        "- - - - - 13.2.86 13.4.92 13.5.25",
    ),
    "nvml": (
        ("nvidia-nvml-dev-cu12", "nvidia-nvml-dev"),
        "12.0.140 12.4.127 12.8.90 12.9.79 13.0.87 13.2.86 13.4.92 13.5.37",
    ),
}
# The headers are the same on every host: those of the Linux x86-64 wheels, of cuDLA those of aarch64.
TAGS = ("1", "2010", "2014", "_2_5", "_2_12", "_2_17", "_2_27", "_2_28")


def requirement(release: str, component: str) -> str | None:
    """The pinned wheel, such as "nvidia-cuda-runtime==13.0.96"; None if PyPI has none."""
    (cuda12, cuda13), versions = PACKAGES[component]
    version = versions.split()[RELEASES.index(release)]
    name = cuda12 if release.startswith("12.") else cuda13
    return None if version == "-" else f"{name}=={version}"


def newest(release: str, component: str) -> str:
    """The newest wheel of a release that is not pinned here, such as "nvidia-cuda-runtime==13.6.21".

    cuFile counts its own versions: the newest of all is taken. Raises RuntimeError with pip's words.
    """
    name = PACKAGES[component][0][0 if release.startswith("12.") else 1]
    wanted = name if component == "cufile" else f"{name}=={release}.*"
    with tempfile.TemporaryDirectory() as scratch:
        version = _download(wanted, Path(scratch)).name.split("-")[1]
    return f"{name}=={version}"


def fetch(release: str, component: str) -> list[Path]:
    """The include directories of a component, downloaded if the cache does not have them.

    Raises LookupError if there is no such wheel, RuntimeError with pip's words if pip fails.
    """
    wanted = requirement(release, component)
    if wanted is None:
        raise LookupError(f"PyPI has no wheel with the {component} headers of CUDA {release}")
    return fetch_wheel(wanted)


def fetch_wheel(wanted: str) -> list[Path]:
    """The same for a wheel, such as "nvidia-nccl-cu12==2.27.3"."""
    cache = _cache()
    folder = cache / wanted.replace("==", "-")
    if not folder.is_dir():
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            unpacked = Path(scratch) / "unpacked"
            unpack(_download(wanted, Path(scratch)), unpacked)
            try:
                Path(unpacked).replace(folder)
            except OSError:
                if not folder.is_dir():  # else another process was faster
                    raise
    return sorted(path for path in folder.rglob("include") if path.is_dir())


def unpack(wheel: Path, folder: Path) -> None:
    """Write a wheel's headers (*.h and everything under an include folder) below `folder`."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = PurePosixPath(member.filename)
            if path.is_absolute() or ".." in path.parts or "\\" in member.filename or ":" in member.filename:
                raise ValueError(f"{wheel.name} holds an unsafe path: {member.filename!r}")
            if not member.is_dir() and (path.suffix == ".h" or "include" in path.parts[:-1]):
                archive.extract(member, folder)


def _cache() -> Path:
    chosen = os.environ.get("CUDAPY_HEADER_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cudapy" / "headers"


def _download(wanted: str, folder: Path) -> Path:
    machine = "aarch64" if wanted.startswith("nvidia-cudla") else "x86_64"
    platforms = [f"--platform=manylinux{tag}_{machine}" for tag in TAGS]
    if sys.stderr.isatty():
        print(f"downloading {wanted}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "-q"]
    result = subprocess.run(
        [*command, "--disable-pip-version-check", "-d", str(folder), *platforms, wanted],
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if result.returncode or len(wheels) != 1:
        raise RuntimeError(f"pip could not download {wanted}:\n{result.stderr.strip()}")
    return wheels[0]
