"""Reads what the stub recorded, and sets how it behaves."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path
from typing import NamedTuple

from . import load


class Argument(NamedTuple):
    """An argument as C received it: its own bytes, and those it points to where the stub knows how many."""

    raw: bytes
    memory: bytes | None


class Call(NamedTuple):
    """One call: the C symbol, and the arguments by C name."""

    symbol: str
    arguments: dict[str, Argument]


class _Setting:
    """A global `int` of the stub."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"stub_{name}"

    def __get__(self, stub: Stub, owner: type) -> int:
        return ctypes.c_int.in_dll(stub.library, self.name).value

    def __set__(self, stub: Stub, value: int) -> None:
        ctypes.c_int.in_dll(stub.library, self.name).value = value


class Stub:
    """The stub library at `path`, which the functions of `api` now find.

    status: what functions return. peek: whether the stub reads the caller's memory (2), and writes to it
    too (1). wide_counts: whether a count that goes in and comes out gets a number with all its bytes in use,
    rather than one less.
    overrun: how many bytes too many are written to each output.
    """

    status = _Setting()
    peek = _Setting()
    wide_counts = _Setting()
    overrun = _Setting()

    def __init__(self, path: str | Path, api: str = "driver") -> None:
        self.path = path
        self.api = api
        self.library = load(path, api)
        self._used = ctypes.c_size_t.in_dll(self.library, "stub_used")
        self._log = (ctypes.c_char * (1 << 22)).in_dll(self.library, "stub_log")

    def reset(self) -> None:
        """Forget what was recorded, and behave again as at first."""
        self._used.value = 0
        self.status = self.wide_counts = self.overrun = 0
        self.peek = 1

    def calls(self) -> list[Call]:
        """What was recorded since the last time this was asked, or since `reset`."""
        used = self._used.value
        assert used < len(self._log) - 100_000, "the record is full: ask more often"
        log = bytes(memoryview(self._log)[:used])
        self._used.value = 0
        found: list[Call] = []
        at = 0
        name = ""
        while at < used:
            kind, length = struct.unpack_from("=cI", log, at)
            data = log[at + 5 : at + 5 + length]
            at += 5 + length
            if kind == b"F":
                found.append(Call(data.decode(), {}))
            elif kind == b"N":
                name = data.decode()
            elif kind == b"A":
                found[-1].arguments[name] = Argument(data, None)
            else:
                raw, _ = found[-1].arguments[name]
                found[-1].arguments[name] = Argument(raw, data)
        return found
