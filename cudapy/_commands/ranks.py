"""`python -m cudapy ranks N PROGRAM`: a process for each rank, on this host.

Each process gets what torchrun would set, RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and
MASTER_PORT, so that `core.Communicator.from_environment()` and `torch.distributed` know their rank.
"""

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

GRACE = 5.0  # seconds that a process has between SIGTERM and SIGKILL
_PAUSE = 0.02


def main(arguments: Sequence[str], prog: str) -> int:
    """The command. Exit code: 0, or that of the first process that failed, 128 + N if signal N ended it."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Runs a Python program in a process for each rank, as torchrun does on one host: sets "
        "RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT. If a process fails, "
        "the others are ended, and its exit code is that of the command.",
    )
    parser.add_argument("size", type=int, metavar="RANKS", help="how many processes")
    parser.add_argument("-m", action="store_true", dest="is_module", help="the program is a module")
    parser.add_argument("program", help="a file, or with -m the name of a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its own arguments")
    options = parser.parse_args(arguments)
    if options.size < 1:
        parser.error(f"RANKS must be 1 or more, not {options.size}")
    if not options.is_module and not os.path.exists(options.program):
        parser.error(f"there is no file {options.program}")
    module = ["-m"] if options.is_module else []
    return run([sys.executable, *module, options.program, *options.arguments], options.size)


def run(command: Sequence[str], size: int) -> int:
    """Run a command as each of `size` ranks: the exit code of the first that fails, or 0.

    Raises OSError if a process cannot be started; the others are ended first.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    shared = {
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for rank in map(str, range(size)):
            environment = {**os.environ, **shared, "RANK": rank, "LOCAL_RANK": rank}
            processes.append(subprocess.Popen(command, env=environment))
        return _first_failure(processes)
    except KeyboardInterrupt:  # the terminal interrupts the ranks as well
        _end(processes, already_told=True)
        return 130
    finally:
        _end(processes)


def _first_failure(processes: Sequence[subprocess.Popen[bytes]]) -> int:
    """Wait for all, or for the first that fails."""
    running = dict(enumerate(processes))
    while running:
        for rank, process in list(running.items()):
            code = process.poll()
            if code is None:
                continue
            del running[rank]
            if code:
                if running:
                    print(f"rank {rank} ended with {code}: the others are ended", file=sys.stderr)
                return code if code > 0 else 128 - code
        time.sleep(_PAUSE)
    return 0


def _end(processes: Sequence[subprocess.Popen[bytes]], *, already_told: bool = False) -> None:
    """End those that run."""
    running = [process for process in processes if process.poll() is None]
    if not already_told:
        for process in running:
            process.terminate()
    end = time.monotonic() + GRACE
    for process in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, end - time.monotonic()))
        if process.poll() is None:
            process.kill()
            process.wait()
