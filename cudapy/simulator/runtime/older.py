"""What the libcudart of CUDA 12 has otherwise than that of CUDA 13: layouts of structs, and functions."""

import ctypes
from typing import Any

from ..._types.runtime.structs import cudaDeviceProp_12
from ..addresses import Pointer
from ..callbacks import FIRST_BYTES
from ..devices import device as devices
from ..entry_points import release_of
from ..library import provides
from ..streams.capture import cuStreamGetCaptureInfo
from . import kernels
from .calls import cudaGetDriverEntryPointByVersion
from .devices import properties

_SHORTER = {
    "cudaExternalMemoryBufferDesc": 24,
    "cudaExternalMemoryHandleDesc": 40,
    "cudaExternalMemoryMipmappedArrayDesc": 64,
    "cudaExternalSemaphoreHandleDesc": 32,
    "cudaPointerAttributes": 24,
    "cudaResourceDesc": 64,
    "cudaResourceViewDesc": 48,
}
"""The bytes of structs at whose end CUDA 13 added room for later fields. Programs have no more."""

LAYOUTS: dict[int, dict[str, Any]] = {
    12: {
        "cudaDeviceProp": cudaDeviceProp_12,
        **{
            name: type(name, (ctypes.Structure,), {"_fields_": [(FIRST_BYTES, ctypes.c_char * size)]})
            for name, size in _SHORTER.items()
        },
    }
}
"""By CUDA major, the structs that its functions take and give in another layout than those of the newest."""


@provides("runtime 12", "cudaGetDeviceProperties_v2")
def cudaGetDeviceProperties(device: int) -> cudaDeviceProp_12:
    return properties(devices.device(device), cudaDeviceProp_12)


@provides("runtime 12")
def cudaRuntimeGetVersion() -> int:
    return release_of(12)


@provides("runtime 12")
def cudaGetDriverEntryPoint(
    symbol: bytes | None, funcPtr: Pointer, flags: int, driverStatus: Pointer
) -> None:
    cudaGetDriverEntryPointByVersion(symbol, funcPtr, release_of(12), flags, driverStatus)


@provides(
    "runtime 12",
    prototype="cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus "
    "*captureStatus_out, unsigned long long *id_out)",
)
def cudaStreamGetCaptureInfo(stream: int) -> tuple[int, int]:
    return cuStreamGetCaptureInfo(stream)


@provides("runtime 12")
def cudaGraphAddNode(graph: int, pDependencies: Pointer, numDependencies: int, nodeParams: Pointer) -> int:
    return kernels.cudaGraphAddNode(graph, pDependencies, None, numDependencies, nodeParams)
