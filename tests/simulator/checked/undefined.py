"""Undefined bytes: kernels whose names begin with bug_ use some, and the line has `// used`."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).with_name("undefined.cu").read_text()
NAMES = re.findall(r"__global__ void (\w+)", SOURCE)
"""Of the kernels, which take bytes with ones, memory that nobody wrote, and a result."""
