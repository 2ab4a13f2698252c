"""How Sphinx builds the site: `nox -s docs`."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

gallery, pages, reference = (
    importlib.import_module(f"_site.{name}") for name in ("gallery", "pages", "reference")
)

project = "cudapy"
author = "The cudapy developers"
project_copyright = "2026, The cudapy developers"
version = release = importlib.import_module("cudapy").__version__

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design"]
exclude_patterns = ["_build", "_site"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"
smartquotes = False
suppress_warnings = ["ref.python"]  # a Device in an annotation is that of core or of core.system

_pyproject = (HERE.parent / "pyproject.toml").read_text(encoding="utf-8")
REPOSITORY = re.findall(r'^Source = "(.*)"', _pyproject, re.MULTILINE)[0]

html_theme = "furo"
html_title = f"cudapy {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_theme_options = {
    "top_of_page_buttons": [],  # many pages are made of what lies elsewhere
    "footer_icons": [{"name": "Source", "url": REPOSITORY, "html": "Source", "class": ""}],
}


def _generate(app: Any) -> None:
    reference.write(HERE / "reference")
    folder = HERE / "pages"
    folder.mkdir(exist_ok=True)
    made = pages.included(REPOSITORY)
    made["gallery"] = gallery.page(HERE, f"{REPOSITORY}/blob/main")
    for name, text in made.items():
        reference.update(folder / f"{name}.md", text)


def _lead(app: Any, page: str, source: list[str]) -> None:
    if "/" not in page:
        source[0] = pages.led(source[0], "docs", "docs", REPOSITORY)
    if page == "index":  # what only the site has
        contents = HERE / "_site" / "contents.md"
        app.env.note_dependency(str(contents))
        source[0] += "\n" + contents.read_text(encoding="utf-8")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", _generate)
    app.connect("source-read", _lead)
