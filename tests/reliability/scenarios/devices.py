"""Devices, contexts, streams and events."""

from __future__ import annotations

from ..world import World


class _Foreign:
    """A stream of another library."""

    def __init__(self, stream: object) -> None:
        self.stream = stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return self.stream.__cuda_stream__()  # type: ignore[attr-defined]


def device(w: World) -> None:
    first, second = w.core.Device.get_all_devices()
    assert w.core.Device() is first and first.can_access_peer(second)
    for name in ("name", "uuid", "pci_bus_id", "total_memory", "compute_capability", "properties"):
        first.__dict__.pop(name, None)  # asked for anew
        assert getattr(first, name)
    assert first.properties.multiprocessor_count and first.arch and first.device_id == 0
    assert first.default_stream is w.core.default_stream()
    resource = first.memory_resource
    first._memory_resource = None
    first.memory_resource = resource if first.memory_resource else None
    first.sync()
    second.sync()


def current(w: World) -> None:
    second = w.core.Device(1)
    w.driver.checked.cuCtxPushCurrent(w.device.context.handle)
    try:
        second.set_current()
        assert second.context.device is second and w.core.Device() is second
        first = w.device.context
        assert int(first.handle)
        first.close()
        assert first.is_closed
    finally:
        w.driver.checked.cuCtxPopCurrent()
    before = w.device.set_current(w.device.context)
    assert before == w.device.context and not before.is_closed and not before.is_green
    with before.create_stream() as stream:
        assert stream.context == before and int(before.handle)


def block(w: World) -> None:
    second = w.core.Device(1)
    with second as inside, w.device, second:
        assert inside is second and w.core.Device() is second
    assert w.core.Device() is w.device


def green(w: World) -> None:
    core = w.core
    everything = w.device.resources.sm
    assert everything.sm_count >= everything.min_partition_size and everything.coscheduled_alignment
    assert everything.handle and not everything.flags
    (part,), _ = everything.split(core.SMResourceOptions(count=2))
    queue = w.device.resources.workqueue
    queue.configure(core.WorkqueueResourceOptions(queue.sharing_scope, queue.concurrency_limit))
    assert queue.device is w.device and queue.handle
    context = w.device.create_context(core.ContextOptions([part, queue]))
    stream = context.create_stream()
    assert context.is_green and stream.resources.sm.sm_count == context.resources.sm.sm_count == part.sm_count
    w.driver.checked.cuCtxPushCurrent(context.handle)
    try:
        buffer = w.device.allocate(64)
        event = core.default_stream().record()
    finally:
        w.driver.checked.cuCtxPopCurrent()
    context.close()
    buffer.fill(7, stream=stream)
    stream.wait(event)
    stream.sync()
    buffer.close()
    stream.close()


def stream(w: World) -> None:
    with w.core.Stream() as first, w.core.Stream({"nonblocking": False, "priority": -1}) as second:
        assert first.is_nonblocking and not second.is_nonblocking and second.priority == -1
        assert first.device is w.device and int(first.context.handle) and first.__cuda_stream__()[1]
        event = first.record()
        second.wait(event)
        second.wait(first)
        second.wait(_Foreign(first))
        second.sync()
        again = w.core.Stream.from_handle(int(first.handle))
        again.wait(second)
        assert again.device is w.device and again.record().is_done
        assert w.device.create_stream(_Foreign(first)) == first
    assert first.is_closed
    w.core.PER_THREAD_DEFAULT_STREAM.wait(w.device.create_stream())
    w.core.PER_THREAD_DEFAULT_STREAM.sync()


def stream_elsewhere(w: World) -> None:
    second = w.core.Device(1)
    stream = second.create_stream(w.core.StreamOptions(priority=-2))
    assert stream.device is second
    stream.record().sync()
    second.create_event().close()
    buffer = second.allocate(64, stream)
    buffer.fill(7, stream=stream)
    assert second.allocate(32).device_id == 1
    stream.close()


def event(w: World) -> None:
    stream = w.device.create_stream()
    options = w.core.EventOptions(timing_enabled=True, blocking_sync=True)
    with stream.record(options=options) as start, w.device.create_event(options) as end:
        assert end.is_timing_enabled and end.is_blocking_sync and not end.is_ipc_enabled
        stream.record(end)
        end.sync()
        assert end.is_done and end - start >= 0 and end.device is w.device and int(end.handle)
        assert end.context == w.device.context
    alone = w.core.Event()
    alone.close()
    assert alone.is_closed
