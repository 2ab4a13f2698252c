"""PyTorch's own operators on the simulated device.

The wheels of PyTorch contain no PTX, so its CUDA kernels cannot run here. But its operators have kernels for
the CPU as well, and a simulated device pointer is a host address: the operators of the dispatch key CUDA are
registered again as the CPU's kernels on the same memory. Kernels that people write (CUDA C++ extensions,
Triton, `torch.cuda._compile_kernel`) run as PTX on the simulator, with its checks.

The modules import torch, so nothing but `attach`, which is called when a program has imported torch, imports
them: `operators` registers, `tensors` has the two views of memory, `order` the streams and captures,
`random_numbers` the generators, `formulas` what the CPU has no kernel for.
"""

from __future__ import annotations

import os
from typing import Any

ALLOCATORS = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING")
"""The variables that choose PyTorch's allocator when it is loaded."""


def choose_allocator() -> None:
    """Have each tensor be an allocation of its own, so that accesses past its end are found.

    PyTorch's caching allocator cuts tensors out of 2 MiB and more. What the user has chosen stays.
    """
    if not any(os.environ.get(name) for name in ALLOCATORS):
        os.environ[ALLOCATORS[0]] = "backend:cudaMallocAsync"


def attach(torch: Any) -> None:
    """Register the operators in `torch`, which has just been imported and has CUDA; else do nothing."""
    if torch.backends.cuda.is_built():
        from .operators import register

        register()
