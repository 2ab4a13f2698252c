"""cuFile's two faces, beyond the echo: statuses, structs, what is written by hand; the real library."""

from __future__ import annotations

import copy
import ctypes
import errno
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudapy import cufile
from cudapy._bindings.errors import CUDAError
from cudapy._types.cufile import TWINS
from cudapy._types.meanings import CUFILEOPERROR

from . import cufile_round_trip
from .stub import REPOSITORY, module, source
from .stub.build import BENEATH, RETURNED, is_aggregate, pattern
from .stub.record import Stub

stubbed = source("cufile")
OpError = stubbed.CUfileOpError


@pytest.fixture
def stub(stub_of: Callable[[str], Stub]) -> Stub:
    return stub_of("cufile")


# -- statuses --------------------------------------------------------------------------------------------


def test_a_status_is_true_after_a_failure_of_either() -> None:
    status = cufile.CUfileError_t
    assert not status()
    assert status(err=5011) and status(cu_err=3)
    both = status(err=5011, cu_err=3)
    assert (int(both), both.name) == (5011, "CU_FILE_CUDA_DRIVER_ERROR")
    assert repr(both) == "<CUfileError_t CU_FILE_CUDA_DRIVER_ERROR: 5011, CUDA_ERROR_NOT_INITIALIZED: 3>"
    assert repr(status(err=errno.EIO)) == "<CUfileError_t EIO: 5>"


def test_every_status_has_a_meaning() -> None:
    assert set(CUFILEOPERROR) == set(cufile.CUfileOpError.__members__)


def test_the_exception_names_both_statuses(stub: Stub) -> None:
    stub.status = 5011
    with pytest.raises(RuntimeError) as caught:
        stubbed.checked.cuFileSetStatsLevel(7)
    error: Any = caught.value
    assert type(error).__name__ == CUDAError.__name__
    assert (int(error.code), int(error.cuda_code)) == (5011, BENEATH)
    for part in ("CU_FILE_CUDA_DRIVER_ERROR (5011)", "CUDA_ERROR_NOT_INITIALIZED (3)", "level=7"):
        assert part in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.cuda_code) == (str(error), error.code, error.cuda_code)


def test_the_face_names_both_statuses(stub: Stub) -> None:
    stub.status = 5011
    with pytest.raises(stubbed.cuFileError) as caught:
        stubbed.set_stats_level(7)
    error: Any = caught.value
    assert (error.status.name, error.cuda_error.name) == ("CUDA_DRIVER_ERROR", "CUDA_ERROR_NOT_INITIALIZED")
    assert str(error).startswith("CUDA_DRIVER_ERROR (5011): ")
    assert str(error).endswith("; CUDA status: CUDA_ERROR_NOT_INITIALIZED (3)")
    assert "level=7" in str(error.__cause__)
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(again), again.status, again.cuda_error) == (str(error), error.status, error.cuda_error)


def test_an_error_is_made_from_numbers() -> None:
    assert cufile.cuFileError(5001).cuda_error is None
    assert str(cufile.cuFileError(5001, 0)).endswith("; CUDA status: CUDA_SUCCESS (0)")
    assert str(cufile.cuFileError(errno.EIO)) == f"EIO (5): {os.strerror(errno.EIO)}"
    assert cufile.op_status_error(5022) == "An argument is not valid"
    assert cufile.op_status_error(5999) == "an error that this version of cudapy does not know"


def test_a_negative_number_of_bytes_is_a_status(stub: Stub) -> None:
    status, count = stubbed.cuFileRead(1, bytearray(3), 3, 0, 0)
    assert (bool(status), count) == (False, RETURNED)
    stub.status = 5022
    status, count = stubbed.cuFileWrite(1, bytearray(3), 3, 0, 0)
    assert (status.err, status.cu_err, count) == (OpError.CU_FILE_INVALID_VALUE, 0, None)
    with pytest.raises(RuntimeError, match=r"cuFileRead: CU_FILE_INVALID_VALUE \(5022\)"):
        stubbed.checked.cuFileRead(1, bytearray(3), 3, 0, 0)
    with pytest.raises(stubbed.cuFileError, match=r"INVALID_VALUE \(5022\)"):
        stubbed.read(1, bytearray(3), 3, 0, 0)


def test_minus_one_is_errno(stub: Stub) -> None:
    stub.status = 1
    ctypes.set_errno(errno.EBADF)
    status, count = stubbed.cuFileRead(1, bytearray(3), 3, 0, 0)
    assert (int(status), status.name, count) == (errno.EBADF, "EBADF", None)
    with pytest.raises(RuntimeError, match=rf"cuFileRead: EBADF \(9\): {os.strerror(errno.EBADF)}\. Called"):
        stubbed.checked.cuFileRead(1, bytearray(3), 3, 0, 0)
    ctypes.set_errno(0)
    assert stubbed.cuFileRead(1, bytearray(3), 3, 0, 0)[0].err == OpError.CU_FILE_IO_ERROR


def test_the_library_is_opened_with_its_errno() -> None:
    if cufile_round_trip.missing():
        pytest.skip(cufile_round_trip.missing())
    code = """
import ctypes, json
from cudapy import cufile
ctypes.set_errno(0)
print(json.dumps([cufile.cuFileRead(1, 0, 1, 0, 0)[0].name, ctypes.get_errno()]))
"""
    name, number = answer(code)
    assert name == "EINVAL" or (name, number) == ("CU_FILE_HANDLE_NOT_REGISTERED", 0)


# -- arguments -------------------------------------------------------------------------------------------


def test_memory_ends_no_earlier_than_the_transfer(stub: Stub) -> None:
    memory = bytearray(100)
    assert not stubbed.cuFileRead(1, memory, 60, 0, 40)[0]
    with pytest.raises(ValueError, match="bufPtr_base holds 100 bytes, the call needs 101"):
        stubbed.cuFileRead(1, memory, 61, 0, 40)
    with pytest.raises(OverflowError, match=r"bufPtr_offset = -1 is outside 0"):
        stubbed.cuFileRead(1, memory, 60, 0, -1)
    with pytest.raises(ValueError, match="iov holds 1 item, the call needs 2"):
        stubbed.cuFileReadv(1, [stubbed.CUfileIOVec_t()], 2, 0, 0)


def test_what_is_followed_later_is_the_memory_of_the_caller(stub: Stub) -> None:
    size = ctypes.c_size_t(5)
    stubbed.cuFileReadAsync(1, 2, size, 0x1000, bytearray(8), None, 0)
    (call,) = stub.calls()
    assert call.arguments["size_p"].raw == ctypes.addressof(size).to_bytes(8, "little")
    assert call.arguments["file_offset_p"].raw == (0x1000).to_bytes(8, "little")
    assert call.arguments["bytes_read_p"].raw == bytes(8)
    with pytest.raises(ValueError, match="size_p holds 4 bytes, the call needs 8"):
        stubbed.cuFileReadAsync(1, 2, ctypes.c_int(5), 0, 0, 0, 0)
    with pytest.raises(TypeError, match="size_p"):
        stubbed.cuFileReadAsync(1, 2, [5], 0, 0, 0, 0)


def test_a_bool_is_no_other_number(stub: Stub) -> None:
    for value in (True, False, 1, 0):
        stubbed.cuFileSetParameterBool(0, value)
        (call,) = stub.calls()
        assert call.arguments["value"].raw == bytes([value])
    with pytest.raises(OverflowError, match=r"value = 2 is outside 0 \.\. 1"):
        stubbed.cuFileSetParameterBool(0, 2)
    assert stubbed.get_parameter_bool(0) is True


def test_a_registered_file_keeps_its_description(stub: Stub) -> None:
    kept = module("_ffi.results")._kept
    kept.clear()  # of another test, whose handle has the same number
    operations = stubbed.CUfileFSOps_t(read=ctypes.CFUNCTYPE(None)(lambda: None))
    handle = stubbed.checked.cuFileHandleRegister(stubbed.CUfileDescr_t(type=3, fs_ops=operations))
    (things,) = kept.values()
    assert [thing.type for thing in things] == [3]
    stubbed.handle_deregister(int(handle))
    assert not kept


# -- structs of the raising face -------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [cls for cls in TWINS if is_aggregate(cls)], ids=lambda cls: cls.__name__)
def test_a_struct_of_the_face_is_that_of_c(cls: Any) -> None:
    twin: Any = TWINS[cls]
    assert ctypes.sizeof(twin) == ctypes.sizeof(cls)
    places = [
        (getattr(c, name).raw.offset, getattr(c, name).raw.size) for c in (cls, twin) for name in c._makers_
    ]
    assert places[: len(places) // 2] == places[len(places) // 2 :]


@pytest.mark.parametrize("cls", [cls for cls in TWINS if not is_aggregate(cls)], ids=lambda cls: cls.__name__)
def test_an_enum_of_the_face_is_that_of_c(cls: Any) -> None:
    ours = {name: int(value) for name, value in TWINS[cls].__members__.items()}  # type: ignore[attr-defined]
    theirs = {name: int(value) for name, value in cls.__members__.items()}
    assert list(ours.values()) == list(theirs.values())
    assert all(c_name.endswith(name) for name, c_name in zip(ours, theirs, strict=True))


def test_arrays_of_structs() -> None:
    one, many = cufile.IOParams(), cufile.IOParams(3)
    assert (len(many), one.ptr, many.ptr) == (3, ctypes.addressof(one), ctypes.addressof(many))
    many[1].cookie = 7  # type: ignore[index]
    assert bytes(many) == bytes(one) + bytes(many[1]) + bytes(one) and many[1].cookie == 7  # type: ignore[index]
    for size, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), ("x", TypeError)):
        with pytest.raises(error, match=r"size of an array of IOParams|IOParams has one item or more"):
            cufile.IOParams(size)
    with pytest.raises(TypeError, match="takes no fields"):
        cufile.IOParams(2, cookie=1)


def test_a_struct_or_its_address(stub: Stub) -> None:
    descr = stubbed.Descr(type=stubbed.FileHandleType.OPAQUE_FD)
    descr.handle.fd = 5
    for given in (descr, descr.ptr):
        assert isinstance(stubbed.handle_register(given), int)
        (call,) = stub.calls()
        assert call.arguments["descr"].memory == bytes(descr)
    with pytest.raises(TypeError, match="must be a CUfileDescr_t, not str"):
        stubbed.handle_register("file")


def test_operations_are_a_list_an_array_or_an_address(stub: Stub) -> None:
    array = stubbed.IOParams(2)
    array[0].cookie, array[1].cookie = 11, 12
    for given in (array, array.ptr, list(array)):
        stubbed.batch_io_submit(1, 2, given, 0)
        (call,) = stub.calls()
        assert call.arguments["iocbp"].memory == bytes(array)
    with pytest.raises(ValueError, match="iocbp holds 128 bytes, the call needs 192"):
        stubbed.batch_io_submit(1, 3, array, 0)


def test_events_are_written_to_the_array(stub: Stub) -> None:
    events, count = stubbed.IOEvents(3), ctypes.c_uint(3)
    stubbed.batch_io_get_status(1, 1, ctypes.addressof(count), events, 0)
    assert count.value == 2  # the stub gives one less
    size = 2 * ctypes.sizeof(stubbed.IOEvents)
    assert bytes(events)[:size] == pattern(3, 3 * size // 2)[:size] and not any(bytes(events)[size:])
    count.value = 4
    with pytest.raises(ValueError, match="room for 3 events, not 4"):
        stubbed.batch_io_get_status(1, 1, ctypes.addressof(count), events, 0)


def test_pieces_of_memory(stub: Stub) -> None:
    pieces = stubbed.IOVec(2)
    pieces[0].len = 5
    for given in (pieces, list(pieces)):
        assert stubbed.readv(1, given, 7) == RETURNED
        (call,) = stub.calls()
        assert call.arguments["iov"].memory == bytes(pieces)
        assert call.arguments["iovcnt"].raw == (2).to_bytes(8, "little")
    assert stubbed.writev(1, pieces[0], 7, flags=0) == RETURNED
    assert stub.calls()[0].arguments["iovcnt"].raw == (1).to_bytes(8, "little")
    with pytest.raises(TypeError, match="writev: iov must be an IOVec"):
        stubbed.writev(1, 5, 7)


def test_texts_and_arrays_of_numbers(stub: Stub) -> None:
    text = ctypes.create_string_buffer(b"INFO")
    for given in ("INFO", b"INFO", ctypes.addressof(text)):
        stubbed.set_parameter_string(0, given)
        assert stub.calls()[0].arguments["desc_str"].memory == b"INFO\0"
    numbers, counts = (ctypes.c_size_t * 2)(4, 8), [1, 2]
    stubbed.set_parameter_posix_pool_slab_array(ctypes.addressof(numbers), counts, 2)
    (call,) = stub.calls()
    assert call.arguments["size_values"].memory == bytes(numbers)
    assert call.arguments["count_values"].memory == bytes((ctypes.c_size_t * 2)(*counts))
    stubbed.get_parameter_gpu_bounce_buffer_slab_array(ctypes.addressof(numbers), counts, 2)
    assert bytes(numbers) == pattern(0, 16)
    assert counts == [*(ctypes.c_size_t * 2).from_buffer_copy(pattern(1, 16))]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_statistics(level: int, stub: Stub) -> None:
    struct = getattr(stubbed, f"StatsLevel{level}")()
    for given in (struct, struct.ptr):
        ctypes.memset(struct.ptr, 0, ctypes.sizeof(struct))
        getattr(stubbed, f"get_stats_l{level}")(given)
        assert bytes(struct) == pattern(0, ctypes.sizeof(struct))
    stub.status = 5022
    with pytest.raises(stubbed.cuFileError, match="INVALID_VALUE"):
        getattr(stubbed, f"get_stats_l{level}")(struct)


@pytest.mark.parametrize("level", [2, 3])
def test_statistics_of_an_older_library(level: int, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before CUDA 13.4 the first part lacks the counts of cuFileReadv, and what follows comes earlier."""
    library = stubbed.libcufile
    real = library.symbol

    def symbol(name: str, *rest: Any) -> Any:
        if name == "cuFileReadv":
            raise module("_ffi.library").SymbolNotFound(name, "not there")
        return real(name, *rest)

    monkeypatch.setattr(library, "symbol", symbol)
    found = getattr(stubbed.checked, f"cuFileGetStatsL{level}")()
    data, end = pattern(0, ctypes.sizeof(found)), stubbed.CUfileStatsLevel1_t.readv_ops.raw.offset
    size = ctypes.sizeof(stubbed.CUfileStatsLevel1_t)
    assert bytes(found) == data[:end] + bytes(size - end) + data[end : end - size]


# -- the real library ------------------------------------------------------------------------------------


def answer(code: str, **environ: str) -> Any:
    """What code prints, as JSON, in a process of its own."""
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY), **environ}
    with tempfile.TemporaryDirectory() as scratch:  # libcufile keeps a log in the working directory
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=scratch, env=environ, capture_output=True, text=True, timeout=60
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_real_library_without_a_gpu() -> None:
    if cufile_round_trip.missing():
        pytest.skip(cufile_round_trip.missing())
    code = """
import json
from cudapy import cufile
found = [cufile.get_version() >= 1110, cufile.use_count()]
name = cufile.BoolConfigParameter.PROPERTIES_ALLOW_COMPAT_MODE
for value in (True, False):
    cufile.set_parameter_bool(name, value)
    found.append(cufile.get_parameter_bool(name))
number = cufile.SizeTConfigParameter.EXECUTION_MAX_IO_THREADS
cufile.set_parameter_size_t(number, 3)
found.append(cufile.get_parameter_size_t(number))
cufile.set_parameter_string(cufile.StringConfigParameter.LOGGING_LEVEL, "WARN")
found.append(cufile.get_parameter_string(cufile.StringConfigParameter.LOGGING_LEVEL, 64))
status, handle = cufile.cuFileHandleRegister(None)
found.append([bool(status), handle])
print(json.dumps(found))
"""
    assert answer(code) == [True, 0, True, False, 3, "WARN", [True, None]]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libcufile is for Linux")
def test_files_and_the_memory_of_the_simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real libcufile on the simulator's libcuda.so.1: it is opened as soon as cuFile is used."""
    if cufile_round_trip.no_files():
        pytest.skip(cufile_round_trip.no_files())
    monkeypatch.setenv("CUDAPY_DRIVER", "simulator")
    found = cufile_round_trip.run(tmp_path, 1 << 20)
    assert set(cufile_round_trip.WAYS) <= {*found, "vector", "asynchronous"}
    assert {found.get(way, "") for way in cufile_round_trip.WAYS} == {""}
    assert found["driver"], "libcufile has found no libcuda.so.1"
    assert found["written"] == ""
    assert found["compatibility mode"]
    assert found["a negative offset"] == ["CU_FILE_INVALID_VALUE", None]
    assert found["after it was deregistered"] == "CU_FILE_HANDLE_NOT_REGISTERED"
    assert found["open"] == 0


def test_importing_loads_neither_types_nor_the_simulator() -> None:
    code = """
import json, sys
from cudapy import cufile
print(json.dumps([name for name in sys.modules if "simulator" in name or name.endswith("_types.cufile")]))
"""
    assert answer(code) == []
