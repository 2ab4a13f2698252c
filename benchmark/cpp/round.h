// One round for each line of standard input, so that a program can take turns with others: "CASE CALLS" is
// answered with {"seconds": S}, S for one call, or with {"error": "..."}. The loop is that of benchmark/timing.py.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

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

// Answers lines until there are no more; `run` takes a case and a number of calls, and returns seconds.
template <class Run> int serve(Run run) {
    char name[64];
    long long calls;
    while (std::scanf("%63s %lld", name, &calls) == 2) {
        try {
            std::printf("{\"seconds\": %.12g}\n", run(std::string(name), calls));
        } catch (const std::exception &error) {
            std::printf("{\"error\": \"%s\"}\n", error.what());
        }
        std::fflush(stdout);
    }
    return 0;
}
