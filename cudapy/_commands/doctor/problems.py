"""What is wrong with a machine, in plain words, and the command that fixes it: from its facts alone."""

from collections.abc import Iterator

from ..._pathfinder.headers import version
from ..._pathfinder.libraries import DRIVER, SIMULATED
from ..._types.meanings import CURESULT
from . import mixtures
from .facts import Facts
from .problem import Problem, again, extra, package, wheels

SIMULATOR = "cudapy simulator"
OLDEST = (12, 0)  # the CUDA release that cudapy needs the driver to have


def problems(facts: Facts) -> list[Problem]:
    """All that is wrong, what keeps kernels from running first.

    Nothing stops a job that was seen to run.
    """
    listed = [problem for check in CHECKS for problem in check(facts)]
    if facts.job.works:
        listed = [Problem(problem.text, problem.fix) for problem in listed]
    elif not any(problem.stops for problem in listed):
        listed.append(_job(facts))
    return sorted(listed, key=lambda problem: not problem.stops)


def _job(facts: Facts) -> Problem:
    reason = facts.job.error or "it was not tried"
    return Problem(f"A small kernel could not be compiled and run: {reason}", "report it, with --json", True)


# ---- The driver and the devices ----


def no_driver(facts: Facts) -> Iterator[Problem]:
    """No libcuda, or a broken one."""
    driver = facts.library("cuda")
    if driver.path:
        return
    if driver.broken:
        text = f"The NVIDIA driver is broken: {'; '.join(driver.broken)}"
    else:
        text = "There is no NVIDIA driver on this machine"
    yield Problem(text, f"{DRIVER}; {SIMULATED}", True)


def driver_too_old(facts: Facts) -> Iterator[Problem]:
    """A driver older than cudapy serves."""
    driver = facts.library("cuda")
    if driver.version and driver.version < OLDEST:
        text = f"The driver has CUDA {driver.release} ({driver.path}); cudapy needs CUDA {version(OLDEST)}"
        yield Problem(text, DRIVER, True)


def driver_fails(facts: Facts) -> Iterator[Problem]:
    """A driver that does not start, or shows no device."""
    if not facts.library("cuda").path:
        return
    status, path = facts.driver.status, facts.library("cuda").path
    if status == "CUDA_SUCCESS" and facts.driver.devices:
        return
    if status in ("CUDA_SUCCESS", "CUDA_ERROR_NO_DEVICE"):
        visible = facts.environment.get("CUDA_VISIBLE_DEVICES")
        if visible is not None:
            text = f"The driver shows no device, and CUDA_VISIBLE_DEVICES is {visible!r}"
            yield Problem(text, "unset CUDA_VISIBLE_DEVICES", True)
        else:
            text = f"The driver ({path}) is there, but shows no device"
            fix = "check with nvidia-smi; start the container with its GPU (docker run --gpus all)"
            yield Problem(text, fix, True)
        return
    meaning, hint = CURESULT.get(status, ("", ""))
    reason = f"{status}: {meaning}" if status else facts.driver.error
    yield Problem(f"The driver ({path}) does not start: {reason}", hint or DRIVER, True)


# ---- NVRTC ----


def full_devices(facts: Facts) -> Iterator[Problem]:
    """A device with less than a tenth of its memory left."""
    for device in facts.driver.devices:
        if device.free is None or device.free >= device.memory // 10:
            continue
        text = (
            f"Device {device.ordinal} has {gib(device.free)} of its {gib(device.memory)} left, says NVML: "
            + (
                ", ".join(f"process {p.pid} ({p.name}) has {gib(p.memory)}" for p in device.processes)
                or "the processes that have the rest are not shown"
            )
        )
        fix = "end these processes, or choose another device with CUDA_VISIBLE_DEVICES"
        yield Problem(text, fix)


def gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def no_nvrtc(facts: Facts) -> Iterator[Problem]:
    """No NVRTC, or one that does not compile."""
    nvrtc = facts.library("nvrtc")
    if not nvrtc.path and not nvrtc.broken:
        yield Problem("There is no NVRTC, the compiler of CUDA C++", extra(facts), True)
    elif nvrtc.path and not facts.compiler.works:
        text = f"NVRTC ({nvrtc.path}) does not compile: {facts.compiler.error}"
        yield Problem(text, again(facts, nvrtc), True)


def broken_libraries(facts: Facts) -> Iterator[Problem]:
    """Files that the loader does not take, whether another was found in their place or not."""
    for library in facts.libraries:
        if library.broken and library.name != "cuda":
            instead = f" (used instead: {library.path})" if library.path else ""
            text = f"{library.name} is broken: {'; '.join(library.broken)}{instead}"
            yield Problem(text, again(facts, library), library.name == "nvrtc" and not library.path)


def nvrtc_newer_than_driver(facts: Facts) -> Iterator[Problem]:
    """Code that the driver is too old for: all of another major, PTX of a newer minor."""
    nvrtc, driver = facts.library("nvrtc"), facts.library("cuda")
    if not nvrtc.version or not driver.version or nvrtc.version <= driver.version:
        return
    if driver.found_by == SIMULATOR:  # which takes the PTX of every NVRTC
        return
    have = f"NVRTC is of CUDA {nvrtc.release} ({nvrtc.path}), the driver has CUDA {driver.release}"
    if nvrtc.version[0] > driver.version[0]:
        remove = [name for name in wheels(facts, nvrtc.version[0]) if nvrtc.found_by == "pip"]
        fix = " && ".join([f"pip uninstall -y {' '.join(remove)}"] * bool(remove) + [extra(facts)])
        text = f"{have}: a driver does not run what is compiled for a newer major"
        yield Problem(text, f"{fix}  # or update the driver", True)
    else:
        text = f"{have}: cubins work (compile to 'cubin'), PTX is too new for the driver"
        fix = f'pip install "{package(nvrtc)}=={driver.release}.*"  # or update the driver'
        yield Problem(text, fix)


def architectures(facts: Facts) -> Iterator[Problem]:
    """Devices that NVRTC does not compile for."""
    known = facts.compiler.architectures
    for device in facts.driver.devices if known else ():
        major, minor = device.compute_capability
        if major * 10 + minor in known:
            continue
        text = (
            f"Device {device.ordinal}, {device.name}, is sm_{major}{minor}; this NVRTC "
            f"({facts.library('nvrtc').release}) compiles for sm_{known[0]} to sm_{known[-1]}"
        )
        fix = f"{extra(facts)} --upgrade"
        if major * 10 + minor < known[0]:
            fix = 'pip install "cudapy[cuda12]"  # and uninstall the wheels of CUDA 13'
        yield Problem(text, fix, len(facts.driver.devices) == 1)


# ---- The compile cache ----


def cache(facts: Facts) -> Iterator[Problem]:
    """A folder of compiled programs that must not be used."""
    if facts.cache.problem:
        text = f"Compiled programs are not kept on disk: {facts.cache.problem}"
        yield Problem(text, 'export CUDAPY_CACHE_DIR="$HOME/.cache/cudapy"  # or another folder of your own')


CHECKS = (
    no_driver, driver_too_old, driver_fails, full_devices, no_nvrtc, broken_libraries,
    nvrtc_newer_than_driver, architectures, *mixtures.CHECKS, cache,
)  # fmt: skip
