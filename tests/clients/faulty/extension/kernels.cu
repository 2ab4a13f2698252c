// Kernels of a PyTorch extension: one is right, and two have a mistake each.
#include <cuda_runtime.h>

static const int THREADS = 256;

static __global__ void scale(const float *x, float *out, float factor, long count) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = factor * x[i];
}

static __global__ void scale_past_the_end(const float *x, float *out, float factor, long count) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i <= count)
        out[i] = factor * x[i < count ? i : 0];
}

static __global__ void total_with_race(const float *x, float *out, long count) {
    __shared__ float sums[THREADS];
    sums[threadIdx.x] = threadIdx.x < count ? x[threadIdx.x] : 0;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2)
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half]; // no barrier between two steps
    if (threadIdx.x == 0)
        *out = sums[0];
}

void launch_scale(const float *x, float *out, float factor, long count, bool is_right, cudaStream_t stream) {
    int blocks = (count + THREADS) / THREADS;
    if (is_right)
        scale<<<blocks, THREADS, 0, stream>>>(x, out, factor, count);
    else
        scale_past_the_end<<<blocks, THREADS, 0, stream>>>(x, out, factor, count);
}

void launch_total(const float *x, float *out, long count, cudaStream_t stream) {
    total_with_race<<<1, THREADS, 0, stream>>>(x, out, count);
}
