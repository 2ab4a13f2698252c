"""What a GPU alone can show: that nothing leaks, crashes, corrupts or hangs, with figures.

    python -m tests.gpu_tier            on a GPU, all of it: under 8 minutes
    python -m tests.gpu_tier --small    small counts, on the simulator too (CUDAPY_DRIVER=simulator)

Each test is a function of a module here, runs in a process of its own, and yields a `Figure` for each thing
that it finds out; `plan` lists them.
"""
