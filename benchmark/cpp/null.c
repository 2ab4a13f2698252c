/* A libcuda that does nothing: what is left of a call is what Python spends on it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <stdint.h>

typedef unsigned u;
typedef uint64_t ptr;

int cuInit(u flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = 424242; return 0; } /* how a null libcuda is told from a real one */
int cuDeviceGetAttribute(int *value, int attribute, int device) { *value = attribute; return 0; }
int cuCtxGetCurrent(void **context) { *context = (void *)2; return 0; }
int cuStreamQuery(void *stream) { return 0; }
int cuStreamCreate(void **stream, u flags) { *stream = (void *)4; return 0; }
int cuStreamCreateWithPriority(void **stream, u flags, int priority) { *stream = (void *)4; return 0; }
int cuStreamDestroy_v2(void *stream) { return 0; }
int cuEventCreate(void **event, u flags) { *event = (void *)5; return 0; }
int cuEventDestroy_v2(void *event) { return 0; }
int cuEventRecord(void *event, void *stream) { return 0; }
int cuMemAllocAsync(ptr *memory, size_t bytes, void *stream) { *memory = 0x7f0000000000; return 0; }
int cuMemFreeAsync(ptr memory, void *stream) { return 0; }
int cuMemcpyHtoDAsync_v2(ptr to, const void *from, size_t bytes, void *stream) { return 0; }
int cuPointerGetAttribute(void *data, int attribute, ptr pointer) { *(int *)data = 2; return 0; }
int cuModuleLoadData(void **module, const void *image) { *module = (void *)3; return 0; }
int cuModuleUnload(void *module) { return 0; }
int cuGraphLaunch(void *graph, void *stream) { return 0; }
int cuLaunchKernel(void *f, u gx, u gy, u gz, u bx, u by, u bz, u shared, void *s, void **params, void **extra) {
    return 0;
}
int cuLaunchKernelEx(const void *config, void *f, void **params, void **extra) { return 0; }

/* What the objects of core need beyond that. */
#define MAKES(function) int function(void **made) { *made = (void *)0x1000; return 0; }
#define DOES(function) int function(void) { return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuCtxGetDevice(int *device) { *device = 0; return 0; }
int cuCtxGetDevice_v2(int *device, void *context) { *device = 0; return 0; }
int cuStreamGetDevice(void *stream, int *device) { *device = 0; return 0; }
int cuDevicePrimaryCtxRetain(void **context) { return cuCtxGetCurrent(context); }
DOES(cuDevicePrimaryCtxRelease_v2)
DOES(cuCtxSetCurrent)
int cuStreamGetCtx(void *stream, void **context) { return cuCtxGetCurrent(context); }
DOES(cuThreadExchangeStreamCaptureMode)
int cuStreamIsCapturing(void *stream, int *status) { *status = 0; return 0; }
MAKES(cuMemAlloc_v2)
DOES(cuMemFree_v2)
MAKES(cuDeviceGetDefaultMemPool)
MAKES(cuDeviceGetMemPool)
DOES(cuMemPoolGetAttribute)
DOES(cuMemPoolSetAttribute)
MAKES(cuMemAllocFromPoolAsync)
MAKES(cuLibraryLoadData)
DOES(cuLibraryUnload)
MAKES(cuLibraryGetKernel)
MAKES(cuKernelGetFunction)
MAKES(cuGraphCreate)
int cuGraphAddKernelNode_v2(void **node) { *node = (void *)0x1000; return 0; }
MAKES(cuGraphInstantiateWithFlags)
MAKES(cuGraphInstantiate)
/* Kernels have five parameters: a float and four of eight bytes. The first one that there is not is an error. */
int cuKernelGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *size) {
    *offset = 8 * index;
    *size = index ? 8 : 4;
    return index < 5 ? 0 : 1;
}

/* cuda.bindings finds everything through this. */
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
    char newer[128];
    snprintf(newer, sizeof newer, "%s_v2", name);
    *function = dlsym(RTLD_DEFAULT, newer);
    if (!*function || !strcmp(name, "cuGetProcAddress")) *function = dlsym(RTLD_DEFAULT, name);
    if (status) *status = *function ? 0 : 1;
    return *function ? 0 : 500;
}
