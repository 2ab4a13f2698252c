"""What PyTorch finds when it is imported on the simulator: its allocator, and the import of its operators."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cudapy.simulator import pytorch

PROGRAM = """
import os, sys, torch
print([os.environ.get(name) for name in torch.VARIABLES], torch.asked)
print("numpy" in sys.modules, [name for name in sys.modules if name.startswith("cudapy.simulator.pytorch.")])
"""
TORCH = f"""
import os
VARIABLES = {pytorch.ALLOCATORS}
asked = 0
class backends:
    class cuda:
        def is_built():
            global asked
            asked += 1
            return False
"""


@pytest.mark.parametrize("chosen", [*pytorch.ALLOCATORS, ""])
def test_the_allocator_is_chosen_unless_the_user_has(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {chosen: "something"} if chosen else {}
    monkeypatch.setattr(os, "environ", environment)
    pytorch.choose_allocator()
    default = {pytorch.ALLOCATORS[0]: "backend:cudaMallocAsync"}
    assert environment == ({chosen: "something"} if chosen else default)


def test_a_pytorch_without_cuda_is_left_alone(tmp_path: Path) -> None:
    """It is looked at once it is imported; no operators are registered, and NumPy is not imported for it."""
    (tmp_path / "torch.py").write_text(TORCH)
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    names = (*pytorch.ALLOCATORS, "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    command = [sys.executable, "-m", "cudapy.simulator", "-c", PROGRAM]
    done = subprocess.run(
        command, env={**environment, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.stdout == "['backend:cudaMallocAsync', None, None] 1\nFalse []\n", done.stderr
