/* What the programs of this folder check with: a failure names itself and ends the program with 3. */
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t status = (call);                                           \
        if (status != cudaSuccess) {                                           \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(status)); \
            exit(3);                                                           \
        }                                                                      \
    } while (0)

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            printf("line %d: not %s\n", __LINE__, #condition);                 \
            exit(3);                                                           \
        }                                                                      \
    } while (0)
