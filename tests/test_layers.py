"""The layers: who imports whom, what importing costs, and that a vendored copy works."""

from __future__ import annotations

import ast
import functools
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "cudapy"
WITHOUT_NUMPY = {PACKAGE / "simulator" / f"{name}.py" for name in ("__init__", "process", "options")}
"""Imported with `cudapy.simulator`, or before the simulator starts."""
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)

ALLOWED = {
    "_process": {"_process"},
    "_ffi": {"_ffi", "_process"},
    "_types": {"_types", "_ffi"},
    "vendored": set(),
    "pathfinder": {"pathfinder", "_process", "vendored"},
    "_bindings": {"_bindings", "_types", "_ffi", "_process", "pathfinder"},
    "functions": {"_types", "_ffi", "_bindings", "pathfinder"},
    "_checked": {"functions"},
    "_core": {"_core", "__init__", "functions", "_types", "_ffi", "_bindings", "_process", "pathfinder"},
    "core": {"_core", "functions", "_bindings", "vendored"},
    "launcher": {"launcher"},
    "simulator": {"simulator", "__init__", "launcher", "functions", "_types", "_ffi", "_bindings"}
    | {"_process", "pathfinder"},
    "__init__": set(),
    "vendor": {"__init__"},
    "ranks": set(),
    "doctor": {"doctor", "__init__", "_core", "core", "functions", "_types", "_ffi", "pathfinder"},
    "top": {"top", "core", "functions", "pathfinder"},
    "__main__": {"doctor", "ranks", "top", "vendor", "__init__"},
    "alias": {"alias", "launcher"},
    "_commands": set(),
    "jupyter": {"_ffi", "core"},
    "triton": {"core", "_core", "functions", "_ffi"},
    "utils": {"functions", "_ffi", "pathfinder"},
}
"""Each layer, and those it may import. "functions" are the modules that mirror a header. Of `_commands`
each file and each folder is one.
"""
SAME = {"_pathfinder": "pathfinder"}
"""Folders and files that belong to a layer of another name."""


STANDARD = sys.stdlib_module_names | {"compression"}
"""The standard library, with what is newer than the Python that runs this."""


class Import(NamedTuple):
    """`from ..driver import checked` in _core: level 2, module "driver"; names ("checked",)."""

    level: int
    module: str
    names: tuple[str, ...]
    line: int
    at_import: bool  # whether it runs when the file is imported
    for_types: bool = False  # whether type checkers alone see it


def layer(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    inner = parts[0] == "_commands" and len(parts) > 1 and parts[1] != "__init__.py"
    top = parts[inner].removesuffix(".py")
    top = SAME.get(top, top)
    return top if top in ALLOWED else "functions"


@functools.cache
def parsed(path: Path) -> ast.Module:
    with without_gc():  # trees stay: to look for garbage among them takes half of the time
        return ast.parse(path.read_text())


@contextmanager
def without_gc() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    """Everything in a file."""
    return [*ast.walk(parsed(path))]


@functools.cache
def imports(path: Path) -> list[Import]:
    return list(_imports(parsed(path), True))


def _imports(node: ast.AST, at_import: bool, for_types: bool = False) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(0, alias.name, (), node.lineno, at_import, for_types)
    elif isinstance(node, ast.ImportFrom):
        names = tuple(alias.name for alias in node.names)
        yield Import(node.level, node.module or "", names, node.lineno, at_import, for_types)
    typing_only = isinstance(node, ast.If) and is_for_types(node.test)
    function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    for part in (
        "body",
        "handlers",
        "orelse",
        "finalbody",
        "cases",
    ):  # statements import, expressions do not
        hidden = typing_only and part != "orelse"
        for child in getattr(node, part, ()):
            yield from _imports(child, at_import and not (function or hidden), for_types or hidden)


def is_for_types(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def targets(path: Path, found: Import) -> Iterator[str]:
    """The layers that a relative import reaches."""
    folder = path.parents[found.level - 1].relative_to(PACKAGE)
    for name in found.names if not found.module else (found.module,):
        of_package = folder == Path() and name.startswith("__")  # __version__
        yield "__init__" if of_package else layer(PACKAGE / folder / name.replace(".", "/"))


def test_the_reader_of_imports() -> None:
    blocks = ["from ..a import b", "if TYPE_CHECKING: import x", "else: import y", "def f(): from . import z"]
    found = list(_imports(ast.parse("\n".join(blocks)), True))
    assert [(i.level, i.module, i.names, i.at_import) for i in found] == [
        (2, "a", ("b",), True),
        (0, "x", (), False),
        (0, "y", (), True),
        (1, "", ("z",), False),
    ]
    for file, example, expected in (
        ("_core/streams/event.py", found[0]._replace(level=3, module="driver"), "functions"),
        ("_types/driver/x.py", found[0]._replace(level=3, module="_ffi.y"), "_ffi"),
        ("driver.py", found[3]._replace(names=("pathfinder",)), "pathfinder"),
    ):
        assert list(targets(PACKAGE / file, example)) == [expected]


def test_arrows() -> None:
    """Inside cudapy relative imports alone, each to a layer below; else the standard library, numpy and,
    for what exists for it, Triton, PyTorch, pytest or type checkers' own module.
    """
    wrong = {str(path.relative_to(PACKAGE)): found for path in FILES if (found := [*wrong_arrows(path)])}
    assert wrong == {}


def wrong_arrows(path: Path) -> Iterator[str]:
    for found in imports(path):
        if found.level:
            reached = set(targets(path, found)) - ALLOWED[layer(path)]
            if (layer(path), found.at_import) == ("functions", False):
                reached.discard("_checked")  # which type checkers alone read
            for name in sorted(reached):
                yield f"line {found.line}: {layer(path)} imports {name}"
            continue
        top = found.module.split(".")[0]
        if top == "numpy":
            of_numpy = path == PACKAGE / "_ffi" / "face_structs.py"  # its types of structs
            lazy = of_numpy or layer(path) == "_core" or path in WITHOUT_NUMPY
            if (found.at_import and lazy) or not (of_numpy or layer(path) in ("_core", "simulator")):
                yield f"line {found.line}: numpy is for core and the simulator, on first need"
        elif top in ("triton", "torch"):
            operators = path.parent == PACKAGE / "simulator" / "pytorch" and path.name != "__init__.py"
            if not operators and (found.at_import or layer(path) != "triton"):
                yield f"line {found.line}: {top} is for the driver of Triton, on first need"
        elif top == "pytest":
            if path.name != "pytest_plugin.py":
                yield f"line {found.line}: pytest is for its plugin, which it loads"
        elif top == "typing_extensions":
            if found.at_import or layer(path) != "_checked":
                yield f"line {found.line}: {top} is what type checkers alone have"
        elif top not in STANDARD:
            yield f"line {found.line}: {top} is not in the standard library"


PACKAGES = (
    "", "context", "ownership", "streams", "memory", "arrays", "textures", "kernels", "compile", "graph",
    "management", "device", "modules", "collectives",
)  # fmt: skip
"""The packages of core, each above those before it; "": the files beside them."""


def package(path: Path) -> str:
    parts = path.relative_to(PACKAGE / "_core").parts
    return parts[0] if len(parts) > 1 or (PACKAGE / "_core" / parts[0]).is_dir() else ""


def test_packages_of_core_are_in_order() -> None:
    """At any time but for type checkers; docs/design.md says how objects return those of packages above."""
    wrong = []
    for path in FILES:
        if layer(path) != "_core":
            continue
        place = PACKAGES.index(package(path))
        for found in imports(path):
            names = [found.module] if found.module else found.names
            for name in names if found.level and not found.for_types else ():
                target = path.parents[found.level - 1].joinpath(*name.split("."))
                if not target.is_relative_to(PACKAGE / "_core"):
                    continue
                if PACKAGES.index(package(target)) > place:
                    wrong.append(f"{path.relative_to(PACKAGE)}, line {found.line}: {name}")
    assert wrong == []


ENGINE = PACKAGE / "simulator" / "engine"
ENGINE_ORDER = (
    "aliases", "classes", "fault", "addresses", "generated", "assembler", "schedule", "settings",
    "checks", "access", "tensor_map", "texture", "undefined_bits", "memory", "back_ends", "ptx",
    "arithmetic", "instructions", "compile", "kernel", "device", "coverage", "progress", "idle_threads",
    "run", "jit", "module", "grids", "face", "__main__", "",
)  # fmt: skip
"""The files and packages of the engine, each of which imports only those before it; "": its `__init__`."""


def engine_imports(path: Path) -> Iterator[tuple[Import, Path | None]]:
    """The imports of a file of the engine, with the file of the engine that each reaches, if it is one."""
    for found in imports(path):
        if not found.level:
            yield found, None
            continue
        base = path.parents[found.level - 1].joinpath(*found.module.split("."))
        for name in found.names:
            choices = (base / f"{name}.py", base / name / "__init__.py", base.with_suffix(".py"))
            yield found, next((file for file in choices if file.exists()), base / "__init__.py")


def test_the_engine_imports_itself_numpy_and_the_standard_library() -> None:
    wrong = []
    for path in ENGINE.rglob("*.py"):
        for found, target in engine_imports(path):
            if target is None:
                is_right = found.module.split(".")[0] in STANDARD | {"numpy"}
            else:
                is_right = target.is_relative_to(ENGINE)
            if not is_right:
                wrong.append(f"{path.relative_to(ENGINE)}, line {found.line}")
    assert wrong == []


def part_of_engine(path: Path) -> str:
    return path.relative_to(ENGINE).parts[0].removesuffix(".py").replace("__init__", "")


def test_the_engine_is_in_order_and_has_no_circle_of_imports() -> None:
    """Those for type checkers do not count; inside functions there are none."""
    assert {part_of_engine(path) for path in ENGINE.rglob("*.py")} == set(ENGINE_ORDER)
    wrong = []
    graph: dict[Path, set[Path]] = {}
    for path in ENGINE.rglob("*.py"):
        here = part_of_engine(path)
        reached = {target for found, target in engine_imports(path) if target and not found.for_types}
        hidden = [one for one in imports(path) if one.level and not (one.at_import or one.for_types)]
        wrong += [f"{path.relative_to(ENGINE)}, line {one.line}: inside a function" for one in hidden]
        graph[path] = reached - {path}
        for target in reached:
            there = part_of_engine(target)
            if ENGINE_ORDER.index(there) > ENGINE_ORDER.index(here):
                wrong.append(f"{path.relative_to(ENGINE)} imports {there}")
    assert wrong == []
    TopologicalSorter(graph).prepare()  # raises CycleError, with the circle


def test_the_engine_is_used_by_its_face() -> None:
    """The simulated driver imports no module inside it but the assemblers, which need no NumPy."""
    body = ast.parse((ENGINE / "face.py").read_text()).body
    (face,) = (ast.literal_eval(one.value) for one in body if ast.unparse(one).startswith("__all__ ="))  # type: ignore[attr-defined]
    wrong = []
    for path in FILES:
        if path.is_relative_to(ENGINE) or ENGINE.name not in path.read_text():
            continue
        for found in imports(path):
            if not found.level:
                continue
            base = path.parents[found.level - 1].joinpath(*filter(None, found.module.split(".")))
            inner = [name for name in found.names if name not in face] if base == ENGINE else ()
            if base == ENGINE / "assembler" / found.module.split(".")[-1]:
                continue
            if inner or ENGINE in base.parents:
                wrong.append(f"{path.relative_to(PACKAGE)}, line {found.line}: {found.module} {inner}")
    assert wrong == []


def private_names(path: Path) -> Iterator[str]:
    """Of modules in other folders, those that a file imports, or takes from a module that it imports."""
    modules = {}
    for node in nodes(path):
        if not (isinstance(node, ast.ImportFrom) and node.level):
            continue
        folder = path.parents[node.level - 1] / (node.module or "").replace(".", "/")
        for alias in node.names:
            file = folder / alias.name
            if file.is_dir() or file.with_suffix(".py").exists():
                modules[alias.asname or alias.name] = file
            elif re.match(r"_[^_]", alias.name) and folder.parent != path.parent:
                yield f"line {node.lineno}: {alias.name}"
    for node in nodes(path) if modules else ():
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in modules:
                if re.match(r"_[^_]", attribute) and modules[name].parent != path.parent:
                    yield f"line {node.lineno}: {name}.{attribute}"


@pytest.mark.parametrize(
    "code", ["from ..a.b import _c", "from ..a import b\nb._c", "from .. import a as x\nx._c"]
)
def test_the_reader_of_private_names(tmp_path: Path, code: str) -> None:
    here, there = tmp_path / "here", tmp_path / "a"
    for folder in (here, there):
        folder.mkdir()
    (there / "b.py").touch()
    file = here / "file.py"
    file.write_text(code)
    assert len(list(private_names(file))) == 1
    other = here / "other.py"
    other.write_text(code.replace("_c", "c"))
    assert not list(private_names(other))


def test_no_module_uses_a_private_name_of_a_module_in_another_folder() -> None:
    wrong = {str(path.relative_to(PACKAGE)): names for path in FILES if (names := list(private_names(path)))}
    assert wrong == {}


def names_ctypes(code: ast.Module) -> bool:
    """Whether code imports ctypes, takes it from a module that did, or asks for it by a string."""
    for node in ast.walk(code):
        match node:
            case (
                ast.alias(name=str(name))
                | ast.ImportFrom(module=str(name))
                | ast.Name(id=name)
                | ast.Attribute(attr=name)
                | ast.Constant(value=str(name))
            ) if re.fullmatch(r"_?ctypes(\.\w+)*", name):
                return True
    return False


@pytest.mark.parametrize(
    "code",
    ["import ctypes as c", "from ctypes import util", "from _ctypes import sizeof", "def f(): import ctypes",
     "from .._ffi.memory import ctypes", "memory.ctypes.sizeof", "ctypes.sizeof", "sys.modules['ctypes']"],
)  # fmt: skip
def test_the_reader_of_ctypes(code: str) -> None:
    assert names_ctypes(ast.parse(code)) and not names_ctypes(ast.parse(code.replace("ctypes", "types")))


CORE = [path for path in FILES if layer(path) in ("_core", "core")]


def test_core_leaves_c_to_the_layers_below() -> None:
    """But for the hot path: the foreign call of a launch has no layer between."""
    named = [path.relative_to(PACKAGE).as_posix() for path in CORE if names_ctypes(parsed(path))]
    assert named == ["_core/kernels/launch.py"]


def test_source_is_compiled_where_tracebacks_find_it() -> None:
    """By functions that keep the text; but for programs, which have files."""
    calls = {
        str(path.relative_to(PACKAGE))
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.Name) and node.id == "exec"
    }
    assert calls == {"_ffi/codegen.py", "simulator/engine/generated.py", "_commands/launcher/program.py"}


def python(code: str, *arguments: Any, **environment: str) -> Any:
    """What Python code prints, as JSON."""
    environ = {**os.environ, **environment}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, env=environ, cwd="/", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


STATUS = {
    "driver": "CUresult",
    "runtime": "cudaError_t",
    "nvrtc": "nvrtcResult",
    "nvjitlink": "nvJitLinkResult",
    "nvml": "nvmlReturn_t",
    "nvvm": "nvvmResult",
    "nvfatbin": "nvFatbinResult",
    "nccl": "ncclResult_t",
    "cufile": "CUfileOpError",
    "cudla": "cudlaStatus",
}
"""The modules that mirror a header, and a type of each."""


@pytest.mark.parametrize("module", [*STATUS, "pathfinder"])
def test_importing_is_light(module: str) -> None:
    code = (
        f"import json, sys; before = set(sys.modules); import cudapy.{module}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    loaded = set(python(code, PYTHONPATH=str(PACKAGE.parent)))
    heavy = {"numpy", "dataclasses", "inspect", "asyncio", "logging", "pickle", "cudapy.core", "cudapy._core"}
    assert f"cudapy.{module}" in loaded
    assert loaded & heavy == set()
    assert not any(name.startswith("cudapy.simulator") for name in loaded)


@pytest.mark.parametrize("module", STATUS)
def test_types_come_when_they_are_asked_for(module: str) -> None:
    """Not with a function; some with a type that is named; all of them, for `dir` too, with a star."""
    code = f"""
import json, sys
def loaded(): return [name for name in sys.modules if name.startswith("cudapy._types.")]
found = []
from cudapy.{module} import checked
found.append(loaded())
from cudapy.{module} import {STATUS[module]}
found.append(isinstance({STATUS[module]}(0), {STATUS[module]}))
from cudapy.{module} import *
names = set(dir(sys.modules["cudapy.{module}"]))
missing = [name for name in names if name[0] != "_" and name not in globals()]
found.append([missing, len(names) > 20, "{STATUS[module]}" in names])
try: from cudapy.{module} import nonsense
except ImportError as error: found.append("nonsense" in str(error))
print(json.dumps(found))
"""
    assert python(code, PYTHONPATH=str(PACKAGE.parent)) == [[], True, [[], True, True], True]


GLOBALS = """
import builtins, dis, importlib, json, sys, types
module = importlib.import_module(sys.argv[1])
known = {*vars(module), *vars(builtins)}
def used(code):
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from used(constant)
missing = {}
for name, value in list(vars(module).items()):
    if isinstance(value, types.FunctionType) and value.__globals__ is vars(module):
        names = sorted(set(used(value.__code__)) - known)
        if names:
            missing[name] = names
print(json.dumps(missing))
"""


@pytest.mark.parametrize("module", STATUS)
def test_functions_by_hand_bring_in_what_they_name(module: str) -> None:
    """A type that comes on demand is no global of a function: it has to import it."""
    assert python(GLOBALS, f"cudapy.{module}", PYTHONPATH=str(PACKAGE.parent)) == {}


ON_FIRST_USE = (
    "numpy", "cudapy.nvml", "cudapy.nccl", "cudapy.runtime", "cudapy._core.collectives",
    "cudapy._core.management", "cudapy._core.textures", "cudapy._core.arrays.tensor_map",
    "cudapy._core.context.resources", "cudapy._core.memory.graphics", "cudapy._types.nvml",
)  # fmt: skip
"""What `cudapy.core` offers, or needs for some of it, and loads when that is asked for."""


def test_core_loads_what_not_all_programs_need_on_first_use() -> None:
    code = """
import json, sys, cudapy.core, cudapy.core.checkpoint, cudapy.core.system, cudapy.core.texture
found = [[name for name in sys.argv[1:] if name in sys.modules]]
from cudapy.core import Communicator, GraphicsResource, SMResource, TensorMapDescriptor
from cudapy.core.system import Device
from cudapy.core.texture import TextureObject
found.append([name for name in sys.argv[1:] if name not in sys.modules])
print(json.dumps(found))
"""
    at_import, never = python(code, *ON_FIRST_USE, PYTHONPATH=str(PACKAGE.parent))
    assert at_import == []
    assert set(never) <= {"numpy", "cudapy.runtime"}


VENDORED = """
import ctypes, json, sys
from host._vendor.cuda import driver, nvrtc, core, pathfinder, runtime
library = ctypes.CDLL(sys.argv[1])
driver.libcuda.load = lambda: library
status, pointer = driver.cuMemAlloc(16)
ctypes.c_int.in_dll(library, "stub_status").value = 2
try:
    driver.checked.cuMemAlloc(16)
except core.CUDAError as error:
    failure = [type(error).__module__, error.name]
foreign = [name for name in sys.modules if name.split(".")[0] == "cudapy"]
print(json.dumps([status, type(pointer).__module__, int(pointer) != 0, failure, foreign]))
"""


def test_a_vendored_copy_works(stub_path: Path, tmp_path: Path) -> None:
    """The folder, copied into another project under another name; no package called cudapy is there."""
    vendor = tmp_path / "host" / "_vendor"
    shutil.copytree(PACKAGE, vendor / "cuda", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (vendor, vendor.parent):
        (folder / "__init__.py").touch()
    status, where, filled, failure, foreign = python(VENDORED, stub_path, PYTHONPATH=str(tmp_path))
    assert (status, where, filled) == (0, "host._vendor.cuda._types.driver.handles", True)
    assert failure == ["host._vendor.cuda._bindings.errors", "CUDA_ERROR_OUT_OF_MEMORY"]
    assert foreign == []


@pytest.mark.thorough  # all modules are compiled
def test_a_zip_on_the_path_works(tmp_path: Path) -> None:
    """A wheel is a zip of files, with no entries for their folders."""
    archive = tmp_path / "cudapy.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in FILES:
            file.write(path, path.relative_to(PACKAGE.parent))
    program = (
        "import sys; from cudapy import core, driver, runtime, nvrtc, simulator; simulator.enable()\n"
        "core.Device(0).set_current()\n"
        "print(driver.__file__.startswith(sys.argv[1]), driver.CUresult(2).name)"
    )
    command = [sys.executable, "-c", program, str(archive)]
    environ = {**os.environ, "PYTHONPATH": str(archive)}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True CUDA_ERROR_OUT_OF_MEMORY\n", "")
