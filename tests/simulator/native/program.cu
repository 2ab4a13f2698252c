/* A CUDA C++ program as nvcc users write them: launches, templates, variables of the device, events. */
#include <cstdio>
#include <cstring>
#include <vector>

__device__ float scale = 1;
__constant__ float offsets[4];
__managed__ int visits = 5;

__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] * scale + y[i] + offsets[i % 4];
}

template <typename T> __global__ void fill(T *p, T value, int n)
{
    extern __shared__ int room[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    room[threadIdx.x] = i;
    __syncthreads();
    if (i < n)
        p[i] = value + room[threadIdx.x] - i;
    if (i == 0)
        visits += 1;
}

__global__ void outside(int *p) { p[threadIdx.x + 1000] = 1; }

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t status = (call);                                           \
        if (status != cudaSuccess) {                                           \
            printf("%s: %s\n", #call, cudaGetErrorString(status));             \
            return 3;                                                          \
        }                                                                      \
    } while (0)

int main(int count, char **arguments)
{
    const int n = 10000;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; i++)
        x[i] = i;
    float *dx, *dy, two = 2, numbers[4] = {0, 1, 2, 3}, back[4];
    CHECK(cudaMalloc(&dx, n * 4));
    CHECK(cudaMalloc(&dy, n * 4));
    CHECK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
    visits = 7;
    fill<float><<<(n + 255) / 256, 256, 1024>>>(dy, 2, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyToSymbol(scale, &two, 4));
    CHECK(cudaMemcpyToSymbol(offsets, numbers, 16));
    CHECK(cudaMemcpyFromSymbol(back, offsets, 12, 4));
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(start));
    saxpy<<<(n + 255) / 256, 256>>>(3, dx, dy, n);
    CHECK(cudaEventRecord(end));
    CHECK(cudaDeviceSynchronize());
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    CHECK(cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost));
    int bad = milliseconds < 0 || memcmp(back, numbers + 1, 12) || visits != 8;
    for (int i = 0; i < n; i++)
        bad += y[i] != 6.0f * i + 2 + i % 4;
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, saxpy));
    int blocks;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, saxpy, 256, 0));
    CHECK(cudaFree(dx));
    printf("%d bad, %d blocks of %d\n", bad, blocks, attributes.maxThreadsPerBlock);
    if (count > 1) {
        outside<<<1, 64>>>((int *)dy + n);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    }
    return bad != 0;
}
