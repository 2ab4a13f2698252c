"""What kernels with tensor maps begin with: the type of one, and how threads wait for the bytes of a copy."""

TENSOR_HEADER = r"""
struct __align__(64) TensorMap { unsigned long long words[16]; };

__device__ void arrive(unsigned long long *barrier, unsigned bytes) {
    unsigned at = (unsigned)__cvta_generic_to_shared(barrier);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at), "r"(bytes) : "memory");
}

__device__ void wait(unsigned long long *barrier) {
    unsigned done = 0, at = (unsigned)__cvta_generic_to_shared(barrier);
    while (!done)
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
            : "=r"(done) : "r"(at) : "memory");
}
"""
