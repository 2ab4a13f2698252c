"""The readings as lines of text, for a width."""

import unicodedata
from collections.abc import Iterator

from .readings import DeviceReading, MachineReading, ProcessReading

DIM, BOLD, GREEN, YELLOW, RED, PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[0m"
_LONGEST_BAR, _LONGEST_NAME = 20, 32
_HEADINGS = ("GPU", "PID", "USER", "TYPE", "MEMORY", "BUSY", "COMMAND")
_RIGHT = {"GPU", "PID", "MEMORY", "BUSY"}


def lines(reading: MachineReading, width: int | None, colors: bool = False) -> list[str]:
    """A heading, a line for each device and one for each process. width: None for lines of any length."""
    return [_fitted(line, width, colors) for line in _lines(reading, width)]


def _lines(reading: MachineReading, width: int | None) -> Iterator[str]:
    count = len(reading.devices)
    devices = f"{count} device{'' if count == 1 else 's'}"
    yield f"{BOLD}{devices}{PLAIN}, driver {reading.driver}, CUDA {reading.cuda}"
    yield ""
    names = [shown(device.name, _LONGEST_NAME) for device in reading.devices]
    numbers = [_numbers(device) for device in reading.devices]
    columns = [max(map(len, column)) for column in zip(*numbers, strict=True)]
    name_width = max(map(_columns, names), default=0)
    bar = _LONGEST_BAR
    if width is not None:  # two bars, in brackets, and what is beside them, have two spaces between
        others = 4 + name_width + sum(2 + column for column in columns if column) + 2 * 4
        bar = min((width - others) // 2, _LONGEST_BAR)
    for device, name, cells in zip(reading.devices, names, numbers, strict=True):
        yield _device(device, name + " " * (name_width - _columns(name)), cells, columns, bar)
    yield ""
    yield from _process_lines([process for device in reading.devices for process in device.processes])


def _numbers(device: DeviceReading) -> tuple[str, ...]:
    """Temperature, fan, power, clock, how busy, memory."""
    limit = "" if device.power_limit is None else f"/{device.power_limit:.0f}"
    return (
        "" if device.temperature is None else f"{device.temperature} C",
        "" if device.fan is None else f"fan {device.fan}%",
        "" if device.power is None else f"{device.power:.0f}{limit} W",
        "" if device.clock is None else f"{device.clock} MHz",
        "" if device.busy is None else f"{device.busy}%",
        _memory(device),
    )


def _memory(device: DeviceReading) -> str:
    if device.memory_used is None or device.memory_total is None:
        return ""
    return f"{device.memory_used / 2**30:.1f}/{device.memory_total / 2**30:.1f} GiB"


def _device(device: DeviceReading, name: str, cells: tuple[str, ...], widths: list[int], bar: int) -> str:
    start = f"{device.index:>3} {name}"
    if device.problem:
        return f"{start}  {RED}{shown(device.problem)}{PLAIN}"
    *first, busy, memory = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    used = None
    if device.memory_used is not None and device.memory_total:
        used = 100 * device.memory_used / device.memory_total
    parts = [start, *(cell for cell in first if cell), _bar(device.busy, bar), busy, _bar(used, bar), memory]
    return "  ".join(part for part in parts if part).rstrip()


def _bar(percent: float | None, length: int) -> str:
    """How much of something is used, as a bar of `length` characters; "" if there is no room for one."""
    if length < 3:
        return ""
    if percent is None:
        return " " * (length + 2)
    full = round(min(max(percent, 0), 100) * length / 100)
    color = RED if percent >= 90 else YELLOW if percent >= 60 else GREEN
    return f"[{color}{'|' * full}{PLAIN}{' ' * (length - full)}]"


def _process_lines(processes: list[ProcessReading]) -> Iterator[str]:
    if not processes:
        yield f"{DIM}no processes that NVML sees{PLAIN}"
        return
    rows = [_HEADINGS, *map(_row, processes)]
    widths = [max(map(_columns, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = []
        for heading, cell, width in zip(_HEADINGS, row, widths, strict=True):
            room = " " * (width - _columns(cell))
            cells.append(room + cell if heading in _RIGHT else cell + room)
        line = " ".join(cells).rstrip()
        yield line if number else f"{BOLD}{line}{PLAIN}"


def _row(process: ProcessReading) -> tuple[str, ...]:
    return (
        str(process.device),
        str(process.pid),
        shown(process.user or "-", 12),
        process.kind,
        "-" if process.memory is None else f"{process.memory / 2**20:.0f} MiB",
        "-" if process.busy is None else f"{process.busy}%",
        shown(process.command or "-"),
    )


def shown(text: str, longest: int | None = None) -> str:
    """Text of a stranger without what a terminal would take for a command, cut to `longest` columns."""
    clean = "".join(
        character if character.isprintable() else "?" for character in text.encode(errors="replace").decode()
    )
    return clean if longest is None else _cut(clean, longest)


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(_column(character) for character in text)


def _column(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _cut(text: str, width: int) -> str:
    if _columns(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += _column(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + ("…" if width > 0 else "")


def _fitted(line: str, width: int | None, colors: bool) -> str:
    """A line cut to `width` columns, escape sequences taking none; without these unless there are colors."""
    pieces: list[str] = []
    room = width
    for number, piece in enumerate(line.split("\x1b[")):
        text = piece
        if number:  # "31mtext"
            code, _, text = piece.partition("m")
            if colors:
                pieces.append(f"\x1b[{code}m")
        if room is not None:
            text = _cut(text, room)
            room -= _columns(text)
        pieces.append(text)
    return "".join(pieces)
