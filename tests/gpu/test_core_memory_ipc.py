"""Pools and buffers that another process uses."""

from __future__ import annotations

import dataclasses
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from multiprocessing import resource_sharer
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

from cudapy.core import (
    Buffer,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    Event,
    LegacyPinnedMemoryResource,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
)
from cudapy.driver import CUdevice_attribute, CUmemAllocationHandleType, checked

from .core_kernels import ROOT, content

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(sys.platform != "linux", reason="pools are shared on Linux"),
]

CHILD = """
import pickle, socket, sys
from cudapy.core import *
link = socket.socket(fileno=int(sys.argv[1]))
dev = Device(0); dev.set_current(); s = dev.create_stream()
def receive():
    data, fds, _, _ = socket.recv_fds(link, 1 << 16, 1)
    return pickle.loads(data), fds
"""


@pytest.fixture
def resource(device):
    needed = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    attribute = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES
    if not checked.cuDeviceGetAttribute(attribute, 0) & needed:
        pytest.skip("pools cannot be exported as file descriptors here")
    return DeviceMemoryResource(device, DeviceMemoryResourceOptions(ipc_enabled=True))


def start(code: str) -> tuple[subprocess.Popen[str], socket.socket]:
    """A process that runs CHILD and `code`, and our end of its socket."""
    ours, its = socket.socketpair()
    command = [sys.executable, "-c", CHILD + code, str(its.fileno())]
    process = subprocess.Popen(
        command, cwd=ROOT, pass_fds=[its.fileno()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    its.close()
    return process, ours


def test_what_is_shared_and_what_is_not(resource, device, stream) -> None:
    assert resource.is_ipc_enabled and resource.uuid is not None and not resource.is_mapped
    buffer = resource.allocate(64, stream=stream)
    descriptor = buffer.get_ipc_descriptor()
    assert descriptor is buffer.ipc_descriptor and descriptor.size == 64
    again = pickle.loads(pickle.dumps(descriptor))
    assert again == descriptor and hash(again) == hash(descriptor) and not buffer.is_mapped
    handle = resource.allocation_handle
    assert handle is resource.allocation_handle and os.fstat(handle.handle)
    assert descriptor != descriptor.size
    for cls, comes_from in (
        (type(descriptor), "buffer.ipc_descriptor"),
        (type(handle), "the allocation_handle of a memory resource"),
    ):
        with pytest.raises(TypeError, match=f"comes from {comes_from}"):
            cls()
    with pytest.raises(TypeError, match="send_fds"):
        pickle.dumps(handle)
    with pytest.raises(RuntimeError, match="it is of no pool that can be shared"):
        _ = LegacyPinnedMemoryResource().allocate(64).ipc_descriptor
    with pytest.raises(RuntimeError, match="ipc_enabled=True"):
        _ = device.allocate(64, stream).ipc_descriptor
    with pytest.raises(RuntimeError, match="ipc_enabled=True"):
        _ = device.memory_resource.allocation_handle
    with pytest.raises(RuntimeError, match="own"):
        Buffer.from_ipc_descriptor(resource, descriptor, stream)
    with pytest.raises(RuntimeError, match="registered"):
        DeviceMemoryResource.from_registry(__import__("uuid").uuid4())
    resource.close()
    assert handle.is_closed and handle.handle == -1
    with pytest.raises(RuntimeError, match="closed"):
        int(handle)


@pytest.mark.parametrize("first", ["resource", "handle"])
def test_a_handle_that_is_sent_along_with_its_resource(resource, first) -> None:
    """multiprocessing sends the one file descriptor for both."""
    sent = {"resource": resource, "handle": resource.allocation_handle}
    sent = {first: sent.pop(first), **sent}
    pickled = bytes(ForkingPickler.dumps(sent))
    try:
        received = ForkingPickler.loads(pickled)
    finally:
        resource_sharer.stop()
    assert received["resource"] is resource
    handle = received["handle"]
    assert handle.uuid == resource.uuid and handle.handle != resource.allocation_handle.handle
    assert not handle.is_closed and os.fstat(int(handle))
    handle.close()


def test_a_pool_over_a_socket(resource, stream) -> None:
    buffers = [resource.allocate(64, stream=stream) for _ in range(2)]
    for number, buffer in enumerate(buffers):
        buffer.fill(number + 1, stream=stream)
    stream.sync()
    process, link = start(
        "(uuid, descriptors), (fd,) = receive()\n"
        "import os\n"
        "mr = DeviceMemoryResource.from_allocation_handle(dev, fd); os.close(fd)\n"
        "assert mr.is_mapped and mr.is_ipc_enabled\n"
        "found = [Buffer.from_ipc_descriptor(mr, d, s) for d in descriptors]\n"
        "twice = Buffer.from_ipc_descriptor(mr, descriptors[0], stream=s)\n"
        "assert all(b.is_mapped and b.memory_resource is mr for b in found)\n"
        "for b in [*found, twice]:\n"
        "    h = bytearray(64); b.copy_to(h, stream=s); s.sync(); print(set(h))\n"
        "found[0].close()\n"
        "twice.fill(9, stream=s); found[1].fill(8, stream=s); s.sync()\n"
        "try: mr.allocate(64, stream=s)\n"
        "except RuntimeError as error: print(error)\n"
    )
    descriptors = [buffer.ipc_descriptor for buffer in buffers]
    fd = resource.allocation_handle.handle
    socket.send_fds(link, [pickle.dumps((resource.uuid, descriptors))], [fd])
    out, err = process.communicate(timeout=60)
    link.close()
    assert (process.returncode, err) == (0, "")
    lines = out.splitlines()
    assert lines[:3] == ["{1}", "{2}", "{1}"] and "another process" in lines[3], out
    assert [set(content(buffer, np.uint8, stream).tolist()) for buffer in buffers] == [{9}, {8}]


def test_a_descriptor_that_does_not_fit_the_memory(resource, stream) -> None:
    """The other process may send anything."""
    buffer = resource.allocate(64, stream=stream)
    buffer.fill(3, stream=stream)
    stream.sync()
    process, link = start(
        "d, (fd,) = receive()\n"
        "import os\n"
        "mr = DeviceMemoryResource.from_allocation_handle(dev, fd); os.close(fd)\n"
        "data = d._data\n"
        "for data, size in (data, 1 << 30), (data, 1 << 62), (data[:63], 64), (b'', 64), (data * 2, 64):\n"
        "    try: print(Buffer.from_ipc_descriptor(mr, type(d)._of(data, size), s))\n"
        "    except ValueError as error: print(error)\n"
        "b = Buffer.from_ipc_descriptor(mr, d, s); h = bytearray(64); b.copy_to(h, stream=s); s.sync()\n"
        "print(set(h))\n"
    )
    socket.send_fds(link, [pickle.dumps(buffer.ipc_descriptor)], [resource.allocation_handle.handle])
    out, err = process.communicate(timeout=60)
    link.close()
    assert (process.returncode, err) == (0, "")
    lines = out.splitlines()
    for line, size in zip(lines, (1 << 30, 1 << 62), strict=False):
        assert line.startswith(f"the ipc_descriptor is of {size} bytes, but the memory has ")
    assert all("an ipc_descriptor of a buffer has 64 bytes, this one has " in line for line in lines[2:5]), (
        lines
    )
    assert lines[5:] == ["{3}"]


MULTIPROCESSING = """
import multiprocessing as mp, sys
from cudapy.core import *

def work(queue, buffer, mr, back):
    dev = Device(0); dev.set_current(); s = dev.create_stream()
    for each in (buffer, *queue.get()):
        h = bytearray(each.size); each.copy_to(h, stream=s); s.sync()
        back.put((set(h), each.is_mapped, each.memory_resource is buffer.memory_resource))
        each.fill(50, stream=s)
    s.sync()
    back.put(mr is buffer.memory_resource)

def wait(event, back, queue):
    for get in (lambda: event, queue.get):
        sent = get()
        sent.sync()
        back.put((sent.is_done, sent.is_ipc_enabled, sent.is_blocking_sync))

if __name__ == "__main__":
    mp.set_start_method("spawn")
    dev = Device(0); dev.set_current(); s = dev.create_stream()
    options = sys.argv[1]
    if options == "device":
        mr = DeviceMemoryResource(dev, DeviceMemoryResourceOptions(ipc_enabled=True))
    else:
        mr = PinnedMemoryResource(PinnedMemoryResourceOptions(ipc_enabled=True))
    buffers = [mr.allocate(64, stream=s) for _ in range(3)]
    for i, b in enumerate(buffers): b.fill(i + 1, stream=s)
    s.sync()
    queue, back = mp.Queue(), mp.Queue()
    child = mp.Process(target=work, args=(queue, buffers[0], mr, back))
    child.start()
    queue.put(buffers[1:])
    print([back.get(timeout=60) for _ in range(4)])
    child.join(60)
    print(child.exitcode)
    for b in buffers:
        h = bytearray(64); b.copy_to(h, stream=s); s.sync(); print(set(h))
    event = s.record(options=EventOptions(ipc_enabled=True, blocking_sync=True))
    child = mp.Process(target=wait, args=(event, back, queue))
    child.start()
    print(back.get(timeout=60))
    kept = s.record(options={"ipc_enabled": True})
    queue.put(kept)
    print(back.get(timeout=60))
    child.join(60)
"""


@pytest.mark.parametrize("kind", ["device", pytest.param("pinned", marks=pytest.mark.thorough)])
def test_multiprocessing_sends_buffers_and_events(resource, tmp_path, kind) -> None:
    if kind == "pinned":
        try:
            PinnedMemoryResource(PinnedMemoryResourceOptions(ipc_enabled=True))
        except RuntimeError as error:
            pytest.skip(f"no pinned memory for several processes here: {error}")
    script = tmp_path / "main.py"
    script.write_text(MULTIPROCESSING)
    done = subprocess.run(
        [sys.executable, str(script), kind],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    first, *rest = done.stdout.splitlines()
    assert first == str([({1}, True, True), ({2}, True, True), ({3}, True, True), True])
    assert rest == ["0", "{50}", "{50}", "{50}", "(True, True, True)", "(True, True, False)"]


def test_what_opens_nothing(resource, device, stream) -> None:
    with pytest.raises(TypeError, match="ipc_descriptor"):
        Buffer.from_ipc_descriptor(resource, b"x", stream)
    with pytest.raises(TypeError, match="ipc_descriptor"):
        Buffer.from_ipc_descriptor(device, resource.allocate(64, stream=stream).ipc_descriptor, stream)
    with pytest.raises(TypeError, match="ipc_descriptor"):
        Event.from_ipc_descriptor(b"x")
    descriptor = stream.record(options={"ipc_enabled": True}).ipc_descriptor
    with pytest.raises(ValueError, match="64 bytes"):
        Event.from_ipc_descriptor(dataclasses.replace(descriptor, reserved=descriptor.reserved[:-1]))


@pytest.mark.parametrize("victim", ["importer", "exporter"])
@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.thorough)])
def test_kill_9_on_either_side(device, stream, victim, times) -> None:
    """The other side goes on, and the memory comes back."""
    for _ in range(times):
        mr = DeviceMemoryResource(device, DeviceMemoryResourceOptions(ipc_enabled=True))
        buffer = mr.allocate(1 << 20, stream=stream)
        buffer.fill(5, stream=stream)
        stream.sync()
        if victim == "importer":
            process, link = start(
                "(d,), (fd,) = receive()\n"
                "b = Buffer.from_ipc_descriptor(DeviceMemoryResource.from_allocation_handle(0, fd), d, s)\n"
                "b.fill(6, stream=s); s.sync(); print('ready', flush=True)\n"
                "import time; time.sleep(60)\n"
            )
            socket.send_fds(link, [pickle.dumps((buffer.ipc_descriptor,))], [int(mr.allocation_handle)])
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            process.send_signal(signal.SIGKILL)
            process.wait(60)
            assert (content(buffer, np.uint8, stream) == 6).all()
        else:
            process, link = start(
                "mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions(ipc_enabled=True))\n"
                "b = mr.allocate(1 << 20, stream=s); b.fill(7, stream=s); s.sync()\n"
                "socket.send_fds(link, [pickle.dumps(b.ipc_descriptor)], [int(mr.allocation_handle)])\n"
                "import time; time.sleep(60)\n"
            )
            link.settimeout(60)
            data, (fd,), _, _ = socket.recv_fds(link, 1 << 16, 1)
            theirs = DeviceMemoryResource.from_allocation_handle(0, fd)
            os.close(fd)
            seen = Buffer.from_ipc_descriptor(theirs, pickle.loads(data), stream)
            process.send_signal(signal.SIGKILL)
            process.wait(60)
            time.sleep(0.1)
            assert (content(seen, np.uint8, stream) == 7).all(), "what was opened stays"
            seen.close()
        process.stdout.close(), process.stderr.close(), link.close()
        buffer.close()
        stream.sync()
        assert np.int64(mr.attributes.used_mem_current) == 0


def test_sharing_leaves_no_descriptors_open(resource, stream) -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    DeviceMemoryResource(0, DeviceMemoryResourceOptions(ipc_enabled=True)).allocation_handle  # noqa: B018
    before = count()
    for _ in range(20):
        mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions(ipc_enabled=True))
        mr.allocate(64, stream=stream)
        int(mr.allocation_handle)
        del mr
    stream.sync()
    assert count() <= before + 2
