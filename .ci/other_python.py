"""Print the path of another Python than this one: of those there are, another at each commit.

On PATH, or of pyenv's; the versions that cudapy supports, if they can make an environment. This one's path if
there is no other.
"""

import glob
import os
import shutil
import subprocess
import sys

MINORS = (10, 11, 12, 13)


def works(python: str, minor: int) -> bool:
    """Whether it is that version: pyenv puts names on PATH that only say where to look."""
    program = f"import ctypes, ensurepip, sys, venv; sys.exit(sys.version_info[:2] != (3, {minor}))"
    return not subprocess.run([python, "-c", program], stderr=subprocess.DEVNULL, check=False).returncode


def others() -> list[str]:
    """A path for each other version that there is."""
    versions = os.path.join(os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"), "versions")
    found = []
    for minor in MINORS:
        if minor == sys.version_info.minor:
            continue
        on_path = shutil.which(f"python3.{minor}")
        paths = [*([on_path] if on_path else []), *sorted(glob.glob(f"{versions}/3.{minor}.*/bin/python"))]
        found += [path for path in paths if works(path, minor)][:1]
    return found


def turn() -> int:
    """How many commits there are."""
    command = ["git", "rev-list", "--count", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(done.stdout or 0)


if __name__ == "__main__":
    found = others() or [sys.executable]
    print(found[turn() % len(found)])
