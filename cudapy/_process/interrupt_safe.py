"""What Ctrl-C may interrupt: the rules by which nothing is lost, and what they need.

CPython runs the handlers of signals in the main thread, where it checks for signals: as a function is
entered, after a call, as a loop begins again, and in 3.10 after any jump. Each of these places may raise
KeyboardInterrupt. A step of an iterator, a property whose function is C and an assignment do not. So:

- **The owner comes first.** What a function returns is lost if it is interrupted as it returns. So C writes
  what it creates into a cell (a handle, an address) of an owner that is there before. 0 in a cell says that
  nothing is owed. What a `finally` takes out of a list is appended inside its `try`.
- **One step.** A C function and the note of what it did have no check in between:

      (status,) = map(destroy, (cell,))
      if not status:
          cell.value = 0

  So do `spare.taken` and `spare.given = handle`, properties that are list.pop and list.append.
- **To the end.** A cleanup that is interrupted is done again, and notes what it has done. It has an
  `unchecked_entry`, or else it might be left before its `try`.
- **Finalizers.** What is raised in a `__del__` is printed and lost, and so is the rest of it. So a
  `finalizer` does all that it has to, and what came meanwhile is raised `later`, once Python is back in the
  program. What the garbage collector and weak references call is C: nobody hears what is raised there.

Comments with the name of this module mark the places that rely on that. docs/interrupting.md is for users.
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


def unchecked_entry(function: F) -> F:
    """`function`, which has to begin with `try`, entered without a check for signals.

    Which instructions check is CPython's own business: 3.10 does not where a function begins with `try`, and
    newer versions do not at a RESUME that follows an await.
    """
    code = function.__code__
    text = bytearray(code.co_code)
    for place in range(0, len(text), 2):
        if text[place] == _RESUME:
            text[place + 1] = _AFTER_AWAIT
            function.__code__ = code.replace(co_code=bytes(text))
            break
    return function


def has_unchecked_entry(function: Callable[..., Any]) -> bool:
    """Whether a function is entered without a check for signals, by its code."""
    text = function.__code__.co_code
    resumes = (text[place + 1] for place in range(0, len(text), 2) if text[place] == _RESUME)
    return next(resumes, 0) == _AFTER_AWAIT


def _arm() -> Callable[[Any], object]:
    """A C function that has Python call `bool` with an object at the main thread's next check."""
    api: Any = getattr(ctypes, "pythonapi", None)
    if api is None:
        return lambda _: _thread.interrupt_main()
    add = api["Py_AddPendingCall"]
    add.argtypes = ctypes.c_void_p, ctypes.py_object
    return partial(add, ctypes.cast(api["PyObject_IsTrue"], ctypes.c_void_p).value)


class _Later(list):  # type: ignore[type-arg]
    """What is to be raised at the main thread's next check: `later.noted = error`, then `later.armed`.

    Both are one step with what follows them: the check comes when the function that they end is over.
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


@unchecked_entry
def finish(action: Callable[[Any], object], argument: Any, error: BaseException) -> None:
    """Take `action(argument)`, which `error` interrupted, to its end; note what interrupts it last.

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

    An interrupted `function` is called again, to go on where it was.
    """

    @unchecked_entry
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
