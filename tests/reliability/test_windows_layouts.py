"""The structs, enums and parameters of every API, as a compiler for Windows has them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from cudapy._ffi.prototypes import FUNCTION_POINTER, CParameter, parse
from tests.headers.check_declarations import APIS, declarations
from tests.headers.wheels import RELEASES

from .windows import NEWEST, cindex, cursors, module, part

pytestmark = pytest.mark.thorough

INCOMPLETE = -2
"""libclang's size of a struct that only the library knows."""
LINUX = {"cufile", "cudla"}
"""What there is on Linux alone."""
NAMES = [name for name, api in APIS.items() if RELEASES[-1] in api.releases and name not in LINUX]


@pytest.fixture(autouse=True, scope="module")
def headers() -> None:
    """Skips where they cannot be had."""
    cindex()
    try:
        for name in NAMES:
            cursors(name)
    except RuntimeError as error:
        pytest.skip(f"the headers of CUDA {NEWEST} cannot be had: {error}")


def record(cursor: Any) -> Any:
    """The struct or union behind a declaration or a typedef."""
    return cursor.type.get_canonical()


def differences(cls: Any, c: Any, what: str) -> Iterator[str]:
    """Where a class and a C type do not agree in size, offset or width."""
    if ctypes.sizeof(cls) != c.get_size():
        yield f"{what} has {c.get_size()} bytes, not {ctypes.sizeof(cls)}"
    types = {field.spelling: field.type.get_canonical() for field in all_fields(c)}
    for key in cls._makers_:
        field = getattr(cls, key)
        if key not in types:
            yield f"{what} has no {key}"
            continue
        place, mine = (c.get_offset(key), types[key].get_size()), (8 * field.raw.offset, field.raw.size)
        if place != mine:
            yield f"{what}.{key} is {place[1]} bytes at bit {place[0]}, not {mine[1]} at {mine[0]}"
        if isinstance(field, part("_ffi.fields").Nested):
            yield from differences(field.cls, types[key], f"{what}.{key}")


def all_fields(c: Any) -> Iterator[Any]:
    """The fields, those of members without a name among them."""
    for field in c.get_fields():
        if field.spelling and "(" not in field.spelling:
            yield field
        else:
            yield from all_fields(field.type.get_canonical())


def is_struct(cls: Any) -> bool:
    return (
        isinstance(cls, type)
        and issubclass(cls, (ctypes.Structure, ctypes.Union))
        and hasattr(cls, "_makers_")
    )


@pytest.mark.parametrize("name", ["driver", "runtime"])
def test_structs(name: str) -> None:
    """Every size, offset and width, where `long` has 4 bytes."""
    classes = {key: cls for key, cls in vars(module(name)).items() if is_struct(cls) and key == cls.__name__}
    compared, wrong = 0, []
    for key, cls in classes.items():
        if key in cursors(name):
            wrong += differences(cls, record(cursors(name)[key]), key)
            compared += 1
    assert not wrong, "\n".join(wrong)
    assert compared > 70, f"{compared} of {len(classes)}"


@pytest.mark.parametrize("name", NAMES)
def test_parameters(name: str) -> None:
    """What functions take by value, what they point to, and what they return is as wide there."""
    compared, wrong = 0, []
    for symbol, declared in declarations(name, NEWEST).items():
        parsed = parse(declared.prototype)
        cursor = cursors(name).get(symbol)
        if cursor is None or "VDPAU" in symbol:
            continue
        for p, c in zip(parsed.parameters, cursor.get_arguments(), strict=True):
            size = width(name, p)
            pointee = c.type.get_canonical()
            for _ in range(p.stars):
                pointee = pointee.get_pointee() if pointee.get_pointee().spelling else pointee.element_type
                pointee = pointee.get_canonical()
            if size is not None and pointee.get_size() not in (size, INCOMPLETE):
                wrong.append(f"{symbol}: {p.c_name} has {pointee.get_size()} bytes, not {size}")
            compared += 1
    assert not wrong, "\n".join(wrong)
    assert compared > 10


def width(name: str, p: CParameter) -> int | None:
    """The bytes of a parameter's base type in cudapy; None for what has no size."""
    if p.type == "void":
        return None
    if p.type == FUNCTION_POINTER:
        return 8
    cls = part("_ffi.scalars").SCALARS.get(p.type) or getattr(module(name), p.type)
    return ctypes.sizeof(part("_ffi.results").storage(cls))
