"""The shape of a launch."""

from __future__ import annotations

import functools
import operator
import struct
from typing import Any, NamedTuple, NoReturn

from ..._ffi.packed_launch import ATTRIBUTES, SHAPE, STREAM
from ...driver import CUlaunchAttribute, CUlaunchAttributeID
from ..options import suggestion

Extent = int | tuple[int, ...] | list[int]

# A CUlaunchConfig is `_shape` and `_more` of a LaunchConfig, as bytes, around those of the stream.
_pack_shape = SHAPE.pack


class _Extras(NamedTuple):
    """What few launches have."""

    cluster: tuple[int, int, int] | None
    is_cooperative: bool
    programmatic_stream_serialization: bool
    attributes: Any = None  # the same as a C array of CUlaunchAttribute


_FIELDS = ("grid", "cluster", "block", "shmem_size", "is_cooperative", "programmatic_stream_serialization")
_NONE = _Extras(None, False, False)
_NO_ATTRIBUTES = ATTRIBUTES.pack(0, 0)


class LaunchConfig:
    """The grid and block sizes of a launch, and its other options.

    block: threads in a block, as an int or (x, y, z). grid: blocks in the grid, likewise; with `cluster`,
    clusters in the grid. cluster: blocks in a cluster (compute capability 9.0 and newer). shmem_size: bytes
    of dynamic shared memory for each block. is_cooperative (or cooperative_launch): whether all blocks run at
    once and can synchronise. programmatic_stream_serialization: whether the kernel may start before the one
    ahead of it in the stream has ended. Each can be assigned, which later launches see.

    Raises TypeError and ValueError for sizes that no device supports. Source: CUlaunchConfig.
    """

    # `_shape` is a new object whenever anything changes: by it a launch knows a config that it has seen.
    __slots__ = ("__weakref__", "_extras", "_more", "_shape")

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
        **unknown: NoReturn,
    ) -> None:
        if unknown:
            known = {*_FIELDS, "cooperative_launch"}
            name = next(iter(unknown))
            raise TypeError(f"LaunchConfig has no {name!r}.{suggestion(name, known)}")
        # A program may make one for every launch: one C call packs the numbers, and refuses the wrong ones.
        shared = 0 if shmem_size is None else shmem_size
        try:
            if type(grid) is int and type(block) is int:
                self._shape = _pack_shape(grid, 1, 1, block, 1, 1, shared)
                is_valid = grid and block
            else:
                x, y, z = grid if type(grid) is tuple and len(grid) == 3 else _three("grid", grid)
                i, j, k = block if type(block) is tuple and len(block) == 3 else _three("block", block)
                self._shape = _pack_shape(x, y, z, i, j, k, shared)
                is_valid = x and y and z and i and j and k
        except struct.error:
            is_valid = 0
        if not is_valid:
            _refuse(grid, cluster, block, shmem_size)
        if cluster is not None or is_cooperative or cooperative_launch or programmatic_stream_serialization:
            size = _checked("cluster", 1 if cluster is None else cluster)
            blocks = [p * q for p, q in zip(_checked("grid", grid), size, strict=True)]
            if max(blocks) >= 1 << 32:
                raise ValueError(f"LaunchConfig: grid = {grid} clusters of cluster = {cluster} are too many")
            self._shape = _pack_shape(*blocks, *_checked("block", block), shared)
            self._extras = _with_attributes(
                None if cluster is None else size,
                bool(is_cooperative or cooperative_launch),
                bool(programmatic_stream_serialization),
            )
            attributes = self._extras.attributes
            self._more = ATTRIBUTES.pack(attributes[0].getPtr(), len(attributes))
        else:
            self._extras = _NONE
            self._more = _NO_ATTRIBUTES

    def _change(self, name: str, value: Any) -> None:
        cluster, *rest = self._extras[:3]
        values: dict[str, Any] = dict(
            zip(_FIELDS, (self.grid, cluster, self.block, self.shmem_size, *rest), strict=True)
        )
        values[name] = value
        changed = LaunchConfig(**values)  # which raises for a wrong value, and leaves this as it was
        self._extras, self._more, self._shape = changed._extras, changed._more, changed._shape

    @property
    def grid(self) -> tuple[int, int, int]:
        """Blocks in the grid, or clusters if there are any, as (x, y, z)."""
        x, y, z = SHAPE.unpack(self._shape)[:3]
        a, b, c = self._extras.cluster or (1, 1, 1)
        return x // a, y // b, z // c

    @grid.setter
    def grid(self, grid: Extent) -> None:
        self._change("grid", grid)

    @property
    def cluster(self) -> tuple[int, int, int] | None:
        """Blocks in a cluster as (x, y, z), or None for a grid without clusters."""
        return self._extras.cluster

    @cluster.setter
    def cluster(self, cluster: Extent | None) -> None:
        self._change("cluster", cluster)

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads in a block as (x, y, z)."""
        x, y, z = SHAPE.unpack(self._shape)[3:6]
        return x, y, z

    @block.setter
    def block(self, block: Extent) -> None:
        self._change("block", block)

    @property
    def shmem_size(self) -> int:
        """Bytes of dynamic shared memory for each block."""
        return int(SHAPE.unpack(self._shape)[6])

    @shmem_size.setter
    def shmem_size(self, shmem_size: int) -> None:
        self._change("shmem_size", shmem_size)

    @property
    def is_cooperative(self) -> bool:
        """Whether all blocks run at once and can synchronise."""
        return self._extras.is_cooperative

    @is_cooperative.setter
    def is_cooperative(self, is_cooperative: bool) -> None:
        self._change("is_cooperative", is_cooperative)

    @property
    def cooperative_launch(self) -> bool:
        """The same as `is_cooperative`."""
        return self._extras.is_cooperative

    @cooperative_launch.setter
    def cooperative_launch(self, cooperative_launch: bool) -> None:
        self._change("is_cooperative", cooperative_launch)

    @property
    def programmatic_stream_serialization(self) -> bool:
        """Whether the kernel may start before the one ahead of it in the stream has ended."""
        return self._extras.programmatic_stream_serialization

    @programmatic_stream_serialization.setter
    def programmatic_stream_serialization(self, allowed: bool) -> None:
        self._change("programmatic_stream_serialization", allowed)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LaunchConfig):
            return NotImplemented
        return self._shape == other._shape and self._extras[:3] == other._extras[:3]

    def __hash__(self) -> int:
        return hash((self._shape, self._extras[:3]))

    def __reduce__(self) -> tuple[Any, ...]:
        cluster, *rest = self._extras[:3]
        return LaunchConfig, (self.grid, cluster, self.block, self.shmem_size, *rest)

    def __repr__(self) -> str:
        extra = [f"cluster={self.cluster}"] * (self.cluster is not None)
        for name in ("shmem_size", "is_cooperative", "programmatic_stream_serialization"):
            value = getattr(self, name)
            extra += [f"{name}={value}"] * bool(value)
        return f"LaunchConfig({', '.join([f'grid={self.grid}', f'block={self.block}', *extra])})"


def _three(name: str, extent: Any) -> Any:
    """`extent` as (x, y, z); its items may still be anything."""
    if type(extent) in (tuple, list) and 1 <= len(extent) <= 3:
        return (*extent, 1, 1)[:3]
    return _checked(name, extent)


def _checked(name: str, extent: Any) -> tuple[int, int, int]:
    """`extent` as (x, y, z): an int, or up to three of them, the rest being 1. Raises for a wrong one."""
    if extent is None:
        raise TypeError(
            "LaunchConfig needs grid= (how many blocks) and block= (threads in each); the second by "
            "position is cluster"
        )
    given = extent if isinstance(extent, (tuple, list)) else (extent,)
    if not 1 <= len(given) <= 3:
        raise ValueError(f"LaunchConfig: {name} = {extent!r} must be an int or 1 to 3 of them")
    try:
        sizes = [int(operator.index(size)) for size in given]
    except TypeError:
        hint = ": divide with //" if any(isinstance(size, float) for size in given) else ""
        raise TypeError(f"LaunchConfig: {name} = {extent!r} must be an int or 1 to 3 of them{hint}") from None
    if min(sizes) < 1:
        raise ValueError(f"LaunchConfig: {name} = {extent!r} must be at least 1 in each direction")
    if max(sizes) >= 1 << 32:
        raise ValueError(f"LaunchConfig: {name} = {extent!r} is too large")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _refuse(grid: Any, cluster: Any, block: Any, shmem_size: Any) -> NoReturn:
    """Raise the error that says which of the numbers is wrong."""
    _checked("grid", grid)
    try:
        _checked("block", block)
    except ValueError as error:
        if cluster is None:
            raise
        raise ValueError(f"{error}; by position block is third, behind cluster: write block=") from None
    kind = ValueError if hasattr(shmem_size, "__index__") else TypeError
    raise kind(f"LaunchConfig: shmem_size = {shmem_size!r} is not a size of shared memory in bytes")


@functools.cache
def _with_attributes(
    cluster: tuple[int, int, int] | None, is_cooperative: bool, programmatic_stream_serialization: bool
) -> _Extras:
    """These extras, with their C form, for good: a launch under way may read what a config had."""
    kind = CUlaunchAttributeID
    attributes = []
    if cluster:
        attributes.append(CUlaunchAttribute(id=kind.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION))
        size = attributes[-1].value.clusterDim
        size.x, size.y, size.z = cluster
    if is_cooperative:
        attributes.append(CUlaunchAttribute(id=kind.CU_LAUNCH_ATTRIBUTE_COOPERATIVE))
        attributes[-1].value.cooperative = 1
    if programmatic_stream_serialization:
        attributes.append(CUlaunchAttribute(id=kind.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION))
        attributes[-1].value.programmaticStreamSerializationAllowed = 1
    array = (CUlaunchAttribute * len(attributes))(*attributes)
    return _Extras(cluster, is_cooperative, programmatic_stream_serialization, array)


def c_config(config: LaunchConfig, stream: int) -> bytes:
    """The CUlaunchConfig of a launch; the grid counts blocks."""
    return config._shape + STREAM.pack(stream) + config._more
