"""nvFatbin: the real library, of either CUDA major, packs what the real NVRTC compiled. No GPU needed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cudapy import nvfatbin, nvrtc, pathfinder
from cudapy._bindings.errors import CUDAError
from cudapy._ffi.library import SymbolNotFound
from cudapy.nvfatbin import Result, nvFatbinError, nvFatbinResult

SUCCESS = nvFatbinResult.NVFATBIN_SUCCESS
SOURCE = b'extern "C" __global__ void k(int *p) { *p = 7; }'
MAGIC = 0xBA55ED50
PTX, CUBIN, LTOIR = 1, 2, 8  # the kinds of entries


@pytest.fixture(autouse=True)
def _libraries() -> None:
    """Skip, with the reason, where a library is missing."""
    try:
        pathfinder.load("nvfatbin")
        pathfinder.load("nvrtc")
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])


@pytest.fixture
def handle() -> Iterator[int]:
    made = nvfatbin.create(["-compress=false"], 1)
    yield made
    nvfatbin.destroy(made)


def compiled(kind: str, *options: bytes) -> bytes:
    checked = nvrtc.checked
    program = checked.nvrtcCreateProgram(SOURCE, b"k.cu", 0, None, None)
    checked.nvrtcCompileProgram(program, len(options), options)
    code: bytes = getattr(checked, f"nvrtcGet{kind}")(
        program, getattr(checked, f"nvrtcGet{kind}Size")(program)
    )
    checked.nvrtcDestroyProgram(program)
    return code


def cubin(arch: int) -> bytes:
    return compiled("CUBIN", b"-arch=sm_%d" % arch)


def ptx(arch: int) -> bytes:
    return compiled("PTX", b"-arch=compute_%d" % arch)


def packed(handle: int) -> bytes:
    """The fat binary, from a buffer with spare bytes, which must stay as they are."""
    size = nvfatbin.size(handle)
    buffer = bytearray(b"\xaa" * (size + 16))
    assert nvfatbin.get(handle, buffer) is None
    assert buffer[size:] == b"\xaa" * 16
    return bytes(buffer[:size])


def entries(image: bytes) -> list[tuple[int, int, bytes]]:
    """(kind, architecture, the rest) of the entries: a header, then one after another."""
    magic, version, header, length = struct.unpack_from("<IHHQ", image)
    assert (magic, version, header) == (MAGIC, 1, 16)
    assert header + length == len(image)
    found = []
    while header < len(image):
        kind, _, skip, payload = struct.unpack_from("<HHIQ", image, header)
        (arch,) = struct.unpack_from("<I", image, header + 28)
        found.append((kind, arch, image[header + skip : header + skip + payload]))
        header += skip + payload
    return found


# -- packing ---------------------------------------------------------------------------------------------


def test_cubins_and_ptx_of_two_architectures(handle: int) -> None:
    for arch in (80, 90):
        code, text = cubin(arch), ptx(arch)
        nvfatbin.add_cubin(handle, code, len(code), str(arch), "k")
        nvfatbin.add_ptx(handle, text, len(text), str(arch), "k", "-O3")
    found = entries(packed(handle))
    assert sorted((kind, arch) for kind, arch, _ in found) == [(PTX, 80), (PTX, 90), (CUBIN, 80), (CUBIN, 90)]
    for kind, arch, payload in found:
        if kind == CUBIN:
            assert payload.startswith(cubin(arch))
        else:  # comments and blanks are gone
            assert b".target sm_%d\n" % arch in payload
            assert b".visible .entry k(" in payload


def test_ltoir(handle: int) -> None:
    code = compiled("LTOIR", b"-arch=sm_90", b"-dlto")
    nvfatbin.add_ltoir(handle, code, len(code), "90", "k", None)
    ((kind, arch, payload),) = entries(packed(handle))
    assert (kind, arch) == (LTOIR, 90)
    assert payload.startswith(code)


def test_more_can_be_added_after_looking(handle: int) -> None:
    assert entries(packed(handle)) == []
    code = cubin(90)
    nvfatbin.add_cubin(handle, code, len(code), "90", "k")
    first = packed(handle)
    assert packed(handle) == first
    code = cubin(80)
    nvfatbin.add_cubin(handle, code, len(code), "80", None)
    assert [arch for _, arch, _ in entries(packed(handle))] == [90, 80]


def test_compressed() -> None:
    code = cubin(90)
    sizes = []
    for options in (["-compress=false"], ["-compress-all"]):
        handle = nvfatbin.create(options, 1)
        nvfatbin.add_cubin(handle, code, len(code), "90", "k")
        sizes.append(len(packed(handle)))
        nvfatbin.destroy(handle)
    assert sizes[1] < sizes[0] / 2


def test_threads_pack_at_once() -> None:
    code = cubin(90)

    def image(_: int) -> bytes:
        handle = nvfatbin.create(None, 0)
        try:
            nvfatbin.add_cubin(handle, code, len(code), "90", "k")
            return packed(handle)
        finally:
            nvfatbin.destroy(handle)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(image, range(32)))
    assert {struct.unpack_from("<I", image)[0] for image in found} == {MAGIC}
    assert len({len(image) for image in found}) == 1


# -- errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arch", "message"),
    [("75", r"^ERROR_ELF_ARCH_MISMATCH \(2\)$"), ("sm_90", r"^ERROR_INVALID_ARCH \(9\)$")],
)
def test_the_wrong_architecture(handle: int, arch: str, message: str) -> None:
    code = cubin(90)
    with pytest.raises(nvFatbinError, match=message) as caught:
        nvfatbin.add_cubin(handle, code, len(code), arch, "k")
    assert "the architecture" in str(caught.value.__cause__).lower()
    assert f"arch={arch!r}" in str(caught.value.__cause__)


def test_bad_input(handle: int) -> None:
    with pytest.raises(nvFatbinError, match=r"^ERROR_MISSING_PTX_VERSION \(4\)$"):
        nvfatbin.add_ptx(handle, b"garbage\0", 8, "90", "k", None)
    with pytest.raises(nvFatbinError, match=r"^ERROR_ELF_SIZE_MISMATCH \(3\)$"):
        nvfatbin.add_cubin(handle, b"garbage" * 20, 140, "90", "k")
    with pytest.raises(nvFatbinError, match=r"^ERROR_EMPTY_INPUT \(11\)$"):
        nvfatbin.add_cubin(handle, b"", 0, "90", "k")
    with pytest.raises(nvFatbinError, match=r"^ERROR_INVALID_INDEX \(15\)$"):
        nvfatbin.add_index(handle, b"garbage", 7, "k")
    with pytest.raises(nvFatbinError) as caught:
        nvfatbin.add_reloc(handle, b"garbage", 7)
    assert caught.value.status in (Result.ERROR_EMPTY_INPUT, Result.ERROR_MISSING_FATBIN)


def test_tile_ir(handle: int) -> None:
    if nvfatbin.version() >= (13, 1):
        with pytest.raises(nvFatbinError):
            nvfatbin.add_tile_ir(handle, b"garbage", 7, "k", None)
    else:
        with pytest.raises(SymbolNotFound, match=r'"nvFatbinAddTileIR" not found in .* CUDA 13\.1 or newer'):
            nvfatbin.add_tile_ir(handle, b"garbage", 7, "k", None)


def test_bad_options() -> None:
    wrong = nvFatbinResult.NVFATBIN_ERROR_UNRECOGNIZED_OPTION
    assert nvfatbin.nvFatbinCreate([b"-nonsense"], 1) == (wrong, None)
    with pytest.raises(nvFatbinError, match=r"^ERROR_UNRECOGNIZED_OPTION \(8\)$"):
        nvfatbin.create(["-nonsense"], 1)
    with pytest.raises(CUDAError, match=r"nvFatbinCreate: NVFATBIN_ERROR_UNRECOGNIZED_OPTION \(8\)"):
        nvfatbin.checked.nvFatbinCreate([b"-nonsense"], 1)


def test_no_handle() -> None:
    null = nvFatbinResult.NVFATBIN_ERROR_NULL_POINTER
    assert nvfatbin.nvFatbinSize(None) == (null, None)
    assert nvfatbin.nvFatbinAddCubin(0, b"x", 1, b"90", None) == (null,)


# -- the rest --------------------------------------------------------------------------------------------


def test_version() -> None:
    assert nvfatbin.version()[0] == pathfinder.load("nvfatbin").major
    assert nvfatbin.nvFatbinVersion() == (SUCCESS, *nvfatbin.version())


def test_error_strings() -> None:
    assert nvfatbin.get_error_string(Result.ERROR_INVALID_ARCH) == "invalid architecture"
    assert nvfatbin.nvFatbinGetErrorString(9) == (SUCCESS, b"invalid architecture")


def test_the_c_face() -> None:
    status, handle = nvfatbin.nvFatbinCreate([b"-compress=false", b"-host=linux"], 2)
    assert (status, type(handle)) == (SUCCESS, nvfatbin.nvFatbinHandle)
    code = cubin(90)
    assert nvfatbin.nvFatbinAddCubin(handle, code, len(code), b"90", b"k") == (SUCCESS,)
    status, size = nvfatbin.nvFatbinSize(handle)
    image = b" " * size  # filled in place
    assert nvfatbin.nvFatbinGet(handle, image) == (SUCCESS,)
    assert [(kind, arch) for kind, arch, _ in entries(image)] == [(CUBIN, 90)]
    assert nvfatbin.nvFatbinDestroy(handle) == (SUCCESS,)
    assert handle == 0


def test_bad_arguments(handle: int) -> None:
    code: Any = cubin(90)
    nvfatbin.add_cubin(handle, memoryview(code), len(code), b"90", "k")
    size = nvfatbin.size(handle)
    with pytest.raises(
        ValueError, match=rf"nvFatbinGet: buffer holds {size - 1} bytes, the call needs {size}"
    ):
        nvfatbin.get(handle, bytearray(size - 1))
    with pytest.raises(ValueError, match=rf"nvFatbinAddCubin: code holds {len(code)} bytes, the call needs"):
        nvfatbin.add_cubin(handle, code, len(code) + 1, "90", "k")
    with pytest.raises(OverflowError, match="nvFatbinAddCubin: size = -1"):
        nvfatbin.add_cubin(handle, code, -1, "90", "k")
    with pytest.raises(TypeError, match="nvFatbinAddCubin: arch must be bytes, not str"):
        nvfatbin.nvFatbinAddCubin(handle, code, len(code), "90", None)
    with pytest.raises(TypeError, match="nvFatbinAddCubin: arch must be bytes, not float"):
        nvfatbin.add_cubin(handle, code, len(code), 9.0, None)
    with pytest.raises(TypeError, match="nvFatbinAddPTX: code must be an address or a buffer, not str"):
        nvfatbin.add_ptx(handle, ptx(90).decode(), 10, "90", "k", None)
    with pytest.raises(ValueError, match="nvFatbinCreate: options holds 1 item, the call needs 2"):
        nvfatbin.create(["-g"], 2)
