"""TMA: a box of a matrix, brought to shared memory by one thread.

    python samples/cuda_features/tma_tensor_map.py

From compute capability 9.0 on, a device has a unit that copies boxes of tensors. The host describes the
tensor and the box in a tensor map; one thread starts the copy, and all wait at a barrier that counts the
bytes. What lies outside of the tensor comes as zeros: no `if` for the edges. One map is enough for several
tensors of the same shape: `replace_address`.
"""

from __future__ import annotations

import sys

import numpy as np

from cudapy import simulator
from cudapy.core import Device, LaunchConfig, Program, launch, utils

KERNEL = r"""
const int WIDTH = 32, HEIGHT = 8;  // of the box
struct __align__(64) TensorMap { unsigned long long words[16]; };

extern "C" __global__ void sum_boxes(const __grid_constant__ TensorMap map, float *sums)
{
    __shared__ __align__(128) float box[HEIGHT * WIDTH];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned box_at = (unsigned)__cvta_generic_to_shared(box);
    unsigned barrier_at = (unsigned)__cvta_generic_to_shared(&barrier);
    int x = blockIdx.x * WIDTH, y = blockIdx.y * HEIGHT;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier_at) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(barrier_at), "r"((unsigned)sizeof box) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3}], [%4];"
                     :: "r"(box_at), "l"(&map), "r"(x), "r"(y), "r"(barrier_at) : "memory");
    }
    __syncthreads();
    unsigned arrived = 0;
    while (!arrived)
        asm volatile("{ .reg .pred p;"
                     " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(arrived) : "r"(barrier_at) : "memory");

    float sum = 0;  // of a column of the box
    for (int row = 0; row < HEIGHT; ++row)
        sum += box[row * WIDTH + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(~0u, sum, offset);
    if (threadIdx.x == 0)
        sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}
"""
BOX_WIDTH, BOX_HEIGHT = 32, 8
WIDTH, HEIGHT = 100, 45  # no multiples of the box


def main() -> int:
    simulator.stand_in()
    device = Device()
    device.set_current()
    if not device.properties.tensor_map_access_supported:
        print("WAIVED: this device has no tensor memory accelerator")
        return 77
    stream = device.create_stream()
    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("sum_boxes")

    rows, columns = -(-HEIGHT // BOX_HEIGHT), -(-WIDTH // BOX_WIDTH)
    config = LaunchConfig(grid=(columns, rows), block=BOX_WIDTH)
    d_sums = device.allocate(4 * rows * columns, stream=stream)
    sums = np.empty((rows, columns), np.float32)
    tensor_map, right = None, True
    for seed in range(2):
        matrix = (
            np.random.default_rng(seed).integers(-50, 50, (HEIGHT, WIDTH)).astype(np.float32)
        )  # sums are exact
        data = device.allocate(matrix.nbytes, stream=stream)
        data.copy_from(matrix, stream=stream)
        if tensor_map is None:
            view = utils.StridedMemoryView.from_buffer(data, matrix.shape, dtype=matrix.dtype)
            tensor_map = view.as_tensor_map((BOX_HEIGHT, BOX_WIDTH))
        else:
            tensor_map.replace_address(data)
        launch(stream, config, kernel, tensor_map, d_sums)
        d_sums.copy_to(sums, stream=stream)
        stream.sync()
        padded = np.zeros((rows * BOX_HEIGHT, columns * BOX_WIDTH), np.float32)
        padded[:HEIGHT, :WIDTH] = matrix
        expected = padded.reshape(rows, BOX_HEIGHT, columns, BOX_WIDTH).sum((1, 3))
        right = right and np.array_equal(sums, expected)
    print(f"{rows * columns} boxes of {BOX_HEIGHT} x {BOX_WIDTH} from each matrix of {HEIGHT} x {WIDTH}")
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
