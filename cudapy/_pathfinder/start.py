"""The entries of sys.path that the interpreter made of the working directory when it started.

`python -m`, and empty or relative entries of PYTHONPATH, which `site` makes absolute: they stay what they
are when the program changes the directory, and no longer look like what they were.
"""

import os
import sys
from collections.abc import Mapping


def environment() -> Mapping[str, str] | None:
    """The environment that the process was started with, as Linux has kept it; None elsewhere."""
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return None
    pairs = (os.fsdecode(entry).partition("=") for entry in entries)
    return {name: value for name, equals, value in pairs if equals}


def folders() -> tuple[str, ...]:
    """The folders, absolute and real, that do not count as entries of sys.path; `add` adds some."""
    multiprocessing = sys.modules.get("multiprocessing.process")  # a child has its parent's sys.path
    original = getattr(multiprocessing, "ORIGINAL_DIR", None)
    return tuple(_added | {os.path.realpath(original)}) if original else tuple(_added)


def add(paths: list[str]) -> None:
    """Have folders not count either: those of a process that has handed its sys.path to this one."""
    _added.update(paths)


def _at_import() -> set[str]:
    """The working directory, and what was made of the one that the process was started in."""
    try:
        here = os.path.realpath(os.curdir)
        found = {here}
    except OSError:  # it is gone
        here, found = "", set()
    environ = environment() or os.environ
    said = os.path.realpath(environ["PWD"]) if environ.get("PWD") else ""
    variable = "" if sys.flags.ignore_environment else environ.get("PYTHONPATH", "")
    given = variable.split(os.pathsep) if variable else []
    relative = [entry for entry in given if not os.path.isabs(entry)]
    root = _root_of_module()
    if root:
        relative.append("")
    trusted = {os.path.realpath(entry) for entry in given if os.path.isabs(entry)}
    front = [path for path in map(os.path.realpath, _front()) if path not in trusted]
    starts = {start for start in (here, said, root) if start}
    for entry in relative:
        places = {os.path.realpath(os.path.join(start, entry)) for start in starts}
        # If nobody knows where the process was started, all that precedes Python's own folders may be meant.
        found.update(places.intersection(front) or (front if here != said else ()))
    return found


def _root_of_module() -> str:
    """The folder that the program was found in as a module, which `python -m` has put before it; or ""."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is None or spec.name == "__main__" or not spec.has_location:  # a file, a folder or a zip file
        return ""
    if sys.flags.isolated or getattr(sys.flags, "safe_path", False):
        return ""
    root = str(spec.origin)
    for _ in range(1 + spec.name.count(".")):
        root = os.path.dirname(root)
    return os.path.realpath(root)


def _front() -> list[str]:
    """The absolute entries of sys.path before Python's own."""
    own = {os.path.dirname(os.__file__), *(path for path in sys.path if _is_zip(path))}
    paths = [path for path in sys.path if isinstance(path, str)]
    count = next((i for i, path in enumerate(paths) if path in own), 0)
    return [path for path in paths[:count] if os.path.isabs(path)]


def _is_zip(path: object) -> bool:
    """Whether a path is the archive that Python's library may be in."""
    name = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    return isinstance(path, str) and os.path.basename(path) == name


_added = _at_import()
