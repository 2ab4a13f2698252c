"""What can be closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from .not_copyable import NotCopyable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .ownership.owned import Ownership

Self = TypeVar("Self", bound="Closable")


class Owner(NotCopyable):
    """Base of what may have an Ownership."""

    __slots__ = ("_ownership",)
    _ownership: Ownership | None  # None: what it stands for belongs to somebody else


class Closable(Owner):
    """Base of what can be closed. A closed object lacks its `_vital` attribute, and says so when asked.

    So an object in use is never tested for being open: that costs nothing until it matters. As in cuda.core,
    the `handle` of what is closed is a null one, which only callers are given; the package itself uses
    `_vital`.
    """

    __slots__ = ()
    _vital = "_handle"
    _elsewhere: ClassVar[Mapping[str, str]] = {}
    """What to write for names that other objects have, for messages."""

    def close(self) -> None:
        """Release what this object owns.

        Afterwards its handle is null, using it raises RuntimeError, and closing it again does nothing.
        """
        try:
            delattr(self, self._vital)
        except AttributeError:
            return
        ownership, self._ownership = self._ownership, None
        if ownership is not None:
            ownership.close()

    def _retain(self) -> object:
        """What keeps alive what this stands for, though it is closed; None: nothing can, or need."""
        return None

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        try:
            object.__getattribute__(self, self._vital)
        except AttributeError:
            return True
        return False

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == self._vital:
                raise RuntimeError(f"this {type(self).__name__} is closed")
            attribute = getattr(type(self), name, None)
            if isinstance(attribute, property):  # Python drops what it raised: let it say that again
                return attribute.__get__(self)
            elsewhere = self._elsewhere.get(name)
            hint = f": {elsewhere}" if elsewhere else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")
