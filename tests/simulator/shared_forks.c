/* A program that opens the simulator's libcuda.so.1 as plugins are opened, with RTLD_LOCAL, and forks while
   its other threads call the driver: what the calls of each child return. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 20, THREADS = 3, LIMIT = 30 };
typedef int (*Function)();

static void *library, *context;
static volatile int is_over;

static Function in(const char *symbol)
{
    Function found = (Function)dlsym(library, symbol);
    if (!found) {
        fprintf(stderr, "no %s\n", symbol);
        exit(2);
    }
    return found;
}

static void *calls(void *unused)
{
    int version;
    in("cuCtxSetCurrent")(context);
    while (!is_over) {
        in("cuDriverGetVersion")(&version);
        in("cuCtxSynchronize")();
    }
    return NULL;
}

static void child(void)
{
    int count = 0, version = 0;
    alarm(LIMIT);
    int begun = in("cuInit")(0), counted = in("cuDeviceGetCount")(&count);
    int retained = in("cuDevicePrimaryCtxRetain")(&context, 0), asked = in("cuDriverGetVersion")(&version);
    printf("%d %d %d %d\n", begun, counted, retained, asked);
    exit(0);
}

int main(int count, char **arguments)
{
    int status, version, is_early = count > 2; /* that is, before cuInit */
    pthread_t threads[THREADS];
    library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    if (in("cuDriverGetVersion")(&version))
        return 3;
    if (!is_early) {
        if (in("cuInit")(0) || in("cuDevicePrimaryCtxRetain")(&context, 0))
            return 4;
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, calls, NULL);
    }
    for (int i = 0; i < CHILDREN; i++) {
        pid_t process = fork();
        if (!process)
            child();
        if (waitpid(process, &status, 0) != process || status)
            return 5;
    }
    is_over = 1;
    for (int i = 0; i < THREADS && !is_early; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
