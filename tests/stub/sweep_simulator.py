"""Bad arguments for every parameter of every function of the driver or the runtime, on the simulator.

    python -m tests.stub.sweep_simulator API [FUNCTION]

prints, as JSON, the number of calls, the functions whose right arguments were taken, the status of the
others, and what went wrong. Where the stub of `sweep` looks at numbers alone, the simulator looks behind
pointers. Each function has a process of its own, whose objects are made anew for each parameter.
"""

from __future__ import annotations

import gc
import io
import json
import mmap
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from contextlib import redirect_stderr
from typing import Any

from ..warm import import_all
from . import NAME, library_of, module, source
from .build import declared, parameters
from .live import Live
from .sweep import BAD, Target, judge, targets

MEMORY = 2 << 30
PATIENCE = 60
"""Seconds for one call and what it needs."""
INTERNAL = ("CUDA_ERROR_UNKNOWN", "cudaErrorUnknown")
FINE = ("CUDA_SUCCESS", "cudaSuccess", "it has no status")
MORE: dict[str, Any] = {"5": 5, "4096": 4096, "2**47": 2**47, "2**64-8": 2**64 - 8}
"""Addresses of nothing."""


def enable(api: str) -> None:
    """Put the simulator behind the functions."""
    simulator = module("simulator")
    simulator.enable(reports=False)
    load = module("pathfinder").load
    loaded = load("cuda" if api == "driver" else "cudart").handle
    library_of(source(api)).load = lambda: loaded
    module("driver").libcuda.load = lambda: load("cuda").handle


def begin() -> Any:
    """The driver, with a context."""
    driver = module("driver")
    driver.checked.cuInit(0)
    driver.checked.cuCtxSetCurrent(driver.checked.cuDevicePrimaryCtxRetain(0))
    return driver


def right(target: Target, found: Any) -> tuple[Live, dict[str, Any]]:
    """Arguments that the simulator takes, made anew."""
    live = Live(target.name)
    if found is None:
        return live, {name: live.by_name(name, value) for name, value in target.arguments.items()}
    made = live.arguments(found)
    return live, {name: made[name] for name in target.arguments}


SAYS = {"cuGetExportTable", "cudaGetExportTable"}
"""What tells the user on stderr who has asked for it: a runtime that is linked statically."""


def outcome(target: Target, parameter: str, bad: str, call: Any) -> tuple[str, str]:
    """Make the call; what is wrong with it, or "", and the name of its status."""
    said, results = io.StringIO(), []

    def noted() -> Any:
        results.append(call())
        return results[0]

    with redirect_stderr(said):
        wrong = judge(target, parameter, bad, noted)
    status = ""
    if results:
        first = results[0][0] if isinstance(results[0], tuple) and results[0] else None
        status = getattr(first, "name", "it has no status")
    if status in INTERNAL:
        wrong = wrong or f"returned {status}"
    text = "" if target.name in SAYS else said.getvalue()
    return "; ".join(each for each in (wrong, text) if each), status


class Sweep:
    """The calls of one function. status: of the one with right arguments; "" if it was not even made."""

    def __init__(self, target: Target, found: Any, now: mmap.mmap) -> None:
        self.target, self._found, self._now = target, found, now
        self.driver = begin()
        self._live, self._arguments = right(target, found)
        self.calls, self.status = 0, ""
        self.wrong: list[str] = []

    def run(self) -> None:
        """All of them, or one if the simulator has no such function."""
        self.target.refused.setdefault("", {})
        self.status = self._call("", "right", None)
        if self.status in ("", "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported"):
            return
        for parameter in self.target.arguments:
            self._live, self._arguments = right(self.target, self._found)
            for bad, value in {**BAD, **MORE}.items():
                self._call(parameter, bad, value)

    def _call(self, parameter: str, bad: str, value: Any) -> str:
        target, what = self.target, f"{self.target.function.__name__}({parameter}={bad})"
        self._now[:] = what.encode().ljust(256, b"\0")
        signal.alarm(PATIENCE)
        if not blocks(target.name) and self.driver.cuCtxSynchronize()[0]:
            self.driver.cuDevicePrimaryCtxReset(0)  # a launch has lost it
            begin()
            self._live, self._arguments = right(target, self._found)
        values = {**self._arguments, parameter: value} if parameter else self._arguments
        problem, status = outcome(target, parameter, bad, lambda: target.function(*values.values()))
        for stream in self._live.streams:
            self.driver.cuStreamEndCapture(stream)
        self.calls += 1
        if problem and "SymbolNotFound" not in problem:
            self.wrong.append(f"{what}: {problem}")
        return status

    @property
    def found(self) -> dict[str, Any]:
        """What there is to report."""
        return {"calls": self.calls, "status": self.status, "wrong": self.wrong}


def blocks(name: str) -> bool:
    """Whether a function may leave a stream that waits for good."""
    return "WaitValue" in name or "BatchMemOp" in name


def alone(target: Target, found: Any, now: mmap.mmap) -> dict[str, Any]:
    """What a sweep of its own process has found."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            sweep = Sweep(target, found, now)
            sweep.run()
            with os.fdopen(writer, "w") as file:
                json.dump(sweep.found, file)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        said = file.read()
    _, status = os.waitpid(child, 0)
    if said:
        return dict(json.loads(said))
    last = now[:].rstrip(b"\0").decode()
    how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "the sweep failed"
    return {"calls": 0, "status": "", "wrong": [f"{how} in {last}"]}


def main(api: str, only: str = "") -> None:
    enable(api)
    import_all(NAME)  # once for all processes
    gc.collect()
    gc.freeze()
    warnings.simplefilter("ignore", RuntimeWarning)  # a fraction that is dropped
    by_name = {function.__name__: function for function in declared(source(api)).values()}
    calls, wrong, taken, refused = 0, [], [], {}
    with tempfile.TemporaryDirectory() as folder, mmap.mmap(-1, 256) as now:
        os.chdir(folder)  # some names are those of files to write
        for target in targets(api):
            if target.function.__name__.startswith("_") or only not in ("", target.name):
                continue  # what is private is called by a public function
            function = by_name.get(target.function.__name__)
            found = alone(target, None if function is None else parameters(function), now)
            calls += found["calls"]
            wrong += found["wrong"]
            if found["status"] in FINE:
                taken.append(target.name)
            else:
                refused[target.name] = found["status"]
    print(json.dumps({"calls": calls, "taken": taken, "refused": refused, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
