"""The engine of the simulator: PTX in, results out. It knows no CUDA API; the simulated driver stands on it.

memory.py    the table of allocations             device.py      what kernels see of their device
module.py    PTX, loaded                          texture.py     textures and surfaces
launch.py    a kernel, run to its end             settings.py    checks, seed, coverage
fault.py     why a kernel was stopped             coverage.py    which lines and branches ran
kernel.py    a kernel and what it calls, laid out   tensor_map.py  what bulk copies are told of tensors
back_ends.py  what runs parts of functions in the place of NumPy

Inside: `ptx/` reads PTX, `instructions/` says what each instruction does, `arithmetic/` computes it exactly,
`compile/` makes Python functions out of PTX, `run/` runs them, `jit/` is a back end: machine code.
`tests/test_layers.py` has the order in which they import each other.
"""

from __future__ import annotations

import numpy

if int(numpy.__version__.partition(".")[0]) < 2:
    raise ImportError(f"the simulator needs NumPy 2 or newer, this is {numpy.__version__}")

from .back_ends import register
from .jit.back_end import AVX2

register(AVX2())
