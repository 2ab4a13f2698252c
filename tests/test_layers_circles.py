"""Circles of imports: how many modules reach each other, imports inside functions counted. May only fall."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from .test_layers import FILES, PACKAGE, imports

ALLOWED = {
    "_core": 3,
    "_pathfinder": 1,
    "_types": 2,
    "pathfinder.py": 1,
    "simulator": 2,
}
"""Modules in circles, by their folder; of what is not here, none. Whoever cuts one lowers its number."""
IN_FUNCTIONS = 315
"""Relative imports inside functions, which hide what a module needs and how long a first call takes."""


def reached(path: Path) -> set[Path]:
    """The files of the package that a file imports, at any time but for type checkers alone."""
    found = set()
    for one in imports(path):
        if not one.level or one.for_types:
            continue
        base = path.parents[one.level - 1].joinpath(*filter(None, one.module.split(".")))
        for name in one.names:
            choices = (base / f"{name}.py", base / name / "__init__.py", base.with_suffix(".py"))
            found.add(next((file for file in choices if file.exists()), base / "__init__.py"))
    return found - {path}


def circles(graph: dict[Path, set[Path]]) -> list[set[Path]]:
    """The sets of modules that reach each other, of two and more (Kosaraju)."""
    backwards: dict[Path, set[Path]] = {}
    for path, targets in graph.items():
        for target in targets:
            backwards.setdefault(target, set()).add(path)

    def walk(start: Path, edges: dict[Path, set[Path]], seen: set[Path]) -> list[Path]:
        """What can be reached and was not seen, each after what it reaches."""
        seen.add(start)
        order, stack = [], [(start, iter(edges.get(start, ())))]
        while stack:
            node, targets = stack[-1]
            target = next((each for each in targets if each not in seen), None)
            if target is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(edges.get(target, ()))))
        return order

    seen: set[Path] = set()
    order = [node for path in graph if path not in seen for node in walk(path, graph, seen)]
    seen = set()
    found = [set(walk(path, backwards, seen)) for path in reversed(order) if path not in seen]
    return [circle for circle in found if len(circle) > 1]


def folder(path: Path) -> str:
    """The layer of a module, its folder's name."""
    return path.relative_to(PACKAGE).parts[0]


def test_modules_in_circles_only_fall() -> None:
    found = circles({path: reached(path) for path in FILES})
    numbers = Counter(folder(path) for circle in found for path in circle)
    wrong = {name: number for name, number in numbers.items() if number > ALLOWED.get(name, 0)}
    shown = [sorted(str(path.relative_to(PACKAGE)) for path in each) for each in found]
    assert not wrong, (wrong, shown)


def test_imports_in_functions_only_fall() -> None:
    hidden = [one for path in FILES for one in imports(path) if one.level and not one.at_import]
    assert sum(not one.for_types for one in hidden) <= IN_FUNCTIONS


@pytest.mark.parametrize(
    ("edges", "expected"),
    [("ab bc", []), ("ab ba", ["ab"]), ("ab bc ca cd de ed", ["abc", "de"]), ("ab ac bd cd da", ["abcd"])],
)
def test_the_finder_of_circles(edges: str, expected: list[str]) -> None:
    graph: dict[Path, set[Path]] = {}
    for start, end in edges.split():  # type: ignore[str-unpack]
        graph.setdefault(Path(start), set()).add(Path(end))
    assert sorted("".join(sorted(map(str, circle))) for circle in circles(graph)) == expected
