"""Fills: memory set to one value."""

import ctypes

from ..._types.driver.enums import CUgraphNodeType as Type
from ..library import provides
from ..refused import invalid
from ..streams.operations import Operation
from ..streams.order import may_race
from .allocations import check_range, table
from .copies import bytes_at, later, now
from .stream_races import copied


class Fill(Operation):
    """A fill of `height` rows of `width` elements of 1, 2 or 4 bytes."""

    type = Type.CU_GRAPH_NODE_TYPE_MEMSET

    def __init__(
        self, dst: int, value: int, element_size: int, width: int, height: int = 1, pitch: int = 0
    ) -> None:
        if element_size not in (1, 2, 4):
            raise invalid(f"elements have 1, 2 or 4 bytes, not {element_size}")
        if dst % element_size or (height > 1 and pitch % element_size):
            raise invalid(f"{dst:#x} is not a multiple of {element_size}")
        if height > 1 and pitch < width * element_size:
            raise invalid(f"a pitch of {pitch} bytes is less than the width of {width * element_size}")
        self.dst = dst
        self.value = value
        self.element_size = element_size
        self.width = width
        self.height = height
        self.pitch = pitch
        if width and height:
            check_range(dst, (height - 1) * pitch + width * element_size)

    def details(self) -> list[str]:
        return [
            f"{self.dst:#x}",
            f"{self.value:#x}",
            f"{self.width} x {self.height} of {self.element_size} bytes",
        ]

    def run(self) -> None:
        size = self.width * self.element_size
        if not size:
            return
        value = self.value & ((1 << 8 * self.element_size) - 1)
        for row in range(self.height):
            start = self.dst + row * self.pitch
            if self.element_size == 1:
                ctypes.memset(start, value, size)
            else:
                data = bytes_at(start, size).view(f"u{self.element_size}")
                data.fill(value)
            table.written(start, size)
        if may_race():
            copied([], [self.dst + row * self.pitch for row in range(self.height)], size)


@provides("driver")
def cuMemsetD8_v2(dstDevice: int, uc: int, N: int) -> None:
    now(Fill(dstDevice, uc, 1, N))


@provides("driver")
def cuMemsetD16_v2(dstDevice: int, us: int, N: int) -> None:
    now(Fill(dstDevice, us, 2, N))


@provides("driver")
def cuMemsetD32_v2(dstDevice: int, ui: int, N: int) -> None:
    now(Fill(dstDevice, ui, 4, N))


@provides("driver")
def cuMemsetD2D8_v2(dstDevice: int, dstPitch: int, uc: int, Width: int, Height: int) -> None:
    now(Fill(dstDevice, uc, 1, Width, Height, dstPitch))


@provides("driver")
def cuMemsetD2D16_v2(dstDevice: int, dstPitch: int, us: int, Width: int, Height: int) -> None:
    now(Fill(dstDevice, us, 2, Width, Height, dstPitch))


@provides("driver")
def cuMemsetD2D32_v2(dstDevice: int, dstPitch: int, ui: int, Width: int, Height: int) -> None:
    now(Fill(dstDevice, ui, 4, Width, Height, dstPitch))


@provides("driver")
def cuMemsetD8Async(dstDevice: int, uc: int, N: int, hStream: int) -> None:
    later(Fill(dstDevice, uc, 1, N), hStream)


@provides("driver")
def cuMemsetD16Async(dstDevice: int, us: int, N: int, hStream: int) -> None:
    later(Fill(dstDevice, us, 2, N), hStream)


@provides("driver")
def cuMemsetD32Async(dstDevice: int, ui: int, N: int, hStream: int) -> None:
    later(Fill(dstDevice, ui, 4, N), hStream)


@provides("driver")
def cuMemsetD2D8Async(dstDevice: int, dstPitch: int, uc: int, Width: int, Height: int, hStream: int) -> None:
    later(Fill(dstDevice, uc, 1, Width, Height, dstPitch), hStream)


@provides("driver")
def cuMemsetD2D16Async(dstDevice: int, dstPitch: int, us: int, Width: int, Height: int, hStream: int) -> None:
    later(Fill(dstDevice, us, 2, Width, Height, dstPitch), hStream)


@provides("driver")
def cuMemsetD2D32Async(dstDevice: int, dstPitch: int, ui: int, Width: int, Height: int, hStream: int) -> None:
    later(Fill(dstDevice, ui, 4, Width, Height, dstPitch), hStream)
