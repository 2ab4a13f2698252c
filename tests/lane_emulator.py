"""An emulator of AArch64 that runs the routine of the fast lane on the objects of this process.

It has the memory of the process at its own addresses. What the routine calls, of CPython and of a library, is
called by ctypes with what the emulator has in its registers and on its stack; then all registers that a
function may change are changed.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import pytest

from .lane_aarch64 import AArch64Routine

unicorn: Any = pytest.importorskip("unicorn", reason="unicorn, an emulator of processors, is not installed")
arm64_const: Any = pytest.importorskip("unicorn.arm64_const")
WORD = ctypes.c_size_t
MOST_CALLS = 1000
ARGUMENTS = 16  # of a C function: more than any has
CHANGED, KEPT = range(18), range(19, 30)
OFFSETS = 1 << 63  # PY_VECTORCALL_ARGUMENTS_OFFSET
_LINK = 30


class Emulator:
    """Calls functions that have a lane. lanes: the module of that name, with its lanes made."""

    def __init__(self, lanes: Any, page: int = mmap.PAGESIZE) -> None:
        state = lanes.lanes()
        self.lanes, self.page = lanes, page
        self.names = {address: name for name, address in state.context.items()} | {state.entry.plain: "slow"}
        self.pages: set[int] = set()
        self.cpu = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        unmapped = unicorn.UC_HOOK_MEM_READ_UNMAPPED | unicorn.UC_HOOK_MEM_WRITE_UNMAPPED
        self.cpu.hook_add(unmapped, self._map)
        code = AArch64Routine().write()
        words = b"".join(state.context[name].to_bytes(8, "little") for name in lanes.CONTEXT)
        image = code.ljust(2 * lanes.PAGE, b"\0") + words
        self.room = mmap.mmap(-1, 64 * page)  # the code and the stack, into which C writes
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.room))
        self.stack = self.start + 64 * page - 1024
        self.room[: len(image)] = image
        self.cpu.mem_map_ptr(self.start, 64 * page, unicorn.UC_PROT_ALL, self.start)
        self.end = self.start + len(image) // 16 * 16 + 64

    def _map(self, cpu: Any, access: int, address: int, size: int, value: int, data: Any) -> bool:
        for number in {address // self.page, (address + size - 1) // self.page} - self.pages:
            self.pages.add(number)
            start = number * self.page
            cpu.mem_map_ptr(start, self.page, unicorn.UC_PROT_READ | unicorn.UC_PROT_WRITE, start)
        return True

    def _register(self, number: int) -> int:
        first = arm64_const.UC_ARM64_REG_X0 if number < 29 else arm64_const.UC_ARM64_REG_X29 - 29
        return int(first + number)

    def __call__(self, function: Any, table: Any, *arguments: Any) -> Any:
        """What a call of a function returns whose lane has this table."""
        cpu, link = self.cpu, self._register(_LINK)
        passed = (WORD * (len(arguments) + 1))(0, *map(id, arguments))
        at = ctypes.addressof(passed) + 8
        given = id(self.lanes.python_of(function)), at, len(arguments) | OFFSETS, 0
        kept = {self._register(i): 0x1234_0000 + i for i in KEPT}
        for register, value in [*zip(map(self._register, range(4)), given, strict=True), *kept.items()]:
            cpu.reg_write(register, value)
        cpu.reg_write(self._register(8), ctypes.addressof(ctypes.c_char.from_buffer(table)))
        cpu.reg_write(link, self.end)
        cpu.reg_write(arm64_const.UC_ARM64_REG_SP, self.stack)
        place, failure, steps = self.start, None, 0
        while place != self.end:
            steps += 1
            assert steps < MOST_CALLS
            try:
                cpu.emu_start(place, self.end, count=100_000)
            except unicorn.UcError as error:
                if error.errno not in (unicorn.UC_ERR_FETCH_UNMAPPED, unicorn.UC_ERR_FETCH_PROT):
                    raise
            place = cpu.reg_read(arm64_const.UC_ARM64_REG_PC)
            if place == self.end:
                break
            back, result = cpu.reg_read(link), 0
            try:
                result = self._called(place)
            except Exception as error:
                failure = error
            for i in CHANGED:
                cpu.reg_write(self._register(i), 0xDEAD_0000 + i)
            cpu.reg_write(self._register(0), result)
            place = back
        assert cpu.reg_read(arm64_const.UC_ARM64_REG_SP) == self.stack
        assert {register: cpu.reg_read(register) for register in kept} == kept
        found = cpu.reg_read(self._register(0))
        if failure is not None:
            assert not found
            raise failure
        result = ctypes.cast(ctypes.c_void_p(found), ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(result))
        return result

    def _called(self, place: int) -> int:
        """The result of the function at an address."""
        name, cpu = self.names.get(place), self.cpu
        stack = cpu.reg_read(arm64_const.UC_ARM64_REG_SP)
        assert stack % 16 == 0
        if name in ("save_thread", "restore_thread"):
            return 1
        if name == "from_float":
            bits = cpu.reg_read(arm64_const.UC_ARM64_REG_D0).to_bytes(8, "little")
            real = ctypes.PYFUNCTYPE(WORD, ctypes.c_double)(place)
            return int(real(ctypes.c_double.from_buffer_copy(bits)))
        in_registers = [cpu.reg_read(self._register(i)) for i in range(8)]
        on_stack = cpu.mem_read(stack, 8 * (ARGUMENTS - 8))
        words = in_registers + [
            int.from_bytes(on_stack[i : i + 8], "little") for i in range(0, len(on_stack), 8)
        ]
        return int(ctypes.PYFUNCTYPE(WORD, *[WORD] * ARGUMENTS)(place)(*words))
