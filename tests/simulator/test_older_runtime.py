"""The libcudart of CUDA 12 on the simulator: its structs and functions are not those of CUDA 13."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cudapy.simulator.shared.architectures import ARCHITECTURES

from .test_shared import SUPPORTED, output

pytestmark = pytest.mark.skipif(
    not SUPPORTED, reason=f"there are shared libraries for Linux on {' and '.join(ARCHITECTURES)}"
)

STRUCTS = """
import ctypes, sys
from cudapy import runtime as names
from cudapy.runtime import (
    cudaDeviceProp, cudaDeviceProp_12, cudaPointerAttributes, cudaResourceDesc, cudaResourceViewDesc,
    cudaTextureDesc, cudaChannelFormatDesc, cudaExtent)

P, S, ref = ctypes.c_void_p, ctypes.c_size_t, ctypes.byref
kinds = cudaPointerAttributes, cudaResourceDesc, cudaResourceViewDesc
SIZES = {12: {cudaDeviceProp_12: 1032, **dict(zip(kinds, (24, 64, 48)))},
         13: {cudaDeviceProp: 1008, **dict(zip(kinds, (88, 144, 112)))}}

def ok(status):
    assert status == 0, status

class Room:
    "Memory of a struct's size at the end of a page, which nothing may write or read behind."
    def __init__(self, major, cls, value=None):
        self.cls, self.size = cls, SIZES[major][cls]
        self.pages = libc.mmap(None, S(8192), 3, 0x22, -1, S(0))
        ok(libc.mprotect(P(self.pages + 4096), S(4096), 0))
        self.address = P(self.pages + 4096 - self.size)
        if value is not None:
            ctypes.memmove(self.address, ctypes.addressof(value), self.size)
    def read(self):
        value = self.cls()
        ctypes.memmove(ctypes.addressof(value), self.address, self.size)
        return value

libc = ctypes.CDLL(None)
libc.mmap.restype = P
for major in (12, 13):
    library = ctypes.CDLL(f"libcudart.so.{major}")
    place, array, texture, surface = P(), P(), ctypes.c_uint64(), ctypes.c_uint64()
    # the device
    kind = cudaDeviceProp_12 if major == 12 else cudaDeviceProp
    room, chosen = Room(major, kind), ctypes.c_int(-1)
    ok(library["cudaGetDeviceProperties" + "_v2" * (major == 12)](room.address, 0))
    ok(library.cudaChooseDevice(ref(chosen), room.address))
    found = room.read()
    def attribute(name):
        number = ctypes.c_int()
        which = int(getattr(names.cudaDeviceAttr, "cudaDevAttr" + name))
        ok(library.cudaDeviceGetAttribute(ref(number), which, 0))
        return number.value
    checked = 0
    for field, *_ in kind._fields_:
        name = field[0].upper() + field[1:]
        for old, new in (("SharedMemPer", "MaxSharedMemoryPer"), ("RegsPer", "MaxRegistersPer"),
                         ("ID", "Id"), ("TotalConstMem", "TotalConstantMemory"),
                         ("DeviceOverlap", "GpuOverlap")):
            name = name.replace(old, new)
        if hasattr(names.cudaDeviceAttr, "cudaDevAttr" + name):
            checked += 1
            assert getattr(found, field) == attribute(name), (field, getattr(found, field), attribute(name))
    print(major, checked > 45, found.name, found.multiProcessorCount, found.maxThreadsPerMultiProcessor)
    print(chosen.value)
    # memory
    room = Room(major, cudaPointerAttributes)
    ok(library.cudaMallocManaged(ref(place), S(4096), 1))
    ok(library.cudaPointerGetAttributes(room.address, place))
    attributes = room.read()
    print(int(attributes.type), attributes.devicePointer == place.value == attributes.hostPointer)
    # textures and surfaces
    desc, extent = cudaChannelFormatDesc(x=32, f=2), cudaExtent(width=8, height=8)
    ok(library.cudaMalloc3DArray(ref(array), ref(desc), extent, 2))
    resource = cudaResourceDesc()
    resource.res.array.array = array.value
    float1 = names.cudaResourceViewFormat.cudaResViewFormatFloat1
    view = cudaResourceViewDesc(format=float1, width=8, height=8)
    given, view = Room(major, cudaResourceDesc, resource), Room(major, cudaResourceViewDesc, view)
    room, seen = Room(major, cudaResourceDesc), Room(major, cudaResourceViewDesc)
    sampled = ref(cudaTextureDesc())
    ok(library.cudaCreateTextureObject(ref(texture), given.address, sampled, view.address))
    ok(library.cudaGetTextureObjectResourceDesc(room.address, texture))
    ok(library.cudaGetTextureObjectResourceViewDesc(seen.address, texture))
    seen = seen.read()
    print(int(room.read().res.array.array) == array.value, seen.width, seen.format == float1)
    room = Room(major, cudaResourceDesc)
    ok(library.cudaCreateSurfaceObject(ref(surface), given.address))
    ok(library.cudaGetSurfaceObjectResourceDesc(room.address, surface))
    print(int(room.read().res.array.array) == array.value)
"""


def test_the_structs_are_those_of_the_major() -> None:
    """A program has room for no more: behind each struct is memory that cannot be read or written."""
    rest = ["0", "3 True", "True 8 True", "True"]
    first = "True b'cudapy simulator' 4 2048"
    assert output(STRUCTS).splitlines() == [f"12 {first}", *rest, f"13 {first}", *rest]


FORMS = """
import ctypes
from cudapy.runtime import cudaGraphNodeParams, cudaMemcpyAttributes
P, S, ref = ctypes.c_void_p, ctypes.c_size_t, ctypes.byref
driver = ctypes.CDLL("libcuda.so.1")

def ok(status):
    assert status == 0, status

def address(function):
    return ctypes.cast(function, P).value

for major in (12, 13):
    library = ctypes.CDLL(f"libcudart.so.{major}")
    edges = (None,) if major == 13 else ()
    stream, graph, nodes = P(), P(), [P() for _ in range(3)]
    number, status = ctypes.c_uint64(), ctypes.c_int()
    ok(library.cudaStreamCreateWithFlags(ref(stream), 1))
    ok(library.cudaGraphCreate(ref(graph), 0))
    params = cudaGraphNodeParams(type=5)  # an empty node
    ok(library.cudaGraphAddNode(ref(nodes[0]), graph, None, *edges, S(0), ref(params)))
    ok(library.cudaGraphAddEmptyNode(ref(nodes[1]), graph, None, S(0)))
    ok(library.cudaGraphAddDependencies(graph, ref(nodes[0]), ref(nodes[1]), *edges, S(1)))
    count, before = S(1), P()
    ok(library.cudaGraphNodeGetDependencies(nodes[1], ref(before), *edges, ref(count)))
    print(count.value, before.value == nodes[0].value)
    ok(library.cudaGraphNodeGetDependentNodes(nodes[0], ref(before), *edges, ref(count)))
    print(count.value, before.value == nodes[1].value)
    ok(library.cudaGraphRemoveDependencies(graph, ref(nodes[0]), ref(nodes[1]), *edges, S(1)))
    ok(library.cudaGraphGetEdges(graph, None, None, *edges, ref(count)))
    print(count.value)
    ok(library.cudaStreamBeginCapture(stream, 0))
    rest = (None, None, None, None) if major == 13 else ()
    for form in ("", "_ptsz"):
        ok(library["cudaStreamGetCaptureInfo" + form](stream, ref(status), ref(number), *rest))
        print(status.value, number.value > 0)
    ok(library.cudaStreamUpdateCaptureDependencies(stream, None, *edges, S(0), 1))
    ok(library.cudaStreamEndCapture(stream, ref(graph)))
    memory, there = P(), ctypes.create_string_buffer(b"there")
    ok(library.cudaMallocManaged(ref(memory), S(4096), 1))
    ok(library.cudaMemPrefetchAsync(memory, S(4096), 0, stream) if major == 12
       else library.cudaMemPrefetchAsync(memory, S(4096), ctypes.c_uint64(1), 0, stream))
    destinations, sources = (P * 1)(memory.value), (P * 1)(ctypes.addressof(there))
    rules = ref(cudaMemcpyAttributes(srcAccessOrder=1)), ref(S(0)), S(1)
    failed = (ref(S()),) if major == 12 else ()
    ok(library.cudaMemcpyBatchAsync(destinations, sources, (S * 1)(6), S(1), *rules, *failed, stream))
    ok(library.cudaStreamSynchronize(stream))
    print(ctypes.string_at(memory))
    for name in ("cuCtxSynchronize", "cuGraphAddNode", "cuCtxCreate"):
        function, state = P(), ctypes.c_int(-1)
        ok(library.cudaGetDriverEntryPoint(name.encode(), ref(function), ctypes.c_uint64(0), ref(state)))
        versions = [name, *(f"{name}_v{number}" for number in range(2, 6))]
        there = [version for version in versions if hasattr(driver, version)]
        print(*(version for version in there if address(driver[version]) == function.value), state.value)
    own = P()
    ok(library.cudaGetDriverEntryPoint_ptsz(b"cuStreamQuery", ref(own), ctypes.c_uint64(0), None))
    print(own.value == address(driver.cuStreamQuery_ptsz), hasattr(library, "cudaLaunchKernelExC_ptsz"))
"""
SAME = ["1 True", "1 True", "0", "1 True", "1 True", "b'there'"]


def test_the_functions_have_the_parameters_of_the_major() -> None:
    """And find those functions of the driver that a program of that major knows."""
    found = "cuCtxSynchronize 0", "cuGraphAddNode_v2 0", "cuCtxCreate_v4 0", "True True"
    newer = "cuCtxSynchronize_v2 0", "cuGraphAddNode_v3 0", "cuCtxCreate_v4 0", "True True"
    assert output(FORMS).splitlines() == [*SAME, *found, *SAME, *newer]


@pytest.mark.thorough
def test_cudapy_on_a_simulated_cuda_12() -> None:
    """Every test of the Runtime API: `cudapy.runtime` calls the functions of the simulator's major."""
    tests = str(Path(__file__).parents[1] / "gpu"), "-k", "runtime and not core"
    environment = {**os.environ, "CUDAPY_SIMULATOR_DRIVER_VERSION": "12.9", "CUDAPY_DRIVER": "simulator"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        command, env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-4000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None and int(passed[1]) > 200, done.stdout[-400:]
