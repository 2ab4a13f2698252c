"""Code that can be loaded: PTX, and what carries it; the options of the compiler in the driver.

A simulated device runs PTX. NVRTC makes PTX and a cubin from one program, so while the simulator is on the
cubin that a program fetches gets one section more, which holds the PTX. Of other cubins those can run that
have their PTX for debuggers, and of a fat binary the PTX.
"""

import ctypes
import os
import re
import struct
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..._ffi import elf, fatbin, memory
from ..._ffi.sizes import round_up
from ..._types.driver.enums import CUjit_option as Option
from ..addresses import require
from ..devices.attributes import SHARED_PER_MULTIPROCESSOR
from ..devices.device import Hardware
from ..refused import Refused, invalid
from . import debug_sections
from .fatbin import unpacked
from .merging import together
from .targets import check_cubin, check_version, runs_cubin

LTO = (b"BC\xc0\xde", b"\xed\x43\x4e\x7f")

INFO = 0x70000000  # the type of a .nv.info
PTX_SECTION = 0x80505458  # the type of ours: of the range that ELF leaves to programs, and "PTX"
EMPTY_ELF = elf.MAGIC + struct.pack(
    "<BBBBB7xHHIQQQIHHHHHH", 2, 1, 1, 51, 7, 2, 190, 1, 0, 0, 64, 0, 64, 0, 0, 64, 0, 0
)
"""A cubin that holds nothing: a header for CUDA (machine 190) and no sections."""


ENTRY = re.compile(rb"\.entry\s+([\w$]+)\s*(?:\([^()]*\))?")
REGISTERS = 0x2F04
"""In .nv.info: behind it, and the size 8, the number of a kernel's symbol and how many registers it has."""


def with_directive(ptx: bytes, name: bytes, value: Callable[[bytes], int]) -> bytes:
    """PTX whose kernels have one more directive, with the number that `value` gives of their name, if any."""

    def directive(match: re.Match[bytes]) -> bytes:
        number = value(match[1])
        return match[0] + (b"\n.%s %d" % (name, number) if number else b"")

    return ENTRY.sub(directive, ptx)


def registers(cubin: bytes) -> dict[bytes, int]:
    """How many registers each kernel of a cubin has. Raises DamagedError."""
    sections = elf.sections(cubin)
    counts: dict[int, int] = {}
    names: list[bytes] = []
    for section in sections:
        body = cubin[section.offset : section.offset + section.size]
        if section.kind == INFO:
            for place in range(0, len(body) - 11, 4):
                head, size, symbol, count = struct.unpack_from("<HHII", body, place)
                if (head, size) == (REGISTERS, 8):
                    counts[symbol] = count
        elif section.kind == elf.SYMBOLS:
            texts = sections[section.link]
            for symbol in elf.SYMBOL.iter_unpack(body):
                start = texts.offset + symbol[0]
                names.append(cubin[start : cubin.find(b"\0", start)])
    return {names[symbol]: count for symbol, count in counts.items() if symbol < len(names)}


def attach(cubin: bytes, ptx: bytes) -> bytes:
    """`cubin` with one section more, which holds `ptx`, and how many registers its kernels have there."""
    counts = registers(cubin)
    ptx = with_directive(ptx, b"registers", lambda name: counts.get(name, 0))
    shoff, count = struct.unpack_from("<Q", cubin, 40)[0], struct.unpack_from("<H", cubin, 60)[0]
    body = cubin.ljust(round_up(len(cubin), 8), b"\0")
    text = ptx.rstrip(b"\0") + b"\0"
    table = cubin[shoff : shoff + elf.SECTION.size * count]
    table += elf.SECTION.pack(0, PTX_SECTION, 0, 0, len(body), len(text), 0, 0, 1, 0)
    text += bytes(-len(text) % 8)
    header = bytearray(body[:64])
    struct.pack_into("<Q", header, 40, len(body) + len(text))
    struct.pack_into("<H", header, 60, count + 1)
    return bytes(header) + body[64:] + text + table


def attached(cubin: bytes) -> bytes | None:
    """The PTX that `attach` put into a cubin; None if it has none. Raises DamagedError."""
    for section in elf.sections(cubin):
        if section.kind == PTX_SECTION:
            return cubin[section.offset : section.offset + section.size]
    return None


WRAPPER = struct.Struct("<4siQQ")  # magic, version, address of a fat binary, address of a list
PRELINKED = 2  # the version of wrappers with a list
LARGEST = 1 << 28  # bytes of an image that is known by its address alone


class Code:
    """PTX, and what the compiler is told and says.

    registers: the most that a thread may have; 0 for no limit.
    """

    def __init__(self, ptx: bytes, registers: int = 0) -> None:
        self.ptx = ptx
        self.registers = registers


def at(address: int | None) -> bytes:
    """The PTX of the image at an address. Raises Refused."""
    if not address:
        raise invalid("the image is NULL")
    try:
        start = memory.read_mapped(address, 4)
        if start == fatbin.WRAPPER:
            address = int.from_bytes(memory.read_mapped(address, 16)[8:], "little")
            start = memory.read_mapped(address, 4)
        if start == elf.MAGIC:
            size = elf_size(address)
        elif start == fatbin.MAGIC:
            _, _, header, rest = fatbin.HEADER.unpack(memory.read_mapped(address, fatbin.HEADER.size))
            size = header + rest
        else:
            return of_image(memory.read_mapped_text(address, LARGEST))
        if size > LARGEST:
            raise Refused("CUDA_ERROR_INVALID_IMAGE", f"the image says that it has {size} bytes")
        return of_image(memory.read_mapped(address, size))
    except memory.NotMappedError as error:
        raise Refused("CUDA_ERROR_INVALID_IMAGE", f"the image ends where no memory is: {error}") from None


def prelinked(address: int) -> list[int]:
    """Where the fat binaries are of which a program with relocatable device code was linked.

    address: that of the wrapper of what the linker made, which is machine code alone. Other wrappers list
    none. Raises Refused.

    Source: fatbinary_section.h and crt/link.stub of the toolkit.
    """
    try:
        magic, version, _, place = WRAPPER.unpack(memory.read_mapped(address, WRAPPER.size))
        versions: list[int] = []
        while (magic, version) == (fatbin.WRAPPER, PRELINKED):
            at_next = place + 8 * len(versions)
            pointer = int.from_bytes(memory.read_mapped(at_next, 8), "little")
            if not pointer:
                break
            versions.append(pointer)
    except memory.NotMappedError as error:
        raise Refused("CUDA_ERROR_INVALID_IMAGE", f"the list of fat binaries ends: {error}") from None
    return versions


def of_image(data: bytes) -> bytes:
    """The PTX of an image: a cubin for the device, a fat binary or PTX itself. Raises Refused."""
    if data.startswith(elf.MAGIC):
        ptx = of_cubin(data)
        check_cubin(data)
        return ptx
    if data.startswith(fatbin.MAGIC):
        return of_fatbin(data)
    if data.startswith(LTO):
        raise Refused("CUDA_ERROR_INVALID_IMAGE", "this is LTO-IR, not PTX: link it first")
    return of_text(data)


def of_text(text: bytes) -> bytes:
    """`text`, if it may be PTX. Raises Refused."""
    if b".version" not in text:
        raise Refused("CUDA_ERROR_INVALID_IMAGE", "this is neither PTX nor a cubin nor a fat binary")
    check_version(text)
    return text


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except elf.DamagedError as error:
        raise Refused("CUDA_ERROR_INVALID_IMAGE", f"the image is damaged: {error}") from None


def carried(cubin: bytes) -> bytes | None:
    """The PTX of a cubin: what `attach` put there, or what is there for debuggers. None if it has none.

    Raises DamagedError or Refused.
    """
    ptx = attached(cubin)
    if ptx is None and (units := debug_sections.texts(cubin)):
        counts = registers(cubin)
        ptx = together([(text, f"unit {number}") for number, text in enumerate(units)], has_runtime=False)
        ptx = with_directive(ptx, b"registers", lambda name: counts.get(name, 0))
    return ptx


def of_cubin(cubin: bytes) -> bytes:
    """The PTX of a cubin. Raises Refused."""
    with _refused():
        ptx = carried(cubin)
    if ptx is None:
        raise Refused(
            "CUDA_ERROR_NO_BINARY_FOR_GPU",
            "this cubin carries no PTX, for it was not fetched from NVRTC while the simulator was on: load"
            " the PTX itself, or compile with -lineinfo, which keeps the PTX",
        )
    return ptx


@_refused()
def of_fatbin(data: bytes) -> bytes:
    """The PTX of a fat binary, for the device's compute capability or an older one. Raises Refused."""
    major, minor = Hardware.compute_capability
    best, skipped = 0, defaultdict(set)
    ptx = b""
    for entry in fatbin.entries(data):
        skipped[entry.kind].add(entry.architecture)
        if entry.kind == fatbin.PTX and best < entry.architecture <= 10 * major + minor:
            best, ptx = entry.architecture, unpacked(entry)
        elif entry.kind == fatbin.CUBIN and runs_cubin(entry.architecture):
            held = carried(unpacked(entry))
            if held is not None:
                return held
    if not ptx:
        raise Refused(
            "CUDA_ERROR_NO_BINARY_FOR_GPU",
            f"the fat binary has {_contents(skipped)}; the simulator needs PTX for compute capability"
            f" {major}.{minor} or less: {_remedy(skipped[fatbin.PTX])}",
        )
    check_version(ptx)
    return ptx.rstrip(b"\0") + b"\0"


KINDS = {fatbin.CUBIN: "SASS for sm_", fatbin.PTX: "PTX for compute_"}


def _contents(kinds: Mapping[int, set[int]]) -> str:
    """What a fat binary has, by kinds the architectures: "SASS for sm_75 to sm_120, PTX for compute_120"."""
    parts = []
    for kind, numbers in sorted(kinds.items(), reverse=True):
        head, space, name = KINDS.get(kind, f"code of kind {kind} for sm_").rpartition(" ")
        first, *rest = (f"{name}{number}" for number in sorted(numbers))
        parts.append(head + space + (first if not rest else f"{first} to {rest[-1]}"))
    return ", ".join(parts) or "nothing"


def _remedy(numbers: Collection[int]) -> str:
    """What helps if a fat binary has PTX for these architectures, all newer than the device, or none."""
    enough = [known for known in sorted(SHARED_PER_MULTIPROCESSOR) if known >= min(numbers, default=1000)]
    if enough:
        return f"try --compute-capability {enough[0] // 10}.{enough[0] % 10}"
    name = "compute_{}{}".format(*Hardware.compute_capability)
    return f"compile it with PTX, nvcc -gencode arch={name},code={name}, or with -lineinfo"


def elf_size(address: int) -> int:
    """The bytes of the ELF file at an address: to the end of its last section or of its tables."""
    header = elf.HEADER.unpack(memory.read_mapped(address, 64))
    segments, sections, segment_size, segment_count, entry, count = *header[4:6], *header[8:12]
    end = max(segments + segment_size * segment_count, sections + entry * count, 64)
    table = memory.read_mapped(address + sections, elf.SECTION.size * count)
    for section in map(elf.Section._make, elf.SECTION.iter_unpack(table)):
        if section.kind and section.kind not in elf.WITHOUT_BYTES and section.kind <= elf.LAST_KIND:
            end = max(end, section.offset + section.size)
    return int(end)


def in_file(path: bytes | None) -> bytes:
    """The PTX of the image in a file. Raises Refused."""
    if path is None:
        raise invalid("the path is NULL")
    try:
        with open(os.fsdecode(path), "rb") as file:
            data = file.read()
    except OSError as error:
        raise Refused("CUDA_ERROR_FILE_NOT_FOUND", str(error)) from None
    return of_image(data)


class Options:
    """The options of the compiler and the linker: where their messages go, and what they ask for."""

    def __init__(self, count: int, options: Any, values: Any) -> None:
        self.values = values
        self.places = {Option(options[i]): i for i in range(count)}
        self.began = time.perf_counter()
        self._logs = {kind: self._empty_log(kind) for kind in ("INFO", "ERROR")}

    def _empty_log(self, kind: str) -> tuple[int, int]:
        """The buffer for messages of a kind, which is empty now, and the bytes that it has room for."""
        option = Option[f"CU_JIT_{kind}_LOG_BUFFER"]
        size = Option[f"{option.name}_SIZE_BYTES"]
        room = self.get(size) & 0xFFFFFFFF
        if not self.get(option) or not room:
            return 0, 0
        buffer = require(self.get(option), room, option.name)
        ctypes.memset(buffer, 0, 1)
        self.values[self.places[size]] = 0
        return buffer, room

    def get(self, option: Option) -> int:
        """The value of an option; 0 if it is not there."""
        place = self.places.get(option)
        return 0 if place is None else int(self.values[place] or 0)

    @property
    def registers(self) -> int:
        """CU_JIT_MAX_REGISTERS."""
        return self.get(Option.CU_JIT_MAX_REGISTERS) & 0xFFFFFFFF

    def say(self, message: str, error: bool = False) -> None:
        """Write a message to the buffer for messages, or for errors; and how long it took."""
        kind = "ERROR" if error else "INFO"
        buffer, room = self._logs[kind]
        if room:
            text = message.encode()[: room - 1] + b"\0"
            ctypes.memmove(buffer, text, len(text))
            self.values[self.places[Option[f"CU_JIT_{kind}_LOG_BUFFER_SIZE_BYTES"]]] = len(text)
        if Option.CU_JIT_WALL_TIME in self.places:
            milliseconds = 1000 * (time.perf_counter() - self.began)
            (bits,) = struct.unpack("I", struct.pack("f", milliseconds))
            self.values[self.places[Option.CU_JIT_WALL_TIME]] = bits
