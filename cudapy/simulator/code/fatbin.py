"""The code in a fat binary, unpacked."""

from ..._ffi.fatbin import LZ4, OLD, ZSTD, Entry
from ..refused import Refused

MOST = 48 << 20  # bytes of one piece of code, if it was packed
ALWAYS = 16 << 20  # bytes of code that may be packed as tightly as can be
TIGHTEST = 256  # bytes of code in a packed byte, if it is more than that; compilers reach a tenth of this


def unpacked(entry: Entry) -> bytes:
    """The code of an entry. Raises Refused if it is packed in a way that is unknown here, or damaged, or if
    a few bytes of it say that they are very many.
    """
    if entry.is_packed and entry.size > min(MOST, max(ALWAYS, TIGHTEST * len(entry.data))):
        raise Refused(
            "CUDA_ERROR_INVALID_IMAGE",
            f"{len(entry.data)} packed bytes in a fat binary are to be {entry.size} bytes of code. The"
            f" simulator unpacks {MOST >> 20} MiB at most, and {TIGHTEST} bytes from one if that is more than"
            f" {ALWAYS >> 20} MiB: make it with -compress=false",
        )
    if entry.flags & OLD:
        raise _packed("as before CUDA 12")
    if entry.flags & LZ4:
        return unpacked_lz4(entry.data, entry.size)
    if entry.flags & ZSTD:
        return _unpacked_zstd(entry.data, entry.size)
    return entry.data


def _packed(how: str) -> Refused:
    return Refused(
        "CUDA_ERROR_NO_BINARY_FOR_GPU",
        f"the fat binary is packed {how}, which the simulator cannot unpack here: make it with"
        " -compress=false or -compress-mode=speed",
    )


def unpacked_lz4(data: bytes, size: int) -> bytes:
    """What a block of LZ4 was made from. Raises Refused.

    Source: LZ4 Block Format Description, lz4.org.
    """
    output = bytearray()
    place = 0
    try:
        while True:
            token = data[place]
            count, place = _lz4_length(token >> 4, data, place + 1)
            if len(output) + count > size:
                raise IndexError
            output += data[place : place + count]
            place += count
            if place >= len(data):
                break
            distance = data[place] | data[place + 1] << 8
            count, place = _lz4_length(token & 15, data, place + 2)
            count += 4
            start = len(output) - distance
            if not distance or start < 0 or len(output) + count > size:
                raise IndexError
            while count:  # what is copied may be what is written here: twice as much of it each time
                piece = output[start : start + count]
                output += piece
                count -= len(piece)
        if len(output) != size:
            raise IndexError
    except IndexError:
        raise Refused("CUDA_ERROR_INVALID_IMAGE", "the packed code in the fat binary is damaged") from None
    return bytes(output)


def _lz4_length(start: int, data: bytes, place: int) -> tuple[int, int]:
    """A length that begins with four bits, and the place behind its further bytes. Raises IndexError."""
    if start == 15:
        more = 255
        while more == 255:
            more = data[place]
            place += 1
            start += more
    return start, place


def _unpacked_zstd(data: bytes, size: int) -> bytes:
    """What zstd was given, by Python's module, which is faster, since 3.14. Raises Refused."""
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        output = _by_decoder(data, size)
    else:
        window = {zstd.DecompressionParameter.window_log_max: MOST.bit_length() - 1}
        try:
            output = zstd.ZstdDecompressor(options=window).decompress(data, size + 1)
        except zstd.ZstdError:
            output = b""
    if len(output) != size:
        raise Refused("CUDA_ERROR_INVALID_IMAGE", "the packed code in the fat binary is damaged")
    return output


def _by_decoder(data: bytes, size: int) -> bytes:
    from .zstd import decompress

    try:
        return decompress(data, size)
    except ValueError:
        return b""
