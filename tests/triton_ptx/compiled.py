"""A kernel of Triton, compiled to PTX without a driver, and launched by cudapy."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton
from triton.backends.compiler import GPUTarget

from cudapy.core import Device, LaunchConfig, ObjectCode, launch

TYPES = {
    "float32": "fp32", "float64": "fp64", "float16": "fp16", "int32": "i32", "int64": "i64", "int8": "i8",
    "uint8": "u8", "uint16": "bf16", "uint32": "u32",
}  # fmt: skip
"""Triton's names; NumPy has no bfloat16, whose bits are given."""


def run(
    function: Any,
    grid: int | tuple[int, ...],
    *arguments: Any,
    arch: int = 90,
    num_warps: int = 4,
    types: dict[str, str] | None = None,
    **constants: Any,
) -> None:
    """Launch and wait. An array is copied to the device before, and back after it. types: of parameters whose
    arrays NumPy has no type for.
    """
    signature = dict.fromkeys(constants, "constexpr")
    attributes = {}
    given = iter(arguments)
    for place, name in enumerate(function.arg_names):
        if name in constants:
            continue
        value = next(given)
        if isinstance(value, np.ndarray):
            signature[name] = "*" + (types or {}).get(name, TYPES[value.dtype.name])
        else:
            signature[name] = "fp32" if isinstance(value, float) else "i32"
        if isinstance(value, np.ndarray) or value % 16 == 0:
            attributes[(place,)] = [["tt.divisibility", 16]]
    source = triton.compiler.ASTSource(
        function, {name: signature[name] for name in function.arg_names}, constants, attributes
    )
    made = triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": num_warps})
    _launched(made, grid if isinstance(grid, tuple) else (grid,), arguments)


def _launched(made: Any, grid: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
    device = Device()
    device.set_current()
    stream = device.default_stream
    kernel = ObjectCode.from_ptx(made.asm["ptx"].encode()).get_kernel(made.metadata.name)
    if made.metadata.shared > 48 << 10:
        kernel.attributes.max_dynamic_shared_size_bytes = made.metadata.shared
    arrays = [one for one in arguments if isinstance(one, np.ndarray)]
    buffers = {id(one): device.allocate(one.nbytes, stream=stream) for one in arrays}
    for one in arrays:
        buffers[id(one)].copy_from(one, stream=stream)
    values = [buffers.get(id(one), one) for one in arguments]
    values += [0] * (kernel.num_arguments - len(values))  # the kernel's scratch memory: these need none
    config = LaunchConfig(grid=grid, block=32 * made.metadata.num_warps, shmem_size=made.metadata.shared)
    launch(stream, config, kernel, *values)
    for one in arrays:
        buffers[id(one)].copy_to(one, stream=stream)
    stream.sync()
    for buffer in buffers.values():
        buffer.close(stream)
