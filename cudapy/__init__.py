"""The CUDA host API in pure Python."""

__version__ = "0.1.0"
