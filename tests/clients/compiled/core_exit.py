"""Ends with live objects of NVIDIA's cuda.core, some of them in a cycle, and a kernel that may still run."""

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

device = Device()
device.set_current()
stream = device.create_stream()
event = stream.record()
buffer = device.allocate(1024, stream=stream)
code = 'extern "C" __global__ void fill(int *p) { p[threadIdx.x] = 1; }'
kernel = Program(code, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("fill")
cycle: list[object] = [device, stream, event, buffer, kernel]
cycle.append(cycle)
launch(stream, LaunchConfig(grid=1, block=256), kernel, buffer)
