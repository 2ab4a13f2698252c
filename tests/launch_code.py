"""Assembles the machine code of core's launches.

`python -m tests.launch_code` writes `cudapy/_core/kernels/launch_code.py`; `launch_lane.py` beside it says
what is in the tables that it reads.

Registers, until C is called: RBP the words that all launches share, RBX those of the kernel, R12 the function
object, R13 its arguments, R14 their count and flags, R15 the keywords.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cudapy._core.kernels.launch_lane import (
    ADDRESS,
    ARGUMENT,
    DIGITS_AT,
    INLINE,
    INT_TO_DOUBLE,
    INT_TO_SINGLE,
    INTEGER,
    KERNEL,
    MOST_ARGUMENTS,
    MOST_BYTES,
    NULL,
    PREPARED,
    SHARED,
    SINGLE,
    STORED,
    TABLE_IN_PARAMETERS,
    TAG_AT,
)
from cudapy._ffi.lane_layout import PAGE
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

from .lane_routine import LaneRoutine, as_source

WHERE = Path(__file__).parents[1] / "cudapy" / "_core" / "kernels" / "launch_code.py"
CONFIG = 0  # a CUlaunchConfig of 56 bytes: the shape, the stream, and the attributes with their count
STREAM, ATTRIBUTES = CONFIG + 32, CONFIG + 40
PARAMETERS, STATE, REASONS = 0, 72, 80  # of a prepared launch: its node's, the thread's state, for captures
CURRENT, CAPTURING = 88, 96  # what C answers
TABLE = 104
VALUES = TABLE + 8 * MOST_ARGUMENTS
ROOM = (VALUES + MOST_BYTES + 8) // 16 * 16 + 8  # with six registers and the return address: 16 bytes
STREAM_ARGUMENT, CONFIG_ARGUMENT, KERNEL_ARGUMENT, OTHERS = 0, 8, 16, 24


class Routine(LaneRoutine):
    """The routine of `launch`, whose parts follow one another."""

    room = ROOM
    words: tuple[str, ...] = KERNEL
    others = OTHERS
    """The words before those of the arguments, and where these are among all arguments."""

    def shared(self, name: str) -> At:
        return At(RBP, 8 * SHARED.index(name))

    def of_kernel(self, name: str) -> At:
        return At(RBX, 8 * KERNEL.index(name))

    def of_argument(self, name: str) -> At:
        return At(R8, 8 * ARGUMENT.index(name))

    def check_type(self, obj: int, cls: At) -> None:
        """RDI is lost."""
        self.load(RDI, At(obj, 8))
        self.word("cmp", RDI, cls)
        self.jump_if("ne", "slow")

    def slot(self, obj: int, name: str) -> None:
        """RSI: the object in a slot of an object; RDI is lost."""
        self.load(RDI, self.shared(name))
        self.load(RSI, At(obj, 0, RDI))
        self.test(RSI, RSI)
        self.jump_if("e", "slow")

    def write(self) -> bytes:
        self.enter()
        self.kernel()
        self.stream()
        self.config()
        self.arguments()
        self.kinds()
        self.call_c()
        self.ends()
        return self.finish()

    def enter(self) -> None:
        """R10: how many arguments there are."""
        super().enter()
        self.word("mov", R10, R14)
        self.shift_word("shl", R10, 1)
        self.shift_word("shr", R10, 1)

    def find_words(self) -> None:
        self.word("mov", RBP, RAX)

    def code_word(self) -> At:
        return self.shared("code")

    def kernel(self) -> None:
        """R10: how many arguments follow the three."""
        self.number("sub", R10, 3)
        self.jump_if("b", "slow")
        self.load(R9, At(R13, KERNEL_ARGUMENT))
        self.check_type(R9, self.shared("kernel"))
        self.slot(R9, "kept_at")
        self.load(RDI, self.shared("items_at"))
        self.load(RBX, At(RSI, 0, RDI))
        self.word("add", RBX, self.shared("bytes_at"))
        self.word("cmp", R10, self.of_kernel("count"))
        self.jump_if("ne", "slow")

    def stream(self) -> None:
        self.load(R9, At(R13, STREAM_ARGUMENT))
        self.check_type(R9, self.shared("stream"))
        self.slot(R9, "handle_at")
        self.check_type(RSI, self.shared("handle"))
        self.load(RDI, self.shared("storage_at"))
        self.load(RSI, At(RSI, 0, RDI))
        self.load(RDX, At(RSI))
        self.keep(At(RSP, STREAM), RDX)

    def config(self) -> None:
        self.load(R9, At(R13, CONFIG_ARGUMENT))
        self.check_type(R9, self.shared("config"))
        self.slot(R9, "shape_at")
        self.word("add", RSI, self.shared("bytes_at"))
        for i in range(0, 32, 8):
            self.load(RDX, At(RSI, i))
            self.keep(At(RSP, CONFIG + i), RDX)
        self.slot(R9, "more_at")
        self.word("add", RSI, self.shared("bytes_at"))
        self.load(RDX, At(RSI))
        self.keep(At(RSP, ATTRIBUTES), RDX)
        self.fetch(RDX, At(RSI, 8), 4)
        self.keep(At(RSP, ATTRIBUTES + 8), RDX)

    def arguments(self) -> None:
        """R10: how many are left, R9 where the next one is, R8 its ARGUMENT, R11 where its pointer goes.

        Each kind begins with RSI the object, RCX the kind, RAX where in the object the value is.
        """
        self.lea(R8, At(RBX, 8 * len(self.words)))
        self.lea(R9, At(R13, self.others))
        self.lea(R11, At(RSP, TABLE))
        self.test(R10, R10)
        self.jump_if("e", "unlock")
        self.label("argument")
        self.load(RSI, At(R9))
        self.check_type(RSI, self.of_argument("class"))
        self.load(RDI, self.of_argument("offset"))
        self.lea(RDI, At(RSP, VALUES, RDI))
        self.keep(At(R11), RDI)
        self.load(RCX, self.of_argument("kind"))
        self.load(RAX, self.of_argument("at"))
        for kind, name in (
            (ADDRESS, "address"), (INT_TO_DOUBLE, "integer"), (INLINE, "inline"), (SINGLE, "single"),
            (STORED, "stored"),
        ):  # fmt: skip
            self.number("cmp", RCX, kind)
            self.jump_if("be" if name == "integer" else "e", name)
        self.zero(RDX)
        assert NULL > STORED

        self.label("store")
        self.load(RDI, At(R11))
        self.keep(At(RDI), RDX)
        self.label("next")
        self.number("add", R8, 8 * len(ARGUMENT))
        self.number("add", R9, 8)
        self.number("add", R11, 8)
        self.number("sub", R10, 1)
        self.jump_if("ne", "argument")
        self.jump("unlock")

    def kinds(self) -> None:
        assert ADDRESS < INTEGER < INT_TO_SINGLE < INT_TO_DOUBLE < INLINE
        self.label("address")
        self.load(RSI, At(RSI, 0, RAX))
        self.test(RSI, RSI)
        self.jump_if("e", "slow")
        self.check_type(RSI, self.shared("int"))
        self.label("integer")
        self.load(RAX, At(RSI, TAG_AT))
        self.word("or", RAX, self.shared("small"))
        self.fetch(RDX, At(RSI, DIGITS_AT), 4)
        self.word("cmp", RAX, self.shared("two_digits"))
        self.jump_if("e", "two digits")
        self.word("cmp", RAX, self.shared("one_digit"))
        self.jump_if("e", "limit")
        self.word("cmp", RAX, self.shared("minus_one_digit"))
        self.jump_if("e", "negative")
        self.word("cmp", RAX, self.shared("minus_two_digits"))
        self.jump_if("e", "two digits")
        self.zero(RDX)
        self.word("cmp", RAX, self.shared("no_digits"))
        self.jump_if("ne", "slow")
        self.jump("limit")
        self.label("two digits")
        self.fetch(RDI, At(RSI, DIGITS_AT + 4), 4)
        self.shift_word("shl", RDI, 30)
        self.word("or", RDX, RDI)
        self.word("cmp", RAX, self.shared("minus_two_digits"))
        self.jump_if("e", "negative")
        self.label("limit")
        self.word("cmp", RDX, self.of_argument("limit"))
        self.jump_if("a", "slow")
        self.label("number")
        self.number("cmp", RCX, INTEGER)
        self.jump_if("be", "store")
        self.code += b"\xf2\x48\x0f\x2a\xc2"  # cvtsi2sd XMM0, RDX
        self.number("cmp", RCX, INT_TO_SINGLE)
        self.jump_if("e", "narrow")
        self.code += b"\x66\x48\x0f\x7e\xc2"  # movq RDX, XMM0
        self.jump("store")
        self.label("negative")
        self.word("cmp", RDX, self.of_argument("least"))
        self.jump_if("a", "slow")
        self.code += b"\x48\xf7\xda"  # neg RDX
        self.jump("number")

        self.label("single")
        self.code += b"\xf2\x0f\x10\x04\x06"  # movsd XMM0, [RSI + RAX]
        self.label("narrow")
        self.code += b"\xf2\x0f\x5a\xc0"  # cvtsd2ss XMM0, XMM0
        self.code += b"\x66\x0f\x7e\xc2"  # movd EDX, XMM0
        self.word("mov", RAX, RDX)
        self.number("and", RAX, 0x7FFFFFFF)
        self.number("cmp", RAX, 0x7F800000)
        self.jump_if("ae", "slow")  # infinite, of a number that is too large, or not a number
        self.jump("store")

        self.label("inline")
        self.word("add", RSI, RAX)
        self.load(RDX, At(RSI))
        self.load(RCX, self.of_argument("limit"))
        self.number("cmp", RCX, 8)
        self.jump_if("be", "store")
        self.jump("copy")

        self.label("stored")
        self.load(RDI, self.shared("storage_at"))
        self.load(RSI, At(RSI, 0, RDI))
        self.load(RCX, self.of_argument("limit"))
        self.label("copy")
        self.load(RDI, At(R11))
        self.label("copy 8")
        self.number("cmp", RCX, 8)
        self.jump_if("b", "copy 4")
        self.load(RDX, At(RSI))
        self.keep(At(RDI), RDX)
        for register in (RSI, RDI):
            self.number("add", register, 8)
        self.number("sub", RCX, 8)
        self.jump_if("ne", "copy 8")
        self.jump("next")
        self.label("copy 4")
        self.number("cmp", RCX, 4)
        self.jump_if("b", "copy 1")
        self.fetch(RDX, At(RSI), 4)
        self.keep(At(RDI), RDX, 4)
        for register in (RSI, RDI):
            self.number("add", register, 4)
        self.number("sub", RCX, 4)
        self.label("copy 1")
        self.test(RCX, RCX)
        self.jump_if("e", "next")
        self.fetch(RDX, At(RSI), 1)
        self.keep(At(RDI), RDX, 1)
        for register in (RSI, RDI):
            self.number("add", register, 1)
        self.number("sub", RCX, 1)
        self.jump("copy 1")

    def call_c(self) -> None:
        """R14: the status. The kernel may keep something else as soon as the GIL is given up."""
        self.label("unlock")
        self.zero(R15)
        self.load(R12, self.of_kernel("c"))
        self.load(R14, self.of_kernel("function"))
        self.load(R8, self.of_kernel("locked"))
        self.load(R10, self.of_kernel("count"))
        self.test(R10, R10)
        self.set(RBX, 0)  # which leaves the flags
        self.jump_if("e", "table")
        self.lea(RBX, At(RSP, TABLE))
        self.label("table")
        self.test(R8, R8)
        self.jump_if("ne", "call")
        self.call_at(self.shared("save_thread"))
        self.word("mov", R15, RAX)
        self.label("call")
        self.lea(RDI, At(RSP, CONFIG))
        self.word("mov", RSI, R14)
        self.word("mov", RDX, RBX)
        self.zero(RCX)
        self.zero(RAX)
        self.word("mov", R10, R12)
        self.code += b"\x41\xff\xd2"  # call R10
        self.code += b"\x4c\x63\xf0"  # movsxd R14, EAX
        self.word("mov", RDI, R15)
        self.test(RDI, RDI)
        self.jump_if("e", "locked")
        self.call_at(self.shared("restore_thread"))
        self.label("locked")
        self.test(R14, R14)
        self.jump_if("ne", "failed")

    def ends(self) -> None:
        self.success()
        self.failure()
        self.to_python()

    def success(self) -> None:
        self.load(R13, self.shared("none"))
        self.word("mov", RDI, R13)
        self.call_at(self.shared("incref"))
        self.label("end")
        self.word("mov", RAX, R13)
        self.leave()
        self.ret()

    def failure(self) -> None:
        self.label("failed")  # failed(status, kernel, config, stream)
        self.word("mov", RDI, R14)
        self.call_at(self.shared("from_signed"))
        self.test(RAX, RAX)
        self.word("mov", R12, R13)
        self.set(R13, 0)
        self.jump_if("e", "end")
        self.word("mov", R14, RAX)
        given = KERNEL_ARGUMENT, CONFIG_ARGUMENT, STREAM_ARGUMENT
        self.keep(At(RSP, TABLE), RAX)
        for i, argument in enumerate(given, 1):
            self.load(RCX, At(R12, argument))
            self.keep(At(RSP, TABLE + 8 * i), RCX)
        self.load(RDI, self.shared("failed"))
        self.lea(RSI, At(RSP, TABLE))
        self.set(RDX, 1 + len(given))
        self.zero(RCX)
        self.call_at(self.shared("call"))
        self.word("mov", R13, RAX)
        self.word("mov", RDI, R14)
        self.call_at(self.shared("decref"))
        self.jump("end")


class Prepared(Routine):
    """The routine of prepared launches. RBX: the words of one of them.

    The driver copies the values as it sets them, so that they may lie on the stack. The graph is in use until
    it was launched: other threads make one of their own, in Python.
    """

    words, others = PREPARED, 0

    def of(self, name: str) -> At:
        return At(RBX, 8 * PREPARED.index(name))

    def find_words(self) -> None:
        self.word("mov", RBX, RAX)
        self.load(RBP, self.of("shared"))

    def code_word(self) -> At:
        return self.of("code")

    def write(self) -> bytes:
        self.enter()
        self.word("cmp", R10, self.of("count"))
        self.jump_if("ne", "slow")
        self.load(RAX, self.of("busy"))
        self.test(RAX, RAX)
        self.jump_if("ne", "slow")
        self.load(RAX, self.of("stream"))
        self.load(RAX, At(RAX))
        self.test(RAX, RAX)
        self.jump_if("e", "slow")
        self.arguments()
        self.kinds()
        self.call_c()
        self.ends()
        return self.finish()

    def call_c(self) -> None:
        self.label("unlock")
        self.load(RAX, self.of("captures"))
        self.load(RAX, At(RAX))
        self.keep(At(RSP, REASONS), RAX)
        self.set(RAX, 1)
        self.keep(self.of("busy"), RAX)
        self.zero(RAX)
        self.load(RCX, self.of("locked"))
        self.test(RCX, RCX)
        self.jump_if("ne", "unlocked")
        self.call_at(self.shared("save_thread"))
        self.label("unlocked")
        self.keep(At(RSP, STATE), RAX)

        self.load(RAX, At(RSP, REASONS))
        self.test(RAX, RAX)
        self.jump_if("e", "not captured")
        self.load(RDI, self.of("where"))
        self.lea(RSI, At(RSP, CAPTURING))
        self.call_status(self.of("is_capturing"))
        self.fetch(RAX, At(RSP, CAPTURING), 4)
        self.test(RAX, RAX)
        self.jump_if("ne", "failed")

        self.label("not captured")
        self.load(RAX, self.of("get_current"))
        self.test(RAX, RAX)
        self.jump_if("e", "set")
        self.lea(RDI, At(RSP, CURRENT))
        self.call_status(RAX)
        self.load(RAX, At(RSP, CURRENT))
        self.word("cmp", RAX, self.of("context"))
        self.jump_if("ne", "failed")

        self.label("set")
        self.load(RAX, self.of("count"))
        self.test(RAX, RAX)
        self.jump_if("e", "run")
        for i in range(9):
            self.load(RAX, self.of(f"parameters {i}"))
            self.keep(At(RSP, PARAMETERS + 8 * i), RAX)
        self.lea(RAX, At(RSP, TABLE))
        self.keep(At(RSP, PARAMETERS + 8 * TABLE_IN_PARAMETERS), RAX)
        self.load(RDI, self.of("executable"))
        self.load(RSI, self.of("node"))
        self.lea(RDX, At(RSP, PARAMETERS))
        self.call_status(self.of("set_arguments"))
        self.label("run")
        self.load(RDI, self.of("executable"))
        self.load(RSI, self.of("where"))
        self.call_status(self.of("run_graph"))
        self.over()

    def call_status(self, function: int | At) -> None:
        """Call a C function; jump if it fails."""
        self.call_at(function)
        self.test(RAX, RAX, wide=False)
        self.jump_if("ne", "failed")

    def over(self) -> None:
        """The graph is free, and the thread has the GIL again."""
        with self.scope():
            self.load(RDI, At(RSP, STATE))
            self.test(RDI, RDI)
            self.jump_if("e", "locked")
            self.call_at(self.shared("restore_thread"))
            self.label("locked")
            self.zero(RAX)
            self.keep(self.of("busy"), RAX)

    def failure(self) -> None:
        """Python tries it all again, and says what is wrong."""
        self.label("failed")
        self.over()
        self.jump("slow")


def text() -> str:
    routines = [("ROUTINE", Routine.assembled()), ("PREPARED_ROUTINE", Prepared.assembled())]
    assert max(len(code) for _, code in routines) <= PAGE
    return (
        '"""The machine code of launches, for x86-64, which `python -m tests.launch_code` writes."""\n\n'
        "# What it does is in the source of that module; `launch_lane` says how it is used.\n"
        + "".join(f"{name} = {as_source(code)}" for name, code in routines)
    )


if __name__ == "__main__":
    WHERE.write_text(text())
    sys.stdout.write(f"{WHERE}: {len(Routine.assembled())} and {len(Prepared.assembled())} bytes\n")
