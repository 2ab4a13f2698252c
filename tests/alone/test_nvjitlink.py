"""nvJitLink: the real library, of either CUDA major, links what the real NVRTC compiled. No GPU needed."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cudapy import nvjitlink, nvrtc, pathfinder
from cudapy._bindings.errors import CUDAError
from cudapy._ffi.library import SymbolNotFound
from cudapy.nvjitlink import InputType, Result, nvJitLinkError, nvJitLinkResult

REPOSITORY = Path(__file__).parents[2]
SUCCESS = nvJitLinkResult.NVJITLINK_SUCCESS
DEVICE = b'extern "C" __device__ int triple(int x) { return 3 * x; }'
KERNEL = b"""
extern "C" __device__ int triple(int x);
extern "C" __global__ void k(int *p) { *p = triple(*p); }
"""


def require(name: str) -> None:
    """Skip, with the reason, where a library is missing."""
    try:
        pathfinder.load(name)
    except pathfinder.LibraryNotFound as error:
        pytest.skip(str(error).splitlines()[0])


@pytest.fixture(autouse=True)
def _libraries(request: pytest.FixtureRequest) -> None:
    if request.node.name != "test_missing_library":
        require("nvJitLink")
        require("nvrtc")


def compiled(kind: str, source: bytes, *options: bytes) -> bytes:
    """What NVRTC makes of relocatable code."""
    checked = nvrtc.checked
    program = checked.nvrtcCreateProgram(source, b"unit.cu", 0, None, None)
    checked.nvrtcCompileProgram(program, 2 + len(options), [b"-arch=sm_90", b"-rdc=true", *options])
    code: bytes = getattr(checked, f"nvrtcGet{kind}")(
        program, getattr(checked, f"nvrtcGet{kind}Size")(program)
    )
    checked.nvrtcDestroyProgram(program)
    return code


def ltoir() -> list[bytes]:
    return [compiled("LTOIR", source, b"-dlto") for source in (DEVICE, KERNEL)]


def ptx() -> list[bytes]:
    return [compiled("PTX", source) for source in (DEVICE, KERNEL)]


def link(inputs: list[bytes], kind: int, *options: str) -> int:
    """A linker that has linked `inputs`."""
    handle = nvjitlink.create(1 + len(options), ["-arch=sm_90", *options])
    for number, code in enumerate(inputs):
        nvjitlink.add_data(handle, kind, code, len(code), f"unit{number}")
    nvjitlink.complete(handle)
    return handle


def filled(handle: int, kind: str, spare: int = 0) -> bytes:
    """The result or log `kind`, in a buffer with spare bytes, which must stay as they are."""
    size = getattr(nvjitlink, f"get_{kind}_size")(handle)
    buffer = bytearray(b"\xaa" * (size + spare))
    assert getattr(nvjitlink, f"get_{kind}")(handle, buffer) is None
    assert buffer[size:] == b"\xaa" * spare
    return bytes(buffer[:size])


# -- linking ---------------------------------------------------------------------------------------------


def test_lto_of_two_units_to_a_cubin() -> None:
    handle = link(ltoir(), InputType.LTOIR, "-lto")
    cubin = filled(handle, "linked_cubin", 16)
    assert cubin.startswith(b"\x7fELF")
    assert b".text.k\0" in cubin
    assert b".text.triple\0" not in cubin  # inlined across the units
    nvjitlink.destroy(handle)


def test_lto_of_two_units_to_ptx() -> None:
    handle = link(ltoir(), InputType.LTOIR, "-lto", "-ptx")
    text = filled(handle, "linked_ptx", 16)
    assert text.endswith(b"\0")
    assert b"\0" not in text[:-1]
    assert b".visible .entry k(" in text
    assert b".target sm_90" in text
    assert b"call" not in text
    nvjitlink.destroy(handle)


def test_two_units_of_ptx() -> None:
    handle = link(ptx(), InputType.PTX)
    cubin = filled(handle, "linked_cubin")
    assert b".text.k\0" in cubin
    assert b".text.triple\0" in cubin
    with pytest.raises(nvJitLinkError):
        nvjitlink.get_linked_ptx_size(handle)  # for -ptx only
    nvjitlink.destroy(handle)


def test_the_library_looks_what_kind_an_input_is() -> None:
    inputs = [compiled("CUBIN", DEVICE), compiled("PTX", KERNEL)]
    handle = link(inputs, InputType.ANY)
    assert b".text.triple\0" in filled(handle, "linked_cubin")
    nvjitlink.destroy(handle)


def test_files(tmp_path: Path) -> None:
    handle = nvjitlink.create(1, ["-arch=sm_90"])
    for number, code in enumerate(ptx()):
        path = tmp_path / f"{number}é.ptx"
        path.write_bytes(code)
        nvjitlink.add_file(handle, InputType.PTX, str(path))
    nvjitlink.complete(handle)
    assert b".text.triple\0" in filled(handle, "linked_cubin")
    with pytest.raises(nvJitLinkError):
        nvjitlink.add_file(handle, InputType.PTX, str(tmp_path / "missing.ptx"))
    nvjitlink.destroy(handle)


def test_linked_ltoir() -> None:
    handle = link(ltoir(), InputType.LTOIR, "-lto")
    if nvjitlink.version() >= (13, 3):
        code = filled(handle, "linked_ltoir", 16)
        nvjitlink.destroy(handle)
        handle = link([code], InputType.LTOIR, "-lto", "-ptx")
        assert b".visible .entry k(" in filled(handle, "linked_ptx")
    else:
        with pytest.raises(
            SymbolNotFound, match=r'"nvJitLinkGetLinkedLTOIRSize" not found .* CUDA 13\.3 or newer'
        ):
            nvjitlink.get_linked_ltoir_size(handle)
    nvjitlink.destroy(handle)


def test_threads_link_at_once() -> None:
    inputs = ltoir()

    def cubin(_: int) -> bytes:
        handle = link(inputs, InputType.LTOIR, "-lto")
        try:
            return filled(handle, "linked_cubin")
        finally:
            nvjitlink.destroy(handle)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(cubin, range(24)))
    assert len(set(found)) == 1
    assert found[0].startswith(b"\x7fELF")


FIRST_CALLS = """
import sys, threading
from cudapy import nvjitlink
barrier, failed = threading.Barrier(16), []
def work():
    barrier.wait()
    try:
        handle = nvjitlink.create(1, ["-arch=sm_90"])
        status, other = nvjitlink.nvJitLinkCreate(1, [b"-arch=sm_90"])
        nvjitlink.destroy(handle)
        assert status == 0 and nvjitlink.nvJitLinkDestroy(other) == (0,) and other == 0
    except BaseException as error:
        failed.append(error)
threads = [threading.Thread(target=work) for _ in range(16)]
sys.setswitchinterval(1e-6)
[thread.start() for thread in threads], [thread.join() for thread in threads]
sys.exit(repr(failed) if failed else 0)
"""


def test_threads_make_the_first_call_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_CALLS], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# -- errors and logs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "kind", "options"), [(ltoir, InputType.LTOIR, ["-lto"]), (ptx, InputType.PTX, [])]
)
def test_an_undefined_symbol_is_named(inputs: Any, kind: int, options: list[str]) -> None:
    handle = nvjitlink.create(1 + len(options), ["-arch=sm_90", *options])
    code = inputs()[1]
    nvjitlink.add_data(handle, kind, code, len(code), "kernel")
    with pytest.raises(nvJitLinkError) as caught:
        nvjitlink.complete(handle)
    assert caught.value.status in (Result.ERROR_PTX_COMPILE, Result.ERROR_FINALIZE, Result.ERROR_INTERNAL)
    log = filled(handle, "error_log", 16)
    assert b"triple" in log
    assert log.endswith(b"\0")
    nvjitlink.destroy(handle)


@pytest.mark.parametrize("kind", [InputType.CUBIN, InputType.PTX, InputType.LTOIR])
def test_bad_input_is_named(kind: InputType) -> None:
    handle = nvjitlink.create(2, ["-arch=sm_90", "-lto"])
    with pytest.raises(nvJitLinkError) as caught:
        nvjitlink.add_data(handle, kind, b"garbage" * 10, 70, "the_bad_one")
    # CUDA 12 knows the first only
    assert caught.value.status in (Result.ERROR_INVALID_INPUT, Result.ERROR_INCORRECT_INPUT_TYPE)
    log = filled(handle, "error_log")
    assert b"the_bad_one" in log
    assert f"NVJITLINK_INPUT_{kind.name}".encode() in log
    nvjitlink.destroy(handle)


def test_ptx_that_does_not_compile() -> None:
    bad = ptx()[0].replace(b"mul.lo.s32", b"mul.no.s32")
    handle = nvjitlink.create(1, ["-arch=sm_90"])
    with pytest.raises(nvJitLinkError, match=r"ERROR_PTX_COMPILE \(4\)"):
        nvjitlink.add_data(handle, InputType.PTX, bad, len(bad), "bad")
        nvjitlink.complete(handle)
    assert b"ptxas" in filled(handle, "error_log")
    nvjitlink.destroy(handle)


def test_options_that_are_not_known() -> None:
    assert nvjitlink.nvJitLinkCreate(2, [b"-arch=sm_90", b"-nonsense"]) == (
        nvJitLinkResult.NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
        None,
    )
    with pytest.raises(nvJitLinkError, match=r"^ERROR_UNRECOGNIZED_OPTION \(1\)$") as caught:
        nvjitlink.create(2, ["-arch=sm_90", "-nonsense"])
    assert "-nonsense" in str(caught.value.__cause__)


def test_no_architecture() -> None:
    with pytest.raises(nvJitLinkError, match=r"^ERROR_MISSING_ARCH \(2\)$") as caught:
        nvjitlink.create(1, ["-lto"])
    assert "add the option -arch=sm_XY" in str(caught.value.__cause__)
    with pytest.raises(CUDAError, match="NVJITLINK_ERROR_MISSING_ARCH"):
        nvjitlink.checked.nvJitLinkCreate(1, [b"-lto"])


@pytest.mark.parametrize("options", [None, []])
def test_no_options(options: Any) -> None:
    status, handle = nvjitlink.nvJitLinkCreate(0, options)
    assert status in (3, 10)
    assert handle is None


def test_logs() -> None:
    handle = link(ptx(), InputType.PTX, "-verbose")
    assert filled(handle, "error_log") == b""
    log = filled(handle, "info_log", 16)
    assert b"registers" in log
    assert log.endswith(b"\0")
    nvjitlink.destroy(handle)


def test_an_empty_log_into_an_empty_buffer() -> None:
    """The library writes a NUL that the size does not count: never where there is no room."""
    handle = nvjitlink.create(1, ["-arch=sm_90"])
    assert nvjitlink.get_error_log_size(handle) == 0
    for buffer in (bytearray(), b""):
        assert nvjitlink.nvJitLinkGetErrorLog(handle, buffer) == (SUCCESS,)
    nvjitlink.destroy(handle)


# -- handles, versions, arguments ------------------------------------------------------------------------


def test_the_c_face() -> None:
    status, handle = nvjitlink.nvJitLinkCreate(1, [b"-arch=sm_90"])
    assert (status, type(handle)) == (SUCCESS, nvjitlink.nvJitLinkHandle)
    for code in ptx():
        kind = nvjitlink.nvJitLinkInputType.NVJITLINK_INPUT_PTX
        assert nvjitlink.nvJitLinkAddData(handle, kind, code, len(code), None) == (SUCCESS,)
    assert nvjitlink.nvJitLinkComplete(handle) == (SUCCESS,)
    status, size = nvjitlink.nvJitLinkGetLinkedCubinSize(handle)
    for cubin in (bytearray(size), b"\xaa" * size, ctypes.create_string_buffer(size)):
        assert nvjitlink.nvJitLinkGetLinkedCubin(handle, cubin) == (SUCCESS,)
        assert bytes(cubin).startswith(b"\x7fELF")
    assert nvjitlink.nvJitLinkGetLinkedCubinSize(int(handle)) == (SUCCESS, size)
    assert nvjitlink.nvJitLinkDestroy(handle) == (SUCCESS,)
    assert handle == 0
    status, size = nvjitlink.nvJitLinkGetLinkedCubinSize(handle)
    assert status
    assert size is None


def test_version() -> None:
    version = nvjitlink.version()
    assert version[0] == pathfinder.load("nvJitLink").major
    assert nvjitlink.nvJitLinkVersion() == (SUCCESS, *version)


@pytest.fixture
def done() -> Any:
    """A linker that is done, and the size of its cubin."""
    handle = link(ptx(), InputType.PTX)
    yield handle, nvjitlink.get_linked_cubin_size(handle)
    nvjitlink.destroy(handle)


def test_short_and_unfit_buffers(done: Any) -> None:
    handle, size = done
    for short in (bytearray(size - 1), b"x" * (size - 1), bytearray(), ctypes.create_string_buffer(1)):
        with pytest.raises(
            ValueError, match=rf"nvJitLinkGetLinkedCubin: cubin holds \d+ bytes?, the call needs {size}"
        ):
            nvjitlink.get_linked_cubin(handle, short)
    with pytest.raises(ValueError, match="cubin must be writable memory"):
        nvjitlink.get_linked_cubin(handle, memoryview(bytes(size)))
    with pytest.raises(TypeError, match="cubin must be an address or a buffer, not str"):
        nvjitlink.get_linked_cubin(handle, "x" * size)


def test_str_is_for_the_raising_face_only(done: Any) -> None:
    handle, _ = done
    with pytest.raises(
        TypeError, match=r"nvJitLinkCreate: options\[0\] must be bytes, not str: use \.encode\(\)"
    ):
        nvjitlink.nvJitLinkCreate(1, ["-arch=sm_90"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="nvJitLinkAddFile: fileName must be bytes, not str"):
        nvjitlink.nvJitLinkAddFile(handle, 2, "a.ptx")
    with pytest.raises(TypeError, match="nvJitLinkAddData: data must be an address or a buffer, not str"):
        nvjitlink.add_data(handle, 2, "text", 4, "name")


def test_sizes_and_counts_are_checked(done: Any) -> None:
    handle, _ = done
    with pytest.raises(ValueError, match="data holds 4 bytes, the call needs 5"):
        nvjitlink.add_data(handle, 2, b"text", 5, "name")
    with pytest.raises(ValueError, match="options holds 1 item, the call needs 2"):
        nvjitlink.create(2, ["-arch=sm_90"])
    for number in (-1, 2**32):
        with pytest.raises(OverflowError, match="nvJitLinkCreate: numOptions"):
            nvjitlink.create(number, ["-arch=sm_90"])
    with pytest.raises(OverflowError, match="nvJitLinkAddData: size = -1"):
        nvjitlink.add_data(handle, 2, b"text", -1, "name")
    for unfit in ("1", 1.5, [1]):
        with pytest.raises(TypeError, match="nvJitLinkComplete: handle"):
            nvjitlink.complete(unfit)
    with pytest.raises(TypeError, match="options must be a list of bytes"):
        nvjitlink.create(1, "-arch=sm_90")


# -- which library, which symbol -------------------------------------------------------------------------


class Before123:
    """The library of CUDA 12.0 to 12.2: no function has a name without a version."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.asked: list[str] = []

    def __getitem__(self, symbol: str) -> Any:
        self.asked.append(symbol)
        if not symbol.endswith("_12_0"):
            raise AttributeError(symbol)
        return self.library[symbol.removeprefix("__").removesuffix("_12_0")]


def test_names_of_cuda_12_0(monkeypatch: pytest.MonkeyPatch) -> None:
    old = Before123(pathfinder.load("nvJitLink").handle)
    monkeypatch.setattr(nvjitlink.libnvjitlink, "load", lambda: old)
    monkeypatch.setattr(nvjitlink.libnvjitlink, "describe", lambda: "an old library")
    functions = [f.__declaration__ for f in vars(nvjitlink).values() if hasattr(f, "__declaration__")]
    assert len(functions) == 16
    for declaration in functions:
        if declaration.since:
            with pytest.raises(SymbolNotFound, match=rf"an old library: it needs CUDA {declaration.since}"):
                declaration.write()
        else:
            declaration.write()
    assert sum(symbol.endswith("_12_0") for symbol in old.asked) == 13


MISSING = """
import sys
from cudapy import nvjitlink, nvvm, nvfatbin, pathfinder
pathfinder.this_host = lambda: pathfinder.Host((), {}, root=sys.argv[1])
for call in (nvjitlink.version, nvjitlink.nvJitLinkVersion, nvvm.version, nvvm.nvvmVersion, nvfatbin.version):
    try:
        call()
    except pathfinder.LibraryNotFound as error:
        print(str(error).splitlines()[0], "|", str(error).splitlines()[-1])
    else:
        print("found")
"""


def test_missing_library(tmp_path: Path) -> None:
    """Importing works; the first call says what is missing, where it looked and what to install."""
    done = subprocess.run(
        [sys.executable, "-c", MISSING, str(tmp_path)], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for line, name in zip(lines, ("nvJitLink", "nvJitLink", "nvvm", "nvvm", "nvfatbin"), strict=True):
        if line != "found":  # else the system's loader has it
            assert line.startswith(f"{name} was not found. Places tried:")
            assert "pip install" in line
    if "found" in lines[:2]:
        pytest.skip("the system's loader has nvJitLink")
