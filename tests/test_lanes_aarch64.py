"""The routine of the fast lane for AArch64, in an emulator: the same as the functions' own code.

Left out are structs that C takes by value: there, those of more than two words go by their address. The lanes
of core's objects, and those of launches, are not run.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cudapy._ffi.lane_types import VALUE

from .lane_emulator import Emulator
from .stub.record import Stub
from .test_lanes import (
    FAILURE,
    arrived,
    attempts,
    faces_of,
    has_lane,
    lanes,
    needs_lanes,
    outcome,
    without_lane,
)
from .test_lanes import _switched_on as _switched_on

pytestmark = [needs_lanes, pytest.mark.thorough]
REGISTERS = 8, 6  # for arguments: on AArch64, on x86-64, for which the tables are


def kinds(table: Any) -> tuple[Any, ...]:
    """What a function takes and returns."""
    words = dict(zip(lanes.FUNCTION, table, strict=False))
    first, size = len(lanes.FUNCTION), len(lanes.ARGUMENT)
    taken = tuple(table[first + i * size] for i in range(words["parts"]))
    first += words["parts"] * size
    size = len(lanes.RESULT)
    made = tuple(table[first + i * size + 1] for i in range(words["results"]))
    return taken, made, bool(words["sized"]), bool(words["on_stack"]), bool(words["room"])


def functions(api: str) -> Iterator[tuple[Any, Any, tuple[Any, ...]]]:
    """A function of each kind that has a lane, its table, and right arguments."""
    pytest.importorskip("numpy")
    from .stub.sweep import targets

    seen = set()
    for target in targets(api):
        declaration = getattr(target.function, "__declaration__", None)
        arguments = tuple(target.arguments.values())
        outcome(target.function, arguments)
        if declaration is None or not has_lane(target.function):
            continue
        for function in faces_of(target.function):
            outcome(function, arguments)
            table = declaration.library.lanes.get(declaration, {}).get(function)
            if table is None:
                continue
            shape = kinds(table)
            if not any(kind & VALUE for kind in shape[0]) and shape not in seen:
                seen.add(shape)
                yield function, table, arguments


def test_a_function_of_each_kind(stub_of: Callable[[str], Stub]) -> None:
    """All kinds of arguments and results that functions of the driver have, right and wrong ones."""
    stub, emulator, calls = stub_of("driver"), Emulator(lanes), 0
    place = lanes.FUNCTION.index("on_stack")
    for function, table, right in [*functions("driver")]:
        stub.reset()
        stub.peek = 0
        twin, declaration = without_lane(function), function.__kwdefaults__["declaration"]
        named = getattr(declaration, "declaration", declaration).stub
        more, fewer = REGISTERS
        usual, table[place] = table[place], max(table[place] - (more - fewer), 0)
        emulated = functools.partial(emulator, function, table)
        for arguments in itertools.islice(attempts(right, 1), 10):
            for stub.status in (0, FAILURE):
                expected = outcome(twin, arguments), arrived(stub.calls(), named)
                found = outcome(emulated, arguments), arrived(stub.calls(), named)
                assert found == expected, f"{function.__name__}{arguments}"
                calls += 1
        table[place] = usual
    assert calls > 1500
