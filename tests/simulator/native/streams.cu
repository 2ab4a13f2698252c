/* Streams, events, callbacks, graphs, pools of memory, managed and page-locked memory. */
#include <thread>
#include <vector>

#include "check.h"

__global__ void add(int *p, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += by;
}

static void CUDART_CB note(void *data) { *(int *)data += 1; }
static void CUDART_CB ended(cudaStream_t, cudaError_t status, void *data) { *(int *)data += status == cudaSuccess; }

static void on_a_thread(int *result)
{
    cudaStream_t stream;
    int *p, host = 0;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocAsync(&p, 4, stream));
    CHECK(cudaMemsetAsync(p, 0, 4, stream));
    for (int i = 0; i < 10; i++)
        add<<<1, 1, 0, stream>>>(p, 1, i);
    CHECK(cudaMemcpyAsync(&host, p, 4, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(p, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    *result = host;
}

int main()
{
    const int n = 1000;
    cudaStream_t first, second;
    cudaEvent_t event;
    int *p, *host, notes = 0;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, -1));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaMalloc(&p, n * sizeof *p));
    CHECK(cudaHostAlloc(&host, n * sizeof *host, cudaHostAllocMapped));
    CHECK(cudaMemsetAsync(p, 0, n * sizeof *p, first));
    add<<<8, 128, 0, first>>>(p, n, 2);
    CHECK(cudaLaunchHostFunc(first, note, &notes));
    CHECK(cudaStreamAddCallback(first, ended, &notes, 0));
    CHECK(cudaEventRecord(event, first));
    CHECK(cudaStreamWaitEvent(second, event, 0));
    add<<<8, 128, 0, second>>>(p, n, 3);
    CHECK(cudaMemcpyAsync(host, p, n * sizeof *p, cudaMemcpyDeviceToHost, second));
    CHECK(cudaStreamSynchronize(second));
    EXPECT(host[0] == 5 && host[n - 1] == 5 && notes == 2);
    CHECK(cudaEventQuery(event));

    int *mapped;
    CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
    add<<<8, 128>>>(mapped, n, 1);
    CHECK(cudaDeviceSynchronize());
    EXPECT(host[n / 2] == 6);

    cudaGraph_t graph;
    cudaGraphExec_t instance;
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    add<<<8, 128, 0, first>>>(p, n, 10);
    add<<<8, 128, 0, first>>>(p, n, 20);
    CHECK(cudaStreamEndCapture(first, &graph));
    size_t nodes;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 2);
    CHECK(cudaGraphInstantiate(&instance, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(instance, first));
    CHECK(cudaStreamSynchronize(first));
    CHECK(cudaMemcpy(host, p, n * sizeof *p, cudaMemcpyDefault));
    EXPECT(host[7] == 5 + 90);
    CHECK(cudaGraphExecDestroy(instance));
    CHECK(cudaGraphDestroy(graph));

    int *managed;
    CHECK(cudaMallocManaged(&managed, 64));
    managed[3] = 4;
    add<<<1, 16>>>(managed, 16, 1);
    CHECK(cudaDeviceSynchronize());
    EXPECT(managed[3] == 5);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, managed));
    EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.device == 0);

    cudaMemPool_t pool;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long threshold = 1 << 20, back = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &back));
    EXPECT(back == threshold);

    std::vector<int> results(8);
    std::vector<std::thread> threads;
    for (int &result : results)
        threads.emplace_back(on_a_thread, &result);
    for (std::thread &thread : threads)
        thread.join();
    for (int result : results)
        EXPECT(result == 45);

    void *nothing;
    EXPECT(cudaMalloc(&nothing, size_t(1) << 60) == cudaErrorMemoryAllocation);
    EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
    add<<<1, 2000>>>(p, n, 1);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    EXPECT(cudaSetDevice(7) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaFree(managed));
    CHECK(cudaFree(p));
    CHECK(cudaFreeHost(host));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    printf("ok\n");
    return 0;
}
