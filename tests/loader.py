"""A pathfinder that has loaded nothing, for the tests of loading."""

from __future__ import annotations

import pytest

from cudapy import pathfinder


def forget_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pathfinder know of no library that was loaded, nor of a provider, until the test ends."""
    monkeypatch.setattr(pathfinder, "_loaded", {})
    monkeypatch.setattr(pathfinder, "_registered", {})
