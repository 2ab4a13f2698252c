"""Python's state of threads that Python did not make, kept for as long as they live.

ctypes makes such a thread's state when the thread calls, and destroys it when the call returns, with all that
Python keeps for the thread: its current context for one. So the first call on it takes the state once more,
and a destructor of the thread's own data, which runs when it ends, releases it. A thread of Python's
becomes such a one at its end, when destructors of C++ call.
"""

import ctypes
import sys

from .. import callbacks

_LOCKED = 0  # PyGILState_LOCKED
_PACKAGE = __name__.rpartition(".shared")[0]
_ensure = ctypes.pythonapi["PyGILState_Ensure"]
_release = ctypes.pythonapi["PyGILState_Release"]
_current = ctypes.pythonapi["PyThreadState_Get"]
_current.restype = ctypes.c_void_p


def _clear(state: int) -> int:
    """The thread ends whose state of Python was kept: whether the state is still to be deleted.

    glibc clears what Python knows of the thread before it calls this, so ctypes has made another state for
    the call. Until that is gone the old one cannot be deleted: since 3.12 the deletion takes from the
    thread whichever it has.
    """
    if _current() == state:
        _release(_LOCKED)  # ctypes holds it, too, until this returns
        return 0
    ctypes.pythonapi["PyThreadState_Clear"](ctypes.c_void_p(state))
    return 1


STEPS = (
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(_clear),
    ctypes.pythonapi["PyEval_RestoreThread"],
    ctypes.pythonapi["PyThreadState_DeleteCurrent"],
)
"""What the library's `thread_end` calls, in the order of machine_code.THREAD_STEPS."""


class _Key:
    """The key of the threads' own data: the address of the state that is kept."""

    def __init__(self, destructor: int) -> None:
        self._system = ctypes.CDLL(None)
        self._key = ctypes.c_uint()
        if self._system.pthread_key_create(ctypes.byref(self._key), ctypes.c_void_p(destructor)):
            raise OSError("there is no key left for data of threads: pthread_key_create failed")

    def keep(self) -> None:
        """Called at the first call on a thread, whatever made it."""
        if _is_foreign():
            _ensure()
            self._system.pthread_setspecific(self._key, ctypes.c_void_p(_current()))


def _is_foreign() -> bool:
    """Whether nothing of Python called: all frames of this thread are the simulator's."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).startswith(_PACKAGE)


def keep_states(destructor: int) -> None:
    """From now on keep them. destructor: the address of what calls STEPS until Python ends."""
    callbacks.keep_thread = _Key(destructor).keep
