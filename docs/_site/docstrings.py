"""Docstrings of cudapy as Markdown."""

from __future__ import annotations

import inspect
import re

_CODE = re.compile(r"(`+[^`]+`+)")
_SPECIAL = re.compile(r"([\\*_<>\[\]$|{}])")
_NAMED = re.compile(r"(?:\*{0,2}\w+)(?:, \*{0,2}\w+)*: ")
"""What begins the description of a parameter, as in `size: how many bytes`."""


def escaped(text: str) -> str:
    """Text in which only backticks mean something."""
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else _SPECIAL.sub(r"\\\1", part) for part in parts)


def markdown(docstring: str | None) -> str:
    """Paragraphs; indented ones and columns as code, descriptions of parameters as a list."""
    blocks = re.split(r"\n{2,}", inspect.cleandoc(docstring or "").strip())
    text = "\n\n".join(filter(None, map(_block, blocks))) + "\n"
    return text.replace("\n```\n\n```text\n", "\n\n")  # code with empty lines


def _block(block: str) -> str:
    lines = block.split("\n")
    if all(line.startswith("    ") for line in lines):
        return _code([line[4:] for line in lines])
    if any(re.search(r"\S {3,}\S", line) for line in lines):
        return _table(lines) or _code(lines)
    if lines[0].startswith("- ") or _NAMED.match(lines[0]):
        return "\n".join(_items(lines))
    return escaped(block)


def _code(lines: list[str]) -> str:
    return "\n".join(["```text", *lines, "```"])


def _table(lines: list[str]) -> str:
    """Two columns, whose second may go on in the next line; "" for what is none."""
    rows: list[list[str]] = []
    for line in lines:
        columns = re.fullmatch(r"(\S.*?)? {3,}(\S.*)", line)
        if columns and columns[1]:
            rows.append([columns[1], columns[2]])
        elif columns and rows:
            rows[-1][1] += " " + columns[2]
        else:
            return ""
    cells = [" | ".join(escaped(cell) for cell in row) for row in rows]
    return "\n".join(["| | |", "|---|---|", *(f"| {row} |" for row in cells)])


def _items(lines: list[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        name = _NAMED.match(line)
        if line.startswith("Source: "):
            found += ["", escaped(line)]
        elif line.startswith("- "):
            found.append("- " + escaped(line[2:]))
        elif (name and not found) or (name and found[0].startswith("- **")):
            described = escaped(name[0].rstrip(": "))
            found.append(f"- **{described}**: {escaped(line[name.end() :])}")
        else:
            found.append("  " + escaped(line.strip()))
    return found
