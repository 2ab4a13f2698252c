"""Interpreters that end while there is work, and while there are objects of every kind."""

from __future__ import annotations

import collections
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..gpu.core_kernels import ROOT
from .bench import Bench
from .figures import Figure, judged
from .scale import Scale

OBJECTS = """
import sys, threading
from cudapy.core import *
from cudapy.core import graph
device = Device(0); device.set_current(); stream = device.create_stream()
code = ObjectCode.from_cubin(sys.argv[1])
one = LaunchConfig(grid=1, block=1)
own = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
objects = [device.allocate(1 << 20, stream), own.allocate(64, stream=stream), stream.record(), Event()]
objects += [LegacyPinnedMemoryResource().allocate(64), PinnedMemoryResource().allocate(64, stream=stream)]
definition = graph.GraphDefinition()
definition.launch(one, code.get_kernel("nothing"))
objects += [definition, definition.instantiate(), code.get_kernel("nothing"), own, device.create_stream()]
objects[0].copy_from(bytes(1 << 20), stream=stream)
launch(stream, one, code.get_kernel("nap"), 200)
objects[4].copy_to(objects[5], stream=stream)
"""
ENDINGS = {
    "at the end": "",
    "with cycles": "for thing in objects: cycle = [thing, stream]; cycle.append(cycle)\n",
    "while it captures": "builder = device.create_stream().create_graph_builder().begin_building()\n"
    "launch(builder, one, code.get_kernel('nothing'))\n",
    "by sys.exit in a function": "def f():\n    local = objects\n    sys.exit(0)\nf()\n",
    "while a thread works": "def work():\n"
    "    d = Device(0); d.set_current(); s = d.create_stream()\n"
    "    while True: d.allocate(64, s).fill(0, stream=s)\n"
    "threading.Thread(target=work, daemon=True).start()\n",
}


def with_live_objects(scale: Scale) -> Iterator[Figure]:
    """A kernel runs, a copy waits for it, and the process ends without a word."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "kernels.cubin")
        cubin.write_bytes(Bench().code.code)

        def end(how: str) -> str:
            program = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", OBJECTS + ENDINGS[how]]
            try:
                done = subprocess.run(
                    [*program, str(cubin)],
                    cwd=ROOT,
                    env={**os.environ, "PYTHONFAULTHANDLER": "1"},
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
            except subprocess.TimeoutExpired as late:
                return f"it hung, {late.stdout!r} {late.stderr!r}"
            said = done.stdout + done.stderr
            return f"exit code {done.returncode}, {said[-600:]!r}" if done.returncode or said else ""

        rounds = scale.of(20, 1)
        hows = list(ENDINGS) * rounds
        with ThreadPoolExecutor(scale.workers) as pool:
            ends = collections.defaultdict(list)
            for how, seen in zip(hows, pool.map(end, hows), strict=True):
                ends[how].append(seen)
    for how, seen in ends.items():
        wrong = [each for each in seen if each]
        silent = f"{len(seen) - len(wrong)} of {len(seen)}"
        yield judged(f"exit {how}", "exit 0, nothing said", silent, not wrong, "; ".join(wrong[:2]))
