"""What the handles that a program holds stand for."""

import itertools
from operator import attrgetter
from typing import Any, TypeVar

from .fresh_devices import BEFORE
from .refused import Refused

_objects: dict[int, Any] = {}
_kinds: dict[type, dict[int, Any]] = {}
"""The same, by class: there may be thousands of others."""
FIRST = 0x10000  # below are the numbers that the API itself gives to default streams
STEP = 0x10
_next = itertools.count(FIRST, STEP)

T = TypeVar("T", bound="Object")


class _Listed(type):
    """Lists a thing once it is whole: another thread may come across it from then on."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        instance = super().__call__(*args, **options)
        if instance.handle >= FIRST:
            relist(instance)
        return instance


class Object(metaclass=_Listed):
    """A thing with a handle, a number that no other thing has had before."""

    handle: int
    noun = "object"

    def __init__(self) -> None:
        self.handle = next(_next)

    def forget(self) -> None:
        """The handle is no more."""
        _objects.pop(self.handle, None)
        _kinds.get(type(self), {}).pop(self.handle, None)


def is_a(handle: int, cls: type[Object]) -> bool:
    """Whether there is a `cls` behind a handle."""
    return isinstance(_objects.get(handle), cls)


def find(handle: int | None, cls: type[T], status: str = "CUDA_ERROR_INVALID_HANDLE") -> T:
    """The `cls` behind a handle. Raises Refused with `status` if there is none, or no more."""
    obj = _objects.get(handle or 0)
    if not isinstance(obj, cls):
        if is_of_before(handle or 0):
            raise Refused(status, f"the {cls.noun} {handle:#x} {BEFORE}")
        article = "an" if cls.noun[0] in "aeio" else "a"
        raise Refused(status, f"{handle or 0:#x} is not {article} {cls.noun}, or was destroyed")
    return obj


class _Fresh:
    """first: the first handle that the devices of now have given out."""

    first = FIRST


def is_of_before(handle: int) -> bool:
    """Whether the devices of before a reset have given out a handle."""
    return FIRST <= handle < _Fresh.first and not handle % STEP


def was_reset() -> bool:
    """Whether the devices are not the first ones of this process."""
    return _Fresh.first != FIRST


def forget_all() -> None:
    """No handle that there is means anything any more."""
    _Fresh.first = next(_next)
    _objects.clear()
    _kinds.clear()


def relist(obj: Object) -> None:
    """The handle of a thing that was forgotten is its own again."""
    _kinds.setdefault(type(obj), {})[obj.handle] = _objects[obj.handle] = obj


def every(cls: type[T]) -> list[T]:
    """All that there are of a kind, the oldest first."""
    kinds = [objects for kind, objects in list(_kinds.items()) if objects and issubclass(kind, cls)]
    return sorted((obj for objects in kinds for obj in list(objects.values())), key=attrgetter("handle"))
