"""The machine code of a kernel as text: PTX, the steps for eight lanes at a time, and bytes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .function import MachineCode
from .processor import assembler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..compile.function import CompiledFunction
    from .region import Part
    from .vectors import Step

    Disassemble = Callable[[bytes, int], Iterator[tuple[int, bytes, str]]]

_BYTES = 8
"""In a line, where there is no disassembler."""


def listing(compiled: CompiledFunction) -> Iterator[str]:
    """The lines for a function that was compiled for this back end."""
    region = compiled.code.whole_region() if isinstance(compiled.code, MachineCode) else None
    numbers = region.numbers if region is not None else []
    yield f"{compiled.name}: {len(numbers)} of {len(compiled.blocks)} blocks have machine code"
    disassemble = _disassembler()
    parts = region.parts if region is not None else []
    for block in compiled.blocks:
        yield ""
        if block.index not in numbers:
            yield f"block {block.index}: NumPy"
            yield from (f"  line {one.instruction.line}: {one.instruction.text}" for one in block.steps)
            continue
        yield f"block {block.index}"
        for part in parts:
            if region is not None and part.block == block.index:
                yield from _part(part, region.code, disassemble)
    for place, number in enumerate(region.exits if region is not None else ()):
        yield ""
        yield f"exit {place}: to block {number}"
    if region is not None:
        yield ""
        yield f"{len(region.code)} bytes"


def _part(part: Part, code: bytes, disassemble: Disassemble) -> Iterator[str]:
    if not part.instructions:
        yield "  (jumps)"
    for one in part.instructions:
        yield f"  line {one.line}: {one.text}"
    yield from (f"    {_step(step)}" for step in part.steps)
    for address, data, text in disassemble(code[part.start : part.end], part.start):
        yield f"      {address:5x}  {data.hex(' '):<{3 * _BYTES}}  {text}".rstrip()


def _step(step: Step) -> str:
    """A step: its result is set once, as are those that it takes."""
    sources = step.operands if step.form == "source" else [f"v{one}" for one in step.operands]
    number = () if step.number is None else (step.number,)
    target = f"v{step.result} = " if step.result >= 0 else ""
    return f"{target}{step.name} {', '.join(map(str, (*sources, *number)))}"


def _disassembler() -> Disassemble:
    """The disassembler of the package capstone, which the engine does not need; without it, bytes alone."""
    try:
        capstone: Any = import_module("capstone")
    except ImportError:
        return _bytes
    kind, mode = assembler().DISASSEMBLER
    machine = capstone.Cs(getattr(capstone, f"CS_ARCH_{kind}"), getattr(capstone, f"CS_MODE_{mode}"))

    def disassemble(code: bytes, address: int) -> Iterator[tuple[int, bytes, str]]:
        for one in machine.disasm(code, address):
            yield one.address, bytes(one.bytes), f"{one.mnemonic} {one.op_str}"

    return disassemble


def _bytes(code: bytes, address: int) -> Iterator[tuple[int, bytes, str]]:
    for start in range(0, len(code), _BYTES):
        yield address + start, code[start : start + _BYTES], ""
