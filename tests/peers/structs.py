"""Every struct and handle of both packages: each field set in every form, the bytes of it, and what is read.

    pip install cuda-bindings==13.3.1 numpy && python -m tests.peers.structs [RECORD]

prints what a program would notice, and writes what the peer takes to the file RECORD, for `test_peers.py`.
"""

from __future__ import annotations

import ctypes
import importlib
import re
import sys
from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

from tests.stub import module

from .calls import ADDRESS, Facts, build, describe

fields, enums, handles = module("_ffi.fields"), module("_ffi.enums"), module("_ffi.handles")


def structs(ours: ModuleType) -> Iterator[tuple[str, Any]]:
    """The struct classes of a module, each under its first name."""
    dir(ours)
    seen = set()
    for name, cls in sorted(vars(ours).items()):
        if isinstance(cls, type) and issubclass(cls, (ctypes.Structure, ctypes.Union)) and cls not in seen:
            seen.add(cls)
            if not name.startswith("_"):
                yield name, cls


def leaves(cls: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, descriptor) of every field, those of nested structs among them."""
    for name in cls._makers_:
        descriptor = cls.__dict__[name]
        if isinstance(descriptor, fields.Nested):
            yield from leaves(descriptor.cls, f"{path}{name}.")
        elif name != "nextResource":  # the peer follows it when it is read
            yield path + name, descriptor


def values(field: Any) -> Iterator[tuple[str, Any]]:
    """What people set a field to."""
    cls = field.cls
    if isinstance(field, fields.Scalar):
        real = cls in (ctypes.c_float, ctypes.c_double)
        yield "number", 1.5 if real else 7
        for name in ("uint8", "float32"):
            yield name, ["numpy", name, 3]
        yield "true", True
        yield "zero", 0
        yield "float", 2.0
        yield "index", ["index", 3]
        yield "int alone", ["int", 3]
        yield "none", None
        yield "str", "x"
        yield "minus", -1
        yield "member", ["enum", "CUmemorytype", 2]
        yield "handle", ["handle", "CUdeviceptr", 3]
    elif isinstance(field, fields.EnumField):
        for member in list(cls)[:2]:
            yield member.name, ["enum", cls.__name__, int(member)]
        yield "int", int(next(iter(cls)))
        yield "numpy", ["numpy", "int32", int(next(iter(cls)))]
        yield "none", None
    elif isinstance(field, fields.HandleField):
        for form in (
            5,
            None,
            ["handle", cls.__name__, 5],
            ["numpy", "uint64", 5],
            ["index", 5],
            ["int", 5],
            0,
        ):
            yield f"{form}", form
        yield "callback", ["callback", cls.__name__]
    elif isinstance(field, fields.Pointer):
        yield "none", None
        yield "int", 4096
        for form in ("address", "bytearray", "memoryview", "ctypes"):
            yield form, ["shared", form]
        yield "handle", ["handle", "CUdeviceptr", 5]
        yield "numpy", ["numpy", "uint64", 5]
        yield "index", ["index", 5]
        yield "int alone", ["int", 5]
        yield "array", ["array", "uint64", [1, 2]]
        yield "bytes", b"some"
    elif isinstance(field, fields.Bytes):
        for form in (bytes(i % 255 + 1 for i in range(field.length)), b"ab", b""):
            yield f"{len(form)} bytes", form
        yield "bytearray", ["bytearray", bytes(field.length)]
        yield "list", ["list", [i % 255 + 1 for i in range(field.length)]]
    elif isinstance(field, fields.Items):
        one: Any = 3
        if issubclass(field.cls, enums.Enum):
            one = ["enum", field.cls.__name__, int(next(iter(field.cls)))]
        elif issubclass(field.cls, (ctypes.Structure, ctypes.Union)):
            one = ["struct", field.cls.__name__, bytes(range(ctypes.sizeof(field.cls)))]
        yield "list", ["list", [one] * field.length]
        yield "tuple", ["tuple", [one] * field.length]
        yield "shorter", ["list", [one] * (field.length - 1)]
        yield "none", None
        yield "numpy", ["array", "uint32", [1] * field.length]
    elif isinstance(field, fields.Structs):
        one = ["struct", cls.__name__, bytes(i % 3 for i in range(ctypes.sizeof(cls)))]
        yield "one", ["list", [one]]
        yield "two", ["list", [one, one]]
        yield "none", None
        yield "empty", ["list", []]
        yield "alone", one
        yield "tuple", ["tuple", [one]]
    elif isinstance(field, fields.Text):
        for form in (b"text", None, "text", ["bytearray", b"text"]):
            yield f"{form}", form  # type: ignore[str-bytes-safe]


def fields_of(name: str) -> Iterator[tuple[str, str, Any]]:
    """(struct, "field=form", a function that sets it) for every field and form of a module of ours."""
    ours = module(name)
    for struct, cls in structs(ours):
        for path, field in leaves(cls):
            for label, value in values(field):
                yield struct, f"{path}={label}", partial(attempt, ours, cls, path, field, value)


def attempt(package: ModuleType, cls: Any, path: str, field: Any, value: Any, size: int = 0) -> Any:
    """Set the field of a new struct; the bytes that it has then and what is read back, or the exception."""
    made = cls()
    *outer, name = path.split(".")
    at = made
    for part in outer:
        at = getattr(at, part)
    try:
        given = build(value, package)
        setattr(at, name, given)
    except Exception as error:
        return "raised", type(error).__name__
    data = ctypes.string_at(made.getPtr(), size or ctypes.sizeof(made))
    data = data.replace(ADDRESS.to_bytes(8, "little"), b"=shared=").rstrip(b"\0")
    pointed = isinstance(field, fields.Pointer) and not isinstance(given, (int, type(None)))
    if data and b"=shared=" not in data and (pointed or isinstance(field, (fields.Structs, fields.Text))):
        data = b"an address"
    if isinstance(field, fields.Structs) and (not data or not field.count):
        return "set", data.hex(), None  # the peer follows the null pointer
    try:
        back: Any = describe(getattr(at, name))
        if isinstance(field, fields.Pointer) and data in (b"an address", b"=shared="):
            back = None
    except Exception as error:
        back = "unreadable", type(error).__name__
    return "set", data.hex(), back == ADDRESS or back


DELIBERATE = re.compile(
    r"([lL]oc(ation|Hint)?|^(cuda|CU)[mM]emLocation)\.type="  # the name of 0 is another one
    r"|^cudaKernelNodeParamsV2\."  # 1 in every direction, as the peers of CUDA 12.9 and 13.0 have it
    r"|=callback$"  # an address
    r"|\bdst(Host)?=bytes$"  # a constant of the program would change
)


def compare(name: str, theirs: ModuleType, facts: Facts) -> Iterator[str]:
    """What differs; what the peer takes goes into `facts`."""
    ours, count = module(name), 0
    peers = {}
    for struct, cls in structs(ours):
        peer = getattr(theirs, struct, None)
        try:
            missing = {n for n in dir(peer()) if not n.startswith("_")} - set(dir(cls)) if peer else ()
        except TypeError:
            continue  # the peer makes none
        peers[struct] = peer
        if missing:
            yield f"{struct}: lacks {sorted(missing)}"
    for struct, label, ours_attempt in fields_of(name):
        peer = peers.get(struct)
        if peer is None or DELIBERATE.search(f"{struct}.{label}"):
            continue
        _, cls, path, field, value = ours_attempt.args
        size = min(ctypes.sizeof(cls), theirs.sizeof(peer))
        try:
            wanted = attempt(theirs, peer, path, field, value, size)
        except AttributeError:
            continue  # a field of a newer CUDA
        if wanted[0] == "set":
            count += 1
            have = ours_attempt()
            facts.add(f"{name}.{struct}", label, *wanted[1:])
            if have != wanted:
                yield f"{struct}.{label} ({type(field).__name__}): {brief(have, wanted)}"
    yield f"{count} fields set in both"


def brief(have: Any, wanted: Any) -> str:
    """Where the two begin to differ."""
    if have[0] != "set":
        return f"{have}, not {wanted[-1]}"
    if have[1] != wanted[1]:
        return f"{have[1][:80]}, not {wanted[1][:80]}"
    return f"read back {str(have[2])[:90]}, not {str(wanted[2])[:90]}"


def handle_facts(package: ModuleType, name: str) -> Any:
    """What a handle says of itself."""
    cls = getattr(package, name)
    facts = {}
    for form in (0, 5, None, ["numpy", "uint32", 5], ["index", 5], ["int", 5], "x", 2.0):
        try:
            facts[str(form)] = int(cls(build(form, package)))
        except Exception as error:
            facts[str(form)] = type(error).__name__  # type: ignore[assignment]
    made = cls(5)
    facts["equal"] = made == cls(5), made != cls(6), made == cls(6), made == None  # type: ignore[assignment]  # noqa: E711
    facts["hash"] = hash(made) == hash(cls(5))
    facts["repr"] = repr(made)  # type: ignore[assignment]
    facts["alias"] = int(cls(_ptr=made.getPtr()))
    facts["copy"] = int(cls(made))
    return facts


def compare_handles(ours: ModuleType, theirs: ModuleType) -> Iterator[str]:
    for name, cls in sorted(vars(ours).items()):
        peer = getattr(theirs, name, None)
        if not isinstance(cls, type) or not issubclass(cls, handles.Handle) or not isinstance(peer, type):
            continue
        try:
            wanted, have = handle_facts(theirs, name), handle_facts(ours, name)
        except Exception as error:
            yield f"{name}: {error!r}"
            continue
        for key, value in wanted.items():
            if have[key] != value and not (isinstance(value, str) and value.endswith("Error")):
                yield f"{name}: {key}: {have[key]}, not {value}"


def compare_enums(ours: ModuleType, theirs: ModuleType) -> Iterator[str]:
    for name, cls in sorted(vars(ours).items()):
        peer = getattr(theirs, name, None)
        if isinstance(cls, type) and issubclass(cls, enums.Enum) and isinstance(peer, type):
            for member, value in peer.__members__.items():  # type: ignore[attr-defined]
                if member not in cls.__members__ or int(cls[member]) != int(value):  # type: ignore[attr-defined, index]
                    yield f"{name}.{member}: {cls.__members__.get(member)!r}, not {value!r}"  # type: ignore[attr-defined]
                elif cls[member].name != value.name:  # type: ignore[index]
                    yield f"{name}.{member} is called {cls[member].name}, not {value.name}"  # type: ignore[index]


def compare_constants(ours: ModuleType, theirs: ModuleType) -> Iterator[str]:
    for name, value in sorted(vars(theirs).items()):
        if (
            isinstance(value, (int, float))
            and not name.startswith("_")
            and getattr(ours, name, None) != value
        ):
            yield f"{name}: {getattr(ours, name, None)!r}, not {value!r}"


def main(path_of_record: str = "") -> None:
    facts = Facts()
    for name in ("driver", "runtime"):
        ours, theirs = module(name), importlib.import_module(f"cuda.bindings.{name}")
        for line in compare(name, theirs, facts):
            print(f"{name}: {line}")
        for comparison in (compare_handles, compare_enums, compare_constants):
            for line in comparison(ours, theirs):
                print(f"{name}: {line}")
    if path_of_record:
        facts.write(path_of_record)


if __name__ == "__main__":
    main(*sys.argv[1:])
