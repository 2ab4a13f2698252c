"""Functions of all libraries with a lane, on stubs: the same through the lane and through their own code.

A call has what the function takes, up to three odd objects in place of it, and now and then an argument too
many or too few. Both ways get objects of their own, made alike: ints of all lengths, objects of derived
classes, lists of all kinds, objects that change the others when they are asked for their value. In some calls
C calls back before it looks at what it got, and then the arguments change, or the function is called again.
Compared are the result or the exception, what C received, what became of the arguments, and how many
references to them there are.
"""

from __future__ import annotations

import contextlib
import ctypes
import enum
import fcntl
import functools
import gc
import hashlib
import os
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.stub import APIS, module, source
from tests.stub.build import build, is_aggregate, parameters
from tests.stub.record import Stub
from tests.stub.sweep import BAD, Stranger, targets
from tests.test_lanes import FAILURE, arrived, faces_of, has_lane, lanes, without_lane

Enum, Handle = module("_ffi.enums").Enum, module("_ffi.handles").Handle
DEVICE_OF_NVML = Path("/dev/nvidiactl")
"""Where this is, NVML's setters would change a GPU if a mistake here called the library itself."""
FOLDER = Path(tempfile.gettempdir()) / f"cudapy-fuzz-{os.getuid()}"
EDGES = [(1 << bits) + near for bits in (0, 8, 30, 31, 32, 60, 62, 63, 64) for near in (-1, 0, 1)]
LONG = 1 << 20
"""What counts results is smaller, or far larger than the memory that there is."""
HOOK = ctypes.CFUNCTYPE(None)


class Way(NamedTuple):
    """A function with a lane, and the same without."""

    function: Any
    lane: Any
    twin: Any
    arguments: dict[str, Any]
    big: set[str]
    api: str
    cell: Any  # the class of what an owning function fills


@functools.cache
def stub_of(api: str) -> Stub:
    """Compiled by the first process that needs it."""
    declarations = "".join(
        f.__declaration__.prototype for f in vars(source(api)).values() if hasattr(f, "__declaration__")
    )
    FOLDER.mkdir(exist_ok=True)
    library = FOLDER / f"{api}-{len(declarations)}-{hash_of(declarations)}.so"
    with (FOLDER / f"{api}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            build(source(api), FOLDER / f"{api}_{os.getpid()}.so").rename(library)
    return Stub(library, api)


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@functools.cache
def ways() -> tuple[Way, ...]:
    """All functions that have a lane, in each of their forms; each was called once."""
    assert not lanes.why_not(), f"no fast lane: {lanes.why_not()}"
    found: list[Way] = []
    for api in APIS:
        if api == "nvml" and DEVICE_OF_NVML.exists():
            continue
        stub = stub_of(api)
        stub.peek = 0
        for target in targets(api):
            function, right = target.function, target.arguments
            if not hasattr(function, "__declaration__"):
                continue
            called(function, tuple(right.values()))
            if has_lane(function):
                for face in faces_of(function):
                    called(face, tuple(right.values()))
                    if has_lane(face):
                        twin = without_lane(face)
                        found.append(Way(function, face, twin, right, target.big, api, None))
            found += owning(function, right, target.big, api)
        stub.reset()
    return tuple(found)


def owning(function: Any, right: dict[str, Any], big: set[str], api: str) -> Iterator[Way]:
    """The form that fills a cell, if there is one with a lane."""
    outputs = [p for p in parameters(function) if p.role == "output"]
    if len(outputs) != 1 or function.__name__.startswith("_") or api.startswith("runtime"):
        return
    scope = function.__globals__
    face = getattr(module("_ffi.owning").Owning(scope, function.__declaration__.library), function.__name__)
    if has_lane(face):
        yield Way(function, face, without_lane(face), right, big, api, scope[outputs[0].c.type])


def called(function: Any, arguments: tuple[Any, ...], keywords: Any = {}) -> Any:  # noqa: B006
    """What comes of a call: types and texts, without addresses of Python's objects."""
    try:
        results = function(*arguments, **keywords)
    except Exception as error:
        return type(error), plain(str(error))
    is_tuple = type(results) is tuple
    return is_tuple, [(type(r), plain(repr(r))) for r in (results if is_tuple else (results,))]


def plain(text: str) -> str:
    return re.sub(r"( at|object) 0x[0-9a-f]+", r"\1", text)


# -- arguments -------------------------------------------------------------------------------------------


class Derived(int):
    """A number that says it is another one."""

    def __index__(self) -> int:
        return 7

    __int__ = __index__


class Plain(int):
    pass


class Own(enum.IntEnum):
    ONE = 1
    LARGE = 1 << 62


class Changing(int):
    """Changes the other arguments when it is asked for its value."""

    act: Callable[[], None] = int  # type: ignore[assignment]

    def __index__(self) -> int:
        self.act()
        return 5

    __int__ = __index__


class Asked:
    """No number, but has one."""

    act: Callable[[], None] = int  # type: ignore[assignment]

    def __index__(self) -> int:
        self.act()
        return 6

    def __repr__(self) -> str:
        return "Asked()"


class Refusing:
    def __index__(self) -> int:
        raise KeyError("no number")

    def __repr__(self) -> str:
        return "Refusing()"


class Items(list):  # type: ignore[type-arg]
    """A list that is longer when it is read."""

    def __iter__(self) -> Iterator[Any]:
        self.append(1)
        return super().__iter__()


def fresh(value: Any) -> Any:
    """The same for one call alone, so that it may change."""
    if isinstance(value, Handle):
        return type(value)(value.value)
    if is_aggregate(type(value)):
        return type(value).from_buffer_copy(value)
    if type(value) in (list, tuple):
        return type(value)(map(fresh, value))
    if type(value) is int:
        return value ^ 1 ^ 1  # whose references nobody else has
    return bytearray(value) if type(value) is bytearray else value


def number(chance: random.Random, _: Any) -> int:
    """One of any length."""
    if chance.random() < 0.5:
        return int(fresh(chance.choice(EDGES)))
    return chance.choice((1, 1, -1)) * chance.getrandbits(chance.choice((1, 8, 29, 31, 59, 61, 64, 90, 900)))


def handle(chance: random.Random, value: Any) -> Any:
    """A handle in place of another argument: of its class, of one derived from it, of another."""
    driver = module("driver")
    classes = [driver.CUstream, driver.CUevent, driver.CUdeviceptr, driver.CUcontext, Stranger]
    if isinstance(value, Handle):
        classes += [type(value)] * 6
    cls = chance.choice(classes)
    if chance.random() < 0.3:
        cls = derived(cls)
    made = cls(chance.choice((0, 1, 7, 2**31 - 1, 2**63, 2**64 - 1)) & (256 ** ctypes.sizeof(cls) // 2 - 1))
    if chance.random() < 0.2 and hasattr(made, "__dict__"):
        made.note = made
    return made


@functools.cache
def derived(cls: type) -> type:
    return type(cls.__name__, (cls,), {"__module__": cls.__module__})


def array(chance: random.Random, value: Any) -> Any:
    """A list or tuple in place of an argument."""
    items = list(value) if isinstance(value, (list, tuple)) else [0]
    first = items[0] if items else 0
    count = chance.choice((len(items), len(items), len(items), 0, 1, 2, 63, 64, 65, 200))
    items = [fresh(first) for _ in range(count)]
    for _ in range(chance.choice((0, 0, 1, 2)) if items else 0):
        items[chance.randrange(count)] = chance.choice((number, handle, simple))(chance, first)
    kind = chance.choice((list, list, list, tuple, tuple, Items))
    return kind(items)


def simple(chance: random.Random, value: Any) -> Any:
    """Objects of other kinds."""
    made = [
        Plain(5), Derived(5), Own.ONE, Own.LARGE, Changing(3), Changing(0), Asked(), Asked(), Refusing(),
        True, False, None, 0.5, 1e300, "0", "", b"", b"a", b"longer\0bytes", bytearray(3), object, [], (),
        module("driver").CUresult(1), module("driver").CUmemorytype(2), module("driver").CUresult(-3),
    ]  # fmt: skip
    if isinstance(value, int) and type(value) is not int:  # an enum
        with contextlib.suppress(Exception):
            made += [type(value)(chance.choice((0, 1, 2, 5, 999, -1, 2**31 - 1)))] * 8
    return fresh(chance.choice([*made, *BAD.values()]))


def odd(chance: random.Random, value: Any) -> Any:
    """Something in place of a right argument."""
    which = chance.random()
    if is_aggregate(type(value)) and which < 0.5:
        made = derived(type(value))() if chance.random() < 0.3 else fresh(value)
        disturb(chance, made)
        return made
    if isinstance(value, (list, tuple)) and which < 0.6:
        return array(chance, value)
    if isinstance(value, (bytes, str)) and which < 0.5:
        kinds: list[Any] = [bytes, bytearray, derived(bytes), memoryview, lambda b: b.decode("latin-1")]
        return chance.choice(kinds)(bytes(chance.getrandbits(8) for _ in range(chance.choice((0, 1, 5, 64)))))
    kinds = [number, number, handle, handle, simple, array]
    return chance.choice(kinds)(chance, value)


def given(way: Way, chance: random.Random) -> tuple[list[Any], dict[str, Any]]:
    """What one call gets, by position and by name: the same for the same `chance`, and nobody else has it."""
    arguments = {name: fresh(value) for name, value in way.arguments.items()}
    names = list(arguments)
    for name in chance.sample(names, min(len(names), chance.choice((0, 0, 1, 1, 1, 2, 3)))):
        value = fresh(odd(chance, arguments[name]))
        is_long = (
            isinstance(value, (int, Handle)) and LONG < int.__int__(getattr(value, "value", value)) < 2**40
        )
        arguments[name] = 3 if name in way.big and is_long else value
    keywords: dict[str, Any] = {}
    how = chance.random()
    if names and how < 0.04:
        del arguments[names[-1]]
    elif names and how < 0.06:
        keywords[names[-1]] = arguments.pop(names[-1])
    values = list(arguments.values())
    if how > 0.97:
        values.append(chance.choice((0, None, [])))
    if way.cell is not None:
        values.insert(0, way.cell())
    return values, keywords


def disturb(chance: random.Random, struct: Any) -> None:
    """Change a byte of a struct."""
    view = memoryview(struct).cast("B")
    if view:
        view[chance.randrange(len(view))] = chance.randrange(256)


def change(chance: random.Random, arguments: list[Any]) -> None:
    """Change one of the arguments."""
    able = [a for a in arguments if isinstance(a, (list, Handle, bytearray)) or is_aggregate(type(a))]
    if not able:
        return
    one = chance.choice(able)
    if isinstance(one, Handle):
        one.value = chance.randrange(100)
    elif isinstance(one, list):
        step = chance.randrange(4)
        if step == 0:
            one.clear()
        elif step == 1:
            one.append(chance.getrandbits(70))
        elif step == 2 and one:
            one[chance.randrange(len(one))] = chance.choice((None, "0", 1 << 70, 3))
        else:
            one[:] = [fresh(item) for item in one]
    elif isinstance(one, bytearray):
        with contextlib.suppress(BufferError):
            one.append(1)
    else:
        disturb(chance, one)


def with_items(arguments: list[Any]) -> list[Any]:
    """The arguments and what is in their lists, each object once."""
    found: dict[int, Any] = {}
    for each in arguments:
        found[id(each)] = each
        if isinstance(each, (list, tuple)):
            found.update((id(each[i]), each[i]) for i in range(len(each)))
    return [*found.values()]


def is_alone(value: Any) -> bool:
    """Whether an object has no references but those of this call."""
    if isinstance(value, int) and not isinstance(value, (bool, enum.Enum, Enum)):
        return value > 2**31
    return isinstance(value, (Handle, list, bytearray)) or is_aggregate(type(value))


def points(values: list[Any]) -> bool:
    """Whether C gets addresses that differ from call to call: those of bytes in a list."""
    lists = [each for each in values if isinstance(each, (list, tuple))]
    return any(isinstance(item, (bytes, bytearray, memoryview)) for items in lists for item in items)


# -- one call, both ways ---------------------------------------------------------------------------------


class Hook:
    """What C does before it looks at what it got: in a call of `function`, once, and not while it does so."""

    def __init__(self, stub: Stub, act: Callable[[], None]) -> None:
        self._stub, self._act = stub, act
        self._place = ctypes.c_void_p.in_dll(stub.library, "stub_hook")
        self._thunk = HOOK(self._run)

    def __enter__(self) -> None:
        self._place.value = ctypes.cast(self._thunk, ctypes.c_void_p).value

    def __exit__(self, *_: object) -> None:
        self._place.value = None

    def _run(self) -> None:
        self._place.value = None
        self._act()


def reads(way: Way, arguments: list[Any]) -> bool:
    """Whether C may read behind what it is given: no number stands for an address."""
    pointers = [p for p in parameters(way.function) if p.c.stars and p.role in ("input", "address")]
    names = {p.c.name for p in pointers}
    kinds = (list, tuple, bytes, bytearray, type(None), str)
    offset = way.cell is not None
    values = dict(zip(way.arguments, arguments[offset:], strict=False))
    return all(isinstance(v, kinds) or is_aggregate(type(v)) for n, v in values.items() if n in names)


def one_way(way: Way, face: Any, seed: int) -> Any:
    """What comes of a call of one of both, all that can be compared.

    A failure names the arguments: without a lane as C got them, with one as they are after that.
    """
    chance = random.Random(~seed)
    stub = stub_of(way.api)
    stub.reset()
    stub.status = chance.choice((0, 0, 0, FAILURE))
    hooked = chance.choice((None, None, "change", "again", "both"))
    more = chance.getrandbits(60)
    arguments, keywords = given(way, random.Random(seed))
    stub.peek = 2 if not keywords and reads(way, arguments) and reads(way, [*way.arguments.values()]) else 0
    all_of = [*arguments, *keywords.values()]
    has_addresses = points(all_of)
    kept = [*filter(is_alone, with_items(all_of))]
    inside: list[Any] = []

    def act() -> None:
        steps = random.Random(more)
        change(steps, arguments)
        if steps.random() < 0.1:
            gc.collect(0)

    def again() -> None:
        if hooked != "again":
            act()
        if hooked != "change":
            cell = () if way.cell is None else (way.cell(),)
            inside.append(called(face, (*cell, *map(fresh, way.arguments.values()))))

    for each in with_items(all_of):
        if isinstance(each, (Changing, Asked)):
            each.act = act
    before = [*map(sys.getrefcount, kept)]
    with Hook(stub, again) if hooked else contextlib.nullcontext():
        result = called(face, tuple(arguments), keywords)
    if hooked in ("change", "both") and result[0] not in (True, False):
        result = result[0], result[1].partition("Called with")[0]
    after = [*map(sys.getrefcount, kept)]
    if before != after:
        gc.collect()
        after = [*map(sys.getrefcount, kept)]
    changed = [(type(o).__name__, b, a) for o, b, a in zip(kept, before, after, strict=True) if a != b]
    left = [plain(repr(each)) for each in arguments]
    bits = [bytes(each) for each in arguments if is_aggregate(type(each))]
    return {
        "result": result,
        "inside": inside,
        "in C": None if has_addresses else arrived(stub.calls(), way.function),
        "left": left,
        "bits": bits,
        "references": changed,
    }


def prepare() -> None:
    """Find and compile once what all processes call."""
    ways()
    gc.collect()
    gc.freeze()


class Fuzzer:
    at_once = 2000
    is_spent = False

    def __init__(self) -> None:
        warnings.simplefilter("ignore")  # a fraction that is dropped

    def item(self, number: int) -> str:
        way = random.Random(number).choice(ways())
        values, keywords = given(way, random.Random(number))
        shown = [f"{value!r:.200}" for value in values]
        shown += [f"{name}={value!r:.200}" for name, value in keywords.items()]
        what = f"{way.lane.__module__}.{way.lane.__qualname__}({', '.join(shown)})"
        os.lseek(2, 0, os.SEEK_SET)
        os.ftruncate(2, 0)
        os.write(2, what.encode(errors="replace")[:2000] + b"\n")
        found, expected = one_way(way, way.lane, number), one_way(way, way.twin, number)
        for part, value in expected.items():
            assert found[part] == value, f"{what}: {part}: {found[part]} by the lane, {value} without it"
        kind = found["result"][0]
        assert kind is not SystemError, f"{what}: {found['result']}"
        return "done" if isinstance(kind, bool) else str(kind.__name__)
