"""Ctrl-C while the main thread waits for a kernel of 10 seconds."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator

from ..gpu.core_kernels import ROOT
from .bench import SOURCE
from .figures import Figure, judged, not_run
from .scale import Scale

PROGRAM = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs in the background
from cudapy.core import *
device = Device(0); device.set_current(); stream = device.create_stream()
code = Program(sys.stdin.read(), "c++").compile("cubin")
launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("nap"), 10_000)
event = stream.record()
print("waiting", flush=True)
began = time.monotonic()
try: eval(sys.argv[1])
except KeyboardInterrupt: print(time.monotonic(), flush=True)
else: print(f"it was over after {time.monotonic() - began:.2f} s", flush=True)
os._exit(0)
"""
ASKED, MOST = 0.2, 1.0  # seconds: what is wanted, and what a busy machine may make of it
SIMULATED = 9.0  # where the kernel takes turns with the interpreter: before it ends


def during_a_long_kernel(scale: Scale) -> Iterator[Figure]:
    """The worst of some tries counts."""
    if sys.platform == "win32":
        yield not_run("KeyboardInterrupt", "", "signals differ on Windows")
        return
    most = SIMULATED if scale.simulated else MOST
    for wait in ("stream.sync()", "event.sync()", "device.sync()"):
        tries, wrong = [], ""
        for _ in range(scale.of(2, 1)):
            process = subprocess.Popen(
                [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, wait],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(SOURCE)
            process.stdin.close()
            process.stdin = None
            said = process.stdout.readline()
            time.sleep(0.3)
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            answer = process.stdout.readline().strip()
            try:
                tries.append(float(answer) - sent)
            except ValueError:
                wrong = f"{said}{answer}{process.communicate(timeout=60)[1][-600:]}"
            process.communicate(timeout=60)
        worst = f"{1000 * max(tries):.0f} ms" if tries else "none"
        asked = f"within {1000 * ASKED:.0f} ms; fails after {1000 * most:.0f}"
        yield judged(
            f"KeyboardInterrupt in {wait}", asked, worst, tries and max(tries) <= most and not wrong, wrong
        )
