"""Several copies of the package in one process: they share one simulator, as they share a GPU's contexts."""

from __future__ import annotations

import os

import pytest

from tests import warm

BOTH = """
from tests.stub import vendored
from tests.warm import import_all
vendored("one"); import_all("one")
vendored("two"); import_all("two")
import numpy as np
from one import core, driver, nvml, nvrtc, pathfinder, runtime, simulator
from two import core as core2, driver as driver2, nvml as nvml2, runtime as runtime2, simulator as simulator2
"""
ENABLED = """
simulator.enable(devices=2, reports=False, compute_capability=(8, 0))
simulator2.enable()
device, device2 = core.Device(0), core2.Device(0)
device.set_current()
"""
RUN = """
code = core2.Program('extern "C" __global__ void k(int *x) { x[threadIdx.x] += 1; }', "c++").compile("cubin")
kernel = code.get_kernel("k")
"""


def printed(code: str, **environment: str) -> list[str]:
    """The lines that a program prints, behind BOTH."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    done = warm.run(["-c", code], env={**given, **environment}, ends_at_once=True, before=BOTH)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_they_have_the_same_devices_and_contexts() -> None:
    code = f"""{ENABLED}
print(len(core2.Device.get_all_devices()), device2.arch, simulator2.is_enabled())
current = [int(each.checked.cuCtxGetCurrent()) for each in (driver, driver2)]
print(current == 2 * [int(device2.context.handle)])
"""
    assert printed(code) == ["2 80 True", "True"]


@pytest.mark.usefixtures("nvrtc")
def test_memory_streams_and_kernels_go_from_one_to_the_other() -> None:
    code = f"""{ENABLED}{RUN}
stream = device.create_stream()
buffer = device.allocate(128, stream)
buffer.fill(0, stream=stream)
config = core2.LaunchConfig(grid=1, block=32)
by_handle = core2.Stream.from_handle(stream.handle), core2.Buffer.from_handle(buffer.handle, 128)
core2.launch(by_handle[0], config, kernel, by_handle[1])
core2.launch(stream, config, kernel, buffer)  # by their protocols
core.launch(stream, core.LaunchConfig(grid=1, block=32), core.Kernel.from_handle(int(kernel.handle)), buffer)
host = np.zeros(32, np.int32)
core2.utils.StridedMemoryView.from_dlpack(buffer.view(np.int32), -1).copy_to(
    core2.utils.StridedMemoryView.from_any_interface(host), stream)
stream.sync()
print(set(host.tolist()))
"""
    assert printed(code) == ["{3}"]


def test_each_library_of_the_simulator_is_shared() -> None:
    code = f"""{ENABLED}
address = runtime2.checked.cudaMalloc(64)
print(driver.checked.cuMemGetAddressRange(int(address))[1])
unsigned = runtime2.cudaChannelFormatKind.cudaChannelFormatKindUnsigned
status, made = runtime2.cudaCreateChannelDesc(8, 16, 0, 0, unsigned)  # C returns a struct
print(status.name, type(made) is runtime2.cudaChannelFormatDesc, made.x, made.y, made.f.name)
nvml2.nvmlInit()
print(nvml2.nvmlDeviceGetCount()[1], runtime2.checked.cudaRuntimeGetVersion())
from two import nccl
print(nccl.ncclGetVersion()[0].name)
try:
    driver2.cuNoSuchFunction
except AttributeError as error:
    print(error)
"""
    assert printed(code) == [
        "64",
        "cudaSuccess True 8 16 cudaChannelFormatKindUnsigned",
        "2 13050",
        "ncclSuccess",
        "module 'two.driver' has no attribute 'cuNoSuchFunction'",
    ]


@pytest.mark.usefixtures("nvrtc")
def test_the_simulator_module_of_each_is_about_both() -> None:
    code = f"""{ENABLED}{RUN}
stream = device.create_stream()
print(simulator.alive() == simulator2.alive(), simulator2.alive()["stream"])
simulator2.enable(coverage=True)
core2.launch(device2.default_stream, core2.LaunchConfig(grid=1, block=32), kernel, device.allocate(128))
device.sync()
print([count.kernel for count in simulator2.coverage_report()])
with simulator2.failing("cuMemAlloc") as calls:
    print(driver.cuMemAlloc(64)[0].name, calls.failed)
try:
    simulator2.enable(devices=3)
except RuntimeError as error:
    print(str(error)[:37])
"""
    assert printed(code) == [
        "True 1",
        "['k']",
        "CUDA_ERROR_OUT_OF_MEMORY cuMemAlloc",
        "the simulator is on, with devices=2, ",
    ]


def test_the_environment_enables_it_in_each() -> None:
    """Whichever comes first runs it."""
    code = """
core2.Device(1).set_current()
first, second = (copy.process.other_copy() for copy in (simulator, simulator2))
print(core.Device().device_id, simulator.is_enabled(), first.package, second)
"""
    assert printed(code, CUDAPY_DRIVER="simulator", CUDAPY_SIMULATOR_DEVICES="2") == ["1 True two None"]


def test_a_simulator_that_does_not_start_is_nobody_s() -> None:
    code = """
try:
    simulator.enable(devices=17)
except ValueError as error:
    print(error)
simulator2.enable(devices=3)
print(len(core2.Device.get_all_devices()), simulator.is_enabled())
simulator.enable()
print(len(core.Device.get_all_devices()))
"""
    assert printed(code) == ["the simulator has 1 .. 16 devices, not 17", "3 False", "3"]


def test_copies_that_do_not_fit_say_so() -> None:
    code = """
import two.simulator.copies as copies
copies.PROTOCOL, copies.__version__ = 2, "9.8"
simulator2.enable()
try:
    simulator.enable()
except RuntimeError as error:
    print(error)
print(simulator.is_enabled())
"""
    (message, is_enabled) = printed(code)
    assert message.startswith("the simulator of two (cudapy 9.8) is on in this process, and one (cudapy ")
    assert message.endswith(" cannot use it: have both of the same version") and is_enabled == "False"


def test_threads_of_both_start_it_once() -> None:
    code = """
import threading
both = threading.Barrier(2)
def start(simulator):
    both.wait(60)
    simulator.enable(devices=2)
threads = [threading.Thread(target=start, args=[each]) for each in (simulator, simulator2)]
for thread in threads: thread.start()
for thread in threads: thread.join(60)
print(len({int(each.Device(1).context.handle) for each in (core, core2)}))
print([each.process.other_copy() for each in (simulator, simulator2)].count(None))
"""
    assert printed(code) == ["1", "1"]


def test_the_one_whose_libcuda_is_installed_runs_it() -> None:
    """Though the other one makes the first call."""
    code = """
simulator.install(children=False)
print(simulator.alive(), simulator2.alive())
simulator2.enable(devices=2)
import ctypes
count = ctypes.c_int()
status, other = ctypes.CDLL("libcuda.so.1").cuInit(0), simulator2.process.other_copy()
print(status, core2.Device(1).device_id, other.package)
print(ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(count)), count.value)
"""
    assert printed(code) == ["{} {}", "0 1 one", "0 2"]


def test_install_is_for_the_one_that_runs() -> None:
    code = f"""{ENABLED}
simulator2.install(children=False)
import ctypes
count = ctypes.c_int()
print(ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(count)), count.value)
print(driver2.checked.cuDeviceGetCount())
"""
    assert printed(code) == ["0 2", "2"]


@pytest.mark.usefixtures("nvrtc")
def test_a_class_of_another_copy_is_told_apart() -> None:
    code = f"""{ENABLED}{RUN}
stream = device.create_stream()
ours = core.Kernel.from_handle(int(kernel.handle))
for use in (
    lambda: core2.launch(stream, core.LaunchConfig(grid=1, block=1), kernel),
    lambda: core.launch(stream, core.LaunchConfig(grid=1, block=1), kernel),
    lambda: core.launch(stream, core2.LaunchConfig(grid=1, block=1), kernel, "not an argument"),
    lambda: core.launch(stream, core2.LaunchConfig(grid=1, block=1), ours),
    lambda: core.prepare(stream, core.LaunchConfig(grid=1, block=1), kernel),
    lambda: device.allocate(64).copy_from(device2.allocate(64)),
    lambda: core.utils.copy_batch(stream, [device2.allocate(64)], [device.allocate(64)]),
    lambda: stream.wait(device2.default_stream.record()),
    lambda: core.graph.GraphDefinition().join(core2.graph.GraphDefinition().join()),
    lambda: device.set_current(device2.context),
    lambda: core.Linker(code),
):
    try:
        use()
    except TypeError as error:
        print(error)
"""
    same = "is expected: take one of the same copy of cudapy"
    foreign_kernel = (
        f"takes a Kernel third, not two.core.Kernel, where one.core.Kernel {same}, "
        "which one.core.Kernel.from_handle makes of the other's handle"
    )
    foreign_buffer = (
        f"not two.core.Buffer, where one.core.Buffer {same}, "
        "which one.core.Buffer.from_handle makes of the other's handle"
    )
    assert printed(code) == [
        f"launch takes a LaunchConfig second, not one.core.LaunchConfig, where two.core.LaunchConfig {same}",
        f"launch {foreign_kernel}",
        f"launch {foreign_kernel}",
        f"launch takes a LaunchConfig second, not two.core.LaunchConfig, where one.core.LaunchConfig {same}",
        f"prepare {foreign_kernel}",
        f"copy_from: src must be a Buffer or a host array, {foreign_buffer}",
        f"copy_batch: srcs must be Buffers, {foreign_buffer}",
        "a stream must be a Stream or have __cuda_stream__(), "
        f"not two.core.Event, where one.core.Event {same}",
        f"join takes nodes, not two.core.graph.EmptyNode, where one.core.graph.EmptyNode {same}",
        f"set_current() takes a Context, not two.core.Context, where one.core.Context {same}",
        f"Linker: an input must be an ObjectCode, not two.core.ObjectCode, where one.core.ObjectCode {same}",
    ]
