"""Numba next to cuda.core: streams, views, the array interface, contexts, threads, processes."""

import multiprocessing
import threading

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView
from numba import cuda

TWICE = 'extern "C" __global__ void twice(double *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }'


@cuda.jit
def increment(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


class Elsewhere:
    """An array of another library."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def streams_of_core():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    x = cuda.to_device(np.arange(64.0), stream=cuda.external_stream(int(stream.handle)))
    increment[1, 64, stream](x)  # Numba takes a stream of cuda.core
    program = Program(TWICE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin").get_kernel("twice")
    launch(
        stream, LaunchConfig(grid=1, block=64), kernel, x.__cuda_array_interface__["data"][0], np.int32(64)
    )
    increment[1, 64, stream](x)
    stream.sync()
    assert np.array_equal(x.copy_to_host(), (np.arange(64.0) + 1) * 2 + 1)


def memory_of_others():
    x = cuda.to_device(np.arange(10.0))
    increment[1, 32](cuda.as_cuda_array(Elsewhere(x)))
    increment[1, 32](Elsewhere(x))
    assert np.array_equal(x.copy_to_host(), np.arange(10.0) + 2)
    view = StridedMemoryView.from_any_interface(x, stream_ptr=-1)
    assert view.ptr == x.__cuda_array_interface__["data"][0] and view.shape == (10,)
    increment[1, 32](view)
    assert x.copy_to_host()[9] == 12


def threads():
    failed = []

    def work(number):
        try:
            x = cuda.to_device(np.full(32, number))
            for _ in range(5):
                increment[1, 32](x)
            assert (x.copy_to_host() == number + 5).all()
        except BaseException as error:
            failed.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed, failed


def other_process(handle, answers):
    with handle as array:
        answers.put(array.copy_to_host())
        array[3] = 99
        cuda.synchronize()


def processes():
    x = cuda.to_device(np.arange(10, dtype=np.int64))
    spawn = multiprocessing.get_context("spawn")
    answers = spawn.Queue()
    process = spawn.Process(target=other_process, args=(x.get_ipc_handle(), answers))
    process.start()
    assert np.array_equal(answers.get(timeout=100), np.arange(10))
    process.join(100)
    assert process.exitcode == 0 and x.copy_to_host()[3] == 99


def contexts():
    with cuda.gpus[0]:
        device = cuda.get_current_device()
        assert (
            device.compute_capability >= (7, 0)
            and device.MAX_THREADS_PER_BLOCK == 1024
            and len(device.uuid) > 8
        )
    x = cuda.to_device(np.zeros(4))
    with cuda.defer_cleanup():
        del x
    cuda.current_context().reset()  # all that Numba has loaded and allocated goes
    x = cuda.to_device(np.zeros(4))
    assert x.copy_to_host().tolist() == [0, 0, 0, 0]


if __name__ == "__main__":
    streams_of_core()
    memory_of_others()
    threads()
    processes()
    contexts()
