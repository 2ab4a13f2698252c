"""Arguments that are wrong are refused in words, and never by a signal; those that are right arrive."""

from __future__ import annotations

import array
import ctypes
import inspect
import json
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .budget import budget
from .stub import APIS, REPOSITORY, module, source
from .stub.build import declared
from .stub.record import Stub

driver = module("driver")
parse = module("_ffi.prototypes").parse
OK = driver.CUresult.CUDA_SUCCESS
LEAST = {"driver": 25_000, "runtime-12": 20_000, "runtime-13": 20_000, "nvml": 14_000}
"""How many calls the sweep of a library makes, at least."""


@pytest.mark.thorough
@pytest.mark.parametrize("api", APIS)
def test_bad_arguments(api: str, path_of: Callable[[str], Path], tmp_path: Path) -> None:
    """For every parameter of every function: a tuple, TypeError, ValueError or OverflowError, in words."""
    pytest.importorskip("numpy")
    progress = tmp_path / "progress"
    command = [sys.executable, "-m", "tests.stub.sweep", api, str(path_of(api)), str(progress)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    last = progress.read_bytes().rstrip(b"\0").decode() if progress.exists() else "before the first call"
    if done.returncode < 0:
        pytest.fail(f"{signal.Signals(-done.returncode).name} in {last}")
    assert done.returncode == 0, f"{last}\n{done.stderr}"
    found = json.loads(done.stdout)
    assert found["calls"] > LEAST.get(api, 400)
    assert found["wrong"] == []


TAKEN = {"driver": 310, "runtime-13": 190}
"""How many functions of the simulator have right arguments in the sweep, at least."""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the simulator cannot tell where memory is")
@pytest.mark.parametrize("api", TAKEN)
def test_bad_arguments_on_the_simulator(api: str) -> None:
    """The same where C looks behind pointers: an error or a status, but no mistake of the simulator's."""
    pytest.importorskip("numpy")
    command = ["-m", "tests.stub.sweep_simulator", api]
    done = subprocess.run([sys.executable, *command], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["calls"] > LEAST[api] // 2 and len(found["taken"]) >= TAKEN[api], found["refused"]


MEASURED: dict[str, Any] = {
    "cuMemcpyHtoD": lambda memory: driver.cuMemcpyHtoD(1, memory, 9),
    "cuMemcpyDtoH": lambda memory: driver.cuMemcpyDtoH(memory, 1, 9),
    "cuMemcpyHtoA": lambda memory: driver.cuMemcpyHtoA(1, 0, memory, 9),
    "cuMemcpyAtoH": lambda memory: driver.cuMemcpyAtoH(memory, 1, 0, 9),
    "cuMemcpyHtoDAsync": lambda memory: driver.cuMemcpyHtoDAsync(1, memory, 9, 0),
    "cuMemcpyDtoHAsync": lambda memory: driver.cuMemcpyDtoHAsync(memory, 1, 9, 0),
    "cuMemcpyHtoAAsync": lambda memory: driver.cuMemcpyHtoAAsync(1, 0, memory, 9, 0),
    "cuMemcpyAtoHAsync": lambda memory: driver.cuMemcpyAtoHAsync(memory, 1, 0, 9, 0),
    "cuMemHostRegister": lambda memory: driver.cuMemHostRegister(memory, 9, 0),
    "cuLinkAddData": lambda memory: driver.cuLinkAddData(1, 1, memory, 9, None, 0, None, None),
    "cuParamSetv": lambda memory: driver.cuParamSetv(1, 0, memory, 9),
    "cuGraphInstantiate_v2": lambda memory: driver.cuGraphInstantiate_v2(1, memory, 9),
    "cuLogsDumpToMemory": lambda memory: driver.cuLogsDumpToMemory(0, memory, 9, 0),
}
"""The memory of the caller that cuda.h gives with its size."""


@pytest.mark.parametrize("name", MEASURED)
def test_memory_that_is_too_small(name: str, stub: Stub) -> None:
    with pytest.raises(ValueError, match=rf"{name}: \w+ holds 8 bytes, the call needs 9"):
        MEASURED[name](bytearray(8))
    assert stub.calls() == []
    assert MEASURED[name](bytearray(9))[0] is OK


def _destinations() -> list[tuple[str, str, str]]:
    """Every parameter, and every field of a struct, that is the caller's memory and that a copy writes to."""
    found = []
    for api in ("driver", "runtime-13"):
        for function in declared(source(api)).values():
            for parameter in parse(function.__declaration__.prototype).parameters:
                if (
                    parameter.c_name in ("dst", "dstHost")
                    and parameter.type == "void"
                    and not parameter.const
                ):
                    found.append((api, function.__name__, parameter.name))
    return found


@pytest.mark.parametrize(("api", "name", "parameter"), _destinations())
def test_bytes_are_not_written_to(api: str, name: str, parameter: str, stub_of: Any) -> None:
    """A constant of the program would change."""
    stub, function = stub_of(api), getattr(source(api), name)
    names = inspect.signature(function).parameters
    arguments = {each: None if each == "pDependencies" else 0 for each in names}
    with pytest.raises(TypeError, match=rf"^{name}: {parameter} is written to, .* use a bytearray"):
        function(**{**arguments, parameter: b"literal"})
    assert stub.calls() == []
    with pytest.raises(ValueError, match="must be writable memory"):
        function(**{**arguments, parameter: memoryview(b"literal")})


IMPORTS = [
    ("driver", "cuMemImportFromShareableHandle"),
    ("driver", "cuMemPoolImportFromShareableHandle"),
    ("runtime-13", "cudaMemPoolImportFromShareableHandle"),
]


@pytest.mark.parametrize(("api", "name"), IMPORTS)
def test_none_is_not_descriptor_0(api: str, name: str, stub_of: Any) -> None:
    stub, function = stub_of(api), getattr(source(api), name)
    rest = [1] * (len(inspect.signature(function).parameters) - 1)
    with pytest.raises(TypeError, match=rf"^{name}: \w+ must be a descriptor .* descriptor 0"):
        function(None, *rest)
    assert stub.calls() == []
    assert function(0, *rest)[0] == function(bytearray(64), *rest)[0] == 0


def test_a_struct_does_not_have_bytes_written_to() -> None:
    for cls in (driver.CUDA_MEMCPY2D, driver.CUDA_MEMCPY3D):
        with pytest.raises(TypeError, match=rf"{cls.__name__}.dstHost is written to"):
            cls().dstHost = b"literal"
        assert cls(srcHost=b"literal").srcHost


class Item(bytearray):
    """Empties the list that it is in when it is converted."""

    def __init__(self, behind: list[Any]) -> None:
        self.behind = behind

    def __index__(self) -> int:
        self.behind.clear()
        return 1

    def __bytes__(self) -> bytes:
        self.behind.clear()
        return b"text"


CHANGING: dict[str, Any] = {
    "array": lambda some: module("_ffi.convert").array(some, ctypes.c_size_t, 9, "array"),
    "pointers": lambda some: module("_ffi.convert").pointers(some, 9, "pointers"),
    "texts": lambda some: module("_ffi.convert").texts(some, 9, "texts"),
}


@pytest.mark.parametrize("name", CHANGING)
def test_a_list_that_changes_while_it_is_converted(name: str) -> None:
    """C is told of as many items as there were."""
    some: list[Any] = []
    some += [Item(some)] * 9
    made = CHANGING[name](some)
    assert some == [] and list(map(bool, made)) == [True] * 9


def test_a_pointer_has_no_end_and_is_no_list(stub: Stub) -> None:
    location = driver.CUmemLocation()
    for wrong in (ctypes.pointer(location), memoryview(bytes(8)).cast("B", (2, 4)), iter([location])):
        with pytest.raises(TypeError, match=r"cuMemGetLocationInfo: location_out must be a list, not \w+"):
            driver.cuMemGetLocationInfo(1, 4, 4, 1, wrong)
    assert stub.calls() == []


# -- round trips -----------------------------------------------------------------------------------------

anything = st.integers(-(2**66), 2**66)
WIDTHS: dict[str, tuple[str, Any]] = {
    "unsigned char": ("B", lambda n: ("uc", driver.cuMemsetD8(1, n, 1))),
    "unsigned short": ("H", lambda n: ("us", driver.cuMemsetD16(1, n, 1))),
    "unsigned int": ("I", lambda n: ("ui", driver.cuMemsetD32(1, n, 1))),
    "int": ("i", lambda n: ("ordinal", driver.cuDeviceGet(n))),
    "size_t": ("Q", lambda n: ("bytesize", driver.cuMemAlloc(n))),
    "unsigned long long": ("Q", lambda n: ("dptr", driver.cuMemFree(n))),
}


@pytest.mark.parametrize("c_type", WIDTHS)
@budget
@given(value=anything | st.integers(-300, 300) | st.integers(2**31 - 2, 2**32 + 1))
def test_integers_arrive_or_raise(c_type: str, value: int, stub: Stub) -> None:
    code, call = WIDTHS[c_type]
    try:
        expected = struct.pack(code, value)
    except struct.error:
        with pytest.raises(OverflowError, match=str(value)):
            call(value)
        assert stub.calls() == []
    else:
        name, (status, *_) = call(value)
        (recorded,) = stub.calls()
        assert (status, recorded.arguments[name].raw) == (OK, expected)


@budget
@given(values=st.lists(st.integers(-1, 2**64), max_size=20), extra=st.integers(-2, 2))
def test_lists_arrive_or_raise(values: list[int], extra: int, stub: Stub) -> None:
    """A list of numbers with a count that may be too large or too small for it."""
    count = max(0, len(values) + extra)
    arguments = (values, [0] * count, count, 0, None)
    if len(values) < count:
        with pytest.raises(ValueError, match=f"cuMemDiscardBatchAsync: dptrs holds {len(values)} item"):
            driver.cuMemDiscardBatchAsync(*arguments)
    elif any(not 0 <= value < 2**64 for value in values):
        with pytest.raises(OverflowError, match=r"cuMemDiscardBatchAsync: dptrs\[\d+\]"):
            driver.cuMemDiscardBatchAsync(*arguments)
    else:
        assert driver.cuMemDiscardBatchAsync(*arguments) == (OK,)
        (recorded,) = stub.calls()
        seen = recorded.arguments["dptrs"].memory or b""
        assert seen == struct.pack(f"{count}Q", *values[:count])


@budget
@given(data=st.binary(max_size=600), kind=st.sampled_from([bytes, bytearray, memoryview, "array", "numpy"]))
def test_bytes_arrive(data: bytes, kind: Any, stub: Stub) -> None:
    """Memory to copy from, in any object with the buffer protocol."""
    numpy = pytest.importorskip("numpy")
    makers = {"array": lambda d: array.array("B", d), "numpy": lambda d: numpy.frombuffer(d, numpy.uint8)}
    value = makers.get(kind, kind)(data)
    assert driver.cuMemcpyHtoD(1, value, len(data)) == (OK,)
    (recorded,) = stub.calls()
    assert (recorded.arguments["srcHost"].memory or b"") == data
    with pytest.raises(ValueError, match=f"cuMemcpyHtoD: srcHost holds {len(data)} byte"):
        driver.cuMemcpyHtoD(1, value, len(data) + 1)


@budget
@given(text=st.binary(max_size=60).filter(lambda text: b"\0" not in text))
def test_text_arrives(text: bytes, stub: Stub) -> None:
    for value in (text, bytearray(text)):
        status, _ = driver.cuModuleLoad(value)
        (recorded,) = stub.calls()
        assert (status, recorded.arguments["fname"].memory) == (OK, text + b"\0")


uint = st.integers(0, 2**32 - 1)
size = st.integers(0, 2**64 - 1)


@budget
@given(x=size, y=size, memory=st.integers(0, 2**31 - 1), device=size, pitch=size, width=size)
def test_structs_arrive(x: int, y: int, memory: int, device: int, pitch: int, width: int, stub: Stub) -> None:
    """The fields of CUDA_MEMCPY2D, where cuda.h has them."""
    copy = driver.CUDA_MEMCPY2D(
        srcXInBytes=x, srcY=y, srcMemoryType=memory, srcDevice=device, srcPitch=pitch, WidthInBytes=width
    )
    assert driver.cuMemcpy2D(copy) == (OK,)
    (recorded,) = stub.calls()
    seen = recorded.arguments["pCopy"].memory
    half = struct.pack("QQI4xQQQQ", x, y, memory, 0, device, 0, pitch)
    assert seen == half + bytes(len(half)) + struct.pack("QQ", width, 0)
    assert (copy.srcXInBytes, copy.srcY, copy.srcDevice, copy.WidthInBytes) == (x, y, device, width)
    assert (copy.srcMemoryType, copy.srcPitch) == (memory, pitch)


@pytest.mark.parametrize("code", "?bBhHiIf")
def test_a_kernel_argument_has_eight_bytes(code: str) -> None:
    """A parameter that is wider than the type of its value reads zeros behind it, and no other value."""
    cls = next(c for c in vars(ctypes).values() if getattr(c, "_type_", None) == code)
    types = (cls, ctypes.c_void_p, cls)
    block = module("_ffi.convert").pointers(((1, 2**64 - 1, 1), types), 3, "test")
    pointers = (ctypes.c_void_p * 3).from_buffer(block)
    one = bytes(cls(1)).ljust(8, b"\0")
    assert [ctypes.string_at(pointer, 8) for pointer in pointers] == [one, b"\xff" * 8, one]
    assert pointers[2] + 8 <= ctypes.addressof(block) + ctypes.sizeof(block)  # type: ignore[operator]


@budget
@given(values=st.lists(st.one_of(st.integers(-(2**31), 2**31 - 1), st.floats(width=32)), max_size=8))
def test_kernel_arguments_arrive(values: list[Any]) -> None:
    """((values...), (types...)): an array of pointers, each to a value of the type beside it."""
    types = tuple(ctypes.c_int if isinstance(value, int) else ctypes.c_float for value in values)
    block = module("_ffi.convert").pointers((tuple(values), types), len(values), "test")
    if not values:
        assert block is None
        return
    pointers = (ctypes.c_void_p * len(values)).from_buffer(block)
    read = [cls.from_address(pointer).value for cls, pointer in zip(types, pointers, strict=True)]
    assert [struct.pack("d", value) for value in read] == [struct.pack("d", value) for value in values]
