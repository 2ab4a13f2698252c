"""The CUDA host API in pure Python.

driver, runtime                       the Driver and the Runtime API, function by function
nvrtc, nvjitlink, nvvm, nvfatbin      the compilers and linkers, likewise
nccl                                  collectives of several devices, likewise
cufile, cudla                         files to and from device memory; the accelerators of Jetson, likewise
core                                  devices, streams, memory, programs and launches as Python objects
pathfinder                            where NVIDIA's libraries are on this machine
utils                                 helpers for handles, PTX versions and NVVM options
alias                                 existing programs for cuda.bindings and cuda.core, run unchanged
simulator                             a device in software, for machines without a GPU

Importing this package imports none of them: `from cudapy import driver`, `from cudapy.core import Device`.

Its pytest plugin has no assertions to rewrite, and may be imported before pytest is: PYTEST_DONT_REWRITE.
"""

__version__ = "0.1.0"

bindings_version = "13.5.0"
"""The release of cuda.bindings whose API driver, runtime, nvrtc, nvvm, nvjitlink, nvfatbin, nvml, cufile,
cudla and utils have.
"""
