"""`simulator.reset()`: fresh devices in the same process, and what is said of things of before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .test_copies import printed
from .test_device import REPOSITORY, output, run

pytestmark = pytest.mark.usefixtures("nvrtc")

START = """
import ctypes, gc, os, threading
import numpy as np
from cudapy import driver, runtime, simulator
from cudapy.core import CUDAError, Device, LaunchConfig, Program, ProgramOptions, launch
simulator.enable(devices=2)
source = '''extern "C" __global__ void k(int *p, int wrong)
{
    p[threadIdx.x + wrong] = 7;
}
extern "C" __global__ void never(volatile int *p) { while (!*p); }'''

def sevens(device=None):
    "What a program makes, from its device on; a kernel has filled the buffer."
    device = device or Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(source, "c++", ProgramOptions(lineinfo=True)).compile("cubin")
    buffer, host = device.allocate(128, stream), np.zeros(32, np.int32)
    launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("k"), buffer, np.int32(0))
    buffer.copy_to(host, stream=stream)
    stream.sync()
    assert host.tolist() == 32 * [7]
    return device, stream, code, buffer

def fault(made):
    device, stream, code, buffer = made
    launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("k"), buffer, np.int32(1000))
    return said(stream.sync)

def said(function, *arguments):
    try:
        function(*arguments)
    except (CUDAError, RuntimeError) as error:
        return str(error)
    return "no error"
"""


def test_a_program_goes_on_after_a_fault_in_every_thread() -> None:
    code = """
def thread(number):
    made = sevens(Device(number))
    ready.wait()
    reset.wait()
    found = number, made[0] is Device(number), sevens()[0].device_id, sevens(made[0])[0].device_id
    with one: print(*found)
ready, reset, one = threading.Barrier(3), threading.Barrier(3), threading.Lock()
threads = [threading.Thread(target=thread, args=(number,)) for number in range(2)]
for each in threads: each.start()
made = sevens()
ready.wait()
assert "Invalid __global__ write" in fault(made)
assert "call simulator.reset(), or restart the process" in said(made[1].sync)
assert "the context is lost since the fault in k at default_program:3, reported before" in said(made[1].sync)
simulator.reset()
assert simulator.alive() == {}
reset.wait()
for each in threads: each.join()
sevens()
sevens(made[0])
"""
    assert sorted(output(START + code).splitlines()) == ["0 True 0 0", "1 True 0 1"]


def test_a_report_that_a_library_ignored_is_still_told() -> None:
    """core asks whether work is done, and a lost context does nothing: the program has not read why."""
    code = """
made = sevens()
event = made[1].record()
launch(made[1], LaunchConfig(grid=1, block=32), made[2].get_kernel("k"), made[3], np.int32(1000))
while said(lambda: event.is_done) == "no error": pass
assert "Invalid __global__ write" in said(made[1].sync)
assert "Invalid __global__ write" not in said(made[1].sync)
"""
    assert output(START + code) == ""


def test_things_of_before_say_so_and_are_released_in_silence() -> None:
    code = """
device, stream, code, buffer = made = sevens()
event, kernel, event2 = stream.record(), code.get_kernel("k"), device.create_event()
pool = driver.checked.cuDeviceGetDefaultMemPool(0)
module = driver.checked.cuModuleLoadData(code.code)
context = driver.checked.cuCtxGetCurrent()
pointer, pinned = driver.checked.cuMemAlloc(64), driver.checked.cuMemAllocHost(64)
builder = device.create_graph_builder()
builder.begin_building()
simulator.reset()
_, new_stream, new_code, new_buffer = sevens()
one = LaunchConfig(grid=1, block=1)
for call in (
    (stream.sync,), (event.sync,), (stream.record,), (buffer.fill, 0),
    (lambda: buffer.fill(0, stream=new_stream),),
    (launch, new_stream, one, kernel, new_buffer, np.int32(0)), (code.get_kernel, "k"),
    (driver.checked.cuMemFree, pointer), (driver.checked.cuMemFreeHost, pinned),
    (driver.checked.cuMemFreeAsync, int(buffer.handle), new_stream.handle),
    (driver.checked.cuMemsetD8, pointer, 0, 64), (driver.checked.cuCtxSetCurrent, context),
    (driver.checked.cuModuleUnload, module),
    (driver.checked.cuMemAllocFromPoolAsync, 64, pool, new_stream.handle),
    (driver.checked.cuEventQuery, event2.handle), (runtime.checked.cudaStreamSynchronize, int(stream.handle)),
):
    text = said(*call)
    assert "belongs to the devices before simulator.reset()" in text, (call, text)
new_stream.sync()
alive = simulator.alive()
for each in (buffer, event, event2, stream): each.close()
del device, stream, code, buffer, event, event2, kernel, made, builder, each, call
gc.collect()
assert simulator.alive() == alive
launch(new_stream, one, new_code.get_kernel("k"), new_buffer, np.int32(0))
launch(new_stream, one, new_code.get_kernel("k"), int(pointer), np.int32(0))
text = said(new_stream.sync)
assert f"in device memory of 64 bytes at {int(pointer):#x} which belongs to the devices before" in text, text
"""
    assert output(START + code) == ""


def test_neither_handles_nor_addresses_are_given_out_again() -> None:
    code = """
def make():
    Device(0).set_current()
    checked = driver.checked
    handles = [int(checked.cuStreamCreate(1)), int(checked.cuEventCreate(0)), int(checked.cuCtxGetCurrent())]
    sizes = [8, 100, 4096, 70 << 20]
    made = [getattr(checked, name) for name in ("cuMemAlloc", "cuMemAllocHost")]
    addresses = [(int(each(size)), size) for each in made for size in sizes]
    addresses += [(int(checked.cuMemAllocManaged(size, 1)), size) for size in sizes]
    addresses += [(int(checked.cuMemAllocAsync(size, 0)), size) for size in sizes]
    array = checked.cuArrayCreate(driver.CUDA_ARRAY_DESCRIPTOR(Width=64, Format=32, NumChannels=1))
    prop = driver.CUmemAllocationProp(type=1, location=driver.CUmemLocation(type=1, id=0))
    place, physical = checked.cuMemAddressReserve(2 << 20, 0, 0, 0), checked.cuMemCreate(2 << 20, prop, 0)
    checked.cuMemMap(place, 2 << 20, 0, physical, 0)
    return handles + [int(array), int(physical)], [*addresses, (int(place), 2 << 20)]
handles, addresses = [], []
for _ in range(6):
    new_handles, new_addresses = make()
    assert not set(handles) & set(new_handles)
    for start, size in new_addresses:
        assert all(end <= start or start + size <= begin for begin, end in addresses)
    handles += new_handles
    addresses += [(start, start + size) for start, size in new_addresses]
    if len(addresses) == 2 * len(new_addresses):
        files = len(os.listdir("/proc/self/fd"))
    simulator.reset()
assert len(os.listdir("/proc/self/fd")) <= files
for start, end in addresses:
    ctypes.string_at(start, min(end - start, 4096))  # no signal
"""
    assert output(START + code) == ""


def test_memory_that_arrays_show_stays_and_what_the_device_had_goes() -> None:
    code = """
device, stream, *_ = sevens()
size = 64 << 20
pinned = driver.checked.cuMemAllocHost(4096)
shown = np.frombuffer((ctypes.c_uint8 * 4096).from_address(int(pinned)), np.uint8)
shown[:] = 5
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
before = resident()
pointers = [driver.checked.cuMemAlloc(size), driver.checked.cuMemAllocAsync(size, stream.handle)]
for pointer in pointers:
    driver.checked.cuMemsetD8(pointer, 1, size)
simulator.reset()
print(resident() - before < size // 2, set(shown.tolist()))
"""
    assert output(START + code) == "True {5}\n"


def test_threads_that_wait_get_an_error_and_what_runs_ends() -> None:
    code = """
device, stream, code, buffer = sevens()
buffer.fill(0, stream=stream)
launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("never"), buffer)
found = []
thread = threading.Thread(target=lambda: found.append(said(stream.sync)))
thread.start()
while not __import__("cudapy.simulator.streams.work").simulator.streams.work.waited_for:
    pass
simulator.reset()
thread.join(30)
print("CUDA_ERROR_CONTEXT_IS_DESTROYED" in found[0], "before simulator.reset()" in found[0])
sevens()
"""
    assert output(START + code) == "True True\n"


def test_the_runtime_begins_again() -> None:
    code = """
checked = runtime.checked
checked.cudaSetDevice(1)
pointer = checked.cudaMalloc(64)
runtime.cudaFree(12345)
simulator.reset()
print(runtime.cudaGetLastError()[0].name, checked.cudaGetDevice())
print(runtime.cudaFree(pointer)[0].name)
new = checked.cudaMalloc(64)
checked.cudaMemset(new, 1, 64)
checked.cudaDeviceSynchronize()
"""
    assert output(START + code) == "cudaSuccess 0\ncudaErrorInvalidValue\n"


def test_a_capture_under_way_is_no_more() -> None:
    code = """
device, stream, *_ = sevens()
driver.checked.cuStreamBeginCapture(stream.handle, 0)
simulator.reset()
driver.checked.cuStreamCreate  # no capture forbids this thread anything
device, stream, code, buffer = sevens()
driver.checked.cuMemFree(driver.checked.cuMemAlloc(16))
print(driver.checked.cuThreadExchangeStreamCaptureMode(1).name)
"""
    assert output(START + code) == "CU_STREAM_CAPTURE_MODE_GLOBAL\n"


def test_where_there_are_no_fresh_devices() -> None:
    code = """
device, stream, code, buffer = made = sevens()
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def function(_):
    print(said(simulator.reset))
driver.checked.cuLaunchHostFunc(stream.handle, function, None)
stream.sync()
child = os.fork()
if not child:
    print(said(simulator.reset), flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    host, child = output(START + code + "\n").splitlines()
    assert host.startswith("reset: a host function must not call CUDA")
    assert child.startswith("reset: this process was forked from one that had called cuInit")
    alone = run("from cudapy import simulator; simulator.reset()", simulated=False)
    assert "RuntimeError: reset: the driver of this process is not the simulator" in alone.stderr


@pytest.mark.parametrize("name", ["simulator", "simulator2"])
def test_several_copies_have_fresh_devices_together(name: str) -> None:
    code = f"""
simulator.enable()
simulator2.enable()
devices = core.Device(), core2.Device()
kept = []
for turn in range(2):
    for device in devices:
        device.set_current()
        stream = device.create_stream()
        buffer = device.allocate(64, stream)
        buffer.fill(0, stream=stream)
        stream.sync()
        kept += [stream, buffer]
    alive = simulator.alive()
    if not turn:
        {name}.reset()
        assert simulator2.alive() == {{}}
del kept, stream, buffer
"""
    assert printed(code) == []


@pytest.mark.skipif(sys.platform != "linux", reason="processes share memory on Linux alone")
def test_what_another_process_has_open_stays() -> None:
    code = """
import subprocess, sys
device, stream, *_ = sevens()
pointer = driver.checked.cuMemAlloc(64)
driver.checked.cuMemsetD8(pointer, 9, 64)
handle = bytes(driver.checked.cuIpcGetMemHandle(pointer).reserved)
CHILD = '''
import sys
from cudapy import driver
from cudapy.core import Device
Device().set_current()
handle = driver.CUipcMemHandle(reserved=bytes.fromhex(sys.argv[1]))
try:
    pointer = driver.checked.cuIpcOpenMemHandle(handle, 1)
except Exception as error:
    print("refused", flush=True)
    sys.exit()
print("open", flush=True)
input()
data = bytearray(64)
driver.checked.cuMemcpyDtoH(data, pointer, 64)
print(set(data), flush=True)
'''
def child():
    return subprocess.Popen([sys.executable, "-c", CHILD, handle.hex()], stdin=-1, stdout=-1, text=True)
with child() as one:
    print(one.stdout.readline(), end="")
    simulator.reset()
    sevens()
    print(one.communicate("\\n")[0], end="")
with child() as two:
    print(two.communicate("\\n")[0], end="")
"""
    assert output(START + code) == "open\n{9}\nrefused\n"


def test_a_compiled_program_loads_its_kernels_again() -> None:
    """Its kernels, variables and managed variables were registered as it started."""
    code = """
from tests.simulator.test_registered import PTX, WRAPPER_MAGIC, Wrapper, dim3
call = lambda name, *arguments: simulator.process.runtime_of(13).callback(name)(*arguments)
text = ctypes.create_string_buffer(PTX)
wrapper = Wrapper(WRAPPER_MAGIC, 1, ctypes.addressof(text), None)
binary = ctypes.c_void_p(call("__cudaRegisterFatBinary", ctypes.addressof(wrapper)))
stub, twin, place = ctypes.c_char(), ctypes.c_char(), ctypes.c_void_p()
stub_at, twin_at = ctypes.addressof(stub), ctypes.addressof(twin)
call("__cudaRegisterFunction", binary, stub_at, stub_at, b"add", -1, *[None] * 5)
call("__cudaRegisterVar", binary, twin_at, twin_at, b"table", 0, 16, 0, 0)
call("__cudaRegisterFatBinaryEnd", binary)
seen = set()
for _ in range(3):
    pointer, number, host = ctypes.c_void_p(), ctypes.c_int(5), (ctypes.c_int * 32)()
    assert call("cudaMalloc", ctypes.byref(pointer), 128) == call("cudaMemset", pointer, 0, 128) == 0
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(pointer), ctypes.addressof(number))
    assert call("cudaLaunchKernel", stub_at, dim3(1, 1, 1), dim3(32, 1, 1), arguments, 0, 0) == 0
    assert call("cudaMemcpy", ctypes.addressof(host), pointer, 128, 2) == 0 and set(host) == {5}
    assert call("cudaGetSymbolAddress", ctypes.byref(place), twin_at) == 0
    seen.add(place.value)
    simulator.reset()
print(len(seen))
"""
    assert output(START + code) == "3\n"


def test_communicators_of_before_are_no_more() -> None:
    code = """
from cudapy.core import Communicator
for _ in range(2):
    comms = Communicator.init_all()
    simulator.reset()
    assert all("before simulator.reset()" in said(comm.check) for comm in comms), said(comms[0].check)
    del comms
    gc.collect()
assert simulator.alive() == {}
sevens()
"""
    assert output(START + code) == ""


PLUGIN = """
import numpy as np
import pytest
from cudapy import driver
from cudapy.core import CUDAError, Device

def test_a_fault():
    Device().set_current()
    driver.checked.cuMemsetD8(int(Device().allocate(64).handle), 0, 64)
    from cudapy.core import LaunchConfig, Program, launch
    source = 'extern "C" __global__ void k() { *(int *)8 = 1; }'
    kernel = Program(source, "c++").compile("cubin").get_kernel("k")
    stream = Device().create_stream()
    launch(stream, LaunchConfig(grid=1, block=1), kernel)
    stream.sync()

def test_the_next_one():
    Device().set_current()
    Device().allocate(64).fill(0)
    Device().sync()
"""


@pytest.mark.thorough
def test_a_fault_in_one_test_is_none_of_the_next(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(PLUGIN)
    plugin = ("-p", "cudapy.simulator.pytest_plugin")
    options = ("--cuda-simulator", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, *options],
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
