"""Devices: what they are and what they can do."""

from __future__ import annotations

import ctypes

import pytest

from cudapy import driver, runtime
from cudapy.driver import (
    CUarray_format,
    CUdevice_attribute,
    CUdevice_P2PAttribute,
    CUexecAffinityType,
    CUresult,
)
from cudapy.runtime import cudaDeviceAttr, cudaDeviceProp, cudaError_t, cudaFuncCache, cudaLimit

from . import runtime_kernels
from .apis import DRIVER, RUNTIME, Api, only
from .apis import api as api
from .kernels import DEVICE, attribute, compute_capability, needs_driver, ok, run_python

pytestmark = pytest.mark.gpu

ASYNC_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def test_the_pci_address_leads_back_to_the_device(api: Api) -> None:
    address = ok(api.DeviceGetPCIBusId(20, DEVICE)).partition(b"\0")[0]
    domain, bus, rest = address.decode().split(":")
    assert len(address) == 12
    assert int(domain, 16) == attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)
    assert int(bus, 16) == attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
    number = attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
    assert int(rest.split(".")[0], 16) == number
    assert ok(api.DeviceGetByPCIBusId(address)) == DEVICE
    assert api.DeviceGetByPCIBusId(b"ffff:ff:1f.7")[0] == api.ErrorInvalidDevice
    status, found = api.DeviceGetByPCIBusId(b"no address")
    assert status != api.Success and found is None


def test_a_wider_texel_leaves_room_for_fewer(api: Api) -> None:
    def width(bits: int, count: int) -> int:
        if api.is_driver:
            formats = {8: CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8, 32: CUarray_format.CU_AD_FORMAT_FLOAT}
            return ok(driver.cuDeviceGetTexture1DLinearMaxWidth(formats[bits], count, DEVICE))
        kind = api.ChannelFormatKindFloat if bits == 32 else api.ChannelFormatKindUnsigned
        sizes = [bits] * count + [0] * (4 - count)
        channels = ok(runtime.cudaCreateChannelDesc(*sizes, kind))  # type: ignore[call-arg]
        return ok(runtime.cudaDeviceGetTexture1DLinearMaxWidth(channels, DEVICE))

    assert width(8, 1) >= width(32, 1) >= width(32, 4) >= 1 << 20


def test_atomics_to_the_host_have_a_mask_each(api: Api) -> None:
    api.needs_function("DeviceGetHostAtomicCapabilities")
    needs_driver(13, 0)
    operations = [api.AtomicOperationIntegerAdd, api.AtomicOperationCAS]
    masks = ok(api.DeviceGetHostAtomicCapabilities(operations, 2, DEVICE))
    assert masks == ok(driver.cuDeviceGetHostAtomicCapabilities([int(op) for op in operations], 2, DEVICE))
    assert len(masks) == 2
    assert all(0 <= mask < 128 for mask in masks)


@pytest.mark.parametrize("data", [None, 7])
def test_notifications_can_be_unregistered_once(api: Api, data: int | None) -> None:
    api.needs_function("DeviceRegisterAsyncNotification")
    needs_driver(12, 4)
    notified = ASYNC_CALLBACK(lambda *_: None)
    status, handle = api.DeviceRegisterAsyncNotification(DEVICE, notified, data)
    if status == api.ErrorNotSupported:
        pytest.skip("there are no asynchronous notifications here")
    assert status == api.Success and int(handle)
    ok(api.DeviceUnregisterAsyncNotification(DEVICE, handle))


def test_remote_writes_can_be_flushed(api: Api) -> None:
    options = attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS)
    if not options & driver.CUflushGPUDirectRDMAWritesOptions.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST:
        pytest.skip("the device has no flush from the host")
    target, owner = api.FlushGPUDirectRDMAWritesTargetCurrentDevice, api.FlushGPUDirectRDMAWritesToOwner
    assert api.DeviceFlushGPUDirectRDMAWrites(target, owner) == (api.Success,)


@only(DRIVER)
def test_ordinals_end_at_the_count() -> None:
    count = ok(driver.cuDeviceGetCount())
    assert [int(ok(driver.cuDeviceGet(i))) for i in range(count)] == list(range(count))
    assert driver.cuDeviceGet(count) == (CUresult.CUDA_ERROR_INVALID_DEVICE, None)
    assert driver.cuDeviceGet(-1) == (CUresult.CUDA_ERROR_INVALID_DEVICE, None)


@only(DRIVER)
def test_name_fills_the_length_asked_for() -> None:
    name = ok(driver.cuDeviceGetName(100, DEVICE))
    text, padding = name.split(b"\0", 1)
    assert len(name) == 100
    assert text.decode().isprintable() and len(text) > 3
    assert not padding.strip(b"\0")


@only(DRIVER)
def test_uuid_is_the_same_every_time() -> None:
    first, again = ok(driver.cuDeviceGetUuid(DEVICE)), ok(driver.cuDeviceGetUuid_v2(DEVICE))
    assert len(first.bytes) == 16 and any(first.bytes)
    assert first.bytes == again.bytes


@only(DRIVER)
def test_memory_is_at_least_what_is_free() -> None:
    free, total = ok(driver.cuMemGetInfo())
    assert 0 < free <= total <= ok(driver.cuDeviceTotalMem(DEVICE))


@only(DRIVER)
def test_deprecated_queries_agree_with_the_attributes() -> None:
    assert ok(driver.cuDeviceComputeCapability(DEVICE)) == compute_capability()
    properties = ok(driver.cuDeviceGetProperties(DEVICE))
    assert properties.SIMDWidth == attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 32
    assert properties.maxThreadsDim == [
        attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
        attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
        attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z),
    ]
    assert properties.textureAlign == attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)


@only(DRIVER)
def test_every_attribute_has_a_status() -> None:
    answers = {member: driver.cuDeviceGetAttribute(member, DEVICE) for member in CUdevice_attribute}
    newest_of_cuda_11 = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
    for member, (status, value) in answers.items():
        if status == CUresult.CUDA_SUCCESS:
            assert type(value) is int, member.name
        else:  # newer than this driver
            assert (status, value) == (CUresult.CUDA_ERROR_INVALID_VALUE, None), member.name
            assert member > newest_of_cuda_11, member.name


@only(DRIVER)
def test_an_unknown_attribute_or_device_is_an_error() -> None:
    assert driver.cuDeviceGetAttribute(100_000, DEVICE) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
    warp_size = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE
    assert driver.cuDeviceGetAttribute(warp_size, 4096) == (CUresult.CUDA_ERROR_INVALID_DEVICE, None)


@only(DRIVER)
def test_affinity_to_multiprocessors_goes_with_its_query() -> None:
    kind = CUexecAffinityType.CU_EXEC_AFFINITY_TYPE_SM_COUNT
    supported = ok(driver.cuDeviceGetExecAffinitySupport(kind, DEVICE))
    status, affinity = driver.cuCtxGetExecAffinity(kind)
    if supported or not status:
        assert affinity.param.smCount.val > 0
    else:
        assert (status, affinity) == (CUresult.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, None)


@only(RUNTIME)
def test_attributes_have_the_numbers_of_the_driver() -> None:
    same = 0
    for name in cudaDeviceAttr:
        err, value = runtime.cudaDeviceGetAttribute(name, DEVICE)
        status, expected = driver.cuDeviceGetAttribute(int(name), DEVICE)
        if err or status or name == cudaDeviceAttr.cudaDevAttrCooperativeMultiDeviceLaunch:
            continue
        assert value == expected, name
        same += 1
    assert same > 90
    err, value = runtime.cudaDeviceGetAttribute(9999, DEVICE)
    assert err == cudaError_t.cudaErrorInvalidValue and value is None


@only(RUNTIME)
def test_the_current_device() -> None:
    assert ok(runtime.cudaGetDeviceCount()) == ok(driver.cuDeviceGetCount()) >= 1
    assert ok(runtime.cudaGetDevice()) == DEVICE
    assert runtime.cudaSetDevice(4096) == (cudaError_t.cudaErrorInvalidDevice,)
    assert ok(runtime.cudaGetDevice()) == DEVICE
    ok(runtime.cudaInitDevice(DEVICE, 0, 0))
    assert ok(driver.cuCtxGetDevice()) == DEVICE


@only(RUNTIME)
def test_limits_are_set_and_restored() -> None:
    stack = cudaLimit.cudaLimitStackSize
    before = ok(runtime.cudaDeviceGetLimit(stack))
    try:
        ok(runtime.cudaDeviceSetLimit(stack, 8192))
        assert ok(runtime.cudaDeviceGetLimit(stack)) >= 8192
    finally:
        ok(runtime.cudaDeviceSetLimit(stack, before))
    assert ok(runtime.cudaDeviceGetLimit(stack)) == before
    assert ok(runtime.cudaDeviceGetLimit(cudaLimit.cudaLimitMallocHeapSize)) > 0
    status, value = runtime.cudaDeviceGetLimit(99)
    assert status in (cudaError_t.cudaErrorUnsupportedLimit, cudaError_t.cudaErrorInvalidValue)
    assert value is None


@only(RUNTIME)
def test_cache_preference_is_a_hint() -> None:
    before = ok(runtime.cudaDeviceGetCacheConfig())
    assert isinstance(before, cudaFuncCache)
    ok(runtime.cudaDeviceSetCacheConfig(cudaFuncCache.cudaFuncCachePreferL1))
    found = ok(runtime.cudaDeviceGetCacheConfig())
    ok(runtime.cudaDeviceSetCacheConfig(before))
    assert found in (cudaFuncCache.cudaFuncCachePreferL1, cudaFuncCache.cudaFuncCachePreferNone)


@only(RUNTIME)
def test_flags_are_those_of_the_primary_context() -> None:
    before = ok(runtime.cudaGetDeviceFlags())
    try:
        ok(runtime.cudaSetDeviceFlags(runtime.cudaDeviceScheduleBlockingSync))
        flags, active = ok(driver.cuDevicePrimaryCtxGetState(DEVICE))
        assert active and flags & runtime.cudaDeviceScheduleMask == runtime.cudaDeviceScheduleBlockingSync
        found = ok(runtime.cudaGetDeviceFlags())
        assert found & runtime.cudaDeviceScheduleMask == runtime.cudaDeviceScheduleBlockingSync
    finally:
        ok(runtime.cudaSetDeviceFlags(before))
    assert ok(runtime.cudaGetDeviceFlags()) == before
    assert runtime.cudaSetDeviceFlags(1 << 30) == (cudaError_t.cudaErrorInvalidValue,)


@only(RUNTIME)
def test_priorities() -> None:
    least, greatest = ok(runtime.cudaDeviceGetStreamPriorityRange())
    assert (least, greatest) == ok(driver.cuCtxGetStreamPriorityRange())
    assert least >= greatest


@only(RUNTIME)
class TestProperties:
    @pytest.fixture
    def properties(self) -> cudaDeviceProp:
        return ok(runtime.cudaGetDeviceProperties(DEVICE))

    def test_who_it_is(self, properties: cudaDeviceProp) -> None:
        name = ok(driver.cuDeviceGetName(256, DEVICE)).split(b"\0")[0]
        assert properties.name.split(b"\0")[0] == name != b""
        assert (properties.major, properties.minor) == compute_capability()
        assert properties.uuid.bytes == ok(driver.cuDeviceGetUuid(DEVICE)).bytes

    def test_its_memory(self, properties: cudaDeviceProp) -> None:
        assert properties.totalGlobalMem == ok(driver.cuDeviceTotalMem(DEVICE))
        assert properties.totalGlobalMem == ok(runtime.cudaMemGetInfo())[1]
        assert properties.totalConstMem == runtime_kernels.attribute(
            cudaDeviceAttr.cudaDevAttrTotalConstantMemory
        )

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
        assert getattr(properties, field) == runtime_kernels.attribute(cudaDeviceAttr[f"cudaDevAttr{name}"])

    def test_shapes(self, properties: cudaDeviceProp) -> None:
        names = ("MaxBlockDimX", "MaxBlockDimY", "MaxBlockDimZ")
        assert properties.maxThreadsDim == [
            runtime_kernels.attribute(cudaDeviceAttr[f"cudaDevAttr{name}"]) for name in names
        ]
        names = ("MaxGridDimX", "MaxGridDimY", "MaxGridDimZ")
        assert properties.maxGridSize == [
            runtime_kernels.attribute(cudaDeviceAttr[f"cudaDevAttr{name}"]) for name in names
        ]

    def test_a_device_is_chosen_by_them(self, properties: cudaDeviceProp) -> None:
        chosen = ok(runtime.cudaChooseDevice(properties))
        assert ok(runtime.cudaGetDeviceProperties(chosen)).major == properties.major
        assert 0 <= ok(runtime.cudaChooseDevice(cudaDeviceProp())) < ok(runtime.cudaGetDeviceCount())

    def test_of_no_device(self) -> None:
        assert runtime.cudaGetDeviceProperties(4096) == (cudaError_t.cudaErrorInvalidDevice, None)


@only(DRIVER)
class TestPeer:
    """Two devices; with one, only what it says about itself."""

    def test_a_device_is_no_peer_of_itself(self) -> None:
        assert ok(driver.cuDeviceCanAccessPeer(DEVICE, DEVICE)) == 0
        rank = CUdevice_P2PAttribute.CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK
        assert driver.cuDeviceGetP2PAttribute(rank, DEVICE, DEVICE) == (
            CUresult.CUDA_ERROR_INVALID_DEVICE,
            None,
        )

    def test_a_copy_through_enabled_access(self) -> None:
        if ok(driver.cuDeviceGetCount()) < 2:
            pytest.skip("needs two GPUs")
        if not ok(driver.cuDeviceCanAccessPeer(0, 1)):
            pytest.skip("these two GPUs cannot reach each other")
        here = ok(driver.cuCtxGetCurrent())
        there = ok(driver.cuDevicePrimaryCtxRetain(1))
        ok(driver.cuCtxPushCurrent(there))
        far = ok(driver.cuMemAlloc(64))
        ok(driver.cuMemsetD8(far, 7, 64))
        ok(driver.cuCtxSynchronize())
        ok(driver.cuCtxPopCurrent())
        near = ok(driver.cuMemAlloc(64))
        ok(driver.cuCtxEnablePeerAccess(there, 0))
        assert driver.cuCtxEnablePeerAccess(there, 0) == (CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,)
        ok(driver.cuMemcpyPeer(near, here, far, there, 64))
        data = bytearray(64)
        ok(driver.cuMemcpyDtoH(data, near, 64))
        ok(driver.cuCtxDisablePeerAccess(there))
        assert driver.cuCtxDisablePeerAccess(there) == (CUresult.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,)
        ok(driver.cuMemFree(near))
        ok(driver.cuCtxPushCurrent(there))
        ok(driver.cuMemFree(far))
        ok(driver.cuCtxPopCurrent())
        ok(driver.cuDevicePrimaryCtxRelease(1))
        assert data == b"\7" * 64


RESET = """
from cudapy import runtime as rt

pointer = rt.checked.cudaMalloc(64)
print(int(rt.cudaDeviceReset()[0]), int(rt.cudaFree(pointer)[0]) != 0, int(rt.cudaMalloc(64)[0]))
"""

VALID_DEVICES = """
from cudapy import runtime as rt

print(int(rt.cudaSetValidDevices([0], 1)[0]), rt.checked.cudaGetDevice(), int(rt.cudaFree(0)[0]))
"""


@only(RUNTIME)
@pytest.mark.parametrize(
    ("program", "expected"), [(RESET, "0 True 0"), (VALID_DEVICES, "0 0 0")], ids=["reset", "valid devices"]
)
def test_in_a_process_of_its_own(program: str, expected: str) -> None:
    done = run_python(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected
