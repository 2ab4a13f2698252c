"""tinygrad's CUDA backend: a product of matrices. It opens libraries by their path alone."""

import os
import tempfile

import numpy as np

from cudapy import pathfinder
from cudapy.simulator import write_libraries

with tempfile.TemporaryDirectory() as folder:
    write_libraries(folder)
    os.environ["CUDA_PATH"] = f"{folder}/libcuda.so.1"
    os.environ["NVRTC_PATH"] = pathfinder.load("nvrtc").path
    os.environ["DEV"] = "CUDA"
    from tinygrad import Device, Tensor

    assert Device.DEFAULT == "CUDA"
    random = np.random.default_rng(0)
    a, b = random.random((32, 48), dtype=np.float32), random.random((48, 16), dtype=np.float32)
    found = (Tensor(a) @ Tensor(b)).relu().sum(axis=0).numpy()
    np.testing.assert_allclose(found, np.maximum(a @ b, 0).sum(0), rtol=1e-4)
