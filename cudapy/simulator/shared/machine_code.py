"""The machine code of a library whose functions are elsewhere, for x86-64 and aarch64.

A function jumps through its slot, a pointer in a table that can be written. At first the slot leads to the
second half of the function, which asks the resolver to fill it, and then jumps through it again:

    entry i:    jump to slots[i]
    lazy i:     status = resolver(i), all argument registers kept
                return status if it is not 0, else jump to slots[i]

A function that is Python's must not run while a Python exception is pending, as it is when a destructor in C
calls the driver. Its slot leads to its guard, if its arguments are in registers:

    guard i:    GetThisThreadState(); if there is none, jump to targets[i]
                Ensure(), Fetch(), call targets[i], Restore(), Release()

A function that must not be run any more has a slot that leads to a `constant`: it returns a number. One that
finds the text of an error has its own `text`, and the address of a table:

    text:       table[0] texts follow table[1], which is that of all other numbers

The library of a program that has no Python has `boot` for its resolver, which starts one. `thread_end` gives
back Python's state of a thread: see `threads`.

A call on a thread of which Python knows nothing starts `watch`, a thread that needs no GIL: it says when
nobody has had the GIL for WATCH_SECONDS, as when the one that holds it waits for the call.

Python learns of a fork that C makes by three functions of `forks`, which pthread_atfork takes:

    prepare:    held = 0; if not Check(), as it is in os.fork: held = 1 + Ensure(), BeforeFork()
    parent:     if held: AfterFork_Parent(), Release(held - 1)
    child:      if held: AfterFork_Child(), Release(held - 1)

Sources: System V ABI for AMD64, chapter 3.2; Procedure Call Standard for the Arm 64-bit Architecture, chapter
6; the instruction sets' reference manuals.
"""

from __future__ import annotations

import platform
import struct
from typing import NamedTuple

FAILED = 999  # CUDA_ERROR_UNKNOWN: Python does not start
NULL = -1
"""The number of the constant that returns 0, and stores NULL where its first argument points."""
ZERO = -4
"""The number of the constant that returns 0, and stores the int 0 where its first argument points."""
STORES_TEXT, RETURNS_TEXT = -2, -3
"""Instead of a number: `text`, like cuGetErrorString, or like cudaGetErrorString."""
TEXT_FAILED = 1  # CUDA_ERROR_INVALID_VALUE


class Boot(NamedTuple):
    """What `boot` needs to start Python: addresses of functions' addresses, a pthread_once_t, and a text."""

    pthread_once: int
    open: int  # dlopen
    is_initialized: int  # Py_IsInitialized, and so on
    initialize: int
    save_thread: int
    ensure: int
    run: int  # PyRun_SimpleString
    release: int
    once: int
    text: int  # a Python program that ends in NUL
    library: int  # the soname of libpython, which ends in NUL


GUARD_CALLS = (
    "PyGILState_GetThisThreadState",
    "PyGILState_Ensure",
    "PyErr_Fetch",
    "PyErr_Restore",
    "PyGILState_Release",
)
"""What a guard calls; their addresses are in a table, in this order."""
FORK_CALLS = (
    "PyGILState_Check",
    "PyGILState_Ensure",
    "PyOS_BeforeFork",
    "PyOS_AfterFork_Parent",
    "PyOS_AfterFork_Child",
    "PyGILState_Release",
)
"""What `forks` calls; their addresses are in a table, in this order, and behind them is `held`. As long as
the first is NULL, forks call nothing."""
WATCH = (
    "create",
    "sleep",
    "write",
    "dump",
    "probe",
    "text",
    "length",
    "interpreter",
    "beats",
    "started",
    "thread",
)
"""The words of the table of `watch`: pthread_create, usleep, write, _Py_DumpTracebackThreads or NULL, what
counts `beats` as long as it gets the GIL, what is written if it does not, and what for `dump`. As long as the
first is NULL, nothing is watched."""
WATCH_SECONDS = 10
PROMOTED = 0x2 | 0x4 | 0x100
"""RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL: of a library that is open, others find the symbols from then on."""
GUARDED = 6
"""Arguments that a function with a guard has at most."""


class X86_64:
    """Code for x86-64 at an address, which grows."""

    MACHINE = 62  # EM_X86_64
    RELATIVE, GLOBAL = 8, 6  # R_X86_64_RELATIVE, R_X86_64_GLOB_DAT
    ENTRY, LAZY = 16, 6  # bytes of an entry, and where its second half begins
    GUARD = 16  # bytes of a guard

    def __init__(self, address: int) -> None:
        self.start = address
        self.code = bytearray()

    @property
    def here(self) -> int:
        """The address of the next instruction."""
        return self.start + len(self.code)

    def _relative(self, instruction: str, target: int) -> None:
        """An instruction that ends in the distance to `target`, in 32 bits."""
        self.code += bytes.fromhex(instruction)
        self.code += struct.pack("<i", target - (self.here + 4))

    def _plain(self, instructions: str) -> None:
        self.code += bytes.fromhex(instructions)

    def align(self) -> None:
        """Fill up with traps to a multiple of 16 bytes."""
        self.code += b"\xcc" * (-len(self.code) % 16)

    def entry(self, index: int, slot: int, lazy: int, arguments: int | None) -> None:
        """A function. lazy: the address of what `lazy` made.

        arguments: how many there are, if it returns a struct in memory, whose address is another one: the
        first.
        """
        self._relative("ff 25", slot)  # jmp *slot
        self.code += b"\x68" + struct.pack("<i", index)  # push $index
        self._relative("e9", lazy)  # jmp lazy

    def lazy(self, resolver: int, slots: int) -> None:
        """What all functions share that were not called before. resolver: the address of its address."""
        for push in (
            "57",
            "56",
            "52",
            "51",
            "41 50",
            "41 51",
            "50",
            "41 52",
        ):  # rdi rsi rdx rcx r8 r9 rax r10
            self._plain(push)
        self._plain("48 81 ec 80 00 00 00")  # sub $128, %rsp: a multiple of 16 again
        for i in range(8):
            self._plain(f"0f 11 {0x44 + 8 * i:02x} 24 {16 * i:02x}")  # movups %xmm<i>, 16*i(%rsp)
        self._plain("8b bc 24 c0 00 00 00")  # mov 192(%rsp), %edi: the index
        self._relative("ff 15", resolver)  # call *resolver
        self._plain("41 89 c3")  # mov %eax, %r11d
        for i in range(8):
            self._plain(f"0f 10 {0x44 + 8 * i:02x} 24 {16 * i:02x}")  # movups 16*i(%rsp), %xmm<i>
        self._plain("48 81 c4 80 00 00 00")  # add $128, %rsp
        for pop in ("41 5a", "58", "41 59", "41 58", "59", "5a", "5e", "5f"):
            self._plain(pop)
        self._plain("45 85 db")  # test %r11d, %r11d
        self._plain("75 0d")  # jnz, 13 bytes on
        self._plain("41 5b")  # pop %r11: the index
        self._relative("4c 8d 15", slots)  # lea slots, %r10
        self._plain("43 ff 24 da")  # jmp *(%r10,%r11,8)
        self._plain("44 89 d8 48 83 c4 08 c3")  # mov %r11d, %eax; add $8, %rsp; ret

    def constant(self, number: int) -> None:
        """A function that returns `number`, which as a pointer is NULL if it is 0."""
        if number == NULL:
            self._plain("48 85 ff 74 07")  # test %rdi, %rdi; jz, 7 bytes on
            self._plain("48 c7 07 00 00 00 00")  # movq $0, (%rdi)
            number = 0
        elif number == ZERO:
            self._plain("48 85 ff 74 06")  # test %rdi, %rdi; jz, 6 bytes on
            self._plain("c7 07 00 00 00 00")  # movl $0, (%rdi)
            number = 0
        self.code += b"\xb8" + struct.pack("<i", number) + b"\xc3"  # mov $number, %eax; ret

    def text(self, kind: int, table: int) -> None:
        """`int text(unsigned number, const char **place)`, or `const char *text(unsigned number)`.

        table: the address of the address of the texts' addresses.
        """
        self._relative("48 8b 15", table)  # mov table, %rdx
        self._plain("48 8b 42 08 89 f9 48 3b 0a")  # mov 8(%rdx), %rax; mov %edi, %ecx; cmp (%rdx), %rcx
        self._plain("73 05 48 8b 44 ca 10")  # jae, 5 bytes on; mov 16(%rdx,%rcx,8), %rax
        if kind == STORES_TEXT:
            self._plain("48 85 f6 74 0b 48 89 06")  # test %rsi, %rsi; jz, 11 bytes on; mov %rax, (%rsi)
            self._plain("48 85 c0 74 03")  # test %rax, %rax; jz, 3 bytes on
            self._plain("31 c0 c3")  # xor %eax, %eax; ret
            self.constant(TEXT_FAILED)
        else:
            self._plain("c3")  # ret

    def thread_end(self, clear: int, attach: int, delete: int) -> None:
        """`void thread_end(void *state)`: `if (clear(state)) { attach(state); delete(); }`."""
        self._plain("53 48 89 fb")  # push %rbx; mov %rdi, %rbx
        self._relative("e8", clear)  # call clear
        self._plain("85 c0 74 0d 48 89 df")  # test %eax, %eax; jz, 13 bytes on; mov %rbx, %rdi
        self._relative("e8", attach)
        self._relative("e8", delete)
        self._plain("5b c3")  # pop %rbx; ret

    def guard(self, target: int, guards: int) -> None:
        """The guard of the function whose address is at `target`. guards: the address of `guards`."""
        self._relative("4c 8d 1d", target)  # lea target, %r11
        self._relative("e9", guards)  # jmp guards
        self.align()

    def guards(self, table: int, watch_table: int, watch: int) -> None:
        """What all guards share. table: the address of the addresses of GUARD_CALLS."""
        state, ensure, fetch, restore, release = range(table, table + 8 * len(GUARD_CALLS), 8)
        arguments = ("48 8b 7d f0", "48 8b 75 e8", "48 8b 55 e0", "48 8b 4d d8", "4c 8b 45 d0", "4c 8b 4d c8")
        self._plain("55 48 89 e5 48 83 ec 60")  # push %rbp; mov %rsp, %rbp; sub $96, %rsp
        self._plain("4c 89 5d f8")  # mov %r11, -8(%rbp)
        for load in arguments:
            self._plain(load.replace("8b", "89", 1))  # mov %rdi, -16(%rbp), and so on to %r9, -56(%rbp)
        self._relative("ff 15", state)
        self._plain("48 85 c0 74 00")  # test %rax, %rax; jz, to where there is no state
        jump = len(self.code)
        self._relative("ff 15", ensure)
        self._plain("89 45 a8")  # mov %eax, -88(%rbp)
        self._plain("48 8d 7d c0 48 8d 75 b8 48 8d 55 b0")  # lea -64(%rbp), %rdi; -72, %rsi; -80, %rdx
        self._relative("ff 15", fetch)
        self._plain(" ".join(arguments))
        self._plain("4c 8b 5d f8 41 ff 13")  # mov -8(%rbp), %r11; call *(%r11)
        self._plain("48 89 45 f8")  # mov %rax, -8(%rbp)
        self._plain("48 8b 7d c0 48 8b 75 b8 48 8b 55 b0")  # mov -64(%rbp), %rdi; -72, %rsi; -80, %rdx
        self._relative("ff 15", restore)
        self._plain("8b 7d a8")  # mov -88(%rbp), %edi
        self._relative("ff 15", release)
        self._plain("48 8b 45 f8 c9 c3")  # mov -8(%rbp), %rax; leave; ret
        self.code[jump - 1] = len(self.code) - jump
        word = dict(zip(WATCH, range(watch_table, watch_table + 8 * len(WATCH), 8), strict=True))
        self._relative("48 8b 15", word["create"])  # mov create, %rdx
        self._plain("48 85 d2 74 26")  # test %rdx, %rdx; jz, 38 bytes on
        self._plain("b8 01 00 00 00")  # mov $1, %eax
        self._relative("87 05", word["started"])  # xchg %eax, started
        self._plain("85 c0 75 17")  # test %eax, %eax; jnz, 23 bytes on
        self._relative("48 8d 3d", word["thread"])  # lea thread, %rdi
        self._plain("31 f6 31 c9 48 89 d0")  # xor %esi, %esi; xor %ecx, %ecx; mov %rdx, %rax
        self._relative("48 8d 15", watch)  # lea watch, %rdx
        self._plain("ff d0")  # call *%rax
        self._plain(" ".join(arguments))
        self._plain("4c 8b 5d f8 c9 41 ff 23")  # mov -8(%rbp), %r11; leave; jmp *(%r11)

    def watch(self, table: int) -> None:
        """`void *watch(void *)`, which a thread runs. table: the address of the words of WATCH."""
        word = dict(zip(WATCH, range(table, table + 8 * len(WATCH), 8), strict=True))
        self._plain("53 41 54 41 55")  # push %rbx; push %r12; push %r13
        self._relative("48 8d 3d", word["thread"])  # lea thread, %rdi
        self._relative("48 8b 15", word["probe"])  # mov probe, %rdx
        self._plain("31 f6 31 c9")  # xor %esi, %esi; xor %ecx, %ecx
        self._relative("ff 15", word["create"])
        self._plain("45 31 e4")  # xor %r12d, %r12d: the beats seen
        reset = len(self.code)
        self._plain("31 db")  # xor %ebx, %ebx: the seconds without one
        again = len(self.code)
        self._plain("bf 40 42 0f 00")  # mov $1000000, %edi
        self._relative("ff 15", word["sleep"])
        self._relative("48 8b 05", word["create"])  # mov create, %rax
        self._plain("48 85 c0 74 00")  # test %rax, %rax; jz, to the end
        jump = len(self.code)
        self._relative("48 8b 05", word["beats"])  # mov beats, %rax
        self._plain("49 39 c4 49 89 c4")  # cmp %rax, %r12; mov %rax, %r12
        self._back("75", reset)  # jne
        self._plain(f"ff c3 83 fb {WATCH_SECONDS:02x}")  # inc %ebx; cmp $WATCH_SECONDS, %ebx
        self._back("75", again)  # jne
        self._plain("bf 02 00 00 00")  # mov $2, %edi
        self._relative("48 8b 35", word["text"])  # mov text, %rsi
        self._relative("48 8b 15", word["length"])  # mov length, %rdx
        self._relative("ff 15", word["write"])
        self._relative("48 8b 05", word["dump"])  # mov dump, %rax
        self._plain("48 85 c0")  # test %rax, %rax
        self._back("74", again)  # jz
        self._plain("bf 02 00 00 00")  # mov $2, %edi
        self._relative("48 8b 35", word["interpreter"])  # mov interpreter, %rsi
        self._plain("31 d2 ff d0")  # xor %edx, %edx; call *%rax
        self._back("eb", again)  # jmp
        self.code[jump - 1] = len(self.code) - jump
        self._plain("31 c0 41 5d 41 5c 5b c3")  # xor %eax, %eax; pop %r13; pop %r12; pop %rbx; ret

    def _back(self, instruction: str, place: int) -> None:
        """A short jump to an earlier place in the code."""
        self._plain(instruction)
        self.code += struct.pack("<b", place - (len(self.code) + 1))

    def boot(self, boot: Boot) -> None:
        """`int boot(int)`: have the interpreter, which is started if there is none, run the text."""
        self._plain("53")  # push %rbx
        self._relative("48 8d 3d", boot.once)  # lea once, %rdi
        start = len(self.code) + 3
        self._relative("48 8d 35", 0)  # lea start, %rsi
        self._relative("ff 15", boot.pthread_once)
        self._relative("ff 15", boot.ensure)
        self._plain("89 c3")  # mov %eax, %ebx
        self._relative("48 8d 3d", boot.text)
        self._relative("ff 15", boot.run)
        self._plain("89 df 89 c3")  # mov %ebx, %edi; mov %eax, %ebx
        self._relative("ff 15", boot.release)
        self._plain("89 d8 5b 85 c0 74 05")  # mov %ebx, %eax; pop %rbx; test %eax, %eax; jz, 5 bytes on
        self.constant(FAILED)
        self.align()
        self.code[start : start + 4] = struct.pack("<i", len(self.code) - (start + 4))
        self._plain("53")
        self._relative("48 8d 3d", boot.library)
        self.code += b"\xbe" + struct.pack("<i", PROMOTED)  # mov $flags, %esi
        self._relative("ff 15", boot.open)
        self._relative("ff 15", boot.is_initialized)
        self._plain("85 c0 75 0e 31 ff")  # test %eax, %eax; jnz, 14 bytes on; xor %edi, %edi
        self._relative("ff 15", boot.initialize)
        self._relative("ff 15", boot.save_thread)
        self._plain("5b c3")

    def forks(self, table: int) -> tuple[int, int, int]:
        """`prepare`, `parent` and `child`: where they are. table: the address of those of FORK_CALLS."""
        check, ensure, before, *after, release, held = range(table, table + 8 * (len(FORK_CALLS) + 1), 8)
        prepare = self.here
        self._plain("53 31 db")  # push %rbx; xor %ebx, %ebx
        self._relative("48 8b 05", check)  # mov check, %rax
        self._plain("48 85 c0 74 15")  # test %rax, %rax; jz, 21 bytes on
        self._plain("ff d0 85 c0 75 0f")  # call *%rax; test %eax, %eax; jnz, 15 bytes on
        self._relative("ff 15", ensure)
        self._plain("8d 58 01")  # lea 1(%rax), %ebx
        self._relative("ff 15", before)
        self._relative("89 1d", held)  # mov %ebx, held
        self._plain("5b c3")
        self.align()
        places = []
        for function in after:
            places.append(self.here)
            self._plain("53")
            self._relative("8b 1d", held)  # mov held, %ebx
            self._plain("85 db 74 0f")  # test %ebx, %ebx; jz, 15 bytes on
            self._relative("ff 15", function)
            self._plain("8d 7b ff")  # lea -1(%rbx), %edi
            self._relative("ff 15", release)
            self._plain("5b c3")
            self.align()
        return prepare, places[0], places[1]


class AArch64:
    """Code for aarch64 at an address, which grows."""

    MACHINE = 183  # EM_AARCH64
    RELATIVE, GLOBAL = 1027, 1025  # R_AARCH64_RELATIVE, R_AARCH64_GLOB_DAT
    ENTRY, LAZY = 32, 16
    GUARD = 16

    def __init__(self, address: int) -> None:
        self.start = address
        self.code = bytearray()

    @property
    def here(self) -> int:
        """The address of the next instruction."""
        return self.start + len(self.code)

    def _words(self, *words: int) -> None:
        self.code += struct.pack(f"<{len(words)}I", *words)

    def _page(self, register: int, target: int) -> None:
        """adrp: the page of 4 KiB that `target` is in."""
        pages = (target >> 12) - (self.here >> 12)
        self._words(0x90000000 | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5 | register)

    def _address(self, register: int, target: int) -> None:
        self._page(register, target)
        self._words(0x91000000 | (target & 0xFFF) << 10 | register << 5 | register)  # add

    def _load(self, register: int, target: int) -> None:
        """The 8 bytes at `target`."""
        self._page(register, target)
        self._words(0xF9400000 | (target & 0xFFF) >> 3 << 10 | register << 5 | register)  # ldr

    def _branch(self, target: int) -> None:
        """Call the function at `target`, in the same code: bl."""
        self._words(0x94000000 | ((target - self.here) >> 2 & 0x3FFFFFF))

    def _call(self, target: int) -> None:
        """Call the function whose address is at `target`."""
        self._load(16, target)
        self._words(0xD63F0200)  # blr x16

    def align(self) -> None:
        """Fill up with traps to a multiple of 16 bytes."""
        while len(self.code) % 16:
            self._words(0xD4200000)  # brk #0

    def entry(self, index: int, slot: int, lazy: int, arguments: int | None) -> None:
        """A function. lazy: the address of what `lazy` made.

        arguments: how many there are, if it returns a struct in memory, whose address is in x8: it becomes
        the last argument.
        """
        self._words(
            0xD503201F if arguments is None else 0xAA0803E0 | arguments
        )  # nop, or mov x<arguments>, x8
        self._load(16, slot)
        self._words(0xD61F0200)  # br x16
        self._words(0x52800011 | index << 5)  # mov w17, #index
        self._words(0x14000000 | ((lazy - self.here) >> 2 & 0x3FFFFFF))  # b lazy
        self.align()

    def lazy(self, resolver: int, slots: int) -> None:
        """What all functions share that were not called before. resolver: the address of its address."""
        pairs = [(i, i + 1, 16 + 8 * i) for i in (0, 2, 4, 6)] + [(8, 17, 80)]
        self._words(0xA9B27BFD)  # stp x29, x30, [sp, #-224]!
        for first, second, at in pairs:
            self._words(0xA9000000 | at // 8 << 15 | second << 10 | 31 << 5 | first)  # stp x, x, [sp, #at]
        for i in (0, 2, 4, 6):
            self._words(0xAD000000 | (96 + 16 * i) // 16 << 15 | (i + 1) << 10 | 31 << 5 | i)  # stp q, q
        self._words(0x2A1103E0)  # mov w0, w17
        self._call(resolver)
        self._words(0x2A0003E9)  # mov w9, w0
        for first, second, at in pairs:
            self._words(0xA9400000 | at // 8 << 15 | second << 10 | 31 << 5 | first)  # ldp x, x, [sp, #at]
        for i in (0, 2, 4, 6):
            self._words(0xAD400000 | (96 + 16 * i) // 16 << 15 | (i + 1) << 10 | 31 << 5 | i)  # ldp q, q
        self._words(0xA8CE7BFD)  # ldp x29, x30, [sp], #224
        self._words(0x350000A9)  # cbnz w9, 5 instructions on
        self._address(16, slots)
        self._words(0xF8717A10)  # ldr x16, [x16, x17, lsl #3]
        self._words(0xD61F0200)  # br x16
        self._words(0x2A0903E0, 0xD65F03C0)  # mov w0, w9; ret

    def constant(self, number: int) -> None:
        """A function that returns `number`, which as a pointer is NULL if it is 0."""
        if number == NULL:
            self._words(0xB4000040, 0xF900001F)  # cbz x0, 2 instructions on; str xzr, [x0]
            number = 0
        elif number == ZERO:
            self._words(0xB4000040, 0xB900001F)  # cbz x0, 2 instructions on; str wzr, [x0]
            number = 0
        self._words(0x52800000 | number << 5, 0xD65F03C0)  # mov w0, #number; ret

    def text(self, kind: int, table: int) -> None:
        """`int text(unsigned number, const char **place)`, or `const char *text(unsigned number)`.

        table: the address of the address of the texts' addresses.
        """
        self._load(2, table)
        self._words(0xA8C11043, 0x2A0003E5, 0xEB0300BF)  # ldp x3, x4, [x2], #16; mov w5, w0; cmp x5, x3
        self._words(0x54000042, 0xF8657844)  # b.hs, 2 instructions on; ldr x4, [x2, x5, lsl #3]
        if kind == STORES_TEXT:
            self._words(0xB40000A1, 0xF9000024)  # cbz x1, 5 instructions on; str x4, [x1]
            self._words(0xB4000064)  # cbz x4, 3 instructions on
            self.constant(0)
            self.constant(TEXT_FAILED)
        else:
            self._words(0xAA0403E0, 0xD65F03C0)  # mov x0, x4; ret

    def thread_end(self, clear: int, attach: int, delete: int) -> None:
        """`void thread_end(void *state)`: `if (clear(state)) { attach(state); delete(); }`."""
        self._words(0xA9BE7BFD, 0xF9000BF3)  # stp x29, x30, [sp, #-32]!; str x19, [sp, #16]
        self._words(0xAA0003F3)  # mov x19, x0
        self._branch(clear)
        self._words(0x34000080, 0xAA1303E0)  # cbz w0, 4 instructions on; mov x0, x19
        self._branch(attach)
        self._branch(delete)
        self._words(0xF9400BF3, 0xA8C27BFD, 0xD65F03C0)  # ldr x19, [sp, #16]; ldp x29, x30, [sp], #32; ret

    def guard(self, target: int, guards: int) -> None:
        """The guard of the function whose address is at `target`. guards: the address of `guards`."""
        self._address(16, target)
        self._words(0x14000000 | ((guards - self.here) >> 2 & 0x3FFFFFF))  # b guards
        self.align()

    def guards(self, table: int, watch_table: int, watch: int) -> None:
        """What all guards share. table: the address of the addresses of GUARD_CALLS."""
        state, ensure, fetch, restore, release = range(table, table + 8 * len(GUARD_CALLS), 8)
        pairs = [(i, i + 1, 16 + 8 * i) for i in (0, 2, 4, 6)] + [(8, 16, 80)]
        loads = [0xA9400000 | at // 8 << 15 | second << 10 | 31 << 5 | first for first, second, at in pairs]
        self._words(0xA9B77BFD)  # stp x29, x30, [sp, #-144]!
        self._words(*(load ^ 0x400000 for load in loads))  # stp x0, x1, [sp, #16], and so on to x8, x16
        self._call(state)
        jump = len(self.code)
        self._words(0)
        self._call(ensure)
        self._words(0xB9007BE0)  # str w0, [sp, #120]
        self._words(0x910183E0, 0x9101A3E1, 0x9101C3E2)  # add x0, sp, #96; x1, #104; x2, #112
        self._call(fetch)
        self._words(*loads, 0xF9400210, 0xD63F0200)  # ldr x16, [x16]; blr x16
        self._words(0xF9002BE0)  # str x0, [sp, #80]
        self._words(0xF94033E0, 0xF94037E1, 0xF9403BE2)  # ldr x0, [sp, #96]; x1, #104; x2, #112
        self._call(restore)
        self._words(0xB9407BE0)  # ldr w0, [sp, #120]
        self._call(release)
        self._words(0xF9402BE0, 0xA8C97BFD, 0xD65F03C0)  # ldr x0, [sp, #80]; ldp x29, x30, [sp], #144; ret
        distance = len(self.code) - jump
        self.code[jump : jump + 4] = struct.pack("<I", 0xB4000000 | distance >> 2 << 5)  # cbz x0, here
        word = dict(zip(WATCH, range(watch_table, watch_table + 8 * len(WATCH), 8), strict=True))
        self._load(9, word["create"])
        skip = len(self.code)
        self._words(0)
        self._address(10, word["started"])
        self._words(0xF940014B)  # ldr x11, [x10]
        started = len(self.code)
        self._words(0)
        self._words(0x5280002B, 0xF900014B)  # mov w11, #1; str x11, [x10]
        self._address(0, word["thread"])
        self._words(0xD2800001)  # mov x1, #0
        self._address(2, watch)
        self._words(0xD2800003, 0xD63F0120)  # mov x3, #0; blr x9
        self._forth(0xB4000009, skip)  # cbz x9, here
        self._forth(0xB500000B, started)  # cbnz x11, here
        self._words(*loads, 0xA8C97BFD, 0xF9400210, 0xD61F0200)  # ldp x29, x30; ldr x16, [x16]; br x16

    def _forth(self, instruction: int, place: int) -> None:
        """Have the conditional branch at `place` in the code lead to its end."""
        self.code[place : place + 4] = struct.pack("<I", instruction | (len(self.code) - place) >> 2 << 5)

    def _back(self, instruction: int, place: int) -> None:
        """A conditional branch to an earlier place in the code."""
        self._words(instruction | ((place - len(self.code)) >> 2 & 0x7FFFF) << 5)

    def watch(self, table: int) -> None:
        """`void *watch(void *)`, which a thread runs. table: the address of the words of WATCH."""
        word = dict(zip(WATCH, range(table, table + 8 * len(WATCH), 8), strict=True))
        self._words(0xA9BE7BFD, 0xA90153F3)  # stp x29, x30, [sp, #-32]!; stp x19, x20, [sp, #16]
        self._address(0, word["thread"])
        self._load(2, word["probe"])
        self._words(0xD2800001, 0xD2800003)  # mov x1, #0; mov x3, #0
        self._call(word["create"])
        self._words(0xD2800014)  # mov x20, #0: the beats seen
        reset = len(self.code)
        self._words(0x52800013)  # mov w19, #0: the seconds without one
        again = len(self.code)
        self._words(0x52884800, 0x72A001E0)  # mov w0, #1000000
        self._call(word["sleep"])
        self._load(9, word["create"])
        jump = len(self.code)
        self._words(0)
        self._load(9, word["beats"])
        self._words(0xEB09029F, 0xAA0903F4)  # cmp x20, x9; mov x20, x9
        self._back(0x54000001, reset)  # b.ne
        self._words(0x11000673, 0x7100001F | WATCH_SECONDS << 10 | 19 << 5)  # add w19, w19, #1; cmp w19, #10
        self._back(0x54000001, again)  # b.ne
        self._words(0x52800040)  # mov w0, #2
        self._load(1, word["text"])
        self._load(2, word["length"])
        self._call(word["write"])
        self._load(9, word["dump"])
        self._back(0xB4000009, again)  # cbz x9
        self._words(0x52800040)  # mov w0, #2
        self._load(1, word["interpreter"])
        self._words(0xD2800002, 0xD63F0120)  # mov x2, #0; blr x9
        self._back(0x5400000E, again)  # b.al
        self._forth(0xB4000009, jump)  # cbz x9, here
        self._words(
            0xD2800000, 0xA94153F3, 0xA8C27BFD, 0xD65F03C0
        )  # mov x0, #0; ldp x19, x20; ldp x29, x30; ret

    def boot(self, boot: Boot) -> None:
        """`int boot(int)`: have the interpreter, which is started if there is none, run the text."""
        self._words(0xA9BE7BFD)  # stp x29, x30, [sp, #-32]!
        self._words(0xF9000BF3)  # str x19, [sp, #16]
        self._address(0, boot.once)
        place = len(self.code)
        self._words(0)
        self._call(boot.pthread_once)
        self._call(boot.ensure)
        self._words(0x2A0003F3)  # mov w19, w0
        self._address(0, boot.text)
        self._call(boot.run)
        self._words(0x2A0003E9, 0x2A1303E0, 0x2A0903F3)  # mov w9, w0; mov w0, w19; mov w19, w9
        self._call(boot.release)
        self._words(0x2A1303E0)  # mov w0, w19
        self._words(0xF9400BF3, 0xA8C27BFD)  # ldr x19, [sp, #16]; ldp x29, x30, [sp], #32
        self._words(0x34000060)  # cbz w0, 3 instructions on
        self.constant(FAILED)
        self._words(0xD65F03C0)  # ret
        self.align()
        distance = len(self.code) - place
        self.code[place : place + 4] = struct.pack("<I", 0x10000001 | distance >> 2 << 5)  # adr x1, start
        self._words(0xA9BF7BFD)  # stp x29, x30, [sp, #-16]!
        self._address(0, boot.library)
        self._words(0x52800001 | PROMOTED << 5)  # mov w1, #flags
        self._call(boot.open)
        self._call(boot.is_initialized)
        self._words(0x35000100)  # cbnz w0, 8 instructions on
        self._words(0x52800000)  # mov w0, #0
        self._call(boot.initialize)
        self._call(boot.save_thread)
        self._words(0xA8C17BFD, 0xD65F03C0)  # ldp x29, x30, [sp], #16; ret

    def forks(self, table: int) -> tuple[int, int, int]:
        """`prepare`, `parent` and `child`: where they are. table: the address of those of FORK_CALLS."""
        check, ensure, before, *after, release, held = range(table, table + 8 * (len(FORK_CALLS) + 1), 8)
        enter = 0xA9BE7BFD, 0xF9000BF3  # stp x29, x30, [sp, #-32]!; str x19, [sp, #16]
        leave = 0xF9400BF3, 0xA8C27BFD, 0xD65F03C0  # ldr x19, [sp, #16]; ldp x29, x30, [sp], #32; ret
        prepare = self.here
        self._words(*enter, 0x52800013)  # mov w19, #0
        self._load(16, check)
        self._words(0xB4000150, 0xD63F0200, 0x35000100)  # cbz x16, 10 on; blr x16; cbnz w0, 8 on
        self._call(ensure)
        self._words(0x11000413)  # add w19, w0, #1
        self._call(before)
        self._address(16, held)
        self._words(0xB9000213, *leave)  # str w19, [x16]
        self.align()
        places = []
        for function in after:
            places.append(self.here)
            self._words(*enter)
            self._address(16, held)
            self._words(0xB9400213, 0x34000113)  # ldr w19, [x16]; cbz w19, 8 instructions on
            self._call(function)
            self._words(0x51000660)  # sub w0, w19, #1
            self._call(release)
            self._words(*leave)
            self.align()
        return prepare, places[0], places[1]


ARCHITECTURES: dict[str, type[X86_64] | type[AArch64]] = {"x86_64": X86_64, "aarch64": AArch64}
"""By what `platform.machine` says."""


def this_machine() -> type[X86_64] | type[AArch64]:
    """The architecture of this process. Raises RuntimeError where there is no code for it."""
    name = platform.machine()
    if name not in ARCHITECTURES or struct.calcsize("P") != 8:
        raise RuntimeError(
            f"the simulator's shared libraries are for {' and '.join(ARCHITECTURES)}, not for {name}"
        )
    return ARCHITECTURES[name]
