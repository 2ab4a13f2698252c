"""core on a real GPU: `with Device(...):`, and what is current after it."""

from __future__ import annotations

import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cudapy import driver, simulator
from cudapy._core.context.context import primary
from cudapy._core.device import scope
from cudapy.core import CUDAError, Device

from .core_kernels import current, run

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _blocks_end():
    """No block is left behind."""
    yield
    gc.collect()
    assert scope._blocks == []


@pytest.fixture
def other(device):
    """A context of device 0 that is not its primary one; current."""
    made = driver.checked.cuCtxCreate(None, 0, 0)
    yield int(made)
    driver.checked.cuCtxDestroy(made)


@pytest.fixture
def last(device):
    """The last device: another one, where there are two."""
    return Device.get_all_devices()[-1]


def of(device: Device) -> int:
    """Its primary context."""
    return int(primary(int(device)).handle)


def in_thread(function):
    """What `function()` returns in a thread in which nothing is current."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(function).result()


def test_a_block_has_its_device_and_what_was_before_comes_back(device, last) -> None:
    before = current()
    with last as inside:
        assert inside is last is Device() and current() == of(last)
    assert current() == before == of(device)


def test_what_was_before_may_be_any_context(device, other) -> None:
    with device:
        assert current() == of(device) != other
    assert current() == other


def test_where_none_was_current_none_is_afterwards(last) -> None:
    def work():
        with last:
            inside = current()
        return inside, current()

    assert in_thread(work) == (of(last), 0)


def test_blocks_in_blocks(device, last, other) -> None:
    found = []
    with last:
        with device:
            with device:
                found.append(current())
            found.append(current())
            with last:
                found.append(current())
            found.append(current())
        found.append(current())
    assert found == [of(device), of(device), of(last), of(device), of(last)]
    assert current() == other


def test_set_current_in_a_block_ends_with_it(device, last, other) -> None:
    with device:
        last.set_current()
    assert current() == other


def test_a_block_that_is_left_by_an_exception(device, last) -> None:
    with pytest.raises(ZeroDivisionError), last:
        raise ZeroDivisionError
    assert current() == of(device)


def test_threads_have_blocks_of_their_own(device, last, other) -> None:
    """The other thread's block begins first and ends first, though it is of the same device."""
    both, found = threading.Barrier(2), []

    def work():
        with Device(last):
            both.wait(60)
            both.wait(60)
            found.append(current())
        found.append(current())
        both.wait(60)

    thread = threading.Thread(target=work)
    thread.start()
    both.wait(60)
    with last:
        both.wait(60)
        both.wait(60)
        found.append(current())
    thread.join(60)
    assert found == [of(last), 0, of(last)] and current() == other


def test_a_device_of_another_thread(last) -> None:
    def work():
        with last:
            return current()

    assert in_thread(work) == of(last)


def block(device):
    """A generator in a block."""
    with device:
        yield current()
        yield current()


def test_a_generator_that_ends_has_the_caller_s_back(device, last, other) -> None:
    assert list(block(last)) == [of(last)] * 2
    assert current() == other


def test_generators_end_in_any_order(device, last, other) -> None:
    first, second = block(last), block(device)
    assert next(first) == of(last)
    assert next(second) == of(device)
    first.close()
    assert current() == of(device), "the second block goes on"
    second.close()
    assert current() == other


def test_a_generator_that_is_dropped(last, other) -> None:
    generator = block(last)
    next(generator)
    del generator
    gc.collect()
    assert current() == other


def test_a_generator_that_ends_in_another_thread(device, last, other) -> None:
    """It changes nothing there, and is no longer in the way of the blocks around it here."""
    with device:
        generator = block(last)
        next(generator)
        assert in_thread(lambda: (generator.close(), current())) == (None, 0)
        assert current() == of(last)
    assert current() == other


def test_an_end_without_a_beginning(device) -> None:
    with pytest.raises(RuntimeError, match="no block of device 0 has begun"):
        device.__exit__(None, None, None)


FORK = """
import os
with Device(0):
    child = os.fork()
if not child:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print("good")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_block_that_ends_in_a_fork_too() -> None:
    process = run(FORK)
    assert (*process.communicate(timeout=120), process.returncode) == ("good\n", "", 0)


def test_a_context_that_is_gone_at_the_end(device) -> None:
    if not simulator.is_enabled():
        pytest.skip("a driver may follow the address of what is gone")
    made = driver.checked.cuCtxCreate(None, 0, 0)
    with pytest.raises(CUDAError, match="cuCtxSetCurrent"), device:
        driver.checked.cuCtxDestroy(made)
    assert current() == of(device)
