"""Runs the simulator's machine code for AArch64 on this machine, in an emulator.

It has the memory of this process at its own addresses, so that a region can be entered there as it is here.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import threading
from typing import Any

import pytest

from cudapy.simulator.engine.jit import block_run, library, processor, run, supported, workers

EMULATED = bool(os.environ.get("CUDAPY_EMULATE_AARCH64"))
"""Whether all tests of this folder run so."""
CHUNK = 1 << 20
STACK = 1 << 16
KEPT = range(19, 29)
KEPT_VECTORS = range(8, 16)


class Emulator:
    """Calls functions of one argument."""

    def __init__(self) -> None:
        unicorn = self._unicorn = pytest.importorskip("unicorn", reason="unicorn is not installed")
        self._names: Any = pytest.importorskip("unicorn.arm64_const")
        self.calls = 0
        self._chunks: set[int] = set()
        self._lock = threading.Lock()
        self._cpu: Any = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        self._cpu.ctl_set_cpu_model(self._names.UC_CPU_ARM64_MAX)
        self._cpu.hook_add(unicorn.UC_HOOK_MEM_UNMAPPED, self._map)
        self._stack = mmap.mmap(-1, STACK)
        self._top = ctypes.addressof(ctypes.c_char.from_buffer(self._stack)) + STACK - 256
        self._registers = [self._names.UC_ARM64_REG_X0 + i for i in range(29)]

    def _map(self, cpu: Any, access: int, address: int, size: int, value: int, data: Any) -> bool:
        for chunk in {address // CHUNK, (address + size - 1) // CHUNK} - self._chunks:
            self._chunks.add(chunk)
            cpu.mem_map_ptr(chunk * CHUNK, CHUNK, self._unicorn.UC_PROT_ALL, chunk * CHUNK)
        return True

    def call(self, function: int, argument: int) -> int:
        """What a function that returns an int returns: with the registers kept that C keeps."""
        with self._lock:
            cpu, names = self._cpu, self._names
            kept = {self._registers[i]: 0x1234_0000 + i for i in KEPT}
            kept |= {names.UC_ARM64_REG_D0 + i: 0x5678_0000 + i for i in KEPT_VECTORS}
            end = self._top + 128
            given = {names.UC_ARM64_REG_X0: argument, names.UC_ARM64_REG_X30: end}
            given |= {names.UC_ARM64_REG_SP: self._top, **kept}
            for register, value in given.items():
                cpu.reg_write(register, value)
            self.calls += 1
            cpu.emu_start(function, end)
            assert {register: cpu.reg_read(register) for register in kept} == kept
            assert cpu.reg_read(names.UC_ARM64_REG_SP) == self._top
            return int(cpu.reg_read(names.UC_ARM64_REG_X0)) & 0xFFFFFFFF


@functools.cache
def emulator() -> Emulator:
    """One for all: what it has translated stays true, as memory of code is never given back."""
    return Emulator()


_routines = functools.cache(library.routines.__wrapped__)


def _enter(memory: int) -> int:
    return emulator().call(_routines().enter, memory)


def emulate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have modules that are loaded from now on run in the emulator."""
    emulator()
    monkeypatch.setattr(processor, "is_aarch64", lambda: True)
    monkeypatch.setattr(processor, "is_supported", lambda: True)
    monkeypatch.setattr(supported, "_known", {})  # one instruction less has code
    for module in (library, workers, run, block_run):
        monkeypatch.setattr(module, "routines", _routines)
    monkeypatch.setattr(workers, "entries", lambda: (_enter, _enter))
