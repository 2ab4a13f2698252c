"""Makes the calls of `calls.plan` on one package, on the stub libcuda, and prints what was seen:

LD_LIBRARY_PATH=FOLDER python -m tests.peers.worker cudapy|bindings FOLDER/libcuda.so.1 FIRST [FUNCTION...]
"""

from __future__ import annotations

import importlib
import json
import sys

from cudapy._ffi.prototypes import PYTHON_NAMES
from tests.stub.record import Stub

from .calls import ADDRESS, DRIVER, STRUCTS, call, plan


def seen(stub: Stub, inputs: list[str]) -> list[object]:
    """What C received for the inputs, the addresses of temporary memory left out."""
    found = []
    for made in stub.calls():
        arguments = {}
        for name, (raw, memory) in made.arguments.items():
            if PYTHON_NAMES.get(name, name) not in inputs:
                continue
            behind = memory.hex()[:400] if memory is not None else None
            address = "shared" if int.from_bytes(raw, "little") == ADDRESS else raw.hex()
            arguments[name] = behind if behind is not None else address
        found.append([made.symbol.replace("_recorded", ""), arguments])
    return found


def main(package: str, path: str, first: str, *only: str) -> None:
    import ctypes

    stub = Stub(path)
    module = DRIVER if package == "cudapy" else importlib.import_module("cuda.bindings.driver")
    DRIVER.__dir__()
    for name, value in list(vars(DRIVER).items()):
        if isinstance(value, type) and issubclass(value, (ctypes.Structure, ctypes.Union)):
            STRUCTS[name] = ctypes.sizeof(value)
    for number, (name, label, arguments) in enumerate(plan()):
        function = getattr(module, name, None)
        if number < int(first) or function is None or (only and name not in only):
            continue
        print(number, flush=True, end=" ")
        stub.reset()
        stub.peek = 2
        outcome = call(function, label, arguments, module)
        print(json.dumps([name, label, outcome, seen(stub, [name for name, _ in arguments])]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
