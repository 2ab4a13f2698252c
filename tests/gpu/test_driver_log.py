"""The driver's own log of what went wrong."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest

from cudapy import driver
from cudapy.driver import CUlogIterator, CUlogLevel, CUresult

from .kernels import context as context
from .kernels import function, needs_driver, ok, owned

pytestmark = pytest.mark.gpu

LOG_CALLBACK = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t
)


@pytest.fixture(autouse=True)
def has_logs() -> None:
    needs_driver(12, 9)


def fail() -> None:
    """A launch whose block is too large."""
    status = driver.cuLaunchKernel(function("bump"), 1, 1, 1, 4096, 1, 1, 0, 0, None, None)
    assert status == (CUresult.CUDA_ERROR_INVALID_VALUE,)


def test_what_came_after_the_iterator() -> None:
    fail()
    iterator = ok(driver.cuLogsCurrent(0))
    assert isinstance(iterator, CUlogIterator)
    buffer = bytearray(25600)
    assert ok(driver.cuLogsDumpToMemory(iterator, buffer, len(buffer), 0)) == (iterator, 0)
    fail()
    after, size = ok(driver.cuLogsDumpToMemory(iterator, buffer, len(buffer), 0))
    assert after != iterator
    text = bytes(buffer[:size])
    assert b"cuLaunchKernel" in text
    assert b"\0" not in text
    assert ok(driver.cuLogsDumpToMemory(after, buffer, len(buffer), 0)) == (after, 0)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    iterator = ok(driver.cuLogsCurrent(0))
    fail()
    after = ok(driver.cuLogsDumpToFile(iterator, bytes(path), 0))
    assert after != iterator
    assert b"cuLaunchKernel" in path.read_bytes()


def test_a_callback() -> None:
    seen: list[tuple[Any, ...]] = []

    @LOG_CALLBACK
    def note(data: Any, level: int, message: Any, length: int) -> None:
        seen.append((data, CUlogLevel(level), bytes(message[:length])))

    fail()
    with owned(driver.cuLogsRegisterCallback(note, 55), driver.cuLogsUnregisterCallback):
        fail()
        during = list(seen)
    fail()
    assert seen == during  # no more after that
    assert during
    assert {(data, level) for data, level, _ in during} == {(55, CUlogLevel.CU_LOG_LEVEL_ERROR)}
    assert any(b"cuLaunchKernel" in text for _, _, text in during)


def test_a_buffer_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="the call needs 100"):
        driver.cuLogsDumpToMemory(ok(driver.cuLogsCurrent(0)), bytearray(10), 100, 0)


def test_the_raising_face_quotes_the_log() -> None:
    with pytest.raises(RuntimeError, match=r"The driver says: .*block dimensions"):
        driver.checked.cuLaunchKernel(function("bump"), 1, 1, 1, 4096, 1, 1, 0, 0, None, None)
