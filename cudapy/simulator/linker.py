"""The linker in the driver: several units of PTX become one."""

from __future__ import annotations
