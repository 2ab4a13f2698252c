"""NVIDIA Warp: a kernel on two arrays."""

import numpy as np
import warp as wp

wp.init()


@wp.kernel
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


numbers = np.arange(1000, dtype=np.float32)
x, y = (wp.array(numbers, device="cuda:0") for _ in range(2))
wp.launch(saxpy, dim=1000, inputs=[2.0, x, y], device="cuda:0")
np.testing.assert_array_equal(y.numpy(), 3 * numbers)
