"""Numba next to a NumPy that has dropped a name which numba-cuda asks for at its first kernel."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from benchmark import peers
from cudapy import simulator
from samples.interop import numba_memory


class NumbaCuda(ModuleType):
    """As much of numba.cuda as is used up to a first kernel; `found` is what NumPy had under its old name."""

    HostOnlyCUDAMemoryManager = object

    def set_memory_manager(self, manager: type) -> None:
        pass

    def is_available(self) -> bool:
        self.found = np.row_stack
        return False

    def external_stream(self, handle: int) -> int:
        return handle

    def jit(self, function: Callable[..., None]) -> NumbaCuda:
        self.found = np.row_stack
        return self

    def __getitem__(self, configuration: tuple[int, int, int]) -> Callable[[], None]:
        return lambda: None


@pytest.fixture
def numba(monkeypatch: pytest.MonkeyPatch) -> NumbaCuda:
    """The stand-in, as if it were installed."""
    package, cuda = ModuleType("numba"), NumbaCuda("numba.cuda")
    package.__spec__ = ModuleSpec("numba", None)
    monkeypatch.setitem(sys.modules, "numba", package)
    monkeypatch.setitem(sys.modules, "numba.cuda", cuda)
    return cuda


def sample(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(simulator, "stand_in", lambda: False)
    assert numba_memory.main() == 77
    assert capsys.readouterr().out == "WAIVED: Numba finds no GPU\n"


def contender(*_: object) -> None:
    peers.with_numba(SimpleNamespace(stream=0, drain=int), "empty")


@pytest.mark.parametrize("use", [sample, contender])
@pytest.mark.parametrize("dropped", [True, False])
def test_numba_finds_the_name_that_numpy_dropped(
    use: Callable[..., None],
    dropped: bool,
    numba: NumbaCuda,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def of_numpy() -> None:
        """NumPy's own, which stays where there is one."""

    monkeypatch.setattr(np, "row_stack", of_numpy, raising=False)
    if dropped:
        monkeypatch.delattr(np, "row_stack")
    use(monkeypatch, capsys)
    assert numba.found is (np.vstack if dropped else of_numpy)
