"""Short texts that could keep the simulator busy for long: work grows with the length of the text alone.

Each has half a minute for what took longer, or would, in quadratic time; it takes seconds at most.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
DECLARATIONS = ".reg .b32 %r<9>; .reg .pred %p<9>; .reg .b64 %rd<9>;\n"


def kernel(body: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 p)\n{{\n{DECLARATIONS}{body}\nret;\n}}\n"


def each(text: str, count: int) -> str:
    """`text` for each number, which stands where # is."""
    return "".join(text.replace("#", str(number)) for number in range(count))


def nested(count: int) -> str:
    ends = "".join(f"E{number}: add.u32 %r3, %r3, 1;\n" for number in reversed(range(count)))
    return kernel(each("setp.eq.u32 %p1, %r1, #;\n@%p1 bra E#;\nadd.u32 %r2, %r2, 1;\n", count) + ends)


def functions(count: int) -> str:
    """Each kernel reaches all functions before it."""
    text = HEAD + ".func f0() { ret; }\n"
    for number in range(1, count):
        text += f".func f{number}() {{ call f{number - 1}; ret; }}\n"
        text += f".entry k{number}() {{ call f{number}; ret; }}\n"
    return text


LONG = {
    "nested ifs": (nested, 8_000),
    "labels": (lambda count: kernel(each("L#: add.u32 %r1, %r1, 1;\n", count)), 25_000),
    "kernels that call": (functions, 2_500),
    "loops that wait": (
        lambda count: kernel(each("L#: ld.volatile.u32 %r1, [%rd1];\n@%p1 bra L#;\n", count)),
        8_000,
    ),
}


LOAD = """
import sys
from cudapy import driver
text = sys.stdin.read().encode() + b"\\0"
call = driver.checked
call.cuInit(0)
call.cuCtxCreate(0, 0)
print(driver.cuModuleLoadData(text)[0].name)
linker, statuses = call.cuLinkCreate(0, [], []), set()
for k in (b" k()", b" other()"):
    unit = text.replace(b" k()", k)
    statuses.add(driver.cuLinkAddData(linker, 1, unit, len(unit), k, 0, [], [])[0].name)
print(*sorted(statuses))
"""


def loaded(text: str, code: str = LOAD) -> list[str]:
    """The statuses of loading a text, and of adding it to a linker twice."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=text,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={**os.environ, "CUDAPY_DRIVER": "simulator"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


KERNEL = HEAD + ".entry k() { ret; }\n"
PATTERNS = {
    "blank lines before": "\n" * 200_000 + KERNEL,
    "blank lines within": KERNEL.replace("ret", "\n" * 100_000 + "ret"),
    "blank lines behind": KERNEL + "\n" * 100_000,
    "comments that do not end": KERNEL + "/*" * 100_000,
    "blanks in a declaration": KERNEL + ".global .b8" + " " * 200_000 + "!;",
    "blanks in an address": KERNEL.replace("ret", f"ld.u32 %r1, [%rd1{' ' * 200_000}!]; ret"),
    "names": KERNEL + ".global .u32 " + "x" * 200_000 + "{",
    "parameters that do not end": KERNEL + ".entry a(\n" * 100_000,
    "sections that do not end": KERNEL + ".section .x {" * 20_000,
    "sources that do not end": KERNEL + ".nv_intermediate_source_section { .source_begin" * 20_000,
    "strings that do not end": KERNEL + ".section .x {" + '"' * 99_999,
    "values": KERNEL + ".global .b8 x[] = {" + "{}" * 50_000 + "1};",
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_do_not_try_everything(name: str) -> None:
    assert len(loaded(PATTERNS[name])) == 2


@pytest.mark.thorough
@pytest.mark.parametrize("name", LONG)
def test_long_texts_are_loaded(name: str) -> None:
    make, count = LONG[name]
    assert loaded(make(count), LOAD.partition("linker")[0]) == ["CUDA_SUCCESS"]
