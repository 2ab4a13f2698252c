"""The Runtime API's fills."""

from typing import Any

from ..library import provides
from ..memory.copies import later, now
from ..memory.fills import Fill
from ..refused import invalid


@provides("runtime")
def cudaMemset(devPtr: int | None, value: int, count: int) -> None:
    now(Fill(devPtr or 0, value, 1, count))


@provides("runtime")
def cudaMemsetAsync(devPtr: int | None, value: int, count: int, stream: int) -> None:
    later(Fill(devPtr or 0, value, 1, count), stream)


@provides("runtime")
def cudaMemset2D(devPtr: int | None, pitch: int, value: int, width: int, height: int) -> None:
    now(Fill(devPtr or 0, value, 1, width, height, pitch))


@provides("runtime")
def cudaMemset2DAsync(
    devPtr: int | None, pitch: int, value: int, width: int, height: int, stream: int
) -> None:
    later(Fill(devPtr or 0, value, 1, width, height, pitch), stream)


def _volume(pointer: Any, value: int, extent: Any) -> list[Fill]:
    layer = pointer.pitch * pointer.ysize
    if not extent.width or not extent.height:
        return []
    if extent.depth > 1 and pointer.ysize < extent.height:
        raise invalid(f"slices of {pointer.ysize} rows are lower than the extent of {extent.height}")
    return [
        Fill(pointer.ptr + z * layer, value, 1, extent.width, extent.height, pointer.pitch)
        for z in range(extent.depth)
    ]


@provides("runtime")
def cudaMemset3D(pitchedDevPtr: Any, value: int, extent: Any) -> None:
    for fill in _volume(pitchedDevPtr, value, extent):
        now(fill)


@provides("runtime")
def cudaMemset3DAsync(pitchedDevPtr: Any, value: int, extent: Any, stream: int) -> None:
    for fill in _volume(pitchedDevPtr, value, extent):
        later(fill, stream)
