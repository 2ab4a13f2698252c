/* A program of C on the simulator's libcuda.so.1: it is linked with the library, and knows no Python. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { char reserved[64]; } Handle;
typedef struct { int type, id; } Location;
typedef void *Pointer;
typedef unsigned long long Address;

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(Pointer *context, int device);
int cuCtxSetCurrent(Pointer context);
int cuCtxGetCurrent(Pointer *context);
int cuModuleLoadData(Pointer *module, const void *image);
int cuModuleGetFunction(Pointer *function, Pointer module, const char *name);
int cuMemAlloc_v2(Address *address, size_t size);
int cuMemAllocManaged(Address *address, size_t size, unsigned flags);
int cuMemAdvise_v2(Address address, size_t size, int advice, Location location);
int cuMemRangeGetAttribute(void *data, size_t size, int attribute, Address address, size_t count);
int cuMemFree_v2(Address address);
int cuMemcpyHtoD_v2(Address address, const void *host, size_t size);
int cuMemcpyDtoH_v2(void *host, Address address, size_t size);
int cuLaunchKernel(Pointer function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                   Pointer stream, void **arguments, void **extra);
int cuLaunchHostFunc(Pointer stream, void (*function)(void *), void *data);
int cuCtxSynchronize(void);
int cuIpcGetMemHandle(Handle *handle, Address address);
int cuIpcOpenMemHandle_v2(Address *address, Handle handle, unsigned flags);

static const char *PTX =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry twice(.param .u64 p) {\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<3>;\nld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
    "add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r2; st.global.u32 [%rd1], %r2; ret; }\n";
static Pointer context;

#define CHECK(condition)                                         \
    do {                                                         \
        if (!(condition)) {                                      \
            printf("line %d: %s\n", __LINE__, #condition);       \
            return (void *)1;                                    \
        }                                                        \
    } while (0)

static void called(void *data) { ++*(int *)data; }

static void *work(void *unused)
{
    Pointer current = NULL, module, function;
    Address address;
    int host[32], calls = 0;
    CHECK(cuCtxGetCurrent(&current) == 0 && current == NULL);
    CHECK(cuCtxSetCurrent(context) == 0);
    CHECK(cuCtxGetCurrent(&current) == 0 && current == context);
    CHECK(cuModuleLoadData(&module, PTX) == 0 && cuModuleGetFunction(&function, module, "twice") == 0);
    CHECK(cuMemAlloc_v2(&address, sizeof host) == 0);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 32; i++)
            host[i] = round * i;
        CHECK(cuMemcpyHtoD_v2(address, host, sizeof host) == 0);
        void *arguments[] = {&address};
        CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL) == 0);
        CHECK(cuMemcpyDtoH_v2(host, address, sizeof host) == 0);
        for (int i = 0; i < 32; i++)
            CHECK(host[i] == 2 * round * i);
        CHECK(cuLaunchHostFunc(NULL, called, &calls) == 0 && cuCtxSynchronize() == 0 && calls == round + 1);
    }
    CHECK(cuMemFree_v2(address) == 0);
    return NULL;
}

static void *structs(void)
{
    Address address;
    int preferred = -5;
    CHECK(cuMemAllocManaged(&address, 4096, 1) == 0);
    CHECK(cuMemAdvise_v2(address, 4096, 3, (Location){1, 1}) == 0); /* the preferred location is device 1 */
    CHECK(cuMemRangeGetAttribute(&preferred, 4, 2, address, 4096) == 0 && preferred == 1);
    CHECK(cuMemFree_v2(address) == 0);
    return NULL;
}

static void *child(int from)
{
    Handle handle;
    Address address;
    Pointer own;
    char word[6];
    CHECK(read(from, &handle, sizeof handle) == sizeof handle);
    CHECK(cuInit(0) == 0 && cuDevicePrimaryCtxRetain(&own, 0) == 0 && cuCtxSetCurrent(own) == 0);
    CHECK(cuIpcOpenMemHandle_v2(&address, handle, 1) == 0);
    CHECK(cuMemcpyDtoH_v2(word, address, 6) == 0 && strcmp(word, "hello") == 0);
    return NULL;
}

static void *share(int to, pid_t other)
{
    Handle handle;
    Address address;
    int status;
    CHECK(cuMemAlloc_v2(&address, 64) == 0 && cuMemcpyHtoD_v2(address, "hello", 6) == 0);
    CHECK(cuIpcGetMemHandle(&handle, address) == 0);
    CHECK(write(to, &handle, sizeof handle) == sizeof handle);
    CHECK(waitpid(other, &status, 0) == other && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return NULL;
}

int main(void)
{
    int ends[2], bad = 0;
    pthread_t threads[8];
    if (pipe(ends))
        return 3;
    pid_t other = fork();
    if (!other) {
        close(ends[1]); /* it hears if this process dies */
        return child(ends[0]) != NULL;
    }
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0))
        return 2;
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 8; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        bad |= failed != NULL;
    }
    bad |= work(NULL) != NULL || structs() != NULL || share(ends[1], other) != NULL;
    puts(bad ? "bad" : "good");
    return bad;
}
