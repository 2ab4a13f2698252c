"""Forms of instructions that headers and compilers write besides the usual ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudapy.simulator.engine.module import PTXError

from .machine import computed

u2, u4, u8, f2, f4, f8 = np.uint16, np.uint32, np.uint64, np.float16, np.float32, np.float64


def words(count: int, seed: int) -> Any:
    return np.random.default_rng(seed).integers(0, 1 << 32, count, dtype=u4)


@pytest.mark.parametrize("combine", ["or", "and"])
@pytest.mark.parametrize("table", [0x80, 0xCA, 0x01])
def test_lop3_with_a_predicate(combine: str, table: int) -> None:
    a, b, c, e = (words(300, seed) for seed in range(4))
    a[:100] &= 0xFF
    b[:100] &= 0xFF00
    c[:100] &= 0xFF0000
    body = (
        f".reg .pred %t; setp.lt.u32 %t, %e, 0x80000000; lop3.{combine}.b32 %z|%p, %a, %b, %c, {table}, %t;"
    )
    logic = np.zeros(300, u4)
    for place in range(8):
        if table >> place & 1:
            bits = [one if place >> 2 - which & 1 else ~one for which, one in enumerate((a, b, c))]
            logic |= bits[0] & bits[1] & bits[2]
    other = e < 0x80000000
    truth = (logic != 0) | other if combine == "or" else (logic != 0) & other
    kinds = "b32 b32 b32 b32", "b32"
    assert np.array_equal(computed(body, *kinds, a, b, c, e), logic)
    found = computed(f"{body} selp.b32 %z, 1, 0, %p;", *kinds, a, b, c, e)
    assert np.array_equal(found, truth) and truth.any()
    only = computed(f"{body.replace('%z|%p', '_|%p')} selp.b32 %z, 1, 0, %p;", *kinds, a, b, c, e)
    assert np.array_equal(only, truth)


def test_lop3_without_its_predicate() -> None:
    with pytest.raises(PTXError, match="two destinations are expected"):
        computed("lop3.or.b32 %z, %a, %a, %a, 1, %p;", "b32", "b32", words(1, 1))


@pytest.mark.parametrize("order", ["vote.sync.ballot", "vote.ballot.sync"])
def test_modifiers_in_another_order(order: str) -> None:
    a = words(64, 5)
    body = f"setp.lt.u32 %p, %a, 0x80000000; {order}.b32 %z, %p, -1;"
    ballots = ((a < 0x80000000).reshape(2, 32) << np.arange(32, dtype=u8)).sum(1)
    assert np.array_equal(computed(body, "b32", "b32", a), ballots.repeat(32))


def test_loads_and_stores_of_devices() -> None:
    a = words(64, 6)
    body = "st.mmio.relaxed.sys.global.u32 [%scratch], %a; ld.relaxed.mmio.sys.global.u32 %z, [%scratch];"
    assert np.array_equal(computed(body, "b32", "b32", a), a)


@pytest.mark.parametrize("way", ["rn", "rz", "rm", "rp"])
def test_bfloats_to_others(way: str) -> None:
    """binary32 and binary64 hold each of them; binary16 does not."""
    a = np.arange(1 << 16).astype(u2)
    single = (a.astype(u4) << 16).view(f4)
    good = ~np.isnan(single)
    found = computed(f"cvt.{way}.f32.bf16 %z, %a;", "bf16", "f32", a)
    assert np.array_equal(found[good], single.view(u4)[good])
    found = computed(f"cvt.{way}.f64.bf16 %z, %a;", "bf16", "f64", a)
    assert np.array_equal(found.view(f8)[good], single[good].astype(f8))
    found = computed(f"cvt.{way}.f16.bf16 %z, %a;", "bf16", "b16", a).view(f2)
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = single.astype(f2)
        below = np.where(nearest.astype(f8) > single, np.nextafter(nearest, f2(-np.inf)), nearest)
        above = np.where(nearest.astype(f8) < single, np.nextafter(nearest, f2(np.inf)), nearest)
    toward_zero = np.where(np.signbit(single), above, below)
    expected = {"rn": nearest, "rm": below, "rp": above, "rz": toward_zero}[way]
    assert np.array_equal(found[good], expected[good])
    assert np.isnan(found[~good]).all()


@pytest.mark.parametrize("way", ["rn", "rz", "rm", "rp"])
def test_singles_to_bfloats_without_subnormal_numbers(way: str) -> None:
    a = np.concatenate((words(500, 7), words(500, 8) & 0x807FFFFF))
    flushed = np.where(a & 0x7F800000 == 0, a & 0x80000000, a)
    found = computed(f"cvt.{way}.ftz.bf16.f32 %z, %a;", "b32", "b16", a)
    assert np.array_equal(found, computed(f"cvt.{way}.bf16.f32 %z, %a;", "b32", "b16", flushed))


@pytest.mark.parametrize("kinds", ["bf16.f16", "f16.bf16"])
def test_half_formats_into_each_other_round_to_nearest(kinds: str) -> None:
    """ptxas makes the same instruction of both."""
    every = np.arange(1 << 16, dtype=np.uint16)
    plain, nearest = (computed(f"cvt{way}.{kinds} %z, %a;", "b16", "b16", every) for way in ("", ".rn"))
    assert np.array_equal(plain, nearest) and not np.array_equal(plain, every)


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_pairs_of_singles_round_to_nearest(name: str) -> None:
    a, b = (words(400, seed).view(u8) for seed in (9, 10))
    found, told = (
        computed(f"{name}{way}.f32x2 %z, %a, %b;", "b64 b64", "b64", a, b, target="sm_100a")
        for way in ("", ".rn")
    )
    assert np.array_equal(found, told)


def test_the_space_of_parameters() -> None:
    body = (
        ".reg .pred %q; mov.u64 %t, results; cvta.param.u64 %t, %t; isspacep.param::entry %p, %t; "
        "isspacep.param::entry %q, %out; selp.b32 %x, 1, 0, %p; selp.b32 %y, 2, 0, %q; or.b32 %z, %x, %y;"
    )
    assert set(computed(body, "b32", "b32", words(32, 1)).tolist()) == {1}


def test_short_addresses_of_parameters() -> None:
    """LLVM's short pointers: of the lower 32 bits cvta.param and ld.param make whole addresses."""
    body = (
        ".reg .b64 %u, %v, %w; mov.b32 %x, results; cvt.u64.u32 %t, %x; cvta.param.u64 %t, %t; "
        "ld.b64 %u, [%t]; ld.param.b64 %v, [%x]; ld.param.v2.b32 {%x, %y}, [%x]; mov.b64 %w, {%x, %y}; "
        "ld.param.b64 %t, [results]; xor.b64 %u, %u, %t; xor.b64 %v, %v, %t; xor.b64 %w, %w, %t; "
        "or.b64 %u, %u, %v; or.b64 %z, %u, %w;"
    )
    assert set(computed(body, "b32", "b64", words(32, 1)).tolist()) == {0}
