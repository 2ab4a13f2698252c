"""Calls a function through the stub and compares, byte for byte, what C received and what came back."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from . import module
from .build import (
    BENEATH,
    REMEMBERED,
    Parameter,
    attribute_types,
    is_aggregate,
    is_writable,
    number_of,
    pattern,
    status_of,
)
from .record import Argument, Stub
from .values import STYLES, Case, Input, case, results, same


def cases(function: Any) -> Iterator[Case]:
    """The calls that show what a function sends: every style, or every attribute that it knows."""
    types = attribute_types(function)
    if types is None:
        for style in STYLES:
            yield case(function, style)
    else:
        for key in types[1]:
            yield case(function, "typical", key)


def echo(stub: Stub, made: Case, function: Any = None, symbol: str = "") -> None:
    """Make the call, of `function` if it is given. Raises AssertionError for the first difference.

    symbol: the one that must have been called.
    """
    what = f"{made.function.__name__}, {made.style}, {made.key!r}"
    stub.wide_counts = wide = made.style in ("high", "low")
    stub.calls()
    status, *have = (function or made.function)(*made.arguments())
    calls = stub.calls()
    assert is_status(status, 0, made.function), f"{what}: {status!r}"
    assert len(calls) == 1, f"{what}: {calls}"
    assert calls[0].symbol == symbol or not symbol, f"{what}: C was called as {calls[0].symbol}"
    for p in made.found:
        received = calls[0].arguments[p.c.c_name]
        given = made.inputs.get(p.c.c_name)
        if given is None:
            fresh = is_fresh(received, p) or takes_turns(made, p)
            assert fresh, f"{what}: C received {received} for the output {p.c.c_name}"
        else:
            wanted = f"not {given.raw!r} with {given.memory!r} behind it"
            assert arrived(given, received), f"{what}: C received {received} for {p.c.c_name}, {wanted}"
        if p.role == "in place" and made.style != "low" and given is not None:
            changed = bytes(memoryview(given.value))
            assert changed == pattern(p.index, len(changed)), f"{what}: {p.c.c_name} was not changed in place"
        if given is not None and is_writable(p) and isinstance(given.value, bytearray):
            assert given.value == pattern(p.index, len(given.value)), f"{what}: {p.c.c_name} was not filled"
    expected_results = results(made, bool(wide))
    assert len(have) == len(expected_results), f"{what}: returned {have}"
    for value, expected in zip(have, expected_results, strict=True):
        assert same(value, expected), f"{what}: returned {brief(value)}, not {brief(expected)}"


def is_status(have: Any, number: int, function: Any) -> bool:
    """Whether a status is the one with that number; of a struct of two, both are what the stub returns."""
    cls = status_of(function)
    if not is_aggregate(cls):
        return have is cls(number)
    beneath = BENEATH if number and number_of(function) is None else 0
    return (
        type(have) is cls and bytes(have) == struct.pack("2i", number, beneath) and bool(have) == bool(number)
    )


def refuses_unknown_attribute(function: Any) -> bool:
    """Whether a function whose `void *` depends on an attribute refuses one that it does not know."""
    types = attribute_types(function)
    if types is None:
        return True
    made = case(function, "typical", next(iter(types[1])))
    arguments = dict(zip(function.__declaration__.inputs, made.arguments(), strict=True))
    try:
        function(**{**arguments, types[0]: 0x7EDCBA98})
    except ValueError:
        return True
    return False


def arrived(given: Input, received: Argument) -> bool:
    """Whether C received the argument that was given."""
    right = any(received.raw) if given.raw is None else received.raw == given.raw
    memory = given.memory if given.memory is None else given.memory[:REMEMBERED]
    return right and received.memory == memory


def is_fresh(received: Argument, p: Parameter) -> bool:
    """Whether an output was zeroed memory, or null for nothing to write; a struct has its version in it."""
    if received.memory is not None and is_aggregate(p.cls) and p.cls._version_:
        return received.memory == bytes(p.cls())[:REMEMBERED]
    return not any(received.memory) if received.memory is not None else not any(received.raw)


def takes_turns(made: Case, p: Parameter) -> bool:
    """Whether calls reuse the storage of an output: it is the only one, and a number (or text) in Python."""
    cls = p.variants[1][made.key] if p.variants else p.cls
    is_object = is_aggregate(cls) or issubclass(cls or int, module("_ffi.handles").Handle) or cls is bool
    return not is_object and sum(q.role in ("output", "in out") for q in made.found) == 1


def brief(value: Any) -> str:
    """What a message shows of a result; not the fields of a struct, whose pointers lead nowhere."""
    return type(value).__name__ if is_aggregate(type(value)) else repr(value)[:400]
