"""What there is once, in one process."""

from typing import Any


class NotCopyable:
    """Base of what stands for something of CUDA's in this process.

    A copy would be its second owner, and to another process the address says nothing. Subclasses that mean
    something elsewhere have a `__reduce__` of their own. All can be referred to weakly.
    """

    __slots__ = ("__weakref__",)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(
            f"{type(self).__name__} objects cannot be copied or pickled: CUDA has what they stand for once, "
            "and in this process alone"
        )
