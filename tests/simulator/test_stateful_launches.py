"""Launches of kernels that are told one thing after the other, and contexts that are counted."""

from __future__ import annotations

from .test_device import PREPARE, output

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 out, .param .u32 value, .param .f32 factor, .param .u32 count)
{
    .reg .u32 %r<4>; .reg .f32 %f<3>; .reg .u64 %rd<4>; .reg .pred %p;
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    ld.param.u32 %r1, [count]; setp.ge.u32 %p, %r0, %r1; @%p ret;
    ld.param.u32 %r1, [value]; ld.param.f32 %f0, [factor];
    cvt.rn.f32.u32 %f1, %r1; mul.f32 %f1, %f1, %f0;
    ld.param.u64 %rd0, [out]; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1;
    st.global.f32 [%rd0], %f1;
    ret;
}
"""
LOADED = (
    PREPARE
    + f"""
checked = driver.checked
module = checked.cuModuleLoadData({PTX.encode()!r} + b"\\0")
kernel = checked.cuModuleGetFunction(module, b"fill")
memory = checked.cuMemAlloc(400)
checked.cuMemsetD8(memory, 0, 400)
"""
)


def test_a_kernel_is_told_its_launch() -> None:
    code = (
        LOADED
        + """
checked.cuFuncSetBlockShape(kernel, 16, 1, 1)
checked.cuFuncSetSharedSize(kernel, 64)
checked.cuParamSetSize(kernel, 20)
checked.cuParamSetv(kernel, 0, (ctypes.c_uint64 * 1)(int(memory)), 8)
checked.cuParamSeti(kernel, 8, 6)
checked.cuParamSetf(kernel, 12, 0.5)
checked.cuParamSeti(kernel, 16, 40)
out = (ctypes.c_float * 100)()
for launch in (
    lambda: checked.cuLaunch(kernel),
    lambda: checked.cuLaunchGrid(kernel, 2, 1),
    lambda: checked.cuLaunchGridAsync(kernel, 3, 1, checked.cuStreamCreate(0)),
):
    launch()
    checked.cuCtxSynchronize()
    checked.cuMemcpyDtoH(out, memory, 400)
    print(list(out) == [3.0] * sum(each == 3.0 for each in out) + [0.0] * sum(each == 0.0 for each in out))
    print(sum(each == 3.0 for each in out))
"""
    )
    assert output(code) == "True\n16\nTrue\n32\nTrue\n40\n"


def test_what_cannot_be_told() -> None:
    code = (
        LOADED
        + """
print(driver.cuFuncSetBlockShape(kernel, 0, 1, 1)[0].name)
print(driver.cuParamSeti(kernel, 4094, 1)[0].name, driver.cuParamSeti(kernel, -1, 1)[0].name)
print(driver.cuParamSetSize(kernel, 5000)[0].name)
print(driver.cuFuncSetSharedSize(driver.CUfunction(int(module)), 1)[0].name)
print(driver.cuLaunch(kernel)[0].name)  # it has no parameters yet
"""
    )
    invalid = "CUDA_ERROR_INVALID_VALUE"
    assert output(code) == (
        f"{invalid}\n{invalid} {invalid}\n{invalid}\nCUDA_ERROR_INVALID_HANDLE\n{invalid}\n"
    )


def test_contexts_are_counted() -> None:
    code = (
        PREPARE
        + """
again = driver.checked.cuCtxAttach(0)
print(int(again) == int(context), driver.cuCtxAttach(1)[0].name)
driver.checked.cuCtxDetach(context)
print(int(driver.checked.cuCtxGetCurrent()) == int(context))
driver.checked.cuCtxDetach(context)
print(int(driver.checked.cuCtxGetCurrent()), driver.cuCtxDetach(context)[0].name)
primary = driver.checked.cuDevicePrimaryCtxRetain(0)
print(driver.cuCtxDetach(primary)[0].name)  # it is not current
driver.checked.cuCtxSetCurrent(primary)
driver.checked.cuCtxAttach(0)
driver.checked.cuCtxDetach(primary)
print(driver.checked.cuDevicePrimaryCtxGetState(0)[1])
"""
    )
    wrong = "CUDA_ERROR_INVALID_CONTEXT"
    assert output(code) == f"True CUDA_ERROR_INVALID_VALUE\nTrue\n0 {wrong}\n{wrong}\n1\n"
