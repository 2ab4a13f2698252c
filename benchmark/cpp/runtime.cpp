// The C++ twin of test_runtime.py. Argument: the path of the cubin.
#include <cuda_runtime_api.h>

#include "round.h"

static cudaStream_t stream;
static cudaEvent_t event;
static cudaKernel_t kernel;
static void *memory, *host;
static const size_t bytes = 4096;

static void drain() { CHECK(cudaStreamSynchronize(stream)); }

static double run(const std::string &name, long long calls) {
    auto measure = [&](auto body) { return batch(calls, body, drain); };
    if (name == "cudaGetDevice") return measure([] { int device; CHECK(cudaGetDevice(&device)); });
    if (name == "cudaMalloc+cudaFree")
        return measure([] {
            void *made;
            CHECK(cudaMalloc(&made, bytes));
            CHECK(cudaFree(made));
        });
    if (name == "cudaMallocAsync+cudaFreeAsync")
        return measure([] {
            void *made;
            CHECK(cudaMallocAsync(&made, bytes, stream));
            CHECK(cudaFreeAsync(made, stream));
        });
    if (name == "cudaMemcpyAsync, to the device")
        return measure([] { CHECK(cudaMemcpyAsync(memory, host, bytes, cudaMemcpyHostToDevice, stream)); });
    if (name == "cudaMemcpyAsync, to the host")
        return measure([] { CHECK(cudaMemcpyAsync(host, memory, bytes, cudaMemcpyDeviceToHost, stream)); });
    if (name == "cudaMemsetAsync") return measure([] { CHECK(cudaMemsetAsync(memory, 0, bytes, stream)); });
    if (name == "cudaLaunchKernelExC")
        return measure([] {
            static cudaLaunchConfig_t config = [] {
                cudaLaunchConfig_t made = {};
                made.gridDim = {1, 1, 1}, made.blockDim = {32, 1, 1}, made.stream = stream;
                return made;
            }();
            CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(kernel), nullptr));
        });
    if (name == "cudaStreamQuery") return measure([] { CHECK(cudaStreamQuery(stream)); });
    if (name == "cudaStreamSynchronize") return measure(drain);
    if (name == "cudaStreamWaitEvent") return measure([] { CHECK(cudaStreamWaitEvent(stream, event, 0)); });
    if (name == "cudaEventRecord") return measure([] { CHECK(cudaEventRecord(event, stream)); });
    if (name == "cudaEventQuery") return measure([] { CHECK(cudaEventQuery(event)); });
    if (name == "cudaEventSynchronize") return measure([] { CHECK(cudaEventSynchronize(event)); });
    if (name == "cudaStreamCreateWithFlags+cudaStreamDestroy")
        return measure([] {
            cudaStream_t made;
            CHECK(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
            CHECK(cudaStreamDestroy(made));
        });
    if (name == "cudaEventCreateWithFlags+cudaEventDestroy")
        return measure([] {
            cudaEvent_t made;
            CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
            CHECK(cudaEventDestroy(made));
        });
    throw std::runtime_error("there is no case " + name);
}

extern "C" int twin_open(const char *const *arguments, char *reason, size_t size) {
    return answer(reason, size, [&] {
        cudaLibrary_t library;
        CHECK(cudaLibraryLoadFromFile(&library, arguments[0], nullptr, nullptr, 0, nullptr, nullptr, 0));
        CHECK(cudaLibraryGetKernel(&kernel, library, "empty"));
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&event, cudaEventDefault));
        CHECK(cudaMalloc(&memory, bytes));
        CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocDefault));
    });
}

extern "C" int twin_round(const char *name, long long calls, double *seconds, char *reason, size_t size) {
    return answer(reason, size, [&] { *seconds = run(name, calls); });
}
