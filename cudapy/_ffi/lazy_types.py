"""Names that are there when they are asked for: a header's types take longer to make than its functions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def on_demand(
    scope: dict[str, Any], package: str, *modules: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of the module with namespace `scope`.

    A name that it lacks brings in the public names of the `modules` of `package`, which is relative to its
    own: of one after the other, until the name is among them; of all for `dir()` and `from module import *`.
    """
    missing = set(modules)

    def load(module: str) -> None:
        name = package.lstrip(".")
        types = __import__(f"{name}.{module}", scope, None, ("*",), len(package) - len(name))
        scope.update({k: v for k, v in vars(types).items() if not k.startswith("_")})
        missing.discard(module)

    def get(name: str) -> Any:
        if not name.startswith("__") or name == "__all__":  # imports ask for __path__ and the like
            for module in modules:
                if module in missing:
                    load(module)
                if name in scope:
                    return scope[name]
        raise AttributeError(f"module {scope['__name__']!r} has no attribute {name!r}")

    def directory() -> list[str]:
        for module in modules:
            load(module)
        return sorted(scope)

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
        from .dtypes import dtype
        from .face_structs import Face

        wanted = letters(name.removesuffix("_dtype"))
        for other in directory():
            cls = scope[other]
            if isinstance(cls, type) and issubclass(cls, Face) and letters(other) == wanted:
                scope[name] = made = dtype(cls)
                return made
        return get(name)

    return get_or_dtype, directory


def find(scope: dict[str, Any], name: str) -> Any:
    """What the module with namespace `scope` calls `name`, brought in if need be. Raises AttributeError."""
    return scope[name] if name in scope else scope["__getattr__"](name)
