"""Programs and linkers, by the compilers that are installed and by the driver."""

from __future__ import annotations

import io

from ..world import PTX, World

SOURCE = 'extern "C" __global__ void k(int *x) { *x += 1; } template <class T> __global__ void t(T *x) { }'
NVVM = """
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32\
-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define void @k() {{ ret void }}
!nvvmir.version = !{{!0}}
!0 = !{{i32 {0}, i32 {1}, i32 {2}, i32 {3}}}
"""


def by_the_driver(w: World) -> None:
    log, options = io.StringIO(), w.core.ProgramOptions(arch="sm_90")
    with w.without_nvjitlink():
        with w.core.Program(PTX, "ptx", options) as program:
            assert program.backend == "driver" and program.handle is None and program.pch_status is None
            code = program.compile("cubin", logs=log, cache=False)
        assert program.is_closed and code.get_kernel("add")
        more = w.core.ObjectCode.from_ptx(PTX.replace(b"entry ", b"entry b_"))
        with w.core.Linker(w.code, more, options=w.core.LinkerOptions(arch="sm_90")) as linker:
            assert linker.backend == "driver" == linker.which_backend() and int(linker.handle)
            assert linker.link("cubin").get_kernel("b_add")
            assert linker.get_error_log() == "" and linker.get_info_log() is not None
            linker.close()
        assert linker.is_closed and linker.get_error_log() == ""


def by_nvjitlink(w: World) -> None:
    w.module("pathfinder").load("nvJitLink")
    options = w.core.ProgramOptions(arch="sm_90", no_cache=True)
    with w.core.Program(PTX, "ptx", options) as program:
        assert program.link("cubin").code[:4] == b"\x7fELF"
    with w.core.Linker(w.code, options=w.core.LinkerOptions(arch="sm_90")) as linker:
        assert linker.backend == "nvJitLink" and int(linker.handle)
        assert linker.link("cubin").code and linker.get_error_log() == linker.get_info_log() == ""


def by_nvrtc(w: World) -> None:
    options = w.core.ProgramOptions(arch="sm_90", pch=True)
    program = w.core.Program(SOURCE, "c++", options)
    assert program.backend == "NVRTC" and program.handle
    code = program.compile("ptx", name_expressions=["t<int>"], cache=False)
    assert code.get_kernel("k") and code.get_kernel("t<int>") and program.pch_status
    program.close()
    assert program.is_closed
    for source in ("no C++", "__device__ int x;"):
        try:
            w.core.Program(source, "c++", w.core.ProgramOptions(arch="sm_90")).compile("cubin", cache=False)
        except w.core.CompileError as error:
            if "no C++" not in error.log:
                raise


def by_nvvm(w: World) -> None:
    code = NVVM.format(*w.module("nvvm").checked.nvvmIRVersion())
    with w.core.Program(code, "nvvm", w.core.ProgramOptions(arch="sm_90")) as program:
        assert program.backend == "NVVM" and program.compile("ptx", cache=False).code_type == "ptx"
