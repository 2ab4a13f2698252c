"""A decoder of Zstandard frames, for Pythons without `compression.zstd`, which came with 3.14.

It is plain Python: 3 MB of what comes out take a second. Frames that need a dictionary are refused. Checksums
are not compared, as whoever unpacks a fat binary knows the size.

Source: RFC 8878, Zstandard Compression and the 'application/zstd' Media Type.
"""

from typing import NamedTuple

MAGIC = 0xFD2FB528
SKIPPABLE = 0x184D2A50
LARGEST_BLOCK = 128 << 10
DAMAGED = "the Zstandard frame is damaged"


class Table(NamedTuple):
    """An FSE table: for each state its symbol, and the next state is `base` plus a number of `bits` bits."""

    accuracy: int
    symbols: list[int]
    bits: list[int]
    bases: list[int]


class Codes(NamedTuple):
    """What the codes of one kind stand for, and the tables for them."""

    baselines: list[int]
    extra_bits: list[int]
    most_accuracy: int
    default: list[int]
    default_accuracy: int


def _baselines(first: int, plain: int, bits: list[int]) -> tuple[list[int], list[int]]:
    """`plain` codes for a value each, from `first`; then others with extra bits, each behind the last."""
    values, step = [*range(first, first + plain)], 1
    for count in bits:
        values.append(values[-1] + step)
        step = 1 << count
    return values, [0] * plain + bits


LITERALS = Codes(
    *_baselines(0, 16, [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]),
    9,
    [4, 3, *[2] * 11, 1, 1, 1, *[2] * 9, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1],
    6,
)
MATCHES = Codes(
    *_baselines(3, 32, [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]),
    9,
    [1, 4, 3, *[2] * 6, *[1] * 37, *[-1] * 7],
    6,
)
OFFSETS = Codes(
    [1 << code for code in range(32)], [*range(32)], 8, [*[1] * 6, 2, 2, 2, *[1] * 15, *[-1] * 5], 5
)


class _Backward:
    """Bits from the end of some bytes to their start; the highest bit of the last byte that is set ends them.

    In front of the first bit there are zeros: `position` is negative then.
    """

    def __init__(self, data: bytes) -> None:
        if not data or not data[-1]:
            raise ValueError(DAMAGED)
        self._data = data
        self.position = 8 * len(data) - 9 + data[-1].bit_length()

    def read(self, count: int) -> int:
        start = self.position = self.position - count
        if start < 0:
            known = start + count
            return (
                0 if known <= 0 else (int.from_bytes(self._data[:8], "little") & (1 << known) - 1) << -start
            )
        return int.from_bytes(self._data[start >> 3 : (start >> 3) + 8], "little") >> (start & 7) & (
            (1 << count) - 1
        )


def _table(counts: list[int], accuracy: int) -> Table:
    """The table of a distribution; -1 is a count of less than 1."""
    size = 1 << accuracy
    symbols = [0] * size
    high = size
    for symbol, count in enumerate(counts):
        if count == -1:
            high -= 1
            symbols[high] = symbol
    place = 0
    for symbol, count in enumerate(counts):
        for _ in range(max(count, 0)):
            symbols[place] = symbol
            place = place + (size >> 1) + (size >> 3) + 3 & size - 1
            while place >= high:
                place = place + (size >> 1) + (size >> 3) + 3 & size - 1
    nexts = [abs(count) for count in counts]
    bits, bases = [], []
    for symbol in symbols:
        state = nexts[symbol]
        nexts[symbol] += 1
        bits.append(accuracy + 1 - state.bit_length())
        bases.append((state << bits[-1]) - size)
    return Table(accuracy, symbols, bits, bases)


def _read_table(data: bytes, place: int, most: int, symbols: int) -> tuple[Table, int]:
    """The table that is described at `place`, and where what follows begins."""
    start = 8 * place

    def read(count: int) -> int:
        nonlocal start
        value = int.from_bytes(data[start >> 3 : (start >> 3) + 4], "little") >> (start & 7)
        start += count
        return value & (1 << count) - 1

    accuracy = read(4) + 5
    if accuracy > most:
        raise ValueError(DAMAGED)
    left, counts = 1 << accuracy, list[int]()
    while left > 0:
        bits = (left + 1).bit_length()
        low = (1 << bits - 1) - 1
        short = (1 << bits) - 2 - left
        value = read(bits)
        if value & low < short:
            start -= 1
            value &= low
        elif value > low:
            value -= short
        counts.append(value - 1)
        left -= abs(value - 1)
        while value == 1:
            repeated = read(2)
            counts += [0] * repeated
            if repeated != 3:
                break
        if len(counts) > symbols or start > 8 * len(data):
            raise ValueError(DAMAGED)
    if left:
        raise ValueError(DAMAGED)
    return _table(counts, accuracy), start + 7 >> 3


class Huffman(NamedTuple):
    """A Huffman table: the symbol of the next `most` bits, and how many of these are its code."""

    most: int
    symbols: bytes
    bits: list[int]

    def decode(self, data: bytes, count: int) -> bytes:
        """`count` symbols, which are all of the stream."""
        stream = _Backward(data)
        position, most = stream.position, self.most
        mask = (1 << most) - 1
        data = bytes(2) + data  # the table is asked for bits in front of the first as well
        position += 16
        output = bytearray(count)
        for i in range(count):
            start = position - most
            if start < 0:
                raise ValueError(DAMAGED)
            code = int.from_bytes(data[start >> 3 : (start >> 3) + 4], "little") >> (start & 7) & mask
            output[i] = self.symbols[code]
            position -= self.bits[code]
        if position != 16:
            raise ValueError(DAMAGED)
        return bytes(output)


def _huffman(data: bytes) -> tuple[Huffman, int]:
    """The Huffman table that is described at the start, and where what follows begins."""
    header = data[0]
    weights: list[int]
    if header >= 128:
        end = 1 + (header - 126 >> 1)
        weights = [half for byte in data[1:end] for half in (byte >> 4, byte & 15)][: header - 127]
    else:
        end = 1 + header
        weights = _weights(data[1:end])
    total = sum(1 << weight >> 1 for weight in weights)
    most = total.bit_length()
    rest = (1 << most) - total
    if not total or rest & rest - 1 or most > 11 or end > len(data):
        raise ValueError(DAMAGED)
    weights.append(rest.bit_length())
    symbols, bits = bytearray(), list[int]()
    for weight in range(1, most + 1):
        for symbol, its in enumerate(weights):
            if its == weight:
                symbols += bytes([symbol]) * (1 << weight - 1)
                bits += [most + 1 - weight] * (1 << weight - 1)
    if len(bits) != 1 << most:
        raise ValueError(DAMAGED)
    return Huffman(most, bytes(symbols), bits), end


def _weights(data: bytes) -> list[int]:
    """The weights of symbols: two states take turns until there are no more bits."""
    table, place = _read_table(data, 0, 6, 256)
    stream = _Backward(data[place:])
    state, other = stream.read(table.accuracy), stream.read(table.accuracy)
    weights: list[int] = []
    while len(weights) < 255:
        weights.append(table.symbols[state])
        state, other = other, table.bases[state] + stream.read(table.bits[state])
        if stream.position < 0:
            return [*weights, table.symbols[state]]
    raise ValueError(DAMAGED)


class _Frame:
    """Decodes the blocks of a frame: to `output`, which may have `size` bytes at most."""

    def __init__(self, output: bytearray, size: int) -> None:
        self._output = output
        self._start = len(output)
        self._size = size
        self._huffman: Huffman | None = None
        self._tables: dict[int, Table] = {}
        self._offsets = [1, 4, 8]

    def block(self, data: bytes) -> None:
        """Decode a compressed block."""
        literals, place = self._literals(data)
        count = data[place]
        place += 1
        if count >= 128:
            if count == 255:
                count = 0x7F00 + int.from_bytes(data[place : place + 2], "little")
                place += 1
            else:
                count = (count - 128 << 8) + data[place]
            place += 1
        if count:
            self._sequences(data, place, count, literals)
        else:
            self._add(literals)

    def _add(self, data: bytes | bytearray) -> None:
        if len(self._output) + len(data) > self._size:
            raise ValueError("there is more in the Zstandard frame than it says")
        self._output += data

    def _literals(self, data: bytes) -> tuple[bytes, int]:
        kind, form = data[0] & 3, data[0] >> 2 & 3
        if kind < 2:  # as they are, or one byte again and again
            length, shift = ((1, 3), (2, 4), (1, 3), (3, 4))[form]
            size = int.from_bytes(data[:length], "little") >> shift
            stored = size if kind == 0 else 1
            found = data[length : length + stored]
            if len(found) != stored or size > LARGEST_BLOCK:
                raise ValueError(DAMAGED)
            return found if kind == 0 else found * size, length + stored
        length, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        header = int.from_bytes(data[:length], "little") >> 4
        size, packed = header & (1 << bits) - 1, header >> bits
        body, end = data[length : length + packed], length + packed
        if size > LARGEST_BLOCK or len(body) != packed:
            raise ValueError(DAMAGED)
        if kind == 2:
            self._huffman, place = _huffman(body)
            body = body[place:]
        if self._huffman is None:
            raise ValueError(DAMAGED)
        if form == 0:
            return self._huffman.decode(body, size), end
        ends = [6]
        for i in range(0, 6, 2):
            ends.append(ends[-1] + int.from_bytes(body[i : i + 2], "little"))
        ends.append(len(body))
        quarter = (size + 3) // 4
        counts = [quarter, quarter, quarter, size - 3 * quarter]
        if counts[3] < 0:
            raise ValueError(DAMAGED)
        parts = [self._huffman.decode(body[ends[i] : ends[i + 1]], count) for i, count in enumerate(counts)]
        return b"".join(parts), end

    def _sequences(self, data: bytes, place: int, count: int, literals: bytes) -> None:
        """Decode the sequences, each of which is literals and a match, and do what they say."""
        modes = data[place]
        place += 1
        for shift, codes in (6, LITERALS), (4, OFFSETS), (2, MATCHES):
            place = self._choose(data, place, modes >> shift & 3, shift, codes)
        tables = [self._tables[shift] for shift in (6, 4, 2)]
        by_literals, by_offset, by_match = tables
        stream = _Backward(data[place:])
        read = stream.read
        literal, offset, match = (read(table.accuracy) for table in tables)
        used = 0
        for left in range(count - 1, -1, -1):
            code = by_offset.symbols[offset]
            distance = (1 << code) + read(code)
            code = by_match.symbols[match]
            length = MATCHES.baselines[code] + read(MATCHES.extra_bits[code])
            code = by_literals.symbols[literal]
            before = LITERALS.baselines[code] + read(LITERALS.extra_bits[code])
            if left:
                literal = by_literals.bases[literal] + read(by_literals.bits[literal])
                match = by_match.bases[match] + read(by_match.bits[match])
                offset = by_offset.bases[offset] + read(by_offset.bits[offset])
            if used + before > len(literals):
                raise ValueError(DAMAGED)
            self._add(literals[used : used + before])
            used += before
            self._copy(self._distance(distance, before), length)
        if stream.position:
            raise ValueError(DAMAGED)
        self._add(literals[used:])

    def _choose(self, data: bytes, place: int, mode: int, kind: int, codes: Codes) -> int:
        """Have the table that a block uses for a kind of codes; where what follows begins."""
        if mode == 0:
            self._tables[kind] = _table(codes.default, codes.default_accuracy)
        elif mode == 1:
            if data[place] >= len(codes.baselines):
                raise ValueError(DAMAGED)
            self._tables[kind] = Table(0, [data[place]], [0], [0])
            return place + 1
        elif mode == 2:
            self._tables[kind], place = _read_table(data, place, codes.most_accuracy, len(codes.baselines))
        elif kind not in self._tables:
            raise ValueError(DAMAGED)
        return place

    def _distance(self, value: int, literals: int) -> int:
        """How far back a match begins: 1 to 3 mean the last three distances."""
        recent = self._offsets
        if value > 3:
            recent[:] = [value - 3, *recent[:2]]
            return value - 3
        place = value - 1 + (literals == 0)
        distance = recent[place] if place < 3 else recent[0] - 1
        if place:
            recent[:] = [distance, recent[0], recent[2 if place == 1 else 1]]
        return distance

    def _copy(self, distance: int, length: int) -> None:
        """Add bytes that were there before; they may be what is added here."""
        start = len(self._output) - distance
        if distance <= 0 or start < self._start:
            raise ValueError(DAMAGED)
        found = self._output[start : start + length]
        if len(found) < length:
            found = (found * (length // len(found) + 1))[:length]
        self._add(found)


def decompress(data: bytes, size: int) -> bytes:
    """What was compressed to `data`, one frame or several. Raises ValueError if that is damaged, or if it is
    more than `size` bytes, as soon as that shows.
    """
    output = bytearray()
    place = 0
    try:
        while place < len(data):
            magic = int.from_bytes(data[place : place + 4], "little")
            if magic & ~15 == SKIPPABLE:
                place += 8 + int.from_bytes(data[place + 4 : place + 8], "little")
            elif magic == MAGIC:
                place = _decode(data, place + 4, output, size)
            else:
                raise ValueError(DAMAGED)
    except IndexError:
        raise ValueError(DAMAGED) from None
    if place != len(data):
        raise ValueError(DAMAGED)
    return bytes(output)


def _decode(data: bytes, place: int, output: bytearray, size: int) -> int:
    """Decode the frame whose header is at `place`; where it ends."""
    header = data[place]
    is_single, has_checksum = header >> 5 & 1, header >> 2 & 1
    place += 2 - is_single  # the size of the window: all of the output is kept
    length = (0, 1, 2, 4)[header & 3]
    if any(data[place : place + length]):
        raise ValueError("the Zstandard frame needs a dictionary")
    place += length
    length = (is_single, 2, 4, 8)[header >> 6]
    declared = int.from_bytes(data[place : place + length], "little") + 256 * (length == 2)
    if length and len(output) + declared > size:
        raise ValueError("there is more in the Zstandard frame than it says")
    place += length
    frame = _Frame(output, size)
    is_last = 0
    while not is_last:
        block = int.from_bytes(data[place : place + 3], "little")
        is_last, kind, length = block & 1, block >> 1 & 3, block >> 3
        place += 3
        stored = 1 if kind == 1 else length
        body = data[place : place + stored]
        if kind == 3 or len(body) != stored or length > LARGEST_BLOCK:
            raise ValueError(DAMAGED)
        if kind == 2:
            frame.block(body)
        else:
            if len(output) + length > size:
                raise ValueError("there is more in the Zstandard frame than it says")
            output += body if kind == 0 else body * length
        place += stored
    return place + 4 * has_checksum
