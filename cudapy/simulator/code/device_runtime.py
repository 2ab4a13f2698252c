"""libcudadevrt, the library of device code that grids synchronize with and kernels launch kernels with.

The archive has machine code of GPUs. Of its functions those behind cooperative groups of a grid are here, as
PTX; the engine has others (see `engine/run/device_runtime.py`).
Source: cuda_device_runtime_api.h, "cudaCGGetIntrinsicHandle", "cudaCGSynchronize"; the PTX ISA, "%envreg".
"""

import re

from ..engine import DEVICE_RUNTIME

ARCHIVE = b"!<arch>\n"
MARK = "cudaCGSynchronizeGrid"
"""What only this library defines."""
_DECLARATION = re.compile(rb"\.extern\s+\.func\b[^;{]*?\b(?:cuda|__cudaCDP2)[A-Z]")

PTX = """\
.version 7.0
.target sm_50
.address_size 64

.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    mov.u32 %r1, %envreg1;  // the workspace of the grid
    mov.u32 %r2, %envreg2;
    mov.b64 %rd1, {%r2, %r1};
    st.param.b64 [handle], %rd1;
    ret;
}

.visible .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
    .reg .pred %p<3>;
    .reg .b32 %r<14>;
    .reg .b64 %rd<2>;
    ld.param.b64 %rd1, [handle];
    bar.sync 0;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %tid.z;
    or.b32 %r1, %r1, %r2;
    or.b32 %r1, %r1, %r3;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra TOGETHER;
    mov.u32 %r4, %nctaid.x;
    mov.u32 %r5, %nctaid.y;
    mov.u32 %r6, %nctaid.z;
    mul.lo.u32 %r4, %r4, %r5;
    mul.lo.u32 %r4, %r4, %r6;
    membar.gl;
    atom.add.u32 %r7, [%rd1+8], 1;  // how many blocks came, since the launch
    div.u32 %r8, %r7, %r4;
    add.u32 %r8, %r8, 1;
    mul.lo.u32 %r9, %r8, %r4;
WAIT:
    ld.volatile.u32 %r10, [%rd1+8];
    sub.s32 %r11, %r10, %r9;
    setp.lt.s32 %p2, %r11, 0;
    @%p2 bra WAIT;
    membar.gl;
TOGETHER:
    bar.sync 0;
    mov.u32 %r12, 0;
    st.param.b32 [status], %r12;
    ret;
}

.visible .func (.param .b32 status) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.b64 %rd1, [handle];
    ld.param.b32 %r1, [flags];
    {
        .param .b64 which;
        .param .b32 how;
        .param .b32 result;
        st.param.b64 [which], %rd1;
        st.param.b32 [how], %r1;
        call.uni (result), cudaCGSynchronize, (which, how);
        ld.param.b32 %r2, [result];
    }
    st.param.b32 [status], %r2;
    ret;
}
"""


def is_archive(data: bytes) -> bool:
    """Whether it is libcudadevrt.a."""
    return data.startswith(ARCHIVE) and b"cuda_device_runtime.o" in data


def is_wanted(text: bytes) -> bool:
    """Whether some PTX declares what may be here."""
    return _DECLARATION.search(text) is not None


def functions() -> set[str]:
    """The names of those that the engine has."""
    return set(DEVICE_RUNTIME)
