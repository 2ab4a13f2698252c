"""PTX, loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .memory import Memory


class PTXError(Exception):
    """PTX that is wrong, or that the simulator has no instruction for; the message says the line."""


class Function:
    """A kernel."""

    name: str
    parameters: list[tuple[int, int]]
    """Offset and size of each parameter, in bytes."""
    shared_size: int
    """Bytes of static shared memory."""
    local_size: int
    """Bytes of local memory of a thread, without what it calls."""
    const_size: int
    max_threads: int
    registers: int
    """An estimate."""


class Module:
    """A PTX module in a device's memory. Raises PTXError."""

    functions: dict[str, Function]
    globals: dict[str, tuple[int, int]]
    """`.global` and `.const` variables: address and size."""

    def __init__(self, ptx: bytes | str, memory: Memory) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Release the variables."""
