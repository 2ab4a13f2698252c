"""32 threads of Python with NVIDIA's cuda.core and cuda.bindings, one counter in the device's memory."""

import threading

from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

THREADS, LAUNCHES = 32, 20
device = Device()
device.set_current()
code = 'extern "C" __global__ void count(int *p) { atomicAdd(p, 1); }'
kernel = Program(code, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("count")
_, counter = driver.cuMemAlloc(4)
driver.cuMemsetD8(counter, 0, 4)


def work() -> None:
    """Launch on a stream of its own."""
    own = Device()
    own.set_current()
    stream = own.create_stream()
    for _ in range(LAUNCHES):
        launch(stream, LaunchConfig(grid=1, block=32), kernel, int(counter))
    stream.sync()


threads = [threading.Thread(target=work) for _ in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
found = bytearray(4)
driver.cuMemcpyDtoH(found, counter, 4)
assert int.from_bytes(found, "little") == 32 * LAUNCHES * THREADS
print("threads")
