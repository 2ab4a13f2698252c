"""Benchmarks whose contenders take turns, and comparisons of two commits with stated error rates.

README.md has examples. `turns.plugin` is the pytest plugin, `python -m turns` compares commits.
"""

from .document import Document, merged
from .record import Record
from .rounds import Loop, Program, Threads, Timed, Turns, interleave
from .twin import Absent, Twin, build

__all__ = [
    "Absent",
    "Document",
    "Loop",
    "Program",
    "Record",
    "Threads",
    "Timed",
    "Turns",
    "Twin",
    "build",
    "interleave",
    "merged",
]
__version__ = "0.1.0"
