"""How other packages launch the empty kernel and SAXPY: each in its own way, on arrays of its own.

Each function makes a contender, and raises what is to be said of a package that is absent.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from turns.rounds import Contender, Loop

from .gpu import ELEMENTS, Gpu


def with_cupy(gpu: Gpu, kernel: str) -> Contender:
    """CuPy: a raw kernel."""
    cupy: Any = import_module("cupy")
    arguments: tuple[Any, ...] = ()
    if kernel == "saxpy":
        x, y, out = (cupy.zeros(ELEMENTS, cupy.float32) for _ in range(3))
        arguments = (cupy.float32(2), x, y, out, cupy.uint64(ELEMENTS))
    module = cupy.RawModule(path=str(gpu.cubin_file))
    scope = {"kernel": module.get_function(kernel), "arguments": arguments}
    loop = Loop("kernel((1,), (32,), arguments)", scope, drain=gpu.drain)
    return _within(cupy.cuda.ExternalStream(int(gpu.stream)), loop)


def with_numba(gpu: Gpu, kernel: str) -> Contender:
    """Numba: a kernel written in Python, configured once."""
    vars(np).setdefault("row_stack", np.vstack)  # numba-cuda needs this old name, NumPy 2.5 has dropped it
    cuda: Any = import_module("numba.cuda")

    def empty() -> None:
        pass

    def saxpy(a: Any, x: Any, y: Any, out: Any, n: Any) -> None:
        i = cuda.grid(1)
        if i < n:
            out[i] = a * x[i] + y[i]

    arguments: dict[str, Any] = {}
    if kernel == "saxpy":
        arguments = {"a": np.float32(2), "n": ELEMENTS}
        arguments |= {name: cuda.device_array(ELEMENTS, np.float32) for name in ("x", "y", "out")}
    compiled = cuda.jit(saxpy if kernel == "saxpy" else empty)
    scope = {"run": compiled[1, 32, cuda.external_stream(int(gpu.stream))], **arguments}
    call = "run(a, x, y, out, n)" if arguments else "run()"
    return Loop(call, scope, drain=gpu.drain)


def with_pycuda(gpu: Gpu, kernel: str) -> Contender:
    """PyCUDA: a function prepared once."""
    cuda: Any = import_module("pycuda.driver")
    cuda.init()
    context = cuda.Device(0).retain_primary_context()
    context.push()
    try:
        function = cuda.module_from_buffer(gpu.cubin).get_function(kernel)
        function.prepare("fPPPQ" if kernel == "saxpy" else "")
        stream = cuda.Stream()
        values: tuple[Any, ...] = ()
        if kernel == "saxpy":
            values = (2.0, *(int(cuda.mem_alloc(4 * ELEMENTS)) for _ in range(3)), ELEMENTS)
        scope = {"call": function.prepared_async_call, "grid": (1, 1), "block": (32, 1, 1), "stream": stream}
        scope |= {f"a{i}": value for i, value in enumerate(values)}
        names = ", ".join(["grid", "block", "stream", *(f"a{i}" for i in range(len(values)))])
        return Loop(f"call({names})", scope, drain=stream.synchronize)
    finally:
        context.pop()


def with_triton(gpu: Gpu, kernel: str) -> Contender:
    """Triton: a kernel of its own, launched through its compiler's cache, on PyTorch's tensors."""
    torch: Any = import_module("torch")
    from . import triton_kernels

    scope: dict[str, Any] = {"run": triton_kernels.empty[1,]}
    call = "run()"
    if kernel == "saxpy":
        scope = {"run": triton_kernels.saxpy[1,], "n": ELEMENTS}
        scope |= {name: torch.zeros(ELEMENTS, device="cuda") for name in ("x", "y", "out")}
        call = "run(2.0, x, y, out, n, BLOCK=32)"
    stream = torch.cuda.ExternalStream(int(gpu.stream))
    with torch.cuda.stream(stream):
        loop = Loop(call, scope, drain=gpu.drain)
    return _within(torch.cuda.stream(stream), loop)


def _within(stream: Any, loop: Loop) -> Contender:
    """`loop` with `stream` as the package's current one."""

    def contender() -> float:
        with stream:
            return loop()

    return contender


LAUNCHES: dict[str, Callable[[Gpu, str], Contender]] = {
    "CuPy": with_cupy,
    "Numba": with_numba,
    "PyCUDA": with_pycuda,
    "Triton": with_triton,
}
"""What makes the contender of each."""
