"""The families of kernels: every module of this package that adds some."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from .kernel import KERNELS, Kernel

_SHARED = ("__init__", "__main__", "families", "kernel", "values", "test_kernels")

for _file in sorted(Path(__file__).parent.glob("*.py")):
    if _file.stem not in _SHARED:
        importlib.import_module(f"{__package__}.{_file.stem}")


def chosen(names: Sequence[str] = ()) -> list[Kernel]:
    """Kernels by their names or those of their families; all without any. KeyError for what is neither."""
    families = {one.family for one in KERNELS.values()}
    for name in names:
        if name not in KERNELS and name not in families:
            raise KeyError(f"there is no kernel or family {name}")
    return [one for one in KERNELS.values() if not names or one.name in names or one.family in names]
