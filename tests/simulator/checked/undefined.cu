struct Padded { char c; int i; short s; double d; };
struct alignas(16) Wide { int a, b, c; };
typedef unsigned char u8;
extern "C" {
// Bytes that are moved, and never looked at.
__global__ void ok_padding_through_memory(const u8 *in, int *, int *out)
{
    __shared__ Padded s[32];
    Padded p; p.c = in[threadIdx.x]; p.i = 1; p.s = 2; p.d = 3;
    s[threadIdx.x] = p;
    __syncthreads();
    Padded q = s[31 - threadIdx.x];
    out[threadIdx.x] = q.c + q.i + q.s + (int)q.d;
}
__global__ void ok_alignment(const u8 *, int *fresh, int *out)
{
    __shared__ Wide s[32];
    Wide w; w.a = 1; w.b = 2; w.c = 3;
    s[threadIdx.x] = w;
    __syncthreads();
    *(Wide *)(fresh + 4 * threadIdx.x) = s[31 - threadIdx.x];
    out[threadIdx.x] = fresh[4 * threadIdx.x + 2];
}
__global__ void ok_vector_of_which_one_is_used(const u8 *, int *fresh, int *out)
{
    fresh[4 * threadIdx.x] = 5;
    int4 v = ((int4 *)fresh)[threadIdx.x];
    out[threadIdx.x] = v.x;
}
__global__ void bug_vector_of_which_two_are_used(const u8 *, int *fresh, int *out)
{
    fresh[4 * threadIdx.x] = 5;
    int4 v = ((int4 *)fresh)[threadIdx.x];
    out[threadIdx.x] = v.x + v.y;  // used
}
// Parts of words.
__global__ void ok_masked_out(const u8 *in, int *fresh, int *out)
{
    ((u8 *)fresh)[4 * threadIdx.x + 1] = in[threadIdx.x];
    unsigned v = fresh[threadIdx.x];
    out[threadIdx.x] = (v >> 8 & 255) == 1 ? v & 0xff00 : 7;
}
__global__ void bug_mask_of_the_wrong_byte(const u8 *in, int *fresh, int *out)
{
    ((u8 *)fresh)[4 * threadIdx.x + 1] = in[threadIdx.x];
    unsigned v = fresh[threadIdx.x];
    if ((v & 0xff00ff) == 1) out[threadIdx.x] = 7;  // used
}
__global__ void ok_bit_field(const u8 *in, int *fresh, int *out)
{
    unsigned v = fresh[threadIdx.x];
    fresh[threadIdx.x] = (v & ~0x3ffu) | in[threadIdx.x];
    out[threadIdx.x] = fresh[threadIdx.x] & 0x3ff;
}
__global__ void bug_bit_field(const u8 *in, int *fresh, int *out)
{
    unsigned v = fresh[threadIdx.x];
    fresh[threadIdx.x] = (v & ~0x3ffu) | in[threadIdx.x];
    out[threadIdx.x] = fresh[threadIdx.x] % 0x401;  // used
}
__global__ void ok_low_bits_of_a_sum(const u8 *in, int *fresh, int *out)
{
    ((u8 *)fresh)[4 * threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = fresh[threadIdx.x] + 3 & 255;
}
__global__ void bug_high_bits_of_a_sum(const u8 *in, int *fresh, int *out)
{
    ((u8 *)fresh)[4 * threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = fresh[threadIdx.x] + 3 & 511;  // used
}
__global__ void ok_permuted(const u8 *in, int *fresh, int *out)
{
    ((u8 *)fresh)[4 * threadIdx.x + 2] = in[threadIdx.x];
    out[threadIdx.x] = __byte_perm(fresh[threadIdx.x], 0, 0x4442);
}
__global__ void bug_permuted(const u8 *in, int *fresh, int *out)
{
    ((u8 *)fresh)[4 * threadIdx.x + 2] = in[threadIdx.x];
    out[threadIdx.x] = __byte_perm(fresh[threadIdx.x], 0, 0x4432) * 3;  // used
}
// Selections, branches, addresses.
__global__ void ok_computed_but_not_chosen(const u8 *in, int *fresh, int *out)
{
    int v = fresh[threadIdx.x] * 3;
    out[threadIdx.x] = in[threadIdx.x] == 1 ? 4 : v;
}
__global__ void bug_computed_and_chosen(const u8 *in, int *fresh, int *out)
{
    int v = fresh[threadIdx.x] * 3;  // used
    out[threadIdx.x] = in[threadIdx.x] == 2 ? 4 : v;
}
__global__ void bug_condition(const u8 *in, int *fresh, int *out)
{
    if (fresh[threadIdx.x] > 0) out[threadIdx.x] = 1;  // used
}
__global__ void bug_address(const u8 *in, int *fresh, int *out)
{
    out[fresh[threadIdx.x] & 31] = 1;  // used
}
// Copies by threads: what nobody uses is nobody's business, but for values that go to global memory.
__global__ void ok_moved_within_shared_memory(const u8 *, int *, int *out)
{
    __shared__ int a[32], b[32];
    if (threadIdx.x & 1) a[threadIdx.x] = 1;
    __syncthreads();
    b[31 - threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    if (!(threadIdx.x & 1)) out[threadIdx.x] = b[threadIdx.x];
}
__global__ void bug_moved_to_global_memory(const u8 *, int *, int *out)
{
    __shared__ int a[32];
    if (threadIdx.x & 1) a[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x];  // used
}
// Exchanges.
__global__ void ok_exchange_without_a_result(const u8 *, int *fresh, int *out)
{
    atomicExch(fresh + threadIdx.x, 3);
    out[threadIdx.x] = fresh[threadIdx.x];
}
__global__ void ok_exchange_with_a_result_that_nobody_uses(const u8 *, int *fresh, int *out)
{
    int old;
    asm volatile("atom.global.exch.b32 %0, [%1], 3;" : "=r"(old) : "l"(fresh + threadIdx.x) : "memory");
    out[threadIdx.x] = fresh[threadIdx.x] == 3 ? 1 : old;
}
__global__ void bug_exchange_with_a_result(const u8 *, int *fresh, int *out)
{
    out[threadIdx.x] = atomicExch(fresh + threadIdx.x, 3) + 1;  // used
}
__global__ void ok_counter(const u8 *, int *fresh, int *out)
{
    atomicExch(fresh + threadIdx.x, 0);
    out[threadIdx.x] = atomicAdd(fresh + threadIdx.x, 1);
}
__global__ void bug_counter(const u8 *, int *fresh, int *)
{
    atomicAdd(fresh + threadIdx.x, 1);  // used
}
__global__ void ok_bits_by_atomics(const u8 *in, int *fresh, int *out)
{
    atomicAnd(fresh + (threadIdx.x & ~1), 0xffff0000);  // all bits below are 0 from now on
    atomicOr(fresh + (threadIdx.x & ~1), in[0] << (threadIdx.x & 1));
    out[threadIdx.x] = fresh[threadIdx.x & ~1] & 0xffff;
}
__global__ void bug_bits_by_atomics(const u8 *in, int *fresh, int *out)
{
    atomicAnd(fresh + (threadIdx.x & ~1), 0xffff0001);
    atomicOr(fresh + (threadIdx.x & ~1), in[0] << 1);
    out[threadIdx.x] = (fresh[threadIdx.x & ~1] & 0xffff) % 7;  // used
}
// Shuffles, and functions.
__global__ void ok_shuffled(const u8 *, int *fresh, int *out)
{
    if (threadIdx.x < 16) fresh[threadIdx.x] = 1;
    int v = fresh[threadIdx.x];
    out[threadIdx.x] = __shfl_sync(~0u, v, threadIdx.x & 15) + 1;
}
__global__ void bug_shuffled(const u8 *, int *fresh, int *out)
{
    if (threadIdx.x < 16) fresh[threadIdx.x] = 1;
    int v = fresh[threadIdx.x];
    out[threadIdx.x] = __shfl_sync(~0u, v, threadIdx.x ^ 16) + 1;  // used
}
__global__ void bug_vote(const u8 *, int *fresh, int *out)
{
    out[threadIdx.x] = __any_sync(~0u, fresh[threadIdx.x] == 3);  // used
}
}
__device__ __noinline__ int first(Padded p, int other) { return p.i; }
__device__ __noinline__ int passed(int v) { return v; }
extern "C" {
__global__ void ok_argument_that_is_not_used(const u8 *, int *fresh, int *out)
{
    Padded p; p.i = 3;
    out[threadIdx.x] = first(p, fresh[threadIdx.x]);
}
__global__ void bug_result_of_a_function(const u8 *, int *fresh, int *out)
{
    out[threadIdx.x] = passed(fresh[threadIdx.x]) + 1;  // used
}
// The stack, and copies of each kind.
__global__ void ok_array_on_the_stack(const u8 *in, int *, int *out)
{
    int a[8];
    for (int k = 0; k < in[0]; ++k) a[k + in[k]] = k;
    out[threadIdx.x] = a[in[1]];
}
__global__ void bug_array_on_the_stack(const u8 *in, int *, int *out)
{
    int a[8];
    for (int k = 0; k < in[0]; ++k) a[k + in[k]] = k;
    out[threadIdx.x] = a[1 + in[1]] + 1;  // used
}
__global__ void ok_copied_asynchronously(const u8 *, int *fresh, int *out)
{
    __shared__ alignas(16) int s[128];
    fresh[4 * threadIdx.x] = 1;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.wait_all;" ::
                 "r"((unsigned)__cvta_generic_to_shared(s + 4 * threadIdx.x)), "l"(fresh + 4 * threadIdx.x)
                 : "memory");
    out[threadIdx.x] = s[4 * threadIdx.x] + 1;
}
__global__ void bug_copied_asynchronously(const u8 *, int *fresh, int *out)
{
    __shared__ alignas(16) int s[128];
    fresh[4 * threadIdx.x] = 1;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16; cp.async.wait_all;" ::
                 "r"((unsigned)__cvta_generic_to_shared(s + 4 * threadIdx.x)), "l"(fresh + 4 * threadIdx.x)
                 : "memory");
    out[threadIdx.x] = s[4 * threadIdx.x + 3] + 1;  // used
}
// Loops: a register that is undefined in one turn and defined in the next.
__global__ void ok_defined_in_the_end(const u8 *in, int *fresh, int *out)
{
    int v = fresh[threadIdx.x];
    for (int k = 0; k < in[0]; ++k) v = k;
    out[threadIdx.x] = v + 1;
}
__global__ void bug_not_defined_in_the_end(const u8 *in, int *fresh, int *out)
{
    int v = fresh[threadIdx.x];
    for (int k = in[0]; k < threadIdx.x; ++k) v = k;
    out[threadIdx.x] = v + 1;  // used
}
}
