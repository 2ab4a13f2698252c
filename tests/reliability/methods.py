"""The public methods of core, and which of them a program calls."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.stub import REPOSITORY

from . import scenarios

CORE, SCENARIOS = str(REPOSITORY / "cudapy" / "_core"), str(Path(scenarios.__file__).parent)
SPECIAL = (
    "__array_interface__",
    "__cuda_array_interface__",
    "__cuda_stream__",
    "__dlpack__",
    "__dlpack_device__",
    "__enter__",
    "__exit__",
    "__getitem__",
    "__sub__",
)


def public(*modules: Any) -> Iterator[tuple[str, types.CodeType]]:
    """The name and the code of each function in `__all__`, and of what each class there has.

    Classes whose objects are exceptions are left out, and what a class has from the layers below core.
    """
    for module in modules:
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                yield name, thing.__code__
            elif isinstance(thing, type) and not issubclass(thing, BaseException):
                yield from ((f"{name}.{method}", code) for method, code in methods(thing))


def methods(cls: type) -> Iterator[tuple[str, types.CodeType]]:
    """The names and the code of the public methods that a class has, setters of properties as `name=`."""
    for name in dir(cls):
        if name[0] == "_" and name not in SPECIAL:
            continue
        found = inspect.getattr_static(cls, name)
        parts: dict[str, Any] = {name: found}
        if isinstance(found, property):
            parts = {name: found.fget, f"{name}=": found.fset}
        for label, function in parts.items():
            function = getattr(function, "__func__", getattr(function, "func", function))
            if inspect.isfunction(function) and "._core." in function.__module__:
                yield label, function.__code__


def caller(frame: types.FrameType) -> str:
    """The file of what called a function of core: past what is neither core's nor a scenario's."""
    back = frame.f_back
    while back is not None and not back.f_code.co_filename.startswith((CORE, SCENARIOS)):
        back = back.f_back
    return "" if back is None else back.f_code.co_filename


@contextmanager
def watched() -> Iterator[set[types.CodeType]]:
    """The code of all functions of core that the scenarios call in here, themselves and in this thread."""
    called: set[types.CodeType] = set()

    def note(frame: types.FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        new = event == "call" and code not in called and code.co_filename.startswith(CORE)
        if new and caller(frame).startswith(SCENARIOS):
            called.add(code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(before)
