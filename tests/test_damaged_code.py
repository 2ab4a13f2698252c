"""Damaged cubins and fat binaries: refused by core, and no reason for the simulator to die."""

from __future__ import annotations

import ctypes
import functools
import random
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudapy import driver, nvfatbin, pathfinder, simulator
from cudapy._core.kernels.parameter_kinds import without_note
from cudapy._ffi import elf, fatbin
from cudapy.core import CUDAError, Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

from .budget import fuzz, once_failed

SOURCE = """
__device__ int table[100]; __constant__ int c[4] = {1, 2, 3, 4};
__device__ __noinline__ int f(int x) { return table[x] * c[x & 3]; }
extern "C" __global__ void k(int *p) { __shared__ int s[64]; s[threadIdx.x] = *p; p[1] = f(s[3]); }
template<class T> __global__ void t(T *p) { *p += f(int(*p)); }
template __global__ void t<float>(float *); template __global__ void t<double>(double *);
"""


@functools.cache
def cubin() -> bytes:
    """A cubin with several kernels, symbols, relocations; on the simulator with its PTX."""
    try:
        pathfinder.load("nvrtc")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    options = ProgramOptions(arch="sm_90", relocatable_device_code=True)
    return without_note(Program(SOURCE, "c++", options).compile("cubin").code)


@functools.cache
def fat_binary(*options: str) -> bytes:
    """A fat binary of that cubin, and of PTX for two architectures."""
    try:
        pathfinder.load("nvfatbin")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])
    handle = nvfatbin.create(list(options), len(options))
    nvfatbin.add_cubin(handle, cubin(), len(cubin()), "90", "a cubin")
    for arch in ("75", "80"):
        text = f".version 8.0\n.target sm_{arch}\n.address_size 64\n.visible .entry k() {{ ret; }}\0".encode()
        nvfatbin.add_ptx(handle, text, len(text), arch, "text", "")
    image = bytearray(nvfatbin.size(handle))
    nvfatbin.get(handle, image)
    nvfatbin.destroy(handle)
    return bytes(image)


KINDS = {
    "cubin": cubin,
    "plain": functools.partial(fat_binary, "-compress=false"),
    "packed": functools.partial(fat_binary, "-compress-mode=speed"),
}


def original(kind: str) -> bytes:
    if kind == "packed" and pathfinder.load("nvfatbin").major == 12:
        return fat_binary("-compress-all")
    return KINDS[kind]()  # type: ignore[operator]


# -- what is whole ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_what_compilers_make_is_whole(kind: str) -> None:
    fatbin.check_object(original(kind))
    fatbin.check_object(original(kind) + b"behind")


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("more", [{}, {"relocatable_device_code": True}, {"debug": True}, {"lineinfo": True}])
def test_cubins_of_every_kind_are_whole(arch: str, more: dict[str, Any], nvrtc: Any) -> None:
    fatbin.check_object(Program(SOURCE, "c++", ProgramOptions(arch=arch, **more)).compile("cubin").code)


def test_what_is_neither_an_elf_file_nor_a_fat_binary_is_left_alone() -> None:
    for data in (b"", b"\x7fEL", b".version 8.0", b"\0" * 100, b"!<arch>\n"):
        fatbin.check_object(data)


# -- what C would follow ------------------------------------------------------------------------------------


def follow(data: bytes) -> None:
    """Read an ELF file as C does, from offset to offset. Raises IndexError or struct.error outside of it."""
    read = struct.unpack_from
    phoff, shoff = read("<QQ", data, 32)
    phentsize, phnum, shentsize, shnum, names = read("<HHHHH", data, 54)
    for i in range(phnum):
        offset, size = read("<8xQ16xQ", data, phoff + phentsize * i)
        assert not size or data[offset + size - 1] is not None
    headers = [read("<IIQQQQIIQQ", data, shoff + shentsize * i) for i in range(shnum)]
    if names == 0xFFFF and headers:
        names = headers[0][6]  # SHN_XINDEX: the header has no room for the number

    def string(section: int, offset: int) -> bytes:
        start, size = headers[section][4:6]
        if offset >= size:
            raise IndexError(offset)
        return data[start + offset : data.index(b"\0", start + offset, start + size)]

    for name, kind, _, _, offset, size, link, info, _, entsize in headers:
        if names:
            string(names, name)
        if not kind or not size or kind in elf.WITHOUT_BYTES or kind > elf.LAST_KIND:
            continue
        assert data[offset + size - 1] is not None
        if kind == elf.SYMBOLS:
            for place in range(offset, offset + size, entsize):
                symbol, home = read("<IxxH", data, place)
                string(link, symbol)
                assert home >= 0xFF00 or headers[home]
        elif kind in (elf.REL, elf.RELA):
            assert headers[info]
            for place in range(offset, offset + size, entsize):
                (symbol,) = read("<12xI", data, place)
                assert not symbol or read("<24s", data, headers[link][4] + 24 * symbol)
                assert not symbol or 24 * symbol < headers[link][5]


SIZES = {"B": 1, "H": 2, "I": 4, "Q": 8}


@functools.cache
def fields(kind: str) -> list[tuple[int, int]]:
    """Where each field of the tables in `kind` is, and its width."""
    data = original(kind)
    if data.startswith(fatbin.MAGIC):
        tables, place = [(0, "IHHQ")], fatbin.HEADER.size
        for _ in fatbin.entries(data):
            tables.append((place, "HHIQIIHHIIIQQQ"))
            place += sum(struct.unpack_from("<4xIQ", data, place))
    else:
        shoff, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
        tables = [(16, "HHIQQQIHHHHHH")]
        tables += [(shoff + 64 * i, "IIQQQQIIQQ") for i in range(count)]
        for section in elf.sections(data):
            if section.kind == elf.SYMBOLS:
                tables += [(section.offset + 24 * i, "IBBHQQ") for i in range(section.size // 24)]
            elif section.kind in (elf.REL, elf.RELA):
                tables += [(section.offset + 24 * i, "QII") for i in range(section.size // 24)]
    found = []
    for place, codes in tables:
        for code in codes:
            found.append((place, struct.calcsize(code)))
            place += struct.calcsize(code)
    return found


Mutation = tuple[str, int, int]
"""What is done, where (modulo what there is), and with which value."""

LIMITS = [0, 1, 63, 64, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1]
MUTATIONS: st.SearchStrategy[list[Mutation]] = st.lists(
    st.tuples(
        st.sampled_from(["field", "field", "field", "near", "bit", "cut", "garbage"]),
        st.integers(0, 2**20),
        st.sampled_from(LIMITS) | st.integers(0, 2**16),
    ),
    min_size=1,
    max_size=3,
)


def damage(kind: str, mutations: list[Mutation]) -> bytes:
    """`kind` with fields changed, bits flipped, its header garbage, or cut short."""
    data = bytearray(original(kind))
    for how, where, value in mutations:
        if how in ("field", "near"):
            place, width = fields(kind)[where % len(fields(kind))]
            if how == "near":  # the end of the file, where most checks are decided
                value = len(data) + value % 65 - 32
            data[place : place + width] = (value % 256**width).to_bytes(width, "little")
        elif how == "bit" and data:
            data[where % len(data)] ^= 1 << value % 8
        elif how == "cut":
            del data[where % (len(data) + 1) :]
        elif how == "garbage":
            data[4:64] = random.Random(where).randbytes(60)
    return bytes(data)


@fuzz
@given(mutations=MUTATIONS)
def test_nothing_that_is_called_whole_leads_outside(mutations: list[Mutation]) -> None:
    data = damage("cubin", mutations)
    try:
        fatbin.check_object(data)
    except elf.DamagedError:
        return
    if data.startswith(elf.MAGIC):
        follow(data)


def changed(data: bytes, form: str, place: int, value: int) -> bytes:
    whole = bytearray(data)
    struct.pack_into(form, whole, place, value)
    return bytes(whole)


def test_more_sections_than_a_header_can_say() -> None:
    """Then the first section has their number as its size, and as its link that of the names."""
    data = cubin()
    (table,), (count, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HH", data, 60)
    many = changed(data, "<Q", table + 32, count)
    many = changed(many, "<H", 60, 0)
    many = changed(changed(many, "<H", 62, elf.EXTENDED), "<I", table + 40, names)
    assert len(elf.sections(many)) == count
    elf.check(many)
    with pytest.raises(elf.DamagedError, match="the table of sections"):
        elf.check(changed(many, "<Q", table + 32, len(data)))
    with pytest.raises(elf.DamagedError, match="a section's name"):
        elf.check(changed(many, "<I", table + 40, count))


def test_entries_and_relocations_that_lead_elsewhere() -> None:
    data = cubin()
    with pytest.raises(elf.DamagedError, match="a section's entry has 63 bytes, not 64"):
        elf.check(changed(data, "<H", 58, 63))
    found = elf.sections(data)
    number = next(i for i, section in enumerate(found) if section.kind in (elf.REL, elf.RELA))
    (table,) = struct.unpack_from("<Q", data, 40)
    with pytest.raises(elf.DamagedError, match=f"section {number} relocates section {len(found)}, which"):
        elf.check(changed(data, "<I", table + 64 * number + 44, len(found)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut_is_refused(kind: str) -> None:
    data = original(kind)
    for end in {*range(4, 400), *range(400, len(data), 97), *range(len(data) - 100, len(data))}:
        with pytest.raises(elf.DamagedError):
            fatbin.check_object(data[:end])


@pytest.mark.gpu
def test_core_refuses_what_is_damaged_before_c_reads_it() -> None:
    for code in (
        ObjectCode.from_cubin(cubin()[:-100], name="mine"),
        ObjectCode.from_fatbin(fatbin.WRAPPER + bytes(20), name="mine"),
        ObjectCode.from_ptx(elf.MAGIC + bytes(20), name="mine"),
    ):
        with pytest.raises(
            CUDAError, match=r"INVALID_IMAGE \(200\): <ObjectCode 'mine'.*is damaged"
        ) as caught:
            code.get_kernel("k")
        assert caught.value.code == driver.CUresult.CUDA_ERROR_INVALID_IMAGE
    with pytest.raises(CUDAError, match=r"<ObjectCode '', cubin, .*is damaged"):
        Linker(ObjectCode.from_cubin(cubin()[:-100]), options=LinkerOptions(arch="sm_90"))


# -- the simulator ------------------------------------------------------------------------------------------


def load(data: bytes, by_core: bool) -> str:
    """What comes of loading an image: "" or the error."""
    if by_core:
        try:
            ObjectCode.from_cubin(data).get_kernel("k")
        except CUDAError as error:
            return str(error)
        return ""
    driver.checked.cuInit(0)
    status, library = driver.cuLibraryLoadData(data, None, None, 0, None, None, 0)
    if status:
        return f"{status.name}"
    driver.checked.cuLibraryUnload(library)
    return ""


def survive(data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    if not simulator.is_enabled():
        pytest.skip("a real driver need not survive what it is given by address")
    for by_core in (True, False):
        said = load(data, by_core)
        assert "UNKNOWN" not in said and "mistake" not in said, capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.gpu
@fuzz
@given(mutations=MUTATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_simulator_survives_damaged_code(kind: str, mutations: list[Mutation], capsys: Any) -> None:
    survive(damage(kind, mutations), capsys)


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "mutations"), once_failed("damaged code"))
def test_what_once_failed(kind: str, mutations: list[Mutation], capsys: Any) -> None:
    survive(damage(kind, mutations), capsys)


@pytest.mark.gpu
def test_an_image_where_no_memory_is() -> None:
    """At the end of what is mapped, or behind a wrapper that points nowhere."""
    if not simulator.is_enabled():
        pytest.skip("a real driver need not survive what it is given by address")
    driver.checked.cuInit(0)
    wrapper = ctypes.create_string_buffer(fatbin.WRAPPER + struct.pack("<IQQ", 1, 0xDEAD000, 0))
    header = elf.MAGIC + bytes([2, 1]) + bytes(34) + struct.pack("<Q6xHHHHHH", 2**62, 64, 56, 0, 64, 9, 0)
    for image in (ctypes.addressof(wrapper), 0xDEAD000, 2**64 - 4, header):
        assert (
            driver.cuLibraryLoadData(image, None, None, 0, None, None, 0)[0].name
            == "CUDA_ERROR_INVALID_IMAGE"
        )
