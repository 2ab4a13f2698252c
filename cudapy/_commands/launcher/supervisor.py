"""Runs a program in a process of its own, so that its end is seen: os._exit, exec, a signal."""

import ctypes
import os
import resource
import signal
import sys
from typing import NamedTuple, NoReturn

_PR_SET_PDEATHSIG = 1  # of sys/prctl.h


class Ended(NamedTuple):
    """A process that has ended, and its wait status."""

    pid: int
    status: int


def fork() -> Ended | None:
    """Start a process that is to be the program, where this returns None; here, wait for its end.

    The program does not notice: it has the same standard streams, process group and terminal. Signals for
    this process are passed on to it. It stops and goes on as the program does, and takes it along if it is
    killed. Raises OSError.
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    parent, signals = os.getpid(), signal.valid_signals()
    for_children = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, no status is kept
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        pid = os.fork()
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        raise
    if pid:
        return Ended(pid, _wait(pid))
    signal.signal(signal.SIGCHLD, for_children)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    return None


def _wait(pid: int) -> int:
    """Pass signals on to the program, as they are all blocked here, until it ends: its wait status."""
    while True:
        received = signal.sigwaitinfo(signal.valid_signals())
        if received.si_signo == signal.SIGCHLD:
            changed, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
            if changed and os.WIFSTOPPED(status):
                os.kill(os.getpid(), signal.SIGSTOP)
            elif changed:
                return status
        elif received.si_code <= 0:  # of a process; the terminal's goes to the program, too
            os.kill(pid, received.si_signo)


def execute(arguments: list[str], environment: dict[str, str]) -> NoReturn:
    """Become the program that `arguments` name, found in PATH. Raises OSError."""
    for name in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
        signal.signal(name, signal.SIG_DFL)
    os.execvpe(arguments[0], arguments, environment)


def end_as(status: int) -> NoReturn:
    """End this process as one with this wait status has ended."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        os.kill(os.getpid(), number)
        os._exit(128 + number)
    os._exit(os.WEXITSTATUS(status))
