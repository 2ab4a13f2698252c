"""nccl4py: a communicator of one rank in a thread for each device, and an all-reduce."""

from __future__ import annotations

import sys
import threading

import nccl.core as nccl
import numpy as np
from cuda.core import Buffer, Device, LegacyPinnedMemoryResource

COUNT = 1000
found: list[np.ndarray] = []


class Array:
    """Memory as an array of float32, for nccl4py."""

    def __init__(self, memory: Buffer) -> None:
        address, is_read_only = int(memory.handle), False
        self.__cuda_array_interface__ = {
            "data": (address, is_read_only), "shape": (COUNT,), "typestr": "<f4", "version": 3
        }  # fmt: skip


def rank(number: int, size: int, unique_id: nccl.UniqueId) -> None:
    device = Device(number)
    device.set_current()
    communicator = nccl.Communicator.init(size, number, unique_id)
    assert (communicator.rank, communicator.nranks) == (number, size)
    stream = device.create_stream()
    given = LegacyPinnedMemoryResource().allocate(4 * COUNT)
    taken = device.allocate(4 * COUNT, stream=stream)
    values = np.from_dlpack(given).view(np.float32)
    values[:] = number + np.arange(COUNT)
    given.copy_to(taken, stream=stream)
    communicator.allreduce(Array(taken), Array(taken), nccl.SUM, stream=stream)
    given.copy_from(taken, stream=stream)
    stream.sync()
    found.append(values.copy())
    communicator.destroy()


def main(size: int) -> None:
    unique_id = nccl.get_unique_id()
    threads = [threading.Thread(target=rank, args=(each, size, unique_id)) for each in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = size * (size - 1) / 2 + size * np.arange(COUNT)
    assert len(found) == size and all((each == expected).all() for each in found)
    print(f"{size} ranks: sums as expected")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
