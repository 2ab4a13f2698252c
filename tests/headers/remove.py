"""Takes out of a copy of the package what a release added, to try `tests.headers.add`:

python -m tests.headers.remove PACKAGE 13.4 13.5
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

from .additions import flat
from .check_declarations import APIS, header
from .reader import Header


def remove(package: Path, name: str, old: Header, new: Header, release: str) -> list[str]:
    """Remove the names of a library that `new` has beyond `old`; returns them."""
    gone = {
        *(set(new.functions) - set(old.functions)),
        *(set(new.structs) - set(old.structs)),
        *(set(new.enums) - set(old.enums)),
        *(set(new.macros) - set(old.macros)),
    }
    members = {m for e in new.enums if e in old.enums for m in set(new.enums[e]) - set(old.enums[e])}
    fields = {
        (struct, field.name)
        for struct, declared in new.structs.items()
        if struct in old.structs
        for field in flat(declared)
        if field.name not in {each.name for each in flat(old.structs[struct])}
    }
    types = package / "_types"
    removed: list[str] = []
    for path in (package / f"{name}.py", *types.glob(f"{name}.py"), *(types / name).glob("*.py")):
        if path.name not in ("derived.py", "irregular.py", "names.py"):
            removed += _remove(path, gone, members, fields, release)
    return removed


def _remove(path: Path, gone: set[str], members: set[str], fields: Any, release: str) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    removed: list[str] = []
    for node in reversed(ast.parse("\n".join(lines)).body):
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        names = [*_names(node), *_decorated(node)]
        if isinstance(node, ast.FunctionDef) and f'since="{release}"' in "\n".join(
            lines[first - 1 : node.lineno]
        ):
            names = ["\0"]
        if names == ["\0"] or gone & set(names):
            removed.append(getattr(node, "name", names[0]))
            del lines[first - 1 : node.end_lineno]
        elif isinstance(node, ast.ClassDef):
            for inner in reversed(node.body):
                name = (_names(inner) or [""])[0]
                if name in members or (node.name, name) in fields:
                    removed.append(f"{node.name}.{name}")
                    del lines[inner.lineno - 1 : inner.end_lineno]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return removed


def _decorated(node: ast.stmt) -> list[str]:
    """What a function is the face of: `@_face(nvmlDeviceGetName)`."""
    calls = [each for each in getattr(node, "decorator_list", ()) if isinstance(each, ast.Call)]
    return [each.id for call in calls for each in call.args if isinstance(each, ast.Name)]


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        return [node.name]
    if isinstance(node, ast.AnnAssign):
        return [ast.unparse(node.target)]
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets] + (
            [node.value.id] if isinstance(node.value, ast.Name) else []
        )
    return []


if __name__ == "__main__":
    package, old, new = sys.argv[1:]
    for name, api in APIS.items():
        if {old, new} <= set(api.releases):
            print(name, *remove(Path(package), name, header(name, old), header(name, new), new))
