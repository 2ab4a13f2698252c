"""What is seldom set or asked of pools, streams, contexts and devices of the simulator."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudapy import driver, nvml, simulator
from cudapy._bindings.errors import CUDAError
from cudapy.simulator import command
from cudapy.simulator.shared import written

from .test_device import run

cu = driver.checked
DEVICE = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
HOST = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
PINNED = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
Pool = driver.CUmemPool_attribute
Launch = driver.CUlaunchAttributeID


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    if not simulator.is_enabled():
        pytest.skip("the tests run on a GPU")
    cu.cuInit(0)
    before = cu.cuCtxGetCurrent()
    cu.cuCtxSetCurrent(cu.cuDevicePrimaryCtxRetain(0))
    yield
    cu.cuCtxSetCurrent(before)
    cu.cuDevicePrimaryCtxRelease(0)


def pool_on(kind: Any) -> Any:
    place = driver.CUmemLocation(type=kind, id=0)
    return cu.cuMemPoolCreate(driver.CUmemPoolProps(allocType=PINNED, location=place))


def test_the_pool_of_a_device_is_the_default_again_once_its_own_is_gone() -> None:
    pool = pool_on(DEVICE)
    cu.cuDeviceSetMemPool(0, pool)
    assert cu.cuDeviceGetMemPool(0) == pool
    cu.cuMemPoolDestroy(pool)
    assert cu.cuDeviceGetMemPool(0) == cu.cuDeviceGetDefaultMemPool(0)


def test_a_pool_of_the_host_can_be_chosen() -> None:
    pool, place = pool_on(HOST), driver.CUmemLocation(type=HOST)
    before = cu.cuMemGetMemPool(place, PINNED)
    cu.cuMemSetMemPool(place, PINNED, pool)
    assert cu.cuMemGetMemPool(place, PINNED) == pool != before
    with pytest.raises(CUDAError, match="the pool has device memory, not host"):
        cu.cuMemSetMemPool(place, PINNED, cu.cuDeviceGetDefaultMemPool(0))
    cu.cuMemSetMemPool(place, PINNED, before)
    cu.cuMemPoolDestroy(pool)


def test_what_a_pool_had_at_most_starts_again() -> None:
    pool = pool_on(DEVICE)
    cu.cuMemFreeAsync(cu.cuMemAllocFromPoolAsync(1 << 20, pool, 0), 0)
    cu.cuStreamSynchronize(0)
    cu.cuMemPoolTrimTo(pool, 0)
    high = Pool.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH
    assert cu.cuMemPoolGetAttribute(pool, high) >= 1 << 20
    cu.cuMemPoolSetAttribute(pool, high, 0)
    assert cu.cuMemPoolGetAttribute(pool, high) == 0
    cu.cuMemPoolDestroy(pool)


def test_attributes_of_a_stream() -> None:
    stream = cu.cuStreamCreate(1)
    least, greatest = cu.cuCtxGetStreamPriorityRange()
    for wanted, got in ((greatest, greatest), (greatest - 5, greatest), (least + 5, least)):
        value = driver.CUstreamAttrValue(priority=wanted)
        cu.cuStreamSetAttribute(stream, Launch.CU_LAUNCH_ATTRIBUTE_PRIORITY, value)
        assert cu.cuStreamGetPriority(stream) == got
    domains = cu.cuStreamGetAttribute(stream, Launch.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
    assert (domains.memSyncDomainMap.default_, domains.memSyncDomainMap.remote) == (0, 1)
    cu.cuStreamDestroy(stream)


MAPPED = """
import ctypes
from cudapy import driver
cu = driver.checked
cu.cuInit(0)
cu.cuCtxSetCurrent(cu.cuDevicePrimaryCtxRetain(0))
size, place = 1 << 21, driver.CUmemLocation(type=1, id=0)
pinned = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
handle = cu.cuMemCreate(size, driver.CUmemAllocationProp(type=pinned, location=place), 0)
address = cu.cuMemAddressReserve(size, 0, 0, 0)
cu.cuMemMap(address, size, 0, handle, 0)
for flags in FLAGS:
    cu.cuMemSetAccess(address, size, [driver.CUmemAccessDesc(location=place, flags=flags)], 1)
    assert cu.cuMemGetAccess(place, address) == flags
PTX = b'''.version 8.0
.target sm_80
.address_size 64
.visible .entry put(.param .u64 p) {
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [p];
st.global.u32 [%rd1], 7;
ret;
}'''
put = cu.cuModuleGetFunction(cu.cuModuleLoadData(PTX), b"put")
cu.cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, 0, ((int(address),), (ctypes.c_void_p,)), 0)
print(driver.cuCtxSynchronize()[0].name)
"""


@pytest.mark.parametrize(
    ("flags", "status"), [((3, 0), "CUDA_ERROR_ILLEGAL_ADDRESS"), ((3, 0, 3), "CUDA_SUCCESS")]
)
def test_access_to_mapped_memory_is_taken_away(flags: tuple[int, ...], status: str) -> None:
    assert run(MAPPED.replace("FLAGS", repr(flags))).stdout == f"{status}\n"


def test_nvml_of_the_simulator() -> None:
    nvml.init_v2()
    device = nvml.device_get_handle_by_index_v2(1)
    pci = nvml.device_get_pci_info_v3(device)
    assert (pci.domain, pci.bus, pci.bus_id) == (0xFFFF, 1, nvml.device_get_pci_info_ext(device).bus_id)
    assert nvml.device_get_graphics_running_processes_v3(device) == []
    assert "py" in nvml.system_get_process_name(os.getpid())
    with pytest.raises(nvml.NotFoundError):
        nvml.system_get_process_name(2**22 + 1)
    (status, _) = nvml.nvmlDeviceGetMemoryInfo_v2(device)
    assert status == 0


def test_workqueues_of_one_context_for_another() -> None:
    kind = driver.CUdevResourceType
    there, whole = kind.CU_DEV_RESOURCE_TYPE_WORKQUEUE, cu.cuDeviceGetDevResource(0, kind(1))
    queues = cu.cuDeviceGetDevResource(0, there)
    context = cu.cuGreenCtxCreate(cu.cuDevResourceGenerateDesc([whole, queues], 2), 0, 1)
    assert cu.cuGreenCtxGetDevResource(context, there).type == there
    for of in (cu.cuCtxFromGreenCtx(context), cu.cuCtxGetCurrent()):
        assert cu.cuCtxGetDevResource(of, there).type == there
    cu.cuGreenCtxDestroy(context)
    with pytest.raises(CUDAError, match="workqueues are configured twice"):
        cu.cuDevResourceGenerateDesc([whole, queues, queues], 3)
    with pytest.raises(CUDAError, match="comes from no function that makes one"):
        cu.cuDevResourceGenerateDesc([whole, driver.CUdevResource(type=there)], 2)
    with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_RESOURCE_TYPE"):
        cu.cuDeviceGetDevResource(0, kind(2))


def test_the_command_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["--help"])
    assert capsys.readouterr().out == command.USAGE


def test_the_command_writes_libraries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written, "libpython", lambda: ("libpython3.so", "/lib"))
    for _ in range(2):  # what is there is written again
        command.main(["--write", str(tmp_path)])
        paths = capsys.readouterr().out.split()
        assert sorted(map(Path, paths)) == sorted(tmp_path.iterdir())
        assert str(tmp_path / "libcuda.so.1") in paths
        assert (tmp_path / "libcuda.so").resolve() == (tmp_path / "libcuda.so.1").resolve()


def test_a_python_without_a_library_cannot_be_called_from_c(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written.sysconfig, "get_config_var", {"INSTSONAME": "libpython3.a"}.get)  # type: ignore[attr-defined]
    with pytest.raises(SystemExit) as caught:
        command.main(["--write", str(tmp_path / "new")])
    assert caught.value.code == 1
    assert "has no shared libpython" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
