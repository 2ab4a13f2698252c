"""The raising face of cuda.bindings: names, parameters, arguments, results, exceptions. Needs no library."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import traceback
import types
from types import ModuleType
from typing import Any

import pytest

from cudapy import nvfatbin, nvjitlink, nvvm
from cudapy._bindings.errors import CUDAError
from cudapy._ffi.handles import Pointer
from cudapy._types import meanings

MODULES = {"nvJitLink": nvjitlink, "nvvm": nvvm, "nvFatbin": nvfatbin}
ERRORS = (nvjitlink.nvJitLinkError, nvvm.nvvmError, nvfatbin.nvFatbinError)
MEANINGS = {
    "nvJitLink": meanings.NVJITLINKRESULT,
    "nvvm": meanings.NVVMRESULT,
    "nvFatbin": meanings.NVFATBINRESULT,
}


def snake(name: str) -> str:
    """GetLinkedLTOIRSize -> get_linked_ltoir_size."""
    words = re.sub(r"([a-z])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3_\2", name)
    return words.replace("LTOIRSize", "LTOIR_Size").lower()


def c_functions(prefix: str) -> list[str]:
    found = vars(MODULES[prefix]).items()
    return [name for name, value in found if name.startswith(prefix) and inspect.isfunction(value)]


CASES = [(prefix, name) for prefix in MODULES for name in c_functions(prefix)]


@pytest.mark.parametrize(("prefix", "name"), CASES)
def test_every_function_has_a_face(prefix: str, name: str) -> None:
    """Under its name without the prefix, with as many parameters, in their order."""
    function = getattr(MODULES[prefix], name)
    face = getattr(MODULES[prefix], snake(name[len(prefix) :]))
    ours = list(inspect.signature(face).parameters)
    expected = [snake(p).replace("handle_indirect", "handle") for p in inspect.signature(function).parameters]
    assert ours == expected
    assert face.__doc__
    for c_name in inspect.signature(function).parameters:
        assert c_name in ours or f"`{c_name}`" not in face.__doc__


def test_number_of_functions() -> None:
    assert {prefix: len(c_functions(prefix)) for prefix in MODULES} == {
        "nvJitLink": 16,
        "nvvm": 14,
        "nvFatbin": 12,
    }


@pytest.mark.parametrize("prefix", MODULES)
def test_short_enums_have_the_values_of_the_long_ones(prefix: str) -> None:
    module = MODULES[prefix]
    pairs = [(module.Result, getattr(module, f"{prefix}Result"), f"{prefix.upper()}_")]
    if prefix == "nvJitLink":
        pairs.append((module.InputType, module.nvJitLinkInputType, "NVJITLINK_INPUT_"))
    for short, long, start in pairs:
        assert {start + name: int(value) for name, value in short.__members__.items()} == {
            name: int(value) for name, value in long.__members__.items()
        }
    assert module.Result.SUCCESS == 0
    assert module.Result.SUCCESS.name == "SUCCESS"


@pytest.mark.parametrize("prefix", MODULES)
def test_every_status_has_a_meaning(prefix: str) -> None:
    assert set(MEANINGS[prefix]) == set(getattr(MODULES[prefix], f"{prefix}Result").__members__)


def pretend(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, *answer: Any) -> list[Any]:
    """Have the C-named function answer that; returns the list of what it was called with.

    Its face is the function as it is written in Python: a fast lane calls C, not the C-named function.
    """
    calls: list[Any] = []

    def function(*args: Any) -> tuple[Any, ...]:
        calls.append(args)
        return answer

    prefix = next(prefix for prefix in MODULES if MODULES[prefix] is module)
    stub = getattr(module, snake(name[len(prefix) :]))
    keywords = dict(stub.__kwdefaults__)
    code = keywords["face"].write(keywords["function"], stub.__name__, keywords["names"]).__code__
    written = types.FunctionType(code, stub.__globals__, stub.__name__, stub.__defaults__)
    written.__kwdefaults__ = keywords
    monkeypatch.setattr(module, stub.__name__, written)
    monkeypatch.setattr(module, name, function)
    return calls


OK = nvjitlink.nvJitLinkResult.NVJITLINK_SUCCESS
FAILED = nvvm.nvvmResult.NVVM_ERROR_INVALID_IR


def test_no_result_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, nvjitlink, "nvJitLinkComplete", OK)
    assert nvjitlink.complete(5) is None


def test_one_result_comes_alone_and_a_handle_is_an_int(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, nvjitlink, "nvJitLinkCreate", OK, nvjitlink.nvJitLinkHandle(2**40))
    handle = nvjitlink.create(0, [])
    assert (type(handle), handle) == (int, 2**40)
    assert isinstance(nvjitlink.nvJitLinkHandle(), Pointer)


def test_several_results_are_a_tuple(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, nvvm, "nvvmIRVersion", nvvm.nvvmResult(0), 2, 0, 3, 1)
    assert nvvm.ir_version() == (2, 0, 3, 1)


def test_a_c_string_is_a_str(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, nvvm, "nvvmGetErrorString", nvvm.nvvmResult(0), b"NVVM_SUCCESS")
    assert nvvm.get_error_string(0) == "NVVM_SUCCESS"


@pytest.mark.parametrize("options", [["-a", "-é"], ("-a", "-é"), [b"-a", "-é"], (b"-a", "-é".encode())])
def test_options_are_str_or_bytes(monkeypatch: pytest.MonkeyPatch, options: Any) -> None:
    calls = pretend(monkeypatch, nvvm, "nvvmCompileProgram", nvvm.nvvmResult(0))
    nvvm.compile_program(7, 2, options)
    assert calls == [(7, 2, [b"-a", "-é".encode()])]


def test_names_are_str_or_bytes_and_data_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = pretend(monkeypatch, nvfatbin, "nvFatbinAddPTX", nvfatbin.nvFatbinResult(0))
    nvfatbin.add_ptx(7, "text", 4, "90", b"k", None)
    nvfatbin.add_ptx(handle=7, code=b"text", size=4, arch=b"90", identifier="k", options_cmd_line="-O3")
    assert calls == [(7, "text", 4, b"90", b"k", None), (7, b"text", 4, b"90", b"k", b"-O3")]


def test_a_file_name_need_not_be_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = pretend(monkeypatch, nvjitlink, "nvJitLinkAddFile", OK)
    nvjitlink.add_file(7, nvjitlink.InputType.PTX, "a\udcff.ptx")
    assert calls == [(7, 2, b"a\xff.ptx")]


def test_wrong_number_of_arguments_names_the_function() -> None:
    with pytest.raises(TypeError, match=r"create\(\)"):
        nvjitlink.create(1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"complete\(\)"):
        nvjitlink.complete(handel=1)  # type: ignore[call-arg]


def failure(monkeypatch: pytest.MonkeyPatch) -> nvvm.nvvmError:
    pretend(monkeypatch, nvvm, "nvvmVerifyProgram", FAILED)
    with pytest.raises(nvvm.nvvmError) as caught:
        nvvm.verify_program(7, 1, ["-arch=compute_90"])
    return caught.value


def test_a_failure_is_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    error = failure(monkeypatch)
    assert str(error) == "ERROR_INVALID_IR (6)"
    assert error.status is nvvm.Result.ERROR_INVALID_IR
    assert error.status == 6
    assert isinstance(error, RuntimeError)


def test_the_cause_says_more(monkeypatch: pytest.MonkeyPatch) -> None:
    error = failure(monkeypatch)
    assert isinstance(error.__cause__, CUDAError)
    assert error.__cause__.function == "nvvmVerifyProgram"
    text = "".join(traceback.format_exception(error))
    assert "NVVM_ERROR_INVALID_IR (6): The module is not valid NVVM IR." in text
    assert "num_options=1, options=['-arch=compute_90']" in text
    assert "raise _face.failure('nvvmVerifyProgram'" in text  # the generated line


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("status", [0, 3, 99])
def test_exceptions_are_pickled_and_copied(error: type[Any], status: int) -> None:
    first = error(status)
    for again in (pickle.loads(pickle.dumps(first)), copy.copy(first), copy.deepcopy(first)):
        assert type(again) is error
        assert (str(again), again.status) == (str(first), status)


CALLS = [
    (nvvm, "nvvmAddModuleToProgram", (7, None, 0, "name")),
    (nvvm, "nvvmLazyAddModuleToProgram", (7, None, 0, "name")),
    (nvvm, "nvvmGetProgramLog", (7, None)),
    (nvjitlink, "nvJitLinkAddData", (7, 2, None, 0, "name")),
    (nvjitlink, "nvJitLinkGetLinkedCubin", (7, None)),
    (nvfatbin, "nvFatbinAddPTX", (7, None, 0, "90", "id", "")),
]


@pytest.mark.parametrize(("library", "name", "arguments"), CALLS, ids=[name for _, name, _ in CALLS])
def test_none_for_a_buffer_is_a_value_error_too(
    monkeypatch: pytest.MonkeyPatch, library: ModuleType, name: str, arguments: tuple[Any, ...]
) -> None:
    """As it is in cuda.bindings up to 13.3; later ones ask C, and raise its error."""
    function = getattr(library, name)
    prefix, error = next((p, e) for p, e in zip(MODULES, ERRORS, strict=True) if MODULES[p] is library)
    status = next(iter(function.__globals__["__getattr__"](f"{prefix}Result")))
    face = getattr(library, snake(name[len(prefix) :])).__name__
    written = library._face.write(function, face, tuple(inspect.signature(function).parameters))
    monkeypatch.setitem(written.__globals__, name, lambda *_: (type(status)(3),))
    with pytest.raises(error, match=r"\(3\)") as caught:
        written(*arguments)
    assert isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert again.status == 3
    with pytest.raises(error) as caught:
        written(*[b"x" if value is None else value for value in arguments])
    assert not isinstance(caught.value, ValueError)


def test_a_status_of_tomorrow() -> None:
    assert str(nvjitlink.nvJitLinkError(99)) == "Result_99 (99)"


def test_an_exception_is_made_of_a_member_too() -> None:
    assert str(nvfatbin.nvFatbinError(nvfatbin.Result.ERROR_INVALID_ARCH)) == "ERROR_INVALID_ARCH (9)"


def test_the_face_of_a_function_written_by_hand() -> None:
    """It has no prototype: its arguments go as they are."""
    scope: dict[str, Any] = {}
    exec("def someCount(device, name): return (0, name * device)\ndef count(device, label): ...", scope)
    face = nvvm._face(scope["someCount"])(scope["count"])
    assert face(2, "ab") == "abab"
    assert face(label=(1,), device=1) == (1,)
