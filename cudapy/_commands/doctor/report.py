"""The report, for people and for bug reports."""

import json
import textwrap
from collections.abc import Iterator
from dataclasses import asdict

from ..._pathfinder.libraries import LIBRARIES
from .facts import CacheFacts, Facts, LibraryFacts
from .problem import Problem

WIDTH = 110


def as_json(facts: Facts, problems: list[Problem]) -> str:
    """Everything: the facts, the problems, and whether kernels run."""
    whole = {"works": facts.job.works, **asdict(facts), "problems": [asdict(p) for p in problems]}
    return json.dumps(whole, indent=2)


def as_text(facts: Facts, problems: list[Problem]) -> str:
    """The report as text, for people."""
    return "\n".join([*_machine(facts), "", *_problems(problems), "", _verdict(facts)])


def _machine(facts: Facts) -> Iterator[str]:
    yield f"cudapy {facts.cudapy}"
    yield f"Python {facts.python}"
    yield facts.platform
    yield f"Fast lane: {f'none, {facts.no_fast_lane}' if facts.no_fast_lane else 'on'}"
    for title, driver in (("Driver", True), ("Libraries", False)):
        yield f"\n{title}"
        for library in facts.libraries:
            if LIBRARIES[library.name].from_driver is driver:
                yield f"  {library.name:<10} {_library(library)}"
        if driver and facts.driver.package:
            yield f"  {'release':<10} {facts.driver.package}"
    if facts.library("cufile").path:
        yield "\nFiles to device memory"
        yield f"  {_storage(facts.nvidia_fs)}"
    yield "\nHeaders for NVRTC"
    yield from (f"  {folder}" for folder in facts.headers or ("none",))
    yield "\nDevices"
    for device in facts.driver.devices:
        major, minor = device.compute_capability
        memory = f"{device.memory / 2**30:.1f} GiB"
        yield f"  {device.ordinal}  {device.name}, compute capability {major}.{minor}, {memory}"
    if not facts.driver.devices:
        yield "  none"
    yield "\nCompiled programs"
    yield f"  {_cache(facts.cache)}"


def _storage(nvidia_fs: str) -> str:
    if nvidia_fs:
        return f"GPUDirect Storage: the nvidia-fs driver {nvidia_fs} is loaded"
    return "compatibility mode: there is no nvidia-fs driver; cufile.json may switch PCI P2PDMA on"


def _cache(cache: CacheFacts) -> str:
    if cache.problem or not cache.path:
        return "not kept on disk"
    return f"{cache.entries} in {cache.path}, {cache.size / 2**20:.1f} MiB"


def _library(library: LibraryFacts) -> str:
    if not library.path:
        return "broken" if library.broken else "not found"
    if library.path == library.found_by:  # no file
        return f"{library.release:<15} {library.path}"
    return f"{library.release:<15} {library.found_by:<9} {library.path}"


def _problems(problems: list[Problem]) -> Iterator[str]:
    yield "Problems" if problems else "No problems."
    for number, problem in enumerate(problems, 1):
        mark = " [no kernel runs on a GPU]" if problem.stops else ""
        yield _wrap(f"{problem.text}.{mark}", f"  {number}. ", "     ")
        yield f"     Fix: {problem.fix}"  # not wrapped: it is to be copied


def _wrap(text: str, first: str, rest: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _verdict(facts: Facts) -> str:
    if facts.job.works:
        return f"Kernels run here: one was compiled with NVRTC and run on device {facts.job.device}."
    done = "NVRTC compiles" if facts.compiler.works else "nothing was compiled"
    ran = f"but: {facts.job.error.splitlines()[0]}" if facts.job.error else "nothing was run"
    verdict = f"No kernel can be compiled with NVRTC and run on a GPU here ({done}, {ran})."
    if facts.simulated.works:
        verdict += (
            "\nOn the simulator one ran. Next: CUDAPY_DRIVER=simulator python program.py, "
            "or simulator.stand_in() in the program."
        )
    elif facts.simulated.error:
        verdict += f"\nOn the simulator none ran either: {facts.simulated.error.splitlines()[0]}"
    return verdict
