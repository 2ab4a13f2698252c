"""NVML's two faces, beyond the echo: whole arrays, twins, exceptions, functions written by hand."""

from __future__ import annotations

import copy
import ctypes
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from cudapy import nvml
from cudapy._bindings.errors import CUDAError
from cudapy._types.meanings import NVMLRETURN
from cudapy._types.nvml import enums as c_enums
from cudapy._types.nvml import irregular, names
from cudapy._types.nvml import structs as c_structs
from cudapy._types.nvml.derived import TWINS

from . import nvml_stubs
from .stub import module, source
from .stub.build import is_aggregate
from .stub.record import Stub
from .stub.values import case

OK, SHORT = nvml.nvmlReturn_t.NVML_SUCCESS, nvml.nvmlReturn_t.NVML_ERROR_INSUFFICIENT_SIZE
stubbed = source("nvml")
handles = module("_ffi.handles")


# -- versions --------------------------------------------------------------------------------------------


def test_a_struct_has_its_version() -> None:
    for cls in (nvml.nvmlMemory_v2_t, nvml.Memory_v2):
        assert cls().version == ctypes.sizeof(cls) | 2 << 24
        assert cls(total=5).version == cls().version
        assert cls(version=7).version == 7
    assert nvml.nvmlGpmMetricsGet_t().version == 1
    assert nvml.nvmlUtilization_t(gpu=5).gpu == 5


def test_a_view_of_memory_keeps_its_version() -> None:
    memory = nvml.nvmlMemory_v2_t(version=7)
    assert nvml.nvmlMemory_v2_t(_ptr=memory.getPtr()).version == 7


# -- arrays ----------------------------------------------------------------------------------------------


def of_room(monkeypatch: pytest.MonkeyPatch, counts: list[int]) -> list[int]:
    """Have NVML say that there are so many processes, one number a call; returns the rooms it was given."""
    rooms: list[int] = []

    def function(device: Any, count: Any, infos: Any) -> int:
        there = counts[min(len(rooms), len(counts) - 1)]
        room, count[0] = count[0], there
        rooms.append(room)
        if room < there:
            return int(SHORT)
        for i in range(there):
            infos[i].pid = 100 + i
        return 0

    pointer = ctypes.POINTER
    types = ctypes.c_size_t, pointer(ctypes.c_uint), pointer(nvml.nvmlProcessInfo_t)
    thunk = ctypes.CFUNCTYPE(ctypes.c_int, *types)(function)
    library = type("Library", (), {"__getitem__": lambda self, symbol: thunk})()
    monkeypatch.setattr(nvml.libnvml, "load", lambda: library)
    return rooms


def fresh(name: str) -> Any:
    """A function as at its first call, in the form that finds its library anew."""
    return getattr(nvml, name).__declaration__.write()


def test_all_of_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its count is asked for, and asked again if there are more by then."""
    rooms = of_room(monkeypatch, [2, 3, 3])
    function = fresh("nvmlDeviceGetComputeRunningProcesses")
    monkeypatch.setattr(nvml, "nvmlDeviceGetComputeRunningProcesses", function)
    status, count, infos = function(1, None)
    assert (status, count, [info.pid for info in infos]) == (OK, 3, [100, 101, 102])
    assert rooms == [0, 2, 3]


def test_no_items_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = of_room(monkeypatch, [0])
    function = fresh("nvmlDeviceGetComputeRunningProcesses")
    monkeypatch.setattr(nvml, "nvmlDeviceGetComputeRunningProcesses", function)
    assert function(1, None) == (OK, 0, [])
    assert rooms == [0]


def test_too_little_room_says_how_much_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    of_room(monkeypatch, [3])
    assert fresh("nvmlDeviceGetComputeRunningProcesses")(1, 2) == (SHORT, 3, None)
    raising = nvml.nvmlDeviceGetComputeRunningProcesses.__declaration__.write(raising=True)  # type: ignore[attr-defined]
    with pytest.raises(CUDAError, match="NVML_ERROR_INSUFFICIENT_SIZE"):
        raising(1, 2)


def test_more_room_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    of_room(monkeypatch, [1])
    status, count, infos = fresh("nvmlDeviceGetComputeRunningProcesses")(1, 9)
    assert (status, count, len(infos)) == (OK, 1, 1)


def test_all_of_an_array_in_a_struct(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for functions of the face whose array is behind a pointer in a struct."""
    rooms = []

    def function(device: int, plist: Any) -> tuple[Any]:
        room, plist.numProcArrayEntries = len(plist.procArray), 2
        rooms.append(room)
        if room < 2:
            return (SHORT,)
        array = (nvml.nvmlProcessDetail_v1_t * 2).from_address(
            ctypes.c_size_t.from_address(
                plist.getPtr() + nvml.nvmlProcessDetailList_v1_t.procArray.raw.offset  # type: ignore[attr-defined]
            ).value
        )
        array[0].pid, array[1].pid = 7, 8
        return (OK,)

    monkeypatch.setattr(nvml, "nvmlDeviceGetRunningProcessDetailList", function)
    found = nvml.device_get_running_process_detail_list(1, nvml.ProcessMode.COMPUTE)
    assert [process.pid for process in found.proc_array] == [7, 8]
    assert (found.mode, rooms) == (nvml.ProcessMode.COMPUTE, [0, 2])


def test_a_list_that_grows_each_time_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 16 times there is no more trying: the last status, or its exception."""
    rooms = of_room(monkeypatch, list(range(2, 40)))
    function = fresh("nvmlDeviceGetComputeRunningProcesses")
    monkeypatch.setattr(nvml, "nvmlDeviceGetComputeRunningProcesses", function)
    assert function(1, None) == (SHORT, 18, None)
    assert len(rooms) == 17


@pytest.mark.parametrize(
    ("name", "size", "data", "ask"),
    [
        (
            "nvmlEventSetGetContextData_v1",
            "dataSize",
            "data",
            lambda: nvml.event_set_get_context_data_v1(1, 2),
        ),
        ("nvmlSystemGetCPER_v1", "bufferSize", "buffer", lambda: nvml.system_get_cper_v1(None)[0]),
    ],
)
def test_bytes_of_which_nvml_tells_how_many(
    name: str, size: str, data: str, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may become more between two calls, but not for ever."""
    there = [2, 3, 3]

    def function(*arguments: Any) -> tuple[Any]:
        asked = arguments[-1]
        room = getattr(asked, size)
        setattr(asked, size, there.pop(0))
        if room < getattr(asked, size):
            return (SHORT,)
        address = ctypes.c_size_t.from_address(asked.getPtr() + getattr(type(asked), data).raw.offset)
        ctypes.memmove(address.value, b"abc", 3)
        return (OK,)

    monkeypatch.setattr(nvml, name, function)
    assert ask() == b"abc" and there == []


def test_a_uuid_of_16_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(
        nvml, "nvmlDeviceGetHandleByUUIDV", lambda uuid: (asked.append(uuid), (OK, nvml.nvmlDevice_t(7)))[1]
    )
    assert nvml.device_get_handle_by_uuidv(nvml.UUIDType.BINARY, bytes(range(16))) == 7
    assert nvml.device_get_handle_by_uuidv(nvml.UUIDType.ASCII, b"GPU-5") == 7
    binary, text = asked
    assert binary.value.bytes == bytes(range(16)) and text.value.str.rstrip(b"\0") == b"GPU-5"


# -- the face --------------------------------------------------------------------------------------------


def test_twins_have_the_same_layout_and_values() -> None:
    """A struct is taken and returned in the memory of the other one; an enum by its number."""
    assert len(TWINS) > 180
    for cls, twin in TWINS.items():
        if hasattr(cls, "__members__"):
            shared = {int(member) for member in twin} - {int(member) for member in cls}  # type: ignore[attr-defined]
            assert not shared, (cls, shared)
            continue
        assert ctypes.sizeof(cls) == ctypes.sizeof(twin), cls
        assert cls._version_ == twin._version_  # type: ignore[attr-defined]
        assert layout(cls) == layout(twin), cls


def test_stubs_are_up_to_date() -> None:
    """Type checkers see the classes that are made on demand: `python -m tests.nvml_stubs` writes them."""
    for file, write in nvml_stubs.STUBS.items():
        assert (nvml_stubs.FOLDER / file).read_text(encoding="utf-8") == write(), file


def test_irregular_names_are_names() -> None:
    """Each exception to a rule is one of something that exists."""
    of_c = {*vars(c_structs), *vars(c_enums)}
    twins = {cls.__name__[4:-2]: cls for cls in TWINS}
    tables = (irregular.ABSENT, irregular.ARRAYS, irregular.FIELDS, irregular.TWICE, irregular.PREFIXES)
    for table in tables:
        assert [name for name in table if f"nvml{name}_t" not in of_c] == []
    assert set(irregular.ABSENT) & set(irregular.ARRAYS) == set()
    for name, fields in irregular.FIELDS.items():
        assert set(fields) <= set(twins[name].__annotations__)
    for table in (irregular.LACKING, irregular.VALUES):
        assert set(table) <= {*irregular.GROUPS, *twins}


@pytest.mark.parametrize("name", ["EccErrorCounts", "Nothing", "nvmlMemory_t", "_x"])
def test_names_that_are_not_there(name: str) -> None:
    with pytest.raises(AttributeError, match=name):
        getattr(names, name)
    assert name not in dir(names)


def test_a_class_is_made_once_and_alone() -> None:
    """A name costs the class that it names, and those of its fields; `dir()` makes none."""
    program = """
import sys, threading
import cudapy.nvml
classes = []
threads = [threading.Thread(target=lambda: classes.append(cudapy.nvml.ExcludedDeviceInfo)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert {"FieldValue", "ClockType", "nvmlMemory_t", "NoPermissionError"} <= {*dir(cudapy.nvml)}
made = vars(sys.modules["cudapy._types.nvml.names"])
print(len(set(classes)), *sorted(name for name in made if name[0].isupper() and not name.isupper()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "ExcludedDeviceInfo", "PciInfo"]


def layout(cls: Any) -> list[Any]:
    """The offset and size of each field, in order."""
    fields = [getattr(cls, name).raw for name in cls._makers_]
    return [(field.offset, field.size) for field in fields]


FACES = {
    name: value.__kwdefaults__["function"]  # type: ignore[index]
    for name, value in vars(stubbed).items()
    if inspect.isfunction(value) and "face" in (value.__kwdefaults__ or {})
}


@pytest.mark.parametrize("name", FACES)
def test_face(name: str, stub_of: Callable[[str], Stub]) -> None:
    """C gets what the function of C gives it; the results are the same, in the classes of the face."""
    stub, function = stub_of("nvml"), FACES[name]
    face = getattr(stubbed, name)
    made = case(function, "typical")
    by_name = dict(zip(function.__declaration__.inputs, made.arguments(), strict=True))
    count = len(inspect.signature(face).parameters)
    given = list(by_name.values())[:count]
    twins = module("_types.nvml.derived").TWINS
    own = [
        twins[type(value)].from_buffer(value) if is_aggregate(twins.get(type(value))) else value
        for value in given
    ]
    expected = function(*given)
    (wanted, *_) = stub.calls()[-1:]
    found = face(*own)
    (call, *_) = stub.calls()[-1:]
    parsed = module("_ffi.prototypes").parse(function.__declaration__.prototype).parameters
    inputs = [p.c_name for p in parsed if p.name in list(by_name)[:count]]
    assert (call.symbol, received(call, inputs)) == (wanted.symbol, received(wanted, inputs))
    results = list(expected[1:])
    if count < len(by_name) and None in function.__defaults__:
        results = [value for value in results if type(value) is not int]  # without the count
    results = results or [None]
    for ours, theirs in zip([found] if len(results) == 1 else found, results, strict=True):
        assert_twin(ours, theirs, twins)


def received(call: Any, inputs: Any) -> dict[str, Any]:
    """What C got for the inputs; of a pointer what is behind it."""
    return {
        name: value.raw if value.memory is None else value.memory
        for name, value in call.arguments.items()
        if name in inputs
    }


def assert_twin(ours: Any, theirs: Any, twins: Any) -> None:
    if isinstance(theirs, list):
        assert isinstance(ours, list) and len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_twin(one, other, twins)
    elif isinstance(theirs, handles.Handle):
        assert type(ours) is int and ours == theirs.value
    elif isinstance(theirs, bytes):
        assert ours == theirs.partition(b"\0")[0].decode("utf-8", "replace")
    elif type(theirs) in twins:
        assert type(ours) is twins[type(theirs)]
        assert bytes(ours) == bytes(theirs) if is_aggregate(type(ours)) else ours == theirs
    else:
        assert type(ours) is type(theirs) and ours == theirs


ARGUMENTS: dict[str, Any] = {
    "uuid": b"GPU-1",
    "hostname": "host",
    "nonce": bytes(32),
    "in_data": b"data",
    "values": [stubbed.FieldValue(field_id=5)],
    "counters": [stubbed.PRMCounter_v1(counter_id=5)],
    "state": stubbed.nvmlPowerSmoothingState_v1_t(),
    "p_scheduler_state": None,
    "set_bw_mode_async": stubbed.NvlinkSetBwModeAsync_v1(bw_mode=5),
    "vgpu_metadata": stubbed.VgpuMetadata(),
    "pgpu_metadata": stubbed.VgpuPgpuMetadata(),
}
"""Arguments of functions by hand that are no numbers."""

BY_HAND = [
    name
    for name, value in vars(stubbed).items()
    if inspect.isfunction(value)
    and name.islower()
    and not name.startswith(("_", "check_status", "sizeof", "on_demand"))
    and name not in FACES
    and value.__module__ == stubbed.__name__
]


@pytest.mark.parametrize("name", BY_HAND)
def test_face_by_hand(name: str, stub_of: Callable[[str], Stub]) -> None:
    """It calls the function of C that its name says; a failure is an NvmlError."""
    stub, function = stub_of("nvml"), getattr(stubbed, name)
    parameters = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    given = [ARGUMENTS.get(p.name, 1) for p in parameters]
    if "power_smoothing" in name and "profile" in name:
        given[1] = stubbed.nvmlPowerSmoothingProfile_v1_t()
    function(*given)
    (call, *_) = stub.calls()[-1:]
    assert call.symbol.removeprefix("nvml").replace("_", "").lower() == name.replace("_", "")
    stub.status = 3
    with pytest.raises(stubbed.NotSupportedError):
        function(*given)


@pytest.mark.parametrize(
    ("name", "arguments", "parameter", "fields"),
    [
        ("device_get_temperature_v", (1, 1), "temperature", {"sensorType": 1}),
        ("device_get_fan_speed_rpm", (1, 2), "fanSpeed", {"fan": 2}),
        ("device_get_clock_offsets", (1, 2, 3), "info", {"type": 2, "pstate": 3}),
        ("device_get_accounting_stats_v2", (1, 77), "stats", {"pid": 77}),
        ("device_set_power_management_limit_v2", (1, 2, 300), "powerValue", {"powerScope": 2}),
        ("device_set_dram_encryption_mode", (1, 1), "dramEncryption", {"encryptionState": 1}),
        ("device_set_hostname_v1", (1, "host"), "hostname", {"value": b"host"}),
        ("device_set_rusd_settings_v1", (1, 5), "settings", {"pollMask": 5}),
        ("gpu_instance_set_vgpu_heterogeneous_mode", (1, 1), "pHeterogeneousMode", {"mode": 1}),
        ("system_register_events", (3, 9), "request", {"eventTypes": 3, "set": 9}),
        ("device_get_handle_by_uuidv", (1, b"GPU-5"), "uuid", {"type": 1}),
        ("device_get_vgpu_scheduler_state_v2", (1,), "pSchedulerStateInfo", {"engineId": 1}),
        ("event_set_wait_v3", (1, 50), "params", {"timeoutMs": 50}),
    ],
)  # fmt: skip
def test_what_functions_by_hand_send(
    name: str, arguments: Any, parameter: str, fields: dict[str, Any], stub_of: Callable[[str], Stub]
) -> None:
    stub, function = stub_of("nvml"), getattr(stubbed, name)
    function(*arguments)
    (call,) = stub.calls()
    received = call.arguments[parameter].memory
    declared = getattr(stubbed, call.symbol).__declaration__.prototype
    parsed = module("_ffi.prototypes").parse(declared).parameters
    cls = getattr(stubbed, next(p.type for p in parsed if p.c_name == parameter))
    assert received is not None
    struct = cls.from_buffer_copy(received.ljust(ctypes.sizeof(cls), b"\0"))
    assert {field: getattr(struct, field) for field in fields} == fields
    if cls._version_:
        assert struct.version == cls._version_


def test_field_values_are_filled_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(device: Any, count: int, values: Any) -> tuple[Any]:
        for value in values:
            value.value.uiVal = value.fieldId * 2
        return (OK,)

    monkeypatch.setattr(nvml, "_nvmlDeviceGetFieldValues", function)
    values = [nvml.FieldValue(field_id=5), nvml.FieldValue(field_id=6)]
    found = nvml.device_get_field_values(1, values)
    assert [value.value.ui_val for value in found] == [10, 12]
    assert found[0] is values[0]
    with pytest.raises(TypeError, match=r"values\[0\] must be a nvmlFieldValue_t, not int"):
        nvml.nvmlDeviceGetFieldValues(1, 1, [5])  # type: ignore[list-item]


def test_text_of_a_struct_is_a_str() -> None:
    info = nvml.PciInfo(bus_id="0000:01:00.0")
    assert info.bus_id == "0000:01:00.0"
    assert nvml.nvmlPciInfo_t.from_buffer(info).busId == b"0000:01:00.0"
    info.bus_id = b"x"  # type: ignore[assignment]
    assert info.bus_id == "x"


# -- exceptions ------------------------------------------------------------------------------------------


def test_every_status_has_a_meaning_and_a_class() -> None:
    assert set(NVMLRETURN) == set(nvml.nvmlReturn_t.__members__)
    for name, status in nvml.Return.__members__.items():
        error = nvml.NvmlError(status)
        if status and name.startswith("ERROR_"):
            words = type(error).__name__.removeprefix("Nvml").removesuffix("Error").lower()
            assert words == name.removeprefix("ERROR_").replace("_", "").lower()
        assert error.status == status


def test_errors() -> None:
    error = nvml.NvmlError(3)
    assert type(error) is nvml.NotSupportedError
    assert str(error) == "ERROR_NOT_SUPPORTED (3)"
    for made in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(made) is nvml.NotSupportedError and made.status is nvml.Return.ERROR_NOT_SUPPORTED
    assert isinstance(nvml.NvmlError(20), MemoryError)
    assert nvml.MemoryError is nvml.NvmlMemoryError and nvml.TimeoutError is nvml.NvmlTimeoutError
    unknown = nvml.NvmlError(77)
    assert type(unknown) is nvml.NvmlError and unknown.status == 77


def test_check_status() -> None:
    assert nvml.check_status(0) == 0
    assert nvml.check_status_size(7) == 7
    with pytest.raises(nvml.InsufficientSizeError):
        nvml.check_status(7)
    with pytest.raises(nvml.TimeoutError):
        nvml.check_status_size(10)
