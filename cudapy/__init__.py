"""The CUDA host API in pure Python.

driver, runtime                       the Driver and the Runtime API, function by function
nvrtc, nvjitlink, nvvm, nvfatbin      the compilers and linkers, likewise
core                                  devices, streams, memory, programs and launches as Python objects
pathfinder                            where NVIDIA's libraries are on this machine
simulator                             a device in software, for machines without a GPU

Importing this package imports none of them: `from cudapy import driver`, `from cudapy.core import Device`.
"""

__version__ = "0.1.0"
