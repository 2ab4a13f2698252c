"""The device that tests of kernels run on."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from cudapy.simulator.engine import settings
from cudapy.simulator.engine.run.spaces import Spaces

from .machine import Machine
from .machine_emulator import EMULATED, emulate


@pytest.fixture
def machine(nvrtc: ModuleType) -> Iterator[Machine]:
    """With all checks on: what is right here must be silent."""
    before = settings.current
    settings.current = settings.Settings(check_races=True, check_uninitialized=True)
    yield Machine()
    settings.current = before


@pytest.fixture
def left_to_python(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The spaces of the accesses that machine code left to Python."""
    spaces: list[str] = []
    at = Spaces.at

    def counted(self: Spaces, space: str, *arguments: Any) -> Any:
        spaces.append(space)
        return at(self, space, *arguments)

    monkeypatch.setattr(Spaces, "at", counted)
    return spaces


if EMULATED:

    @pytest.fixture(autouse=True)
    def _emulated(monkeypatch: pytest.MonkeyPatch) -> None:
        """Machine code is for AArch64, and runs in an emulator."""
        emulate(monkeypatch)
