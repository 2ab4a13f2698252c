"""Collects the facts of this machine. Nothing that is missing or broken stops it."""

import os
import platform
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version as version_of
from typing import Any

from ... import __version__
from ..._core.compile import compile_cache
from ..._ffi.lanes import why_not
from ..._pathfinder.headers import HEADERS, directories, matching
from ..._pathfinder.libraries import USED
from ...pathfinder import find, this_host
from .facts import (
    VARIABLES,
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
from .probe import ask as ask_in_a_process

Ask = Callable[[str, str], "dict[str, Any]"]


def this_machine(ask: Ask = ask_in_a_process) -> Facts:
    """The facts; `ask(question, argument)` answers what libraries must be opened for."""
    host = this_host()
    with ThreadPoolExecutor() as pool:
        answers = pool.map(lambda name: _library(name, ask("library", name)), USED)
        libraries = {library.name: library for library in answers}
    nvrtc = libraries["nvrtc"]
    driver = _driver(ask("devices", "")) if libraries["cuda"].path else DriverFacts()
    compiler = _compiler(ask("compiler", "")) if nvrtc.path else CompilerFacts()
    job = JobFacts()
    for device in driver.devices if compiler.works else ():
        answer = ask("job", str(device.ordinal))
        if not job.error or answer.get("works"):
            job = JobFacts(bool(answer.get("works")), answer.get("device"), answer.get("error", ""))
        if job.works:
            break
    simulated = ask("simulated", "") if compiler.works and not job.works else {}
    headers = directories(HEADERS["cudart"], None, host)
    return Facts(
        cudapy=__version__,
        python=f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}",
        platform=platform.platform(),
        no_fast_lane=why_not(),
        libraries=tuple(libraries.values()),
        driver=driver,
        compiler=compiler,
        job=job,
        simulated=JobFacts(bool(simulated.get("works")), simulated.get("device"), simulated.get("error", "")),
        cache=CacheFacts(*compile_cache.state()),
        nvidia_fs=nvidia_fs(),
        headers=matching(nvrtc.version, nvrtc.path, host).folders if nvrtc.version else (),
        toolkits=tuple(ToolkitFacts(d.found_by, d.path, d.release) for d in headers if not d.refused),
        wheels=_wheels(),
        environment={name: host.environ[name] for name in VARIABLES if name in host.environ},
        absent=tuple(
            name for name in VARIABLES[:3] if os.path.isabs(value := host.environ.get(name, ""))
            and not os.path.isdir(value)
        ),
        stubs=tuple(_stubs(host.environ.get)),
    )  # fmt: skip


def _library(name: str, answer: dict[str, Any]) -> LibraryFacts:
    broken = tuple(answer.get("broken", ()))
    if "error" in answer:
        files = (c for c in find(name) if not c.refused and os.path.isabs(c.path))
        broken = (f"{next(map(str, files), name)}: {answer['error']}",)
    path, found_by, major = answer.get("path", ""), answer.get("found_by", ""), answer.get("major")
    version = tuple(answer.get("version") or ()) or None
    return LibraryFacts(name, path, found_by, version, major, broken)


def nvidia_fs(path: str = "/proc/driver/nvidia-fs/version") -> str:
    """The version of the nvidia-fs driver, as the kernel tells it; "" if it is not loaded."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return ""
    number = re.search(r"\d+(\.\d+)+", text)
    return number[0] if number else "of an unknown version"


def _driver(answer: dict[str, Any]) -> DriverFacts:
    devices = tuple(
        DeviceFacts(
            d["ordinal"],
            d["name"],
            tuple(d["compute_capability"]),
            d["memory"],
            d.get("free"),
            tuple(ProcessFacts(*process) for process in d.get("processes", ())),
        )
        for d in answer.get("devices", ())
    )
    status, error, package = (answer.get(key, "") for key in ("status", "error", "package"))
    return DriverFacts(status, error, devices, package)


def _compiler(answer: dict[str, Any]) -> CompilerFacts:
    architectures = tuple(answer.get("architectures", ()))
    return CompilerFacts(bool(answer.get("works")), answer.get("error", ""), architectures)


def _wheels() -> dict[str, str]:
    """The versions of NVIDIA's wheels that cudapy uses, of both majors."""
    names = [name for library in USED.values() for name in library.packages]
    names += [name for header in HEADERS.values() for name in header.packages]
    wheels = {}
    for name in dict.fromkeys(names):
        try:
            wheels[name] = str(version_of(name))
        except Exception:  # not there, or not readable: what cudapy needs is looked for, not this
            continue
    return wheels


def _stubs(environ: Callable[[str], str | None]) -> list[tuple[str, str]]:
    """The entries of the library paths that hold a stub of libcuda."""
    stubs = []
    for variable in ("LD_LIBRARY_PATH", "LIBRARY_PATH"):
        for entry in re.split("[:;]", environ(variable) or ""):
            names = {os.path.basename(os.path.normpath(path)) for path in (entry, os.path.realpath(entry))}
            files = (os.path.join(entry, name) for name in ("libcuda.so", "libcuda.so.1"))
            if entry and "stubs" in names and any(map(os.path.exists, files)):
                stubs.append((variable, entry))
    return stubs
