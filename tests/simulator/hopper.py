"""The programs of what compute capability 9.0 brought, on a GPU: `python -m tests.simulator.hopper`.

Runs the tests of clusters, mbarriers, bulk copies, tensor copies and warpgroups that compute something with a
machine that is the driver's device, and says which results are not those that NumPy gives. After one that
fails the rest goes on in a fresh process, so that it says nothing about the others.
"""

from __future__ import annotations

import ctypes
import itertools
import linecache
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cudapy.core import Device, Program, ProgramOptions
from cudapy.driver import CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig
from cudapy.driver import checked as cu
from cudapy.simulator.engine.ptx.types import TYPES
from cudapy.simulator.engine.tensor_map import KINDS, MAGIC, SIZE, TensorMap

from . import (
    test_bulk,
    test_clusters,
    test_mbarriers,
    test_tensor_map_changes,
    test_tensors,
    test_warpgroups,
)

SECONDS = 45.0
"""For one program; a kernel that waits for ever has to end."""
RESULT = "result: "
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
BOX = "kind", "shape", "box", "start", "steps"
PROGRAMS: list[tuple[Any, list[dict[str, Any]]]] = [
    (test_clusters.test_where_a_block_is, [{}]),
    (test_clusters.test_without_clusters_a_block_is_one, [{}]),
    (test_clusters.test_the_shared_memory_of_the_next_block, [{}]),
    (test_clusters.test_stores_and_atomics_on_other_blocks, [{}]),
    (test_clusters.test_threads_that_have_exited_are_not_waited_for, [{}]),
    (test_mbarriers.test_what_arrivals_count, [{}]),
    (test_mbarriers.test_bytes_that_are_awaited, [{}]),
    (test_mbarriers.test_a_pipeline, [{"seed": None}]),
    (test_mbarriers.test_arrivals_of_copies, [{}]),
    (test_mbarriers.test_the_barrier_of_another_block, [{}]),
    (test_bulk.test_there_and_back, [{}]),
    (test_bulk.test_copies_to_several_blocks, [{"mask": mask} for mask in (0b1011, 0b0010, 0b1101)]),
    (test_bulk.test_copies_reductions_and_stores_to_another_block, [{}]),
    (
        test_bulk.test_reductions_in_global_memory,
        [dict(zip(("name", "dtype", "expected"), one, strict=True)) for one in test_bulk.REDUCTIONS],
    ),
    (test_tensors.test_boxes, [dict(zip(BOX, one, strict=True)) for one in test_tensors.LOADED]),
    (test_tensors.test_stores, [dict(zip(BOX, one, strict=True)) for one in test_tensors.STORED]),
    (test_tensors.test_what_lies_outside_is_nan, [{"kind": kind} for kind in ("f16", "f32", "f64")]),
    (test_tensors.test_swizzles, [{"width": width} for width in (32, 64, 128)]),
    (test_tensors.test_a_reduction, [{}]),
    (test_tensors.test_boxes_for_several_blocks, [{}]),
    (test_tensors.test_windows_of_pixels, [{"step": step} for step in (1, 2)]),
    (test_tensor_map_changes.test_a_tensor_map_changed_in_shared_memory, [{}]),
    (
        test_warpgroups.test_rows_along_the_sum,
        [{"swizzle": width, "step": step} for width, step in ((0, 0), (32, 0), (64, 1), (128, 0), (128, 3))],
    ),
    (test_warpgroups.test_the_other_way_round, [{"swizzle": width} for width in SWIZZLES]),
    *(  # type: ignore[list-item]
        (test, [{}])
        for test in (
            test_warpgroups.test_bfloats,
            test_warpgroups.test_singles,
            test_warpgroups.test_floats_of_a_byte,
            test_warpgroups.test_bytes,
            test_warpgroups.test_sums_of_halves,
            test_warpgroups.test_a_factor_in_registers,
        )
    ),
]  # fmt: skip
"""Tests, and what they are called with."""


class Hardware:
    """Does for a device of the driver what `Machine` does for the engine."""

    def __init__(self) -> None:
        self._modules: dict[str, Any] = {}
        self.read: Any = None  # the last result

    def load(self, source: str, arch: Any = 90) -> Any:
        if source not in self._modules:
            options = ProgramOptions(arch="sm_90a", std="c++17")
            code = Program(source, "c++", options).compile("cubin").code
            self._modules[source] = cu.cuModuleLoadData(code)
        return self._modules[source]

    def array(self, values: Any) -> Memory:
        return Memory(self, np.ascontiguousarray(values))

    def zeros(self, shape: Any, dtype: Any) -> Memory:
        return self.array(np.zeros(shape, dtype))

    def run(
        self,
        module: Any,
        name: str,
        grid: Any,
        block: Any,
        *arguments: Any,
        shared: int = 0,
        cluster: Any = None,
    ) -> None:
        config = CUlaunchConfig(sharedMemBytes=shared)
        for part, sizes in (("gridDim", grid), ("blockDim", block)):
            sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
            for axis, size in itertools.zip_longest("XYZ", sizes, fillvalue=1):
                setattr(config, f"{part}{axis}", size)
        if cluster is not None:
            one = CUlaunchAttribute(id=CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            one.value.clusterDim.x, one.value.clusterDim.y, one.value.clusterDim.z = cluster
            config.attrs, config.numAttrs = [one], 1
        buffers = [_buffer(argument) for argument in arguments]
        addresses = np.array([ctypes.addressof(buffer) for buffer in buffers], np.uint64)
        cu.cuLaunchKernelEx(config, cu.cuModuleGetFunction(module, name.encode()), addresses, 0)
        cu.cuCtxSynchronize()


class Memory:
    """An array on the device."""

    def __init__(self, machine: Hardware, values: Any) -> None:
        self.machine = machine
        self.shape, self.dtype, self.nbytes = values.shape, values.dtype, values.nbytes
        self.address = int(cu.cuMemAlloc(self.nbytes))
        cu.cuMemcpyHtoD(self.address, values.ctypes.data, self.nbytes)

    def get(self) -> Any:
        values = np.empty(self.shape, self.dtype)
        cu.cuMemcpyDtoH(values.ctypes.data, self.address, self.nbytes)
        self.machine.read = values
        return values


def _buffer(argument: Any) -> Any:
    if isinstance(argument, Memory):
        data = argument.address.to_bytes(8, "little")
    else:
        data = argument if isinstance(argument, bytes) else argument.tobytes()
    if len(data) == SIZE and data.startswith(MAGIC):
        data = bytes(_encoded(TensorMap.unpack(data)))
    return ctypes.create_string_buffer(data, len(data))


def _encoded(tensor: TensorMap) -> Any:
    """A tensor map as the driver makes it."""
    kind = KINDS.index(tensor.kind)
    last = tensor.steps, 0, SWIZZLES[tensor.swizzle], 0, int(tensor.fills_nan)
    row = tensor.sizes[0] * TYPES[tensor.kind].size
    strides = tensor.strides or (-(-row // 16) * 16,)  # one dimension has none, but null is refused
    head = kind, len(tensor.sizes), tensor.address, tensor.sizes, strides
    if tensor.is_windowed:
        return cu.cuTensorMapEncodeIm2col(*head, tensor.lower, tensor.upper, *tensor.box, *last)  # type: ignore[call-arg]
    return cu.cuTensorMapEncodeTiled(*head, tensor.box, *last)


def results(command: list[str], count: int, limit: float) -> Iterator[tuple[int, str]]:
    """Which of `count` programs do not do what they should, and why.

    `command` with a number runs those from there on, up to the first that fails: after a fault nothing works.
    The rest goes on in another process. limit: seconds for one program, the start of the process included.
    """
    number = 0
    while number < count:
        child = subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        why = ""
        while number < count and not why:
            line, is_late = _line(child, limit)
            if line.startswith(RESULT):
                why = line.removeprefix(RESULT).strip()
            elif line:
                continue
            elif is_late:
                why = f"nothing for {limit:g} seconds"
            else:
                why = f"the process ended with {child.wait()}"
            if why:
                yield number, why
            number += 1
        child.stdout.close()
        if child.wait() and not why:
            yield number - 1, f"all as it should be, and then the process ended with {child.returncode}"


def _line(child: subprocess.Popen[str], limit: float) -> tuple[str, bool]:
    """The next line of a process, "" at its end; and whether that took too long, and it was ended."""
    assert child.stdout is not None
    late: list[bool] = []
    overdue = threading.Timer(limit, lambda: (late.append(True), child.kill()))
    overdue.start()
    line = child.stdout.readline()
    overdue.cancel()
    return line, bool(late)


def run(number: int) -> None:
    """Run the programs from this one on, until one fails, and say so of each."""
    Device().set_current()
    machine = Hardware()
    for test, arguments in calls()[number:]:
        try:
            test(machine, **arguments)
        except Exception as error:
            print(RESULT + reason(error, machine), flush=True)
            return
        print(RESULT, flush=True)


def reason(error: Exception, machine: Hardware) -> str:
    """An error on a line; of an assertion where it is, and how far the last result is from `expected`."""
    said = f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"
    if not isinstance(error, AssertionError):
        return said
    for frame, line in traceback.walk_tb(error.__traceback__):
        path, found = frame.f_code.co_filename, machine.read
        said = f"AssertionError: {Path(path).name}, line {line}: {linecache.getline(path, line).strip()}"
        expected = frame.f_locals.get("expected")
        if isinstance(expected, np.ndarray) and found is not None and found.nbytes == expected.nbytes:
            found = np.frombuffer(found.tobytes(), expected.dtype).reshape(expected.shape)
            bad = np.argwhere(found != expected)
            if len(bad):
                at = tuple(map(int, bad[0]))
                said += f": {len(bad)} of {expected.size} differ, at {at} {found[at]} for {expected[at]}"
    return said


def calls() -> list[tuple[Any, dict[str, Any]]]:
    """The programs, one after the other."""
    return [(test, arguments) for test, several in PROGRAMS for arguments in several]


def main() -> int:
    if sys.argv[1:]:
        run(int(sys.argv[1]))
        return 0
    programs, wrong = calls(), 0
    for number, why in results([sys.executable, "-m", "tests.simulator.hopper"], len(programs), SECONDS):
        test, arguments = programs[number]
        wrong += 1
        print(f"{test.__module__}.{test.__name__} {arguments}: {why}", flush=True)
    print(f"{Device().name}: {len(programs)} programs, {wrong} not as on the simulator")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
