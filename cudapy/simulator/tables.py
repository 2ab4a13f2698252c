"""The simulated libraries of this process, by name: "driver", "runtime", and those that were called."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .library import Table

tables: dict[str, Table] = {}
