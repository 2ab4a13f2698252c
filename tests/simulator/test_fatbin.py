"""Fat binaries of the real nvFatbin: the simulator finds the PTX in them, however it is packed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

import pytest

from cudapy import nvfatbin, pathfinder

from .test_device import PREPARE, output

pytest.importorskip("numpy")
fatbin = import_module("cudapy._ffi.fatbin")
unpacking = import_module("cudapy.simulator.code.fatbin")
code = import_module("cudapy.simulator.code.images")
refused = import_module("cudapy.simulator.refused")

BODY = "".join(f"add.s32 %r1, %r1, {i % 7};\n" for i in range(300))
PTX = (
    ".version 8.0\n.target sm_{arch}\n.address_size 64\n.visible .entry k{arch}()\n"
    "{{\n.reg .b32 %r<2>;\nmov.u32 %r1, 1;\n" + BODY + "ret;\n}}\n"
)


def made(*options: str, architectures: tuple[int, ...] = (80,)) -> bytes:
    """A fat binary of PTX."""
    try:
        pathfinder.load("nvfatbin")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    handle = nvfatbin.create(list(options), len(options))
    for arch in architectures:
        text = PTX.format(arch=arch).encode() + b"\0"
        nvfatbin.add_ptx(handle, text, len(text), str(arch), "name", "")
    image = bytearray(nvfatbin.size(handle))
    nvfatbin.get(handle, image)
    nvfatbin.destroy(handle)
    return bytes(image)


def fat_binary(entries: list[tuple[int, int]]) -> bytes:
    """A fat binary of pieces of code of a kind for an architecture, which have no bytes."""
    size = fatbin.ENTRY.size
    body = b"".join(
        fatbin.ENTRY.pack(kind, 0x101, size, 0, 0, 0, 0, 0, number, 0, 0, 0, 0, 0) for kind, number in entries
    )
    return bytes(fatbin.HEADER.pack(fatbin.MAGIC, 1, fatbin.HEADER.size, len(body)) + body)


def kernels(ptx: bytes) -> list[bytes]:
    return [line.split()[2] for line in ptx.splitlines() if line.startswith(b".visible .entry")]


def test_plain() -> None:
    (entry,) = fatbin.entries(made("-compress=false"))
    assert (entry.kind, entry.architecture) == (fatbin.PTX, 80)
    assert unpacking.unpacked(entry).count(b"add.s32") == 300


@pytest.mark.parametrize("mode", ["speed", "size"])
def test_packed(mode: str) -> None:
    if pathfinder.load("nvfatbin").major == 12:
        pytest.skip("this nvFatbin knows no modes")
    (plain,) = fatbin.entries(made("-compress=false"))
    (entry,) = fatbin.entries(made(f"-compress-mode={mode}"))
    assert entry.flags & {"speed": fatbin.LZ4, "size": fatbin.ZSTD}[mode]
    assert len(entry.data) < 1000
    assert unpacking.unpacked(entry).rstrip(b"\0") == unpacking.unpacked(plain).rstrip(b"\0")


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (b"\x50hello", b"hello"),
        (b"\xf0\x05" + b"x" * 20, b"x" * 20),  # 15 and a byte more of literals
        (b"\x1fa\x01\x00\xff\x00\x00", b"a" * (1 + 15 + 255 + 4)),  # a copy of what it writes itself
        (b"\x35abc\x03\x00\x10d", b"abcabcabcabcd"),
        (
            b"\xf0\xff\x1eabcd" + b"-" * 296 + b"\x2c\x01\x10z",
            b"abcd" + b"-" * 296 + b"abcdz",
        ),  # from 300 back
    ],
)
def test_blocks_of_lz4(block: bytes, text: bytes) -> None:
    assert unpacking.unpacked_lz4(block, len(text)) == text


def test_a_byte_many_times() -> None:
    """It takes as many steps as doubling does, and not one for each byte: 192 KB are 48 MiB."""
    count = 48 << 20
    more, last = divmod(count - 1 - 19, 255)
    block = b"\x1fa\x01\x00" + b"\xff" * more + bytes([last]) + b"\x00"
    steps = 0

    def trace(*_: object) -> Callable[..., object]:
        nonlocal steps
        steps += 1
        assert steps < 5_000_000, "it goes byte by byte"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        text = unpacking.unpacked_lz4(block, count)
    finally:
        sys.settrace(before)
    assert len(text) == text.count(b"a") == count


@pytest.mark.parametrize("flag", [fatbin.LZ4, fatbin.ZSTD])
@pytest.mark.parametrize(("packed", "size"), [(8 << 10, (16 << 20) + 1), (1 << 20, (48 << 20) + 1)])
def test_few_bytes_that_are_to_be_many(flag: int, packed: int, size: int) -> None:
    (entry,) = fatbin.entries(made("-compress=false"))
    entry.flags, entry.data, entry.size = entry.flags | flag, bytes(packed), size
    with pytest.raises(refused.Refused, match=f"{packed} packed bytes .* {size} bytes of code.*-compress"):
        unpacking.unpacked(entry)


@pytest.mark.parametrize(
    "block", [b"\x10a\x02\x00\x00", b"\x10a\x00\x00\x00", b"\x50hell", b"\xf0", b"\x50hello\x01"]
)
def test_damaged_blocks_of_lz4(block: bytes) -> None:
    with pytest.raises(refused.Refused, match="damaged"):
        unpacking.unpacked_lz4(block, 5)


def test_the_newest_that_the_device_can_run_is_taken() -> None:
    image = made("-compress=false", architectures=(75, 90, 80, 100))
    assert kernels(code.of_fatbin(image)) == [b"k90()"]  # of a device of compute capability 9.0


LESS = "the simulator needs PTX for compute capability 9.0 or less"
COMPILE = "compile it with PTX, nvcc -gencode arch=compute_90,code=compute_90, or with -lineinfo"


@pytest.mark.parametrize(
    ("entries", "contents", "remedy"),
    [
        (
            [(fatbin.CUBIN, 120), (fatbin.CUBIN, 75), (fatbin.PTX, 120), (fatbin.CUBIN, 80)],
            "SASS for sm_75 to sm_120, PTX for compute_120",
            "try --compute-capability 12.0",
        ),
        (
            [(fatbin.PTX, 110), (fatbin.PTX, 100)],
            "PTX for compute_100 to compute_110",
            "try --compute-capability 10.0",
        ),
        ([(fatbin.CUBIN, 100), (64, 100)], "code of kind 64 for sm_100, SASS for sm_100", COMPILE),
        ([], "nothing", COMPILE),
    ],
)
def test_what_the_device_cannot_run_is_named(
    entries: list[tuple[int, int]], contents: str, remedy: str
) -> None:
    with pytest.raises(refused.Refused) as caught:
        code.of_fatbin(fat_binary(entries))
    assert caught.value.status == "CUDA_ERROR_NO_BINARY_FOR_GPU"
    assert caught.value.reason == f"the fat binary has {contents}; {LESS}: {remedy}"


def test_what_ends_too_soon_is_refused() -> None:
    image = made("-compress=false")
    with pytest.raises(refused.Refused, match="middle of an entry"):
        code.of_image(image[:-64])


def test_packing_of_old_is_refused_by_name() -> None:
    (entry,) = fatbin.entries(made("-compress=false"))
    entry.flags |= fatbin.OLD
    with pytest.raises(refused.Refused, match=r"packed as before CUDA 12.*-compress=false"):
        unpacking.unpacked(entry)


def test_the_driver_loads_it_plain_and_in_a_wrapper() -> None:
    image = made("-compress=false")
    program = (
        PREPARE
        + f"""
image = {image!r}
for function in (driver.checked.cuModuleLoadData, driver.checked.cuModuleLoadFatBinary):
    print(bool(driver.checked.cuModuleGetFunction(function(image), b"k80")))
data = ctypes.create_string_buffer(image, len(image))
wrapper = (ctypes.c_uint64 * 3)(0x1466243B1, ctypes.addressof(data), 0)
print(bool(driver.checked.cuModuleGetFunction(driver.checked.cuModuleLoadFatBinary(wrapper), b"k80")))
"""
    )
    assert output(program) == "True\nTrue\nTrue\n"
    assert sys.byteorder == "little"
