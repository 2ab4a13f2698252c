"""Makes the calls of `calls.plan` on one package, on a stub, and prints what was seen:

    LD_LIBRARY_PATH=. python -m tests.peers.worker cudapy|bindings driver|runtime-13 ./libcuda.so.1 FIRST

The peer has libcudart built in, which says that there is no driver: of the Runtime API this shows what its
functions take, and how many results they have.
"""

from __future__ import annotations

import importlib
import json
import sys

from tests.stub import APIS, source
from tests.stub.record import Stub

from .calls import call, observe, plan

NO_DRIVER = 35


def main(package: str, api: str, path: str, first: str) -> None:
    stub = Stub(path, api)
    name_of_peer = f"cuda.bindings.{APIS[api].module}"
    module = source(api) if package == "cudapy" else importlib.import_module(name_of_peer)
    for number, (name, label, arguments) in enumerate(plan(api)):
        if number < int(first) or not hasattr(module, name):
            continue
        print(number, flush=True, end=" ")
        if api == "driver":
            seen = observe(stub, module, name, label, arguments)
        else:
            stub.reset()
            stub.peek, stub.status = 0, NO_DRIVER
            seen = call(getattr(module, name), label, arguments, module)[:2], []
        print(json.dumps([name, label, *seen]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
