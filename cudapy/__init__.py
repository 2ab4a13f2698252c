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

_MODULES = (
    "alias",
    "core",
    "cudla",
    "cufile",
    "driver",
    "jupyter",
    "nccl",
    "nvfatbin",
    "nvjitlink",
    "nvml",
    "nvrtc",
    "nvvm",
    "pathfinder",
    "runtime",
    "simulator",
    "triton",
    "utils",
)
TYPE_CHECKING = False
if not TYPE_CHECKING:  # for which only what is imported is there

    def __getattr__(name):
        """A module of the package, imported when it is asked for: `import cudapy; cudapy.core.Device`."""
        import importlib

        if name in _MODULES:
            try:
                return importlib.import_module(f"{__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{__name__}.{name}":  # which a copy need not have
                    raise
        elif (name[:1].isupper() or name in ("launch", "prepare")) and name in __getattr__("core").__all__:
            import dis
            import sys

            frame = sys._getframe(1)
            if (
                frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]
            ):  # Python would not show the text
                raise ImportError(
                    f"cannot import name {name!r} from {__name__!r}: from {__name__}.core import {name}"
                )
            raise AttributeError(f"{name} is in {__name__}.core: from {__name__}.core import {name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return [*globals(), *_MODULES]
