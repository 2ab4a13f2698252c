"""The types of the Runtime API: constants, enums and handles; structs and attribute tables are modules of their own."""

from __future__ import annotations

from .constants import *
from .enums import *
from .handles import *
