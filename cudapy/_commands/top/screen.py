"""The terminal: a screen of its own, given back whatever happens, and keys as they are pressed."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

_ENTER = "\x1b[?1049h\x1b[?25l"  # the alternate screen, no cursor
_LEAVE = "\x1b[?25h\x1b[?1049l"
_QUIT = "qQ\x1b\x03\x04"
_POLL = 0.05  # seconds between two looks at the keyboard, where one cannot wait for it


def draw(lines: list[str], height: int) -> None:
    """Show lines from the top of the screen on; the last line says how many there is no room for."""
    if len(lines) > height:
        lines = [*lines[: height - 1], f"... {len(lines) - height + 1} more"]
    sys.stdout.write("\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in lines) + "\x1b[J")
    sys.stdout.flush()


@contextmanager
def screen() -> Iterator[None]:
    """A screen of its own for the block, also if the process is asked to end; keys are read one by one."""
    before = None
    asked = signal.getsignal(signal.SIGTERM)
    try:
        signal.signal(signal.SIGTERM, _end)
        before = _read_keys()
        sys.stdout.write(_ENTER)
        sys.stdout.flush()
        yield
    finally:
        with suppress(OSError):
            sys.stdout.write(_LEAVE)
            sys.stdout.flush()
        if before is not None:
            _restore(before)
        signal.signal(signal.SIGTERM, asked)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def quit_pressed(seconds: float) -> bool:
    """Wait so long; True, at once, if a key was pressed that ends the program: q, Esc, Ctrl-D."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        key = _key(left)
        if key and key in _QUIT:
            return True
    return False


if sys.platform == "win32":
    import msvcrt

    def _read_keys() -> None:
        os.system("")  # from then on the console knows escape sequences

    def _restore(before: None) -> None:
        """There is nothing to restore."""

    def _key(seconds: float) -> str:
        time.sleep(min(seconds, _POLL))
        return msvcrt.getwch() if sys.stdin.isatty() and msvcrt.kbhit() else ""

else:
    import select
    import termios
    import tty

    def _read_keys() -> Any:
        """Have keys read as they are pressed; what it was like before, None where there is no keyboard."""
        if not sys.stdin.isatty():
            return None
        before = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        return before

    def _restore(before: Any) -> None:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

    def _key(seconds: float) -> str:
        if not sys.stdin.isatty():
            time.sleep(seconds)
            return ""
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        if not ready:
            return ""
        typed = os.read(sys.stdin.fileno(), 32)  # past Python's buffer, which select does not see
        if not typed:  # the terminal is gone
            return "q"
        return "" if len(typed) > 1 and typed[:1] == b"\x1b" else chr(typed[0])  # an arrow is not an Esc
