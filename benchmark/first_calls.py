"""What calls cost the first time: test_first_calls.py runs this, once for each process that it measures.

    python -m benchmark.first_calls driver PACKAGE CUBIN     PACKAGE: cudapy, cuda.bindings
    python -m benchmark.first_calls core PACKAGE CUBIN       PACKAGE: cudapy, cuda
    python -m benchmark.first_calls all

prints a JSON object: seconds by name. CUBIN: the path of the kernels of kernels.py; on the null libcuda any
file. Nothing is called before it is timed, so that one process gives one time of each. `all` calls every
function of the driver that takes null pointers and zeros, which only the null libcuda makes nothing of.
"""

from __future__ import annotations

import gc
import json
import random
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

Times = dict[str, float]

BYTES = 4096


def timed(times: Times, name: str, call: Callable[[], Any]) -> Any:
    """The result of a call; RuntimeError if it is a status that is a failure.

    Its seconds go to `times`, if nothing of that name did so before.
    """
    start = perf_counter()
    result = call()
    seconds = perf_counter() - start
    times.setdefault(name, seconds)
    status = result[0] if isinstance(result, tuple) else 0
    if isinstance(status, int) and status:
        raise RuntimeError(f"{name} failed with {status!r}")
    return result[-1] if isinstance(result, tuple) else result


def driver(package: str, cubin: bytes) -> Times:
    """The functions that a small program calls, after the ones that make the device ready."""
    d: Any = import_module(f"{package}.driver")
    times: Times = {}
    ready: Times = {}
    timed(ready, "cuInit", lambda: d.cuInit(0))
    device = timed(ready, "cuDeviceGet", lambda: d.cuDeviceGet(0))
    context = timed(ready, "cuDevicePrimaryCtxRetain", lambda: d.cuDevicePrimaryCtxRetain(device))
    timed(ready, "cuCtxSetCurrent", lambda: d.cuCtxSetCurrent(context))
    attribute = d.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    timed(times, "cuDeviceGetAttribute", lambda: d.cuDeviceGetAttribute(attribute, device))
    stream = timed(times, "cuStreamCreate", lambda: d.cuStreamCreate(0))
    event = timed(times, "cuEventCreate", lambda: d.cuEventCreate(0))
    module = timed(ready, "cuModuleLoadData", lambda: d.cuModuleLoadData(cubin))
    empty = timed(times, "cuModuleGetFunction", lambda: d.cuModuleGetFunction(module, b"empty"))
    memory = timed(times, "cuMemAlloc", lambda: d.cuMemAlloc(BYTES))
    host = bytearray(BYTES)
    timed(times, "cuMemcpyHtoDAsync", lambda: d.cuMemcpyHtoDAsync(memory, bytes(host), BYTES, stream))

    def launch() -> Any:
        return d.cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0)

    timed(times, "cuLaunchKernel", launch)
    timed(times, "cuLaunchKernel, the second from one place", launch)
    timed(times, "cuLaunchKernel, the third", launch)
    timed(times, "cuEventRecord", lambda: d.cuEventRecord(event, stream))
    timed(times, "cuEventSynchronize", lambda: d.cuEventSynchronize(event))
    timed(times, "cuStreamSynchronize", lambda: d.cuStreamSynchronize(stream))
    timed(times, "cuMemFree", lambda: d.cuMemFree(memory))
    return {**times, "sum of these": sum(times.values())}


def core(package: str, cubin: bytes) -> Times:
    """Launches with core, and with cudapy's `prepare`."""
    c: Any = import_module(f"{package}.core")
    times: Times = {}
    device = c.Device(0)
    device.set_current()
    stream = timed(times, "core: create_stream", device.create_stream)
    code = c.ObjectCode.from_cubin(cubin)
    kernel = timed(times, "core: get_kernel", lambda: code.get_kernel("saxpy"))
    timed(times, "core: get_kernel, the second", lambda: code.get_kernel("empty"))
    config = c.LaunchConfig(grid=1, block=32)
    import numpy

    made = [timed(times, "core: allocate", lambda: device.allocate(BYTES, stream=stream)) for _ in range(3)]
    arguments = (numpy.float32(2.0), *made, 32)
    numbers = (arguments[0], *(int(buffer.handle) for buffer in made), 32)
    timed(times, "core.launch", lambda: c.launch(stream, config, kernel, *arguments))
    timed(times, "core.launch, the second", lambda: c.launch(stream, config, kernel, *arguments))
    timed(times, "core.launch, other types", lambda: c.launch(stream, config, kernel, *numbers))
    if package == "cudapy":
        name = "core.prepare, the {} of these types"
        timed(times, name.format("first"), lambda: c.prepare(stream, config, kernel, *arguments))
        run = timed(times, name.format("second"), lambda: c.prepare(stream, config, kernel, *arguments))
        timed(times, "its first launch", lambda: run(*arguments))
    stream.sync()
    return times


def of_all() -> Times:
    """The median and the worst of all functions of the driver that can be called with nothing."""
    import cudapy.driver
    from cudapy._ffi.prototypes import parse
    from cudapy._types.driver import structs

    vars(cudapy.driver).update({k: v for k, v in vars(structs).items() if not k.startswith("_")})
    for name in ("cuInit", "cuDeviceGet"):
        getattr(cudapy.driver, name)(0)
    functions = [f for f in vars(cudapy.driver).values() if hasattr(f, "__declaration__")]
    random.Random(0).shuffle(functions)
    found: list[tuple[float, float]] = []
    for function in functions:
        declaration = function.__declaration__
        given: dict[str, Any] = {}
        for p in parse(declaration.prototype).parameters:
            is_text = p.type == "char" and p.stars == 1 and p.c_name not in declaration.sizes
            is_list = p.c_name in declaration.sizes and p.stars and p.type != "void"
            given[p.name] = b"x" if is_text else [] if is_list else None if p.stars or p.type == "(*)" else 0
        arguments = [given[name] for name in declaration.inputs]
        try:
            start = perf_counter()
            function(*arguments)
            first = perf_counter() - start
            start = perf_counter()
            function(*arguments)
            found.append((first, perf_counter() - start))
        except (TypeError, ValueError):  # what needs a struct, or an attribute that there is
            continue
    first_times, second_times = zip(*found, strict=True)
    count = len(found)
    return {
        f"the median of {count} functions": median(first_times),
        f"nine in ten of {count} functions": sorted(first_times)[count * 9 // 10],
        f"the worst of {count} functions": max(first_times),
        f"the second call, median of {count}": median(second_times),
    }


def main(what: str, package: str = "cudapy", cubin: str = "") -> None:
    """Measure, and print."""
    gc.disable()
    code = Path(cubin).read_bytes() if cubin else b""
    times = of_all() if what == "all" else {"driver": driver, "core": core}[what](package, code)
    print(json.dumps(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
