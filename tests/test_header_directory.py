"""CUDA's own headers: where they are found, of which release, and how Program uses them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from cudapy import pathfinder
from cudapy._core.compile import program_nvrtc
from cudapy._pathfinder.headers import matching, release_of
from cudapy._pathfinder.missing import advice
from cudapy.core import CompileError, Program, ProgramOptions
from cudapy.pathfinder import Host, find_nvidia_header_directory


class Tree:
    """A made-up machine: a site-packages and a system below `base`."""

    def __init__(self, base: Path) -> None:
        self.base = base.resolve()
        self.site = self.base / "site"
        self.site.mkdir()

    def add(self, path: str, text: str = "") -> str:
        """Write a header; its folder."""
        file = self.base / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return str(file.parent)

    def cuda(self, folder: str, number: int) -> str:
        """CUDA's own headers of a release, 13000 for 13.0, in a folder."""
        self.add(f"{folder}/cuda_runtime_api.h", f"// \n#define CUDART_VERSION  {number}\n")
        self.add(f"{folder}/cuda_fp16.h", f"#define FOUND {number}\n")
        return self.add(f"{folder}/cuda_runtime.h")

    def host(self, platform: str = "linux", cpu: str = "x86_64", **environ: str) -> Host:
        return Host((str(self.site),), environ, platform, cpu, str(self.base / "root"))


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch):
    """Make a made-up machine the one that is searched for headers."""
    return lambda host: monkeypatch.setattr(pathfinder, "this_host", lambda: host)


# -- where they are ---------------------------------------------------------------------------------------

WHEELS = [  # as the wheels of 12.9 and 13.0 have them
    ("cudart", 13, "nvidia/cu13/include", "cuda_runtime.h"),
    ("cudart", 12, "nvidia/cuda_runtime/include", "cuda_runtime.h"),
    ("crt", 13, "nvidia/cu13/include", "crt/host_defines.h"),
    ("crt", 12, "nvidia/cuda_nvcc/include", "crt/host_defines.h"),
    ("cccl", 13, "nvidia/cu13/include/cccl", "cuda/std/version"),
    ("cccl", 12, "nvidia/cuda_cccl/include", "cuda/std/version"),
    ("curand", 13, "nvidia/cu13/include", "curand.h"),
    ("curand", 12, "nvidia/curand/include", "curand.h"),
    ("nvrtc", 13, "nvidia/cu13/include", "nvrtc.h"),
    ("nvrtc", 12, "nvidia/cuda_nvrtc/include", "nvrtc.h"),
    ("nvJitLink", 13, "nvidia/cu13/include", "nvJitLink.h"),
    ("nvjitlink", 12, "nvidia/nvjitlink/include", "nvJitLink.h"),
    ("nvvm", 13, "nvidia/cu13/include", "nvvm.h"),
    ("nvvm", 12, "nvidia/cuda_nvcc/nvvm/include", "nvvm.h"),
    ("nvfatbin", 13, "nvidia/cu13/include", "nvFatbin.h"),
    ("nvfatbin", 12, "nvidia/nvfatbin/include", "nvFatbin.h"),
    ("cufile", 13, "nvidia/cu13/include", "cufile.h"),
    ("cufile", 12, "nvidia/cufile/include", "cufile.h"),
    ("nvml", 13, "nvidia/cu13/include", "nvml.h"),
    ("nvml", 12, "nvidia/nvml_dev/include", "nvml.h"),
]


@pytest.mark.parametrize("platform", ["linux", "win32"])
@pytest.mark.parametrize(("name", "major", "folder", "marker"), WHEELS)
def test_wheels(tree: Tree, here, platform: str, name: str, major: int, folder: str, marker: str) -> None:
    tree.add(f"site/{folder}/{marker}")
    here(tree.host(platform))
    assert find_nvidia_header_directory(name) == str(tree.site / folder)
    assert find_nvidia_header_directory(name, major) == str(tree.site / folder)
    assert find_nvidia_header_directory(name, 25 - major) is None


@pytest.mark.parametrize("variable", ["CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME"])
@pytest.mark.parametrize(
    ("name", "platform", "cpu", "folder", "marker"),
    [
        ("cudart", "linux", "x86_64", "include", "cuda_runtime.h"),
        ("cudart", "linux", "x86_64", "targets/x86_64-linux/include", "cuda_runtime.h"),
        ("cudart", "linux", "aarch64", "targets/sbsa-linux/include", "cuda_runtime.h"),
        ("cccl", "linux", "x86_64", "include/cccl", "cuda/std/version"),
        ("cccl", "linux", "x86_64", "include", "cuda/std/version"),
        ("cccl", "linux", "x86_64", "targets/x86_64-linux/include/cccl", "cuda/std/version"),
        ("nvvm", "linux", "x86_64", "nvvm/include", "nvvm.h"),
        ("cudart", "win32", "AMD64", "include", "cuda_runtime.h"),
    ],
)
def test_environments(
    tree: Tree, here, variable: str, name: str, platform: str, cpu: str, folder: str, marker: str
) -> None:
    root = "toolkit/Library" if (variable, platform) == ("CONDA_PREFIX", "win32") else "toolkit"
    tree.add(f"{root}/{folder}/{marker}")
    here(tree.host(platform, cpu, **{variable: str(tree.base / "toolkit")}))
    assert find_nvidia_header_directory(name) == str(tree.base / root / folder)


def test_every_place_in_order(tree: Tree, here) -> None:
    roots = ["site/nvidia/cu13", "conda", "path", "home", "root/usr/local/cuda", "root/usr/local/cuda-12.9",
             "root/opt/cuda", "root/usr"]  # fmt: skip
    folders = [tree.cuda(f"{root}/include", 13000) for root in roots]
    environ = {"CONDA_PREFIX": "conda", "CUDA_PATH": "path", "CUDA_HOME": "home"}
    here(tree.host(**{name: str(tree.base / folder) for name, folder in environ.items()}))
    for folder in folders:
        assert find_nvidia_header_directory("cudart") == folder
        Path(folder, "cuda_runtime.h").unlink()
    assert find_nvidia_header_directory("cudart") is None


def test_toolkits_tell_their_major_by_their_headers(tree: Tree, here) -> None:
    old, new = tree.cuda("old/include", 12090), tree.cuda("new/include", 13000)
    here(tree.host(CUDA_PATH=str(tree.base / "old"), CUDA_HOME=str(tree.base / "new")))
    assert find_nvidia_header_directory("cudart") == old
    assert find_nvidia_header_directory("cudart", 13) == new
    assert find_nvidia_header_directory("cudart", 12) == old


@pytest.mark.parametrize("value", ["toolkit", ".", "./toolkit"])
@pytest.mark.parametrize("variable", ["CONDA_PREFIX", "CUDA_PATH", "CUDA_HOME"])
def test_nothing_from_the_working_directory(
    tree: Tree, here, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    for folder in ("include", "toolkit/include", "nvidia/cu13/include"):
        tree.cuda(folder, 13000)
    monkeypatch.chdir(tree.base)
    paths = ("", ".", str(tree.base))
    here(Host(paths, {variable: value}, "linux", "x86_64", str(tree.base / "root")))
    assert find_nvidia_header_directory("cudart") is None


def test_unknown_names_and_majors() -> None:
    with pytest.raises(RuntimeError, match=r"no headers 'cudnn': cudapy knows cudart, .*nvml"):
        find_nvidia_header_directory("cudnn")
    with pytest.raises(ValueError, match="no CUDA 11"):
        find_nvidia_header_directory("cudart", 11)


# -- releases ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "release"),
    [
        ("cuda_runtime_api.h", "#define CUDART_VERSION  12090\n", (12, 9)),
        ("cuda.h", "/* */\n#define CUDA_VERSION 13020\n", (13, 2)),
        ("cuda.h", "#if CUDA_VERSION >= 13020\n", None),
        ("cuda_fp16.h", "#define CUDA_VERSION 13020\n", None),
    ],
)
def test_release_of(tree: Tree, name: str, text: str, release: tuple[int, int] | None) -> None:
    assert release_of(tree.add(f"include/{name}", text)) == release


def test_headers_of_another_release_are_left_out_and_named(tree: Tree) -> None:
    pip = tree.cuda("site/nvidia/cu13/include", 13020)
    tree.add("site/nvidia/cu13/include/cccl/cuda/std/version")
    old = tree.cuda("root/usr/local/cuda/include", 12090)
    found = matching((13, 0), f"{tree.site}/nvidia/cu13/lib/libnvrtc.so.13", tree.host())
    assert found.folders == ()
    assert [(d.path, d.release) for d in found.other] == [(pip, (13, 2)), (old, (12, 9))]


def test_headers_of_the_same_release_further_down_are_taken(tree: Tree) -> None:
    tree.cuda("site/nvidia/cu13/include", 13020)
    tree.add("site/nvidia/cu13/include/cccl/cuda/std/version")
    good = tree.cuda("root/usr/local/cuda/include", 13000)
    cccl = tree.add("root/usr/local/cuda/include/cccl/cuda/std/version").removesuffix("/cuda/std")
    found = matching((13, 0), f"{tree.site}/nvidia/cu13/lib/libnvrtc.so.13", tree.host())
    assert found == ((good, cccl), ())


@pytest.mark.parametrize("lib", ["lib64", "lib", "targets/x86_64-linux/lib"])
def test_those_beside_nvrtc_come_first(tree: Tree, lib: str) -> None:
    # A toolkit where no other rule looks, whose NVRTC the loader found.
    tree.cuda("site/nvidia/cu13/include", 13000)
    own = tree.cuda("elsewhere/include", 13000)
    found = matching((13, 0), f"{tree.base}/elsewhere/{lib}/libnvrtc.so.13", tree.host())
    assert found.folders == (own,)


def test_the_four_wheels_of_cuda_12(tree: Tree) -> None:
    folders = [
        tree.cuda("site/nvidia/cuda_runtime/include", 12090),
        tree.add("site/nvidia/cuda_nvcc/include/crt/host_defines.h").removesuffix("/crt"),
        tree.add("site/nvidia/cuda_cccl/include/cuda/std/version").removesuffix("/cuda/std"),
        tree.add("site/nvidia/curand/include/curand.h"),
    ]
    library = f"{tree.site}/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"
    assert matching((12, 9), library, tree.host()).folders == tuple(folders)
    assert matching((12, 8), library, tree.host()).folders == tuple(folders[1:])
    assert matching((13, 0), library, tree.host()).folders == ()


# -- advice -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "release", "words"),
    [
        ("cuda_fp16.h", (13, 0), '"cuda-toolkit[cudart]==13.0.*" has <cuda_fp16.h> for NVRTC 13.0'),
        ("cuda_fp16.h", (12, 9), '"cuda-toolkit[cudart]==12.9.*"'),
        ("cooperative_groups.h", (13, 0), '"cuda-toolkit[cudart]==13.0.*"'),
        ("cooperative_groups/reduce.h", (13, 0), '"cuda-toolkit[cudart]==13.0.*"'),
        ("cuda/std/array", (13, 2), '"cuda-toolkit[cccl]==13.2.*"'),
        ("cuda/std/array", (12, 9), '"cuda-toolkit[cccl]==12.9.*"'),
        ("cub/block/block_reduce.cuh", (12, 9), '"cuda-toolkit[cccl]==12.9.*"'),
        ("crt/mma.h", (13, 0), '"cuda-toolkit[crt]==13.0.*"'),
        ("crt/mma.h", (12, 9), '"cuda-toolkit[nvcc]==12.9.*"'),
        ("curand.h", (13, 0), '"cuda-toolkit[curand]==13.0.*"'),
        ("cstdint", (13, 0), "#include <cuda/std/cstdint>"),
        ("stdint.h", (13, 0), "#include <cuda/std/cstdint>"),
        ("limits", (13, 0), "#include <cuda/std/limits>"),
        ("limits", (13, 0), '"cuda-toolkit[cccl]==13.0.*"'),
        ("cassert", (13, 0), "delete #include <cassert>: assert() is built into NVRTC"),
        ("assert.h", (13, 0), "delete #include <assert.h>: assert() is built into NVRTC"),
        ("iostream", (13, 0), "delete #include <iostream>: printf() is built into NVRTC"),
        ("stdio.h", (13, 0), "delete #include <stdio.h>: printf() is built into NVRTC"),
        ("math.h", (13, 0), "delete #include <math.h>: the functions of <math.h> are built into NVRTC"),
    ],
)
@pytest.mark.parametrize("verb", ["cannot", "could not"])
def test_the_package_that_has_a_header(
    tree: Tree, header: str, release: tuple[int, int], words: str, verb: str
) -> None:
    log = f'p.cu(1): catastrophic error: {verb} open source file "{header}" (no directories in search list)'
    assert words in advice(log, release, "/x/libnvrtc.so", tree.host())


def test_advice_about_a_standard_header_knows_what_cccl_has(tree: Tree) -> None:
    tree.cuda("site/nvidia/cu13/include", 13000)
    tree.add("site/nvidia/cu13/include/cccl/cuda/std/version")
    tree.add("site/nvidia/cu13/include/cccl/cuda/std/array")
    library = f"{tree.site}/nvidia/cu13/lib/libnvrtc.so.13"
    for name, words in (("array", "write #include <cuda/std/array>"), ("vector", "no <cuda/std/vector>")):
        text = advice(f'cannot open source file "{name}"', (13, 0), library, tree.host())
        assert words in text and "pip" not in text


def test_no_advice_about_what_is_not_cudas(tree: Tree) -> None:
    assert advice('cannot open source file "mine.h"', (13, 0), "/x/libnvrtc.so", tree.host()) == ""
    assert advice("error: expected a ;", (13, 0), "/x/libnvrtc.so", tree.host()) == ""


def test_advice_names_both_releases(tree: Tree) -> None:
    folder = tree.cuda("site/nvidia/cu13/include", 13020)
    library = f"{tree.site}/nvidia/cu13/lib/libnvrtc.so.13"
    text = advice('cannot open source file "cuda_fp16.h"', (13, 0), library, tree.host())
    for part in (f"CUDA 13.2 in {folder} (", f"NVRTC 13.0 ({library})", '"cuda-toolkit[cudart]==13.0.*"'):
        assert part in text


# -- Program, with the real NVRTC and made-up headers -----------------------------------------------------

SOURCE = '#include <cuda_fp16.h>\nextern "C" __global__ void k(int *x) { *x = FOUND; }'


def ptx(source: str = SOURCE, **options) -> bytes:
    return bytes(Program(source, "c++", ProgramOptions(arch="sm_90", **options)).compile("ptx").code)


NVRTC = "/nowhere/lib/libnvrtc.so"


@pytest.fixture
def number(nvrtc, monkeypatch: pytest.MonkeyPatch) -> int:
    """CUDART_VERSION of the NVRTC that is here; it is made out to be elsewhere, as it may have headers."""
    major, minor = nvrtc.checked.nvrtcVersion()
    monkeypatch.setattr(program_nvrtc, "_compiler", lambda: ((major, minor), NVRTC))
    return int(major * 1000 + minor * 10)


def test_headers_are_found_without_an_option(tree: Tree, here, number: int) -> None:
    folder = "nvidia/cu13" if number >= 13000 else "nvidia/cuda_runtime"
    tree.cuda(f"site/{folder}/include", number)
    here(tree.host())
    made = ptx()
    assert f", {number};".encode() in made


def test_include_path_comes_first(tree: Tree, here, number: int) -> None:
    tree.cuda("root/usr/local/cuda/include", number)
    mine = tree.add("mine/cuda_fp16.h", "#define FOUND 7\n")
    here(tree.host())
    assert b", 7;" in ptx(include_path=mine)


def test_cuda_headers_false(tree: Tree, here, number: int) -> None:
    folder = tree.cuda("root/usr/local/cuda/include", number)
    here(tree.host())
    with pytest.raises(CompileError, match=f"Hint: {folder} has <cuda_fp16.h>, but cuda_headers=False"):
        ptx(cuda_headers=False)


def test_another_release_is_an_error_that_names_both(tree: Tree, here, number: int) -> None:
    folder = tree.cuda("root/usr/local/cuda/include", number + 10)
    here(tree.host())
    with pytest.raises(CompileError) as caught:
        ptx()
    for part in (folder, NVRTC, "pip install", "must be of one release"):
        assert part in str(caught.value)


def test_another_release_by_include_path_is_a_warning_that_names_both(tree: Tree, here, number: int) -> None:
    tree.cuda("root/usr/local/cuda/include", number)
    other = tree.cuda("other/include", number + 10)
    here(tree.host())
    with pytest.warns(UserWarning, match=r"include_path has the headers of CUDA \d+\.\d+ .*NVRTC") as caught:
        made = ptx(include_path=["/nowhere", other])
    assert f", {number + 10};".encode() in made
    assert other in str(caught[0].message) and NVRTC in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.raises(CompileError, match="mine_alone"), pytest.warns(UserWarning):
        # Not a mixture of the two: what the other release lacks is not taken from this one.
        tree.add("root/usr/local/cuda/include/cuda_mine_alone.h")
        ptx("#include <cuda_mine_alone.h>", include_path=other)


def test_for_a_program_without_includes_nothing_is_searched(nvrtc, monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> Host:
        raise AssertionError("the machine was searched")

    made = Program('extern "C" __global__ void k() {}', "c++", ProgramOptions(arch="sm_90"))
    monkeypatch.setattr(pathfinder, "this_host", never)
    assert made.compile("ptx").code


def test_pre_include_counts_as_an_include(tree: Tree, here, number: int) -> None:
    tree.cuda("root/usr/local/cuda/include", number)
    here(tree.host())
    assert f", {number};".encode() in ptx(
        'extern "C" __global__ void k(int *x) { *x = FOUND; }', pre_include="cuda_fp16.h"
    )


def test_real_headers(nvrtc) -> None:
    major, minor = nvrtc.checked.nvrtcVersion()
    found = matching((major, minor), pathfinder.load("nvrtc").path, pathfinder.this_host())
    if not found.folders or not any((Path(f) / "cuda/std/array").exists() for f in found.folders):
        pytest.skip("CUDA's own headers of NVRTC's release are not installed")
    source = r"""
        #include <cuda_fp16.h>
        #include <cooperative_groups.h>
        #include <cuda/std/array>
        extern "C" __global__ void k(float *x, __half h) {
            cuda::std::array<float, 2> a{1.f, __half2float(h)};
            x[cooperative_groups::this_grid().thread_rank()] = a[0] + a[1];
        }
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = Program(source, "c++", ProgramOptions(arch="sm_90")).compile("cubin").code
    assert code.startswith(b"\x7fELF")


# -- the release, by the names of files -------------------------------------------------------------------


def test_the_release_of_an_nvrtc_that_is_not_open(nvrtc) -> None:
    assert program_nvrtc._release_by_name(pathfinder.load("nvrtc").path) == nvrtc.checked.nvrtcVersion()


@pytest.mark.parametrize(
    ("names", "release"),
    [
        (["libnvrtc-builtins.so.13.0"], (13, 0)),
        (["libnvrtc-builtins.so", "libnvrtc-builtins.so.12.9", "libnvrtc-builtins.so.12.9.86"], (12, 9)),
        (["nvrtc-builtins64_130.dll"], (13, 0)),
        (["nvrtc-builtins64_1310.dll"], (13, 10)),
        (["libnvrtc-builtins.so.13.0", "libnvrtc-builtins.so.12.9"], None),
        ([], None),
    ],
)
def test_what_the_names_of_files_tell(tmp_path: Path, names: list[str], release: Any) -> None:
    for name in (*names, "libnvrtc.so.13", "libnvrtc.alt.so.13"):
        (tmp_path / name).touch()
    assert program_nvrtc._release_by_name(str(tmp_path / "libnvrtc.so.13")) == release
