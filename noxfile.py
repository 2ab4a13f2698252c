"""The project's tasks: `nox -l` lists them."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.options.sessions = ["lint", "tests", "samples"]
nox.options.default_venv_backend = "venv"

PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
HERE = Path(__file__).parent
LOCKS = {
    "cuda12": ["cuda12", "test"],
    "cuda13": ["cuda13", "dev"],
    "compiled": ["compiled", "test"],
    "site": ["cuda13", "test", "docs", "notebooks", "package"],
}
"""The extras that a file of `.ci/` is for."""


@nox.session
def tests(session: nox.Session) -> None:
    """The first tier, on the CUDA 13 libraries from PyPI; GPU tests on the GPU where there is one."""
    session.install("-e", ".[cuda13,test]")
    session.run("pytest", *session.posargs)


@nox.session
def thorough(session: nox.Session) -> None:
    """The second tier, what takes long: docs/testing.md says what that is."""
    session.install("-e", ".[cuda13,test]")
    session.run("pytest", "-m", "thorough", *session.posargs)


@nox.session
def nightly(session: nox.Session) -> None:
    """What hypothesis searches: new seeds, and HYPOTHESIS_FACTOR (20) times the examples."""
    session.install("-e", ".[cuda13,test]")
    session.run("pytest", "-m", "hypothesis", *session.posargs, env={"HYPOTHESIS_PROFILE": "nightly"})


@nox.session(name="random")
def in_random_orders(session: nox.Session) -> None:
    """Both tiers in N random orders, whose seeds it prints: `nox -s random -- N [SEED ...]`."""
    session.install("-e", ".[cuda13,random]")
    count, *seeds = [int(argument) for argument in session.posargs or ["3"]]
    seeds += random.sample(range(1_000_000), max(count - len(seeds), 0))
    failed = []
    for seed in seeds:
        session.log(f"order {seed}")
        try:
            session.run("pytest", "-m", "", f"--randomly-seed={seed}")
        except CommandFailed:
            failed.append(seed)
    session.log(f"orders: {' '.join(map(str, seeds))}")
    if failed:
        session.error(f"again with: nox -s random -- {len(failed)} {' '.join(map(str, failed))}")


@nox.session
def coverage(session: nox.Session) -> None:
    """What the tests reach of cudapy, by branches: `nox -s coverage -- -m ""` for both tiers."""
    session.install("-e", ".[cuda13,coverage]")
    session.run("coverage", "erase")
    lost = ("signals", "many_signals", "allocations")  # Ctrl-C and MemoryErrors in coverage.py's own code
    apart = [f"--ignore=tests/reliability/test_{name}.py" for name in lost]
    reported = [0, 1]  # what fails beside coverage.py alone is in the report of pytest
    session.run("coverage", "run", "-m", "pytest", *apart, *session.posargs, success_codes=reported)
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report", "--skip-covered", "--sort=cover", "--show-missing")


@nox.session(python=PYTHONS)
def pythons(session: nox.Session) -> None:
    """Both tiers on every Python that is installed."""
    session.install("-e", ".[cuda13,test]")
    session.run("pytest", "-m", "", *session.posargs)


@nox.session
def lock(session: nox.Session) -> None:
    """Write .ci/*.txt, what CI installs: the newest of everything for each Python, with hashes."""
    session.install("uv>=0.5")
    command = ["uv", "pip", "compile", "--upgrade", "--universal", "--python-version", PYTHONS[0]]
    command += ["--generate-hashes", "--no-annotate", "--no-emit-index-url", "--quiet"]
    for name, extras in LOCKS.items():
        what = [*(part for extra in extras for part in ("--extra", extra)), "pyproject.toml", ".ci/build.in"]
        where = ["--output-file", f".ci/{name}.txt"]
        session.run(*command, *what, *where, env={"UV_CUSTOM_COMPILE_COMMAND": "nox -s lock"}, silent=True)


@nox.session
def cuda12(session: nox.Session) -> None:
    """Both tiers on the CUDA 12 libraries from PyPI."""
    session.install("-e", ".[cuda12,test]")
    session.run("pytest", "-m", "", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, and mypy for the package, samples, benchmark and tests."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")


@nox.session
def samples(session: nox.Session) -> None:
    """Run all samples: on the GPU, or on the simulator where there is none; posargs name some."""
    session.install("-e", ".[cuda13,samples]")
    session.run("python", "-m", "samples", "run", *(session.posargs or ["--all"]), success_codes=[0, 77])


@nox.session
def headers(session: nox.Session) -> None:
    """Check every declaration against the headers of eight CUDA releases (downloaded once, then cached)."""
    session.install("-e", ".[test]")
    session.run("pytest", "-n", "0", "tests/headers/check_declarations.py", *session.posargs)


@nox.session
def all_headers(session: nox.Session) -> None:
    """The same for older releases of NVRTC, nvJitLink and NVVM too, whose wheels are large."""
    session.install("-e", ".[test]")
    command = ("pytest", "-n", "0", "tests/headers/check_declarations.py")
    session.run(*command, *session.posargs, env={"CUDAPY_HEADERS": "all"})


@nox.session
@nox.parametrize("release", ["12.9.5", "13.0.3", "13.3.1"])
def peers(session: nox.Session, release: str) -> None:
    """Make every call and set every field in cudapy and in cuda.bindings; print what differs. Needs gcc."""
    session.install("-e", ".", f"cuda-bindings=={release}")
    session.run("python", "-m", "tests.peers.compare")
    session.run("python", "-m", "tests.peers.structs")


@nox.session
def clients(session: nox.Session) -> None:
    """Other people's programs through the alias; on a GPU numba-cuda's tests: `nox -s clients -- --help`."""
    needs = ["numba-cuda==0.30.4", "filecheck", "pytest-timeout", "cffi", "ml_dtypes", "psutil"]
    session.install("-e", ".[cuda13,test]", "cuda-bindings>=13,<14", *needs)
    core = Path(session.create_tmp()).resolve() / "cuda-core"
    command = ("python", "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(core))
    session.run(*command, "cuda-core==0.2.0")
    session.run("pytest", "-m", "", "tests/test_clients.py", env={"CLIENTS_CORE": str(core)})
    session.run("python", "-m", "tests.clients.compare", *session.posargs, success_codes=[0, 77])


@nox.session
def examples(session: nox.Session) -> None:
    """NVIDIA's examples for cuda.core, from a checkout: `nox -s examples -- --examples FOLDER [NAME ...]`."""
    arguments, packages = list(session.posargs), []
    while "--with" in arguments:  # what some examples use besides, and is large: cupy-cuda13x, torch
        at = arguments.index("--with")
        packages += arguments[at + 1 : at + 2]
        del arguments[at : at + 2]
    session.install("-e", ".[cuda13,test]", *packages)
    session.run("python", "-m", "tests.clients.examples", *arguments, success_codes=[0, 77])


@nox.session
def compiled(session: nox.Session) -> None:
    """NVIDIA's compiled packages and Numba on the simulator's libcuda.so.1, without a GPU."""
    session.install("-e", ".[compiled,test]")
    session.run("pytest", "-m", "", "tests/test_compiled_clients.py", *session.posargs)


@nox.session
def triton(session: nox.Session) -> None:
    """Triton's kernels: what it compiles, and its programs on `cudapy.triton`."""
    session.install("-e", ".[cuda13,test]", "triton")
    session.run("pytest", "-m", "", "tests/triton_ptx", *session.posargs)


@nox.session
def pytorch(session: nox.Session) -> None:
    """PyTorch on the simulator: its wheel for CUDA has 4 GB, which CI does not install. Needs nvcc."""
    session.install("-e", ".[cuda13,test]", "torch", "ninja", "setuptools")
    session.run(
        "pytest", "-m", "", "-n", "0", "tests/test_pytorch.py", "tests/test_torchrun.py", *session.posargs
    )


@nox.session
def gpu(session: nox.Session) -> None:
    """What only a GPU can show, with its figures, in under 8 minutes: `nox -s gpu -- --help`."""
    session.install("-e", ".[cuda13,test]", "nvidia-cuda-sanitizer-api")
    session.run("python", "-m", "tests.gpu_tier", *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """An hour of everything in one process; nothing may grow: `nox -s soak -- SECONDS --seed SEED`."""
    session.install("-e", ".[cuda13,test]")
    session.run("python", "-m", "tests.soak", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure, next to NVIDIA's Python packages: `nox -s bench -- --help` says what can be asked for."""
    session.install("-e", ".[cuda13,bench]", "cuda-bindings==13.3.1", "cuda-core==1.2.0")
    session.run("python", "-m", "benchmark", *session.posargs)


@nox.session
def vendored(session: nox.Session) -> None:
    """Copies in another project: their names, messages, and what mypy and Pyright say of their users."""
    session.install("-e", ".[cuda13,test,lint]", "pyright")
    session.run("pytest", "-m", "", "tests/test_vendor.py", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site into docs/_build/html, a warning being an error."""
    session.install("-e", ".[cuda13,docs]")
    session.run(
        "sphinx-build", "-W", "--keep-going", "-d", "docs/_build/doctrees", "docs", "docs/_build/html"
    )


@nox.session
def notebooks(session: nox.Session) -> None:
    """Execute the notebooks: on the GPU, or on the simulator where there is none."""
    session.install("-e", ".[cuda13,test,notebooks]")
    session.run("pytest", "-m", "", "tests/test_notebooks.py", *session.posargs)


@nox.session
def package(session: nox.Session) -> None:
    """Build the source distribution and the wheel into dist/, check them, and run the wheel."""
    session.install("-e", ".[package,test]", "hatchling>=1.24", "deflate>=0.7")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build", "--no-isolation")
    session.run("twine", "check", "--strict", *map(str, sorted(Path("dist").iterdir())))
    session.run("pytest", "-m", "", "tests/test_package.py", *session.posargs)
    session.install("--force-reinstall", "--no-deps", *map(str, Path("dist").glob("*.whl")))
    with session.chdir(session.create_tmp()):
        session.run("python", "-m", "cudapy", "--version")
        program = "from cudapy.core import Device; print(Device())"
        session.run("python", "-c", program, env={"CUDAPY_DRIVER": "simulator"})
