"""A file written from device memory by the real libcufile, in compatibility mode, and read back in every way.

    python -m tests.cufile_round_trip FOLDER BYTES

prints, as JSON, what each way of reading has given: "" where it was the bytes that were written. `run` starts
it in a process of its own: libcufile keeps threads and a log, and reads its configuration once.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cudapy import cufile, pathfinder, simulator

REPOSITORY = Path(__file__).parents[1]
SHARED_MEMORY = Path("/dev/shm")
"""A file system on which libcufile needs no udev, as it does for those of disks."""

NO_MODULES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
    return real(strcmp(path, "/proc/modules") ? path : "/dev/null", mode);
}
FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}
"""
"""For machines without /proc/modules, which libcufile would read for ever."""


@functools.cache
def missing() -> str:
    """Why libcufile cannot be tried here; "" if it can."""
    return "" if version() else "there is no libcufile: pip install nvidia-cufile"


@functools.cache
def version() -> int:
    """The version of libcufile, asked in another process; 0 if there is none."""
    command = [sys.executable, "-c", "from cudapy import cufile; print(cufile.get_version())"]
    environ = {name: value for name, value in os.environ.items() if name != "CUDAPY_DRIVER"}
    done = subprocess.run(command, cwd=REPOSITORY, env=environ, capture_output=True, text=True)
    return 0 if done.returncode else int(done.stdout)


def folder() -> Path | None:
    """Where the file goes; None: where temporary files go. libcufile before 1.17 takes none in /dev/shm."""
    return SHARED_MEMORY if version() >= 1170 and SHARED_MEMORY.is_dir() else None


def no_files() -> str:
    """Why it cannot read and write files here; "" if it can."""
    if missing():
        return missing()
    if folder() is None and not Path("/run/udev/data").is_dir():
        return "libcufile before 1.17 takes files of disks alone, of which it learns from udev"
    if not Path("/proc/modules").exists() and shutil.which("gcc") is None:
        return "libcufile needs /proc/modules, and there is no gcc to make a stand-in"
    return ""


def environment(scratch: Path, **settings: Any) -> dict[str, str]:
    """The environment of a process in which libcufile keeps its log in `scratch`; settings: properties."""
    configuration = scratch / "cufile.json"
    logging = {"dir": str(scratch), "level": "ERROR"}
    configuration.write_text(json.dumps({"logging": logging, "properties": settings}))
    environ = {**os.environ, "CUFILE_ENV_PATH_JSON": str(configuration)}
    if not Path("/proc/modules").exists():
        library = scratch / "no_modules.so"
        library.with_suffix(".c").write_text(NO_MODULES)
        command = ["gcc", "-shared", "-fPIC", "-o", str(library), str(library.with_suffix(".c")), "-ldl"]
        subprocess.run(command, check=True, capture_output=True)
        environ["LD_PRELOAD"] = str(library)
    return environ


def run(scratch: Path, size: int, timeout: float = 120) -> dict[str, Any]:
    """What the program prints."""
    with tempfile.TemporaryDirectory(dir=folder()) as place:
        command = [sys.executable, "-m", "tests.cufile_round_trip", place, str(size)]
        done = subprocess.run(
            command,
            cwd=REPOSITORY,
            env=environment(scratch, allow_compat_mode=True),
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    assert done.returncode == 0, f"{done.stdout[-1000:]}{done.stderr[-3000:]}"
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


class Files:
    """A file that is registered, and two buffers of device memory: what is in it, and what is read."""

    def __init__(self, path: Path, size: int) -> None:
        import numpy

        from cudapy.core import Device

        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.size = size
        self.data = numpy.random.default_rng(5).integers(0, 256, size, dtype=numpy.uint8)
        self.written = self.device.allocate(size, self.stream)
        self.read = self.device.allocate(size, self.stream)
        self.written.copy_from(self.data, stream=self.stream)
        self.stream.sync()
        self.at = int(self.read.handle)
        self.file = open(path, "wb+")  # noqa: SIM115
        self.handle = cufile.checked.cuFileHandleRegister(described(self.file.fileno()))

    def clear(self) -> None:
        """Make sure that what is read next is read."""
        self.read.fill(0, stream=self.stream)
        self.stream.sync()

    def wrong(self) -> str:
        """What is wrong with the memory that was read to."""
        import numpy

        have = numpy.zeros_like(self.data)
        self.read.copy_to(have, stream=self.stream)
        self.stream.sync()
        different = int((have != self.data).sum())
        return f"{different} bytes of {self.size} differ" if different else ""


def described(descriptor: int) -> cufile.CUfileDescr_t:
    """What cuFileHandleRegister takes for a file descriptor."""
    made = cufile.CUfileDescr_t(type=cufile.CUfileFileHandleType.CU_FILE_HANDLE_TYPE_OPAQUE_FD)
    made.handle.fd = descriptor
    return made


def in_parts(files: Files) -> None:
    """Two halves, with offsets in the file and in the memory."""
    half = files.size // 2
    for offset in (0, half):
        assert cufile.read(int(files.handle), files.at, half, offset, offset) == half


def registered(files: Files) -> None:
    """To memory that is registered."""
    cufile.checked.cuFileBufRegister(files.at, files.size, 0)
    assert cufile.checked.cuFileRead(files.handle, files.at, files.size, 0, 0) == files.size
    cufile.checked.cuFileBufDeregister(files.at)


def vector(files: Files) -> None:
    """To two pieces of memory."""
    pieces = cufile.IOVec(2)
    for i, piece in enumerate(pieces):
        piece.base_, piece.len = files.at + i * files.size // 2, files.size // 2
    assert cufile.readv(int(files.handle), pieces, 0) == files.size


def batch(files: Files) -> None:
    """Four operations of a batch."""
    quarter = files.size // 4
    handle = cufile.batch_io_set_up(4)
    operations = cufile.IOParams(4)
    for i, operation in enumerate(operations):
        operation.mode, operation.opcode = cufile.BatchMode.BATCH, cufile.Opcode.READ
        operation.fh, operation.cookie = int(files.handle), i + 1
        operation.u.batch.dev_ptr_base, operation.u.batch.size_ = files.at, quarter
        operation.u.batch.file_offset = operation.u.batch.dev_ptr_offset = i * quarter
    cufile.batch_io_submit(handle, 4, operations, 0)
    events, count, told = cufile.IOEvents(4), ctypes.c_uint(), {}
    while len(told) < 4:
        count.value = 4
        cufile.batch_io_get_status(handle, 1, ctypes.addressof(count), events, 0)
        told |= {event.cookie: (event.status.name, event.ret) for event in events[: count.value]}  # type: ignore[index]
    cufile.batch_io_destroy(handle)
    assert told == {i + 1: ("COMPLETE", quarter) for i in range(4)}, told


def asynchronous(files: Files) -> None:
    """In a stream."""
    size, offset, count = ctypes.c_size_t(files.size), ctypes.c_long(), ctypes.c_ssize_t()
    cufile.checked.cuFileReadAsync(
        files.handle, files.at, size, offset, offset, ctypes.addressof(count), files.stream.handle
    )
    files.stream.sync()
    assert count.value == files.size, count.value


WAYS = {way.__name__: way for way in (in_parts, registered, batch, vector, asynchronous)}


def reads(files: Files) -> Iterator[tuple[str, str]]:
    """Each way of reading, and what is wrong with it.

    cuFileReadv came with CUDA 13.4. What libcufile does in a stream needs NVIDIA's driver: it has a runtime
    of its own.
    """
    for way in WAYS.values():
        if (way is vector and cufile.get_version() < 1190) or (
            way is asynchronous and simulator.is_enabled()
        ):
            continue
        files.clear()
        way(files)
        yield way.__name__, files.wrong()


def is_open(soname: str) -> bool:
    """Whether this process has a library; without a driver all memory is the host's to libcufile."""
    try:
        ctypes.CDLL(soname, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def main(place: str, size: int) -> dict[str, Any]:
    """Write, read in every way, and give everything back."""
    cufile.driver_open()
    files = Files(Path(place) / "file", size)
    found: dict[str, Any] = {"library": pathfinder.load("cufile").path, "version": cufile.get_version()}
    found["driver"] = is_open("libcuda.so.1")
    written = cufile.checked.cuFileWrite(files.handle, files.written.handle, size, 0, 0)
    assert written == size, written
    with open(files.file.name, "rb") as file:
        found["written"] = "" if file.read() == files.data.tobytes() else "the file has other bytes"
    found |= reads(files)
    properties = cufile.checked.cuFileDriverGetProperties()
    compatibility = 1 << cufile.CUfileDriverControlFlags_t.CU_FILE_ALLOW_COMPAT_MODE
    found["compatibility mode"] = bool(properties.nvfs.dcontrolflags & compatibility)
    status, none = cufile.cuFileRead(files.handle, files.at, size, -1, 0)
    found["a negative offset"] = [status.name, none]
    cufile.handle_deregister(int(files.handle))
    files.file.close()
    status, _ = cufile.cuFileRead(files.handle, files.at, size, 0, 0)
    found["after it was deregistered"] = status.name
    cufile.driver_close()
    found["open"] = cufile.use_count()
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]))))
