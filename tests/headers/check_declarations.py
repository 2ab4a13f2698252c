"""Every declaration against the real headers of eight CUDA releases: `nox -s headers`.

Prototypes are compared as text, enum values and constants as numbers; sizes and offsets of structs are
judged by gcc. Needs the network once, for the header wheels, and gcc for the layouts.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import cudapy.cudla
import cudapy.cufile
import cudapy.driver
import cudapy.nvfatbin
import cudapy.nvjitlink
import cudapy.nvml
import cudapy.nvrtc
import cudapy.nvvm
import cudapy.runtime
from cudapy import simulator
from cudapy._ffi.prototypes import parse
from cudapy.simulator import entry_points
from cudapy.simulator.shared import runtime as shared_runtime

from . import wheels
from .reader import Field, Header, Struct, _Reader, read


class Api(NamedTuple):
    """A module, and where its headers are."""

    module: ModuleType
    components: tuple[str, ...]
    headers: tuple[str, ...]
    releases: tuple[str, ...] = wheels.RELEASES


LARGE = ("12.9", "13.0", "13.5") if os.environ.get("CUDAPY_HEADERS") == "all" else ("13.5",)
"""The releases of wheels of 20 to 90 MB: the one that the tests install; with `nox -s all_headers`, more."""

APIS = {
    "driver": Api(
        cudapy.driver,
        ("runtime", "profiler"),
        ("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h"),
    ),
    "runtime": Api(
        cudapy.runtime,
        ("runtime", "crt", "profiler"),
        (
            "driver_types.h",
            "surface_types.h",
            "texture_types.h",
            "library_types.h",
            "cuda_runtime_api.h",
            "cuda_gl_interop.h",
            "cuda_egl_interop.h",
            "cuda_vdpau_interop.h",
            "cuda_profiler_api.h",
        ),
    ),
    "nvrtc": Api(cudapy.nvrtc, ("nvrtc",), ("nvrtc.h",), LARGE),
    "nvjitlink": Api(cudapy.nvjitlink, ("nvjitlink",), ("nvJitLink.h",), LARGE),
    "nvvm": Api(cudapy.nvvm, ("nvvm",), ("nvvm.h",), LARGE),
    "nvfatbin": Api(cudapy.nvfatbin, ("nvfatbin",), ("nvFatbin.h",), wheels.RELEASES[1:]),
    "nvml": Api(cudapy.nvml, ("nvml",), ("nvml.h",)),
    "cufile": Api(cudapy.cufile, ("cufile", "runtime", "crt"), ("cufile.h",), wheels.RELEASES[1:]),
    "cudla": Api(cudapy.cudla, ("cudla",), ("cudla.h",), wheels.RELEASES[5:]),
}

CASES = [
    pytest.param(name, release, id=f"{name}-{release}")
    for name, api in APIS.items()
    for release in api.releases
]

NOT_DECLARED = re.compile(
    r"cuGL(CtxCreate|Init|RegisterBuffer|MapBuffer|UnmapBuffer|UnregisterBuffer|SetBuffer)"
    r"|cuDeviceGetUuid$|cuEventElapsedTime$|nvmlDeviceGetDriverModel$|cuFileDriverClose$"
)
"""Replaced by cuGraphicsGL* and cuDeviceGetUuid_v2 before CUDA 12, or the `before` of a declaration."""

GONE = {"nvrtcGetNVVM", "nvrtcGetNVVMSize"}
"""What CUDA 13 dropped, where no header of CUDA 12 is read that would tell."""

OLD_SPELLING = {
    "cuDevSmResourceSplitByCount": ("remaining", "useFlags"),
    "nvJitLinkCreate": ("const char **options",),
    "cudaGraphKernelNodeCopyAttributes": ("(cudaGraphNode_t hSrc, cudaGraphNode_t hDst)",),
}
"""Functions whose parameters had other names or types before: what is gone."""

MOVING = re.compile(
    r"_MAX$|_MAX_ENUM$|_NUM_OPTIONS$|_FLAGS_MASK$|^CU_COREDUMP_LIGHTWEIGHT_FLAGS$|^CUDA(RT)?_VERSION$"
    r"|^cuda.*(Max|Count)$|^cudaDeviceMask$"
    r"|^CUDLA_VER_|^CU_FILE_IO_MAX_ERROR$|^CU_FILE_MAX_TARGET_TYPES$"
    r"|^NVML_\w+_COUNT$|^NVML_API_VERSION$|^NVML_NVLINK_MAX_LINKS$|^nvml\w+All$|_NUM_PROFILE_PARAMS$"
)
"""Members that change their value with every release; ours is that of the newest."""


RENUMBERED = {
    "12.4": re.compile("NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_DEGRADED_BW$"),
    "12.9": re.compile(
        r"NVML_FI_(PWR_SMOOTHING_|DEV_POWER_SYNC_BALANCING_"
        r"|DEV_CLOCKS_EVENT_REASON_(SW_THERM|HW_THERM|HW_POWER_BRAKE)_SLOWDOWN)"
    ),
}
"""Constants that meant something else in one release: fields of nvml.h, which 13.0 counts as 12.8 did."""

RENAMED_FIELDS = {"isEnabledARR": "arrMode", "partitionId": "cliqueId"}
"""Fields that had another name before."""


@functools.cache
def header(name: str, release: str) -> Header:
    return read_renamed(files(name, release))


def read_renamed(paths: list[Path]) -> Header:
    """What headers declare, by the names that programs use."""
    found = read(paths)
    for public, symbol in found.renames.items():
        if symbol.startswith(f"__{public}_"):  # nvJitLink's, which have one more name for each release
            found.functions[public] = found.functions.pop(symbol).replace(symbol, public)
    return found


def folders_of(name: str, release: str) -> list[Path]:
    return [folder for part in APIS[name].components for folder in wheels.fetch(release, part)]


def files(name: str, release: str) -> list[Path]:
    found = files_in(name, folders_of(name, release))
    assert found, f"no headers of {name} in the wheels of CUDA {release}"
    return found


def files_in(name: str, folders: list[Path]) -> list[Path]:
    """The headers of a module in these folders, in the order in which they are read."""
    return [folder / file for file in APIS[name].headers for folder in folders if (folder / file).exists()]


def number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


class Declared(NamedTuple):
    """A declaration as one release has it: there the symbol, and so the prototype, may go by another name."""

    prototype: str
    since: str | None


def declarations(name: str, release: str) -> dict[str, Declared]:
    """The declarations of a module by the C symbol that they have in a release."""
    found = {}
    for value in vars(APIS[name].module).values():
        declaration = getattr(value, "__declaration__", None)
        if declaration is None:
            continue
        text = " ".join(declaration.prototype.split())
        newest = re.search(r"(\w+)\(", text)[1]  # type: ignore[index]
        symbol = declaration.symbols.get(number(release)[0], newest)
        if symbol is not None:
            found[symbol] = Declared(text.replace(f"{newest}(", f"{symbol}("), declaration.since)
    return found


@pytest.mark.parametrize(("name", "release"), CASES)
def test_prototypes(name: str, release: str) -> None:
    """Every function that the header has is declared, letter for letter."""
    real = {**header(name, release).legacy, **header(name, release).functions}
    ours = declarations(name, release)
    differ = []
    for symbol, prototype in real.items():
        if symbol not in ours:
            if symbol in header(name, release).functions and not NOT_DECLARED.match(symbol):
                differ.append(f"{symbol} is not declared")
            continue
        text = ours[symbol].prototype
        if (
            symbol in header(name, release).legacy
            and symbol not in header(name, wheels.RELEASES[3]).functions
        ):
            continue  # an ABI older than CUDA 12
        if text != prototype and not all(gone in prototype for gone in OLD_SPELLING.get(symbol, ("\0",))):
            differ.append(f"{text}\n      is {prototype}")
    assert not differ, "\n".join(differ)


TYPEDEFS = [f"cuda{api}Typedefs.h" for api in ("", "EGL", "GL", "VDPAU", "Profiler")]
PFN = re.compile(r"\bPFN_(cu\w+?)_v(\d+)(_pt[sd][sz])?\)")


@pytest.mark.parametrize("release", wheels.RELEASES)
def test_entry_points(release: str) -> None:
    """What the simulator's cuGetProcAddress finds: PFN_cuMemAlloc_v3020 is cuMemAlloc since CUDA 3.2."""
    paths = [folder / name for folder in folders_of("driver", release) for name in TYPEDEFS]
    found = PFN.findall("".join(path.read_text() for path in paths if path.exists()))
    real = {(name, int(since), bool(own)) for name, since, own in found if not name.startswith("cuWGL")}
    every = entry_points.entries()
    known = {(name, entry.since, entry.per_thread) for name, found in every.items() for entry in found}
    assert real - known == set()
    assert release != wheels.RELEASES[-1] or known == real
    symbols = {*header("driver", release).functions, *header("driver", release).legacy}
    there = entry_points.symbols(1000 * number(release)[0] + 10 * number(release)[1])
    assert {symbol for symbol in symbols if symbol.startswith("cu")} - set(there) == set()


@pytest.mark.parametrize(("name", "release"), CASES)
def test_since(name: str, release: str) -> None:
    """`since` says which releases lack a function."""
    real = {**header(name, release).legacy, **header(name, release).functions}
    wrong = []
    for symbol, declaration in declarations(name, release).items():
        expected = declaration.since is None or number(declaration.since) <= number(release)
        gone = symbol in GONE or ever_gone(name, symbol, release)
        if expected and symbol not in real and not gone:
            wrong.append(f"{symbol} is not in {release}, declared since {declaration.since}")
        if not expected and symbol in real:
            wrong.append(f"{symbol} is in {release}, declared since {declaration.since}")
    assert not wrong, "\n".join(wrong)


def ever_gone(name: str, symbol: str, release: str) -> bool:
    """Whether the headers dropped a symbol that the library still has."""
    before = [r for r in APIS[name].releases if number(r) < number(release)]
    return any(symbol in header(name, r).functions or symbol in header(name, r).legacy for r in before)


@pytest.mark.parametrize(("name", "release"), CASES)
def test_enums(name: str, release: str) -> None:
    wrong = []
    for enum, members in header(name, release).enums.items():
        if enum.endswith(("_enum", "_st")):  # tags
            continue
        ours = getattr(APIS[name].module, enum, None)
        if ours is None:
            wrong.append(f"{enum} is missing")
            continue
        for member, value in members.items():
            have = ours.__members__.get(member)
            if have is None or (int(have) != value and not MOVING.search(member)):
                wrong.append(f"{enum}.{member} is {value}, not {have!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("name", "release"), CASES)
def test_constants(name: str, release: str) -> None:
    prefix = ("CU_", "CUDA_", "MAX_", "NVRTC_", "NVML_", "nvml", "INVALID_", "CUDLA_")
    wrong = [
        f"{macro} is {value}, not {getattr(APIS[name].module, macro, None)}"
        for macro, value in header(name, release).macros.items()
        if macro.startswith(prefix)
        and not MOVING.search(macro)
        and not (release in RENUMBERED and RENUMBERED[release].match(macro))
        and getattr(APIS[name].module, macro, None) != value
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("release", APIS["nvml"].releases)
def test_versions_of_structs(release: str) -> None:
    """What a constructor writes to `version` is the header's number."""
    macros = header("nvml", release).macros
    wanted = {f"{macro}_t": value for macro, value in macros.items() if re.fullmatch(r"nvml\w+_v\d", macro)}
    structs = {name: getattr(cudapy.nvml, name) for name in wanted}
    numbered = {name: struct().version for name, struct in structs.items() if hasattr(struct, "version")}
    assert len(numbered) >= 3
    assert numbered == {name: wanted[name] for name in numbered}


@pytest.mark.parametrize(("name", "release"), CASES)
def test_layouts(name: str, release: str, tmp_path: Path) -> None:
    """Sizes and offsets, as `_Static_assert`s that gcc judges.

    No release has a struct larger than ours, to write past its end; what comes in arrays, or by value, has
    one size in all.
    """
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("there is no gcc to judge the layouts")
    real = header(name, release)
    newest = header(name, APIS[name].releases[-1])
    tagged = tags(name, release)
    strides = items(name)
    lines, missing = [], []
    for struct, declared in real.structs.items():
        ours = f"{struct}_12" if struct in TWO_LAYOUTS and number(release)[0] == 12 else struct
        cls = getattr(APIS[name].module, ours, None)
        if cls is None:
            if struct in newest.structs and struct in real.typedefs.values():
                missing.append(struct)
            continue
        c_name = f"{declared.kind} {struct}" if struct in tagged else struct
        if re.fullmatch("CUfileStatsLevel[23](_t)?", struct) and number(release) < (13, 4):
            lines += asserts_moved(c_name, cls, declared)
            continue
        reference = newest if ours == struct else header(name, "12.9")  # whose layout is ours
        known = reference.structs.get(struct)
        same = known is None or members(declared, real) == members(known, reference)
        lines += asserts(c_name, cls, declared, exact=same)
        if struct in strides:
            lines.append(f'_Static_assert(sizeof({c_name}) == {ctypes.sizeof(cls)}, "items of {c_name}");')
    assert not missing, missing
    source = tmp_path / "layouts.c"
    for path, text in STAND_INS.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    includes = '#include "vdpau/vdpau.h"\n' + "".join(f'#include "{path}"\n' for path in files(name, release))
    source.write_text(f"#include <stddef.h>\n{includes}" + "\n".join(lines) + "\n")
    folders = [tmp_path, *folders_of(name, release)]
    command = [gcc, "-std=gnu11", "-fsyntax-only", "-w", *(f"-I{folder}" for folder in folders), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    assert len(lines) >= len(real.structs)


DIM3 = Struct("struct", "dim3", [Field("unsigned int", 0, axis, []) for axis in "xyz"])
"""Of a header that is not read: vector_types.h."""


@pytest.mark.parametrize("release", wheels.RELEASES)
@pytest.mark.parametrize("name", ["driver", "runtime", "nvml"])
def test_the_simulators_libraries(name: str, release: str) -> None:
    """Functions that a program compiled with this release calls take as many parameters, of these sizes, and
    what is as large behind pointers: what they read and write is the program's.
    """
    real = header(name, release)
    reader = _Reader({})
    reader.header = dataclasses.replace(real, structs={**real.structs, "dim3": DIM3})
    table = simulated(name, number(release)[0])
    exported = shared_runtime.functions(number(release)[0]) if name == "runtime" else table.symbols
    wrong, seen = [], 0
    for symbol, text in {**real.legacy, **real.functions}.items():
        if symbol not in exported or not is_provided(table, symbol):
            continue
        prototype = parse(text)
        types = getattr(table.callback(symbol), "_argtypes_", None)
        if types is None:  # a struct is returned
            continue
        seen += 1
        if len(types) != len(prototype.parameters):
            wrong.append(f"{symbol} has {len(types)} parameters: {text}")
            continue
        for cls, parameter in zip(types, prototype.parameters, strict=True):
            stars, ours = parameter.stars, cls
            if stars == 1 and hasattr(cls, "contents"):
                stars, ours = 0, cls._type_
            try:
                theirs = reader._ctype(parameter.type + "*" * stars)
            except ValueError:  # of OpenGL and others
                continue
            if ctypes.sizeof(ours) != ctypes.sizeof(theirs):
                sizes = f"{ctypes.sizeof(theirs)} bytes, not {ctypes.sizeof(ours)}"
                wrong.append(f"{symbol}: {parameter.type} {parameter.name} has {sizes}")
    assert not wrong, "\n".join(wrong)
    assert seen > {"driver": 350, "runtime": 230, "nvml": 20}[name]


def simulated(name: str, major: int) -> Any:
    """The simulated library that the shared library of a major calls."""
    if name == "runtime":
        return simulator.process.runtime_of(major)
    return simulator.process.nvml_table() if name == "nvml" else simulator.process.tables()["driver"]


def is_provided(table: Any, symbol: str) -> bool:
    """Whether the simulator has it: what it lacks touches nothing."""
    return table._provided(symbol) is not None or table._twin(table, symbol) is not None


def items(name: str) -> set[str]:
    """The types of which functions take or give arrays, or values."""
    found = set()
    for value in vars(APIS[name].module).values():
        declaration = getattr(value, "__declaration__", None)
        if declaration is not None:
            parameters = parse(declaration.prototype).parameters
            found |= {p.type for p in parameters if not p.stars or p.c_name in declaration.sizes}
    return found


TWO_LAYOUTS = ("cudaDeviceProp",)
"""Structs that CUDA 13 made another thing of: that of 12 has a class of its own."""

STAND_INS = {
    "GL/gl.h": "typedef unsigned int GLenum; typedef unsigned int GLuint;",
    "EGL/egl.h": "typedef int EGLint; typedef void *EGLStreamKHR, *EGLImageKHR, *EGLSyncKHR;",
    "EGL/eglext.h": "",
    "vdpau/vdpau.h": "typedef unsigned VdpDevice, VdpVideoSurface, VdpOutputSurface;"
    "typedef int VdpStatus; typedef VdpStatus VdpGetProcAddress(VdpDevice, unsigned, void **);",
}
"""What cudaGL.h and its kin include of other projects, which a machine with gcc need not have."""


def tags(name: str, release: str) -> set[str]:
    """The names that C knows only behind the word `struct` or `union`."""
    text = "".join(path.read_text(errors="replace") for path in files(name, release))
    return set(re.findall(r"\b(?:struct|union)\s+(?:__\w+\s+)*(\w+)\s*\{", text))


def members(struct: Struct, real: Header) -> list[Any]:
    """What decides the layout of a struct, the structs inside it included."""
    found = []
    for field in struct.fields:
        inside = field.nested or (real.structs.get(field.type) if not field.stars else None)
        found.append((field.type, field.stars, field.name, field.dims, inside and members(inside, real)))
    return found


def asserts(c_name: str, cls: Any, declared: Struct, exact: bool) -> list[str]:
    """The assertions about one struct; a smaller layout of an older release only bounds the size."""
    size = ctypes.sizeof(cls)
    test = f"sizeof({c_name}) == {size}" if exact else f"sizeof({c_name}) <= {size}"
    lines = [f'_Static_assert({test}, "size of {c_name}");']
    alignment = max(cls._alignment_, ctypes.alignment(cls))
    lines.append(f'_Static_assert({alignment} % _Alignof({c_name}) == 0, "alignment of {c_name}");')
    for path, offset, width in offsets(cls, declared, exact):
        lines.append(f'_Static_assert(offsetof({c_name}, {path}) == {offset}, "{c_name}.{path}");')
        if exact and width is not None:
            lines.append(
                f'_Static_assert(sizeof((({c_name} *)0)->{path}) == {width}, "size of {c_name}.{path}");'
            )
    return lines


def asserts_moved(c_name: str, cls: Any, declared: Struct) -> list[str]:
    """The assertions about statistics of cuFile before CUDA 13.4, which cudapy moves: their first member ends
    where the counts of cuFileReadv begin.
    """
    level1 = cudapy.cufile.CUfileStatsLevel1_t
    shorter = ctypes.sizeof(level1) - level1.readv_ops.raw.offset
    return [
        f'_Static_assert(offsetof({c_name}, {path}) == {offset - shorter}, "{c_name}.{path}");'
        for path, offset, _ in offsets(cls, declared, exact=False)[1:]
    ] + [f'_Static_assert(sizeof({c_name}) == {ctypes.sizeof(cls) - shorter}, "size of {c_name}");']


def offsets(
    cls: Any, declared: Struct, exact: bool, path: str = "", base: int = 0
) -> list[tuple[str, int, int | None]]:
    """(member path, offset, size) of every field of `declared`, from our class.

    Reserved space is what newer releases take their new fields from: it moves, unless `exact`.
    """
    found: list[tuple[str, int, int | None]] = []
    for field in flat(declared):
        if not exact and re.search(r"reserved|pad", field.name):
            continue
        name = field.name + "_" if field.name in ("default",) else RENAMED_FIELDS.get(field.name, field.name)
        descriptor = getattr(cls, name, None)
        assert descriptor is not None, f"{cls.__name__} has no field {name}"
        raw = descriptor.raw
        here = base + raw.offset
        found.append((path + field.name, here, raw.size))
        if field.nested is not None:
            inside = path + field.name + "[0]" * len(field.dims) + "."
            found += offsets(descriptor.cls, field.nested, exact, inside, here)
    return found


def flat(struct: Struct) -> list[Field]:
    """The fields, those of anonymous members among them."""
    return [
        g for f in struct.fields for g in (flat(f.nested) if f.nested is not None and not f.name else [f])
    ]
