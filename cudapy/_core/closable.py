"""What there is once, in one process, and what of it can be closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .ownership.owned import Ownership

Self = TypeVar("Self", bound="Closable")


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


class Owner(NotCopyable):
    """Base of what may have an Ownership."""

    __slots__ = ("_ownership",)
    _ownership: Ownership | None  # None: what it stands for belongs to somebody else


class Closable(Owner):
    """Base of what can be closed. A closed object lacks its `_vital` attribute, and says so when asked.

    So an object in use is never tested for being open: that costs nothing until it matters. As in cuda.core,
    the `handle` of what is closed is a null one, which only callers are given; the package itself uses what
    raises.
    """

    __slots__ = ()
    _vital = "_handle"

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

    def _closed(self) -> RuntimeError:
        """What the use of a closed one raises."""
        return RuntimeError(f"this {type(self).__name__} is closed")

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


class SlotClosable(Closable):
    """Base of what says that it is closed as it is asked for its `_vital` slot."""

    __slots__ = ()
    _elsewhere: ClassVar[Mapping[str, str]] = {}
    """What to write for names that other objects have, for messages."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name == self._vital:
                raise self._closed()
            attribute = getattr(type(self), name, None)
            if isinstance(attribute, property):  # Python drops what it raised: let it say that again
                return attribute.__get__(self)
            raise _no_attribute(self, name, self._elsewhere.get(name))


class Elsewhere:
    """A name that other objects have, for the message that says what to write instead."""

    def __init__(self, hint: str) -> None:
        self._hint = hint

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise _no_attribute(instance or owner, self._name, self._hint)


def _no_attribute(obj: object, name: str, hint: str | None) -> AttributeError:
    who = f"type object {obj.__name__!r}" if isinstance(obj, type) else f"{type(obj).__name__!r} object"
    return AttributeError(f"{who} has no attribute {name!r}{f': {hint}' if hint else ''}")
