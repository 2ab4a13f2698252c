"""What core does around NCCL: types of elements, operands, launchers, and how an id comes to all ranks."""

from __future__ import annotations

import contextlib
import pickle
import socket
import struct
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy._bindings.errors import CUDAError
from cudapy._core.arrays.element_types import Element
from cudapy._core.collectives import launcher, rendezvous
from cudapy._core.collectives.element import BYTES, Kind, kind_of, kind_of_element
from cudapy._core.collectives.failure import CollectiveError, failure
from cudapy._core.collectives.small_float import FORMATS, pattern
from cudapy.nccl import ncclDataType_t, ncclResult_t

KEY = bytes(range(128))


# -- types --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.float32, (4, ncclDataType_t.ncclFloat32, 1)),
        ("int8", (1, ncclDataType_t.ncclInt8, 1)),
        ("uint64", (8, ncclDataType_t.ncclUint64, 1)),
        ("float16", (2, ncclDataType_t.ncclFloat16, 1)),
        ("bfloat16", (2, ncclDataType_t.ncclBfloat16, 1)),
        ("float8_e4m3fn", (1, ncclDataType_t.ncclFloat8e4m3, 1)),
        ("float8_e5m2", (1, ncclDataType_t.ncclFloat8e5m2, 1)),
        (ncclDataType_t.ncclBfloat16, (2, ncclDataType_t.ncclBfloat16, 1)),
        ("complex64", (8, ncclDataType_t.ncclFloat32, 2)),
        ("complex128", (16, ncclDataType_t.ncclFloat64, 2)),
        ("int16", (2, None, 1)),
        ("bool", (1, None, 1)),
    ],
)
def test_kinds(dtype: Any, expected: tuple[Any, ...]) -> None:
    assert kind_of(dtype)[:3] == expected


def test_what_is_no_number_has_no_kind() -> None:
    for dtype in ("U4", "datetime64[s]", ">f4", [("a", "f4")], ncclDataType_t.ncclNumTypes):
        with pytest.raises(TypeError):
            kind_of(dtype)


def test_vectors_are_several_numbers() -> None:
    assert kind_of_element(Element(2, 32, 4))[:3] == (16, ncclDataType_t.ncclFloat32, 4)
    assert Kind(1, None, 1, "bytes") == BYTES


@pytest.mark.parametrize("data_type", FORMATS)
def test_small_floats_round_to_the_nearest(data_type: ncclDataType_t) -> None:
    """Every number comes back, and what is in the middle of two goes to the even one."""
    form = FORMATS[data_type]
    values = []
    for bits in range(form.largest + 1):
        exponent, fraction = bits >> form.fraction, bits & ((1 << form.fraction) - 1)
        scale = 2.0 ** (max(exponent, 1) - form.bias - form.fraction)
        values.append((fraction + (exponent > 0) * (1 << form.fraction)) * scale)
    sign = 1 << form.exponent + form.fraction
    step = max(1, len(values) // 3000)
    for bits in range(0, len(values) - 1, step):
        assert pattern(values[bits], form) == bits
        assert pattern(-values[bits], form) == bits | sign
        middle = (values[bits] + values[bits + 1]) / 2
        assert pattern(middle, form) == bits + bits % 2
    for value in (float("inf"), values[-1] * 2):
        with pytest.raises(OverflowError):
            pattern(value, form)
    if data_type == ncclDataType_t.ncclBfloat16:
        assert pattern(3.140625, form) == struct.unpack("<I", struct.pack("<f", 3.140625))[0] >> 16


def test_a_failure_names_the_rank_and_survives_pickling() -> None:
    cause = CUDAError("ncclSend: ncclRemoteError", ncclResult_t.ncclRemoteError, "ncclSend")
    error = failure("rank 1 of 4 (device 1), send to rank 2", cause, 1, 4, 2)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CollectiveError and str(again) == str(error)
    assert (again.rank, again.size, again.peer, again.function) == (1, 4, 2, "ncclSend")
    assert again.code == ncclResult_t.ncclRemoteError and "send to rank 2: ncclSend" in str(again)


# -- launchers ----------------------------------------------------------------------------------------------


def test_launchers_are_read() -> None:
    torchrun = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}
    assert launcher.launched(torchrun) == ("torchrun", 3, 8, 1)
    mpi = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
    assert launcher.launched(mpi) == ("Open MPI", 0, 2, None)
    assert launcher.launched({**mpi, **torchrun}) == ("torchrun", 3, 8, 1)
    slurm = {"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "6", "SLURM_LOCALID": "2"}
    assert launcher.launched(slurm) == ("Slurm", 5, 6, 2)
    assert launcher.launched({}) is None


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"RANK": "1"}, "WORLD_SIZE is not set"),
        ({"RANK": "x", "WORLD_SIZE": "2"}, "RANK='x' is not a number"),
        ({"RANK": "2", "WORLD_SIZE": "2"}, "outside 0 .. WORLD_SIZE - 1 = 1"),
    ],
)
def test_half_of_a_launcher_is_an_error(environ: dict[str, str], words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        launcher.launched(environ)


def test_the_device_is_that_of_the_rank_on_the_host() -> None:
    devices: Any = ["first", "second"]
    assert launcher.Place("torchrun", 5, 8, 1).device(devices) == "second"
    assert launcher.Place("Slurm", 5, 8, None).device(devices[:1]) == "first"
    with pytest.raises(RuntimeError, match="set LOCAL_RANK, or pass device="):
        launcher.Place("Slurm", 5, 8, None).device(devices)
    with pytest.raises(RuntimeError, match="rank 2 on this host has no device: there are 2"):
        launcher.Place("torchrun", 5, 8, 2).device(devices)


def test_who_cannot_reach_the_others_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "_mpi", lambda: None)
    place = launcher.Place("Slurm", 1, 2, 0)
    with pytest.raises(RuntimeError, match="cannot reach the others: set MASTER_ADDR"):
        launcher.exchange(place, lambda: KEY, None, None, 1, {})
    with pytest.raises(RuntimeError, match="MASTER_PORT='a' is not a number"):
        launcher.exchange(place, lambda: KEY, None, None, 1, {"MASTER_ADDR": "h", "MASTER_PORT": "a"})
    with pytest.raises(ValueError, match="host:port"):
        launcher.exchange(place, lambda: KEY, None, "host", 1, {})
    assert launcher.exchange(launcher.Place("x", 0, 1, 0), lambda: KEY, None, None, 1, {}) == KEY


def test_mpi_passes_the_id_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class World:
        def Get_size(self) -> int:
            return 2

        def Get_rank(self) -> int:
            return 0

        def bcast(self, value: bytes, root: int) -> bytes:
            return value

    monkeypatch.setattr(launcher, "_mpi", World)
    assert launcher.exchange(launcher.Place("Open MPI", 0, 2, 0), lambda: KEY, None, None, 1, {}) == KEY


# -- the id -------------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_socket_hands_the_id_to_every_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers and ranks of another meeting do not count; late ones are waited for."""
    monkeypatch.setattr(rendezvous, "_rounds", iter([7] * 4))
    port, found = free_port(), {}

    def one(rank: int) -> None:
        found[rank] = rendezvous.by_socket(rank, 4, lambda: KEY, "127.0.0.1", port, 30)

    threads = [threading.Thread(target=one, args=(rank,)) for rank in (2, 0)]
    for thread in threads:
        thread.start()
    for said in (b"GET / HTTP/1.1\r\n\r\n" + bytes(20), struct.pack("!8sIII", b"cudapy01", 6, 4, 1), b""):
        with (
            contextlib.suppress(OSError),  # rank 0 does not listen yet, or has hung up
            socket.create_connection(("127.0.0.1", port), timeout=5) as stranger,
        ):
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            assert stranger.recv(128) == b""
    threads += [threading.Thread(target=one, args=(rank,)) for rank in (1, 3)]
    for thread in threads[2:]:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == dict.fromkeys(range(4), KEY)


def test_ranks_that_do_not_come_are_named() -> None:
    with pytest.raises(TimeoutError, match=r"rank 0 of 3 at 127.0.0.1:\d+: ranks 1, 2 did not come in 0.1 s"):
        rendezvous.by_socket(0, 3, lambda: KEY, "127.0.0.1", free_port(), 0.1)
    with pytest.raises(TimeoutError, match=r"rank 1 of 3: at 127.0.0.1:\d+ rank 0 did not come in 0.1 s"):
        rendezvous.by_socket(1, 3, lambda: KEY, "127.0.0.1", free_port(), 0.1)


def test_a_file_hands_the_id_to_every_rank(tmp_path: Path) -> None:
    path = str(tmp_path / "id")
    with pytest.raises(TimeoutError, match="rank 1: rank 0 did not write"):
        rendezvous.by_file(1, lambda: KEY, path, 0.1)
    assert rendezvous.by_file(0, lambda: KEY, path, 1) == KEY == rendezvous.by_file(1, lambda: KEY, path, 1)
    with pytest.raises(FileExistsError, match="remove it first"):
        rendezvous.by_file(0, lambda: KEY, path, 1)
    Path(path).write_bytes(b"short")
    with pytest.raises(ValueError, match="5 bytes"):
        rendezvous.by_file(1, lambda: KEY, path, 1)
