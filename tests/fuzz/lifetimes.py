"""Random programs of what comes and goes while work runs: streams, events, pools, graphs, contexts, threads.

Each is compared with a model in which everything runs in order. For that it uses a buffer in a stream only if
what the buffer was used for before is known to come first: by streams, events, waits and the default stream,
which the model follows with a clock for each stream. Device memory is read at its address, by no call, which
would wait. Some programs end with a fault: then no call waits, and each that would wait returns its status.
Arrays that the program allocates meanwhile lie where memory was given back, and nothing may write to them.
Another context goes on meanwhile, with a thread and streams of its own.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import random
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from cudapy import driver, runtime, simulator
from cudapy._bindings.errors import CUDAError
from cudapy.driver import CUmemAllocationHandleType, CUmemAllocationType, CUmemLocationType, checked

WORDS = 16
LIMIT = 5.0
"""Seconds for a call."""
FAULTS = {"put": "CUDA_ERROR_ILLEGAL_ADDRESS", "trap": "CUDA_ERROR_LAUNCH_FAILED"}
DONE = "CUDA_SUCCESS"
GONE = ("CUDA_ERROR_CONTEXT_IS_DESTROYED", "CUDA_ERROR_INVALID_CONTEXT", "CUDA_ERROR_INVALID_HANDLE")
"""What a thread may see of a context that another one ends."""
PER_THREAD = 2
GUARD = 0xA5A5A5A5
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 value, .param .u32 times)
{
    .reg .b32 %r<5>; .reg .b64 %rd<2>; .reg .pred %q;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [value];
    ld.param.u32 %r2, [times];
L:  ld.volatile.global.u32 %r3, [%rd1];
    add.u32 %r3, %r3, %r1;
    st.volatile.global.u32 [%rd1], %r3;
    sub.u32 %r2, %r2, 1;
    setp.ne.u32 %q, %r2, 0;
    @%q bra L;
    ret;
}
.visible .entry spin(.param .u64 p, .param .u32 value, .param .u32 times)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %q;
    ld.param.u64 %rd1, [p];
L:  ld.volatile.global.u32 %r1, [%rd1];
    bra L;
}
.visible .entry put(.param .u64 p, .param .u32 value, .param .u32 times)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry trap(.param .u64 p, .param .u32 value, .param .u32 times) { trap; }
\0"""
TYPES = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)


def _launch(kernel: Any, stream: Any, address: int, value: int, times: int) -> Any:
    values = (address, value, times), TYPES
    return driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, values, 0)


def _shown(value: Any) -> str:
    """An argument, in a line of the log."""
    if hasattr(value, "getPtr") and hasattr(value, "__int__"):
        return f"{int(value):#x}"
    return repr(value).partition("\n")[0][:40]


class _Stream:
    """clock: what is done before the next work here runs, as how much of each stream's."""

    def __init__(self, number: int, handle: Any, is_blocking: bool) -> None:
        self.number, self.handle, self.is_blocking = number, handle, is_blocking
        self.count = 0
        self.clock: Counter[int] = Counter()


class _Buffer:
    """stream, count: the work that used it last; free: how it is given back."""

    def __init__(self, address: int, kind: str, array: Any = None) -> None:
        self.address, self.kind, self.array = address, kind, array
        self.words: Any = None  # before the first write nothing is known of them
        self.is_ordered = kind in ("pool", "graph")  # it may be given back in the order of a stream
        self.stream = self.count = 0

    def read(self) -> Any:
        return np.array((ctypes.c_uint32 * WORDS).from_address(self.address))


class _Bystander:
    """A thread with a context of its own, which nothing of the other one concerns."""

    def __init__(self) -> None:
        self.wrong = ""
        self._is_over, self._is_ready = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._is_ready.wait(LIMIT)

    def _run(self) -> None:
        try:
            context = checked.cuCtxCreate(0, 0)
            add = checked.cuModuleGetFunction(checked.cuModuleLoadData(PTX), b"add")
            word = int(checked.cuMemAlloc(4))  # once: it would else lie where the other's memory was
            checked.cuMemsetD32(word, 0, 1)
            self._is_ready.set()
            count = 0
            while not self._is_over.wait(0.002):
                stream = checked.cuStreamCreate(count % 2)
                for _ in range(3):
                    assert _launch(add, stream, word, 1, 10)[0].name == DONE
                checked.cuStreamDestroy(stream)
                checked.cuCtxSynchronize()
                count += 30
                found = ctypes.c_uint32.from_address(word).value
                assert found == count, f"{found} of {count}"
            checked.cuCtxDestroy(context)
        except Exception:
            self.wrong = traceback.format_exc(limit=-2)
            self._is_ready.set()

    def end(self) -> str:
        """What was wrong with it."""
        self._is_over.set()
        self._thread.join(LIMIT)
        return "it waits for ever" if self._thread.is_alive() else self.wrong


class _Program:
    """One program, and its model."""

    def __init__(self, number: int) -> None:
        self.chance = random.Random(number)
        self.is_primary = self.chance.random() < 0.6
        self.log: list[str] = []
        self.guards: list[Any] = []
        self.stale: list[int] = []
        self.keep: list[Any] = []  # what C calls
        self.threads: list[threading.Thread] = []
        self.wrong: list[str] = []
        self.pools = [checked.cuDeviceGetDefaultMemPool(0)]
        self.left: list[_Buffer] = []  # memory of pools, which contexts leave behind
        self.bystander = _Bystander() if self.chance.random() < 0.3 else None
        self.begin()

    def begin(self) -> None:
        """A context with nothing in it."""
        self.context = checked.cuDevicePrimaryCtxRetain(0) if self.is_primary else checked.cuCtxCreate(0, 0)
        checked.cuCtxSetCurrent(self.context)
        module = checked.cuModuleLoadData(PTX)
        self.kernels = {
            name: checked.cuModuleGetFunction(module, name.encode()) for name in ("add", "spin", *FAULTS)
        }
        self.legacy, own = _Stream(0, None, True), _Stream(1, driver.CUstream(PER_THREAD), True)
        self.streams = [self.legacy, own]
        self.every = self.streams[:]  # those that were destroyed, too
        self.events: list[tuple[Any, Counter[int]]] = []
        self.buffers: list[_Buffer] = []
        self.host: Counter[int] = Counter()  # what the program knows to be done
        self.called: list[int] = []
        self.statuses: set[int] = set()  # that callbacks got
        self.expected_calls: list[tuple[int, int, int]] = []
        self.lent: list[tuple[_Buffer, int, int, list[str]]] = []  # buffers that threads use
        self.faults: set[str] = set()  # which may have come
        self.shows = False  # one has come, and the program knows
        self.hold = threading.Event()  # what host functions wait for beyond a fault
        for buffer in self.left:
            self.left_behind(buffer)
        self.left = []

    def left_behind(self, buffer: _Buffer) -> None:
        """Memory of a pool that an earlier context left is still the program's."""
        if buffer.words is not None and self.chance.random() < 0.5:
            buffer.stream = buffer.count = 0
            self.buffers.append(buffer)
        else:
            self.call(driver.cuMemFreeAsync, buffer.address, None)
            self.stale.append(buffer.address)

    # Calls.

    def call(self, function: Callable[..., Any], *arguments: Any, fails: bool = False) -> Any:
        """Call, and compare the status: after a fault the one that there is, of what `fails` in any case."""
        name = function.__name__
        self.log.append(f"{name}({', '.join(map(_shown, arguments))})")
        begin = time.monotonic()
        status, *values = function(*arguments)
        took = time.monotonic() - begin
        found = driver.CUresult(int(status)).name
        allowed = self.faults if self.shows and fails else {*self.faults, DONE}
        assert found in allowed, self.told(f"{name} returned {found}, not {sorted(allowed)}")
        assert took < LIMIT, self.told(f"{name} took {took:.1f} s")
        self.log[-1] += f" -> {found}"
        if found != DONE:
            self.faults, self.shows = {found}, True
        return values[0] if len(values) == 1 and found == DONE else None

    def told(self, text: str) -> str:
        try:
            checked.cuCtxGetCacheConfig()
        except CUDAError as error:
            text += f"\n{error}"
        return "\n".join([text, *self.log[-40:]])

    def arrays(self) -> None:
        """Arrays of the program, perhaps where memory was given back."""
        for size in (64, 512, 1088, 1536, 4096 + 1024):
            self.guards.append(np.full(size // 4, GUARD, np.uint32))

    # The model.

    def uses(self, stream: _Stream, *buffers: _Buffer) -> None:
        """The next work of a stream uses these, whose last use it knows to be over."""
        stream.clock = self.before(stream)
        stream.count += 1
        stream.clock[stream.number] = stream.count
        for buffer in buffers:
            buffer.stream, buffer.count = stream.number, stream.count

    def before(self, stream: _Stream) -> Counter[int]:
        """What comes before the next work of a stream."""
        clock = stream.clock | self.host
        if stream is self.legacy:
            for other in self.every:
                if other.is_blocking:
                    clock |= other.clock
        elif stream.is_blocking:
            clock |= self.legacy.clock
        return clock

    def may_use(self, stream: _Stream, buffer: _Buffer) -> bool:
        """Make a stream know the last use of a buffer, if that can be."""
        if self.before(stream)[buffer.stream] >= buffer.count:
            return True
        last = next((one for one in self.streams if one.number == buffer.stream), None)
        if last is None:
            self.wait_for_context()
        else:
            record = self.recorded(last)
            if record is not None:
                self.call(driver.cuStreamWaitEvent, stream.handle, record[0], 0)
                stream.clock = self.before(stream) | record[1]
        return not self.faults

    def check(self) -> None:
        """What the program knows to be done has been done."""
        for buffer in self.buffers:
            if self.host[buffer.stream] >= buffer.count and buffer.words is not None:
                found = buffer.read()
                assert np.array_equal(found, buffer.words), self.told(
                    f"the {buffer.kind} memory at {buffer.address:#x} has {found} and not {buffer.words}"
                )
        for stream, count, number in self.expected_calls:
            if self.host[stream] >= count:
                assert number in self.called, self.told(f"host function {number} was not called")
        assert not self.wrong, self.told(self.wrong[0])

    def knows(self, clock: Counter[int]) -> None:
        """A wait has ended."""
        if not self.faults:
            self.host |= clock
            self.check()

    def knows_all(self) -> None:
        """A wait for the context has ended."""
        for stream in self.every:
            self.knows(stream.clock)

    # Steps.

    def a_stream(self) -> _Stream:
        return self.chance.choice(self.streams)

    def a_buffer(self) -> _Buffer | None:
        return self.chance.choice(self.buffers) if self.buffers else None

    def create(self) -> None:
        flags = self.chance.choice((0, 1))
        handle = self.call(driver.cuStreamCreateWithPriority, flags, self.chance.choice((0, -3)), fails=True)
        if handle is not None:
            self.created(_Stream(len(self.every), handle, not flags))

    def created(self, stream: _Stream) -> None:
        self.streams.append(stream)
        self.every.append(stream)

    def destroy(self) -> None:
        stream = self.a_stream()
        if stream.number >= PER_THREAD:
            self.streams.remove(stream)
            self.call(driver.cuStreamDestroy, stream.handle)

    def record(self) -> None:
        self.recorded(self.a_stream())

    def recorded(self, stream: _Stream) -> tuple[Any, Counter[int]] | None:
        event = self.call(driver.cuEventCreate, 0)
        if event is None:
            return None
        self.call(driver.cuEventRecord, event, stream.handle, fails=True)
        self.uses(stream)
        self.events.append((event, Counter(stream.clock)))
        return self.events[-1]

    def wait_for_event(self) -> None:
        if not self.events:
            return
        event, clock = self.chance.choice(self.events)
        if self.chance.random() < 0.7:
            self.call(driver.cuEventSynchronize, event, fails=True)
        elif not self.faults:
            self.until_ready(driver.cuEventQuery, event)
        self.knows(clock)
        if self.chance.random() < 0.5:
            self.events.remove((event, clock))
            self.call(driver.cuEventDestroy, event)

    def until_ready(self, query: Callable[[Any], Any], handle: Any) -> None:
        until = time.monotonic() + LIMIT
        while query(handle)[0].name == "CUDA_ERROR_NOT_READY":
            assert time.monotonic() < until, self.told(f"{query.__name__}: never ready")
        self.call(query, handle)

    def wait_for_stream(self) -> None:
        stream = self.a_stream()
        if stream is self.legacy:  # which waits for what its next work would
            self.uses(stream)
        if self.chance.random() < 0.5:
            self.call(driver.cuStreamSynchronize, stream.handle, fails=True)
        elif not self.faults:
            self.until_ready(driver.cuStreamQuery, stream.handle)
        self.knows(stream.clock)

    def wait_for_context(self) -> None:
        way = self.chance.randrange(6)
        if way == 0:
            self.call(driver.cuCtxSynchronize, fails=True)
        elif way == 1:
            address = self.call(driver.cuMemAlloc, 64, fails=True)
            if address is not None:
                self.call(driver.cuMemFree, address, fails=True)
                self.stale.append(int(address))
        elif way == 2:
            event = self.call(driver.cuEventCreate, 0, fails=True)
            if event is not None:
                self.call(driver.cuCtxRecordEvent, self.context, event)
                self.call(driver.cuEventSynchronize, event, fails=True)
        elif way == 3:
            module = self.call(driver.cuModuleLoadData, PTX, fails=True)
            if module is not None:
                self.call(driver.cuModuleUnload, module)
        elif way == 4:
            self.call(runtime.cudaDeviceSynchronize, fails=True)
        else:
            address = self.call(driver.cuMemHostAlloc, 64, 0, fails=True)
            if address is not None:
                self.call(driver.cuMemFreeHost, address, fails=True)
        self.knows_all()

    def in_a_thread(self) -> None:
        """Another thread waits, destroys a stream or launches kernels, while this one goes on."""
        way, stream = self.chance.randrange(4), self.a_stream()
        statuses: list[str] = []
        work: list[Callable[[], Any]] = [driver.cuCtxSynchronize]
        if way == 0:
            work = [functools.partial(driver.cuStreamSynchronize, None)]
        elif way == 1 and stream.number >= PER_THREAD:
            self.streams.remove(stream)
            work = [functools.partial(driver.cuStreamDestroy, stream.handle)]
        elif way == 2 and (buffer := self.a_buffer()) is not None and not self.faults:
            if not self.may_use(self.legacy, buffer):
                return
            self.buffers.remove(buffer)
            count, value = self.chance.randint(1, 5), self.chance.getrandbits(32)
            self.lent.append((buffer, value, count, statuses))
            work = [functools.partial(_launch, self.kernels["add"], None, buffer.address, value, 1)] * count
        context, allowed = self.context, {DONE, *FAULTS.values(), *GONE}

        def run() -> None:
            driver.cuCtxSetCurrent(context)
            statuses.extend(one()[0].name for one in work)
            self.wrong += [f"a call in a thread returned {one}" for one in {*statuses} - allowed]

        self.log.append(f"in a thread: {work[0]!r:.60}")
        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()

    def join(self, is_over: bool = False) -> None:
        """Wait for the threads. What they launched when the context was over may or may not run."""
        while self.threads:
            thread = self.threads.pop()
            thread.join(LIMIT)
            assert not thread.is_alive(), self.told("a thread waits for ever")
        for buffer, value, count, statuses in self.lent:
            if statuses == [DONE] * count and not is_over:
                self.legacy.count += 1  # it may have run earlier: what is before it is not known
                self.legacy.clock[0] = self.legacy.count
                buffer.stream, buffer.count = 0, self.legacy.count
                self.adds(buffer, 0, value, count)
                self.buffers.append(buffer)
        self.lent = []

    def allocate(self) -> None:
        kind = self.chance.choice(("plain", "pool", "pool", "graph", "registered", "page-locked", "managed"))
        size = 4 * WORDS
        stream, address, array = self.a_stream(), None, None
        if kind == "plain":
            address = self.call(driver.cuMemAlloc, size, fails=True)
        elif kind == "managed":
            address = self.call(driver.cuMemAllocManaged, size, 1, fails=True)
        elif kind == "page-locked":
            address = self.call(driver.cuMemHostAlloc, size, 1, fails=True)
        elif kind == "registered":
            array = np.zeros(1024, np.uint32)
            self.call(driver.cuMemHostRegister, array.ctypes.data, array.nbytes, 0, fails=True)
            address = array.ctypes.data
        elif kind == "graph":
            address = self.of_a_graph(stream)
        else:
            pool = self.chance.choice(self.pools)
            address = self.call(driver.cuMemAllocFromPoolAsync, size, pool, stream.handle, fails=True)
        if address is not None and not self.shows:
            self.buffers.append(_Buffer(int(address), kind, array))
            if self.buffers[-1].is_ordered:
                self.uses(stream, self.buffers[-1])
            self.fill(self.buffers[-1])

    def free(self) -> None:
        buffer, stream = self.a_buffer(), self.a_stream()
        if buffer is None:
            return
        if buffer.is_ordered and self.chance.random() < 0.7:
            if self.may_use(stream, buffer) or self.faults:
                self.uses(stream, buffer)
                self.freed(buffer, driver.cuMemFreeAsync, stream.handle)
            return
        release = {
            "registered": driver.cuMemHostUnregister,
            "page-locked": driver.cuMemFreeHost,
        }
        if buffer.is_ordered and self.host[buffer.stream] < buffer.count:
            self.wait_for_context()  # as cuMemFree does not wait for the use of such memory
        self.freed(buffer, release.get(buffer.kind, driver.cuMemFree))
        if not buffer.is_ordered:
            self.knows_all()

    def freed(self, buffer: _Buffer, release: Callable[..., Any], *stream: Any) -> None:
        """Give memory back; an array that was registered is of the program again, whatever the status."""
        self.buffers.remove(buffer)
        self.call(release, buffer.address, *stream, fails=True)
        if self.shows and buffer.is_ordered:
            buffer.words = None
            self.left.append(buffer)
        if buffer.array is not None:
            assert self.faults or np.array_equal(buffer.array[:WORDS], buffer.words), self.told("an array")
            buffer.array[:] = GUARD
            self.guards.append(buffer.array)
        self.stale.append(buffer.address)

    def pool(self) -> None:
        way, pool = self.chance.randrange(4), self.chance.choice(self.pools)
        if way == 0 and len(self.pools) < 4:
            props = driver.CUmemPoolProps(allocType=CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED)
            props.location.type = CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
            if self.chance.random() < 0.3:
                props.handleTypes = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
            pool = self.call(driver.cuMemPoolCreate, props)
            if pool is not None:
                self.pools.append(pool)
        elif way == 1 and pool is not self.pools[0]:
            self.pools.remove(pool)
            self.call(driver.cuMemPoolDestroy, pool)
        else:
            self.call(driver.cuMemPoolTrimTo, pool, 0)
        self.arrays()

    def fill(self, buffer: _Buffer) -> None:
        stream, value = self.a_stream(), self.chance.getrandbits(32)
        if self.may_use(stream, buffer):
            self.uses(stream, buffer)
            self.call(driver.cuMemsetD32Async, buffer.address, value, WORDS, stream.handle, fails=True)
            buffer.words = np.full(WORDS, value, np.uint32)

    def fill_some(self) -> None:
        buffer = self.a_buffer()
        if buffer is not None:
            self.fill(buffer)

    def launch(self, name: str, address: int, value: int, times: int, stream: _Stream) -> None:
        def launch(*arguments: Any) -> Any:
            return _launch(self.kernels[name], *arguments)

        launch.__name__ = name
        self.call(launch, stream.handle, address, value, times, fails=True)

    def add(self) -> None:
        buffer, stream = self.a_buffer(), self.a_stream()
        place, value = self.chance.randrange(WORDS), self.chance.getrandbits(32)
        times = self.chance.choice((1, 10, 500, 3000))
        if buffer is not None and self.may_use(stream, buffer):
            self.uses(stream, buffer)
            self.launch("add", buffer.address + 4 * place, value, times, stream)
            self.adds(buffer, place, value, times)

    def adds(self, buffer: _Buffer, place: int, value: int, times: int) -> None:
        if buffer.words is not None:
            buffer.words = buffer.words.copy()
            buffer.words[place] = (int(buffer.words[place]) + value * times) % 2**32

    def copy(self) -> None:
        if len(self.buffers) < 2:
            return
        to, of = self.chance.sample(self.buffers, 2)
        stream = self.a_stream()
        if self.may_use(stream, to) and self.may_use(stream, of):
            self.uses(stream, to, of)
            self.call(driver.cuMemcpyAsync, to.address, of.address, 4 * WORDS, stream.handle, fails=True)
            to.words = of.words

    def read(self) -> None:
        """A copy to an array, which waits."""
        buffer, stream = self.a_buffer(), self.a_stream()
        found = np.zeros(WORDS, np.uint32)
        if buffer is not None and self.may_use(stream, buffer):
            self.uses(stream, buffer)
            self.call(driver.cuMemcpyDtoHAsync, found, buffer.address, 4 * WORDS, stream.handle, fails=True)
            if not self.faults:
                assert np.array_equal(found, buffer.words), self.told(f"{found} is not {buffer.words}")

    def a_function(self) -> tuple[Any, int]:
        """A host function, and its number."""
        number, slow = len(self.keep) + 1, self.chance.choice((0, 0, 0.002))
        called = self.called

        def run(*_: Any) -> None:
            time.sleep(slow)
            called.append(number)

        self.keep.append(HOST_FUNCTION(run))
        return self.keep[-1], number

    def function(self) -> None:
        """A host function, or a callback with the status."""
        stream = self.a_stream()
        self.uses(stream)
        function, number = self.a_function()
        if self.chance.random() < 0.7:
            self.call(driver.cuLaunchHostFunc, stream.handle, function, None, fails=True)
        else:
            statuses = self.statuses

            def run(_stream: Any, status: int, _data: Any) -> None:
                statuses.add(status)
                function(None)

            self.keep.append(CALLBACK(run))
            self.call(driver.cuStreamAddCallback, stream.handle, self.keep[-1], None, 0, fails=True)
        self.expected_calls.append((stream.number, stream.count, number))

    # Graphs: each is launched and destroyed.

    def memory_node(self, graph: Any) -> tuple[Any, int]:
        params = driver.CUDA_MEM_ALLOC_NODE_PARAMS(bytesize=4 * WORDS)
        params.poolProps.allocType = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        params.poolProps.location.type = CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        node = self.call(driver.cuGraphAddMemAllocNode, graph, [], 0, params)
        return node, int(params.dptr)

    def once(self, graph: Any, stream: _Stream) -> None:
        """Launch it, and destroy it while it may run."""
        instance = self.call(driver.cuGraphInstantiate, graph, self.chance.choice((0, 1)))
        if instance is not None:
            self.call(driver.cuGraphLaunch, instance, stream.handle, fails=True)
            self.call(driver.cuGraphExecDestroy, instance)
        self.call(driver.cuGraphDestroy, graph)

    def of_a_graph(self, stream: _Stream) -> int | None:
        """Memory that a graph allocates and leaves; its address."""
        graph = self.call(driver.cuGraphCreate, 0, fails=True)
        if graph is None:
            return None
        node, address = self.memory_node(graph)
        if node is not None:
            self.once(graph, stream)
        return address or None

    def graph(self) -> None:
        """A graph that fills a buffer, with memory of its own or not, and with a host function or not."""
        buffer, stream = self.a_buffer(), self.a_stream()
        if buffer is None or not self.may_use(stream, buffer):
            return
        graph = self.call(driver.cuGraphCreate, 0, fails=True)
        if graph is None:
            return
        value = self.chance.getrandbits(32)
        address, before = buffer.address, []
        has_memory = self.chance.random() < 0.5
        if has_memory:
            node, address = self.memory_node(graph)
            before = [node]
            self.stale.append(address)
        fill = driver.CUDA_MEMSET_NODE_PARAMS(
            dst=address, value=value, elementSize=4, width=WORDS, height=1, pitch=4 * WORDS
        )
        before = [self.call(driver.cuGraphAddMemsetNode, graph, before, len(before), fill, self.context)]
        if has_memory:
            copy = driver.CUDA_MEMCPY3D(WidthInBytes=4 * WORDS, Height=1, Depth=1)
            copy.srcMemoryType = copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_UNIFIED
            copy.srcDevice = driver.CUdeviceptr(address)
            copy.dstDevice = driver.CUdeviceptr(buffer.address)
            before = [self.call(driver.cuGraphAddMemcpyNode, graph, before, 1, copy, self.context)]
            self.call(driver.cuGraphAddMemFreeNode, graph, before, 1, address)
        self.uses(stream, buffer)
        if self.chance.random() < 0.3:
            function, number = self.a_function()
            params = driver.CUDA_HOST_NODE_PARAMS(fn=function)
            self.call(driver.cuGraphAddHostNode, graph, before, 1, params)
            self.expected_calls.append((stream.number, stream.count, number))
        self.once(graph, stream)
        buffer.words = np.full(WORDS, value, np.uint32)

    # Faults, and ends.

    def run(self) -> str:
        chance = self.chance
        steps = [
            self.create, self.allocate, self.fill_some, self.add, self.add, self.add, self.copy, self.graph,
            self.destroy, self.free, self.pool, self.record, self.wait_for_event, self.wait_for_stream,
            self.wait_for_context, self.in_a_thread, self.join, self.read, self.function, self.function,
        ]  # fmt: skip
        outcome = "without a fault"
        for _ in range(chance.choice((1, 1, 2))):
            for _ in range(chance.randint(5, 60)):
                chance.choice(steps)()
            if chance.random() < 0.5:
                outcome = "with a fault"
                self.lose(steps)
            self.end()
            self.begin()
        self.end()
        if self.bystander is not None:
            wrong = self.bystander.end()
            assert not wrong, self.told(wrong)
        for guard in self.guards:
            assert (guard == GUARD).all(), self.told("an array of the program was written")
        return outcome

    def endless(self) -> None:
        """Something in a stream that never ends."""
        stream, way = self.a_stream(), self.chance.randrange(4)
        if way == 0:
            hold = self.hold
            self.keep.append(HOST_FUNCTION(lambda _: bool(hold.wait(30)) and None))
            self.call(driver.cuLaunchHostFunc, stream.handle, self.keep[-1], None)
            return
        pool = self.chance.choice(self.pools)  # memory that nobody else frees
        address: Any = self.call(driver.cuMemAllocFromPoolAsync, 64, pool, stream.handle)
        if way == 1:
            self.call(driver.cuStreamWriteValue32, stream.handle, address, 1, 0)
            self.call(driver.cuStreamWaitValue32, stream.handle, address, 2, 1)
        elif way == 2:
            self.launch("spin", int(address), 0, 0, stream)
        else:
            graph = self.call(driver.cuGraphCreate, 0)
            params = driver.CUDA_KERNEL_NODE_PARAMS(func=self.kernels["spin"])
            params.kernelParams = (int(address), 0, 0), TYPES
            for name in ("gridDim", "blockDim"):
                for axis in "XYZ":
                    setattr(params, name + axis, 1)
            self.call(driver.cuGraphAddKernelNode, graph, [], 0, params)
            self.once(graph, stream)

    def lose(self, steps: list[Callable[[], None]]) -> None:
        """A fault, beside what never ends; and calls behind it."""
        chance = self.chance
        for _ in range(chance.choice((0, 1, 1, 2))):
            self.endless()
        for _ in range(chance.choice((1, 1, 1, 2))):
            handle = self.call(driver.cuStreamCreate, 1)
            if handle is not None:
                self.created(_Stream(len(self.every), handle, False))  # it waits for nothing
                kernel = chance.choice(list(FAULTS))
                self.faults = {*self.faults, FAULTS[kernel]} if not self.shows else self.faults
                self.launch(kernel, 16, 1, 1, self.streams[-1])
        for _ in range(chance.choice((0, 0, 3, 10))):
            chance.choice(steps)()
        if chance.random() < 0.5:
            for buffer in [one for one in self.buffers if one.is_ordered]:
                stream = self.a_stream()
                self.may_use(stream, buffer)
                self.freed(buffer, driver.cuMemFreeAsync, stream.handle)
        self.call(driver.cuCtxSynchronize)
        assert self.shows, self.told("the context has no fault")
        for _ in range(chance.randint(0, 15)):
            chance.choice(steps)()

    def end(self) -> None:
        """The end of the context, whatever is in it."""
        for buffer in self.buffers[:] if self.faults else ():
            if buffer.kind == "registered":
                self.freed(buffer, driver.cuMemHostUnregister)
        faults, self.faults, self.shows = self.faults, set(), False
        if self.is_primary and self.chance.random() < 0.7:
            reset = self.chance.choice((driver.cuDevicePrimaryCtxReset, runtime.cudaDeviceReset))
            self.call(reset, *([0] if reset is driver.cuDevicePrimaryCtxReset else []))
        elif self.is_primary:
            while driver.cuDevicePrimaryCtxGetState(0)[2]:
                self.call(driver.cuDevicePrimaryCtxRelease, 0)
        else:
            self.call(driver.cuCtxDestroy, self.context)
        self.hold.set()
        self.faults = faults
        self.join(is_over=True)
        self.left += [one for one in self.buffers if one.is_ordered]
        self.buffers = [one for one in self.buffers if one.kind in ("registered", "pool", "graph")]
        self.knows_all()
        self.check_calls()
        for buffer in self.left if faults else ():
            buffer.words = None
        self.faults = set()
        self.end_pools()
        self.arrays()
        self.write_to_stale()

    def check_calls(self) -> None:
        """Host functions were called in the order of their streams, and callbacks got the status."""
        called = self.called[:]
        for stream in self.every:
            mine = [number for one, _, number in self.expected_calls if one == stream.number]
            order = [number for number in called if number in mine]
            assert order == sorted(set(order)), self.told(f"host functions were called in the order {order}")
        allowed = {0, *(int(driver.CUresult[name]) for name in self.faults)}
        assert allowed >= self.statuses, self.told(f"callbacks got {self.statuses}")

    def end_pools(self) -> None:
        for pool in self.pools[1:]:
            if self.chance.random() < 0.7:
                self.pools.remove(pool)
                self.call(driver.cuMemPoolDestroy, pool)
        for pool in self.pools:
            self.call(driver.cuMemPoolTrimTo, pool, 0)

    def write_to_stale(self) -> None:
        """Kernels write where memory was that is given back: a fault, or nothing of the program's."""
        stale = [one for one in self.stale if one not in {buffer.address for buffer in self.left}]
        for address in self.chance.sample(stale, min(len(stale), 3)):
            context = checked.cuCtxCreate(0, 0)
            module = checked.cuModuleLoadData(PTX)
            _launch(checked.cuModuleGetFunction(module, b"put"), None, address, 1, 1)
            status = driver.cuCtxSynchronize()[0].name
            assert status in (DONE, FAULTS["put"]), self.told(f"a write to {address:#x}: {status}")
            checked.cuCtxDestroy(context)


class Fuzzer:
    at_once = 100

    def __init__(self) -> None:
        self.is_spent = False
        simulator.enable(reports=False)
        checked.cuInit(0)

    def item(self, number: int) -> str:
        try:
            return _Program(number).run()
        except AssertionError:
            self.is_spent = True  # what it left is not for others
            raise
        except Exception:
            self.is_spent = True
            raise AssertionError(traceback.format_exc(limit=-4)) from None
        finally:
            gc.collect()


def prepare() -> None:
    """Nothing: processes begin without a driver."""
