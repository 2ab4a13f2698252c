"""`Owned`, rule by rule: what is released how often, what a failure becomes, and what an interrupt leaves."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cudapy._core.ownership import owned
from cudapy._core.ownership.deferred import deferred
from cudapy._core.ownership.owned import Owned, Ownership, Prerequisite, Release, Spare
from cudapy._process import interrupt_safe
from cudapy.core import CUDAError
from cudapy.driver import CUevent, CUresult
from cudapy.nvml import nvmlReturn_t

ILLEGAL_ADDRESS, UNKNOWN, SUCCESS = (
    CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult.CUDA_ERROR_UNKNOWN,
    CUresult.CUDA_SUCCESS,
)
INVALID_CONTEXT, INVALID_HANDLE, INVALID_VALUE = (
    CUresult.CUDA_ERROR_INVALID_CONTEXT,
    CUresult.CUDA_ERROR_INVALID_HANDLE,
    CUresult.CUDA_ERROR_INVALID_VALUE,
)


class Function:
    """A C function that notes its calls, and raises what is left in `raises`."""

    def __init__(self, *raises: BaseException) -> None:
        self.raises = [*raises]
        self.calls: list[tuple[Any, ...]] = []

    def __call__(self, *arguments: Any) -> None:
        self.calls.append(arguments)
        if self.raises:
            raise self.raises.pop(0)


def failure(code: Any, function: str = "cuEventDestroy") -> CUDAError:
    return CUDAError("no", code, function)


@pytest.fixture(autouse=True)
def reports(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What finalizers could not raise; no driver is asked for anything, and nothing is left to be retried."""
    found: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: found.append(args.exc_value))
    monkeypatch.setattr(owned, "_reported", set())
    monkeypatch.setattr(owned, "cuCtxGetDevice", lambda: (SUCCESS, 0))
    queues = deferred.after_capture, deferred.after_work
    assert not any(queues)
    gc.disable()  # in which captures may be active
    yield found
    gc.enable()
    for queue in queues:
        for one in queue:
            assert isinstance(one, Ownership) and one.forget()
        queue.clear()
    found.clear()


# -- failures -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "function", "current", "is_told"),
    [
        (INVALID_CONTEXT, "cuMemFree", SUCCESS, False),
        (INVALID_HANDLE, "cuEventDestroy", SUCCESS, False),
        (INVALID_HANDLE, "cuModuleUnload", SUCCESS, False),
        (INVALID_HANDLE, "cuMemFreeAsync", SUCCESS, True),
        (INVALID_HANDLE, "cuMemFreeAsync", INVALID_CONTEXT, False),
        (INVALID_VALUE, "cuMemFree", INVALID_CONTEXT, False),
        (INVALID_VALUE, "cuMemFree", ILLEGAL_ADDRESS, False),
        (INVALID_VALUE, "cuEventDestroy", SUCCESS, True),
        (UNKNOWN, "cuMemFree", INVALID_CONTEXT, True),
        (nvmlReturn_t(int(INVALID_CONTEXT)), "nvmlEventSetFree", SUCCESS, True),
    ],
)
def test_a_finalizer_tells_once_what_is_not_gone(
    code: Any, function: str, current: CUresult, is_told: bool,
    monkeypatch: pytest.MonkeyPatch, reports: list[Any],
) -> None:  # fmt: skip
    monkeypatch.setattr(owned, "cuCtxGetDevice", lambda: (current, 0))
    for _ in range(2):
        Ownership(Function(failure(code, function)), CUevent(7))
    assert [error.code for error in reports] == [code] * is_told


@pytest.mark.parametrize("code", [INVALID_CONTEXT, INVALID_VALUE])
@pytest.mark.parametrize("context", [0, 0xC0])
def test_without_a_current_context_its_own_is_entered(
    code: CUresult, context: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered: list[Any] = []
    monkeypatch.setattr(owned, "with_context", lambda *arguments: entered.append(arguments))
    function, handle = Function(failure(code)), CUevent(7)
    ownership = Ownership(function, handle, 1, 2, context=context) if context else Ownership(function, handle)
    if context and code == INVALID_CONTEXT:
        ownership.close()
        assert entered == [(context, function, handle, 1, 2)]
    else:
        with pytest.raises(CUDAError) as raised:
            ownership.close()
        assert raised.value.code == code and entered == []
    ownership.close()
    assert len(function.calls) == 1


@pytest.mark.parametrize(
    ("code", "becomes"),
    [
        (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "after_capture"),
        (CUresult.CUDA_ERROR_CAPTURED_EVENT, "after_capture"),
        (CUresult.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "after_capture"),
        (CUresult.CUDA_ERROR_NOT_PERMITTED, "after_capture"),
        (CUresult.CUDA_ERROR_NOT_READY, "after_work"),
        (ILLEGAL_ADDRESS, "nothing"),
        (CUresult.CUDA_ERROR_TIMEOUT, "raised"),
        *[(nvmlReturn_t(code), "raised") for code in (600, 900, int(ILLEGAL_ADDRESS))],
    ],
)
def test_a_release_that_is_refused(code: Any, becomes: str) -> None:
    ownership = Ownership(Function(failure(code)), CUevent(7))
    if becomes == "raised":
        with pytest.raises(CUDAError):
            ownership.close()
    else:
        ownership.close()
    queues = {name: len(getattr(deferred, name)) for name in ("after_capture", "after_work")}
    assert queues == {name: int(name == becomes) for name in queues}


def test_what_had_to_wait_is_tried_again_as_something_is_made() -> None:
    function = Function(failure(CUresult.CUDA_ERROR_NOT_PERMITTED))
    Ownership(function, CUevent(7), 3).close()
    assert len(function.calls) == 1
    Ownership(Function(), CUevent(8)).close()
    assert function.calls == [(CUevent(7), 3)] * 2 and not deferred.after_capture


# -- the quick way ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [0, 1])
def test_what_the_quick_function_refuses_is_released_otherwise(status: int) -> None:
    function, handle, quick = Function(), CUevent(7), []
    ownership = Ownership(function, handle, quick=lambda cell: quick.append(cell.value) or status)
    for _ in range(2):
        ownership.close()
    assert quick == [7] and len(function.calls) == status
    assert handle.value == 7 * status  # a quick release leaves 0 in what the program may have


def test_as_many_spare_handles_are_kept_as_there_may_be() -> None:
    spare, function = Spare(), Function()
    for number in range(owned.SPARE + 2):
        ownership = Ownership(function, CUevent(number + 1))
        ownership._spare = spare
        ownership.close()
    assert owned.SPARE == 32 == len(spare) and len(function.calls) == 2


# -- several owners -----------------------------------------------------------------------------------------


def test_what_is_shared_outlives_its_close() -> None:
    function = Function()
    ownership = Ownership(function, CUevent(7))
    ownership.mark_shared()
    ownership.close()
    assert function.calls == []
    del ownership
    assert len(function.calls) == 1


def test_what_is_forgotten_is_left_to_others() -> None:
    function = Function()
    ownership = Ownership(function, CUevent(7))
    assert (ownership.forget(), ownership.forget()) == (True, False)
    ownership.close()
    assert function.calls == []


class Several(Owned):
    """An owner of its own, as buffers and events are."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        self._ownership = self._quick = self._argument = self._spare = None
        self._owed, self._process = CUevent(7), owned.process

    def _how(self) -> Release:
        return Release(0, self.function)


def test_an_owner_hands_over_what_it_owns_and_nothing_else() -> None:
    function = Function()
    several = Several(function)
    ownership = several._shared()
    assert ownership is not None and several._shared() is ownership
    several._release(True)
    ownership.close()  # shared
    assert function.calls == []
    del several, ownership
    assert len(function.calls) == 1
    released = Several(function)
    released._release(True)
    assert released._shared() is None and len(function.calls) == 2


# -- interrupts ---------------------------------------------------------------------------------------------


def test_an_interrupted_close_is_done_again_where_the_cell_says_so(reports: list[Any]) -> None:
    """A handle has a cell, in which C leaves what is owed; a number has none, so it is not released twice."""
    for handle, times in ((CUevent(7), 2), (7, 1)):
        function = Function(KeyboardInterrupt())
        ownership = Ownership(function, handle)
        with pytest.raises(KeyboardInterrupt):
            ownership.close()
        ownership.close()
        assert len(function.calls) == times
    quick = Function(KeyboardInterrupt())  # raised as C returns
    done = Ownership(Function(), CUevent(7), quick=quick)
    with pytest.raises(KeyboardInterrupt):
        done.close()
    done.close()
    assert len(quick.calls) == 1 and reports == []


@pytest.mark.parametrize("kind", [Ownership, Prerequisite])
@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupted_finalizer_is_taken_to_its_end(
    kind: type[Ownership], times: int, reports: list[Any]
) -> None:
    """What interrupted it is raised in the program, once."""
    function = Function(*(KeyboardInterrupt() for _ in range(times)))
    interrupts = 0
    owners = [kind(function, CUevent(7))]
    for _ in range(times + 1):
        try:
            owners.clear()
            for _ in range(100):
                len("a check for signals")
        except KeyboardInterrupt:
            interrupts += 1
    assert len(function.calls) == times + 1 and interrupts == 1 and reports == []


def test_another_interrupt_before_the_first_was_seen_to(
    monkeypatch: pytest.MonkeyPatch, reports: list[Any]
) -> None:
    finish, function, raised = interrupt_safe.finish, Function(KeyboardInterrupt()), [KeyboardInterrupt()]

    def interrupted(*arguments: Any) -> None:
        if raised:
            raise raised.pop()
        finish(*arguments)

    monkeypatch.setattr(owned, "finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Ownership(function, CUevent(7))
        for _ in range(100):
            len("a check for signals")
    assert len(function.calls) == 2 and raised == [] and reports == []


def test_an_interrupt_of_another_thread_is_its_own(reports: list[Any]) -> None:
    function = Function(SystemExit())
    thread = threading.Thread(target=lambda: Ownership(function, CUevent(7)) and None)
    thread.start()
    thread.join()
    assert len(function.calls) == 2 and [type(error) for error in reports] == [SystemExit]
