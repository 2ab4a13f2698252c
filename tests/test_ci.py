"""What CI installs, and on which Pythons it runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import pytest
from packaging.requirements import Requirement

import cudapy

from .stub import REPOSITORY

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli", reason="Python 3.10 reads no TOML by itself")

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCKS = {
    "cuda12": ("cuda12", "test"),
    "cuda13": ("cuda13", "dev"),
    "site": ("cuda13", "test", "docs", "notebooks", "package"),
}
"""The extras that a file of `.ci` is for."""


def wanted(extra: str) -> Iterator[Requirement]:
    for line in EXTRAS[extra]:
        requirement = Requirement(line)
        if requirement.name == PROJECT["name"]:
            for inner in requirement.extras:
                yield from wanted(inner)
        else:
            yield requirement


def locked(name: str) -> dict[str, list[Requirement]]:
    """By name, each version that is installed: some packages have one for each Python."""
    text = (REPOSITORY / ".ci" / f"{name}.txt").read_text()
    found: dict[str, list[Requirement]] = {}
    for entry in re.split(r"\n(?=\S)", text):
        if entry.startswith("#"):
            continue
        pinned, *hashes = re.split(r"\s*\\\n\s*", entry.strip())
        assert hashes and all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes), pinned
        requirement = Requirement(pinned)
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), pinned
        found.setdefault(requirement.name, []).append(requirement)
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_all_that_ci_installs_is_locked(name: str) -> None:
    """`nox -s lock` was run since the requirements changed."""
    found = locked(name)
    requirements = [Requirement(line) for line in PROJECT["dependencies"]]
    requirements += [*(each for extra in LOCKS[name] for each in wanted(extra)), Requirement("hatchling")]
    for requirement in requirements:
        versions = [next(iter(each.specifier)).version for each in found[requirement.name]]
        assert all(requirement.specifier.contains(version) for version in versions), requirement
        for minor in range(10, 14):
            python = {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.1"}
            fitting = [e for e in found[requirement.name] if e.marker is None or e.marker.evaluate(python)]
            assert len(fitting) == 1, (requirement, minor)


def test_ci_runs_on_every_python_that_is_promised() -> None:
    """In the workflow, of which those that fail without a word are named so."""
    workflow = (REPOSITORY / ".github" / "workflows" / "ci.yml").read_text()
    (tested,) = re.findall(r"  pythons:.*?python: \[(.*?)\]", workflow, re.DOTALL)
    classifiers = [each.rpartition(" :: ")[2] for each in PROJECT["classifiers"]]
    promised = [each for each in classifiers if re.fullmatch(r"3\.\d+", each)]
    untested = re.findall(r'python: "([\d.]+)t?", untested: true', workflow)
    assert [each for each in promised if each not in untested] == re.findall(r"[\d.]+", tested)


def test_generated_files_say_so() -> None:
    """To whoever opens one, in the first line, and to GitHub, which folds them in reviews."""
    lines = (REPOSITORY / ".gitattributes").read_text().splitlines()
    patterns = [line.removesuffix(" linguist-generated") for line in lines if line[:1] not in ("", "#")]
    marked = {path for pattern in patterns for path in REPOSITORY.glob(pattern)}
    assert all(any(REPOSITORY.glob(pattern)) for pattern in patterns)
    stubs = set((REPOSITORY / "cudapy").rglob("*.pyi"))
    assert stubs <= marked
    for path in marked:
        assert re.search(r"`python -m tests\.\w+`", "".join(path.read_text().splitlines()[:1])), path


def test_all_files_with_a_version_have_the_same() -> None:
    for file, pattern in (
        ("CITATION.cff", r"^version: (.*)$"),
        ("conda/recipe.yaml", r'^  version: "(.*)"$'),
    ):
        assert re.findall(pattern, (REPOSITORY / file).read_text(), re.M) == [cudapy.__version__], file
