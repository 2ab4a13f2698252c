"""The kinds of kernel parameters: which are floats, which are integers.

A driver tells the size of a parameter, and nothing more; a cubin neither. PTX declares each with its type.
So a cubin that is made from PTX has, after its end, a note of what the PTX declared: loaders and linkers go
by the header of the ELF file, and do not see it. It stays with the cubin in caches, pickles and files.
Source: PTX ISA, "Kernel Function Parameters".
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from typing import NamedTuple

FLOAT, INTEGER, BITS = "f", "i", "b"


class Parameter(NamedTuple):
    """What is known of one parameter of a kernel.

    kind: FLOAT; INTEGER, which pointers are, too; BITS, of structs and all that PTX declares untyped; "" if
    nothing is known. size: in bytes; None if it is not known. name: "" if it has none but its number.
    """

    kind: str = ""
    size: int | None = None
    name: str = ""


Kernels = dict[str, list[Parameter]]

_NO_CODE = re.compile(rb'"[^"\n]*"|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)')
_ENTRY = re.compile(rb"\.entry\s+([\w$%]+)\s*(?:\(([^()]*)\))?")
_PARAMETER = re.compile(
    rb"\s*\.param\s+(?:\.align\s+\d+\s+)?\.([usbf])(8|16|32|64)\s+"
    rb"(?:\.ptr\s+(?:\.(?:const|global|local|shared)\s+)?(?:\.align\s+\d+\s+)?)?"
    rb"([\w$%]+)\s*(?:\[\s*(\d+)\s*\])?\s*"
)
_KINDS = {b"f": FLOAT, b"u": INTEGER, b"s": INTEGER, b"b": BITS}

_END = struct.Struct("<II16s")  # of a note: its length and its checksum, and what tells that it is one
_MARK = b"cudapy kernels 1"


def declared(ptx: bytes) -> Kernels:
    """The parameters of each kernel of `ptx`; a kernel with one that this cannot read is left out."""
    kinds = {}
    for kernel, listed in _ENTRY.findall(_NO_CODE.sub(b" ", ptx)):
        declarations = listed.split(b",") if listed.strip() else []
        matches = [_PARAMETER.fullmatch(one) for one in declarations]
        name = kernel.decode()
        parameters = [_parameter(name, i, match) for i, match in enumerate(matches) if match]
        if len(parameters) == len(matches):
            kinds[name] = parameters
    return kinds


def _parameter(kernel: str, index: int, match: re.Match[bytes]) -> Parameter:
    letter, bits, name, count = match.groups()
    known = name.decode()
    return Parameter(
        _KINDS[letter] if count is None else BITS,
        int(bits) // 8 * int(count or 1),
        "" if known == f"{kernel}_param_{index}" else known,  # what compilers call it
    )


def with_note(cubin: bytes, kernels: Kernels) -> bytes:
    """`cubin` with a note of the parameters of `kernels`; as it is if there is nothing to note."""
    if not kernels:
        return cubin
    note = json.dumps(kernels).encode()
    return b"%b%b%b" % (cubin, note, _END.pack(len(note), zlib.crc32(note), _MARK))


def without_note(cubin: bytes) -> bytes:
    """The cubin as its compiler made it."""
    return _split(cubin)[0]


def noted(cubin: bytes) -> Kernels:
    """What `with_note` has noted in a cubin."""
    note = _split(cubin)[1]
    kernels = json.loads(note).items() if note else ()
    return {kernel: [Parameter(*one) for one in listed] for kernel, listed in kernels}


def _split(cubin: bytes) -> tuple[bytes, bytes]:
    """A cubin and its note, which is empty if it has none that is whole."""
    end = len(cubin) - _END.size
    size, checksum, mark = _END.unpack_from(cubin, end) if end >= 0 else (0, 0, b"")
    if mark != _MARK or size > end or zlib.crc32(cubin[end - size : end]) != checksum:
        return cubin, b""
    return cubin[: end - size], cubin[end - size : end]
