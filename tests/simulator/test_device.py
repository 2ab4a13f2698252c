"""The simulated device: C functions made of Python, how it is switched on, what it lacks, who cannot tell."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
import sys
import textwrap
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests import warm

REPOSITORY = Path(__file__).parents[2]


def run(
    code: str,
    *,
    simulated: bool = True,
    forked: bool | None = None,
    ends_at_once: bool = True,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own: a process has one driver for good.

    simulated: whether the environment chooses the simulator. forked: whether all modules may be imported
    already; by default where it is chosen, as what begins without it tests how it is switched on.
    """
    given = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    given |= {"PYTHONPATH": str(REPOSITORY), **environment}
    if simulated:
        given = {"CUDAPY_DRIVER": "simulator", **given}
    if simulated if forked is None else forked:
        return warm.run(["-c", code], env=given, ends_at_once=ends_at_once)
    return subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, timeout=120, check=False
    )


def output(code: str, **options: Any) -> str:
    """What a program prints that ends well and has nothing to say on stderr; options as those of `run`."""
    done = run(code, **options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


PREPARE = """
import ctypes
from cudapy import driver
driver.checked.cuInit(0)
context = driver.checked.cuCtxCreate(0, 0)
"""


class TestSwitch:
    NAME = "from cudapy.core import Device; print(Device().name)"

    def test_the_environment(self) -> None:
        assert output(self.NAME) == "cudapy simulator\n"

    def test_the_function(self) -> None:
        code = "from cudapy import simulator; simulator.enable(); " + self.NAME
        assert output(code, simulated=False) == "cudapy simulator\n"

    def test_another_name_is_an_error(self) -> None:
        done = run(self.NAME, CUDAPY_DRIVER="simulater")
        assert done.returncode == 1
        assert (
            "ValueError: CUDAPY_DRIVER is 'simulater', but there is no module cudapy.simulater" in done.stderr
        )

    def test_the_library_does_not_switch_by_itself(self) -> None:
        code = """
import sys
from cudapy import core, driver, pathfinder
try:
    pathfinder.load("cuda")
except pathfinder.LibraryNotFound:
    pass
print(any("simulator" in name for name in sys.modules))
"""
        assert output(code, simulated=False) == "False\n"

    def test_it_comes_too_late_after_another_driver(self) -> None:
        code = """
import ctypes
from cudapy import pathfinder, simulator
real = pathfinder.Loaded("cuda", ctypes.CDLL(None), "/lib/real.so", "system", None)
pathfinder.register("cuda", lambda major, below: real)
pathfinder.load("cuda")
try:
    simulator.enable()
except RuntimeError as error:
    print(error)
"""
        assert output(code, simulated=False) == (
            "the simulator comes too late: this process has loaded /lib/real.so\n"
        )

    def test_what_is_settled_once_it_is_on(self) -> None:
        code = """
from cudapy import driver, simulator
driver.cuInit(0)
simulator.enable(devices=1, compute_capability=(9, 0), seed=7)
for other in ({"devices": 2}, {"devices": 0}, {"compute_capability": (8, 0)}):
    try:
        simulator.enable(**other)
    except RuntimeError as error:
        print(error)
"""
        line = (
            "the simulator is on, with devices=1, compute_capability=(9, 0) and driver_version=(13, 5): "
            "enable others before the first call of CUDA\n"
        )
        assert output(code) == 3 * line

    def test_settings_come_from_the_call_and_then_the_environment(self) -> None:
        code = """
from cudapy import driver, simulator
simulator.enable(devices=2, seed=7)
from cudapy.simulator.engine import settings
driver.checked.cuInit(0)
print(driver.checked.cuDeviceGetCount(), driver.checked.cuDeviceComputeCapability(1))
print(settings.current.seed, settings.current.check_races, settings.current.coverage)
"""
        found = output(
            code,
            simulated=False,
            CUDAPY_SIMULATOR_DEVICES="3",
            CUDAPY_SIMULATOR_SEED="9",
            CUDAPY_SIMULATOR_COMPUTE_CAPABILITY="8.0",
            CUDAPY_SIMULATOR_CHECK_RACES="1",
        )
        assert found == "2 (8, 0)\n7 True False\n"

    def test_checks_are_switched_on_together(self) -> None:
        """For all values in one process, which forgets its settings in between."""
        code = """
import os
from cudapy import simulator
from cudapy.simulator.engine import settings
for variables in ({}, {"": "all"}, {"": "races"}, {"": "races, uninitialized"}, {"": "all", "_RACES": "0"}):
    named = {f"CUDAPY_SIMULATOR_CHECK{name}": value for name, value in variables.items()}
    os.environ.update(named)
    settings.current = settings.Settings()
    simulator.enable()
    print(settings.current.check_races, settings.current.check_uninitialized)
    for name in named:
        del os.environ[name]
os.environ["CUDAPY_SIMULATOR_CHECK"] = "everything"
try:
    simulator.enable()
except ValueError as error:
    print(error)
"""
        assert output(code).splitlines() == [
            "False False",
            "True True",
            "True False",
            "True True",
            "False True",
            "CUDAPY_SIMULATOR_CHECK cannot be 'everything': there is all, races, uninitialized",
        ]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("devices=0", "1 .. 16 devices, not 0"),
            ("compute_capability=(3, 5)", "no compute capability (3, 5): the simulator has 7.5, 8.0"),
        ],
    )
    def test_settings_that_make_no_sense(self, arguments: str, message: str) -> None:
        done = run(f"from cudapy import simulator; simulator.enable({arguments})", simulated=False)
        assert message in done.stderr


class TestStandIn:
    CODE = """
import os
from cudapy import pathfinder, simulator
FAKE
print(simulator.stand_in(), simulator.is_enabled())
"""
    LINE = "no NVIDIA GPU here: running on the cudapy simulator\n"

    def run(self, fake: str, **environment: str) -> str:
        return output(self.CODE.replace("FAKE", fake), simulated=False, forked=True, **environment)

    def test_without_a_driver(self) -> None:
        fake = """
def provide(major, below):
    raise pathfinder.LibraryNotFound("cuda", (), "none")
pathfinder.register("cuda", provide)
"""
        assert self.run(fake) == self.LINE + "True True\n"

    DRIVER = """
class Library:
    def cuInit(self, flags): return STATUS
    def cuDeviceGetCount(self, count): count._obj.value = COUNT; return 0
real = pathfinder.Loaded("cuda", Library(), "/lib/real.so", "system", None)
pathfinder.register("cuda", lambda major, below: real)
"""

    @pytest.mark.parametrize(("status", "count"), [(100, 1), (0, 0)])
    def test_a_driver_without_a_device(self, status: int, count: int) -> None:
        fake = self.DRIVER.replace("STATUS", str(status)).replace("COUNT", str(count))
        assert self.run(fake) == self.LINE + "True True\n"

    def test_a_driver_with_a_device(self) -> None:
        fake = self.DRIVER.replace("STATUS", "0").replace("COUNT", "1")
        assert self.run(fake) == "False False\n"

    def test_nothing_is_said_of_a_simulator_that_was_chosen(self) -> None:
        assert self.run("", CUDAPY_DRIVER="simulator") == "True True\n"


class TestLibrary:
    def test_what_it_lacks_says_so_by_name(self) -> None:
        code = (
            PREPARE
            + """
print(driver.cuGraphicsUnregisterResource(0))
try:
    driver.checked.cuGraphicsUnregisterResource(0)
except RuntimeError as error:
    print(error)
"""
        )
        first, second = output(code).splitlines()
        assert first == "(<CUresult.CUDA_ERROR_NOT_SUPPORTED: 801>,)"
        assert "The driver says: the simulator has no cuGraphicsUnregisterResource" in second

    def test_the_reason_is_told_whole(self) -> None:
        code = PREPARE + (
            "try: driver.checked.cuModuleLoad(b'/no [such] file')\n"
            "except RuntimeError as error: print(error)\n"
        )
        assert "The driver says: [Errno 2] No such file or directory: '/no [such] file'" in output(code)

    def test_a_function_newer_than_its_version_is_not_there(self) -> None:
        code = PREPARE + "driver.cuFabricCpyBatchAsync(0, None, 0, 0)"
        done = run(code, CUDAPY_SIMULATOR_DRIVER_VERSION="13.0")
        assert 'Function "cuFabricCpyBatchAsync" not found in this driver, which has CUDA 13.0' in done.stderr

    def test_nothing_works_before_cuinit(self) -> None:
        code = "from cudapy import driver; print(driver.cuDeviceGetCount(), driver.cuDriverGetVersion()[1])"
        assert output(code) == "(<CUresult.CUDA_ERROR_NOT_INITIALIZED: 3>, None) 13050\n"

    def test_the_version_that_is_asked_for(self) -> None:
        code = "from cudapy import driver, simulator; simulator.enable(driver_version=(12, 4))\n"
        code += (
            "print(driver.cuDriverGetVersion()[1], driver.cuGetProcAddress(b'cuInit', 12050, 0)[0].value)\n"
        )
        code += "try: simulator.enable(driver_version=(13, 0))\nexcept RuntimeError as error: print(error)"
        assert output(code, simulated=False, forked=True).startswith(
            "12040 1\nthe simulator is on, with devices=1, compute_capability=(9, 0) and driver_version="
        )
        done = run(PREPARE, CUDAPY_SIMULATOR_DRIVER_VERSION="11.8")
        assert "the simulator is a driver of CUDA 12.0 .. 13.5" in done.stderr

    def test_ptx_that_is_newer_than_the_driver_or_for_another_device(self) -> None:
        code = PREPARE + (
            "def load(version, target):\n"
            "    text = f'.version {version}\\n.target {target}\\n.address_size 64\\n.entry k() {{ ret; }}'\n"
            "    print(version, target, driver.cuModuleLoadData(text.encode())[0].name)\n"
            "for version in ('8.8', '9.0', '9.1', '9.9'): load(version, 'sm_75')\n"
            "for target in ('sm_89, debug', 'sm_90a', 'sm_100', 'sm_100f', 'sm_120a', 'sm_80a'):"
            " load('8.8', target)\n"
        )
        environment = {"CUDAPY_SIMULATOR_DRIVER_VERSION": "13.0"}
        assert output(code, **environment).splitlines() == [
            "8.8 sm_75 CUDA_SUCCESS",
            "9.0 sm_75 CUDA_SUCCESS",
            "9.1 sm_75 CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            "9.9 sm_75 CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            "8.8 sm_89, debug CUDA_SUCCESS",
            "8.8 sm_90a CUDA_SUCCESS",
            "8.8 sm_100 CUDA_ERROR_INVALID_PTX",
            "8.8 sm_100f CUDA_ERROR_INVALID_PTX",
            "8.8 sm_120a CUDA_ERROR_INVALID_PTX",
            "8.8 sm_80a CUDA_ERROR_INVALID_PTX",
        ]
        environment = {
            "CUDAPY_SIMULATOR_DRIVER_VERSION": "12.6",
            "CUDAPY_SIMULATOR_COMPUTE_CAPABILITY": "10.3",
        }
        found = output(code, **environment)
        assert "8.8 sm_89, debug CUDA_ERROR_UNSUPPORTED_PTX_VERSION" in found
        code = code.replace("8.8", "8.5")
        assert "sm_100f CUDA_SUCCESS" in output(code, **environment)

    def test_registers_are_those_of_the_cubin(self, nvrtc: ModuleType) -> None:
        code = """
from cudapy.core import Device, Linker, LinkerOptions, Program, ProgramOptions
Device().set_current()
text = "extern \\"C\\" __global__ void k(float *a) { float s[30]; for (int i = 0; i < 30; ++i) s[i] ="
text += "a[i * threadIdx.x]; for (int i = 0; i < 30; ++i) a[i] = s[i] * s[29 - i]; }"
def registers(code): return code.get_kernel("k").attributes.num_regs
def linked(code, most):
    return Linker(code, options=LinkerOptions(arch="sm_90", max_register_count=most)).link("cubin")
ptx = Program(text, "c++").compile("ptx")
assert registers(Program(text, "c++").compile("cubin")) == registers(linked(ptx, None)) > 24
assert registers(Program(text, "c++", ProgramOptions(max_register_count=24)).compile("cubin")) == 24
assert registers(linked(ptx, 24)) == 24
limit = ptx.code.replace(b")\\n{", b")\\n.maxnreg 16\\n{")
from cudapy import driver
module = driver.checked.cuModuleLoadData(limit)
function = driver.checked.cuModuleGetFunction(module, b"k")
print(driver.checked.cuFuncGetAttribute(driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function))
"""
        assert output(code) == "16\n"

    def test_a_null_result_is_an_error(self) -> None:
        code = PREPARE + "print(driver.libcuda.symbol('cuMemAlloc_v2')(None, ctypes.c_size_t(64)))"
        assert output(code) == "1\n"

    def test_a_mistake_of_the_simulator_is_shown_once(self) -> None:
        code = (
            "from cudapy import simulator\nsimulator.enable()\n"
            + "from cudapy.simulator import library\n"
            + "def cuProfilerStart(): return 1 // 0\n"
            + "library.provided['driver']['cuProfilerStart'] = cuProfilerStart\n"
            + PREPARE
            + "for _ in range(3): print(driver.cuProfilerStart())"
        )
        done = run(code, simulated=False, forked=True)
        assert done.stdout == 3 * "(<CUresult.CUDA_ERROR_UNKNOWN: 999>,)\n"
        assert done.stderr.count("cuProfilerStart failed, which is a mistake in the simulator") == 1
        assert done.stderr.count("ZeroDivisionError") == done.stderr.count("Traceback") == 1

    def test_every_function_fits_its_prototype(self) -> None:
        code = """
from cudapy import simulator
from cudapy.simulator import library
found = {}
for name, table in simulator.process.tables().items():
    missing = [s for s in library.provided[name] if table.callback(s) is None]
    found[name] = len(library.provided[name]) - len(missing)
    assert not missing, missing
print(found["driver"] > 280, found["runtime"] > 60)
"""
        assert output(code) == "True True\n"

    def test_what_a_symbol_is_bound_to(self) -> None:
        """A function of the driver, the same for the default stream of a thread, one of the runtime that is
        the driver's, one that is missing, and none.
        """
        code = """
from cudapy import simulator
tables = simulator.process.tables()
for library, symbol in (
    ("driver", "cuStreamQuery"), ("driver", "cuStreamQuery_ptsz"), ("runtime", "cudaEventCreateWithFlags"),
    ("driver", "cuGraphicsUnregisterResource"), ("driver", "cuMemAlloc_v2_ptsz"), ("runtime", "cuInit"),
):
    binding = tables[library].resolve(symbol)
    if binding is not None:
        name = binding.function.__name__
        print(binding.symbol, name, binding.prototype.symbol, binding.per_thread_stream, *binding.places())
    else:
        print(None)
"""
        assert output(code).splitlines() == [
            "cuStreamQuery cuStreamQuery cuStreamQuery False [0] []",
            "cuStreamQuery cuStreamQuery cuStreamQuery True [0] []",
            "cudaEventCreateWithFlags cuEventCreate cuEventCreate False [1] [0]",
            "cuGraphicsUnregisterResource function cuGraphicsUnregisterResource False [] []",
            "None",
            "None",
        ]

    def test_the_default_stream_of_a_thread(self) -> None:
        code = (
            PREPARE
            + """
import threading
gate = threading.Event()
wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: gate.wait(60))
driver.checked.cuLaunchHostFunc(0, wait, None)
other = []
def query():
    driver.cuCtxSetCurrent(context)
    other.append(driver.cuStreamQuery(0))
thread = threading.Thread(target=query)
thread.start(); thread.join()
mine = driver.cuStreamQuery(0)
gate.set()
driver.checked.cuCtxSynchronize()
print(mine[0].name, other[0][0].name)
"""
        )
        assert output(code) == "CUDA_ERROR_NOT_READY CUDA_ERROR_NOT_READY\n"
        own = output(code, CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM="1")
        assert own == "CUDA_ERROR_NOT_READY CUDA_SUCCESS\n"


class TestFaults:
    PROGRAM = """
import numpy as np
from cudapy import driver
from cudapy.core import Device, LaunchConfig, Program, ProgramOptions, launch
device = Device(); device.set_current(); stream = device.create_stream()
source = 'extern "C" __global__ void k(int *p, int n) { p[threadIdx.x * 4 + n] = 1; }'
code = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}", lineinfo=True)).compile("cubin")
memory = device.allocate(128, stream)
launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("k"), memory, OFFSET)
try:
    stream.sync()
except RuntimeError as error:
    print(error)
print(driver.cuMemAlloc(64))
"""

    @pytest.mark.usefixtures("nvrtc")
    def test_the_exception_has_the_report_and_nobody_prints_it_again(self) -> None:
        done = run(self.PROGRAM.replace("OFFSET", "1"))
        *lines, after = done.stdout.splitlines()
        assert lines[0].endswith("The driver says:") and "CUDA_ERROR_ILLEGAL_ADDRESS" in lines[0]
        assert lines[1] == "Invalid __global__ write of 4 bytes"
        assert lines[2].startswith("    in k, ") and "default_program:1, PTX line" in lines[2]
        assert lines[3].startswith("    by block (0,0,0) thread (8,0,0)")  # the first behind 32 words
        assert lines[4].startswith("    address 0x")
        assert lines[5].startswith("    4 bytes past the end of device memory of 128 bytes at 0x")
        assert lines[6].startswith("The fault happened in earlier asynchronous work") and len(lines) == 7
        assert "Hint" not in lines[6], "none about finding what was found"
        assert after == "(<CUresult.CUDA_ERROR_ILLEGAL_ADDRESS: 700>, None)"
        assert done.stderr == ""

    @pytest.mark.parametrize("calls", [1, 2, 9])
    def test_what_a_program_does_not_read_is_printed_once(self, calls: int) -> None:
        """`calls`: how often it asks, and looks at nothing but the status."""
        started = self.PROGRAM.replace("OFFSET", "1").partition("try:")[0]
        done = run(started + "print(driver.cuCtxSynchronize()[0].name)\n" * calls)
        assert done.stdout.split() == ["CUDA_ERROR_ILLEGAL_ADDRESS"] * calls
        assert done.stderr.startswith("cudapy simulator: Invalid __global__ write of 4 bytes\n    in ")
        assert done.stderr.count("Invalid") == 1

    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("0", "    a null pointer\n"),
            ("12", "    12 bytes past a null pointer\n"),
            ("(host := np.ones(8 << 20)).ctypes.data", ", which is host memory, such as a NumPy array's"),
            ("(host := np.ones(2)).ctypes.data", "which kernels cannot use: copy it to a Buffer\n"),
            ("1 << 46", "    an address without memory; no allocation is near\n"),
        ],
    )
    def test_an_address_that_is_near_nothing(self, address: str, words: str) -> None:
        done = run(self.PROGRAM.replace("memory, OFFSET", f"{address}, 0"))
        assert words in done.stdout

    @pytest.mark.usefixtures("nvrtc")
    def test_a_deadlock_says_who_waits_and_nothing_of_the_time_that_a_gpu_allows(self) -> None:
        """Its status is that of a GPU whose display has waited for too long."""
        stuck = """{ if (threadIdx.x) asm volatile("bar.sync 1, 64;"); p[threadIdx.x] = n; }'"""
        start, _, rest = self.PROGRAM.partition("{ p[")
        done = run((start + stuck + rest[rest.index("\n") :]).replace("OFFSET", "1"))
        assert (
            "CUDA_ERROR_LAUNCH_TIMEOUT" in done.stdout
            and "\nDeadlock in k: no thread can run\n" in done.stdout
        )
        assert "31 threads wait for barrier 1" in done.stdout
        assert not re.search("display|split the work|sanitizer|Hint", done.stdout + done.stderr)

    def test_a_file_in_the_working_directory_is_named_as_it_was(self, tmp_path: Path) -> None:
        program = self.PROGRAM.replace("OFFSET", "1").replace(
            "lineinfo=True", 'lineinfo=True, name="sub/k.cu"'
        )
        assert "\n    in k, sub/k.cu:1, PTX line" in run(program).stdout
        elsewhere = program.replace("memory =", f"import os; os.chdir({str(tmp_path)!r}); memory =")
        assert f"\n    in k, {Path.cwd()}/sub/k.cu:1, PTX line" in run(elsewhere).stdout

    def test_a_report_without_lines_says_how_to_have_them(self) -> None:
        hint = "    compile with lineinfo=True to see the line of the source\n"
        program = self.PROGRAM.replace("OFFSET", "1")
        assert hint in run(program.replace("lineinfo=True", "")).stdout
        assert hint not in run(program).stdout


class TestMemory:
    def test_what_a_context_owned_is_free_again(self) -> None:
        code = (
            PREPARE
            + """
free = driver.checked.cuMemGetInfo()[0]
source = b".version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .global .align 4 .b32 word = 7;"
other = driver.checked.cuCtxCreate(0, 0)
driver.checked.cuModuleLoadData(source)
pointer = driver.checked.cuMemAlloc(1 << 20)
print(free - driver.checked.cuMemGetInfo()[0])
driver.checked.cuCtxDestroy(other)
print(free - driver.checked.cuMemGetInfo()[0], driver.cuMemFree(pointer)[0].name)
"""
        )
        assert output(code) == "1048576\n0 CUDA_ERROR_INVALID_VALUE\n"

    @pytest.mark.skipif(sys.platform != "linux", reason="virtual memory is made of Linux's anonymous files")
    def test_imported_memory_is_not_counted(self) -> None:
        code = (
            PREPARE
            + """
import os
from cudapy.driver import CUmemAllocationProp
prop = CUmemAllocationProp(type=1, requestedHandleTypes=1)
prop.location.type = 1
free = driver.checked.cuMemGetInfo()[0]
handle = driver.checked.cuMemCreate(2 << 20, prop, 0)
file = driver.checked.cuMemExportToShareableHandle(handle, 1, 0)
again = driver.checked.cuMemImportFromShareableHandle(file, 1)
os.close(file)
print(free - driver.checked.cuMemGetInfo()[0])
driver.checked.cuMemRelease(again)
driver.checked.cuMemRelease(handle)
print(free - driver.checked.cuMemGetInfo()[0])
"""
        )
        assert output(code) == "2097152\n0\n"


class TestCode:
    def test_a_cubin_carries_its_ptx(self) -> None:
        code = import_module("cudapy.simulator.code.images")
        cubin = code.attach(code.EMPTY_ELF, b".version 8.0\n\0")
        assert cubin.startswith(b"\x7fELF")
        assert code.attached(cubin) == b".version 8.0\n\0"
        assert code.attached(code.EMPTY_ELF) is None
        again = code.attach(cubin, b"second\0")
        assert code.attached(again) == b".version 8.0\n\0"  # the first one found
        buffer = ctypes.create_string_buffer(cubin + b"behind it", len(cubin) + 9)
        assert code.elf_size(ctypes.addressof(buffer)) == len(cubin)

    def test_a_cubin_without_ptx_is_refused(self) -> None:
        code = PREPARE + (
            "from cudapy.simulator.code.images import EMPTY_ELF\n"
            "print(driver.cuModuleLoadData(EMPTY_ELF)[0].name)\n"
            "try: driver.checked.cuModuleLoadData(EMPTY_ELF)\n"
            "except RuntimeError as error: print('this cubin carries no PTX' in str(error))\n"
        )
        assert output(code) == "CUDA_ERROR_NO_BINARY_FOR_GPU\nTrue\n"

    @pytest.mark.usefixtures("nvrtc")
    @pytest.mark.parametrize(
        ("device", "runs"), [((8, 6), {"80", "86"}), ((9, 0), {"90", "90a"}), ((7, 5), {"75"})]
    )
    def test_cubins_are_for_their_major_version(self, device: tuple[int, int], runs: set[str]) -> None:
        """And for no older minor one; as an H100 refuses those for 8.0."""
        code = f"""
from cudapy import driver, simulator
from cudapy.core import Device, Program, ProgramOptions
simulator.enable(compute_capability={device})
Device().set_current()
for arch in "75", "80", "86", "89", "90", "90a", "100":
    options = ProgramOptions(arch="sm_" + arch, no_cache=True)
    cubin = Program('extern "C" __global__ void k() {{}}', "c++", options).compile("cubin").code
    print(arch, driver.cuModuleLoadData(cubin)[0].name)
"""
        found = dict(line.split() for line in output(code).splitlines())
        assert {arch for arch, status in found.items() if status == "CUDA_SUCCESS"} == runs
        assert set(found.values()) == {"CUDA_SUCCESS", "CUDA_ERROR_NO_BINARY_FOR_GPU"} and len(found) == 7

    @pytest.mark.usefixtures("nvrtc")
    @pytest.mark.parametrize("order", [(False, True), (True, False, True)])
    def test_what_was_compiled_without_the_simulator(self, order: tuple[bool, ...], tmp_path: Path) -> None:
        """A cache that both use has cubins of both kinds."""
        compiled = (
            "from cudapy.core import Device, LaunchConfig, Program, ProgramOptions, launch\n"
            "source = 'extern \"C\" __global__ void k() {}'\n"
            "code = Program(source, 'c++', ProgramOptions(arch='sm_90')).compile('cubin')\n"
        )
        runs = (
            "device = Device(); device.set_current()\n"
            "launch(device.default_stream, LaunchConfig(grid=1, block=1), code.get_kernel('k'))\n"
            "device.sync(); print('ran')\n"
        )
        for simulated in order:
            code = compiled + runs * simulated
            said = output(code, simulated=simulated, CUDAPY_CACHE_DIR=str(tmp_path))
            assert said == "ran\n" * simulated

    def test_nvrtc_that_was_loaded_before(self) -> None:
        code = """
from cudapy import nvrtc, pathfinder, simulator
try:
    pathfinder.load("nvrtc")
except pathfinder.LibraryNotFound:
    print("True")
    raise SystemExit
def cubin():
    program = nvrtc.checked.nvrtcCreateProgram(b'extern "C" __global__ void k() {}', b"k.cu", 0, None, None)
    nvrtc.checked.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=sm_90"])
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    data = bytearray(size)
    nvrtc.nvrtcGetCUBIN(program, data)
    return bytes(data)
before = cubin()
simulator.enable()
from cudapy.simulator.code import images as code
print(code.attached(before) is None and b".entry k" in code.attached(cubin()))
"""
        assert output(code, simulated=False, forked=True) == "True\n"


class TestLinker:
    CALLER = """.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) twice (.param .b32 a);
.global .align 4 .b32 hidden = 1;
.visible .entry call() { ret; }
"""
    CALLED = """.version 8.1
.target sm_90
.address_size 64
.global .align 4 .b32 hidden = 2; // a "}" in a comment
.visible .func (.param .b32 r) twice (.param .b32 a) { { ret; } }
"""

    def test_two_units(self) -> None:
        merging = import_module("cudapy.simulator.code.merging")
        whole = merging.merged([merging.Unit(self.CALLER, "a"), merging.Unit(self.CALLED, "b")])
        assert whole.startswith(".version 8.1\n.target sm_90\n.address_size 64\n")
        assert whole.count(".version") == 1 and ".extern" not in whole
        assert len(re.findall(r"\.b32 hidden(?:\$unit1)? =", whole)) == 2 and "hidden$unit1 = 2" in whole
        assert whole.index("twice (.param .b32 a);") < whole.index(".entry call")

    def test_what_is_missing_is_named(self) -> None:
        merging = import_module("cudapy.simulator.code.merging")
        with pytest.raises(Exception, match="undefined: twice, which a uses"):
            merging.merged([merging.Unit(self.CALLER, "a")])

    def test_two_of_a_name(self) -> None:
        merging = import_module("cudapy.simulator.code.merging")
        with pytest.raises(Exception, match="twice is defined in a and in b"):
            merging.merged([merging.Unit(self.CALLED, "a"), merging.Unit(self.CALLED, "b")])


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library has another heap")
def test_arrays_use_again_what_others_freed() -> None:
    code = """
import resource
import numpy as np
from cudapy import driver
driver.checked.cuInit(0)
def faults():
    arrays = [np.empty(4 << 20, np.uint8) for _ in range(5)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for array in arrays:
        array.fill(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(sum(faults() for _ in range(10)) < 1000)  # of 51200, if the system had the pages back each time
"""
    assert output(code) == "True\n"


class TestQueues:
    """`work` alone: what runs at once, what runs beside the program, what waits for what."""

    @pytest.fixture
    def work(self):
        return import_module("cudapy.simulator.streams.work")

    def test_what_ends_soon_runs_at_once_where_nothing_is_before_it(self, work) -> None:
        import threading

        where: list[int] = []
        queue = work.Queue(work.Faults())
        queue.submit(lambda: where.append(threading.get_ident()), soon=True)
        assert where == [threading.get_ident()]
        queue.submit(lambda: where.append(threading.get_ident())).wait()
        assert where[1] != where[0]

    def test_a_thread_that_waits_for_a_kernel_runs_it(self, work) -> None:
        import threading

        where: list[int] = []
        queue = work.Queue(work.Faults())
        queue.submit(lambda: where.append(threading.get_ident()), in_wait=True)
        queue.submit(lambda: where.append(threading.get_ident()), soon=True).wait()
        assert where == [threading.get_ident()] * 2

    def test_a_kernel_that_nobody_waits_for_runs_beside_the_program(self, work) -> None:
        import threading

        where: list[int] = []
        ended = threading.Event()
        queue = work.Queue(work.Faults())
        queue.submit(lambda: (where.append(threading.get_ident()), ended.set()), in_wait=True)
        assert ended.wait(60) and where[0] != threading.get_ident()

    def test_what_waits_for_a_kernel_of_another_queue_starts_it(self, work) -> None:
        seen: list[str] = []
        first, second = work.Queue(work.Faults()), work.Queue(work.Faults())
        kernel = first.submit(lambda: seen.append("kernel"), in_wait=True)
        second.submit(lambda: seen.append("after"), (kernel,), in_wait=True).wait()
        assert seen == ["kernel", "after"]

    def test_threads_take_turns_often_while_there_is_work(self, work) -> None:
        import sys

        before, seen = sys.getswitchinterval(), []
        work.Queue(work.Faults()).submit(lambda: seen.append(sys.getswitchinterval())).wait()
        switch = import_module("cudapy.simulator.streams.threads").SWITCH
        assert seen[0] == pytest.approx(switch) and sys.getswitchinterval() == pytest.approx(before)

    def test_debuggers_see_what_runs_beside_the_program(self, work, monkeypatch) -> None:
        """As in threads of `threading`: threading.settrace and setprofile are for them, too."""
        import sys
        import threading

        seen: list[tuple[str, str]] = []

        def traced() -> None:
            assert sys.gettrace() is trace

        def trace(frame, event, argument):
            seen.append(("trace", frame.f_code.co_name))
            return trace

        def profile(frame, event, argument):
            seen.append(("profile", frame.f_code.co_name))

        monkeypatch.setattr(threading, "gettrace", lambda: trace)
        monkeypatch.setattr(threading, "getprofile", lambda: profile)
        work.Queue(work.Faults()).submit(traced).wait()
        assert {("trace", "traced"), ("profile", "traced")} <= {*seen}

    def test_order_holds_across_queues(self, work) -> None:
        import threading

        gate, seen = threading.Event(), []
        first, second = work.Queue(work.Faults()), work.Queue(work.Faults())
        held = first.submit(lambda: (gate.wait(60), seen.append("held")))
        after = second.submit(lambda: seen.append("after"), (held,), soon=True)
        last = first.submit(lambda: seen.append("last"), soon=True)
        assert seen == [] and not after.done
        gate.set()
        after.wait(), last.wait()
        assert seen[0] == "held" and sorted(seen) == ["after", "held", "last"]
        assert first.last is None

    def test_after_a_fault_the_rest_is_left_out(self, work, capsys, monkeypatch) -> None:
        from cudapy.simulator import log

        monkeypatch.setattr(work.Faults, "prints", True)
        owner, seen = work.Faults(), []

        def fail() -> None:
            raise log.Refused("CUDA_ERROR_LAUNCH_FAILED", "a trap")  # type: ignore[attr-defined]

        queue = work.Queue(owner)
        queue.submit(fail)
        queue.submit(lambda: seen.append(1)).wait()
        assert seen == [] and owner.error.status == "CUDA_ERROR_LAUNCH_FAILED"
        assert capsys.readouterr().err == ""
        for printed in ("", "", "cudapy simulator: a trap\n", ""):
            log.log.refused("cuCtxSynchronize", owner.error)
            assert capsys.readouterr().err == printed


COLLECTING = """
import gc, sys, threading
from cudapy.simulator.gc_pause import GcPause

gc_pause, seen, turn = GcPause(), [], threading.RLock()

class Finalized:
    def __del__(self):
        with turn, gc_pause:
            seen.append(gc.isenabled())

def work():
    for _ in range(1000):
        cycle = [Finalized()]
        cycle.append(cycle)
        with gc_pause:
            seen.append(gc.isenabled())
        with turn, gc_pause:
            seen.append(gc.isenabled())

gc.set_threshold(5)
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
gc.collect()
print(len(seen), any(seen), gc.isenabled())
"""


def test_what_the_collector_finalizes_may_call_while_it_is_enabled_again() -> None:
    assert output(COLLECTING, simulated=False) == "12000 False True\n"


class TestPeers:
    """Memory of one device, touched by kernels of another: as on hardware, it takes access."""

    PROGRAM = """
import ctypes
from cudapy import driver
from cudapy.driver import CUmemAccessDesc, CUmemLocation
cu = driver.checked
cu.cuInit(0)
mine, other = (cu.cuDevicePrimaryCtxRetain(i) for i in range(2))
cu.cuCtxPushCurrent(other)
plain = cu.cuMemAlloc(64)
pool = cu.cuDeviceGetDefaultMemPool(1)
pooled = cu.cuMemAllocFromPoolAsync(64, pool, 0)
cu.cuCtxSynchronize()
cu.cuCtxPushCurrent(mine)
PTX = b'''.version 8.0
.target sm_80
.address_size 64
.visible .entry put(.param .u64 p) {
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [p];
st.global.u32 [%rd1], 7;
ret;
}'''
put = cu.cuModuleGetFunction(cu.cuModuleLoadData(PTX), b"put")
GIVE
cu.cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, 0, ((int(WHERE),), (ctypes.c_void_p,)), 0)
print(driver.cuCtxSynchronize()[0].name)
"""

    @pytest.mark.parametrize(
        ("where", "give"),
        [
            ("plain", "cu.cuCtxEnablePeerAccess(other, 0)"),
            (
                "pooled",
                "here = CUmemLocation(type=1, id=0)\n"
                "cu.cuMemPoolSetAccess(pool, [CUmemAccessDesc(location=here, flags=3)], 1)",
            ),
        ],
    )
    def test_access_is_given(self, where: str, give: str) -> None:
        program = self.PROGRAM.replace("WHERE", where)
        assert output(program.replace("GIVE", give), CUDAPY_SIMULATOR_DEVICES="2") == "CUDA_SUCCESS\n"
        done = run(program.replace("GIVE", ""), CUDAPY_SIMULATOR_DEVICES="2")
        assert done.stdout == "CUDA_ERROR_ILLEGAL_ADDRESS\n"
        assert "Invalid __global__ write of 4 bytes" in done.stderr
        assert "to which this device was given no access" in done.stderr

    @pytest.mark.parametrize("machine_code", ["never", "always"])
    @pytest.mark.parametrize(
        ("where", "give"),
        [
            ("plain", "cu.cuCtxDisablePeerAccess(other) if again else cu.cuCtxEnablePeerAccess(other, 0)"),
            (
                "pooled",
                "here = CUmemLocation(type=1, id=0)\n"
                "flags = 0 if again else 3\n"
                "cu.cuMemPoolSetAccess(pool, [CUmemAccessDesc(location=here, flags=flags)], 1)",
            ),
        ],
    )
    def test_access_is_taken_back(self, where: str, give: str, machine_code: str) -> None:
        setup, launch = self.PROGRAM.split("GIVE\n")
        more = ".reg .b32 %r;\nmov.u32 %r, 7;\n" + 6 * "add.u32 %r, %r, 1;\n"  # enough for machine code
        setup = setup.replace("ld.param", f"{more}ld.param", 1).replace("[%rd1], 7", "[%rd1], %r")
        body = textwrap.indent(f"{give}\n{launch.replace('WHERE', where)}", "    ")
        head = (
            f"from cudapy.simulator.engine import settings\nsettings.current.machine_code = {machine_code!r}"
        )
        done = run(f"{head}{setup}for again in range(2):\n{body}", CUDAPY_SIMULATOR_DEVICES="2")
        assert done.stdout == "CUDA_SUCCESS\nCUDA_ERROR_ILLEGAL_ADDRESS\n"
        assert "to which this device was given no access" in done.stderr


def test_nothing_comes_between_the_collector_and_those_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs after `gc.enable` may collect, and wait for what a thread holds that waits here."""
    from cudapy.simulator import gc_pause as module

    happened = []

    class Lock:
        def __enter__(self) -> None:
            happened.append("lock")

        def __exit__(self, *exception: object) -> None:
            pass

    monkeypatch.setattr(module.gc, "enable", lambda: happened.append(f"enable by {gc_pause._enabling}"))  # type: ignore[attr-defined, has-type]
    monkeypatch.setattr(module.gc, "disable", lambda: happened.append("disable"))  # type: ignore[attr-defined]
    monkeypatch.setattr(module.gc, "isenabled", lambda: True)  # type: ignore[attr-defined]
    gc_pause = module.GcPause()
    gc_pause._lock = Lock()  # type: ignore[assignment]
    with gc_pause:
        pass
    assert happened == ["lock", "disable", "lock", f"enable by {threading.get_ident()}"]
    assert gc_pause._enabling == 0


ENDED_MEANWHILE = """
from cudapy import driver
from cudapy.core import Device
from cudapy.simulator.streams.capture import Capture
device = Device(0)
device.set_current()
stream, arrays = device.create_stream(), Capture.arrays
def ended_meanwhile(self, on):
    found = arrays(self, on)
    self.leave()
    return found
Capture.arrays = ended_meanwhile
driver.checked.cuStreamBeginCapture(stream.handle, 1)
print(*map(int, driver.checked.cuStreamGetCaptureInfo(stream.handle)[:2]))
"""


def test_a_capture_that_another_thread_ends_while_it_is_asked_about() -> None:
    assert output(ENDED_MEANWHILE) == "1 1\n"


SIDE_STREAM = """
from cudapy import driver
from cudapy.core import Device
cu = driver.checked
Device(0).set_current()
memory = cu.cuMemAlloc(4)
for is_joined in (True, False):
    first, side = cu.cuStreamCreate(1), cu.cuStreamCreate(1)
    event = cu.cuEventCreate(0)
    cu.cuStreamBeginCapture(first, 1)
    cu.cuEventRecord(event, first)
    cu.cuStreamWaitEvent(side, event, 0)
    cu.cuMemsetD32Async(memory, 1, 1, side)
    cu.cuEventRecord(event, side)
    if is_joined:
        cu.cuStreamWaitEvent(first, event, 0)
    cu.cuStreamDestroy(side)
    print(int(cu.cuStreamIsCapturing(first)), driver.cuStreamEndCapture(first)[0].name)
"""


def test_a_stream_that_took_part_in_a_capture_may_be_destroyed() -> None:
    """As cuda.core's GraphBuilder does once it is joined; its work is missed if it is not."""
    assert output(SIDE_STREAM) == "1 CUDA_SUCCESS\n1 CUDA_ERROR_STREAM_CAPTURE_UNJOINED\n"


FORKED = """
import os
from cudapy import driver
{before}
child = os.fork()
if not child:
    print(driver.cuInit(0)[0].name, driver.cuDeviceGetCount()[0].name, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(driver.cuInit(0)[0].name)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_no_cuda() -> None:
    """As with hardware, unless it was forked before cuInit. The threads that do the work are the parent's."""
    lost, fine = ["CUDA_ERROR_NOT_INITIALIZED"] * 2, ["CUDA_SUCCESS"] * 2
    assert run(FORKED.format(before="driver.cuInit(0)")).stdout.split() == [*lost, "CUDA_SUCCESS"]
    assert run(FORKED.format(before="")).stdout.split() == [*fine, "CUDA_SUCCESS"]


TOLD = """
import os, sys
from cudapy import driver, runtime
{before}
parent = os.getpid()
for call in (lambda: driver.checked.cuMemAlloc(4), lambda: runtime.checked.cudaMalloc(4)):
    for generations in 1, 2:
        if not os.fork():
            if generations == 2 and os.fork():
                os.wait()
                os._exit(0)
            try:
                call()
            except RuntimeError as error:
                told = f"process {{parent}} used CUDA before it forked this one ({{os.getpid()}})"
                print(told in str(error), "'spawn'" in str(error), "cuInit(0)" in str(error), flush=True)
            os._exit(0)
        os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("before", ["driver.cuInit(0)", "driver.checked.cuInit(0)", "runtime.cudaFree(0)"])
def test_a_forked_child_is_told_that_it_was_forked(before: str) -> None:
    """A child of the child, too; by the driver and by the runtime."""
    assert run(TOLD.format(before=before)).stdout.splitlines() == ["True True False"] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_that_was_forked_before_the_first_use_is_told_to_call_cuinit() -> None:
    before = "runtime.cudaRuntimeGetVersion(); driver.cuDriverGetVersion()"
    assert run(TOLD.format(before=before)).stdout.splitlines()[:2] == ["False False True"] * 2


GRAPHS_WITH_MEMORY = """
import tracemalloc
from cudapy import driver
from cudapy.driver import CUDA_MEM_ALLOC_NODE_PARAMS, CUmemAllocationType, CUmemLocation, CUmemLocationType
d = driver.checked
d.cuInit(0)
d.cuCtxCreate(0, 0)
parameters = CUDA_MEM_ALLOC_NODE_PARAMS(bytesize=4 << 20)
parameters.poolProps.allocType = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
parameters.poolProps.location = CUmemLocation(type=CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id=0)
tracemalloc.start()
for frees in [True, False] * 10:
    graph = d.cuGraphCreate(0)
    node = d.cuGraphAddMemAllocNode(graph, [], 0, parameters)
    if frees:
        d.cuGraphAddMemFreeNode(graph, [node], 1, parameters.dptr)
    executable = d.cuGraphInstantiate(graph, 0)
    d.cuGraphDestroy(graph)
    d.cuGraphLaunch(executable, 0)
    d.cuCtxSynchronize()
    d.cuGraphExecDestroy(executable)
    if not frees:
        d.cuMemFree(parameters.dptr)
d.cuCtxSynchronize()
print(tracemalloc.get_traced_memory()[0] >> 20)
"""


def test_memory_of_graphs_that_are_gone_is_given_back() -> None:
    assert int(output(GRAPHS_WITH_MEMORY)) < 20, "MiB of the 80 that they had"
