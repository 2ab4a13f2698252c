// The C++ twin of programs/saxpy.py: the whole job, from the source of the kernel to the check of the result.
// Argument: the path of libnvrtc. It prints when each of its phases was over.
#include <cuda.h>

#include "nvrtc.h"

static const char *SAXPY = R"(
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
)";

// Notes that a phase is over, at the seconds of the clock that Python's perf_counter reads.
static void mark(const char *phase) {
    std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
    std::printf("%s %.9f\n", phase, now.count());
}

int main(int, char **argv) {
    mark("start");
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUmodule module;
    CUfunction saxpy;
    int major, minor;
    Nvrtc nvrtc(argv[1]);
    mark("imports");
    CHECK(cuInit(0));
    mark("cuInit");
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    std::string arch = std::to_string(major) + std::to_string(minor);
    std::string ptx = nvrtc(SAXPY, "--gpu-architecture=compute_" + arch);
    mark("compilation");

    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    mark("context");
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CHECK(cuModuleLoadData(&module, ptx.data()));
    CHECK(cuModuleGetFunction(&saxpy, module, "saxpy"));

    float a = 2.0f;
    size_t block = 512, blocks = 32768, n = block * blocks, bytes = n * sizeof(float);
    std::vector<float> hx(n), hy(n), hout(n);
    for (size_t i = 0; i < n; ++i) hx[i] = i % 1024, hy[i] = 1023 - i % 1024;
    CUdeviceptr x, y, out;
    CHECK(cuMemAlloc(&x, bytes));
    CHECK(cuMemAlloc(&y, bytes));
    CHECK(cuMemAlloc(&out, bytes));
    CHECK(cuMemcpyHtoDAsync(x, hx.data(), bytes, stream));
    CHECK(cuMemcpyHtoDAsync(y, hy.data(), bytes, stream));
    void *pointers[] = {&a, &x, &y, &out, &n};
    CHECK(cuLaunchKernel(saxpy, blocks, 1, 1, block, 1, 1, 0, stream, pointers, nullptr));
    CHECK(cuMemcpyDtoHAsync(hout.data(), out, bytes, stream));
    CHECK(cuStreamSynchronize(stream));
    for (size_t i = 0; i < n; ++i)
        if (hout[i] != a * hx[i] + hy[i]) return 1;

    CHECK(cuMemFree(x));
    CHECK(cuMemFree(y));
    CHECK(cuMemFree(out));
    CHECK(cuModuleUnload(module));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuDevicePrimaryCtxRelease(device));
    mark("work");
}
