"""What figures are read on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import datetime, timezone
from pathlib import Path

from .sides import COMMIT


def facts(folder: Path) -> dict[str, str]:
    """The date, the processor, the system, the Python, and the commit of `folder`."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "CPU": cpu(),
        "system": platform.platform(),
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "commit": commit(folder),
    }


def cpu() -> str:
    """The name of the processor, and how many cores there are."""
    try:
        named = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        named = None
    name = named[1] if named else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"


def commit(folder: Path) -> str:
    """The commit of a folder, with a plus sign if something was changed; "" where git knows none.

    For one that was unpacked to be measured, that of the variable TURNS_COMMIT.
    """
    if unpacked := os.environ.get(COMMIT):
        return unpacked

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    return (head := git("rev-parse", "--short", "HEAD")) and head + (
        "+" if git("status", "--porcelain", ".") else ""
    )


def reason(error: Exception) -> str:
    """What an exception says, in a line."""
    return (str(error).splitlines() or [type(error).__name__])[0]
