"""core on a real GPU: events."""

from __future__ import annotations

import pickle
import threading
import time

import pytest

from cudapy import driver
from cudapy.core import (
    CUDAError,
    Event,
    EventOptions,
)

from .core_kernels import busy, run, spin

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(
    "options", [EventOptions(enable_timing=True), EventOptions(True, busy_waited_sync=True)]
)
def test_events_time_work(code, stream, options) -> None:
    with busy(code, stream):
        began = time.perf_counter()
        start = stream.record(options=options)
        spin(code, stream, 20)
        end = stream.record(options=options)
        with pytest.raises(CUDAError, match=r"sync\(\)"):
            _ = end - start
    assert 10 < end - start < 1000 * (time.perf_counter() - began) + 1
    assert start - end == pytest.approx(-(end - start), abs=0.01)
    assert end.__rsub__(start) == pytest.approx(start - end, abs=0.01)
    milliseconds = end - start
    end -= start
    assert end == pytest.approx(milliseconds, abs=0.01)
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = 1 - start
    with pytest.raises(TypeError, match="unsupported operand"):
        start -= 1


def test_events_without_time(device, stream) -> None:
    plain = stream.record()
    timed = stream.record(options=EventOptions(timing_enabled=True))
    stream.sync()
    with pytest.raises(CUDAError, match="timing_enabled=True"):
        _ = timed - plain
    with pytest.raises(CUDAError, match="record"):
        _ = device.create_event(EventOptions(True)) - timed
    assert timed.is_timing_enabled and not plain.is_timing_enabled
    assert plain.device is device and plain.context == stream.context
    assert device.create_event().is_done
    with pytest.raises(TypeError):
        _ = timed - 1


def test_an_event_is_recorded_again(code, stream, device) -> None:
    event = device.create_event()
    with busy(code, stream):
        assert stream.record(event) is event and not event.is_done
    event.sync()
    assert event.is_done


def test_ipc_events_are_described(stream) -> None:
    event = stream.record(options=EventOptions(ipc_enabled=True))
    described = pickle.loads(pickle.dumps(event.get_ipc_descriptor()))
    assert len(described.reserved) == 64
    with pytest.raises(RuntimeError, match="ipc_enabled"):
        _ = stream.record().ipc_descriptor
    assert event.ipc_descriptor is event.get_ipc_descriptor()


def test_an_event_is_pickled_in_a_thread_without_a_context(stream, device) -> None:
    """As that of multiprocessing's queues is."""
    for event in (
        stream.record(options={"ipc_enabled": True}),
        device.create_event({"ipc_enabled": True}),
        Event({"ipc_enabled": True}),
    ):
        found = []
        thread = threading.Thread(target=lambda: found.append(pickle.dumps(event)))  # noqa: B023
        thread.start()
        thread.join()
        assert found and event.ipc_descriptor.reserved in found[0]


def test_an_event_between_processes_has_no_timing(device, stream) -> None:
    """The options can be made; such an event cannot."""
    options = EventOptions(timing_enabled=True, ipc_enabled=True)
    assert options.timing_enabled and options.ipc_enabled
    for make in (device.create_event, lambda options: stream.record(options=options), Event):
        with pytest.raises(TypeError, match="timing"):
            make(options)


def test_events_that_nobody_has_are_recorded_again(device, stream) -> None:
    """`record` makes no new event where a dropped one will do; one that is in use is not taken."""
    stream.sync()
    first = stream.record()
    handle = int(first.handle)
    assert int(stream.record().handle) != handle
    del first
    held = [stream.record() for _ in range(100)]
    assert handle in {int(event.handle) for event in held}
    assert len({int(event.handle) for event in held}) == 100
    timed = stream.record(options=EventOptions(timing_enabled=True))
    assert int(timed.handle) not in {int(event.handle) for event in held}
    held[0].close()
    with pytest.raises(RuntimeError, match="this Event is closed"):
        held[0].sync()


def test_an_event_made_for_later_was_never_recorded(device, code, stream) -> None:
    """Even if others were dropped while the work before them ran."""
    with busy(code, stream):
        for _ in range(5):
            assert not stream.record().is_done
        assert device.create_event().is_done
        again = stream.record()
        assert not again.is_done
    again.sync()
    assert again.is_done


def test_time_of_events_that_are_recorded_again(code, stream) -> None:
    options = EventOptions(timing_enabled=True)
    for _ in range(3):
        began = time.perf_counter()
        start = stream.record(options=options)
        spin(code, stream, 10)
        end = stream.record(options=options)
        end.sync()
        assert 5 < end - start < 1000 * (time.perf_counter() - began) + 1, "that of this turn alone"


def test_events_recorded_in_a_capture_are_of_use_after_it(device, code, stream) -> None:
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    other = device.create_stream()
    driver.checked.cuStreamBeginCapture(stream.handle, mode)
    other.wait(stream)
    stream.wait(other)
    stream.record()
    graph = driver.checked.cuStreamEndCapture(stream.handle)
    driver.checked.cuGraphDestroy(graph)
    with busy(code, stream):
        event = stream.record()
        assert not event.is_done
    event.sync()
    assert event.is_done


def test_an_event_of_another_process(device, code, stream) -> None:
    if not device.properties.ipc_event_supported:
        pytest.skip("this device has no events between processes")
    event = device.create_event(EventOptions(ipc_enabled=True, blocking_sync=True))
    spin(code, stream, 50)
    stream.record(event)
    described, reserved = pickle.dumps(event.ipc_descriptor).hex(), event.ipc_descriptor.reserved.hex()
    process = run(
        "import pickle\n"
        f"e = Event.from_ipc_descriptor(pickle.loads(bytes.fromhex('{described}')))\n"
        "print(e.is_ipc_enabled, e.is_timing_enabled, e.is_blocking_sync, e.device is dev)\n"
        "s.wait(e); s.sync(); e.sync(); print(e.is_done)\n"
        f"again = pickle.loads(pickle.dumps(e.ipc_descriptor)); print(again.reserved.hex() in '{reserved}')\n"
        "e.close()\n"
    )
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.split() == ["True", "False", "True", "True", "True", "True"]
    assert event.is_done
