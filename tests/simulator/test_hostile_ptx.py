"""PTX that nobody wrote: every text is a module, or an error that says the line and the reason."""

from __future__ import annotations

import random
import re
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.memory import Memory
from cudapy.simulator.engine.module import Module, PTXError
from tests.budget import fuzz

from .machine import Machine, ptx

HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"


def kernel(body: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 p)\n{{\n{body}\nret;\n}}\n"


NINES = "9" * 5000
REFUSED = {
    "digits": (kernel(f".reg .b32 %r<3>; mov.u32 %r1, {NINES};"), "larger than 64 bits"),
    "hexadecimal digits": (kernel(f".reg .b32 %r<3>; mov.u32 %r1, 0x{'F' * 5000};"), "larger than 64 bits"),
    "octal": (kernel(".reg .b32 %r<3>; mov.u32 %r1, 089;"), "089 is not an octal number"),
    "digits of an offset": (kernel(f".reg .b64 %r<3>; ld.global.u64 %r1, [%r1+{NINES}];"), "64 bits"),
    "digits of registers": (kernel(f".reg .b32 %r<{NINES}>;"), "larger than 64 bits"),
    "registers of no type": (kernel(f".reg {'x' * 5000};"), "registers of '.{200}' are not"),
    "a prototype of nothing": (kernel(f"p: .callprototype {'x' * 5000};"), "what does '.{200}' declare"),
    "digits of an alignment": (f"{HEAD}.global .align {NINES} .b8 x[4];", "larger than 64 bits"),
    "digits of a directive": (f"{HEAD}.entry k() .maxntid {NINES}\n{{ ret; }}", "larger than 64 bits"),
    "no threads": (f"{HEAD}.entry k() .maxntid 0, 1, 1\n{{ ret; }}", ".maxntid has sizes of at least 1"),
    "no threads of a block": (f"{HEAD}.entry k() .reqntid 8, 0\n{{ ret; }}", "sizes of at least 1, not 0"),
    "no number": (f"{HEAD}.entry k() .maxntid 8 .minnctapersm\n{{ ret; }}", ".minnctapersm needs a number"),
    "digits of a value": (f"{HEAD}.global .u32 x = {NINES};", "larger than 64 bits"),
    "alignment of 0": (f"{HEAD}.global .align 0 .b8 x[4];", "a power of two up to 65536, not 0"),
    "alignment of 3": (kernel(".local .align 3 .b8 x[4];"), "a power of two up to 65536, not 3"),
    "great alignment": (f"{HEAD}.global .align 1073741824 .b8 x[4];", "a power of two up to 65536"),
    "size of 2**70": (f"{HEAD}.global .b8 x[1180591620717411303424];", "larger than 64 bits"),
    "size of 2**60": (f"{HEAD}.global .b8 x[1152921504606846976];", "x has more than"),
    "dimensions": (f"{HEAD}.global .b8 x[4294967296][4294967296][4294967296];", "x has more than"),
    "negative size": (f"{HEAD}.global .b8 x[-4];", "'-4' is not a length"),
    "local memory": (kernel(".local .b8 x[1099511627776];"), "x has more than 524288 bytes"),
    "much local memory": (kernel("\n".join(f".local .b8 x{i}[500000];" for i in range(9))), "524288 are"),
    "shared memory": (kernel(".shared .b8 x[1099511627776];"), "x has more than 233472 bytes"),
    "much shared memory": (kernel(".shared .b8 x[200000];\n.shared .b8 y[200000];"), "233472 are the most"),
    "constants": (f"{HEAD}.const .b8 x[1048576];", "x has more than 65536 bytes"),
    "many constants": (f"{HEAD}.const .b8 x[60000];\n.const .b8 y[60000];", "more than 65536 bytes"),
    "parameter": (f"{HEAD}.entry k(.param .b8 x[1099511627776]) {{ ret; }}", "x has more than 32764 bytes"),
    "parameters": (f"{HEAD}.entry k(.param .b8 x[30000], .param .b8 y[30000]) {{ ret; }}", "32764 are"),
    "values": (f"{HEAD}.global .u32 x[2] = {{1, 2, 3}};", "3 values for x, which has 2"),
    "braces": (kernel("{" * 100_000), "more than 100 braces are open"),
    "vectors in vectors": (kernel(".reg .b32 %r<3>; mov.b64 {{%r1, %r1}, %r2}, %r1;"), "k has no end|what"),
    "bars": (kernel(f".reg .pred %p<3>; setp.eq.u32 {'|'.join(['%p1'] * 9999)}, 1, 1;"), "what is the"),
    "no operand": (kernel("bra ;"), "no such label"),
    "no table": (kernel("brx.idx ;"), "no such label"),
    "no label": (kernel(".callprototype _ (.param .b32 x);"), "a label is expected before it"),
    "no callee": (kernel("call nobody, ();"), "k calls nobody, which the module does not have"),
    "an alias of nothing": (f"{HEAD}.func b();\n.alias a, b;", "a is an alias of b, which the module"),
    "an alias of itself": (f"{HEAD}.alias a, a;", "a is an alias of a, which the module"),
    "an alias without a name": (f"{HEAD}.alias a;", "what does '.alias a' declare"),
    "aliases of three": (f"{HEAD}.alias a, b, c;", "what does '.alias a, b, c' declare"),
    "no parts": (kernel(".reg .b64 %r<3>; mov.u64 %r1, ();"), "mov: 64 bits do not have 0 parts"),
    "three parts": (kernel(".reg .b32 %r<3>; mov.b64 {%r1, %r1, %r1}, %r1;"), "64 bits do not have 3 parts"),
    "one part": (kernel(".reg .b128 %q<3>; .reg .b64 %r<2>; mov.b128 {%r1}, %q1;"), "128 bits do not have 1"),
    "an unknown parameter": (kernel(".reg .b64 %r<2>; ld.param.u64 %r1, [q];"), "q is not a parameter of k"),
    "a parameter's end": (kernel(".reg .b64 %r<2>; ld.param.u64 %r1, [p+4];"), "p has 8 bytes, none of"),
    "bits of b128": (kernel(".reg .b128 %q<2>; min.f32 %q1, 1.0, 2.0;"), "%q1 is .b128, which cannot"),
    "part of b128": (kernel(".reg .b128 %q<2>; .reg .b32 %r<2>; add.u32 %r1, %q1, 1;"), "%q1 has 128 bits"),
    "one operand": (kernel(".reg .b16 %h<2>; fma.rn.f16 %h1, %h1, %h1;"), "4 operands are expected"),
    "no mask": (kernel("bar.warp.sync ;"), "1 operand is expected"),
    "a mask of b128": (kernel(".reg .b128 %q<2>; bar.warp.sync %q1;"), "%q1 has 128 bits, .b32 needs 32"),
    "a mask of b64": (kernel(".reg .b64 %r<2>; bar.warp.sync %r1;"), "the mask is not supported"),
    "a table in a register": (kernel(".reg .b32 %r<2>; lop3.b32 %r1, 1, 2, 3, %r1;"), "a number is expected"),
    "a vector of nothing": (kernel(".reg .b64 %r<2>; ld.global.v4.u32 {}, [%r1];"), "at least one element"),
    "nothing to move": (kernel(".reg .b64 %r<2>; mov.b64 %r1, {};"), "at least one element"),
    "a vector of three": (kernel(".reg .b64 %r<4>; ld.v2.u64 {%r1, %r2, %r3}, [%r1];"), "vector of 2 is"),
    "few registers of a tile": (
        kernel(".reg .b32 %r<9>; wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 %r1, %r2, %r3, %r4;"),
        "2 registers are expected for 256 elements of s8",
    ),
    "few registers of a sparse product": (
        kernel(
            ".reg .b32 %r<9>; mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 "
            "{%r5}, {%r6, %r0}, {%r6, %r3}, {%r4, %r0}, %r5, 0;"
        ),
        "4 registers are expected for 128 elements of f32",
    ),
    "few registers of a stored tile": (
        kernel(".reg .b32 %r<9>; wmma.store.d.sync.aligned.row.m16n16k16.shared.s32 [0], {%r1, %r2}, 16;"),
        "8 registers are expected for 256 elements of s32",
    ),
    "the negation of a number": (kernel(".reg .f64 %g<2>; add.f64 %g1, !%g1, 0d0;"), "type f64 is expected"),
    "128 bits of an address": (
        kernel(".local .b8 l[16]; .reg .b128 %q<2>; atom.global.exch.b128 %q1, [p], l;"),
        "l is an address",
    ),
    "a barrier nowhere": (
        kernel(".reg .b64 %d<2>; mbarrier.arrive_drop.noComplete.b64 %d1;"), "an operand is missing"
    ),
    "a long line": (kernel(")" + "x" * 9999 + ";"), r"what is .\)xxx"),
    "long name": (f"{HEAD}.extern .shared .align{'F' * 5000} .b8 x[];", "declare"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    text, reason = REFUSED[name]
    with pytest.raises(PTXError, match=rf"^line \d+: .*({reason})") as caught:
        Module(text, Memory())
    assert len(str(caught.value)) < 500


def run(text: str) -> None:
    """The kernel of a text, with the address of 256 bytes."""
    machine = Machine()
    machine.run(Module(text, machine.memory), "k", 1, 32, machine.zeros(64, np.uint32))


def test_who_comes_to_the_end_of_the_text_returns() -> None:
    run(kernel("").replace("ret;", ""))


def test_an_argument_that_nobody_wrote_is_zero() -> None:
    run(
        f"{HEAD}.extern .func free (.param .b64 x);"
        + kernel("{ .param .b64 a; call.uni free, (a); }")[len(HEAD) :]
    )


def test_lines_stand_between_the_operands_of_a_call() -> None:
    """NVRTC writes them there for some calls of functions that are not inlined."""
    loc = "\n.loc\t1 7 3\n"
    body = ".reg .b64 %r<2>; .reg .b32 %v; ld.param.u64 %r1, [p]; { .param .b32 r;"
    body += f"call.uni{loc}(r),{loc}f,{loc}(); ld.param.b32 %v, [r]; }} st.global.b32 [%r1], %v;"
    function = ".func (.param .b32 r) f() { .reg .b32 %v; mov.u32 %v, 41; st.param.b32 [r], %v; ret; }\n"
    machine = Machine()
    written = machine.zeros(64, np.uint32)
    machine.run(Module(HEAD + function + kernel(body)[len(HEAD) :], machine.memory), "k", 1, 32, written)
    assert written.get()[0] == 41


@pytest.mark.parametrize("check_races", [False, True])
def test_a_mask_is_the_bits_that_an_instruction_of_floats_wrote(
    check_races: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """-x of the bits 0x8000ff00 is 0x0000ff00: of these threads 8 is the first."""
    body = """.reg .b64 %d; .reg .b32 %m, %f, %t, %v; .reg .pred %p; ld.param.u64 %d, [p];
        mov.u32 %t, %tid.x; sub.u32 %m, %t, 8; setp.gt.u32 %p, %m, 7; @%p bra L;
        and.b32 %m, %t, 0; xor.b32 %m, %m, 0x8000ff00; neg.f32 %f, %m;
        elect.sync %v|%p, %f; st.global.b32 [%d], %v; L:"""
    machine = Machine()
    written = machine.zeros(64, np.uint32)
    monkeypatch.setattr(settings, "current", settings.Settings(check_races=check_races, machine_code="never"))
    machine.run(Module(kernel(body), machine.memory), "k", 1, 32, written)
    assert written.get()[0] == 8


MALLOC = f"{HEAD}.extern .func (.param .b64 r) malloc (.param .b64 n);"


def test_a_call_of_the_device_has_its_arguments() -> None:
    """By its name it is seen when the module is loaded, by its address when it runs."""
    by_name = MALLOC + kernel("{ .param .b64 r; call.uni (r), malloc, (); }")[len(HEAD) :]
    with pytest.raises(PTXError, match=r"line \d+: malloc is called with 0 arguments instead of 1"):
        Module(by_name, Memory())
    body = """.reg .b64 %r<2>; mov.u64 %r1, malloc; { .param .b64 r;
        of: .callprototype (.param .b64 _) _ (); call (r), %r1, (), of; }"""
    with pytest.raises(Fault, match=r"malloc is called with 0 arguments instead of 1"):
        run(MALLOC + kernel(body)[len(HEAD) :])


def test_a_call_of_what_has_no_body_is_a_fault() -> None:
    text = (
        f"{HEAD}.func f();"
        + kernel(".reg .b64 %r<2>; mov.u64 %r1, f; f_type: .callprototype _ (); call %r1, (), f_type;")[
            len(HEAD) :
        ]
    )
    with pytest.raises(Fault, match="A call of what is not a function"):
        run(text)


def test_more_memory_than_a_device_has() -> None:
    many = "\n".join(f".global .b8 x{i}[1073741824];" for i in range(5))
    for text in (".global .b8 x[549755813888];", many):
        with pytest.raises(MemoryError, match=r"have \d+ bytes"):
            Module(HEAD + text, Memory())


def test_billions_of_registers_are_only_names() -> None:
    body = ".reg .pred %p<4294967295>; .reg .b32 %r<9999999999>; mov.u32 %r4294967294, 1;\n{ .reg .b64 %r<2>;"
    body += " mov.u64 %r1, 1; mov.u32 %r2, 1; }"
    function = Module(kernel(body), Memory()).functions["k"]
    assert set(function.kernel.compiled.text.registers) == {"%r4294967294", "%r1@1", "%r2"}
    for register in ("%r9999999999", "%r01", "%q1", "%r"):
        with pytest.raises(PTXError, match=r"line 6: mov"):
            Module(kernel(f".reg .b32 %r<9999999999>; mov.u32 {register}, 1;"), Memory())


SOURCES = (
    """
extern "C" __global__ void k(float a, const float *x, float *y, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }
""",
    """
__device__ __noinline__ int f(int a) { return a < 2 ? a : f(a - 1) + f(a - 2); }
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int g = 7;
struct S { char c; double d; };
extern "C" __global__ void k(int *o, S s)
{
    __shared__ int line[64];
    extern __shared__ float dynamic[];
    line[threadIdx.x] = f(o[0]) + table[o[1] & 3];
    __syncthreads();
    dynamic[threadIdx.x] = s.d;
    o[threadIdx.x] = line[63 - threadIdx.x] + g + atomicAdd(&g, 1) + __shfl_xor_sync(~0u, o[2], 1);
    printf("%d %f", o[0], s.d);
    switch (o[4]) {
    case 0: o[5] = 1; break;
    case 1: o[5] = f(3); break;
    case 2: o[5] = 9; break;
    case 3: o[5] = 11; break;
    case 4: o[6] = 3; break;
    }
    int own[20];
    for (int i = 0; i < 20; ++i) own[i] = o[i] * i;
    o[7] = own[o[8] % 20];
}
""",
    """
typedef int (*F)(int);
__device__ int a(int x) { return x + 1; }
__device__ int b(int x) { return x * 2; }
__device__ F both[2] = {a, b};
extern "C" __global__ void k(int *o, cudaTextureObject_t t)
{
    o[0] = both[o[1] & 1](o[2]);
    o[1] = tex2D<float4>(t, 1.f, 2.f).x;
    unsigned m = __ballot_sync(~0u, o[3]);
    asm volatile("vadd2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(o[4]) : "r"(m), "r"(o[5]), "r"(o[6]));
    o[9] = __dp4a(o[1], o[2], o[3]);
    o[8] = clock64();
}
""",
    """
extern "C" __global__ void k(int *o, float *f, unsigned long long m)
{
    asm volatile("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7},"
                 " {%0, %1, %2, %3}, %8, 3;"
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
                 : "r"(o[0]), "r"(o[1]), "r"(o[2]), "r"(o[3]), "r"(o[4]));
    asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 4, %1;" :: "l"(m), "r"(o[5]));
    asm volatile("tensormap.replace.tile.elemtype.global.b1024.b32 [%0], 7;" :: "l"(m));
    asm volatile("cvt.rn.relu.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(o[6]) : "f"(f[4]), "f"(f[5]));
    asm volatile("{ .reg .pred p, q; setp.lt.s32 p, %0, 3; lop3.or.b32 %0|q, %1, %2, %0, 0x80, p; }"
                 : "+r"(o[7]) : "r"(o[8]), "r"(o[9]));
}
""",
)
STRANGE = """4294967295|0|-1|0x10000000000000000|{|}|[|]|(|)|||!|@|;|,|"|.reg .pred %p<4294967295>;|.align 0
.align 3|.local .b8 big[1099511627776];|.global .b8 big[1180591620717411303424];|.b128|.f16x2|%tid.x|%laneid|_
0f7FC00000|0d|-|+|.param .b64 q;|.v4|.v2|.shared|.global|.const .b8 c[70000];|.extern|.weak|.entry|.func
.branchtargets|.callprototype|$L__BB0_1|brx.idx|call|ret|bar.sync 0|st.global.v4.f32|mma.sync|wgmma|\0
\n|//|/*|.section x {|.version|.target sm_|.file 1 "|.loc 1 99999999999999999999999 1|.maxntid 0
.maxnreg|.alias a, b;|WARP_SZ|1.5|1e400|0b11|089|%r1.b0|%envreg2|{%r1,%r2}|{%r1|[%rd1+8]
[%rd1+-99999999999999999999]|{{%r1}}|%p1|%p2|%p1|%p2|%p1|%p2|()|(a, b)|generic(x)+99999999999|
""".replace("\n", "|").split("|")


def mutated(text: str, seed: int) -> str:
    """PTX with some of its lines and words gone, doubled, swapped, or strange."""
    chance = random.Random(seed)
    words = sorted(set(re.findall(r"[%\w.$]+|[^\s\w]", text)))
    lines = text.split("\n")
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        what, place, other = chance.randrange(8), chance.randrange(len(lines)), chance.randrange(len(lines))
        if what == 0:
            lines[place] = ""
        elif what == 1:
            lines.insert(place, lines[other])
        elif what == 2:
            lines[place], lines[other] = lines[other], lines[place]
        elif what < 6:
            parts = re.split(r"([%\w.$]+)", lines[place])
            parts[chance.randrange(len(parts))] = chance.choice(STRANGE if what == 3 else words)
            lines[place] = "".join(parts)
        elif what == 6 and lines[place]:
            cut = chance.randrange(len(lines[place]))
            mark = chance.choice('{}[]();,.%@!|+-<>0123456789abc"\\ \t')
            lines[place] = lines[place][:cut] + mark + lines[place][cut + chance.randrange(2) :]
        else:
            lines.insert(place, chance.choice(STRANGE))
    return "\n".join(lines)


def outcome(text: str) -> str:
    """ "" for a module, or what its error says."""
    try:
        Module(text, Memory()).close()
    except PTXError as error:
        return str(error)
    except MemoryError:
        return "line 0: memory"
    return ""


@pytest.mark.parametrize("number", range(len(SOURCES)))
def test_a_few_mutants(nvrtc: ModuleType, number: int) -> None:
    text = ptx(SOURCES[number], 90)
    assert not outcome(text)
    found = [outcome(mutated(text, seed)) for seed in range(12)]
    assert all(one == "" or one.startswith(("line ", "this is not PTX")) for one in found)
    assert any(found)


@pytest.mark.thorough
@fuzz
@given(
    number=st.integers(0, len(SOURCES) - 1), seeds=st.lists(st.integers(0, 2**32), min_size=1, max_size=40)
)
def test_mutants(nvrtc: ModuleType, number: int, seeds: list[int]) -> None:
    text = ptx(SOURCES[number], 90)
    for seed in seeds:
        text = mutated(text, seed)
        found = outcome(text)
        assert found == "" or found.startswith(("line ", "this is not PTX"))
