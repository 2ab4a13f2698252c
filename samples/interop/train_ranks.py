"""data-parallel training: each rank has a part of the batch, and NCCL adds up the gradients.

    python samples/interop/train_ranks.py [--save loss.png]     # one rank
    python -m cudapy ranks 4 samples/interop/train_ranks.py     # four
    torchrun --nproc-per-node=4 samples/interop/train_ranks.py
    mpiexec -n 4 python samples/interop/train_ranks.py

A network of two layers learns a function of 8 numbers by gradient descent; every kernel of it is below. A
rank computes the gradients of its part of the batch, and one all_reduce of all parameters makes them those of
the whole batch, with which each rank takes the same step. On a GPU it learns twice, the first time as a
warm-up. The check: the loss of each step is that of the same training without ranks, in double precision in
NumPy, and all ranks have the same parameters, bit by bit.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys

import numpy as np

from cudapy import pathfinder, simulator
from cudapy.core import Buffer, Communicator, EventOptions, LaunchConfig, Program, Stream, launch

KERNEL = """
const int INPUTS = 8, HIDDEN = 16;
const int THREADS = 64;
const int BIAS1 = INPUTS * HIDDEN, WEIGHT2 = BIAS1 + HIDDEN, BIAS2 = WEIGHT2 + HIDDEN, PARAMETERS = BIAS2 + 1;

// hidden = tanh(x weight1 + bias1), one thread for each of its elements
extern "C" __global__ void first_layer(const float *x, const float *p, float *hidden, int batch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / HIDDEN, column = i % HIDDEN;
    if (row >= batch)
        return;
    float sum = p[BIAS1 + column];
    for (int k = 0; k < INPUTS; ++k)
        sum += x[row * INPUTS + k] * p[k * HIDDEN + column];
    hidden[i] = tanhf(sum);
}

// error = hidden weight2 + bias2 - target, and what it is to the first layer
extern "C" __global__ void second_layer(const float *hidden, const float *target, const float *p,
                                        float *error, float *delta, int batch)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= batch)
        return;
    float sum = p[BIAS2] - target[row];
    for (int k = 0; k < HIDDEN; ++k)
        sum += hidden[row * HIDDEN + k] * p[WEIGHT2 + k];
    error[row] = sum;
    for (int k = 0; k < HIDDEN; ++k) {
        float value = hidden[row * HIDDEN + k];
        delta[row * HIDDEN + k] = sum * p[WEIGHT2 + k] * (1 - value * value);
    }
}

// The sum over the batch for each parameter, by a block of THREADS; behind them that of the squared errors
extern "C" __global__ void gradients(const float *x, const float *hidden, const float *error,
                                     const float *delta, float *gradient, int batch)
{
    __shared__ float sums[THREADS];
    int i = blockIdx.x, t = threadIdx.x;
    float sum = 0;
    for (int row = t; row < batch; row += THREADS)
        sum += i < BIAS1     ? x[row * INPUTS + i / HIDDEN] * delta[row * HIDDEN + i % HIDDEN]
               : i < WEIGHT2 ? delta[row * HIDDEN + i - BIAS1]
               : i < BIAS2   ? error[row] * hidden[row * HIDDEN + i - WEIGHT2]
               : i == BIAS2  ? error[row]
                             : error[row] * error[row];
    sums[t] = sum;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (t < half)
            sums[t] += sums[t + half];
    }
    if (!t)
        gradient[i] = sums[0];
}

extern "C" __global__ void step(float *p, const float *gradient, float rate, float *loss, float all)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < PARAMETERS)
        p[i] -= rate * gradient[i];
    else if (i == PARAMETERS)
        *loss = gradient[i] / all;
}
"""
INPUTS, HIDDEN = 8, 16
PARAMETERS = INPUTS * HIDDEN + 2 * HIDDEN + 1
THREADS, STEPS, RATE = 64, 12, 0.2
SMALL, LARGE = 256, 1 << 18
"""Rows of the whole batch: on the simulator, and on a GPU."""


def data(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The whole batch, what the network should say, and the parameters at the start."""
    random = np.random.default_rng(1)
    x = random.normal(size=(rows, INPUTS)).astype(np.float32)
    target = np.sin(x[:, 0] + x[:, 1]).astype(np.float32)
    return x, target, (0.3 * random.normal(size=PARAMETERS)).astype(np.float32)


def on_the_host(rows: int) -> np.ndarray:
    """The losses of the same training by NumPy, on the whole batch."""
    x, target, p = (array.astype(np.float64) for array in data(rows))
    losses = []
    for _ in range(STEPS):
        weight1, bias1, weight2, bias2 = np.split(p, np.cumsum([INPUTS * HIDDEN, HIDDEN, HIDDEN]))
        hidden = np.tanh(x @ weight1.reshape(INPUTS, HIDDEN) + bias1)
        error = hidden @ weight2 + bias2 - target
        delta = error[:, None] * weight2 * (1 - hidden**2)
        losses.append((error**2).mean())
        p = p - RATE / rows * np.concatenate(
            [(x.T @ delta).ravel(), delta.sum(0), hidden.T @ error, [error.sum()]]
        )
    return np.array(losses)


def save(file: str, losses: np.ndarray, expected: np.ndarray, ranks: int) -> None:
    """Write a chart of the loss of each step."""
    from matplotlib.figure import Figure

    axes = (figure := Figure()).subplots()
    axes.plot(expected, label="NumPy, whole batch")
    axes.plot(losses, "o", label=f"{ranks} rank(s)")
    axes.set(xlabel="step", ylabel="loss", yscale="log")
    axes.legend()
    figure.savefig(file)
    print(f"written to {file}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Training over ranks.")
    parser.add_argument("--batch", type=int, help=f"rows of the whole batch ({LARGE} on a GPU)")
    parser.add_argument("--save", metavar="PNG", help="write a chart of the losses there (needs Matplotlib)")
    chosen = parser.parse_args()
    if chosen.save and not importlib.util.find_spec("matplotlib"):
        parser.error("--save needs Matplotlib: pip install matplotlib")
    if chosen.batch is not None and not 1 <= chosen.batch <= 1 << 24:
        parser.error("--batch must be 1 to 16777216")
    simulated = simulator.stand_in()
    try:
        pathfinder.load("nccl")
    except pathfinder.LibraryNotFound:
        print("WAIVED: needs NCCL: pip install nvidia-nccl-cu13, or nvidia-nccl-cu12")
        return 77
    with Communicator.from_environment() as comm:
        return train(comm, chosen.batch or (SMALL if simulated else LARGE), chosen.save, simulated)


def largest(comm: Communicator, stream: Stream, value: float) -> float:
    """The largest of the ranks' values. All ranks have come here when one goes on."""
    array, buffer = np.array([value]), comm.device.allocate(8, stream)
    buffer.copy_from(array, stream=stream)
    comm.all_reduce(buffer, op="max", dtype=np.float64, stream=stream)
    buffer.copy_to(array, stream=stream)
    comm.sync(stream)
    return float(array[0])


def train(comm: Communicator, rows: int, file: str | None, simulated: bool) -> int:
    """The part of one rank. The exit code."""
    device = comm.device
    device.set_current()
    stream = device.create_stream()
    code = Program(KERNEL, "c++").compile("cubin")
    first, second, gradients, step = map(
        code.get_kernel, ("first_layer", "second_layer", "gradients", "step")
    )
    x, target, p = data(rows)
    begin, end = (rows * r // comm.size for r in (comm.rank, comm.rank + 1))
    batch = end - begin

    def there(array: np.ndarray) -> Buffer:
        buffer = device.allocate(max(array.nbytes, 4), stream)
        buffer.copy_from(array, stream=stream)
        return buffer

    inputs, targets, parameters = there(x[begin:end]), there(target[begin:end]), there(p)
    hidden, delta = (there(np.zeros((batch, HIDDEN), np.float32)) for _ in range(2))
    error = there(np.zeros(batch, np.float32))
    gradient = there(np.zeros(PARAMETERS + 1, np.float32))
    losses = [there(np.zeros(1, np.float32)) for _ in range(STEPS)]

    def over(threads: int) -> LaunchConfig:
        return LaunchConfig(grid=max((threads + THREADS - 1) // THREADS, 1), block=THREADS)

    sums, timed = LaunchConfig(grid=PARAMETERS + 1, block=THREADS), EventOptions(timing_enabled=True)
    for _ in range(1 if simulated else 2):  # the first is a warm-up
        parameters.copy_from(p, stream=stream)
        largest(comm, stream, 0)  # they start together
        before = stream.record(options=timed)
        for loss in losses:
            launch(stream, over(batch * HIDDEN), first, inputs, parameters, hidden, batch)
            launch(stream, over(batch), second, hidden, targets, parameters, error, delta, batch)
            launch(stream, sums, gradients, inputs, hidden, error, delta, gradient, batch)
            comm.all_reduce(gradient, dtype=np.float32, stream=stream)
            launch(stream, over(PARAMETERS + 1), step, parameters, gradient, RATE / rows, loss, float(rows))
        after = stream.record(options=timed)
        comm.sync(stream)
    slowest = largest(comm, stream, after - before)

    # The parameters of all ranks, to see that they are the same.
    every = device.allocate(comm.size * p.nbytes, stream)
    comm.all_gather(parameters, every, dtype=np.float32, stream=stream)
    learnt, found = np.empty((comm.size, PARAMETERS), np.float32), np.empty((STEPS, 1), np.float32)
    every.copy_to(learnt, stream=stream)
    for loss, value in zip(losses, found, strict=True):
        loss.copy_to(value, stream=stream)
    comm.sync(stream)

    expected, found = on_the_host(rows), found[:, 0]
    same = bool((learnt == learnt[0]).all())
    right = same and np.allclose(found, expected, rtol=1e-4) and found[-1] < found[0]
    if comm.rank == 0:
        print(f"{comm.size} rank(s), {STEPS} steps, the loss from {found[0]:.4f} to {found[-1]:.4f}")
        if not simulated:
            print(f"the slowest of {comm.size} took {slowest:.3f} ms")
        if file:
            save(file, found, expected, comm.size)
        print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
