"""A kernel, run to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .device import Device
    from .module import Function


def launch(
    function: Function,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    params: bytes,
    shared_size: int = 0,
    *,
    cooperative: bool = False,
    cluster: tuple[int, int, int] | None = None,
    device: Device | None = None,
) -> None:
    """Run all threads of `function`; `params` are its packed parameters, `shared_size` the dynamic shared bytes.

    Raises Fault.
    """
    raise NotImplementedError
