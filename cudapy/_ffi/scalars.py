"""The scalar types of C, under the names that prototypes and struct fields use.

For a type checker a field of type `size_t` is an int; at run time it is the ctypes class.
"""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    c_bool: TypeAlias = bool
    c_char: TypeAlias = int
    c_short: TypeAlias = int
    c_int: TypeAlias = int
    c_long: TypeAlias = int
    c_longlong: TypeAlias = int
    c_uchar: TypeAlias = int
    c_ushort: TypeAlias = int
    c_uint: TypeAlias = int
    c_ulong: TypeAlias = int
    c_ulonglong: TypeAlias = int
    size_t: TypeAlias = int
    c_float: TypeAlias = float
    c_double: TypeAlias = float
    char_p: TypeAlias = bytes | None
    void_p: TypeAlias = Any
    Bytes: TypeAlias = bytes
    void_pp: TypeAlias = Any
else:
    from ctypes import (
        c_bool,
        c_char,
        c_double,
        c_float,
        c_int,
        c_long,
        c_longlong,
        c_short,
        c_uint,
        c_ulong,
        c_ulonglong,
    )
    from ctypes import c_char_p as char_p
    from ctypes import c_size_t as size_t
    from ctypes import c_ubyte as c_uchar
    from ctypes import c_ushort

    class void_p(ctypes.c_size_t):
        """`void *` as a field: an address, never None."""

    class void_pp(void_p):
        """`void **` as a field: an address, or the values and types of kernel arguments."""


SimpleData: Any = ctypes.c_int.__base__
"""What every scalar of ctypes derives from."""
AGGREGATES = (ctypes.Structure, ctypes.Union)

SCALARS = {
    "bool": ctypes.c_bool,
    "char": ctypes.c_char,
    "signed char": ctypes.c_byte,
    "unsigned char": ctypes.c_ubyte,
    "short": ctypes.c_short,
    "unsigned short": ctypes.c_ushort,
    "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint,
    "unsigned": ctypes.c_uint,
    "long": ctypes.c_long,
    "unsigned long": ctypes.c_ulong,
    "long long": ctypes.c_longlong,
    "signed long long": ctypes.c_longlong,
    "unsigned long long": ctypes.c_ulonglong,
    "size_t": ctypes.c_size_t,
    "ssize_t": ctypes.c_ssize_t,
    "int8_t": ctypes.c_int8,
    "int16_t": ctypes.c_int16,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint8_t": ctypes.c_uint8,
    "uint16_t": ctypes.c_uint16,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "off_t": ctypes.c_long,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
"""C spelling to ctypes class."""

__all__ = [
    "SCALARS",
    "c_bool",
    "c_char",
    "c_double",
    "c_float",
    "c_int",
    "c_long",
    "c_longlong",
    "c_short",
    "c_uchar",
    "c_uint",
    "c_ulong",
    "c_ulonglong",
    "c_ushort",
    "char_p",
    "size_t",
    "void_p",
    "void_pp",
]
