"""The public names of the engine, which its package has."""

import numpy

if int(numpy.__version__.partition(".")[0]) < 2:
    raise ImportError(f"the simulator needs NumPy 2 or newer, this is {numpy.__version__}")

from . import back_ends, classes, coverage, fault, schedule, settings
from .aliases import U8, Array
from .classes import CLASSES, LIFETIME, STREAM
from .coverage import Counts
from .device import Answers, Device
from .fault import AllocatedMemory, Fault, Finding, OtherAccess, Place, Value
from .grids import launch
from .idle_threads import IdleThreads
from .memory import LAZY, POISON, QUARANTINE, Allocation, Member, Memory
from .module import Function, Module, PTXError
from .run.batch import Counters
from .run.device_runtime import DEVICE_RUNTIME
from .run.launch_accesses import LaunchAccesses, Ranges
from .schedule import POLICIES, Delay, Schedule
from .tensor_map import TensorMap
from .texture import Surface, Texture
from .undefined_bits import UNDEFINED

__all__ = [
    "CLASSES",
    "DEVICE_RUNTIME",
    "LAZY",
    "LIFETIME",
    "POISON",
    "POLICIES",
    "QUARANTINE",
    "STREAM",
    "U8",
    "UNDEFINED",
    "AllocatedMemory",
    "Allocation",
    "Answers",
    "Array",
    "Counters",
    "Counts",
    "Delay",
    "Device",
    "Fault",
    "Finding",
    "Function",
    "IdleThreads",
    "LaunchAccesses",
    "Member",
    "Memory",
    "Module",
    "OtherAccess",
    "PTXError",
    "Place",
    "Ranges",
    "Schedule",
    "Surface",
    "TensorMap",
    "Texture",
    "Value",
    "back_ends",
    "classes",
    "coverage",
    "fault",
    "launch",
    "schedule",
    "settings",
]
