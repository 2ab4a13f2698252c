"""The simulator's libraries as files, for programs that are not Python's: `LD_LIBRARY_PATH=folder ./program`.

They are the same libraries, but for what resolves their functions: it starts a Python interpreter in the
process, if there is none, and has it install the simulator.
"""

import os
import sys
import sysconfig

from ..._pathfinder import start
from ..._pathfinder.libraries import MAJORS
from ..options import read, release
from . import driver, library_file, nccl, runtime
from .architectures import this_machine


def write(folder: str) -> list[str]:
    """Write libcuda.so.1, libcudart.so.12 and .13, libnccl.so.2, and the names that linkers look for.

    folder: where to; it is made if need be. Returns the paths. They are for this version and this
    installation of Python. Raises RuntimeError if it has no libpython that can be loaded, OSError if the
    folder cannot be written.
    """
    library, place = libpython()
    os.makedirs(folder, exist_ok=True)
    paths = []
    names = {driver.SONAME: driver.functions(release(read("driver_version")))}
    runtimes = {runtime.soname(major): runtime.functions(major) for major in MAJORS}
    names |= {**runtimes, nccl.SONAME: nccl.functions()}
    for name, functions in names.items():
        path = os.path.join(folder, name)
        interpreter = library_file.Interpreter(library, place, program(os.path.abspath(path)))
        data = library_file.build(
            this_machine(),
            name,
            functions,
            interpreter,
            structs=runtime.STRUCTS if name in runtimes else None,
            version=name if name in runtimes else "",
        )
        with open(path, "wb") as file:
            file.write(data)
        paths.append(path)
    links = dict.fromkeys(driver.ALIASES, driver.SONAME) | dict.fromkeys(nccl.ALIASES, nccl.SONAME)
    links["libcudart.so"] = runtime.soname(max(MAJORS))
    for link, name in links.items():
        path = os.path.join(folder, link)
        if os.path.lexists(path):
            os.remove(path)
        os.symlink(name, path)
        paths.append(path)
    return paths


def write_for_linkers(folder: str) -> None:
    """Write a libcuda.so.1 to `folder` that has the functions, for linkers: they do nothing.

    In a process with the simulator, what is linked with it calls the simulator. Raises OSError.
    """
    functions = driver.functions(release(read("driver_version")))
    data = library_file.build(this_machine(), driver.SONAME, functions)
    with open(os.path.join(folder, driver.SONAME), "wb") as file:
        file.write(data)
    for alias in driver.ALIASES:
        os.symlink(driver.SONAME, os.path.join(folder, alias))


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
        f"from {start.__package__} import start; start.add({list(start.folders())!r}); "
        f"from {__package__} import adopt; adopt({path!r})"
    )
