"""Processes of multiprocessing with NVIDIA's cuda.bindings: before cuInit each has a device, after it
forks have none.
"""

import multiprocessing
from typing import Any

from cuda.bindings import driver


def child(results: Any) -> None:
    """Put the status of cuInit and the number of devices."""
    (status,) = driver.cuInit(0)
    results.put((int(status), driver.cuDeviceGetCount()[1]))


def ask(method: str) -> Any:
    """What a child says."""
    context: Any = multiprocessing.get_context(method)
    results = context.SimpleQueue()
    process = context.Process(target=child, args=(results,))
    process.start()
    found = results.get()
    process.join()
    assert process.exitcode == 0
    return found


if __name__ == "__main__":
    methods = ("fork", "spawn", "forkserver")
    assert [ask(method) for method in methods] == [(0, 1)] * 3
    driver.cuInit(0)
    assert [ask(method) for method in methods] == [(3, None), (0, 1), (0, 1)]
    print("processes")
