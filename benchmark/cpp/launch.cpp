// The C++ twin of test_launch.py, test_calls.py and of the kernel times of test_saxpy.py: the same calls, the same
// kernels (the cubin whose path is the first argument), the same loop.
#include <algorithm>
#include <cuda.h>
#include <map>
#include <thread>
#include <vector>

#include "round.h"

static CUdevice device;
static CUstream stream;
static CUmodule module_;
static std::vector<char> cubin;

static CUfunction kernel(const char *name) {
    CUfunction function;
    CHECK(cuModuleGetFunction(&function, module_, name));
    return function;
}

static void drain() { CHECK(cuStreamSynchronize(stream)); }

static void launch(CUfunction f, void **pointers) {
    CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, pointers, nullptr));
}

// -- kernel times, by events --------------------------------------------------------------------------------

static CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr memory;
    CHECK(cuMemAlloc(&memory, bytes));
    return memory;
}

// Median seconds of one of 16 launches, each between two events. Memory is set first, which takes the device long
// enough for the host to be ahead of it.
static double kernel_seconds(size_t n) {
    static const size_t ahead = 256 << 20;
    static CUdeviceptr busy = allocate(ahead);
    static CUfunction saxpy = kernel("saxpy");
    static CUdeviceptr x = 0, y = 0, out = 0;
    static size_t have = 0;
    if (have != n) {
        for (CUdeviceptr old : {x, y, out}) CHECK(old ? cuMemFree(old) : CUDA_SUCCESS);
        x = y = out = 0;
        have = 0;
        x = allocate(4 * n), y = allocate(4 * n), out = allocate(4 * n);
        CHECK(cuMemsetD32(x, 0x3fc00000, n));
        CHECK(cuMemsetD32(y, 0x40100000, n));
        have = n;
    }
    static std::vector<CUevent> events;
    while (events.size() < 17) {
        events.emplace_back();
        CHECK(cuEventCreate(&events.back(), CU_EVENT_DEFAULT));
    }
    float a = 2.0f;
    void *pointers[] = {&a, &x, &y, &out, &n};
    unsigned blocks = static_cast<unsigned>((n + 511) / 512);
    for (int i = 0; i < 4; ++i) CHECK(cuMemsetD8Async(busy, 0, ahead, stream));
    CHECK(cuEventRecord(events[0], stream));
    for (int i = 1; i < 17; ++i) {
        CHECK(cuLaunchKernel(saxpy, blocks, 1, 1, 512, 1, 1, 0, stream, pointers, nullptr));
        CHECK(cuEventRecord(events[i], stream));
    }
    drain();
    std::vector<float> ms(16);
    for (int i = 0; i < 16; ++i) CHECK(cuEventElapsedTime(&ms[i], events[i], events[i + 1]));
    std::sort(ms.begin(), ms.end());
    return (ms[7] + ms[8]) / 2 * 1e-3;
}

// -- host times ---------------------------------------------------------------------------------------------

struct Graph {
    CUgraph nodes;
    CUgraphExec executable;
};

static const Graph &graph_of(int count) {
    static std::map<int, Graph> made;
    auto [place, is_new] = made.try_emplace(count);
    if (is_new) {
        CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        for (int i = 0; i < count; ++i) launch(kernel("empty"), nullptr);
        CHECK(cuStreamEndCapture(stream, &place->second.nodes));
        CHECK(cuGraphInstantiate(&place->second.executable, place->second.nodes, 0));
    }
    return place->second;
}

// Launches from several threads at once, each into a stream of its own: the time over their number.
static double threads(int count, long long calls, CUfunction f, void **pointers) {
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));
    static std::vector<CUstream> streams;
    while (streams.size() < static_cast<size_t>(count)) {
        streams.emplace_back();
        CHECK(cuStreamCreate(&streams.back(), CU_STREAM_NON_BLOCKING));
    }
    std::vector<int> failures(count);
    auto all = [&](long long each) {
        std::vector<std::thread> running;
        for (int t = 0; t < count; ++t)
            running.emplace_back([&, t] {
                failures[t] |= cuCtxSetCurrent(context);
                for (long long i = 0; i < each; ++i)
                    failures[t] |= cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, streams[t], pointers, nullptr);
            });
        for (std::thread &thread : running) thread.join();
    };
    auto empty = [&] { for (int t = 0; t < count; ++t) CHECK(cuStreamSynchronize(streams[t])); };
    all(calls / 4 + 1);
    empty();
    auto start = std::chrono::steady_clock::now();
    all(calls);
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    empty();
    for (int failure : failures) check(failure, "a launch in a thread");
    return seconds.count() / static_cast<double>(calls * count);
}

// A launch as cudapy's `prepare` makes it: the arguments of the kernel of an executable graph, and a run of it.
static double prepared(CUfunction f, void **pointers, long long calls) {
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec executable;
    CUDA_KERNEL_NODE_PARAMS launch = {};
    launch.func = f;
    launch.gridDimX = launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
    launch.blockDimX = 32;
    launch.kernelParams = pointers;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &launch));
    CHECK(cuGraphInstantiate(&executable, graph, 0));
    double seconds = batch(calls, [&] {
        if (pointers) CHECK(cuGraphExecKernelNodeSetParams(executable, node, &launch));
        CHECK(cuGraphLaunch(executable, stream));
    }, drain);
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
    return seconds;
}

static double many(const std::string &name, long long calls) {
    std::vector<size_t> values(std::stoul(name.substr(4)));
    std::vector<void *> pointers;
    for (size_t i = 0; i < values.size(); ++i) values[i] = i, pointers.push_back(&values[i]);
    CUfunction f = kernel(name.c_str());
    return batch(calls, [&] { launch(f, pointers.data()); }, drain);
}

static double run(const std::string &name, long long calls) {
    static CUdeviceptr x = allocate(4096), y = allocate(4096), out = allocate(4096);
    static CUfunction empty = kernel("empty"), saxpy = kernel("saxpy"), large = kernel("large");
    static CUevent event = [] { CUevent made; CHECK(cuEventCreate(&made, CU_EVENT_DEFAULT)); return made; }();
    static char host[4096];
    static void *locked = [] { void *made; CHECK(cuMemHostAlloc(&made, 4096, 0)); return made; }();
    if (name == "kernel") return kernel_seconds(calls);
    if (name.rfind("many", 0) == 0) return many(name, calls);
    auto measure = [&](auto body) { return batch(calls, body, drain); };

    if (name == "prepared empty") return prepared(empty, nullptr, calls);
    if (name == "empty") return measure([] { launch(empty, nullptr); });
    float a = 2.0f;
    size_t n = 32;
    void *pointers[] = {&a, &x, &y, &out, &n};
    if (name == "prepared saxpy") return prepared(saxpy, pointers, calls);
    if (name == "saxpy") return measure([&] { launch(saxpy, pointers); });
    if (name == "turns")
        return measure([&] { for (int i = 0; i < 4; ++i) launch(saxpy, pointers); });
    if (name == "round trip")
        return measure([&] {
            launch(saxpy, pointers);
            CHECK(cuStreamSynchronize(stream));
        });
    if (name == "saxpy_ex") {
        CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, stream, nullptr, 0};
        return measure([&] { CHECK(cuLaunchKernelEx(&config, saxpy, pointers, nullptr)); });
    }
    if (name == "large") {
        static size_t words[256];
        void *pointer[] = {words};
        return measure([&] { launch(large, pointer); });
    }
    if (name.rfind("threads ", 0) == 0) return threads(std::stoi(name.substr(8)), calls, saxpy, pointers);
    if (name.rfind("cuGraph", 0) == 0) {
        const size_t space = name.find(' ');
        const Graph &graph = graph_of(std::stoi(name.substr(space)));
        const std::string what = name.substr(0, space);
        if (what == "cuGraphLaunch") return measure([&] { CHECK(cuGraphLaunch(graph.executable, stream)); });
        if (what == "cuGraphExecUpdate")
            return measure([&] {
                CUgraphExecUpdateResultInfo info;
                CHECK(cuGraphExecUpdate(graph.executable, graph.nodes, &info));
            });
        if (what == "cuGraphInstantiate")
            return measure([&] {
                CUgraphExec made;
                CHECK(cuGraphInstantiate(&made, graph.nodes, 0));
                CHECK(cuGraphExecDestroy(made));
            });
    }
    if (name == "cuMemcpyHtoDAsync, page-locked")
        return measure([] { CHECK(cuMemcpyHtoDAsync(x, locked, 4096, stream)); });
    if (name == "cuMemcpyDtoHAsync, page-locked")
        return measure([] { CHECK(cuMemcpyDtoHAsync(locked, x, 4096, stream)); });
    if (name == "cuModuleGetFunction") return measure([] { kernel("saxpy"); });
    if (name == "cuTensorMapEncodeTiled")
        return measure([] {
            static const cuuint64_t lengths[] = {32, 32}, strides[] = {128};
            static const cuuint32_t box[] = {32, 32}, steps[] = {1, 1};
            CUtensorMap map;
            CHECK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void *>(x),
                                         lengths, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                         CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
        });
    if (name == "cuCtxGetCurrent") return measure([] { CUcontext now; CHECK(cuCtxGetCurrent(&now)); });
    if (name == "cuDeviceGetAttribute")
        return measure([] {
            int value;
            CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
        });
    if (name == "cuPointerGetAttribute")
        return measure([] {
            unsigned type;
            CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, x));
        });
    if (name == "cuCtxSetCurrent") {
        CUcontext context;
        CHECK(cuCtxGetCurrent(&context));
        return measure([&] { CHECK(cuCtxSetCurrent(context)); });
    }
    if (name == "cuCtxGetDevice") return measure([] { CUdevice now; CHECK(cuCtxGetDevice(&now)); });
    if (name == "cuDeviceGet") return measure([] { CUdevice first; CHECK(cuDeviceGet(&first, 0)); });
    if (name == "cuFuncGetAttribute")
        return measure([] {
            int most;
            CHECK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, empty));
        });
    if (name == "cuMemAlloc+cuMemFree") return measure([] { CHECK(cuMemFree(allocate(4096))); });
    if (name == "cuMemcpyHtoD") return measure([] { CHECK(cuMemcpyHtoD(x, host, 8)); });
    if (name == "cuMemcpyDtoH") return measure([] { CHECK(cuMemcpyDtoH(host, x, 8)); });
    if (name == "cuMemcpyDtoD") return measure([] { CHECK(cuMemcpyDtoD(x + 64, x, 8)); });
    if (name == "cuTensorMapEncodeIm2col")
        return measure([] {
            static const cuuint64_t lengths[] = {32, 32, 32}, strides[] = {128, 4096};
            static const cuuint32_t steps[] = {1, 1, 1};
            static const int lower[] = {0}, upper[] = {0};
            CUtensorMap map;
            CHECK(cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, reinterpret_cast<void *>(x),
                                          lengths, strides, lower, upper, 32, 32, steps,
                                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
        });
    if (name == "cuStreamQuery") return measure([] { CHECK(cuStreamQuery(stream)); });
    if (name == "cuEventQuery") return measure([] { CHECK(cuEventQuery(event)); });
    if (name == "cuEventSynchronize") return measure([] { CHECK(cuEventSynchronize(event)); });
    if (name == "cuStreamSynchronize") return measure([] { CHECK(cuStreamSynchronize(stream)); });
    if (name == "cuMemcpyDtoHAsync") return measure([] { CHECK(cuMemcpyDtoHAsync(host, x, 4096, stream)); });
    if (name == "cuEventRecord+cuEventSynchronize")
        return measure([] {
            CHECK(cuEventRecord(event, stream));
            CHECK(cuEventSynchronize(event));
        });
    if (name == "cuMemcpyAsync") return measure([] { CHECK(cuMemcpyAsync(x, y, 4096, stream)); });
    if (name == "cuMemsetD8Async") return measure([] { CHECK(cuMemsetD8Async(x, 0, 4096, stream)); });
    if (name == "cuEventRecord") return measure([] { CHECK(cuEventRecord(event, stream)); });
    if (name == "cuMemAllocAsync+cuMemFreeAsync")
        return measure([] {
            CUdeviceptr memory;
            CHECK(cuMemAllocAsync(&memory, 4096, stream));
            CHECK(cuMemFreeAsync(memory, stream));
        });
    if (name == "cuStreamCreate+cuStreamDestroy")
        return measure([] {
            CUstream made;
            CHECK(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING));
            CHECK(cuStreamDestroy(made));
        });
    if (name == "cuEventCreate+cuEventDestroy")
        return measure([] {
            CUevent made;
            CHECK(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
            CHECK(cuEventDestroy(made));
        });
    if (name == "cuMemcpyHtoDAsync") return measure([] { CHECK(cuMemcpyHtoDAsync(x, host, 4096, stream)); });
    if (name == "cuModuleLoadData")
        return measure([] {
            CUmodule made;
            CHECK(cuModuleLoadData(&made, cubin.data()));
            CHECK(cuModuleUnload(made));
        });
    throw std::runtime_error("there is no case " + name);
}

extern "C" int twin_open(const char *const *arguments, char *reason, size_t size) {
    return answer(reason, size, [&] {
        FILE *file = std::fopen(arguments[0], "rb");
        if (!file) throw std::runtime_error(std::string("cannot read ") + arguments[0]);
        for (int byte; (byte = std::fgetc(file)) != EOF;) cubin.push_back(static_cast<char>(byte));
        std::fclose(file);
        CUcontext context;
        CHECK(cuInit(0));
        CHECK(cuDeviceGet(&device, 0));
        CHECK(cuDevicePrimaryCtxRetain(&context, device));
        CHECK(cuCtxSetCurrent(context));
        CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        CHECK(cuModuleLoadData(&module_, cubin.data()));
    });
}

extern "C" int twin_round(const char *name, long long calls, double *seconds, char *reason, size_t size) {
    return answer(reason, size, [&] { *seconds = run(name, calls); });
}
