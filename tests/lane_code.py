"""Assembles the machine code of the fast lane: `python -m tests.lane_code` writes `cudapy/_ffi/lane_code.py`.

One routine for all functions, which reads from a table of words what a function takes and returns. It never
changes, so that the package has it as bytes, and no assembler. `cudapy/_ffi/lanes.py` says what is in the
tables.

Registers, until C was called: RBP the function's table, RBX the context, R12 the function object, R13 its
arguments, R14 their count and flags, R15 the keywords.
"""

from __future__ import annotations

import struct
import sys
import textwrap
from pathlib import Path

from cudapy._ffi.lane_layout import CONTEXT, PAGE
from cudapy._ffi.lane_types import (
    ARRAY,
    BYTES,
    CONSTANT,
    ENUM,
    INTEGER,
    MOST_ITEMS,
    MOST_PARAMETERS,
    MOST_RESULTS,
    NARROW,
    NONE,
    OBJECT,
    PLACE,
    RESULTS,
    SAME,
    SLOT,
    VALUE,
)
from cudapy._ffi.lanes import ARGUMENT, FUNCTION, RESULT
from cudapy.simulator.engine.assembler.x86_64 import (
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
    RAX,
    RBP,
    RBX,
    RCX,
    RDI,
    RDX,
    RSI,
    RSP,
    At,
)

from .lane_routine import LaneRoutine

WHERE = Path(__file__).parents[1] / "cudapy" / "_ffi" / "lane_code.py"
IN_REGISTERS = (RDI, RSI, RDX, RCX, R8, R9)
VALUES = 8 * (MOST_PARAMETERS - len(IN_REGISTERS))  # above what C finds on the stack
CELLS = VALUES + 8 * MOST_PARAMETERS
TEMPORARY, ALONE, LEFT = (At(RSP, 8 * i) for i in range(3))  # before and after the call of C
OBJECTS = RESULTS.index("struct")  # and what follows: made before C is called
MOST_CHARS = 1 << 16
COPY, HANDLE, ITEMS_END = (At(RSP, CELLS + 16 * MOST_RESULTS + 8 * i) for i in range(3))
ITEMS = CELLS + 16 * MOST_RESULTS + 24  # of arrays
ROOM = (ITEMS + 8 * MOST_ITEMS) // 16 * 16 + 8  # with six registers and the return address: 16 bytes


class Routine(LaneRoutine):
    """The routine, whose parts follow one another."""

    room = ROOM
    in_registers: tuple[int, ...] = IN_REGISTERS

    def find_words(self) -> None:
        self.word("mov", RBP, RAX)
        self.find_context()

    def find_context(self) -> None:
        """RBX: the words behind the pages with code."""
        self.code += b"\x48\x8d\x1d" + struct.pack("<i", 2 * PAGE - len(self.code) - 7)  # lea RBX, [RIP + ..]

    def trap(self) -> None:
        """What is never reached."""
        self.code += b"\x0f\x0b"  # ud2

    def fill(self) -> None:
        """Store RCX bytes from RDI on, all as the lowest of RAX."""
        self.code += b"\xf3\xaa"  # rep stosb

    def signed_cell(self) -> None:
        """RDI: the number of 32 bits with a sign at [R15]."""
        self.code += b"\x49\x63\x3f"  # movsxd

    def real(self, size: int) -> None:
        """The first floating-point argument, a double, from [R15]: of 4 or 8 bytes."""
        # cvtss2sd or movsd XMM0, [R15]
        self.code += b"\xf3\x41\x0f\x5a\x07" if size == 4 else b"\xf2\x41\x0f\x10\x07"

    def shared(self, name: str) -> At:
        return At(RBX, 8 * CONTEXT.index(name))

    def code_word(self) -> At:
        return self.of_function("code")

    def slow_word(self) -> At:
        return self.of_function("slow")

    def of_function(self, name: str) -> At:
        return At(RBP, 8 * FUNCTION.index(name))

    def if_bit(self, register: int, bit: int, name: str) -> None:
        """Jump if one of the low 8 bits of a kind is set; RAX is lost."""
        self.word("mov", RAX, register)
        self.number("and", RAX, bit)
        self.jump_if("ne", name)

    def call_context(self, name: str) -> None:
        self.call_at(self.shared(name))

    def write(self) -> bytes:
        self.enter()
        self.arguments()
        self.array()
        self.by_value()
        self.measure()
        self.ask()
        self.release()
        self.copy()
        self.cells()
        self.objects()
        self.call_c()
        self.results()
        self.new_handle()
        self.drop_objects()
        self.ends()
        return self.finish()

    def enter(self) -> None:
        super().enter()
        self.load(R8, self.of_function("guards"))
        self.test(R8, R8)
        self.jump_if("e", "guarded")
        self.label("guard")
        self.load(RAX, At(R8))
        self.test(RAX, RAX)
        self.jump_if("e", "guarded")
        self.load(RAX, At(RAX))
        self.test(RAX, RAX)
        self.jump_if("ne", "slow")
        self.number("add", R8, 8)
        self.jump("guard")
        self.label("guarded")
        self.word("mov", R10, R14)
        self.shift_word("shl", R10, 1)
        self.shift_word("shr", R10, 1)
        self.word("cmp", R10, self.of_function("count"))
        self.jump_if("ne", "slow")

    def arguments(self) -> None:
        """R10: how many are left, R9 where the next one is, R8 what is known about it."""
        self.load(R8, self.of_function("arguments"))
        self.word("mov", R9, R13)
        self.load(R10, self.of_function("parts"))
        self.test(R10, R10)
        self.jump_if("e", "measure")
        self.lea(RAX, At(RSP, ITEMS))
        self.keep(ITEMS_END, RAX)
        self.label("argument")
        self.load(RSI, At(R9))
        self.load(RDI, At(RSI, 8))  # its type
        kind, cls, limit, slot, inside = (At(R8, 8 * i) for i in range(5))
        self.load(RCX, kind)
        self.word("cmp", RDI, self.shared("int"))
        self.jump_if("e", "int")
        self.word("cmp", RDI, cls)
        self.jump_if("e", "typed")
        self.word("cmp", RSI, self.shared("none"))
        self.jump_if("ne", "other")
        self.set(RDX, 0)
        self.if_bit(RCX, NONE, "store")
        self.label("other")
        self.if_bit(RCX, OBJECT, "store")
        self.if_bit(RCX, ARRAY, "array")
        self.load(RDX, limit)
        self.if_bit(RCX, CONSTANT, "store")
        self.if_bit(RCX, SAME, "same")
        self.if_bit(RCX, INTEGER, "of another enum")
        self.jump("slow")
        self.label("same")
        self.word("cmp", RSI, RDX)
        self.jump_if("e", "store")
        self.jump("slow")
        self.label("of another enum")
        self.load(RAX, At(RDI, 8))
        self.word("cmp", RAX, self.shared("enum_type"))
        self.jump_if("e", "digits")
        self.jump("slow")

        self.label("typed")
        self.if_bit(RCX, ENUM, "digits")
        self.word("mov", RDX, RSI)
        self.word("add", RDX, self.shared("bytes_at"))
        self.if_bit(RCX, BYTES, "store")
        self.word("mov", RAX, RCX)
        self.number("and", RAX, SLOT)
        self.jump_if("e", "stored")
        self.load(R11, inside)
        self.load(RSI, At(RSI, 0, R11))
        self.test(RSI, RSI)
        self.jump_if("e", "slow")
        self.load(R11, At(RSI, 8))
        self.word("cmp", R11, limit)
        self.jump_if("ne", "slow")
        self.label("stored")
        self.load(R11, self.shared("storage_at"))
        self.load(RSI, At(RSI, 0, R11))
        self.word("mov", RDX, RSI)
        self.if_bit(RCX, PLACE, "store")
        self.if_bit(RCX, VALUE, "by value")
        self.fetch(RDX, At(RSI), 4)
        self.if_bit(RCX, NARROW, "store")
        self.load(RDX, At(RSI))
        self.jump("store")

        self.label("int")
        self.if_bit(RCX, INTEGER, "digits")
        self.jump("other")
        self.label("digits")
        self.load(R11, self.shared("tag_at"))
        self.load(RAX, At(RSI, 0, R11))
        self.load(R11, self.shared("digits_at"))
        self.fetch(RDX, At(RSI, 0, R11), 4)
        self.word("cmp", RAX, self.shared("one_digit"))
        self.jump_if("e", "limit")
        self.word("cmp", RAX, self.shared("two_digits"))
        self.jump_if("ne", "no_digits")
        self.fetch(RAX, At(RSI, 4, R11), 4)
        self.shift_word("shl", RAX, 30)
        self.word("or", RDX, RAX)
        self.jump("limit")
        self.label("no_digits")
        self.set(RDX, 0)
        self.word("cmp", RAX, self.shared("no_digits"))
        self.jump_if("ne", "slow")
        self.label("limit")
        self.word("cmp", RDX, limit)
        self.jump_if("a", "slow")

        self.label("store")
        self.load(R11, slot)
        self.keep(At(RSP, VALUES, R11), RDX)
        self.label("stored it")
        self.word("add", R9, At(R8, 8 * ARGUMENT.index("step")))
        self.number("add", R8, 8 * len(ARGUMENT))
        self.number("sub", R10, 1)
        self.jump_if("ne", "argument")
        self.jump("measure")

    def array(self) -> None:
        """RSI: a list or tuple, RDI: its type. RDX: where the numbers and handles in it are for C, or 0.

        R11: where the next one goes, RAX: how many are left, RSI where they are; RDI: one of them.
        """
        limit, element, width = (At(R8, 8 * ARGUMENT.index(name)) for name in ("limit", "inside", "width"))
        self.label("array")
        self.load(RAX, At(RSI, 16))
        self.word("cmp", RDI, self.shared("tuple"))
        self.jump_if("e", "tuple")
        self.word("cmp", RDI, self.shared("list"))
        self.jump_if("ne", "slow")
        self.load(RSI, At(RSI, 24))
        self.jump("items")
        self.label("tuple")
        self.word("add", RSI, self.shared("items_at"))
        self.label("items")
        self.set(RDX, 0)
        self.test(RAX, RAX)
        self.jump_if("e", "store")
        self.number("cmp", RAX, MOST_ITEMS)
        self.jump_if("a", "slow")
        self.load(R11, ITEMS_END)
        self.lea(RDX, At(R11, 0, RAX, 8))
        self.lea(RDI, At(RSP, ITEMS + 8 * MOST_ITEMS))
        self.word("cmp", RDX, RDI)
        self.jump_if("a", "slow")
        self.keep(ITEMS_END, RDX)
        self.push(R11)
        self.push(R10)  # neither of which calls that are left to Python need
        self.label("element")
        self.load(RDI, At(RSI))
        self.load(R10, At(RDI, 8))
        self.word("cmp", R10, self.shared("int"))
        self.jump_if("e", "number")
        self.word("cmp", R10, element)
        self.jump_if("e", "handle")
        self.load(R10, At(R10, 8))
        self.word("cmp", R10, self.shared("enum_type"))
        self.jump_if("ne", "no element")
        self.label("number")
        self.load(R10, self.shared("tag_at"))
        self.load(RCX, At(RDI, 0, R10))
        self.word("add", RDI, self.shared("digits_at"))
        self.fetch(RDX, At(RDI), 4)
        self.word("cmp", RCX, self.shared("one_digit"))
        self.jump_if("e", "in limit")
        self.word("cmp", RCX, self.shared("two_digits"))
        self.jump_if("ne", "zero")
        self.fetch(R10, At(RDI, 4), 4)
        self.shift_word("shl", R10, 30)
        self.word("or", RDX, R10)
        self.jump("in limit")
        self.label("zero")
        self.set(RDX, 0)
        self.word("cmp", RCX, self.shared("no_digits"))
        self.jump_if("ne", "no element")
        self.label("in limit")
        self.word("cmp", RDX, limit)
        self.jump_if("a", "no element")
        self.jump("put")
        self.label("handle")
        self.load(R10, self.shared("storage_at"))
        self.load(RDI, At(RDI, 0, R10))
        self.load(RCX, width)
        self.fetch(RDX, At(RDI), 4)
        self.number("cmp", RCX, 4)
        self.jump_if("e", "put")
        self.load(RDX, At(RDI))
        self.label("put")
        self.keep(At(R11), RDX)  # of which the next one replaces the half that is too much
        self.word("add", R11, width)
        self.number("add", RSI, 8)
        self.number("sub", RAX, 1)
        self.jump_if("ne", "element")
        self.pop(R10)
        self.pop(RDX)
        self.jump("store")
        self.label("no element")
        self.number("add", RSP, self.pushed(2))
        self.jump("slow")

    def by_value(self) -> None:
        """RSI: a struct, which C finds in as many words as it has."""
        self.label("by value")
        self.load(RDI, At(R8, 8 * ARGUMENT.index("slot")))
        self.lea(RDI, At(RSP, VALUES, RDI))
        self.load(RDX, At(R8, 8 * ARGUMENT.index("width")))
        self.label("part")
        self.number("sub", RDX, 4)
        self.fetch(RAX, At(RSI, 0, RDX), 4)
        self.keep(At(RDI, 0, RDX), RAX, 4)
        self.test(RDX, RDX)
        self.jump_if("ne", "part")
        self.jump("stored it")

    def measure(self) -> None:
        """Bytes and arrays have as many as the call reads, which is known once all arguments are."""
        self.label("measure")
        self.load(RAX, self.of_function("sized"))
        self.test(RAX, RAX)
        self.jump_if("e", "ask")
        self.load(R8, self.of_function("arguments"))
        self.word("mov", R9, R13)
        self.load(R10, self.of_function("parts"))
        kind, cls, size, less = (
            At(R8, 8 * ARGUMENT.index(name)) for name in ("kind", "class", "size", "less")
        )
        self.label("measured")
        self.load(RSI, At(R9))
        self.load(RDI, At(RSI, 8))
        self.load(RCX, size)
        self.test(RCX, RCX)
        self.jump_if("e", "long enough")
        self.load(RDX, At(RSP, VALUES - 8, RCX))
        self.word("sub", RDX, less)
        self.jump_if("b", "long enough")
        self.load(RCX, kind)
        self.word("cmp", RDI, cls)
        self.jump_if("e", "measure it")
        self.word("cmp", RSI, self.shared("none"))
        self.jump_if("e", "long enough")
        self.if_bit(RCX, ARRAY, "measure it")
        self.jump("long enough")
        self.label("measure it")
        self.word("cmp", RDX, At(RSI, 16))
        self.jump_if("a", "slow")
        self.label("long enough")
        self.word("add", R9, At(R8, 8 * ARGUMENT.index("step")))
        self.number("add", R8, 8 * len(ARGUMENT))
        self.number("sub", R10, 1)
        self.jump_if("ne", "measured")

    def ask(self) -> None:
        """What a C function fills a word with is as expected."""
        self.label("ask")
        self.load(RAX, self.of_function("asked"))
        self.test(RAX, RAX)
        self.jump_if("e", "release")
        self.set(RCX, 0)
        self.keep(HANDLE, RCX)
        self.lea(RDI, HANDLE)
        self.call_at(RAX)
        self.test(RAX, RAX, wide=False)
        self.jump_if("ne", "not told")
        self.load(RCX, self.of_function("expected"))
        self.load(RCX, At(RSP, VALUES, RCX))
        self.word("cmp", RCX, HANDLE)
        self.jump_if("ne", "slow")

    def release(self) -> None:
        """The first argument, an owner, owns nothing any more, if it is in the state that is required.

        R12: the owner, R14: its state.
        """
        self.label("release")
        self.load(R8, self.of_function("required"))
        self.test(R8, R8)
        self.jump_if("e", "copy")
        self.load(RSI, At(R13))
        self.label("required")
        self.load(RCX, At(R8))
        self.test(RCX, RCX)
        self.jump_if("e", "as required")
        self.load(RAX, At(RSI, 0, RCX))
        self.word("cmp", RAX, At(R8, 8))
        self.jump_if("ne", "not as required")
        self.number("add", R8, 16)
        self.jump("required")
        self.label("not as required")
        self.word("cmp", RAX, self.of_function("state"))  # it was released before,
        self.jump_if("ne", "slow")
        self.load(RCX, self.of_function("gone_at"))
        self.test(RCX, RCX)  # and there is nothing else to do
        self.jump_if("e", "none")
        self.jump("slow")
        self.label("as required")
        self.load(RAX, self.of_function("arguments"))
        self.load(RAX, At(RAX, 8 * ARGUMENT.index("slot")))
        self.load(RAX, At(RSP, VALUES, RAX))
        self.test(RAX, RAX)  # what it owns
        self.jump_if("e", "slow")
        self.word("mov", R12, RSI)
        self.load(RCX, self.of_function("state_at"))
        self.load(R14, At(R12, 0, RCX))
        self.load(RDI, self.of_function("state"))
        self.keep(At(R12, 0, RCX), RDI)
        self.call_context("incref")
        self.word("mov", RDI, R14)
        self.call_context("decref")
        self.set(R15, 0)  # where there is no state of a thread to restore
        self.load(RCX, self.of_function("gone_at"))
        self.test(RCX, RCX)
        self.jump_if("e", "cells")
        self.load(RDI, At(R12, 0, RCX))
        self.keep(At(R12, 0, RCX), R15)
        self.test(RDI, RDI)
        self.jump_if("e", "cells")
        self.call_context("decref")
        self.jump("cells")

    def copy(self) -> None:
        """The owner of what C is to make: a copy of an object, with a handle that C fills.

        R12: the copy, R14 what is copied, R15 how much of it is left, or an argument.
        """
        self.label("copy")
        self.load(RAX, self.of_function("copied"))
        self.test(RAX, RAX)
        self.jump_if("e", "cells")
        self.load(R14, self.of_function("outputs"))
        self.call("new handle")
        self.keep(HANDLE, RAX)
        self.word("mov", R12, RAX)
        self.test(RAX, RAX)
        self.jump_if("e", "no copy")
        self.load(R14, self.of_function("copied"))
        self.load(R15, self.of_function("copy_size"))
        self.call("copy object")
        self.test(RAX, RAX)
        self.jump_if("e", "no copy")
        self.word("mov", R12, RAX)
        self.keep(COPY, RAX)
        self.load(RDI, HANDLE)
        self.load(RCX, self.of_function("handle_at"))
        self.keep(At(R12, 0, RCX), RDI)
        self.load(RCX, self.of_function("also_at"))
        self.test(RCX, RCX)
        self.jump_if("e", "one handle")
        self.keep(At(R12, 0, RCX), RDI)
        self.call_context("incref")
        self.label("one handle")
        self.load(R14, self.of_function("wrapper"))
        self.test(R14, R14)
        self.jump_if("e", "not wrapped")
        self.load(R15, self.of_function("wrapper_size"))
        self.call("copy object")
        self.test(RAX, RAX)
        self.jump_if("e", "no copy")
        self.load(RCX, self.of_function("owner_at"))
        self.keep(At(RAX, 0, RCX), R12)
        self.word("mov", R12, RAX)
        self.keep(COPY, RAX)
        self.load(RDI, HANDLE)
        self.load(RCX, self.of_function("same_at"))
        self.keep(At(R12, 0, RCX), RDI)
        self.call_context("incref")
        self.label("not wrapped")
        self.load(R14, self.of_function("arguments"))
        self.word("mov", R15, R13)
        self.load(RAX, self.of_function("parts"))
        self.label("place")
        self.keep(LEFT, RAX)
        self.test(RAX, RAX)
        self.jump_if("e", "placed")
        self.load(RCX, At(R14, 8 * ARGUMENT.index("place")))
        self.test(RCX, RCX)
        self.jump_if("e", "no place")
        self.load(RDI, At(R15))
        self.load(RAX, At(R14, 8 * ARGUMENT.index("inside")))
        self.test(RAX, RAX)
        self.jump_if("e", "itself")
        self.load(RDI, At(RDI, 0, RAX))
        self.label("itself")
        self.keep(At(R12, 0, RCX), RDI)
        self.call_context("incref")
        self.label("no place")
        self.word("add", R15, At(R14, 8 * ARGUMENT.index("step")))
        self.number("add", R14, 8 * len(ARGUMENT))
        self.load(RAX, LEFT)
        self.number("sub", RAX, 1)
        self.jump("place")
        self.label("placed")
        self.load(RDI, HANDLE)
        self.load(R11, self.shared("storage_at"))
        self.load(R8, At(RDI, 0, R11))
        self.load(RAX, self.of_function("outputs"))
        self.load(R11, At(RAX))
        self.keep(At(RSP, VALUES, R11), R8)
        self.set(R15, 0)  # where there is no state of a thread to restore
        self.jump("unlock")
        self.label("copy object")  # a subroutine; R14: a template, R15: its size. RAX: the copy, or 0
        self.push(R12)
        self.load(RDI, At(R14, 8))
        self.set(RSI, 0)
        self.call_context("allocate")
        self.word("mov", R12, RAX)
        self.test(RAX, RAX)
        self.jump_if("e", "object copied")
        self.label("slot")
        self.number("sub", R15, 8)
        self.load(RDI, At(R14, 0, R15))
        self.keep(At(R12, 0, R15), RDI)
        self.test(RDI, RDI)
        self.jump_if("e", "empty")
        self.call_context("incref")
        self.label("empty")
        self.number("cmp", R15, 16)
        self.jump_if("ne", "slot")
        self.word("mov", RAX, R12)
        self.label("object copied")
        self.pop(R12)
        self.ret()
        self.label("no copy")
        self.word("mov", R13, R12)
        self.jump("broken")

    def cells(self) -> None:
        """Where C writes, with zeros, and their addresses."""
        self.label("cells")
        self.load(R8, self.of_function("results"))
        self.load(R9, self.of_function("outputs"))
        self.lea(RCX, At(RSP, CELLS))
        self.set(RAX, 0)
        for i in range(MOST_RESULTS):
            self.keep(At(RCX, 16 * i), RAX)
        self.label("cell")
        self.test(R8, R8)
        self.jump_if("e", "unlock")
        self.load(RDX, At(R9, 8))
        self.number("cmp", RDX, OBJECTS)
        self.jump_if("ae", "object")
        self.keep(At(RCX, 8), RAX)
        self.load(R11, At(R9))
        self.keep(At(RSP, VALUES, R11), RCX)
        self.label("next cell")
        self.number("add", RCX, 16)
        self.number("add", R9, 8 * len(RESULT))
        self.number("sub", R8, 1)
        self.jump("cell")

    def objects(self) -> None:
        """A result that is an object into which C writes: in its cell, RCX. R9: its RESULT, RDX: its kind."""
        saved = (R8, TEMPORARY), (R9, ALONE), (RCX, LEFT)
        value, template = (At(R9, 8 * i) for i in (2, 3))
        self.label("object")
        for register, place in saved:
            self.keep(place, register)
        self.number("cmp", RDX, RESULTS.index("chars"))
        self.jump_if("e", "chars")
        self.load(RDI, value)
        self.load(RAX, template)
        self.number("cmp", RDX, RESULTS.index("spare struct"))
        self.jump_if("e", "spare")
        self.load(RSI, self.shared("empty"))
        self.set(RDX, 0)
        self.call_at(RAX)  # tp_new
        self.jump("made object")
        self.label("spare")  # the last one of a list
        self.load(RDX, At(RAX, 16))
        self.set(RCX, 0)
        self.test(RDX, RDX)
        self.jump_if("e", "make spare")
        self.number("sub", RDX, 1)
        self.keep(At(RAX, 16), RDX)
        self.load(RAX, At(RAX, 24))
        self.load(RAX, At(RAX, 0, RDX, 8))
        self.jump("made object")
        self.label("make spare")
        self.set(RSI, 0)
        self.call_context("call")
        self.label("made object")
        self.load(R11, self.shared("storage_at"))
        self.word("add", R11, RAX)
        self.test(RAX, RAX)
        self.jump_if("e", "not made")
        self.load(R11, At(R11))
        self.label("has object")
        for register, place in saved:
            self.load(register, place)
        self.keep(At(RCX), RAX)
        self.load(RDX, At(R9))
        self.keep(At(RSP, VALUES, RDX), R11)
        self.set(RAX, 0)
        self.jump("next cell")
        self.label("chars")  # the only result
        self.load(RSI, template)
        self.load(RSI, At(RSP, VALUES, RSI))
        self.lea(RAX, At(RSI, -1))
        self.number("cmp", RAX, MOST_CHARS)
        self.jump_if("ae", "slow")
        self.set(RDI, 0)
        self.call_context("from_size")
        self.test(RAX, RAX)
        self.jump_if("e", "not made")
        self.word("mov", RDX, RAX)
        self.load(RCX, At(RAX, 16))
        self.word("add", RAX, self.shared("bytes_at"))
        self.word("mov", R11, RAX)
        self.word("mov", RDI, RAX)
        self.set(RAX, 0)
        self.fill()
        self.word("mov", RAX, RDX)
        self.jump("has object")
        self.label("not made")
        self.set(R13, 0)
        self.jump("broken")

    def drop_objects(self) -> None:
        """A subroutine: the results that were made before C was called are no more."""
        self.label("drop objects")
        self.push(R12)
        self.push(R15)
        self.number("sub", RSP, self.pushed(1))
        self.load(R12, self.of_function("outputs"))
        self.lea(R15, At(RSP, CELLS + self.pushed(4)))
        self.load(RAX, self.of_function("results"))
        self.keep(At(RSP), RAX)
        self.label("drop one")
        self.load(RAX, At(RSP))
        self.test(RAX, RAX)
        self.jump_if("e", "dropped")
        self.number("sub", RAX, 1)
        self.keep(At(RSP), RAX)
        self.load(RCX, At(R12, 8))
        self.number("cmp", RCX, OBJECTS)
        self.jump_if("b", "no object")
        self.load(RDI, At(R15))
        self.set(RAX, 0)
        self.keep(At(R15), RAX)
        self.call_context("decref")
        self.label("no object")
        self.number("add", R12, 8 * len(RESULT))
        self.number("add", R15, 16)
        self.jump("drop one")
        self.label("dropped")
        self.number("add", RSP, self.pushed(1))
        self.pop(R15)
        self.pop(R12)
        self.ret()

    def call_c(self) -> None:
        """R14: the status."""
        self.label("unlock")
        self.load(RAX, self.of_function("locked"))
        self.test(RAX, RAX)
        self.jump_if("ne", "unlocked")
        self.call_context("save_thread")
        self.word("mov", R15, RAX)
        self.label("unlocked")
        self.load(R8, self.of_function("on_stack"))
        self.set(R9, 0)
        self.label("push")
        self.word("cmp", R9, R8)
        self.jump_if("e", "pushed")
        self.load(RAX, At(RSP, VALUES + 8 * len(self.in_registers), R9, 8))
        self.keep(At(RSP, 0, R9, 8), RAX)
        self.number("add", R9, 1)
        self.jump("push")
        self.label("pushed")
        for i, register in enumerate(self.in_registers):
            self.load(register, At(RSP, VALUES + 8 * i))
        self.set(RAX, 0)
        self.call_at(self.of_function("c"))
        self.widen(R14, RAX)
        self.test(R14, R14)
        self.jump_if("ne", "called")
        self.load(RAX, self.of_function("second"))
        self.test(RAX, RAX)
        self.jump_if("e", "called")
        for i, register in enumerate(self.in_registers):
            self.load(register, At(RSP, VALUES + 8 * i))
        self.call_at(RAX)
        self.widen(R14, RAX)
        self.label("called")
        self.word("mov", RDI, R15)
        self.test(RDI, RDI)
        self.jump_if("e", "locked")
        self.call_context("restore_thread")
        self.label("locked")
        self.test(R14, R14)
        self.jump_if("ne", "failed")

    def results(self) -> None:
        """R13: the tuple, or 0; R12 where the next result goes, R14 what is known of it, R15 its cell."""
        self.load(RDI, self.of_function("only"))
        self.test(RDI, RDI)
        self.jump_if("e", "made of results")
        self.word("mov", R13, RDI)
        self.call_context("incref")
        self.jump("end")
        self.label("made of results")
        self.load(RAX, self.of_function("copied"))
        self.test(RAX, RAX)
        self.jump_if("ne", "copied")
        self.load(RAX, self.of_function("returned"))
        self.test(RAX, RAX)
        self.jump_if("ne", "returned")
        self.load(RAX, self.of_function("required"))
        self.test(RAX, RAX)
        self.jump_if("ne", "released")
        self.set(R13, 0)
        self.load(R14, self.of_function("outputs"))
        self.lea(R15, At(RSP, CELLS))
        self.load(RAX, self.of_function("results"))
        self.keep(LEFT, RAX)
        self.lea(R12, ALONE)
        self.load(RDI, self.of_function("room"))
        self.test(RDI, RDI)
        self.jump_if("e", "item")
        self.call_context("tuple_new")
        self.word("mov", R13, RAX)
        self.test(R13, R13)
        self.jump_if("e", "end")
        self.word("mov", R12, R13)
        self.word("add", R12, self.shared("items_at"))
        self.load(RDI, self.of_function("first"))
        self.test(RDI, RDI)
        self.jump_if("e", "item")
        self.keep(At(R12), RDI)
        self.number("add", R12, 8)
        self.call_context("incref")
        self.label("item")
        kind, value = (At(R14, 8 * (1 + i)) for i in range(2))
        self.load(RCX, kind)
        for name in RESULTS[:OBJECTS]:
            self.number("cmp", RCX, RESULTS.index(name))
            self.jump_if("e", name)
        self.number("cmp", RCX, len(RESULTS))
        self.jump_if("b", "was made before")
        self.trap()

        self.label("unsigned 4")
        self.fetch(RDI, At(R15), 4)
        self.call_context("from_unsigned")
        self.jump("made")
        self.label("unsigned 8")
        self.load(RDI, At(R15))
        self.call_context("from_unsigned")
        self.jump("made")
        self.label("signed 4")
        self.signed_cell()
        self.call_context("from_signed")
        self.jump("made")
        self.label("signed 8")
        self.load(RDI, At(R15))
        self.call_context("from_signed")
        self.jump("made")

        self.label("float 4")
        self.real(4)
        self.call_context("from_float")
        self.jump("made")
        self.label("float 8")
        self.real(8)
        self.call_context("from_float")
        self.jump("made")

        self.label("text")
        self.load(RDI, At(R15))
        self.test(RDI, RDI)
        self.jump_if("e", "no text")
        self.call_context("from_text")
        self.jump("made")
        self.label("no text")
        self.load(RDI, self.shared("none"))
        self.keep(TEMPORARY, RDI)
        self.call_context("incref")
        self.load(RAX, TEMPORARY)
        self.jump("made")

        self.label("enum")
        self.signed_cell()
        self.call_context("from_signed")
        self.test(RAX, RAX)
        self.jump_if("e", "broken")
        self.keep(TEMPORARY, RAX)
        self.word("mov", RSI, RAX)
        self.load(RDI, value)
        self.call_context("get_item")
        self.load(RDI, TEMPORARY)
        self.keep(TEMPORARY, RAX)
        self.call_context("decref")
        self.load(RAX, TEMPORARY)
        self.jump("made")

        self.label("of thread")  # an item of a table, if this thread has it
        self.fetch(RCX, At(R15), 4)
        self.word("cmp", RCX, At(R14, 8 * RESULT.index("size")))
        self.jump_if("ae", "ask for item")
        self.call_context("thread")
        self.word("mov", RDI, RAX)
        self.call_context("thread_id")
        self.load(RDX, At(R14, 8 * RESULT.index("template")))
        self.word("cmp", RAX, At(RDX))
        self.jump_if("ne", "ask for item")
        self.fetch(RCX, At(R15), 4)
        self.load(RDI, At(RDX, 8, RCX, 8))
        self.test(RDI, RDI)
        self.jump_if("e", "ask for item")
        self.keep(TEMPORARY, RDI)
        self.call_context("incref")
        self.load(RAX, TEMPORARY)
        self.jump("made")
        self.label("ask for item")
        self.signed_cell()
        self.call_context("from_signed")
        self.test(RAX, RAX)
        self.jump_if("e", "broken")
        self.keep(At(R15, 8), RAX)
        self.load(RDI, value)
        self.lea(RSI, At(R15, 8))
        self.set(RDX, 1)
        self.set(RCX, 0)
        self.call_context("call")
        self.load(RDI, At(R15, 8))
        self.keep(TEMPORARY, RAX)
        self.call_context("decref")
        self.load(RAX, TEMPORARY)
        self.jump("made")

        self.label("handle 4")
        self.label("handle 8")
        self.call("new handle")
        self.test(RAX, RAX)
        self.jump_if("e", "broken")
        self.load(RCX, At(R15))
        self.load(RDX, kind)
        self.number("cmp", RDX, RESULTS.index("handle 4"))
        self.jump_if("e", "narrow")
        self.keep(At(R8), RCX)
        self.jump("made")
        self.label("narrow")
        self.keep(At(R8), RCX, 4)
        self.jump("made")

        self.label("was made before")
        self.load(RAX, At(R15))
        self.set(RCX, 0)
        self.keep(At(R15), RCX)

        self.label("made")
        self.test(RAX, RAX)
        self.jump_if("e", "broken")
        self.keep(At(R12), RAX)
        self.number("add", R12, 8)
        self.number("add", R14, 8 * len(RESULT))
        self.number("add", R15, 16)
        self.load(RAX, LEFT)
        self.number("sub", RAX, 1)
        self.keep(LEFT, RAX)
        self.test(RAX, RAX)
        self.jump_if("ne", "item")
        self.test(R13, R13)
        self.jump_if("ne", "end")
        self.load(R13, ALONE)
        self.jump("end")
        self.label("broken")
        self.call("drop objects")
        self.word("mov", RDI, R13)
        self.set(R13, 0)
        self.test(RDI, RDI)
        self.jump_if("e", "end")
        self.call_context("decref")
        self.jump("end")

    def new_handle(self) -> None:
        """A subroutine. R14: a RESULT. RAX: a handle like its template, or 0; R8: where its value is."""
        value, template, size = (At(R14, 8 * (2 + i)) for i in range(3))
        self.label("new handle")
        self.number("sub", RSP, self.pushed(1))
        self.load(RDI, value)
        self.set(RSI, 0)
        self.call_context("allocate")
        self.test(RAX, RAX)
        self.jump_if("e", "no handle")
        self.load(RCX, template)
        self.load(RDX, size)
        self.label("word")  # from its end to the head of an object, which it has
        self.number("sub", RDX, 8)
        self.load(R8, At(RCX, 0, RDX))
        self.keep(At(RAX, 0, RDX), R8)
        self.number("cmp", RDX, 16)
        self.jump_if("ne", "word")
        self.load(RDX, self.shared("storage_at"))
        self.load(R8, At(RAX, 0, RDX))  # of the template, in it
        self.word("sub", R8, RCX)
        self.word("add", R8, RAX)
        self.keep(At(RAX, 0, RDX), R8)
        self.label("no handle")
        self.number("add", RSP, self.pushed(1))
        self.ret()

    def ends(self) -> None:
        self.label("returned")  # 8 for the first argument
        self.load(R13, At(R13, -8, RAX))
        self.word("mov", RDI, R13)
        self.call_context("incref")
        self.jump("end")

        self.label("released")  # its handle is 0
        self.load(RAX, At(R13))
        self.load(R8, self.of_function("arguments"))
        self.load(RCX, At(R8, 8 * ARGUMENT.index("inside")))
        self.load(RAX, At(RAX, 0, RCX))
        self.load(R11, self.shared("storage_at"))
        self.load(RAX, At(RAX, 0, R11))
        self.set(RCX, 0)
        self.keep(At(RAX), RCX)
        self.label("none")
        self.load(R13, self.shared("none"))
        self.word("mov", RDI, R13)
        self.call_context("incref")
        self.jump("end")

        self.label("copied")
        self.load(R13, COPY)
        self.load(R11, self.shared("storage_at"))
        self.load(RDI, HANDLE)
        self.load(RDI, At(RDI, 0, R11))
        self.load(RDI, At(RDI))
        self.load(R12, self.of_function("number_at"))
        self.test(R12, R12)
        self.jump_if("e", "end")
        self.call_context("from_unsigned")
        self.test(RAX, RAX)
        self.jump_if("e", "broken")
        self.keep(At(R13, 0, R12), RAX)

        self.label("end")
        self.word("mov", RAX, R13)
        self.leave()
        self.ret()

        self.label("failed")  # failed(status, *arguments)
        self.load(RAX, self.of_function("copied"))
        self.test(RAX, RAX)
        self.jump_if("e", "nothing made")
        self.load(RAX, HANDLE)
        self.load(R11, self.shared("storage_at"))
        self.load(RAX, At(RAX, 0, R11))
        self.set(RCX, 0)
        self.keep(At(RAX), RCX)  # which C may have written all the same
        self.load(RDI, COPY)
        self.call_context("decref")
        self.label("nothing made")
        self.call("drop objects")
        self.jump("tell")
        self.label("not told")
        self.widen(R14, RAX)
        self.negate(R14)
        self.label("tell")
        self.word("mov", RDI, R14)
        self.call_context("from_signed")
        self.word("mov", R14, R13)
        self.set(R13, 0)
        self.test(RAX, RAX)
        self.jump_if("e", "end")
        self.keep(At(RSP, VALUES), RAX)
        self.load(RDX, self.of_function("inputs"))
        self.set(R8, 0)
        self.label("pass")
        self.word("cmp", R8, RDX)
        self.jump_if("e", "passed")
        self.load(RCX, At(R14, 0, R8, 8))
        self.keep(At(RSP, VALUES + 8, R8, 8), RCX)
        self.number("add", R8, 1)
        self.jump("pass")
        self.label("passed")
        self.load(RDI, self.of_function("failed"))
        self.lea(RSI, At(RSP, VALUES))
        self.number("add", RDX, 1)
        self.set(RCX, 0)
        self.call_context("call")
        self.word("mov", R13, RAX)
        self.load(RDI, At(RSP, VALUES))
        self.call_context("decref")
        self.jump("end")

        self.to_python()


def text() -> str:
    code = Routine().write()
    assert len(code) <= PAGE
    lines = textwrap.wrap(code.hex(), 100)
    return (
        '"""The machine code of the fast lane, for x86-64, which `python -m tests.lane_code` writes."""\n\n'
        "# What it does is in the source of that module; `lanes` says how it is used.\n"
        "ROUTINE = bytes.fromhex(\n" + "".join(f'    "{line}"\n' for line in lines) + ")\n"
    )


if __name__ == "__main__":
    WHERE.write_text(text())
    sys.stdout.write(f"{WHERE}: {len(Routine().write())} bytes\n")
