"""printf of kernels against the C library of the host."""

from __future__ import annotations

import ctypes
import struct
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine.fault import Fault
from cudapy.simulator.engine.run.formatting import formatted

from .machine import Machine

NAN = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000000))[0]
FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    2.5,
    1e300,
    5e-324,
    1e-310,
    float("inf"),
    float("-inf"),
    float("nan"),
    NAN,
)
FORMATS = "%f,%F,%e,%E,%g,%G,%a,%A,%.0f,%#.0f,%.3e,%+.2f,% f,%010.3f,%-12g|,%12a,%-12a|"
FORMATS += ",%+a,% a,%.0a,%.1a,%.2A,%#.0a,%020a,%.15a,%08f,%+08e,%#g,%.0e,%5.1G"
INTEGERS = (
    "%d,%5d,%-5d|,%05d,%+d,% d,%.3d,%5.3d,%-5.3d|,%05.3d,%.0d,%+05d,%u,%+u,% u,%x,%#x,%#X,%08x,%#010x,%o,%#o"
)
INTEGERS += ",%.4o,%hd,%hhd,%hhu,%hu,%hhx,%hhX,%i"


def c_printf(text: str, argument: Any) -> str:
    """What the host makes of it."""
    out = ctypes.create_string_buffer(512)
    snprintf = ctypes.CDLL(None).snprintf
    snprintf.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]
    snprintf(out, 512, text.encode(), argument)
    return out.value.decode()


def mine(text: str, *arguments: bytes) -> str:
    rest = list(arguments)
    return formatted(
        text, lambda size: rest.pop(0)[:size], lambda address, most: {1: "hello"}[address][:most]
    )[0]


linux = pytest.mark.skipif(sys.platform != "linux", reason="what C leaves open is as in glibc")


@linux
@pytest.mark.parametrize("value", FLOATS, ids=lambda value: struct.pack(">d", value).hex())
def test_floats(value: float) -> None:
    for one in FORMATS.split(","):
        assert (one, mine(one, struct.pack("<d", value))) == (one, c_printf(one, ctypes.c_double(value)))


@linux
@pytest.mark.parametrize("value", [0, 1, -1, 42, -1000, 0x7FFFFFFF, -(1 << 31)])
def test_integers(value: int) -> None:
    for one in INTEGERS.split(","):
        assert (one, mine(one, struct.pack("<i", value))) == (one, c_printf(one, ctypes.c_int(value)))
        if "h" not in one:
            wide = one[:-1] + "ll" + one[-1] if one[-1] != "|" else one[:-2] + "ll" + one[-2:]
            large = value * 3_000_000_019
            expected = c_printf(wide, ctypes.c_longlong(large))
            assert (wide, mine(wide, struct.pack("<q", large))) == (wide, expected)


@linux
def test_texts_and_pointers() -> None:
    for one in ("%s", "%8s", "%-8s|", "%.2s", "%8.2s", "%.0s|"):
        assert mine(one, struct.pack("<Q", 1)) == c_printf(one, ctypes.c_char_p(b"hello"))
    assert mine("%s|%8s", *[struct.pack("<Q", 0)] * 2) == "(null)|  (null)"
    for address in (0, 0x1234):
        for one in ("%p", "%12p", "%-12p|"):
            assert mine(one, struct.pack("<Q", address)) == c_printf(one, ctypes.c_void_p(address))
    for one in ("%c", "%3c", "%-3c|"):
        assert mine(one, struct.pack("<i", 65)) == c_printf(one, ctypes.c_int(65))


def test_widths_that_are_arguments() -> None:
    four = [struct.pack("<i", number) for number in (6, 42, -6, 42, 3, -1)]
    assert mine("[%*d][%*d][%.*d]", *four) == "[    42][42    ][-001]"
    assert mine("[%.*f]", struct.pack("<i", -1), struct.pack("<d", 0.5)) == "[0.500000]"
    assert mine("%zu %jd %td", *[struct.pack("<q", -1)] * 3) == "18446744073709551615 -1 -1"
    assert formatted("%d%%%y %5", lambda size: b"\1\0\0\0", str) == ("1%%y %5", 1)


PROGRAM = r"""
extern "C" __global__ void k(double x, size_t n, int *count)
{
    *count = printf("%zu|%a|%-5d|%*d|%f|%hhd|%%\n", n, 1.0, 42, 7, 42, x, (signed char)-3);
}
"""


def test_in_a_kernel(nvrtc: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    machine = Machine()
    count = machine.zeros(1, np.int32)
    machine.run(machine.load(PROGRAM, 90), "k", 1, 1, np.float64(NAN), np.uint64(1 << 40), count)
    assert capfd.readouterr().out == "1099511627776|0x1p+0|42   |     42|-nan|-3|%\n"
    assert count.get()[0] == 6


SPACES = r"""
extern "C" __global__ void k(int first)
{
    __shared__ char common[16];
    char own[16];
    for (int i = 0; i < 6; i++) {
        common[i] = 'A' + i + first;
        own[i] = 'a' + i + first;
    }
    common[6] = own[6] = 0;
    printf("%s|%s|%.2s|%8s\n", common, own, own + 1, common + 4);
}
"""


def test_strings_of_shared_and_local_memory(nvrtc: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    machine = Machine()
    machine.run(machine.load(SPACES, 90), "k", 1, 1, np.int32(1))
    assert capfd.readouterr().out == "BCDEFG|bcdefg|cd|      FG\n"


def test_a_string_that_does_not_end(nvrtc: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    """It is read up to the precision, or up to the end of the memory, which is a fault."""
    source = (
        r"""extern "C" __global__ void k(char *text, int all) { printf(all ? "%s\n" : "%.3s\n", text); }"""
    )
    machine = Machine()
    text = machine.array(np.full(700, ord("x"), np.uint8))
    loaded = machine.load(source, 90)
    machine.run(loaded, "k", 1, 1, text, np.int32(0))
    assert capfd.readouterr().out == "xxx\n"
    with pytest.raises(Fault, match="0 bytes past the end of device memory of 700 bytes"):
        machine.run(loaded, "k", 1, 1, text, np.int32(1))
    for address in (16, 2**64 - 1):
        with pytest.raises(Fault, match=f"{address:#x}"):
            machine.run(loaded, "k", 1, 1, np.uint64(address), np.int32(1))


def test_an_assertion_s_message_in_local_memory(nvrtc: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    source = r"""
extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
extern "C" __global__ void k(int first)
{
    __shared__ char file[8];
    char message[8];
    for (int i = 0; i < 5; i++) {
        file[i] = 'p' + i + first;
        message[i] = 'a' + i + first;
    }
    file[5] = message[5] = 0;
    __assertfail(message, file, 7, "k", 1);
}
"""
    machine = Machine()
    with pytest.raises(Fault):
        machine.run(machine.load(source, 90), "k", 1, 1, np.int32(0))
    out, err = capfd.readouterr()
    assert "pqrst:7" in out + err and "abcde" in out + err
