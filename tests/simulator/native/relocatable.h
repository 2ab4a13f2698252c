/* What relocatable_part.cu has for relocatable_main.cu, and the other way round. */
typedef int (*Function)(int);

extern __device__ int shared_counter;
extern __constant__ int limits[2];
extern __device__ Function table[2];

__device__ int twice(int x);
__device__ void add_to_counter(int x);
void other_units_launch(int *out);

template <typename T> __device__ __noinline__ T biggest(T a, T b) { return a > b ? a : b; }
