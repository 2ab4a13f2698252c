"""The shape of a launch."""

from __future__ import annotations

import operator
import struct
from typing import Any, NoReturn

from ..driver import CUlaunchAttribute, CUlaunchAttributeID

Extent = int | tuple[int, ...] | list[int]


class LaunchConfig:
    """How many threads run a kernel, and how they are grouped. It cannot be changed, so it can be shared.

    block: threads in a block, as an int or (x, y, z). grid: blocks in the grid, likewise; with `cluster`,
    clusters in the grid. cluster: blocks in a cluster (compute capability 9.0 and newer). shmem_size: bytes
    of dynamic shared memory for each block. is_cooperative (or cooperative_launch): whether all blocks run at
    once and can synchronise. programmatic_stream_serialization: whether the kernel may start before the one
    ahead of it in the stream has ended.

    Raises TypeError and ValueError for what no device could run.
    """

    __slots__ = (
        "_attributes",
        "block",
        "cluster",
        "grid",
        "is_cooperative",
        "programmatic_stream_serialization",
        "shmem_size",
    )
    grid: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    block: tuple[int, int, int]
    shmem_size: int
    is_cooperative: bool
    programmatic_stream_serialization: bool
    _attributes: Any  # a C array of CUlaunchAttribute, or None

    def __init__(
        self,
        grid: Extent | None = None,
        cluster: Extent | None = None,
        block: Extent | None = None,
        shmem_size: int | None = None,
        is_cooperative: bool = False,
        programmatic_stream_serialization: bool = False,
        *,
        cooperative_launch: bool = False,
    ) -> None:
        if grid is None or block is None:
            raise TypeError("LaunchConfig needs grid= (how many blocks) and block= (threads in each)")
        values: dict[str, Any] = {
            "grid": three("grid", grid),
            "cluster": None if cluster is None else three("cluster", cluster),
            "block": three("block", block),
            "shmem_size": 0 if shmem_size is None else operator.index(shmem_size),
            "is_cooperative": bool(is_cooperative or cooperative_launch),
            "programmatic_stream_serialization": bool(programmatic_stream_serialization),
        }
        if not 0 <= values["shmem_size"] < 1 << 32:
            raise ValueError(f"LaunchConfig: shmem_size = {shmem_size} is no size of shared memory")
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_attributes", _c_attributes(self))

    @property
    def cooperative_launch(self) -> bool:
        """The same as `is_cooperative`."""
        return self.is_cooperative

    def _key(self) -> tuple[Any, ...]:
        return (
            self.grid,
            self.cluster,
            self.block,
            self.shmem_size,
            self.is_cooperative,
            self.programmatic_stream_serialization,
        )

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, LaunchConfig) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return LaunchConfig, self._key()

    def __repr__(self) -> str:
        grid, cluster, block, *rest = self._key()
        names = ("shmem_size", "is_cooperative", "programmatic_stream_serialization")
        extra = [f"cluster={cluster}"] * (cluster is not None)
        extra += [f"{name}={value}" for name, value in zip(names, rest, strict=True) if value]
        return f"LaunchConfig({', '.join([f'grid={grid}', f'block={block}', *extra])})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a LaunchConfig cannot be changed: make a new one with another {name}")

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)


def three(name: str, extent: Extent) -> tuple[int, int, int]:
    """`extent` as (x, y, z): an int, or up to three of them, the rest being 1."""
    if type(extent) is int and 1 <= extent < 1 << 32:
        return extent, 1, 1
    given = tuple(extent) if isinstance(extent, (tuple, list)) else (extent,)
    if not 1 <= len(given) <= 3:
        raise ValueError(f"LaunchConfig: {name} = {extent!r} must be an int or 1 to 3 of them")
    try:
        sizes = [int(operator.index(size)) for size in given]
    except TypeError:
        raise TypeError(f"LaunchConfig: {name} = {extent!r} must be an int or 1 to 3 of them") from None
    if not all(1 <= size < 1 << 32 for size in sizes):
        raise ValueError(f"LaunchConfig: {name} = {extent!r} must be at least 1 in each direction")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _c_attributes(config: LaunchConfig) -> Any:
    """What a launch has beside its shape, as C takes it."""
    if not (config.cluster or config.is_cooperative or config.programmatic_stream_serialization):
        return None
    kind = CUlaunchAttributeID
    attributes = []
    if config.cluster:
        attributes.append(CUlaunchAttribute(id=kind.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION))
        size = attributes[-1].value.clusterDim
        size.x, size.y, size.z = config.cluster
    if config.is_cooperative:
        attributes.append(CUlaunchAttribute(id=kind.CU_LAUNCH_ATTRIBUTE_COOPERATIVE))
        attributes[-1].value.cooperative = 1
    if config.programmatic_stream_serialization:
        attributes.append(CUlaunchAttribute(id=kind.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION))
        attributes[-1].value.programmaticStreamSerializationAllowed = 1
    return (CUlaunchAttribute * len(attributes))(*attributes)


_pack = struct.Struct("7I4xQQI4x").pack  # a CUlaunchConfig


def c_config(config: LaunchConfig, stream: int) -> bytes:
    """The CUlaunchConfig of a launch, good for as long as `config` is; the grid counts clusters, if any.

    One `struct` call is thirty times faster than a struct that is filled field by field.
    """
    grid = config.grid
    if config.cluster:
        grid = tuple(g * c for g, c in zip(grid, config.cluster, strict=True))  # type: ignore[assignment]
    attributes = config._attributes
    address, count = (0, 0) if attributes is None else (attributes[0].getPtr(), len(attributes))
    return _pack(*grid, *config.block, config.shmem_size, stream, address, count)
