"""`python -m cudapy.simulator`: a CUDA program in Python, run without a GPU."""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from .._commands.launcher import program, supervisor
from . import enable, install, is_enabled, record, write_libraries
from .options import CHECKS, RECORD, Options, names, pair
from .process import set_environment
from .stderr import say

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
  --schedule ORDER          run one warp at a time: first, last, turns, random:SEED, or what --explore says
  --timeout SECONDS         how long a kernel may run: a longer one fails, with a report of its threads
  --explore N               run the program in N orders, and tell the first in which it does something else
  --check CHECK[,CHECK]     races, uninitialized, leaks, or all: look for these, print a summary at the end
                            (with all, leaks alone do not set the exit code)
  --classes [-]CLASS[,...]  classes of findings to report besides the usual ones, or with "-" not to report
  --error-exitcode N        the exit code if anything is found, kernel faults included (1 with --check);
                            it is 3 where a check could not be completed, or its result not be written
  --json FILE               write a list of the findings
  --native                  run a compiled program, linked with libcuda.so.1, or by nvcc with
                            `-cudart shared`
  --write FOLDER            write the libraries, to run compiled programs with LD_LIBRARY_PATH=FOLDER
"""


def main(arguments: list[str]) -> None:
    """Run what `arguments` say; exits with 2 if they do not say what, or if there is no such file."""
    given = arguments
    asked, arguments = options(arguments)
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
        return
    folder = asked.pop("write", None)
    if folder is not None:
        _write(folder)
        return
    count = asked.pop("explore", None)
    if count is not None:
        for name in ("schedule", "json"):
            if name in asked:
                program.fail(f"{USAGE}--explore has its own --{name}")
        _explore(given[: len(given) - len(arguments)], arguments, count)
    leaks_fail = True
    checks, code, path = (asked.pop(name, None) for name in ("check", "error_exitcode", "json"))
    is_native = asked.pop("native", False)
    if not is_native:
        arguments = program.split(arguments, USAGE)
    elif not arguments:
        program.fail(f"{USAGE}--native needs a program")
    if checks is not None:
        leaks_fail, checks = checks != ALL, record.CHECKS if checks == ALL else checks
        asked |= {CHECKS[name]: True for name in checks if name in CHECKS}
        asked |= {"findings": RECORD}
    recording = None
    if (checks, code, path) != (None, None, None):
        code = int(checks is not None) if code is None else code
        recording = _Recording(arguments, checks or (), leaks_fail, code, path)
    if is_native:
        _run_native(arguments, asked, recording)
    else:
        _run(arguments, asked, recording)


def _explore(given: list[str], arguments: list[str], count: int) -> NoReturn:
    """Run the program in many orders; exits with 1 if one makes a difference."""
    from .exploration import explore_command

    if not arguments:
        program.fail(f"{USAGE}--explore needs a program")
    at = next(i for i, option in enumerate(given) if option.partition("=")[0] == "--explore")
    kept = given[:at] + given[at + (1 if "=" in given[at] else 2) :]
    sys.exit(int(explore_command([*kept, *arguments], count, say=say)))


def _run(arguments: list[str], settings: dict[str, Any], recording: _Recording | None) -> None:
    """Run a Python program; in a process of its own if its end is watched."""
    if recording is not None:
        with _failing():
            recording.begin()
            ended = supervisor.fork()
        if ended is not None:
            _tell_if_run(recording, ended)
        recording.join()
    _take(install, settings)
    if recording is None:
        program.run(arguments)
        return
    record.note_step(record.STARTED)
    try:
        program.run(arguments)
    except SystemExit:
        recording.ended()
        raise
    recording.ended()


def _tell_if_run(recording: _Recording, program: supervisor.Ended) -> NoReturn:
    """Say what was found, unless the settings did not let the program run."""
    if program.status and (record.STARTED, program.pid) not in record.recorded().steps:
        supervisor.end_as(program.status)
    recording.tell(program)


def _run_native(arguments: list[str], settings: dict[str, Any], recording: _Recording | None) -> None:
    """Run a program that finds the simulator's libraries, in a process of its own; exits as it does."""
    _take(_tell, settings)
    folder = ""
    try:
        with _failing():
            folder = tempfile.mkdtemp(prefix="cudapy-")
            write_libraries(folder)
            if recording is not None:
                recording.begin()
            ended = supervisor.fork()
        if ended is None:
            _become(arguments, folder, recording)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if recording is not None:
        recording.tell(ended)
    supervisor.end_as(ended.status)


def _become(arguments: list[str], folder: str, recording: _Recording | None) -> NoReturn:
    """Become a program that finds the libraries in a folder."""
    if recording is not None:
        recording.join()
    paths = [folder, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    try:
        supervisor.execute(arguments, {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(paths)})
    except OSError as error:
        with contextlib.suppress(SystemExit):
            here = os.path.basename(arguments[0]) == arguments[0] and os.path.isfile(arguments[0])
            program.fail(f"{arguments[0]}: {error.strerror}{f' in PATH: ./{arguments[0]}' * here}", 127)
    os._exit(127)  # what else this process would do at its end is its parent's


def _take(function: Callable[..., None], settings: dict[str, Any]) -> None:
    """Have the simulator take its settings. Exits with 2 if they make no sense, with 1 without memory."""
    try:
        function(**settings)
    except (ValueError, RuntimeError) as error:
        program.fail(f"{USAGE}{error}")
    except (MemoryError, OSError) as error:
        program.fail(f"the simulator cannot start: {str(error) or 'there is not enough memory'}", 1)


def _tell(**settings: Any) -> None:
    """Have a program that is started find the settings, which are looked at here. Raises ValueError."""
    enable(**settings)
    set_environment(Options(**settings))


@contextlib.contextmanager
def _failing() -> Iterator[None]:
    """Before a program runs: exit for what is not possible here."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        program.fail(f"the program cannot be run: {error}", record.INCOMPLETE)


ALL = ("all",)
"""Of `--check`: every check; leaks are told, and do not set the exit code."""
_CODE = (type, type(sys), type(lambda: None))
"""What of a program's names its exit handlers may need: classes, modules and functions."""


class _Recording:
    """Records what is found in a program, and tells it in the process that waits for it."""

    def __init__(
        self, arguments: list[str], checks: tuple[str, ...], leaks_fail: bool, code: int, path: str | None
    ) -> None:
        self._arguments = list(arguments)
        self._checks = checks
        self._leaks_fail = leaks_fail
        self._code = code
        self._path = path
        self._process = 0

    def begin(self) -> None:
        """Record what is found from now on. Raises OSError."""
        record.begin("leaks" in self._checks)

    def join(self) -> None:
        """This process is the program."""
        record.join()
        self._process = os.getpid()

    def ended(self) -> None:
        """The program has come to its end, and not failed: what it has launched is waited for, and leaks are
        looked for when its threads have ended.
        """
        if os.getpid() != self._process:
            return
        if is_enabled():
            from .devices.context import finish_if_checked

            finish_if_checked()
        if "leaks" in self._checks:
            atexit.register(self._note_leaks)  # before the exit handlers that were registered before

    def _note_leaks(self) -> None:
        main = vars(sys.modules["__main__"])
        for name in [name for name, value in main.items() if not isinstance(value, _CODE)]:
            del main[name]  # the end of Python would free it
        gc.collect()
        if is_enabled():
            from .memory.leaks import note_leaks

            note_leaks()
        record.note_step(record.LOOKED_FOR_LEAKS)

    def tell(self, program: supervisor.Ended) -> NoReturn:
        """Say what was found, and exit for it."""
        recorded = record.recorded()
        for report in recorded.untold():
            say(report)
        problems = self._problems(program, recorded)
        if self._path is not None:
            problems += self._write(self._path, recorded.findings, problems)
        for problem in problems:
            say(f"the check is incomplete: {problem}")
        say(record.summary(recorded.findings, self._checks, bool(problems)))
        failures = [one for one in recorded.findings if self._leaks_fail or one["kind"] != record.LEAK]
        if self._code and (failures or recorded.is_incomplete):
            os._exit(self._code)
        if problems and not os.WIFSIGNALED(program.status):
            os._exit(record.INCOMPLETE)
        supervisor.end_as(program.status)

    def _problems(self, program: supervisor.Ended, recorded: record.Recorded) -> list[str]:
        """Why there may be more than what was found."""
        problems = []
        if recorded.is_incomplete:
            problems.append("something was found that could not be recorded")
        if os.WIFSIGNALED(program.status):
            name = _signal_name(os.WTERMSIG(program.status))
            problems.append(
                f"{name} ended the program, and what it had not waited for by then was not checked"
            )
        started, looked = ((step, program.pid) in recorded.steps for step in record.STEPS)
        if "leaks" in self._checks and program.status == 0 and started and not looked:
            problems.append("leaks were not looked for, as the program ended without its exit handlers")
        return problems

    def _write(self, path: str, found: list[dict[str, Any]], problems: list[str]) -> list[str]:
        """Write what was found as JSON; why that was not possible."""
        result = [*found, *({"kind": "incomplete", "message": problem} for problem in problems)]
        try:
            with open(path, "w") as file:
                json.dump(result, file, indent=1)
        except OSError as error:
            return [f"{path}: {error.strerror}"]
        return []


def _signal_name(number: int) -> str:
    """SIGTERM, for 15; numbers that have no name, as of the real-time signals, as they are."""
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


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
            known = f": there is all, {', '.join(record.CHECKS)}" if name == "--check" else ""
            program.fail(f"{USAGE}{name} cannot be {value!r}{known}")
        arguments = rest
    return options, arguments


def _checks(text: str) -> tuple[str, ...]:
    asked = tuple(text.split(","))
    if asked != ALL and not set(asked) <= set(record.CHECKS):
        raise ValueError(text)
    return asked


def _schedules(text: str) -> int:
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def _exit_code(text: str) -> int:
    if not 0 <= int(text) <= 255:
        raise ValueError(text)
    return int(text)


OPTIONS: dict[str, Callable[[str], Any]] = {
    "--devices": int,
    "--compute-capability": pair,
    "--driver-version": pair,
    "--seed": int,
    "--schedule": str,
    "--timeout": float,
    "--explore": _schedules,
    "--check": _checks,
    "--classes": names,
    "--error-exitcode": _exit_code,
    "--json": str,
    "--write": str,
}
