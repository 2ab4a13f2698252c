"""The thread that drops what graphs held: no call of the program's need come by for that."""

import atexit
import threading
import time
from collections.abc import Callable

from ..._ffi.semaphores import Signal
from . import owned
from .captures import captures

_HERE = "what graphs held is dropped in a thread that knows of no capture"
_PAUSES = 0, 0.001, 0.01, 0.1  # seconds: the driver posts the two of a pair one after the other


class Sweeper:
    """Calls `sweep` whenever `signal` was sent, in a daemon thread that ends with the interpreter.

    Where no thread can be started, as in some subinterpreters, it does nothing.
    """

    def __init__(self, sweep: Callable[[], object]) -> None:
        self.process = owned.process
        self.signal = Signal()
        self.expected = self.dropped = 0  # how many things, by whoever swept
        self._sweep = sweep
        self._is_over = False
        self._here = f"{_HERE} ({id(self)})"  # finalizers may start two of them
        self._thread = threading.Thread(target=self._run, name="cudapy graphs", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the next wait sweeps
            return
        atexit.register(self._stop)

    def _run(self) -> None:
        while self.signal.wait() and not self._is_over:
            self.expected += 1
            captures.may_be_active.add(self._here)
            try:
                for pause in _PAUSES:
                    time.sleep(pause)
                    self._sweep()
                    if self.dropped >= self.expected:
                        break
            finally:
                captures.may_be_active.discard(self._here)

    def _stop(self) -> None:
        if self.process is owned.process:
            self._is_over = True
            self.signal.send()
            self._thread.join(1)
