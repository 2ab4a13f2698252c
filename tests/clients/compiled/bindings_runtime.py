"""NVIDIA's cuda.bindings.runtime: devices, memory, streams, events, arrays, errors, structs by value."""

from cuda.bindings import runtime as rt

KIND = rt.cudaMemcpyKind
FLOAT = rt.cudaChannelFormatKind.cudaChannelFormatKindFloat
SUCCESS = rt.cudaError_t.cudaSuccess


def ok(result: tuple[object, ...]) -> object:
    """What a function returns beside its status."""
    status, *values = result
    assert status == SUCCESS, status
    return values[0] if len(values) == 1 else values


assert ok(rt.cudaGetDeviceCount()) == 1
ok(rt.cudaSetDevice(0))
properties = ok(rt.cudaGetDeviceProperties(0))
assert (properties.major, properties.warpSize) == (9, 32)
stream = ok(rt.cudaStreamCreate())
first, second = ok(rt.cudaEventCreate()), ok(rt.cudaEventCreate())
pointer = ok(rt.cudaMallocAsync(256, stream))
ok(rt.cudaEventRecord(first, stream))
ok(rt.cudaMemsetAsync(pointer, 3, 256, stream))
ok(rt.cudaEventRecord(second, stream))
back = bytearray(256)
ok(rt.cudaMemcpyAsync(back, pointer, 256, KIND.cudaMemcpyDeviceToHost, stream))
ok(rt.cudaStreamSynchronize(stream))
assert bytes(back) == 256 * b"\3" and ok(rt.cudaEventElapsedTime(first, second)) >= 0
ok(rt.cudaFreeAsync(pointer, stream))
ok(rt.cudaDeviceSynchronize())
channels = ok(rt.cudaCreateChannelDesc(32, 32, 0, 0, FLOAT))
assert (channels.x, channels.y, channels.z, channels.f) == (32, 32, 0, FLOAT)
array = ok(rt.cudaMallocArray(channels, 8, 4, 0))
assert ok(rt.cudaArrayGetInfo(array))[1].width == 8
ok(rt.cudaFreeArray(array))
assert rt.cudaMalloc(1 << 60)[0] == rt.cudaError_t.cudaErrorMemoryAllocation
assert rt.cudaGetLastError()[0] == rt.cudaError_t.cudaErrorMemoryAllocation
assert rt.cudaGetLastError()[0] == SUCCESS
assert ok(rt.cudaGetErrorName(rt.cudaError_t.cudaErrorInvalidValue)) == b"cudaErrorInvalidValue"
print("runtime")
