"""Numbers of the pages that say how many there are of something: each is counted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cudapy import pathfinder
from cudapy.core import DeviceProperties
from cudapy.simulator.engine import instructions
from cudapy.simulator.engine.instructions.rule import Rule
from cudapy.simulator.entry_points import NEWEST, symbols
from samples.__main__ import samples

from .headers import wheels
from .kernels.families import chosen
from .simulator import hopper
from .simulator.checked import streams
from .simulator.checked.races import PAIRS
from .simulator.checked.undefined import NAMES

TESTS = Path(__file__).parent
WORDS = {"four": 4, "eight": 8, "seventy": 70}


def mistakes() -> int:
    """Of the kernels of tests/simulator/checked, each with a twin that is correct."""
    return len(PAIRS) + sum(name.startswith("bug_") for name in NAMES) + len(streams.PROGRAMS)


def nccl_releases() -> int:
    return len(json.loads((TESTS / "headers" / "nccl_releases.json").read_text()))


def compared(*kinds: str) -> int:
    """Combinations of opcode and types whose results of an H200 are kept."""
    kept = json.loads((TESTS / "simulator" / "reference.json").read_text())
    return sum(len(kept[kind]) for kind in kinds)


def rules(chosen: Callable[[Rule], object]) -> int:
    return sum(bool(chosen(rule)) for table in instructions.TABLES for rule in table.RULES)


FIGURES: dict[str, tuple[Callable[[], int], list[str]]] = {
    "samples, in tens": (lambda: len(samples()) // 10 * 10, ["README.md: more than # programs"]),
    "samples": (lambda: len(samples()), ["docs/checked-kernels.md: the tests run all # with all checks"]),
    "notebooks": (
        lambda: len([*(TESTS.parent / "notebooks").glob("*.ipynb")]),
        ["docs/notebooks.md: There are # notebooks"],
    ),
    "mistakes": (
        mistakes,
        [
            "docs/checked-kernels.md: | mistake | # |",
            "docs/checked-kernels.md: | correct | # |",
            "docs/testing.md: each of # mistakes is reported",
        ],
    ),
    "small kernels": (lambda: 2 * mistakes(), ["docs/bugs.md: has # small kernels and programs"]),
    "kernels": (
        lambda: len(chosen()),
        [
            "docs/checked-kernels.md: The # kernels of `tests/kernels`",
            "docs/simulator-speed.md: of # test kernels",
            "docs/testing.md: of the # kernels were right",
        ],
    ),
    "programs for Hopper": (
        lambda: len(hopper.calls()),
        ["docs/simulator.md: All of its # programs give"],
    ),
    "releases of CUDA": (
        lambda: len(wheels.RELEASES),
        [
            "README.md: the headers of # CUDA releases",
            "CONTRIBUTING.md: the headers of # releases",
            "docs/decisions.md: of # releases check",
            "docs/reliability.md: none of # releases has",
            "docs/testing.md: the headers of # CUDA releases",
        ],
    ),
    "releases of NCCL": (
        nccl_releases,
        ["docs/nccl.md: the headers of # releases", "docs/testing.md: NCCL's headers of # releases"],
    ),
    "attributes of a device": (
        lambda: len(vars(DeviceProperties)["__annotations__"]),
        ["docs/devices.md: the driver's # attributes"],
    ),
    "libraries": (
        lambda: len(pathfinder.SUPPORTED_NVIDIA_LIBNAMES),
        ["docs/alias.md: the # libraries of `load_nvidia_dynamic_lib`"],
    ),
    "headers": (lambda: len(pathfinder.SUPPORTED_HEADERS_CTK), ["docs/alias.md: # kinds of headers"]),
    "programs of a toolkit": (
        lambda: len(pathfinder.SUPPORTED_BINARY_UTILITIES),
        ["docs/alias.md: # programs of a toolkit"],
    ),
    "symbols of libcuda": (lambda: len(symbols(NEWEST)), ["docs/any-program.md: default stream: # symbols"]),
    "combinations compared": (
        lambda: compared("exact", "approximate"),
        ["docs/simulator.md: hardware: # combinations of opcode and types"],
    ),
    "exact combinations": (lambda: compared("exact"), ["docs/simulator.md: The # exact ones are equal"]),
    "expressions of registers": (
        lambda: rules(lambda rule: rule.is_plain),
        ["docs/design.md: | # | expressions of registers and numbers"],
    ),
    "other expressions": (
        lambda: rules(lambda rule: rule.expression and not rule.is_plain),
        ["docs/design.md: | # | expressions with effects"],
    ),
    "described instructions": (
        lambda: rules(lambda rule: rule.describe and not rule.expression and rule.effect != "nothing"),
        ["docs/design.md: | # | descriptions, of which"],
    ),
    "instructions without effect": (
        lambda: rules(lambda rule: rule.effect == "nothing"),
        ["docs/design.md: | # | nothing, but that"],
    ),
    "ends of blocks": (
        lambda: rules(lambda rule: rule.ends_block and rule.effect != "nothing"),
        ["docs/design.md: | # | ends of blocks"],
    ),
}


def number(text: str) -> int:
    return WORDS[text] if text in WORDS else int(text.replace(",", ""))


@pytest.mark.parametrize("what", FIGURES)
def test_as_many_as_the_pages_say(what: str) -> None:
    count, places = FIGURES[what]
    for place in places:
        page, _, words = place.partition(": ")
        pattern = r"\s+".join(map(re.escape, words.split())).replace(r"\#", r"([\w,]+)")
        found = re.findall(pattern, (TESTS.parent / page).read_text())
        assert found, f"{page} does not say: {words}"
        assert {number(each) for each in found} == {count()}, place
