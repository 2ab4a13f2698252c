"""The Runtime API: the last error, the names of errors, faults that stay, the log."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path
from typing import Any

import pytest

from cudapy import runtime as rt
from cudapy.runtime import cudaError_t, cudaLogIterator, cudaLogLevel

from .kernels import cubin, held, needs_driver, needs_no_sanitizer, ok, owned, run_python
from .runtime_kernels import device as device
from .runtime_kernels import kernel, memory, needs_function, stream

pytestmark = pytest.mark.gpu

SUCCESS = (cudaError_t.cudaSuccess,)
OUT_OF_MEMORY = (cudaError_t.cudaErrorMemoryAllocation,)
LOG_CALLBACK = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t
)


class TestLastError:
    def fail(self) -> None:
        assert rt.cudaMalloc(1 << 60) == (cudaError_t.cudaErrorMemoryAllocation, None)

    def test_it_stays_until_it_is_taken(self) -> None:
        assert rt.cudaPeekAtLastError() == SUCCESS
        self.fail()
        assert rt.cudaPeekAtLastError() == rt.cudaPeekAtLastError() == OUT_OF_MEMORY
        assert rt.cudaGetLastError() == OUT_OF_MEMORY
        assert rt.cudaGetLastError() == rt.cudaPeekAtLastError() == SUCCESS

    def test_a_call_that_succeeds_leaves_it(self) -> None:
        self.fail()
        ok(rt.cudaGetDevice())
        with memory(16):
            pass
        assert rt.cudaGetLastError() == OUT_OF_MEMORY

    def test_the_later_error_counts(self) -> None:
        self.fail()
        assert rt.cudaSetDevice(4096) == (cudaError_t.cudaErrorInvalidDevice,)
        assert rt.cudaGetLastError() == (cudaError_t.cudaErrorInvalidDevice,)
        assert rt.cudaGetLastError() == SUCCESS

    def test_each_thread_has_its_own(self) -> None:
        seen: list[Any] = []

        def run() -> None:
            self.fail()
            seen.append(rt.cudaPeekAtLastError())

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        assert seen == [OUT_OF_MEMORY]
        assert rt.cudaPeekAtLastError() == SUCCESS

    def test_a_failed_launch(self) -> None:
        bump = kernel("bump")
        assert rt.cudaLaunchKernel(bump, 1, 4096, None, 0, 0)[0] in (
            cudaError_t.cudaErrorInvalidConfiguration,
            cudaError_t.cudaErrorInvalidValue,
        )
        assert rt.cudaGetLastError() != SUCCESS
        assert rt.cudaDeviceSynchronize() == SUCCESS  # it does not stay


class TestNames:
    def test_every_code_the_runtime_knows_has_the_name_it_has_here(self) -> None:
        known = 0
        for code in cudaError_t:
            name = ok(rt.cudaGetErrorName(code))
            if name != b"unrecognized error code":  # else it is newer than this libcudart
                known += 1
                assert name == code.name.encode()
                assert ok(rt.cudaGetErrorString(code)).strip()
        assert known > 80

    def test_sentences(self) -> None:
        assert rt.cudaGetErrorString(cudaError_t.cudaErrorMemoryAllocation) == (0, b"out of memory")
        assert rt.cudaGetErrorName(12345) == (0, b"unrecognized error code")
        assert rt.cudaGetErrorString(12345) == (0, b"unrecognized error code")

    def test_exceptions_say_what_failed(self) -> None:
        with pytest.raises(MemoryError) as caught:
            rt.checked.cudaMalloc(1 << 60)
        error: Any = caught.value
        assert (error.code, error.name, error.function) == (2, "cudaErrorMemoryAllocation", "cudaMalloc")
        assert f"size={1 << 60}" in str(error)


class TestWhatIsRaised:
    def test_it_is_no_last_error_any_more(self) -> None:
        with pytest.raises(MemoryError):
            rt.checked.cudaMalloc(1 << 60)
        assert rt.cudaGetLastError() == SUCCESS

    def test_another_error_stays(self) -> None:
        TestLastError().fail()
        with stream() as queue, held(queue), pytest.raises(RuntimeError, match="cudaErrorNotReady"):
            rt.checked.cudaStreamQuery(queue)
        assert rt.cudaGetLastError() == OUT_OF_MEMORY

    def test_a_look_leaves_it(self) -> None:
        TestLastError().fail()
        with pytest.raises(MemoryError):
            rt.checked.cudaPeekAtLastError()
        assert rt.cudaPeekAtLastError() == OUT_OF_MEMORY
        with pytest.raises(MemoryError):
            rt.checked.cudaGetLastError()
        assert rt.cudaPeekAtLastError() == SUCCESS


FAULTS = r"""
extern "C" __global__ void illegal_address() { *(volatile int *)0x10 = 1; }
extern "C" __global__ void failed_assert() { assert(blockIdx.x > 0); }
"""

FAULT = """
import sys
from cudapy import runtime as rt

code = open(sys.argv[1], "rb").read()
library = rt.checked.cudaLibraryLoadData(code, None, None, 0, None, None, 0)
kernel = rt.checked.cudaLibraryGetKernel(library, sys.argv[2].encode())
calls = [
    rt.cudaLaunchKernel(kernel, 1, 1, None, 0, 0),
    rt.cudaDeviceSynchronize(),
    rt.cudaDeviceSynchronize(),
    rt.cudaMalloc(64),
    rt.cudaGetLastError(),
]
print([int(call[0]) for call in calls], [value for call in calls for value in call[1:]])
try:
    rt.checked.cudaMalloc(64)
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("illegal_address", cudaError_t.cudaErrorIllegalAddress),
        ("failed_assert", cudaError_t.cudaErrorAssert),
    ],
)
def test_a_fault_stays(name: str, code: cudaError_t, tmp_path: Path) -> None:
    needs_no_sanitizer()
    needs_function("cudaLibraryLoadData")
    path = tmp_path / "faults.cubin"
    path.write_bytes(cubin(FAULTS))
    done = run_python(FAULT, str(path), name)
    assert done.returncode == 0, done.stderr
    statuses, message = done.stdout.strip().split("\n", 1)
    assert statuses == f"{[0, *[int(code)] * 4]} [None]"
    assert message.startswith(f"cudaMalloc: {code.name} ({int(code)})")
    assert "restart the process" in message


class TestLog:
    """What the driver wrote about calls of the runtime."""

    @pytest.fixture(autouse=True)
    def has_logs(self) -> None:
        needs_function("cudaLogsCurrent")
        needs_driver(12, 9)

    def fail(self) -> None:
        assert rt.cudaLaunchKernel(kernel("bump"), 1, 4096, None, 0, 0)[0] != cudaError_t.cudaSuccess

    def test_what_came_after_the_iterator(self) -> None:
        self.fail()
        iterator = ok(rt.cudaLogsCurrent(0))
        assert isinstance(iterator, cudaLogIterator)
        buffer = bytearray(25600)
        assert ok(rt.cudaLogsDumpToMemory(iterator, buffer, len(buffer), 0)) == (iterator, 0)
        self.fail()
        after, size = ok(rt.cudaLogsDumpToMemory(iterator, buffer, len(buffer), 0))
        assert after != iterator
        assert 0 < size == len(bytes(buffer[:size]).split(b"\0")[0])

    def test_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "runtime.log"
        iterator = ok(rt.cudaLogsCurrent(0))
        self.fail()
        assert ok(rt.cudaLogsDumpToFile(iterator, bytes(path), 0)) != iterator
        assert path.read_bytes()

    def test_a_callback(self) -> None:
        seen: list[tuple[Any, ...]] = []

        @LOG_CALLBACK
        def note(data: Any, level: int, message: Any, length: int) -> None:
            seen.append((data, cudaLogLevel(level), bytes(message[:length])))

        with owned(rt.cudaLogsRegisterCallback(note, 55), rt.cudaLogsUnregisterCallback):
            self.fail()
            during = list(seen)
        self.fail()
        assert seen == during != []
        assert {(data, level) for data, level, _ in during} == {(55, cudaLogLevel.cudaLogLevelError)}
