"""What functions of CUDA do when Python ends, and no code of it may run: they are machine code.

The destructors of what the program still has run then. On a GPU the driver is there for them, and what waits
or gives something back succeeds. So it does here, where all goes with the process; no context is current, and
the device is the first. Everything else fails, as with a driver that shuts down. Codes still have texts: what
reports an error reads the text without asking whether there is one.
"""

import re

from .machine_code import NULL, RETURNS_TEXT, STORES_TEXT, ZERO, ZEROS

_SUCCEEDS = re.compile(
    "Free|Destroy|Unload|Release|Unregister|Close|Unmap|Unbind|Detach|Trim|CtxReset|DeviceReset|DisablePeer"
    "|ProfilerStop|SetCurrent|PushCurrent|SetDevice$|Synchronize|(Stream|Event)Query|EventRecord|RecordEvent"
    "|WaitEvent|LastError"
)
_ON_NODES = re.compile("GraphAdd|Node(Get|Set)")
_NO_CONTEXT = re.compile("cuCtx(Get|Pop)Current")
_DEVICE = "cudaGetDevice"
"""PyTorch ends the process if it fails: a destructor goes back to the device that is current."""
_STATE = "cuDevicePrimaryCtxGetState"
"""No flags, not active: PyTorch then leaves the current device as it is."""
_TEXT = re.compile("(cu|cuda)GetError(Name|String)|(nvml|nvrtcGet|ncclGet)ErrorString")


def answer(symbol: str, failure: int) -> int:
    """What `library_file.build` takes for a function. failure: what it returns if it fails."""
    if _TEXT.fullmatch(symbol):
        return STORES_TEXT if symbol.startswith("cuGet") else RETURNS_TEXT
    if _NO_CONTEXT.match(symbol):
        return NULL
    if symbol == _DEVICE:
        return ZERO
    if symbol == _STATE:
        return ZEROS
    return 0 if _SUCCEEDS.search(symbol) and not _ON_NODES.search(symbol) else failure
