"""Memory of two processes, one of which dies."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from cudapy.core import Buffer, Device, DeviceMemoryResource, DeviceMemoryResourceOptions, Stream
from cudapy.driver import CUdevice_attribute, CUmemAllocationHandleType, checked

from ..gpu.test_core_memory_ipc import start
from .bench import Bench, content
from .figures import Figure, judged, not_run
from .machine import holdings
from .scale import Scale

FILE = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
IMPORTER = (
    "(d,), (fd,) = receive()\n"
    "b = Buffer.from_ipc_descriptor(DeviceMemoryResource.from_allocation_handle(0, fd), d, s)\n"
    "b.fill(6, stream=s); s.sync(); print('ready', flush=True)\n"
    "import time; time.sleep(60)\n"
)
EXPORTER = (
    "mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions(ipc_enabled=True))\n"
    "b = mr.allocate(1 << 20, stream=s); b.fill(7, stream=s); s.sync()\n"
    "socket.send_fds(link, [pickle.dumps(b.ipc_descriptor)], [int(mr.allocation_handle)])\n"
    "import time; time.sleep(60)\n"
)


def every_byte(buffer: Buffer, stream: Stream, value: int) -> bool:
    return bool((content(buffer, stream) == value * 0x01010101).all())


def importer_dies(stream: Stream) -> str:
    """What is wrong with our memory once a process that had opened it was killed; "" for nothing."""
    resource = DeviceMemoryResource(0, DeviceMemoryResourceOptions(ipc_enabled=True))
    buffer = resource.allocate(1 << 20, stream=stream)
    buffer.fill(5, stream=stream)
    stream.sync()
    process, link = start(IMPORTER)
    try:
        socket.send_fds(link, [pickle.dumps((buffer.ipc_descriptor,))], [int(resource.allocation_handle)])
        if process.stdout.readline() != "ready\n":
            return f"it did not open the buffer: {process.communicate(timeout=30)[1][-600:]}"
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        link.close()
    if not every_byte(buffer, stream, 6):
        return "what it wrote before is not there"
    buffer.fill(9, stream=stream)
    if not every_byte(buffer, stream, 9):
        return "the buffer cannot be used any more"
    buffer.close()
    stream.sync()
    left = resource.attributes.used_mem_current
    return f"{left} bytes are in use for good" if left else ""


def exporter_dies(stream: Stream) -> str:
    """What is wrong with a buffer that was opened once the process that made it was killed."""
    process, link = start(EXPORTER)
    link.settimeout(60)
    try:
        data, (fd,), _, _ = socket.recv_fds(link, 1 << 16, 1)
        resource = DeviceMemoryResource.from_allocation_handle(0, fd)
        os.close(fd)
        buffer = Buffer.from_ipc_descriptor(resource, pickle.loads(data), stream)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        link.close()
    if not every_byte(buffer, stream, 7):
        return "what was opened is not as it was"
    buffer.fill(8, stream=stream)
    return "" if every_byte(buffer, stream, 8) else "what was opened cannot be used any more"


def kill_9_on_either_side(scale: Scale) -> Iterator[Figure]:
    """Rounds side by side, each with two processes of which one is killed; the memory comes back."""
    bench = Bench()
    attribute = CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES
    rounds = scale.of(100, 3)
    sides: dict[str, Callable[[Stream], str]] = {"importer": importer_dies, "exporter": exporter_dies}
    if not checked.cuDeviceGetAttribute(attribute, 0) & FILE:
        for side in sides:
            why = "the device has no pools that another process can open"
            yield not_run(f"kill -9 of the {side}", f"{rounds} of {rounds}", why)
        return
    mine = threading.local()

    def one(dies: Callable[[Stream], str]) -> str:
        if not hasattr(mine, "stream"):
            device = Device(0)
            device.set_current()
            mine.stream = device.create_stream()
        try:
            return dies(mine.stream)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    for side, dies in sides.items():
        one(dies)
        before = holdings()
        with ThreadPoolExecutor(scale.workers) as pool:
            seen = list(pool.map(one, [dies] * rounds))
        time.sleep(0.2)
        wrong = [each for each in seen if each]
        good = f"{rounds - len(wrong)} goes on"
        yield judged(f"kill -9 of the {side}", f"{rounds} of {rounds}", good, not wrong, "; ".join(wrong[:3]))
        bench.stream.sync()  # pools that wait for their memory go
        grown = (holdings() - before).descriptors
        yield judged(f"descriptors after that, {side}", "at most +2", f"{grown:+d}", grown <= 2)
    del bench
