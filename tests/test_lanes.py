"""The fast lane: the same results and exceptions as the functions' own code, and when it is not taken."""

from __future__ import annotations

import contextlib
import copy
import cProfile
import ctypes
import enum
import functools
import gc
import importlib
import inspect
import os
import pickle
import random
import subprocess
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest

from cudapy._ffi import lane_recipes as recipes

from . import lane_code, lane_recipes
from .stub import APIS, REPOSITORY, module
from .stub.build import parameters
from .stub.record import Call, Stub
from .threads import at_once

settings = module("_process.environment")
lanes = module("_ffi.lanes")
entries = module("_ffi.lane_entries")
layout = module("_ffi.lane_layout")
Handle = module("_ffi.handles").Handle
driver = module("driver")
with pytest.MonkeyPatch.context() as patch:  # from here on the functions of this copy that are called get one
    patch.setattr(settings, "LANES_WANTED", True)
    patch.setattr(lanes, "_state", None)
    lanes.lanes()
    state = lanes._state
lanes._state = state  # type: ignore[attr-defined]
needs_lanes = pytest.mark.skipif(bool(lanes.why_not()), reason=f"no fast lane: {lanes.why_not()}")
FAILURE = 999
VALUES = int(os.environ.get("CUDAPY_LANE_VALUES", "2"))
"""How many other values are tried in the place of each argument, of some 40."""
LEAST = {"driver": 430, "runtime-13": 310, "nvml": 240, "nccl": 30, "cufile": 0}
"""How many functions of a library have a lane, at least. (A status of cuFile is a struct.)"""


def test_the_routine_is_what_its_source_says() -> None:
    assert lane_code.WHERE.read_text() == lane_code.text(), "run `python -m tests.lane_code`"


def test_the_recipes_are_those_of_the_declarations() -> None:
    assert lane_recipes.WHERE.read_text() == lane_recipes.text(), "run `python -m tests.lane_recipes`"


@needs_lanes
@pytest.mark.parametrize("name", lane_recipes.MODULES)
def test_classes_are_found_in_prototypes(name: str) -> None:
    """Those that `_types/lanes.py` leaves out: the same as the reader of the declarations found."""
    every = importlib.import_module(f"cudapy.{name}")
    (library,) = {each.library for each in lane_recipes.declared(every)}
    known = recipes.Recipes(library.declared, *library.recipes())
    status = getattr(every, library.status)
    rows = recipes.Rows(known, status, vars(every), None, library.address_class, id, lambda *_: ())
    for declaration, recipe in known.items():
        found = lane_recipes.described(declaration) or ()
        for place, each in enumerate(found):
            cls = each[2] if len(each) == 4 else each[1]
            letter = known.kinds[recipe[place]]
            expected = getattr(every, cls) if type(cls) is str else None if cls is bytes else cls
            assert rows.class_of(letter, declaration, place) is expected, (declaration.prototype, place)


@needs_lanes
def test_recipes_of_other_functions(d: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a prototype is another one than when the recipes were written no machine code is given to it."""
    declaration = d.cuMemAlloc.__declaration__
    monkeypatch.setattr(d.libcuda, "rows", None)
    monkeypatch.setattr(declaration, "prototype", declaration.prototype.replace("size_t", "int"))
    with pytest.raises(RuntimeError, match=r"recipes of other functions: run .python -m tests.lane_recipes"):
        d.cuMemAlloc(16)


@pytest.fixture(autouse=True)
def _switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for copies that a test makes."""
    monkeypatch.setattr(settings, "LANES_WANTED", True)
    monkeypatch.setenv(settings.FAST_LANE, "1")


def without_lane(function: Any) -> Any:
    """The same function without a lane, written now if it was not before."""
    keywords = function.__kwdefaults__
    if "face" in keywords:
        keywords["face"].install(keywords["function"], function, keywords["names"])
    else:
        function.__declaration__.install()
    twin = types.FunctionType(entries.python_of(function).__code__, function.__globals__, function.__name__)
    twin.__kwdefaults__, twin.__defaults__ = function.__kwdefaults__, function.__defaults__
    return twin


def faces_of(function: Any) -> list[Any]:
    """What calls the same C function: it, that of `checked`, and snake_case ones, if they have lanes."""
    scope = function.__globals__
    faces = [
        each
        for each in [*scope.values()]
        if (getattr(each, "__kwdefaults__", None) or {}).get("function") is function
    ]
    if function.__name__.startswith("_"):
        return [function, *faces]
    return [function, getattr(scope["checked"], function.__name__), *faces]


def has_lane(function: Any) -> bool:
    return not state.entry.is_free(function)


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Types and texts. The function gets copies of handles, as C changes some."""
    arguments = tuple([copy.copy(a) if isinstance(a, Handle) else a for a in arguments])
    try:
        results = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    is_tuple = type(results) is tuple
    return is_tuple, [(type(result), repr(result)) for result in (results if is_tuple else (results,))]


def arrived(calls: list[Call], function: Any) -> Any:
    """What C got, without the addresses of cudapy's own memory."""
    by_value = {p.c.c_name for p in parameters(function) if not p.c.stars}
    memory = {p.c.c_name for p in parameters(function) if p.c.stars and p.role != "output"}
    return [
        (
            call.symbol,
            {name: argument.raw for name, argument in call.arguments.items() if name in by_value},
            {name: argument.memory for name, argument in call.arguments.items() if name in memory},
        )
        for call in calls
        if call.symbol != "cuLogsDumpToMemory"  # which errors ask for details
    ]


def attempts(right: tuple[Any, ...], values: int) -> Iterator[tuple[Any, ...]]:
    """Right arguments, and others in the place of each: so many of all, the same ones each time."""
    from .stub.sweep import BAD

    yield right
    yield right[:-1]
    yield (*right, 0)
    enums = enum_members()
    for place, value in enumerate(right):
        others: list[Any] = [
            0,
            1,
            2**30 - 1,
            2**30,
            2**31 - 1,
            2**60 - 1,
            2**60,
            2**64 - 1,
            *BAD.values(),
            *enums,
        ]
        if isinstance(value, int):
            others += [type("Int", (int,), {})(7), int(value), type(value)(0), type(value)(1)]
        if isinstance(value, (list, tuple)):
            others += arrays(value)
        if isinstance(value, Handle):
            others += [type(value)(0), type("Derived", (type(value),), {})(7)]
        for other in random.Random(repr((len(right), place))).sample(others, min(values, len(others))):
            yield (*right[:place], other, *right[place + 1 :])


def enum_members() -> list[Any]:
    """Members of enums that are not those of the parameter, one of them negative, one of Python's."""
    return [driver.CUmemorytype(2), driver.CUresult(0), driver.CUresult(-1), Own.ONE]


class Own(enum.IntEnum):
    ONE = 1


def arrays(items: Sequence[Any]) -> Iterator[Any]:
    """What a list of arguments may be as well, and what is wrong."""
    first = items[0] if items else 0
    yield from ([*items], (*items,), [*items, first], items[:-1], [], (), [None] * len(items), [*items] * 70)
    for item in (7, 2**31, 2**32, 2**40, 2**64 - 1, 2**64, -1, True, None, "0", [], 0.5, *enum_members()):
        yield [*items[:-1], item]
        yield (item, *items[1:])
    if isinstance(first, Handle):
        yield [type(first)(5)] * len(items)
        yield [type("Derived", (type(first),), {})(7)] * len(items)
        yield first


@needs_lanes
@pytest.mark.thorough
@pytest.mark.parametrize("api", [*APIS])
def test_both_ways_are_the_same(api: str, stub_of: Callable[[str], Stub]) -> None:
    """With arguments right and wrong: the same results or exceptions, and the same in C."""
    pytest.importorskip("numpy")
    from .stub.sweep import targets

    stub, seen, calls = stub_of(api), 0, 0
    lanes_of = [0, 0]  # of functions with the C names, and with snake_case names
    for target in targets(api):
        function = target.function
        declaration = getattr(function, "__declaration__", None)
        if declaration is None:
            continue
        outcome(function, tuple(target.arguments.values()))
        if not has_lane(function):
            continue
        seen += 1
        faces = faces_of(function)
        for face in faces:
            outcome(face, tuple(target.arguments.values()))
        if len(faces) > 1 and "face" not in faces[1].__kwdefaults__:
            assert has_lane(faces[1])
        stub.reset()
        stub.peek = 0  # what it is given are not all addresses
        for each in filter(has_lane, faces):
            lanes_of[each.__kwdefaults__.get("face") is not None] += 1
            twin = without_lane(each)
            for arguments in attempts(tuple(target.arguments.values()), VALUES):
                for stub.status in (0, FAILURE):
                    found = outcome(each, arguments), arrived(stub.calls(), function)
                    expected = outcome(twin, arguments), arrived(stub.calls(), function)
                    calls += 1
                    assert found == expected, f"{target.name}{arguments}"
    print(f"{api}: {calls} calls, lanes: {lanes_of[0]} of C names, {lanes_of[1]} of snake_case names")
    assert seen >= LEAST.get(api, 1)
    assert calls >= 6 * seen


@needs_lanes
@pytest.mark.thorough
@pytest.mark.parametrize("api", ["driver", "nccl", "nvml"])
def test_owning_functions_are_the_same(api: str, stub_of: Callable[[str], Stub]) -> None:
    """Those that fill a cell: the same in the cell and in C, and the same exceptions, which leave 0 in it."""
    pytest.importorskip("numpy")
    from .stub.sweep import targets

    stub, seen = stub_of(api), 0
    for target in targets(api):
        declaration = getattr(target.function, "__declaration__", None)
        makes = [p for p in parameters(target.function) if p.role == "output"] if declaration else ()
        if len(makes) != 1 or target.function.__name__.startswith("_"):
            continue
        owning = module("_ffi.owning").Owning(target.function.__globals__, declaration.library)
        function = getattr(owning, target.function.__name__)
        if not has_lane(function):
            continue
        seen += 1
        twin = without_lane(function)
        cls = target.function.__globals__[makes[0].c.type]
        stub.reset()
        stub.peek = 0
        for arguments in attempts(tuple(target.arguments.values()), 1):
            for stub.status in (0, FAILURE):
                found = []
                for each in (function, twin):
                    cell = cls()
                    result = outcome(lambda *given, each=each, cell=cell: each(cell, *given), arguments)
                    found.append((result, cell.value, arrived(stub.calls(), target.function)))
                assert found[0] == found[1], f"{target.name}{arguments}"
                assert not (stub.status and found[0][1])
    assert seen >= {"driver": 50, "nvml": 1}.get(api, 0), seen


@needs_lanes
def test_lists_of_what_c_keeps(d: ModuleType, stub: Stub) -> None:
    """A lane takes those that have nothing to be kept; the function's own code keeps the rest."""
    stub.peek = 0
    nothing = [([], []), ((), ()), (None, None), ([0], [0])]
    something = [([1], [None]), ([1], [5]), ([1], [bytearray(9)]), ([1], [])]
    for function in (d.cuLibraryLoadData, d.checked.cuLibraryLoadData):
        outcome(function, (b"x", [], [], 0, None, None, 0))
        assert has_lane(function)
        twin = without_lane(function)
        for options, values in (*nothing, *something):
            arguments = b"x", options, values, len(options or ()), None, None, 0
            for stub.status in (0, FAILURE):
                stub.reset()
                found = outcome(function, arguments), arrived(stub.calls(), d.cuLibraryLoadData)
                stub.reset()
                assert found == (outcome(twin, arguments), arrived(stub.calls(), d.cuLibraryLoadData))


@needs_lanes
def test_a_list_that_changes_before_the_call_fails(d: ModuleType, stub: Stub) -> None:
    """As another thread may change it: the failure is told, whatever is in the list by then."""
    nodes: list[Any] = [1, 2]

    @ctypes.CFUNCTYPE(None)
    def change() -> None:
        nodes[:] = ["no node"]

    hook = ctypes.c_void_p.in_dll(stub.library, "stub_hook")
    call = d.checked.cuGraphAddEmptyNode
    call(3, nodes, 2)
    assert has_lane(call)
    stub.status, hook.value = FAILURE, ctypes.cast(change, ctypes.c_void_p).value
    try:
        with pytest.raises(RuntimeError, match="CUDA_ERROR_UNKNOWN"):
            call(3, nodes, 2)
    finally:
        hook.value = None


# -- when it is not taken --------------------------------------------------------------------------------


class Seen(list):  # type: ignore[type-arg]
    """Notes that the function's own code is run, by its name for the C function; the lane has the address."""

    def __init__(self, d: ModuleType, function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        function.__declaration__.install()
        name = f"_c_{function.__name__}"
        real = function.__globals__[name]

        def noting(*arguments: Any) -> Any:
            self.append(name)
            return real(*arguments)

        monkeypatch.setitem(function.__globals__, name, noting)

    def __bool__(self) -> bool:
        """Whether it was since the last time this was asked."""
        been = len(self) > 0
        self.clear()
        return been


@needs_lanes
def test_usual_calls_take_it(d: ModuleType, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = d.cuMemAlloc(16)
    seen = Seen(d, d.cuMemAlloc, monkeypatch)
    assert d.cuMemAlloc(16) == expected
    assert not seen
    assert d.cuMemAlloc(bytesize=16) == d.cuMemAlloc(ctypes.c_int(16)) == expected
    assert seen
    with pytest.raises(TypeError, match="cuMemAlloc"):
        d.cuMemAlloc()
    assert str(inspect.signature(d.cuMemAlloc)).startswith("(bytesize: 'int')")


@needs_lanes
def test_bytes_that_are_long_enough(d: ModuleType, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number that says how many comes after them, and bytes that have fewer are left to the function."""
    assert d.cuMemcpyHtoD(1, b"abcd", 4) == (0,)
    seen = Seen(d, d.cuMemcpyHtoD, monkeypatch)
    for data, count in ((b"abcd", 4), (b"abcd", 3), (b"", 0), (0, 4), (None, 0)):
        assert d.cuMemcpyHtoD(1, data, count) == (0,)
    assert not seen
    for data, count in ((b"abcd", 5), (b"", 1), (b"abcd", 2**64 - 1)):
        with pytest.raises(ValueError, match=f"srcHost holds {len(data)} bytes, the call needs {count}"):
            d.cuMemcpyHtoD(1, data, count)
    assert d.cuMemcpyHtoD(1, bytearray(4), 4) == (0,)
    assert seen


@needs_lanes
def test_tools_see_the_function(d: ModuleType, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    d.cuMemAlloc(16)
    seen = Seen(d, d.cuMemAlloc, monkeypatch)
    names = []

    def note(frame: Any, event: str, argument: Any) -> Any:
        names.append((event, frame.f_code.co_name))

    for start in (sys.setprofile, sys.settrace):
        start(note)
        d.cuMemAlloc(16)
        start(None)
        assert seen
        assert ("call", "cuMemAlloc") in names
        names.clear()
        d.cuMemAlloc(16)
        assert not seen
    with cProfile.Profile() as profile:
        d.cuMemAlloc(16)
    assert seen
    assert any("cuMemAlloc" in str(entry.code) for entry in profile.getstats())
    d.cuMemAlloc(16)
    assert not seen


@needs_lanes
def test_other_code_is_run(d: ModuleType, stub: Stub) -> None:
    assert d.cuMemAlloc(16)[0] == 0
    code = d.cuMemAlloc.__code__

    def other(bytesize: int, *, declaration: Any) -> Any:
        return bytesize

    d.cuMemAlloc.__code__ = other.__code__
    assert d.cuMemAlloc(16) == 16
    d.cuMemAlloc.__code__ = code
    assert d.cuMemAlloc(16)[0] == 0


@needs_lanes
def test_it_remains_a_function(d: ModuleType, stub: Stub) -> None:
    """For pickle, functools and inspect; with defaults that somebody gives it, and without them again."""
    expected = d.cuMemAlloc(16)
    assert has_lane(d.cuMemAlloc)
    assert type(d.cuMemAlloc) is types.FunctionType
    assert pickle.loads(pickle.dumps(d.cuMemAlloc)) is d.cuMemAlloc
    wrapped = functools.wraps(d.cuMemAlloc)(lambda size: d.cuMemAlloc(size))
    assert (wrapped.__name__, wrapped(16)) == ("cuMemAlloc", expected)
    assert inspect.signature(wrapped) == inspect.signature(d.cuMemAlloc)
    assert "def cuMemAlloc" in inspect.getsource(d.cuMemAlloc)
    d.cuMemAlloc.__defaults__ = (16,)
    assert d.cuMemAlloc() == expected
    d.cuMemAlloc.__defaults__ = None
    with pytest.raises(TypeError, match="cuMemAlloc"):
        d.cuMemAlloc()
    assert d.cuMemAlloc(16) == expected


@needs_lanes
def test_other_libraries_are_called(d: ModuleType, stub: Stub) -> None:
    """What `rebind()` finds, be it a C function or one of Python, for which there is no lane."""
    expected = d.cuMemAlloc(16)

    class Other:
        def __init__(self, function: Any) -> None:
            self.function = function

        def __getitem__(self, symbol: str) -> Any:
            return self.function

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
    def in_c(cell: int, size: int) -> int:
        ctypes.c_uint64.from_address(cell).value = size + 1
        return 0

    def in_python(cell: Any, size: Any) -> int:
        return 2

    in_python.restype = in_python.argtypes = None  # type: ignore[attr-defined]
    functions = ((in_c, 17), (in_python, None), (stub.library["cuMemAlloc_v2"], expected[1]))
    for function, result in functions:
        d.libcuda.load = lambda function=function: Other(function)
        d.libcuda.rebind()
        assert d.cuMemAlloc(16)[1] == result


# -- what it leaves --------------------------------------------------------------------------------------


@needs_lanes
def test_references(d: ModuleType, stub: Stub) -> None:
    """Of arguments and of what all results share; and no memory is lost, in a success or a failure."""
    number, handle = 1 << 45, d.CUstream(5)
    names = "cuMemAlloc", "cuStreamQuery", "cuStreamGetPriority", "cuGetErrorString"
    checked = [
        (getattr(d.checked, name), argument)
        for name, argument in zip(names, (number, handle, handle, 0), strict=True)
    ]
    shared = [number, handle, d.CUresult(0), d.CUresult(FAILURE), d.CUdeviceptr, d.CUstream, None]

    def many() -> None:
        for stub.status in (0, FAILURE):
            for _ in range(200):
                d.cuMemAlloc(number)
                d.cuMemAllocAsync(number, handle)
                d.cuStreamQuery(handle)
                d.cuStreamGetPriority(handle)
                d.cuDeviceGet(0)
                for function, argument in checked:
                    with contextlib.suppress(RuntimeError):
                        function(argument)
            stub.reset()

    many()
    gc.collect()
    before, blocks = [*map(sys.getrefcount, shared)], sys.getallocatedblocks()
    for _ in range(10):
        many()
    gc.collect()
    after = [*map(sys.getrefcount, shared)]
    assert all(abs(a - b) < 20 for a, b in zip(after, before, strict=True)), (before, after)
    lost = sys.getallocatedblocks() - blocks
    assert abs(lost) < 1000, lost  # of 2,000 calls of each function, twice


@needs_lanes
@pytest.mark.thorough
def test_references_of_all_constants(d: ModuleType, stub: Stub) -> None:
    """Of all that machine code uses and is given, for each kind of argument and result."""
    calls = int(os.environ.get("CUDAPY_LANE_CALLS", "400"))
    stream, event, number = d.CUstream(5), d.CUevent(6), 1 << 45
    attribute, device, copied = d.CUdevice_attribute(16), d.CUdevice(0), d.CUDA_MEMCPY2D()
    nodes = [d.CUgraphNode(5), number]
    image, few = b"x" * 64, ctypes.addressof(copied)
    kinds: dict[str, tuple[Any, ...]] = {
        "cuMemAlloc": (number,),
        "cuStreamQuery": (stream,),
        "cuStreamGetPriority": (stream,),
        "cuGetErrorString": (0,),
        "cuDeviceGetAttribute": (attribute, device),
        "cuDeviceGetUuid": (device,),
        "cuMemGetInfo": (),
        "cuMemcpyHtoDAsync": (number, image, 64, stream),
        "cuMemcpyDtoHAsync": (few, number, 8, None),
        "cuModuleLoadData": (image,),
        "cuMemcpy2D": (copied,),
        "cuEventElapsedTime": (event, event),
        "cuEventRecord": (event, None),
        "cuCtxSetCurrent": (None,),
        "cuFuncGetAttribute": (d.CUfunction_attribute(0), d.CUfunction(7)),
        "cuDeviceGetName": (17, device),
        "cuGraphAddEmptyNode": (None, nodes, 2),
        "cuTensorMapEncodeTiled": (
            attribute,
            2,
            d.CUdeviceptr(16),
            (number, 2),
            (16,),
            [1, 2],
            [2, 1],
            *[0] * 4,
        ),
    }
    functions = [(getattr(face, name), given) for name, given in kinds.items() for face in (d, d.checked)]
    given = [stream, event, number, attribute, device, copied, image, few, nodes, *nodes]

    def count(function: Any, arguments: tuple[Any, ...], times: int) -> None:
        for start in range(0, times, 100):
            for _ in range(min(100, times - start)):
                with contextlib.suppress(RuntimeError):
                    function(*arguments)
            stub.reset()

    for function, arguments in functions:
        for stub.status in (0, FAILURE):
            count(function, arguments, 100)
    assert not {function.__name__ for function, _ in functions if not has_lane(function)}
    kept = sys.modules[d.__name__.replace("driver", "_ffi.lanes")]._kept
    objects = [*{id(obj): obj for obj in [*kept, *given]}.values()]
    assert any(obj is d.CUresult(0) for obj in objects)
    lost: list[int] = []
    while len(lost) < 3 and not (lost and abs(lost[-1]) < 1000):  # other threads allocate, too: now and then
        gc.collect()
        before, blocks = [*map(sys.getrefcount, objects)], sys.getallocatedblocks()
        for function, arguments in functions:
            for stub.status in (0, FAILURE):
                count(function, arguments, calls)
        after = [*map(sys.getrefcount, objects)]
        changed = [(obj, b, a) for obj, b, a in zip(objects, before, after, strict=True) if abs(a - b) > 40]
        assert not changed
        gc.collect()
        lost.append(sys.getallocatedblocks() - blocks)
    assert abs(lost[-1]) < 1000, lost


@needs_lanes
def test_handles_are_as_any_others(d: ModuleType, stub: Stub) -> None:
    _, first = d.cuStreamCreate(0)
    _, again = d.cuStreamCreate(0)
    assert type(first) is d.CUstream
    assert first == again != 0
    first.value = 3
    first.note = "has a dict"
    assert (again.value, first.value, d.CUstream().value) == (d.CUstream(again).value, 3, 0)
    assert not hasattr(again, "note")
    assert ctypes.c_size_t.from_address(first.getPtr()).value == 3
    assert not first._is_view


ODD = """
import enum
class Int(int): pass
class Lying(int):
    def __index__(self): return 7
    def __int__(self): return 7
class Enumerated(enum.IntEnum): ONE = 1
"""


def odd_values(d: ModuleType, chance: random.Random) -> list[Any]:
    """Objects of classes that look like those that a lane takes, and numbers of all lengths."""
    scope: dict[str, Any] = {}
    exec(ODD, scope)
    numbers = [
        chance.choice((1, -1)) * chance.getrandbits(bits) for bits in (0, 1, 29, 31, 59, 61, 64, 90, 900)
    ]
    near = [(1 << bits) + step for bits in (30, 31, 32, 60, 63, 64) for step in (-1, 0, 1)]
    handles = [cls(chance.getrandbits(60)) for cls in (d.CUstream, d.CUevent, d.CUdeviceptr, d.CUcontext)]
    derived = type("CUstream", (d.CUstream,), {})(3)
    others = [
        scope["Int"](5),
        scope["Lying"](5),
        scope["Enumerated"].ONE,
        True,
        None,
        b"",
        b"a",
        bytearray(3),
    ]
    enums = [d.CUresult(1), d.CUmemorytype(2), d.CUevent_flags(0), d.CUresult(-3)]
    single = [*numbers, *near, *handles, derived, *others, *enums, 0.5, "0", object, d.CUstream]
    nodes = [*map(d.CUgraphNode, range(3)), *single]
    lists = [
        kind(chance.choices(nodes[:5], k=count)) for count in (0, 1, 2, 63, 64, 65) for kind in (list, tuple)
    ]
    return [*single, *lists, *([item] for item in chance.choices(nodes, k=10))]


@needs_lanes
def test_odd_objects(d: ModuleType, stub: Stub) -> None:
    """The same results and exceptions as the functions' own code, the same in C, and no reference is lost."""
    stub.peek = 0
    seed = int(os.environ.get("CUDAPY_LANE_SEED", "0"))
    rounds = int(os.environ.get("CUDAPY_LANE_ROUNDS", "150"))
    chance = random.Random(seed)
    names = (
        "cuMemAlloc", "cuStreamQuery", "cuMemAllocAsync", "cuDeviceGetAttribute", "cuEventElapsedTime",
        "cuGetErrorString", "cuMemsetD8Async", "cuStreamWaitEvent", "cuMemFree", "cuModuleGetFunction",
        "cuMemcpyDtoDAsync", "cuMemGetInfo", "cuFuncGetAttribute", "cuGraphAddEmptyNode", "cuDeviceGetUuid",
        "cuDeviceGetName", "cuPointerGetAttribute", "cuMemPoolGetAttribute", "cuCtxGetCurrent",
        "cuStreamGetCtx",
    )  # fmt: skip
    functions = [getattr(face, name) for name in names for face in (d, d.checked)]
    values = odd_values(d, chance)
    pairs = []
    for function in functions:
        count = len(inspect.signature(function).parameters)
        with contextlib.suppress(RuntimeError, TypeError, ValueError):
            function(*[0] * count)
        assert has_lane(function)
        arrived([], getattr(d, function.__name__))  # which remembers the classes of parameters
        pairs.append((function, without_lane(function), count))
        for number in range(40):  # attributes, whose types are made when they are first asked for
            outcome(pairs[-1][1], (number,) * count)
    gc.collect()  # copies of the package that other tests made
    before = [*map(sys.getrefcount, values)]
    for _ in range(rounds):
        function, twin, count = chance.choice(pairs)
        arguments = tuple([chance.choice(values) for _ in range(count)])
        if function.__name__ == "cuDeviceGetName" and type(arguments[0]) is int and arguments[0] > 1 << 24:
            continue  # whose results have gigabytes, which takes seconds to compare
        stub.status = chance.choice((0, 0, FAILURE))
        stub.reset()
        found = outcome(function, arguments), arrived(stub.calls(), getattr(d, function.__name__))
        stub.reset()
        expected = outcome(twin, arguments), arrived(stub.calls(), getattr(d, function.__name__))
        assert found == expected, (function.__name__, arguments, seed)
        del arguments
    after = [*map(sys.getrefcount, values)]
    wrong = [
        (value, b, a)
        for value, b, a in zip(values, before, after, strict=True)
        if abs(a - b) > (20 if value in (None, 0, 1, "0", object) else 3)  # others use these as well
    ]
    assert not wrong


@needs_lanes
def test_calls_while_an_exception_is_on_its_way(d: ModuleType, stub: Stub) -> None:
    found: list[Any] = []

    class Last:
        def __del__(self) -> None:
            found.append(d.cuMemAlloc(16)[0])
            found.append(d.cuStreamQuery(0))

    def fail() -> None:
        last = Last()  # noqa: F841  # goes as the exception passes
        raise KeyError("on its way")

    with pytest.raises(KeyError, match="on its way"):
        try:
            fail()
        finally:
            found.append(d.cuMemAlloc(16)[0])
    gc.collect()
    assert found.count(0) == 2
    assert (0,) in found


@needs_lanes
def test_threads(d: ModuleType, stub: Stub) -> None:
    stub.peek = 0

    def work(number: int) -> None:
        for i in range(300):
            assert d.cuMemAlloc(16 + i)[0] == 0
            assert d.cuStreamQuery(number) == (0,)
            if i % 20 == 0 and number == 0:
                stub._used.value = 0  # so that the record does not become full

    at_once(work)


@needs_lanes
def test_what_is_looked_up_does_not_hang_on_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other releases of a version of Python have it in other places."""
    expected = layout._watchers()
    monkeypatch.setattr(layout, "_HINTS", ())
    assert layout._watchers() == expected


# -- processes -------------------------------------------------------------------------------------------

PROGRAM = """
import ctypes, os, sys, threading
sys.path.insert(0, {repository!r})
{before}
from cudapy import driver
from cudapy._ffi import lanes
library = ctypes.CDLL({path!r})
driver.libcuda.load = lambda: library
assert driver.cuMemAlloc(16)[0] == 0 == driver.cuMemAlloc(16)[0]
print(lanes.why_not())
{after}
"""


def run(stub: Stub, before: str = "", after: str = "", **environment: str) -> str:
    text = PROGRAM.format(repository=str(REPOSITORY), path=str(stub.path), before=before, after=after)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", text],
        env={**os.environ, settings.FAST_LANE: "1", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.strip()


@needs_lanes
def test_the_environment_switches_them_off(stub: Stub) -> None:
    assert run(stub, CUDAPY_FAST_LANE="0") == "CUDAPY_FAST_LANE is 0"
    assert run(stub, CUDAPY_FAST_LANE="") == ""


@needs_lanes
def test_memory_that_may_not_become_executable(stub: Stub) -> None:
    """As systemd's MemoryDenyWriteExecute has it; then functions are called as ever."""
    deny = "import ctypes; print(ctypes.CDLL(None).prctl(65, 1, 0, 0, 0))"  # PR_SET_MDWE, Linux 6.3
    first, *rest = run(stub, before=deny).splitlines()
    if first != "0":
        pytest.skip("this kernel has no PR_SET_MDWE")
    assert rest == ["memory must not become executable: Permission denied"]


@needs_lanes
def test_no_page_is_writable_and_executable(stub: Stub) -> None:
    show = """print(*[line for line in open("/proc/self/maps") if "wx" in line.split()[1]])"""
    assert run(stub, after=show) == ""


@needs_lanes
def test_an_active_profiler_means_none(stub: Stub) -> None:
    before = "import sys; sys.setprofile(lambda *_: None)"
    assert run(stub, before=before, after="sys.setprofile(None)").startswith("a profiler, tracer or tool")


@needs_lanes
def test_fork_and_exit(stub: Stub) -> None:
    """A child calls as its parent does; threads that are in C as Python ends do not disturb the end."""
    after = """
child = os.fork()
if not child:
    os._exit(driver.cuMemAlloc(16)[0] == 0 and 7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
def call():
    while True:
        driver.cuStreamQuery(0)
for _ in range(4):
    threading.Thread(target=call, daemon=True).start()
class Last:
    def __del__(self, function=driver.cuMemAlloc):
        function(16)
driver.last = last = Last()
"""
    assert run(stub, after=after) == "7"
