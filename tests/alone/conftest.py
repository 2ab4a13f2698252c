"""The files of this folder run where tests/test_alone.py has started them, or where they were named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    named = any(Path(argument).name == collection_path.name for argument in config.args)
    if collection_path.name.startswith("test_") and not named and not os.environ.get("CUDAPY_ALONE"):
        return True
    return None
