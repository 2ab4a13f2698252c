"""What compute-sanitizer watches: everything made, used, checked and closed; at the end there is nothing.

python -m tests.gpu_tier.scenarios
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from cudapy import driver, simulator
from cudapy.core import (
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    GraphMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    StreamOptions,
    VirtualMemoryResource,
    graph,
    launch,
    prepare,
)
from cudapy.pathfinder import LibraryNotFound

from . import things
from .bench import SOURCE, Bench, content
from .torture import torture  # type: ignore[attr-defined]

COUNT = 1024


def copies_and_fills(bench: Bench) -> None:
    """Every memory resource, in both directions, and from one to the next."""
    device, stream = bench.device, bench.stream
    pattern = np.arange(COUNT, dtype=np.int32)
    resources: list[Any] = [
        device.memory_resource,
        DeviceMemoryResource(device, DeviceMemoryResourceOptions()),
        PinnedMemoryResource(),
        LegacyPinnedMemoryResource(),
        VirtualMemoryResource(device),
        ManagedMemoryResource(),
    ]
    before = device.allocate(4 * COUNT, stream)
    before.copy_from(pattern, stream=stream)
    for resource in resources:
        buffer = resource.allocate(4 * COUNT, stream=stream)
        buffer.fill(0, stream=stream)
        buffer.copy_from(before, stream=stream)
        before.close()
        before = buffer
    assert (content(before, stream) == pattern).all()
    before.close()


def launches(bench: Bench) -> None:
    """Kernels with every form of launch."""
    stream, config = bench.stream, LaunchConfig(grid=COUNT // 32, block=32)
    with bench.words(COUNT) as words:
        launch(stream, config, bench.kernel("add"), words, 1)
        prepare(stream, config, bench.kernel("add"), words, 2)(words, 2)
        assert (content(words, stream) == 3).all()


def streams_and_events(bench: Bench) -> None:
    """Streams that wait for each other, events with times."""
    device = bench.device
    with device.create_stream(options=StreamOptions(nonblocking=False)) as other, bench.words(COUNT) as words:
        other.wait(bench.stream)
        launch(other, LaunchConfig(grid=COUNT // 32, block=32), bench.kernel("add"), words, 5)
        start = other.record(options={"timing_enabled": True})
        end = other.record(options={"timing_enabled": True})
        end.sync()
        assert end - start >= 0
        start.close(), end.close()
        bench.stream.wait(other)
        assert (content(words, bench.stream) == 5).all()


def graphs(bench: Bench) -> None:
    """Captured and explicit ones, with memory of their own, launched, updated, and dropped."""
    stream, config = bench.stream, LaunchConfig(grid=COUNT // 32, block=32)
    with bench.words(COUNT) as words:
        builder = stream.create_graph_builder().begin_building()
        with GraphMemoryResource(bench.device).allocate(4 * COUNT, stream=builder) as inner:
            inner.fill(0, stream=builder)
            launch(builder, config, bench.kernel("add"), inner, 7)
            words.copy_from(inner, stream=builder)
        executable = builder.end_building().complete()
        executable.launch(stream)
        assert (content(words, stream) == 7).all()
        definition = graph.GraphDefinition()
        definition.memset(words, 0, 4 * COUNT).launch(config, bench.kernel("add"), words, 9)
        made = definition.instantiate()
        made.launch(stream)
        assert (content(words, stream) == 9).all()
        builder.close()
    GraphMemoryResource(bench.device).trim()


def modules(bench: Bench) -> None:
    """Compiled, linked where there is nvJitLink, loaded, launched, unloaded."""
    arch = f"sm_{bench.device.arch}"
    codes = [Program(SOURCE, "c++").compile(kind) for kind in ("cubin", "ptx")]
    codes.append(ObjectCode.from_cubin(codes[0].code))
    try:
        options = ProgramOptions(arch=arch, relocatable_device_code=True)
        linked = Linker(
            Program(SOURCE, "c++", options).compile("ptx"), options=LinkerOptions(arch=arch)
        ).link("cubin")
    except LibraryNotFound as error:
        print(f"not linked: {str(error).splitlines()[0]}")
    else:
        codes += [] if simulator.is_enabled() else [linked]  # which runs PTX alone
    for code in codes:
        launch(bench.stream, LaunchConfig(grid=1, block=1), code.get_kernel("nothing"))
        bench.stream.sync()


def one_of_everything(bench: Bench) -> None:
    """What the cycles make, a few times."""
    for find in (things.of_core, things.of_driver, things.of_runtime):
        for thing in find(bench):
            if not thing.missing:
                for _ in range(2):
                    thing.once()
    bench.stream.sync()


def garbage(bench: Bench) -> None:
    """The torture, with captures too, from four threads."""
    for captures in (False, True):
        torture(bench.device, 1, captures)


SCENARIOS: tuple[Callable[[Bench], None], ...] = (
    copies_and_fills,
    launches,
    streams_and_events,
    graphs,
    modules,
    one_of_everything,
    garbage,
)


def main() -> None:
    bench = Bench()
    for scenario in SCENARIOS:
        scenario(bench)
        gc.collect()
        bench.device.sync()
        print(f"{scenario.__name__} done", flush=True)
    bench.stream.close()
    del bench
    gc.collect()
    driver.checked.cuCtxSynchronize()
    print(f"{len(SCENARIOS)} scenarios done", flush=True)


if __name__ == "__main__":
    sys.exit(main())
