"""core on a real GPU: what fails says why, and nothing is lost but what has to be."""

from __future__ import annotations

import pytest

from cudapy import driver, simulator
from cudapy.core import CUDAError, LegacyPinnedMemoryResource

from .core_kernels import run
from .kernels import needs_no_sanitizer

pytestmark = pytest.mark.gpu


def test_our_sentences_are_not_the_drivers() -> None:
    from cudapy._types.meanings import CURESULT

    for status in driver.CUresult:
        found, theirs = driver.cuGetErrorString(status)
        if not found:
            assert CURESULT[status.name][0].rstrip(".").lower() != theirs.decode().rstrip(".").lower()


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("how", ["stream-ordered", "synchronous", "page-locked"])
def test_memory_that_there_is_not_is_a_memory_error(device, stream, how) -> None:
    """And what there was before is there afterwards."""
    device.sync()
    free, _ = driver.checked.cuMemGetInfo()
    with pytest.raises(MemoryError) as caught:
        if how == "stream-ordered":
            device.allocate(1 << 50, stream)
        elif how == "synchronous":
            driver.checked.cuMemAlloc(1 << 50)
        else:
            LegacyPinnedMemoryResource().allocate(1 << 50)
    assert isinstance(caught.value, CUDAError)
    assert caught.value.name == "CUDA_ERROR_OUT_OF_MEMORY" and "1125899906842624" in str(caught.value)
    device.sync()
    most = int(0.5 * free) if not simulator.is_enabled() else 256 << 20  # it writes to all that it gives
    pointer = driver.checked.cuMemAlloc(most)
    driver.checked.cuMemFree(pointer)
    assert driver.checked.cuMemGetInfo()[0] >= 0.99 * free


@pytest.mark.parametrize(
    ("body", "pointer", "name"),
    [
        ("*p = 1;", "0xdead0000", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        ('asm("trap;");', "None", "CUDA_ERROR_LAUNCH_FAILED|CUDA_ERROR_ILLEGAL_INSTRUCTION"),
        ("*(int *)((char *)p + 1) = 1;", "b", "CUDA_ERROR_MISALIGNED_ADDRESS"),
    ],
    ids=["address", "trap", "alignment"],
)
def test_a_fault_is_the_same_error_until_the_end(body, pointer, name) -> None:
    """Every call says it, with what to do; nothing that is dropped or closed afterwards says a word."""
    needs_no_sanitizer()
    process = run(
        "b = dev.allocate(64, s); e = s.record()\n"
        f"k = start({body!r}, {pointer})\n"
        "for f in (s.sync, dev.sync, s.record, lambda: dev.allocate(8, s), lambda: b.fill(0, stream=s)):\n"
        "    try: f()\n"
        "    except CUDAError as error: print(error.name, 'restart the process' in str(error))\n"
        "e.close(); b.close(); s.close(); del k, b, s, e\n"
    )
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    said = out.splitlines()
    assert len(said) == 5 and len(set(said)) == 1
    assert said[0] in [f"{each} True" for each in name.split("|")]


def test_the_driver_says_why(device, stream) -> None:
    if driver.checked.cuDriverGetVersion() < 12090:
        pytest.skip("the driver keeps no log before CUDA 12.9")
    with pytest.raises(CUDAError, match="The driver says: "):
        driver.checked.cuMemcpyHtoDAsync(0x10, b"1234", 4, stream.handle)
