"""The exceptions of NVML: for each status the class that `cuda.bindings` has for it, and its docstring."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ERRORS = (
    (1, "UninitializedError", "NVML is not initialised."),
    (2, "InvalidArgumentError", "An argument is not valid."),
    (3, "NotSupportedError", "The device or the system does not support what was asked."),
    (4, "NoPermissionError", "This user may not do what was asked."),
    (5, "AlreadyInitializedError", "NVML is initialised already."),
    (6, "NotFoundError", "What was asked for is not there."),
    (7, "InsufficientSizeError", "There is too little room for the answer."),
    (8, "InsufficientPowerError", "External power cables of the board are not plugged in well."),
    (9, "DriverNotLoadedError", "The kernel module of the NVIDIA driver is not loaded."),
    (10, "NvmlTimeoutError", "Nothing happened in the time that was given."),
    (11, "IrqIssueError", "The kernel has a problem with the interrupt of a GPU."),
    (12, "LibraryNotFoundError", "NVML did not find or could not load a library that it needs."),
    (13, "FunctionNotFoundError", "The library of the driver lacks this function."),
    (14, "CorruptedInforomError", "The infoROM of the board is corrupted."),
    (15, "GpuIsLostError", "The GPU is no longer on the bus, or cannot be reached."),
    (16, "ResetRequiredError", "The GPU has to be reset before it can be used."),
    (17, "OperatingSystemError", "The operating system refused access to the GPU."),
    (
        18,
        "LibRmVersionMismatchError",
        "The library and the kernel module of the driver are of different versions.",
    ),
    (19, "InUseError", "The GPU is in use."),
    (20, "NvmlMemoryError", "There is not enough memory."),
    (21, "NoDataError", "There is no data yet."),
    (22, "VgpuEccNotSupportedError", "The vGPU cannot be used while ECC is on."),
    (23, "InsufficientResourcesError", "The device has too little left of something other than memory."),
    (24, "FreqNotSupportedError", "The frequency is not supported."),
    (25, "ArgumentVersionMismatchError", "The version in a struct is not one that this driver knows."),
    (26, "DeprecatedError", "The function is deprecated, and does nothing."),
    (27, "NotReadyError", "The system is not ready."),
    (28, "GpuNotFoundError", "There is no GPU."),
    (29, "InvalidStateError", "The resource is not in the right state."),
    (30, "ResetTypeNotSupportedError", "This kind of reset is not supported."),
    (999, "UnknownError", "An error inside the driver."),
)
"""The status, the name of the class, and what the status means. Two names are not those of builtins, which
`cuda.bindings` has: the classes have the names without `Nvml` as well.
"""
__all__ = sorted(name.removeprefix("Nvml") for _, name, _ in ERRORS)


def documentation(name: str, meaning: str) -> str:
    """`NVML_ERROR_IN_USE: The GPU is in use.` for InUseError."""
    words = name.removeprefix("Nvml").removesuffix("Error")
    status = "".join(f"_{letter}" if letter.isupper() else letter for letter in words).upper()
    return f"NVML_ERROR{status}: {meaning}"


_made: dict[Any, dict[int, Any]] = {}


def by_status(base: Any) -> dict[int, Any]:
    """The class of each status, derived from `base`; made when it is first asked for."""
    if base not in _made:
        made = {}
        for status, name, meaning in ERRORS:
            bases = (base, MemoryError) if name == "NvmlMemoryError" else (base,)
            body = {"__module__": base.__module__, "__doc__": documentation(name, meaning)}
            made[status] = type(name, bases, body)
        _made.setdefault(base, made)  # those of the first thread
    return _made[base]


def by_name(base: Any) -> dict[str, Any]:
    """The same classes by their names, and by those without `Nvml`."""
    classes = {cls.__name__: cls for cls in by_status(base).values()}
    return {**classes, **{name.removeprefix("Nvml"): cls for name, cls in classes.items()}}
