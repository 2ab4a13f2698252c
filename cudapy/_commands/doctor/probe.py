"""Asks a library a question in a process of its own: a broken one may end the process that opens it."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from typing import Any

from ... import pathfinder
from ..._pathfinder import start

_CHILD = """import sys, json
paths, module, *more = json.loads(sys.argv[1])
sys.path[:] = paths
from importlib import import_module
import_module(module).main(*more)"""
_MARK = "cudapy doctor: "


def ask(question: str, argument: str = "", timeout: float = 120) -> dict[str, Any]:
    """The answer of one of the functions below, given in another process; {"error": why} if it gave none."""
    if not sys.executable:
        return {"error": "not asked, as sys.executable is empty"}
    # -I, as the working directory must not be searched; the paths are this process's.
    message = json.dumps([sys.path, __name__, question, argument, start.folders()])
    command = [sys.executable, "-I", "-c", _CHILD, message]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"no answer in {timeout:g} seconds"}
    except OSError as error:
        return {"error": f"{sys.executable} cannot be started: {error}"}
    for line in reversed(done.stdout.decode(errors="replace").splitlines()):
        if line.startswith(_MARK):
            answer: dict[str, Any] = json.loads(line.removeprefix(_MARK))
            return answer
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        return {"error": f"it ends the process that uses it ({name})"}
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return {"error": said[-1] if said else f"the process that asked ended with {done.returncode}"}


def main(question: str, argument: str, started_in: list[str]) -> None:
    """Answer on standard output, in the process that `ask` started."""
    start.add(started_in)
    try:
        answer = QUESTIONS[question](argument)
    except Exception as error:  # whatever it is, it is what the report has to say
        answer = {"error": str(error) or type(error).__name__}
    print(f"\n{_MARK}{json.dumps(answer)}", flush=True)
    os._exit(0)  # what a library does at exit is not the question


# ---- Questions ----

_VERSION = {  # the function that tells it, and in how many ints; nvvmVersion is 2.0 in every CUDA
    "cuda": ("cuDriverGetVersion", 1),
    "nvrtc": ("nvrtcVersion", 2),
    "nvJitLink": ("nvJitLinkVersion", 2),
    "nvfatbin": ("nvFatbinVersion", 2),
    "cudart": ("cudaRuntimeGetVersion", 1),
    "cufile": ("cuFileGetVersion", 1),
}


def library(name: str) -> dict[str, Any]:
    """The library that `pathfinder.load` opens: path, found_by, major, version; and the broken files."""
    files = [c for c in pathfinder.find(name) if not c.refused and os.path.isabs(c.path)]
    try:
        loaded = pathfinder.load(name)
    except pathfinder.LibraryNotFound as error:
        broken = [line for line in error.tried if any(c.path in line for c in files)]
        return {"broken": broken or (list(error.tried) if "cannot be loaded" in str(error) else [])}
    paths = [c.path for c in files]
    before = files[: paths.index(loaded.path)] if loaded.path in paths else []
    broken = [f"{candidate}: {_why(candidate.path)}" for candidate in before]
    answer = {"path": loaded.path, "found_by": loaded.found_by, "major": loaded.major, "broken": broken}
    return answer | {"version": _version(loaded)}


def _why(path: str) -> str:
    """What the loader has against a file that `load` passed over."""
    try:
        ctypes.CDLL(path)
    except OSError as error:
        return str(error).removeprefix(f"{path}: ")
    return "what it needs beside it cannot be loaded"


def _version(loaded: pathfinder.Loaded) -> list[int] | None:
    """[13, 0]; None if the library does not say."""
    name, count = _VERSION.get(loaded.name, ("", 0))
    function = getattr(loaded.handle, name, None) if name else None
    if function is None:
        return None
    numbers = (ctypes.c_int * count)()
    addresses = [ctypes.byref(numbers, 4 * i) for i in range(count)]
    if function(*addresses):
        return None
    return list(numbers) if count == 2 else [numbers[0] // 1000, numbers[0] % 1000 // 10]


def devices(_: str) -> dict[str, Any]:
    """The status of cuInit, and the devices."""
    from ... import driver
    from ..._types.meanings import CURESULT

    (status,) = driver.cuInit(0)
    readings: list[dict[str, Any]] = []
    if not status:
        status, count = driver.cuDeviceGetCount()
        for ordinal in range(count or 0):
            device = driver.checked.cuDeviceGet(ordinal)
            capability = driver.checked.cuDeviceGetAttribute
            attribute = driver.CUdevice_attribute
            readings.append({
                "ordinal": ordinal,
                "name": driver.checked.cuDeviceGetName(256, device).split(b"\0")[0].decode(errors="replace"),
                "compute_capability": [
                    capability(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
                    capability(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
                ],
                "memory": driver.checked.cuDeviceTotalMem(device),
                **_use(device),
            })  # fmt: skip
    error = " ".join(CURESULT.get(status.name, ("", ""))[:1]) if status else ""
    return {"status": status.name, "error": error, "devices": readings, "package": _package()}


def _package() -> str:
    """The number of the driver's own release, such as "580.65.06"; "" if NVML does not tell."""
    from ... import nvml

    try:
        nvml.init_v2()
        return nvml.system_get_driver_version()
    except (RuntimeError, pathfinder.LibraryNotFound):
        return ""


def _use(ordinal: Any) -> dict[str, Any]:
    """How much memory of a device is free, and which other processes have it, as far as NVML says."""
    from ... import driver, nvml

    try:
        bus = driver.checked.cuDeviceGetPCIBusId(16, ordinal).split(b"\0")[0]
        nvml.init_v2()
        device = nvml.device_get_handle_by_pci_bus_id_v2(bus)
        use: dict[str, Any] = {"free": nvml.device_get_memory_info_v2(device).free}
        processes = nvml.device_get_compute_running_processes_v3(device)
        known = [process for process in processes if process.used_gpu_memory >> 63 == 0]
        use["processes"] = [
            (process.pid, nvml.system_get_process_name(process.pid), process.used_gpu_memory)
            for process in sorted(known, key=lambda process: -process.used_gpu_memory)
            if process.pid != os.getpid()
        ]
    except (RuntimeError, pathfinder.LibraryNotFound):
        return {}
    return use


KERNEL = 'extern "C" __global__ void answer(int *x) { *x = 42; }'


def compiler(_: str) -> dict[str, Any]:
    """What NVRTC compiles for, and whether it does, builtins and all."""
    from ... import nvrtc
    from ..._core.compile.program import Program, ProgramOptions

    architectures = nvrtc.checked.nvrtcGetSupportedArchs()
    Program(KERNEL, "c++", ProgramOptions(arch=f"sm_{architectures[-1]}")).compile("cubin", cache=False)
    return {"works": True, "architectures": architectures}


def job(ordinal: str) -> dict[str, Any]:
    """Compile a kernel for a device, run it there, and read its result."""
    from ...core import Device, LaunchConfig, Program, ProgramOptions, launch

    device = Device(int(ordinal))
    device.set_current()
    stream = device.create_stream()
    program = Program(KERNEL, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin", cache=False).get_kernel("answer")
    memory = device.allocate(4, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=1), kernel, memory)
    result = bytearray(4)
    memory.copy_to(result, stream=stream)
    stream.sync()
    if result[0] != 42:
        return {"error": f"the kernel should have written 42, and wrote {result[0]}"}
    return {"works": True, "device": int(ordinal)}


def simulated(_: str) -> dict[str, Any]:
    """The same on the simulator. Only in a process in which the driver was not opened."""
    os.environ["CUDAPY_DRIVER"] = "simulator"
    return job("0")


QUESTIONS = {
    "library": library,
    "devices": devices,
    "compiler": compiler,
    "job": job,
    "simulated": simulated,
}
