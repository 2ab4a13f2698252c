"""How the enums and structs of the raising face follow from those of nvml.h.

`Memory` is `nvmlMemory_t` with its fields in snake_case; a text is a str there, a handle an int, and a struct
or enum its twin. `ClockType.SM` and `ClockType.CLOCK_SM` are `nvmlClockType_t.NVML_CLOCK_SM`. What follows no
rule is in irregular.py. A class is made when it is asked for: few programs need more than some of them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from os.path import commonprefix

from ..._ffi.enums import Enum
from . import enums, handles, irregular
from . import names as classes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SCOPE = vars(classes)
"""Where the classes are once they are made."""
NO_FIELD_NAMES = ("str", "text", "union")
"""What the third part of an `Annotated` says beside the field that counts the items."""


def snake_case(name: str) -> str:
    """`nvmlReturn` and `busID` as `nvml_return` and `bus_id`."""
    if name.islower():
        return name
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()


def get(name: str) -> Any:
    """The class called `name`, made if need be. Raises AttributeError."""
    make = None
    if name in irregular.GROUPS:
        make = group
    elif f"nvml{name}_t" in _first_names(enums):
        make = enum
    elif name not in irregular.ABSENT and f"nvml{name}_t" in _structs():
        make = struct
    if make is None:
        raise AttributeError(f"module {SCOPE['__name__']!r} has no attribute {name!r}", name=name)
    if name not in SCOPE:
        SCOPE.setdefault(name, make(name))  # one class, whichever thread comes first
    return SCOPE[name]


def _structs() -> dict[str, Any]:
    """The structs and unions of C."""
    from . import structs

    return _first_names(structs)


@functools.cache
def _first_names(module: Any) -> dict[str, Any]:
    """The classes of a module by their names, without the second ones that some have."""
    return {
        name: cls
        for name, cls in vars(module).items()
        if getattr(cls, "__module__", "") == module.__name__ and cls.__name__ == name
    }


def every_name() -> list[str]:
    """The names of all classes, in the order of nvml.h."""
    of_c = [name[4:-2] for scope in (_first_names(enums), _structs()) for name in scope]
    return [*irregular.GROUPS, *(name for name in of_c if name not in irregular.ABSENT)]


def group(name: str) -> Any:
    """The enum of the macros that have a prefix in common."""
    from . import constants

    prefix, documentation = irregular.GROUPS[name]
    values = {
        macro.removeprefix(prefix): int(value)
        for macro, value in vars(constants).items()
        if prefix and macro.startswith(prefix)
    }
    return _enum(name, documentation, values)


def enum(name: str) -> Any:
    """The twin of an enum: its members without their prefix, some under two names."""
    cls = getattr(enums, f"nvml{name}_t")
    shared, _, _ = commonprefix([*cls._values]).rpartition("_")  # noqa: RUF071 - of names, not of paths
    twice = [("NVML_", "")] if name in irregular.TWICE else []
    prefixes = irregular.PREFIXES.get(name, [(f"{shared}_", ""), *twice])
    values = {
        other + member.removeprefix(prefix): value
        for member, value in cls._values.items()
        for prefix, other in prefixes
        if member.startswith(prefix)
    }
    return _enum(name, cls.__doc__, values)


def _enum(name: str, documentation: str | None, values: dict[str, int]) -> Any:
    for member in irregular.LACKING.get(name, ()):
        del values[member]
    values.update(irregular.VALUES.get(name, {}))
    make: Any = type(Enum)
    return make(name, (Enum,), {**_body(name, documentation), **values})


def struct(name: str) -> Any:
    """The twin of a struct or union."""
    from ..._ffi import face_structs, structs

    cls = _structs()[f"nvml{name}_t"]
    base: Any = face_structs.FaceStruct
    if issubclass(cls, structs.Union):
        base = face_structs.FaceUnion
    elif name in irregular.ARRAYS:
        base = face_structs.ArrayStruct
    return _struct(name, base, cls, irregular.FIELDS.get(name, {}))


def _struct(name: str, base: Any, cls: Any, fields: Mapping[str, str]) -> Any:
    def field(c_name: str) -> str:
        return fields.get(c_name) or snake_case(c_name)

    from ..._ffi.structs import Aggregate, Struct, Union

    body = _body(name, cls.__doc__)
    inner = [c for c in vars(cls).values() if isinstance(c, type) and issubclass(c, Aggregate)]
    for c in inner:
        nested = snake_case(c.__name__)
        body[nested] = _struct(f"{name}.{nested}", Union if issubclass(c, Union) else Struct, c, {})
    names = [c.__name__ for c in inner]
    body["__annotations__"] = {
        field(c_name): snake_case(text) if text in names else _annotation(text, field)
        for c_name, text in cls.__annotations__.items()
    }
    sized = cls._version_ >> 24
    version = {"version": sized or cls._version_, "sized": bool(sized)} if cls._version_ else {}
    return type(base)(name.rpartition(".")[2], (base,), body, align=cls._alignment_, **version)


def _annotation(text: str, field: Any) -> str:
    """What the twin's annotation says for `Annotated[list[nvmlRailMetrics_t], 'nvmlRailMetrics_t[2]']`."""
    if not text.startswith(("Annotated", "nvml")):
        return text
    text = re.sub(r"Annotated\[Bytes, (.*), 'text'\]", r"Annotated[str, \1, 'str']", text)
    text = re.sub(r"\bnvml\w+_t\b", lambda found: _twin(found[0]), text)
    count = re.search(r", '(\w+)'\]$", text)
    if count and count[1] not in NO_FIELD_NAMES:
        text = f"{text[: count.start(1)]}{field(count[1])}']"
    return text


def _twin(c_name: str) -> str:
    """The name of a handle's, an enum's or a struct's twin, which the class that names it needs."""
    if c_name in vars(handles):
        return "void_p"
    return str(get(c_name[4:-2]).__name__)


def _body(name: str, documentation: str | None) -> dict[str, Any]:
    return {"__module__": SCOPE["__name__"], "__qualname__": name, "__doc__": documentation}


class Twins(Mapping[type, object]):
    """The enums and structs of nvml.h, each with its twin."""

    def __init__(self) -> None:
        self._found: dict[type, object] = {}

    def get(self, cls: type, default: object = None) -> object:
        """The twin of `cls`, or `default` if it has none."""
        if cls not in self._found:
            name = cls.__name__[4:-2]
            of_c = cls.__module__ in (enums.__name__, f"{__package__}.structs")
            self._found[cls] = get(name) if of_c and name not in irregular.ABSENT else None
        twin = self._found[cls]
        return default if twin is None else twin

    def __getitem__(self, cls: type) -> object:
        twin = self.get(cls)
        if twin is None:
            raise KeyError(cls)
        return twin

    def __iter__(self) -> Iterator[type]:
        of_c = {**_first_names(enums), **_structs()}
        return (of_c[f"nvml{name}_t"] for name in every_name() if name not in irregular.GROUPS)

    def __len__(self) -> int:
        return sum(1 for _ in self)


TWINS = Twins()
"""The class of nvml.h and the one that the raising face has for it."""
