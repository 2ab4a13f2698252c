"""Triton gets a libcuda.so.1 to link with when it is imported on the simulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, triton, json, ctypes
folder = os.environ["TRITON_LIBCUDA_PATH"]
functions = ctypes.CDLL("libcuda.so.1")
print(json.dumps([folder, sorted(os.listdir(folder)), functions.cuInit(0), triton.seen]))
"""


def run(folder: Path, **variables: str) -> list[object]:
    """Run the program with a module `triton` of its own."""
    (folder / "triton.py").write_text('import os\nseen = os.environ.get("TRITON_LIBCUDA_PATH")\n')
    paths = os.pathsep.join([str(folder), str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": paths, **variables}
    command = [sys.executable, "-m", "cudapy.simulator", "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_a_library_is_there_until_the_process_ends(tmp_path: Path) -> None:
    folder, names, status, seen = run(tmp_path, TRITON_LIBCUDA_PATH="")
    assert (names, status, seen) == (["libcuda.so", "libcuda.so.1"], 0, "")
    assert not Path(folder).exists()


def test_what_the_user_has_chosen_stays(tmp_path: Path) -> None:
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    (chosen / "libcuda.so.1").symlink_to("/nowhere")
    folder, names, status, _ = run(tmp_path, TRITON_LIBCUDA_PATH=str(chosen))
    assert (folder, names, status) == (str(chosen), ["libcuda.so.1"], 0)
