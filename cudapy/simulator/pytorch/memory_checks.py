"""What operators do with memory, for the checks of `python -m cudapy.simulator`.

Memory that was freed is a fault. An operator that computes with bytes that nobody wrote, or brings them to
the host, is reported, with the line of the program that called it. One that only moves elements moves the
undefined bits with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import record
from ..calling import call_site
from ..engine import classes, settings
from ..memory.allocations import table
from ..stderr import say
from .distributions import DISTRIBUTIONS
from .tensors import each_tensor, over

MOVES = frozenset(("cat", "copy_", "flip", "gather", "index_select", "roll"))
"""Operators whose results have the bytes of their arguments' elements. The first argument is moved, of
`copy_` the second; others say which elements."""
OVERWRITES = frozenset(
    (
        "_foreach_copy_",
        "_foreach_zero_",
        "_index_put_impl_",
        "copy_",
        "fill_",
        "index_copy_",
        "index_fill_",
        "masked_fill_",
        "masked_scatter_",
        "put_",
        "zero_",
    )
)
"""Operators that write to their first argument, or a part of it, and do not read it."""


def is_looked_for() -> bool:
    """Whether undefined bytes are looked for at all."""
    return settings.current.check_uninitialized


def require(name: str, storages: dict[int, Any]) -> None:
    """Report a fault, and raise RuntimeError, unless all memory of an operator's arguments is allocated.

    storages: by their addresses.
    """
    for address, storage in storages.items():
        _require(name, address, storage.nbytes())


def _require(name: str, address: int, size: int) -> None:
    allocation = table.find(address)
    if allocation is not None and address + size <= allocation.end:
        return
    gone = table.released(address)
    what = f"{gone!r} that was freed" if allocation is None and gone is not None else None
    if what is None:
        what = f"memory that is not allocated, near {allocation or table.nearest(address)!r}"
    line = _line()
    report = f"aten::{name}: a tensor of {size} bytes at {address:#x} lies in {what}\n    called at {line}"
    record.note(record.FAULT, report, line=line)
    raise RuntimeError(report)


def mark(tensor: Any) -> None:
    """Reads of this tensor's memory are not reads of uninitialized memory from now on."""
    undefined = undefined_elements(tensor) if tensor.is_cuda else None
    if undefined is not None:
        undefined[...] = 0


def undefined_bits(tensor: Any) -> Any:
    """The undefined bits of the memory that a tensor's storage has; None if all of them are defined."""
    storage = tensor.untyped_storage()
    allocation = table.find(storage.data_ptr()) if storage.nbytes() else None
    if allocation is None or allocation.undefined is None:
        return None
    start = storage.data_ptr() - allocation.address
    bits = allocation.undefined.changing()[start : start + storage.nbytes()]
    return bits if len(bits) == storage.nbytes() else None


def undefined_elements(tensor: Any) -> Any:
    """The undefined bits of a tensor's elements, a row of bytes for each; None if there is none."""
    if not tensor.numel() or tensor.layout != torch.strided:
        return None
    bits = undefined_bits(tensor)
    if bits is None or not bits.any():
        return None
    size = tensor.element_size()
    first = bits[tensor.storage_offset() * size :]
    strides = [stride * size for stride in tensor.stride()]
    return np.lib.stride_tricks.as_strided(first, (*tensor.size(), size), (*strides, 1))


def read_by(name: str, written: list[tuple[int, str]], args: Any, kwargs: Any) -> list[Any]:
    """The tensors that a call of an operator reads.

    written: the names of the arguments that it writes, by their places.
    """
    is_first_read = name.partition(".")[0] not in OVERWRITES and name not in DISTRIBUTIONS
    skipped = {place for place, name in written if name.startswith("out") or not (place or is_first_read)}
    names = {name for _, name in written if name.startswith("out")}
    tensors: list[Any] = []
    each_tensor([each for place, each in enumerate(args) if place not in skipped], tensors.append)
    each_tensor([each for name, each in kwargs.items() if name not in names], tensors.append)
    return tensors


class Reads:
    """What one call of an operator reads that nobody wrote. The parameters are those of `read_by`."""

    def __init__(self, name: str, written: list[tuple[int, str]], args: Any, kwargs: Any) -> None:
        self._name = name
        self._base = name.partition(".")[0]
        self._found = [tensor for tensor in read_by(name, written, args, kwargs) if _undefined(tensor)]

    def look(self, args: Any) -> bool:
        """Report what is computed with. Returns whether something is moved instead."""
        if not self._found:
            return False
        if self._base in MOVES and "." not in self._name and self._is_move(args):
            return True
        for tensor in self._found:
            _report(self._name, tensor)
        return False

    def _is_move(self, args: Any) -> bool:
        """Whether elements stay what they are, and on the device."""
        if self._name == "copy_":
            return bool(args[0].is_cuda and args[0].dtype == args[1].dtype)
        moved: list[Any] = []
        each_tensor(args[:1], moved.append)
        return len({tensor.dtype for tensor in moved}) == 1 and all(
            any(tensor is each for each in moved) for tensor in self._found
        )

    def move(self, compute: Callable[..., Any], args: Any, kwargs: Any, result: Any) -> None:
        """Undefined bits are what they were, at another place: the same operator moves them.

        args, kwargs: those of the CPU's operator, with the views of `Views`; result: a CUDA tensor.
        """
        count = 2 if self._name == "copy_" else 1
        shadowed = [_shadows(each) if place < count else each for place, each in enumerate(args)]
        moved = compute(*shadowed, **kwargs)
        if self._name != "copy_":
            _shadow(result).copy_(moved)


def _line() -> str:
    call = call_site()
    return call.shown if call.file else ""


def _undefined(tensor: Any) -> int:
    """How many elements of a CUDA tensor nobody wrote."""
    bits = undefined_elements(tensor) if tensor.is_cuda else None
    return 0 if bits is None else int(np.count_nonzero(bits.any(-1)))


def _shadows(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _shadow(value)
    return [_shadow(each) for each in value] if isinstance(value, (list, tuple)) else value


def _shadow(tensor: Any) -> Any:
    """The undefined bits of a tensor, or of the CPU's view of one, as a tensor of the same type."""
    bits = undefined_bits(tensor)
    if bits is None:
        return torch.zeros(tensor.size(), dtype=tensor.dtype)
    return over(bits.ctypes.data, tensor)


def _report(name: str, tensor: Any) -> None:
    """Tell of it once: the elements count as written from now on."""
    count, line = _undefined(tensor), _line()
    if not count:
        return
    report = (
        f"aten::{name}: read of memory that nobody wrote\n"
        f"    {count} of {tensor.numel()} elements of a tensor of {str(tensor.dtype).partition('.')[2]} at"
        f" {tensor.data_ptr():#x}"
    )
    report += f"\n    called at {line}" if line else ""
    record.note(classes.UNINITIALIZED, report, line=line)
    if say(report):
        record.note_told(report)
    undefined_elements(tensor)[...] = 0
