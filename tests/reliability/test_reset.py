"""Fresh devices, or a context that is reset, in the middle of every scenario: what is left does no harm."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .probes import probe_all
from .scenarios import SCENARIOS
from .test_faults import LAUNCH_FAILED, calls_of
from .world import World, world


@pytest.fixture(scope="module")
def w() -> Iterator[World]:
    with world() as made:
        yield made


@pytest.mark.thorough
@pytest.mark.parametrize("name", SCENARIOS)
def test_devices_are_reset_in_the_middle_of_a_scenario(
    w: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, reports = SCENARIOS[name], []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: reports.append(args.exc_value))
    names = calls_of(w, scenario)
    last = {function: number for number, function in enumerate(names, 1) if not function.startswith("nv")}
    descriptors = 0
    for number in [1, *sorted(last.values())[:: max(1, len(last) // 6)]]:
        error: Any = None
        with w.simulator.failing(call=number, status=LAUNCH_FAILED):
            try:
                scenario(w)
            except Exception as caught:
                error = caught
        w.simulator.reset()
        assert w.simulator.alive() == {}
        w.begin()
        scenario(w)
        stream = w.device.create_stream()
        buffer, event = w.device.allocate(64, stream), stream.record()
        w.settle()
        before = w.alive()
        if error is not None:
            _probe(w, error)
            traceback.clear_frames(error.__traceback__)
        error = None
        assert not w.leak(before), f"call {number}"
        buffer.fill(1, stream=stream)  # what is new is there
        event.sync()
        stream.sync()
        descriptors = descriptors or len(os.listdir("/proc/self/fd")) if Path("/proc").exists() else 0
    assert reports == []
    if descriptors:
        assert len(os.listdir("/proc/self/fd")) <= descriptors + 2, "files are closed"


@pytest.mark.thorough
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_primary_context_is_reset_in_the_middle_of_a_scenario(
    w: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With it went what is finalized afterwards, which says nothing, whatever context is current then."""
    scenario, reports = SCENARIOS[name], []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: reports.append(args.exc_value))
    names = calls_of(w, scenario)
    last = {function: number for number, function in enumerate(names, 1) if not function.startswith("nv")}
    for turn, number in enumerate(sorted(last.values())[:: max(1, len(last) // 6)]):
        error: Any = None
        with w.simulator.failing(call=number, status=LAUNCH_FAILED):
            try:
                scenario(w)
            except Exception as caught:
                error = caught
        for device in 0, 1:
            w.driver.cuDevicePrimaryCtxReset(device)
        if turn % 3:
            w.driver.cuCtxSetCurrent(w.driver.cuDevicePrimaryCtxRetain(0)[1] if turn % 3 == 1 else 0)
        if error is not None:
            traceback.clear_frames(error.__traceback__)
        error = None
        gc.collect()
        w.simulator.reset()
        w.begin()
    assert reports == []


def _probe(w: World, error: BaseException) -> None:
    """Use what there was before: an exception may say that it is of no use."""
    try:
        probe_all(w, error.__traceback__)
    except (w.core.CUDAError, RuntimeError, AssertionError) as refused:
        traceback.clear_frames(refused.__traceback__)
