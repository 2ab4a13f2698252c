"""Enums, handles, buffers and kernel arguments: the parts that declarations are made of."""

from __future__ import annotations

import array
import copy
import ctypes
import gc
import pickle
import re
import sys
import threading
import weakref
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from .stub import module
from .stub.record import Stub
from .stub.values import Index
from .threads import at_once

driver, runtime = module("driver"), module("runtime")
convert, enums, handles = module("_ffi.convert"), module("_ffi.enums"), module("_ffi.handles")
address_of, memory = module("_ffi.buffers").address_of, module("_ffi.memory")
parse, symbol_of = module("_ffi.prototypes").parse, module("_ffi.library").symbol_of
CUresult = driver.CUresult


# -- prototypes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "returns", "parameters"),
    [
        ("CUresult f(void)", "CUresult", []),
        ("const char *f(nvrtcResult result)", "char*", [("nvrtcResult", 0, False, "result", "result")]),
        ("int f(unsigned long long *p)", "int", [("unsigned long long", 1, False, "p", "p")]),
        ("int f(const char * const* from)", "int", [("char", 2, True, "from_", "from")]),
        (
            "int f(char name[64][2], T t)",
            "int",
            [("char", 2, False, "name", "name"), ("T", 0, False, "t", "t")],
        ),
        (
            "void f(int (*call)(void *, int (*)(int)),\n  void *payload)",
            "void",
            [("(*)", 0, False, "call", "call"), ("void", 1, False, "payload", "payload")],
        ),
    ],
)
def test_prototype(text: str, returns: str, parameters: list[Any]) -> None:
    assert parse(text) == (returns, "f", tuple(parameters))
    assert symbol_of(text) == "f"


@pytest.mark.parametrize(
    "text",
    ["", "int f", "int f(int a", "f(void)", "int 3(void)", "int f()", "int f(int)", "int f(int a,)",
     "int f(int 3)", "int f(int *a b)", "int f(int a-b)", "int f(int (*)(void))"],
)  # fmt: skip
def test_what_is_no_prototype(text: str) -> None:
    with pytest.raises(ValueError, match=f"not a C (prototype|parameter): .*{re.escape(repr(text)[1:-1])}"):
        parse(text)


# -- enums -----------------------------------------------------------------------------------------------


class Colour(enums.Enum):  # type: ignore[misc, name-defined]
    """An enum with two names for one value and a negative value."""

    RED = 1
    CRIMSON = 1
    GREEN = 2
    NONE = -1


def test_enum_members() -> None:
    assert list(Colour) == [1, 2, -1]
    assert [member.name for member in Colour] == ["RED", "GREEN", "NONE"]  # type: ignore[attr-defined]
    assert list(Colour.__members__) == ["RED", "CRIMSON", "GREEN", "NONE"]
    assert Colour.CRIMSON is Colour.RED is Colour(1) is Colour["RED"] is Colour["CRIMSON"]  # type: ignore[misc]
    assert len(Colour) == 3
    assert type(Colour.RED) is Colour
    assert isinstance(Colour.RED, int)
    assert type(Colour.RED.value) is int  # type: ignore[attr-defined]
    assert (Colour.NONE.name, Colour.NONE.value) == ("NONE", -1)  # type: ignore[attr-defined]


def test_enum_members_are_in_dir_and_cannot_change() -> None:
    assert {"RED", "CRIMSON", "GREEN"} <= set(dir(Colour))
    with pytest.raises(AttributeError, match=r"Colour\.RED"):
        Colour.RED = 5
    with pytest.raises(KeyError):
        Colour["BLUE"]  # type: ignore[misc]
    Colour.note = "other attributes can be set"
    assert Colour.note == "other attributes can be set"


@pytest.mark.parametrize(
    ("value", "expected"), [(1, True), (3, False), ("GREEN", True), ("BLUE", False), (Colour.RED, True)]
)
def test_enum_in(value: Any, expected: bool) -> None:
    assert (value in Colour) is expected  # type: ignore[attr-defined]


def test_unknown_value_is_a_member_named_after_its_number() -> None:
    member = Colour(77)
    assert type(member) is Colour
    assert (member, member.value, member.name) == (77, 77, "Colour_77")
    assert member == Colour(77)
    assert 77 not in Colour  # type: ignore[attr-defined]
    assert list(Colour) == [1, 2, -1]
    assert Colour(Index(2)) is Colour.GREEN
    with pytest.raises(ValueError, match="'x' is not a valid Colour"):
        Colour("x")


def test_enum_as_text() -> None:
    """As `enum.IntEnum` has it since Python 3.11."""
    assert repr(CUresult.CUDA_ERROR_NOT_FOUND) == "<CUresult.CUDA_ERROR_NOT_FOUND: 500>"
    assert str(CUresult.CUDA_ERROR_NOT_FOUND) == f"{CUresult.CUDA_ERROR_NOT_FOUND}" == repr(CUresult(500))
    assert f"{CUresult.CUDA_ERROR_NOT_FOUND:5}" == "  500"
    assert f"{CUresult.CUDA_ERROR_NOT_FOUND:5d}" == "  500"
    assert repr(CUresult(12345)) == "<CUresult.CUresult_12345: 12345>"


@pytest.mark.parametrize("value", [0, 2, 98765])
def test_enum_copies(value: int) -> None:
    member = CUresult(value)
    for again in (pickle.loads(pickle.dumps(member)), copy.copy(member), copy.deepcopy(member)):
        assert type(again) is CUresult
        assert (again, again.name) == (member, member.name)
        assert (again is member) or value not in CUresult


def test_members_are_made_once_whichever_thread_asks_first(fresh: ModuleType) -> None:
    classes = [cls for cls in (getattr(fresh, name) for name in dir(fresh)) if is_enum(cls)]
    assert len(classes) > 100
    barrier = threading.Barrier(8, timeout=60)
    found: list[list[Any]] = []

    def work(number: int) -> None:
        mine = []
        for cls in classes:
            barrier.wait()
            mine.append(next(iter(cls)))
        found.append(mine)

    at_once(work)
    for members in zip(classes, *found, strict=True):
        assert len({id(member) for member in members[1:]}) == 1, members[0]


def test_attributes_of_an_enum_are_found_as_of_any_class() -> None:
    """Once it has its members: `__getattr__` of its type would make each of them slow to find."""

    class Shade(enums.Enum):  # type: ignore[misc, name-defined]
        LIGHT = 1

    assert Shade.LIGHT == 1
    assert not hasattr(type(Shade), "__getattr__")
    assert Shade(1) is Shade.LIGHT
    with pytest.raises(AttributeError, match=r"Shade.* has no attribute 'DARK'"):
        Shade.DARK  # noqa: B018
    with pytest.raises(ValueError, match="not a valid Shade"):
        Shade(1.0)


def is_enum(cls: Any) -> bool:
    return isinstance(cls, type) and cls.__module__.endswith("driver.enums") and cls.__bases__[0] is not int


def test_every_enum_of_the_driver_knows_its_members() -> None:
    found = [cls for cls in (getattr(driver, name) for name in dir(driver)) if is_enum(cls)]
    assert len(set(found)) > 100
    for cls in found:
        for name, member in cls.__members__.items():
            assert getattr(cls, name) is member is cls(int(member)) is cls[name]


# -- handles ---------------------------------------------------------------------------------------------


class First(handles.Pointer):  # type: ignore[misc, name-defined]
    """A handle of one API."""


class Twin(First, twin=True):  # type: ignore[call-arg]
    """The same handle in the other API."""


class Other(handles.Pointer):  # type: ignore[misc, name-defined]
    """A handle of another kind."""


LIMITS = {
    driver.CUdevice: (-(2**31), 2**31 - 1),
    driver.cuuint32_t: (0, 2**32 - 1),
    driver.CUdeviceptr: (0, 2**64 - 1),
    driver.CUstream: (0, 2**64 - 1),
    driver.CUhostFn: (0, 2**64 - 1),
}


@pytest.mark.parametrize("cls", LIMITS)
def test_handle_range(cls: Any) -> None:
    low, high = LIMITS[cls]
    for value in (low, 0, 1, high):
        assert int(cls(value)) == int(cls(Index(value))) == value
        assert ctypes.sizeof(cls) == (8 if high >> 32 else 4)
    for value in (low - 1, high + 1, 2**80):
        with pytest.raises(OverflowError, match=f"{value} does not fit a {cls.__name__}"):
            cls(value)
    for wrong in ("5", 1j, b"", [], (), {}, object()):
        with pytest.raises(TypeError, match=f"a {cls.__name__} is made from"):
            cls(wrong)
    assert int(cls()) == int(cls(None)) == 0


class Int:
    """A number by `__int__` alone, as a NumPy bool is."""

    def __int__(self) -> int:
        return 5


def test_whole_numbers_of_any_type(stub: Stub) -> None:
    """What loses nothing as an integer is one: programs compute sizes with `/` too."""
    numpy = pytest.importorskip("numpy")
    for value in (5.0, Int(), numpy.float64(5), numpy.float32(5), numpy.uint8(5), numpy.array(5)):
        assert driver.cuMemAlloc(value)[0] == driver.cuInit(value)[0] == 0
        assert [list(call.arguments.values())[-1].raw[:4] for call in stub.calls()] == [b"\5\0\0\0"] * 2
        assert int(driver.CUstream(value)) == 5
    assert driver.cuInit(numpy.bool_(True))[0] == 0


def test_one_handle_is_a_list_of_one(stub: Stub) -> None:
    resource = driver.CUgraphicsResource(7)
    assert driver.cuGraphicsMapResources(1, resource, 0)[0] == 0
    (call,) = stub.calls()
    assert call.arguments["resources"].memory == (7).to_bytes(8, "little")
    with pytest.raises(ValueError, match="resources holds 1 item, the call needs 2"):
        driver.cuGraphicsMapResources(2, resource, 0)


def test_a_ctypes_object_is_the_memory_it_occupies(stub: Stub) -> None:
    for value in (ctypes.c_void_p(5), ctypes.c_uint64(5)):
        assert driver.cuMemcpyHtoD(1, value, 8)[0] == 0
        (call,) = stub.calls()
        assert call.arguments["srcHost"].memory == (5).to_bytes(8, "little")


def test_no_iterator_is_not_iterator_0(stub: Stub) -> None:
    """For cuLogsDumpToFile, null means all there is."""
    for given, raw in ((None, None), (0, b"\0" * 4)):
        _, iterator = driver.cuLogsDumpToFile(given, b"path", 0)
        (call,) = stub.calls()
        assert call.arguments["iterator"].memory == raw
        assert (iterator is None) == (given is None)


def test_a_number_is_no_opaque_pointer() -> None:
    """Number typedefs count as numbers; a pointer to another thing is refused."""
    assert int(driver.CUdeviceptr(driver.cuuint64_t(5))) == int(driver.CUstream(driver.CUdeviceptr(5))) == 5
    for cls in (driver.CUdevice, driver.CUdeviceptr, driver.CUcontext):
        with pytest.raises(TypeError, match=f"a CUstream is not a {cls.__name__}"):
            cls(driver.CUstream(5))


def test_handle_at_an_address_is_a_view() -> None:
    storage = ctypes.c_uint64(5)
    stream = driver.CUstream(_ptr=ctypes.addressof(storage))
    assert (int(stream), stream.getPtr()) == (5, ctypes.addressof(storage))
    storage.value = 6
    assert int(stream) == 6
    own = driver.CUstream(7)
    assert ctypes.c_uint64.from_address(own.getPtr()).value == 7


def test_handles_are_compared_by_value() -> None:
    assert driver.CUstream(5) == driver.CUstream(5) == 5
    assert driver.CUstream(5) != driver.CUstream(6)
    assert driver.CUstream(5) != driver.CUevent(5)
    assert driver.CUstream(5) != "5"
    assert {driver.CUstream(5): "found"}[5] == "found"
    assert hash(driver.CUdevice(-1)) == hash(-1)
    assert list(range(8))[driver.CUdevice(3)] == 3


def test_twins() -> None:
    assert Twin(5) == First(5)
    assert First(5) == Twin(5)
    assert hash(Twin(5)) == hash(First(5))
    assert type(Twin(First(5))) is Twin
    assert int(Twin(First(5))) == int(First(Twin(5))) == 5
    assert convert.handle(Twin(5), First, "f: x") == 5
    assert convert.handle(First(5), Twin, "f: x") == 5
    assert First(5) != Other(5)
    for cls, wrong in ((First, Other(5)), (Twin, Other(5)), (Other, Twin(5))):
        with pytest.raises(TypeError, match=f"f: x: a {type(wrong).__name__} is not a {cls.__name__}"):
            convert.handle(wrong, cls, "f: x")


def test_handle_as_text_and_copied() -> None:
    assert repr(driver.CUstream(255)) == "<CUstream 0xff>"
    assert repr(driver.CUdevice(-3)) == "<CUdevice -3>"
    again = pickle.loads(pickle.dumps(driver.CUstream(255)))
    assert (type(again), int(again)) == (driver.CUstream, 255)


def test_callbacks_live_as_long_as_c_may_call_them() -> None:
    called = []
    thunk = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(called.append)
    callback = driver.CUhostFn(thunk)
    address = ctypes.cast(thunk, ctypes.c_void_p).value
    assert int(callback) == address
    assert driver.CUhostFn(_ptr=ctypes.addressof(thunk)) == address
    kept = weakref.ref(thunk)
    del thunk, callback
    gc.collect()
    assert kept() is not None
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(9)
    assert called == [9]


CALLBACKS = [
    cls
    for module in (driver, runtime)
    for name in dir(module)
    if isinstance(cls := getattr(module, name), type) and issubclass(cls, handles.Callback)
]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux tells what is code")
@pytest.mark.parametrize("cls", CALLBACKS, ids=lambda cls: cls.__name__)
def test_a_callback_at_an_address_is_a_function_or_a_pointer_to_one(cls) -> None:
    """The latter for the functions of cuda.bindings, the former for cuda.core."""
    thunk = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(int)
    in_a_library = ctypes.CDLL(None).free
    for function in (thunk, in_a_library):
        address = ctypes.cast(function, ctypes.c_void_p).value
        itself, pointer = cls(_ptr=address), cls(_ptr=ctypes.addressof(function))
        assert int(itself) == itself.value == itself.getPtr() == int(pointer) == int(cls(itself)) == address
        assert pointer.getPtr() == ctypes.addressof(function)
        seen = [memoryview(each).tobytes() for each in (itself, pointer)]  # what C gets
        assert seen == [address.to_bytes(8, sys.byteorder)] * 2
        node = driver.CUDA_HOST_NODE_PARAMS(fn=int(itself))
        assert int(node.fn) == address
    storage = ctypes.c_size_t()
    view = cls(_ptr=ctypes.addressof(storage))
    assert not int(view)
    storage.value = address
    assert int(view) == address


def test_what_is_code() -> None:
    function, data = (
        ctypes.cast(ctypes.CDLL(None).free, ctypes.c_void_p).value,
        ctypes.create_string_buffer(8),
    )
    assert memory.is_code(function) == sys.platform.startswith("linux")
    assert (
        not memory.is_code(ctypes.addressof(data)) and not memory.is_code(0) and not memory.is_code(2**64 - 1)
    )


def test_where_nobody_tells_what_is_code(monkeypatch) -> None:
    monkeypatch.setattr(memory, "MAPS", "/nowhere")
    thunk = ctypes.CFUNCTYPE(None)(int)
    assert driver.CUhostFn(_ptr=ctypes.addressof(thunk)) == ctypes.cast(thunk, ctypes.c_void_p).value


# -- buffers ---------------------------------------------------------------------------------------------


def where(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


@pytest.mark.parametrize("const", [True, False])
def test_address_of_writable_memory(const: bool) -> None:
    numpy = pytest.importorskip("numpy")
    for value in (bytearray(b"abcd"), memoryview(bytearray(b"abcd")), array.array("B", b"abcd"),
                  numpy.frombuffer(bytearray(b"abcd"), numpy.uint8)):  # fmt: skip
        pointer, size = address_of(value, const, "f: x")
        assert (ctypes.string_at(pointer, size), size) == (b"abcd", 4)
        ctypes.memset(where(pointer), 0x41, 4)
        assert bytes(value) == b"AAAA"


def test_address_of_read_only_memory() -> None:
    owner = array.array("B", range(200))
    pointer, size = address_of(memoryview(owner).toreadonly()[10:], True, "f: x")
    kept = weakref.ref(owner)
    del owner
    gc.collect()
    assert kept() is not None
    assert ctypes.string_at(pointer, size) == bytes(range(10, 200))
    with pytest.raises(ValueError, match="f: x must be writable"):
        address_of(memoryview(bytes(8)), False, "f: x")


def test_a_scalar_that_is_no_address_is_memory() -> None:
    """NumPy's integers are addresses, as those that computing with pointers gives; its floats are values."""
    numpy = pytest.importorskip("numpy")
    assert where(convert.pointer(numpy.int64(64), 8, True, "f: x")) == 64
    value = numpy.float32(3)
    pointer = convert.pointer(value, 4, True, "f: x")
    assert ctypes.string_at(where(pointer), 4) == value.tobytes()
    with pytest.raises(ValueError, match="f: x must be writable"):
        convert.pointer(value, 4, False, "f: x")


def test_what_ctypes_passes_by_reference() -> None:
    value = ctypes.c_int(5)
    passed = ctypes.byref(value)
    assert convert.pointer(passed, 4, False, "f: x") is passed


def test_items_of_a_list_of_pointers() -> None:
    """As options of the JIT compilers have them: numbers are themselves, other things are addresses."""

    def number(value: Any) -> int:
        return ctypes.cast(convert.slot(value, "f: x"), ctypes.c_void_p).value or 0

    assert number(1.5) == 0x3FC00000 and number(True) == 1 and number(-1) == 0xFFFFFFFF and number(7) == 7
    names, inner = convert.slot([b"a", b"bc"], "f: x"), convert.slot([7, 8], "f: x")
    assert list(names) == [b"a", b"bc"] and list(inner) == [7, 8]
    with pytest.raises(OverflowError, match="f: x"):
        convert.slot(-(2**31) - 1, "f: x")


def test_one_struct_is_a_list_of_one() -> None:
    place = module("driver").CUmemLocation(type=1, id=3)
    passed = convert.array(place, type(place), 1, "f: x")
    assert passed._obj is place
    with pytest.raises(ValueError, match="f: x"):
        convert.array(place, type(place), 2, "f: x")
    with pytest.raises(TypeError, match="f: x must be a CUmemAccessDesc, not CUmemLocation"):
        convert.array(place, module("driver").CUmemAccessDesc, 1, "f: x")


@pytest.mark.parametrize(
    "cls", [driver.cuuint64_t, driver.cuuint32_t, driver.CUdevice, driver.CUstream, ctypes.c_int]
)
def test_lists_of_one_type_are_converted_as_others_are(cls: Any) -> None:
    """All ints, and all objects of the class, are converted at once: with the results and errors of each."""

    def outcome(value: Any) -> Any:
        try:
            return bytes(convert.array(value, cls, None, "f: x"))
        except OverflowError as error:
            return str(error), repr(error.__context__)

    for number in (0, 7, -1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**64 - 1, 2**64):
        assert outcome([0, number]) == outcome([False, number])  # a bool is converted alone
    derived = type("Derived", (cls,), {})
    assert outcome([cls(7), cls(0)]) == outcome([cls(7), derived(0)]) == outcome([7, 0])


def test_address_of_bytes_to_write_to() -> None:
    """Ports of C programs hand out bytes as buffers; the interpreter's shared one-byte objects are spared."""
    data = b" " * 9
    assert address_of(data, False, "f: x") == (data, 9)
    shared = bytes([65])
    pointer, size = address_of(shared, False, "f: x")
    assert where(pointer) != where(ctypes.c_char_p(shared))
    assert (ctypes.sizeof(pointer), size) == (1, 1)


def test_memory_by_its_address() -> None:
    memory, start_of = module("_ffi.memory"), module("_ffi.buffers").start_of
    block, address = memory.block(b"a\0bc")
    assert memory.read(address, 4) == b"a\0bc" and len(block) == 4
    shown = memory.exported(address, 4, block)
    view = memoryview(shown).cast("B")
    assert shown.owner is block
    view[1:3] = b"--"
    assert memory.read(address + 1, 2) == b"--" and start_of(view[1:], False, "x") == address + 1
    assert start_of(b"", True, "x") != 0 == start_of(bytearray(), True, "x")


def test_memory_by_an_address_that_may_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Linux, which tells; elsewhere it has to be right."""
    memory = module("_ffi.memory")
    block, address = memory.block(b"abc\0" + bytes(range(256)) * 600)
    for where in (memory.MEMORY, "/nowhere"):
        monkeypatch.setattr(memory, "MEMORY", where)
        assert memory.read_mapped(address, len(block)) == bytes(block)
        assert memory.read_mapped_text(address, 1000) == b"abc"


def test_a_buffer_that_is_refused_says_why() -> None:
    """By who has it; but memory of a device has a handle instead."""
    closed = memoryview(b"1234")
    closed.release()
    with pytest.raises(ValueError, match="released memoryview"):
        address_of(closed, True, "f: x")

    class Locked:
        """Of a Python before 3.12 no class has __buffer__: then it is no buffer at all."""

        def __buffer__(self, flags: int) -> memoryview:
            raise BufferError("in use")

    refused = (BufferError, "in use") if sys.version_info >= (3, 12) else (TypeError, "not Locked")
    with pytest.raises(refused[0], match=refused[1]):
        address_of(Locked(), True, "f: x")
    Locked.handle = 5  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"not Locked: give its \.handle"):
        address_of(Locked(), True, "f: x")


def test_address_of_what_is_not_one_block() -> None:
    numpy = pytest.importorskip("numpy")
    for value in (numpy.arange(8)[::2], numpy.zeros((3, 4)).T, memoryview(bytearray(8))[::2]):
        with pytest.raises(ValueError, match="f: x must be contiguous"):
            address_of(value, True, "f: x")
    assert address_of(bytearray(), True, "f: x") == (None, 0)
    assert address_of(bytearray(), False, "f: x")[1] == 0
    with pytest.raises(TypeError, match="f: x must be an address or a buffer, not float"):
        address_of(1.0, True, "f: x")


# -- kernel arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "address"), [(None, 0), (0, 0), (0x1234, 0x1234), (Index(0x1234), 0x1234), (((), ()), 0)]
)
def test_kernel_parameters_as_an_address(given: Any, address: int, stub: Stub) -> None:
    driver.cuLaunchCooperativeKernel(1, 1, 1, 1, 1, 1, 1, 0, None, given)
    (call,) = stub.calls()
    assert call.arguments["kernelParams"].raw == address.to_bytes(8, "little")


def test_kernel_parameters_as_a_buffer_of_addresses(stub: Stub) -> None:
    numpy = pytest.importorskip("numpy")
    for table in (numpy.array([3, 2**63], dtype=numpy.uint64), array.array("Q", [3, 2**63])):
        driver.cuLaunchCooperativeKernel(1, 1, 1, 1, 1, 1, 1, 0, None, table)
        (call,) = stub.calls()
        expected = address_of(table, True, "")[0]
        assert call.arguments["kernelParams"].raw == where(expected).to_bytes(8, "little")


def test_kernel_parameters_as_values_and_types() -> None:
    pointer, place, number = driver.CUdeviceptr(2**63), driver.CUmemLocation(id=4), ctypes.c_short(-3)
    member = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    values = (7, 2.5, True, None, Index(9), pointer, pointer, place, member, number, ctypes.c_float(0.5))
    types = (ctypes.c_int8, ctypes.c_double, ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint64,
             ctypes.c_uint64, None, None, None, None, ctypes.c_float)  # fmt: skip
    block = convert.pointers((values, types), None, "f: kernelParams")
    table = (ctypes.c_size_t * len(values)).from_buffer(block)
    stored = [c.from_address(at).value for c, at in zip(types, table, strict=True) if c]
    assert stored == [7, 2.5, True, None, 9, 2**63, 0.5]
    for cls, at in zip(types, table, strict=True):
        assert cls is None or at % ctypes.alignment(cls) == 0
    assert (table[6], table[7], table[9]) == (pointer.getPtr(), place.getPtr(), ctypes.addressof(number))
    assert ctypes.c_int.from_address(table[8]).value == member


OF_EACH_TYPE = {
    ctypes.c_bool: (True, b"\1"), ctypes.c_char: (b"x", b"x"), ctypes.c_wchar: ("\u20ac", None),
    ctypes.c_byte: (-2, b"\xfe"), ctypes.c_ubyte: (200, b"\xc8"), ctypes.c_short: (-2, b"\xfe\xff"),
    ctypes.c_ushort: (3, b"\3\0"), ctypes.c_int: (-1, b"\xff" * 4), ctypes.c_uint: (5, b"\5\0\0\0"),
    ctypes.c_long: (7, None), ctypes.c_ulong: (8, None), ctypes.c_longlong: (-1, b"\xff" * 8),
    ctypes.c_ulonglong: (2**63, bytes(7) + b"\x80"), ctypes.c_size_t: (9, b"\x09" + bytes(7)),
    ctypes.c_float: (1.5, b"\0\0\xc0\x3f"), ctypes.c_double: (-2.0, bytes(7) + b"\xc0"),
    ctypes.c_void_p: (2**40, bytes(5) + b"\1\0\0"),
}  # fmt: skip


def first_of(table: int) -> bytes:
    """The eight bytes that C finds for the first of these kernel arguments."""
    return ctypes.string_at(ctypes.c_size_t.from_address(table).value, 8)


LAUNCHED: list[tuple[Any, ...]] = []
PackedLaunches = module("_ffi.pointers").PackedLaunches


def by_pointers(*arguments: Any) -> None:
    *before, given, _ = arguments
    block = convert.pointers(given, None, "")
    LAUNCHED.append((*before, ctypes.addressof(block), block))


PACKED = PackedLaunches(lambda *args: LAUNCHED.append(args), by_pointers)


def packed(value: Any, cls: Any) -> bytes:
    """The eight bytes that C finds for a kernel argument, in a launch as elsewhere."""
    given = (value,), (cls,)
    block = convert.pointers(given, None, "f: kernelParams")
    expected = first_of(ctypes.addressof(block))
    for before in (range(9), range(100, 109)):  # what packs them is written, and used again
        PACKED[cls,](*before, given, 7)
        *seen, table, _ = LAUNCHED.pop()
        assert (seen, first_of(table)) == ([*before], expected)
    return expected


@pytest.mark.parametrize("cls", OF_EACH_TYPE, ids=lambda cls: cls.__name__)
def test_kernel_parameters_of_each_ctypes_type(cls: Any) -> None:
    """All that cuda.bindings takes: the value, and an instance of the type itself."""
    value, expected = OF_EACH_TYPE[cls]
    expected = bytes(cls(value)) if expected is None else expected
    assert packed(value, cls) == packed(cls(value), cls) == expected.ljust(8, b"\0")


def test_kernel_parameters_of_ever_new_types() -> None:
    """What is written for types is kept for so many of them."""
    pointers = module("_ffi.pointers")
    for _ in range(pointers.MOST_PACKERS + 10):
        assert packed(5, type("Own", (ctypes.c_uint64,), {})) == b"\5" + bytes(7)
    assert max(len(pointers._fillers), len(PACKED)) <= pointers.MOST_PACKERS


def test_launches_that_meet_have_memory_of_their_own() -> None:
    """A launch takes what it packs into from the others, since another may begin before C has read it."""
    seen = []

    def call(*args: Any) -> None:
        if len(seen) < 3:
            seen.append(args[9])
            launches[types](*range(9), ((len(seen),), types), 0)
            seen[seen.index(args[9])] = first_of(args[9])

    types = (ctypes.c_uint64,)
    launches = PackedLaunches(call, by_pointers)
    launches[types](*range(9), ((0,), types), 0)
    assert seen == [bytes([i]) + bytes(7) for i in range(3)]


def test_kernel_parameters_as_they_are() -> None:
    """Under None an enum member is its value, and an object of ctypes lies where it is, in whatever order."""

    class Eight(ctypes.Structure):
        _fields_ = (("bytes", ctypes.c_char * 8),)

    class Elsewhere(Eight):
        def getPtr(self) -> int:
            return ctypes.addressof(elsewhere)

    elsewhere = Eight(b"elsewher")
    five, zero = driver.CUmemorytype(5), driver.CUresult(0)
    whole = [(five, bytes([5]) + bytes(7)), (Eight(b"argument"), b"argument"), (zero, bytes(8))]
    whole += [(Elsewhere(b"not here"), b"elsewher"), (ctypes.c_uint64(9), bytes([9]) + bytes(7))]
    for value, expected in 2 * whole:
        assert packed(value, None) == expected
    seen: list[bytes] = []
    launches = PackedLaunches(lambda *args: seen.append(first_of(args[9])), by_pointers)
    for value, _ in 2 * whole:
        launches[None, ctypes.c_int](*range(9), ((value, 1), (None, ctypes.c_int)), 0)
    assert seen == [expected for _, expected in 2 * whole]


def test_kernel_parameters_of_characters() -> None:
    assert packed(120, ctypes.c_char) == packed(True, ctypes.c_char).replace(b"\1", b"x") == b"x" + bytes(7)
    assert packed("x", ctypes.c_wchar) == b"x" + bytes(7)


def test_kernel_parameters_that_are_addresses() -> None:
    """Under c_void_p an object stands for the memory it is, a handle for its value or where `_ptr` put it."""

    class Pair(ctypes.Structure):
        _fields_ = (("x", ctypes.c_int), ("y", ctypes.c_double))

    class Foreign:
        """A handle of another package."""

        def __int__(self) -> int:
            return 0x1234

        def getPtr(self) -> int:
            return 1

    place, pair, items = driver.CUmemLocation(id=4), Pair(1, 2), (ctypes.c_int * 2)()
    holder = SimpleNamespace(getPtr=lambda: ctypes.addressof(pair))
    mapped = (ctypes.c_uint64 * 2)(7, 8)
    at_8 = ctypes.addressof(mapped) + 8
    for value, expected in (
        (place, place.getPtr()),
        (pair, ctypes.addressof(pair)),
        (items, ctypes.addressof(items)),
        (holder, ctypes.addressof(pair)),
        (driver.CUdeviceptr(2**63), 2**63),
        (driver.CUstream(5), 5),
        (driver.CUdeviceptr(_ptr=at_8), at_8),
        (runtime.cudaSurfaceObject_t(_ptr=at_8), at_8),
        (driver.CUstream(driver.CUstream(_ptr=at_8)), 8),
        (Foreign(), 0x1234),
        (ctypes.c_void_p(), 0),
        (None, 0),
    ):
        assert int.from_bytes(packed(value, ctypes.c_void_p), "little") == expected
    block = convert.pointers(((pair, holder, place), (None,) * 3), None, "")
    at = [ctypes.addressof(pair), ctypes.addressof(pair), place.getPtr()]
    assert list((ctypes.c_size_t * 3).from_buffer(block)) == at  # the argument is what lies there


@pytest.mark.parametrize(
    ("values", "types", "error", "message"),
    [
        ((1, 2), (ctypes.c_int,), ValueError, "2 values for 1 types"),
        ((1, "x"), (ctypes.c_int, ctypes.c_int), TypeError, r"\[1\] = 'x' does not fit c_int"),
        ((1.5,), (ctypes.c_int,), TypeError, r"\[0\] = 1.5 does not fit c_int"),
        ((5,), (ctypes.c_wchar,), TypeError, r"\[0\] = 5 does not fit c_wchar"),
        (("ab",), (ctypes.c_wchar,), TypeError, r"\[0\] = 'ab' does not fit c_wchar"),
        (("a",), (ctypes.c_char,), TypeError, r"\[0\] = 'a' does not fit c_char"),
        ((256,), (ctypes.c_char,), OverflowError, r"\[0\] = 256 does not fit c_char"),
        ((b"ab",), (ctypes.c_void_p,), TypeError, r"\[0\] = b'ab' does not fit c_void_p"),
        (
            (SimpleNamespace(getPtr=lambda: 2.5),),
            (ctypes.c_void_p,),
            TypeError,
            r"\[0\] = 2.5 does not fit c_void_p",
        ),
        ((1,), (ctypes.c_longdouble,), TypeError, r"\[0\]: .*is not the ctypes type"),
        ((2**31,), (ctypes.c_int,), OverflowError, r"\[0\] = 2147483648 does not fit c_int"),
        ((-1,), (ctypes.c_uint,), OverflowError, r"\[0\] = -1 does not fit c_uint"),
        ((1,), (int,), TypeError, r"\[0\]: <class 'int'> is not the ctypes type"),
        ((1,), (driver.CUmemLocation,), TypeError, r"\[0\]: .*is not the ctypes type"),
        (("x",), (None,), TypeError, r"\[0\]: the type None takes"),
        ((2**40,), (None,), OverflowError, r"\[0\] = 1099511627776 does not fit c_int"),
        ((SimpleNamespace(getPtr=lambda: "x"),), (None,), TypeError, r"\[0\]: .*not an integer"),
    ],
)
def test_kernel_parameters_that_do_not_fit(
    values: Any, types: Any, error: type[Exception], message: str, stub: Stub
) -> None:
    with pytest.raises(error, match="cuLaunchKernel: kernelParams.*" + message):
        driver.cuLaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, None, (values, types), None)
    assert stub.calls() == []


def test_a_symbol_that_is_asked_for_again_costs_no_memory(d: ModuleType) -> None:
    names: set[str] = set()
    d.libcuda.observe("cuInit", names)
    for _ in range(3):
        d.libcuda.symbol("cuInit")
    assert names == {"cuInit"}


def test_an_observer_of_a_symbol_gets_what_was_found_before_too(d: ModuleType) -> None:
    names: set[str] = {"mine"}
    d.libcuda.symbol("cuInit")
    d.libcuda.observe("cuInit", names)
    assert names == {"mine", "cuInit"}
    d.libcuda.symbol("cuDriverGetVersion")
    assert names == {"mine", "cuInit"}
