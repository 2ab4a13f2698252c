"""Work of two streams captured into a graph with the Runtime API, and replayed."""

import numpy as np
from cuda.bindings import runtime as cudart
from cuda.bindings.runtime import cudaError_t, cudaStreamCaptureMode, cudaStreamCaptureStatus


def check_cuda(call_result):
    err, *others = call_result
    if err != cudaError_t.cudaSuccess:
        raise RuntimeError(
            f"{cudart.cudaGetErrorName(err)[1].decode()}: {cudart.cudaGetErrorString(err)[1].decode()}"
        )
    if len(others) == 0:
        return None
    return others[0] if len(others) == 1 else others


check_cuda(cudart.cudaSetDevice(0))
main, side = (
    check_cuda(cudart.cudaStreamCreate()),
    check_cuda(cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking)),
)
fork, join = (check_cuda(cudart.cudaEventCreateWithFlags(cudart.cudaEventDisableTiming)) for _ in range(2))
N = 1 << 12
a, b = check_cuda(cudart.cudaMalloc(N)), check_cuda(cudart.cudaMalloc(N))
host = check_cuda(cudart.cudaHostAlloc(2 * N, cudart.cudaHostAllocDefault))
print(check_cuda(cudart.cudaStreamIsCapturing(main)).name)
check_cuda(cudart.cudaStreamBeginCapture(main, cudaStreamCaptureMode.cudaStreamCaptureModeThreadLocal))
print(check_cuda(cudart.cudaStreamIsCapturing(main)) == cudaStreamCaptureStatus.cudaStreamCaptureStatusActive)
check_cuda(cudart.cudaMemsetAsync(a, 1, N, main))
check_cuda(cudart.cudaEventRecord(fork, main))
check_cuda(cudart.cudaStreamWaitEvent(side, fork, 0))
check_cuda(cudart.cudaMemsetAsync(b, 2, N, side))
check_cuda(cudart.cudaMemcpyAsync(host + N, b, N, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost, side))
check_cuda(cudart.cudaEventRecord(join, side))
check_cuda(cudart.cudaMemcpyAsync(host, a, N, cudart.cudaMemcpyKind.cudaMemcpyDefault, main))
info = check_cuda(cudart.cudaStreamGetCaptureInfo(main))
print([type(x).__name__ for x in info], info[0].name, info[-1], len(info[3]))
check_cuda(cudart.cudaStreamWaitEvent(main, join, cudart.cudaEventWaitDefault))
graph = check_cuda(cudart.cudaStreamEndCapture(main))
nodes, count = check_cuda(cudart.cudaGraphGetNodes(graph, 10))
print(count, sorted(check_cuda(cudart.cudaGraphNodeGetType(n)).name for n in nodes[:count]))
edges = check_cuda(cudart.cudaGraphGetEdges(graph, 10))
print(edges[-1], [len(x[: edges[-1]]) for x in edges[:-1]], [type(x[0]).__name__ for x in edges[:-1]])
execution = check_cuda(cudart.cudaGraphInstantiate(graph, 0))
check_cuda(cudart.cudaGraphUpload(execution, main))
check_cuda(cudart.cudaGraphLaunch(execution, main))
check_cuda(cudart.cudaStreamSynchronize(main))
import ctypes

data = np.frombuffer((ctypes.c_ubyte * (2 * N)).from_address(host), dtype=np.uint8)
print(data[:N].min(), data[:N].max(), data[N:].min(), data[N:].max())

check_cuda(cudart.cudaStreamBeginCapture(main, cudaStreamCaptureMode.cudaStreamCaptureModeGlobal))
print(cudart.cudaMalloc(1)[0].name, cudart.cudaStreamSynchronize(main)[0].name)
err, broken = cudart.cudaStreamEndCapture(main)
print(err, broken)
print(cudart.cudaGetLastError()[0], cudart.cudaPeekAtLastError()[0])
mode = check_cuda(
    cudart.cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode.cudaStreamCaptureModeRelaxed)
)
print(mode.name)
check_cuda(cudart.cudaGraphExecDestroy(execution))
check_cuda(cudart.cudaGraphDestroy(graph))
for p in (a, b):
    check_cuda(cudart.cudaFree(p))
check_cuda(cudart.cudaFreeHost(host))
for event in (fork, join):
    check_cuda(cudart.cudaEventDestroy(event))
for stream in (main, side):
    check_cuda(cudart.cudaStreamDestroy(stream))
