"""The language of the package: words that were retired do not come back.

A name is a term of CUDA or Python that its reader would search for (docs/glossary.md). Those below are not:
each had a better one. TERMS has the files in which a word is the field's own.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from pathlib import Path

import pytest

from .test_layers import FILES, PACKAGE, nodes

NAMES = {
    "meetings": "BarrierSync",
    "gate": "convergence mask",
    "gates": "convergence mask",
    "gated": "masked",
    "watch": "RaceDetector",
    "grain": "granularity",
    "tell_apart": "refine",
    "noisy": "unspecified NaN payload",
    "homes": "register locations, parameter slots",
    "find_live": "liveness",
    "crooked": "misaligned",
    "octets": "bytes",
    "rounds_in_vain": "unproductive_polls",
    "neighbours": "edges",
    "uncaptured": "free_outside_capture",
    "quietly": "free_outside_capture",
    "foundation": "prerequisite",
    "give_back": "release",
    "let_go": "drain_deferred",
    "by_hand": "manual",
    "settle": "install_code",
    "lasting": "for_deallocation",
    "census": "live_objects",
    "at_work": "gc_pause",
    "ticket": "IpcHandle",
    "able": "supported",
    "whole_numbers": "integers",
    "surroundings": "context",
    "around": "context",
    "rooms": "packages",
    "thing": "obj",
    "things": "objects",
}
"""Names of modules, functions, classes, parameters and variables, and what would be understood."""

PHRASES = {
    "is no": r"(?i)(?<!there )\b(?:is|are) no (?!longer|more|such|different)",
    "the house": r"(?i)\bthe house\b",
    "the main job": r"(?i)\bthe main job\b",
    "the other code": r"(?i)\bthe other code\b",
    "meet again": r"(?i)\bmeet again\b",
    "in vain": r"(?i)\bin vain\b",
    "what is not here": r"(?i)\bwhat is not here\b",
    "gives back": r"(?i)\bg[ia]ves? (?:it |them )?back\b",
}
"""What messages and docstrings do not say."""

ANYWHERE = {
    "Ctrl-C comes": r"(?i)\bCtrl-C (?:may |does not |has )?comes?\b",
    "The same": r"(?m)^\s*#\s+The same\b",
    "That of": r"(?m)^\s*#\s+That of\b",
    "Those": r"(?m)^\s*#\s+Those\b",
}
"""What neither comments nor docstrings say. A comment begins with its noun; what Ctrl-C may interrupt is in
_process/interrupt_safe.py, which the places that it is about name.
"""

TERMS = {"simulator/pytorch/formulas.py": {"gates"}}  # of an LSTM


def name_of(node: ast.AST) -> str | None:
    """What a part of a file names itself: not what it only uses."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) else None


@functools.cache
def plain(name: str) -> str:
    """`_Gates` and `rounds_in_vain` in the form of NAMES."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip("_")).lower()


def used(path: Path) -> Counter[str]:
    """The retired words of a file."""
    source = path.read_text(encoding="utf-8")
    own = [path.stem, *filter(None, map(name_of, nodes(path)))]
    terms = next((words for end, words in TERMS.items() if path.as_posix().endswith(end)), set[str]())
    found = Counter(name for name in map(plain, own) if name in NAMES and name not in terms)
    texts = "\0".join(n.value for n in nodes(path) if isinstance(n, ast.Constant) and type(n.value) is str)
    for word, pattern in PHRASES.items():
        found[word] += len(re.findall(pattern, texts))
    for word, pattern in ANYWHERE.items():
        found[word] += len(re.findall(pattern, source))
    return +found


@pytest.fixture(scope="module")
def words() -> dict[Path, Counter[str]]:
    return {path: used(path) for path in FILES}


def test_retired_words_do_not_come_back(words: dict[Path, Counter[str]]) -> None:
    total = sum(words.values(), Counter[str]())
    wrong = []
    for word, number in total.items():
        places = [
            f"{path.relative_to(PACKAGE)} ({found[word]})" for path, found in words.items() if found[word]
        ]
        better = f"; rather {NAMES[word]}" if word in NAMES else ""
        wrong.append(f"{word!r}: {number}{better}: {', '.join(places)}")
    assert not wrong, "\n".join(wrong)


def test_the_reader_of_words(tmp_path: Path) -> None:
    path = tmp_path / "gates.py"
    path.write_text(
        '"""Gives back what is no list, though there is no other."""\n'
        "# Those of the warp: no Ctrl-C comes between\n"
        "def _let_go(thing): thing.crooked = f'{thing} are no numbers, which are no longer used'\n"
    )
    assert used(path) == {
        **dict.fromkeys(("gates", "let_go", "thing", "crooked", "gives back", "Those", "Ctrl-C comes"), 1),
        "is no": 2,
    }
