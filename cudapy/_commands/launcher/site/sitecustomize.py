"""Installs what a program runs on in Python processes that it starts: `cudapy.alias`, or the simulator.

Python imports this module when it starts, as its folder is in PYTHONPATH. The sitecustomize that Python would
have imported without it comes next.
"""

import importlib
import os
import sys

VARIABLES = ("CUDAPY_ALIAS", "CUDAPY_SIMULATOR_INSTALL")
"""Each names a module whose `install` is to be called, and its arguments."""


def _install(name: str, *arguments: str) -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in range(3 + name.count(".")):  # this folder, _commands/launcher, and the packages around
        folder = os.path.dirname(folder)
    sys.path.insert(0, folder)  # it may not be there in this process
    try:
        module = importlib.import_module(name)
    finally:
        sys.path.remove(folder)
    module.install(*arguments, children=True)


def _import_next() -> None:
    own = sys.modules.pop(__name__)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    try:
        importlib.import_module(__name__)
    except ModuleNotFoundError as error:
        if error.name != __name__:
            raise
        sys.modules[__name__] = own


for variable in VARIABLES:
    if os.environ.get(variable) and sys.version_info >= (3, 10):  # a program may start any Python
        _install(*os.environ[variable].split())
_import_next()
