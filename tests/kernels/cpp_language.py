"""The C++ language on a device: classes, templates, lambdas, pointers, recursion, memory of all kinds."""

from __future__ import annotations

import math

import numpy as np

from .kernel import Run, kernel
from .values import f32, f64, floats, i32, i64, integers, near, same, u8, u64, zeros

GUIDE = "CUDA C++ Programming Guide, C++ Language Support"


@kernel(
    r"""
struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int sides() const { return 0; }
    __device__ virtual ~Shape() { atomicAdd(gone, 1); }
    int *gone;
};
struct Square : Shape {
    float a;
    __device__ Square(float a) : a(a) {}
    __device__ float area() const override { return a * a; }
    __device__ int sides() const override { return 4; }
};
struct Circle : Shape {
    float r;
    __device__ Circle(float r) : r(r) {}
    __device__ float area() const override { return 3.0f * r * r; }
};
struct Named { __device__ virtual int name() const { return 7; } int tag = 5; };
struct Both : Square, Named {  // two bases: the second one's table lies behind the first
    using Square::Square;
    __device__ int name() const override { return sides() * 10 + tag; }
};
extern "C" __global__ void shapes(const float *x, float *areas, int *sides, int *gone)
{
    int i = threadIdx.x;
    Shape *shape;
    int extra = 0;
    if (i % 3 == 0) shape = new Square(x[i]);
    else if (i % 3 == 1) shape = new Circle(x[i]);
    else { Both *both = new Both(x[i]); both->tag = i; Named *named = both; extra = named->name();
        shape = both; }
    shape->gone = gone;
    areas[i] = shape->area();
    sides[i] = shape->sides() + 100 * extra;
    delete shape;
}
""",
    after=GUIDE + ": Virtual Functions",
    against="NumPy",
)
def virtual_functions(run: Run) -> None:
    """Objects of three classes, one with two bases; virtual destructors; new and delete."""
    x, i = floats(60), np.arange(60)
    areas, sides, gone = zeros(60), zeros(60, i32), zeros(1, i32)
    run("shapes", 1, 60, x, areas, sides, gone)
    same(areas, np.where(i % 3 == 1, f32(3) * x * x, x * x))
    same(sides, np.choose(i % 3, [4, 0, 4 + 100 * (40 + i)]))
    assert gone[0] == 60


@kernel(
    r"""
__device__ void *operator new(size_t, void *where, int) noexcept { return where; }
struct Matrix {
    float m[2][2];
    int built;
    __device__ Matrix(float a, float b, float c, float d) : m{{a, b}, {c, d}}, built(1) {}
    __device__ Matrix(const Matrix &other) : built(other.built + 1) { for (int i = 0; i < 4;
        ++i) m[i / 2][i % 2] = other.m[i / 2][i % 2]; }
    __device__ Matrix operator*(const Matrix &o) const
    {
        return Matrix(m[0][0] * o.m[0][0] + m[0][1] * o.m[1][0], m[0][0] * o.m[0][1] + m[0][1] * o.m[1][1],
                      m[1][0] * o.m[0][0] + m[1][1] * o.m[1][0], m[1][0] * o.m[0][1] + m[1][1] * o.m[1][1]);
    }
    __device__ explicit operator float() const { return m[0][0] * m[1][1] - m[0][1] * m[1][0]; }
    __device__ const float &operator()(int i, int j) const { return m[i][j]; }
};
extern "C" __global__ void placed(const float *x, float *out)
{
    __shared__ alignas(Matrix) char memory[32 * sizeof(Matrix)];
    Matrix *all = reinterpret_cast<Matrix *>(memory);
    int t = threadIdx.x;
    Matrix *mine = new (all + t, 0) Matrix(x[4 * t], x[4 * t + 1], x[4 * t + 2], x[4 * t + 3]);
    __syncthreads();
    Matrix product = *mine * all[(t + 1) % 32], copy = product;
    out[6 * t] = float(product);
    for (int i = 0; i < 4; ++i) out[6 * t + 1 + i] = copy(i / 2, i % 2);
    out[6 * t + 5] = copy.built;
    mine->~Matrix();
}
""",
    after=GUIDE + ": Operator Functions, placement new",
    against="numpy @",
)
def placement_new(run: Run) -> None:
    """Objects in raw shared memory; copies, operators, conversions, destructors by hand."""
    x = integers(-4, 5, (32, 2, 2), f32)
    out = zeros((32, 6))
    run("placed", 1, 32, x, out)
    product = x @ np.roll(x, -1, axis=0)
    same(out[:, 1:5], product.reshape(32, 4))
    near(out[:, 0], np.linalg.det(product.astype(f64)), 1e-5, 1e-3)
    same(out[:, 5], 2)


@kernel(
    r"""
typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
template <int SHIFT> __device__ int shifted(int a, int b) { return (a << SHIFT) ^ b; }
__device__ Operation table[] = {add, subtract, multiply, shifted<3>};
struct Counter {
    int total = 0;
    __device__ int up(int by) { return total += by; }
    __device__ int down(int by) { return total -= by; }
};
extern "C" __global__ void fetch(unsigned long long *out) { *out = (unsigned long long)table[2]; }
extern "C" __global__ void called(const int *which, const int *a, const int *b, int *out, Operation given)
{
    int i = threadIdx.x;
    Operation f = table[which[i]];
    int first = f(a[i], b[i]);
    Operation local[2] = {given, f};
    int second = local[i & 1](first, i);
    int (Counter::*way)(int) = a[i] > 0 ? &Counter::up : &Counter::down;
    Counter counter;
    for (int k = 0; k < 3; ++k) (counter.*way)(b[i] + k);
    out[3 * i] = first;
    out[3 * i + 1] = second;
    out[3 * i + 2] = counter.total;
}
""",
    after=GUIDE + ": Function Pointers",
    against="NumPy",
)
def function_pointers(run: Run) -> None:
    """Tables, pointers that the host passes back as an argument, pointers to members; calls that diverge."""
    which, a, b = integers(0, 4, 64), integers(-50, 50, 64), integers(-50, 50, 64, seed=1)
    address, out = zeros(1, u64), zeros((64, 3), i32)
    run("fetch", 1, 1, address)
    run("called", 1, 64, which, a, b, out, address[0])

    def operation(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.choose(w, [x + y, x - y, x * y, (x << 3) ^ y])

    i = np.arange(64)
    first = operation(which, a, b)
    same(out[:, 0], first)
    same(out[:, 1], operation(np.where(i % 2, which, 2), first, i))
    same(out[:, 2], np.where(a > 0, 1, -1) * (3 * b + 3))


@kernel(
    r"""
template <typename F> __device__ int twice(F f, int x) { return f(f(x)); }
template <typename... F> struct Chain;
template <> struct Chain<> { __device__ int operator()(int x) const { return x; } };
template <typename F, typename... Rest> struct Chain<F, Rest...> {
    F f; Chain<Rest...> rest;
    __device__ int operator()(int x) const { return rest(f(x)); }
};
template <typename F, typename... Rest> __device__ Chain<F, Rest...> chain_of(F f, Rest... rest)
{
    if constexpr (sizeof...(Rest) == 0) return {f, {}};
    else return {f, chain_of(rest...)};
}
extern "C" __global__ void lambdas(const int *in, int *out)
{
    int x = in[threadIdx.x], count = 0, three = 3;
    auto counted = [&count](int v) { ++count; return v * 2 + 1; };
    auto kept = [three, calls = 0](int v) mutable { return v + three * ++calls; };
    auto generic = [](auto a, auto b) { return a < b ? a : (decltype(a))b; };
    auto all = chain_of([=](int v) { return v + x; }, [](int v) { return v * v; }, [&](int v) {
        return v - count; });
    int (*plain)(int) = [](int v) { return v ^ 0x55; };
    out[0 * blockDim.x + threadIdx.x] = twice(counted, x);
    out[1 * blockDim.x + threadIdx.x] = kept(x) + kept(x);
    out[2 * blockDim.x + threadIdx.x] = generic(x, 2.5) + generic(7u, 5);
    out[3 * blockDim.x + threadIdx.x] = all(x);
    out[4 * blockDim.x + threadIdx.x] = twice(plain, x) + plain(x);
    auto recursive = [](auto &self, int n) -> int { return n < 2 ? n : self(self, n - 1) + self(self,
        n - 2); };
    out[5 * blockDim.x + threadIdx.x] = recursive(recursive, x & 7);
}
""",
    after=GUIDE + ": Lambda Expressions, variadic templates",
    against="NumPy",
)
def lambdas(run: Run) -> None:
    """Captures by value and reference, mutable, generic, recursive ones, chains of variadic templates."""
    x, out = integers(-20, 20, 50), zeros((6, 50), i32)
    run("lambdas", 1, 50, x, out)
    fibonacci = np.array([0, 1, 1, 2, 3, 5, 8, 13])
    want = [
        4 * x + 3,
        2 * x + 9,
        np.where(x < 2.5, x, 2) + 5,
        (2 * x) ** 2 - 2,
        x + (x ^ 0x55),
        fibonacci[x & 7],
    ]
    same(out, want)


@kernel(
    r"""
__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1,
    1) : ackermann(m - 1, ackermann(m, n - 1)); }
__device__ bool odd(int n);
__device__ __noinline__ bool even(int n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n != 0 && even(n - 1); }
__device__ int hanoi(int n, int from, int to, char *log, int at)
{
    if (n == 0) return at;
    at = hanoi(n - 1, from, 3 - from - to, log, at);
    log[at++] = from * 3 + to;
    return hanoi(n - 1, 3 - from - to, to, log, at);
}
__device__ int queens(unsigned columns, unsigned left, unsigned right, unsigned full)
{
    if (columns == full) return 1;
    int count = 0;
    for (unsigned free = full & ~(columns | left | right); free;) {
        unsigned bit = free & -free;
        free ^= bit;
        count += queens(columns | bit, (left | bit) << 1, (right | bit) >> 1, full);
    }
    return count;
}
extern "C" __global__ void recursions(int *a, int *parity, char *moves, int *counts, int *solutions)
{
    int t = threadIdx.x;
    a[t] = ackermann(t % 3, t / 3);
    parity[t] = even(t) * 2 + odd(t);
    counts[t] = hanoi(t % 6, 0, 2, moves + t * 64, 0);
    unsigned full = 63;
    if (t < 6) atomicAdd(solutions, queens(1u << t, 1u << t << 1, 1u << t >> 1, full));
}
""",
    after="Ackermann (1928); Lucas (1883): towers of Hanoi; Richards (1997): queens by bits",
    against="Python recursion",
)
def recursions(run: Run) -> None:
    """Nested, mutual and branching recursion of another depth in each thread."""
    a, parity, moves, counts = zeros(18, i32), zeros(18, i32), zeros((18, 64), u8), zeros(18, i32)
    solutions = zeros(1, i32)
    run("recursions", 1, 18, a, parity, moves, counts, solutions)

    def ackermann(m: int, n: int) -> int:
        return [n + 1, n + 2, 2 * n + 3][m]

    def hanoi(n: int, source: int, to: int) -> list[int]:
        if not n:
            return []
        other = 3 - source - to
        return [*hanoi(n - 1, source, other), source * 3 + to, *hanoi(n - 1, other, to)]

    for t in range(18):
        want = hanoi(t % 6, 0, 2)
        assert (a[t], parity[t], counts[t]) == (ackermann(t % 3, t // 3), 1 if t % 2 else 2, len(want))
        assert moves[t, : len(want)].tolist() == want
    assert solutions[0] == 4


@kernel(
    r"""
template <unsigned N> struct Factorial {
    static constexpr unsigned long long value = N * Factorial<N - 1>::value; };
template <> struct Factorial<0> { static constexpr unsigned long long value = 1; };
template <typename T, int... I> struct Table { static constexpr T values[] = {T(I * I)...}; };
template <class D> struct Base { __device__ int twice() const {
    return 2 * static_cast<const D *>(this)->one(); } };
struct Three : Base<Three> { __device__ int one() const { return 3; } };
template <int N> struct Five : Base<Five<N>> { __device__ int one() const { return N; } };
template <typename T> struct Traits { static constexpr int size = sizeof(T) * 10; };
template <typename T> struct Traits<T *> { static constexpr int size = Traits<T>::size + 1; };
template <typename T, int N> struct Traits<T[N]> { static constexpr int size = Traits<T>::size * N + 2; };
constexpr __device__ int power(int b, int e) { int r = 1; for (; e; --e) r *= b; return r; }
template <typename... T> __device__ auto sum(T... x) { return (x + ... + 0); }
template <typename T> __device__ T maximum(T a, T b) { return a > b ? a : b; }
template <> __device__ const char *maximum(const char *a, const char *b) { return *a > *b ? a : b; }
enum class Colour : unsigned char { red = 3, green = 200 };
union Bits { float f; unsigned u; struct { unsigned fraction : 23, exponent : 8, sign : 1; } part; };
namespace outer { inline namespace inner { __device__ int deep = 12; } namespace {
    __device__ int hidden = 30; } }
extern "C" __global__ void compiled(long long *out, float f)
{
    Bits bits{f};
    int n = 0;
    out[n++] = Factorial<20>::value;
    out[n++] = Table<long, 3, 5, 7>::values[threadIdx.x + 1];
    out[n++] = Three().twice() + Five<9>().twice();
    out[n++] = Traits<int *[4]>::size;
    static_assert(power(3, 4) == 81);
    out[n++] = power(3, 4 + threadIdx.x);
    out[n++] = sum(1, 2L, (short)3, 4.5);
    out[n++] = *maximum("abc", "xyz") + maximum(2.5, 1.0);
    out[n++] = (int)Colour::green + sizeof(Colour);
    out[n++] = bits.part.exponent * 2 + bits.part.sign;
    out[n++] = outer::deep + outer::hidden;
    out[n++] = [] { int s = 0; for (auto c : "hello") s += c; return s; }();
    auto [a, b] = [] { struct { int x; double y; } p{4, 2.5}; return p; }();
    out[n++] = a * b;
    if (int v = out[0] % 97; v > 3) out[n++] = v; else out[n++] = -v;
    static int calls = 5;
    out[n++] = ++calls;
}
""",
    after=GUIDE + ": Templates, constexpr, C++17",
    against="Python",
)
def templates(run: Run) -> None:
    """Metaprograms, specializations, folds, unions with bit fields, constexpr, CRTP, static variables."""
    out = zeros(14, i64)
    run("compiled", 1, 1, out, -6.5)
    want = [math.factorial(20), 25, 24, 4 * 41 + 2, 81, 10, ord("x") + 2, 201, 129 * 2 + 1, 42]
    want += [sum(b"hello"), 10, math.factorial(20) % 97]
    same(out[:13], want)
    assert out[13] >= 6


@kernel(
    r"""
struct Node { int value; Node *left, *right; };
__device__ int locks[4];
__device__ Node *roots[4];
__device__ int allocated;
__device__ void insert(Node *&root, int value)
{
    Node **at = &root;
    while (*at) {
        if ((*at)->value == value) return;
        at = value < (*at)->value ? &(*at)->left : &(*at)->right;
    }
    *at = new Node{value, nullptr, nullptr};
    atomicAdd(&allocated, 1);
}
__device__ int walk(const Node *node, int *out, int at)
{
    if (!node) return at;
    at = walk(node->left, out, at);
    out[at++] = node->value;
    at = walk(node->right, out, at);
    delete node;
    return at;
}
extern "C" __global__ void build(const int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int which = values[i] & 3;
    for (bool done = false; !done;) {
        if (atomicCAS(locks + which, 0, 1) == 0) {
            __threadfence();
            insert(roots[which], values[i]);
            __threadfence();
            atomicExch(locks + which, 0);
            done = true;
        }
    }
}
extern "C" __global__ void read(int *out, int *counts)
{
    int t = threadIdx.x;
    counts[t] = walk(roots[t], out + t * 300, 0);
    roots[t] = nullptr;
}
""",
    after="Hibbard (1962): binary search trees; CUDA C++ Programming Guide, Dynamic Global Memory Allocation",
    against="numpy.unique",
)
def trees_on_the_heap(run: Run) -> None:
    """Trees that 250 threads insert into, behind spin locks; another launch deletes the nodes."""
    values = integers(0, 400, 250)
    out, counts = zeros((4, 300), i32), zeros(4, i32)
    run("build", 4, 64, values, 250)
    run("read", 1, 4, out, counts)
    for which in range(4):
        want = np.unique(values[values % 4 == which])
        assert counts[which] == len(want)
        same(out[which, : len(want)], want)


@kernel(
    r"""
__device__ int ticket_next, ticket_now;
__device__ volatile int protected_value;
extern "C" __global__ void tickets(int *order)
{
    if (threadIdx.x % 8 == 0) {
        int mine = atomicAdd(&ticket_next, 1);
        for (bool done = false; !done;) {
            if (*(volatile int *)&ticket_now == mine) {
                order[mine] = protected_value;
                protected_value = protected_value * 3 + 1;
                __threadfence();
                atomicAdd(&ticket_now, 1);
                done = true;
            }
        }
    }
}
__device__ int readers;  // -1: a writer
__device__ int data[2];
extern "C" __global__ void shared_lock(int *wrong, int rounds)
{
    bool writer = threadIdx.x % 11 == 0;
    for (int r = 0; r < rounds; ++r) {
        for (bool done = false; !done;) {
            int old = *(volatile int *)&readers;
            if (writer ? old == 0 : old >= 0)
                if (atomicCAS(&readers, old, writer ? -1 : old + 1) == old) {
                    __threadfence();
                    volatile int *d = data;
                    if (writer) { d[0] = d[0] + 1; d[1] = d[1] - 1; }
                    else if (d[0] + d[1] != 0) atomicAdd(wrong, 1);
                    __threadfence();
                    if (writer) atomicExch(&readers, 0); else atomicSub(&readers, 1);
                    done = true;
                }
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) wrong[1] = gridDim.x;
}
""",
    after="Mellor-Crummey and Scott, Algorithms for Scalable Synchronization (1991)",
    against="the sequence; the sum",
)
def locks(run: Run) -> None:
    """Tickets that are served in order, and locks of many readers and one writer, within warps."""
    order, want = zeros(24, i32), [0]
    run("tickets", 3, 64, order)
    for _ in range(23):
        want.append((want[-1] * 3 + 1 + 2**31) % 2**32 - 2**31)
    same(order, want)
    wrong = zeros(2, i32)
    run("shared_lock", 2, 48, wrong, 3)
    same(wrong, [0, 2])


@kernel(
    r"""
struct Big { double m[30]; int n; char name[5]; };
__constant__ Big defaults = {{1, 2, 3}, 7, "abc"};
__device__ Big variable;
__constant__ struct { short first; const int *pointer; } linked;
struct __align__(16) Wide { int v[12]; };
__device__ __managed__ int managed = 5;
extern "C" __global__ void __launch_bounds__(64, 2) by_value(Big big, Wide wide, char c, short s,
    const bool b, float3 f, double *out)
{
    Big copy = big;
    copy.m[threadIdx.x % 30] += defaults.m[threadIdx.x % 4];
    double sum = copy.n + defaults.n + c + s * 2 + b * 1000 + f.x * f.y - f.z + copy.name[2]
        + defaults.name[threadIdx.x % 5];
    for (int i = 0; i < 30; ++i) sum += copy.m[i] * i;
    for (int v : wide.v) sum += v;
    out[threadIdx.x] = sum + variable.m[29] + managed;
    __syncthreads();
    if (threadIdx.x == 63) managed = 6;
}
""",
    after="CUDA C++ Programming Guide, Variable Memory Space Specifiers; __global__ parameters",
    against="NumPy",
)
def parameters_by_value(run: Run) -> None:
    """Structs of 256 bytes, odd small parameters, constants with values, variables, managed memory."""
    big = np.zeros((), np.dtype([("m", f64, 30), ("n", i32), ("name", "S5"), ("_", "V7")]))
    big["m"], big["n"], big["name"] = np.arange(30) / 4, 9, b"xyz"
    wide, vector = np.zeros((), np.dtype([("v", i32, 12)])), np.zeros((), np.dtype([("x", f32, 3)]))
    wide["v"], vector["x"] = np.arange(12), [2, 3, 4]
    out, preset = zeros(64, f64), big.copy()
    preset["m"][29] = 0.5
    run.assign("variable", np.frombuffer(preset.tobytes(), u8))
    run.assign("managed", np.array([5], i32))
    byte, short, flag = np.int8(-3), np.int16(-300), np.bool_(True)
    run("by_value", 1, 64, big[()], wide[()], byte, short, flag, vector[()], out)
    t = np.arange(64)
    base = 9 + 7 - 3 - 600 + 1000 + 2 + ord("z") + 66 + (np.arange(30) ** 2 / 4).sum() + 5.5
    letters = np.array([97, 98, 99, 0, 0])[t % 5]
    near(out, base + letters + np.array([1, 2, 3, 0])[t % 4] * (t % 30), 1e-14)


@kernel(
    r"""
extern "C" __global__ void control(const int *in, int *out)
{
    int x = in[threadIdx.x], r = 0;
    switch (x) {
    case 0: r += 1;
    case 1: r += 10; break;
    case 5: case 6: case 7: r = 100; if (x == 6) goto end;
    case 8: r += 3; break;
    case -100: r = -1; break;
    case 2000000000: r = 77; break;
    default: r = 5;
    }
    for (int i = 0; i < 10; ++i) {
        if ((x + i) % 4 == 0) continue;
        int j = 0;
        while (true) {
            if (++j > x % 5 + 2) break;
            if (j * i == 12) goto out;
            r += j * i;
            int budget = 6;
            do { r ^= i; if (r % 7 == 3) break; } while (++r % 3 && --budget);
        }
    }
out:
    r = x > 3 ? (x > 6 ? r + 1 : r - 1) : x < 0 || (r & 1 && x != 2) ? -r : r;
end:
    out[threadIdx.x] = r;
}
extern "C" __global__ void duff(const unsigned char *from, unsigned char *to, const int *lengths)
{
    int count = lengths[threadIdx.x], n = (count + 7) / 8;
    const unsigned char *f = from + threadIdx.x * 40;
    unsigned char *t = to + threadIdx.x * 40;
    if (!count) return;
    switch (count % 8) {
    case 0: do { *t++ = *f++;
    case 7: *t++ = *f++;
    case 6: *t++ = *f++;
    case 5: *t++ = *f++;
    case 4: *t++ = *f++;
    case 3: *t++ = *f++;
    case 2: *t++ = *f++;
    case 1: *t++ = *f++;
            } while (--n > 0);
    }
}
""",
    after="C++, 8: statements; Duff (1983): jumps into a loop",
    against="Python, step by step",
)
def control_flow(run: Run) -> None:
    """Switches that fall through, goto out of loops, loops within loops, jumps into a loop."""
    x = np.r_[np.arange(-4, 12), -100, 2_000_000_000, 13, 97].astype(i32)
    out = zeros(len(x), i32)
    run("control", 1, len(x), x, out)

    def mod(a: int, b: int) -> int:
        return int(math.fmod(a, b))

    def control(x: int) -> int:
        r = {0: 11, 1: 10, 5: 103, 6: 100, 7: 103, 8: 3, -100: -1, 2_000_000_000: 77}.get(x, 5)
        if x == 6:
            return r

        def loops(r: int) -> int:
            for i in range(10):
                if mod(x + i, 4) == 0:
                    continue
                j = 0
                while True:
                    j += 1
                    if j > mod(x, 5) + 2:
                        break
                    if j * i == 12:
                        return r
                    r += j * i
                    for _ in range(6):
                        r ^= i
                        if mod(r, 7) == 3:
                            break
                        r += 1
                        if not mod(r, 3):
                            break
            return r

        r = loops(r)
        if x > 3:
            return r + 1 if x > 6 else r - 1
        return -r if x < 0 or (r & 1 and x != 2) else r

    same(out, [control(v) for v in x.tolist()])
    source, target, lengths = integers(1, 256, (41, 40), u8), zeros((41, 40), u8), np.arange(41, dtype=i32)
    run("duff", 1, 41, source, target, lengths)
    same(target, np.where(np.arange(40) < lengths[:, None], source, 0))


@kernel(
    r"""
// a virtual machine: threads run programs of their own; opcodes by a jump table
extern "C" __global__ void machine(const unsigned char *programs, const int *starts, long long *results)
{
    const unsigned char *pc = programs + starts[threadIdx.x];
    long long stack[16];
    int top = 0, steps = 0;
    for (; steps < 1000; ++steps) {
        switch (*pc++) {
        case 0: results[threadIdx.x] = stack[top - 1] * 1000 + steps; return;
        case 1: stack[top++] = (signed char)*pc++; break;
        case 2: --top; stack[top - 1] += stack[top]; break;
        case 3: --top; stack[top - 1] -= stack[top]; break;
        case 4: --top; stack[top - 1] *= stack[top]; break;
        case 5: stack[top] = stack[top - 1]; ++top; break;
        case 6: { long long t = stack[top - 1]; stack[top - 1] = stack[top - 2]; stack[top - 2] = t; break; }
        case 7: pc += stack[--top] ? (signed char)*pc : 1; break;
        case 8: stack[top] = stack[top - 1 - *pc++]; ++top; break;
        case 9: --top; break;
        case 10: --top; stack[top - 1] = stack[top] ? stack[top - 1] / stack[top] : -1; break;
        case 11: --top; stack[top - 1] = stack[top] ? stack[top - 1] % stack[top] : -1; break;
        default: results[threadIdx.x] = -pc[-1]; return;
        }
    }
    results[threadIdx.x] = -1000;
}
""",
    after="Ertl and Gregg, The Structure and Performance of Efficient Interpreters (2003)",
    against="an interpreter in Python",
)
def stack_machine(run: Run) -> None:
    """Each thread interprets another program: divergence at every step, stacks in local memory."""
    random, programs = np.random.default_rng(4), []
    for _ in range(48):
        program, depth = [1, int(random.integers(1, 100))], 1
        for _ in range(int(random.integers(3, 25))):
            choice = int(random.integers(0, 9))
            if choice < 4 and depth < 14:
                program, depth = [*program, 1, int(random.integers(0, 256))], depth + 1
            elif choice < 5 and depth < 14:
                program, depth = [*program, 5], depth + 1
            elif depth > 1:
                program, depth = [*program, int(random.choice([2, 3, 4, 10, 11]))], depth - 1
        # counts down from 5 at the end: push, (push 1, subtract, duplicate, jump back), drop
        programs.append([*program, 1, 5, 1, 1, 3, 5, 7, 251, 9, int(random.choice([0, 0, 0, 99]))])
    starts = np.r_[0, np.cumsum([len(p) for p in programs])[:-1]].astype(i32)
    results = zeros(48, i64)
    run("machine", 1, 48, np.concatenate(programs).astype(u8), starts, results)

    def wrap(v: int) -> int:
        return (v + 2**63) % 2**64 - 2**63

    def signed(byte: int) -> int:
        return (byte + 128) % 256 - 128

    for program, got in zip(programs, results.tolist(), strict=True):
        stack: list[int] = []
        pc = steps = 0
        while True:
            code, pc = program[pc], pc + 1
            if code in (0, 99):
                assert got == (wrap(stack[-1] * 1000 + steps) if code == 0 else -99)
                break
            if code == 1:
                stack.append(signed(program[pc]))
                pc += 1
            elif code == 5:
                stack.append(stack[-1])
            elif code == 7:
                pc += signed(program[pc]) if stack.pop() else 1
            elif code == 9:
                stack.pop()
            else:
                b, a = stack.pop(), stack.pop()
                quotient = (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)) if b else 0
                value = {
                    2: a + b,
                    3: a - b,
                    4: a * b,
                    10: quotient if b else -1,
                    11: a - quotient * b if b else -1,
                }
                stack.append(wrap(value[code]))
            steps += 1
