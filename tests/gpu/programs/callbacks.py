"""Host functions and stream callbacks: ctypes functions, user data, in both APIs."""

import ctypes
import threading

from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt


class Work(ctypes.Structure):
    _fields_ = [("left", ctypes.c_int), ("right", ctypes.c_int), ("sum", ctypes.c_int)]


def check(result):
    if result[0] != 0:
        raise RuntimeError(str(result[0]))
    return result[1:]


HostFn = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
StreamCallback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
names = set()


@HostFn
def add(data):
    names.add(threading.current_thread() is threading.main_thread())
    work = Work.from_address(data)
    work.sum = work.left + work.right


calls = []


@StreamCallback
def finished(stream, status, data):
    calls.append((status, ctypes.cast(data, ctypes.POINTER(ctypes.c_int))[0]))


check(rt.cudaSetDevice(0))
(stream,) = check(rt.cudaStreamCreate())
work = Work(3, 4, 0)
fn = rt.cudaHostFn_t(_ptr=ctypes.addressof(add))
check(rt.cudaLaunchHostFunc(stream, fn, ctypes.addressof(work)))
check(rt.cudaStreamSynchronize(stream))
print(work.sum, names)
work.left = 10
check(cu.cuLaunchHostFunc(stream, cu.CUhostFn(_ptr=ctypes.addressof(add)), ctypes.addressof(work)))
check(cu.cuStreamSynchronize(stream))
print(work.sum)
number = ctypes.c_int(99)
check(
    cu.cuStreamAddCallback(
        stream, cu.CUstreamCallback(_ptr=ctypes.addressof(finished)), ctypes.addressof(number), 0
    )
)
check(cu.cuStreamSynchronize(stream))
number.value = 100
check(
    rt.cudaStreamAddCallback(
        stream, rt.cudaStreamCallback_t(_ptr=ctypes.addressof(finished)), ctypes.addressof(number), 0
    )
)
check(rt.cudaStreamSynchronize(stream))
print(calls)
order = []
keep = []
for i in range(5):
    made = HostFn(lambda data, i=i: order.append((i, data)))
    keep.append(made)
    check(rt.cudaLaunchHostFunc(stream, rt.cudaHostFn_t(_ptr=ctypes.addressof(made)), i + 1))
check(rt.cudaStreamSynchronize(stream))
print(order)
raw = ctypes.cast(add, ctypes.c_void_p).value
work.right = 20
check(cu.cuLaunchHostFunc(stream, cu.CUhostFn(raw), ctypes.addressof(work)))
check(cu.cuStreamSynchronize(stream))
print(work.sum)
destroyed = []
Destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@Destroy
def destroy(data):
    destroyed.append(data)


(thing,) = check(
    cu.cuUserObjectCreate(
        7,
        cu.CUhostFn(_ptr=ctypes.addressof(destroy)),
        1,
        cu.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
    )
)
(graph,) = check(cu.cuGraphCreate(0))
check(cu.cuGraphRetainUserObject(graph, thing, 1, cu.CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE))
check(cu.cuGraphDestroy(graph))
check(cu.cuCtxSynchronize())
import time

for _ in range(100):
    if destroyed:
        break
    time.sleep(0.01)
print(destroyed)
check(rt.cudaStreamDestroy(stream))
