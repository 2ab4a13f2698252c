"""What the simulated driver refuses: the status, and the reason in its log, of calls that are mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cudapy import driver, simulator
from cudapy._bindings.errors import CUDAError

cu = driver.checked
FLOAT = driver.CUarray_format.CU_AD_FORMAT_FLOAT
DEVICE, HOST = (
    getattr(driver.CUmemLocationType, f"CU_MEM_LOCATION_TYPE_{name}") for name in ("DEVICE", "HOST")
)
SM = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
PINNED = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
MANAGED = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
FABRIC = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_FABRIC


class Machine:
    """Two simulated devices, the first of which is in use, and some memory."""

    def __init__(self) -> None:
        cu.cuInit(0)
        self.context, self.other = (cu.cuDevicePrimaryCtxRetain(ordinal) for ordinal in (0, 1))
        cu.cuCtxSetCurrent(self.context)
        self.memory = cu.cuMemAlloc(4096)
        self.stream = cu.cuStreamCreate(1)
        self.pool = cu.cuDeviceGetDefaultMemPool(0)
        self.graph = cu.cuGraphCreate(0)
        self.host = cu.cuMemHostAlloc(64, 0)
        self.link = cu.cuLinkCreate(0, [], [])

    def close(self) -> None:
        cu.cuCtxSetCurrent(self.context)
        cu.cuGraphDestroy(self.graph)
        cu.cuStreamDestroy(self.stream)
        cu.cuMemFree(self.memory)
        cu.cuMemFreeHost(self.host)
        cu.cuLinkDestroy(self.link)
        for ordinal in (0, 1):
            cu.cuDevicePrimaryCtxRelease(ordinal)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    if not simulator.is_enabled():
        pytest.skip("the tests run on a GPU")
    before = cu.cuCtxGetCurrent() if driver.cuInit(0)[0] == 0 else None
    made = Machine()
    yield made
    made.close()
    cu.cuCtxSetCurrent(before)


def array(**more: Any) -> Any:
    shape = {"Width": 8, "Height": 8, "NumChannels": 1, "Format": FLOAT, **more}
    return cu.cuArray3DCreate(driver.CUDA_ARRAY3D_DESCRIPTOR(**shape))


def pool_of(kind: Any, where: Any, **more: Any) -> Any:
    place = driver.CUmemLocation(type=where, id=0)
    return cu.cuMemPoolCreate(driver.CUmemPoolProps(allocType=kind, location=place, **more))


def physical(kind: Any = PINNED, where: Any = DEVICE, handles: int = 0) -> Any:
    place = driver.CUmemLocation(type=where, id=0)
    prop = driver.CUmemAllocationProp(type=kind, location=place, requestedHandleTypes=handles)
    return cu.cuMemCreate(1 << 21, prop, 0)


def copy(m: Machine, **more: Any) -> Any:
    plan = driver.CUDA_MEMCPY3D(srcMemoryType=2, dstMemoryType=2, WidthInBytes=8, Height=2, Depth=1)
    plan.srcDevice, plan.dstDevice = m.memory, int(m.memory) + 2048  # type: ignore[assignment]
    plan.srcPitch = plan.dstPitch = 8
    plan.srcHeight = plan.dstHeight = 2
    for name, value in more.items():
        setattr(plan, name, value)
    cu.cuMemcpy3D(plan)


def fill(m: Machine, **more: Any) -> Any:
    node = {"dst": m.memory, "value": 1, "elementSize": 4, "width": 4, "height": 1, "pitch": 16, **more}
    cu.cuGraphAddMemsetNode(m.graph, None, 0, driver.CUDA_MEMSET_NODE_PARAMS(**node), m.context)


def update_captured(m: Machine) -> None:
    cu.cuStreamBeginCapture(m.stream, 2)
    try:
        cu.cuStreamUpdateCaptureDependencies(m.stream, [], None, 0, 7)
    finally:
        cu.cuGraphDestroy(cu.cuStreamEndCapture(m.stream))


def end_of_another_stream(m: Machine) -> None:
    second, event = cu.cuStreamCreate(1), cu.cuEventCreate(2)
    cu.cuStreamBeginCapture(m.stream, 2)
    try:
        cu.cuEventRecord(event, m.stream)
        cu.cuStreamWaitEvent(second, event, 0)
        cu.cuStreamEndCapture(second)
    finally:
        driver.cuStreamEndCapture(m.stream)
        cu.cuStreamDestroy(second)
        cu.cuEventDestroy(event)


def wait_for_a_capture_that_is_over(m: Machine) -> None:
    event, second = cu.cuEventCreate(2), cu.cuStreamCreate(1)
    cu.cuStreamBeginCapture(m.stream, 2)
    cu.cuEventRecord(event, m.stream)
    cu.cuGraphDestroy(cu.cuStreamEndCapture(m.stream))
    try:
        cu.cuStreamWaitEvent(second, event, 0)
    finally:
        cu.cuEventDestroy(event)
        cu.cuStreamDestroy(second)


def whole() -> Any:
    """A resource with all multiprocessors of the first device."""
    return cu.cuDeviceGetDevResource(0, SM)


REFUSED: list[tuple[str, str, Callable[[Machine], Any]]] = [
    ("INVALID_DEVICE", "not a peer of itself", lambda m: cu.cuDeviceGetP2PAttribute(1, 0, 0)),
    ("INVALID_VALUE", "99 is not a CUdevice_P2PAttribute", lambda m: cu.cuDeviceGetP2PAttribute(99, 0, 1)),
    ("INVALID_VALUE", "no bytes are asked for", lambda m: cu.cuMemAllocAsync(0, m.stream)),
    ("INVALID_VALUE", "default pool of a device cannot", lambda m: cu.cuMemPoolDestroy(m.pool)),
    ("INVALID_VALUE", "the pool is one of another device", lambda m: cu.cuDeviceSetMemPool(1, m.pool)),
    ("INVALID_VALUE", "not a location for a pool", lambda m: pool_of(PINNED, 0)),
    ("NOT_SUPPORTED", "as file descriptors alone", lambda m: pool_of(PINNED, DEVICE, handleTypes=FABRIC)),
    ("INVALID_VALUE", "managed memory is not shared", lambda m: pool_of(MANAGED, DEVICE, handleTypes=1)),
    ("INVALID_VALUE", "type must be CU_MEM_ALLOCATION_TYPE_PINNED", lambda m: physical(kind=MANAGED)),
    ("NOT_SUPPORTED", "physical allocations are on devices", lambda m: physical(where=HOST)),
    ("NOT_SUPPORTED", "as file descriptors alone", lambda m: physical(handles=FABRIC)),
    ("NOT_SUPPORTED", "no arrays of CU_AD_FORMAT_NV12", lambda m: array(Format=0xB0)),
    ("NOT_SUPPORTED", "no arrays with the flags 0x80", lambda m: array(Flags=0x80)),
    ("INVALID_VALUE", "no array is 0 x 8 x 0", lambda m: array(Width=0)),
    ("INVALID_VALUE", "square faces", lambda m: array(Height=4, Depth=6, Flags=driver.CUDA_ARRAY3D_CUBEMAP)),
    (
        "INVALID_VALUE",
        "at least one level",
        lambda m: cu.cuMipmappedArrayCreate(
            driver.CUDA_ARRAY3D_DESCRIPTOR(Width=8, Height=8, NumChannels=1, Format=FLOAT), 0
        ),
    ),
    ("INVALID_VALUE", "pitch of 4 bytes is less than the width of 8", lambda m: copy(m, srcPitch=4)),
    ("INVALID_VALUE", "layers of 1 rows have no 2 rows", lambda m: copy(m, Depth=2, srcHeight=1)),
    ("INVALID_VALUE", "not a CUmemorytype", lambda m: copy(m, srcMemoryType=9)),
    ("INVALID_VALUE", "elements have 1, 2 or 4 bytes, not 3", lambda m: fill(m, elementSize=3)),
    ("INVALID_VALUE", "pitch of 8 bytes is less than", lambda m: fill(m, height=2, pitch=8)),
    ("INVALID_VALUE", "not a CUstreamUpdateCaptureDependencies_flags", update_captured),
    ("STREAM_CAPTURE_UNMATCHED", "begun on another stream", end_of_another_stream),
    ("CAPTURED_EVENT", "in a capture that has ended", wait_for_a_capture_that_is_over),
    ("OUT_OF_MEMORY", "bytes", lambda m: cu.cuGraphAddMemAllocNode(
        m.graph, None, 0, driver.CUDA_MEM_ALLOC_NODE_PARAMS(
            bytesize=1 << 50, poolProps=driver.CUmemPoolProps(
                allocType=PINNED, location=driver.CUmemLocation(type=DEVICE, id=0))))),
    ("INVALID_VALUE", "unknown flags 0x80", lambda m: cu.cuDevSmResourceSplitByCount(
        1, whole(), 0x80, 8)),
    ("INVALID_VALUE", "comes from no function that makes one", lambda m: cu.cuDevResourceGenerateDesc(
        [driver.CUdevResource(type=1)], 1)),
    ("INVALID_VALUE", "no resources are given", lambda m: cu.cuDevResourceGenerateDesc([], 0)),
    ("INVALID_VALUE", "of several devices, or overlap", lambda m: cu.cuDevResourceGenerateDesc(
        [whole(), whole()], 2)),
    ("INVALID_VALUE", "the resources are those of device 0", lambda m: cu.cuGreenCtxCreate(
        cu.cuDevResourceGenerateDesc([whole()], 1), 1, 1)),
    ("INVALID_VALUE", "that cuMemAlloc did not make", lambda m: cu.cuIpcGetMemHandle(m.host)),
    ("INVALID_VALUE", "there is no data", lambda m: cu.cuLinkAddData(
        m.link, 1, None, 0, b"x", 0, None, None)),
]  # fmt: skip


@pytest.mark.parametrize(("status", "reason", "call"), REFUSED, ids=[reason for _, reason, _ in REFUSED])
def test_a_mistake_has_a_status_and_a_reason(
    status: str, reason: str, call: Callable[[Machine], Any], machine: Machine
) -> None:
    with pytest.raises(CUDAError, match=reason) as caught:
        call(machine)
    assert caught.value.name == f"CUDA_ERROR_{status}"
