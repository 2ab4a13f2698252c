/* Several units of relocatable device code: functions, variables and templates of one are used in another. */
#include <cooperative_groups.h>

#include "check.h"
#include "relocatable.h"

__device__ int shared_counter = 100;
__managed__ int managed_total = 1;
static __device__ int own = 1; /* the other unit has one of the same name */

__global__ void use(int *out)
{
    int i = threadIdx.x;
    out[i] = twice(i) + limits[i % 2] + own + biggest<int>(i, 16) + table[1](i);
    if (i == 0) {
        add_to_counter(5);
        managed_total += shared_counter;
    }
}

__global__ void grid_sum(const int *values, int *partial, int *total)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0)
        partial[blockIdx.x] = values[blockIdx.x] * 2;
    grid.sync();
    if (grid.thread_rank() == 0)
        for (int i = 0; i < gridDim.x; i++)
            *total += partial[i];
}

int main()
{
    int *out, host[32], numbers[2] = {1000, 2000};
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemcpyToSymbol(limits, numbers, sizeof numbers));
    use<<<1, 32>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        EXPECT(host[i] == 2 * i + numbers[i % 2] + 1 + (i > 16 ? i : 16) + 30 * i);
    int counter;
    CHECK(cudaMemcpyFromSymbol(&counter, shared_counter, sizeof counter));
    EXPECT(counter == 105 && managed_total == 106);
    other_units_launch(out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[3] == 2 * 3 + 7);

    int *values, *partial, *total;
    CHECK(cudaMallocManaged(&values, 8 * 4));
    CHECK(cudaMallocManaged(&partial, 8 * 4));
    CHECK(cudaMallocManaged(&total, 4));
    *total = 0;
    for (int i = 0; i < 8; i++)
        values[i] = i;
    void *arguments[] = {&values, &partial, &total};
    CHECK(cudaLaunchCooperativeKernel((void *)grid_sum, dim3(8), dim3(32), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(*total == 56);
    printf("ok\n");
    return 0;
}
