"""The simulator's libraries as files, for programs that are not Python's: `LD_LIBRARY_PATH=folder ./program`.

They are the same libraries, but for what resolves their functions: it starts a Python interpreter in the
process, if there is none, and has it install the simulator.
"""

from __future__ import annotations

import os
import sys
import sysconfig

from .. import driver_version
from . import driver, library_file
from .machine_code import this_machine


def write(folder: str) -> list[str]:
    """Write libcuda.so.1 and libcuda.so to `folder`, which is made if need be; returns their paths.

    They are for this version and this installation of Python. Raises RuntimeError if it has no libpython that
    can be loaded, OSError if the folder cannot be written.
    """
    libraries, place = libpython()
    path, *links = paths = [os.path.join(folder, name) for name in (driver.SONAME, *driver.ALIASES)]
    interpreter = library_file.Interpreter((libraries,), place, program(os.path.abspath(path)))
    functions = driver.functions(driver_version())
    os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        file.write(library_file.build(this_machine(), driver.SONAME, functions, interpreter))
    for link in links:
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(driver.SONAME, link)
    return paths


def libpython() -> tuple[str, str]:
    """The soname of this Python as a library, and its folder. Raises RuntimeError if there is none."""
    name, folder = (str(sysconfig.get_config_var(variable) or "") for variable in ("INSTSONAME", "LIBDIR"))
    if ".so" not in name or not os.path.exists(os.path.join(folder, name)):
        raise RuntimeError(
            f"{sys.executable} has no shared libpython, which a program that is not Python's needs"
        )
    return name, folder


def program(path: str) -> str:
    """What the interpreter runs for the library in a file: it finds the modules that this one finds."""
    root = os.path.abspath(__file__)
    for _ in range(2 + __package__.count(".")):
        root = os.path.dirname(root)
    paths = [root, *(os.path.abspath(path) for path in sys.path if path)]
    return (
        f"import sys; sys.path += [path for path in {paths!r} if path not in sys.path]; "
        f"from {__package__} import adopt; adopt({path!r})"
    )
