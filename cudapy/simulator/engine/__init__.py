"""The engine of the simulator: PTX in, results out. It knows no CUDA API, and imports nothing but NumPy and
the standard library. `face` has its public names: the simulated driver uses nothing else but `assembler`,
which needs no NumPy. README.md shows it alone.

module.py     PTX, loaded                        grids.py      kernels, run to their end
device.py     what kernels see of their device   memory.py     the table of allocations
fault.py      why a kernel was stopped           addresses.py  where the state spaces lie
settings.py   checks, seed, coverage             coverage.py   which lines and branches ran
texture.py    textures and surfaces              tensor_map.py   what bulk copies are told of tensors
kernel.py     a kernel and what it calls, laid out
schedule.py   which warp runs next               undefined_bits.py  of memory, where nobody wrote it
back_ends.py  what runs parts of functions in the place of NumPy

Inside: `ptx/` reads PTX, `instructions/` says what each instruction does, `arithmetic/` computes it exactly,
`compile/` makes Python functions out of PTX, `run/` runs them, `jit/` is a back end: machine code, written by
`assembler/`.
`tests/test_layers.py` has the order in which they import each other.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .face import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A module, or a name of `face`, the first of which brings NumPy and all of the engine."""
    if find_spec(f"{__name__}.{name}") is not None:
        return import_module(f".{name}", __name__)
    return getattr(import_module(".face", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module(".face", __name__).__all__})
