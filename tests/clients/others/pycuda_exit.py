"""PyCUDA: ends with live objects of every kind, some of them in a cycle, of several contexts and threads."""

import threading

import numpy as np
import pycuda.autoinit  # noqa: F401 - makes a context, and pops it at the end
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.tools import DeviceMemoryPool, PageLockedMemoryPool

pools = DeviceMemoryPool(), PageLockedMemoryPool()
pools[0].allocate(1000).free()  # the pool keeps it
arrays = [gpuarray.to_gpu(np.arange(n, dtype=np.float32)) for n in (10, 100, 1000)]
largest = gpuarray.max(arrays[2])
staged = pools[1].allocate((100,), np.float32)
pinned = cuda.pagelocked_zeros((1 << 24,), np.int32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
managed = cuda.managed_empty((64,), np.int32, mem_flags=cuda.mem_attach_flags.GLOBAL)
managed[:] = 1
stream, event = cuda.Stream(), cuda.Event()
module = SourceModule("__global__ void count(int *p) { atomicAdd(p + threadIdx.x, threadIdx.x); }")
count = module.get_function("count")
count(np.intp(pinned.base.get_device_pointer()), block=(32, 1, 1), stream=stream)
event.record(stream)
image = cuda.np_to_array(np.ones((8, 8), np.float32), "C")

explicit = cuda.Device(0).make_context()
memory = cuda.mem_alloc(64)
explicit.pop()
primary = cuda.Device(0).retain_primary_context()
primary.push()
other_stream = cuda.Stream()
cuda.Context.pop()


def work() -> None:
    context = cuda.Device(0).make_context()
    held = cuda.to_device(np.arange(100))
    assert np.array_equal(cuda.from_device(held, 100, np.int64), np.arange(100))
    context.pop()


thread = threading.Thread(target=work)
thread.start()
thread.join()


class Late:
    """Reads what it has when the interpreter takes it down."""

    def __init__(self) -> None:
        self.arrays, self.stream, self.event = (pinned, managed), stream, event

    def __del__(self) -> None:
        self.stream.synchronize()
        if not self.event.query() or int(self.arrays[0][31]) != 31 or int(self.arrays[1][63]) != 1:
            print("wrong")


late = Late()
cycle = [pools, arrays, largest, staged, stream, event, module, count, image, explicit, memory]
cycle.append(cycle)
assert float(largest.get()) == 999
print("right")
