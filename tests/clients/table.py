"""`python -m tests.clients.table`: the table of docs/any-program.md, of what packages do on the simulator.

Each program runs under `python -m cudapy.simulator`, with the packages that are installed; all of them have
to be. What became of it is written to `table.json`, and the table between the two marks in the document.
Exit code 1: something is not as `ROWS` says, and nothing is written. Without `--write` nothing is, either.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
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
    """Packages, what their programs do, and the programs; `lacks`: why they do not run."""

    packages: tuple[str, ...]
    what: str
    programs: tuple[str, ...]
    lacks: str = ""


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
        "training of three networks, streams, graphs, generators, several devices, "
        "`torch.cuda._compile_kernel`",
        tuple(f"others/torch_{name}.py" for name in ("training", "semantics")),
    ),
    Row(("warp-lang",), "a kernel on two arrays", ("others/warp_kernel.py",), STATIC),
    Row(("cuda-cccl",), "a reduction and a scan of `cuda.compute`", ("others/cccl_algorithms.py",), STATIC),
    Row(("cupy-cuda13x",), "a raw kernel, arithmetic, a sum", ("others/cupy_kernels.py",), STATIC),
)


class Outcome(NamedTuple):
    """What became of a row: the versions of its packages, and the reason if it does not run."""

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
        command = [sys.executable, "-W", "ignore", "-m", "cudapy.simulator", str(FOLDER / program)]
        done = subprocess.run(
            command, env=variables, capture_output=True, text=True, timeout=600, check=False
        )
        told = STATIC if "has NVIDIA's CUDA runtime (libcudart) linked statically" in done.stderr else ""
        if bool(done.returncode) != bool(row.lacks) or told != row.lacks:
            raise RuntimeError(f"{program} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return Outcome(packages, row.lacks)


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
    if set(arguments) - {"--write"}:
        print(__doc__)
        return 2
    outcomes = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, future in [(row, pool.submit(outcome, row)) for row in ROWS]:
            try:
                outcomes.append(future.result())
            except RuntimeError as error:
                print(f"{', '.join(row.packages)}: {error}", file=sys.stderr)
    if len(outcomes) < len(ROWS):
        return 1
    print(table(outcomes), end="")
    if arguments:
        before, _, rest = DOCUMENT.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        DOCUMENT.write_text(f"{before}{BEGIN}{table(outcomes)}{END}{after}")
        RECORD.write_text(json.dumps([each._asdict() for each in outcomes], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
