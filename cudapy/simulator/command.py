"""`python -m cudapy.simulator`: a CUDA program in Python, run without a GPU."""

from __future__ import annotations

import atexit
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from .._launcher import program
from . import enable, findings, install, is_enabled, set_environment, write_libraries
from .log import log

USAGE = """\
usage: python -m cudapy.simulator [OPTION] ... (PROGRAM | -m MODULE | -c CODE) [ARGUMENT ...]
       python -m cudapy.simulator [OPTION] ... --native PROGRAM [ARGUMENT ...]
       python -m cudapy.simulator --write FOLDER

Run a Python program with cudapy's simulator as the libcuda.so.1 of its process, for every package that opens
it. PROGRAM is a file, or a folder or zip file with a __main__.py. Python processes that the program starts
use the simulator too.

  --devices N               number of devices (1)
  --compute-capability X.Y  their compute capability (9.0)
  --driver-version X.Y      the CUDA version of the driver (the newest that cudapy knows)
  --seed N                  varies the order in which threads run
  --check CHECK[,CHECK]     races, uninitialized, leaks, or all: look for these, print a summary at the end
  --error-exitcode N        the exit code if anything is found, kernel faults included (1 with --check)
  --json FILE               write the findings
  --native                  run a compiled program, linked with libcuda.so.1, or by nvcc with
                            `-cudart shared`
  --write FOLDER            write the libraries, to run compiled programs with LD_LIBRARY_PATH=FOLDER
"""


def main(arguments: list[str]) -> None:
    """Run what `arguments` say; exits with 2 if they do not say what, or if there is no such file."""
    asked, arguments = options(arguments)
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
        return
    folder = asked.pop("write", None)
    if folder is not None:
        _write(folder)
        return
    checks, code, path = (asked.pop(name, None) for name in ("check", "error_exitcode", "json"))
    is_native = asked.pop("native", False)
    if not is_native:
        arguments = program.split(arguments, USAGE)
    elif not arguments:
        program.fail(f"{USAGE}--native needs a program")
    if checks is not None:
        asked |= {f"check_{name}": True for name in checks if name != "leaks"}
    run = _run_native if is_native else program.run
    try:
        if is_native:
            _tell(asked)
        else:
            install(**asked)
    except (ValueError, RuntimeError) as error:
        program.fail(f"{USAGE}{error}")
    if (checks, code, path) != (None, None, None):
        if code is None:
            code = 0 if checks is None else 1
        watch = _Watch(arguments, checks or (), code, path)
        try:
            run(arguments)
        except SystemExit:
            watch.ended()
            raise
        watch.ended()
    else:
        run(arguments)


def _tell(settings: dict[str, Any]) -> None:
    """Have a program that is started find the settings, which are looked at here. Raises ValueError."""
    enable(**settings)
    set_environment(settings)


def _run_native(arguments: list[str]) -> None:
    """Run a program that finds the simulator's libraries; exits as it does."""
    with tempfile.TemporaryDirectory(prefix="cudapy-") as folder:
        try:
            write_libraries(folder)
        except (OSError, RuntimeError) as error:
            program.fail(str(error), 1)
        paths = [folder, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        environment = {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(paths)}
        try:
            done = subprocess.run(arguments, env=environment, check=False)
        except OSError as error:
            program.fail(f"{arguments[0]}: {error.strerror}", 127)
    sys.exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)


_CODE = (type, type(sys), type(lambda: None))
"""What of a program's names its exit handlers may need: classes, modules and functions."""


class _Watch:
    """Records what is found, and tells it at the end."""

    def __init__(self, arguments: list[str], checks: tuple[str, ...], code: int, path: str | None) -> None:
        self._arguments = list(arguments)
        self._checks = checks
        self._code = code
        self._path = path
        descriptor, self._record = tempfile.mkstemp(prefix="cudapy-findings-")
        os.close(descriptor)
        os.environ[findings.VARIABLE] = self._record
        if "leaks" in checks:
            os.environ[findings.LEAKS_VARIABLE] = "1"
        self._process = os.getpid()
        atexit.register(self._end)

    def ended(self) -> None:
        """The program has come to its end, and not failed: leaks are looked for when its threads have
        ended.
        """
        if "leaks" in self._checks and os.getpid() == self._process:
            atexit.register(self._note_leaks)  # before the exit handlers that were registered before

    def _note_leaks(self) -> None:
        main = vars(sys.modules["__main__"])
        for name in [name for name, value in main.items() if not isinstance(value, _CODE)]:
            del main[name]  # the end of Python would free it
        gc.collect()
        if is_enabled():
            findings.note_leaks()

    def _end(self) -> None:
        """After the program, its threads and its exit handlers, before the end of Python."""
        if os.getpid() != self._process:  # a fork that ends as Python does
            return
        log.tell()
        found = findings.recorded(self._record)
        os.remove(self._record)
        print(f"cudapy simulator: {findings.summary(found, self._checks)}", file=sys.stderr)
        if self._path is not None:
            result = {"program": self._arguments, "checks": self._checks, "findings": found}
            with open(self._path, "w") as file:
                json.dump(result, file, indent=1)
        if found and self._code:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(self._code)


def _write(folder: str) -> None:
    try:
        print("\n".join(write_libraries(folder)))
    except (OSError, RuntimeError) as error:
        program.fail(str(error), 1)


def options(arguments: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What the options before the program ask for, and the rest. Exits with 2 for one that is none."""
    options: dict[str, Any] = {}
    while arguments:
        if arguments[0] == "--native":
            options["native"], arguments = True, arguments[1:]
            continue
        parse = OPTIONS.get(arguments[0].partition("=")[0])
        if parse is None:
            break
        name, has_value, value = arguments[0].partition("=")
        rest = arguments[1:]
        if not has_value:
            if not rest:
                program.fail(f"{USAGE}{name} needs a value")
            value, rest = rest[0], rest[1:]
        try:
            options[name[2:].replace("-", "_")] = parse(value)
        except ValueError:
            program.fail(f"{USAGE}{name} cannot be {value!r}")
        arguments = rest
    return options, arguments


def _pair(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def _checks(text: str) -> tuple[str, ...]:
    names = findings.CHECKS if text == "all" else tuple(text.split(","))
    if not set(names) <= set(findings.CHECKS):
        raise ValueError(text)
    return names


OPTIONS: dict[str, Callable[[str], Any]] = {
    "--devices": int,
    "--compute-capability": _pair,
    "--driver-version": _pair,
    "--seed": int,
    "--check": _checks,
    "--error-exitcode": int,
    "--json": str,
    "--write": str,
}
