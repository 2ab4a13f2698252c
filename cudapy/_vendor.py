"""Copies of this package for other projects: `python -m cudapy vendor DEST`.

A copy has the modules that are asked for and what they import, found in the source: import statements, and
the modules that `on_demand` brings in. Beside them lie the licence and a record of what was copied.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from . import __version__

HERE = Path(__file__).parent
RECORD = "vendored.json"
COMPILERS = ("nvrtc", "nvjitlink", "nvvm", "nvfatbin")
MODULES = ("core", "driver", "runtime", *COMPILERS, "nvml", "nccl", "cufile", "cudla", "pathfinder", "utils")
SIMULATOR = "simulator"
"""What a copy has only if it is asked for: what imports it does so in a function, and can do without."""
NOT_COPIED = ("__main__.py", "_doctor/", "_ranks.py", "_vendor.py", "alias.py", "_alias/")


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
        prog=f"python -m {__package__} vendor",
        description="Copies this package into another one, which then does not depend on it. An existing "
        "copy is replaced, unless it was edited.",
    )
    parser.add_argument("dest", type=Path, help="the folder of the package to copy it into")
    parser.add_argument("--name", default=__package__, help="the name of the copy, such as _cuda")
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=list(MODULES),
        metavar="MODULE,...",
        help=f"copy these modules and what they import: {', '.join((*MODULES, SIMULATOR))}; without this "
        f"option all but {SIMULATOR}",
    )
    parser.add_argument("--check", action="store_true", help="verify that the copy is unchanged")
    options = parser.parse_args(arguments)
    folder = options.dest / options.name
    try:
        if options.check:
            record = check(folder)
            print(f"{folder}: {__package__} {record.version}, as it was copied: {', '.join(record.modules)}")
            if record.version != __version__:
                print(f"this is {__package__} {__version__}: without --check it replaces the copy")
        else:
            size = copy(folder, options.only)
            print(f"{folder}: {__package__} {__version__}, {size / 1024:.0f} KiB: {', '.join(options.only)}")
    except (VendorError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def copy(folder: Path, modules: Sequence[str]) -> int:
    """Make `folder` a copy of `modules`; returns its size in bytes.

    Raises VendorError for names that are no modules, and for a folder that is something else or was edited.
    """
    if not folder.name.isidentifier():
        raise VendorError(f"{folder.name!r} is no name for a package")
    files = files_of(modules)
    if folder.exists():
        check(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as temporary:
        staged = Path(temporary, folder.name)
        for path in files:
            (staged / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(HERE / path, staged / path)
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
        raise VendorError(f"{folder} is no copy of {__package__}: it has no {RECORD} that says so") from None
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


def files_of(modules: Sequence[str]) -> list[str]:
    """The paths in this package, with /, of `modules` and of all that they import.

    Raises VendorError for a name that is none of its modules.
    """
    left = ["__init__.py"]
    for name in modules:
        if name not in (*MODULES, SIMULATOR):
            raise VendorError(f"there is no module {name!r}, but {', '.join((*MODULES, SIMULATOR))}")
        folders = [HERE / SIMULATOR, HERE / "_launcher"] if name == SIMULATOR else []
        parts = [part for folder in folders for part in folder.rglob("*.py")] or [HERE / f"{name}.py"]
        left += [part.relative_to(HERE).as_posix() for part in parts]  # its own find each other by name
    files: set[str] = set()
    while left:
        path = left.pop()
        name = path.partition("/")[0].removesuffix(".py")
        if path not in files and (name != SIMULATOR or name in modules):
            files.add(path)
            left += _imported(path) if path.endswith(".py") else []
    return sorted(path for path in files | {"py.typed"} if not path.startswith(NOT_COPIED))


def _imported(path: str) -> Iterator[str]:
    """The files that one of them imports when it runs, and what type checkers read for it."""
    stub = f"{path}i" if path.startswith("_checked/") else f"_checked/{path}i"
    if (HERE / stub).is_file():
        yield from ("_checked/__init__.py", stub, stub.removesuffix("i"))
    package = path.split("/")[:-1]
    for node in _nodes(ast.parse((HERE / path).read_bytes(), path)):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.level:
            where = [*package[: len(package) - node.level + 1], *filter(None, [node.module])]
            names = [".".join([*where, alias.name]) for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "on_demand":
            where, *brought = (ast.literal_eval(argument) for argument in node.args[1:])
            names = [".".join([*package, where.lstrip("."), module]) for module in brought]
        for name in names:
            parts = name.split(".")
            for count in range(1, len(parts) + 1):
                base = "/".join(parts[:count])
                yield from (f for f in (f"{base}.py", f"{base}/__init__.py") if (HERE / f).is_file())


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All of them, but for what is there for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node = ast.Module(node.orelse, [])
        yield node
        yield from _nodes(node)


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
        listed = metadata.files(str(__package__)) or []
    except metadata.PackageNotFoundError:
        listed = []
    paths = [Path(str(file.locate())) for file in listed if file.name == "LICENSE"]
    for path in [*paths, beside]:
        if path.is_file():
            return path.read_bytes()
    raise VendorError("the licence, which a copy must have, is not found")
