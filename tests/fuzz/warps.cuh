// What the kernels of warps.py call. Threads are numbered in the block; `group` has a bit for each lane that takes
// part, and what would come from a lane outside it is the lane's own.
extern __shared__ u64 memory[];
#define THREAD (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
#define THREADS (blockDim.x * blockDim.y * blockDim.z)
#define LANE (THREAD & 31)
#define WARP (THREAD & ~31)
#define BLOCK blockIdx.x
DEVICE static u32 count(u32 group) { return __popc(group); }
DEVICE static u32 first(u32 group) { return __ffs(group) - 1; }

// LANES

#define SHUFFLE(name, from, shuffle) \
    template <class T> DEVICE static T name(u32 group, T x, u32 by, u32 width) \
    { T y = shuffle(group, x, by, width); return group >> from(LANE, by, width) & 1 ? y : x; }
SHUFFLE(from_above, above, __shfl_up_sync)
SHUFFLE(from_below, below, __shfl_down_sync)
SHUFFLE(from_across, across, __shfl_xor_sync)
template <class T> DEVICE static T taken(u32 group, T x, u32 from) { return __shfl_sync(group, x, from); }
template <class T> DEVICE static u32 same(u32 group, T x) { return __match_any_sync(group, x); }
template <class T> DEVICE static u32 all_same(u32 group, T x)
{ int are; u32 found = __match_all_sync(group, x, &are); return found + are; }
#define ballot __ballot_sync
#define any_of(group, x) (__any_sync(group, x) != 0)
#define all_of(group, x) (__all_sync(group, x) != 0)
#define sum_of __reduce_add_sync
#define least_of __reduce_min_sync
#define most_of __reduce_max_sync
#define both_of __reduce_and_sync
#define any_bits __reduce_or_sync
#define odd_bits __reduce_xor_sync
#define together __syncwarp
#define barrier __syncthreads
DEVICE static void barrier_of(u32 which, u32 threads)
{ asm volatile("barrier.sync %0, %1;" :: "r"(which), "r"(threads) : "memory"); }
#define barrier_count __syncthreads_count
#define barrier_and(x) (__syncthreads_and(x) != 0)
#define barrier_or(x) (__syncthreads_or(x) != 0)
#define add atomicAdd
#define exclusive atomicXor
#define least atomicMin
#define most atomicMax
#define both atomicAnd
#define either_of atomicOr
#define replaced atomicCAS

// PROGRAM

extern "C" __global__ void
run(const u32 *__restrict__ a, const u32 *b, const float *c, const double *e, u64 *out, u64 *all)
{
    u32 i = BLOCK * THREADS + THREAD;
    out[i] = top(a[i], b[i], c[i], e[i], all);
}
