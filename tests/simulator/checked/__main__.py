"""A table of the small kernels: what the simulator says of each, and what compute-sanitizer says on a GPU.

python -m tests.simulator.checked                      the table
python -m tests.simulator.checked --gpu SANITIZER [NAME ...]
                                                       run compute-sanitizer (its path) on all kernels or
                                                       on some, and keep what it says
python -m tests.simulator.checked --child TOOL NAME ...   run kernels one after the other, for the sanitizer
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

from . import streams
from .races import ARCH, CLUSTERS, PAIRS, source
from .undefined import NAMES, SOURCE

RESULTS = Path(__file__).with_name("sanitizer.json")
TOOLS = {"racecheck": tuple(PAIRS), "synccheck": tuple(PAIRS), "initcheck": tuple(NAMES)}
"""The kernels that each tool of compute-sanitizer is for."""
NOTHING = ""
_SAID = re.compile(
    r"^========= *((?:Error|Warning|Uninitialized|Invalid|Barrier|Divergent|Race|Program hit).*)", re.M
)
_PATIENCE = 8  # seconds for a kernel
_HANGS = 3  # the exit code of a process whose kernel does not end


def variants(name: str) -> tuple[int, ...]:
    """The values of `right`: the mistake, and its correct twin."""
    return (0, 1) if name in PAIRS else (int(name.startswith("ok_")),)


# On the simulator.


def simulated(name: str, right: int) -> str:
    """The first line of what the simulator reports of a kernel."""
    from cudapy.simulator.engine import settings
    from cudapy.simulator.engine.fault import Fault

    from ..machine import Machine

    is_race, machine = name in PAIRS, Machine()
    settings.current = settings.Settings(check_races=is_race, check_uninitialized=not is_race)
    out = machine.zeros(1024, np.int32)
    try:
        if is_race:
            grid, block, *_ = PAIRS[name]
            cluster = (CLUSTERS[name], 1, 1) if name in CLUSTERS else None
            module = machine.load(source(name), ARCH)
            machine.run(module, name, grid, block, np.int32(right), out, cluster=cluster)
        else:
            given = machine.array(np.ones(32, np.uint8)), np.uint64(machine.memory.allocate(512))
            machine.run(machine.load(SOURCE), name, 1, 32, *given, out)
    except Fault as error:
        return error.report.partition("\n")[0]
    return NOTHING


# On a GPU.


def child(names: list[str]) -> None:
    """Run kernels on the GPU, each with a line before it; exits with _HANGS if one does not end."""
    from cudapy import core

    dev = core.Device()
    dev.set_current()
    stream = dev.create_stream()
    options = core.ProgramOptions(arch=f"sm_{ARCH}", std="c++17", lineinfo=True, name="program.cu")
    undefined: Any = None
    for name in names:
        code = undefined
        if name in PAIRS:
            code = core.Program(source(name), "c++", options).compile("cubin")
        elif code is None:
            code = undefined = core.Program(SOURCE, "c++", options).compile("cubin")
        for right in variants(name):
            code_object = core.ObjectCode.from_cubin(bytes(code.code))  # with variables of its own
            kernel = code_object.get_kernel(name)
            print(f"@ {name} {right}", flush=True)
            watch = threading.Timer(_PATIENCE, lambda: (print("@ hangs", flush=True), os._exit(_HANGS)))
            watch.daemon = True
            watch.start()
            _launch(core, dev, stream, kernel, name, right)
            watch.cancel()
    print("@ end", flush=True)


def _launch(core: Any, dev: Any, stream: Any, kernel: Any, name: str, right: int) -> None:
    from cudapy.driver import checked

    out, fresh = (checked.cuMemAlloc(4096) for _ in range(2))
    checked.cuMemsetD8(out, 0, 4096)
    try:
        if name in PAIRS:
            grid, block, *_ = PAIRS[name]
            config = core.LaunchConfig(grid=grid, block=block)
            if name in CLUSTERS:
                config = core.LaunchConfig(grid=grid // CLUSTERS[name], block=block, cluster=CLUSTERS[name])
            core.launch(stream, config, kernel, np.int32(right), np.uint64(int(out)))
        else:
            given = checked.cuMemAlloc(32)
            checked.cuMemsetD8(given, 1, 32)
            config = core.LaunchConfig(grid=1, block=32)
            core.launch(stream, config, kernel, *(np.uint64(int(one)) for one in (given, fresh, out)))
        stream.sync()
    finally:
        for one in (out, fresh):
            checked.cuMemFree(one)


def sanitized(sanitizer: str, tool: str, names: list[str]) -> dict[str, str]:
    """What a tool says of kernels, by name and variant."""
    found: dict[str, str] = {}
    while names:
        command = [
            sanitizer,
            "--tool",
            tool,
            sys.executable,
            "-m",
            "tests.simulator.checked",
            "--child",
            *names,
        ]
        run = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        sections = re.split(r"^@ ", run.stdout, flags=re.M)
        done = right = ""
        for section in sections[1:]:
            head, _, said = section.partition("\n")
            if head == "end":
                done = names[-1]
            elif head == "hangs":
                found[f"{done} {right}"] = "hangs"
            else:
                done, right = head.split()
                lines = list(dict.fromkeys(one.strip() for one in _SAID.findall(said)))
                found[f"{done} {right}"] = lines[0] if lines else NOTHING
        if not done:
            print(run.stdout[-3000:])
            raise RuntimeError(f"{tool} ran no kernel")
        names = names[names.index(done) + 1 :]
    return found


def table() -> list[str]:
    """Markdown: how many kernels were reported, and a row for each mistake and for each false report."""
    said: dict[str, dict[str, str]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    rows, counts = [], {"mistake": [0, 0, 0], "correct": [0, 0, 0]}
    for name in (*PAIRS, *NAMES):
        for right in variants(name):
            of_tools = [
                f"{tool}: {_short(found[f'{name} {right}'])}"
                for tool, found in said.items()
                if found.get(f"{name} {right}")
            ]
            was_run = any(f"{name} {right}" in found for found in said.values())
            kind, here = "correct" if right else "mistake", _short(simulated(name, right))
            for i, counted in enumerate((True, here, of_tools)):
                counts[kind][i] += bool(counted)
            if here or of_tools or not right:
                label = f"{name} (correct)" if right else name
                there = "; ".join(of_tools) if was_run else "not run"
                rows.append(f"| {label} | {here or '-'} | {there or '-'} |")
    for name, both in streams.all_reports().items():
        for right, reports in enumerate(both):
            kind, here = "correct" if right else "mistake", reports[0].partition("\n")[0] if reports else ""
            for i, counted in enumerate((True, here)):
                counts[kind][i] += bool(counted)
            if here or not right:
                label = f"{name} (correct)" if right else name
                rows.append(f"| {label} | {here.rpartition(' of ')[0] or '-'} | not run |")
    summary = [f"| {kind} | {' | '.join(map(str, numbers))} |" for kind, numbers in counts.items()]
    heads = (
        ("kernels", "count", "simulator", "compute-sanitizer"),
        ("kernel", "simulator", "compute-sanitizer"),
    )
    first, second = ([f"| {' | '.join(head)} |", "|---" * len(head) + "|"] for head in heads)
    return [*first, *summary, "", *second, *rows]


def _short(text: str) -> str:
    return re.sub(r" of \d+ bytes.*| at 0x.*| between .*", "", text)[:90]


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--child"]:
        child(arguments[1:])
    elif arguments[:1] == ["--gpu"]:
        sanitizer, *wanted = arguments[1:]
        found: dict[str, dict[str, str]] = json.loads(RESULTS.read_text()) if wanted else {}
        for tool, of_tool in TOOLS.items():
            names = [name for name in of_tool if not wanted or name in wanted]
            found[tool] = found.get(tool, {}) | sanitized(sanitizer, tool, names)
            RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        for tool, of_kernels in found.items():
            for kernel, text in of_kernels.items():
                print(f"{tool} {kernel}: {text or '-'}")
    else:
        print("\n".join(table()))


if __name__ == "__main__":
    main(sys.argv[1:])
