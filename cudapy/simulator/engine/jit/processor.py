"""Whether this machine runs the code, and memory for it.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, "CPUID", "XGETBV".
"""

import ctypes
import functools
import mmap
import os
import platform
import sys
from typing import cast

from ..assembler.x86_64 import R8, RAX, RBX, RCX, RDI, RDX, RSI, Assembler, At
from ..settings import MACHINE_CODE

try:
    from ..assembler import neon
except ImportError:  # wheels are without it until it has run on hardware
    neon = None  # type: ignore[assignment]

_BLOCK = 1 << 20
_FMA, _SAVES, _AVX = 1 << 12, 1 << 27, 1 << 28  # of leaf 1, ecx
_BMI1, _AVX2 = 1 << 3, 1 << 5  # of leaf 7, ebx

_HWCAP, _ATOMICS = 16, 1 << 8  # AT_HWCAP of getauxval, HWCAP_ATOMICS: LSE

_blocks: list[tuple[mmap.mmap, int, int]] = []
"""Memory that code lies in, its address, and how much is in use; never given back."""


def _questions() -> Assembler:
    """`void cpuid(int leaf, int part, int result[4])`: eax, ebx, ecx and edx; `int saved()`: the processor's
    registers that the system saves.
    """
    out = Assembler()
    with out.routine("cpuid", takes=(RDI, RSI, RDX), clobbers=(RAX, RCX, RDX, R8)):
        out.push(RBX)
        out.saves((RBX,))
        out.word("mov", RAX, RDI, wide=False)
        out.word("mov", RCX, RSI, wide=False)
        out.word("mov", R8, RDX)
        out.cpuid()
        for place, register in enumerate((RAX, RBX, RCX, RDX)):
            out.keep(At(R8, 4 * place), register, 4)
        out.pop(RBX)
        out.ret()
    with out.routine("saved", clobbers=(RAX, RCX, RDX)):
        out.set(RCX, 0)
        out.xgetbv()
        out.ret()
    return out


def is_aarch64() -> bool:
    """Whether code is for AArch64, not for x86-64."""
    return platform.machine().lower() in ("aarch64", "arm64")


def assembler() -> Assembler:
    """What writes code for this processor."""
    return cast("Assembler", neon.Assembler()) if is_aarch64() else Assembler()


@functools.cache
def is_supported() -> bool:
    """Whether this is x86-64 with AVX2, FMA and BMI1, where memory with code in it can be had; or AArch64 on
    Linux with LSE, where the environment asks for machine code: it has run in an emulator alone.
    """
    if os.name != "posix" or sys.maxsize < 1 << 32:
        return False
    if is_aarch64():
        if neon is None or not os.environ.get(MACHINE_CODE) or sys.platform != "linux":
            return False
        capabilities = ctypes.CDLL(None).getauxval
        capabilities.argtypes, capabilities.restype = (ctypes.c_ulong,), ctypes.c_ulong
        return bool(capabilities(_HWCAP) & _ATOMICS)
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    try:
        out = _questions()
        start = place_code(out.finish())
        cpuid = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)(start)
        saved = ctypes.CFUNCTYPE(ctypes.c_int)(start + out.labels["saved"])
    except (OSError, ValueError):
        return False
    basic, extended = (ctypes.c_uint32 * 4)(), (ctypes.c_uint32 * 4)()
    cpuid(0, 0, basic)
    if basic[0] < 7:
        return False
    cpuid(1, 0, basic)
    cpuid(7, 0, extended)
    if basic[2] & (_FMA | _SAVES | _AVX) != _FMA | _SAVES | _AVX:
        return False
    return extended[1] & (_BMI1 | _AVX2) == _BMI1 | _AVX2 and saved() & 6 == 6


def place_code(code: bytes) -> int:
    """Copy code to memory that it can run in. Returns its address. Raises OSError if the system refuses."""
    if is_aarch64():
        return _map_file(code)
    size = -(-len(code) // 64) * 64
    if not _blocks or _blocks[-1][2] + size > len(_blocks[-1][0]):
        length = max(_BLOCK, size)
        # private: processes that are forked put different code into it
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        memory = mmap.mmap(-1, length, flags, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        _blocks.append((memory, ctypes.addressof(ctypes.c_char.from_buffer(memory)), 0))
    memory, address, used = _blocks[-1]
    memory[used : used + len(code)] = code
    _blocks[-1] = memory, address, used + size
    return address + used


def _map_file(code: bytes) -> int:
    """As a shared library's: so the system has the processor's caches see it. It is never given back."""
    function = ctypes.CDLL(None, use_errno=True).mmap  # Python's keeps the file open
    number, pointer, size = ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t
    function.argtypes, function.restype = (pointer, size, number, number, number, ctypes.c_long), size
    file = os.memfd_create("cudapy")
    try:
        os.write(file, code)
        protection = mmap.PROT_READ | mmap.PROT_EXEC
        address: int = function(None, len(code), protection, mmap.MAP_PRIVATE, file, 0)
    finally:
        os.close(file)
    if address == size(-1).value:
        raise OSError(ctypes.get_errno(), "code cannot be mapped")
    return address
