"""What the hardware gives for every column: made on a GPU, compared with the simulator, and kept small.

    python -m tests.simulator.reference OUT     needs a GPU; writes OUT/reference.json and OUT/differences.txt

reference.json has for each exact column a hash of its 65,536 results, and for each approximate one every
64th.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cudapy.simulator.engine import launch
from cudapy.simulator.engine.device import Device
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.ptx.types import TYPES

from .columns import Column, all_columns, grouped, module
from .inputs import ROWS, operand

HERE = Path(__file__).parent
STORED = HERE / "reference.json"
THREADS = 256
SAMPLE = 64
_SCRATCH = 1 << 20


def legal_columns() -> list[Column]:
    """The columns that are PTX: columns.txt names them (a pattern may stand for more than there is)."""
    names = set((HERE / "columns.txt").read_text().split())
    return [column for column in all_columns() if column.name in names]


def trimmed(column: Column, words: Any) -> Any:
    """Results in the type that they have."""
    size = 4 if column.result == "pred" else max(TYPES[column.result].size, 2)
    return words.astype(f"u{size}")


def digest(column: Column, words: Any) -> str:
    return hashlib.sha256(trimmed(column, words).tobytes()).hexdigest()[:16]


def packed(column: Column, words: Any) -> str:
    """Every SAMPLE-th result, compressed."""
    return base64.b85encode(zlib.compress(trimmed(column, words)[::SAMPLE].tobytes(), 9)).decode()


def unpacked(column: Column, text: str) -> Any:
    size = 4 if column.result == "pred" else max(TYPES[column.result].size, 2)
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), f"u{size}")


def simulated(columns: list[Column]) -> dict[str, Any]:
    """The results of columns of equal operands, from the simulator."""
    memory = Memory()
    device = Device(memory)
    loaded = Module(module([columns]), memory)

    def upload(values: Any) -> int:
        address = memory.allocate(values.nbytes)
        found = memory.find(address)
        assert found is not None
        found.data[:] = values.view(np.uint8)
        return address

    results = memory.allocate(8 * ROWS * len(columns))
    addresses = [upload(operand(kind, place)) for place, kind in enumerate(columns[0].operands)]
    scratch = memory.allocate(_SCRATCH)
    parameters = struct.pack(f"<{3 + len(addresses)}Q", results, ROWS, scratch, *addresses)
    launch(loaded.functions["k0"], (ROWS // THREADS, 1, 1), (THREADS, 1, 1), parameters, device=device)
    found = memory.find(results)
    assert found is not None
    words = found.data.view(np.uint64).reshape(len(columns), ROWS)
    return {column.name: words[place] for place, column in enumerate(columns)}


def on_hardware(groups: list[list[Column]]) -> Iterator[tuple[list[Column], Any]]:
    """The results of each group, from the first GPU."""
    from cudapy import driver
    from cudapy.driver import checked

    checked.cuInit(0)
    context = checked.cuDevicePrimaryCtxRetain(0)
    checked.cuCtxSetCurrent(context)
    uploaded: dict[tuple[str, int], Any] = {}
    for start in range(0, len(groups), 32):
        some = groups[start : start + 32]
        loaded = checked.cuModuleLoadData(module(some).encode() + b"\0")
        for number, columns in enumerate(some):
            function = checked.cuModuleGetFunction(loaded, f"k{number}".encode())
            results, scratch = checked.cuMemAlloc(8 * ROWS * len(columns)), checked.cuMemAlloc(_SCRATCH)
            for place, kind in enumerate(columns[0].operands):
                if (kind, place) not in uploaded:
                    values = operand(kind, place)
                    uploaded[kind, place] = checked.cuMemAlloc(values.nbytes)
                    checked.cuMemcpyHtoD(uploaded[kind, place], values.ctypes.data, values.nbytes)
            inputs = [uploaded[kind, place] for place, kind in enumerate(columns[0].operands)]
            values = [int(results), ROWS, int(scratch), *map(int, inputs)]
            arrays = [np.array(value, np.uint64) for value in values]
            pointers = np.array([array.ctypes.data for array in arrays], np.uint64)
            checked.cuLaunchKernel(
                function, ROWS // THREADS, 1, 1, THREADS, 1, 1, 0, 0, pointers.ctypes.data, 0
            )
            words = np.empty((len(columns), ROWS), np.uint64)
            checked.cuMemcpyDtoH(words.ctypes.data, results, words.nbytes)
            checked.cuMemFree(results)
            checked.cuMemFree(scratch)
            yield columns, words
        checked.cuModuleUnload(loaded)
    driver.cuDevicePrimaryCtxRelease(0)


def ordered(column: Column, words: Any) -> tuple[Any, Any]:
    """Floats as integers, as far apart as the floats in units in the last place; and which are NaN."""
    kind = column.result
    size = TYPES[kind].size
    if kind.endswith("x2"):
        words = np.stack([words & np.uint64(0xFFFF), words >> np.uint64(16)]).reshape(-1)
        kind, size = kind[:-2], 2
    bits = words.astype(np.int64) if size < 8 else words.view(np.int64)
    sign = 1 << (8 * size - 1) if size < 8 else None
    negative = (bits & sign) != 0 if sign else bits < 0
    magnitude = bits & (sign - 1 if sign else 0x7FFFFFFFFFFFFFFF)
    exponent_bits, mantissa_bits = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}[kind]
    nan = magnitude > ((1 << exponent_bits) - 1) << mantissa_bits
    return np.where(negative, -magnitude, magnitude), nan


def numbers(column: Column, words: Any) -> Any:
    """Results as binary64 numbers."""
    kind = column.result
    if kind.endswith("x2"):
        words = np.stack([words & np.uint64(0xFFFF), words >> np.uint64(16)]).reshape(-1)
        kind = kind[:-2]
    if kind == "bf16":
        return (words.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    return words.astype(f"u{TYPES[kind].size}").view(TYPES[kind].code).astype(np.float64)


def errors(column: Column, hardware: Any, mine: Any, absolute: float = 0.0) -> tuple[int, float, int]:
    """The largest difference in units in the last place; the largest absolute one where neither is infinite;
    and the rows where only one is NaN. Rows that are at most `absolute` apart do not count among the
    first.
    """
    (a, a_nan), (b, b_nan) = ordered(column, hardware), ordered(column, mine)
    x, y = numbers(column, hardware), numbers(column, mine)
    finite = np.isfinite(x) & np.isfinite(y)
    with np.errstate(invalid="ignore"):
        apart = float(np.max(np.abs(x - y)[finite], initial=0.0))
        both = ~a_nan & ~b_nan & ~(finite & (np.abs(x - y) <= absolute) & (absolute > 0))
    units = int(np.max(np.abs(a - b)[both], initial=0))
    return units, apart, int(np.count_nonzero(a_nan != b_nan))


def _rows(column: Column, words: Any, mine: Any) -> Iterator[str]:
    bad = np.flatnonzero(trimmed(column, words) != trimmed(column, mine))
    for row in [*bad[:4], *bad[len(bad) // 2 : len(bad) // 2 + 4]]:
        inputs = " ".join(
            f"{kind}:{int(operand(kind, place)[row]):x}" for place, kind in enumerate(column.operands)
        )
        yield f"    row {row}: {inputs} -> {int(words[row]):x}, simulator {int(mine[row]):x}"


def main(out: str) -> None:
    started = time.perf_counter()
    columns = legal_columns()
    reference: dict[str, Any] = {"exact": {}, "approximate": {}}
    lines: list[str] = []
    differing = 0
    on_gpu = 0.0
    since = time.perf_counter()
    for group, words in on_hardware(grouped(columns)):
        on_gpu += time.perf_counter() - since
        try:
            mine = simulated(group)
        except Exception as error:
            lines.append(f"{group[0].name} ... {group[-1].name}: {type(error).__name__}: {error}")
            mine = {}
        for column, results in zip(group, words, strict=True):
            own = mine.get(column.name)
            if column.is_approximate:
                reference["approximate"][column.name] = packed(column, results)
                if own is not None:
                    lines.append(
                        f"{column.name}: {errors(column, results, own)} (ulp, absolute, NaN of one alone)"
                    )
                    lines += _rows(column, results, own)
            else:
                reference["exact"][column.name] = digest(column, results)
                if own is not None and digest(column, own) != digest(column, results):
                    differing += 1
                    count = np.count_nonzero(trimmed(column, own) != trimmed(column, results))
                    lines.append(f"{column.name}: {count} rows differ")
                    lines += _rows(column, results, own)
        since = time.perf_counter()
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reference.json").write_text(json.dumps(reference, indent=0, sort_keys=True) + "\n")
    (folder / "differences.txt").write_text("\n".join(lines) + "\n")
    print(
        f"{len(columns)} columns of {ROWS} rows, {differing} exact ones differ; {on_gpu:.1f} s for the GPU, "
        f"{time.perf_counter() - started:.1f} s in all"
    )
    print("\n".join(line for line in lines if not line.startswith("    "))[:8000])


if __name__ == "__main__":
    main(sys.argv[1])
