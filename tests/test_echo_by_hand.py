"""The functions of the driver that are written by hand: what C receives of them, and what comes back.

Most rest on a private declaration, which `test_echo.py` covers; here is what they add to it.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import pytest

from .stub import module
from .stub.build import COPIED, by_hand, pattern
from .stub.record import Stub

driver = module("driver")
OK = driver.CUresult.CUDA_SUCCESS
FAILED = driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
RANGE, POINTER, COREDUMP = (
    driver.CUmem_range_attribute,
    driver.CUpointer_attribute,
    driver.CUcoredumpSettings,
)
LOCATION = driver.CUmemLocation(type=driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id=0x01020304)
BIG = 0x1122334455667788
TESTED = {"cuLaunchKernel"}  # by test_launch_kernel.py


def q(*values: int) -> bytes:
    return struct.pack(f"{len(values)}Q", *values)


def i(*values: int) -> bytes:
    return struct.pack(f"{len(values)}i", *values)


def number(which: int, size: int) -> int:
    """What the stub writes to an integer behind parameter number `which`."""
    return int.from_bytes(pattern(which, size), "little")


def covers(*names: str) -> Callable[[Any], Any]:
    """Say which functions a test is about."""
    TESTED.update(names)
    return lambda test: test


def received(stub: Stub) -> tuple[str, dict[str, bytes]]:
    """The symbol and the arguments of the one call there was, each as what lies behind it or as itself."""
    (call,) = stub.calls()
    return call.symbol, {
        name: argument.raw if argument.memory is None else argument.memory
        for name, argument in call.arguments.items()
    }


def test_every_function_is_tested() -> None:
    """Those without a declaration of their own are here, the others in test_echo.py."""
    assert by_hand(driver) - TESTED == set()


# -- forms of CUDA 12 and 13 -----------------------------------------------------------------------------

NODES, EDGES = [driver.CUgraphNode(7), 8], [driver.CUgraphEdgeData(from_port=3)]
FORMS: dict[str, tuple[str, tuple[Any, ...], str, dict[str, bytes]]] = {
    "13": ("cuCtxCreate", (None, 3, 1), "cuCtxCreate_v4", {"ctxCreateParams": q(0), "flags": i(3)}),
    "12": ("cuCtxCreate", (3, 1), "cuCtxCreate_v2", {"flags": i(3), "dev": i(1)}),
    "location": (
        "cuMemPrefetchAsync",
        (BIG, 9, LOCATION, 2, 5),
        "cuMemPrefetchAsync_v2",
        {"devPtr": q(BIG), "count": q(9), "location": bytes(LOCATION), "flags": i(2), "hStream": q(5)},
    ),
    "device": (
        "cuMemPrefetchAsync",
        (BIG, 9, 1, 5),
        "cuMemPrefetchAsync",
        {"devPtr": q(BIG), "count": q(9), "dstDevice": i(1), "hStream": q(5)},
    ),
    "advise a location": (
        "cuMemAdvise",
        (BIG, 9, 2, LOCATION),
        "cuMemAdvise_v2",
        {"devPtr": q(BIG), "count": q(9), "advice": i(2), "location": bytes(LOCATION)},
    ),
    "advise a device": (
        "cuMemAdvise",
        (BIG, 9, 2, driver.CUdevice(1)),
        "cuMemAdvise",
        {"devPtr": q(BIG), "count": q(9), "advice": i(2), "device": i(1)},
    ),
    "capture 13": (
        "cuStreamUpdateCaptureDependencies",
        (5, NODES[:1], EDGES, 1, 1),
        "cuStreamUpdateCaptureDependencies_v2",
        {"hStream": q(5), "dependencies": q(7), "dependencyData": bytes(EDGES[0]), "flags": i(1)},
    ),
    "capture 12": (
        "cuStreamUpdateCaptureDependencies",
        (5, NODES, 2, 1),
        "cuStreamUpdateCaptureDependencies",
        {"hStream": q(5), "dependencies": q(7, 8), "numDependencies": q(2), "flags": i(1)},
    ),
    "add 13": (
        "cuGraphAddDependencies",
        (5, NODES[:1], NODES[1:], EDGES, 1),
        "cuGraphAddDependencies_v2",
        {"from": q(7), "to": q(8), "edgeData": bytes(EDGES[0]), "numDependencies": q(1)},
    ),
    "add 12": (
        "cuGraphAddDependencies",
        (5, NODES[:1], NODES[1:], 1),
        "cuGraphAddDependencies",
        {"hGraph": q(5), "from": q(7), "to": q(8), "numDependencies": q(1)},
    ),
    "remove 13": (
        "cuGraphRemoveDependencies",
        (5, NODES[:1], NODES[1:], EDGES, 1),
        "cuGraphRemoveDependencies_v2",
        {"from": q(7), "to": q(8), "edgeData": bytes(EDGES[0]), "numDependencies": q(1)},
    ),
    "remove 12": (
        "cuGraphRemoveDependencies",
        (5, NODES[:1], NODES[1:], 1),
        "cuGraphRemoveDependencies",
        {"hGraph": q(5), "from": q(7), "to": q(8), "numDependencies": q(1)},
    ),
    "node 13": (
        "cuGraphAddNode",
        (5, NODES, None, 2, driver.CUgraphNodeParams(type=1)),
        "cuGraphAddNode_v2",
        {"hGraph": q(5), "dependencies": q(7, 8), "dependencyData": q(0), "numDependencies": q(2)},
    ),
    "node 12": (
        "cuGraphAddNode",
        (5, NODES, 2, driver.CUgraphNodeParams(type=1)),
        "cuGraphAddNode",
        {"hGraph": q(5), "dependencies": q(7, 8), "numDependencies": q(2)},
    ),
}
TESTED.update(name for name, *_ in FORMS.values())


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_12_and_13(form: str, stub: Stub) -> None:
    name, arguments, symbol, expected = FORMS[form]
    status, *_ = getattr(driver, name)(*arguments)
    called, seen = received(stub)
    assert status is OK
    assert called == symbol
    assert {key: seen[key] for key in expected} == expected


GRAPH_LISTS = {
    "cuGraphGetEdges": (("from", 1), ("to", 2), ("edgeData", 3)),
    "cuGraphNodeGetDependencies": (("dependencies", 1), ("edgeData", 2)),
    "cuGraphNodeGetDependentNodes": (("dependentNodes", 1), ("edgeData", 2)),
}


@covers(*GRAPH_LISTS)
@pytest.mark.parametrize("name", GRAPH_LISTS)
def test_lists_of_a_graph(name: str, stub: Stub) -> None:
    status, *lists, count = getattr(driver, name)(5, 3)
    assert (status, count) == (OK, 2)  # the stub has one fewer than there is room for
    for (c_name, which), items in zip(GRAPH_LISTS[name], lists, strict=True):
        size = 8
        data = pattern(which, 3 * size)
        have = b"".join(bytes(memoryview(item)) for item in items)
        assert have == data[: 2 * size], c_name
    called, _ = received(stub)
    assert called == f"{name}_v2"


@covers("cuStreamGetCaptureInfo")
def test_what_is_captured(stub: Stub) -> None:
    status, _, identity, _, nodes, edges, count = driver.cuStreamGetCaptureInfo(5)
    called, seen = received(stub)
    assert (status, called, seen["hStream"]) == (OK, "cuStreamGetCaptureInfo_v3", q(5))
    assert identity == number(2, 8)
    assert len(nodes) == len(edges) == count == COPIED
    assert type(edges[0]) is driver.CUgraphEdgeData
    stub.status = FAILED
    assert driver.cuStreamGetCaptureInfo(5) == (FAILED, *[None] * 6)


@covers("cuDevSmResourceSplitByCount")
@pytest.mark.parametrize("keyword", ["flags", "useFlags"])
def test_a_keyword_that_had_another_name(keyword: str, stub: Stub) -> None:
    resource = driver.CUdevResource(type=1)
    status, groups, count, rest = driver.cuDevSmResourceSplitByCount(
        nbGroups=3, input_=resource, minCount=4, **{keyword: 5}
    )
    assert (status, len(groups), count, type(rest)) == (OK, 2, 2, driver.CUdevResource)
    _, seen = received(stub)
    assert (seen["input"], seen["flags"], seen["minCount"]) == (bytes(resource), i(5), i(4))
    with pytest.raises(TypeError, match="another"):
        driver.cuDevSmResourceSplitByCount(3, resource, another=5, minCount=4)


# -- batches of copies -----------------------------------------------------------------------------------


@covers("cuMemcpyBatchAsync", "cuMemcpy3DBatchAsync")
def test_batches(stub: Stub) -> None:
    attributes = [driver.CUmemcpyAttributes(flags=7)]
    assert driver.cuMemcpyBatchAsync([1, 2], [3, 4], [5, BIG], 2, attributes, [0], 1, 9) == (OK,)
    called, seen = received(stub)
    assert called == "cuMemcpyBatchAsync_v2"
    assert seen == {
        "dsts": q(1, 2),
        "srcs": q(3, 4),
        "sizes": q(5, BIG),
        "count": q(2),
        "attrs": bytes(attributes[0]),
        "attrsIdxs": q(0),
        "numAttrs": q(1),
        "hStream": q(9),
    }
    operations = [driver.CUDA_MEMCPY3D_BATCH_OP(flags=3), driver.CUDA_MEMCPY3D_BATCH_OP()]
    assert driver.cuMemcpy3DBatchAsync(2, operations, BIG, 9) == (OK,)
    called, seen = received(stub)
    assert called == "cuMemcpy3DBatchAsync_v2"
    expected = {"numOps": q(2), "opList": b"".join(map(bytes, operations)), "flags": q(BIG), "hStream": q(9)}
    assert seen == expected


# -- attributes ------------------------------------------------------------------------------------------


@covers("cuMemRangeGetAttribute", "cuMemRangeGetAttributes")
def test_range_attributes(stub: Stub) -> None:
    one = driver.cuMemRangeGetAttribute(4, RANGE.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, BIG, 9)
    assert one == (OK, number(0, 4))
    _, seen = received(stub)
    assert seen == {"data": bytes(4), "dataSize": q(4), "attribute": i(1), "devPtr": q(BIG), "count": q(9)}
    kind = RANGE.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE
    status, location = driver.cuMemRangeGetAttribute(4, kind, BIG, 9)
    assert (status, type(location), int(location)) == (OK, driver.CUmemLocationType, number(0, 4))
    accessed_by = RANGE.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
    status, devices = driver.cuMemRangeGetAttribute(12, accessed_by, BIG, 9)
    assert (status, devices) == (OK, list(struct.unpack("3i", pattern(0, 12))))
    stub.calls()
    mostly = RANGE.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY
    status, values = driver.cuMemRangeGetAttributes([4, 8], [mostly, accessed_by], 2, BIG, 9)
    assert (status, values) == (OK, [0, [0, 0]])  # the stub does not follow pointers to pointers
    _, seen = received(stub)
    assert seen["dataSizes"] == q(4, 8)
    assert seen["attributes"] == i(mostly, accessed_by)
    assert all(struct.unpack("2Q", seen["data"]))
    stub.status = FAILED
    assert driver.cuMemRangeGetAttribute(4, mostly, BIG, 9) == (FAILED, None)
    assert driver.cuMemRangeGetAttributes([4], [mostly], 1, BIG, 9) == (FAILED, None)


@covers("cuPointerGetAttributes")
def test_pointer_attributes(stub: Stub) -> None:
    wanted = [POINTER.CU_POINTER_ATTRIBUTE_CONTEXT, POINTER.CU_POINTER_ATTRIBUTE_MEMORY_TYPE]
    status, values = driver.cuPointerGetAttributes(2, wanted, BIG)
    assert status is OK
    assert [type(value) for value in values] == [driver.CUcontext, driver.CUmemorytype]
    _, seen = received(stub)
    assert seen["numAttributes"] == i(2)
    assert seen["attributes"] == i(*wanted)
    assert seen["ptr"] == q(BIG)
    assert all(struct.unpack("2Q", seen["data"]))
    stub.status = FAILED
    assert driver.cuPointerGetAttributes(2, wanted, BIG) == (FAILED, None)


@covers("cuMemGetLocationInfo")
def test_location_info(stub: Stub) -> None:
    places = [driver.CUmemLocation(id=1), driver.CUmemLocation(id=2)]
    assert driver.cuMemGetLocationInfo(BIG, 8, 4, 1, places) == (OK,)
    _, seen = received(stub)
    assert seen["location_out"] == i(0, 1, 0, 2)
    assert seen["size"] + seen["summaryGranularity"] + seen["samplingGranularity"] == q(8, 4, 1)
    with pytest.raises(ValueError, match="location_out"):
        driver.cuMemGetLocationInfo(BIG, 9, 4, 1, places)  # 3 entries


@covers("cuCoredumpGetAttribute", "cuCoredumpGetAttributeGlobal")
@pytest.mark.parametrize("name", ["cuCoredumpGetAttribute", "cuCoredumpGetAttributeGlobal"])
def test_coredump_settings_are_read(name: str, stub: Stub) -> None:
    get = getattr(driver, name)
    stub.status = FAILED
    assert get(COREDUMP.CU_COREDUMP_FILE) == (FAILED, None)
    stub.status = 0
    stub.calls()
    status, value = get(COREDUMP.CU_COREDUMP_FILE)
    assert (status, type(value)) == (OK, bytes)
    called, seen = received(stub)
    assert (called, seen["attrib"]) == (name, i(COREDUMP.CU_COREDUMP_FILE))
    assert struct.unpack("Q", seen["size"])[0] >= 1023  # the driver's longest path
    assert get(COREDUMP.CU_COREDUMP_ENABLE_ON_EXCEPTION)[1] is False
    assert type(get(COREDUMP.CU_COREDUMP_GENERATION_FLAGS)[1]) is int


@pytest.mark.parametrize(
    ("version", "flags", "sent"),
    [(13000, 303, 47), (13010, 303, 303), (12080, 303 | 16, 47 | 16), (12080, 256, 256), (None, 303, 47)],
)
def test_lightweight_core_dumps_are_what_the_driver_knows(
    version: int | None, flags: int, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CUDA 13.1 gave CU_COREDUMP_LIGHTWEIGHT_FLAGS one bit more."""
    memory: list[bytes] = []
    ok = driver.CUresult.CUDA_SUCCESS
    monkeypatch.setattr(driver, "cuDriverGetVersion", lambda: (ok, version))
    monkeypatch.setattr(
        driver, "_cuCoredumpSetAttribute", lambda *given: memory.append(bytes(given[1])) or (ok, 4)
    )
    assert driver.cuCoredumpSetAttribute(COREDUMP.CU_COREDUMP_GENERATION_FLAGS, flags) == (ok,)
    assert memory == [sent.to_bytes(4, "little")]


@covers("cuCoredumpSetAttribute", "cuCoredumpSetAttributeGlobal")
@pytest.mark.parametrize("name", ["cuCoredumpSetAttribute", "cuCoredumpSetAttributeGlobal"])
@pytest.mark.parametrize(
    ("attribute", "value", "sent"),
    [
        ("FILE", b"/tmp/core", b"/tmp/core\0"),
        ("FILE", b"/tmp/core\0", b"/tmp/core\0"),
        ("PIPE", bytearray(b"p"), b"p\0"),
        ("GENERATION_FLAGS", 0x04030201, b"\1\2\3\4"),
        ("ENABLE_ON_EXCEPTION", True, b"\1"),
        ("ENABLE_USER_TRIGGER", 0, b"\0"),
    ],
)
def test_coredump_settings_are_set(name: str, attribute: str, value: Any, sent: bytes, stub: Stub) -> None:
    memory: list[bytes] = []
    key = getattr(COREDUMP, f"CU_COREDUMP_{attribute}")
    with pytest.MonkeyPatch.context() as patch:
        plain = getattr(driver, f"_{name}")
        patch.setattr(driver, f"_{name}", lambda *given: memory.append(bytes(given[1])) or plain(*given))
        (status,) = getattr(driver, name)(key, value)
    called, seen = received(stub)
    assert (status, called, seen["attrib"]) == (OK, name, i(key))
    assert seen["size"] == q(len(sent))
    assert memory == [sent]


# -- what is kept between calls ----------------------------------------------------------------------------


def test_link_options_live_as_long_as_the_linker(stub: Stub) -> None:
    """The linker writes to the buffers among the option values until it is destroyed."""
    buffer = bytearray(16)
    option = driver.CUjit_option.CU_JIT_INFO_LOG_BUFFER
    status, state = driver.cuLinkCreate(2, [option, 4], [buffer, 16])
    _, seen = received(stub)
    address = ctypes.addressof((ctypes.c_char * 16).from_buffer(buffer))
    assert (status, type(state)) == (OK, driver.CUlinkState)
    assert (seen["numOptions"], seen["options"], seen["optionValues"]) == (i(2), i(option, 4), q(address, 16))
    with pytest.raises(BufferError):
        buffer.clear()  # C has its address
    assert driver.cuLinkDestroy(state) == (OK,)
    called, seen = received(stub)
    assert (called, seen) == ("cuLinkDestroy", {"state": q(int(state))})
    buffer.clear()
