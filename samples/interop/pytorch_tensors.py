"""PyTorch: a kernel of one's own in the middle of a network.

    python samples/interop/pytorch_tensors.py

A torch.autograd.Function whose two directions are kernels written here. They run in PyTorch's current
stream on its tensors, so the rest of the program does not notice.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, Stream, launch

KERNEL = """
// swish(x) = x / (1 + exp(-x)) and its derivative
extern "C" __global__ void forward(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] / (1 + expf(-x[i]));
}

extern "C" __global__ void backward(const float *x, const float *grad, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = 1 / (1 + expf(-x[i]));
    out[i] = grad[i] * (s + x[i] * s * (1 - s));
}
"""
N, THREADS = 1 << 18, 256


def main() -> int:
    if not find_spec("torch"):
        print("WAIVED: needs PyTorch")
        return 77
    if simulator.stand_in():
        print("WAIVED: PyTorch needs a GPU")
        return 77
    torch: Any = import_module("torch")
    if not torch.cuda.is_available():
        print("WAIVED: PyTorch finds no GPU")
        return 77
    device = Device()
    device.set_current()
    code = Program(KERNEL, "c++").compile("cubin")
    kernels = {name: code.get_kernel(name) for name in ("forward", "backward")}
    config = LaunchConfig(grid=(N + THREADS - 1) // THREADS, block=THREADS)

    def run(name: str, *tensors: Any) -> Any:
        result = torch.empty_like(tensors[0])
        stream = Stream.from_handle(torch.cuda.current_stream().cuda_stream)
        inputs = [tensor.detach() for tensor in tensors]  # the memory alone; PyTorch's graph is its business
        launch(stream, config, kernels[name], *inputs, result, N)
        return result

    class Swish(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            context.save_for_backward(x)
            return run("forward", x)

        @staticmethod
        def backward(context: Any, grad: Any) -> Any:
            (x,) = context.saved_tensors
            return run("backward", x, grad.contiguous())

    x = torch.randn(N, device="cuda", requires_grad=True)
    weight = torch.randn(N, device="cuda")
    (Swish.apply(x) * weight).sum().backward()
    ours = x.grad.clone()
    x.grad = None
    (torch.nn.functional.silu(x) * weight).sum().backward()

    right = bool(torch.allclose(ours, x.grad, rtol=1e-5, atol=1e-5))
    print(f"the gradient of {N} numbers, largest difference to PyTorch's {(ours - x.grad).abs().max():.1e}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
