"""The decoder of Zstandard: frames that libzstd wrote, damaged ones, and ones that are too large."""

from __future__ import annotations

import base64
import ctypes
import ctypes.util
import random

import pytest

from cudapy.simulator.code import zstd

TEXT = b"".join(b"add.s32 %%r%d, %%r%d, %d;\n" % (i % 7, i * i % 11, i % 5) for i in range(400))
NUMBERS = bytes((i * i * 7 + i // 3) % 97 % (1 + i % 41) for i in range(900))
PACKED_TEXT = base64.b85decode(
    "D77#BV9*~03IN8LE)%e)(gC;v47P<QNhY$aBkBSU0yY3603!g3XzPn2hd7dkV;p{xF+>tNywq?OI^<B4A%_PSp|B(rrh!n9A%s"
    "E#Fc5_>2p||d5GW`h2tGx$^(msQPZ4c>ifHRoL|dOC+WHjH)~ATJK1H<kDWa_}TVEpD`V!IBmx#8$M6~rKqOC6xZGDMo>r+Hqp"
    "Ca1&6wx*S(bkuUw!TEP^(CUMFA;5hiD>IfL|b1X+WHdF)|ZI3zC;v(gQyYU3+)+^D@Z{KjR6v15g-H#0YXp`3_btneFHd{--66"
    "D8ZHFQ1)(`XY)ViK6NaY3(6~SdEjY&UCh=4OK{#Ll3lhLV1n7VO9zYlOt1ZLEENd%aR?WsN;l?b%lG=<}RX3Zkv6ir5+$>jMcd"
    "AkGrQ%DAFFC~*{m2jBR0R"
)
PACKED_NUMBERS = base64.b85decode(
    "D77#BV1xpl5dgMyf)5~8QV%`wii({5|KB*WQ+fb=0Du6jPu<KXS6~FK83amOXA=R4YGPzUs+Kq3`ad;~_{E4G9z02!Q3}+4{Ey"
    "_W{<OQz`sbGsAI4FsNeGJ*87lyU4V9_CcG*?tHUGHA;8aXcm023$h7LnL_gz^bg^;4&)jX1(=Ro9leI&Q>{R?V+-0fP`R){m7`"
    "H-RNhxRD>d(}MSu%c-Jgkj84T0`TEM3=o_WA43b_w#wD;x<Cz3m{HoR9b#?s)Z7=FZ$*_SN}8Y6|P!6%*1ZKjHZ04*ov)Ws8{;"
    ")`af~7q><-vMV2fK0NC10jv-Yjb+1gFx&K?k7QkSThBYVf<*2yDEo3A!6^$TFgD1Q@13nLBOBG{JTW-=-Uj5Jg!2@HVxnSGDl4"
    "BnBYv^kkr6Z(!%`cDv0yTpohO?GTSPf-%&o!4&ri2b?@GW;974_V*H0YA!T-sPJU0%)n1!)b*3F{CJ2tWc#YWbR~#f-bAi&Q@O"
    "nrG-i44T#)=88szMVH(i0Vq1nlcu==^Gp=D>G*49e(D+mE5(Im11O1|@lyLzHZSx3N6r+Y!tEZCSRbrd>ug^r_qv*IPv8&<iXB"
    "bLY?#Wni4O+Z>TUl2!Lb_|fdXJ|5IJGz<;rizE^7a(@~UdS+2uuLjACfiP>jQ1s2y-YrD(IWH?RK!p(qas@Yn;rgyXCV2e=PlV"
    "%hoVQC)zw3)+?kxA}QvOlT9Zvs4S50R"
)
"""What libzstd 1.5 makes of the two at level 19."""


def frame(*blocks: tuple[int, int, bytes]) -> bytes:
    """A frame without a size: kinds, sizes and bodies of blocks."""
    parts = [zstd.MAGIC.to_bytes(4, "little"), b"\0\0"]
    for place, (kind, size, body) in enumerate(blocks):
        header = size << 3 | kind << 1 | (place == len(blocks) - 1)
        parts += [header.to_bytes(3, "little"), body]
    return b"".join(parts)


def test_the_tables_of_codes() -> None:
    for codes, count in (zstd.LITERALS, 36), (zstd.MATCHES, 53), (zstd.OFFSETS, 29):
        assert len(codes.default) == count
        assert sum(map(abs, codes.default)) == 1 << codes.default_accuracy
    assert (zstd.LITERALS.baselines[-1], zstd.MATCHES.baselines[-1]) == (65536, 65539)


@pytest.mark.parametrize(("packed", "text"), [(PACKED_TEXT, TEXT), (PACKED_NUMBERS, NUMBERS)])
def test_frames_of_libzstd(packed: bytes, text: bytes) -> None:
    assert zstd.decompress(packed, len(text)) == text
    skipped = (zstd.SKIPPABLE + 3).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"other"
    assert zstd.decompress(packed + skipped + packed, 2 * len(text)) == 2 * text
    with pytest.raises(ValueError, match="more in the Zstandard frame"):
        zstd.decompress(packed, len(text) - 1)


def test_blocks_of_each_kind() -> None:
    assert zstd.decompress(frame((0, 3, b"abc"), (1, 5, b"x"), (0, 0, b"")), 8) == b"abcxxxxx"
    with pytest.raises(ValueError, match="damaged"):
        zstd.decompress(frame((3, 1, b"x")), 9)


def test_a_few_bytes_that_are_very_many_are_refused_before_they_are_made() -> None:
    many = frame(*[(1, 100_000, b"x")] * 1000)
    with pytest.raises(ValueError, match="more in the Zstandard frame"):
        zstd.decompress(many, 1_000_000)
    declared = zstd.MAGIC.to_bytes(4, "little") + b"\xc0\0" + (1 << 50).to_bytes(8, "little")
    with pytest.raises(ValueError, match="more in the Zstandard frame"):
        zstd.decompress(declared, 1_000_000)


@pytest.mark.parametrize(("packed", "text"), [(PACKED_TEXT, TEXT), (PACKED_NUMBERS, NUMBERS)])
def test_damaged_frames(packed: bytes, text: bytes) -> None:
    """They are refused, or make something; nothing else is raised, and it is never too much."""
    numbers = random.Random(1)
    refused = 0
    for _ in range(150):
        damaged = bytearray(packed)
        damaged[numbers.randrange(len(packed))] = numbers.randrange(256)
        if numbers.random() < 0.3:
            del damaged[numbers.randrange(len(packed)) :]
        try:
            assert len(zstd.decompress(bytes(damaged), len(text))) <= len(text)
        except ValueError:
            refused += 1
    assert refused > 75


def test_a_dictionary_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a dictionary"):
        zstd.decompress(zstd.MAGIC.to_bytes(4, "little") + b"\1\0\5" + bytes(8), 8)


@pytest.mark.thorough
def test_what_libzstd_packs() -> None:
    """At all levels, from nothing to several blocks, from noise to text."""
    name = ctypes.util.find_library("zstd")
    if name is None:
        pytest.skip("the system has no libzstd to compare with")
    library = ctypes.CDLL(name)
    library.ZSTD_compress.restype = ctypes.c_size_t
    numbers = random.Random(2)
    words = [bytes(numbers.choices(b"abcdefgh .%rfd0123", k=numbers.randint(1, 9))) for _ in range(300)]
    for turn in range(120):
        size = numbers.choice([0, 1, 5, 100, 1000, 5000, 30000, 300000 if turn < 5 else 300])
        text = [
            numbers.randbytes(size),
            b"x" * size,
            b" ".join(numbers.choices(words, k=size // 5)),
            bytes(numbers.choices(range(200), [1 / (i + 1) for i in range(200)], k=size)),
        ][turn % 4]
        room = ctypes.create_string_buffer(2 * len(text) + 1000)
        level = numbers.choice([-5, 1, 3, 9, 19, 22])
        sizes = ctypes.c_size_t(len(room)), ctypes.c_size_t(len(text))
        count = library.ZSTD_compress(room, sizes[0], text, sizes[1], level)
        assert zstd.decompress(room.raw[:count], len(text)) == text, (turn, level)
