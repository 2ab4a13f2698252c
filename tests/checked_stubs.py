"""Writes the stubs of the raising faces, cudapy/_checked/*.pyi, from the modules of functions:

python -m tests.checked_stubs
"""

from __future__ import annotations

import builtins
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import cudapy
from cudapy import cudla, cufile, driver, nccl, nvfatbin, nvjitlink, nvml, nvrtc, nvvm, runtime
from cudapy._ffi.library import forms, results_alone

MODULES = (driver, runtime, nvrtc, nvvm, nvfatbin, nvjitlink, nvml, nccl, cufile, cudla)
FOLDER = Path(cudapy.__file__).parent / "_checked"

START = '''\
"""The functions of `{name}` as `{name}.checked` has them: results alone, CUDAError for a failure."""

# Written by `python -m tests.checked_stubs`.

'''


def _documentation(function: Any) -> str:
    """Its docstring as it is written, which Python 3.13 and newer have without the indentation."""
    text = inspect.cleandoc(function.__doc__)
    return textwrap.indent(text, "    ").lstrip() + ("\n    " if "\n" in text else "")


def stub(module: ModuleType) -> str:
    """The text of the stub of a module, its functions in the module's order."""
    name = module.__name__.rpartition(".")[2]
    public = {*dir(module.checked)}
    first_names: dict[Any, str] = {}
    body = ""
    for public_name, function in vars(module).items():
        if public_name in public:
            first_name = first_names.setdefault(function, public_name)
            alias = f"{public_name} = {first_name}\n"
            body += alias if first_name != public_name else definitions(function)
    used = names_in_annotations(first_names)
    sources = {
        "collections.abc": {"Sequence"} & used,
        "typing": ({"Any"} & used) | ({"overload"} if "@overload" in body else set()),
        ".._ffi.scalars": {"void_p", "void_pp"} & used,
    }
    sources[f"..{name}"] = used.difference(*sources.values())
    imports = [
        f"from {source} import {', '.join(sorted(names))}\n" for source, names in sources.items() if names
    ]
    return START.format(name=name) + "".join(imports) + "\n" + body


def definitions(function: Callable[..., Any]) -> str:
    """`def name(parameters) -> results: ...`, one for each form in which the function takes its arguments.

    Editors find the documentation of a function where it is defined; one made of two others has it here.
    """
    found = forms(function)
    mark = "@overload\n" if len(found) > 1 else ""
    body = " ..." if found[0].__name__ == function.__name__ else f'\n    """{_documentation(function)}"""'
    text = ""
    for form in found:
        signature = inspect.signature(results_alone(form))
        parameters = ", ".join(
            f"{p.name}: {p.annotation}" + ("" if p.default is p.empty else f" = {p.default!r}")
            for p in signature.parameters.values()
        )
        text += f"{mark}def {function.__name__}({parameters}) -> {signature.return_annotation}:{body}\n"
    return text


def names_in_annotations(functions: Iterable[Callable[..., Any]]) -> set[str]:
    """What a stub has to import for the annotations of the functions."""
    annotations = " ".join(
        annotation
        for function in functions
        for form in forms(function)
        for annotation in results_alone(form).__annotations__.values()
    )
    return {*re.findall(r"[^\W\d]\w*", annotations)} - {*vars(builtins)}


if __name__ == "__main__":
    for module in MODULES:
        (FOLDER / f"{module.__name__.rpartition('.')[2]}.pyi").write_text(stub(module), encoding="utf-8")
