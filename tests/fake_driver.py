"""A driver made of Python that knows what is alive: for tests of who gives back what, without a GPU.

It stands where ctypes.CDLL does. What is created gets a number and is alive until it is destroyed; destroying
it twice, or what never was, is an error. One call can be made to fail.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from .stub import vendored

INVALID_VALUE, OUT_OF_MEMORY, INVALID_CONTEXT, NOT_READY, UNSUPPORTED, INVALIDATED = 1, 2, 201, 600, 900, 901

MADE = {  # by these functions, into the argument with this number
    "cuStreamCreateWithPriority": ("stream", 0),
    "cuEventCreate": ("event", 0),
    "cuMemAllocFromPoolAsync": ("memory", 0),
    "cuMemAllocAsync": ("memory", 0),
    "cuMemAlloc_v2": ("memory", 0),
    "cuMemAllocHost_v2": ("host memory", 0),
    "cuMemPoolCreate": ("pool", 0),
    "cuMemPoolImportFromShareableHandle": ("pool", 0),
    "cuMemPoolImportPointer": ("memory", 0),
    "cuMemCreate": ("piece", 0),
    "cuMemRetainAllocationHandle": ("piece", 0),
}
GONE = {
    "cuStreamDestroy_v2": "stream",
    "cuEventDestroy_v2": "event",
    "cuMemFreeAsync": "memory",
    "cuMemFree_v2": "memory",
    "cuMemFreeHost": "host memory",
    "cuMemPoolDestroy": "pool",
    "cuMemRelease": "piece",
    "cuMemUnmap": "mapping",
    "cuMemAddressFree": "addresses",
}
UNSAFE = {  # what invalidates a capture by the attempt, as a driver has it: see gpu_tier/capture_rules.py
    *GONE.keys() - {"cuEventDestroy_v2", "cuStreamDestroy_v2"},
    "cuEventQuery",
    "cuGraphExecDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphInstantiateWithParams",
    "cuMemAllocFromPoolAsync",
    "cuMemAllocHost_v2",
    "cuMemAlloc_v2",
    "cuMemPoolCreate",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAttribute",
    "cuMemPoolTrimTo",
    "cuStreamSynchronize",
}
GLOBAL, THREAD_LOCAL, RELAXED = range(3)
IN_USE = 5, 7  # CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_CURRENT
RANGE_SIZE = 12  # CU_POINTER_ATTRIBUTE_RANGE_SIZE
SETS = {  # the value of an output: argument number, value
    "cuDeviceGetCount": (0, 1),
    "cuDeviceGetAttribute": (0, 1),
    "cuCtxGetDevice": (0, 0),
    "cuDeviceGetMemPool": (0, 0x9001),
    "cuMemGetMemPool": (0, 0x9002),
    "cuDriverGetVersion": (0, 13000),
    "cuStreamGetCtx": (1, 0xC0),
    "cuDevicePrimaryCtxRetain": (0, 0xC0),
    "cuMemGetAllocationGranularity": (0, 1 << 21),
}


class Capture:
    """A capture: its number, mode and thread, the memory that it allocates, and what spoiled it."""

    def __init__(self, number: int, mode: int) -> None:
        self.number, self.mode, self.thread = number, mode, threading.get_ident()
        self.memory: set[int] = set()
        self.spoiled = ""


class FakeDriver:
    """The library.

    fail_at: the number of the call, from 1, that returns `failure` and does nothing. capturing: streams that
    are. needs_context: whether freeing does. adjacent: whether addresses are reserved where they are asked
    for. yields: whether other threads run during a call. busy: whether work goes on, so that memory which is
    freed stays in use, until somebody waits. missing: functions that it has not.
    """

    def __init__(self) -> None:
        self.missing: tuple[str, ...] = ()
        self.numbers = itertools.count(0x10000, 0x1000)
        self.threads = threading.local()
        self.reset()

    def reset(self) -> None:
        """Forget what happened, and let nothing fail."""
        self.calls: list[str] = []
        self.alive: set[tuple[str, int]] = set()
        self.refused: set[tuple[str, int]] = set()
        self.wrong: list[str] = []
        self.fail_at = 0
        self.failure = OUT_OF_MEMORY
        self.capturing: set[int] = set()
        self.captures: dict[int, Capture] = {}  # by stream
        self.needs_context = False
        self.adjacent = True
        self.yields = self.busy = False
        self.pools: dict[int, int] = {}  # where memory is from
        self.freed: set[int] = set()  # memory that work goes on with

    @property
    def contexts(self) -> list[int]:
        """The contexts of the calling thread, the current one last."""
        if not hasattr(self.threads, "stack"):
            self.threads.stack = []
        return self.threads.stack

    def __getitem__(self, symbol: str) -> Function:
        if symbol.endswith(("_ptsz", "_ptds")) or symbol.startswith(("cuLogs", *self.missing)):
            raise AttributeError(symbol)
        return Function(self, symbol)

    def call(self, symbol: str, arguments: tuple[Any, ...]) -> int:
        self.calls.append(symbol)
        values = [plain(argument) for argument in arguments]
        if self.yields:
            time.sleep(0)  # as a foreign call does, let other threads run before and after
        if len(self.calls) == self.fail_at:
            if symbol in GONE:
                self.refused.add((GONE[symbol], values[0]))
            return self.failure
        if self.captures and self.spoils(symbol, values):
            return UNSUPPORTED
        special = getattr(self, symbol, None)
        if special is not None:
            status = special(arguments, values)
            if status is not None:
                return int(status)
        if symbol in MADE:
            kind, index = MADE[symbol]
            number = next(self.numbers)
            put(arguments[index], number)
            self.alive.add((kind, number))
            if self.yields:
                time.sleep(0)
        if symbol in SETS:
            index, value = SETS[symbol]
            put(arguments[index], value)
        if symbol in GONE:
            thing = (GONE[symbol], values[0])
            if thing not in self.alive:
                self.wrong.append(f"{symbol}: {thing} is not alive")
                return INVALID_VALUE
            self.alive.discard(thing)
        return 0

    # -- what depends on more than its arguments --------------------------------------------------

    def cuPointerGetAttribute(self, arguments: Any, values: Any) -> None:
        if values[1] == RANGE_SIZE:
            put(arguments[0], 1 << 20)

    def cuCtxGetCurrent(self, arguments: Any, values: Any) -> None:
        put(arguments[0], self.contexts[-1] if self.contexts else 0)

    def cuCtxSetCurrent(self, arguments: Any, values: Any) -> None:
        self.contexts[-1:] = [values[0]]

    def cuCtxPushCurrent_v2(self, arguments: Any, values: Any) -> None:
        self.contexts.append(values[0])

    def cuCtxPopCurrent_v2(self, arguments: Any, values: Any) -> None:
        put(arguments[0], self.contexts.pop())

    def spoils(self, symbol: str, values: Any) -> bool:
        """Whether captures forbid this call to this thread; then they are spoiled."""
        if (
            symbol not in UNSAFE
            or self.mode == RELAXED
            or any(v in self.captures for v in values if type(v) is int)
        ):
            return False
        forbidding = [
            capture
            for capture in self.captures.values()
            if capture.mode != RELAXED
            and (capture.thread == threading.get_ident() or capture.mode == self.mode == GLOBAL)
        ]
        for capture in forbidding:
            capture.spoiled = capture.spoiled or symbol
        return bool(forbidding)

    @property
    def mode(self) -> int:
        """The capture mode of the calling thread."""
        return getattr(self.threads, "mode", GLOBAL)

    def cuThreadExchangeStreamCaptureMode(self, arguments: Any, values: Any) -> None:
        room = getattr(arguments[0], "_obj", arguments[0])
        before, self.threads.mode = self.mode, room[0] if isinstance(room, ctypes.Array) else room.value
        put(arguments[0], before)

    def cuStreamBeginCapture_v2(self, arguments: Any, values: Any) -> None:
        self.captures[values[0]] = Capture(next(self.numbers), int(values[1]))

    def cuStreamEndCapture(self, arguments: Any, values: Any) -> int:
        capture = self.captures.pop(values[0])
        put(arguments[1], 0 if capture.spoiled else capture.number)
        return INVALIDATED if capture.spoiled else 0

    def cuStreamIsCapturing(self, arguments: Any, values: Any) -> None:
        capture = self.captures.get(values[0])
        spoiled = capture is not None and capture.spoiled
        put(arguments[1], 2 if spoiled else int(values[0] in self.capturing or capture is not None))

    def cuStreamGetCaptureInfo_v3(self, arguments: Any, values: Any) -> None:
        capture = self.captures.get(values[0])
        put(arguments[1], int(capture is not None))
        if capture is not None:
            put(arguments[2], capture.number)
            put(arguments[3], capture.number)

    def cuMemAllocFromPoolAsync(self, arguments: Any, values: Any) -> int | None:
        capture = self.captures.get(values[3])
        number = next(self.numbers)
        put(arguments[0], number)
        if capture is None:
            self.alive.add(("memory", number))
            self.pools[number] = values[2]
        else:
            capture.memory.add(number)
        return 0

    def cuMemFreeAsync(self, arguments: Any, values: Any) -> int | None:
        if self.needs_context and not self.contexts:
            return INVALID_CONTEXT
        if values[1] in self.capturing:
            return INVALID_VALUE
        capture = self.captures.get(values[1])
        if capture is not None:
            if values[0] not in capture.memory:
                return INVALID_VALUE
            capture.memory.remove(values[0])
            return 0
        if self.captures and any(values[0] in capture.memory for capture in self.captures.values()):
            return INVALID_VALUE
        if values[1] > 2 and ("stream", values[1]) not in self.alive:
            self.wrong.append(f"cuMemFreeAsync in stream {values[1]:#x}, which is no more")
        if self.busy:
            self.freed.add(values[0])
        return None

    def cuEventQuery(self, arguments: Any, values: Any) -> int:
        return NOT_READY if self.busy else 0

    def cuStreamSynchronize(self, arguments: Any, values: Any) -> None:
        self.busy = False
        self.freed.clear()

    def of_pool(self, pool: int) -> int:
        """How much memory of a pool is in use."""
        live = {number for kind, number in self.alive if kind == "memory"} | self.freed
        return sum(self.pools.get(number) == pool for number in live)

    def cuMemPoolGetAttribute(self, arguments: Any, values: Any) -> None:
        put(arguments[2], self.of_pool(values[0]) if values[1] in IN_USE else 1)

    def cuMemPoolDestroy(self, arguments: Any, values: Any) -> None:
        if self.of_pool(values[0]):
            self.wrong.append(f"pool {values[0]:#x} is destroyed while its memory is in use")

    def cuMemAddressReserve(self, arguments: Any, values: Any) -> int:
        number = values[3] if values[3] and self.adjacent else next(self.numbers) << 24
        put(arguments[0], number)
        self.alive.add(("addresses", number))
        return 0

    def cuMemMap(self, arguments: Any, values: Any) -> int:
        self.alive.add(("mapping", values[0]))
        return 0


class Function:
    """A function of the library, as ctypes has it."""

    restype: Any = None
    argtypes: Any = None

    def __init__(self, driver: FakeDriver, symbol: str) -> None:
        self.driver, self.symbol = driver, symbol

    def __call__(self, *arguments: Any) -> int:
        return self.driver.call(self.symbol, arguments)


def plain(argument: Any) -> Any:
    """An argument as a number, if it is one: what `byref` and `from_param` made, handles, ints."""
    if type(argument) is type(ctypes.c_void_p.from_param(1)) and argument._obj is None:
        return int((re.findall("0x([0-9a-f]+)", repr(argument)) or ["0"])[0], 16)  # "<cparam 'P' (0x5)>"
    argument = getattr(argument, "_obj", argument)
    value = getattr(argument, "value", argument)
    return 0 if value is None else value


def put(argument: Any, number: int) -> None:
    """Write to an output."""
    room = getattr(argument, "_obj", argument)
    if isinstance(room, ctypes.Array):
        room[0] = number
    else:
        room.value = number


_copies = itertools.count()


@contextmanager
def faked() -> Iterator[tuple[FakeDriver, Callable[[str], ModuleType]]]:
    """The driver, and what imports a module of a copy of the package that uses it: `of("core")`."""
    name = f"cudapy_faked_{next(_copies)}"
    vendored(name)
    fake = FakeDriver()

    def of(module: str) -> ModuleType:
        return importlib.import_module(f"{name}.{module}")

    of("driver").libcuda.load = lambda: fake
    try:
        yield fake, of
    finally:
        of("_core.ownership.owned").process.alive = False  # what is left is given back to nobody
        for module in [module for module in sys.modules if module.split(".")[0] == name]:
            del sys.modules[module]
