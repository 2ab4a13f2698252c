"""What changes only speed on hardware is taken and does nothing; what it takes wrongly is refused."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module, PTXError

from .machine import Machine

SOURCE = r"""
extern "C" __global__ void hinted(const int *in, int *out)
{
    unsigned long long last, range, cast;
    unsigned leader, chosen, t = threadIdx.x;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232; setmaxnreg.dec.sync.aligned.u32 24;");
    asm("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.5;" : "=l"(last));
    asm("createpolicy.range.global.L2::evict_first.L2::evict_unchanged.b64 %0, [%1], 128, 128;"
        : "=l"(range) : "l"(in));
    asm("createpolicy.cvt.L2.b64 %0, %1;" : "=l"(cast) : "l"(0ull));
    asm volatile("prefetch.global.L1 [%0]; prefetch.global.L2::evict_last [%0]; prefetch.local.L2 [%0];"
                 " prefetchu.L1 [%0]; prefetch.L2 [%0]; applypriority.global.L2::evict_normal [%0], 128;"
                 :: "l"(in));
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 64;" :: "l"(in));
    int value;
    asm volatile("ld.global.L1::evict_last.L2::cache_hint.L2::128B.b32 %0, [%1], %2;"
                 : "=r"(value) : "l"(in + t), "l"(last));
    asm volatile("{ .reg .pred p; elect.sync %0|p, 0xFFFFFFF0; selp.u32 %1, 1, 0, p; }"
                 : "=r"(leader), "=r"(chosen));
    asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;"
                 :: "l"(out + t), "r"(value + 1000 * (int)leader + 100000 * (int)chosen), "l"(range)
                 : "memory");
    asm volatile("red.global.add.L2::cache_hint.s32 [%0], 1, %1;" :: "l"(out + t), "l"(cast) : "memory");
    asm volatile("fence.acq_rel.cluster; fence.sc.cluster; fence.acquire.cluster; fence.release.gpu;"
                 " fence.proxy.async; fence.proxy.alias; fence.proxy.async.shared::cluster;"
                 " fence.proxy.tensormap::generic.acquire.gpu [%0], 128;"
                 " fence.acquire.sync_restrict::shared::cluster.cluster;" :: "l"(in) : "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
extern "C" __global__ void discarded(int *out)
{
    out[threadIdx.x] = 1;
    asm volatile("discard.global.L2 [%0], 128;" :: "l"(out + 32) : "memory");
}
"""


def test_what_does_nothing(nvrtc: ModuleType) -> None:
    machine = Machine()
    data, out = np.arange(32, dtype=np.int32), machine.zeros(32, np.int32)
    module = machine.load(SOURCE, 90)
    machine.run(module, "hinted", 1, 32, machine.array(data), out)
    assert np.array_equal(out.get(), data + 1 + 4000 + 100000 * (data == 4))
    machine.run(module, "discarded", 1, 32, out)
    assert (out.get() == 1).all()


@pytest.mark.parametrize(
    "text, reason",
    [
        ("setmaxnreg.inc.sync.aligned.u32 20;", "a multiple of 8 from 24 to 256"),
        ("setmaxnreg.dec.sync.aligned.u32 25;", "a multiple of 8 from 24 to 256"),
        ("discard.global.L2 [%rd1], 64;", "the size must be 128"),
        ("applypriority.global.L2::evict_normal [%rd1], %r1;", "the size must be 128"),
        ("prefetch.shared.L2 [%rd1];", "does not support this; it has prefetch"),
        ("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%rd1], {%r1};", "2 registers are expected"),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2}, [%rd1];", "4 registers are expected"),
        ("cp.async.bulk.wait_group %r1;", "a number is expected"),
        (
            "mbarrier.check_layout.layout::v0.shared::cta.b64 %r1, [%rd1];",
            "does not support this; it has mbarrier",
        ),
        ("mbarrier.arrive.release.cluster.shared::cluster.b64 %rd1, [%r1];", "the first operand must be _"),
        (
            "st.async.mbarrier::complete_tx::bytes.b32 [%rd1], %r1, [%rd1];",
            "does not support this; it has st",
        ),
        ("tcgen05.fence::before_thread_sync;", "it has no tcgen05 at all"),
    ],
)
def test_what_is_refused_when_a_module_is_loaded(text: str, reason: str) -> None:
    head = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
    body = ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>;\nmov.b32 %r1, 1; mov.b64 %rd1, 0;\n"
    with pytest.raises(PTXError, match=rf"line 8: {text[:8]}.*{reason}"):
        Module(f"{head}{body}{text}\nret;\n}}\n", Memory())
    Module(f"{head}{body}ret;\n}}\n", Memory())
