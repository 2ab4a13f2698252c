"""`python -m cudapy ranks`: a process for each rank."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cudapy._commands import ranks

SAYS = """
import json, os, sys
names = "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"
with open(sys.argv[1] + "/" + os.environ["RANK"], "w") as file:
    json.dump([{name: os.environ[name] for name in names}, sys.argv[2:]], file)
"""


def started(tmp_path: Path, code: str, size: int, *arguments: str) -> int:
    program = tmp_path / "program.py"
    program.write_text(code)
    return ranks.main([str(size), str(program), *arguments], "ranks")


def test_each_rank_knows_who_it_is_and_has_the_arguments(tmp_path: Path) -> None:
    assert started(tmp_path, SAYS, 3, str(tmp_path), "--its", "own", "-m") == 0
    found = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(3)]
    assert [each[1] for each in found] == [["--its", "own", "-m"]] * 3
    assert [(each[0]["RANK"], each[0]["LOCAL_RANK"]) for each in found] == [
        ("0", "0"),
        ("1", "1"),
        ("2", "2"),
    ]
    shared = [{k: v for k, v in each[0].items() if k not in ("RANK", "LOCAL_RANK")} for each in found]
    assert shared[0] == shared[1] == shared[2]
    port = int(shared[0].pop("MASTER_PORT"))
    assert 0 < port < 1 << 16
    assert shared[0] == {"WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1"}


def test_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_module.py").write_text(SAYS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert ranks.main(["2", "-m", "some_module", str(tmp_path), "x"], "ranks") == 0
    assert json.loads((tmp_path / "1").read_text())[1] == ["x"]


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("sys.exit(7)", 7),
        ("sys.exit('no')", 1),
        ("os.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL),
    ],
)
def test_the_first_that_fails_ends_the_others(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], end: str, code: int
) -> None:
    """The others would take minutes."""
    program = f"import os, signal, sys, time\\nif os.environ['RANK'] == '1': {end}\\ntime.sleep(600)"
    start = time.monotonic()
    assert started(tmp_path, program.replace("\\n", "\n"), 3, "") == code
    assert time.monotonic() - start < 60
    assert "rank 1 ended with " in capfd.readouterr().err


def test_who_does_not_listen_to_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "GRACE", 0.2)
    program = f"""
import os, signal, sys, time
ready = {str(tmp_path / "ready")!r}
if os.environ["RANK"] == "0":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open(ready, "w").close()
    time.sleep(600)
while not os.path.exists(ready): time.sleep(0.01)
sys.exit(3)
"""
    assert started(tmp_path, program, 2) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["0", __file__], "RANKS must be 1 or more, not 0"),
        (["two", __file__], "invalid int value: 'two'"),
        (["2", "/there/is/none.py"], "there is no file /there/is/none.py"),
        (["2"], "program"),
    ],
)
def test_mistakes(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        ranks.main(arguments, "ranks")
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_the_command_and_ctrl_c(tmp_path: Path) -> None:
    """As a terminal interrupts all processes of the command: none of them is left."""
    (tmp_path / "program.py").write_text(
        "import os, sys, time\nopen(sys.argv[1] + os.environ['RANK'], 'w').close()\ntime.sleep(600)"
    )
    command = [sys.executable, "-m", "cudapy", "ranks", "2", str(tmp_path / "program.py"), f"{tmp_path}/at"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    finally:
        signal.signal(signal.SIGINT, before)
    while not ((tmp_path / "at0").exists() and (tmp_path / "at1").exists()):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
