"""Samples with a mistake in their kernels: each must see that its result is wrong.

`python -m tests.sample_mutants` runs all of them, on the GPU if there is one, and lists what they said; names
of samples as arguments run some.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from samples.__main__ import WAIVED, Sample, samples

MISTAKES = {
    "async_api": ("+= value", "-= value"),
    "binary_partition_cg": ("(number & 1) == 1", "(number & 2) == 2"),
    "black_scholes": ("0.5f * volatility", "0.4f * volatility"),
    "clock_nvrtc": ("shared[i + half] < shared[i]", "shared[i + half] > shared[i]"),
    "conjugate_gradient_multi_block_cg": ("product += values", "product -= values"),
    "convolution_separable": ("weights[RADIUS - i]", "weights[RADIUS + i]"),
    "cooperative_grid_sync": ("u[i - 1] + u[i + 1]", "u[i - 1] + u[i]"),
    "cuda_tensor_core_gemm": (
        "column * TILE, width);\n        wmma::mma",
        "row * TILE, width);\n        wmma::mma",
    ),
    "cupy_arrays": ("a * x[i] + y[i]", "a * x[i] - y[i]"),
    "distributed_nccl": ("= value;", "= value + 1;"),
    "dlpack": ("+= value", "-= value"),
    "fdtd3d": ("tile[ty - k][tx] +", "tile[ty - k][tx - k] +"),
    "global_to_shmem_async_copy": ("tile * TILE + x", "tile * TILE + y"),
    "graph_conditional_nodes": ("a / *x", "2 * a / *x"),
    "graph_memory_nodes": ("input[i] % 10007", "input[i] % 10009"),
    "green_contexts": ("x * 1664525", "x * 1664526"),
    "histogram": ("word >> 8", "word >> 9"),
    "hs_optical_flow": ("mean_u - ix[i] * off", "mean_u - iy[i] * off"),
    "inline_ptx": (", 0xE8;", ", 0xE0;"),
    "iso_fd_modelling": ("now[i + k * plane]", "now[i + k]"),
    "jacobi_cuda_graphs": ("(b[row] - sums[0])", "(b[row] + sums[0])"),
    "jit_lto": ("0.01f * x", "0.02f * x"),
    "jit_program": ("y = ys[i]", "y = xs[i]"),
    "launch_latency": ("atomicAdd(launches, 1)", "atomicAdd(launches, 2)"),
    "mandelbrot": ("2 * x * y + b;", "2 * x * y + a;"),
    "matrix_mul": ("b[i][threadIdx.x];", "b[threadIdx.x][i];"),
    "matrix_mul_ranks": ("left[y][i] * right", "left[i][y] * right"),
    "merge_sort": ("run *= 2, now", "run *= 4, now"),
    "monte_carlo_pi": ("mine, 1)", "mine, 2)"),
    "multi_gpu": ("sum += input[i]", "sum -= input[i]"),
    "n_body": ("me.x += speed.x", "me.x -= speed.x"),
    "numba_memory": ("x[i] *= x[i]", "x[i] += x[i]"),
    "numpy_arrays": ("p.energy /= 2", "p.energy /= 3"),
    "opengl_buffer": ("sinpif(2.0f", "sinpif(3.0f"),
    "ptx_jit": ("mul.lo.s32 %r5", "add.s32 %r5"),
    "pytorch_tensors": ("s + x[i] * s", "s - x[i] * s"),
    "reduction": ("__shfl_down_sync(~0u, value, offset)", "__shfl_down_sync(~0u, value, offset + 1)"),
    "saxpy": ("a * x[i] + y[i];", "a * x[i] - y[i];"),
    "saxpy_driver": ("a * x[i] + y[i];", "a * x[i] - y[i];"),
    "saxpy_ranks": ("a * x[i] + y[i];", "a * x[i] - y[i];"),
    "scalar_prod": ("vector * size + i] * b", "i] * b"),
    "scan": ("sums[blockIdx.x - 1]", "sums[blockIdx.x]"),
    "shfl_scan": ("threadIdx.x % 32 >= offset", "threadIdx.x % 32 > offset"),
    "simple_assert": ("+ threadIdx.x;", "+ threadIdx.x + 1;"),
    "simple_atomic_intrinsics": ("atomicMax(&numbers[3], thread)", "atomicMin(&numbers[3], thread)"),
    "simple_callback": ("*= factor", "+= factor"),
    "simple_cooperative_groups": ("room[rank + half]", "room[rank]"),
    "simple_cubemap_texture": ("make_float3(-u, -v, -1)", "make_float3(u, -v, -1)"),
    "simple_cuda_graphs": ("sum += input[i]", "sum -= input[i]"),
    "simple_ipc": ("data[i] += value", "data[i] -= value"),
    "simple_occupancy": ("array[i] *= array[i]", "array[i] += array[i]"),
    "simple_p2p": ("2 * input[i]", "3 * input[i]"),
    "simple_print": ("threadIdx.z * blockDim.x * blockDim.y", "threadIdx.z * blockDim.x"),
    "simple_streams": ("factor * x + value", "factor * x - value"),
    "simple_surface_write": ("height - 1 - y", "y"),
    "simple_templates": ("[blockDim.x - 1 - threadIdx.x]", "[threadIdx.x]"),
    "simple_texture": ("u * c - v * s", "u * c + v * s"),
    "simple_zero_copy": ("a[i] + b[i]", "a[i] - b[i]"),
    "sobel_filter": ("2 * at(1, 0)", "3 * at(1, 0)"),
    "sort_ranks": ("(i & run) == 0", "(i & run) != 0"),
    "stream_ordered_allocation": ("a[i] + b[i]", "a[i] - b[i]"),
    "stream_ordered_allocation_ipc": ("data[i] + offset", "data[i] - offset"),
    "stream_priorities": ("x * 1664525", "x * 1664527"),
    "system_wide_atomics": (
        "atomicXor_system(&numbers[9], thread)",
        "atomicXor_system(&numbers[9], thread + 1)",
    ),
    "thread_block_cluster": ("part[bin %", "part[(bin + 1) %"),
    "thread_fence_reduction": ("if (threadIdx.x < half)", "if (threadIdx.x + 1 < half)"),
    "tma_tensor_map": ("box[row * WIDTH +", "box[row +"),
    "train_ranks": ("(1 - value * value)", "(1 + value * value)"),
    "transpose": ("tile[threadIdx.x][threadIdx.y + i]", "tile[threadIdx.y + i][threadIdx.x]"),
    "unified_memory": ("matrix[row * size + i]", "matrix[i * size + row]"),
    "vector_add": ("a[i] + b[i]", "a[i] - b[i]"),
    "vector_add_drv": ("a[i] + b[i]", "a[i] - b[i]"),
    "vector_add_mmap": ("a[i] + b[i]", "a[i] - b[i]"),
    "wave_ranks": ("now[i + k * plane]", "now[i + k]"),
}
"""What is written in the kernel of a sample, once, and what is wrong instead."""


def with_kernels() -> list[Sample]:
    """The samples that have a kernel of their own."""
    texts = {sample: sample.path.read_text(encoding="utf-8") for sample in samples()}
    return [sample for sample, text in texts.items() if "__global__" in text or ".entry" in text]


def broken(sample: Sample, run: Callable[[Path], tuple[int, str]]) -> str:
    """Run it with its mistake: "seen" if it says that its result is wrong, "waived", or what it printed."""
    old, new = MISTAKES[sample.name]
    text = sample.path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{sample.name} has {old!r} {text.count(old)} times")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, sample.path.name)
        path.write_text(text.replace(old, new), encoding="utf-8")
        code, printed = run(path)
    if code == WAIVED:
        return "waived"
    return "seen" if code == 1 and "FAIL" in printed else f"exit code {code}\n{printed}"


def main() -> int:
    names = sys.argv[1:]
    which = [sample for sample in with_kernels() if not names or sample.name in names]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda sample: broken(sample, lambda path: Sample(path).run(False)), which))
    for sample, result in zip(which, results, strict=True):
        print(f"{sample.name:35} {result}")
    return int(not set(results) <= {"seen", "waived"})


if __name__ == "__main__":
    sys.exit(main())
