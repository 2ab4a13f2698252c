"""The engine as a package of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudapy.simulator import engine
from cudapy.simulator.engine import back_ends, checks, fault, launch
from cudapy.simulator.engine.access import ATOMIC, READ, WRITE
from cudapy.simulator.engine.compile import function
from cudapy.simulator.engine.compile.function import FunctionCompiler
from cudapy.simulator.engine.compile.graph import Block, Step
from cudapy.simulator.engine.fault import Fault, Place
from cudapy.simulator.engine.generated import functions
from cudapy.simulator.engine.instructions.accesses import MemoryAccess
from cudapy.simulator.engine.jit import accesses
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module
from cudapy.simulator.engine.settings import Settings


def test_generated_functions_show_their_text_in_tracebacks() -> None:
    text = "def first():\n    raise ValueError  # here\n\ndef second():\n    return NUMBER\n"
    made = functions(text, "a title", {"NUMBER": 3})
    assert made["second"]() == 3
    with pytest.raises(ValueError) as caught:
        made["first"]()
    text = "".join(traceback.format_exception(caught.value))
    assert "raise ValueError  # here" in text and 'File "<a title>' in text


class BlockByBlock:
    """A back end that runs one block at a time, and counts lanes. It supports no divisions."""

    name = "block by block"

    def __init__(self) -> None:
        self.lanes: list[int] = []
        self.checks = frozenset({checks.BOUNDS})
        self.asked: set[frozenset[str]] = set()
        self.ended = 0

    def is_available(self) -> bool:
        return True

    def supports(self, step: Step, function: FunctionCompiler) -> bool:
        return step.instruction.name != "div" and not step.match.rule.ends_block

    def compiled(self, function: FunctionCompiler, blocks: list[Block]) -> BlockByBlock:
        self.blocks = blocks
        self.entries = frozenset(block.index for block in blocks if block.is_fast)
        return self

    def runs_all(self, is_eager: bool) -> bool:
        return False

    def region(self, block: int, lanes: int, checks: frozenset[str], is_eager: bool) -> int | None:
        self.asked.add(checks)
        return block if is_eager else None

    def runner(self, batch: Any) -> BlockByBlock:
        self.batch = batch
        return self

    def run(self, region: int, frame: Any, lanes: Any, entry: int, look: Any) -> tuple[int, bool, bool]:
        self.lanes.append(self.batch.threads.count if lanes is None else len(lanes))
        self.blocks[region].run(self.batch, frame, lanes)
        return region + 1, True, False

    def may_run_all(self) -> bool:
        return False

    def run_all(self, frame: Any, look: Any) -> None:
        raise AssertionError

    def end(self) -> None:
        self.ended += 1


@pytest.fixture
def registered() -> Iterator[BlockByBlock]:
    back_end = BlockByBlock()
    back_ends.register(back_end)
    yield back_end
    back_ends.unregister(back_end.name)


PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %d<3>;
    mov.u32 %r1, %tid.x;
    add.u32 %r2, %r1, 1;
    mul.lo.u32 %r3, %r2, %r2;
    div.u32 %r4, 1000, %r3;
    xor.b32 %r5, %r4, %r2;
    shl.b32 %r6, %r5, 1;
    ld.param.u64 %d1, [out];
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r6;
    ret;
}
"""


@pytest.mark.parametrize(
    ("chosen", "made", "lanes"),
    [
        (("numpy",), {"bounds"}, []),
        (("block by block", "numpy"), {"bounds"}, []),  # which does not take over at once
        (("block by block",), {"bounds"}, [64]),  # before the division are too few instructions for a region
        (("block by block",), set(), []),
    ],
)
def test_a_back_end_that_registers_runs_what_it_supports(
    registered: BlockByBlock, chosen: tuple[str, ...], made: set[str], lanes: list[int]
) -> None:
    assert back_ends.names()[-1] == registered.name
    registered.checks = frozenset(made)
    memory = Memory()
    out = memory.allocate(256)
    kernel = Module(PTX, memory).functions["k"]
    launch(kernel, (1, 1, 1), (64, 1, 1), out.to_bytes(8, "little"), back_ends=chosen)
    allocation = memory.find(out)
    assert allocation is not None
    squares = np.arange(1, 65, dtype=np.uint32)
    assert (allocation.view(np.dtype(np.uint32))[0] == (1000 // squares**2 ^ squares) << 1).all()
    assert registered.lanes == lanes
    assert registered.ended == (registered.name in chosen and "bounds" in made)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"seed": 3}, {"order"}),
        ({"check_races": True, "check_uninitialized": True}, {"races", "undefined"}),
        ({"coverage": True}, {"coverage"}),
    ],
)
def test_a_back_end_runs_what_it_checks(
    registered: BlockByBlock, wanted: dict[str, Any], names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.settings, "current", Settings(**wanted))
    memory = Memory()
    kernel, out = Module(PTX, memory).functions["k"], memory.allocate(256).to_bytes(8, "little")
    launch(kernel, 1, 64, out, back_ends=(registered.name,))
    assert not registered.lanes and not registered.asked
    registered.checks |= names
    launch(kernel, 1, 64, out, back_ends=(registered.name,))
    assert registered.lanes == [64] and registered.asked == {registered.checks}


ACCESSES = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>, %i;
    .reg .b64 %p, %o;
    .shared .align 4 .b8 s[256];
    .reg .b32 %s;
    ld.param.u64 %p, [out];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %o, %i, 4;
    add.u64 %p, %p, %o;
    mov.u32 %s, s;
    mad.lo.u32 %s, %i, 4, %s;
    st.shared.u32 [%s], %i;
    atom.shared.add.u32 %r0, [%s], 5;
    ld.shared.u32 %r1, [%s];
    add.u32 %r1, %r1, %r0;
    red.global.add.u32 [%p], %r1;
    ld.global.u32 %r2, [%p];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%p], %r2;
    ret;
}
"""


@pytest.mark.skipif(
    "avx2" not in back_ends.names(), reason="there is machine code for x86-64 with AVX2 alone"
)
def test_a_check_is_one_function_of_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that fails leaves all accesses to Python, which makes them as the code would."""
    seen: list[tuple[int, str, int]] = []

    def check_nothing(context: Any, access: MemoryAccess, size: int, failed: str) -> None:
        seen.append((access.mode, access.space, size))
        context.out.jump(failed)

    monkeypatch.setitem(accesses.CHECKS, checks.COVERAGE, check_nothing)
    monkeypatch.setattr(engine.settings, "current", Settings(coverage=True))
    memory = Memory()
    out = memory.upload(np.zeros(64, np.uint32))
    counters = launch(Module(ACCESSES, memory).functions["k"], 1, 64, (out,), back_ends=("avx2",))
    assert counters.region_runs
    numbers = np.arange(64)
    assert memory.download(out, 64, np.uint32).tolist() == (2 * numbers + 6).tolist()
    order = [(WRITE, "shared"), (ATOMIC, "shared"), (READ, "shared")]
    order += [(ATOMIC, "global"), (READ, "global"), (WRITE, "global")]
    assert seen[-6:] == [(*one, 4) for one in order]


def test_a_back_end_that_is_not_there() -> None:
    kernel = Module(PTX, Memory()).functions["k"]
    with pytest.raises(ValueError, match="no back end is called 'block by block'; there are numpy"):
        launch(kernel, (1, 1, 1), (64, 1, 1), bytes(8), back_ends=("numpy", "block by block"))


def test_a_fault_as_data() -> None:
    memory = Memory()
    out = memory.allocate(4 * 50)
    kernel = Module(PTX, memory).functions["k"]
    with pytest.raises(Fault) as caught:
        launch(kernel, (1, 1, 1), (64, 1, 1), out.to_bytes(8, "little"))
    assert caught.value.status == fault.ILLEGAL_ADDRESS
    details = caught.value.details
    assert details is not None
    what = "Invalid __global__ write"
    line = 1 + PTX[: PTX.index("st.global")].count("\n")
    assert details.place == Place("k", "k", "st.global.u32 [%d1], %r6", line)
    assert (details.what, details.size, details.address) == (what, 4, out + 4 * 50)
    assert (details.block, details.thread, details.count, details.running) == ((0, 0, 0), (50, 0, 0), 14, 64)
    assert details.note == f"0 bytes past the end of device memory of 200 bytes at {out:#x}"
    assert caught.value.report.startswith(f"{what} of 4 bytes\n    in k, PTX line ")


RACES = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .b32 %r;
    .shared .align 4 .b8 s[8];
    mov.u32 %r, %tid.x;
    st.shared.u32 [s], %r;
    st.shared.u32 [s+4], %r;
    ret;
}
"""


def test_findings_as_data() -> None:
    launch(Module(RACES, Memory()).functions["k"], 1, 64, settings=Settings())
    with pytest.raises(Fault) as caught:
        launch(Module(RACES, Memory()).functions["k"], 1, 64, settings=Settings(check_races=True))
    found = [one.place.instruction for one in caught.value.findings]
    assert found == ["st.shared.u32 [s], %r", "st.shared.u32 [s+4], %r"]
    assert caught.value.details is caught.value.findings[0]


def test_a_memory_with_settings_of_its_own() -> None:
    """They are those of modules in it, and of their launches: a sum of what nobody wrote is found."""
    text = PTX.replace(
        "st.global.u32 [%d1], %r6;", "ld.global.u32 %r7, [%d1]; add.u32 %r6, %r6, %r7;"
    ).replace("ret;", "st.global.u32 [%d1], %r6; ret;")
    for memory, is_found in (Memory(), False), (Memory(Settings(check_uninitialized=True)), True):
        kernel, out = Module(text, memory).functions["k"], memory.allocate(256)
        if is_found:
            with pytest.raises(Fault, match="nobody wrote"):
                launch(kernel, 1, 64, (out,))
        launch(kernel, 1, 64, (out,), settings=Settings())


ENGINE = Path(engine.__file__).parent
(EXAMPLE,) = re.findall(r"^```python\n(.*?)^```$", (ENGINE / "README.md").read_text(), re.M | re.S)
ALONE = (
    EXAMPLE.replace("from cudapy.simulator import engine", "import ptx_engine as engine")
    + """
import json, sys
found = {}
for chosen in engine.back_ends.names():
    y = device.memory.upload(np.ones(1000, np.float32))
    counters = engine.launch(saxpy, 4, 256, (1000, 2.0, x, y), device=device, back_ends=(chosen,))
    right = (device.memory.download(y, 1000, np.float32) == 1 + 2 * np.arange(1000)).all()
    found[chosen] = [bool(right), counters.region_runs > 0]
foreign = [name for name in sys.modules if name.split(".")[0] == "cudapy"]
print(json.dumps([found, foreign, engine.__name__]))
"""
)


def test_the_engine_alone(tmp_path: Path) -> None:
    """README's example with a copy of the folder, under another name and without cudapy."""
    shutil.copytree(ENGINE, tmp_path / "ptx_engine", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", ALONE]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found, foreign, name = json.loads(done.stdout)
    expected = {"numpy": [True, False], "avx2": [True, True]}
    assert found == {name: expected[name] for name in back_ends.names()}
    assert (foreign, name) == ([], "ptx_engine")


def test_the_face_can_be_explored() -> None:
    assert {"Module", "Device", "launch", "Fault"} <= set(dir(engine))
    names: dict[str, Any] = {}
    exec("from cudapy.simulator.engine import *", names)
    assert names["launch"] is launch


def test_arguments_that_do_not_fit() -> None:
    memory = Memory()
    kernel = Module(PTX.replace(".param .u64 out", ".param .u64 out, .param .f64 b"), memory).functions["k"]
    assert kernel.pack((-1, 1.5)) == b"\xff" * 8 + np.float64(1.5).tobytes()
    assert kernel.pack((np.uint64(7), bytes(8))) == (7).to_bytes(16, "little")
    with pytest.raises(TypeError, match="k takes 2 arguments, not 1"):
        kernel.pack((1,))
    with pytest.raises(TypeError, match="k: argument 1 has 4 bytes, its parameter 8"):
        kernel.pack((1, np.float32(2)))
    with pytest.raises(TypeError, match="a list is not an argument of 8 bytes"):
        kernel.pack((1, [2]))


def test_arrays_in_memory() -> None:
    memory = Memory()
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    address = memory.upload(array.T)
    assert memory.download(address, (3, 2), np.int16).tolist() == array.T.tolist()
    with pytest.raises(ValueError, match=r"14 bytes at 0x\w+ are not within one allocation"):
        memory.download(address, 7, np.int16)


def test_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    out = memory.allocate(256)
    kernel = Module(PTX, memory).functions["k"]
    once = launch(kernel, 3, 64, (out,), back_ends=("numpy",))
    assert (once.batches, once.region_runs) == (1, 0) and once.numpy_runs > 0
    monkeypatch.setattr(engine.settings.current, "batch", 64)
    counters = launch(kernel, (3, 1, 1), 64, (out,), back_ends=("numpy",))
    assert counters == engine.Counters(3, 3 * once.numpy_runs, 0)


def test_functions_are_compiled_for_numpy_when_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counted(text: str, title: str, scope: dict[str, Any]) -> dict[str, Any]:
        compiled.append(title)
        return functions(text, title, scope)

    monkeypatch.setattr(function, "functions", counted)
    memory = Memory()
    module = Module(PTX + PTX[PTX.index(".visible") :].replace("k(", "other("), memory)
    assert compiled == []
    for _ in range(2):
        launch(module.functions["k"], 1, 64, (memory.allocate(256),), back_ends=("numpy",))
    assert compiled == ["ptx k"]


def test_modules_of_it_can_be_imported_first() -> None:
    for module in ("device", "jit.region"):
        name = f"cudapy.simulator.engine.{module}"
        code = f"import {name}; from cudapy.simulator import engine; engine.Module, engine.settings.current"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_kernel_that_is_done_is_not_interrupted() -> None:
    """Ctrl-C as its last block ends is for what it launched, and it launched nothing."""
    memory = Memory()
    out = memory.allocate(4 * 64, "out")
    device = engine.Device(memory=memory, is_interrupted=lambda: True)
    counters = launch(Module(ACCESSES, memory).functions["k"], 1, 64, (out,), device=device)
    assert counters.batches == 1


@pytest.mark.parametrize(
    ("directives", "most"),
    [
        ("", 255),
        (".maxntid 384, 1, 1", 168),
        (".maxntid 16, 16", 255),
        (".maxntid 1024", 64),
        (".reqntid 256 .minnctapersm 2", 128),
        (".maxntid 1024 .maxnreg 40", 40),
    ],
)
def test_registers_that_are_estimated_let_a_block_run(directives: str, most: int) -> None:
    """As the compiler has to: libraries launch nothing where no block fits."""
    moves = "".join(f"mov.u32 %r{i}, %tid.x;" for i in range(300))
    adds = "".join(f"add.u32 %r0, %r0, %r{i};" for i in range(300))
    head = f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {directives}"
    body = f".reg .pred %p; .reg .u32 %r<300>; .shared .u32 s; {moves} setp.eq.u32 %p, %r1, 7;"
    body = f"{body} @%p bra L; ret; L: {adds}"
    module = Module(f"{head} {{ {body} st.shared.u32 [s], %r0; ret; }}", Memory())
    assert module.functions["k"].registers == most
