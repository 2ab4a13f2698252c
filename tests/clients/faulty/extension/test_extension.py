"""A PyTorch extension in C++ and CUDA: an operator that is right, by opcheck too, and two with a mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils import cpp_extension

FOLDER = Path(__file__).parent


@pytest.fixture(scope="session", autouse=True)
def extension() -> None:
    """Compile it, once. TORCH_EXTENSIONS_DIR says where to."""
    sources = [str(FOLDER / name) for name in ("operators.cpp", "kernels.cu")]
    flags = ["-lineinfo"]
    cpp_extension.load(
        "example", sources, extra_cuda_cflags=flags, extra_cflags=["-O0"], is_python_module=False
    )
    torch.library.register_fake("example::scale", lambda x, factor: torch.empty_like(x))
    torch.library.register_autograd("example::scale", backward, setup_context=keep)


def keep(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.factor = inputs[1]


def backward(ctx: Any, grad: Any) -> Any:
    return torch.ops.example.scale(grad, ctx.factor), None


@pytest.mark.parametrize("size", [5, 256, 1000])
def test_scale(size: int) -> None:
    x = torch.randn(size, device="cuda", requires_grad=True)
    torch.testing.assert_close(torch.ops.example.scale(x, 3.0), 3 * x)
    checked = torch.library.opcheck(torch.ops.example.scale.default, (x, 3.0))
    assert {*checked.values()} == {"SUCCESS"}


def test_total_with_race() -> None:
    x = torch.arange(256.0, device="cuda")
    torch.ops.example.total_with_race(x)
    torch.cuda.synchronize()


def test_scale_past_the_end() -> None:
    x = torch.arange(1000.0, device="cuda")
    torch.testing.assert_close(torch.ops.example.scale_past_the_end(x, 2.0), 2 * x)
