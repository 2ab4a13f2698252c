"""What there is once, in one process."""

from __future__ import annotations

from typing import Any


class Unique:
    """Base of what stands for something of CUDA's in this process.

    A copy would be its second owner, and to another process the address says nothing. Subclasses that mean
    something elsewhere have a `__reduce__` of their own.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            f"{type(self).__name__} objects cannot be pickled or copied: CUDA has what they stand for once, "
            "and in this process alone"
        )
