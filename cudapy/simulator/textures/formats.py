"""The formats of elements: of arrays, and of memory that textures sample."""

from ..._types.driver.enums import CUarray_format as Format
from ..refused import invalid, unsupported

CHANNELS = {
    Format.CU_AD_FORMAT_UNSIGNED_INT8: "u1",
    Format.CU_AD_FORMAT_UNSIGNED_INT16: "u2",
    Format.CU_AD_FORMAT_UNSIGNED_INT32: "u4",
    Format.CU_AD_FORMAT_SIGNED_INT8: "i1",
    Format.CU_AD_FORMAT_SIGNED_INT16: "i2",
    Format.CU_AD_FORMAT_SIGNED_INT32: "i4",
    Format.CU_AD_FORMAT_HALF: "f2",
    Format.CU_AD_FORMAT_FLOAT: "f4",
}
"""What a channel is, as NumPy writes it."""


def channel(pformat: int) -> str:
    """The NumPy type of a channel. Raises Refused."""
    if not any(pformat == known for known in Format):
        raise invalid(f"{pformat} is not a CUarray_format")
    named = CHANNELS.get(Format(pformat))
    if named is None:
        raise unsupported(f"the simulator has no arrays of {Format(pformat).name}")
    return named


def element_size(pformat: int, channels: int) -> int:
    """The bytes of an element. Raises Refused."""
    if channels not in (1, 2, 4):
        raise invalid(f"an element has 1, 2 or 4 channels, not {channels}")
    return int(channel(pformat)[1]) * channels
