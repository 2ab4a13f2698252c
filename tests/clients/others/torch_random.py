"""Random numbers of CUDA generators: a line for each case, with the generator's offset afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

SIZES = (5, 1000, 300_000)
"""Less than a block of threads, several blocks, and more than the threads of the largest GPU."""


def _filled(fill: Callable[[Any], object], size: int, dtype: Any = torch.float32) -> Any:
    values = torch.empty(size, device="cuda", dtype=dtype)
    fill(values)
    return values


CASES: dict[str, Callable[[int], Any]] = {
    "rand": lambda size: torch.rand(size, device="cuda"),
    "rand double": lambda size: torch.rand(size, device="cuda", dtype=torch.float64),
    "rand half": lambda size: torch.rand(size, device="cuda", dtype=torch.float16),
    "rand bfloat16": lambda size: torch.rand(size, device="cuda", dtype=torch.bfloat16),
    "uniform -2 to 3": lambda size: _filled(lambda x: x.uniform_(-2, 3), size),
    "randn": lambda size: torch.randn(size, device="cuda"),
    "randn double": lambda size: torch.randn(size, device="cuda", dtype=torch.float64),
    "randn half": lambda size: torch.randn(size, device="cuda", dtype=torch.float16),
    "normal 1, 2": lambda size: torch.normal(1.0, 2.0, (size,), device="cuda"),
    "randn complex": lambda size: torch.randn(size, device="cuda", dtype=torch.complex64),
    "randint": lambda size: torch.randint(-3, 1000, (size,), device="cuda"),
    "randint wide": lambda size: torch.randint(0, 1 << 40, (size,), device="cuda"),
    "randint int32": lambda size: torch.randint(100, (size,), device="cuda", dtype=torch.int32),
    "random int64": lambda size: _filled(lambda x: x.random_(), size, torch.int64),
    "random int32": lambda size: _filled(lambda x: x.random_(), size, torch.int32),
    "random uint8": lambda size: _filled(lambda x: x.random_(), size, torch.uint8),
    "random float": lambda size: _filled(lambda x: x.random_(), size),
    "bernoulli": lambda size: _filled(lambda x: x.bernoulli_(0.3), size),
    "bernoulli tensor": lambda size: torch.bernoulli(torch.full((size,), 0.3, device="cuda")),
    "exponential": lambda size: _filled(lambda x: x.exponential_(2.0), size),
    "cauchy": lambda size: _filled(lambda x: x.cauchy_(1.0, 2.0), size),
    "log_normal": lambda size: _filled(lambda x: x.log_normal_(0.5, 0.25), size),
    "geometric": lambda size: _filled(lambda x: x.geometric_(0.2), size),
    "dropout": lambda size: functional.dropout(torch.ones(size, device="cuda"), 0.3),
    "dropout half": lambda size: functional.dropout(torch.ones(size, device="cuda").half(), 0.3),
    "dropout double": lambda size: functional.dropout(torch.ones(size, device="cuda").double(), 0.3),
    "randperm": lambda size: torch.randperm(size, device="cuda"),
    "multinomial": lambda size: torch.multinomial(torch.ones(64, device="cuda"), min(size, 32)),
    "rrelu": lambda size: functional.rrelu(-torch.ones(size, device="cuda"), training=True),
}


def shown(values: Any) -> str:
    """A few of the numbers, from all over."""
    values = torch.view_as_real(values) if values.is_complex() else values
    flat = values.flatten().cpu()
    places = (0, 1, 2, 3, 4, 257, -1) if len(flat) < 2000 else (0, 1025, 270_335, 270_337, -1)
    return " ".join(f"{flat[place].item():.7g}" for place in places if -len(flat) <= place < len(flat))


def main() -> None:
    torch.cuda.init()
    generator = torch.cuda.default_generators[0]
    for name, case in CASES.items():
        for size in SIZES:
            torch.manual_seed(1234)
            print(f"{name} {size}: {shown(case(size))}; {generator.get_offset()}")


if __name__ == "__main__":
    main()
