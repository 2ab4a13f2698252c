"""Linker and LinkerOptions, with the real nvJitLink and no GPU; and what happens without nvJitLink."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import os
import pickle
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cudapy import pathfinder
from cudapy._core.compile import linker as linker_module
from cudapy._core.compile import linker_nvjitlink, linker_thread
from cudapy._core.compile.linker_nvjitlink import linker_input
from cudapy._core.kernels.parameter_kinds import Parameter, with_note
from cudapy.core import CUDAError, Linker, LinkerOptions, LinkError, ObjectCode, Program, ProgramOptions
from cudapy.nvjitlink import Result, nvJitLinkError

from . import stub

DEVICE = 'extern "C" __device__ int triple(int x) { return 3 * x; }'
KERNEL = """
extern "C" __device__ int triple(int x);
extern "C" __global__ void k(int *p) { *p = triple(*p); }
"""


@pytest.fixture
def nvjitlink() -> None:
    for name in ("nvJitLink", "nvrtc"):
        try:
            pathfinder.load(name)
        except pathfinder.LibraryNotFound as error:
            pytest.skip(str(error).splitlines()[0])


with_nvjitlink = pytest.mark.usefixtures("nvjitlink")


def unit(source: str, name: str, target: str, arch: str = "sm_90") -> ObjectCode:
    options = ProgramOptions(name=name, arch=arch, relocatable_device_code=True)
    return Program(source, "c++", options).compile(target)


def units(target: str) -> list[ObjectCode]:
    return [unit(DEVICE, "device.cu", target), unit(KERNEL, "kernel.cu", target)]


def options(**more) -> LinkerOptions:
    return LinkerOptions(arch="sm_90", **more)


# -- options ----------------------------------------------------------------------------------------------

FLAGS = {
    "max_register_count": (32, ["-maxrregcount=32"]),
    "time": (True, ["-time"]),
    "verbose": (True, ["-verbose"]),
    "link_time_optimization": (True, ["-lto"]),
    "optimization_level": (0, ["-O0"]),
    "debug": (True, ["-g"]),
    "lineinfo": (True, ["-lineinfo"]),
    "ftz": (True, ["-ftz=1"]),
    "prec_div": (False, ["-prec-div=0"]),
    "prec_sqrt": (True, ["-prec-sqrt=1"]),
    "fma": (False, ["-fma=0"]),
    "kernels_used": (["a", "b"], ["-kernels-used=a", "-kernels-used=b"]),
    "variables_used": ("v", ["-variables-used=v"]),
    "optimize_unused_variables": (True, ["-optimize-unused-variables"]),
    "ptxas_options": (("-v", "-O2"), ["-Xptxas=-v", "-Xptxas=-O2"]),
    "split_compile": (0, ["-split-compile=0"]),
    "split_compile_extended": (2, ["-split-compile-extended=2"]),
    "no_cache": (True, ["-no-cache"]),
}


def test_every_option_is_in_the_table() -> None:
    names = {field.name for field in dataclasses.fields(LinkerOptions)}
    assert names == set(FLAGS) | {"name", "arch", "ptx", "numba_debug"}
    assert len(names) == 22


@pytest.mark.parametrize("name", FLAGS)
def test_the_flag_of_an_option(name) -> None:
    value, flags = FLAGS[name]
    assert options(**{name: value}).as_bytes() == [b"-arch=sm_90", *(flag.encode() for flag in flags)]
    if value is True and "=" not in flags[0]:
        assert options(**{name: False}).as_bytes() == [b"-arch=sm_90"]


def test_ptx_needs_lto() -> None:
    made = options(ptx=True, link_time_optimization=True)
    assert made.as_bytes("nvjitlink") == [b"-arch=sm_90", b"-lto", b"-ptx"]
    assert options(ptx=True).as_bytes() == [b"-arch=sm_90", b"-ptx"]
    code = ObjectCode.from_ptx(b"", name="any.ptx")
    with pytest.raises(ValueError, match="link_time_optimization"):
        Linker(code, options=options(ptx=True))


@pytest.mark.parametrize(
    ("arch", "flag"),
    [("sm_90a", b"-arch=sm_90a"), ("compute_90", b"-arch=compute_90"), ("90", b"-arch=sm_90")],
)
def test_architectures(arch, flag) -> None:
    assert LinkerOptions(arch=arch).as_bytes() == [flag]


def test_an_architecture_that_cannot_be_never_reaches_nvjitlink() -> None:
    with pytest.raises(ValueError, match="LinkerOptions: arch = 'sm_1'"):
        LinkerOptions(arch="sm_1").as_bytes()  # nvJitLink 13.0 would end the process
    with pytest.raises(TypeError, match="LinkerOptions: arch must be a str such as 'sm_90', not 90"):
        LinkerOptions(arch=90).as_bytes()


def test_another_backend_has_no_command_line() -> None:
    with pytest.raises(ValueError, match="driver"):
        options().as_bytes("driver")


def test_numba_debug_is_of_no_effect() -> None:
    with pytest.warns(DeprecationWarning, match="numba_debug") as caught:
        assert options(numba_debug=True).as_bytes() == [b"-arch=sm_90"]
    assert caught[0].filename == __file__


# -- linking ----------------------------------------------------------------------------------------------


@with_nvjitlink
def test_lto_inlines_across_the_units() -> None:
    linked = Linker(*units("ltoir"), options=options(link_time_optimization=True, name="both")).link("cubin")
    assert (linked.code_type, linked.name) == ("cubin", "both")
    assert b".text.k\0" in linked.code and b".text.triple\0" not in linked.code


@with_nvjitlink
@pytest.mark.parametrize("target", ["ptx", "cubin"])
def test_without_lto_the_units_stay_apart(target) -> None:
    linked = Linker(*units(target), options=options()).link("cubin")
    assert b".text.k\0" in linked.code and b".text.triple\0" in linked.code


@with_nvjitlink
def test_lto_to_ptx() -> None:
    linked = Linker(*units("ltoir"), options=options(link_time_optimization=True, ptx=True)).link("PTX")
    assert linked.code_type == "ptx"
    assert b".entry k(" in linked.code and b"call" not in linked.code


@with_nvjitlink
@pytest.mark.parametrize(
    ("option", "when_true", "when_false"),
    [
        ("ftz", "div.rn.ftz.f32", "div.rn.f32"),
        ("prec_div", "div.rn.f32", "div.full.f32"),
        ("prec_sqrt", "sqrt.rn.f32", "sqrt.rn.f32"),  # the compiler has chosen
        ("fma", "fma.rn.f32", "add.rn.f32"),
    ],
)
def test_how_lto_computes(option, when_true, when_false) -> None:
    source = """
    extern "C" __global__ void k(float *x) {
        x[0] = sqrtf(x[1]);
        x[2] = x[3] / x[4];
        x[5] = x[5] * x[6] + x[7];
    }
    """
    made = unit(source, "k.cu", "ltoir")
    for value, expected in ((True, when_true), (False, when_false)):
        linking = options(link_time_optimization=True, ptx=True, **{option: value})
        assert expected.encode() in Linker(made, options=linking).link("ptx").code


def test_options_are_a_dict_too() -> None:
    with pytest.raises(TypeError, match="LinkerOptions or a dict of them, not str"):
        Linker(ObjectCode.from_ptx(b""), options="-lto")
    with pytest.raises(TypeError, match="optimisation_level"):
        Linker(ObjectCode.from_ptx(b""), options={"optimisation_level": 3})
    with pytest.raises(ValueError, match="LTO-IR needs"):
        Linker(ObjectCode.from_ltoir(b""), options={"arch": "sm_90"})


@with_nvjitlink
def test_ptx_from_a_file_has_no_nul() -> None:
    assert linker_input(ObjectCode.from_ptx(b".version 8.0\n")).endswith(b"\n\0")
    assert linker_input(ObjectCode.from_ptx(b".version 8.0\n\0")).endswith(b"\n\0")
    assert linker_input(ObjectCode.from_cubin(b"ELF")) == b"ELF"
    noted = with_note(b"ELF", {"k": [Parameter("f", 4)]})
    assert noted != b"ELF" and linker_input(ObjectCode.from_cubin(noted)) == b"ELF"
    ptx = [ObjectCode.from_ptx(code.code.rstrip(b"\0")) for code in units("ptx")]
    assert b".text.k\0" in Linker(*ptx, options=options()).link("cubin").code


@with_nvjitlink
def test_names_stay_known() -> None:
    source = "template <typename T> __global__ void scale(T *x) { *x *= 2; }"
    program = Program(source, "c++", ProgramOptions(arch="sm_90", relocatable_device_code=True))
    parts = [program.compile("ltoir", name_expressions=["scale<int>"]), unit(DEVICE, "device.cu", "ltoir")]
    linked = Linker(*parts, options=options(link_time_optimization=True)).link("cubin")
    assert linked.symbol_mapping == parts[0].symbol_mapping
    assert b".text.%b\0" % linked.symbol_mapping["scale<int>"] in linked.code


@with_nvjitlink
def test_kernels_that_are_not_used_are_removed() -> None:
    two = unit('extern "C" __global__ void a() {}\nextern "C" __global__ void b() {}', "two", "ltoir")
    linked = Linker(two, options=options(link_time_optimization=True, kernels_used="a")).link("cubin")
    assert b".text.a\0" in linked.code and b".text.b\0" not in linked.code


@with_nvjitlink
def test_logs() -> None:
    with Linker(*units("ptx"), options=options(verbose=True, time=True, no_cache=True)) as linker:
        assert linker.backend == "nvJitLink" == Linker.which_backend()
        assert int(linker.handle)
        first = linker.link("cubin")
        assert linker.link("cubin") is first, "linked once"
        info = linker.get_info_log()
        assert re.search(r"used \d+ registers", info, re.IGNORECASE) and "time" in info and "\0" not in info
        assert linker.get_error_log() == ""


@with_nvjitlink
def test_an_undefined_symbol() -> None:
    with pytest.raises(LinkError) as caught:
        Linker(units("ptx")[1], options=options(max_register_count=32)).link("cubin")
    error = caught.value
    assert isinstance(error, CUDAError)
    assert isinstance(error, nvJitLinkError)
    assert error.status == error.code and isinstance(error.status, Result)
    assert error.function == "nvJitLinkComplete" and error.name.startswith("NVJITLINK_ERROR")
    assert "triple" in error.log
    assert error.options == ("-arch=sm_90", "-maxrregcount=32")
    assert error.library == pathfinder.load("nvJitLink").path
    message = str(error)
    for part in (error.log, "-arch=sm_90 -maxrregcount=32", error.library, "nvJitLink 1", "kernel.cu (ptx)"):
        assert part in message
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.log, again.options, again.library, again.code) == (
        message,
        error.log,
        error.options,
        error.library,
        error.code,
    )
    assert isinstance(again, nvJitLinkError) and again.status == error.status


@with_nvjitlink
def test_a_linker_that_failed_keeps_its_logs() -> None:
    """Nothing else: it was given back."""
    linker = Linker(units("ptx")[1], options=options())
    with ThreadPoolExecutor(1) as pool:
        failure = pool.submit(linker.link, "cubin").exception()
    assert isinstance(failure, LinkError)
    assert linker.get_error_log() in failure.log and "triple" in linker.get_error_log()
    assert linker.get_info_log() in failure.log
    with pytest.raises(LinkError) as again:
        linker.link("cubin")
    assert again.value is failure
    assert b".text.k\0" in Linker(*units("ptx"), options=options()).link("cubin").code
    assert not int(linker.handle)
    linker.close()


@with_nvjitlink
def test_nvjitlink_works_in_one_thread(monkeypatch) -> None:
    """Whoever asks: what fails in a thread that ends, or is destroyed in another, ends the process later."""
    from cudapy import nvjitlink

    seen = []
    for module, name in (
        (linker_nvjitlink._owning, "nvJitLinkCreate"),
        (nvjitlink, "nvJitLinkAddData"),
        (nvjitlink, "nvJitLinkComplete"),
        (nvjitlink.checked, "nvJitLinkGetErrorLog"),
        (nvjitlink.checked, "nvJitLinkDestroy"),
    ):
        real = getattr(module, name)

        def note(*args, real=real, name=name):
            seen.append((name, threading.get_ident()))
            return real(*args)

        monkeypatch.setattr(module, name, note)
    code = units("ptx")
    with ThreadPoolExecutor(4) as pool:
        for made in pool.map(lambda number: Linker(code[number % 2], options=options()), range(8)):
            with contextlib.suppress(LinkError):
                made.link("cubin")
            made.close()
    linker_thread.call(int)  # what was asked for before is done
    assert {name for name, _ in seen} >= {"nvJitLinkCreate", "nvJitLinkComplete", "nvJitLinkDestroy"}
    assert len({thread for _, thread in seen}) == 1 and seen[0][1] != threading.get_ident()


def test_copies_of_the_package_have_one_thread() -> None:
    theirs = stub.module("_core.compile.linker_thread")
    assert theirs is not linker_thread
    assert theirs.call(threading.get_ident) == linker_thread.call(threading.get_ident)
    assert theirs.call(lambda: linker_thread.call(int)) == 0  # within it, there is nothing to wait for


def test_a_thread_that_does_not_start_fails_each_call_until_one_does() -> None:
    done = stub.python("""
import threading
from cudapy._core.compile import linker_thread
start = threading.Thread.start
def refuse(thread): raise RuntimeError("no thread starts")
threading.Thread.start = refuse
for _ in range(2):
    try: linker_thread.call(int)
    except RuntimeError as error: print(error)
threading.Thread.start = start
print(linker_thread.call(int))
""")
    assert (done.stderr, done.stdout) == ("", "no thread starts\nno thread starts\n0\n")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_a_thread_of_its_own() -> None:
    assert linker_thread.call(os.getpid) == os.getpid()
    child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(7 if linker_thread.call(os.getpid) == os.getpid() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@with_nvjitlink
def test_the_log_is_whole() -> None:
    calls = [
        f"extern __device__ int missing_{i}(); __global__ void k{i}(int *p) {{ *p = missing_{i}(); }}"
        for i in range(200)
    ]
    source = 'extern "C" {\n' + "\n".join(calls) + "\n}"
    with pytest.raises(LinkError) as caught:
        Linker(unit(source, "many.cu", "ptx"), options=options()).link("cubin")
    assert all(f"missing_{i}'" in caught.value.log for i in range(200))


@with_nvjitlink
@pytest.mark.parametrize("kind", ["ptx", "cubin", "fatbin"])
def test_input_that_is_something_else(kind) -> None:
    with pytest.raises(LinkError, match=rf"nonsense.bin \({kind}\)"):
        Linker(getattr(ObjectCode, f"from_{kind}")(b"nonsense", name="nonsense.bin"), options=options())


@with_nvjitlink
def test_input_of_another_architecture() -> None:
    with pytest.raises(LinkError, match=r"sm_80|arch|Arch"):
        Linker(unit(DEVICE, "old.cu", "cubin", "sm_80"), options=options()).link("cubin")


@with_nvjitlink
def test_an_unknown_option_of_ptxas() -> None:
    with pytest.raises(LinkError, match="--no-such-thing"):
        Linker(*units("ptx"), options=options(ptxas_options="--no-such-thing")).link("cubin")


@with_nvjitlink
def test_lto_code_without_lto() -> None:
    with pytest.raises(ValueError, match="link_time_optimization=True"):
        Linker(*units("ltoir"), options=options())


@with_nvjitlink
@pytest.mark.parametrize(
    ("target", "more"), [("ptx", {"link_time_optimization": True}), ("cubin", {"ptx": True})]
)
def test_a_target_that_the_options_do_not_make(target, more) -> None:
    with pytest.raises(ValueError, match=f"{target!r} needs LinkerOptions"):
        Linker(*units("ltoir"), options=options(**{"link_time_optimization": True, **more})).link(target)


@with_nvjitlink
def test_a_target_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="'cubin', 'ptx'"):
        Linker(*units("ptx"), options=options()).link("fatbin")


@with_nvjitlink
def test_a_closed_linker() -> None:
    linker = Linker(*units("ptx"), options=options())
    assert not linker.is_closed
    linker.close()
    linker.close()
    assert linker.is_closed
    for use in (
        lambda: linker.link("cubin"),
        linker.get_info_log,
        linker.get_error_log,
    ):
        with pytest.raises(RuntimeError, match="this Linker is closed"):
            use()


@with_nvjitlink
def test_every_linker_is_given_back(monkeypatch) -> None:
    """Those that fail in the constructor too."""
    from cudapy import nvjitlink

    gc.collect()  # linkers of other tests, which exceptions refer to
    linker_thread.call(int)
    destroyed = []
    destroy = nvjitlink.checked.nvJitLinkDestroy
    monkeypatch.setattr(
        nvjitlink.checked, "nvJitLinkDestroy", lambda h: destroyed.append(int(h)) or destroy(h)
    )

    def destroyed_by_now() -> int:
        linker_thread.call(int)  # what was asked for before is done
        return len(destroyed)

    Linker(*units("ptx"), options=options()).close()
    assert destroyed_by_now() == 1
    Linker(*units("ptx"), options=options())
    gc.collect()
    assert destroyed_by_now() == 2
    with pytest.raises(LinkError) as caught:
        Linker(ObjectCode.from_ptx(b"nonsense\n"), options=options())
    assert destroyed_by_now() == 3 and caught.tb, "before the exception, which refers to it, is gone"


@with_nvjitlink
def test_threads_link_at_once() -> None:
    code = units("ltoir")

    def link(number: int) -> bytes:
        made = options(link_time_optimization=True, max_register_count=32 + number)
        return Linker(*code, options=made).link("cubin").code

    def fail(number: int) -> str:
        with pytest.raises(LinkError) as caught:
            Linker(kernel, options=options(max_register_count=32 + number)).link("cubin")
        return caught.value.log

    kernel = units("ptx")[1]
    alone = [link(number) for number in range(8)]
    for _ in range(3):
        with ThreadPoolExecutor(16) as pool:
            linked, failed = pool.map(link, range(8)), pool.map(fail, range(8))
            assert list(linked) == alone
            assert all("triple" in log for log in failed)


@pytest.mark.parametrize("wrong", [(), (b"code",), ("a.ptx",)])
def test_what_is_not_linked(wrong) -> None:
    with pytest.raises((ValueError, TypeError), match="ObjectCode"):
        Linker(*wrong, options=options())


# -- which linker -----------------------------------------------------------------------------------------


def test_neither_linker(monkeypatch) -> None:
    def missing(name: str, major: int | None = None) -> pathfinder.Loaded:
        raise pathfinder.LibraryNotFound(name, (), f"{name} was not found\nTo fix it: pip install it.")

    monkeypatch.setattr(pathfinder, "load", missing)
    monkeypatch.setattr(linker_module, "driver_major", lambda: None)
    assert Linker.which_backend() == "driver"
    with pytest.raises(pathfinder.LibraryNotFound, match="nvJitLink"):
        Linker(ObjectCode.from_ptx(b"a\n"), options=options())


@with_nvjitlink
@pytest.mark.parametrize(("newer", "expected"), [(-1, "driver"), (0, "nvJitLink"), (1, "nvJitLink")])
def test_nvjitlink_must_not_be_newer_than_the_driver(monkeypatch, newer, expected) -> None:
    major = pathfinder.load("nvJitLink").major
    assert major is not None
    monkeypatch.setattr(linker_module, "driver_major", lambda: major + newer)
    assert Linker.which_backend() == expected


def test_what_the_driver_lacks_is_named_with_the_reason(monkeypatch) -> None:
    monkeypatch.setattr(linker_module, "_nvjitlink_is_missing", lambda: "nvJitLink is too new")
    monkeypatch.setattr(linker_module, "driver_major", lambda: 12)
    with pytest.raises(ValueError, match="no ftz, kernels_used, and nvJitLink is too new"):
        Linker(ObjectCode.from_ptx(b"a\n"), options=options(ftz=True, kernels_used="k", no_cache=True))


@pytest.fixture
def driver_alone(monkeypatch):
    """As on a machine without nvJitLink."""
    monkeypatch.setattr(linker_module, "_nvjitlink_is_missing", lambda: "nvJitLink is too new")
    monkeypatch.setattr(linker_module, "driver_major", lambda: 12)


def test_what_the_driver_does_not_link(driver_alone) -> None:
    with pytest.raises(ValueError, match="no link_time_optimization, and nvJitLink is too new"):
        Linker(ObjectCode.from_ltoir(b"code", name="mine"), options=options(link_time_optimization=True))
    with pytest.raises(ValueError, match="no target for arch '91'"):
        Linker(ObjectCode.from_ptx(b"a\n"), options=LinkerOptions(arch="sm_91"))


def test_a_machine_without_a_driver(monkeypatch) -> None:
    """nvJitLink does it, whatever its release."""

    def missing() -> None:
        raise pathfinder.LibraryNotFound("cuda", (), "no driver")

    monkeypatch.setattr(linker_module.driver, "cuDriverGetVersion", missing)  # type: ignore[attr-defined]
    assert linker_module.driver_major() is None
    monkeypatch.setattr(linker_module.driver, "cuDriverGetVersion", lambda: (0, 12040))  # type: ignore[attr-defined]
    assert linker_module.driver_major() == 12
    monkeypatch.setattr(linker_module.driver, "cuDriverGetVersion", lambda: (3, None))  # type: ignore[attr-defined]
    assert linker_module.driver_major() is None


@with_nvjitlink
def test_compiler_and_linker_of_two_majors(monkeypatch) -> None:
    linker = pathfinder.load("nvJitLink")
    assert linker.major is not None

    def compiler(major: int | None) -> None:
        found = pathfinder.Candidate("pip", "/a/libnvrtc.so", major)
        monkeypatch.setattr(pathfinder, "locate", lambda name: found)

    compiler(linker.major + 1)
    assert f"NVRTC of CUDA {linker.major + 1} (/a/libnvrtc.so)" in linker_nvjitlink.mixed()
    for same in (linker.major, None):
        compiler(same)
        assert linker_nvjitlink.mixed() == ""

    def missing(name: str) -> None:
        raise pathfinder.LibraryNotFound(name, (), "no NVRTC")

    monkeypatch.setattr(pathfinder, "locate", missing)
    assert linker_nvjitlink.mixed() == ""


def test_a_linker_that_does_not_say_its_release(monkeypatch) -> None:
    older = pathfinder.Loaded("nvJitLink", object(), "/a/libnvJitLink.so.12", "pip", 12)
    monkeypatch.setattr(pathfinder, "load", lambda name: older)
    assert linker_nvjitlink.tool()[:2] == ("nvJitLink 12", "/a/libnvJitLink.so.12")
