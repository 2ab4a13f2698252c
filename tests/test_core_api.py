"""docs/core-api.md is right about what `cudapy.core` has of `cuda.core` 1.2.2, and what it has not."""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cudapy import core
from cudapy._core.options import accepted

from .peers.record_core import with_default

TESTS = Path(__file__).parent
PEER: dict[str, dict[str, str]] = json.loads((TESTS / "peers" / "core-1.2.2.json").read_text())
PAGE = (TESTS.parent / "docs" / "core-api.md").read_text()
REACHED = {"KernelAttributes": "kernels.kernel", "KernelOccupancy": "kernels.occupancy"}
"""Classes without a public name here, and their files."""


class Row(NamedTuple):
    """A name of cuda.core on the page: whether it is here, and which of its members are not."""

    module: str
    name: str
    present: bool
    absent: frozenset[str]
    reason: str

    @property
    def full(self) -> str:
        return f"{self.module}.{self.name}".lstrip(".")


def rows() -> list[Row]:
    """Lines "subject | names", of what is whole here; "name | yes or no | what is not: why" of others."""
    found = []
    for line in PAGE.partition("\n## Every name\n")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 2:
            subject = re.search(r"`core\.(\w+)`", cells[0])
            module = subject[1] if subject else ""
            found += [Row(module, name, True, frozenset(), "") for name in re.findall(r"`(\w+)`", cells[1])]
        elif line.startswith("| `") and len(cells) == 3:
            module, _, name = cells[0].strip("`").rpartition(".")
            names = frozenset(re.findall(r"`(\w+)`", cells[2]))
            found.append(Row(module, name, {"yes": True, "no": False}[cells[1]], names, cells[2]))
    return found


ROWS = rows()
PRESENT = [row for row in ROWS if row.present]


def ours(row: Row) -> Any:
    """What has the name here; LookupError if nothing has."""
    try:
        module = importlib.import_module(f"cudapy.core.{row.module}".rstrip("."))
    except ModuleNotFoundError:
        raise LookupError(row.full) from None
    if row.name in REACHED and not row.module:
        module = importlib.import_module(f"cudapy._core.{REACHED[row.name]}")
    if not hasattr(module, row.name):
        raise LookupError(row.full)
    return getattr(module, row.name)


def members(text: str) -> dict[str, str | None]:
    """What the record says of a class: members to their parameters, None for a value, "" the constructor."""
    found: dict[str, str | None] = {}
    for name, parameters in re.findall(r"(\w*)(\([^)]*\))?(?: |$)", text):
        if name or parameters:
            found[name] = parameters[1:-1] if parameters else None
    return found


def has(cls: type, name: str) -> bool:
    return hasattr(cls, name) or any(name in vars(base).get("__annotations__", ()) for base in cls.__mro__)


def accepts(function: Any, wanted: str) -> str:
    """What a call that suits the peer's parameters would find wrong here, or ""."""
    try:
        have = [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
    except ValueError:
        return ""
    by_position = [p.name for p in have if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = {p.name for p in have if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    defaults = {word for word in wanted.split() if "=" in word}
    wanted = re.sub(r"=\S+", "", wanted)
    positional, _, named = wanted.partition("*")
    if re.match(r"\w", named):  # *args
        if not any(p.kind is p.VAR_POSITIONAL for p in have):
            return f"it takes no *{named}"
        named = named.partition(" ")[2]
    names = positional.split()
    if by_position[: len(names)] != names:
        return f"its parameters are {by_position}, not {names}"
    missing = set(named.split()) - by_name
    if missing:
        return f"it has no parameter {', '.join(sorted(missing))}"
    needed = [
        p.name for p in have if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    more = set(needed) - set(wanted.replace("*", "").split())
    if more:
        return f"it needs {', '.join(sorted(more))} as well"
    others = defaults - {with_default(p.name, p.default) for p in have}
    return f"the default is another one than in {', '.join(sorted(others))}" if others else ""


def test_the_page_has_every_name_once() -> None:
    wanted = [f"{module}.{name}".lstrip(".") for module, names in PEER.items() for name in names]
    assert sorted(row.full for row in ROWS) == sorted(wanted)


def test_what_is_absent_has_a_reason() -> None:
    bare = [row.full for row in ROWS if not row.present and len(row.reason) < 10]
    bare += [row.full for row in PRESENT if row.absent and not re.search(r"`: \w", row.reason)]
    assert not bare


@pytest.mark.parametrize("row", [row for row in ROWS if not row.present], ids=lambda row: row.full)
def test_what_the_page_has_as_absent_is_absent(row: Row) -> None:
    with pytest.raises(LookupError):
        ours(row)


@pytest.mark.parametrize("row", PRESENT, ids=lambda row: row.full)
def test_what_the_page_has_as_present_is_present(row: Row) -> None:
    """Every member but those that the page names, and these not; enums with their values."""
    thing, recorded = ours(row), PEER[row.module][row.name]
    if re.match(r"\w+=", recorded):
        assert issubclass(thing, enum.Enum) and issubclass(thing, str)
        assert {f"{member.name}={member.value}" for member in thing} >= set(recorded.split())
        return
    if not isinstance(thing, type):
        assert not row.absent
        return
    wanted = set(members(recorded)) - {""}
    missing = {name for name in wanted if not has(thing, name)}
    assert missing == row.absent & wanted == row.absent


@pytest.mark.parametrize("row", PRESENT, ids=lambda row: row.full)
def test_functions_take_what_those_of_the_peer_take(row: Row) -> None:
    thing, recorded = ours(row), PEER[row.module][row.name]
    if not isinstance(thing, type):
        is_function = recorded.startswith("(") and inspect.isroutine(thing)
        wrong = {"": accepts(thing, recorded[1:-1])} if is_function else {}
    else:
        wrong = {
            name: accepts(getattr(thing, name) if name else thing, parameters)
            for name, parameters in members(recorded).items()
            if parameters is not None and (not name or hasattr(thing, name)) and name[:2] != "__"
        }
    assert not {name: problem for name, problem in wrong.items() if problem}


def test_the_comparison_finds_what_is_wrong() -> None:
    def function(a: int, b: int = 0, *, c: int = 0) -> None: ...

    right = ("a b", "a b * c", "a * b c", "a", "a b=0 * c=0")
    assert [accepts(function, wanted) for wanted in right] == [""] * len(right)
    for wanted, problem in (
        ("b a", "not"),
        ("a * d", "no parameter d"),
        ("", "needs a"),
        ("a *b", r"no \*b"),
        ("a b=1", "default .* b=1"),
        ("a=0 b", "default .* a=0"),
    ):
        assert re.search(problem, accepts(function, wanted)), wanted
    assert members("(a b * c) x y() z(q)") == {"": "a b * c", "x": None, "y": "", "z": "q"}


@pytest.mark.parametrize("cls", [core.EventOptions, core.StreamOptions], ids=lambda cls: cls.__name__)
def test_options_or_a_dict_of_them(cls) -> None:
    made = accepted(cls, {PEER[""][cls.__name__][1:].split("=")[0]: False})
    assert type(made) is cls and accepted(cls, made) is made
    for wrong in (5, "text", [("a", 1)], cls):
        with pytest.raises(TypeError, match=f"options must be {cls.__name__} or a dict"):
            accepted(cls, wrong)
    with pytest.raises(TypeError, match="colour"):
        accepted(cls, {"colour": 1})


def test_choices_are_as_good_as_their_texts() -> None:
    from cudapy.core import typing  # type: ignore[attr-defined]

    for name in typing.__all__:
        choices = getattr(typing, name)
        if isinstance(choices, type) and issubclass(choices, enum.Enum):
            for choice in choices:
                assert choice == choice.value and {choice.value: 1}[choice] == 1
                assert str(choice) == f"{choice}" == choice.value
