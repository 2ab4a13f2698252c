"""Each allocation of Python's fails once, in calls of every style: the result is right, or a MemoryError.

In a process of its own, on the stub library: what fails is Python, and not a simulated driver in Python.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.stub import python

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        importlib.util.find_spec("_testcapi") is None, reason="this build of Python has no _testcapi"
    ),
    pytest.mark.skipif(
        sys.version_info[:2] == (3, 12), reason="CPython 3.12.1 dies in frames of its own without memory"
    ),
]

PROGRAM = """
import _testcapi, ctypes
from cudapy import driver as d
stub = ctypes.CDLL(STUB)
d.libcuda.load = lambda: stub
props, stream = d.CUmemPoolProps(), d.CUstream(5)
threads = d.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK

def field():
    props.location = d.CUmemLocation()
    return props.location.id

calls = {
    "an output": lambda: d.cuMemAlloc(64),
    "checked": lambda: d.checked.cuMemAlloc(64),
    "a text from C": lambda: d.cuDeviceGetName(64, 0),
    "an enum": lambda: d.cuDeviceGetAttribute(threads, 0),
    "kernel arguments": lambda: d.cuLaunchKernel(
        1, 2, 2, 2, 2, 2, 2, 0, stream, ((1, 2.5), (ctypes.c_int, ctypes.c_double)), 0
    ),
    "a buffer": lambda: d.cuMemcpyHtoD(5, b"abcdefgh", 8),
    "a struct": lambda: d.cuMemPoolCreate(props),
    "a list": lambda: d.cuGraphAddDependencies(1, [1, 2, 3], [3, 4, 5], 3),
    "a list from C": lambda: d.cuGraphGetNodes(1, 8),
    "a text": lambda: d.cuModuleGetFunction(1, b"name"),
    "a field": field,
    "a repr": lambda: repr(props),
    "a new struct": lambda: d.CUDA_MEMCPY3D().srcXInBytes,
    "a refusal": lambda: d.cuMemAlloc("x"),
}

def outcome(call):
    try:
        return repr(call())
    except Exception as error:
        return error

def is_of_memory(error):
    # ctypes makes an ArgumentError of what is raised as it converts an argument, and a SystemError is what
    # CPython raises where it has failed to raise: neither is cudapy's.
    if isinstance(error, ctypes.ArgumentError):
        return "MemoryError" in str(error)
    return isinstance(error, (MemoryError, SystemError))

for name, call in calls.items():
    for _ in range(3):
        right = outcome(call)
    failed = fine = number = 0
    while fine < 20:  # all allocations were behind the one that was to fail
        _testcapi.set_nomemory(number, number + 1)
        found = outcome(call)
        _testcapi.remove_mem_hooks()
        number += 1
        if isinstance(found, Exception) and is_of_memory(found):
            failed, fine = failed + 1, 0
            continue
        fine += 1
        if type(found) is not type(right) or str(found) != str(right):
            print(f"{name}: allocation {number}: {found!r} instead of {right!r}")
    if not failed:
        print(f"{name}: nothing failed")
    if str(outcome(call)) != str(right):
        print(f"{name}: not right any more")
print("done")
"""


def test_each_allocation_fails_once(stub_path: Path) -> None:
    done = python(PROGRAM.replace("STUB", repr(str(stub_path))))
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "done\n")
