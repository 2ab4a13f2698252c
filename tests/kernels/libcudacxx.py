"""libcu++: atomics, barriers, latches, semaphores, pipelines, copies in stages, the standard library."""

from __future__ import annotations

import math

import numpy as np

from .kernel import Run, kernel
from .values import f32, f64, floats, i32, i64, integers, near, same, u16, u32, zeros

ATOMICS = r"""
#include <cuda/atomic>
#include <cuda/semaphore>
#include <cuda/latch>
#include <cuda/barrier>
#include <cuda/std/atomic>
using namespace cuda;
extern "C" __global__ void operations(int *x, unsigned *u, long long *l, double *d, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    atomic_ref<int, thread_scope_device> sum(x[0]), most(x[1]), least(x[2]), bits(x[3]), either(x[4]),
        odd(x[5]);
    sum.fetch_add(v, cuda::std::memory_order_relaxed);
    most.fetch_max(v, cuda::std::memory_order_acq_rel);
    least.fetch_min(v);
    bits.fetch_and(~(1 << (v & 31)));
    either |= 1 << (v & 15);
    odd ^= v;
    atomic_ref<unsigned, thread_scope_system> count(u[0]);
    count++;
    atomic_ref<long long, thread_scope_block>(l[blockIdx.x]) -= v;
    atomic_ref<double, thread_scope_device>(d[0]).fetch_add(v * 0.5);
    atomic_ref<double> product(d[1]);
    double old = product.load();
    while (!product.compare_exchange_weak(old, old * (i % 3 ? 0.5 : 4), cuda::std::memory_order_release,
        cuda::std::memory_order_relaxed)) {}
}
extern "C" __global__ void bytes(unsigned char *flags, unsigned short *shorts, int *won)
{
    atomic_ref<unsigned char> flag(flags[threadIdx.x % 5]);
    if (!flag.exchange(1)) atomicAdd(won, 1);
    atomic_ref<unsigned short> word(shorts[threadIdx.x & 1]);
    word.fetch_add(257);
    unsigned char expected = 1;
    flag.compare_exchange_strong(expected, 2);
}
struct alignas(8) Pair { float value; int where; };
extern "C" __global__ void structs(const float *x, Pair *best)
{
    atomic_ref<Pair, thread_scope_device> most(*best);
    Pair mine{x[blockIdx.x * blockDim.x + threadIdx.x], (int)(blockIdx.x * blockDim.x + threadIdx.x)};
    Pair seen = most.load(cuda::std::memory_order_relaxed);
    while (mine.value > seen.value && !most.compare_exchange_strong(seen, mine)) {}
}
__device__ cuda::binary_semaphore<thread_scope_device> gate(1);
__device__ volatile int shared_counter;
extern "C" __global__ void mutex(int *out)
{
    for (int i = 0; i < 3; ++i) {
        if (threadIdx.x == 0) {
            gate.acquire();
            shared_counter = shared_counter + blockIdx.x + 1;
            atomicMax(out, shared_counter);
            __threadfence();
            gate.release();
        }
    }
}
extern "C" __global__ void slots(int *inside, int *most)
{
    using Room = counting_semaphore<thread_scope_block, 4>;
    __shared__ alignas(Room) unsigned char storage[sizeof(Room)];
    Room &room = *reinterpret_cast<Room *>(storage);
    if (threadIdx.x == 0) new (&room) Room(4);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        room.acquire();
        int now = atomicAdd(inside, 1) + 1;
        atomicMax(most, now);
        __nanosleep(1000);
        atomicSub(inside, 1);
        room.release();
    }
}
extern "C" __global__ void latches(int *out)
{
    using Latch = latch<thread_scope_block>;
    __shared__ alignas(Latch) unsigned char storage[sizeof(Latch)];
    __shared__ int value[64];
    Latch &ready = *reinterpret_cast<Latch *>(storage);
    if (threadIdx.x == 0) new (&ready) Latch(64);
    __syncthreads();
    if (threadIdx.x < 64) {
        value[threadIdx.x] = threadIdx.x * threadIdx.x;
        ready.count_down();
    } else {
        ready.wait();
        int sum = 0;
        for (int i = 0; i < 64; ++i) sum += value[i];
        out[threadIdx.x - 64] = sum + threadIdx.x;
    }
}
extern "C" __global__ void wait_notify(int *out)
{
    __shared__ atomic<int, thread_scope_block> stage;
    if (threadIdx.x == 0) stage.store(0);
    __syncthreads();
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        for (int now = stage.load(); now != warp; now = stage.load()) stage.wait(now);
        out[warp] = clock() ? warp * 10 : 0;
        stage.fetch_add(1);
        stage.notify_all();
    }
}
"""


@kernel(ATOMICS, after="libcu++, cuda::atomic_ref", against="numpy.sum, max, min, bitwise_and, bitwise_xor")
def atomics_of_each_kind(run: Run) -> None:
    """Every operation, scope and several orders, on four types; a product by weak compare and swap."""
    v = integers(-1000, 1000, 192)
    x, u, longs, d = (
        np.array([0, -9999, 9999, -1, 0, 0], i32),
        zeros(1, u32),
        zeros(3, i64),
        np.array([0.0, 1.0]),
    )
    run("operations", 3, 64, x, u, longs, d, v)
    masks = ~(np.int64(1) << (v & 31).astype(i64))
    bits = np.bitwise_and.reduce(masks.astype(u32))
    either = np.bitwise_or.reduce(1 << (v & 15))
    same(x.view(u32)[3:4], [bits])
    same(x[[0, 1, 2, 4, 5]], [v.sum(), v.max(), v.min(), either, np.bitwise_xor.reduce(v)])
    same(longs, -v.reshape(3, 64).sum(1))
    assert u[0] == 192 and d[0] == v.sum() / 2 and d[1] == 1


@kernel(ATOMICS, after="libcu++, cuda::atomic_ref of small types", against="counts")
def atomics_of_bytes(run: Run) -> None:
    """Bytes and shorts, which the hardware has no atomics for: neighbours stay."""
    flags, shorts, won = zeros(8, "u1"), np.array([0, 5, 7, 9], u16), zeros(1, i32)
    run("bytes", 1, 100, flags, shorts, won)
    same(flags, [2] * 5 + [0] * 3)
    same(shorts, [257 * 50 % 65536, 5 + 257 * 50, 7, 9])
    assert won[0] >= 5


@kernel(ATOMICS, after="libcu++, cuda::atomic_ref of a struct", against="numpy.argmax")
def atomics_of_structs(run: Run) -> None:
    """A float and its place in one 64-bit compare and swap."""
    x, best = np.random.default_rng(0).permutation(300).astype(f32), np.array([(-1, -1)], "f4,i4")
    run("structs", 3, 100, x, best)
    assert best[0].tolist() == (299, x.argmax())


@kernel(ATOMICS, after="libcu++, cuda::binary_semaphore, cuda::counting_semaphore", against="counts")
def semaphores(run: Run) -> None:
    """A counter that only its holder changes, from 20 blocks; four of eight warps inside at a time."""
    out = zeros(1, i32)
    run.assign("shared_counter", zeros(1, i32))
    run("mutex", 20, 32, out)
    assert out[0] == 3 * sum(range(1, 21))
    inside, most = zeros(1, i32), zeros(1, i32)
    run("slots", 1, 256, inside, most)
    assert inside[0] == 0 and 1 <= most[0] <= 4


@kernel(ATOMICS, after="libcu++, cuda::latch, cuda::atomic::wait", against="closed forms")
def latch_and_wait(run: Run) -> None:
    """Some threads count down, others wait; warps that take turns by wait and notify."""
    out = zeros(32, i32)
    run("latches", 1, 96, out)
    same(out, sum(i * i for i in range(64)) + np.arange(64, 96))
    turns = np.full(5, -1, i32)
    run("wait_notify", 1, 160, turns)
    same(turns, np.arange(5) * 10)


PIPELINES = r"""
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
using cuda::thread_scope_block;
using cuda::thread_scope_thread;
extern "C" __global__ void split(const int *in, int *out, int rounds)
{
    __shared__ cuda::barrier<thread_scope_block> all;
    __shared__ int values[96];
    if (threadIdx.x == 0) init(&all, blockDim.x);
    __syncthreads();
    int sum = 0, before = (threadIdx.x + 95) % 96;
    for (int r = 0; r < rounds; ++r) {
        values[threadIdx.x] = in[r * 96 + threadIdx.x];
        auto token = all.arrive();
        sum += r;  // other work
        all.wait(cuda::std::move(token));
        sum += values[before];
        all.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}
struct Completion { int *counter; __device__ void operator()() noexcept { ++*counter; } };
extern "C" __global__ void completed(int *phases, int *out)
{
    __shared__ int counter;
    using Barrier = cuda::barrier<thread_scope_block, Completion>;
    __shared__ cuda::std::aligned_storage_t<sizeof(Barrier), alignof(Barrier)> storage;
    Barrier *barrier = reinterpret_cast<Barrier *>(&storage);
    if (threadIdx.x == 0) { counter = 0; new (barrier) Barrier(blockDim.x, Completion{&counter}); }
    __syncthreads();
    if (threadIdx.x % 7 == 3) { barrier->arrive_and_drop(); return; }
    for (int i = 0; i < 4; ++i) barrier->arrive_and_wait();
    out[threadIdx.x] = counter;
    if (threadIdx.x == 0) *phases = counter;
}
extern "C" __global__ void producer_consumer(const float *in, float *out, int tiles)
{
    const int SIZE = 128, BUFFERS = 2;
    __shared__ float buffer[BUFFERS][SIZE];
    __shared__ cuda::barrier<thread_scope_block> ready[BUFFERS], filled[BUFFERS];
    if (threadIdx.x < BUFFERS) { init(ready + threadIdx.x, blockDim.x);
        init(filled + threadIdx.x, blockDim.x); }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int t = 0; t < tiles; ++t) {
            ready[t % BUFFERS].arrive_and_wait();
            for (int i = threadIdx.x; i < SIZE; i += 32) buffer[t % BUFFERS][i] = in[t * SIZE + i] * 2;
            auto token = filled[t % BUFFERS].arrive();
            (void)token;
        }
    } else {
        for (int b = 0; b < BUFFERS; ++b) (void)ready[b].arrive();
        for (int t = 0; t < tiles; ++t) {
            filled[t % BUFFERS].arrive_and_wait();
            for (int i = threadIdx.x - 32; i < SIZE; i += blockDim.x - 32) out[t * SIZE
                + i] = buffer[t % BUFFERS][SIZE - 1 - i];
            (void)ready[t % BUFFERS].arrive();
        }
    }
}
template <int STAGES> __device__ void staged(const int *in, int *out, int tiles)
{
    auto block = cg::this_thread_block();
    __shared__ alignas(16) int buffer[STAGES][256];
    __shared__ cuda::pipeline_shared_state<thread_scope_block, STAGES> state;
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int compute = 0, fetch = 0; compute < tiles; ++compute) {
        for (; fetch < tiles && fetch < compute + STAGES; ++fetch) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[fetch % STAGES], in + fetch * 256,
                cuda::aligned_size_t<16>(1024), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        for (int i = block.thread_rank(); i < 256; i += block.size())
            sum += buffer[compute % STAGES][255 - i] * (compute + 1);
        pipe.consumer_release();
    }
    out[block.thread_rank()] = sum;
}
extern "C" __global__ void staged_1(const int *in, int *out, int tiles) { staged<1>(in, out, tiles); }
extern "C" __global__ void staged_4(const int *in, int *out, int tiles) { staged<4>(in, out, tiles); }
extern "C" __global__ void roles(const int *in, int *out, int tiles)
{
    auto block = cg::this_thread_block();
    __shared__ int buffer[3][64];
    __shared__ cuda::pipeline_shared_state<thread_scope_block, 3> state;
    auto role = threadIdx.x < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (role == cuda::pipeline_role::producer)
        for (int t = 0; t < tiles; ++t) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffer[t % 3][threadIdx.x], in + t * 64 + threadIdx.x, sizeof(int), pipe);
            pipe.producer_commit();
        }
    else
        for (int t = 0; t < tiles; ++t) {
            pipe.consumer_wait();
            int i = threadIdx.x - 64;
            out[t * 64 + i] = buffer[t % 3][i ^ 1] - t;
            pipe.consumer_release();
        }
}
extern "C" __global__ void own_pipe(const double *in, double *out, int steps)
{
    __shared__ double mine[2][32];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    double sum = 0;
    for (int s = 0; s < 2; ++s) {
        pipe.producer_acquire();
        cuda::memcpy_async(&mine[s][t], in + s * 32 + t, sizeof(double), pipe);
        pipe.producer_commit();
    }
    for (int s = 0; s < steps; ++s) {
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        sum = sum * 0.5 + mine[s % 2][t];
        pipe.consumer_release();
        pipe.producer_acquire();
        if (s + 2 < steps) cuda::memcpy_async(&mine[s % 2][t], in + (s + 2) * 32 + t, sizeof(double), pipe);
        pipe.producer_commit();
    }
    out[t] = sum;
}
extern "C" __global__ void group_copies(const char *in, char *out, int odd)
{
    __shared__ alignas(16) char whole[1024];
    __shared__ cuda::barrier<thread_scope_block> arrived;
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&arrived, blockDim.x);
    block.sync();
    cg::memcpy_async(block, whole, in, 512);
    cg::wait(block);
    cuda::memcpy_async(block, whole + 512, in + odd, 500, arrived);  // unaligned
    arrived.arrive_and_wait();
    auto tile = cg::tiled_partition<32>(block);
    if (threadIdx.x < 32) { cg::memcpy_async(tile, whole + 1012, in + 100, 12); cg::wait(tile); }
    block.sync();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) out[i] = whole[i];
}
"""


@kernel(PIPELINES, after="libcu++, cuda::barrier: arrive and wait apart", against="NumPy")
def barrier_split(run: Run) -> None:
    """Work between arrival and wait, tokens that are moved."""
    x, out = integers(-99, 99, (5, 96)), zeros(96, i32)
    run("split", 1, 96, x, out, 5)
    same(out, np.roll(x, 1, axis=1).sum(0) + 10)


@kernel(PIPELINES, after="libcu++, cuda::barrier: completion functions", against="counts")
def barrier_completion(run: Run) -> None:
    """A function at the end of each phase; threads that drop out; placement new in shared memory."""
    phases, out = zeros(1, i32), np.full(80, -1, i32)
    run("completed", 1, 80, phases, out)
    same(phases, 4)
    same(out, np.where(np.arange(80) % 7 == 3, -1, 4))


@kernel(PIPELINES, after="CUDA C++ Programming Guide, Producer-Consumer Pattern", against="NumPy")
def barrier_producer_consumer(run: Run) -> None:
    """A warp fills two buffers by turns, the others empty them."""
    x = floats((7, 128))
    out = np.empty_like(x)
    run("producer_consumer", 1, 160, x, out, 7)
    same(out, 2 * x[:, ::-1])


@kernel(
    PIPELINES,
    after="CUDA C++ Programming Guide, Multi-Stage Asynchronous Copies using cuda::pipeline",
    against="NumPy",
)
def pipeline_stages(run: Run) -> None:
    """cuda::memcpy_async in one stage and in four."""
    x = integers(-99, 99, (9, 256))
    for stages in (1, 4):
        out = zeros(64, i32)
        run(f"staged_{stages}", 1, 64, x, out, 9)
        same(out, (x[:, ::-1] * np.arange(1, 10)[:, None]).sum(0).reshape(4, 64).sum(0))


@kernel(PIPELINES, after="libcu++, cuda::pipeline_role", against="NumPy")
def pipeline_roles(run: Run) -> None:
    """Two warps produce, two consume, three stages."""
    x = integers(-99, 99, (8, 64))
    out = np.empty_like(x)
    run("roles", 1, 128, x, out, 8)
    same(out, x[:, np.arange(64) ^ 1] - np.arange(8)[:, None])


@kernel(PIPELINES, after="libcu++, cuda::pipeline_consumer_wait_prior", against="NumPy")
def pipeline_of_a_thread(run: Run) -> None:
    """A pipeline that each thread has alone, doubles, one batch ahead."""
    x, out, want = floats((6, 32), f64), zeros(32, f64), zeros(32, f64)
    run("own_pipe", 1, 32, x, out, 6)
    for row in x:
        want = want * 0.5 + row
    same(out, want)


@kernel(PIPELINES, after="CUDA C++ Programming Guide, memcpy_async of groups", against="the same bytes")
def copies_of_groups(run: Run) -> None:
    """Copies of a block and of a tile, aligned and not."""
    x = integers(0, 127, 1024, "u1")
    for odd in (0, 4, 7):
        out = zeros(1024, "u1")
        run("group_copies", 1, 96, x, out, odd)
        same(out, np.r_[x[:512], x[odd : odd + 500], x[100:112]])


STANDARD = r"""
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/chrono>
#include <cuda/std/expected>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>
#include <cuda/cmath>
namespace std_ = cuda::std;
extern "C" __global__ void complexes(const std_::complex<double> *z, std_::complex<double> *out,
    std_::complex<float> *single)
{
    auto v = z[threadIdx.x];
    std_::complex<double> all[] = {v * v, v / (v + 1.0), exp(v), log(v), sqrt(v), sin(v), pow(v, 3),
        tanh(v), conj(v), std_::polar(abs(v), arg(v))};
    for (int i = 0; i < 10; ++i) out[i * blockDim.x + threadIdx.x] = all[i];
    std_::complex<float> f(v.real(), v.imag());
    single[threadIdx.x] = f * f / std_::complex<float>(0, 2);
}
extern "C" __global__ void containers(const int *in, long long *out)
{
    std_::array<int, 5> a{};
    for (int i = 0; i < 5; ++i) a[i] = in[threadIdx.x * 5 + i];
    std_::span<const int> s(a.data() + 1, 3);
    long long sum = 0;
    for (int v : s) sum += v;
    auto t = std_::make_tuple(a.front(), (short)a.back(), sum);
    auto [first, last, middle] = t;
    std_::optional<int> maybe = first > 0 ? std_::optional<int>(first) : std_::nullopt;
    std_::variant<int, double, std_::pair<int, int>> v;
    if (last % 3 == 0) v = first; else if (last % 3 > 0) v = 0.5 * last;
        else v = std_::make_pair(first, (int)last);
    long long seen = std_::visit([](auto x) -> long long {
        if constexpr (std_::is_same_v<decltype(x), int>) return 1000 + x;
        else if constexpr (std_::is_same_v<decltype(x), double>) return (long long)(x * 2);
        else return x.first - x.second;
    }, v);
    std_::expected<int, const char *> e = first ? std_::expected<int,
        const char *>(100 / first) : std_::unexpected("zero");
    out[4 * threadIdx.x] = middle;
    out[4 * threadIdx.x + 1] = maybe.value_or(-7);
    out[4 * threadIdx.x + 2] = seen;
    out[4 * threadIdx.x + 3] = e.has_value() ? *e : e.error()[0];
}
extern "C" __global__ void bits(const unsigned *in, unsigned *out)
{
    unsigned v = in[threadIdx.x];
    unsigned r[] = {(unsigned)std_::popcount(v), (unsigned)std_::countl_zero(v),
        (unsigned)std_::countr_one(v), std_::bit_floor(v),
                    std_::rotl(v, 5), std_::byteswap(v), (unsigned)std_::has_single_bit(v), std_::gcd(v,
                        360u), std_::midpoint(v, 7u),
                    std_::bit_cast<unsigned>((float)v), cuda::ceil_div(v, 10u), (unsigned)std_::bit_width(v)};
    for (int i = 0; i < 12; ++i) out[i * blockDim.x + threadIdx.x] = r[i];
}
extern "C" __global__ void views(const float *in, float *out, int rows, int columns)
{
    std_::mdspan<const float, std_::extents<int, std_::dynamic_extent, std_::dynamic_extent>> m(in, rows,
        columns);
    std_::mdspan<float, std_::dextents<int, 2>, std_::layout_left> left(out, columns, rows);
    for (int i = threadIdx.x; i < rows * columns; i += blockDim.x)
        left(i % columns, i / columns) = m(i / columns, i % columns) * m.extent(1);
}
"""


@kernel(STANDARD, after="libcu++, cuda::std::complex", against="numpy's complex functions")
def standard_complex(run: Run) -> None:
    """Ten functions of complex doubles; products and quotients of floats."""
    z = floats(40, f64) + 1j * floats(40, f64, seed=1)
    out, single = zeros((10, 40), "c16"), zeros(40, "c8")
    run("complexes", 1, 40, z, out, single)
    want = [z * z, z / (z + 1), np.exp(z), np.log(z), np.sqrt(z), np.sin(z), z**3, np.tanh(z), z.conj(), z]
    near(out, want, 1e-12, 1e-13)
    near(single, z * z / 2j, 1e-5, 1e-6)


@kernel(STANDARD, after="libcu++, array, span, tuple, optional, variant, expected", against="Python")
def standard_containers(run: Run) -> None:
    """Structured bindings, visits of variants by generic lambdas, strings of errors."""
    x, out = integers(-5, 6, (60, 5)), zeros((60, 4), i64)
    run("containers", 1, 60, x, out)
    for row, got in zip(x.tolist(), out.tolist(), strict=True):
        first, last = row[0], row[4]
        kind = math.fmod(last, 3)
        seen = 1000 + first if kind == 0 else last if kind > 0 else first - last
        assert got == [
            sum(row[1:4]),
            first if first > 0 else -7,
            seen,
            int(100 / first) if first else ord("z"),
        ]


@kernel(
    STANDARD, after="libcu++, <cuda/std/bit>, <cuda/std/numeric>, <cuda/cmath>", against="Python integers"
)
def standard_bits(run: Run) -> None:
    """Counts of bits, rotations, bytes swapped, midpoints."""
    x = np.r_[integers(1, 2**32, 50, u32), 1, 2**31, 2**32 - 1, 7].astype(u32)
    out = zeros((12, len(x)), u32)
    run("bits", 1, len(x), x, out)
    for v, got in zip(x.tolist(), out.T.tolist(), strict=True):
        ones = (~v & v + 1).bit_length() - 1
        rotated = (v << 5 | v >> 27) & 0xFFFFFFFF
        swapped = int.from_bytes(v.to_bytes(4, "big"), "little")
        middle = v - (v - 7) // 2 if v > 7 else v + (7 - v) // 2
        width = v.bit_length()
        want = [v.bit_count(), 32 - width, ones, 1 << width - 1, rotated, swapped, v.bit_count() == 1]
        want += [math.gcd(v, 360), middle, int(f32(v).view(u32)), -(-v // 10), width]
        assert got == want


@kernel(STANDARD, after="libcu++, cuda::std::mdspan", against="numpy.transpose")
def standard_mdspan(run: Run) -> None:
    """Views by rows and by columns with sizes that are known at run time."""
    x = floats((13, 7))
    out = zeros((13, 7))
    run("views", 1, 32, x, out, 13, 7)
    same(out, x * 7)
