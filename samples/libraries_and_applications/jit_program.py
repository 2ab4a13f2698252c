"""jit_program: a formula typed at the prompt, as a kernel.

    python samples/libraries_and_applications/jit_program.py ["sin(x) * x + y"]

Compiling at run time makes programs that write their own kernels: a formula of x and y becomes CUDA C++,
and is computed for a million pairs. A mistake in it comes back with the compiler's words.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from cudapy import simulator
from cudapy.core import CompileError, Device, LaunchConfig, Program, ProgramOptions, launch

TEMPLATE = """
extern "C" __global__ void formula(const double *xs, const double *ys, double *results, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = xs[i], y = ys[i];
    results[i] = {formula};
}}
"""
FORMULA = "sin(x) * x + sqrt(y)"
N, THREADS = 1 << 18, 256


def main() -> int:
    parser = argparse.ArgumentParser(description="Compute a formula of x and y.")
    parser.add_argument("formula", nargs="?", default=FORMULA, help=f'CUDA C++, such as "{FORMULA}"')
    chosen = parser.parse_args()
    simulator.stand_in()
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(name="formula.cu")
    try:
        code = Program(TEMPLATE.format(formula=chosen.formula), "c++", options).compile("cubin")
    except CompileError as error:
        print(error.log)
        return 1

    generator = np.random.default_rng(0)
    x, y = generator.uniform(-10, 10, N), generator.uniform(0, 10, N)
    d_x, d_y, d_results = (device.allocate(x.nbytes, stream=stream) for _ in range(3))
    d_x.copy_from(x, stream=stream)
    d_y.copy_from(y, stream=stream)
    config = LaunchConfig(grid=N // THREADS, block=THREADS)
    launch(stream, config, code.get_kernel("formula"), d_x, d_y, d_results, N)
    results = np.empty_like(x)
    d_results.copy_to(results, stream=stream)
    stream.sync()

    print(f"{chosen.formula} at x = {x[0]:.4f}, y = {y[0]:.4f} is {results[0]:.12g}")
    if chosen.formula != FORMULA:
        return 0
    right = bool(np.allclose(results, np.sin(x) * x + np.sqrt(y), rtol=1e-14, atol=1e-14))
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
