"""Collectives against NumPy: the data of every rank, what has to come out, and what did."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from cudapy.core import Buffer, Communicator, Stream

PLAIN = ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")
SMALL_FLOATS = {"bfloat16": (8, 7, 127), "float8_e4m3fn": (4, 3, 7), "float8_e5m2": (5, 2, 15)}
"""Bits of the exponent and of the fraction, and the bias."""
TYPES = (*PLAIN, *SMALL_FLOATS)
OPERATORS = ("sum", "prod", "max", "min", "avg")
KINDS = (
    *("all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all"),
    *("gather", "scatter", "ring"),
)


class Case(NamedTuple):
    """A collective. count: elements of the smaller side, those that each rank gives or gets."""

    kind: str
    dtype: str
    count: int  # type: ignore[assignment]
    in_place: bool = False
    op: str = ""
    root: int = 0

    def __str__(self) -> str:
        place = ", in place" if self.in_place else ""
        return f"{self.kind} of {self.count} {self.dtype}{', ' + self.op if self.op else ''}{place}"


class Coding(NamedTuple):
    """How numbers lie in memory."""

    size: int
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


@functools.cache
def coding(dtype: str) -> Coding:
    """That of a type, those that NumPy has not among them."""
    if dtype in PLAIN:
        cls = np.dtype(dtype)
        return Coding(cls.itemsize, lambda x: x.astype(cls).view(np.uint8), lambda raw: raw.view(cls))
    values = _table(dtype)
    size = 1 + (dtype == "bfloat16")
    codes = {float(value): code for code, value in reversed([*enumerate(values)]) if not math.isnan(value)}
    known = np.array(sorted(value for value in codes if 0 <= value <= 256))
    of_known = np.array([codes[value] for value in known], f"u{size}")
    return Coding(
        size,
        lambda x: of_known[np.searchsorted(known, x)].view(np.uint8),
        lambda raw: values[raw.view(f"u{size}")],
    )


@functools.cache
def _table(dtype: str) -> Any:
    """The value of each bit pattern of a small float, by its definition."""
    exponent_bits, fraction_bits, bias = SMALL_FLOATS[dtype]
    found = []
    for code in range(1 << 1 + exponent_bits + fraction_bits):
        fraction = code & ((1 << fraction_bits) - 1)
        exponent = code >> fraction_bits & ((1 << exponent_bits) - 1)
        sign = -1.0 if code >> exponent_bits + fraction_bits else 1.0
        if exponent == (1 << exponent_bits) - 1 and (dtype != "float8_e4m3fn" or fraction == 7):
            found.append(math.nan)
        elif exponent:
            found.append(sign * math.ldexp(1 + fraction / (1 << fraction_bits), exponent - bias))
        else:
            found.append(sign * math.ldexp(fraction / (1 << fraction_bits), 1 - bias))
    return np.array(found)


PERIOD = 144
"""After so many elements the numbers of a rank begin again."""


class Segment(NamedTuple):
    """`count` numbers, which repeat those of one period."""

    values: Any
    count: int  # type: ignore[assignment]

    def raw(self, code: Coding) -> Any:
        """All of them as they lie in memory."""
        return repeated(code.encode(self.values), self.count * code.size)


def repeated(raw: Any, size: int) -> Any:
    """`size` bytes of one period, over and over."""
    chunk = np.tile(raw, min(-(-size // len(raw)), 1 << 13))
    found = np.empty(size, np.uint8)
    for start in range(0, size, len(chunk)):
        found[start : start + len(chunk)] = chunk[: size - start]
    return found


def numbers(case: Case, rank: int, size: int, first: int = 0) -> Any:
    """A period of the numbers that a rank has, from the one at `first`.

    They are whole ones, and so small that all types have their sums and products.
    """
    index = first + np.arange(PERIOD, dtype=np.int64)
    if case.op == "prod":
        return 1 + (index + rank) % 2
    if case.op:
        return (index // 3 + rank) % 2 if size > 4 or case.dtype in SMALL_FLOATS else (index * 7 + rank) % 16
    return (index * 5 + 3 * rank) % (9 if case.dtype in SMALL_FLOATS else 120)


def given(case: Case, rank: int, size: int) -> Segment:
    """The numbers that a rank has."""
    parts = size if case.kind in ("reduce_scatter", "all_to_all", "scatter") else 1
    return Segment(numbers(case, rank, size), case.count * parts)


def expected(case: Case, rank: int, size: int) -> list[Segment]:
    """The numbers that a rank must have in the end, of its `recv`; empty for any."""
    count, mine = case.count, rank * case.count
    if case.kind in ("reduce", "gather") and rank != case.root:
        return []
    if case.op:
        first = mine if case.kind == "reduce_scatter" else 0
        return [Segment(_reduced(case, [numbers(case, r, size, first) for r in range(size)]), count)]
    if case.kind in ("broadcast", "scatter"):
        first = mine if case.kind == "scatter" else 0
        return [Segment(numbers(case, case.root, size, first), count)]
    if case.kind == "ring":
        return [Segment(numbers(case, (rank - 1) % size, size), count)]
    first = mine if case.kind == "all_to_all" else 0
    return [Segment(numbers(case, other, size, first), count) for other in range(size)]


def _reduced(case: Case, every: list[Any]) -> Any:
    stack = np.stack(every)
    if case.op == "prod":
        return stack.prod(0)
    if case.op in ("max", "min"):
        return stack.max(0) if case.op == "max" else stack.min(0)
    if case.op == "half":
        return stack.sum(0) * 0.5 if "float" in case.dtype else stack.sum(0) * 2
    if case.op == "avg":
        mean = stack.sum(0) / len(every)
        return mean if "float" in case.dtype else np.floor(mean)
    return stack.sum(0)


class Ranks:
    """The ranks of this process, with a stream each."""

    def __init__(self, comms: list[Communicator]) -> None:
        self.comms = comms
        self.size = comms[0].size
        self.streams: list[Stream] = []
        for comm in comms:
            comm.device.set_current()
            self.streams.append(comm.device.create_stream())

    def run(self, case: Case) -> str:
        """What is wrong with a collective; "" for nothing."""
        code = coding(case.dtype)
        sends, recvs, operators = [], [], []
        for comm, stream in zip(self.comms, self.streams, strict=True):
            comm.device.set_current()
            mine = given(case, comm.rank, self.size).raw(code)
            send, recv = self._buffers(case, comm.rank, mine, comm, stream, code.size)
            sends.append(send)
            recvs.append(recv)
            if case.op == "half":
                factor = 0.5 if "float" in case.dtype else 2
                operators.append(comm.premultiplied_sum(factor, case.dtype))
            else:
                operators.append(case.op)
        with self.comms[0].group():
            for comm, stream, send, recv, op in zip(
                self.comms, self.streams, sends, recvs, operators, strict=True
            ):
                self._call(case, comm, stream, send, recv, op)
        return self._judge(case, sends, recvs, code)

    def _buffers(
        self, case: Case, rank: int, mine: Any, comm: Communicator, stream: Stream, itemsize: int
    ) -> tuple[Buffer, Buffer | None]:
        """Device memory with the rank's numbers, and that for what it gets; None: the same."""
        whole = case.count * self.size * itemsize
        takes = {"all_gather": whole, "gather": whole, "all_to_all": whole}.get(
            case.kind, case.count * itemsize
        )
        if case.in_place and case.kind == "all_gather":
            send = comm.device.allocate(takes, stream)
            send.fill(0, stream=stream)
            host = np.zeros(takes, np.uint8)
            host[rank * len(mine) : (rank + 1) * len(mine)] = mine
            send.copy_from(host, stream=stream)
            return send, None
        send = comm.device.allocate(len(mine), stream)
        send.copy_from(mine, stream=stream)
        if case.in_place:
            return send, None
        recv = comm.device.allocate(takes, stream)
        recv.fill(0x5A, stream=stream)
        return send, recv

    def _call(
        self, case: Case, comm: Communicator, stream: Stream, send: Buffer, recv: Buffer | None, op: Any
    ) -> None:
        options = {"dtype": case.dtype, "stream": stream}
        if case.kind in ("all_reduce", "reduce_scatter"):
            getattr(comm, case.kind)(send, recv, op, **options)
        elif case.kind == "reduce":
            comm.reduce(send, recv, op, case.root, **options)
        elif case.kind in ("broadcast", "gather", "scatter"):
            getattr(comm, case.kind)(send, recv, case.root, **options)
        elif case.kind == "ring":
            comm.send(send, (comm.rank + 1) % self.size, **options)
            comm.recv(recv, (comm.rank - 1) % self.size, **options)
        else:
            getattr(comm, case.kind)(send, recv, **options)

    def _judge(self, case: Case, sends: list[Buffer], recvs: list[Buffer | None], code: Coding) -> str:
        for comm, stream, send, recv in zip(self.comms, self.streams, sends, recvs, strict=True):
            comm.device.set_current()
            comm.sync(stream, timeout=60)
            segments = expected(case, comm.rank, self.size)
            if not segments:
                continue
            found = np.empty((recv or send).size, np.uint8)
            (recv or send).copy_to(found, stream=stream)
            stream.sync()
            if recv is None and case.kind == "reduce_scatter":
                part = case.count * code.size
                found = found[comm.rank * part : (comm.rank + 1) * part]
            start = 0
            for segment in segments:
                have = found[start : start + segment.count * code.size]
                start += len(have)
                if wrong := _differs(case, have, segment, code):
                    return f"{case}: rank {comm.rank} {wrong}"
        return ""


def _differs(case: Case, raw: Any, segment: Segment, code: Coding) -> str:
    """How numbers differ from those expected; "" if they do not. Averages of floats may be rounded."""
    if case.op != "avg" or "float" not in case.dtype:
        wanted = segment.raw(code)
        if np.array_equal(raw, wanted):
            return ""
        at = int(np.argmax(raw != wanted)) // code.size
        have = code.decode(raw[at * code.size : (at + 1) * code.size].copy())[0]
        return f"has {have} at {at}, not {segment.values[at % PERIOD]}"
    have, wanted = code.decode(raw.copy()), np.resize(segment.values, segment.count)
    steps = {"float8_e4m3fn": 0.07, "float8_e5m2": 0.13, "bfloat16": 0.01, "float16": 0.002}
    if np.allclose(have, wanted, rtol=steps.get(case.dtype, 1e-6), atol=1e-6):
        return ""
    at = int(np.argmax(np.abs(have - wanted)))
    return f"has {have[at]} at {at}, not {wanted[at]}"


def cases(counts: tuple[int, ...], size: int) -> Iterator[Case]:
    """Every collective with every type and every operator, in place and not.

    But those that NCCL refuses: one rank alone scales no floats of 8 bits.
    """
    for dtype in TYPES:
        for count in counts:
            for kind in KINDS:
                reduces = kind in ("all_reduce", "reduce", "reduce_scatter")
                may_be_in_place = kind in (
                    "all_reduce",
                    "reduce",
                    "broadcast",
                    "all_gather",
                    "reduce_scatter",
                )
                for in_place in (False, True)[: 1 + may_be_in_place]:
                    for op in (*OPERATORS, "half") if reduces else ("",):
                        if size == 1 and "float8" in dtype and op in ("avg", "half"):
                            continue
                        yield Case(kind, dtype, count, in_place, op, root=(count + len(dtype)) % size)


def large(nbytes: int, size: int) -> Iterator[Case]:
    """A collective of `nbytes` bytes in all, of each kind."""
    for kind in KINDS:
        part = kind in ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter")
        reduces = kind in ("all_reduce", "reduce", "reduce_scatter")
        count = max(1, nbytes // (4 if reduces else 1) // (size if part else 1))
        yield Case(kind, "float32" if reduces else "uint8", count, False, "sum" if reduces else "", size - 1)
