"""Stub libraries that record what they are called with, and the copy of cudapy that the tests call them by.

Functions rewrite themselves at their first call, and that binds them to the library they found. So the tests
on the stub import a second copy of the package, from the same files, under another name: the GPU tests, which
call `cudapy.driver`, share nothing with it.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).parents[2]
NAME = "cudapy_stubbed"


def vendored(name: str = NAME, folder: Path = REPOSITORY / "cudapy") -> ModuleType:
    """The package in `folder`, imported as `name`: what vendoring cudapy comes to."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None and spec.loader is not None
        sys.modules[name] = package = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(package)
    return sys.modules[name]


def module(name: str) -> ModuleType:
    """A module of the second copy: `module("driver")`, `module("_ffi.enums")`."""
    vendored()
    return importlib.import_module(f"{NAME}.{name}")


class Api(NamedTuple):
    """A library that a stub stands for: the module that declares it, and what its functions are called.

    major: of CUDA, where one symbol is not the same function in each.
    """

    module: str
    names: str
    major: int | None = None


APIS = {
    "driver": Api("driver", "cu"),
    "runtime-12": Api("runtime", "cuda|getLocal", 12),
    "runtime-13": Api("runtime", "cuda|getLocal", 13),
    "nvrtc": Api("nvrtc", "nvrtc"),
    "nvjitlink": Api("nvjitlink", "nvJitLink"),
    "nvml": Api("nvml", "nvml"),
    "nvvm": Api("nvvm", "nvvm"),
    "nvfatbin": Api("nvfatbin", "nvFatbin"),
    "nccl": Api("nccl", "nccl"),
    "cufile": Api("cufile", "cuFile"),
    "cudla": Api("cudla", "cudla"),
}


def source(api: str) -> ModuleType:
    """The module of the second copy that declares a library; for one of a major, a copy of its own."""
    name, _, major = APIS[api]
    if major is None:
        return module(name)
    full = f"{NAME}.{name}_{major}"
    if full not in sys.modules:
        vendored()
        spec = importlib.util.spec_from_file_location(full, REPOSITORY / "cudapy" / f"{name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[full] = made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        library_of(made).major = lambda: major
        library_of(made).describe = lambda: f"a stub of CUDA {major}"
    return sys.modules[full]


def library_of(source: ModuleType) -> Any:
    """The `Library` whose functions a module declares."""
    declarations = (getattr(value, "__declaration__", None) for value in vars(source).values())
    return next(declaration.library for declaration in declarations if declaration is not None)


def python(code: str, *arguments: Any, flags: tuple[str, ...] = (), **environment: str) -> Any:
    """Run Python code in a process of its own, at the root of the repository."""
    command = [sys.executable, *flags, "-c", code, *map(str, arguments)]
    environ = {**os.environ, **environment}
    return subprocess.run(command, cwd=REPOSITORY, env=environ, capture_output=True, text=True, timeout=120)


def load(path: str | Path, api: str = "driver") -> ctypes.CDLL:
    """Open the library at `path`, and make it what the functions of `api` find."""
    library = ctypes.CDLL(str(path))
    library_of(source(api)).load = lambda: library
    return library
