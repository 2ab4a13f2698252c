"""What is known of matrix instructions and bulk copies when they are compiled: the first argument of the
methods that run them, made once.
"""

from typing import NamedTuple


class MatrixProduct(NamedTuple):
    """mma, mma.sp and wmma.mma."""

    shape: tuple[int, int, int]
    """Rows of d, columns of d, and the length of the sums."""
    kinds: tuple[str, str, str, str]
    """The types of elements of d, a, b and c."""
    registers: int
    """How many each thread has of d."""
    clamps: bool
    """`.satfinite`"""
    is_tiled: bool = False
    """wmma: where elements lie is nobody's business but the device's."""
    bits: str = ""
    """What is done with single bits, "xor" or "and"."""
    selector: int = 0
    """Of sparse products: which threads of four have the metadata."""


class WarpgroupProduct(NamedTuple):
    """wgmma.mma_async."""

    shape: tuple[int, int, int]
    kinds: tuple[str, str, str]
    """The types of elements of d, a and b."""
    signs: tuple[int, int]
    """What a and b are multiplied by: 1 or -1."""
    transposed: tuple[int, int]
    """Whether a and b are stored the other way round."""
    clamps: bool


class Tile(NamedTuple):
    """A matrix of wmma.load and wmma.store."""

    shape: tuple[int, int, int]
    which: str
    """a, b, c or d."""
    is_row: bool
    """Whether the elements of a row lie beside each other, or those of a column."""
    kind: str
    """The type of an element."""
    space: str
    registers: int
    """How many each thread has of it."""


class BulkCopy(NamedTuple):
    """cp.async.bulk and cp.reduce.async.bulk."""

    target: str
    """The space that is written: "cluster", "shared" or "global"."""
    source: str
    reduction: tuple[str, str] | None
    """The operation, and the type of an element; None for a copy."""


class TensorCopy(NamedTuple):
    """cp.async.bulk.tensor and cp.reduce.async.bulk.tensor."""

    target: str
    """The space that is written."""
    source: str
    operation: str
    """What a reduction does; "" for a copy."""
    zeros: int = 0
    """How many offsets of windows are 0, and are not said."""
