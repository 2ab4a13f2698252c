"""The engine of the simulator: PTX in, results out. It knows no CUDA API, and imports nothing but NumPy and
the standard library. `__all__` is its face: the simulated driver uses nothing else. README.md shows it alone.

module.py     PTX, loaded                        grids.py      kernels, run to their end
device.py     what kernels see of their device   memory.py     the table of allocations
fault.py      why a kernel was stopped           counters.py   what a launch did, counted
settings.py   checks, seed, coverage             coverage.py   which lines and branches ran
texture.py    textures and surfaces              tensor_map.py   what bulk copies are told of tensors
kernel.py     a kernel and what it calls, laid out
back_ends.py  what runs parts of functions in the place of NumPy

Inside: `ptx/` reads PTX, `instructions/` says what each instruction does, `arithmetic/` computes it exactly,
`compile/` makes Python functions out of PTX, `run/` runs them, `jit/` is a back end: machine code.
`tests/test_layers.py` has the order in which they import each other.
"""

from __future__ import annotations

import numpy

if int(numpy.__version__.partition(".")[0]) < 2:
    raise ImportError(f"the simulator needs NumPy 2 or newer, this is {numpy.__version__}")

from . import back_ends, coverage, fault, settings
from .aliases import U8, Array
from .counters import Counters
from .coverage import Counts
from .device import Answers, Device
from .fault import Fault, Place, Report
from .grids import launch
from .jit.back_end import AVX2
from .memory import LAZY, POISON, Member, Memory
from .module import Function, Module, PTXError
from .run.device_runtime import DEVICE_RUNTIME
from .tensor_map import TensorMap
from .texture import Surface, Texture

__all__ = [
    "DEVICE_RUNTIME",
    "LAZY",
    "POISON",
    "U8",
    "Answers",
    "Array",
    "Counters",
    "Counts",
    "Device",
    "Fault",
    "Function",
    "Member",
    "Memory",
    "Module",
    "PTXError",
    "Place",
    "Report",
    "Surface",
    "TensorMap",
    "Texture",
    "back_ends",
    "coverage",
    "fault",
    "launch",
    "settings",
]

back_ends.register(AVX2())
