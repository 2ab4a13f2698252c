"""Installs the alias in Python processes that a program under `python -m cudapy.alias` starts.

Python imports this module when it starts, as its folder is in PYTHONPATH. The sitecustomize that Python would
have imported without it comes next.
"""

import importlib
import os
import sys


def _install() -> None:
    name, *packages = os.environ["CUDAPY_ALIAS"].split()
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in range(2 + name.count(".")):  # this folder, _alias, and the packages around
        folder = os.path.dirname(folder)
    sys.path.insert(0, folder)  # it may not be there in this process
    try:
        alias = importlib.import_module(name)
    finally:
        sys.path.remove(folder)
    alias.install(*packages, children=True)


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


if os.environ.get("CUDAPY_ALIAS") and sys.version_info >= (3, 10):  # a program may start any Python
    _install()
_import_next()
