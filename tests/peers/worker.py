"""Makes the calls of `calls.plan` on one package, on a stub libcuda, and prints what was seen:

LD_LIBRARY_PATH=. python -m tests.peers.worker cudapy|bindings ./libcuda.so.1 FIRST [FUNCTION...]
"""

from __future__ import annotations

import importlib
import json
import sys

from tests.stub.record import Stub

from .calls import DRIVER, observe, plan


def main(package: str, path: str, first: str, *only: str) -> None:
    stub = Stub(path)
    module = DRIVER if package == "cudapy" else importlib.import_module("cuda.bindings.driver")
    for number, (name, label, arguments) in enumerate(plan()):
        if number < int(first) or not hasattr(module, name) or (only and name not in only):
            continue
        print(number, flush=True, end=" ")
        print(json.dumps([name, label, *observe(stub, module, name, label, arguments)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
