"""Pages that are other files of the repository, and where links lead."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
INCLUDED = {
    "CHANGELOG.md": "changelog",
    "CODE_OF_CONDUCT.md": "conduct",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "samples/README.md": "samples",
    "benchmark/README.md": "benchmark",
}
"""Files of the repository and the pages that show them, in docs/pages/."""
_TARGET = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def led(text: str, folder: str, here: str, repository: str) -> str:
    """Markdown of a file in `folder`, for a page in `here`: links lead to pages, or else to `repository`.

    Folders are relative to the root of this one.
    """

    def changed(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        if path in INCLUDED:
            path = f"docs/pages/{INCLUDED[path]}.md"
        elif path == "README.md":
            path = "docs/index.md"
        if path.startswith("docs/"):
            return f"]({posixpath.relpath(path, here)}{link[2] or ''})"
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"]({repository}/{kind}/main/{path}{link[2] or ''})"

    return _TARGET.sub(changed, text)


def included(repository: str) -> dict[str, str]:
    """The pages in docs/pages/ by name."""
    pages = {}
    for file, name in INCLUDED.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        pages[name] = led(text, posixpath.dirname(file), "docs/pages", repository)
    return pages
