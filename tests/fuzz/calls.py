"""Functions of the driver and the runtime, with arguments some of which are odd.

A call has what the function takes, made for it, and up to three things in place of it: absurd numbers, other
kinds of objects, handles of another type or of nothing, structs with absurd fields. It returns a status, or
raises TypeError, ValueError or OverflowError (MemoryError for more than there is).
"""

from __future__ import annotations

import ctypes
import functools
import io
import os
import random
import tempfile
import traceback
import warnings
from contextlib import redirect_stderr
from typing import Any

from tests.stub import source
from tests.stub.build import declared, is_aggregate, parameters
from tests.stub.sweep import BAD, Target, targets
from tests.stub.sweep_simulator import INTERNAL, MORE, begin, blocks, enable, right

TOGETHER = 20
"""Calls of one function, one after the other, with what was made for it once."""
REFUSED = (TypeError, ValueError, OverflowError, MemoryError)
NUMBERS = [
    0,
    1,
    2,
    3,
    7,
    8,
    -1,
    -2,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**40,
    2**47,
    2**62,
    2**63 - 1,
    2**63,
    2**64 - 8,
    2**64 - 1,
]
"""None is a size that may reach into other memory of the process: to write there is the program's mistake."""


@functools.cache
def every() -> tuple[tuple[Target, Any], ...]:
    """The functions, and what their parameters are."""
    found = []
    for api in ("driver", "runtime-13"):
        by_name = {function.__name__: function for function in declared(source(api)).values()}
        for target in targets(api):
            if not target.function.__name__.startswith("_"):
                function = by_name.get(target.function.__name__)
                found.append((target, None if function is None else parameters(function)))
    return tuple(found)


def prepare() -> None:
    """Find once what all processes call."""
    every()


def absurd(chance: random.Random, value: Any) -> Any:
    """Something else in place of an argument."""
    if is_aggregate(type(value)) and chance.random() < 0.7:
        made = type(value).from_buffer_copy(value)
        size = ctypes.sizeof(made)
        for _ in range(chance.choice((1, 1, 2, 4))):
            width = chance.choice([width for width in (1, 4, 8) if width <= size])
            place = chance.randrange(size // width) * width
            field = (chance.choice(NUMBERS) % 256**width).to_bytes(width, "little")
            ctypes.memmove(ctypes.addressof(made) + place, field, width)
        return made
    if isinstance(value, list) and value and chance.random() < 0.7:
        copy = list(value)
        copy[chance.randrange(len(copy))] = absurd(chance, copy[0])
        return copy
    if chance.random() < 0.5:
        return chance.choice(NUMBERS)
    return chance.choice(list({**BAD, **MORE}.values()))


class Fuzzer:
    at_once = 50 * TOGETHER

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        os.chdir(self._folder.name)  # some names are those of files to write
        warnings.simplefilter("ignore")  # a fraction that is dropped
        for api in ("driver", "runtime-13"):
            enable(api)
        self._driver = begin()
        self._set = -1
        self.is_spent = False

    def item(self, number: int) -> str:
        chance = random.Random(number)
        target, found = random.Random(number // TOGETHER).choice(every())
        driver = self._driver
        if not blocks(target.name) and driver.cuCtxSynchronize()[0]:
            driver.cuDevicePrimaryCtxReset(0)  # a launch has lost it
            begin()
            self._set = -1
        if self._set != number // TOGETHER:
            self._set = number // TOGETHER
            try:
                self._live, self._arguments = right(target, found)
            except Exception:  # earlier calls left no memory, a capture: that is what they were asked for
                self.is_spent = True
                return "nothing left to call with"
        self.is_spent = self.is_spent or blocks(target.name)  # a stream may wait for good
        arguments = dict(self._arguments)
        names = list(arguments)
        for name in chance.sample(names, min(len(names), chance.choice((0, 1, 1, 1, 2, 2, 3)))):
            arguments[name] = absurd(chance, arguments[name])
        shown = ", ".join(f"{name}={value!r:.200}" for name, value in arguments.items())
        what = f"{target.function.__name__}({shown})"
        os.lseek(2, 0, os.SEEK_SET)
        os.ftruncate(2, 0)
        os.write(2, what.encode(errors="replace")[:2000] + b"\n")
        said = io.StringIO()
        with redirect_stderr(said):
            outcome = self._call(target, arguments)
        assert not outcome.startswith("wrong"), f"{what}: {outcome} {said.getvalue()}"
        text = said.getvalue()
        assert "mistake in the simulator" not in text and "Traceback" not in text, f"{what}: {text}"
        return outcome

    def _call(self, target: Target, arguments: dict[str, Any]) -> str:
        try:
            result = target.function(*arguments.values())
        except REFUSED:
            return "refused by type or range"
        except BaseException:
            return f"wrong: {traceback.format_exc()}"
        finally:
            for stream in self._live.streams:
                self._driver.cuStreamEndCapture(stream)
        first = result[0] if isinstance(result, tuple) and result else None
        status = getattr(first, "name", "no status")
        if status in INTERNAL:
            return f"wrong: {status}"
        return "done" if status in ("CUDA_SUCCESS", "cudaSuccess", "no status") else "refused by status"
