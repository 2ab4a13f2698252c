"""NVIDIA's cuda.bindings.runtime on the simulator's libcudart.

It has a libcudart of its own, linked statically into the module that calls it, and hands the functions to the
modules above as Cython does: a dictionary `__pyx_capi__` with a PyCapsule for each, which holds its address.
They are replaced as that module is imported, before another has looked at them.

Source: the Cython documentation, "Sharing Declarations Between Cython Modules"; the Python/C API, "Capsules".
"""

from __future__ import annotations

import ctypes
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

PACKAGE = "cuda.bindings"
SUFFIXES = {f"{PACKAGE}._internal.runtime": (), f"{PACKAGE}._internal.runtime_ptds": ("_ptsz", "_ptds")}
"""The modules, and the forms of the functions that they call, where there are such."""

_new = ctypes.pythonapi["PyCapsule_New"]
_new.restype, _new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_name = ctypes.pythonapi["PyCapsule_GetName"]
_name.restype, _name.argtypes = ctypes.c_void_p, (ctypes.py_object,)


def replace(module: ModuleType, entries: Mapping[str, int]) -> None:
    """Have a module hand out the functions in `entries`, by symbol their addresses, instead of its own."""
    functions = getattr(module, "__pyx_capi__", {})
    for name, capsule in list(functions.items()):
        symbol = name.removeprefix("_")
        forms = [symbol + suffix for suffix in (*SUFFIXES[module.__name__], "")]
        address = next((entries[form] for form in forms if form in entries), None)
        if address is not None and name != symbol:
            functions[name] = _new(address, _name(capsule), None)


def actions(entries: Callable[[int], Mapping[str, int]]) -> dict[str, Callable[[ModuleType], None]]:
    """What is done to the modules once they are imported: see `imported.Finder`.

    entries: the addresses of the functions of the libcudart of a CUDA major, by symbol.
    """

    def imported(module: ModuleType) -> None:
        major = str(getattr(sys.modules[PACKAGE], "__version__", "")).partition(".")[0]
        replace(module, entries(int(major)) if major.isdecimal() else {})

    return dict.fromkeys(SUFFIXES, imported)
