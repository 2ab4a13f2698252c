"""The Runtime API: devices, their properties, limits and flags."""

from __future__ import annotations

import ctypes

import pytest

from cudapy import driver
from cudapy import runtime as rt
from cudapy.runtime import (
    cudaAtomicOperation,
    cudaChannelFormatKind,
    cudaDeviceAttr,
    cudaDeviceProp,
    cudaError_t,
    cudaFlushGPUDirectRDMAWritesScope,
    cudaFlushGPUDirectRDMAWritesTarget,
    cudaFuncCache,
    cudaLimit,
)

from .kernels import DEVICE, compute_capability, needs_driver, ok, run_python
from .runtime_kernels import attribute, needs, needs_function
from .runtime_kernels import device as device

pytestmark = pytest.mark.gpu

ASYNC_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class TestProperties:
    @pytest.fixture
    def properties(self) -> cudaDeviceProp:
        return ok(rt.cudaGetDeviceProperties(DEVICE))

    def test_who_it_is(self, properties: cudaDeviceProp) -> None:
        name = ok(driver.cuDeviceGetName(256, DEVICE)).split(b"\0")[0]
        assert properties.name.split(b"\0")[0] == name != b""
        assert (properties.major, properties.minor) == compute_capability()
        assert properties.uuid.bytes == ok(driver.cuDeviceGetUuid(DEVICE)).bytes

    def test_its_memory(self, properties: cudaDeviceProp) -> None:
        assert properties.totalGlobalMem == ok(driver.cuDeviceTotalMem(DEVICE))
        assert properties.totalGlobalMem == ok(rt.cudaMemGetInfo())[1]
        assert properties.totalConstMem == attribute(cudaDeviceAttr.cudaDevAttrTotalConstantMemory)

    @pytest.mark.parametrize(
        ("field", "name"),
        [  # from the first to the last that both layouts have
            ("regsPerBlock", "MaxRegistersPerBlock"),
            ("warpSize", "WarpSize"),
            ("maxThreadsPerBlock", "MaxThreadsPerBlock"),
            ("multiProcessorCount", "MultiProcessorCount"),
            ("maxTexture1D", "MaxTexture1DWidth"),
            ("maxSurfaceCubemap", "MaxSurfaceCubemapWidth"),
            ("ECCEnabled", "EccEnabled"),
            ("pciBusID", "PciBusId"),
            ("pciDeviceID", "PciDeviceId"),
            ("asyncEngineCount", "AsyncEngineCount"),
            ("memoryBusWidth", "GlobalMemoryBusWidth"),
            ("l2CacheSize", "L2CacheSize"),
            ("maxThreadsPerMultiProcessor", "MaxThreadsPerMultiProcessor"),
            ("sharedMemPerMultiprocessor", "MaxSharedMemoryPerMultiprocessor"),
            ("managedMemory", "ManagedMemory"),
            ("concurrentManagedAccess", "ConcurrentManagedAccess"),
            ("cooperativeLaunch", "CooperativeLaunch"),
            ("sharedMemPerBlockOptin", "MaxSharedMemoryPerBlockOptin"),
            ("maxBlocksPerMultiProcessor", "MaxBlocksPerMultiprocessor"),
            ("reservedSharedMemPerBlock", "ReservedSharedMemoryPerBlock"),
            ("memoryPoolsSupported", "MemoryPoolsSupported"),
            ("ipcEventSupported", "IpcEventSupport"),
            ("clusterLaunch", "ClusterLaunch"),
        ],
    )
    def test_they_agree_with_the_attributes(self, properties: cudaDeviceProp, field: str, name: str) -> None:
        assert getattr(properties, field) == attribute(cudaDeviceAttr[f"cudaDevAttr{name}"])

    def test_shapes(self, properties: cudaDeviceProp) -> None:
        names = ("MaxBlockDimX", "MaxBlockDimY", "MaxBlockDimZ")
        assert properties.maxThreadsDim == [attribute(cudaDeviceAttr[f"cudaDevAttr{name}"]) for name in names]
        names = ("MaxGridDimX", "MaxGridDimY", "MaxGridDimZ")
        assert properties.maxGridSize == [attribute(cudaDeviceAttr[f"cudaDevAttr{name}"]) for name in names]

    def test_a_device_is_chosen_by_them(self, properties: cudaDeviceProp) -> None:
        chosen = ok(rt.cudaChooseDevice(properties))
        assert ok(rt.cudaGetDeviceProperties(chosen)).major == properties.major
        assert 0 <= ok(rt.cudaChooseDevice(cudaDeviceProp())) < ok(rt.cudaGetDeviceCount())

    def test_of_no_device(self) -> None:
        assert rt.cudaGetDeviceProperties(4096) == (cudaError_t.cudaErrorInvalidDevice, None)


def test_attributes_have_the_numbers_of_the_driver() -> None:
    same = 0
    for name in cudaDeviceAttr:
        err, value = rt.cudaDeviceGetAttribute(name, DEVICE)
        status, expected = driver.cuDeviceGetAttribute(int(name), DEVICE)
        if err or status or name == cudaDeviceAttr.cudaDevAttrCooperativeMultiDeviceLaunch:
            continue
        assert value == expected, name
        same += 1
    assert same > 90
    err, value = rt.cudaDeviceGetAttribute(9999, DEVICE)
    assert err == cudaError_t.cudaErrorInvalidValue and value is None


def test_the_current_device() -> None:
    assert ok(rt.cudaGetDeviceCount()) == ok(driver.cuDeviceGetCount()) >= 1
    assert ok(rt.cudaGetDevice()) == DEVICE
    assert rt.cudaSetDevice(4096) == (cudaError_t.cudaErrorInvalidDevice,)
    assert ok(rt.cudaGetDevice()) == DEVICE
    ok(rt.cudaInitDevice(DEVICE, 0, 0))
    assert ok(driver.cuCtxGetDevice()) == DEVICE


def test_limits_are_set_and_restored() -> None:
    stack = cudaLimit.cudaLimitStackSize
    before = ok(rt.cudaDeviceGetLimit(stack))
    try:
        ok(rt.cudaDeviceSetLimit(stack, 8192))
        assert ok(rt.cudaDeviceGetLimit(stack)) >= 8192
    finally:
        ok(rt.cudaDeviceSetLimit(stack, before))
    assert ok(rt.cudaDeviceGetLimit(stack)) == before
    assert ok(rt.cudaDeviceGetLimit(cudaLimit.cudaLimitMallocHeapSize)) > 0
    status, value = rt.cudaDeviceGetLimit(99)
    assert status in (cudaError_t.cudaErrorUnsupportedLimit, cudaError_t.cudaErrorInvalidValue)
    assert value is None


def test_cache_preference_is_a_hint() -> None:
    before = ok(rt.cudaDeviceGetCacheConfig())
    assert isinstance(before, cudaFuncCache)
    ok(rt.cudaDeviceSetCacheConfig(cudaFuncCache.cudaFuncCachePreferL1))
    found = ok(rt.cudaDeviceGetCacheConfig())
    ok(rt.cudaDeviceSetCacheConfig(before))
    assert found in (cudaFuncCache.cudaFuncCachePreferL1, cudaFuncCache.cudaFuncCachePreferNone)


def test_flags_are_those_of_the_primary_context() -> None:
    before = ok(rt.cudaGetDeviceFlags())
    try:
        ok(rt.cudaSetDeviceFlags(rt.cudaDeviceScheduleBlockingSync))
        flags, active = ok(driver.cuDevicePrimaryCtxGetState(DEVICE))
        assert active and flags & rt.cudaDeviceScheduleMask == rt.cudaDeviceScheduleBlockingSync
        found = ok(rt.cudaGetDeviceFlags())
        assert found & rt.cudaDeviceScheduleMask == rt.cudaDeviceScheduleBlockingSync
    finally:
        ok(rt.cudaSetDeviceFlags(before))
    assert ok(rt.cudaGetDeviceFlags()) == before
    assert rt.cudaSetDeviceFlags(1 << 30) == (cudaError_t.cudaErrorInvalidValue,)


def test_priorities() -> None:
    least, greatest = ok(rt.cudaDeviceGetStreamPriorityRange())
    assert (least, greatest) == ok(driver.cuCtxGetStreamPriorityRange())
    assert least >= greatest


def test_pci_address() -> None:
    text = ok(rt.cudaDeviceGetPCIBusId(13, DEVICE))
    address = text.split(b"\0")[0]
    assert len(address) == 12
    assert int(address[5:7], 16) == attribute(cudaDeviceAttr.cudaDevAttrPciBusId)
    assert ok(rt.cudaDeviceGetByPCIBusId(address)) == DEVICE
    status, found = rt.cudaDeviceGetByPCIBusId(b"no address")
    assert status != cudaError_t.cudaSuccess and found is None


def test_the_widest_linear_texture() -> None:
    floats = ok(rt.cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKind.cudaChannelFormatKindFloat))
    vectors = ok(rt.cudaCreateChannelDesc(32, 32, 32, 32, cudaChannelFormatKind.cudaChannelFormatKindFloat))
    widest = ok(rt.cudaDeviceGetTexture1DLinearMaxWidth(floats, DEVICE))
    assert widest >= ok(rt.cudaDeviceGetTexture1DLinearMaxWidth(vectors, DEVICE)) >= 1 << 20


def test_atomics_over_the_link_to_the_host() -> None:
    needs_function("cudaDeviceGetHostAtomicCapabilities")
    needs_driver(13, 0)
    kinds = cudaAtomicOperation
    operations = [kinds.cudaAtomicOperationIntegerAdd, kinds.cudaAtomicOperationCAS]
    found = ok(rt.cudaDeviceGetHostAtomicCapabilities(operations, 2, DEVICE))
    assert found == ok(driver.cuDeviceGetHostAtomicCapabilities([int(op) for op in operations], 2, DEVICE))
    assert len(found) == 2


def test_rdma_writes_can_be_flushed() -> None:
    if not needs(cudaDeviceAttr.cudaDevAttrGPUDirectRDMAFlushWritesOptions) & 1:
        pytest.skip("the host cannot flush GPUDirect RDMA writes here")
    target = cudaFlushGPUDirectRDMAWritesTarget.cudaFlushGPUDirectRDMAWritesTargetCurrentDevice
    scope = cudaFlushGPUDirectRDMAWritesScope.cudaFlushGPUDirectRDMAWritesToOwner
    assert rt.cudaDeviceFlushGPUDirectRDMAWrites(target, scope) == (cudaError_t.cudaSuccess,)


def test_async_notifications_are_registered() -> None:
    needs_function("cudaDeviceRegisterAsyncNotification")
    needs_driver(12, 4)
    note = ASYNC_CALLBACK(lambda *_: None)
    status, handle = rt.cudaDeviceRegisterAsyncNotification(DEVICE, note, 7)
    if status == cudaError_t.cudaErrorNotSupported:
        pytest.skip("the device gives no notifications")
    assert status == cudaError_t.cudaSuccess and int(handle)
    ok(rt.cudaDeviceUnregisterAsyncNotification(DEVICE, handle))


RESET = """
from cudapy import runtime as rt

pointer = rt.checked.cudaMalloc(64)
print(int(rt.cudaDeviceReset()[0]), int(rt.cudaFree(pointer)[0]) != 0, int(rt.cudaMalloc(64)[0]))
"""

VALID_DEVICES = """
from cudapy import runtime as rt

print(int(rt.cudaSetValidDevices([0], 1)[0]), rt.checked.cudaGetDevice(), int(rt.cudaFree(0)[0]))
"""


@pytest.mark.parametrize(
    ("program", "expected"), [(RESET, "0 True 0"), (VALID_DEVICES, "0 0 0")], ids=["reset", "valid devices"]
)
def test_in_a_process_of_its_own(program: str, expected: str) -> None:
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected
