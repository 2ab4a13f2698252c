"""`python -m cudapy.simulator -m tests.clients.torch_operators`: PyTorch's operators on both devices.

Each operator of PyTorch's own database runs with its samples on `cuda` and on `cpu`, in three types, with
their gradients where there are some. It prints counts, and a line for each operator and type that is not
equal: what differs, or the error. Exit code 1 if something differs.

NAME ...  only operators whose names begin so
--samples N  of each operator and type (all)
--seconds N  stop after so many (never)
--start N    the first operator, by its place in the database (0)
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

RANDOM = {
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal", "rand_like",
    "randint", "randint_like", "randn", "randn_like", "uniform",
    "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout", "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d", "nn.functional.rrelu", "pca_lowrank", "svd_lowrank",
}  # fmt: skip
"""Operators that draw random numbers, of which shapes and types are compared."""
UNDEFINED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
"""Operators whose results are not defined, of which shapes and types are compared."""

CPU_ALONE = {"sparse.mm.reduce", "tensor_split", "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu"}
"""Operators that refuse tensors of CUDA, or some, on a GPU as well."""


def tensors(value: Any) -> Iterator[Any]:
    """The tensors in a result."""
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors(each)


def moved(value: Any, device: str) -> Any:
    """An argument on another device, with a gradient of its own."""
    import torch

    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            return value.detach().to(device).requires_grad_(value.requires_grad)
        held = value.detach().untyped_storage()  # with what is around it, and elements that share memory
        memory = torch.empty(0, dtype=torch.uint8).set_(held, 0, (held.nbytes(),)).to(device, copy=True)
        there = torch.empty(0, dtype=value.dtype, device=device)
        there.set_(memory.untyped_storage(), value.storage_offset(), value.size(), value.stride())
        there = torch._conj(there) if value.is_conj() else there
        there = torch._neg_view(there) if value.is_neg() else there
        return there.requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        made = [moved(each, device) for each in value]
        return made if isinstance(value, list) else tuple(made)
    if isinstance(value, dict):
        return {name: moved(each, device) for name, each in value.items()}
    if isinstance(value, torch.device) or value in ("cpu", "cuda"):
        return torch.device(device)
    return value


def results(op: Any, sample: Any, device: str) -> tuple[list[Any], list[Any]]:
    """What the operator returns on a device, and the gradients of what it got."""
    import torch

    arguments = [moved(sample.input, device), *(moved(each, device) for each in sample.args)]
    keywords = moved(sample.kwargs, device)
    torch.manual_seed(0)
    out = [*tensors(op(*arguments, **keywords))]
    leaves = [leaf for leaf in tensors([*arguments, *keywords.values()]) if leaf.requires_grad]
    ends = [end for end in out if end.requires_grad and end.numel()]
    gradients: list[Any] = []
    if leaves and ends:
        gradients = [
            *torch.autograd.grad(ends, leaves, [torch.ones_like(end) for end in ends], allow_unused=True)
        ]
    return out, gradients


def difference(one: list[Any], other: list[Any], is_defined: bool) -> str:
    """What is not equal; "" if nothing is."""
    import torch

    if len(one) != len(other):
        return f"{len(one)} results, not {len(other)}"
    for first, second in zip(one, other, strict=True):
        if (first is None) != (second is None):
            return "one has no gradient"
        if first is None:
            continue
        if (first.shape, first.dtype, first.layout) != (second.shape, second.dtype, second.layout):
            return f"{first.dtype} {tuple(first.shape)}, not {second.dtype} {tuple(second.shape)}"
        if is_defined:
            try:
                torch.testing.assert_close(first.cpu(), second, equal_nan=True)
            except AssertionError as error:
                return str(error).partition("\n")[0]
    return ""


def draws(op: Any, sample: Any) -> bool:
    """Whether it is attention with dropout, whose probability is the one number below 1 that it takes."""
    numbers = [each for each in (*sample.args, *sample.kwargs.values()) if isinstance(each, float)]
    return "attention" in op.name and any(0 < each < 1 for each in numbers)


def compare(op: Any, dtype: Any, count: int | None) -> tuple[str, str]:
    """What became of an operator in a type: "equal", "different", "refused" or "not on the CPU", and why."""
    import torch

    is_differentiable = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    try:
        samples = [*islice(op.sample_inputs("cpu", dtype, requires_grad=is_differentiable), count)]
    except Exception as error:
        return "not on the CPU", f"its samples: {error!r}"
    for sample in samples:
        try:
            expected = results(op, sample, "cpu")
        except Exception:
            continue  # neither has to run elsewhere
        try:
            found = results(op, sample, "cuda")
        except Exception as error:
            return "refused", f"{type(error).__name__}: {error}".partition("\n")[0][:200]
        is_defined = op.name not in RANDOM | UNDEFINED and not draws(op, sample)
        for what, one, other in zip(("", "gradient: "), found, expected, strict=True):
            why = difference(one, other, is_defined)
            if why:
                return "different", what + why
    torch.cuda.synchronize()
    return "equal", ""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.clients.torch_operators")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--samples", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--start", type=int, default=0)
    options = parser.parse_args(arguments)
    from torch.testing._internal.common_methods_invocations import op_db

    warnings.filterwarnings("ignore")
    counts: Counter[str] = Counter()
    began = time.monotonic()
    for place, op in enumerate(op_db):
        if (
            op.name in CPU_ALONE
            or place < options.start
            or (options.names and not op.name.startswith(tuple(options.names)))
        ):
            continue
        if time.monotonic() - began > options.seconds:
            print(f"stopped before {place}, {op.name}")
            break
        for dtype in sorted(op.supported_dtypes("cuda") & op.supported_dtypes("cpu"), key=order)[:3]:
            outcome, why = compare(op, dtype, options.samples)
            counts[outcome] += 1
            if why:
                name = f"{op.name}.{op.variant_test_name}".rstrip(".")
                print(f"{outcome}: {name} in {str(dtype).partition('.')[2]}: {why}", flush=True)
    print(", ".join(f"{outcome}: {count}" for outcome, count in counts.most_common()))
    return int(bool(counts["different"]))


def order(dtype: Any) -> tuple[int, str]:
    """float32 first, then half and what else there is."""
    names = ["torch.float32", "torch.float16", "torch.complex64", "torch.bfloat16", "torch.int64"]
    return names.index(str(dtype)) if str(dtype) in names else len(names), str(dtype)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
