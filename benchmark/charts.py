"""How the pictures look: one SVG for light and dark pages, by the colours that the reader has chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TEXT, GRID, PAPER = "#202020", "#b0b0b0", "#ffffff"
DARK = {TEXT: "#d0d0d0", GRID: "#606060", PAPER: "#131416"}
"""The same on dark pages."""
_STYLE = '<style type="text/css">'


def begin() -> Any:
    """matplotlib's pyplot, which draws into files in our colours. Raises ImportError without it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    texts = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
    settings: Any = dict.fromkeys(texts, TEXT) | {
        "svg.hashsalt": "cudapy",
        "svg.fonttype": "none",
        "axes.edgecolor": GRID,
        "grid.color": GRID,
        "axes.facecolor": "none",
        "legend.frameon": False,
    }
    pyplot.rcParams.update(settings)
    return pyplot


def save(figure: Any, path: Path) -> None:
    """Write a figure as a PNG or SVG, by the name of the file, and close it. A PNG is for light pages."""
    is_svg = path.suffix == ".svg"
    figure.savefig(path, metadata={"Date": None} if is_svg else None)
    begin().close(figure)
    if is_svg:
        path.write_text(path.read_text().replace(_STYLE, f"{_STYLE}{_dark()}", 1))


def _dark() -> str:
    """Rules that stand above the colours of the elements."""
    rules = [
        f'[style*="{part}: {light}"] {{{part}: {dark} !important}}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    ]
    return f"@media (prefers-color-scheme: dark) {{{' '.join(rules)}}}"
