"""Names that are there when they are asked for: a header's types take longer to make than its functions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def on_demand(
    scope: dict[str, Any], package: str, *sources: str | Callable[[], dict[str, Any]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of the module with namespace `scope`.

    A name that it lacks brings in the public names of the `sources`: modules of `package`, which is relative
    to its own, or functions that return names. They are asked one after the other, until the name is among
    them; all for `dir()` and `from module import *`. A module that makes names on demand itself, with a
    `__getattr__`, is asked for the name; `dir()` makes none of these.
    """
    loaded: dict[Any, Any] = {}

    def load(source: str | Callable[[], dict[str, Any]]) -> Any:
        if source in loaded:
            return loaded[source]
        types = None
        if not isinstance(source, str):
            scope.update(source())
        else:
            name = package.lstrip(".")
            types = __import__(f"{name}.{source}", scope, None, ("*",), len(package) - len(name))
            scope.update({k: v for k, v in vars(types).items() if not k.startswith("_")})
        loaded[source] = types
        return types

    def get(name: str) -> Any:
        if name == "__all__":
            for each in directory():
                find(scope, each)
        elif not name.startswith("__"):  # imports ask for __path__ and the like
            for source in sources:
                types = load(source)
                if name in scope:
                    return scope[name]
                make = getattr(types, "__getattr__", None)
                if make is None:
                    continue
                try:
                    scope[name] = made = make(name)
                except AttributeError as error:
                    if error.name != name:  # a mistake in what makes it
                        raise
                else:
                    return made
        raise AttributeError(f"module {scope['__name__']!r} has no attribute {name!r}")

    def directory() -> list[str]:
        types = [*filter(None, map(load, sources))]
        return sorted({*scope, *(name for each in types for name in dir(each) if name[0] != "_")})

    return get, directory


def with_dtypes(
    scope: dict[str, Any], get: Callable[[str], Any], directory: Callable[[], list[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What `on_demand` returns, and NumPy's type of each struct of a face: `memory_dtype` of Memory."""

    def letters(name: str) -> str:
        """What `ba_r1memory` and `BAR1Memory` share."""
        return name.replace("_", "").lower()

    def get_or_dtype(name: str) -> Any:
        if not name.endswith("_dtype"):
            return get(name)
        from .face_structs import Face, dtype

        wanted = letters(name.removesuffix("_dtype"))
        for other in directory():
            cls = find(scope, other) if letters(other) == wanted else None
            if isinstance(cls, type) and issubclass(cls, Face):
                scope[name] = made = dtype(cls)
                return made
        return get(name)

    return get_or_dtype, directory


def find(scope: dict[str, Any], name: str) -> Any:
    """What the module with namespace `scope` calls `name`, brought in if need be. Raises AttributeError."""
    return scope[name] if name in scope else scope["__getattr__"](name)
