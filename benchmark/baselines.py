"""The baselines that are kept in a folder, by name, and what makes two of them comparable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from turns.comparison import Baseline, Rules, Unfit, of
from turns.document import Document

FOLDER = Path(__file__).parent / "kept"
RULES = Rules(
    same=("GPU", "CPU"),
    versions={"cuda.bindings": "cuda-bindings", "cuda.core": "cuda-core", "CuPy": "cupy-cuda13x"},
)


def save(name: str, documents: Sequence[Document]) -> Path:
    """Keep the ratios of several processes under a name."""
    FOLDER.mkdir(exist_ok=True)
    path = _path(name)
    of(documents).write(path)
    return path


def load(name: str) -> Baseline:
    """The baseline of that name. Raises Unfit if there is none."""
    try:
        return Baseline.read(_path(name))
    except FileNotFoundError:
        there = ", ".join(sorted(path.stem for path in FOLDER.glob("*.json"))) or "none"
        raise Unfit(f"there is no baseline {name!r}; there is: {there}") from None


def kept() -> list[Baseline]:
    """All that there are, the oldest first."""
    found = [Baseline.read(path) for path in FOLDER.glob("*.json")]
    return sorted(found, key=lambda baseline: baseline.machine.get("date", ""))


def history(machine: Mapping[str, str]) -> list[Baseline]:
    """Those that were read on such a machine, the oldest first."""
    return [b for b in kept() if all(b.machine.get(name) == machine.get(name) for name in RULES.same)]


def _path(name: str) -> Path:
    if not name or Path(name).name != name:
        raise Unfit(f"{name!r} is not the name of a file")
    return FOLDER / f"{name}.json"
