"""How long collectives take with more ranks: measures points, fits a model of latency and bandwidth to them.

    python -m cudapy ranks 2 -m benchmark.scaling measure points.csv
    python -m benchmark.scaling fit points.csv
    python -m benchmark.scaling samples --ranks 1 2

`measure` times all_reduce of many sizes over the ranks that a launcher has started, and adds a line for each
to the file: ranks, bytes, seconds. `fit` prints the latency and the bandwidth that explain the points best,
as a ring and as a tree, how far off they are, and what they say of more ranks. `samples` runs the samples
named `_ranks` with each number of ranks, and prints the times of their slowest ranks as a table.
docs/scaling.md has the model.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

REPOSITORY = Path(__file__).parents[1]
SHARED = {
    "saxpy_ranks": False,
    "wave_ranks": False,
    "sort_ranks": False,
    "matrix_mul_ranks": True,
    "train_ranks": True,
}
"""The samples: whether the ranks share the work, or each has the same."""
LIMIT = 300
"""Seconds after which a sample is stopped, and has failed."""
NAMES = "ranks", "bytes", "seconds"
SIZES = [1 << bits for bits in range(3, 31, 3)]
QUICK = 1 << 15, 2
"""On the simulator, whose times say nothing: the largest size, and the calls of each, by default."""
PREDICTED = 2, 4, 8, 16, 32, 64


class Point(NamedTuple):
    """An all_reduce that was measured."""

    ranks: int
    size: int  # in bytes
    seconds: float


class Terms(NamedTuple):
    """What an all_reduce costs: so many latencies, and so many times its bytes over a link."""

    latencies: float
    bytes: float


def ring(ranks: int, size: int) -> Terms:
    """Each rank passes on 2 (N - 1) parts of 1/N of the bytes, one after the other."""
    return Terms(2 * (ranks - 1), 2 * (ranks - 1) / ranks * size)


def tree(ranks: int, size: int) -> Terms:
    """All bytes go up a binary tree and down again, in a pipeline: its depth counts for latency alone."""
    return Terms(2 * math.ceil(math.log2(ranks)), 2 * size if ranks > 1 else 0)


MODELS: dict[str, Callable[[int, int], Terms]] = {"ring": ring, "tree": tree}


class Fit(NamedTuple):
    """alpha: seconds of latency; beta: seconds for a byte; error: of the worst point, relative."""

    model: str
    alpha: float
    beta: float
    error: float

    def seconds(self, ranks: int, size: int) -> float:
        """What the model says of an all_reduce."""
        latencies, moved = MODELS[self.model](ranks, size)
        return self.alpha * latencies + self.beta * moved


def fitted(model: str, points: Sequence[Point]) -> Fit:
    """The alpha and beta, both at least 0, with the least sum of squared relative errors.

    Raises ValueError if the points do not tell latency and bandwidth apart.
    """
    used = [point for point in points if point.ranks > 1]
    if len({(point.ranks, point.size) for point in used}) < 2 or len({point.size for point in used}) < 2:
        raise ValueError("a fit needs points of two sizes at least, with two ranks or more")
    seconds = np.array([point.seconds for point in used])
    terms = np.array([MODELS[model](point.ranks, point.size) for point in used])
    scaled = terms / seconds[:, None]

    def error(candidate: np.ndarray) -> float:
        return float(((scaled @ candidate - 1) ** 2).sum())

    both = np.linalg.lstsq(scaled, np.ones(len(used)), rcond=None)[0]
    alone = scaled.sum(axis=0) / (scaled**2).sum(axis=0)  # one of them, where the other would be negative
    candidates = [np.array([alone[0], 0.0]), np.array([0.0, alone[1]])]
    alpha, beta = min(([both] if (both >= 0).all() else []) + candidates, key=error)
    return Fit(model, float(alpha), float(beta), float(np.abs(scaled @ (alpha, beta) - 1).max()))


def read(path: Path) -> list[Point]:
    """The points of a file. Raises ValueError for a line that is none."""
    with path.open(newline="") as file:
        rows = csv.reader(file)
        if tuple(next(rows, ())) != NAMES:
            raise ValueError(f"{path}: the first line must be {','.join(NAMES)}")
        points = []
        for number, row in enumerate(rows, 2):
            try:
                point = Point(int(row[0]), int(row[1]), float(row[2]))
            except (ValueError, IndexError):
                raise ValueError(f"{path}, line {number}: {','.join(row)!r} is no point") from None
            if len(row) != 3 or point.ranks < 1 or point.size < 1 or not 0 < point.seconds < math.inf:
                raise ValueError(f"{path}, line {number}: {','.join(row)!r} is no point")
            points.append(point)
    return points


def report(points: Sequence[Point]) -> str:
    """The fits, and what they say."""
    fits = [fitted(model, points) for model in MODELS]
    lines = ["model  latency, us  bandwidth, GB/s  largest error"]
    for fit in fits:
        bandwidth = 1e-9 / fit.beta if fit.beta else math.inf
        lines.append(f"{fit.model}  {fit.alpha * 1e6:12.2f} {bandwidth:16.1f} {fit.error:13.0%}")
    numbers = sorted({point.ranks for point in points})
    lines += ["", f"measured: {', '.join(map(str, numbers))} rank(s); by the models, in us:"]
    if len([number for number in numbers if number > 1]) == 1:
        lines.insert(-1, "all points have the same number of ranks: they do not tell a ring from a tree")
    lines.append(" ranks       bytes         ring         tree")
    for ranks in PREDICTED:
        for size in sorted({point.size for point in points}):
            times = "".join(f"{fit.seconds(ranks, size) * 1e6:13.1f}" for fit in fits)
            lines.append(f"{ranks:6}{size:12}{times}")
    return "\n".join(lines)


def measure(path: Path, largest: int | None, repeats: int | None) -> int:
    """Time all_reduce of sizes up to `largest` in this rank; rank 0 adds the slowest rank's times to it."""
    from cudapy import simulator
    from cudapy.core import Communicator, EventOptions

    defaults = QUICK if simulator.stand_in() else (SIZES[-1], 20)
    largest, repeats = largest or defaults[0], repeats or defaults[1]
    with Communicator.from_environment() as comm:
        comm.device.set_current()
        stream = comm.device.create_stream()
        timed = EventOptions(timing_enabled=True)
        one, seconds = comm.device.allocate(8, stream), np.empty(1)
        points = []
        for size in (size for size in SIZES if size <= largest):
            buffer = comm.device.allocate(size, stream)
            buffer.fill(0, stream=stream)
            for _ in range(2):  # connections are made at first
                comm.all_reduce(buffer, dtype=np.uint8, stream=stream)
            before = stream.record(options=timed)
            for _ in range(repeats):
                comm.all_reduce(buffer, dtype=np.uint8, stream=stream)
            after = stream.record(options=timed)
            comm.sync(stream)
            seconds[0] = (after - before) / 1e3 / repeats
            one.copy_from(seconds, stream=stream)
            comm.all_reduce(one, op="max", dtype=np.float64, stream=stream)
            one.copy_to(seconds, stream=stream)
            comm.sync(stream)
            points.append((comm.size, size, f"{seconds[0]:.9f}"))
            buffer.close()
        if comm.rank == 0:
            is_new = not path.exists()
            with path.open("a", newline="") as file:
                csv.writer(file).writerows([NAMES, *points] if is_new else points)
            if simulator.is_enabled():
                print("on the simulator: these are no times of a GPU")
    return 0


def in_ranks(name: str, ranks: int) -> tuple[float | None, str]:
    """The milliseconds of the slowest of the ranks of a sample, and what it printed. None: it printed none.

    NVLink SHARP stays off unless the environment asks for it, as in the GPU tier.
    """
    sample = str(REPOSITORY / "samples" / "interop" / f"{name}.py")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "cudapy", "ranks", str(ranks), sample],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT,
            cwd=REPOSITORY,
            env={"NCCL_NVLS_ENABLE": "0", **os.environ},
        )
    except subprocess.TimeoutExpired:
        return None, f"stopped after {LIMIT} seconds"
    found = re.search(rf"the slowest of {ranks} took ([\d.]+) ms", done.stdout)
    return (float(found[1]) if found and not done.returncode else None), done.stdout


def times(numbers: Sequence[int], run: Callable[[str, int], tuple[float | None, str]] = in_ranks) -> int:
    """Print a table of the samples' times with each of these numbers of ranks. The exit code."""
    heads = [f"{ranks} GPU{'' if ranks == 1 else 's'}" for ranks in numbers]
    first, ratios = numbers[0], [f"{numbers[0]} : {ranks}" for ranks in numbers[1:]]
    print("| sample | " + " | ".join([*heads, *ratios, "ideal"]) + " |")
    print("|---" * (len(heads) + len(ratios) + 2) + "|")
    failures = []
    for name, is_shared in SHARED.items():
        found = []
        for ranks in numbers:
            milliseconds, text = run(name, ranks)
            found.append(milliseconds)
            if milliseconds is None:
                failures.append(f"{name} with {ranks} rank(s) printed no time:\n{text.rstrip()}")
        cells = ["" if time is None else f"{time:.2f} ms" for time in found]
        cells += ["" if not found[0] or not time else f"{found[0] / time:.2f}" for time in found[1:]]
        cells.append(", ".join(f"{ranks / first if is_shared else 1:g}" for ranks in numbers[1:]))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmark.scaling", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("measure", "time all_reduce over ranks"), ("fit", "fit the models to points")):
        command = commands.add_parser(name, help=what)
        command.add_argument("points", type=Path, help="a CSV file: ranks,bytes,seconds")
        if name == "measure":
            command.add_argument(
                "--largest",
                type=int,
                help=f"the largest size, in bytes ({SIZES[-1]}; on the simulator {QUICK[0]})",
            )
            command.add_argument("--repeats", type=int, help=f"calls of each size (20; {QUICK[1]})")
    running = commands.add_parser("samples", help="run the samples over ranks, and print their times")
    running.add_argument("--ranks", type=int, nargs="+", default=[1, 2], help="numbers of ranks (1 2)")
    chosen = parser.parse_args(arguments)
    if chosen.command == "samples":
        if min(chosen.ranks) < 1:
            parser.error("--ranks must be 1 or more")
        return times(chosen.ranks)
    if chosen.command == "measure":
        given = ((chosen.repeats, 1), (chosen.largest, SIZES[0]))
        if any(value is not None and value < least for value, least in given):
            parser.error(f"--repeats must be 1 or more, --largest {SIZES[0]} or more")
        return measure(chosen.points, chosen.largest, chosen.repeats)
    try:
        print(report(read(chosen.points)))
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
