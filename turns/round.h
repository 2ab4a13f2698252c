// What a twin has for Python: a shared library in C or C++, in the process that it is compared with, that times a loop as
// turns/rounds.py does.
#pragma once

// `twin_open` with its arguments, once; and `twin_round`, the seconds of one call of a case, of `calls` in a loop. Both
// return 0, or 1 with the reason in `reason`, which has `size` bytes.
#ifdef __cplusplus
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>

extern "C" int twin_open(const char *const *arguments, char *reason, size_t size);
extern "C" int twin_round(const char *name, long long calls, double *seconds, char *reason, size_t size);

inline void check(int status, const char *what) {
    if (status) throw std::runtime_error(std::string(what) + " failed with " + std::to_string(status));
}
#define CHECK(call) check(static_cast<int>(call), #call)

// Seconds of one call of `body`, of `calls` in a loop, the device drained before and after.
template <class Body, class Drain> double batch(int calls, Body body, Drain drain) {
    for (int i = 0; i < calls / 4 + 1; ++i) body();
    drain();
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) body();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    drain();
    return seconds.count() / calls;
}

// Runs `body` for Python: 0, or 1 and the reason why not.
template <class Body> int answer(char *reason, size_t size, Body body) {
    try {
        body();
        return 0;
    } catch (const std::exception &error) {
        std::snprintf(reason, size, "%s", error.what());
        return 1;
    }
}
#else
#include <stddef.h>
#include <time.h>

int twin_open(const char *const *arguments, char *reason, size_t size);
int twin_round(const char *name, long long calls, double *seconds, char *reason, size_t size);

// Sets `*seconds` to those of one run of `statement`, of `calls` in a loop after a quarter as many.
#define TURNS_BATCH(seconds, calls, statement)                                                     \
    do {                                                                                           \
        struct timespec first_, last_;                                                             \
        for (long long i_ = 0; i_ < (calls) / 4 + 1; ++i_) { statement; }                          \
        timespec_get(&first_, TIME_UTC);                                                           \
        for (long long i_ = 0; i_ < (calls); ++i_) { statement; }                                  \
        timespec_get(&last_, TIME_UTC);                                                            \
        *(seconds) = ((last_.tv_sec - first_.tv_sec) + 1e-9 * (last_.tv_nsec - first_.tv_nsec)) /  \
                     (double)(calls);                                                              \
    } while (0)
#endif
