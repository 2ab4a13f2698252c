"""The calls that are made of both packages, and what is said of each: what C received, what came back.

Arguments are written down without either package: ["handle", "CUstream", 5], ["struct", "CUuuid", bytes].
`build` makes the object of one package out of that. What comes back is described the same way.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from cudapy._ffi.prototypes import PYTHON_NAMES
from tests.stub import source
from tests.stub.build import Parameter, attribute_types, is_aggregate
from tests.stub.record import Stub
from tests.stub.sweep import BY_HAND
from tests.stub.values import Index, case, enums, handles

Spec = Any
DRIVER = source("driver")


class Int(Index):
    """An object with `__int__` alone."""

    __index__ = None  # type: ignore[assignment]

    def __int__(self) -> int:
        return self.value


class Pointed:
    """An object with `getPtr()` to a number."""

    def __init__(self, value: int) -> None:
        self.storage = ctypes.c_uint64(value)

    def getPtr(self) -> int:
        return ctypes.addressof(self.storage)


CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
SHARED = bytearray(4096)  # what an address or a view of is passed
ADDRESS = ctypes.addressof((ctypes.c_char * len(SHARED)).from_buffer(SHARED))
dir(DRIVER)
STRUCTS = {
    name: ctypes.sizeof(value)
    for name, value in vars(DRIVER).items()
    if isinstance(value, type) and is_aggregate(value)
}


def spec(value: Any) -> Spec:
    """Write a value of our own package down."""
    if value is None or isinstance(value, (bytes, float, bool)) or type(value) is int:
        return value
    if isinstance(value, bytearray):
        return ["bytearray", bytes(value)]
    if isinstance(value, (list, tuple)):
        return ["list", [spec(item) for item in value]]
    if isinstance(value, enums.Enum):
        return ["enum", type(value).__name__, int(value)]
    if isinstance(value, (handles.Callback, handles.Thunk)):
        return ["callback", type(value).__name__]
    if isinstance(value, handles.Handle):
        return ["handle", type(value).__name__, int(value)]
    if is_aggregate(type(value)):
        return ["struct", type(value).__name__, ctypes.string_at(value.getPtr(), ctypes.sizeof(value))]
    return ["index", value.__index__()]


def build(what: Spec, package: ModuleType) -> Any:
    """The object of `package` that was written down."""
    if not isinstance(what, list):
        return what
    kind, *rest = [ADDRESS if item == "ADDRESS" else item for item in what]
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(build(item, package) for item in rest[0])
    if kind in ("enum", "handle"):
        return type_of(rest[0], package)(rest[1])
    if kind == "struct":
        made = type_of(rest[0], package)()
        ctypes.memmove(made.getPtr(), rest[1], len(rest[1]))
        return made
    if kind == "callback":
        cls = getattr(package, rest[0], None) if len(rest) and rest[0] else None
        return cls(_ptr=ctypes.addressof(CALLBACK)) if cls is not None else CALLBACK
    if kind == "numpy":
        import numpy

        return getattr(numpy, rest[0])(rest[1])
    if kind == "array":
        import numpy

        return numpy.array([build(item, package) for item in rest[1]], dtype=rest[0])
    if kind == "shared":
        return {
            "address": ADDRESS,
            "bytearray": SHARED,
            "memoryview": memoryview(SHARED),
            "ctypes": ctypes.c_void_p(0x0102030405060708),
        }[rest[0]]  # type: ignore[index]
    return {"index": Index, "int": Int, "pointed": Pointed, "bytearray": bytearray, "ctypes": ctypes.c_int}[
        kind  # type: ignore[index]
    ](rest[0])


def type_of(name: str, package: ModuleType) -> Any:
    """The class of that name: in the module, or else in the driver module beside it."""
    if hasattr(package, name):
        return getattr(package, name)
    of_peer = package.__name__.startswith("cuda.")
    return getattr(importlib.import_module("cuda.bindings.driver") if of_peer else DRIVER, name)


def describe(value: Any) -> Any:
    """Write a result down: the names of its type and what it holds."""
    name = type(value).__name__
    if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
        return value
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [describe(item) for item in value]]
    if isinstance(value, int):
        return ["enum", name, getattr(value, "name", ""), int(value)]
    if name in STRUCTS:
        return ["struct", name, ctypes.string_at(value.getPtr(), STRUCTS[name]).hex()]
    if hasattr(value, "__int__"):
        return ["handle", name, int(value)]
    return ["object", name]


# -- arguments -------------------------------------------------------------------------------------------


def functions(api: str) -> Iterator[tuple[str, dict[str, Spec], list[Parameter]]]:
    """The public functions of a library: name, right arguments, and what is known of the parameters."""
    for name, function in list(vars(source(api)).items()):
        if not re.match(r"cu(da)?[A-Z]", name) or not callable(function) or isinstance(function, type):
            continue
        if name in BY_HAND:
            yield name, {k: spec(v) for k, v in BY_HAND[name].items()}, []
        elif hasattr(function, "__declaration__"):
            types = attribute_types(function)
            yield name, *right_arguments(function, next(iter(types[1])) if types else None)


def right_arguments(function: Any, key: Any) -> tuple[dict[str, Spec], list[Parameter]]:
    """Right arguments; `key` is the attribute, for a function whose `void *` depends on one."""
    made = case(function, "typical", key)
    found = {p.c.name: p for p in made.found if p.role != "output"}
    inputs = function.__declaration__.inputs
    arguments = {n: spec(made.inputs[found[n].c.c_name].value) for n in inputs}
    return arguments, [found[n] for n in inputs]


def attributes(api: str, name: str) -> Iterator[tuple[str, dict[str, Spec]]]:
    """Every attribute of a getter or setter, with a value of the type that it has."""
    function = getattr(source(api), name)
    if hasattr(function, "__declaration__"):
        key, types = attribute_types(function) or ("", {})
        for member in types:
            yield f"of {key}={member.name}", right_arguments(function, member)[0]  # type: ignore[attr-defined]


def forms(p: Parameter, right: Spec) -> Iterator[tuple[str, Spec]]:
    """Other things than the right one that people pass for a parameter."""
    if p.counts:  # how much memory the peer makes: it does not mind if that is too little
        for kind in ("uint64", "int32", "uint8"):
            yield f"numpy {kind}", ["numpy", kind, 2]
        yield "index", ["index", 2]
        yield "int alone", ["int", 2]
        return
    yield "none", None
    yield "str", "text"
    yield "float", 1.5
    yield "minus", -1
    yield "huge", 2**64
    if p.variants:
        return
    if p.count or (p.c.stars and not is_aggregate(p.cls) and p.role == "input"):
        yield from arrays(p, right)
        return
    if is_aggregate(p.cls):
        yield "wrong struct", ["struct", "CUuuid", bytes(16)]
        return
    yield "bool", True
    yield "zero", 0
    yield "int", 5
    for kind in ("uint64", "int32", "uint8", "bool_"):
        yield f"numpy {kind}", ["numpy", kind, 1]
    yield "index", ["index", 6]
    yield "int alone", ["int", 7]
    yield "pointed", ["pointed", 8]
    yield "array of one", ["array", "uint64", [9]]
    yield "stranger", ["handle", "CUstream", 3]
    yield "pointer", ["handle", "CUdeviceptr", 3]
    if issubclass(p.cls, handles.Handle):
        yield "own", ["handle", p.cls.__name__, 3]
    if issubclass(p.cls, enums.Enum) and len(p.cls):
        for member in list(p.cls)[:3]:
            yield f"member {member.name}", ["enum", p.cls.__name__, int(member)]
    yield "a member", ["enum", "CUmemorytype", 2]


def arrays(p: Parameter, right: Spec) -> Iterator[tuple[str, Spec]]:
    yield "empty", ["list", []]
    yield "bytes", b"some bytes that are long enough for anything here to be read from"
    yield "bytearray", ["shared", "bytearray"]
    yield "memoryview", ["shared", "memoryview"]
    yield "address", ["shared", "address"]
    yield "ctypes", ["shared", "ctypes"]
    yield "array", ["array", "uint64", [1, 2, 3, 4, 5, 6, 7, 8]]
    yield "bytes array", ["array", "uint8", [1, 2, 3, 4, 5, 6, 7, 8] * 8]
    yield "numpy uint64", ["numpy", "uint64", "ADDRESS"]
    yield "index", ["index", "ADDRESS"]
    yield "int alone", ["int", "ADDRESS"]
    yield "pointer", ["handle", "CUdeviceptr", "ADDRESS"]
    yield "stream", ["handle", "CUstream", "ADDRESS"]
    if isinstance(right, list) and right[0] == "list":
        items = right[1]
        yield "tuple", ["tuple", items]
        yield "longer", ["list", [*items, *items]]
        yield "shorter", ["list", items[:-1]]
        yield "item", items[0]
        yield "of none", ["list", [None] * len(items)]
        yield "of ints", ["list", list(range(1, len(items) + 1))]
        yield "of numpy", ["list", [["numpy", "uint64", i] for i in range(1, len(items) + 1)]]
        yield "of index", ["list", [["index", i] for i in range(1, len(items) + 1)]]
        if p.cls is not None and issubclass(p.cls, handles.Handle):
            yield "of own", ["list", [["handle", p.cls.__name__, i] for i in range(1, len(items) + 1)]]


def plan(api: str = "driver") -> Iterator[tuple[str, str, list[tuple[str, Spec]]]]:
    """Every call: (function, what is special about it, arguments by name in order)."""
    for name, right, found in functions(api):
        yield name, "right", list(right.items())
        yield name, "keywords", list(right.items())
        for label, arguments in attributes(api, name):
            yield name, label, list(arguments.items())
        for p in found:
            for label, other in forms(p, right[p.c.name]):
                yield (
                    name,
                    f"{p.c.name}={label}",
                    [(k, other if k == p.c.name else v) for k, v in right.items()],
                )


# -- what is seen ----------------------------------------------------------------------------------------


def observe(
    stub: Stub, package: ModuleType, name: str, label: str, arguments: list[tuple[str, Spec]]
) -> tuple[Any, Any]:
    """Make a call: what came back, or the exception; and what C received."""
    stub.reset()
    stub.peek = 2
    return call(getattr(package, name), label, arguments, package), received(stub, dict(arguments))


def call(
    function: Callable[..., Any], label: str, arguments: list[tuple[str, Spec]], package: ModuleType
) -> Any:
    try:
        made = {name: build(value, package) for name, value in arguments}
    except Exception as error:
        return ["not built", type(error).__name__, str(error)[:80]]
    try:
        result = function(**made) if label == "keywords" else function(*made.values())
    except Exception as error:
        return ["raised", type(error).__name__, str(error)[:100]]
    try:
        return ["returned", describe(result)]
    except Exception as error:  # an enum of the peer that does not know the value
        return ["returned", repr(error)]


def received(stub: Stub, inputs: dict[str, Spec]) -> list[Any]:
    """What C received for the inputs: what lies behind a pointer, or else the argument itself."""
    found = []
    for made in stub.calls():
        arguments: dict[str, str] = {}
        for c_name, (raw, memory) in made.arguments.items():
            name = PYTHON_NAMES.get(c_name, c_name)
            if name not in inputs:
                continue
            given = inputs[name]
            if memory is not None:
                arguments[name] = memory.hex()[:400]
            elif int.from_bytes(raw, "little") == ADDRESS:
                arguments[name] = "the address"
            elif isinstance(given, bytes) or (
                isinstance(given, list) and given[0] in ("array", "bytearray", "shared", "callback")
            ):
                arguments[name] = "an address"
            else:
                arguments[name] = raw.hex()
        found.append([made.symbol.replace("_recorded", ""), arguments])
    return found


DELIBERATE = {
    r"=float$": "1.5 is no address or handle; the peer cuts it off. Integers: test_ffi_integers.py",
    r"=stranger$": "a pointer to another kind of thing is refused",
    r"(allback\w*|fn)=": "the peer puts a function of its own in front of a callback",
    r"^cuVDPAU": "the address of a function",
    r"^cuTexRef[SG]etBorderColor": "there are four numbers; the peer has one",
    r"^cuGraph(Get|Node)\w*(Nodes|Edges|Dependencies)(_v2)?\(": "lists end where the count says",
    r"^cuDevSmResourceSplitByCount": "the same",
    r"^cuDeviceGetLuid": "8 bytes; the peer goes on to the next NUL",
    r"^cu(DeviceGetGraphMemAttribute|MemPoolGetAttribute)": "an int, where the peer has a cuuint64_t",
    r"^cu(Stream|GraphKernelNode)GetAttribute": "the struct goes by its newest name",
    r"^cuPointer[GS]etAttribute": "an enum, or a bool of one bit, where the peer has an int",
    r"handleType=": "nobody knows how large the handle of an unknown type is",
    r"=(item|shorter|empty)$": "C would read past the list, or what is not an address",
    r"^cu(da)?Graphics(Unm|M)apResources\(resources=address": "a number for a list",
    r"^cuGetProcAddress(_v2)?\(symbol=none": "C takes no null there",
    r"ImportFromShareableHandle\((osH|h|shareableH)andle=none$": "C takes it for descriptor 0",
    r"\bdst(Host)?=bytes$": "a constant of the program would change",
    r"=numpy uint64$": "the peers of CUDA 12.9 and 13.0 take a NumPy number for a buffer",
}
"""Calls in which we differ on purpose, by what they are written as, and why."""


class Facts:
    """What is remembered of the calls that a package took: by function and parameter, their labels and a
    digest of what C received and what came back.
    """

    def __init__(self) -> None:
        self.calls: dict[str, dict[str, tuple[list[str], Any]]] = {}

    def add(self, name: str, label: str, outcome: Any, calls: Any) -> None:
        """Take a call in, in the order of `plan`."""
        parameter, _, what = label.rpartition("=")
        labels, digest = self.calls.setdefault(name, {}).setdefault(parameter, ([], hashlib.sha256()))
        labels.append(what)
        digest.update(json.dumps([outcome, calls]).encode())

    def digest(self, name: str, parameter: str) -> tuple[list[str], str]:
        """The labels of the calls that there were, and the digest."""
        labels, digest = self.calls.get(name, {}).get(parameter, ([], hashlib.sha256()))
        return labels, digest.hexdigest()[:8]

    def data(self) -> dict[str, Any]:
        """The same for JSON: a number for each set of labels."""
        numbers: dict[str, int] = {}
        calls = {
            name: {
                parameter: [numbers.setdefault(";".join(labels), len(numbers)), digest.hexdigest()[:8]]
                for parameter, (labels, digest) in parameters.items()
            }
            for name, parameters in self.calls.items()
        }
        return {"labels": list(numbers), "calls": calls}

    def write(self, path: str) -> None:
        Path(path).write_text(json.dumps(self.data(), separators=(",", ":")).replace("},", "},\n") + "\n")


class Recorded:
    """What `Facts.write` wrote."""

    def __init__(self, path: Path) -> None:
        data = json.loads(path.read_text())
        self.calls = data["calls"]
        self.labels = [labels.split(";") for labels in data["labels"]]

    def has(self, name: str, label: str) -> bool:
        """Whether the peer took this call."""
        parameter, _, what = label.rpartition("=")
        number, _ = self.calls.get(name, {}).get(parameter, (-1, ""))
        return number >= 0 and what in self.labels[number]

    def differ(self, facts: Facts) -> list[str]:
        """Where what is now is not what was recorded."""
        return [
            f"{name}({parameter})"
            for name, parameters in self.calls.items()
            for parameter, (number, digest) in parameters.items()
            if facts.digest(name, parameter) != (self.labels[number], digest)
        ]


def on_purpose(name: str, label: str) -> bool:
    return any(re.search(pattern, f"{name}({label}") for pattern in DELIBERATE)
