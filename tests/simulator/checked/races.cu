
#define FENCE(scope) asm volatile("fence.acq_rel." scope ";" ::: "memory")
__device__ int flag, other_flag, data[256], turn, total;
__constant__ int table[32] = {1};
__device__ int load(int *p, bool acquires)
{
    int value;
    if (acquires) asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    else asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}
__device__ void store(int *p, int value, bool releases)
{
    if (releases) asm volatile("st.release.gpu.u32 [%0], %1;" :: "l"(p), "r"(value) : "memory");
    else asm volatile("st.relaxed.gpu.u32 [%0], %1;" :: "l"(p), "r"(value) : "memory");
}
#define KERNEL(name) extern "C" __global__ void name(int right, int *out)
#define T ((int)threadIdx.x)
#define COMPILER asm volatile("" ::: "memory")
#define B ((int)blockIdx.x)
#define WAIT_FOR(b, parity) asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64" \
    " p, [%0], %1; @!p bra W; }" :: "r"(b), "r"(parity) : "memory")
#define WAIT(b) WAIT_FOR(b, 0)
#define BARRIER(name, count) __shared__ unsigned long long name##_word; \
    unsigned name = __cvta_generic_to_shared(&name##_word); \
    if (T == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1; fence.mbarrier_init.release.cluster;" \
        :: "r"(name), "r"(count) : "memory"); \
    __syncthreads()
#define COPY_IN(s, from, b) asm volatile("{ .reg .b64 x; mbarrier.arrive.expect_tx.shared.b64 x, [%2], 256; }" \
    " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" \
    :: "r"((unsigned)__cvta_generic_to_shared(s)), "l"(from), "r"(b) : "memory")
#define PROXY_FENCE asm volatile("fence.proxy.async;" ::: "memory")
#define COPY_OUT(s) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" \
    " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" \
    :: "l"(out), "r"((unsigned)__cvta_generic_to_shared(s)) : "memory")

KERNEL(shift) { int v = out[T + 1]; if (right) __syncthreads(); out[T] = v; }
KERNEL(blocks) { if (right) out[64 * B + T] = B; else out[T] = B; }
KERNEL(bytes) { char *p = (char *)out; p[right ? T : T / 2] = T; }
KERNEL(counter) { if (right) atomicAdd(out, 1); else ++*out; }
KERNEL(atomic_and_plain) { if (T == 0) out[1] = right ? atomicAdd(out, 0) : *out; else atomicAdd(out, 1); }
KERNEL(atomic_scope) { if (right) atomicAdd(out, 1); else atomicAdd_block(out, 1); }
KERNEL(equal_values) { out[0] = right ? 7 : T; }
KERNEL(parity)
{
    __shared__ int s[64];
    s[T] = T;
    if (right) __syncthreads(); else __syncwarp();
    out[T] = s[T ^ 32];
}
KERNEL(half_warp)
{
    __shared__ int s[32];
    s[T] = T;
    if (T < 16) { __syncwarp(0xffff); out[T] = s[right ? 15 - T : 31 - T]; } else out[T] = 0;
}
KERNEL(named)
{
    __shared__ int s[128];
    s[T] = T;
    if (T < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[T] = s[right ? T ^ 32 : T ^ 64];
}
KERNEL(passed_on)  // from warp 0 to 1 to 2 by barriers of two warps each
{
    __shared__ int s[32];
    if (T < 32) s[T] = T;
    if (T < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (right && T >= 32) asm volatile("bar.sync 2, 64;" ::: "memory");
    if (T >= 64) out[T] = s[T - 64];
}
KERNEL(published)
{
    if (B == 0) {
        if (T < 32) data[T] = T;
        __syncthreads();
        if (T == 0) store(&flag, 1, right);
    } else {
        if (T == 0) while (!load(&flag, true)) {}
        __syncthreads();
        out[T] = data[T % 32];
    }
}
KERNEL(unsynchronised_before_release)
{
    if (B == 0) {
        data[T] = T;
        if (right) __syncthreads();
        if (T == 0) store(&flag, 1, true);
    } else {
        if (T == 0) while (!load(&flag, true)) {}
        __syncthreads();
        out[T] = data[T];
    }
}
KERNEL(acquired)
{
    if (T == 0 && B == 0) { data[0] = 1; store(&flag, 1, true); }
    else if (T == 0) { while (!load(&flag, right)) {} out[0] = data[0]; }
}
KERNEL(release_fence)
{
    if (T == 0 && B == 0) { data[0] = 1; if (right) FENCE("gpu"); atomicExch(&flag, 1); }
    else if (T == 0) { while (!atomicAdd(&flag, 0)) {} FENCE("gpu"); out[0] = data[0]; }
}
KERNEL(acquire_fence)
{
    if (T == 0 && B == 0) { data[0] = 1; FENCE("gpu"); atomicExch(&flag, 1); }
    else if (T == 0) { while (!atomicAdd(&flag, 0)) {} if (right) FENCE("gpu"); out[0] = data[0]; }
}
KERNEL(fence_scope)
{
    if (T == 0 && B == 0) { data[0] = 1; if (right) FENCE("gpu"); else FENCE("cta"); atomicExch(&flag, 1); }
    else if (T == 0) { while (!atomicAdd(&flag, 0)) {} FENCE("gpu"); out[0] = data[0]; }
}
KERNEL(acquire_fence_scope)
{
    if (T == 0 && B == 0) { data[0] = 1; FENCE("gpu"); atomicExch(&flag, 1); }
    else if (T == 0) { while (!atomicAdd(&flag, 0)) {} if (right) FENCE("gpu"); else FENCE("cta"); out[0] = data[0]; }
}
KERNEL(fences_within_a_block)
{
    if (T == 0) { data[0] = 1; if (right) FENCE("cta"); atomicExch(&flag, 1); }
    else if (T == 32) { while (!atomicAdd(&flag, 0)) {} FENCE("cta"); out[0] = data[0]; }
}
KERNEL(cumulative)  // block 0 tells block 1, which tells block 2
{
    if (T) return;
    if (B == 0) { data[0] = 1; __threadfence(); atomicExch(&flag, 1); }
    if (B == 1) {
        while (!atomicAdd(&flag, 0)) {}
        if (right) __threadfence();
        atomicExch(&other_flag, 1);
    }
    if (B == 2) { while (!atomicAdd(&other_flag, 0)) {} __threadfence(); out[0] = data[0]; }
}
KERNEL(chain_of_atomics)  // an atomic goes on with the release that it finds, a store ends it
{
    if (T) return;
    if (B == 0) { data[0] = 1; store(&flag, 1, true); }
    if (B == 1) {
        while (!load(&flag, false)) {}
        if (right) atomicAdd(&flag, 1); else store(&flag, 2, false);
    }
    if (B == 2) { while (load(&flag, true) < 2) {} out[0] = data[0]; }
}
KERNEL(lock)
{
    if (T) return;
    while (atomicCAS(&turn, 0, 1)) {}
    __threadfence();
    if (right) ++total;
    __threadfence();
    atomicExch(&turn, 0);
    if (!right) ++total;
}
KERNEL(grid_barrier)
{
    data[64 * B + T] = T;
    if (right) __syncthreads();
    if (T == 0) { __threadfence(); atomicAdd(&flag, 1); while (atomicAdd(&flag, 0) < 2) {} __threadfence(); }
    __syncthreads();
    out[64 * B + T] = data[64 * (1 - B) + T];
}
KERNEL(volatile_flag)
{
    volatile int *p = &flag;
    if (T == 0 && B == 0) { data[0] = 1; if (right) __threadfence(); *p = 1; }
    else if (T == 0) { while (!*p) {} __threadfence(); out[0] = data[0]; }
}
KERNEL(volatile_data)  // it is no flag: nobody polls it
{
    volatile int *p = data;
    if (T) return;
    if (right) { while (atomicCAS(&turn, 0, 1)) {} __threadfence(); }
    *p = B + 1;
    if (right) { __threadfence(); atomicExch(&turn, 0); }
}
KERNEL(volatile_in_a_warp)
{
    __shared__ volatile int s[64];
    s[T] = T;
    s[T + 32] = T;
    if (right) __syncwarp();
    int v = T < 16 ? s[T + 16] : 0;
    if (right) __syncwarp();
    if (T < 16) s[T] += v;
    out[T] = T;
}
KERNEL(vectors) { int4 *p = (int4 *)out; if (right) p[T] = make_int4(T, T, T, T); else p[T & ~1] = p[T]; }
KERNEL(left_behind)
{
    __shared__ int s[64];
    s[T] = T;
    __syncthreads();
    for (int k = 32; k > 0; k /= 2) if (right || T < k) { if (T < k) s[T] += s[T + k]; __syncthreads(); }
    if (T == 0) out[0] = s[0];
}
KERNEL(read_before_shuffle)  // the values that are exchanged have been read: a write behind them is no race
{
    int v = out[T];
    v = __shfl_xor_sync(~0u, v, 1);
    if (right) out[T ^ 1] = v; else { out[T] = v; data[T] = out[T ^ 1]; }
}
KERNEL(arrives)  // who only arrives does not wait
{
    __shared__ int s[32];
    bool writes = T < 32;
    if (writes) s[T] = T;
    if (writes == (right != 0)) asm volatile("bar.arrive 1, 64;" ::: "memory");
    else asm volatile("bar.sync 1, 64;" ::: "memory");
    if (!writes) out[T] = s[T - 32];
}
KERNEL(within_a_warp) { __shared__ int s[32]; s[T] = T; if (right) __syncwarp(); out[T] = s[T ^ 1]; }
KERNEL(shuffle_is_no_barrier)
{
    __shared__ int s[32];
    s[T] = T;
    int v = __shfl_xor_sync(~0u, T, 1);
    if (right) __syncwarp();
    out[T] = s[v];
}
KERNEL(vote_is_no_barrier)
{
    __shared__ int s[64];
    s[T] = T;
    int v = right ? __syncthreads_or(T > 5) : __any_sync(~0u, T > 5);
    out[T] = s[T ^ 33] + v;
}
KERNEL(warp_synchronous)  // as in the days before compute capability 7.0
{
    __shared__ int s[64];
    s[T] = T;
    s[T + 32] = 0;
    for (int k = 16; k > 0; k /= 2) {
        if (right) __syncwarp(); else COMPILER;
        int v = s[T + k];
        if (right) __syncwarp(); else COMPILER;
        s[T] += v;
    }
    if (T == 0) out[0] = s[0];
}
KERNEL(once_around)  // a loop that has one barrier and needs two
{
    __shared__ int s[64];
    for (int k = 0; k < 3; ++k) {
        s[T] = T + k;
        __syncthreads();
        out[T] += s[63 - T];
        if (right) __syncthreads();
    }
}
KERNEL(bins) { __shared__ int s[8]; if (T < 8) s[T] = 0; __syncthreads(); if (right) atomicAdd(&s[T & 7], 1); else ++s[T & 7]; __syncthreads(); if (T < 8) out[T] = s[T]; }
KERNEL(bins_of_a_warp) { int bin = data[T] & 3; if (right) atomicAdd(&out[bin], T); else out[bin] += T; }
KERNEL(sum_without_barriers)
{
    __shared__ int s[64];
    s[T] = T;
    __syncthreads();
    for (int half = 32; half; half /= 2) {
        if (T < half) s[T] += s[T + half];
        if (right) __syncthreads();
    }
    if (!T) out[0] = s[0];
}
KERNEL(flag_within_a_block)
{
    __shared__ int s, ready;
    if (T == 0) ready = 0;
    __syncthreads();
    if (T == 0) { s = out[7] + right; if (right) __threadfence_block(); atomicExch_block(&ready, 1); }
    if (T == 32) { while (!atomicAdd_block(&ready, 0)) {} __threadfence_block(); out[0] = s; }
}
KERNEL(acquire_scope)
{
    int v = 0;
    if (T) return;
    if (B == 0) { data[0] = 1; store(&flag, 1, true); return; }
    do {
        if (right) asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory");
        else asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(v) : "l"(&flag) : "memory");
    } while (!v);
    out[0] = data[0];
}
KERNEL(system_scope)
{
    if (T) return;
    if (right) asm volatile("red.relaxed.sys.global.add.u32 [%0], 1;" :: "l"(out + B / 2) : "memory");
    else if (B == 0) asm volatile("red.relaxed.sys.global.add.u32 [%0], 1;" :: "l"(out) : "memory");
    else asm volatile("red.relaxed.cta.global.add.u32 [%0], 1;" :: "l"(out) : "memory");
}
KERNEL(one_writes) { int v = out[right ? 5 : 0]; if (T == 40) out[0] = v + 1; data[T] = v; }
KERNEL(part_of_a_word) { char *p = (char *)out; if (T < 32) p[right ? 4 * T + 512 : 4 * T + 3] = 1; else data[T] = out[T - 32]; }
KERNEL(in_one_instruction) { out[right ? T : T & ~1] = T; }
KERNEL(equal_in_one_instruction) { out[0] = right ? 7 : T / 16; }
KERNEL(neighbours_in_a_warp) { out[T] = T; if (right) __syncwarp(); data[T] = out[T ^ 1]; }
KERNEL(writer_outside_of_the_mask)
{
    __shared__ int s[32];
    s[T] = T;
    if (right) __syncwarp();
    else if (T < 16) __syncwarp(0xffff);
    if (T < 16) out[T] = s[T + 16];
}
KERNEL(asynchronous_copy)
{
    __shared__ alignas(16) int s[64];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" ::
                 "r"((unsigned)__cvta_generic_to_shared(s + T)), "l"(out + T) : "memory");
    if (right) asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    data[T] = s[63 - T];
}
KERNEL(asynchronous_copy_of_others)  // each thread has waited for its own alone
{
    __shared__ alignas(16) int s[64];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group; cp.async.wait_group 0;" ::
                 "r"((unsigned)__cvta_generic_to_shared(s + T)), "l"(out + T) : "memory");
    if (right) __syncthreads();
    data[T] = s[63 - T];
}
KERNEL(last_block)  // as the sample threadFenceReduction
{
    __shared__ int is_last;
    if (T == 0) {
        data[B] = B + 1;
        if (right) __threadfence();
        is_last = atomicAdd(&flag, 1) == gridDim.x - 1;
        if (right) __threadfence();
    }
    __syncthreads();
    if (is_last && T < gridDim.x) out[T] = data[T];
}
KERNEL(lock_by_orders)
{
    if (T) return;
    int old;
    do {
        if (right) asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(&turn) : "memory");
        else asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(&turn) : "memory");
    } while (old);
    ++total;
    store(&turn, 0, true);
}
KERNEL(beside_the_lock)
{
    if (T) return;
    while (atomicCAS(&turn, 0, 1)) {}
    __threadfence();
    ++total;
    __threadfence();
    atomicExch(&turn, 0);
    if (B == 0 && !right) out[0] = total;
}
KERNEL(two_buffers)  // a producer warp and a consumer warp, with a barrier for what is full and one for what is free
{
    __shared__ int s[32];
    for (int k = 0; k < 3; ++k) {
        if (T < 32) {
            if (k && right) asm volatile("bar.sync 2, 64;" ::: "memory");
            s[T] = k;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[T] += s[T - 32];
            if (k < 2 && right) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
KERNEL(relaxed_and_plain)  // cuda::atomic's loads and stores, and an ordinary load
{
    if (T == 0 && B == 0) store(out, 1, false);
    if (T == 0 && B == 1) data[0] = right ? load(out, false) : out[0];
}
KERNEL(mbarrier)
{
    __shared__ int s[32];
    __shared__ unsigned long long bar;
    unsigned at = __cvta_generic_to_shared(&bar);
    if (T == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(at) : "memory");
    __syncthreads();
    if (T < 32) {
        s[T] = T;
        asm volatile("{ .reg .b64 x; mbarrier.arrive.shared.b64 x, [%0]; }" :: "r"(at) : "memory");
    } else {
        unsigned done = !right;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at) : "memory");
        out[T] = s[T - 32];
    }
}
KERNEL(bulk_copy_in)
{
    __shared__ alignas(16) int s[64];
    __shared__ unsigned long long bar;
    unsigned at = __cvta_generic_to_shared(&bar), to = __cvta_generic_to_shared(s);
    if (T == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(at) : "memory");
        asm volatile("{ .reg .b64 x; mbarrier.arrive.expect_tx.shared.b64 x, [%0], 256; }" :: "r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     :: "r"(to), "l"(out), "r"(at) : "memory");
    }
    __syncthreads();
    unsigned done = !right;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at) : "memory");
    data[T] = s[T];
    if (!right) __nanosleep(1000000);
}
KERNEL(bulk_copy_out)
{
    __shared__ alignas(16) int s[64];
    s[T] = T;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (T == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group;"
                     :: "l"(out), "r"((unsigned)__cvta_generic_to_shared(s)) : "memory");
        if (right) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        s[0] = 7;
        if (!right) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
KERNEL(neighbour_in_a_cluster)
{
    __shared__ int s[32];
    s[T] = T;
    unsigned at = __cvta_generic_to_shared(s + T), there, v;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(B ^ 1));
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (!right) s[T] = 2 * T;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    out[32 * B + T] = v;
}
KERNEL(divided)  // a barrier in both branches of a warp
{
    if (right) __syncthreads();
    else if (T & 1) { out[T] = 1; __syncthreads(); }
    else { out[T] = 2; __syncthreads(); }
}
KERNEL(not_in_the_mask) { __syncwarp(right || T < 16 ? ~0u : 0xffff0000u ^ 1u << T); out[T] = T; }
KERNEL(store_to_a_constant)
{
    int *p = right ? data : (int *)table;
    if (T == 0) p[1] = 7;
    out[T] = table[T];
}
KERNEL(read_only_while_written)  // __ldg(), and const __restrict__, are for what the kernel does not write
{
    out[T] = T;
    __syncthreads();
    int v = 0;
    if (right) v = out[T ^ 32];
    else asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(out + (T ^ 32)));
    __syncthreads();
    out[T] = v;
}
KERNEL(read_only_one_for_all)
{
    if (T == 0) out[0] = 5;
    __syncthreads();
    int v = 0;
    if (right) v = out[0];
    else asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(out));
    data[T] = v;
}
KERNEL(restricted)  // the parts do not overlap, or by one
{
    const int *__restrict__ in = out + (right ? 64 : 63);
    out[T] = T;
    __syncthreads();
    out[128 + T] = __ldg(in + T);
}
KERNEL(store_to_a_parameter)
{
    unsigned long long at;
    asm volatile("{ .reg .u64 a; mov.u64 a, store_to_a_parameter_param_0; cvta.param.u64 %0, a; }" : "=l"(at));
    int *p = right ? data : (int *)at;
    if (T == 0) asm volatile("st.u32 [%0], 7;" :: "l"(p) : "memory");
    out[T] = T;
}
KERNEL(exits_while_it_is_read)
{
    __shared__ int s[32];
    s[T] = T;
    unsigned at = __cvta_generic_to_shared(s + T), there, v;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(B ^ 1));
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
    if (right) asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    out[32 * B + T] = v;
}
KERNEL(exits_near_an_arrival)  // block 1 frees what block 0 has filled
{
    __shared__ unsigned long long full, freed;
    __shared__ int s[32];
    unsigned f = __cvta_generic_to_shared(&full), e = __cvta_generic_to_shared(&freed), there;
    if (T == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32; mbarrier.init.shared.b64 [%1], 32;" :: "r"(f), "r"(e) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    unsigned other = B ^ 1, at = B == 0 ? f : e;
    if (B == 0) {
        unsigned data_there;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(data_there) : "r"((unsigned)__cvta_generic_to_shared(s + T)), "r"(other));
        asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(data_there), "r"(T) : "memory");
    }
    if (B == 1) { WAIT(f); out[T] = s[T ^ 1]; }
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(other));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(there) : "memory");
    if (B == 0 && right) WAIT(e);
    if (B == 0) for (int k = 0; k < 2000; ++k) *(volatile int *)(out + 64 + T) = k;
}
KERNEL(written_without_a_proxy_fence)
{
    __shared__ alignas(16) int s[64];
    s[T] = T;
    if (right) PROXY_FENCE;
    __syncthreads();
    if (T == 0) COPY_OUT(s);
}
KERNEL(proxy_fence_before_the_write)
{
    __shared__ alignas(16) int s[64];
    if (!right) PROXY_FENCE;
    s[T] = T;
    if (right) PROXY_FENCE;
    __syncthreads();
    if (T == 0) COPY_OUT(s);
}
KERNEL(proxy_fence_of_one)  // which is for what it knows: behind the barrier for all
{
    __shared__ alignas(16) int s[64];
    s[T] = T;
    if (T == 0 && !right) PROXY_FENCE;
    __syncthreads();
    if (T == 0 && right) PROXY_FENCE;
    if (T == 0) COPY_OUT(s);
}
KERNEL(global_memory_by_a_copy)
{
    __shared__ alignas(16) int s[64];
    __shared__ unsigned long long bar;
    unsigned at = __cvta_generic_to_shared(&bar), to = __cvta_generic_to_shared(s);
    if (T == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(at) : "memory");
    out[T] = T;
    if (right) PROXY_FENCE;
    __syncthreads();
    if (T == 0) {
        asm volatile("{ .reg .b64 x; mbarrier.arrive.expect_tx.shared.b64 x, [%0], 256; }" :: "r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     :: "r"(to), "l"(out), "r"(at) : "memory");
    }
    WAIT(at);
    data[T] = s[T];
}
KERNEL(matrix_of_threads)  // wgmma reads its factors by the other proxy, too
{
    __shared__ alignas(128) unsigned short s[64 * 16 + 16 * 8];
    for (int i = T; i < 64 * 16 + 16 * 8; i += 128) s[i] = 0x3C00;
    if (right) PROXY_FENCE;
    __syncthreads();
    unsigned at = __cvta_generic_to_shared(s);
    auto described = [](unsigned where) {
        return (unsigned long long)(where >> 4 & 0x3FFF) | 8ull << 16 | 16ull << 32;
    };
    unsigned long long a = described(at), b = described(at + 64 * 16 * 2);
    float d[4] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[T] = d[0] + d[1] + d[2] + d[3];
}
KERNEL(other_counts)  // the threads of a barrier disagree on how many they are
{
    if (T < 32 && !right) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 1, 96;" ::: "memory");
    out[T] = T;
}
KERNEL(more_than_the_count)
{
    if (right) asm volatile("bar.sync 1, 96;" ::: "memory");
    else asm volatile("bar.sync 1, 64;" ::: "memory");
    out[T] = T;
}
KERNEL(arrives_with_another_count)
{
    if (T < 32) asm volatile("bar.arrive 1, 64;" ::: "memory");
    __syncthreads();
    if (T >= 32 && right) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (T >= 32 && !right) asm volatile("bar.sync 1, 32;" ::: "memory");
    out[T] = T;
}
KERNEL(copied_over_while_it_is_read)  // the next copy may come before all have read what the last one brought
{
    __shared__ alignas(16) int s[64];
    BARRIER(full, 1);
    int sum = 0;
    for (int i = 0; i < 2; ++i) {
        if (T == 0) COPY_IN(s, out + 64 * i, full);
        WAIT_FOR(full, i);
        sum += s[63 - T];
        if (right) __syncthreads();
    }
    data[T] = sum;
}
KERNEL(a_stage_is_not_given_back)  // two stages: who copies waits until all have given one back
{
    __shared__ alignas(16) int s[2][64];
    BARRIER(full, 1);
    BARRIER(full_too, 1);
    BARRIER(empty, 64);
    BARRIER(empty_too, 64);
    int sum = 0;
    if (T == 0) COPY_IN(s[0], out, full);
    for (int i = 0; i < 4; ++i) {
        unsigned f = i & 1 ? full_too : full, next = i & 1 ? full : full_too, e = i & 1 ? empty : empty_too;
        if (T == 0 && i < 3) {
            if (right && i) WAIT_FOR(e, (i - 1) / 2 & 1);
            COPY_IN(s[i & 1 ^ 1], out + 64 * (i + 1), next);
        }
        WAIT_FOR(f, i / 2 & 1);
        sum += s[i & 1][63 - T];
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(i & 1 ? empty_too : empty) : "memory");
    }
    data[T] = sum;
}
KERNEL(copied_while_it_is_written)  // a copy out of global memory, which another block writes
{
    __shared__ alignas(16) int s[64];
    BARRIER(full, 1);
    if (B == 0 && T < 32) out[(right ? 64 : 0) + T] = T;
    if (B == 0) { PROXY_FENCE; return; }
    if (T == 0) { __nanosleep(100); COPY_IN(s, out, full); }
    WAIT(full);
    data[T] = s[T];
}
KERNEL(written_after_the_copy)  // in place: who waits for the copy may write what it has read
{
    __shared__ alignas(16) int s[64];
    BARRIER(full, 1);
    if (T == 32) COPY_IN(s, out, full);
    if (right || T < 32) WAIT(full);
    out[T] = right ? s[T] + 1 : T;
    if (!right) WAIT(full);
}
KERNEL(only_its_reads_have_ended)  // .read: the source may be overwritten, and the result is not there yet
{
    __shared__ alignas(16) int s[64];
    s[T] = T;
    PROXY_FENCE;
    __syncthreads();
    if (T == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group;"
                     :: "l"(out), "r"((unsigned)__cvta_generic_to_shared(s)) : "memory");
        if (right) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        else asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
    data[T] = out[T ^ 1];
}
KERNEL(copies_to_one_place)  // of two blocks; they may add to it
{
    __shared__ alignas(16) int s[64];
    s[T] = T + B;
    PROXY_FENCE;
    __syncthreads();
    if (T == 0 && right)
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 256;"
                     " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
                     :: "l"(out), "r"((unsigned)__cvta_generic_to_shared(s)) : "memory");
    if (T == 0 && !right) COPY_OUT(s);
}
KERNEL(factor_is_overwritten)  // wgmma reads its factors until it was waited for
{
    __shared__ alignas(128) unsigned short s[64 * 16 + 16 * 8];
    for (int i = T; i < 64 * 16 + 16 * 8; i += 128) s[i] = 0x3C00;
    PROXY_FENCE;
    __syncthreads();
    unsigned at = __cvta_generic_to_shared(s);
    auto described = [](unsigned where) {
        return (unsigned long long)(where >> 4 & 0x3FFF) | 8ull << 16 | 16ull << 32;
    };
    unsigned long long a = described(at), b = described(at + 64 * 16 * 2);
    float d[4] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int i = 0; i < 2; ++i)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                     " wgmma.commit_group.sync.aligned;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b) : "memory");
    if (right) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    else asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    __syncthreads();
    s[T] = 0;
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[T] = d[0] + d[1] + d[2] + d[3];
}
KERNEL(turns)  // blocks wait for each other by a volatile word, which each sets in its turn
{
    volatile int *p = &turn;
    if (T) return;
    while (*p != B) __nanosleep(100);
    if (right) __threadfence();
    out[0] += B;
    if (right) __threadfence();
    *p = B + 1;
}
KERNEL(factor_is_given_back)  // one warp waits for the products of its warpgroup, and tells who copies
{
    __shared__ alignas(128) unsigned short s[64 * 16 + 16 * 8];
    BARRIER(empty, 1);
    for (int i = T; i < 64 * 16 + 16 * 8; i += 256) s[i] = 0x3C00;
    PROXY_FENCE;
    __syncthreads();
    if (T >= 128) {
        if (T == 128) {
            WAIT(empty);
            for (int i = 0; i < 32; ++i) s[32 * i] = 0;
        }
        return;
    }
    unsigned at = __cvta_generic_to_shared(s);
    auto described = [](unsigned where) {
        return (unsigned long long)(where >> 4 & 0x3FFF) | 8ull << 16 | 16ull << 32;
    };
    unsigned long long a = described(at), b = described(at + 64 * 16 * 2);
    float d[4] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 " wgmma.commit_group.sync.aligned;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b) : "memory");
    if (right) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (T == 1) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(empty) : "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[T] = d[0] + d[1] + d[2] + d[3];
}
