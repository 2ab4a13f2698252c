"""What other processes hand over, damaged: handles of shared memory and events, cache entries."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudapy import driver, simulator
from cudapy._core.compile import compile_cache
from cudapy._core.compile.build import Built
from cudapy._core.compile.cache_folder import Folder, name_of
from cudapy.driver import checked

from .budget import fuzz, once_failed

pytestmark = pytest.mark.thorough
FILE = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

Damage = list[list[int]]
DAMAGE: st.SearchStrategy[Damage] = st.lists(
    st.tuples(
        st.sampled_from([1, 4, 8]),  # the width of a field
        st.integers(0, 7),  # its place
        st.sampled_from([0, 1, 7, 4095, 4096, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1])
        | st.integers(0, 2**17),
    ).map(list),
    min_size=1,
    max_size=3,
)


def damaged(data: bytes, damage: Damage) -> bytes:
    made = bytearray(data)
    for width, place, value in damage:
        at = place * 8 % len(made)
        made[at : at + width] = (value % 256**width).to_bytes(width, "little")
    return bytes(made[: len(data)])


@pytest.fixture(scope="module")
def shared() -> Any:
    """A pool and an event that can be shared, and what another process would be told of them."""
    if not simulator.is_enabled():
        pytest.skip("the driver's own handles need not survive what is done to them")
    checked.cuInit(0)
    before = checked.cuCtxGetCurrent()
    checked.cuCtxSetCurrent(checked.cuDevicePrimaryCtxRetain(0))
    props = driver.CUmemPoolProps(handleTypes=FILE)
    props.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    props.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    pool = checked.cuMemPoolCreate(props)
    address = checked.cuMemAllocFromPoolAsync(4096, pool, 0)
    file = checked.cuMemPoolExportToShareableHandle(pool, FILE, 0)
    imported = checked.cuMemPoolImportFromShareableHandle(file, FILE, 0)
    event = checked.cuEventCreate(4 | 2)  # interprocess, without timing
    yield (
        imported,
        bytes(checked.cuMemPoolExportPointer(address).reserved),
        bytes(checked.cuIpcGetEventHandle(event).reserved),
    )
    checked.cuEventDestroy(event)
    checked.cuMemPoolDestroy(imported)
    checked.cuMemFreeAsync(address, 0)
    checked.cuMemPoolDestroy(pool)
    os.close(file)
    checked.cuCtxSetCurrent(before)
    checked.cuDevicePrimaryCtxRelease(0)


def survive(shared: Any, damage: Damage) -> None:
    """An error in words or what was meant: no signal, and no mistake in the simulator."""
    pool, pointer, event = shared
    data = driver.CUmemPoolPtrExportData(reserved=damaged(pointer, damage))
    status, opened = driver.cuMemPoolImportPointer(pool, data)
    assert status != driver.CUresult.CUDA_ERROR_UNKNOWN
    if not status:
        checked.cuMemsetD8(opened, 7, 1)
        checked.cuMemFreeAsync(opened, 0)
    status, made = driver.cuIpcOpenEventHandle(driver.CUipcEventHandle(reserved=damaged(event, damage)))
    assert status != driver.CUresult.CUDA_ERROR_UNKNOWN
    if not status:
        checked.cuEventDestroy(made)
    status, _ = driver.cuIpcOpenMemHandle(driver.CUipcMemHandle(reserved=damaged(pointer, damage)), 1)
    assert status not in (driver.CUresult.CUDA_SUCCESS, driver.CUresult.CUDA_ERROR_UNKNOWN)


@pytest.mark.gpu
@fuzz
@given(damage=DAMAGE)
def test_handles_of_shared_memory(shared: Any, damage: Damage) -> None:
    survive(shared, damage)


@pytest.mark.gpu
@pytest.mark.parametrize("damage", once_failed("shared handles"))
def test_what_once_failed(shared: Any, damage: Damage) -> None:
    survive(shared, damage)


@pytest.mark.gpu
@pytest.mark.parametrize("descriptor", [2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1])
def test_descriptors_that_there_are_not(shared: Any, descriptor: int) -> None:
    for function in (
        lambda: driver.cuMemPoolImportFromShareableHandle(descriptor, FILE, 0),
        lambda: driver.cuMemImportFromShareableHandle(descriptor, FILE),
    ):
        assert function()[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE


# -- the compile cache --------------------------------------------------------------------------------------

BUILT = Built(b"\x7fELF code", "a log", {"f<int>": b"_Z1fIiE", b"g": b"g"})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda x: (
        st.lists(x, max_size=3)
        | st.tuples(st.text(max_size=2), st.booleans(), st.text(max_size=2)).map(lambda y: [y])
        | st.dictionaries(st.sampled_from(["log", "symbols", "x"]), x)
    ),
)


@fuzz
@given(st.binary(max_size=60) | JSON.map(lambda x: compile_cache.json.dumps(x).encode()), st.integers(-1, 99))  # type: ignore[attr-defined]
def test_an_entry_is_what_was_packed_or_none(data: bytes, length: int) -> None:
    for entry in (data, b"%d\n%b" % (length, data), b"%d\n%b" % (len(data), data)):
        built = compile_cache.unpack(entry)
        assert built is None or (
            type(built.log) is str and all(type(x) is bytes for x in built.symbols.values())
        )
    assert compile_cache.unpack(compile_cache.pack(BUILT)) == BUILT


@fuzz
@given(DAMAGE, st.integers(0, 100), st.booleans())
def test_a_damaged_file_is_no_entry(tmp_path_factory: Any, damage: Damage, end: int, cut: bool) -> None:
    folder = Folder(str(tmp_path_factory.mktemp("cache") / "programs"), 1 << 20)
    folder.put(b"key", compile_cache.pack(BUILT))
    path = Path(folder.path) / name_of(b"key")
    whole = path.read_bytes()
    changed = damaged(whole, damage)[: end if cut else None]
    path.write_bytes(changed)
    assert folder.get(b"key") == (compile_cache.pack(BUILT) if changed == whole else None)
