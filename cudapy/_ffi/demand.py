"""Names that are there when they are asked for: struct classes take as long to make as all the rest."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def on_demand(scope: dict[str, Any], *modules: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of the module with namespace `scope`.

    The first name that it lacks brings in all public names of `modules`, given relative to its package.
    """

    def load() -> None:
        from importlib import import_module

        for module in modules:
            found = vars(import_module(module, scope["__package__"]))
            scope.update({name: value for name, value in found.items() if not name.startswith("_")})

    def get(name: str) -> Any:
        load()
        try:
            return scope[name]
        except KeyError:
            raise AttributeError(f"module {scope['__name__']!r} has no attribute {name!r}") from None

    def directory() -> list[str]:
        load()
        return sorted(scope)

    return get, directory


def find(scope: dict[str, Any], name: str) -> Any:
    """What the module with namespace `scope` calls `name`, brought in if need be. Raises AttributeError."""
    return scope[name] if name in scope else scope["__getattr__"](name)
