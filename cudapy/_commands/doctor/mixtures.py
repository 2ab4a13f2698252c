"""What does not go together: majors, releases, headers, toolkits, and the variables that choose them."""

import os
import re
from collections.abc import Iterator

from ..._pathfinder.headers import HEADERS, version
from ..._pathfinder.libraries import LIBRARIES
from ..._pathfinder.missing import requirement
from .facts import Facts
from .problem import Problem, package, wheels


def majors(facts: Facts) -> Iterator[Problem]:
    """Compilers and linkers of two majors, or a linker older than the compiler."""
    nvrtc, linker = facts.library("nvrtc"), facts.library("nvJitLink")
    driver = facts.library("cuda").version
    if not nvrtc.major or (driver and nvrtc.major > driver[0]):  # that NVRTC has to go first
        return
    names = ("nvJitLink", "nvvm", "nvfatbin", "cudart")
    others = [x for x in map(facts.library, names) if x.major and x.major != nvrtc.major]
    if others:
        listed = ", ".join(f"{x.name} of CUDA {x.major} ({x.path})" for x in others)
        text = f"Two majors are mixed: NVRTC is of CUDA {nvrtc.major} ({nvrtc.path}), but {listed}"
        if any(other.name == "nvJitLink" for other in others):
            text += "; what one compiles the other does not link"
        packages = " ".join(LIBRARIES[other.name].packages[nvrtc.major == 12] for other in others)
        yield Problem(text, f"pip install {packages}" if nvrtc.major == 12 else _newer(packages))
    elif nvrtc.version and linker.version and linker.version < nvrtc.version:
        text = f"nvJitLink {linker.release} is older than NVRTC {nvrtc.release}: it does not link its LTO-IR"
        yield Problem(text, f'pip install "{package(linker)}>={nvrtc.release}"')


def _newer(packages: str) -> str:
    return "pip install " + " ".join(f'"{package}>=13,<14"' for package in packages.split())


def both_wheels(facts: Facts) -> Iterator[Problem]:
    """Wheels of CUDA 12 and CUDA 13 in one environment."""
    by_major = {major: wheels(facts, major) for major in (13, 12)}
    if not all(by_major.values()):
        return
    driver = facts.library("cuda").version
    keep = 12 if driver and driver[0] <= 12 else 13
    listed = "; ".join(
        f"CUDA {major}: " + ", ".join(f"{name} {facts.wheels[name]}" for name in names)
        for major, names in by_major.items()
    )
    text = f"Wheels of two CUDA majors are installed ({listed}); where both have a library, 13 is taken"
    drop = " ".join(by_major[25 - keep])
    fix = f"pip uninstall -y {drop}  # unless another package needs them"
    yield Problem(text, fix)


def headers(facts: Facts) -> Iterator[Problem]:
    """None of CUDA's own headers, or none of NVRTC's release."""
    nvrtc = facts.library("nvrtc")
    if not nvrtc.version or any(os.path.basename(folder) != "cccl" for folder in facts.headers):
        return
    fix = "pip install " + " ".join(f'"{requirement(kind, nvrtc.version)}"' for kind in ("cudart", "cccl"))
    other = [toolkit for toolkit in facts.toolkits if toolkit.release != nvrtc.version]
    if other:
        listed = ", ".join(f"CUDA {_of(t.release)} in {t.path}" for t in other)
        text = (
            f"There are headers of {listed}, but none of CUDA {nvrtc.release}, which NVRTC is of "
            f"({nvrtc.path}): they are not used"
        )
    else:
        text = "CUDA's own headers are not installed: a program with #include <cuda_fp16.h> does not compile"
    yield Problem(text, fix)


def header_wheels(facts: Facts) -> Iterator[Problem]:
    """Wheels with two halves of CUDA's headers, of two releases."""
    for runtime, rest in zip(HEADERS["cudart"].packages, HEADERS["crt"].packages, strict=True):
        halves = [f"{name} {facts.wheels[name]}" for name in (runtime, rest) if name in facts.wheels]
        releases = [half.split()[1].split(".")[:2] for half in halves]
        if len(releases) == 2 and releases[0] != releases[1]:
            text = f"{' and '.join(halves)} have the two halves of CUDA's headers, of two releases"
            yield Problem(text, f'pip install "{rest}=={".".join(releases[0])}.*"')


def several_toolkits(facts: Facts) -> Iterator[Problem]:
    """Toolkits of several releases."""
    toolkits = [toolkit for toolkit in facts.toolkits if toolkit.found_by != "pip"]
    if len({toolkit.release for toolkit in toolkits}) < 2:
        return
    listed = ", ".join(f"{_of(t.release)} in {os.path.dirname(t.path)} ({t.found_by})" for t in toolkits)
    nvrtc = facts.library("nvrtc").version
    fitting = [toolkit for toolkit in toolkits if toolkit.release == nvrtc] or toolkits
    text = f"Several CUDA toolkits are installed: {listed}. The first that has a library is taken"
    fix = f"export CUDA_PATH={os.path.dirname(fitting[0].path)}; unset CUDA_HOME"
    yield Problem(text, fix)


def _of(release: tuple[int, int] | None) -> str:
    return version(release) if release else "of unknown release"


# ---- The environment ----


def roots(facts: Facts) -> Iterator[Problem]:
    """CUDA_PATH and its like, when relative, absent, or at odds."""
    for name in ("CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX"):
        value = facts.environment.get(name, "")
        if value and not os.path.isabs(value):
            text = f"{name} is {value!r}, which is not an absolute path, and is ignored"
            yield Problem(text, f'export {name}="$(realpath {value})"  # or unset {name}')
        elif name in facts.absent:
            yield Problem(f"{name} names a folder that is not there: {value}", f"unset {name}")


def stubs(facts: Facts) -> Iterator[Problem]:
    """Folders of link-time stubs on the library paths."""
    for variable, entry in facts.stubs:
        if variable == "LD_LIBRARY_PATH":
            text = f"{variable} has {entry}, whose libcuda is a stub for linking, which runs nothing"
        else:
            text = f"{variable} has {entry}: right for linking C++ programs, of no use to run anything"
        rest = [path for path in re.split("[:;]", facts.environment.get(variable, "")) if path != entry]
        yield Problem(text, f"export {variable}={':'.join(rest)}" if any(rest) else f"unset {variable}")


def library_path(facts: Facts) -> Iterator[Problem]:
    """Entries of LD_LIBRARY_PATH that mean the working directory."""
    value = facts.environment.get("LD_LIBRARY_PATH", "")
    entries = re.split("[:;]", value) if value else []
    good = [entry for entry in entries if os.path.isabs(entry)]
    if len(good) < len(entries):
        text = (
            f"LD_LIBRARY_PATH is {value!r}: an empty or relative entry has programs load libraries from the "
            "working directory, so cudapy does not ask the system's loader"
        )
        yield Problem(text, f"export LD_LIBRARY_PATH={':'.join(good)}" if good else "unset LD_LIBRARY_PATH")


CHECKS = (majors, both_wheels, headers, header_wheels, several_toolkits, roots, stubs, library_path)
