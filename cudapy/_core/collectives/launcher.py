"""What a launcher says of this process: which rank it is, of how many, and how to reach the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .rendezvous import by_file, by_socket, by_store

if TYPE_CHECKING:
    from ..device.device import Device

T = TypeVar("T")


class Names(NamedTuple):
    """The environment variables of a launcher. local: the rank on this host."""

    launcher: str
    rank: str
    size: str
    local: str


LAUNCHERS = (
    Names("torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"),
    Names("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    Names("MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    Names("Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"),
)
"""In the order in which they are asked: what a program sets goes before what starts it."""


class Place(NamedTuple):
    """Which rank this process is. local: on this host; None: not told."""

    launcher: str
    rank: int
    size: int
    local: int | None

    def device(self, devices: Sequence[Device]) -> Device:
        """The device of this rank: the one with the number that it has on this host. Raises RuntimeError.

        A launcher that shows each process one device leaves no choice.
        """
        if len(devices) == 1:
            return devices[0]
        if self.local is None:
            raise RuntimeError(
                f"{self.launcher} does not tell the rank on this host, which would choose one of "
                f"{len(devices)} devices: set LOCAL_RANK, or pass device="
            )
        if self.local >= len(devices):
            raise RuntimeError(f"rank {self.local} on this host has no device: there are {len(devices)}")
        return devices[self.local]


def launched(environ: Mapping[str, str] = os.environ) -> Place | None:
    """What the launcher says; None without one. Raises RuntimeError for half of it, or for nonsense."""
    for names in LAUNCHERS:
        if names.rank not in environ and names.size not in environ:
            continue
        rank, size = _number(names, names.rank, environ), _number(names, names.size, environ)
        if not 0 <= rank < size:
            raise RuntimeError(f"{names.rank}={rank} is outside 0 .. {names.size} - 1 = {size - 1}")
        local = _number(names, names.local, environ) if names.local in environ else None
        return Place(names.launcher, rank, size, local)
    return None


def _number(names: Names, name: str, environ: Mapping[str, str]) -> int:
    try:
        return int(environ[name])
    except KeyError:
        raise RuntimeError(
            f"{names.launcher} sets both {names.rank} and {names.size}: {name} is not set"
        ) from None
    except ValueError:
        raise RuntimeError(f"{name}={environ[name]!r} is not a number") from None


def exchange(
    place: Place,
    make: Callable[[], bytes],
    file: str | None,
    address: str | None,
    timeout: float,
    environ: Mapping[str, str] = os.environ,
) -> bytes:
    """What `make` returns on rank 0, on every rank. Raises RuntimeError, TimeoutError and OSError."""
    if place.size == 1:
        return make()
    if file is not None:
        return by_file(place.rank, make, os.fspath(file), timeout)
    if address is not None:
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal():
            raise ValueError(f'address must be "host:port", not {address!r}')
        return by_socket(place.rank, place.size, make, host.strip("[]"), int(port), timeout)
    host, text = environ.get("MASTER_ADDR", ""), environ.get("MASTER_PORT", "")
    if host and text:
        if not text.isdecimal():
            raise RuntimeError(f"MASTER_PORT={text!r} is not a number")
        if environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":  # the port is taken by its store
            return by_store(place.rank, make, host, int(text), timeout)
        return by_socket(place.rank, place.size, make, host, int(text), timeout)
    world = _mpi()
    if world is not None and world.Get_size() == place.size:
        key: bytes = world.bcast(make() if world.Get_rank() == 0 else None, root=0)
        return key
    raise RuntimeError(
        f"rank {place.rank} of {place.size} (by {place.launcher}) cannot reach the others: set MASTER_ADDR "
        "and MASTER_PORT, pass address='host:port' or file='a path that all ranks share', or install mpi4py"
    )


def _mpi() -> Any:
    """MPI's world, where there is mpi4py."""
    try:
        from importlib import import_module

        return import_module("mpi4py.MPI").COMM_WORLD
    except ImportError:
        return None
