"""The whole SAXPY job: source, NVRTC, launch, check. The twin of cpp/saxpy.cpp.

    python saxpy.py PACKAGE DATA [BLOCKS]

PACKAGE is `cudapy` or `cuda.bindings`: the program is the same for both. DATA is what holds the host's data:
`numpy`, or `array`, which is in the standard library. BLOCKS: how many, of 512 threads
each, 32,768 by default; an even number. It prints when each of its phases was over.
"""

from time import perf_counter

MARKS = [("start", perf_counter())]

import ctypes  # noqa: E402 (what is imported from here on is a phase)
import sys  # noqa: E402
from importlib import import_module  # noqa: E402
from typing import Any  # noqa: E402

PACKAGE, DATA = sys.argv[1:3]
np: Any = import_module("numpy") if DATA == "numpy" else None
array: Any = None if np else import_module("array").array
driver: Any = import_module(f"{PACKAGE}.driver")
nvrtc: Any = import_module(f"{PACKAGE}.nvrtc")

SAXPY = b"""
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
"""
PERIOD = 1024
BLOCK = 512
BLOCKS = int(sys.argv[3]) if sys.argv[3:] else 32768
N = BLOCK * BLOCKS
BYTES = 4 * N
A = 2.0


def check(result: Any) -> Any:
    """The result without its status, which must be success."""
    if result[0].value:
        raise SystemExit(f"{result[0]!r}")
    return result[1] if len(result) == 2 else result[1:]


def mark(phase: str) -> None:
    """Note that a phase is over."""
    MARKS.append((phase, perf_counter()))


def numpy_data() -> tuple[Any, Any, Any]:
    """x, y, and room for the result."""
    ramp = np.arange(PERIOD, dtype=np.float32)
    return np.tile(ramp, N // PERIOD), np.tile(ramp[::-1], N // PERIOD), np.empty(N, np.float32)


def array_data() -> tuple[Any, Any, Any]:
    """x, y, and room for the result."""
    ramp = array("f", range(PERIOD))
    return ramp * (N // PERIOD), ramp[::-1] * (N // PERIOD), array("f", bytes(4)) * N


def address(data: Any) -> int:
    """Where the data is."""
    return int(data.ctypes.data if DATA == "numpy" else data.buffer_info()[0])


def is_right(x: Any, y: Any, out: Any) -> bool:
    """Whether out is A * x + y."""
    if DATA == "numpy":
        return bool((out == A * x + y).all())
    ramp = type(x)("f", [A * xi + yi for xi, yi in zip(x[:PERIOD], y[:PERIOD], strict=True)])
    right, found = bytes(ramp) * min(64, N // PERIOD), memoryview(out).cast("B")
    step = len(right)  # what stays in the cache
    return all(bytes(found[i : i + step]) == right[: BYTES - i] for i in range(0, BYTES, step))


mark("imports")
check(driver.cuInit(0))
mark("cuInit")
device = check(driver.cuDeviceGet(0))
attribute = driver.CUdevice_attribute
major = check(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
minor = check(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))

program = check(nvrtc.nvrtcCreateProgram(SAXPY, b"saxpy.cu", 0, None, None))
check(nvrtc.nvrtcCompileProgram(program, 1, [f"--gpu-architecture=compute_{major}{minor}".encode()]))
ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))
check(nvrtc.nvrtcGetPTX(program, ptx))
check(nvrtc.nvrtcDestroyProgram(program))
mark("compilation")

check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(device))))
mark("context")
stream = check(driver.cuStreamCreate(0))
module = check(driver.cuModuleLoadData(ptx))
saxpy = check(driver.cuModuleGetFunction(module, b"saxpy"))

hx, hy, hout = numpy_data() if DATA == "numpy" else array_data()
x, y, out = (check(driver.cuMemAlloc(BYTES)) for _ in range(3))
check(driver.cuMemcpyHtoDAsync(x, address(hx), BYTES, stream))
check(driver.cuMemcpyHtoDAsync(y, address(hy), BYTES, stream))
pointer = ctypes.c_void_p
arguments = (
    (A, int(x), int(y), int(out), N),
    (ctypes.c_float, pointer, pointer, pointer, ctypes.c_size_t),
)
check(driver.cuLaunchKernel(saxpy, BLOCKS, 1, 1, BLOCK, 1, 1, 0, stream, arguments, 0))
check(driver.cuMemcpyDtoHAsync(address(hout), out, BYTES, stream))
check(driver.cuStreamSynchronize(stream))
if not is_right(hx, hy, hout):
    raise SystemExit("the result is wrong")

for memory in (x, y, out):
    check(driver.cuMemFree(memory))
check(driver.cuModuleUnload(module))
check(driver.cuStreamDestroy(stream))
check(driver.cuDevicePrimaryCtxRelease(device))
mark("work")
for phase, when in MARKS:
    print(phase, when)
