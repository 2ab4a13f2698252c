"""core on a real GPU: green contexts, which have some of the multiprocessors."""

from __future__ import annotations

import gc
import threading
import time

import numpy as np
import pytest
from cudapy.core.graph import GraphDefinition
from cudapy.core.typing import WorkqueueSharingScopeType

from cudapy import driver
from cudapy.core import (
    LEGACY_DEFAULT_STREAM,
    Context,
    ContextOptions,
    Device,
    DeviceResources,
    LaunchConfig,
    Program,
    SMResource,
    SMResourceOptions,
    Stream,
    WorkqueueResource,
    WorkqueueResourceOptions,
    launch,
)

from .core_kernels import content, current
from .kernels import needs_driver

pytestmark = pytest.mark.gpu

WHERE = """
extern "C" __global__ void where(unsigned *sm) {
    unsigned on;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(on));
    if (threadIdx.x == 0) sm[blockIdx.x] = on;
}
"""


@pytest.fixture
def sm(device):
    needs_driver(12, 5)
    return device.resources.sm


@pytest.fixture
def few(sm):
    """How many multiprocessors a small group has."""
    return min(16, sm.sm_count // 2)


@pytest.fixture
def part(sm, few):
    (part,), _ = sm.split(SMResourceOptions(count=few))
    return part


@pytest.fixture
def green(device, part):
    context = device.create_context(ContextOptions(resources=[part]))
    yield context
    if int(context.handle or 0) == current():
        device.set_current()
    context.close()


def needs_structured_splits():
    needs_driver(13, 1)


def live():
    """How many green contexts of core's there are."""
    from cudapy._core.context.green import green_contexts

    gc.collect()
    return len(green_contexts)


def test_a_device_has_all_its_multiprocessors(device, sm) -> None:
    assert sm.sm_count == device.properties.multiprocessor_count
    assert device.context.resources.sm.sm_count == sm.sm_count
    assert sm.min_partition_size >= 1 and sm.coscheduled_alignment >= 1 and sm.flags == 0
    copied = driver.CUdevResource(_ptr=sm.handle)
    assert copied.sm.smCount == sm.sm_count


def test_a_split_by_count(sm, few) -> None:
    groups, rest = sm.split(SMResourceOptions(count=few))
    assert [group.sm_count >= few for group in groups] == [True]
    assert groups[0].sm_count + rest.sm_count == sm.sm_count
    pair, rest = sm.split({"count": (few, few)})
    assert len(pair) == 2 and sum(group.sm_count for group in pair) + rest.sm_count == sm.sm_count


def test_a_structured_split(sm, few) -> None:
    needs_structured_splits()
    options = SMResourceOptions(count=[few, None], coscheduled_sm_count=2, backfill=[False, True])
    (first, second), rest = sm.split(options)
    assert first.sm_count == few and first.coscheduled_alignment == 2
    assert second.flags == driver.CUdevSmResourceGroup_flags.CU_DEV_SM_RESOURCE_GROUP_BACKFILL
    assert first.sm_count + second.sm_count + rest.sm_count == sm.sm_count
    (found,), _ = sm.split(SMResourceOptions(coscheduled_sm_count=2))
    assert found.sm_count % 2 == 0 and 0 < found.sm_count <= sm.sm_count
    with pytest.raises(Exception, match=r"cuDevSmResourceSplit: CUDA_ERROR_INVALID"):
        sm.split(SMResourceOptions(count=sm.sm_count + 2))


def test_a_dry_run_makes_nothing_to_use(device, sm, few) -> None:
    (group,), rest = sm.split(SMResourceOptions(count=few), dry_run=True)
    assert group.sm_count >= few and rest.sm_count == sm.sm_count - group.sm_count
    with pytest.raises(ValueError, match="dry run"):
        device.create_context(ContextOptions([group]))
    with pytest.raises(ValueError, match="dry run"):
        rest.split(SMResourceOptions(count=few))


def test_drivers_without_structured_splits(sm, few, monkeypatch) -> None:
    """As before CUDA 13.1: groups of one size."""
    from cudapy._core.context import resources
    from cudapy._ffi.library import SymbolNotFound

    def lacking(*arguments):
        raise SymbolNotFound("cuDevSmResourceSplit", "this driver has no cuDevSmResourceSplit")

    class Older:
        cuDevSmResourceSplit = staticmethod(lacking)
        cuDevSmResourceSplitByCount = staticmethod(driver.checked.cuDevSmResourceSplitByCount)

    monkeypatch.setattr(resources, "checked", Older)
    (first, second), rest = sm.split(SMResourceOptions(count=[few, few]))
    assert first.sm_count == second.sm_count >= few
    assert 2 * first.sm_count + rest.sm_count == sm.sm_count
    (whole,), _ = sm.split(SMResourceOptions())
    assert 0 <= sm.sm_count - whole.sm_count < sm.coscheduled_alignment
    for options in (
        SMResourceOptions(count=[few, 2 * few]),
        SMResourceOptions(count=few, backfill=True),
        SMResourceOptions(count=few, coscheduled_sm_count=2),
        SMResourceOptions(count=[None, None]),
    ):
        with pytest.raises(RuntimeError, match=r"older than CUDA 13\.1"):
            sm.split(options)
    with pytest.raises(ValueError, match="has room for"):
        sm.split(SMResourceOptions(count=[few] * (sm.sm_count // few + 1)))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"count": 0}, ValueError, "count = 0 is outside"),
        ({"count": -2}, ValueError, "count = -2 is outside"),
        ({"count": 2.5}, TypeError, "count must be a whole number"),
        ({"count": "2"}, TypeError, "integer"),
        ({"count": []}, ValueError, "count is empty"),
        ({"count": [2, 2], "backfill": [True]}, ValueError, "backfill has 1 values, and count says"),
        ({"coscheduled_sm_count": [2, 2]}, ValueError, "coscheduled_sm_count has 2 values"),
        ({"number": 2}, TypeError, "SMResourceOptions has no 'number'"),
        (5, TypeError, "SMResourceOptions or a dict"),
    ],
)
def test_wrong_splits(sm, options, error, message) -> None:
    with pytest.raises(error, match=message):
        sm.split(options)


def test_a_green_context(device, green, part, sm) -> None:
    assert green.is_green and not device.context.is_green
    assert green.device is device and green != device.context
    assert green.resources.sm.sm_count == part.sm_count < sm.sm_count
    assert device.context.resources.sm.sm_count == sm.sm_count


def test_what_a_context_is_made_of(device, part, sm, few) -> None:
    _, rest = sm.split(SMResourceOptions(count=few))
    for resources, error, message in (
        (None, ValueError, "must say what of the device"),
        (ContextOptions([]), ValueError, "resources are empty"),
        (ContextOptions(part), TypeError, "must be a sequence"),
        (ContextOptions([part, 5]), TypeError, "not int"),  # type: ignore[list-item]
        (part, TypeError, "ContextOptions or a dict"),
    ):
        with pytest.raises(error, match=message):
            device.create_context(resources)
    _, nothing = sm.split(SMResourceOptions())
    if not nothing.sm_count:
        with pytest.raises(ValueError, match="without multiprocessors"):
            device.create_context(ContextOptions([nothing]))
    others = Device.get_all_devices()[1:]
    if others:
        with pytest.raises(ValueError, match="is not of device"):
            others[0].create_context(ContextOptions([part]))
    with device.create_context(ContextOptions([rest])) as context:
        assert context.resources.sm.sm_count == rest.sm_count


def test_none_of_them_is_made_by_its_class() -> None:
    for cls in (SMResource, WorkqueueResource, DeviceResources):
        with pytest.raises(TypeError, match="resources"):
            cls()


def test_work_stays_on_its_part(device, green, part) -> None:
    kernel = Program(WHERE, "c++").compile("cubin").get_kernel("where")
    with green.create_stream() as stream, device.allocate(4 * 4096, stream) as used:
        assert stream.context == green and stream.context.is_green and stream.is_nonblocking
        assert stream.resources.sm.sm_count == part.sm_count
        launch(stream, LaunchConfig(grid=4096, block=64), kernel, used)
        found = set(content(used, np.uint32, stream))
    assert 1 < len(found) <= part.sm_count


def test_a_green_context_can_be_current(device, green) -> None:
    before = device.set_current(green)
    assert before is not None and not before.is_green
    assert current() == int(green.handle) and device.context == green and device.context.is_green
    assert LEGACY_DEFAULT_STREAM.resources.sm.sm_count == green.resources.sm.sm_count
    with pytest.raises(RuntimeError, match="is the current context"):
        green.close()
    with device.create_stream() as stream, device.allocate(64, stream) as buffer:
        assert stream.context == green
        buffer.fill(7, stream=stream)
        assert set(content(buffer, np.uint8, stream)) == {7}
    with device.create_event() as event:
        assert event.context == green
    after = device.set_current(before)
    assert after == green and after.is_green
    device.set_current()
    assert current() == int(before.handle)


def test_what_uses_a_green_context_keeps_it(device, part) -> None:
    before = live()

    def make():
        return device.create_context(ContextOptions([part]))

    make()
    assert live() == before
    context = make()
    other = context.create_stream().context
    context.close()
    context.close()
    assert context.is_closed and context.handle is None and not other.is_closed
    stream = other.create_stream()
    other.close()
    assert live() == before + 1
    buffer = device.allocate(64, stream)
    event = stream.record()
    stream.close()
    assert live() == before + 1
    buffer.fill(3, stream=device.default_stream)
    buffer.close()
    del buffer
    assert event.context.is_green and live() == before + 1
    del event
    assert live() == before
    with pytest.raises(RuntimeError, match="closed"):
        context.resources  # noqa: B018


def test_memory_of_the_default_stream_is_freed_where_it_was_used(device, part) -> None:
    before = live()
    device.set_current(device.create_context(ContextOptions([part])))
    buffer = device.allocate(64)
    device.set_current()
    assert live() == before + 1
    buffer.close()
    del buffer
    assert live() == before


def test_memory_of_a_foreign_stream_keeps_the_context(device, part) -> None:
    """Both ways of allocation: in a stream that was not used before, and in one that was."""
    before = live()
    context = device.create_context(ContextOptions([part]))
    device.set_current(context)
    handle = driver.checked.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)
    device.set_current()
    stream = Stream.from_handle(handle)
    first, second = device.allocate(64, stream), device.allocate(64, stream)
    stream.close()
    context.close()
    first.close()
    assert live() == before + 1
    context = Stream.from_handle(handle).context
    assert context.is_green
    second.close()
    driver.checked.cuStreamDestroy(handle)
    del first, second
    context.close()
    assert live() == before


@pytest.mark.parametrize("what", ["graph", "node"])
def test_graphs_keep_it(device, part, what) -> None:
    """Made in it, or with a node that was added while it was current."""
    before = live()
    context = device.create_context(ContextOptions([part]))
    with device.allocate(64, device.create_stream()) as buffer:
        definition = GraphDefinition() if what == "node" else None
        device.set_current(context)
        definition = definition or GraphDefinition()
        definition.memset(buffer, 5, 64)
        graph = definition.instantiate()
        device.set_current()
        stream = context.create_stream()
        context.close()
        del definition
        graph.launch(stream)
        assert set(content(buffer, np.uint8, stream)) == {5}
        del stream
        assert live() == before + 1
        del graph
    del buffer
    for _ in range(1000):  # the driver's own thread says when nothing uses the graph any more
        device.sync()
        if live() == before:
            return
        time.sleep(0.01)
    pytest.fail("the graph still keeps the context")


def test_other_threads(device, green) -> None:
    found = []

    def work() -> None:
        own = Device(device.device_id)
        own.set_current(green)
        found.append(own.context)
        with own.allocate(64) as buffer:
            buffer.fill(1, stream=own.default_stream)
            own.sync()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [green] and current() != int(green.handle)


def test_workqueues(device, part) -> None:
    needs_structured_splits()
    queue = device.resources.workqueue
    assert queue.device is device and queue.concurrency_limit >= 1
    assert queue.sharing_scope is WorkqueueSharingScopeType.DEVICE_CTX
    queue.configure(WorkqueueResourceOptions(sharing_scope="green_ctx_balanced", concurrency_limit=2))
    assert (queue.sharing_scope, queue.concurrency_limit) == ("green_ctx_balanced", 2)
    queue.configure({})
    assert (queue.sharing_scope, queue.concurrency_limit) == ("green_ctx_balanced", 2)
    kind = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG
    assert driver.CUdevResource(_ptr=queue.handle).type == kind
    with device.create_context(ContextOptions(resources=(part, queue))) as context:
        assert context.resources.workqueue.sharing_scope == "green_ctx_balanced"
    assert device.resources.workqueue.sharing_scope == "device_ctx"
    for options, error, message in (
        ({"sharing_scope": "mine"}, ValueError, "'device_ctx', 'green_ctx_balanced'"),
        ({"concurrency_limit": 0}, ValueError, "concurrency_limit = 0 is outside"),
        ({"concurrency_limit": "2"}, TypeError, "integer"),
        (2, TypeError, "WorkqueueResourceOptions or a dict"),
    ):
        with pytest.raises(error, match=message):
            queue.configure(options)


def test_green_contexts_of_others(device, part) -> None:
    """One that `driver` made is a green one here, too; and its maker's."""
    resource = driver.CUdevResource(_ptr=part.handle)
    description = driver.checked.cuDevResourceGenerateDesc([resource], 1)
    flags = driver.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM
    made = driver.checked.cuGreenCtxCreate(description, device.device_id, flags)
    try:
        driver.checked.cuCtxPushCurrent(driver.checked.cuCtxFromGreenCtx(made))
        try:
            context: Context = Device().context
            assert context.is_green and context.resources.sm.sm_count == part.sm_count
        finally:
            driver.checked.cuCtxPopCurrent()
        context.close()
    finally:
        driver.checked.cuGreenCtxDestroy(made)
