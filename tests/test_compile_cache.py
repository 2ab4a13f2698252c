"""The compile cache of Program, with the real NVRTC: what is taken from it is what would be compiled now."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cudapy.core.typing import ObjectCodeFormatType, SourceCodeType

from cudapy import driver, pathfinder
from cudapy._core.compile import compile_cache, program_key, program_nvrtc
from cudapy._core.compile.program_key import NotCacheable
from cudapy.core import (
    CompileError,
    FileStreamProgramCache,
    InMemoryProgramCache,
    ObjectCode,
    Program,
    ProgramCacheResource,
    ProgramOptions,
    make_program_cache_key,
)

from .test_program import FLAGS

ROOT = Path(__file__).parents[1]
PLAIN = 'extern "C" __global__ void k(int *p) { *p = 12345; }\n'
SOURCE = '#include "mine.h"\nextern "C" __global__ void k(int *p) { *p = MINE; }\n'

with_nvrtc = pytest.mark.usefixtures("nvrtc")


class Compiler:
    """Counts what is really compiled."""

    def __init__(self) -> None:
        self.count = 0
        self.meanwhile: Any = lambda: None  # called once in each compilation


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    counter = Compiler()
    real = program_nvrtc.compile_program

    def compile_program(*args: Any) -> Any:
        counter.count += 1
        counter.meanwhile()
        return real(*args)

    monkeypatch.setattr(program_nvrtc, "compile_program", compile_program)
    return counter


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The cache switched on, and empty: the folder of its entries."""
    monkeypatch.setenv("CUDAPY_CACHE", "1")
    monkeypatch.setenv("CUDAPY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CUDAPY_CACHE_SIZE", raising=False)
    compile_cache.clear()
    yield tmp_path / "cache" / "programs"
    compile_cache.clear()


def forget() -> None:
    """As a new process: nothing in memory."""
    compile_cache.clear()


def options(**more: Any) -> ProgramOptions:
    return ProgramOptions(**{"arch": "sm_90", "cuda_headers": False, **more})


def ptx(source: str = PLAIN, **more: Any) -> bytes:
    return Program(source, "c++", options(**more)).compile("ptx").code


# -- what is kept -----------------------------------------------------------------------------------------


@with_nvrtc
def test_compiled_once_for_this_process_and_the_next(cache: Path, compiler: Compiler) -> None:
    first = ptx()
    assert (compiler.count, ptx()) == (1, first)
    assert len(list(cache.iterdir())) == 1
    forget()
    assert (ptx(), compiler.count) == (first, 1)
    for file in cache.iterdir():
        file.unlink()
    assert (ptx(), compiler.count) == (first, 1), "in memory since it was read"
    forget()
    assert (ptx(), compiler.count) == (first, 2)


@with_nvrtc
def test_names_and_logs_are_kept(cache: Path, compiler: Compiler) -> None:
    source = "template <typename T> __global__ void scale(T *x) { int unused = 1; *x *= 2; }"
    found = []
    for _ in range(3):
        log = io.StringIO()
        names = ["scale<float>", "scale<int>"]
        made = Program(source, "c++", options(name="warned.cu")).compile("ptx", names, log)
        found.append((made.code, made.symbol_mapping, log.getvalue(), made.name))
        forget() if len(found) == 2 else None
    assert compiler.count == 1
    assert found[0] == found[1] == found[2]
    assert set(found[0][1]) == {"scale<float>", "scale<int>"} and "warned.cu" in found[0][2]
    Program(source, "c++", options(name="warned.cu")).compile("ptx", ["scale<float>"])
    assert compiler.count == 2, "other names are another program"


@with_nvrtc
def test_failures_are_not_kept(cache: Path, compiler: Compiler) -> None:
    for count in (1, 2):
        with pytest.raises(CompileError, match="nonsense"):
            ptx("nonsense")
        assert compiler.count == count


@with_nvrtc
def test_an_entry_that_was_changed_is_none(cache: Path, compiler: Compiler) -> None:
    first = ptx()
    (entry,) = cache.iterdir()
    whole = entry.read_bytes()
    for number, damage in enumerate((whole[:-1], whole[:100], b"", whole.replace(b"12345", b"54321"))):
        entry.write_bytes(damage)
        forget()
        assert ptx() == first
        assert compiler.count == number + 2


@with_nvrtc
def test_limits(cache: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    ptx()
    size = next(cache.iterdir()).stat().st_size
    monkeypatch.setenv("CUDAPY_CACHE_SIZE", str(2 * size + 20))
    for name in "abcde":
        ptx(PLAIN.replace(" k(", f" {name}("))
    assert len(list(cache.iterdir())) == 2
    monkeypatch.setenv("CUDAPY_CACHE_SIZE", "0")
    forget()
    ptx(PLAIN.replace(" k(", " last("))
    assert len(list(cache.iterdir())) == 2, "nothing on disk"
    monkeypatch.setenv("CUDAPY_CACHE_SIZE", "1 GB")
    with pytest.raises(ValueError, match="CUDAPY_CACHE_SIZE='1 GB' is not a number of bytes"):
        ptx(PLAIN.replace(" k(", " wrong("))


# -- what makes another program ---------------------------------------------------------------------------


def key(
    source: str = PLAIN, target: str = "ptx", names: Any = (), extra: bytes | None = None, **more: Any
) -> bytes:
    return make_program_cache_key(
        code=source,
        code_type="c++",
        options=options(**more),
        target_type=target,
        name_expressions=names,
        extra_digest=extra,
    )


@with_nvrtc
def test_each_part_makes_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {
        "plain": key(),
        "source": key(PLAIN + " "),
        "target": key(target="cubin"),
        "names": key(names=["k"]),
        "other names": key(names=["k", "l"]),
        "extra": key(extra=b""),
        "other extra": key(extra=b"1"),
        "arch": key(arch="sm_80"),
        "name": key(name="other.cu"),
    }
    for option in FLAGS.keys() - {"use_bundled_headers", *program_key.WRITTEN, *program_key.READ}:
        target = "ltoir" if option == "link_time_optimization" else "ptx"
        keys[option] = key(target=target, **{option: FLAGS[option][0]})
    assert len(set(keys.values())) == len(keys)
    assert key(names=["l", "k", "l"]) == keys["other names"], "in any order"
    monkeypatch.setenv("NVRTC_DISABLE_CONCURRENT_NVVM", "1")
    assert key() not in keys.values()
    monkeypatch.delenv("NVRTC_DISABLE_CONCURRENT_NVVM")
    assert key() == keys["plain"]
    monkeypatch.setattr(program_key, "__version__", "99")
    assert key() not in keys.values()


@with_nvrtc
def test_another_compiler_is_another_key(cache: Path, compiler: Compiler, monkeypatch) -> None:
    ptx()
    stamp = pathfinder.stamp("nvrtc")
    monkeypatch.setattr(pathfinder, "stamp", lambda name: stamp + "1")
    ptx()
    assert compiler.count == 2


@with_nvrtc
def test_where_debug_information_says_the_source_is(monkeypatch, tmp_path: Path) -> None:
    plain, debug, lines = key(), key(debug=True), key(lineinfo=True)
    monkeypatch.chdir(tmp_path)
    assert key() == plain and key(debug=True) != debug and key(lineinfo=True) != lines


# -- headers ----------------------------------------------------------------------------------------------


@with_nvrtc
def test_headers_are_part_of_the_program(cache: Path, compiler: Compiler, tmp_path: Path) -> None:
    """Edited, shadowed, put back: each time what is compiled now, and no more often than needed."""
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        folder.mkdir()
    (b / "mine.h").write_text('#include "value.h"\n#define MINE VALUE\n')

    def value(number: int) -> bool:
        return f", {number};".encode() in ptx(SOURCE, include_path=[str(a), str(b)])

    (b / "value.h").write_text("#define VALUE 1111\n")
    assert value(1111) and value(1111) and compiler.count == 1
    (b / "value.h").write_text("#define VALUE 2222\n")
    assert value(2222) and compiler.count == 2
    (a / "value.h").write_text("#define VALUE 3333\n")
    assert value(2222), "beside the header that includes it comes first"
    (a / "mine.h").write_text("#define MINE 4444\n")
    count = compiler.count
    assert value(4444) and compiler.count == count + 1
    (a / "mine.h").unlink()
    (a / "value.h").unlink()
    (b / "value.h").write_text("#define VALUE 1111\n")
    forget()
    count = compiler.count
    assert value(1111) and compiler.count == count, "as it was at first"


@with_nvrtc
def test_a_header_that_appears_where_there_was_none(cache: Path, compiler: Compiler, tmp_path: Path) -> None:
    source = (
        '#if __has_include("late.h")\n#include "late.h"\n#else\n#define LATE 1111\n#endif\n'
        'extern "C" __global__ void k(int *p) { *p = LATE; }\n'
    )
    assert b", 1111;" in ptx(source, include_path=str(tmp_path))
    (tmp_path / "late.h").write_text("#define LATE 2222\n")
    assert b", 2222;" in ptx(source, include_path=str(tmp_path))


@with_nvrtc
def test_headers_beside_the_source(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NVRTC looks in the folder of the program's name or, without one, in the working directory."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    for name, folder in ((str(tmp_path / "here/program.cu"), "here"), ("program.cu", "there")):
        for number in (1111, 2222):
            (tmp_path / folder / "mine.h").write_text(f"#define MINE {number}\n")
            assert f", {number};".encode() in ptx(SOURCE, name=name)


@with_nvrtc
def test_headers_that_are_included_first(cache: Path, tmp_path: Path) -> None:
    source = 'extern "C" __global__ void k(int *p) { *p = MINE; }'
    for number in (1111, 2222):
        (tmp_path / "mine.h").write_text(f"#define MINE {number}\n")
        assert f", {number};".encode() in ptx(source, include_path=str(tmp_path), pre_include="mine.h")
        assert f", {number};".encode() in ptx(source, pre_include=[str(tmp_path / "mine.h")])


@with_nvrtc
def test_a_header_that_changes_while_it_is_compiled(cache: Path, compiler: Compiler, tmp_path: Path) -> None:
    """Nobody knows which of the two was compiled, so that is not kept for either."""
    header = tmp_path / "mine.h"
    header.write_text("#define MINE 1111\n")
    compiler.meanwhile = lambda: header.write_text("#define MINE 2222\n")
    ptx(SOURCE, include_path=str(tmp_path))
    assert list(cache.iterdir()) == []
    compiler.meanwhile = lambda: None
    header.write_text("#define MINE 1111\n")
    assert b", 1111;" in ptx(SOURCE, include_path=str(tmp_path))


# -- what is not kept -------------------------------------------------------------------------------------


@with_nvrtc
@pytest.mark.parametrize(
    "source",
    [
        '#define HEADER "mine.h"\n#include HEADER\n' + PLAIN,
        PLAIN + "__device__ const char *built = __TIME__;",
    ],
)
def test_what_no_key_can_hold_is_compiled_each_time(cache, compiler, tmp_path: Path, source: str) -> None:
    (tmp_path / "mine.h").write_text("")
    ptx(source, include_path=str(tmp_path))
    ptx(source, include_path=str(tmp_path))
    assert compiler.count == 2 and not cache.exists()
    with pytest.raises(NotCacheable, match="cannot be told"):
        key(source)
    assert key(source, extra=b"1") != key(source, extra=b"2")


@with_nvrtc
def test_options_that_write_files_take_effect_each_time(
    cache: Path, compiler: Compiler, tmp_path: Path
) -> None:
    for number in range(2):
        ptx(time=str(tmp_path / f"time{number}.csv"))
        assert (tmp_path / f"time{number}.csv").exists()
    for option in ("create_pch", "time", "fdevice_time_trace"):
        for extra in (None, b"1"):
            with pytest.raises(NotCacheable, match=option):
                key(extra=extra, **{option: FLAGS[option][0]})
    assert isinstance(NotCacheable("x"), ValueError)


@with_nvrtc
def test_what_an_extra_digest_stands_for() -> None:
    for option in ("pch", "use_pch", "pch_dir"):
        more = {option: FLAGS[option][0]}
        with pytest.raises(NotCacheable, match=option):
            key(**more)
        assert len({key(extra=b"", **more), key(extra=b"1", **more), key(extra=b"1")}) == 3


@with_nvrtc
def test_names_as_str_and_as_bytes_are_two() -> None:
    """So they are in symbol_mapping."""
    keys = [key(), key(names=["k"]), key(names=[b"k"]), key(names=["k", b"k"]), key(names=("str k",))]
    assert len(set(keys)) == 5 and key(names=[b"k", "k"]) == keys[3]
    with pytest.raises(TypeError, match="str or bytes, not bytearray"):
        key(names=[bytearray(b"k")])


def key_of(kind: str, target: str, code: Any = "x", names: Any = (), **more: Any) -> bytes:
    made = ProgramOptions(arch="sm_90", **more)
    return make_program_cache_key(
        code=code, code_type=kind, options=made, target_type=target, name_expressions=names
    )


@with_nvrtc
def test_keys_of_ptx_are_of_what_a_linker_sees() -> None:
    plain = key_of("ptx", "cubin")
    for same in (
        {"debug": False},
        {"include_path": "/a"},
        {"pch": True},
        {"create_pch": "a"},
        {"std": "c++17"},
    ):
        assert key_of("ptx", "cubin", **same) == plain
    timed = key_of("ptx", "cubin", time=True)
    assert timed == key_of("ptx", "cubin", time="a") != plain
    assert len({key_of("ptx", "cubin", ptxas_options=value) for value in ("-v", ["-v"], ("-v",))}) == 1
    assert key_of("ptx", "cubin", debug=True) != plain != key_of("ptx", "cubin", name="other")
    for kind in ("ptx", "nvvm"):
        assert key_of(kind, "ptx", names=["k"]) == key_of(kind, "ptx"), "names are for C++"


@with_nvrtc
def test_there_are_keys_of_what_can_be_compiled_alone() -> None:
    assert key_of("C++", "CUBIN", PLAIN) == key_of(SourceCodeType.CXX, ObjectCodeFormatType.CUBIN, PLAIN)
    for kind, target in (("fortran", "ptx"), ("c++", "fatbin"), ("ptx", "ltoir"), ("nvvm", "object")):
        with pytest.raises(ValueError, match=kind if kind == "fortran" else target):
            key_of(kind, target)
    for code in (5, None, ["x"]):
        with pytest.raises(TypeError, match=f"str or bytes, not {type(code).__name__}"):
            key_of("c++", "ptx", code)


@with_nvrtc
def test_a_machine_without_compilers_has_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of their own, the same in each process: what was kept under one is found again."""
    kinds = (("c++", PLAIN), ("ptx", "x"), ("nvvm", "x"))
    before = key_of("c++", "ptx", PLAIN)

    def missing(name: str) -> str:
        raise pathfinder.LibraryNotFound(name, [], f"no {name}")

    monkeypatch.setattr(pathfinder, "stamp", missing)
    for kind, code in kinds:
        assert key_of(kind, "ptx", code) == key_of(kind, "ptx", code)
    assert key_of("c++", "ptx", PLAIN) != before


def test_headers_that_the_compiler_brought_are_part_of_the_program(tmp_path: Path) -> None:
    """Those of libcu++ are in a folder of their own there."""
    (tmp_path / "cccl").mkdir()
    keys = set()
    for text in ("1", "2", "2"):
        (tmp_path / "cccl" / "mine.h").write_text(f"#define MINE {text}")
        keys.add(key_of("c++", "ptx", SOURCE, use_bundled_headers=str(tmp_path)))
    assert len(keys) == 2


def test_ptx_that_the_driver_links_has_a_key_of_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_key.Linker, "which_backend", lambda: "driver")  # type: ignore[attr-defined]
    monkeypatch.setattr(pathfinder, "stamp", lambda name: f"/{name} 5")
    keys = set()
    for version in (12040, 13000, 13000):
        monkeypatch.setattr(driver.checked, "cuDriverGetVersion", lambda version=version: version)
        keys.add(key_of("ptx", "cubin", "x"))
    assert len(keys) == 2


@with_nvrtc
def test_flags_in_the_environment(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVRTC_APPEND_FLAGS", "--include-path=/somewhere")
    with pytest.raises(NotCacheable, match="NVRTC_APPEND_FLAGS"):
        key()


@with_nvrtc
def test_off(cache: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(PLAIN, "c++", options())
    program.compile("ptx", cache=False)
    program.compile("ptx", cache=False)
    ptx(no_cache=True)
    for value in ("0", "off", "No", "FALSE"):
        monkeypatch.setenv("CUDAPY_CACHE", value)
        ptx()
    assert compiler.count == 7 and not cache.exists()


# -- folders that cannot be used --------------------------------------------------------------------------


@with_nvrtc
@pytest.mark.parametrize("how", ["relative", "link", "writable", "file"])
def test_a_folder_that_must_not_be_used(cache: Path, compiler, tmp_path: Path, monkeypatch, how: str) -> None:
    cache.parent.mkdir()
    if how == "relative":
        monkeypatch.setenv("CUDAPY_CACHE_DIR", "cache")
    elif how == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        cache.symlink_to(tmp_path / "elsewhere")
    elif how == "writable":
        cache.mkdir()
        cache.chmod(0o777)
    else:
        cache.write_text("")
    with pytest.warns(RuntimeWarning, match="compiled programs are not kept on disk: ") as caught:
        first = ptx()
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ptx() == first and compiler.count == 1, "in memory all the same"
        ptx(PLAIN + " ")
    assert not list((tmp_path / "elsewhere").glob("*"))


@with_nvrtc
def test_no_home_is_nothing_to_warn_of(cache: Path, compiler: Compiler, monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    monkeypatch.delenv("CUDAPY_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home/x"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "home/x"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert ptx() == ptx()
    assert compiler.count == 1


@with_nvrtc
def test_a_disk_that_fills_up(cache: Path, compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    ptx()

    def full(self: Any, key: Any, value: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FileStreamProgramCache, "__setitem__", full)
    with pytest.warns(RuntimeWarning, match="No space") as caught:
        ptx(PLAIN + " ")
    assert caught[0].filename == __file__
    ptx(PLAIN + "  ")


@with_nvrtc
def test_a_folder_that_fails_to_be_read(cache: Path, compiler: Compiler, monkeypatch) -> None:
    """What was there is compiled again, with one warning; nothing is tried any more."""
    first = ptx()
    compile_cache._memory.clear()

    def broken(self: Any, key: Any, default: Any = None) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(FileStreamProgramCache, "get", broken)
    with pytest.warns(RuntimeWarning, match="not kept on disk: .*Input/output error"):
        assert ptx() == first
    assert compiler.count == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ptx(PLAIN + " ")


def test_what_the_state_says_is_wrong(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_cache.state() == compile_cache.State(str(cache))
    cache.parent.mkdir()
    cache.write_text("a file")
    state = compile_cache.state()
    assert state.path == str(cache) and "is not what it should be" in state.problem
    monkeypatch.setenv("CUDAPY_CACHE_SIZE", "much")
    assert compile_cache.state() == compile_cache.State(
        "", problem="CUDAPY_CACHE_SIZE='much' is not a number of bytes"
    )
    monkeypatch.setenv("CUDAPY_CACHE_SIZE", "0")
    assert compile_cache.state() == compile_cache.State("")


# -- processes and threads --------------------------------------------------------------------------------

OTHER = """
import json, sys
from cudapy import pathfinder
from cudapy.core import Program, ProgramOptions
program = Program(sys.argv[1], "c++", ProgramOptions(arch="sm_90", cuda_headers=False))
code = program.compile("ptx", name_expressions=json.loads(sys.argv[2]))
print(json.dumps([code.code.decode(), repr(code.symbol_mapping), ("nvrtc", None) in pathfinder._loaded]))
"""


@with_nvrtc
def test_another_process_need_not_even_load_the_compiler(cache: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    source = PLAIN + "template <typename T> __global__ void scale(T *x) { *x *= 2; }"
    command = [sys.executable, "-c", OTHER, source, '["scale<int>"]']
    found = [
        json.loads(subprocess.run(command, env=environ, capture_output=True, check=True, timeout=60).stdout)
        for _ in range(2)
    ]
    assert found[0][:2] == found[1][:2] and "scale<int>" in found[0][1]
    assert [loaded for *_, loaded in found] == [True, False]


@with_nvrtc
def test_threads_compile_at_once(cache: Path, compiler: Compiler) -> None:
    barrier = threading.Barrier(8)

    def one(number: int) -> bytes:
        barrier.wait(60)
        return b"".join(ptx(PLAIN.replace("12345", str(10000 + step))) for step in range(6))

    with ThreadPoolExecutor(8) as pool:
        results = set(pool.map(one, range(8)))
    assert len(results) == 1
    assert all(b"%d;" % (10000 + step) in next(iter(results)) for step in range(6))
    assert 6 <= compiler.count <= 48
    count = compiler.count
    forget()
    assert ptx(PLAIN.replace("12345", "10003")) and compiler.count == count


# -- caches of the caller's -------------------------------------------------------------------------------


@pytest.fixture(params=["memory", "files"])
def resource(request: pytest.FixtureRequest, tmp_path: Path) -> ProgramCacheResource:
    return InMemoryProgramCache() if request.param == "memory" else FileStreamProgramCache(tmp_path / "mine")


def test_a_mapping(resource: ProgramCacheResource) -> None:
    with resource as cache:
        cache["k"] = b"one"
        cache[b"l"] = bytearray(b"two")
        cache.update({"m": memoryview(b"three"), "n": ObjectCode.from_cubin(b"four")})
        cache.update([("k", b"five")])
        assert [cache[name] for name in (b"k", "l", "m", b"n")] == [b"five", b"two", b"three", b"four"]
        assert len(cache) == 4
        assert cache.get("x") is None and cache.get("x", b"else") == b"else"
        del cache["k"]
        for missing in (lambda: cache["k"], lambda: cache.__delitem__("k")):
            with pytest.raises(KeyError):
                missing()
        cache.clear()
        assert len(cache) == 0
    for wrong in (
        lambda: cache[1],  # type: ignore[index]
        lambda: cache.__setitem__("k", "text"),  # type: ignore[assignment]
        lambda: "k" in cache,  # type: ignore[misc]
        lambda: list(cache),  # type: ignore[call-overload]
    ):
        with pytest.raises(TypeError):
            wrong()


def test_a_limit_in_memory() -> None:
    cache = InMemoryProgramCache(max_size_bytes=10)
    for name in "abc":
        cache[name] = b"1234"
        assert cache["a" if name != "c" else "c"]
    assert cache.get("b") is None and cache["a"] and cache["c"], "the one not used for longest went"
    cache["a"] = b"12345678"
    assert cache.get("c") is None and len(cache) == 1
    cache["large"] = b"12345678901"
    assert len(cache) == 0
    with pytest.raises(ValueError, match="negative"):
        InMemoryProgramCache(max_size_bytes=-1)


def test_a_limit_on_disk(tmp_path: Path) -> None:
    cache = FileStreamProgramCache(tmp_path / "mine", max_size_bytes=500)
    for number in range(20):
        cache[str(number)] = bytes(100)
    assert 1 <= len(cache) <= 3
    assert cache.path == str(tmp_path / "mine")


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDAPY_CACHE_DIR", str(tmp_path))
    assert FileStreamProgramCache().path == str(tmp_path / "program-cache")


@with_nvrtc
def test_a_program_in_the_callers_cache(resource, cache: Path, compiler: Compiler) -> None:
    program = Program(PLAIN, "c++", options(name="mine"))
    first = program.compile("ptx", cache=resource)
    second = program.compile("ptx", cache=resource)
    assert compiler.count == 1 and not cache.exists(), "instead of cudapy's own"
    assert (second.code, second.name, second.code_type) == (first.code, "mine", "ptx")
    name = make_program_cache_key(
        code=PLAIN, code_type="c++", options=options(name="mine"), target_type="ptx"
    )
    assert resource[name] == first.code and len(resource) == 1
    with pytest.raises(ValueError, match="name_expressions"):
        program.compile("ptx", name_expressions=["k"], cache=resource)
    with pytest.raises(NotCacheable):
        Program(PLAIN, "c++", options(time="-")).compile("ptx", cache=resource)


def test_keys_of_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """PTX and NVVM IR: by their own compilers' files."""
    for library in ("nvJitLink", "nvvm"):
        try:
            pathfinder.load(library)
        except pathfinder.LibraryNotFound as error:
            pytest.skip(str(error).splitlines()[0])

    def keys() -> dict[str, bytes]:
        made = {}
        for kind, target in (("ptx", "cubin"), ("nvvm", "ptx"), ("nvvm", "ltoir"), ("nvvm", "cubin")):
            for label, more in (
                ("", {}),
                (" libdevice", {"use_libdevice": True}),
                (" extra", {"extra_sources": [("a", "b")]}),
            ):
                if kind == "nvvm" or not more:
                    made[f"{kind} {target}{label}"] = make_program_cache_key(
                        code="x",
                        code_type=kind,
                        options=ProgramOptions(arch="sm_90", **more),
                        target_type=target,
                    )
        return made

    before = keys()
    assert len(set(before.values())) == len(before) == 10
    real = pathfinder.stamp
    monkeypatch.setattr(pathfinder, "stamp", lambda name: real(name) + "1" * (name == "nvJitLink"))
    changed = {name for name, made in keys().items() if made != before[name]}
    assert changed == {name for name in before if "cubin" in name}
    monkeypatch.setattr(pathfinder, "stamp", lambda name: real(name) + "1" * (name == "nvvm"))
    changed = {name for name, made in keys().items() if made != before[name]}
    assert changed == {name for name in before if name.startswith("nvvm")}
