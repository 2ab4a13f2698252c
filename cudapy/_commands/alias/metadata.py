"""What importlib.metadata says of an aliased package."""

import os
from importlib.metadata import Distribution
from pathlib import Path


class Release(Distribution):
    """The name and version of a release that cudapy stands for; it has no files."""

    def __init__(self, name: str, release: str) -> None:
        self._text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n"

    def read_text(self, filename: str) -> str | None:
        return self._text if filename in ("METADATA", "PKG-INFO") else None

    def locate_file(self, path: str | os.PathLike[str]) -> Path:
        return Path(__file__).parents[3] / path
