// What the kernels of times.py compute, for the processor: g++ -O2 -fopenmp -shared -fPIC.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

extern "C" {

void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
#pragma omp parallel for
    for (size_t i = 0; i < n; ++i) out[i] = a * x[i] + y[i];
}

void matmul(const float *a, const float *b, float *c, int n)
{
#pragma omp parallel for
    for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) c[row * n + column] = 0;
        for (int k = 0; k < n; ++k)
            for (int column = 0; column < n; ++column) c[row * n + column] += a[row * n + k] * b[k * n + column];
    }
}

void reduce(const int *x, int *out, int n)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += x[i];
    *out = sum;
}

void histogram(const unsigned char *data, unsigned *bins, int n)
{
    for (int i = 0; i < 256; ++i) bins[i] = 0;
#pragma omp parallel
    {
        unsigned mine[256] = {};
#pragma omp for
        for (int i = 0; i < n; ++i) ++mine[data[i]];
#pragma omp critical
        for (int i = 0; i < 256; ++i) bins[i] += mine[i];
    }
}

void mandelbrot(int *out, int width, int height, int most)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int py = 0; py < height; ++py)
        for (int px = 0; px < width; ++px) {
            double cx = -2.0 + 3.0 * px / width, cy = -1.5 + 3.0 * py / height, x = 0, y = 0;
            int n = 0;
            while (n < most && x * x + y * y < 4.0) {
                double next = x * x - y * y + cx;
                y = 2 * x * y + cy;
                x = next;
                ++n;
            }
            out[py * width + px] = n;
        }
}

void nbody(const float *bodies, float *forces, int n)  // x, y, z, mass of each
{
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        float fx = 0, fy = 0, fz = 0;
        for (int j = 0; j < n; ++j) {
            float dx = bodies[4 * j] - bodies[4 * i], dy = bodies[4 * j + 1] - bodies[4 * i + 1];
            float dz = bodies[4 * j + 2] - bodies[4 * i + 2];
            float inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
            float scale = bodies[4 * j + 3] * inverse * inverse * inverse;
            fx += dx * scale;
            fy += dy * scale;
            fz += dz * scale;
        }
        forces[4 * i] = fx;
        forces[4 * i + 1] = fy;
        forces[4 * i + 2] = fz;
    }
}

void bitonic(unsigned *keys, int n)
{
    for (int size = 2; size <= n; size *= 2)
        for (int step = size / 2; step; step /= 2)
#pragma omp parallel for
            for (int i = 0; i < n; ++i) {
                int other = i ^ step;
                if (other > i && (keys[i] > keys[other]) == !(i & size)) std::swap(keys[i], keys[other]);
            }
}

void loop(float *x, int threads, float a, float b, int steps)
{
#pragma omp parallel for
    for (int thread = 0; thread < threads; ++thread) {
        float value = x[thread];
        for (int i = 0; i < steps; ++i) value = std::fma(value, a, b);
        x[thread] = value;
    }
}

static unsigned one_of(unsigned which, unsigned value)
{
    switch (which) {
    case 0: return value * 3 + 1;
    case 1: return value ^ 0x9e3779b9;
    case 2: return value << 3 | value >> 29;
    case 3: return value - (value >> 5);
    case 4: return value * value + 7;
    case 5: return value % 1000003;
    case 6: return ~value + (value << 4);
    default: return value / 3 + 0x1234567;
    }
}

void divergent(unsigned *x, int threads, int steps)
{
#pragma omp parallel for
    for (int thread = 0; thread < threads; ++thread) {
        unsigned value = x[thread];
        for (int i = 0; i < steps; ++i) value = one_of((value + thread) & 7, value);
        x[thread] = value;
    }
}

void collatz(int *steps, int n)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int i = 0; i < n; ++i) {
        int count = 0;
        for (long long x = i + 1; x != 1; ++count) x = x & 1 ? 3 * x + 1 : x >> 1;
        steps[i] = count;
    }
}
}
