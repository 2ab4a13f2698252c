"""The order of the report."""

from turns.report import Labels

ORDER = (
    "C++",
    "C++, a graph",
    "cuda.bindings",
    "cuda.core",
    "plain ctypes",
    "CuPy",
    "Numba",
    "PyCUDA",
    "Triton",
)
LABELS = Labels(("launch", "calls", "runtime", "SAXPY", "application", "import"), ORDER)
