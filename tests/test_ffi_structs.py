# mypy: disable-error-code="assignment, attr-defined, call-arg, misc, valid-type"
"""Structs and unions: fields, views, arrays, pointers to other structs, construction, and how they print."""

from __future__ import annotations

import ctypes
import gc
import struct
import weakref
from typing import Annotated, Any

import pytest

from .stub import module
from .stub.record import Stub
from .stub.values import Index

driver = module("driver")
structs, scalars = module("_ffi.structs"), module("_ffi.scalars")
Struct, Union = structs.Struct, structs.Union
c_uint, c_float, c_double, c_short = ctypes.c_uint, ctypes.c_float, ctypes.c_double, ctypes.c_short
size_t, char_p, void_p, void_pp = ctypes.c_size_t, scalars.char_p, scalars.void_p, scalars.void_pp
CUstream, CUmemLocationType = driver.CUstream, driver.CUmemLocationType


class Point(Struct):
    x: c_short
    y: c_double


class Everything(Struct):
    """A field of every kind."""

    class _choice(Union):
        whole: size_t
        parts: Annotated[list[int], "unsigned char[8]"]
        point: Point

    number: c_uint
    real: c_float
    kind: CUmemLocationType
    stream: CUstream
    inner: Point
    choice: _choice
    low: Annotated[int, "unsigned int", "union"]
    wide: Annotated[int, "unsigned long long", "union"]
    name: Annotated[bytes, "char[8]", "text"]
    raw: Annotated[bytes, "char[4]"]
    numbers: Annotated[list[int], "int[3]"]
    kinds: Annotated[list[Any], "CUmemLocationType[2]"]
    count: c_uint
    points: Annotated[list[Point], "Point *", "count"]
    address: void_p
    text: char_p
    arguments: void_pp


class Holder(Struct):
    text: char_p


class Holders(Struct):
    items: Annotated[list[Holder], "Holder *", "count"]
    count: c_uint


class Aligned(Struct, align=64):
    word: size_t


NATIVE = struct.Struct("@IfiQ h6xd 16s Q 8s4s3i2iI4xQQQQ")


def test_layout_is_that_of_c() -> None:
    assert ctypes.sizeof(Everything) == NATIVE.size
    assert ctypes.sizeof(Everything._choice) == 16


# -- scalars ---------------------------------------------------------------------------------------------


def test_scalar_fields() -> None:
    whole = Everything(number=2**32 - 1, real=0.5)
    assert (whole.number, whole.real) == (2**32 - 1, 0.5)
    whole.number = Index(3)
    assert NATIVE.unpack(bytes(whole))[:2] == (3, 0.5)
    for value, error in (
        (2**32, OverflowError),
        (-1, OverflowError),
        ("1", TypeError),
        (float("nan"), ValueError),
    ):
        with pytest.raises(error, match=r"Everything\.number"):
            whole.number = value
    for value, error in ((1e300, OverflowError), ("1", TypeError), (None, TypeError)):
        with pytest.raises(error, match=r"Everything\.real"):
            whole.real = value
    assert (whole.number, whole.real) == (3, 0.5)


def test_enum_fields() -> None:
    whole = Everything(kind=CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE)
    assert whole.kind is CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    whole.kind = 2**31 - 1
    assert type(whole.kind) is CUmemLocationType
    assert whole.kind == 2**31 - 1
    with pytest.raises(TypeError, match=r"Everything\.kind"):
        whole.kind = "x"


def test_handle_fields() -> None:
    whole = Everything(stream=CUstream(5))
    assert type(whole.stream) is CUstream
    for value, expected in ((None, 0), (7, 7), (Index(8), 8), (CUstream(9), 9)):
        whole.stream = value
        assert whole.stream == expected
    assert whole.stream.getPtr() == whole.getPtr() + 16
    with pytest.raises(TypeError, match=r"Everything\.stream: a CUevent is not a CUstream"):
        whole.stream = driver.CUevent(1)
    with pytest.raises(OverflowError, match=r"Everything\.stream"):
        whole.stream = 2**64


# -- structs inside structs ------------------------------------------------------------------------------


def test_nested_structs_are_views() -> None:
    whole = Everything()
    whole.inner.x = -3
    whole.choice.point.y = 2.0
    assert (whole.inner.x, whole.choice.point.y) == (-3, 2.0)
    point = Point(x=4, y=5.0)
    whole.inner = point
    point.x = 0
    assert (whole.inner.x, whole.inner.y) == (4, 5.0)
    with pytest.raises(TypeError, match=r"Everything\.inner must be a Point, not Everything"):
        whole.inner = whole


def test_a_view_keeps_its_struct_alive() -> None:
    whole = Everything()
    whole.choice.point.x = 77
    gone = weakref.ref(whole)
    view = whole.choice.point
    del whole
    gc.collect()
    assert gone() is not None
    _ = [bytearray(ctypes.sizeof(Everything)) for _ in range(100)]
    assert view.x == 77
    del view
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("name", "field"), [("CUlaunchAttributeValue", "priority"), ("CUDA_MEMCPY2D", "Height")]
)
def test_a_derived_class_has_the_fields_of_its_base(name: str, field: str) -> None:
    cls = getattr(driver, name)

    class Derived(cls):
        pass

    made = Derived(**{field: 5})
    assert ctypes.sizeof(made) == ctypes.sizeof(cls) and getattr(made, field) == 5
    assert bytes(made) == bytes(cls(**{field: 5}))


def test_unions_share_their_memory() -> None:
    whole = Everything()
    whole.choice.whole = 0x0807060504030201
    assert whole.choice.parts == bytes(range(1, 9))
    whole.wide = 2**40 + 5
    assert (whole.low, whole.wide) == (5, 2**40 + 5)
    operation = driver.CUstreamBatchMemOpParams()
    operation.waitValue.value64 = 2**40 + 6
    assert operation.waitValue.value == 6


# -- arrays ----------------------------------------------------------------------------------------------


def test_char_arrays_are_bytes() -> None:
    whole = Everything(name=b"abc", raw=b"d")
    assert (whole.name, whole.raw) == (b"abc", b"d\0\0\0")
    whole.name = bytearray(b"12345678")
    assert whole.name == b"12345678"
    whole.name = b"x"
    assert NATIVE.unpack(bytes(whole))[8] == b"x" + bytes(7)
    with pytest.raises(ValueError, match=r"Everything\.name holds 8 bytes, not 9"):
        whole.name = b"123456789"
    with pytest.raises(TypeError, match=r"Everything\.name must be bytes, not str"):
        whole.name = "abc"
    assert driver.CUuuid(bytes=b"0123456789abcdef").bytes == b"0123456789abcdef"


def test_char_arrays_take_lists_of_numbers() -> None:
    """`char` may be signed or not, `unsigned char` may not."""
    numpy = pytest.importorskip("numpy")
    char, unsigned = Everything(), driver.CUmemFabricHandle()
    for raw in ([-128, -1, 127, 255], (-128, -1, 127, 255), numpy.array([-128, -1, 127, -1], numpy.int8)):
        char.raw = raw
        assert char.raw == b"\x80\xff\x7f\xff"
    char.raw = [numpy.int64(-3), True]
    assert char.raw == b"\xfd\1\0\0"
    unsigned.data = [0, 200, 255]
    assert unsigned.data == b"\0\xc8\xff" + bytes(61)
    for value in (-129, 256):
        with pytest.raises(OverflowError, match=rf"Everything.raw\[1\] = {value} is outside -128 .. 255"):
            char.raw = [0, value]
    with pytest.raises(OverflowError, match=r"CUmemFabricHandle.data\[0\] = -1 is outside 0 .. 255"):
        unsigned.data = [-1]
    with pytest.raises(TypeError, match=r"Everything.raw\[0\] must be an integer, not bytes"):
        char.raw = [b"a"]
    with pytest.raises(ValueError, match="holds 4 bytes, not 5"):
        char.raw = [0] * 5


def test_arrays_are_lists() -> None:
    whole = Everything(numbers=[1, -2, 3], kinds=[1])
    assert (whole.numbers, whole.kinds) == ([1, -2, 3], [1, 0])
    assert type(whole.kinds[0]) is CUmemLocationType
    whole.numbers = (4,)
    assert whole.numbers == [4, 0, 0]
    with pytest.raises(ValueError, match=r"Everything\.numbers holds 3 items, not 4"):
        whole.numbers = [1, 2, 3, 4]
    with pytest.raises(OverflowError, match=r"Everything\.numbers\[1\]"):
        whole.numbers = [1, 2**31]


# -- pointers --------------------------------------------------------------------------------------------


def test_pointers_to_structs_are_lists() -> None:
    whole = Everything(count=2, points=[Point(x=1), Point(x=2, y=9.0)])
    gc.collect()
    _ = [bytearray(32) for _ in range(100)]
    at = NATIVE.unpack(bytes(whole))[-4]
    assert ctypes.string_at(at, 32) == struct.pack("h6xd h6xd", 1, 0.0, 2, 9.0)
    assert [point.x for point in whole.points] == [1, 2]
    for nothing in (None, []):
        whole.points = nothing
        assert (whole.points, NATIVE.unpack(bytes(whole))[-4]) == ([], 0)
    whole.points = Point(x=6)
    assert whole.points[0].x == 6
    with pytest.raises(TypeError, match=r"Everything\.points\[1\] must be a Point, not int"):
        whole.points = [Point(), 5]  # type: ignore[list-item]


def test_structs_that_c_points_to_are_read_by_their_count() -> None:
    theirs = (Point * 3)(Point(x=1), Point(x=2), Point(x=3))  # type: ignore[operator]
    whole = Everything(count=2)
    field = ctypes.c_uint64.from_address(whole.getPtr() + Everything.points.raw.offset)
    field.value = ctypes.addressof(theirs)
    assert [point.x for point in whole.points] == [1, 2]


def test_launch_attributes(stub: Stub) -> None:
    """The list of a launch configuration, as C sees it."""
    names = driver.CUlaunchAttributeID
    attributes = [
        driver.CUlaunchAttribute(id=names.CU_LAUNCH_ATTRIBUTE_COOPERATIVE),
        driver.CUlaunchAttribute(id=names.CU_LAUNCH_ATTRIBUTE_PRIORITY),
    ]
    attributes[0].value.cooperative = 1
    attributes[1].value.priority = -5
    config = driver.CUlaunchConfig(gridDimX=7, attrs=attributes, numAttrs=2)
    driver.cuLaunchKernelEx(config, 1, None, None)
    (call,) = stub.calls()
    memory = call.arguments["config"].memory
    assert memory is not None
    grid, at, count = struct.unpack("I36xQI4x", memory)
    assert (grid, count) == (7, 2)
    assert ctypes.string_at(at, 144) == b"".join(map(bytes, attributes))


def test_addresses_and_text() -> None:
    buffer = bytearray(b"data")
    whole = Everything(address=buffer, text=b"text")
    assert ctypes.string_at(whole.address, 4) == b"data"
    with pytest.raises(BufferError):
        buffer.clear()
    assert whole.text == b"text"
    for value, expected in ((None, 0), (2**64 - 1, 2**64 - 1), (CUstream(5), 5), (Index(6), 6)):
        whole.address = value
        assert whole.address == expected
    buffer.clear()
    with pytest.raises(OverflowError, match=r"Everything\.address"):
        whole.address = 2**64
    with pytest.raises(TypeError, match=r"Everything\.address .*not str"):
        whole.address = "x"
    with pytest.raises(TypeError, match=r"Everything\.text must be bytes, not str"):
        whole.text = "x"


def test_kernel_arguments_as_a_field() -> None:
    whole = Everything(arguments=((5, 2.5), (ctypes.c_int, ctypes.c_double)))
    gc.collect()
    first, second = struct.unpack("QQ", ctypes.string_at(whole.arguments, 16))
    assert (ctypes.c_int.from_address(first).value, ctypes.c_double.from_address(second).value) == (5, 2.5)
    whole.arguments = None
    assert whole.arguments == 0


# -- construction, printing, alignment -------------------------------------------------------------------


def test_construction() -> None:
    assert bytes(Everything()) == bytes(ctypes.sizeof(Everything))
    for make in (lambda: Everything(nonsense=1), lambda: Everything(_fields_=1), lambda: Point(z=1)):
        with pytest.raises(TypeError, match="has no field"):
            make()
    with pytest.raises(AttributeError, match="nonsense"):
        Everything().nonsense = 1


def test_a_struct_at_an_address_is_a_view() -> None:
    memory = ctypes.create_string_buffer(struct.pack("h6xd", 3, 4.0))
    point = Point(_ptr=ctypes.addressof(memory))
    assert (point.x, point.y, point.getPtr()) == (3, 4.0, ctypes.addressof(memory))
    point.x = 5
    assert memory.raw[:2] == b"\5\0"


def test_repr_has_one_field_a_line() -> None:
    whole = Everything(number=3, stream=255, inner=Point(x=1, y=2.0), name=b"n")
    lines = repr(whole).splitlines()
    assert lines[:4] == ["number : 3", "real : 0.0", f"kind : {whole.kind!r}", "stream : <CUstream 0xff>"]
    assert lines[4:7] == ["inner :", "    x : 1", "    y : 2.0"]
    assert "name : b'n'" in lines
    assert "points : []" in lines


def test_alignment(stub: Stub) -> None:
    """A tensor map lies at a multiple of 64 bytes, whether we or the driver's call made it."""
    assert {Aligned().getPtr() % 64 for _ in range(20)} == {0}
    kept = [driver.CUtensorMap() for _ in range(20)]
    assert {item.getPtr() % 64 for item in kept} == {0}
    arguments = (0, 2, 4096, [8, 8], [64], [8, 8], [1, 1], 0, 0, 0, 0)
    for _ in range(20):
        status, made = driver.cuTensorMapEncodeTiled(*arguments)
        (call,) = stub.calls()
        assert (status, made.getPtr() % 64) == (0, 0)
        assert call.arguments["tensorMap"].raw == made.getPtr().to_bytes(8, "little")
        kept.append(made)


@pytest.mark.parametrize("before", [True, False])
def test_c_never_reads_past_a_list(before: bool, stub: Stub) -> None:
    """Where the count says more than the list has, zeros lie behind the list: an attribute to be ignored."""
    config = driver.CUlaunchConfig()
    attribute = driver.CUlaunchAttribute(id=1)
    if before:
        config.numAttrs = 3
        config.attrs = [attribute]
    else:
        config.attrs = [attribute]
        config.numAttrs = 3
    memory = ctypes.string_at(driver.CUlaunchConfig.attrs.raw.__get__(config), 3 * ctypes.sizeof(attribute))
    assert memory == bytes(attribute) + bytes(2 * ctypes.sizeof(attribute))
    assert [item.id for item in config.attrs] == [1]
    config.numAttrs = 5
    assert [item.id for item in config.attrs] == [1]


def test_items_of_arrays_of_structs_are_copies() -> None:
    """As those of cuda.bindings are: to change one, set the list."""
    runtime = module("runtime")
    source = driver.CUlaunchAttribute(id=1)
    config = driver.CUlaunchConfig(attrs=[source], numAttrs=1)
    frame = runtime.cudaEglFrame(planeDesc=[runtime.cudaEglPlaneDesc(width=1)])
    waits = driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS(extSemArray=[7], numExtSems=1)
    theirs = (driver.CUlaunchAttribute * 1)(source)
    other = driver.CUlaunchConfig(numAttrs=1)
    ctypes.c_size_t.from_address(
        other.getPtr() + driver.CUlaunchConfig.attrs.raw.offset
    ).value = ctypes.addressof(theirs)
    source.id = 2
    config.attrs[0].id = other.attrs[0].id = 3
    frame.planeDesc[0].width = 4
    waits.extSemArray[0].value = 8
    assert (config.attrs[0].id, other.attrs[0].id, frame.planeDesc[0].width) == (1, 1, 1)
    assert int(waits.extSemArray[0]) == 7
    again = config.attrs
    again[0].id = 5
    config.attrs = again
    assert config.attrs[0].id == 5


def test_a_copy_keeps_what_its_array_points_to() -> None:
    owner = Holders(items=[Holder(text=b"kept" * 9)], count=1)
    gone, item = weakref.ref(owner), owner.items[0]
    del owner
    gc.collect()
    assert gone() is not None
    assert item.text == b"kept" * 9
    del item
    gc.collect()
    assert gone() is None


def test_an_array_that_c_makes_has_its_size_before() -> None:
    for params in (driver.CUDA_CONDITIONAL_NODE_PARAMS(), module("runtime").cudaConditionalNodeParams()):
        assert params.phGraph_out == []
        params.size = 2
        assert [int(graph) for graph in params.phGraph_out] == [0, 0]
        made = (ctypes.c_size_t * 2)(5, 6)
        field = ctypes.c_size_t.from_address(params.getPtr() + type(params).phGraph_out.raw.offset)
        field.value = ctypes.addressof(made)
        graphs = params.phGraph_out
        made[0] = 9
        assert [int(graph) for graph in graphs] == [5, 6]
    semaphores = driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS(numExtSems=2)  # what a program makes
    assert semaphores.extSemArray == semaphores.paramsArray == []


def test_pointers_to_one_struct_are_lists() -> None:
    params = driver.CUctxCreateParams()
    assert params.cigParams == []
    for value in (driver.CUctxCigParam(sharedData=5), [driver.CUctxCigParam(sharedData=5)]):
        params.cigParams = value
        assert [item.sharedData for item in params.cigParams] == [5]
    for cls in (driver.CUdevResource, module("runtime").cudaDevResource):
        resource = cls()
        assert resource.nextResource == []
        resource.nextResource = [cls(type=1)]
        assert [(type(item), int(item.type)) for item in resource.nextResource] == [(cls, 1)]


def test_null_pointers_are_printed_as_those_of_cuda_bindings() -> None:
    printed = {
        "CUDA_KERNEL_NODE_PARAMS": ("kernelParams : 0", "extra : 0"),
        "CUDA_HOST_NODE_PARAMS": ("userData : 0x0",),
        "CUDA_MEMCPY_BATCH_NODE_PARAMS": ("sizes : 0", "attrs : []", "attrsIdxs : 0", "dsts : []"),
        "CUDA_MEM_ALLOC_NODE_PARAMS": ("accessDescs : []",),
        "CUctxCreateParams": ("cigParams : []", "execAffinityParams : []"),
        "CUdevResource": ("nextResource : []",),
        "CUcheckpointRestoreArgs": ("gpuPairs : []", "customStorageInfo_out : 0"),
        "CUDA_CONDITIONAL_NODE_PARAMS": ("phGraph_out : []",),
    }
    for name, lines in printed.items():
        text = repr(getattr(driver, name)()).splitlines()
        assert [line for line in lines if line not in text] == [], name
    params = driver.CUDA_KERNEL_NODE_PARAMS(kernelParams=0x1234)
    assert "kernelParams : 4660" in repr(params).splitlines()


def test_every_list_has_the_count_that_its_struct_has() -> None:
    for name in ("driver", "runtime"):
        types = module(f"_types.{name}.structs")
        counted = [
            (cls, field)
            for cls in vars(types).values()
            if isinstance(cls, type) and issubclass(cls, ctypes.Structure)
            for field in vars(cls).values()
            if type(field).__name__ == "Structs" and field.count
        ]
        assert len(counted) > 5
        for cls, field in counted:
            assert field in getattr(cls, field.count).lists


def test_repr_follows_no_pointer_that_may_be_wrong() -> None:
    """A struct that C or a program has filled with anything at all can be printed."""
    for name in ("driver", "runtime"):
        types = module(f"_types.{name}.structs")
        for key, cls in vars(types).items():
            aggregate = isinstance(cls, type) and issubclass(cls, (ctypes.Structure, ctypes.Union))
            if aggregate and not key.startswith("_"):
                made = cls()
                ctypes.memset(made.getPtr(), 0x5A, ctypes.sizeof(made))
                assert ":" in repr(made) or not cls._makers_
    config = driver.CUlaunchConfig(attrs=[driver.CUlaunchAttribute(id=1)], numAttrs=1)
    assert "attrs : [id : " in repr(config)


def test_sizeof() -> None:
    """As C's, of classes."""
    runtime, nvrtc = module("runtime"), module("nvrtc")
    known = {driver.CUstream: 8, driver.CUdevice: 4, driver.CUuuid: 16, driver.CUresult: 4, runtime.dim3: 12}
    assert {cls: driver.sizeof(cls) for cls in known} == known
    assert nvrtc.sizeof(nvrtc.nvrtcProgram) == runtime.sizeof(runtime.cudaStream_t) == 8
    for wrong in (driver.CUuuid(), 5, str):
        with pytest.raises(TypeError, match="sizeof takes a struct, handle or enum class"):
            driver.sizeof(wrong)


def test_the_lists_of_a_batch_are_set_together() -> None:
    params = driver.CUDA_MEMCPY_BATCH_NODE_PARAMS()
    params.set_dsts_srcs([1, driver.CUdeviceptr(2)], (3, 4))
    assert (params.count, params.dsts, params.srcs) == (2, [1, 2], [3, 4])
    with pytest.raises(ValueError, match="the same length, not 1 and 2"):
        params.set_dsts_srcs([5], [6, 7])
    with pytest.raises(TypeError, match=r"srcs\[0\]"):
        params.set_dsts_srcs([5], ["x"])
    assert (params.count, params.dsts, params.srcs) == (2, [1, 2], [3, 4])
    params.set_dsts_srcs([5], [6])
    assert (params.count, params.dsts, params.srcs) == (1, [5], [6])
    params.set_dsts_srcs([], [])
    assert (params.count, params.dsts, params.srcs) == (0, [], [])
