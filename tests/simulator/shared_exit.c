/* A library that has contexts, a stream and memory until the process ends, as bindings of C++ have: it gives
   them back when no Python is left, and says how each function fails. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *driver, *runtime, *first, *second, *stream;
static unsigned long long memory;
static unsigned char *host, *managed;

enum { SIZE = 1 << 26 };

typedef int (*function)();
typedef const char *(*text_of)(int);

static function in(void *library, const char *symbol)
{
    function found = (function)dlsym(library, symbol);
    if (!found) {
        fprintf(stderr, "no %s\n", symbol);
        exit(2);
    }
    return found;
}

static void report(const char *symbol, int status)
{
    const char *name = (const char *)1, *text = (const char *)1;  /* not initialized */
    if (status) {
        in(driver, "cuGetErrorName")(status, &name);
        in(driver, "cuGetErrorString")(status, &text);
        printf("%s: %s: %s\n", symbol, name, text);
    }
}

#define CALL(symbol, ...) report(#symbol, in(driver, #symbol)(__VA_ARGS__))
#define CALL_RUNTIME(symbol, ...) \
    do { \
        int status = in(runtime, #symbol)(__VA_ARGS__); \
        text_of name = (text_of)in(runtime, "cudaGetErrorName"); \
        text_of text = (text_of)in(runtime, "cudaGetErrorString"); \
        if (status) \
            printf("%s: %s: %s\n", #symbol, name(status), text(status)); \
    } while (0)

void begin(void)
{
    unsigned long long refused;

    driver = dlopen("libcuda.so.1", RTLD_NOW);
    runtime = dlopen("libcudart.so.13", RTLD_NOW);
    CALL(cuInit, 0);
    CALL(cuCtxCreate_v2, &first, 0, 0);
    CALL(cuStreamCreate, &stream, 0);
    CALL(cuMemAlloc_v2, &memory, 64);
    CALL(cuMemHostAlloc, &host, (size_t)SIZE, 0);
    CALL(cuMemAllocManaged, &managed, (size_t)SIZE, 1);
    host[SIZE - 1] = managed[SIZE - 1] = 5;
    CALL(cuCtxPopCurrent_v2, &second);
    CALL(cuCtxCreate_v2, &second, 0, 0);
    CALL(cuMemAlloc_v2, &refused, 1ull << 60);
}

__attribute__((destructor)) static void end(void)
{
    void *popped = (void *)1;
    unsigned long long more = 7;

    printf("%d %d\n", host[SIZE - 1], managed[SIZE - 1]);
    CALL(cuCtxPopCurrent_v2, &popped);
    CALL(cuCtxPushCurrent_v2, first);
    CALL(cuStreamQuery, stream);
    CALL(cuStreamSynchronize, stream);
    CALL(cuStreamDestroy_v2, stream);
    CALL(cuMemFree_v2, memory);
    CALL(cuMemFreeHost, host);
    CALL(cuCtxDetach, first);
    CALL(cuCtxPushCurrent_v2, second);
    CALL(cuCtxDestroy_v2, second);
    CALL(cuGraphAddMemFreeNode, &popped, NULL, NULL, 0, 0);
    CALL(cuMemAlloc_v2, &more, 64);
    CALL_RUNTIME(cudaFree, NULL);
    CALL_RUNTIME(cudaGetLastError, 0);
    CALL_RUNTIME(cudaMalloc, &more, 64);
    printf("%p %llu\n", popped, more);
}
