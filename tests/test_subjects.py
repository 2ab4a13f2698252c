"""CI's check of commit subjects, in repositories made for it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .stub import REPOSITORY

spec: Any = importlib.util.spec_from_file_location("subjects", REPOSITORY / ".ci" / "subjects.py")
subjects: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(subjects)

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
NOW, BEFORE = "2027-01-01T00:00:00Z", "2026-01-01T00:00:00Z"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "An old subject, " + "and long" * 20, BEFORE)
    return tmp_path


WHO = {
    **{f"GIT_{role}_NAME": "A" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "a@example.org" for role in ("AUTHOR", "COMMITTER")},
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(folder: Path, *command: str, **environment: str) -> None:
    subprocess.run(["git", "-C", str(folder), *command], check=True, env={**os.environ, **WHO, **environment})


def commit(folder: Path, subject: str, date: str = NOW) -> None:
    message = f"{subject}\n\n{'A long line of the body. ' * 9}"
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    git(folder, "commit", "-q", "--allow-empty", "-m", message, **dates)


def test_subjects_from_now_on(clone: Path) -> None:
    commit(clone, "x" * 72)
    assert subjects.mistakes(clone) == []
    commit(clone, "y" * 73)
    commit(clone, "wip: something")
    commit(clone, "Wipe what is left")
    unfinished, long = subjects.mistakes(clone)
    assert "not finished: wip: something" in unfinished
    assert "73 characters, 72 at most: yyy" in long
    assert len(subjects.mistakes(clone, "HEAD~2")) == 1
    with pytest.raises(subprocess.CalledProcessError):
        subjects.mistakes(clone, "nonsense")


def test_a_shallow_clone_and_a_folder_without_history(clone: Path, tmp_path: Path) -> None:
    commit(clone, "y" * 73)
    commit(clone, "Short")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth", "1", clone.as_uri(), str(shallow))
    assert subjects.mistakes(shallow) == []
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    assert subjects.mistakes(empty) == []


def test_this_repository() -> None:
    assert subjects.mistakes(REPOSITORY) == []
