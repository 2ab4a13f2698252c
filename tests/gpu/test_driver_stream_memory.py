"""Streams that wait for words of memory, and write them."""

from __future__ import annotations

import numpy as np
import pytest

from cudapy import driver
from cudapy.driver import (
    CUdevice_attribute,
    CUresult,
    CUstreamBatchMemOpParams,
    CUstreamBatchMemOpType,
    CUstreamWaitValue_flags,
    CUstreamWriteValue_flags,
    cuuint32_t,
)

from .kernels import context as context
from .kernels import memory, needs, ok, read, stream

pytestmark = pytest.mark.gpu

Wait = CUstreamWaitValue_flags
Operation = CUstreamBatchMemOpType
NOT_READY = (CUresult.CUDA_ERROR_NOT_READY,)
WRITE = CUstreamWriteValue_flags.CU_STREAM_WRITE_VALUE_DEFAULT


def write_operation(address: int, value: int) -> CUstreamBatchMemOpParams:
    made = CUstreamBatchMemOpParams(operation=Operation.CU_STREAM_MEM_OP_WRITE_VALUE_32)
    made.writeValue.address = address  # type: ignore[assignment]
    made.writeValue.value = value  # type: ignore[assignment]
    made.writeValue.flags = WRITE
    return made


def wait_operation(address: int, value: int, flags: int) -> CUstreamBatchMemOpParams:
    made = CUstreamBatchMemOpParams(operation=Operation.CU_STREAM_MEM_OP_WAIT_VALUE_32)
    made.waitValue.address = address  # type: ignore[assignment]
    made.waitValue.value = value  # type: ignore[assignment]
    made.waitValue.flags = flags
    return made


@pytest.mark.parametrize("bits", [32, 64])
def test_writes(bits: int) -> None:
    with memory(16) as pointer, stream() as queue:
        if bits == 64:
            needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS)
            ok(driver.cuStreamWriteValue64(queue, pointer, 2**63 + 5, WRITE))
            assert read(pointer, 2, np.uint64) == [2**63 + 5, 0]
        else:
            ok(driver.cuStreamWriteValue32(queue, pointer, 2**31 + 5, WRITE))
            ok(driver.cuStreamWriteValue32(queue, int(pointer) + 8, cuuint32_t(9), WRITE))
            assert read(pointer, 4, np.uint32) == [2**31 + 5, 0, 9, 0]


@pytest.mark.parametrize(
    ("flag", "wanted", "too_little", "enough"),
    [
        ("CU_STREAM_WAIT_VALUE_GEQ", 5, 4, 6),
        ("CU_STREAM_WAIT_VALUE_EQ", 5, 6, 5),
        ("CU_STREAM_WAIT_VALUE_AND", 4, 3, 12),
        ("CU_STREAM_WAIT_VALUE_NOR", 0xFFFF_FFF0, 15, 1),
    ],
)
def test_waits(flag: str, wanted: int, too_little: int, enough: int) -> None:
    if flag.endswith("NOR"):
        needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR)
    with memory(16) as word, memory(16) as result, stream() as waits, stream() as writes:
        ok(driver.cuStreamWriteValue32(writes, word, too_little, WRITE))
        ok(driver.cuStreamSynchronize(writes))
        ok(driver.cuStreamWaitValue32(waits, word, wanted, Wait[flag]))  # type: ignore[misc, valid-type]
        ok(driver.cuStreamWriteValue32(waits, result, 1, WRITE))
        pending = driver.cuStreamQuery(waits)
        ok(driver.cuStreamWriteValue32(writes, word, enough, WRITE))
        assert read(result, 1) == [1]
        assert pending == NOT_READY


def test_waits_of_64_bits() -> None:
    needs(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS)
    with memory(16) as word, stream() as waits, stream() as writes:
        ok(driver.cuStreamWaitValue64(waits, word, 2**40, Wait.CU_STREAM_WAIT_VALUE_GEQ))
        pending = driver.cuStreamQuery(waits)
        ok(driver.cuStreamWriteValue64(writes, word, 2**40, WRITE))
        ok(driver.cuStreamSynchronize(waits))
        assert pending == NOT_READY
        assert driver.cuStreamQuery(waits) == (CUresult.CUDA_SUCCESS,)


def test_a_batch_runs_in_order() -> None:
    with memory(16) as pointer, stream() as waits, stream() as writes:
        word, results = int(pointer), int(pointer) + 4
        ok(
            driver.cuStreamBatchMemOp(
                waits,
                3,
                [
                    write_operation(results, 1),
                    wait_operation(word, 7, Wait.CU_STREAM_WAIT_VALUE_EQ),
                    write_operation(results + 4, 2),
                ],
                0,
            )
        )
        pending = driver.cuStreamQuery(waits)
        ok(driver.cuStreamBatchMemOp(writes, 1, [write_operation(word, 7)], 0))
        assert read(pointer, 4) == [7, 1, 2, 0]
        assert pending == NOT_READY


def test_an_address_off_its_alignment_is_an_error() -> None:
    with memory(16) as pointer, stream() as queue:
        status = driver.cuStreamWriteValue32(queue, int(pointer) + 1, 1, WRITE)
        assert status == (CUresult.CUDA_ERROR_INVALID_VALUE,)
        assert read(pointer, 4) == [0] * 4


def test_a_batch_longer_than_its_list_is_refused() -> None:
    with memory(16) as pointer, stream() as queue, pytest.raises(ValueError, match="the call needs 2"):
        driver.cuStreamBatchMemOp(queue, 2, [write_operation(int(pointer), 1)], 0)
