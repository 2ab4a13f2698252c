"""Programs that start where their imports are done: forks of a process that has imported cudapy.

Most of the time of a short program on the simulator is that of its imports. `run` starts one as `python
program.py` or `python -c code` would, in a fork of a template process that has imported NumPy, core and the
simulator, and called nothing: with arguments, an environment and a folder of its own, exit handlers, and an
exit code. For what a test says of start-up, imports, signals or the end of the interpreter, start a real
process.

    python -m tests.warm ""

is the template: it reads a request a line from stdin, and writes the exit code of each program to stdout.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

REPOSITORY = Path(__file__).parents[1]
MODULES = ("core", "driver", "runtime", "nvrtc", "nvjitlink", "nvvm")
READ_AT_IMPORT = "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM"


class Template:
    """The template process, as its user sees it.

    before: a program that it runs in place of its imports; the programs go on from there.
    """

    def __init__(self, before: str) -> None:
        self._environment = dict(os.environ)
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm", before],
            cwd=REPOSITORY,
            env={**self._environment, "OPENBLAS_NUM_THREADS": "1", "CUDAPY_DRIVER": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.end)

    def call(self, request: dict[str, Any]) -> int:
        """Run a program to its end: its exit code, negative for a signal."""
        with self._lock:
            assert self._process.stdin is not None and self._process.stdout is not None
            print(json.dumps(request), file=self._process.stdin, flush=True)
            return int(self._process.stdout.readline())

    def has_read_others(self, env: Mapping[str, str]) -> bool:
        """Whether `env` differs in what Python reads when it starts, or cudapy when it is imported."""
        every = {*env, *self._environment} - {"PYTHONPATH"}
        names = [name for name in every if name.startswith("PYTHON")]
        return any(env.get(name) != self._environment.get(name) for name in [*names, READ_AT_IMPORT])

    def end(self) -> None:
        """End the template; there is no program under way."""
        with self._process:  # waits, and closes its pipes
            self._process.terminate()


def free_port() -> int:
    """A port of this host that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@functools.cache
def _template(before: str) -> Template:
    return Template(before)


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path = REPOSITORY,
    timeout: int = 300,
    ends_at_once: bool = False,
    before: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run ["program.py", argument ...] or ["-c", code, argument ...], with what is in `env` and nothing else.

    A program that takes longer than `timeout` seconds ends by SIGALRM. Where `env` has something else for
    Python to read at its start, or there is no /proc, it is a process of its own.

    ends_at_once: after its exit handlers. The interpreter is not taken apart, which is most of what a short
    program takes. before: the beginning of a program that several have in common, which runs once for all;
    for code alone.
    """
    if sys.platform != "linux" or _template(before).has_read_others(env):
        if before:
            command = ["-c", f"{before}\n{command[1]}", *command[2:]]
        return subprocess.run(
            [sys.executable, *command], env=env, cwd=cwd, capture_output=True, text=True, timeout=timeout
        )
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        names = [f"/proc/{os.getpid()}/fd/{file.fileno()}" for file in (out, err)]
        request = {"argv": list(command), "env": dict(env), "cwd": str(cwd), "files": names}
        code = _template(before).call({**request, "timeout": timeout, "ends_at_once": ends_at_once})
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(list(command), code, out.read(), err.read())


def import_all(package: str) -> None:
    """What programs on the simulator import, without anything being looked for, switched on or called."""
    for name in ("numpy.random", "multiprocessing.spawn", *(f"{package}.{each}" for each in MODULES)):
        importlib.import_module(name)
    for name in (f"{package}._ffi", f"{package}.simulator"):
        for found in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            if not found.name.startswith(f"{name}.pytorch."):  # those import torch
                importlib.import_module(found.name)


def _serve() -> dict[str, Any] | None:
    """Answer requests until there are no more; in each fork, return the one that it is for."""
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        child = os.fork()
        if not child:
            return request
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return None


def _become(request: dict[str, Any]) -> None:
    """Be the program: its files, folder, environment and arguments."""
    for number, name in zip((0, 1, 2), (os.devnull, *request["files"]), strict=True):
        file = os.open(name, os.O_RDONLY if number == 0 else os.O_RDWR)
        os.dup2(file, number)
        os.close(file)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    signal.alarm(request["timeout"])
    argv = request["argv"]
    sys.argv = ["-c", *argv[2:]] if argv[0] == "-c" else argv
    sys.path[0] = "" if argv[0] == "-c" else str(Path(argv[0]).parent)  # it was the template's
    sys.path[1:1] = request["env"].get("PYTHONPATH", "").split(os.pathsep)


def _program(argv: list[str], begun: Mapping[str, Any]) -> None:
    """Run it. begun: the variables of the program before it, if there is one."""
    if argv[0] != "-c":
        runpy.run_path(argv[0], run_name="__main__")
        return
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main).update(begun)
    exec(compile(argv[1], "<string>", "exec"), vars(main))


def _end(code: int) -> NoReturn:
    """End as Python does, but do not take the interpreter apart."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    for file in (sys.stdout, sys.stderr):
        if file is not None and not file.closed:
            file.flush()
    os._exit(code)


def main(before: str) -> None:
    begun: dict[str, Any] = {}
    if before:
        exec(before, begun)
    else:
        import_all("cudapy")
    gc.collect()
    gc.freeze()
    request = _serve()
    if request is None:
        return
    _become(request)
    if not request["ends_at_once"]:
        _program(request["argv"], begun)
        return
    try:
        _program(request["argv"], begun)
    except SystemExit as error:
        code = error.code
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
        _end(code or 0)
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)
        _end(1)
    _end(0)


if __name__ == "__main__":
    main(sys.argv[1])
