"""The folder of cached bytes: whatever happens to its files, what comes out is what went in, or nothing."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cudapy._core.compile import cache_folder
from cudapy._core.compile.cache_folder import Folder, Refused, name_of, own_folder, user_cache

ROOT = Path(__file__).parents[1]

posix = pytest.mark.skipif(os.name != "posix", reason="other users and modes are POSIX's")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def folder(path: Path) -> Folder:
    return Folder(str(path))


def entry(folder: Folder, key: bytes) -> Path:
    return Path(folder.path) / name_of(key)


def test_what_goes_in_comes_out(folder: Folder, path: Path) -> None:
    assert folder.get(b"a") is None and folder.size() == (0, 0)
    for data in (b"", b"one", bytes(range(256)) * 1000):
        folder.put(b"a", data)
        assert folder.get(b"a") == data
        assert Folder(str(path)).get(b"a") == data
    folder.put(b"b", b"two")
    assert folder.get(b"a") == bytes(range(256)) * 1000 and folder.get(b"b") == b"two"
    assert folder.size()[0] == 2
    assert folder.remove(b"a") is True and folder.remove(b"a") is False
    assert folder.get(b"a") is None and folder.get(b"b") == b"two"
    (path / "somebody's notes").write_text("not an entry")
    folder.clear()
    assert folder.size() == (0, 0)
    assert [file.name for file in path.iterdir()] == ["somebody's notes"]


def test_a_file_cut_short_anywhere(folder: Folder) -> None:
    folder.put(b"key", b"the data")
    whole = entry(folder, b"key").read_bytes()
    for length in range(len(whole)):
        entry(folder, b"key").write_bytes(whole[:length])
        assert folder.get(b"key") is None, length
        assert not entry(folder, b"key").exists(), "it is removed"
    entry(folder, b"key").write_bytes(whole + b"\0")
    assert folder.get(b"key") is None, "nor is one that grew"
    entry(folder, b"key").write_bytes(whole)
    assert folder.get(b"key") == b"the data"


def test_every_single_bit(folder: Folder) -> None:
    folder.put(b"key", b"the data")
    whole = entry(folder, b"key").read_bytes()
    for bit in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        entry(folder, b"key").write_bytes(flipped)
        assert folder.get(b"key") is None, bit


def test_an_entry_under_another_name(folder: Folder) -> None:
    folder.put(b"a", b"of a")
    Path(entry(folder, b"a")).replace(entry(folder, b"b"))
    assert folder.get(b"b") is None and folder.get(b"a") is None


@posix
def test_only_this_user_may_write(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = Folder(str(tmp_path / "new" / "cache"))
        folder.put(b"a", b"data")
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path(folder.path).stat().st_mode) == 0o700
    assert stat.S_IMODE(Path(folder.path).parent.stat().st_mode) == 0o700, "its parents, too"
    assert stat.S_IMODE(entry(folder, b"a").stat().st_mode) == 0o600


@posix
def test_a_folder_that_others_may_write(folder: Folder, path: Path) -> None:
    folder.put(b"a", b"data")
    for mode in (0o770, 0o702, 0o777):
        path.chmod(mode)
        for use in (lambda: Folder(str(path)), lambda: folder.get(b"a"), lambda: folder.put(b"a", b"")):
            with pytest.raises(Refused, match="may be written by others"):
                use()
    path.chmod(0o755)
    assert folder.get(b"a") == b"data", "read by others is no danger"


@posix
def test_a_file_that_others_may_write(folder: Folder) -> None:
    folder.put(b"a", b"data")
    entry(folder, b"a").chmod(0o666)
    assert folder.get(b"a") is None


@posix
def test_what_is_no_file_is_no_entry_and_is_not_waited_for(folder: Folder) -> None:
    os.mkfifo(entry(folder, b"pipe"), 0o600)
    entry(folder, b"folder").mkdir(0o700)
    reader = threading.Thread(target=lambda: found.extend(map(folder.get, (b"pipe", b"folder"))), daemon=True)
    found: list[bytes | None] = []
    reader.start()
    reader.join(60)
    assert found == [None, None]
    folder.put(b"pipe", b"data")
    assert folder.get(b"pipe") == b"data"


def test_a_file_larger_than_the_folder_may_be_is_not_read(path: Path) -> None:
    folder = Folder(str(path), 1 << 20)
    folder.put(b"a", b"data")
    with open(entry(folder, b"a"), "r+b") as file:
        file.truncate(1 << 42)
    assert folder.get(b"a") is None
    folder.put(b"a", b"data")
    assert folder.get(b"a") == b"data"


@posix
def test_what_belongs_to_somebody_else(folder: Folder, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.put(b"a", b"data")
    owner = os.geteuid()
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: owner + 1)
        for use in (lambda: Folder(str(path)), lambda: folder.get(b"a"), lambda: folder.put(b"b", b"")):
            with pytest.raises(Refused, match=f"belongs to user {owner}, not to this one"):
                use()
    assert folder.get(b"a") == b"data"
    if owner:
        pytest.skip("that a single file is somebody else's takes root to arrange")
    os.chown(entry(folder, b"a"), 12345, 12345)
    assert folder.get(b"a") is None
    os.chown(path, 12345, 12345)
    with pytest.raises(Refused, match="belongs to user 12345"):
        Folder(str(path))


@posix
def test_symbolic_links(tmp_path: Path, folder: Folder, path: Path) -> None:
    folder.put(b"a", b"data")
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(Refused, match="symbolic link"):
        Folder(str(tmp_path / "link"))
    with pytest.raises(Refused, match="symbolic link"):
        own_folder(str(tmp_path / "link"))
    other = tmp_path / "elsewhere"
    entry(folder, b"a").rename(other)
    entry(folder, b"a").symlink_to(other)
    assert folder.get(b"a") is None, "not followed"
    folder.put(b"a", b"new")
    assert folder.get(b"a") == b"new" and b"data" in other.read_bytes(), "replaced, not written through"


@posix
def test_a_folder_that_becomes_a_link(tmp_path: Path, folder: Folder, path: Path) -> None:
    folder.put(b"a", b"data")
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    for use in (lambda: folder.get(b"a"), lambda: folder.put(b"a", b""), folder.clear):
        with pytest.raises(Refused, match="symbolic link"):
            use()


def test_a_file_in_the_place_of_the_folder(path: Path) -> None:
    path.write_text("")
    with pytest.raises(Refused, match="is not what it should be"):
        Folder(str(path))


def test_a_folder_that_is_removed_meanwhile(folder: Folder, path: Path) -> None:
    folder.put(b"a", b"data")
    entry(folder, b"a").unlink()
    path.rmdir()
    assert folder.get(b"a") is None
    folder.put(b"a", b"again")
    assert folder.get(b"a") == b"again"


def used(folder: Folder, key: bytes, when: float) -> None:
    os.utime(entry(folder, key), (when, when))


def test_what_was_not_used_for_longest_goes_first(path: Path) -> None:
    size = 1000 + len(cache_folder.MARK) + cache_folder.DIGEST
    folder = Folder(str(path), limit=3 * size)
    for age, key in enumerate((b"c", b"b", b"a")):
        folder.put(key, bytes(1000))
        used(folder, key, 1000 - age)
    assert folder.get(b"a") is not None  # the oldest, until now
    folder.put(b"d", bytes(1000))
    assert folder.get(b"b") is None
    assert all(folder.get(key) is not None for key in (b"a", b"c", b"d"))
    assert folder.size() == (3, 3 * size)
    folder.put(b"e", bytes(4000))
    assert folder.get(b"e") is None and folder.size()[0] == 3, "too large for all of it, and nothing is lost"


def test_what_a_killed_process_leaves_is_swept(path: Path) -> None:
    folder = Folder(str(path), limit=10000)
    old, new = (path / f"{name_of(b'x')}.{n}.tmp" for n in (1, 2))
    for file in (old, new):
        file.write_bytes(b"half")
    os.utime(old, (0, 0))
    folder.put(b"a", b"data")
    assert not old.exists() and new.exists()
    assert folder.size()[0] == 1


def test_a_write_that_fails_leaves_nothing(
    folder: Folder, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        folder.put(b"a", b"data")
    assert list(path.iterdir()) == []


WRITER = """
import hashlib, os, random, sys
from cudapy._core.compile.cache_folder import Folder
folder = Folder(sys.argv[1], limit=1 << 21)
generator = random.Random(int(sys.argv[2]))
print("ready", flush=True)
while True:
    key, version = generator.randrange(60), generator.randrange(1000)
    body = hashlib.shake_256(b"%d %d" % (key, version)).digest(generator.choice((100, 50_000)))
    folder.put(b"%d" % key, body + b"%d" % version)
    folder.get(b"%d" % generator.randrange(60))
"""


class Writer:
    """A process that writes and reads entries until it is killed."""

    def __init__(self, path: Path, number: int) -> None:
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", WRITER, str(path), str(number)]
        self.process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()
        assert self.process.returncode == -signal.SIGKILL, "it ended by itself"


def is_right(key: int, data: bytes) -> bool:
    """Whether some writer wrote just this for the key."""
    for digits in (1, 2, 3):
        version, body = data[-digits:], data[:-digits]
        if len(body) in (100, 50_000) and version.isdigit():
            return body == hashlib.shake_256(b"%d %d" % (key, int(version))).digest(len(body))
    return False


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL")
def test_eight_writers_that_are_killed(path: Path) -> None:
    """Whatever is read at any time is whole and of its key; what is left over does not grow."""
    generator = random.Random(7)
    folder = Folder(str(path))
    writers = [Writer(path, number) for number in range(8)]
    found = killed = 0
    for number in range(8, 40):
        end = time.monotonic() + generator.uniform(0, 0.1)
        while time.monotonic() < end:
            key = generator.randrange(60)
            data = folder.get(b"%d" % key)
            assert data is None or is_right(key, data)
            found += data is not None
        victim = generator.randrange(8)
        writers[victim].kill()
        writers[victim] = Writer(path, number)
        killed += 1
    for writer in writers:
        writer.kill()
    assert found > 100 and killed == 32
    left = [folder.get(b"%d" % key) for key in range(60)]
    assert all(data is None or is_right(key, data) for key, data in enumerate(left))
    assert any(left)
    assert folder.size()[1] <= (1 << 21) + 8 * 50_100, "one entry of each that was about to sweep"


# -- systems whose calls take no descriptor of a folder ------------------------------------------------


@pytest.fixture
def by_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where files are named by their paths, and users and modes mean nothing."""
    monkeypatch.setattr(cache_folder, "_BY_DESCRIPTOR", False)
    monkeypatch.setattr(cache_folder, "_SAFELY", 0)


def test_what_goes_in_comes_out_by_path(by_path: None, folder: Folder, path: Path) -> None:
    test_what_goes_in_comes_out(folder, path)
    path.chmod(0o777)
    folder.put(b"a", b"one")
    assert folder.get(b"a") == b"one"


@posix
def test_symbolic_links_by_path(by_path: None, tmp_path: Path, folder: Folder, path: Path) -> None:
    folder.put(b"a", b"one")
    (tmp_path / "entry").write_bytes(entry(folder, b"a").read_bytes())
    entry(folder, b"a").unlink()
    entry(folder, b"a").symlink_to(tmp_path / "entry")
    assert folder.get(b"a") is None
    path.rename(tmp_path / "other")
    path.symlink_to(tmp_path / "other")
    with pytest.raises(Refused, match="is a symbolic link"):
        folder.put(b"a", b"one")


# -- where it is ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {"HOME": "/home/me"}, "/home/me/.cache/cudapy"),
        ("linux", {"HOME": "/home/me", "XDG_CACHE_HOME": "/fast"}, "/fast/cudapy"),
        ("linux", {"HOME": "/home/me", "XDG_CACHE_HOME": "relative"}, "/home/me/.cache/cudapy"),
        ("darwin", {"HOME": "/Users/me", "XDG_CACHE_HOME": "/fast"}, "/Users/me/Library/Caches/cudapy"),
        ("win32", {"HOME": "/u", "LOCALAPPDATA": "/local"}, "/local/cudapy"),
        ("linux", {"HOME": "/home/me", "CUDAPY_CACHE_DIR": "/mine"}, "/mine"),
    ],
)
@posix
def test_the_users_folder(monkeypatch: pytest.MonkeyPatch, platform, environ, expected) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "CUDAPY_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(cache_folder.sys, "platform", platform)  # type: ignore[attr-defined]
    assert user_cache() == expected


@pytest.mark.parametrize("given", ["cache", ".", "./cache", "~/cache"])
def test_never_in_the_working_directory(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("CUDAPY_CACHE_DIR", given)
    with pytest.raises(ValueError, match="not an absolute path"):
        user_cache()


@posix
def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUDAPY_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr(cache_folder.os.path, "expanduser", lambda path: path)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="no home folder: set CUDAPY_CACHE_DIR"):
        user_cache()


def test_two_processes_make_the_folder_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = os.mkdir

    def faster(made: str, mode: int = 0o777) -> None:
        make(made, mode)
        make(made, mode)  # the other process was here

    monkeypatch.setattr(os, "mkdir", faster)
    folder = Folder(str(path / "below" / "it"))
    folder.put(b"a", b"one")
    assert folder.get(b"a") == b"one"


def test_an_entry_that_another_process_removes_as_it_is_counted(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.put(b"a", b"one")
    folder.put(b"b", b"two")
    scan = os.scandir

    def removed(where: object) -> object:
        entries = list(scan(where))  # type: ignore[call-overload]
        entry(folder, b"a").unlink()
        return contextlib.nullcontext(entries)

    monkeypatch.setattr(os, "scandir", removed)
    assert folder.size()[0] == 1
