"""core.checkpoint on the stub: what reaches C, and what is refused before."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from .stub import module
from .stub.record import Stub

checkpoint, driver, errors = module("_core.modules.checkpoint"), module("driver"), module("_bindings.errors")
FIRST, SECOND = bytes(range(16)), bytes(range(16, 32))
UUID = "00010203-0405-0607-0809-0a0b0c0d0e0f"


@pytest.fixture(autouse=True)
def started(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "initialise", lambda: None)


def last(stub: Stub) -> tuple[str, int, bytes | None]:
    """The last call: its symbol, the process, and the struct behind the pointer."""
    call = stub.calls()[-1]
    args = call.arguments.get("args")
    return call.symbol, int.from_bytes(call.arguments["pid"].raw, "little"), args.memory if args else None


@pytest.mark.parametrize(
    ("act", "symbol"),
    [
        (lambda process: process.checkpoint(), "cuCheckpointProcessCheckpoint"),
        (lambda process: process.unlock(), "cuCheckpointProcessUnlock"),
        (lambda process: process.restore(), "cuCheckpointProcessRestore"),
        (lambda process: process.restore({}), "cuCheckpointProcessRestore"),
    ],
)
def test_what_has_no_options(act: Callable[[Any], None], symbol: str, stub: Stub) -> None:
    act(checkpoint.Process(77))
    assert last(stub)[:2] == (symbol, 77)


@pytest.mark.parametrize("milliseconds", [0, 1500])
def test_lock(milliseconds: int, stub: Stub) -> None:
    checkpoint.Process(77).lock(milliseconds)
    symbol, pid, memory = last(stub)
    assert (symbol, pid) == ("cuCheckpointProcessLock", 77)
    assert memory is not None and int.from_bytes(memory[:4], "little") == milliseconds
    assert not any(memory[4:])


@pytest.mark.parametrize("old", [UUID, f"GPU-{UUID}", UUID.replace("-", "").upper()])
def test_gpus_are_mapped(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    restore = SimpleNamespace(cuCheckpointProcessRestore=lambda pid, args: given.append(args))
    monkeypatch.setattr(checkpoint, "checked", restore)
    checkpoint.Process(77).restore({old: driver.CUuuid(bytes=SECOND)})
    (args,) = given
    assert args.gpuPairsCount == 1
    assert [(bytes(p.oldUuid.bytes), bytes(p.newUuid.bytes)) for p in args.gpuPairs] == [(FIRST, SECOND)]


@pytest.mark.parametrize(
    ("number", "state"), [(0, "running"), (1, "locked"), (2, "checkpointed"), (3, "failed")]
)
def test_states(number: int, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = driver.CUprocessState(number)
    monkeypatch.setattr(checkpoint, "checked", SimpleNamespace(cuCheckpointProcessGetState=lambda pid: known))
    assert checkpoint.Process(1).state == state
    assert known.name == f"CU_PROCESS_STATE_{state.upper()}"


def test_a_state_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "checked", SimpleNamespace(cuCheckpointProcessGetState=lambda pid: 9))
    with pytest.raises(RuntimeError, match=r"process 5 is in a state .* 9"):
        checkpoint.Process(5).state  # noqa: B018


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: checkpoint.Process("5"), TypeError, "pid must be an int, not str"),
        (lambda: checkpoint.Process(True), TypeError, "pid must be an int, not bool"),
        (lambda: checkpoint.Process(0), ValueError, "pid = 0 is outside"),
        (lambda: checkpoint.Process(1 << 31), ValueError, "is outside"),
        (lambda: checkpoint.Process(5).lock(-1), ValueError, "timeout_ms = -1 is outside"),
        (lambda: checkpoint.Process(5).lock(1 << 32), ValueError, "timeout_ms"),
        (lambda: checkpoint.Process(5).lock(1.5), TypeError, "timeout_ms must be a whole number"),
        (lambda: checkpoint.Process(5).restore([UUID]), TypeError, "must be a mapping of UUIDs, not list"),
        (lambda: checkpoint.Process(5).restore({UUID: 5}), TypeError, "a CUuuid or a str, not int"),
        (lambda: checkpoint.Process(5).restore({"GPU-12": UUID}), ValueError, "'GPU-12' is not a GPU's UUID"),
    ],
)
def test_what_is_refused(act: Callable[[], Any], error: type[Exception], message: str, stub: Stub) -> None:
    with pytest.raises(error, match=message):
        act()
    assert stub.calls() == []


def test_the_reason_of_the_driver(stub: Stub) -> None:
    stub.status = int(driver.CUresult.CUDA_ERROR_ILLEGAL_STATE)
    process = checkpoint.Process(5)
    for act in (process.lock, process.checkpoint, process.restore, process.unlock):
        with pytest.raises(errors.CUDAError, match="CUDA_ERROR_ILLEGAL_STATE"):
            act()
    for name in ("state", "restore_thread_id"):
        with pytest.raises(errors.CUDAError, match="CUDA_ERROR_ILLEGAL_STATE"):
            getattr(process, name)
