"""Copies of this package for other projects: `python -m cudapy vendor DEST`.

A copy has the modules that are asked for and what they import, found in the source: import statements and,
where a module has a `__getattr__`, those for type checkers, as it loads these names on demand. Beside them
lie the licence and a record of what was copied.
"""

import argparse
import ast
import hashlib
import json
import keyword
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from .. import __version__

HERE = Path(__file__).parents[1]
NAME = str(__package__).rpartition(".")[0]
"""Of this package: a copy can have another."""
RECORD = "vendored.json"
COMPILERS = ("nvrtc", "nvjitlink", "nvvm", "nvfatbin")
MODULES = ("core", "driver", "runtime", *COMPILERS, "nvml", "nccl", "cufile", "cudla", "pathfinder", "utils")
SIMULATOR = "simulator"
"""What a copy has only if it is asked for: what imports it does so in a function, and can do without."""
WITHOUT_FAST_LANE = {
    "_ffi/lanes.py": "_ffi/no_lanes.py",
    "_core/kernels/launch_lane.py": "_core/kernels/no_launch_lane.py",
    "_types/lanes.py": "_types/__init__.py",
}
"""The files that others stand for in a copy that makes no memory executable."""
EXEMPT = b"# mypy: ignore-errors\n"
NOT_COPIED = (
    "__main__.py",
    "alias.py",
    *(f"_commands/{name}" for name in ("alias/", "doctor/", "ranks.py", "top/", "vendor.py")),
)


NOTHING: dict[str, str] = {}  # nobody writes to it


class VendorError(Exception):
    """A copy cannot be made, or is not what was copied."""


class Record(NamedTuple):
    """What `vendored.json` says of a copy."""

    version: str
    modules: list[str]
    files: dict[str, str]  # SHA-256 by path


def main(arguments: Sequence[str]) -> int:
    """The command. Exit code 0: the copy is made, or is as it was made; 1: it is not."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {NAME} vendor",
        description="Copies this package into another one, which then does not depend on it. An existing "
        "copy is replaced, unless it was edited.",
    )
    parser.add_argument("dest", type=Path, help="the folder of the package to copy it into")
    parser.add_argument("--name", default=NAME, help="the name of the copy, such as _cuda")
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=list(MODULES),
        metavar="MODULE,...",
        help=f"copy these modules and what they import: {', '.join((*MODULES, SIMULATOR))}; without this "
        f"option all but {SIMULATOR}",
    )
    parser.add_argument(
        "--without-fast-lane", action="store_true", help="leave out the machine code for calls of C functions"
    )
    parser.add_argument("--check", action="store_true", help="verify that the copy is unchanged")
    options = parser.parse_args(arguments)
    try:
        folder = _place(options.dest, options.name)
        if options.check:
            record = check(folder)
            print(f"{folder}: {NAME} {record.version}, as it was copied: {', '.join(record.modules)}")
            if record.version != __version__:
                print(f"this is {NAME} {__version__}: without --check it replaces the copy")
        else:
            size = copy(folder, options.only, WITHOUT_FAST_LANE if options.without_fast_lane else {})
            print(f"{folder}: {NAME} {__version__}, {size / 1024:.0f} KiB: {', '.join(options.only)}")
    except (VendorError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _place(package: Path, name: str) -> Path:
    """The folder of the copy called `name` in a package. Raises VendorError if it could not be imported."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise VendorError(f"--name: {name!r} is not a name that Python can import: give one such as _cuda")
    return package / name


def copy(folder: Path, modules: Sequence[str], others: Mapping[str, str] = NOTHING) -> int:
    """Make `folder` a copy of `modules`; returns its size in bytes. others: see `files_of`.

    Raises VendorError for names that are not modules, for a folder that is something else or was edited, and
    for one that is to lie in a folder that is not there.
    """
    files = files_of(modules, others)
    if not folder.parent.is_dir():
        raise VendorError(f"there is no folder {folder.parent}: create it first, or correct its path")
    if folder.exists():
        check(folder)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        staged = Path(temporary, folder.name)
        for path in files:
            (staged / path).parent.mkdir(parents=True, exist_ok=True)
            (staged / path).write_bytes(_content(others.get(path, path), files))
        (staged / "LICENSE").write_bytes(_licence())
        record = Record(__version__, list(modules), _digests(staged))
        (staged / RECORD).write_text(json.dumps(record._asdict(), indent=1) + "\n")
        if folder.exists():
            folder.rename(Path(temporary, "before"))
        staged.rename(folder)
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def check(folder: Path) -> Record:
    """What a copy was made as. Raises VendorError if `folder` is none, or is not as it was made."""
    try:
        record = Record(**json.loads((folder / RECORD).read_text()))
    except (OSError, ValueError, TypeError):
        text = f"{folder} is not a copy of {NAME}: it has no {RECORD} that says so"
        raise VendorError(text) from None
    there = _digests(folder)
    changes = {
        "edited": [path for path, digest in record.files.items() if there.get(path, digest) != digest],
        "missing": [path for path in record.files if path not in there],
        "added": [path for path in there if path not in record.files],
    }
    if any(changes.values()):
        listed = "; ".join(f"{what}: {', '.join(paths)}" for what, paths in changes.items() if paths)
        raise VendorError(f"{folder} is not as it was copied: {listed}")
    return record


def files_of(modules: Sequence[str], others: Mapping[str, str] = NOTHING) -> list[str]:
    """The paths in this package, with /, of `modules` and of all that they import.

    others: files to others whose content they get in the copy.

    What a module loads on demand is among them, unless it needs a public module that nothing else needs: a
    copy has core's Communicator if it has `nccl`. The stubs of `checked` are those of `modules`, and those
    that the copy itself imports.

    Raises VendorError for a name that is none of its modules.
    """
    start = ["__init__.py", "py.typed"]
    for name in modules:
        if name not in (*MODULES, SIMULATOR):
            raise VendorError(f"there is no module {name!r}, but {', '.join((*MODULES, SIMULATOR))}")
        folders = [HERE / SIMULATOR, HERE / "_commands" / "launcher"] if name == SIMULATOR else []
        parts = [part for folder in folders for part in folder.rglob("*.py")] or [HERE / f"{name}.py"]
        start += [part.relative_to(HERE).as_posix() for part in parts]  # its own find each other by name
        start += _stub(f"{name}.checked")
    files = _reached(start, (), modules, others)
    public = {f"{name}.py" for name in MODULES} - files
    while True:
        on_demand = {target for path in files for target in _imports(path).on_demand}
        new = [_reached(target, files, modules, others) for target in on_demand]
        wanted = set().union(*(reached for reached in new if not reached & public))
        if not wanted:
            return sorted(files)
        files |= wanted


def _reached(
    start: Collection[str], known: Collection[str], modules: Sequence[str], others: Mapping[str, str]
) -> set[str]:
    """The files of `start` and those that they import, without `known` and what a copy does not have."""
    left = list(start)
    files: set[str] = set()
    while left:
        path = left.pop()
        without = path in known or path.startswith(NOT_COPIED)
        if not (path in files or without or (path.startswith(f"{SIMULATOR}/") and SIMULATOR not in modules)):
            files.add(path)
            left += _imports(others.get(path, path)).at_run_time
    return files


class _Imports(NamedTuple):
    """The files of this package that one of them imports."""

    at_run_time: list[str]
    on_demand: list[tuple[str, ...]]  # by its `__getattr__`: a module, after the packages that it is in


@cache
def _imports(path: str) -> _Imports:
    """What the file at `path` imports. Only type checkers need the rest, but for what loads it on demand."""
    found = _Imports([], [])
    if path.endswith(".py"):
        tree = ast.parse((HERE / path).read_bytes(), path)
        for node in _run_time_statements(tree):
            for name in _imported(node, path):
                found.at_run_time.extend((*_files(name), *_stub(name)))
        if _loads_on_demand(tree):
            names = [name for node in _for_type_checkers(tree) for name in _imported(node, path)]
            found.on_demand.extend(files for name in names if (files := _files(name)))
    return found


def _imported(node: ast.AST, path: str) -> list[str]:
    """The names that a statement of a file imports from this package, such as "_process.forks.in_child"."""
    if not (isinstance(node, ast.ImportFrom) and node.level):
        return []
    package = path.split("/")[: -node.level]
    where = [*package, *filter(None, [node.module])]
    return [".".join([*where, alias.name]) for alias in node.names]


def _files(name: str) -> tuple[str, ...]:
    """The files to import for a name: a module, and the packages that it is in."""
    parts = name.split(".")
    bases = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    paths = (path for base in bases for path in (f"{base}/__init__.py", f"{base}.py"))
    return tuple(path for path in paths if (HERE / path).is_file() and not path.startswith("_checked/"))


def _stub(name: str) -> tuple[str, ...]:
    """The files that type checkers and editors read for "driver.checked"; none for other names."""
    stub = f"_checked/{name.removesuffix('.checked')}.pyi"
    if not name.endswith(".checked") or not (HERE / stub).is_file():
        return ()
    return "_checked/__init__.py", stub, stub.removesuffix("i")


def _run_time_statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements, but for what is there for type checkers alone. Expressions import nothing."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for part in _BLOCKS[_is_for_type_checkers(node) :]:
            left += getattr(node, part, ())


_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")


def _is_for_type_checkers(node: ast.AST) -> bool:
    """Whether it is `if TYPE_CHECKING`, whose body they alone read."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _for_type_checkers(tree: ast.Module) -> list[ast.stmt]:
    """The statements of a module that are there for type checkers alone."""
    return [node for block in tree.body if _is_for_type_checkers(block) for node in block.body]  # type: ignore[attr-defined]


def _loads_on_demand(tree: ast.Module) -> bool:
    """Whether a module has a `__getattr__`: a function, or what `on_demand` returned."""
    names = set()
    ifs = [node for node in tree.body if isinstance(node, ast.If)]
    for node in (*tree.body, *(node for block in ifs for node in (*block.body, *block.orelse))):
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {
                part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)
            }
    return "__getattr__" in names


def _content(path: str, files: Collection[str]) -> bytes:
    """What a copy of `files` has as `path`.

    Python files are exempt from mypy, as its settings are those of the project that they are copied into.
    Names loaded on demand from what is not in the copy are neither in `__all__` nor shown to type checkers.
    """
    content = (HERE / path).read_bytes()
    if not path.endswith((".py", ".pyi")):
        return content
    lines = content.splitlines(keepends=True)
    for node in _absent(path, files) if b"__getattr__" in content else ():
        lines[node.lineno - 1 : node.end_lineno] = [b""] * len(lines[node.lineno - 1 : node.end_lineno])
    return EXEMPT + b"".join(lines)


def _absent(path: str, files: Collection[str]) -> list[ast.stmt | ast.expr]:
    """The imports for type checkers, and the items of `__all__`, of what is not among `files`."""
    tree = ast.parse((HERE / path).read_bytes(), path)
    if not _loads_on_demand(tree):
        return []
    imports = [
        node
        for node in _for_type_checkers(tree)
        if any(set(_files(name)).difference(files) for name in _imported(node, path))
    ]
    names = {alias.name for node in imports if isinstance(node, ast.ImportFrom) for alias in node.names}
    lists = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    items = [item for found in lists if isinstance(found, ast.List) for item in found.elts]
    return [*imports, *(item for item in items if ast.literal_eval(item) in names)]


def _digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file of a copy, by its path; but for the record and byte code."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != RECORD and path.parent.name != "__pycache__"
    }


def _licence() -> bytes:
    """The text of the licence: of the installed package, or of the checkout."""
    beside = HERE.parent / "LICENSE"
    if (HERE / "LICENSE").is_file():  # this is a copy itself
        return (HERE / "LICENSE").read_bytes()
    try:
        listed = metadata.files(NAME) or []
    except metadata.PackageNotFoundError:
        listed = []
    paths = [Path(str(file.locate())) for file in listed if file.name == "LICENSE"]
    for path in [*paths, beside]:
        if path.is_file():
            return path.read_bytes()
    raise VendorError("the licence, which a copy must have, is not found")
