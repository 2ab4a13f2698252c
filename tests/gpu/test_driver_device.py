"""Devices: what they are and what they can do."""

from __future__ import annotations

import ctypes

import pytest

from cudapy import driver
from cudapy.driver import (
    CUarray_format,
    CUatomicOperation,
    CUdevice_attribute,
    CUdevice_P2PAttribute,
    CUexecAffinityType,
    CUflushGPUDirectRDMAWritesOptions,
    CUflushGPUDirectRDMAWritesScope,
    CUflushGPUDirectRDMAWritesTarget,
    CUresult,
)

from .kernels import DEVICE, attribute, compute_capability, needs_driver, ok
from .kernels import context as context

pytestmark = pytest.mark.gpu


def test_ordinals_end_at_the_count() -> None:
    count = ok(driver.cuDeviceGetCount())
    assert [int(ok(driver.cuDeviceGet(i))) for i in range(count)] == list(range(count))
    assert driver.cuDeviceGet(count) == (CUresult.CUDA_ERROR_INVALID_DEVICE, None)
    assert driver.cuDeviceGet(-1) == (CUresult.CUDA_ERROR_INVALID_DEVICE, None)


def test_name_fills_the_length_asked_for() -> None:
    name = ok(driver.cuDeviceGetName(100, DEVICE))
    text, padding = name.split(b"\0", 1)
    assert len(name) == 100
    assert text.decode().isprintable() and len(text) > 3
    assert not padding.strip(b"\0")


def test_uuid_is_the_same_every_time() -> None:
    first, again = ok(driver.cuDeviceGetUuid(DEVICE)), ok(driver.cuDeviceGetUuid_v2(DEVICE))
    assert len(first.bytes) == 16 and any(first.bytes)
    assert first.bytes == again.bytes


def test_memory_is_at_least_what_is_free() -> None:
    free, total = ok(driver.cuMemGetInfo())
    assert 0 < free <= total <= ok(driver.cuDeviceTotalMem(DEVICE))


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


def test_every_attribute_has_a_status() -> None:
    answers = {member: driver.cuDeviceGetAttribute(member, DEVICE) for member in CUdevice_attribute}
    newest_of_cuda_11 = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
    for member, (status, value) in answers.items():
        if status == CUresult.CUDA_SUCCESS:
            assert type(value) is int, member.name
        else:  # newer than this driver
            assert (status, value) == (CUresult.CUDA_ERROR_INVALID_VALUE, None), member.name
            assert member > newest_of_cuda_11, member.name


def test_an_unknown_attribute_or_device_is_an_error() -> None:
    assert driver.cuDeviceGetAttribute(100_000, DEVICE) == (CUresult.CUDA_ERROR_INVALID_VALUE, None)
    warp_size = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE
    assert driver.cuDeviceGetAttribute(warp_size, 4096) == (CUresult.CUDA_ERROR_INVALID_DEVICE, None)


def test_the_pci_address_leads_back_to_the_device() -> None:
    address = ok(driver.cuDeviceGetPCIBusId(20, DEVICE)).rstrip(b"\0")
    domain, bus, rest = address.decode().split(":")
    assert int(domain, 16) == attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)
    assert int(bus, 16) == attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
    number = attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
    assert int(rest.split(".")[0], 16) == number
    assert ok(driver.cuDeviceGetByPCIBusId(address)) == DEVICE
    assert driver.cuDeviceGetByPCIBusId(b"ffff:ff:1f.7")[0] == CUresult.CUDA_ERROR_INVALID_DEVICE


def test_a_wider_texel_leaves_room_for_fewer() -> None:
    def width(channel: CUarray_format, channels: int) -> int:
        return ok(driver.cuDeviceGetTexture1DLinearMaxWidth(channel, channels, DEVICE))

    bytes_ = width(CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8, 1)
    assert bytes_ >= width(CUarray_format.CU_AD_FORMAT_FLOAT, 4) > 0


def test_affinity_to_multiprocessors_goes_with_its_query() -> None:
    kind = CUexecAffinityType.CU_EXEC_AFFINITY_TYPE_SM_COUNT
    supported = ok(driver.cuDeviceGetExecAffinitySupport(kind, DEVICE))
    status, affinity = driver.cuCtxGetExecAffinity(kind)
    if supported or not status:
        assert affinity.param.smCount.val > 0
    else:
        assert (status, affinity) == (CUresult.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, None)


def test_atomics_to_the_host_have_a_mask_each() -> None:
    needs_driver(13, 0)
    operations = [
        CUatomicOperation.CU_ATOMIC_OPERATION_INTEGER_ADD,
        CUatomicOperation.CU_ATOMIC_OPERATION_CAS,
    ]
    masks = ok(driver.cuDeviceGetHostAtomicCapabilities(operations, 2, DEVICE))
    assert len(masks) == 2
    assert all(0 <= mask < 128 for mask in masks)


def test_notifications_can_be_unregistered_once() -> None:
    needs_driver(12, 4)
    notified = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: None)
    status, handle = driver.cuDeviceRegisterAsyncNotification(DEVICE, notified, None)
    if status == CUresult.CUDA_ERROR_NOT_SUPPORTED:
        pytest.skip("the driver has no asynchronous notifications here")
    assert status == CUresult.CUDA_SUCCESS and handle
    ok(driver.cuDeviceUnregisterAsyncNotification(DEVICE, handle))


def test_remote_writes_can_be_flushed() -> None:
    options = attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS)
    if not options & CUflushGPUDirectRDMAWritesOptions.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST:
        pytest.skip("the device has no flush from the host")
    target = CUflushGPUDirectRDMAWritesTarget.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX
    owner = CUflushGPUDirectRDMAWritesScope.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER
    assert driver.cuFlushGPUDirectRDMAWrites(target, owner) == (CUresult.CUDA_SUCCESS,)


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
