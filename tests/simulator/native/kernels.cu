/* What kernels are made of: templates, functors, shared memory, warps, atomics, half, printf, assert-free. */
#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

template <typename T, int SIZE> struct Tile {
    T values[SIZE];
};

template <typename T, int BLOCK> __global__ void reduce(const T *in, T *out, int n)
{
    __shared__ Tile<T, BLOCK> tile;
    int i = blockIdx.x * BLOCK + threadIdx.x;
    tile.values[threadIdx.x] = i < n ? in[i] : T(0);
    __syncthreads();
    for (int step = BLOCK / 2; step; step /= 2) {
        if (threadIdx.x < step)
            tile.values[threadIdx.x] += tile.values[threadIdx.x + step];
        __syncthreads();
    }
    if (!threadIdx.x)
        atomicAdd(out, tile.values[0]);
}

struct Affine {
    double a, b;
    __host__ __device__ double operator()(double x) const { return a * x + b; }
};

template <typename F> __global__ void apply(F f, double *p, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = f(p[i]);
}

__global__ void warps(int *sums, unsigned *ballots, int *scans)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int value = threadIdx.x;
    for (int step = 16; step; step /= 2)
        value += __shfl_xor_sync(~0u, value, step);
    int scan = threadIdx.x;
    for (int step = 1; step < 32; step *= 2) {
        int other = tile.shfl_up(scan, step);
        if (tile.thread_rank() >= step)
            scan += other;
    }
    scans[threadIdx.x] = scan;
    unsigned ballot = __ballot_sync(~0u, threadIdx.x % 3 == 0);
    if (tile.thread_rank() == 0) {
        sums[threadIdx.x / 32] = value;
        ballots[threadIdx.x / 32] = ballot;
    }
}

__global__ void matrix(const float *a, const float *b, float *c, int n)
{
    extern __shared__ float room[];
    float *left = room, *right = room + blockDim.x * blockDim.y, sum = 0;
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    int here = threadIdx.y * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k += blockDim.x) {
        left[here] = a[row * n + k + threadIdx.x];
        right[here] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < blockDim.x; i++)
            sum += left[threadIdx.y * blockDim.x + i] * right[i * blockDim.x + threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ void histogram(const unsigned char *data, int n, unsigned *bins)
{
    __shared__ unsigned mine[16];
    if (threadIdx.x < 16)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i] % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

__global__ void halves(__half *p) { p[threadIdx.x] = __hfma(p[threadIdx.x], __float2half(2), __float2half(1)); }

__global__ void say(int n) { printf("thread %d of %s: %5.2f\n", threadIdx.x, "say", n * 1.5); }

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursive(int *p) { p[threadIdx.x] = fibonacci(threadIdx.x); }

struct Node {
    int value;
    Node *next;
};
__global__ void list(Node *nodes, int *sum)
{
    for (int i = 0; i < 9; i++)
        nodes[i] = {i, i < 8 ? nodes + i + 1 : nullptr};
    for (Node *node = nodes; node; node = node->next)
        *sum += node->value;
    int *heap = (int *)malloc(4 * sizeof(int));
    memset(heap, 0, 4 * sizeof(int));
    heap[2] = 5;
    *sum += heap[0] + heap[2];
    free(heap);
}

int main()
{
    const int n = 5000;
    std::vector<double> doubles(n, 0.5);
    double *d, *sum, total = 0;
    CHECK(cudaMalloc(&d, n * 8));
    CHECK(cudaMalloc(&sum, 8));
    CHECK(cudaMemset(sum, 0, 8));
    CHECK(cudaMemcpy(d, doubles.data(), n * 8, cudaMemcpyHostToDevice));
    apply<<<4, 64>>>(Affine{2, 1}, d, n);
    reduce<double, 256><<<(n + 255) / 256, 256>>>(d, sum, n);
    CHECK(cudaMemcpy(&total, sum, 8, cudaMemcpyDeviceToHost));
    EXPECT(total == 2.0 * n);

    int *ints, host[128];
    unsigned *ballots, hosts[16];
    CHECK(cudaMalloc(&ints, sizeof host + 16));
    CHECK(cudaMalloc(&ballots, sizeof hosts));
    warps<<<1, 128>>>(ints + 128, ballots, ints);
    CHECK(cudaMemcpy(host, ints, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[31] == 31 * 16 && host[33] == 65 && host[127] == 127 * 64 - 95 * 48);
    CHECK(cudaMemcpy(host, ints + 128, 16, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 496 && host[3] == 496 + 3 * 1024);
    CHECK(cudaMemcpy(hosts, ballots, 16, cudaMemcpyDeviceToHost));
    EXPECT(hosts[0] == 0x49249249u);

    const int side = 32;
    std::vector<float> a(side * side), b(side * side), c(side * side);
    for (int i = 0; i < side * side; i++)
        a[i] = i % 7, b[i] = i % 5;
    float *matrices;
    CHECK(cudaMalloc(&matrices, 3 * side * side * 4));
    CHECK(cudaMemcpy(matrices, a.data(), side * side * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(matrices + side * side, b.data(), side * side * 4, cudaMemcpyHostToDevice));
    dim3 grid(side / 8, side / 8), block(8, 8);
    matrix<<<grid, block, 2 * 64 * 4>>>(matrices, matrices + side * side, matrices + 2 * side * side, side);
    CHECK(cudaMemcpy(c.data(), matrices + 2 * side * side, side * side * 4, cudaMemcpyDeviceToHost));
    for (int row = 0; row < side; row++)
        for (int column = 0; column < side; column++) {
            float want = 0;
            for (int k = 0; k < side; k++)
                want += a[row * side + k] * b[k * side + column];
            EXPECT(c[row * side + column] == want);
        }

    std::vector<unsigned char> bytes(n);
    unsigned want[16] = {};
    for (int i = 0; i < n; i++)
        want[(bytes[i] = i * i % 251) % 16]++;
    unsigned char *data;
    CHECK(cudaMalloc(&data, n));
    CHECK(cudaMemcpy(data, bytes.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(ballots, 0, sizeof hosts));
    histogram<<<3, 128>>>(data, n, ballots);
    CHECK(cudaMemcpy(hosts, ballots, sizeof hosts, cudaMemcpyDeviceToHost));
    EXPECT(!memcmp(hosts, want, sizeof want));

    __half *small, few[4] = {__float2half(1), __float2half(2), __float2half(3), __float2half(4)};
    CHECK(cudaMalloc(&small, sizeof few));
    CHECK(cudaMemcpy(small, few, sizeof few, cudaMemcpyHostToDevice));
    halves<<<1, 4>>>(small);
    CHECK(cudaMemcpy(few, small, sizeof few, cudaMemcpyDeviceToHost));
    EXPECT(__half2float(few[3]) == 9);

    recursive<<<1, 12>>>(ints);
    CHECK(cudaMemcpy(host, ints, 48, cudaMemcpyDeviceToHost));
    EXPECT(host[11] == 89);
    Node *nodes;
    CHECK(cudaMalloc(&nodes, 9 * sizeof *nodes));
    CHECK(cudaMemset(ints, 0, 4));
    list<<<1, 1>>>(nodes, ints);
    CHECK(cudaMemcpy(host, ints, 4, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 41);
    say<<<1, 2>>>(3);
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaFuncSetAttribute(matrix, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, matrix));
    EXPECT(attributes.maxDynamicSharedSizeBytes == 100000);
    int least, size;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &size, say, 0, 0));
    EXPECT(size > 0 && least > 0);
    printf("ok\n");
    return 0;
}
