"""Errors: what they say, in which order, and that they survive being sent to another process."""

from __future__ import annotations

import copy
import ctypes
import pickle
import re
from types import SimpleNamespace
from typing import Any

import pytest

from cudapy import driver, nvrtc, runtime
from cudapy._bindings.errors import STICKY, DriverLog, Raiser
from cudapy._ffi.library import SymbolNotFound
from cudapy._process.resets import resets
from cudapy._types import meanings
from cudapy.core import CompileError, CUDAError, CUDAOutOfMemoryError
from cudapy.driver import CUresult
from cudapy.nvrtc import nvrtcResult
from cudapy.runtime import cudaError_t

TABLES = [(CUresult, meanings.CURESULT), (nvrtcResult, meanings.NVRTCRESULT)]


@pytest.mark.parametrize(("statuses", "table"), TABLES, ids=["CUresult", "nvrtcResult"])
def test_every_status_has_a_sentence(statuses, table) -> None:
    assert set(table) == set(statuses.__members__)
    for name, (sentence, hint) in table.items():
        assert re.fullmatch(r"(An?|The|[A-Z])[^\n]{15,}\.", sentence), name
        assert not hint or ((hint[0].islower() or not hint[1:2].islower()) and hint[-1] not in ".:"), name
    sentences = [sentence for sentence, _ in table.values()]
    assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize(
    ("raiser", "statuses"), [(driver._raiser, CUresult), (nvrtc.libnvrtc.error, nvrtcResult)]
)
def test_every_status_becomes_an_error_that_says_it(raiser, statuses, monkeypatch) -> None:
    monkeypatch.setattr(driver._raiser, "log", None)
    for status in statuses:
        error = raiser("cuSomething", status, {"size": 7})
        assert isinstance(error, CUDAError)
        assert (error.code, error.name, error.function) == (status, status.name, "cuSomething")
        assert str(error).startswith(f"cuSomething: {status.name} ({int(status)}): ")
        assert "Called with size=7." in str(error)
        assert isinstance(error, MemoryError) == status.name.endswith("OUT_OF_MEMORY")


def raiser(log=""):
    return Raiser(lambda: {"CUDA_ERROR_ILLEGAL_ADDRESS": ("A sentence.", "a hint")}, lambda: log)


@pytest.mark.parametrize("log", ["the log", "the log."])
def test_the_order_of_a_message(log: str, monkeypatch) -> None:
    monkeypatch.setattr(resets, "is_possible", False)
    error = raiser(log)("cuF", CUresult.CUDA_ERROR_ILLEGAL_ADDRESS, {"a": 1, "b": "x"})
    assert str(error) == (
        "cuF: CUDA_ERROR_ILLEGAL_ADDRESS (700): A sentence. Called with a=1, b='x'. The driver says: "
        "the log. The fault happened in earlier asynchronous work, and every later call in this process will "
        "fail with it: restart the process. Hint: a hint."
    )


def test_a_fault_on_the_simulator_says_what_ends_it(monkeypatch) -> None:
    monkeypatch.setattr(resets, "is_possible", True)
    error = raiser()("cuF", CUresult.CUDA_ERROR_ILLEGAL_ADDRESS, {})
    assert str(error) == (
        "cuF: CUDA_ERROR_ILLEGAL_ADDRESS (700): A sentence. The fault happened in earlier asynchronous "
        "work, and every later call in this process will fail with it: call simulator.reset(), or restart "
        "the process."
    )


def test_memory_is_not_shown_but_its_size() -> None:
    text = str(raiser()("cuF", CUresult.CUDA_ERROR_INVALID_VALUE, {"code": b"begin" + bytes(500) + b"end"}))
    assert "code=<bytes of 508 bytes>" in text and "begin" not in text


def test_only_faults_of_the_device_are_for_good() -> None:
    for status in CUresult:
        text = str(raiser()("cuF", status, {}))
        assert ("restart the process" in text) == (status in STICKY)
    assert {700, 716, 717, 718, 719} <= STICKY and not STICKY & {0, 1, 2, 201, 600, 701, 720, 900}
    assert "restart" not in str(nvrtc.libnvrtc.error("nvrtcF", nvrtcResult(7), {}))


@pytest.mark.parametrize(("raiser", "statuses"), [(driver._raiser, CUresult), (runtime._raiser, cudaError_t)])
def test_a_fault_says_once_that_the_process_is_to_be_restarted(raiser, statuses, monkeypatch) -> None:
    monkeypatch.setattr(raiser, "log", None)
    for status in STICKY:
        assert str(raiser("cuF", statuses(status), {})).count("restart the process") == 1


def test_what_a_driver_repeats_is_said_once() -> None:
    """The log as CUDA 13.0 has it: remarks of calls that went well, then the reason."""
    lines = [*["host pools are always accessible"] * 3, "cannot access it", "Returning 1 (NAME) from cuF"]
    log = "".join(f"[12:00:00.000][1][CUDA][E] {line}\n" for line in lines).encode()

    def dump(iterator: object, buffer: ctypes.Array[ctypes.c_char], size: object, flags: object) -> int:
        buffer.value = log
        return 0

    library: Any = SimpleNamespace(symbol=lambda name, since: dump)
    assert DriverLog(library)() == "host pools are always accessible; cannot access it"


def test_a_status_of_a_newer_driver() -> None:
    error = driver._raiser("cuF", CUresult(99999), {})
    assert error.code == 99999 and "99999" in str(error)
    assert pickle.loads(pickle.dumps(error)).code == 99999


@pytest.mark.parametrize(
    "error",
    [
        CUDAError("cuF: it failed", CUresult.CUDA_ERROR_UNKNOWN, "cuF"),
        CUDAOutOfMemoryError("cuF: no memory", CUresult.CUDA_ERROR_OUT_OF_MEMORY, "cuF"),
        CompileError("no", nvrtcResult.NVRTC_ERROR_COMPILATION, "nvrtcCompileProgram", "the log", ["-G"]),
        SymbolNotFound("cuF", 'Function "cuF" not found'),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_errors_can_be_copied_and_sent(error, again) -> None:
    same = again(error)
    assert type(same) is type(error) and same.args == error.args and vars(same) == vars(error)
