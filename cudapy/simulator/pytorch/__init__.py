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

from typing import Any


def attach(torch: Any) -> None:
    """Register the operators in `torch`, which has just been imported and has CUDA; else do nothing."""
    if torch.backends.cuda.is_built():
        from .operators import register

        register()
