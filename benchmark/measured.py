"""The cudapy that is measured: this one, or one in which another commit was unpacked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from turns.rounds import Program

CUDAPY = "cudapy"
"""The subject of every row."""
ROOT = Path(__file__).resolve().parent.parent
MEASURED = Path(os.environ.get("TURNS_MEASURED") or ROOT)
"""The folder that cudapy is imported from."""


def environment(**variables: str) -> dict[str, str]:
    """The environment of programs that import the measured cudapy, where they start, with these variables."""
    path = [str(MEASURED), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    usual = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(path))}
    usual.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has been compiled
    return usual | variables


def program(command: Sequence[str], **variables: str) -> Program:
    """A process that imports the measured cudapy, or a peer."""
    return Program(command, environment(**variables), MEASURED)
