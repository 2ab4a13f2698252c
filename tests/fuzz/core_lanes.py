"""Random programs of core's objects that have lanes, in two copies of the package, of which one has none.

Both make the same streams, events and buffers, record, ask, wait, close and drop them, with arguments some of
which are odd, while contexts change and calls fail; and C calls back in some, and closes or makes objects.
The driver is made of Python (`Driver`). Compared after each step are the result or the exception, what the
driver was told to do, all objects, and how many references to each there are.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import itertools
import os
import random
import re
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tests.stub import vendored

STEPS = 25
DEVICES = 2
INVALID_CONTEXT, NOT_READY, FAILURES = 201, 600, (1, 2, 201, 400, 700, 999)
MADE = {  # the arguments of what makes an object in its first one
    "cuStreamCreateWithPriority": (1, 2),
    "cuEventCreate": (1,),
    "cuMemAllocFromPoolAsync": (1, 2, 3),
}
DONE = {  # the arguments of what changes something
    "cuStreamDestroy_v2": (0,),
    "cuEventDestroy_v2": (0,),
    "cuEventRecord": (0, 1),
    "cuStreamWaitEvent": (0, 1),
    "cuMemFreeAsync": (0, 1),
    "cuMemcpyAsync": (0, 1, 2, 3),
    "cuMemsetD8Async": (0, 2, 3),
}
NARROW = "cuStreamCreateWithPriority", "cuEventCreate"
WAITS = "cuStreamQuery", "cuStreamSynchronize", "cuEventQuery", "cuEventSynchronize"
"""Which of these are called is not compared: a lane leaves out those that have nothing to do."""
Called = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 6)
Plain = ctypes.CFUNCTYPE(ctypes.c_int)  # called with whatever there is


class Driver:
    """The library, as ctypes has it: C functions that call Python.

    done: what was called and changes something. fails: the number of the call that fails next, of those;
    sick: what every wait returns. busy: how often work is not done yet. act: what C does once in a call.
    """

    def __init__(self) -> None:
        self.numbers = itertools.count(0x10000, 0x1000)
        self.contexts = [0]
        self.kept: list[object] = []
        self.done: list[tuple[Any, ...]] = []
        self.reset()

    def reset(self) -> None:
        """Nothing fails."""
        self.fails, self.failure, self.sick, self.busy = 0, 0, 0, 0
        self.act: Callable[[], None] | None = None

    def __getitem__(self, symbol: str) -> Any:
        if symbol.endswith(("_ptsz", "_ptds")) or symbol.startswith("cuLogs"):
            raise AttributeError(symbol)
        special = getattr(self, symbol, None)

        def called(*arguments: int | None) -> int:
            values = [value or 0 for value in arguments]
            if symbol in MADE or symbol in DONE:
                return self._does(symbol, values)
            if symbol in WAITS:
                return self._waits(symbol)
            return int(special(*values) or 0) if special else 0

        function = Called(called)
        self.kept.append(function)
        return Plain(ctypes.cast(function, ctypes.c_void_p).value)

    def _does(self, symbol: str, values: list[int]) -> int:
        mask = 2**32 - 1 if symbol in NARROW else 2**64 - 1
        told = [values[place] & mask for place in (MADE.get(symbol) or DONE[symbol])]
        self.done.append((symbol, *told))
        self._acts()
        self.fails -= 1
        if self.fails == 0:
            self.done.append(("failed", self.failure))
            return self.failure
        if symbol in MADE:
            put(values[0], next(self.numbers))
        return 0

    def _waits(self, symbol: str) -> int:
        self._acts()
        if self.busy and symbol.endswith("Query"):
            self.busy -= 1
            return NOT_READY
        return self.sick

    def _acts(self) -> None:
        act, self.act = self.act, None
        if act is not None:
            act()

    def cuDeviceGetCount(self, count: int, *_: int) -> None:
        put(count, DEVICES, 4)

    def cuDeviceGet(self, device: int, ordinal: int, *_: int) -> int:
        put(device, ordinal & 0xFF, 4)
        return 0 if ordinal & 0xFFFFFFFF < DEVICES else 101

    def cuDeviceGetAttribute(self, value: int, *_: int) -> None:
        put(value, 1, 4)

    def cuDriverGetVersion(self, version: int, *_: int) -> None:
        put(version, 13000, 4)

    def cuDevicePrimaryCtxRetain(self, context: int, device: int, *_: int) -> None:
        put(context, 0xC0 + (device & 0xFF))

    def cuCtxGetCurrent(self, context: int, *_: int) -> None:
        put(context, self.contexts[-1])

    def cuCtxSetCurrent(self, context: int, *_: int) -> None:
        self.contexts[-1] = context

    def cuCtxPushCurrent_v2(self, context: int, *_: int) -> None:
        self.contexts.append(context)

    def cuCtxPopCurrent_v2(self, context: int, *_: int) -> None:
        put(context, self.contexts.pop())

    def cuCtxGetDevice(self, device: int, *_: int) -> int:
        put(device, self.contexts[-1] & 0xF, 4)
        return 0 if self.contexts[-1] else INVALID_CONTEXT

    def cuStreamGetCtx(self, stream: int, context: int, *_: int) -> None:
        put(context, self.contexts[-1] or 0xC0)

    def cuDeviceGetMemPool(self, pool: int, *_: int) -> None:
        put(pool, 0x9001)

    def cuMemPoolGetAttribute(self, pool: int, attribute: int, value: int, *_: int) -> None:
        put(value, 1)


def put(place: int, value: int, size: int = 8) -> None:
    ctypes.memmove(place, value.to_bytes(size, sys.byteorder), size)


# -- a copy of the package -------------------------------------------------------------------------------

FAST_LANE = "CUDAPY_FAST_LANE"
COPIES = {"1": "cudapy_with_lanes", "0": "cudapy_without_lanes"}


def prepare() -> None:
    """Import both copies."""
    before = os.environ.pop(FAST_LANE, None)
    for wanted, name in COPIES.items():
        os.environ[FAST_LANE] = wanted
        vendored(name)
        for module in ("core", "_process.environment"):
            importlib.import_module(f"{name}.{module}")
    del os.environ[FAST_LANE]
    if before is not None:
        os.environ[FAST_LANE] = before
    reason = why_not(COPIES["1"])
    assert not reason, f"no fast lane: {reason}"
    assert why_not(COPIES["0"])


def why_not(name: str) -> str:
    return str(importlib.import_module(f"{name}._ffi.lanes").why_not())


class World:
    """A copy with its driver, and the objects that a program made."""

    def __init__(self, name: str) -> None:
        self.name, self.driver = name, Driver()
        self.core: ModuleType = importlib.import_module(f"{name}.core")
        self.of("driver").libcuda.load = lambda: self.driver
        self.begin()
        for chance in map(random.Random, range(60)):  # a first call has no lane
            self.outcome(chance.choice(STEP), chance)
        self.end()

    def of(self, module: str) -> Any:
        return importlib.import_module(f"{self.name}.{module}")

    def begin(self) -> None:
        """Objects to begin with."""
        self.driver.reset()
        self.driver.contexts = [0]
        device = self.core.Device(0)
        device.set_current()
        self.devices = [device]
        self.streams = [device.create_stream()]
        self.events = [device.create_event()]
        self.buffers = [device.allocate(64, stream=self.streams[0])]

    def end(self) -> None:
        """Drop all. Events that nobody has any more are used again, in the order in which they were left."""
        self.of("_core.streams.event")._spare.clear()
        self.driver.reset()
        self.driver.contexts = [0xC0]
        self.devices, self.streams, self.events, self.buffers = [], [], [], []
        gc.collect()

    @property
    def objects(self) -> list[Any]:
        return [*self.devices, *self.streams, *self.events, *self.buffers]

    def outcome(self, step: Callable[[World, random.Random], Any], chance: random.Random) -> Any:
        """What comes of a step: types and texts, without the name of the copy."""
        try:
            result = step(self, chance)
        except Exception as error:
            return type(error).__name__, self.plain(str(error))
        return type(result).__name__, self.plain(repr(result))

    def plain(self, text: str) -> str:
        return re.sub(r" at 0x[0-9a-f]{8,}", "", text.replace(self.name, "cudapy"))

    @property
    def state(self) -> Any:
        """All objects, and the current context."""
        shown = [(self.plain(repr(each)), getattr(each, "is_closed", None)) for each in self.objects]
        return shown, self.driver.contexts

    @property
    def done(self) -> Any:
        """What the driver was told to do: all but what gives back in order, that in any."""
        gone = "Destroy", "Free"
        ordered = [each for each in self.driver.done if not any(word in each[0] for word in gone)]
        return ordered, sorted(self.driver.done)

    @property
    def references(self) -> list[int]:
        """How many there are to each object."""
        return [sys.getrefcount(each) for each in self.streams + self.events + self.buffers]


# -- steps -----------------------------------------------------------------------------------------------


def odd(world: World, chance: random.Random) -> Any:
    """An argument that is none, or one of another kind."""
    number = chance.choice((0, 1, 5, -1, 2**31, 2**63, 2**64, 2**90))
    choices: list[Any] = [number, number, None, True, 0.5, "cuda:1", "0", b"", [], (), object, {}]
    choices += [type("Plain", (int,), {})(1), *world.objects]
    driver = world.of("driver")
    choices += [driver.CUstream(5), driver.CUevent(6), world.core.EventOptions(), world.core.StreamOptions()]
    return chance.choice(choices)


def some(world: World, chance: random.Random, usual: list[Any]) -> Any:
    """One of these objects, or something else now and then."""
    return odd(world, chance) if not usual or chance.random() < 0.05 else chance.choice(usual)


def current(world: World, chance: random.Random) -> Any:
    return called(world, chance, ())


def device(world: World, chance: random.Random) -> Any:
    ordinal = chance.choice((0, 0, 1, odd(world, chance)))
    return called(world, chance, (ordinal, 0) if chance.random() < 0.03 else (ordinal,))


def called(world: World, chance: random.Random, arguments: tuple[Any, ...]) -> Any:
    """A Device, called in one of the ways in which Python calls a class."""
    cls, how = world.core.Device, chance.random()
    if how < 0.1:
        cls = type("Device", (cls,), {})
    elif how < 0.2:
        cls.note = how  # another version of the class
        del cls.note
    if how > 0.9 or len(arguments) > 1:
        found = cls(*arguments)
    elif not arguments:
        found = cls()
    elif how > 0.85:
        found = cls(device_id=arguments[0])
    elif how > 0.8:
        (found,) = map(cls, arguments)
    else:
        found = cls(arguments[0])
    world.devices = [*world.devices[:3], found]
    return found


def set_current(world: World, chance: random.Random) -> Any:
    more = (odd(world, chance),) if chance.random() < 0.05 else ()
    return some(world, chance, world.devices).set_current(*more)


def create_stream(world: World, chance: random.Random) -> Any:
    options = (world.core.StreamOptions(priority=0),) if chance.random() < 0.1 else ()
    made = some(world, chance, world.devices).create_stream(*options)
    world.streams.append(made)
    return made


def create_event(world: World, chance: random.Random) -> Any:
    which = chance.random()
    if which < 0.1:
        made = type("Event", (world.core.Event,), {})()
    elif which < 0.3:
        options = world.core.EventOptions(timing_enabled=chance.random() < 0.5)
        made = some(world, chance, world.devices).create_event(options)
    else:
        made = some(world, chance, world.devices).create_event()
    world.events.append(made)
    return made


def record(world: World, chance: random.Random) -> Any:
    stream, event = some(world, chance, world.streams), some(world, chance, world.events)
    which = chance.random()
    if which < 0.7:
        return stream.record(event)
    if which < 0.75:
        return stream.record(event=event)
    made = stream.record()
    world.events.append(made)
    return made


def ask(world: World, chance: random.Random) -> Any:
    return some(world, chance, world.events).is_done


def sync(world: World, chance: random.Random) -> Any:
    return some(world, chance, world.streams + world.events).sync()


def wait(world: World, chance: random.Random) -> Any:
    return some(world, chance, world.streams).wait(some(world, chance, world.events))


def allocate(world: World, chance: random.Random) -> Any:
    size = chance.choice((64, 64, 4096, 0, 1, 2**20, odd(world, chance)))
    made = some(world, chance, world.devices).allocate(size, stream=some(world, chance, world.streams))
    world.buffers.append(made)
    return made


def asked(world: World, chance: random.Random) -> Any:
    one = some(world, chance, world.streams + world.events + world.buffers)
    return one.handle


def copied(world: World, chance: random.Random) -> Any:
    target, origin = some(world, chance, world.buffers), some(world, chance, world.buffers)
    stream = some(world, chance, world.streams)
    which = chance.randrange(3)
    if which == 0:
        return target.fill(chance.choice((0, 255, odd(world, chance))), stream=stream)
    return origin.copy_to(target, stream=stream) if which == 1 else target.copy_from(origin, stream=stream)


def close(world: World, chance: random.Random) -> Any:
    more = (some(world, chance, world.streams),) if chance.random() < 0.1 else ()
    return some(world, chance, world.streams + world.events + world.buffers).close(*more)


def drop(world: World, chance: random.Random) -> Any:
    kept = chance.choice((world.streams, world.events, world.buffers))
    if len(kept) > 1:
        del kept[chance.randrange(len(kept))]
    return None


def other_context(world: World, chance: random.Random) -> Any:
    world.driver.contexts[-1] = chance.choice((0, 0xC0, 0xC0, 0xC1, 0x70))
    return None


STEP = (
    *(current, device, set_current, create_stream, create_event) * 2,
    *(record, ask, sync, allocate, close, drop) * 4,
    *(wait, asked, copied, other_context),
)


class Fuzzer:
    at_once = 100
    is_spent = False

    def __init__(self) -> None:
        warnings.simplefilter("ignore")
        self._worlds = [World(name) for name in COPIES.values()]
        gc.collect()
        gc.freeze()
        gc.disable()  # it would have one copy give back what belongs to a step of the other

    def item(self, number: int) -> str:
        try:
            return self._run(number, careful=False)
        except AssertionError:  # perhaps what one copy has yet to collect, or to give back
            self._begin_anew()
        try:
            return self._run(number, careful=True)
        except AssertionError:
            self._begin_anew()
            raise

    def _begin_anew(self) -> None:
        """Have both copies go on alike."""
        for world in self._worlds:
            world.end()
        first = max(next(world.driver.numbers) for world in self._worlds)
        for world in self._worlds:
            world.driver.numbers = itertools.count(first, 0x1000)

    def _run(self, number: int, careful: bool) -> str:
        """What comes of a program. careful: whether all is collected and given back after each step."""
        chance = random.Random(number)
        failed = 0
        said: list[str] = []
        for world in self._worlds:
            world.driver.done.clear()
            world.begin()
        for _ in range(STEPS):
            step, settings, seed = chance.choice(STEP), chance.getrandbits(60), chance.getrandbits(60)
            found = [self._step(world, step, settings, seed, careful) for world in self._worlds]
            said.append(f"{step.__name__}: {found[0][0]}")
            failed += found[0][0][0].endswith("Error")
            if closed_meanwhile(*found):
                found[1] = found[0]
            self._compare("results, those of C's calls back, objects and contexts", found, said)
            for what in ("done", "references"):
                if len({str(getattr(world, what)) for world in self._worlds}) > 1:
                    gc.collect()  # exceptions keep some objects
                self._compare(what, [getattr(world, what) for world in self._worlds], said)
        for world in self._worlds:
            world.end()
        self._compare("done at the end", [world.done for world in self._worlds], said)
        return "with failures" if failed else "without a failure"

    def _compare(self, what: str, found: list[Any], said: list[str]) -> None:
        history = "\n  ".join(said)
        assert found[0] == found[1], f"{what}: with lanes {found[0]}\nwithout {found[1]}\n  {history}"

    def _step(self, world: World, step: Callable[..., Any], settings: int, seed: int, careful: bool) -> Any:
        """What comes of a step in one copy, what came of the one in it, and the state after it."""
        driver, chance = world.driver, random.Random(settings)
        driver.reset()
        if chance.random() < 0.2:
            driver.fails, driver.failure = chance.choice((1, 1, 2)), chance.choice(FAILURES)
        if chance.random() < 0.1:
            driver.sick = chance.choice(FAILURES)
        driver.busy = chance.choice((0, 0, 0, 1, 3))
        inside: list[Any] = []
        if chance.random() < 0.2:
            during, more = chance.choice(STEP), random.Random(chance.getrandbits(60))
            driver.act = lambda: inside.append(world.outcome(during, more))
        result = world.outcome(step, random.Random(seed))
        driver.reset()  # what is collected after the step does not fail
        if careful:
            gc.collect()
            world.of("_core.ownership.deferred").deferred.drain()
        return result, inside, world.state


def closed_meanwhile(found: Any, expected: Any) -> bool:
    """Whether an object was closed during a call that failed: a lane asks it for its handle after that."""
    (_, text), inside, state = found
    (kind, other), _, after = expected
    is_same = text.partition("Called with")[0] == other.partition("Called with")[0]
    is_told = is_same or text.endswith(" is closed")
    return bool(inside) and kind.startswith("CUDA") and is_told and state == after
