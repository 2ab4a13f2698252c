"""What Triton compiles, which needs no GPU, on cudapy: each kernel gives what NumPy does.

    python -m tests.triton_ptx            # all of them, on the GPU or else the simulator
    python -m tests.triton_ptx softmax    # some

Needs the package `triton`. Kernels are compiled for several architectures, whose matrix products use other
instructions: mma for sm_75 to sm_89, wgmma for sm_90.
"""
