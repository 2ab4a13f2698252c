"""Refuses commits whose subject has more than 72 characters or says `wip`: `python .ci/subjects.py [BASE]`.

Without BASE, such as origin/main, all commits since the rule began are looked at, as many as the clone has: a
shallow one has few. A folder without a history, such as an unpacked source distribution, passes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

LIMIT = 72
BEGAN = "2026-11-28T22:26:00+00:00"
"""Commits before this have the subjects that they have."""
UNFINISHED = re.compile(r"(?i)(wip\b|fixup!|squash!|amend!)")


def mistakes(folder: Path, base: str = "") -> list[str]:
    """A line for each commit to be refused. Raises CalledProcessError for a BASE that git does not know."""
    git = ["git", "-C", str(folder)]
    head = subprocess.run([*git, "rev-parse", "--verify", "HEAD"], capture_output=True, text=True)
    if head.returncode:
        print(f"no history to look at: {head.stderr.strip()}", file=sys.stderr)
        return []
    command = [*git, "log", "--no-merges", "--format=%h%x09%cI%x09%s", *([f"{base}..HEAD"] if base else [])]
    history = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout
    found = []
    for line in history.splitlines():
        commit, date, subject = line.split("\t", 2)
        if datetime.fromisoformat(date.replace("Z", "+00:00")) < datetime.fromisoformat(BEGAN):
            continue
        if len(subject) > LIMIT:
            found.append(f"{commit}: {len(subject)} characters, {LIMIT} at most: {subject}")
        elif UNFINISHED.match(subject):
            found.append(f"{commit}: not finished: {subject}")
    return found


if __name__ == "__main__":
    refused = mistakes(Path(__file__).parents[1], *sys.argv[1:2])
    print("\n".join(refused), end="\n" if refused else "")
    sys.exit(bool(refused))
