"""The enums and structs of nvml.h under the names that `cuda.bindings` has for them, made on demand.

derived.py has the rules, and names.pyi, which type checkers read, the classes.
"""

from ..._ffi.scalars import (  # noqa: F401 - what the annotations of the fields name
    c_double,
    c_int,
    c_longlong,
    c_uchar,
    c_uint,
    c_ulong,
    c_ulonglong,
    c_ushort,
    char_p,
    void_p,
)

GRID_LICENSE_FEATURE_MAX_COUNT = 3
MAX_GPU_UTILIZATIONS = 8
NVLINK_MAX_LINKS = 18  # nvml.h has 36 by now


def __getattr__(name):
    from .derived import get

    return get(name)


def __dir__():
    from .derived import every_name

    return sorted({*globals(), *every_name()})
