"""The calls against a libcuda that does nothing: test_overhead.py runs this where the loader finds that one.

    LD_LIBRARY_PATH=FOLDER python -m benchmark.overhead driver|core gate|rest ROUNDS

prints a JSON list of [name, times by contender, reason by absent contender].
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from importlib import import_module

import cudapy.driver
from cudapy import pathfinder
from turns.rounds import Contender, Loop, interleave

from . import calls
from .calls import Arguments, Handles, scope_by_hand, scope_of, scope_of_core, with_arguments
from .machine import reason
from .measured import CUDAPY, MEASURED, environment
from .twin import null_libcuda

NULL_COUNT = 424242
"""How many devices cpp/null.c says there are."""


Row = tuple[str, dict[str, list[float]], dict[str, str]]


def saxpy() -> Handles:
    """Made-up handles, as large as real ones are, and the arguments of SAXPY."""
    pointer = ctypes.c_void_p
    types = (ctypes.c_float, pointer, pointer, pointer, ctypes.c_size_t)
    device, host = 0x7F0000000000, 0x55D000000000
    arguments = Arguments((2.0, device + 0x1000, device + 0x2000, device + 0x3000, 32), types)
    stream, event, function, graph = (host + 0x10 * i for i in range(4))
    return Handles(stream, event, function, graph, pointer=device, arguments=arguments)


PARTS = "gate", "rest"
"""The rows that matter most, which a gate measures alone, and all others."""


def driver_rows(rounds: int, part: str) -> list[Row]:
    """The functions of the driver."""
    mine = scope_of(cudapy.driver, saxpy())
    by_hand = scope_by_hand(pathfinder.load("cuda").path, saxpy())
    missing = {}
    try:
        bindings = import_module("cuda.bindings.driver")
        status, count = bindings.cuDeviceGetCount()
        if status.value or count != NULL_COUNT:
            raise RuntimeError(f"its libcuda is not the null one: cuDeviceGetCount gave {status!r}, {count}")
        peer = scope_of(bindings, saxpy())
    except Exception as error:
        missing["cuda.bindings"] = reason(error)
    rows = []
    launches = calls.POINTERS, calls.TURNS, calls.TUPLES, calls.EX
    for call in (*calls.GETTERS_AND_QUEUES, *calls.OTHERS, *calls.ENUMS, calls.GRAPH, *launches):
        if not is_of(part, call):
            continue
        contenders: dict[str, Contender] = {CUDAPY: Loop(call.statement, mine)}
        if call.by_hand:
            contenders["plain ctypes"] = Loop(call.by_hand, by_hand)
        if not missing:
            contenders["cuda.bindings"] = Loop(call.statement, peer)
        rows.append((call.name, interleave(contenders, rounds), missing))
    return rows


def is_of(part: str, call: calls.Call) -> bool:
    """Whether the rows of a call belong to a part."""
    return (call in calls.GATE) == (part == PARTS[0])


def core_rows(rounds: int, part: str) -> list[Row]:
    """Objects of core; and its launches, whose floor is cuLaunchKernelEx with everything made before."""
    objects = [call for call in (*calls.CORE, calls.DEFAULT_STREAM) if is_of(part, call)]
    rows = [object_row(call.statement, rounds) for call in objects]
    by_hand = scope_by_hand(pathfinder.load("cuda").path, saxpy())

    def loop(package: str, call: calls.Call, buffers: bool) -> Loop:
        scope = scope_of_core(import_module(package), b"no cubin", "saxpy", saxpy(), buffers)
        return Loop(with_arguments(call, scope), scope)

    launches = calls.LAUNCH, calls.LAUNCH_CONFIG, calls.LAUNCH_SYNC
    for call, buffers in ((calls.LAUNCH, False), *((call, True) for call in launches)):
        if not is_of(part, call):
            continue
        name = f"{call.name}, 5 arguments, {'buffers' if buffers else 'ints'}"
        contenders: dict[str, Contender] = {
            CUDAPY: loop("cudapy.core", call, buffers),
            "plain ctypes": Loop(calls.EX.by_hand or "", by_hand),
        }
        missing = {}
        try:
            contenders["cuda.core"] = loop("cuda.core", call, buffers)
        except Exception as error:
            missing["cuda.core"] = reason(error)
        rows.append((name, interleave(contenders, rounds), missing))
    return rows


def object_row(statement: str, rounds: int) -> Row:
    """What making and dropping an object of core costs. There is no floor: ctypes makes no such objects."""
    contenders: dict[str, Contender] = {}
    missing = {}
    for name, package in ((CUDAPY, "cudapy.core"), ("cuda.core", "cuda.core")):
        try:
            contenders[name] = Loop(statement, calls.scope_of_core_calls(import_module(package)))
        except Exception as error:
            if name == CUDAPY:
                raise
            missing[name] = reason(error)
    return f"core: {statement}", interleave(contenders, rounds), missing


def in_a_process(layer: str, part: str, rounds: int, **variables: str) -> list[Row]:
    """The rows of a process of its own, on the null libcuda, with these variables in its environment.

    Raises twin.Absent where there is no null libcuda, RuntimeError with what the process said as it failed.
    """
    others = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if path]
    paths = os.pathsep.join([str(null_libcuda()), *others])
    done = subprocess.run(
        [sys.executable, "-m", "benchmark.overhead", layer, part, str(rounds)],
        env=environment(LD_LIBRARY_PATH=paths, **variables),
        cwd=MEASURED,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    rows: list[Row] = json.loads(done.stdout)
    return rows


def main(layer: str, part: str, rounds: int) -> None:
    """Measure, and print."""
    if cudapy.driver.checked.cuDeviceGetCount() != NULL_COUNT:
        raise SystemExit(f"the libcuda found is {pathfinder.load('cuda').path}, not the null one")
    print(json.dumps((driver_rows if layer == "driver" else core_rows)(rounds, part)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
