"""What the environment of the process asks for."""

import os

PER_THREAD_DEFAULT_STREAM = os.environ.get("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM") == "1"
"""Whether the default stream is one for each thread."""
FAST_LANE = "CUDAPY_FAST_LANE"
"""With "0", no function gets a fast lane."""
LANES_WANTED = os.environ.get(FAST_LANE) != "0"
"""Whether functions are to have a fast lane, where that is possible."""
