"""Objects as Jupyter shows them: a table of what they are."""

from collections.abc import Iterable


def html_table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """HTML of a title and rows of a name and a value each; None is left out."""
    from html import escape

    cells = "".join(
        f'<tr><th style="text-align: left">{escape(name)}</th>'
        f'<td style="text-align: left">{escape(str(value))}</td></tr>'
        for name, value in rows
        if value is not None
    )
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"


def html_source(title: str, source: str) -> str:
    """HTML of a title and lines of code, with their numbers."""
    from html import escape

    lines = source.strip("\n").split("\n")
    width = len(str(len(lines)))
    numbered = "\n".join(f"{i:{width}}  {escape(line)}" for i, line in enumerate(lines, 1))
    return f"<div>{escape(title)}</div><pre>{numbered}</pre>"


def memory_size(size: int) -> str:
    """A number of bytes, and what that is in the largest unit of which it has one."""
    for exponent, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << exponent:
            return f"{size:,} bytes ({size / (1 << exponent):.4g} {unit})"
    return f"{size:,} bytes"
