// The same as warps.cuh, for g++. Threads are contexts that give way to the next one; those of a group wait until
// each has put down what it gives.
#include <map>
#include <utility>
#include <vector>
#include <ucontext.h>
struct Group { u32 counts[MOST]; u64 given[2][MOST]; };
static std::map<std::pair<u32, u32>, Group> groups;
static ucontext_t scheduler, contexts[MOST];
static u32 THREAD, THREADS, BLOCK;
static bool ended[MOST];
static u64 shared_memory[MEMORY], *memory = shared_memory;
#define LANE (THREAD & 31)
#define WARP (THREAD & ~31)
#define BLOCK_WIDE ~0u
static u32 count(u32 group) { return (u32)__builtin_popcount(group); }
static u32 first(u32 group) { return (u32)__builtin_ctz(group); }

// LANES

static bool is_in(u32 warp, u32 group, u32 thread)
{ return warp == BLOCK_WIDE || (thread / 32 == warp && group >> thread % 32 & 1); }
// What the threads of a group give, by their numbers. What they gave before stays until all have come here again.
static u64 *exchange(u32 warp, u32 group, u64 x, u32 from = 0, u32 end = THREADS)
{
    Group &one = groups[{warp, group}];
    u32 turn = one.counts[THREAD]++;
    one.given[turn & 1][THREAD] = x;
    for (;;) {
        bool all = true;
        for (u32 i = from; i < end; ++i) all &= !is_in(warp, group, i) || one.counts[i] > turn;
        if (all) return one.given[turn & 1];
        swapcontext(&contexts[THREAD], &scheduler);
    }
}
static u64 *in_warp(u32 group, u64 x) { return exchange(THREAD / 32, group, x) + WARP; }
#define EACH(i, group) for (u32 i = 0; i < 32; ++i) if ((group) >> i & 1)

template <class T> T taken(u32 group, T x, u32 from)
{
    u64 bits = 0;
    memcpy(&bits, &x, sizeof x);
    bits = in_warp(group, bits)[from];
    memcpy(&x, &bits, sizeof x);
    return x;
}
#define SHUFFLE(name, from) template <class T> T name(u32 group, T x, u32 by, u32 width) \
    { u32 lane = from(LANE, by, width); return taken(group, x, group >> lane & 1 ? lane : LANE); }
SHUFFLE(from_above, above)
SHUFFLE(from_below, below)
SHUFFLE(from_across, across)
static u32 ballot(u32 group, bool x)
{ u64 *given = in_warp(group, x); u32 found = 0; EACH(i, group) found |= (u32)given[i] << i; return found; }
static bool any_of(u32 group, bool x) { return ballot(group, x) != 0; }
static bool all_of(u32 group, bool x) { return ballot(group, x) == group; }
template <class T> u32 same(u32 group, T x)
{
    u64 *given = in_warp(group, (u64)x);
    u32 found = 0;
    EACH(i, group) found |= (u32)(given[i] == (u64)x) << i;
    return found;
}
template <class T> u32 all_same(u32 group, T x) { return same(group, x) == group ? group + 1 : 0; }
#define REDUCTION(name, with) template <class T> T name(u32 group, T x) { \
    u64 *given = in_warp(group, (u64)x); \
    T found = (T)given[first(group)]; \
    EACH(i, group & (group - 1)) { T y = (T)given[i]; found = with; } \
    return found; }
REDUCTION(sum_of, found + y)
REDUCTION(least_of, y < found ? y : found)
REDUCTION(most_of, y > found ? y : found)
REDUCTION(both_of, found & y)
REDUCTION(any_bits, found | y)
REDUCTION(odd_bits, found ^ y)
static void together(u32 group) { in_warp(group, 0); }
static int barrier_count(int x)
{
    u64 *given = exchange(BLOCK_WIDE, 0, x != 0);
    int found = 0;
    for (u32 i = 0; i < THREADS; ++i) found += (int)given[i];
    return found;
}
static void barrier() { barrier_count(0); }
// The first one is of the first threads of the block, the second one of those behind them.
static void barrier_of(u32 which, u32 threads)
{
    u32 from = which == 1 ? 0 : THREADS / 64 * 32;
    exchange(BLOCK_WIDE, which, 0, from, from + threads);
}
static int barrier_and(int x) { return barrier_count(x) == (int)THREADS; }
static int barrier_or(int x) { return barrier_count(x) != 0; }
#define ATOMIC(name, with) template <class T> T name(T *at, T y) { T found = *at; *at = with; return found; }
ATOMIC(add, found + y)
ATOMIC(exclusive, found ^ y)
ATOMIC(least, y < found ? y : found)
ATOMIC(most, y > found ? y : found)
ATOMIC(both, found & y)
ATOMIC(either_of, found | y)
template <class T> T replaced(T *at, T expected, T x)
{ T found = *at; if (found == expected) *at = x; return found; }

// PROGRAM

static const u32 *A, *B;
static const float *C;
static const double *E;
static u64 *OUT, *ALL;
static void thread()
{
    u32 number = THREAD, i = BLOCK * THREADS + number;
    OUT[i] = top(A[i], B[i], C[i], E[i], ALL);
    ended[number] = true;
}
extern "C" void
run(const u32 *a, const u32 *b, const float *c, const double *e, u64 *out, u64 *all, int blocks, int threads)
{
    A = a, B = b, C = c, E = e, OUT = out, ALL = all, THREADS = (u32)threads;
    const size_t size = 1 << 16;
    std::vector<char> stacks(THREADS * size);
    for (BLOCK = 0; BLOCK < (u32)blocks; ++BLOCK) {
        groups.clear();
        for (u32 i = 0; i < THREADS; ++i) {
            ended[i] = false;
            getcontext(&contexts[i]);
            contexts[i].uc_stack.ss_sp = &stacks[i * size];
            contexts[i].uc_stack.ss_size = size;
            contexts[i].uc_link = &scheduler;
            makecontext(&contexts[i], thread, 0);
        }
        for (bool more = true; more;) {
            more = false;
            for (u32 i = 0; i < THREADS; ++i)
                if (!ended[i]) {
                    THREAD = i;
                    swapcontext(&scheduler, &contexts[i]);
                    more = true;
                }
        }
    }
}
