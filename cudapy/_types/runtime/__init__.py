"""The types of the Runtime API: constants, enums, handles, structs."""

from __future__ import annotations

from .attributes import *
from .constants import *
from .enums import *
from .handles import *
from .structs import *
