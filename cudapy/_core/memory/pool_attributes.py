"""What a memory pool says of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...driver import CUmemPool_attribute, checked

if TYPE_CHECKING:
    from ...driver import CUmemoryPool
    from ..ownership.owned import Ownership


class MemoryPoolAttributes:
    """The settings and figures of a pool, which is there as long as these are. Sizes are in bytes.

    `release_threshold` and the `reuse_...` rules may be set, and so may a `..._high` figure, to 0.
    Source: cuMemPoolGetAttribute, cuMemPoolSetAttribute.
    """

    __slots__ = ("__weakref__", "_ownership", "_pool")
    _ownership: Ownership | None  # of the pool, unless it is the driver's
    _pool: CUmemoryPool

    reuse_follow_event_dependencies: bool
    reuse_allow_opportunistic: bool
    reuse_allow_internal_dependencies: bool
    release_threshold: int
    reserved_mem_current: int
    reserved_mem_high: int
    used_mem_current: int
    used_mem_high: int

    def __init__(self, pool: CUmemoryPool, ownership: Ownership | None) -> None:
        object.__setattr__(self, "_pool", pool)
        object.__setattr__(self, "_ownership", ownership)

    def __getattr__(self, name: str) -> Any:
        value = checked.cuMemPoolGetAttribute(self._pool, self._attribute(name))
        return _SETTINGS[name](value)

    def __setattr__(self, name: str, value: int) -> None:
        attribute = self._attribute(name)
        if name.endswith("current"):
            raise AttributeError(f"{name} is a figure, and cannot be set")
        checked.cuMemPoolSetAttribute(self._pool, attribute, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_SETTINGS]

    def _attribute(self, name: str) -> CUmemPool_attribute:
        if name not in _SETTINGS:
            raise AttributeError(f"a memory pool has no attribute {name!r}")
        return CUmemPool_attribute[f"CU_MEMPOOL_ATTR_{name.upper()}"]

    def __repr__(self) -> str:
        figures = ", ".join(f"{name}={getattr(self, name)}" for name in _SETTINGS)
        return f"<MemoryPoolAttributes {figures}>"


_SETTINGS = {
    name: bool if kind == "bool" else int
    for name, kind in MemoryPoolAttributes.__annotations__.items()
    if not name.startswith("_")
}
