"""Programs that use core, small and each on its own: every public method is called in one of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from ..world import World

Scenario = Callable[[World], None]

FILES = (
    "arrays",
    "compilers",
    "devices",
    "graph_builders",
    "graph_definitions",
    "graph_nodes",
    "kernels",
    "memory",
    "pools",
    "sharing",
    "textures",
)

SCENARIOS: dict[str, Scenario] = {
    f"{file}.{name}": value
    for file in FILES
    for name, value in vars(import_module(f".{file}", __name__)).items()
    if callable(value) and getattr(value, "__module__", "") == f"{__name__}.{file}" and name[0] != "_"
}
"""By file and name."""
