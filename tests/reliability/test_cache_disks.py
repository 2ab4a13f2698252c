"""The folder of cached programs on disks that are full or read-only, and between two users."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stub import REPOSITORY, python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="disks and users are arranged as on Linux")

START = """
import errno, hashlib, json, os, subprocess, sys
from cudapy._core.compile.cache_folder import Folder, Refused
place = sys.argv[1]
def body(number):
    return hashlib.shake_256(b"%d" % number).digest(20_000)
"""
FULL = """
folder = Folder(place + "/cache")
kept = 0
try:
    while kept < 1000:
        folder.put(b"%d" % kept, body(kept))
        kept += 1
except OSError as error:
    code = error.errno
names = os.listdir(folder.path)
first = [folder.get(b"%d" % number) == body(number) for number in range(kept)]
lost = folder.get(b"%d" % kept)
try:
    folder.put(b"0", body(7777))  # does not fit beside what it replaces
except OSError:
    pass
same = folder.get(b"0") == body(0)
folder.remove(b"1"), folder.remove(b"2")
folder.put(b"0", body(8888))
again = folder.get(b"0") == body(8888)
print(json.dumps([code == errno.ENOSPC, kept, all(first), lost, len(names), same, again]))
"""
READ_ONLY = """
folder = Folder(place + "/cache")
for number in range(3):
    folder.put(b"%d" % number, body(number))
damaged = os.path.join(folder.path, max(os.listdir(folder.path)))
with open(damaged, "r+b") as file:
    file.truncate(100)
subprocess.run(["mount", "-o", "remount,ro", place], check=True)
found = [folder.get(b"%d" % number) for number in range(3)]
right = sum(data == body(number) for number, data in enumerate(found))
try:
    folder.put(b"9", body(9))
except OSError as error:
    code = error.errno
left = len(os.listdir(folder.path)), Folder(folder.path).size()[0]
print(json.dumps([right, found.count(None), code == errno.EROFS, *left]))
"""
ON_A_DISK = 'mount -t tmpfs -o size=200k none "$1" && exec "$2" -c "$3" "$1"'


def on_a_disk(code: str, place: Path) -> Any:
    """What Python code prints as JSON, whose argument is a small disk that nobody else sees."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("there is no unshare, to make a disk for one process")
    command = [unshare, "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*command, 'mount -t tmpfs none "$0"', str(place)], capture_output=True).returncode:
        pytest.skip("this system does not let a process mount a disk of its own")
    done = subprocess.run(
        [*command, ON_A_DISK, "sh", str(place), sys.executable, START + code],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_full_disk(tmp_path: Path) -> None:
    """A write that does not fit says so and leaves nothing; what was there stays, whole."""
    no_space, kept, whole, lost, names, same, again = on_a_disk(FULL, tmp_path)
    assert no_space and kept > 3
    assert whole and lost is None and names == kept, "no half of an entry, under any name"
    assert same and again


def test_a_read_only_disk(tmp_path: Path) -> None:
    """What is there is used, but for what is damaged, which cannot be removed; a write says so."""
    assert on_a_disk(READ_ONLY, tmp_path) == [2, 1, True, 3, 3]


# -- two users -------------------------------------------------------------------------------------------

NOBODY = 65534


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder where everybody may make others, as /tmp is."""
    if os.geteuid():
        pytest.skip("a second user takes root to arrange")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o1777)
        yield path


def by_nobody(code: str, place: Path) -> Any:
    """What Python code prints as JSON, run as another user."""
    become = f"os.setgroups([]), os.setgid({NOBODY}), os.setuid({NOBODY})\n"  # having imported
    done = python(START + become + code, place)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


REFUSED = """
said = []
def attempt(use):
    try:
        said.append(repr(use()))
    except Refused as error:
        said.append(str(error))
attempt(lambda: Folder(place + "/cache").get(b"key"))
folder = Folder.__new__(Folder)
folder.path, folder.limit = place + "/cache", None
attempt(lambda: folder.get(b"key"))
attempt(lambda: folder.put(b"key", b"theirs"))
attempt(folder.clear)
print(json.dumps(said))
"""
PLANT = """
name = Folder(place + "/cache")
name.put(b"key", b"theirs")
os.symlink(place + "/cache", place + "/link")
print(json.dumps(os.listdir(name.path)))
"""


def test_a_folder_of_another_user(shared: Path) -> None:
    """Nobody uses it, whoever it belongs to: not to read, to write or to clear."""
    from cudapy._core.compile.cache_folder import Folder, Refused

    mine = Folder(str(shared / "cache"))
    mine.put(b"key", b"mine")
    Path(mine.path).chmod(0o755)
    said = by_nobody(REFUSED, shared)
    assert len(said) == 4
    assert all(f"belongs to user 0, not to this one ({NOBODY})" in text for text in said)
    assert mine.get(b"key") == b"mine"

    (shared / "theirs").mkdir(0o777)
    (shared / "theirs").chmod(0o777)
    (name,) = by_nobody(PLANT, shared / "theirs")
    theirs = shared / "theirs" / "cache"
    for place, why in ((theirs, f"belongs to user {NOBODY}"), (shared / "theirs" / "link", "symbolic link")):
        with pytest.raises(Refused, match=why):
            Folder(str(place))
    planted = Path(mine.path) / name
    planted.unlink()
    shutil.copy(theirs / name, planted)
    os.chown(planted, NOBODY, NOBODY)
    assert mine.get(b"key") is None, "nor a whole file of another user in a folder of one's own"
    assert Path(planted).exists()
