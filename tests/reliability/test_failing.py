"""The means by which the tests of faults let calls fail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .world import World, world


@pytest.fixture(scope="module")
def w() -> Iterator[World]:
    with world() as made:
        yield made


@pytest.fixture(autouse=True)
def settled(w: World) -> None:
    """What another test has left is not given back in the middle of this one."""
    w.settle()


def test_the_call_of_that_number_fails_and_does_nothing(w: World) -> None:
    before = w.alive()
    with w.simulator.failing("cuEventCreate", call=2, status="CUDA_ERROR_INVALID_VALUE") as calls:
        found = [w.driver.cuEventCreate(0), w.driver.cuEventCreate(0), w.driver.cuEventCreate(0)]
    assert [int(status) for status, _ in found] == [0, 1, 0] and found[1][1] is None
    assert calls.names == ["cuEventCreate"] * 3 and calls.failed == "cuEventCreate"
    assert w.alive() - before == {"event": 2}
    for status, event in found:
        if not status:
            w.driver.checked.cuEventDestroy(event)
    assert w.alive() == before


def test_a_fault_of_the_device_stays_until_the_block_ends(w: World) -> None:
    stream = w.device.create_stream()
    with w.simulator.failing("cuStreamSynchronize", status="CUDA_ERROR_LAUNCH_FAILED"):
        assert w.driver.cuStreamQuery(stream.handle)[0] == 0
        assert w.driver.cuStreamSynchronize(stream.handle)[0] == 719
        assert w.driver.cuStreamQuery(stream.handle)[0] == w.driver.cuMemAlloc(4)[0] == 719
    stream.sync()


def test_with_or_without_its_version_and_any_function(w: World) -> None:
    w.driver.checked.cuMemFree(w.driver.checked.cuMemAlloc(4))
    for name in ("cuMemAlloc", "cuMemAlloc_v2", None):
        with w.simulator.failing(name) as calls:
            assert w.driver.cuMemAlloc(4) == (w.driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY, None)
        assert calls.failed == "cuMemAlloc"
    with w.simulator.failing(call=0) as calls:
        w.driver.checked.cuMemFree(w.driver.checked.cuMemAlloc(4))
    assert calls.names == ["cuMemAlloc", "cuMemFree"] and calls.failed == ""


def test_mistakes(w: World) -> None:
    for function, call, status in (
        ("cuMemAllock", 1, "CUDA_ERROR_UNKNOWN"),
        ("cuMemAlloc", -1, "CUDA_ERROR_UNKNOWN"),
        ("cuMemAlloc", 1, "CUDA_ERROR"),
    ):
        with pytest.raises(ValueError):
            w.simulator.failing(function, call=call, status=status)
