"""The newest cudapy on the driver of CUDA 12.0, as its headers have it: it works, or says what is lacking."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest

from tests.headers.wheels import RELEASES
from tests.stub import python
from tests.stub.build import symbol_of

from .releases import called_as, first, functions, stub_of_release

pytestmark = pytest.mark.thorough

OLDEST = RELEASES[0]
CALLS = """
import json, sys
from tests.reliability.releases import functions
from tests.stub.echo import cases, echo
from tests.stub.record import Stub

stub = Stub(sys.argv[1])
called_as = json.load(open(sys.argv[2]))
wrong, lacking = [], {}
for symbol, function in functions().items():
    try:
        for made in cases(function):
            echo(stub, made, symbol=called_as[symbol])
    except AssertionError as error:
        wrong.append(str(error))
    except Exception as error:
        lacking[symbol] = f"{type(error).__name__}: {error}"
    stub.calls()
print(json.dumps([wrong, lacking]))
"""


@pytest.fixture(scope="module")
def path(gcc: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stub."""
    try:
        return stub_of_release(OLDEST, tmp_path_factory.mktemp("release") / "libcuda_old.so")
    except RuntimeError as error:
        pytest.skip(f"the headers of CUDA {OLDEST} cannot be had: {error}")


@pytest.fixture(scope="module")
def outcome(path: Path) -> Any:
    """What went wrong of all functions, and what the others say; with guard bytes around all memory."""
    names = path.with_suffix(".json")
    names.write_text(json.dumps({s: called_as(f, OLDEST) for s, f in functions().items()}))
    done = python(CALLS, path, names, PYTHONMALLOC="debug")
    assert done.returncode == 0, done.stderr[-3000:]  # the debug allocator aborts where guard bytes changed
    return json.loads(done.stdout)


def test_what_the_driver_has_arrives_and_comes_back(outcome: Any) -> None:
    """Byte for byte, in that release's structs, under its symbol; and nothing past their end."""
    wrong, lacking = outcome
    assert wrong == []
    there = [symbol for symbol, f in functions().items() if called_as(f, OLDEST)]
    assert len(there) > 390 and not lacking.keys() & set(there)


def test_what_the_driver_lacks_says_what_it_needs(outcome: Any) -> None:
    """The function, the release of the driver and the release that has it, which the headers confirm."""
    _, lacking = outcome
    known = functions()
    assert lacking.keys() == {symbol for symbol, f in known.items() if not called_as(f, OLDEST)}
    assert len(lacking) > 100
    for symbol, text in lacking.items():
        words = (
            rf'SymbolNotFound: Function "{symbol_of(known[symbol].__declaration__.prototype)}" not found in '
            r"this driver, which has CUDA \d+\.\d+: it needs CUDA (\d+)\.(\d+) or newer"
        )
        found = re.fullmatch(words, text)
        assert found, text
        needed, seen = (int(found[1]), int(found[2])), first(symbol)
        before = RELEASES[RELEASES.index(seen) - 1]
        assert number(before) < needed <= number(seen), text


def number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


CORE = """
import os
import re
os.environ["CUDAPY_SIMULATOR_DRIVER_VERSION"] = "12.0"
import numpy as np
from cudapy import driver
from cudapy.core import *

def refused(call):
    try:
        call()
    except RuntimeError as error:
        print(type(error).__name__, error)

device = Device()
device.set_current()
stream = device.create_stream()
n = 1000
x = np.arange(n, dtype=np.float32)
source = '''
extern "C" __global__ void saxpy(float a, const float *x, float *y, size_t n)
{
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
'''
config = LaunchConfig(grid=8, block=128)
code = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
saxpy = code.compile("cubin").get_kernel("saxpy")
start, end = (device.create_event(EventOptions(enable_timing=True)) for _ in range(2))
d_x, d_y = (device.allocate(x.nbytes, stream=stream) for _ in range(2))
d_x.copy_from(x, stream=stream)
d_y.fill(0, stream=stream)
stream.record(start)
launch(stream, config, saxpy, np.float32(2), d_x, d_y, np.uint64(n))
stream.record(end)
prepare(stream, config, saxpy, np.float32(2), d_x, d_y, np.uint64(n))(np.float32(3), d_x, d_y, np.uint64(n))
builder = device.create_graph_builder()
builder.begin_building()
launch(builder, config, saxpy, np.float32(4), d_x, d_y, np.uint64(n))
builder.end_building().complete().launch(stream)
y = np.empty_like(x)
d_y.copy_to(y, stream=stream)
stream.sync()
assert np.array_equal(y, 9 * x) and end - start >= 0
ptx = re.sub(rb"[.]version \\S+", b".version 8.0", code.compile("ptx").code)  # the newest that it takes
linked = Linker(ObjectCode.from_ptx(ptx), options=LinkerOptions(arch=f"sm_{device.arch}"))
print(linked.backend, linked.link("cubin").get_kernel("saxpy").attributes.max_threads_per_block >= 128)
print(driver.checked.cuDriverGetVersion())
refused(lambda: saxpy.num_arguments)
refused(lambda: driver.checked.cuMemAlloc(1 << 60))
"""


@pytest.mark.usefixtures("nvrtc")
def test_core_works_on_it() -> None:
    """Compiling, launching, timing, capturing and linking; what a driver of 12.0 cannot do is named."""
    done = python(CORE, CUDAPY_DRIVER="simulator")
    assert done.returncode == 0, done.stderr
    backend, version, arguments, memory = done.stdout.splitlines()
    assert (backend, version) == ("driver True", "12000")
    assert re.match(r"SymbolNotFound .*cuKernelGetParamInfo.*needs CUDA 12\.4 or newer", arguments)
    assert memory.startswith("CUDAOutOfMemoryError cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): ")


def test_a_call_asks_for_its_own_symbol(fresh: ModuleType) -> None:
    """Importing asks a library for nothing, and a call for what it calls: an old library has that."""

    class Library:
        asked: ClassVar[list[str]] = []

        def __getitem__(self, symbol: str) -> Any:
            self.asked.append(symbol)
            return lambda *arguments: 0

    fresh.libcuda.load = Library
    importlib.import_module(".core", fresh.__package__)
    assert Library.asked == []
    assert fresh.cuInit(0)[0] == fresh.cuCtxSynchronize()[0] == 0
    assert list(dict.fromkeys(Library.asked)) == ["cuInit", "cuCtxSynchronize"]  # a lane asks again
