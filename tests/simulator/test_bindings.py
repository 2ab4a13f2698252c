"""cuda.bindings.runtime gets the simulator's functions: capsules of Cython modules, as they are imported."""

from __future__ import annotations

import ctypes
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cudapy.simulator.shared import bindings
from cudapy.simulator.shared.imported import Finder

ORDINARY, PER_THREAD = bindings.SUFFIXES
SIGNATURES = {name: ctypes.create_string_buffer(b"cudaError_t (%d)" % i) for i, name in enumerate("abcd")}
OWN = {
    "_cudaFree": (0x1000, "a"),
    "_cudaMemcpy": (0x2000, "b"),
    "_version": (0x3000, "c"),
    "plain": (8, "d"),
}
ENTRIES = {"cudaFree": 0x11, "cudaMemcpy": 0x22, "cudaMemcpy_ptds": 0x33, "plain": 0x44}


def address(capsule: object, signature: str) -> int:
    """The pointer in a capsule, which is asked for by its name."""
    get: Any = ctypes.pythonapi["PyCapsule_GetPointer"]
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return int(get(capsule, SIGNATURES[signature].value))


def fill(module: ModuleType) -> None:
    functions = {name: bindings._new(place, SIGNATURES[kind], None) for name, (place, kind) in OWN.items()}
    module.__dict__["__pyx_capi__"] = functions


def found(module: ModuleType) -> dict[str, int]:
    functions = module.__dict__["__pyx_capi__"]
    return {name: address(functions[name], kind) for name, (_, kind) in OWN.items()}


@pytest.mark.parametrize(("name", "copy"), [(ORDINARY, 0x22), (PER_THREAD, 0x33)])
def test_functions_are_replaced_under_their_signatures(name: str, copy: int) -> None:
    module = ModuleType(name)
    fill(module)
    bindings.replace(module, ENTRIES)
    assert found(module) == {"_cudaFree": 0x11, "_cudaMemcpy": copy, "_version": 0x3000, "plain": 8}


def test_a_module_that_hands_out_nothing_is_left_alone() -> None:
    module = ModuleType(ORDINARY)
    bindings.replace(module, ENTRIES)
    assert not hasattr(module, "__pyx_capi__")


@pytest.mark.parametrize(("version", "free"), [("13.5.0", 0x11), ("12.9.4", 0x1000)])
def test_they_are_replaced_as_the_module_is_imported(
    version: str, free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "cuda" / "bindings" / "_internal"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").write_text(f"__version__ = {version!r}\n")
    (inner / "__init__.py").touch()
    fill_there = f"from {__name__} import fill; import sys; fill(sys.modules[__name__])\n"
    (inner / "runtime.py").write_text(fill_there)
    (inner / "driver.py").write_text(fill_there)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    for name in [name for name in sys.modules if name.partition(".")[0] == "cuda"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    entries = {13: ENTRIES}
    finder = Finder(bindings.actions(lambda major: entries.get(major, {})))
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    try:
        assert found(importlib.import_module(ORDINARY))["_cudaFree"] == free
        assert found(importlib.import_module("cuda.bindings._internal.driver"))["_cudaFree"] == 0x1000
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "cuda"]:
            del sys.modules[name]
