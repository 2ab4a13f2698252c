"""`python -m benchmark`: see `command`. What it needs besides cudapy is the extra `bench`."""

import sys
from importlib.util import find_spec

NEEDED = ("pytest", "xdist", "pytest_benchmark", "matplotlib", "scipy")


if __name__ == "__main__":
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.exit(
            f'python -m benchmark needs {", ".join(missing)}: pip install -e ".[cuda13,bench]" in the'
            " repository, or nox -s bench"
        )
    from .command import main

    sys.exit(main())
