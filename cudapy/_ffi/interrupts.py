"""Ctrl-C where an exception is nobody's: in finalizers, and in Python functions that C calls.

Python runs the handler of a signal in the main thread, when it looks for signals: as a function is entered,
behind calls, and where a loop begins again. What the handler raises in a `__del__` is printed and lost, and
so is the rest of that `__del__`. So such a function is `entered` without a look, does all that it has to,
whatever comes meanwhile, and has what came raised once Python is back in the program:

    @finalizer
    def __del__(self): ...

Which instructions look is CPython's own business: 3.10 does not where a function begins with `try`, and newer
versions do not at a RESUME that follows an await.
"""

from __future__ import annotations

import _thread
import ctypes
import threading
from functools import partial
from opcode import opmap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

_RESUME, _AFTER_AWAIT = opmap.get("RESUME"), 3


def entered(function: F) -> F:
    """`function`, which has to begin with `try`, entered without a look for signals."""
    code = function.__code__
    text = bytearray(code.co_code)
    for place in range(0, len(text), 2):
        if text[place] == _RESUME:
            text[place + 1] = _AFTER_AWAIT
            function.__code__ = code.replace(co_code=bytes(text))
            break
    return function


def is_entered(function: Callable[..., Any]) -> bool:
    """Whether a function is `entered` without a look for signals, by what is written in its code."""
    text = function.__code__.co_code
    resumes = (text[place + 1] for place in range(0, len(text), 2) if text[place] == _RESUME)
    return next(resumes, 0) == _AFTER_AWAIT


def _arm() -> Callable[[Any], object]:
    """What has Python call `bool` with an object at the main thread's next look; a C function."""
    api: Any = getattr(ctypes, "pythonapi", None)
    if api is None:
        return lambda _: _thread.interrupt_main()
    add = api["Py_AddPendingCall"]
    add.argtypes = ctypes.c_void_p, ctypes.py_object
    return partial(add, ctypes.cast(api["PyObject_IsTrue"], ctypes.c_void_p).value)


class _Later(list):  # type: ignore[type-arg]
    """What is to be raised in the main thread at its next look: `later.noted = error`, then `later.armed`.

    Neither is a call of Python's, behind which it would look: that comes when the function they end is over.
    """

    noted = property(None, list.append)
    armed = property(_arm())

    def __bool__(self) -> bool:
        if len(self) > 1:
            self.armed  # noqa: B018
        if len(self):
            raise self.pop()
        return False


later = _Later()
if hasattr(ctypes, "pythonapi"):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(later))  # Python has its address until the process ends


@entered
def finish(action: Callable[[Any], object], argument: Any, error: BaseException) -> None:
    """Take `action(argument)`, which `error` interrupted, to its end; note the last of what interrupts it.

    Only the main thread is interrupted by signals: what another one was sent is raised.
    """
    try:
        action(argument)
        if threading.get_ident() != threading.main_thread().ident:
            raise error
        later.noted = error
    except Exception:
        later.noted = error
        raise
    except BaseException as again:
        if again is error:
            raise
        finish(action, argument, again)


def finalizer(function: Callable[[Any], None]) -> Callable[[Any], None]:
    """A `__del__` that does what `function` does, to the end, and loses no Ctrl-C.

    An interrupted `function` is called again, to go on where it was: it notes what it has done.
    """

    @entered
    def __del__(self: Any) -> None:  # noqa: N807
        try:
            function(self)
        except Exception:
            raise
        except BaseException as error:
            try:
                finish(function, self, error)
            finally:
                later.armed  # noqa: B018

    return __del__
