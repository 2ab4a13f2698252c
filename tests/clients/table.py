"""`python -m tests.clients.table`: the table of docs/any-program.md, of what packages do on the simulator.

Each program runs under `python -m cudapy.simulator`, with the packages that are installed; all of them have
to be. What became of it is written to `table.json`, and the table between the two marks in the document.
Exit code 1: something is not as `ROWS` says, and nothing is written. Without `--write` nothing is, either.
Packages may be named: only their rows are run, and the others stay as they were recorded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from .environment import REPOSITORY

FOLDER = Path(__file__).parent
RECORD = FOLDER / "table.json"
DOCUMENT = REPOSITORY / "docs" / "any-program.md"
BEGIN, END = "<!-- table: python -m tests.clients.table --write -->\n", "<!-- end of the table -->\n"
STATIC = "its libcudart is linked statically"


class Row(NamedTuple):
    """Packages, what their programs do, and the programs, with their options.

    lacks: why they do not run; devices: how many there are.
    """

    packages: tuple[str, ...]
    what: str
    programs: tuple[str, ...]
    lacks: str = ""
    devices: int = 1


NUMBA = ("together", "functions", "linking", "faults")
ROWS = (
    Row(
        ("cuda-core", "cuda-bindings"),
        "every kind of object, 32 threads, `fork`, `spawn` and `forkserver`",
        tuple(f"compiled/core_{name}.py" for name in ("saxpy", "kinds", "threads", "processes")),
    ),
    Row(
        ("cuda-bindings",),
        "`cuda.bindings.runtime`: memory, streams, events, arrays, errors",
        ("compiled/bindings_runtime.py",),
    ),
    Row(
        ("numba-cuda",),
        "shared memory, atomics, warps, whole grids, libdevice, ufuncs, CUDA C++ that is linked",
        tuple(f"programs/numba_{name}.py" for name in NUMBA),
    ),
    Row(("nvidia-ml-py",), "names, numbers and memory of the devices", ("others/nvml_devices.py",)),
    Row(
        ("pycuda",),
        "kernels that nvcc compiles, streams, arrays, reductions, live objects of several contexts at the"
        " end; not texture references",
        ("others/pycuda_kernels.py", "others/pycuda_exit.py"),
    ),
    Row(("stumpy",), "`gpu_stump`", ("others/stumpy_gpu.py",)),
    Row(("tinygrad",), "a matrix product with `DEV=CUDA`", ("others/tinygrad_tensors.py",)),
    Row(
        ("nvmath-python", "nvidia-libmathdx-cu13"),
        "cuBLASDx, cuFFTDx and the generators of cuRAND in kernels of Numba",
        ("others/nvmath_device.py",),
    ),
    Row(
        ("taichi",),
        "fields, arrays, matrices, atomics, shared memory, a gradient; sparse fields with "
        "`num_compile_threads=0` alone (below)",
        ("others/taichi_fields.py",),
    ),
    Row(
        ("torch",),
        "training of three networks, streams, graphs, generators, random numbers, sparse tensors, DDP and "
        "FSDP on two devices, `torch.cuda._compile_kernel`",
        tuple(f"others/torch_{name}.py" for name in ("training", "semantics", "random", "distributed")),
        devices=2,
    ),
    Row(
        ("cuda-tile",),
        "a sum of tiles; not kernels for which the driver makes tensor maps, such as softmax and products",
        ("others/cutile_tiles.py",),
    ),
    Row(("nccl4py",), "a communicator, a sum over its ranks", ("others/nccl4py_ranks.py",)),
    Row(("warp-lang",), "a kernel on two arrays", ("others/warp_kernel.py",), STATIC),
    Row(("cuda-cccl",), "a reduction and a scan of `cuda.compute`", ("others/cccl_algorithms.py",), STATIC),
    Row(("cupy-cuda13x",), "a raw kernel, arithmetic, a sum", ("others/cupy_kernels.py",), STATIC),
)


class Outcome(NamedTuple):
    """What became of a row: the versions of its packages, and why it does not run."""

    packages: dict[str, str]
    lacks: str


def outcome(row: Row) -> Outcome:
    """Run the programs of a row. Raises RuntimeError if they end in another way than it says."""
    try:
        packages = {name: version(name) for name in row.packages}
    except PackageNotFoundError as error:
        raise RuntimeError(f"not installed: {error.name}") from None
    variables = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    variables["PYTHONPATH"] = str(REPOSITORY)
    for program in row.programs:
        options = ["--devices", str(row.devices)] if row.devices > 1 else []
        command = [sys.executable, "-W", "ignore", "-m", "cudapy.simulator", *options, str(FOLDER / program)]
        code, stderr = run(command, variables)
        told = STATIC if "has NVIDIA's CUDA runtime (libcudart) linked statically" in stderr else ""
        if bool(code) != bool(row.lacks) or told != row.lacks:
            raise RuntimeError(f"{program} ended with {code}:\n{stderr[-2000:]}")
    return Outcome(packages, row.lacks)


def run(command: Sequence[str], variables: Mapping[str, str]) -> tuple[int, str]:
    """Run a program, for 600 s at most. Returns its exit code and its stderr."""
    with tempfile.TemporaryFile("w+") as stderr:
        process = subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, stderr=stderr)
        limit = threading.Timer(600, process.kill)
        limit.start()
        code = process.wait()
        limit.cancel()
        stderr.seek(0)
        return code, stderr.read()


def table(outcomes: Sequence[Outcome]) -> str:
    """The table, a line for each row."""
    lines = ["| package | what was run | |", "|---|---|---|"]
    for row, found in zip(ROWS, outcomes, strict=True):
        names = ", ".join(f"{name} {number}" for name, number in found.packages.items())
        files = ", ".join(f"`{Path(program).stem}`" for program in row.programs)
        end = f"does not run: {found.lacks}" if found.lacks else "runs"
        lines.append(f"| {names} | {row.what}: {files} | {end} |")
    return "\n".join([*lines, ""])


def recorded() -> list[Outcome]:
    """The outcomes that were written last."""
    return [Outcome(**each) for each in json.loads(RECORD.read_text())]


def main(arguments: Sequence[str]) -> int:
    named = {argument for argument in arguments if argument != "--write"}
    if named - {name for row in ROWS for name in row.packages}:
        print(__doc__)
        return 2
    chosen = [row for row in ROWS if not named or named.intersection(row.packages)]
    before = {} if not named else {tuple(each.packages): each for each in recorded()}
    found: dict[Row, Outcome] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, future in [(row, pool.submit(outcome, row)) for row in chosen]:
            try:
                found[row] = future.result()
            except RuntimeError as error:
                print(f"{', '.join(row.packages)}: {error}", file=sys.stderr)
    if len(found) < len(chosen):
        return 1
    outcomes = [found[row] if row in found else before[row.packages] for row in ROWS]
    print(table(outcomes), end="")
    if "--write" in arguments:
        start, _, rest = DOCUMENT.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        DOCUMENT.write_text(f"{start}{BEGIN}{table(outcomes)}{END}{after}")
        RECORD.write_text(json.dumps([each._asdict() for each in outcomes], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
