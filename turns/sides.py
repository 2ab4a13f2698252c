"""Two versions of a project, measured in turns on one machine."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from .comparison import Baseline, Comparison, Rules, Unfit, of, tests
from .document import Document
from .progress import clock

MEASURED = "TURNS_MEASURED"
"""The environment variable with the folder that the subject is imported from."""
COMMIT = "TURNS_COMMIT"
"""The environment variable with the commit that was unpacked there."""


@dataclass(frozen=True)
class Suite:
    """What is measured by which tests.

    repository: the working tree. tests: arguments of pytest: files, folders, options. parts: the files and
    folders of the repository that are taken from another commit; all other files, the tests included, are
    those of the working tree on both sides. path: the folder in the repository that goes on sys.path.
    """

    repository: Path
    tests: Sequence[str]
    parts: Sequence[str]
    path: str = "."
    environment: Mapping[str, str] = field(default_factory=dict)

    def side(self, folder: Path) -> Side:
        """The working tree. folder: where its files of raw times go."""
        return Side(self, folder, self.repository)

    def side_of(self, folder: Path, commit: str) -> Side:
        """Another commit, whose parts are unpacked into `folder`. Raises Unfit."""
        command = ["git", "-C", str(self.repository), "archive", "--format=tar", commit, *self.parts]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            raise Unfit(f"commit {commit}: {done.stderr.decode().strip()}")
        unpacked = folder / "tree"
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(unpacked, filter="data")
        return Side(self, folder, unpacked, _short(self.repository, commit))


class Side:
    """One of the versions: where it is, and what was measured with it."""

    def __init__(self, suite: Suite, folder: Path, measured: Path, commit: str = "") -> None:
        self.folder, self.measured = folder, measured
        self.documents: list[Document] = []
        self.status = 0
        """The first exit code of pytest that is not 0."""
        path = str((measured / suite.path).resolve())
        here = str(Path(__file__).resolve().parent.parent)  # this package may not be installed
        paths = [path, str(suite.repository), here, *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment = {
            **os.environ,
            **suite.environment,
            "PYTHONHASHSEED": "0",  # else dictionaries have other collisions
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
            MEASURED: str(measured),
            COMMIT: commit,
        }
        self.command = [
            *(sys.executable, "-m", "pytest", f"--rootdir={suite.repository}", "-qq", "-rN", "--tb=native"),
            *("-p", "no:cacheprovider", "-p", "turns.plugin", "--turns-progress"),
            *("-o", "console_output_style=classic", "-o", f"pythonpath={path} {suite.repository} {here}"),
            *suite.tests,
        ]
        self.where = suite.repository

    def measure(self, arguments: Sequence[str] = ()) -> None:
        """Measure in one more process."""
        self.folder.mkdir(exist_ok=True, parents=True)
        raw = self.folder / f"{len(self.documents)}.json"
        command = [*self.command, f"--turns-raw={raw}", *arguments]
        if (earlier := self.folder / "0.json").exists():
            command.append(f"--turns-expect={earlier}")
        done = subprocess.run(command, cwd=self.where, env=self.environment)
        self.status = self.status or done.returncode
        if raw.exists():
            self.documents.append(Document.read(raw))


def compare(
    before: Side | Baseline,
    now: Side,
    rules: Rules,
    arguments: Sequence[str] = (),
    seconds: float = 0,
    say: Callable[[str], object] = lambda line: print(line, file=sys.stderr, flush=True),
    clock_now: Callable[[], float] = monotonic,
) -> Comparison:
    """Measure both in turns, or `now` alone next to what was kept, until each row is decided.

    seconds: the time it may take, 0 for any; a look that would take longer is not begun, and rows are
    UNDECIDED then. arguments: more arguments of pytest. Raises Unfit where there is nothing to compare.
    """
    comparison = Comparison(rules)
    sides = [before, now] if isinstance(before, Side) else [now]
    began = clock_now()
    done, asked = 0, list(arguments)
    last = 0.0
    while comparison.processes and (not done or comparison.open):
        wanted = comparison.processes
        if done and seconds and clock_now() - began + last * (wanted - done) > seconds:
            say(f"the time is up: {len(comparison.open)} rows are undecided")
            break
        while done < wanted:
            say(_progress(done, wanted, rules.looks[-1], len(comparison.open), last))
            started = clock_now()
            for side in sides:
                side.measure(asked)
            last, done = clock_now() - started, done + 1
            if any(not side.documents for side in sides):
                raise Unfit("nothing was measured")
        kept = of(before.documents) if isinstance(before, Side) else before
        comparison.look(kept, of(now.documents))
        asked = [*arguments, *(f"--turns-only={test}" for test in tests(now.documents, comparison.open))]
    return comparison


def _progress(done: int, wanted: int, most: int, open_: int, last: float) -> str:
    """A line such as "run 7 of 10, 3 rows open, 40 s to the next decision, at most 4 min 10 s in all"."""
    line = f"run {done + 1} of {wanted}"
    if open_:
        line += f", {open_} row{'s' * (open_ != 1)} open"
    if last:
        line += f", {clock(last * (wanted - done))} left"
        if wanted < most:
            line += f" to the next decision, at most {clock(last * (most - done))} in all"
    return line


def _short(repository: Path, commit: str) -> str:
    command = ["git", "-C", str(repository), "rev-parse", "--short", f"{commit}^{{commit}}"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or commit
