"""Events: elapsed time, queries, flags; streams: priorities, ids, flags, waits on values."""

from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt


def must(result, *ignored):
    assert result[0] == 0, (result[0], ignored)
    return result[1] if len(result) == 2 else result[1:]


must(rt.cudaSetDevice(0))
must(cu.cuCtxGetCurrent())
start, stop = must(rt.cudaEventCreate()), must(cu.cuEventCreate(cu.CUevent_flags.CU_EVENT_BLOCKING_SYNC))
stream = must(rt.cudaStreamCreateWithPriority(rt.cudaStreamNonBlocking, -1))
print(
    must(rt.cudaStreamGetPriority(stream)),
    must(rt.cudaStreamGetFlags(stream)),
    must(cu.cuStreamGetFlags(stream)),
)
least, greatest = must(rt.cudaDeviceGetStreamPriorityRange())
print(least, greatest)
must(rt.cudaEventRecord(start, stream))
p = must(rt.cudaMalloc(1 << 28))
for _ in range(20):
    must(rt.cudaMemsetAsync(p, 0, 1 << 28, stream))
must(cu.cuEventRecord(stop, stream))
status = cu.cuEventQuery(stop)[0]
print(
    status in (cu.CUresult.CUDA_SUCCESS, cu.CUresult.CUDA_ERROR_NOT_READY),
    cu.cuStreamQuery(stream)[0].name != "",
)
must(cu.cuEventSynchronize(stop))
ms = must(rt.cudaEventElapsedTime(start, stop))
print(type(ms).__name__, 0.01 < ms < 1000, 0.01 < must(cu.cuEventElapsedTime(start, stop)) < 1000)
fresh = must(rt.cudaEventCreateWithFlags(rt.cudaEventDisableTiming))
print(rt.cudaEventElapsedTime(fresh, stop), rt.cudaEventQuery(fresh))
print(rt.cudaGetLastError())
flag = must(cu.cuMemAlloc(8))
must(cu.cuMemsetD32(flag, 0, 2))
must(cu.cuCtxSynchronize())
other = must(cu.cuStreamCreate(1))
must(cu.cuStreamWaitValue32(other, flag, 5, cu.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_GEQ))
print(cu.cuStreamQuery(other)[0].name)
must(cu.cuStreamWriteValue32(stream, flag, cu.cuuint32_t(6), 0))
must(cu.cuStreamSynchronize(other))
print(cu.cuStreamQuery(other))
operations = [cu.CUstreamBatchMemOpParams() for _ in range(2)]
operations[0].operation = cu.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WRITE_VALUE_32
operations[0].writeValue.operation = cu.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WRITE_VALUE_32
operations[0].writeValue.address = flag
operations[0].writeValue.value = cu.cuuint32_t(77)
operations[0].writeValue.flags = 0
operations[1].waitValue.operation = cu.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WAIT_VALUE_32
operations[1].waitValue.address = flag
operations[1].waitValue.value = 77
operations[1].waitValue.flags = int(cu.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ)
must(cu.cuStreamBatchMemOp(other, 2, operations, 0))
must(cu.cuStreamSynchronize(other))
value = bytearray(4)
must(cu.cuMemcpyDtoH(value, flag, 4))
print(int.from_bytes(value, "little"), operations[1].waitValue.value, operations[0].operation.name)
print(must(cu.cuStreamGetId(stream)) == must(rt.cudaStreamGetId(stream)))
context = must(cu.cuStreamGetCtx(stream))
print(context == must(cu.cuCtxGetCurrent()), type(context).__name__)
must(rt.cudaFree(p))
must(cu.cuMemFree(flag))
must(rt.cudaStreamDestroy(stream))
must(cu.cuStreamDestroy(other))
for event in (start, stop, fresh):
    must(rt.cudaEventDestroy(event))
