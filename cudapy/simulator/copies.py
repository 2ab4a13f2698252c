"""One simulator for all copies of this package in a process, as they share the contexts of a GPU.

The first copy that enables its simulator offers it under a name of the process. Every other copy, of whatever
version, calls the C functions of that one by their addresses, and asks its `simulator` module for all else.
"""

from __future__ import annotations

import sys

from .. import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

PROTOCOL = 1
"""What the attributes of an Offer mean; another number where one of them means something else."""
_NAME = "_cudapy_simulator"
_PACKAGE = __name__.rpartition(".simulator.")[0]


class Offer:
    """The simulator of a copy of this package, for the other copies in the process.

    package, version, protocol: the name, version and PROTOCOL of that copy; of whatever version that is.
    module: its `simulator`, whose public functions are those of all copies.
    function: called with the name of a library of `TABLES` and a C symbol: the function's address; what
        returns a struct as a function of Python, for ctypes makes no C function of it; None if there is none.
    hardware: called without arguments: how many devices there are, their compute capability, and the version
        of the driver as cuDriverGetVersion has it.
    """

    def __init__(
        self,
        module: ModuleType,
        function: Callable[[str, str], int | Callable[..., Any] | None],
        hardware: Callable[[], tuple[int, tuple[int, int], int]],
    ) -> None:
        self.protocol = PROTOCOL
        self.package = _PACKAGE
        self.version = __version__
        self.module: Any = module
        self.function = function
        self.hardware = hardware


def of_another() -> Offer | None:
    """The offer of another copy; None if there is none. Raises RuntimeError for one of another protocol."""
    offer: Any = vars(sys).get(_NAME)
    if offer is None or offer.package == _PACKAGE:
        return None
    if offer.protocol != PROTOCOL:
        raise RuntimeError(
            f"the simulator of {offer.package} (cudapy {offer.version}) is on in this process, and "
            f"{_PACKAGE} (cudapy {__version__}) cannot use it: have both of the same version"
        )
    return offer  # type: ignore[no-any-return]


def claim(offer: Offer) -> Offer | None:
    """Make the offer of this process, unless there is one. Returns it, if it is that of another copy."""
    vars(sys).setdefault(_NAME, offer)
    return of_another()


def withdraw(offer: Offer) -> None:
    """Take an offer back: the simulator did not start."""
    if vars(sys).get(_NAME) is offer:
        del vars(sys)[_NAME]
