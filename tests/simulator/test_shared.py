"""The simulator's libcuda.so.1: machine code, names, versions, what is called from C, what is called at
the end.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cudapy._ffi import elf
from cudapy.simulator import entry_points
from cudapy.simulator.shared import driver, elf_image, library_file, machine_code, nccl, nvml, runtime
from cudapy.simulator.shared.architectures import ARCHITECTURES
from cudapy.simulator.shared.compilers import exported
from cudapy.simulator.shared.loaded import open_bytes
from cudapy.simulator.shared.machine_code import (
    FORK_CALLS,
    GUARD_CALLS,
    NULL,
    RETURNS_TEXT,
    STORES_TEXT,
    WATCHDOG,
    WATCHDOG_SECONDS,
    ZERO,
    ZEROS,
)
from tests import warm
from tests.tiers import first

REPOSITORY = Path(__file__).parents[2]
SUPPORTED = sys.platform == "linux" and platform.machine() in ARCHITECTURES
pytestmark = pytest.mark.skipif(
    not SUPPORTED, reason="there are shared libraries for Linux on x86-64 and aarch64"
)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, which has nothing of the simulator yet."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    given |= {"PYTHONPATH": str(REPOSITORY), **environment}
    return subprocess.run(
        [sys.executable, *arguments], env=given, capture_output=True, text=True, timeout=300, check=False
    )


def output(code: str) -> str:
    """What a program prints that runs with the simulator installed, ends well and says nothing on stderr."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("CUDAPY")}
    environ["PYTHONPATH"] = str(REPOSITORY)
    program = f"from cudapy import simulator; simulator.install()\n{code}"
    done = warm.run(["-c", program], env=environ, ends_at_once=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# -- The file ----------------------------------------------------------------------------------------------

FUNCTIONS = {"first": 4, "second": 0, "third": NULL, "fourth": 70000 & 0xFFFF, "fifth": ZERO, "sixth": ZEROS}
INTERPRETER = library_file.Interpreter("libpython3.so", "/python/lib", "print('here')")


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("interpreter", [None, INTERPRETER])
def test_a_library_is_a_sound_elf_file(machine: str, interpreter: Any) -> None:
    data = library_file.build(ARCHITECTURES[machine], "libx.so.1", FUNCTIONS, interpreter, ("liby.so",))
    elf.check(data)
    found = exported(data)
    own = [f"cudapy_{name}" for name in ("entries", "guards", "return_4", "return_0", "return_null")]
    own += ["cudapy_return_4464", "cudapy_return_zero", "cudapy_return_zeros", *machine_code.FORKS]
    assert found.soname == "libx.so.1"
    assert set(found.functions) == {*FUNCTIONS, *own}
    dynamic = next(section for section in elf.sections(data) if section.kind == 6)
    tags = list(struct.iter_unpack("<qQ", data[dynamic.offset : dynamic.offset + dynamic.size]))
    strings = elf.sections(data)[dynamic.link].offset
    needed = [ctypes.string_at(data[strings + value :]).decode() for tag, value in tags if tag == 1]
    assert needed == ["liby.so", *(["libpython3.so"] if interpreter else [])]
    assert tags[-1] == (0, 0)


# By the numbers of the ABI: kind, flags, what `sh_link` names, `sh_info`, alignment, size of an entry.
SECTIONS = {
    "": (0, 0, "", 0, 0, 0),
    ".dynsym": (11, 2, ".dynstr", 1, 8, 24),
    ".hash": (5, 2, ".dynsym", 0, 4, 4),
    ".dynstr": (3, 2, "", 0, 1, 0),
    ".gnu.version": (0x6FFFFFFF, 2, ".dynsym", 0, 8, 2),
    ".gnu.version_d": (0x6FFFFFFD, 2, ".dynstr", 2, 8, 0),
    ".rela.dyn": (4, 2, ".dynsym", 0, 8, 24),
    ".rodata": (1, 2, "", 0, 1, 0),
    ".text": (1, 2 | 4, "", 0, 16, 0),
    ".dynamic": (6, 1 | 2, ".dynstr", 0, 8, 16),
    ".data": (1, 1 | 2, "", 0, 8, 0),
    ".shstrtab": (3, 0, "", 0, 1, 0),
}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_what_debuggers_and_linkers_read_of_a_library(machine: str) -> None:
    """The loader does without most of it."""
    data = library_file.build(ARCHITECTURES[machine], "libx.so.1", FUNCTIONS, INTERPRETER, version="x_1")
    assert data[:16] == b"\x7fELF\2\1\1" + bytes(9)
    header = elf.HEADER.unpack_from(data)
    sections = elf.sections(data)
    names = [ctypes.string_at(data[sections[header[-1]].offset + one.name :]).decode() for one in sections]
    assert {
        name: (one.kind, one.flags, names[one.link], one.info, one.alignment, one.entry_size)
        for name, one in zip(names, sections, strict=True)
    } == SECTIONS
    section = dict(zip(names, sections, strict=True))
    assert all(one.address == one.offset for one in sections[1:-1]) and section[".shstrtab"].address == 0
    tables = {name: data[one.offset : one.offset + one.size] for name, one in section.items()}
    # segments: kind, flags, place in file and memory, sizes there, alignment
    end, start, last = (one.offset for one in (section[".text"], section[".dynamic"], section[".shstrtab"]))
    end += section[".text"].size
    dynamic = section[".dynamic"].size
    assert header[8:10] == (elf.SEGMENT.size, 4) and start % 0x10000 == 0
    assert [*elf.SEGMENT.iter_unpack(data[64 : 64 + 4 * elf.SEGMENT.size])] == [
        (1, 4 | 1, 0, 0, 0, end, end, 0x10000),
        (1, 4 | 2, start, start, start, last - start, last - start, 0x10000),
        (2, 4 | 2, start, start, start, dynamic, dynamic, 8),
        (0x6474E551, 4 | 2, 0, 0, 0, 0, 0, 16),
    ]
    # symbols: 1 is the library's own version, 2 the one that it defines
    symbols = [*elf.SYMBOL.iter_unpack(tables[".dynsym"])]
    strings = tables[".dynstr"]

    def text(place: int) -> str:
        return ctypes.string_at(strings[place:]).decode()

    versions = struct.unpack(f"<{len(symbols)}H", tables[".gnu.version"])
    assert {text(one[0]): number for one, number in zip(symbols, versions, strict=True)} == {
        "": 0, **{text(one[0]): 1 + (text(one[0]) in FUNCTIONS) for one in symbols[1:]}
    }  # fmt: skip
    assert {text(one[0]): one[1] for one in symbols if not one[3]} == {
        "": 0, **dict.fromkeys(machine_code.BOOT_CALLS, 0x10)
    }  # fmt: skip
    assert {one[1] for one in symbols if one[3]} == {0x11, 0x12}
    defined, hashed = tables[".gnu.version_d"], elf_image.symbol_hash
    assert defined == b"".join(
        struct.pack("<HHHHIIIII", 1, base, number, 1, hashed(name), 20, following, strings.index(name), 0)
        for number, (name, base, following) in enumerate(((b"libx.so.1", 1, 28), (b"x_1", 0, 0)), 1)
    )
    tags = [(tag, value) for tag, value in struct.iter_unpack("<qQ", tables[".dynamic"])]
    assert [(tag, text(value)) for tag, value in tags[:3]] == [
        (1, "libpython3.so"), (29, "/python/lib"), (14, "libx.so.1"),
    ]  # fmt: skip
    assert tags[3:] == [
        (4, section[".hash"].address), (5, section[".dynstr"].address), (6, section[".dynsym"].address),
        (10, len(strings)), (11, 24),
        (7, section[".rela.dyn"].address), (8, len(tables[".rela.dyn"])), (9, 24),
        (0x6FFFFFF0, section[".gnu.version"].address), (0x6FFFFFFC, section[".gnu.version_d"].address),
        (0x6FFFFFFD, 2), (0, 0),
    ]  # fmt: skip


def names_in(data: bytes) -> dict[str, tuple[int, int]]:
    """The symbols of a library: address and size."""
    sections = elf.sections(data)
    table = next(section for section in sections if section.kind == elf.DYNAMIC_SYMBOLS)
    strings = sections[table.link].offset
    body = data[table.offset : table.offset + table.size]
    return {
        ctypes.string_at(data[strings + symbol[0] :]).decode(): (symbol[4], symbol[5])
        for symbol in elf.SYMBOL.iter_unpack(body)
    }


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_every_name_is_found_by_its_hash(machine: str) -> None:
    """As the loader looks: DT_HASH, by the algorithm of the ABI."""
    names = driver.functions(entry_points.NEWEST)
    data = library_file.build(ARCHITECTURES[machine], "libcuda.so.1", names)
    table = next(section for section in elf.sections(data) if section.kind == elf_image.HASH)
    numbers = struct.unpack_from(f"<{table.size // 4}I", data, table.offset)
    buckets, heads, chain = numbers[0], numbers[2 : 2 + numbers[0]], numbers[2 + numbers[0] :]
    symbols = list(names_in(data))
    assert elf_image.symbol_hash(b"printf") == 0x077905A6  # from the ABI's own tables
    for name in names:
        place = heads[elf_image.symbol_hash(name.encode()) % buckets]
        while place and symbols[place] != name:
            place = chain[place]
        assert place, name


class Machine:
    """A processor that runs a library's code: Unicorn's. Calls of `resolver` and imports are told to the
    test.
    """

    BASE, OUTSIDE, STACK = 0x10000000, 0x20000000, 0x30000000

    def __init__(self, name: str, data: bytes) -> None:
        unicorn = pytest.importorskip("unicorn", reason="unicorn, which runs machine code, is not installed")
        self.is_arm = name == "aarch64"
        constants: Any = pytest.importorskip(f"unicorn.{'arm64' if self.is_arm else 'x86'}_const")
        self.prefix = "UC_ARM64_REG_" if self.is_arm else "UC_X86_REG_"
        self.constants = constants
        kinds = (unicorn.UC_ARCH_ARM64, 0) if self.is_arm else (unicorn.UC_ARCH_X86, unicorn.UC_MODE_64)
        self.cpu: Any = unicorn.Uc(*kinds)
        for start in (self.BASE, self.OUTSIDE, self.STACK):
            self.cpu.mem_map(start, 0x100000)
        self.cpu.mem_write(self.BASE, data)
        if self.is_arm:
            self.cpu.reg_write(constants.UC_ARM64_REG_CPACR_EL1, 3 << 20)  # vectors are on
        self.symbols = {name: self.BASE + address for name, (address, _) in names_in(data).items()}
        self.calls: list[tuple[int, int]] = []  # address, first argument
        self.answers: dict[int, Any] = {}
        relocations = next(section for section in elf.sections(data) if section.kind == elf.RELA)
        symbols = list(names_in(data))
        self.imports: dict[str, int] = {}
        body = data[relocations.offset : relocations.offset + relocations.size]
        for place, info, addend in struct.iter_unpack("<QQq", body):
            target = self.BASE + addend
            if info >> 32:
                target = self.imports[symbols[info >> 32]] = self.OUTSIDE + 0x1000 + 16 * (info >> 32)
            self.cpu.mem_write(self.BASE + place, target.to_bytes(8, "little"))
        self.cpu.hook_add(unicorn.UC_HOOK_CODE, self._outside, None, self.OUTSIDE, self.OUTSIDE + 0xFFFFF)

    def _register(self, name: str) -> int:
        return int(getattr(self.constants, self.prefix + name))

    def get(self, name: str) -> int:
        return int(self.cpu.reg_read(self._register(name)))

    def put(self, name: str, value: int) -> None:
        self.cpu.reg_write(self._register(name), value)

    @property
    def arguments(self) -> list[str]:
        """The registers that arguments are in."""
        if self.is_arm:
            return [f"X{i}" for i in range(8)] + [f"Q{i}" for i in range(8)]
        return ["RDI", "RSI", "RDX", "RCX", "R8", "R9", "RAX"] + [f"XMM{i}" for i in range(8)]

    def _outside(self, cpu: Any, address: int, size: int, data: Any) -> None:
        """A function that is not the library's: it clobbers what it may, and returns."""
        if address == self.OUTSIDE:
            cpu.emu_stop()
            return
        self.calls.append((address, self.get("X0" if self.is_arm else "RDI")))
        assert self.get("SP" if self.is_arm else "RSP") % 16 == (0 if self.is_arm else 8)
        answer = self.answers.get(address, 0)
        value = answer() if callable(answer) else answer
        if address in self.stays:
            cpu.emu_stop()
            return
        for register in self.arguments:
            self.put(register, 0xDEAD)
        self.put("X0" if self.is_arm else "RAX", value)
        if self.is_arm:
            self.put("PC", self.get("X30"))
        else:
            stack = self.get("RSP")
            self.put("PC" if self.is_arm else "RIP", int.from_bytes(cpu.mem_read(stack, 8), "little"))
            self.put("RSP", stack + 8)

    stays: frozenset[int] = frozenset()

    def call(self, address: int) -> int:
        """Run a function to its end: what it returns."""
        top = self.STACK + 0x80000
        if self.is_arm:
            self.put("X30", self.OUTSIDE)
            self.put("SP", top)
        else:
            self.cpu.mem_write(top - 8, self.OUTSIDE.to_bytes(8, "little"))
            self.put("RSP", top - 8)
        self.cpu.emu_start(address, 0, count=2000)
        return self.get("X0" if self.is_arm else "RAX") & 0xFFFFFFFF

    def write(self, address: int, value: int) -> None:
        self.cpu.mem_write(address, value.to_bytes(8, "little"))

    def read(self, address: int) -> int:
        return int.from_bytes(self.cpu.mem_read(address, 8), "little")


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_code_of_both_machines(name: str) -> None:
    """The first call resolves with every argument kept; later ones jump; a failure is returned; constants."""
    machine = Machine(name, library_file.build(ARCHITECTURES[name], "libx.so.1", FUNCTIONS))
    resolver, target = machine.OUTSIDE + 0x100, machine.OUTSIDE + 0x200
    slots = machine.symbols["cudapy_slots"]
    assert machine.call(machine.symbols["second"]) == 4464  # nothing resolves yet
    machine.write(machine.symbols["cudapy_resolver"], resolver)
    machine.answers[resolver] = 999
    assert machine.call(machine.symbols["second"]) == 999
    assert machine.calls == [(resolver, 1)]

    def fill() -> int:
        machine.write(slots + 8, target)
        return 0

    machine.answers[resolver] = fill
    machine.stays = frozenset({target})
    for register in machine.arguments:
        machine.put(register, 1000 + machine.arguments.index(register))
    machine.call(machine.symbols["second"])
    assert [call[0] for call in machine.calls[1:]] == [resolver, target]
    assert [machine.get(register) for register in machine.arguments] == [
        1000 + i for i in range(len(machine.arguments))
    ]
    machine.call(machine.symbols["second"])
    assert [call[0] for call in machine.calls[3:]] == [target]
    assert machine.call(machine.symbols["cudapy_return_4"]) == 4
    place = machine.STACK + 0x100
    for constant, argument, size in ("null", 0, 8), ("zero", 0, 4), ("zeros", 1, 4), ("zeros", 2, 4):
        for register in machine.arguments:
            machine.put(register, 0)
        machine.write(place, (1 << 64) - 1)
        machine.put(machine.arguments[argument], place)
        assert machine.call(machine.symbols[f"cudapy_return_{constant}"]) == 0
        assert machine.cpu.mem_read(place, 8) == bytes(size) + b"\xff" * (8 - size)
        machine.put(machine.arguments[argument], 0)
        assert machine.call(machine.symbols[f"cudapy_return_{constant}"]) == 0


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("kind", [STORES_TEXT, RETURNS_TEXT])
@pytest.mark.parametrize("other", [0, 7000])
def test_the_code_that_finds_texts(name: str, kind: int, other: int) -> None:
    """By its number, also where one of another kind is before it; other numbers have `other`."""
    functions = {**FUNCTIONS, "before": RETURNS_TEXT, "find": kind}
    machine = Machine(name, library_file.build(ARCHITECTURES[name], "libx.so.1", functions))
    table, place = machine.STACK + 0x100, machine.STACK + 0x200
    for i, value in enumerate((3, other, 100, 0, 102)):
        machine.write(table + 8 * i, value)
    machine.write(machine.symbols["cudapy_texts"] + 8, table)
    first, second = ("X0", "X1") if machine.is_arm else ("RDI", "RSI")

    def find(number: int, place: int) -> int:
        machine.put(first, 0x500000000 | number)  # what is above an int is not defined
        machine.put(second, place)
        return machine.call(machine.symbols["cudapy_text_find"])

    expected = {0: 100, 1: 0, 2: 102, 3: other, 0xFFFFFFFF: other}
    if kind == RETURNS_TEXT:
        assert {number: find(number, 0) for number in expected} == expected
        return
    for number, text in expected.items():
        machine.write(place, 77)
        assert find(number, place) == (0 if text else 1)
        assert int.from_bytes(machine.cpu.mem_read(place, 8), "little") == text
        assert find(number, 0) == 1


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("has_python", [True, False])
def test_the_code_that_starts_python(name: str, has_python: bool) -> None:
    """pthread_once starts an interpreter where there is none; then it runs the text with the GIL."""
    data = library_file.build(ARCHITECTURES[name], "libx.so.1", FUNCTIONS, INTERPRETER)
    machine = Machine(name, data)
    imports = machine.imports
    started: list[int] = []

    def once() -> int:
        started.append(machine.get("X1" if machine.is_arm else "RSI"))
        return 0

    flags: list[int] = []

    def promote() -> int:
        flags.append(machine.get("X1" if machine.is_arm else "RSI"))
        return 0x7000000000

    machine.answers = {
        imports["pthread_once"]: once,
        imports["dlopen"]: promote,
        imports["Py_IsInitialized"]: int(has_python),
        imports["PyGILState_Ensure"]: 5,
        imports["PyRun_SimpleString"]: 0xFFFFFFFF,
    }
    names = {address: symbol for symbol, address in imports.items()}
    assert machine.call(machine.symbols["first"]) == 999  # the text failed
    calls = [(names[address], argument) for address, argument in machine.calls]
    assert [call[0] for call in calls] == [
        "pthread_once", "PyGILState_Ensure", "PyRun_SimpleString", "PyGILState_Release",
    ]  # fmt: skip
    text = calls[2][1]
    assert bytes(machine.cpu.mem_read(text, len(INTERPRETER.program) + 1)) == b"print('here')\0"
    assert calls[3][1] == 5
    machine.calls.clear()
    machine.call(started[0])
    calls = [(names[address], argument) for address, argument in machine.calls]
    if has_python:
        assert [call[0] for call in calls] == ["dlopen", "Py_IsInitialized"]
    else:
        expected = ["dlopen", "Py_IsInitialized", "Py_InitializeEx", "PyEval_SaveThread"]
        assert [call[0] for call in calls] == expected
        assert calls[2][1] & 0xFFFFFFFF == 0  # no signal handlers
    length = len(INTERPRETER.library) + 1
    assert bytes(machine.cpu.mem_read(calls[0][1], length)) == INTERPRETER.library.encode() + b"\0"
    assert flags == [os.RTLD_NOW | os.RTLD_GLOBAL | os.RTLD_NOLOAD]
    machine.answers[imports["PyRun_SimpleString"]] = lambda: (
        machine.write(machine.symbols["cudapy_slots"], machine.symbols["cudapy_return_4"]) or 0
    )
    assert machine.call(machine.symbols["first"]) == 4


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("is_left", [True, False])
def test_the_code_that_ends_a_thread(name: str, is_left: bool) -> None:
    """It has the state cleared and, if it is not gone then, made the current one and deleted."""
    steps = machine_code.THREAD_STEPS
    data = library_file.build(ARCHITECTURES[name], "libx.so.1", {**FUNCTIONS, **dict.fromkeys(steps, 0)})
    machine = Machine(name, data)
    slots = machine.symbols["cudapy_slots"]
    places = [machine.OUTSIDE + 0x200 + 16 * i for i in range(len(steps))]
    for i, place in enumerate(places, len(FUNCTIONS)):
        machine.write(slots + 8 * i, place)
    machine.answers = {places[0]: int(is_left)}
    machine.put("X0" if machine.is_arm else "RDI", 0x1234567890)
    machine.call(machine.symbols["cudapy_thread_end"])
    clear, attach, _ = places
    if is_left:
        assert machine.calls[:2] == [(clear, 0x1234567890), (attach, 0x1234567890)]
        assert [address for address, _ in machine.calls] == places
    else:
        assert machine.calls == [(clear, 0x1234567890)]


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("handler", ["parent", "child"])
@pytest.mark.parametrize("held", [None, False, True])
def test_the_code_around_a_fork(name: str, handler: str, held: bool | None) -> None:
    """Python learns of it unless the thread holds the GIL already, as in os.fork, or Python has ended."""
    machine = Machine(name, library_file.build(ARCHITECTURES[name], "libx.so.1", FUNCTIONS))
    places = {call: machine.OUTSIDE + 0x200 + 16 * i for i, call in enumerate(FORK_CALLS)}
    names = {place: call for call, place in places.items()}
    for state in (0, 1):
        for i, place in enumerate(places.values()):
            machine.write(machine.symbols["cudapy_fork_calls"] + 8 * i, place if held is not None else 0)
        machine.answers = {places["PyGILState_Check"]: int(bool(held)), places["PyGILState_Ensure"]: state}
        kept = "X19" if machine.is_arm else "RBX"
        machine.put(kept, 0x1234567890)
        machine.calls.clear()
        machine.call(machine.symbols["cudapy_fork_prepare"])
        machine.call(machine.symbols[f"cudapy_fork_{handler}"])
        assert machine.get(kept) == 0x1234567890
        calls = [names[address] for address, _ in machine.calls]
        if held is None or held:
            assert calls == ([] if held is None else ["PyGILState_Check"])
            continue
        assert calls == [*FORK_CALLS[:3], f"PyOS_AfterFork_{handler.capitalize()}", "PyGILState_Release"]
        assert machine.calls[-1][1] & 0xFFFFFFFF == state


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize(
    ("state", "working", "was_enabled"), [(0, 0, 0), (7 << 32 | 1, 0, 1), (1, 0, 0), (1, 1, 1)]
)
def test_the_code_of_guards(name: str, state: int, working: int, was_enabled: int) -> None:
    """A function is called with its arguments, the GIL, no garbage collection, and no exception pending,
    which is set again; on a thread of which Python knows nothing it is called at once. The collector is
    enabled again if it was, once nothing else of the simulator is at work.
    """
    machine = Machine(name, library_file.build(ARCHITECTURES[name], "libx.so.1", FUNCTIONS))
    places = {call: machine.OUTSIDE + 0x200 + 16 * i for i, call in enumerate(GUARD_CALLS)}
    table = machine.symbols["cudapy_guard_calls"]
    for i, place in enumerate(places.values()):
        machine.write(table + 8 * i, place)
    target = machine.OUTSIDE + 0x600
    machine.write(machine.symbols["cudapy_targets"] + 8, target)
    guard = machine.symbols["cudapy_guards"] + ARCHITECTURES[name].GUARD
    machine.write(machine.symbols["cudapy_slots"] + 8, guard)
    pause = machine.OUTSIDE + 0x700
    machine.write(table + 8 * len(places), pause)
    for i, word in enumerate((0, working, 0)):
        machine.write(pause + 8 * i, word)
    arguments = machine.arguments[: 8 if machine.is_arm else 6]
    held: list[int] = []

    def words() -> list[int]:
        return [machine.read(pause + 8 * i) for i in range(3)]

    def given(count: int) -> list[int]:
        return [machine.get(register) for register in arguments[:count]]

    def fetch() -> int:
        for i, place in enumerate(given(3)):
            machine.write(place, 501 + i)
        return 0

    def restore() -> int:
        held.extend(given(3))
        return 0

    def run() -> int:
        held.extend(given(len(arguments)))
        if state:
            assert words() == [1, working, was_enabled]
        return 77

    machine.answers = {
        places["PyGILState_GetThisThreadState"]: state,
        places["PyGILState_Ensure"]: 1,
        places["PyErr_Fetch"]: fetch,
        places["PyGC_Disable"]: was_enabled,
        places["PyErr_Restore"]: restore,
        target: run,
    }
    for i, register in enumerate(arguments):
        machine.put(register, 1000 + i)
    assert machine.call(machine.symbols["second"]) == 77
    names = {place: call for call, place in places.items()} | {target: "target"}
    called = [names[address] for address, _ in machine.calls]
    numbers = list(range(1000, 1000 + len(arguments)))
    if state:
        after = [call for call in GUARD_CALLS[4:] if call != "PyGC_Enable" or (was_enabled and not working)]
        assert called == [*GUARD_CALLS[:4], "target", *after]
        assert words() == [0, working, was_enabled and working]
        assert held == [*numbers, 501, 502, 503]
        assert machine.calls[-1][1] & 0xFFFFFFFF == 1
    else:
        assert called == [GUARD_CALLS[0], "target"]
        assert held == numbers


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("started", [0, 1])
def test_a_call_on_a_thread_that_python_does_not_know_starts_the_watchdog(name: str, started: int) -> None:
    """Once; the call has its arguments all the same."""
    machine = Machine(name, library_file.build(ARCHITECTURES[name], "libx.so.1", FUNCTIONS))
    state, create, target = (machine.OUTSIDE + place for place in (0x200, 0x300, 0x600))
    words = {word: machine.symbols["cudapy_watchdog"] + 8 * i for i, word in enumerate(WATCHDOG)}
    machine.write(machine.symbols["cudapy_guard_calls"], state)
    machine.write(words["create"], create)
    machine.write(words["started"], started)
    machine.write(machine.symbols["cudapy_targets"] + 8, target)
    guard = machine.symbols["cudapy_guards"] + ARCHITECTURES[name].GUARD
    arguments = machine.arguments[: 8 if machine.is_arm else 6]
    held: list[int] = []
    begun: list[int] = []

    def run() -> int:
        held.extend(machine.get(register) for register in arguments)
        return 77

    def begin() -> int:
        begun.extend(machine.get(register) for register in arguments[:4])
        return 0

    machine.answers = {target: run, create: begin}
    for _ in range(2):
        for i, register in enumerate(arguments):
            machine.put(register, 1000 + i)
        assert machine.call(guard) == 77
        assert held[-len(arguments) :] == list(range(1000, 1000 + len(arguments)))
    assert [address for address, _ in machine.calls].count(create) == 1 - started
    if not started:
        assert (begun[0], begun[1], begun[3]) == (words["thread"], 0, 0)
        machine.write(words["probe"], 0x7000)
        sleep, write, dump = (machine.OUTSIDE + place for place in (0x700, 0x800, 0x900))
        for word, value in {"sleep": sleep, "write": write, "dump": dump, "text": 55, "length": 6}.items():
            machine.write(words[word], value)
        machine.write(words["interpreter"], 0x1234567890)
        slept: list[int] = []

        def wait() -> int:
            slept.append(machine.get(arguments[0]))
            if len(slept) <= 3:
                machine.write(words["beats"], len(slept))
            if len(slept) == 3 * WATCHDOG_SECONDS:
                machine.write(words["create"], 0)
            return 0

        machine.answers |= {
            sleep: wait,
            write: lambda: told.append(("text", *given(3), len(slept))) or 0,
            dump: lambda: told.append(("threads", *given(3), len(slept))) or 0,
        }
        told: list[tuple[Any, ...]] = []

        def given(count: int) -> list[int]:
            return [machine.get(register) for register in arguments[:count]]

        machine.call(begun[2])
        assert begun[4:] == [words["thread"], 0, 0x7000, 0]
        assert set(slept) == {1_000_000}
        silent = 3 + WATCHDOG_SECONDS
        assert told == [("text", 2, 55, 6, silent), ("threads", 2, 0x1234567890, 0, silent)]


HELD = """
import ctypes, sys
library, system, holding = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(None), ctypes.PyDLL(None)
holding.pthread_create.argtypes = [ctypes.c_void_p] * 4
system.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
thread, version = ctypes.c_ulong(), ctypes.c_int()
function = ctypes.cast(library.cuDriverGetVersion, ctypes.c_void_p)
def waits():
    holding.pthread_create(ctypes.byref(thread), None, function, ctypes.byref(version))
    holding.sleep(int(sys.argv[1]))
waits()
print(system.pthread_join(thread, None), version.value > 0)
"""


@pytest.mark.thorough
def test_a_thread_that_holds_the_gil_and_waits_for_a_call_is_named() -> None:
    done = run("-m", "cudapy.simulator", "-c", HELD, str(WATCHDOG_SECONDS + 4))
    assert (done.returncode, done.stdout) == (0, "0 True\n")
    assert done.stderr.startswith(
        f"cudapy simulator: for {WATCHDOG_SECONDS} s a thread has held Python's interpreter"
    )
    if hasattr(ctypes.pythonapi, "_Py_DumpTracebackThreads"):
        assert " in waits\n" in done.stderr


COLLECTED = """
import ctypes, gc, sys
driver, system = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(None)
memory, stream = ctypes.c_uint64(), ctypes.c_void_p()
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(ctypes.byref(stream), 0)
driver.cuCtxSetCurrent(stream)
driver.cuStreamCreate(ctypes.byref(stream), 0)
places = set()
def collected(phase, _):
    code = sys._getframe(1).f_code
    places.add(code.co_filename if code.co_filename != collected.__code__.co_filename else "here")
def call():
    for _ in range(20):
        [[] for _ in range(3)]
        driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64))
        driver.cuMemsetD8Async(memory, 1, ctypes.c_size_t(64), stream)
        driver.cuMemFree_v2(memory)
        driver.cuStreamSynchronize(stream)
call()
gc.callbacks.append(collected)
gc.set_threshold(1)
call()
gc.set_threshold(1000)
print(places, gc.isenabled())
gc.disable()
call()
print(gc.isenabled())
"""


@pytest.mark.skipif(
    sys.version_info[:2] == (3, 12), reason="CPython 3.12 runs a collection that is due, enabled or not"
)
def test_the_collector_never_runs_in_a_call() -> None:
    """It may finalize what calls again, and waits for a lock that the caller of the first call holds:
    PyTorch's allocator does.
    """
    assert output(COLLECTED) == "{'here'} True\nFalse\n"


FORKED = """
import ctypes, os
driver, system = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(None)
text, version = ctypes.c_char_p(), ctypes.c_int()
def child():
    statuses = [driver.cuInit(0), driver.cuCtxSynchronize()]
    for name in "cuDeviceGetCount", "cuDriverGetVersion":
        statuses.append(driver[name](ctypes.byref(version)))
    return [*statuses, driver.cuGetErrorName(3, ctypes.byref(text)), text.value]
for before in None, driver.cuInit:
    if before is not None:
        before(0)
    for fork in system.fork, os.fork:
        process = fork()
        if not process:
            os.write(1, f"{child()}\\n".encode())
            os._exit(0)
        os.waitpid(process, 0)
print(driver.cuCtxSynchronize(), driver.cuDeviceGetCount(ctypes.byref(version)), version.value)
"""


def test_a_fork_that_c_makes_is_one_that_python_makes() -> None:
    """Before cuInit the child may use CUDA, afterwards it may not, and is told so."""
    name = "b'CUDA_ERROR_NOT_INITIALIZED'"
    first, other = f"[0, 201, 0, 0, 0, {name}]", f"[3, 3, 3, 0, 0, {name}]"
    assert output(FORKED).splitlines() == [first, first, other, other, "201 0 1"]


PENDING = """
import ctypes
library, api = ctypes.CDLL("libcuda.so.1"), ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
context = ctypes.c_void_p()
library.cuInit(0), library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
library.cuCtxSetCurrent(context)
for symbol in "cuCtxSynchronize", "cuProfilerStop", "cuCtxSynchronize":
    function = ctypes.cast(library[symbol], ctypes.c_void_p)
    try:  # int raises, and then the capsule goes
        int(api.PyCapsule_New(ctypes.c_void_p(1), None, function), 10)
    except TypeError as error:
        print(symbol, error, error.__context__)
print(library.cuCtxSynchronize())
"""


def test_an_exception_that_is_pending_stays() -> None:
    """As when a destructor of a C extension calls the driver."""
    said = "int() can't convert non-string with explicit base None"
    names = ("cuCtxSynchronize", "cuProfilerStop", "cuCtxSynchronize")
    assert output(PENDING) == "".join(f"{name} {said}\n" for name in names) + "0\n"


def test_the_loader_finds_it_by_its_soname() -> None:
    name = f"libcudapy_test_{os.getpid()}.so.1"
    data = library_file.build(ARCHITECTURES[platform.machine()], name, {"answer": 42})
    with pytest.raises(OSError, match="No such file"):
        ctypes.CDLL(name)
    kept = open_bytes(data, name)
    assert ctypes.CDLL(name).answer() == 42
    assert ctypes.CDLL(name)._handle == kept._handle


FOREIGN_THREADS = """
import ctypes, sys
library, system, api = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(None), ctypes.pythonapi
api.PyInterpreterState_Get.restype = api.PyInterpreterState_ThreadHead.restype = ctypes.c_void_p
api.PyThreadState_Next.restype = ctypes.c_void_p

def states():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # a thread that ends meanwhile would take its state out of the list
    count, state = 0, api.PyInterpreterState_ThreadHead(ctypes.c_void_p(api.PyInterpreterState_Get()))
    while state:
        count, state = count + 1, api.PyThreadState_Next(ctypes.c_void_p(state))
    sys.setswitchinterval(interval)
    return count

context = ctypes.c_void_p()
assert library.cuInit(0) == 0 and library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
before, results = states(), []
for _ in range(3):
    threads = [ctypes.c_ulong() for _ in range(8)]
    for thread in threads:
        system.pthread_create(ctypes.byref(thread), None, library.cuCtxSetCurrent, context)
    for thread in threads:
        result = ctypes.c_void_p(-1)
        system.pthread_join(thread, ctypes.byref(result))
        results.append(result.value)
print(results == 24 * [None], states() - before <= 1)
"""


def test_threads_that_python_did_not_make_leave_nothing() -> None:
    """But for the one that sees whether it gets the GIL."""
    assert output(FOREIGN_THREADS) == "True True\n"


def test_threads_that_call_the_runtime_alone_keep_their_state() -> None:
    """What a thread pushes, and its last error, is there at its next call."""
    code = """
import ctypes
assert ctypes.CDLL("libcudart.so.13").cudaFree(None) == 0
from cudapy.simulator import callbacks
print(callbacks.keep_thread.__qualname__)
"""
    assert output(code) == "_Key.keep\n"


# -- Names and versions ------------------------------------------------------------------------------------

ENTRIES = """
import ctypes, json
from cudapy.simulator import entry_points
library = ctypes.CDLL("libcuda.so.1")
assert ctypes.CDLL("libcuda.so").cuInit is not None

def place(name):
    return ctypes.cast(library[name], ctypes.c_void_p).value

def ask(name, version, flags):
    found, status = ctypes.c_void_p(1), ctypes.c_int(-1)
    code = library.cuGetProcAddress_v2(name.encode(), ctypes.byref(found), version, ctypes.c_uint64(flags),
                                       ctypes.byref(status))
    return code, found.value, status.value

wrong = []
for name, versions in entry_points.entries().items():
    for entry in versions:
        got = ask(name, entry.since, 2 if entry.per_thread else 0)
        if got != (0, place(entry.symbol), 0):
            wrong.append((entry, got))
    oldest = min(entry.since for entry in versions)
    if ask(name, oldest - 1, 0) != (0, None, 2):
        wrong.append((name, oldest))
print(wrong)
wrong = [ask("cuInit", version, flags)[0] for version, flags in ((13060, 0), (0, 0), (2000, 4))]
print(ask("cuMemAlloc_v2", 13000, 0), wrong)
print([ask("cuMemcpyHtoD", version, 2)[1] == place(symbol) for version, symbol in
       ((2000, "cuMemcpyHtoD"), (6050, "cuMemcpyHtoD_v2"), (7000, "cuMemcpyHtoD_v2_ptds"))])
old = ctypes.c_void_p()
status = library.cuGetProcAddress(b"cuInit", ctypes.byref(old), 11030, ctypes.c_uint64(0))
print(status, old.value == place("cuInit"))
"""


@pytest.mark.thorough
def test_every_version_of_every_function_is_found() -> None:
    lines = output(ENTRIES).splitlines()
    assert lines == ["[]", "(0, None, 1) [1, 1, 1]", "[True, True, True]", "0 True"]


def test_an_older_driver_has_no_newer_functions() -> None:
    code = (
        "import ctypes; library = ctypes.CDLL('libcuda.so.1'); version = ctypes.c_int()\n"
        "library.cuDriverGetVersion(ctypes.byref(version))\n"
        "print(version.value, hasattr(library, 'cuCtxCreate_v3'), hasattr(library, 'cuCtxCreate_v4'))"
    )
    done = run("-m", "cudapy.simulator", "--driver-version", "12.4", "-c", code)
    assert (done.stdout, done.stderr) == ("12040 True False\n", "")


def test_what_is_not_there_says_so() -> None:
    code = """
import ctypes
library = ctypes.CDLL("libcuda.so.1")
library.cuInit(0)
codes = [library.cuProfilerInitialize(None, None, 0), library.cuMemAlloc(None, 4)]
text, size = ctypes.create_string_buffer(25600), ctypes.c_size_t(25600)
library.cuLogsDumpToMemory(None, text, ctypes.byref(size), 0)
print(codes, [line.split("[E] ")[1] for line in text.value.decode().splitlines()])
"""
    assert output(code) == (
        "[801, 801] ['the simulator has no cuProfilerInitialize', 'Returning 801 (CUDA_ERROR_NOT_SUPPORTED) "
        "from cuProfilerInitialize', 'the simulator has no cuMemAlloc, which is older than cuMemAlloc_v2', "
        "'Returning 801 (CUDA_ERROR_NOT_SUPPORTED) from cuMemAlloc']\n"
    )


MESSAGES = """
import ctypes
library = ctypes.CDLL("libcuda.so.1")
assert library.cuInit(0) == library.cuCtxCreate_v2(ctypes.byref(ctypes.c_void_p()), 0, 0) == 0
head = b".version 8.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k() { %s; }\\0"
for image in head % b"ret", head % b"what", b"nothing of the kind", b"\\x7fELF" + bytes(60):
    buffers = [ctypes.create_string_buffer(b"x" * 1024) for _ in range(2)]
    # CU_JIT_INFO_LOG_BUFFER, its size, CU_JIT_ERROR_LOG_BUFFER, its size
    options = (ctypes.c_int * 4)(3, 4, 5, 6)
    values = (ctypes.c_void_p * 4)(ctypes.addressof(buffers[0]), 1024, ctypes.addressof(buffers[1]), 1024)
    status = library.cuModuleLoadDataEx(ctypes.byref(ctypes.c_void_p()), image, 4, options, values)
    sizes = [values[1] or 0, values[3] or 0]
    filled = [buffer.raw[:size].rstrip(b"\\0") for buffer, size in zip(buffers, sizes)]
    print(status, [buffer.value for buffer in buffers] == filled, filled[0], b"what" in filled[1])
"""


def test_the_options_for_messages_say_how_long_these_are() -> None:
    """Also those of the other kind, and if the image is none: callers take that many bytes."""
    assert output(MESSAGES).splitlines() == [
        "0 True b'' False",
        "218 True b'' True",
        "200 True b'' False",
        "200 True b'' False",
    ]


OLDER = """
import ctypes
library = ctypes.CDLL("libcuda.so.1")
P = ctypes.c_void_p
def ok(status): assert status == 0, status
ok(library.cuInit(0))
context, stream, graph, number, status = P(), P(), P(), ctypes.c_uint64(), ctypes.c_int()
ok(library.cuCtxCreate(ctypes.byref(context), 0, 0))
ok(library.cuStreamCreate(ctypes.byref(stream), 1))
ok(library.cuStreamBeginCapture(stream))
ok(library.cuStreamGetCaptureInfo(stream, ctypes.byref(status), ctypes.byref(number)))
assert status.value == 1 and number.value
ok(library.cuStreamEndCapture(stream, ctypes.byref(graph)))
instance, node, result = P(), P(1), ctypes.c_int(-1)
ok(library.cuGraphInstantiate(ctypes.byref(instance), graph, None, None, ctypes.c_size_t(0)))
ok(library.cuGraphExecUpdate(instance, graph, ctypes.byref(node), ctypes.byref(result)))
assert (node.value, result.value) == (None, 0)
empty = P()
ok(library.cuGraphAddEmptyNode(ctypes.byref(empty), graph, None, ctypes.c_size_t(0)))
assert library.cuGraphExecUpdate(instance, graph, ctypes.byref(node), ctypes.byref(result)) == 910
assert result.value == 2  # CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
ok(library.cuStreamDestroy(stream))
ok(library.cuCtxDestroy(context))
print("good")
"""


def test_older_versions_of_functions() -> None:
    assert output(OLDER) == "good\n"


# -- The process -------------------------------------------------------------------------------------------

COUNT = (
    "import ctypes; library = ctypes.CDLL('libcuda.so.1'); number = ctypes.c_int()\n"
    "code = library.cuInit(0); library.cuDeviceGetCount(ctypes.byref(number)); print(code, number.value)"
)


RESULTS = """
import ctypes
from cudapy.driver import CU_DEV_SM_RESOURCE_GROUP_PARAMS, CUdevResource

cuda, runtime = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libcudart.so.13")
whole = CUdevResource()
assert cuda.cuInit(0) == cuda.cuDeviceGetDevResource(0, ctypes.byref(whole), 1) == 0

def whatever(count):
    memory = (CUdevResource * count)()
    ctypes.memset(memory, 0xCD, ctypes.sizeof(memory))
    return memory

for library, prefix in ((cuda, "cu"), (runtime, "cuda")):
    by_count, structured = (getattr(library, f"{prefix}DevSmResourceSplit{kind}") for kind in ("ByCount", ""))
    groups, rest, count = whatever(2), whatever(1), ctypes.c_uint(1)
    assert by_count(groups, ctypes.byref(count), ctypes.byref(whole), rest, 0, 2) == 0
    print(count.value, groups[0].sm.smCount, rest[0].sm.smCount, int(groups[1].type))
    groups, rest = whatever(2), whatever(1)
    wanted = (CU_DEV_SM_RESOURCE_GROUP_PARAMS * 2)(CU_DEV_SM_RESOURCE_GROUP_PARAMS(smCount=2))
    assert structured(groups, 2, ctypes.byref(whole), rest, 0, wanted) == 0
    print(groups[0].sm.smCount, groups[1].sm.smCount, int(rest[0].type))
    assert structured(groups, 2, whatever(1), rest, 0, wanted) == 1
"""


def test_memory_for_results_may_contain_anything() -> None:
    """C programs do not clear it: a pointer in it is none yet. What they give is looked at."""
    assert output(RESULTS).splitlines() == ["1 2 2 -842150451", "2 2 0"] * 2


@pytest.mark.parametrize(
    "code", [f"from cudapy import simulator; simulator.install(devices=2)\n{COUNT}",
             f"from cudapy import simulator; simulator.install(); simulator.install(devices=2)\n{COUNT}"]
)  # fmt: skip
def test_install(code: str) -> None:
    done = run("-c", code)
    assert (done.stdout, done.stderr) == ("0 2\n", "")


@pytest.mark.parametrize("children", first(1, [True, False]))
def test_children(children: bool) -> None:
    code = (
        f"import subprocess, sys; from cudapy import simulator; simulator.install({children=}, devices=3)\n"
    )
    code += f"done = subprocess.run([sys.executable, '-c', {COUNT!r}], capture_output=True, text=True)\n"
    code += "print(done.stdout, done.stderr, end='')"
    done = run("-c", code)
    if children:
        assert (done.stdout, done.stderr) == ("0 3\n ", "")
    else:
        assert done.stdout != "0 3\n ", "no driver, or that of this machine, which has not three devices"


def test_another_driver_is_open(tmp_path: Path) -> None:
    data = library_file.build(ARCHITECTURES[platform.machine()], "libcuda.so.1", {"cuInit": 100})
    (tmp_path / "libcuda.so.1").write_bytes(data.replace(b"cudapy_slots", b"other__slots"))
    code = "import ctypes; ctypes.CDLL('libcuda.so.1'); from cudapy import simulator; simulator.install()"
    done = run("-c", code, LD_LIBRARY_PATH=str(tmp_path))
    assert (
        "RuntimeError: the simulator comes too late: this process has opened another libcuda.so.1"
        in done.stderr
    )


def test_a_mistake_in_the_environment_is_shown() -> None:
    done = run("-m", "cudapy.simulator", "-c", COUNT, CUDAPY_SIMULATOR_DEVICES="17")
    assert done.stdout == "999 0\n"
    assert "ValueError: the simulator has 1 .. 16 devices, not 17" in done.stderr
    done = run("-c", "from cudapy import simulator; simulator.enable()", CUDAPY_SIMULATOR_DEVICES="many")
    assert done.stderr.endswith("CUDAPY_SIMULATOR_DEVICES is 'many', which is not a whole number\n")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, "there is no program to run"),
        (("--devices",), 2, "--devices needs a value"),
        (("--devices", "many", "x.py"), 2, "--devices cannot be 'many'"),
        (("--devices=0", "-c", "pass"), 2, "the simulator has 1 .. 16 devices, not 0"),
        (("--colour", "x.py"), 2, "unknown option --colour"),
        (("no_such.py",), 2, "can't open file"),
        (("-m", "no_such_module"), 1, "No module named no_such_module"),
        (("-c", "raise SystemExit(7)"), 7, ""),
    ],
)
def test_the_command(arguments: tuple[str, ...], status: int, words: str) -> None:
    done = run("-m", "cudapy.simulator", *arguments)
    assert done.returncode == status and words in done.stderr, done.stderr


LITTLE = """
from cudapy.simulator import command
from cudapy.simulator.shared import compilers
def fails(path): raise ERROR
compilers.exported_by = fails
command.main(["-c", "pass"])
"""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("MemoryError", "there is not enough memory"),
        ("OSError(12, 'Cannot allocate memory')", "[Errno 12] Cannot allocate memory"),
    ],
)
def test_too_little_memory_at_the_start_is_told(nvrtc: Any, error: str, told: str) -> None:
    """As a limit of the address space may leave, in which the compilers cannot be mapped."""
    done = run("-c", LITTLE.replace("ERROR", error))
    assert (done.returncode, done.stderr) == (1, f"the simulator cannot start: {told}\n")


END = """
import atexit, ctypes
def late():
    context = ctypes.c_void_p(5)
    codes = [library.cuInit(0), library.cuMemAlloc_v2(None, 4), library.cuStreamDestroy_v2(None)]
    print(codes, library.cuCtxGetCurrent(ctypes.byref(context)), context.value)
    codes = [library.cuCtxPushCurrent_v2(None), library.cuCtxDetach(None), library.cuEventQuery(None)]
    print(codes, library.cuCtxPopCurrent_v2(ctypes.byref(context)))
class Late:
    def __init__(self, call): self.call = call
    def __del__(self): self.call()
import cudapy.simulator
library = ctypes.CDLL("libcuda.so.1")
library.cuInit(0)
kept = Late(late)
"""


def test_when_python_has_ended_functions_are_machine_code() -> None:
    done = run("-m", "cudapy.simulator", "-c", END)
    assert done.stderr == ""
    assert done.stdout == "[4, 4, 0] 0 None\n[0, 0, 0] 0\n"


TEXTS = """
import ctypes
names = ("libcuda.so.1", "libcudart.so.13", "libnvidia-ml.so.1", "libnccl.so.2")
libraries = [ctypes.CDLL(name) for name in names]
driver, runtime, nvml, nccl = libraries
returning = [runtime.cudaGetErrorName, runtime.cudaGetErrorString, nvml.nvmlErrorString]
returning.append(nccl.ncclGetErrorString)
for function in returning:
    function.restype = ctypes.c_char_p
def texts():
    found = [function(code) for function in returning for code in range(-1, 1100)]
    for function in driver.cuGetErrorName, driver.cuGetErrorString:
        for code in range(-1, 1100):
            place = ctypes.c_char_p()
            found.append((function(code, ctypes.byref(place)), place.value))
    return found
class Late:
    def __init__(self, call): self.call = call
    def __del__(self): self.call()
def late(before=CALLED, texts=texts):
    found = texts()
    print(len(found), len(set(found)) > 500, before is None or found == before)
    print(found[1:3], found[-1096:-1094], found[-1:], found[0] == found[1001])
kept = Late(late)
"""


@pytest.mark.parametrize("called", first(1, ["texts()", "None"]))
def test_codes_have_the_same_texts_when_python_has_ended(called: str) -> None:
    """Whether there was a call before or not."""
    done = run("-m", "cudapy.simulator", "-c", TEXTS.replace("CALLED", called))
    assert done.stderr == ""
    assert done.stdout.startswith(
        "6606 True True\n[b'cudaSuccess', b'cudaErrorInvalidValue'] [(0, b'The driver"
    )
    assert done.stdout.endswith("[(1, None)] True\n")


def test_at_the_end_nothing_succeeds_that_has_results() -> None:
    """A caller would take what is in its memory for them."""
    answers = {**driver.functions(entry_points.NEWEST), **runtime.functions(13)}
    answers |= {**nvml.functions(), **nccl.functions()}
    succeed = [name for name, answer in answers.items() if answer == 0 and not name.startswith("__")]
    assert {"cuCtxPushCurrent_v2", "cuCtxDetach", "cudaFree", "cudaSetDevice", "nvmlShutdown"} <= {*succeed}
    assert [
        name for name in succeed if re.search("Create|Add(?!ress)|Alloc|Get(?!LastError)|Begin|Launch", name)
    ] == []


@pytest.mark.parametrize("is_written", first(1, [False, True]))
def test_a_library_that_gives_back_what_it_has_when_python_has_ended(
    gcc: str, tmp_path: Path, is_written: bool
) -> None:
    """And reads its host memory, and the texts of what fails.

    is_written: CUDA's libraries are files; no function of libcudart was called before.
    """
    from cudapy import simulator

    library, command, environment = tmp_path / "library.so", ["-m", "cudapy.simulator"], {}
    if is_written:
        command, environment = [], {"LD_LIBRARY_PATH": str(tmp_path)}
        try:
            simulator.write_libraries(tmp_path)
        except RuntimeError as error:
            pytest.skip(str(error))
    options = ["-Wall", "-Werror", "-shared", "-fPIC", str(EXIT), "-o", str(library), "-ldl"]
    done = subprocess.run([gcc, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).begin()"
    done = run(*command, "-c", code, str(library), **environment)
    gone = "CUDA_ERROR_DEINITIALIZED: The driver is shutting down, so no more calls can be served."
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY: The driver could not get enough device or host memory for"
        " this call.",
        "5 5",
        f"cuGraphAddMemFreeNode: {gone}",
        f"cuMemAlloc_v2: {gone}",
        "cudaMalloc: cudaErrorCudartUnloading: CUDA is shutting down, so no more calls can be served.",
        "(nil) 7",
    ]


PLUGIN = """
import ctypes
def test_devices():
    library, number = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    library.cuInit(0)
    library.cuDeviceGetCount(ctypes.byref(number))
    assert number.value == 2
"""


@pytest.mark.thorough
def test_the_pytest_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(PLUGIN)
    (tmp_path / "conftest.py").write_text("import ctypes; ctypes.CDLL('libcuda.so.1')")
    plugin = ("-p", "cudapy.simulator.pytest_plugin") if not has_entry_point() else ()
    options = ("--cuda-simulator", "--cuda-devices=2", "-p", "no:cacheprovider", str(tmp_path))
    done = run("-m", "pytest", *plugin, *options, f"--rootdir={tmp_path}")
    assert "1 passed" in done.stdout and "CUDA: cudapy simulator, devices: 2" in done.stdout, done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("count", ["0", "17"])
def test_the_pytest_plugin_says_what_makes_no_sense(tmp_path: Path, count: str) -> None:
    plugin = ("-p", "cudapy.simulator.pytest_plugin") if not has_entry_point() else ()
    done = run("-m", "pytest", *plugin, "--cuda-simulator", f"--cuda-devices={count}", str(tmp_path))
    assert done.returncode == 4
    assert done.stderr.strip() == f"ERROR: --cuda-simulator: the simulator has 1 .. 16 devices, not {count}"


@pytest.mark.thorough
def test_pytest_under_the_command_has_no_warning(tmp_path: Path) -> None:
    """Of cudapy, which is imported before pytest is: warnings may be errors."""
    (tmp_path / "test_it.py").write_text("def test_it(): pass")
    warning = "error::pytest.PytestAssertRewriteWarning"
    options = ("-W", warning, "-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(tmp_path))
    done = run("-m", "cudapy.simulator", "-m", "pytest", *options)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def has_entry_point() -> bool:
    """Whether the cudapy that is installed has it: an editable installation may be older."""
    from importlib.metadata import entry_points as installed

    return any(point.value == "cudapy.simulator.pytest_plugin" for point in installed(group="pytest11"))


# -- The other libraries -----------------------------------------------------------------------------------

RUNTIME = """
import ctypes
class Desc(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int) for name in ("x", "y", "z", "w", "f")]
class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]
for major in (12, 13):
    library = ctypes.CDLL(f"libcudart.so.{major}")
    number, pointer, size = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_size_t(4096)
    codes = [library.cudaRuntimeGetVersion(ctypes.byref(number)), library.cudaRuntimeGetVersion(None)]
    print(number.value, codes)
    codes = [library.cudaMalloc(ctypes.byref(pointer), size)]
    text, back = ctypes.create_string_buffer(b"hello"), ctypes.create_string_buffer(6)
    codes.append(library.cudaMemcpy(pointer, text, ctypes.c_size_t(6), 1))
    codes.append(library.cudaMemcpy_ptds(back, pointer, ctypes.c_size_t(6), 2))
    codes += [library.cudaFree(pointer), library.cudaFree(pointer), library.cudaGetLastError()]
    codes.append(library.cudaMallocManaged(ctypes.byref(pointer), size, 1))
    if major == 12:  # the same name takes an int in CUDA 12, a struct in CUDA 13
        codes.append(library.cudaMemAdvise(pointer, size, 3, -1))
        codes.append(library.cudaMemAdvise_v2(pointer, size, 3, Location(1, 0)))
    else:
        codes.append(library.cudaMemAdvise(pointer, size, 3, Location(1, 0)))
    found = ctypes.c_int(-7)
    codes.append(library.cudaMemRangeGetAttribute(ctypes.byref(found), ctypes.c_size_t(4), 2, pointer, size))
    library.cudaCreateChannelDesc.restype = Desc
    desc = library.cudaCreateChannelDesc(32, 16, 8, 4, 2)
    library.cudaGetErrorName.restype = ctypes.c_char_p
    desc = [desc.x, desc.y, desc.z, desc.w, desc.f]
    print(back.value, codes, found.value, desc, library.cudaGetErrorName(2))
    print(hasattr(library, "cudaMemAdvise_v2"), hasattr(library, "cudaGetDeviceProperties_v2"))
"""


def test_libcudart_of_both_majors() -> None:
    rest = "0 [32, 16, 8, 4, 2] b'cudaErrorMemoryAllocation'"
    assert output(RUNTIME).splitlines() == [
        "12090 [0, 1]",
        f"b'hello' [0, 0, 0, 0, 1, 1, 0, 0, 0, 0] {rest}",
        "True True",
        "13050 [0, 1]",
        f"b'hello' [0, 0, 0, 0, 1, 1, 0, 0, 0] {rest}",
        "False False",
    ]


def test_a_static_libcudart_is_told_why_it_cannot_run() -> None:
    code = (
        "import ctypes; library = ctypes.CDLL('libcuda.so.1'); library.cuInit(0)\n"
        "table = ctypes.c_void_p()\n"
        "print([library.cuGetExportTable(ctypes.byref(table), bytes(16)) for _ in '12'])"
    )
    done = run("-m", "cudapy.simulator", "-c", code)
    assert done.stdout == "[801, 801]\n"
    assert done.stderr == (
        "cudapy simulator: this program has NVIDIA's CUDA runtime (libcudart) linked statically: it asks the "
        "driver for tables that NVIDIA does not document (cuGetExportTable), so it runs on NVIDIA's driver "
        "alone. What calls the driver, or opens libcudart.so by name, runs on the simulator.\n"
    )


COMPILERS = """
import ctypes, sys
from cudapy import pathfinder
driver, nvrtc = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(sys.argv[1])
P, S = ctypes.c_void_p, ctypes.c_size_t
def ok(status): assert status == 0, status
program, module, size = P(), P(), S()
source = b'extern "C" __global__ void k() {}'
ok(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None))
options = (ctypes.c_char_p * 1)(b"-arch=sm_90")
ok(nvrtc.nvrtcCompileProgram(program, 1, options))
ok(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)))
cubin = ctypes.create_string_buffer(size.value)
ok(nvrtc.nvrtcGetCUBIN(program, cubin))
ok(driver.cuInit(0)); context = P()
ok(driver.cuCtxCreate(ctypes.byref(context), 0, 0))
ok(driver.cuModuleLoadData(ctypes.byref(module), cubin))
nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
print(nvrtc.nvrtcGetErrorString(5), cubin.raw[:4])
linker, handle = ctypes.CDLL(sys.argv[2]), P()
ok(linker.nvJitLinkCreate(ctypes.byref(handle), 1, options))
ok(linker.nvJitLinkAddData(handle, 2, PTX, S(len(PTX)), b"twice"))
ok(linker.nvJitLinkComplete(handle))
ok(linker.nvJitLinkGetLinkedCubinSize(handle, ctypes.byref(size)))
cubin = ctypes.create_string_buffer(size.value)
ok(linker.nvJitLinkGetLinkedCubin(handle, cubin))
ok(driver.cuModuleLoadData(ctypes.byref(module), cubin))
"""
PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n\0"


@pytest.mark.thorough
def test_the_compilers_of_other_packages_make_cubins_that_run(nvrtc: Any) -> None:
    """Opened by soname, as others do; a name that is not the real one's is not there."""
    from cudapy import pathfinder

    names = {}
    for library in ("nvrtc", "nvJitLink"):
        try:
            names[library] = f"lib{library}.so.{pathfinder.load(library).major}"
        except pathfinder.LibraryNotFound as error:
            pytest.skip(str(error).splitlines()[0])
    code = f"PTX = {PTX!r}\n{COMPILERS}\nprint(hasattr(nvrtc, 'nvrtcNoSuchFunction'))"
    done = run("-m", "cudapy.simulator", "-c", code, *names.values())
    assert (done.stdout, done.stderr) == ("b'NVRTC_ERROR_INVALID_OPTION' b'\\x7fELF'\nFalse\n", "")


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("version", ["", "libx.so.1"])
def test_the_version_of_a_librarys_symbols_is_found(machine: str, version: str) -> None:
    data = library_file.build(ARCHITECTURES[machine], "liby.so.1", FUNCTIONS, version=version)
    assert exported(data).version == version


VERSIONED = """
import ctypes, sys
system = ctypes.CDLL(None)
system.dlvsym.restype = ctypes.c_void_p
for name, symbol in (pair.split() for pair in sys.argv[1:]):
    library = ctypes.c_void_p(ctypes.CDLL(name)._handle)
    found = [system.dlvsym(library, symbol.encode(), version.encode()) for version in (name, "other")]
    print(bool(found[0]), bool(found[1]))
"""


@pytest.mark.thorough
def test_what_is_linked_with_a_library_finds_its_versions(nvrtc: Any) -> None:
    """The loader gives up a process that asks a library without versions for one."""
    from cudapy import pathfinder

    major = pathfinder.load("nvrtc").major
    pairs = [f"libnvrtc.so.{major} nvrtcVersion", *(f"libcudart.so.{m} cudaMalloc" for m in (12, 13))]
    done = run("-m", "cudapy.simulator", "-c", VERSIONED, *pairs)
    assert (done.stdout, done.stderr) == (3 * "True False\n", "")


NVML = """
import ctypes
library, text, number = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.create_string_buffer(96), ctypes.c_int()
ctypes.CDLL("libnvidia-ml.so").nvmlErrorString.restype = ctypes.c_char_p
device, other, memory = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_ulonglong * 3)()
print(library.nvmlDeviceGetCount_v2(ctypes.byref(number)), library.nvmlInit_v2())
print(library.nvmlDeviceGetCount_v2(ctypes.byref(number)), number.value)
print(library.nvmlDeviceGetHandleByIndex_v2(2, ctypes.byref(device)))
print(library.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(device)))
print(library.nvmlDeviceGetName(device, text, 96), text.value)
print(library.nvmlDeviceGetName(device, text, 5), library.nvmlDeviceGetName(None, text, 96))
library.nvmlDeviceGetUUID(device, text, 96)
uuid = (ctypes.c_ubyte * 16)()
driver = ctypes.CDLL("libcuda.so.1"); driver.cuInit(0); driver.cuDeviceGetUuid_v2(uuid, 1)
print(text.value.decode()[4:].replace("-", "") == bytes(uuid).hex())
print(library.nvmlDeviceGetHandleByUUID(text, ctypes.byref(other)), other.value == device.value)
print(library.nvmlDeviceGetHandleByUUID(text.value[4:], ctypes.byref(other)), other.value == device.value)
print(library.nvmlDeviceGetMemoryInfo(device, memory), memory[0] == memory[1] + memory[2] > 0)
print(library.nvmlDeviceGetTemperature(device, 0, ctypes.byref(number)))
library.nvmlErrorString.restype = ctypes.c_char_p
print(library.nvmlErrorString(3), library.nvmlShutdown(), library.nvmlDeviceGetCount_v2(ctypes.byref(number)))
"""


NCCL = """
import ctypes
nccl, runtime = ctypes.CDLL("libnccl.so.2"), ctypes.CDLL("libcudart.so.13")
class Id(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]
one, number, text = Id(), ctypes.c_int(), nccl.ncclGetLastError
print(nccl.ncclGetUniqueId(ctypes.byref(one)), nccl.ncclGetVersion(ctypes.byref(number)))
comms = [ctypes.c_void_p() for _ in range(2)]
buffers = [ctypes.c_void_p() for _ in range(2)]
nccl.ncclGroupStart()
for rank in range(2):
    runtime.cudaSetDevice(rank)
    runtime.cudaMalloc(ctypes.byref(buffers[rank]), 8)
    runtime.cudaMemset(buffers[rank], rank + 1, 8)
    print(nccl.ncclCommInitRank(ctypes.byref(comms[rank]), 2, one, rank))
print(nccl.ncclGroupEnd())
nccl.ncclGroupStart()
for comm, buffer in zip(comms, buffers):
    print(nccl.ncclAllReduce(buffer, buffer, ctypes.c_size_t(8), 1, 0, comm, None))
print(nccl.ncclGroupEnd())
total = ctypes.create_string_buffer(8)
for rank, buffer in enumerate(buffers):
    runtime.cudaSetDevice(rank)  # whose default stream has the sum
    print(runtime.cudaMemcpy(total, buffer, 8, 2), total.raw)
text.restype = ctypes.c_char_p
print(nccl.ncclDevCommCreate(comms[0], None, None), text(None))
class Late:
    def __del__(self, names=("ncclCommAbort", "ncclCommDestroy", "ncclGroupEnd", "ncclCommCount"), nccl=nccl):
        print(*[nccl[name](None) for name in names])
kept = Late()
"""


def test_nccl_has_the_simulated_devices() -> None:
    """The id comes by value; a function of the device API is refused with a reason; at the end all goes."""
    done = run("-m", "cudapy.simulator", "--devices", "2", "-c", NCCL)
    sums = 2 * ["0 b'" + 8 * "\\x03" + "'"]
    refused = "5 b'ncclDevCommCreate: the simulator has no ncclDevCommCreate'"
    assert done.stdout.splitlines() == ["0 0", *6 * ["0"], *sums, refused, "0 0 0 3"]
    assert done.stderr == ""


def test_nvml_has_the_simulated_devices() -> None:
    expected = ["1 0", "0 2", "2", "0", "0 b'cudapy simulator'", "7 2", "True"]
    expected += ["0 True", "0 True", "0 True", "3"]
    expected.append("b'The device or the system does not support what was asked' 0 1")
    assert output("simulator.enable(devices=2)\n" + NVML).splitlines() == expected


def test_a_python_program_may_open_a_written_library_by_its_path(tmp_path: Path) -> None:
    """The process ends as Python does: no code of Python's runs behind that."""
    from cudapy import simulator

    try:
        simulator.write_libraries(tmp_path)
    except RuntimeError as error:
        pytest.skip(str(error))
    code = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).cuInit(0))"
    for command in ((), ("-m", "cudapy.simulator")):
        done = run(*command, "-c", code, str(tmp_path / "libcuda.so.1"))
        assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


# -- C -----------------------------------------------------------------------------------------------------

PROGRAM, EXIT, FORKS = (Path(__file__).with_name(f"shared_{name}.c") for name in ("program", "exit", "forks"))


@pytest.fixture(scope="module")
def program(gcc: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the written library, and a C program that is linked with it."""
    from cudapy import simulator

    folder = tmp_path_factory.mktemp("shared")
    try:
        simulator.write_libraries(folder)
    except RuntimeError as error:
        pytest.skip(str(error))
    command = [
        gcc,
        "-Wall",
        "-Werror",
        str(PROGRAM),
        "-o",
        str(folder / "program"),
        f"-L{folder}",
        "-lcuda",
        "-pthread",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.thorough
def test_a_c_program(program: Path) -> None:
    """Threads of C keep their contexts; structs are passed by value; another process opens memory;
    callbacks.
    """
    environment = {**os.environ, "LD_LIBRARY_PATH": str(program), "CUDAPY_SIMULATOR_DEVICES": "2"}
    done = subprocess.run(
        [str(program / "program")], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "good\n", "")


@pytest.mark.thorough
@pytest.mark.parametrize("is_early", [False, True])
def test_a_c_program_that_opens_the_library_for_itself_and_forks(
    gcc: str, program: Path, is_early: bool, tmp_path: Path
) -> None:
    """Others do not see the symbols of what it opens; threads call the driver while it forks."""
    built = tmp_path / "forks"
    command = [
        gcc,
        "-Wall",
        "-Werror",
        "-Wno-format-truncation",
        str(FORKS),
        "-o",
        str(built),
        "-pthread",
        "-ldl",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    arguments = [str(built), str(program / "libcuda.so.1"), *(["early"] if is_early else [])]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    expected = "0 0 0 0" if is_early else "3 3 3 0"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{expected}\n" * 20, "")


@pytest.mark.thorough
def test_the_written_library_in_python(program: Path) -> None:
    done = run("-c", COUNT, LD_LIBRARY_PATH=str(program))
    assert (done.stdout, done.stderr) == ("0 1\n", "")
    done = run("-m", "cudapy.simulator", "--devices", "2", "-c", COUNT, LD_LIBRARY_PATH=str(program))
    assert (done.stdout, done.stderr) == ("0 2\n", "")


@pytest.mark.thorough
def test_the_linker_and_readelf_read_it(program: Path) -> None:
    readelf = shutil.which("readelf")
    if readelf is None:
        pytest.skip("there is no readelf")
    done = subprocess.run(
        [readelf, "-aW", str(program / "libcuda.so.1")], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "Library soname: [libcuda.so.1]" in done.stdout
    # and the code of all functions and of their guards, and what functions return at the end
    assert (
        len(re.findall(r"FUNC +GLOBAL DEFAULT +6 cu\w+$", done.stdout, re.M))
        == len(entry_points.symbols(entry_points.NEWEST)) + len(machine_code.THREAD_STEPS) + 2 + 4 + 2 + 4
    )
