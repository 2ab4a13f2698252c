"""PTX through NVIDIA's assembler, without a GPU."""

from __future__ import annotations

from cudapy import nvjitlink
from cudapy._core.compile import linker_thread


def assemble(text: str, architecture: str) -> None:
    """Link one text with nvJitLink, in the thread where core does, too: a link that fails may leave a lock of
    the whole library to its thread, for which one in another thread waits for ever.

    Raises nvJitLinkError for what it refuses.
    """
    linker_thread.call(_link, text.encode() + b"\0", f"-arch={architecture}")


def _link(text: bytes, architecture: str) -> None:
    handle = nvjitlink.create(1, [architecture])
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, text, len(text), "text")
        nvjitlink.complete(handle)
    finally:
        nvjitlink.destroy(handle)
