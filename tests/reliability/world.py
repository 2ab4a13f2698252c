"""A copy of the package on a simulator of its own, and what its driver has: no other test shares either."""

from __future__ import annotations

import gc
import importlib
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.stub import vendored

from .compilers import Compiler

NAME = "cudapy_reliable"
PATIENCE = 60
PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.visible .entry add(.param .u64 x, .param .u32 value)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r3, [%rd4];
    add.s32 %r4, %r3, %r1;
    st.global.u32 [%rd4], %r4;
    ret;
}
.visible .entry nothing()
{
    ret;
}
.visible .entry sample(.param .u64 texture)
{
    ret;
}
.visible .entry load(.param .align 64 .b8 map[128])
{
    ret;
}
"""
Alive = Counter[str]


@contextmanager
def of_its_own() -> Iterator[None]:
    """What starts here is no copy's that shares the simulator of this process."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_cudapy_simulator", "_cudapy_resets"):
            patch.delitem(vars(sys), name, raising=False)
        yield
        for name in ("_cudapy_simulator", "_cudapy_resets"):
            vars(sys).pop(name)


class World:
    """The copy, with two simulated devices, the first of them current in this thread.

    Scenarios find here what they need: device, code, and its kernels.
    """

    def __init__(self) -> None:
        vendored(NAME)
        self.simulator = self.module("simulator")
        with of_its_own():
            self.simulator.enable(devices=2, reports=False)
            self.module("core")
        self.driver: Any = self.module("driver")
        self.core: Any = self.module("core")
        self.graph, self.texture, self.utils = self.core.graph, self.core.texture, self.core.utils
        self.owned = self.module("_core.ownership.owned")
        self.module("_core.streams.waiting")._main_thread = 0  # to wait is one call, not as many as it takes
        sweeper: Any = self.module("_core.ownership.sweeper").Sweeper
        sweeper._run = lambda _: None  # what graphs held is dropped in this thread, whose calls are counted
        self.compilers: Alive = Counter()
        for name in ("nvrtc", "nvjitlink", "nvvm"):
            self._watch(getattr(self.module(name), f"lib{name}"))
        self.one = self.core.LaunchConfig(grid=1, block=32)
        self.begin()

    def begin(self) -> None:
        """Make what scenarios need, on devices that have nothing."""
        self.device = self.core.Device(0)
        self.device.set_current()
        self.code = self.core.ObjectCode.from_ptx(PTX)
        self.add, self.nothing, self.sample, self.load = map(
            self.code.get_kernel, ("add", "nothing", "sample", "load")
        )

    def module(self, name: str) -> Any:
        """A module of the copy."""
        return importlib.import_module(f"{NAME}.{name}")

    def _watch(self, library: Any) -> None:
        """Let calls of a compiler fail as those of the driver do."""
        load = library.load
        refused = self.module("simulator.refused")
        check, refusal = refused.check, refused.Refused
        library.load = lambda: Compiler(load(), self.compilers, check, refusal)

    @contextmanager
    def without_nvjitlink(self) -> Iterator[None]:
        """The driver links."""
        linker = self.module("_core.compile.linker")
        before, linker._nvjitlink_is_missing = linker._nvjitlink_is_missing, lambda: "it is not wanted"
        try:
            yield
        finally:
            linker._nvjitlink_is_missing = before

    def stack(self) -> list[int]:
        """The contexts of this thread, the current one last."""
        return [context.handle for context in self.module("simulator.devices.context")._stack.contexts]

    def restore(self, stack: list[int]) -> None:
        """Have these contexts again."""
        while self.stack():
            self.driver.checked.cuCtxPopCurrent()
        for context in stack:
            self.driver.checked.cuCtxPushCurrent(context)

    def every(self, name: str) -> list[Any]:
        """All that the driver has of a kind."""
        module, _, cls = name.rpartition(".")
        found: list[Any] = self.module("simulator.handles").every(
            getattr(self.module(f"simulator.{module}"), cls)
        )
        return found

    def end_captures(self) -> None:
        """End those whose end was refused."""
        for stream in self.every("streams.stream.Stream"):
            if stream.capture is not None:
                status, graph = self.driver.cuStreamEndCapture(stream.handle)
                if not status:
                    self.driver.cuGraphDestroy(graph)

    def settle(self) -> None:
        """Let all work end, and everything go that nobody refers to."""
        gc.collect()
        for context in self.every("devices.context.Context"):
            context.synchronize()
        if self.compilers:
            self.module("_core.compile.linker_thread").call(gc.isenabled)  # what is before it in line is done
        self.owned.deferred.drain()
        self.owned.deferred.retry()

    def alive(self) -> Alive:
        """What the driver has, without the events that nobody has and that will be recorded again."""
        found = Alive(self.simulator.alive()) + self.compilers
        found["event"] -= sum(map(len, self.module("_core.streams.event")._spare.values()))
        return +found

    def leak(self, before: Alive) -> Alive:
        """What there is more than `before`, once all is settled."""
        end = time.monotonic() + PATIENCE
        self.settle()
        while (more := self.alive() - before) and time.monotonic() < end:
            time.sleep(0.001)  # the driver lets go of what graphs kept in threads of its own
            self.settle()
        return more


@contextmanager
def world() -> Iterator[World]:
    """The copy, until it is forgotten."""
    made = World()
    gc.collect()
    gc.freeze()
    try:
        yield made
    finally:
        gc.unfreeze()
        made.owned.process.alive = False  # what is left is given back to nobody
        for module in [module for module in sys.modules if module.split(".")[0] == NAME]:
            del sys.modules[module]
        del made
        gc.collect()
        gc.freeze()
