"""Run programs written for cuda.bindings, cuda.core and cuda.pathfinder on cudapy, unchanged.

    python -m cudapy.alias PROGRAM [ARGUMENT ...]         also -m MODULE, -c CODE

or, before anything imports one of them:

    import cudapy.alias
    cudapy.alias.install()

In that process `cuda.bindings.driver` is `cudapy.driver`, `cuda.core.Device` is `cudapy.core.Device`, and
so on. Earlier names work, too: `cuda.core.experimental`, and `cuda.cuda`, `cuda.cudart` and `cuda.nvrtc` of
CUDA Python 12. Other packages in the namespace `cuda`, such as `cuda.tile`, are imported as ever. Private
modules are not aliased: importing `cuda.bindings._internal` raises ImportError.
"""

import sys

from ._commands.alias.finder import PACKAGES
from ._commands.alias.install import install

__all__ = ["PACKAGES", "install"]


if __name__ == "__main__":
    from ._commands.alias.command import main

    main(sys.argv[1:])
