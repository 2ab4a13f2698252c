"""Arguments of any library's arrays, as views of them."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .strided import StridedMemoryView


class _StridedMemoryViewProxy:
    """An argument that becomes a StridedMemoryView when the stream is known."""

    def __init__(self, obj: object) -> None:
        self.obj = obj
        self.has_dlpack = hasattr(obj, "__dlpack__")

    def view(self, stream_ptr: int | None = None) -> StridedMemoryView:
        """The view, for work in the stream at `stream_ptr`; -1: nothing is waited for."""
        return StridedMemoryView.from_any_interface(self.obj, stream_ptr)


def args_viewable_as_strided_memory(
    arg_indices: Sequence[int],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a function take arrays of any library: its arguments at `arg_indices` get a method `view`.

    `x.view(stream_ptr)` returns a StridedMemoryView, for work in that stream.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            given = list(args)
            for index in arg_indices:
                if not -len(given) <= index < len(given):
                    raise TypeError(f"{function.__qualname__}() takes argument {index} by position")
                given[index] = _StridedMemoryViewProxy(given[index])
            return function(*given, **kwargs)

        return wrapped

    return decorate
