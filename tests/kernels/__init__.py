"""Kernels of all the kinds that people write, each with a reference in NumPy or plain Python.

    python -m tests.kernels                    # all of them, on the GPU or else the simulator
    python -m tests.kernels sorting fft_radix_2   # families and kernels by name
    python -m tests.kernels --list             # kernel, where its algorithm comes from, reference

A module for each family; `kernel.py` has what they share. The kernels were written for these tests, after the
published algorithms that they name.
"""
