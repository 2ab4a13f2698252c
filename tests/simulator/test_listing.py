"""`python -m cudapy.simulator.engine FILE.ptx`: the kernels of a module, and their machine code."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from cudapy.simulator.engine import Device, Module
from cudapy.simulator.engine.__main__ import main
from cudapy.simulator.engine.jit.function import MachineCode
from cudapy.simulator.engine.jit.processor import is_supported

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry other() { ret; }
.visible .entry k(.param .u64 p)
{
    .reg .pred %q;
    .reg .b32 %i, %n;
    .reg .b64 %p, %o;
    ld.param.u64 %p, [p];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %o, %i, 4;
    add.u64 %p, %p, %o;
    ld.global.u32 %n, [%p];
    setp.lt.u32 %q, %n, 7;
    @%q add.u32 %n, %n, 1;
    st.global.u32 [%p], %n;
    bar.sync 1;
    ret;
}
"""
machine_code = pytest.mark.skipif(
    not is_supported(), reason="there is machine code for x86-64 with AVX2 alone"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "k.ptx"
    path.write_text(PTX)
    return path


def test_it_lists_kernels(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file)]) is None
    assert capsys.readouterr().out == (
        "other: 0 parameters, 0 bytes of shared memory\nk: 1 parameters, 0 bytes of shared memory\n"
    )


def test_what_it_cannot_list(file: Path) -> None:
    assert main([str(file), "--kernel", "none"]) == f"{file} has no kernel none"
    file.write_text(PTX.replace("add.u64", "nothing.u64"))
    assert str(main([str(file)])).startswith(f"{file}: line 13: ")
    file.unlink()
    assert "No such file" in str(main([str(file)]))


@machine_code
def test_parts_are_all_of_the_code() -> None:
    code = Module(PTX, Device().memory).functions["k"].kernel.compiled.code
    assert isinstance(code, MachineCode)
    region = code.whole_region()
    assert region is not None
    ends = [0, *(part.end for part in region.parts)]
    assert [part.start for part in region.parts] == ends[:-1]
    assert ends[-1] == len(region.code)
    lines = {one.line for part in region.parts for one in part.instructions}
    assert {*range(10, 18)} <= lines


@machine_code
@pytest.mark.parametrize("is_disassembled", [False, True])
def test_it_prints_machine_code(
    file: Path, is_disassembled: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what looks like capstone, and without it."""
    capstone = ModuleType("capstone")

    def disasm(code: bytes, address: int) -> list[SimpleNamespace]:
        return [SimpleNamespace(address=address, bytes=code, mnemonic="all", op_str=str(len(code)))]

    vars(capstone).update(Cs=lambda *_: SimpleNamespace(disasm=disasm), CS_ARCH_X86=3, CS_MODE_64=8)
    monkeypatch.setitem(sys.modules, "capstone", capstone if is_disassembled else None)
    assert main([str(file), "--kernel", "k", "--machine-code"]) is None
    printed = capsys.readouterr().out
    assert "other" not in printed
    assert "\nblock 0\n" in printed and "exit 0: to block 1" in printed
    assert "  line 13: add.u64 %p, %p, %o\n" in printed
    assert "= paddq v" in printed  # the addition of line 13
    assert ("  all " in printed) == is_disassembled
    assert "block 1: NumPy\n  line 18: bar.sync 1\n" in printed
