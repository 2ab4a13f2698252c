"""Green contexts: the SMs of a device split, a stream on a part of them."""

import numpy as np
from cuda.bindings import driver as cu


def ok(result):
    assert result[0] == cu.CUresult.CUDA_SUCCESS, result
    return result[1] if len(result) == 2 else result[1:]


ok(cu.cuInit(0))
device = ok(cu.cuDeviceGet(0))
ok(cu.cuCtxSetCurrent(ok(cu.cuDevicePrimaryCtxRetain(device))))
resource = ok(cu.cuDeviceGetDevResource(device, cu.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM))
print(type(resource).__name__, resource.type.name, resource.sm.smCount)
least = min(16, resource.sm.smCount // 2)
groups, count, remaining = ok(cu.cuDevSmResourceSplitByCount(0, resource, 0, least))
print(len(groups), count > 1)
groups, count, remaining = ok(cu.cuDevSmResourceSplitByCount(2, resource, 0, least))
print(len(groups), count, [g.sm.smCount for g in groups], remaining.sm.smCount, remaining.type.name)
description = ok(cu.cuDevResourceGenerateDesc([groups[0]], 1))
green = ok(cu.cuGreenCtxCreate(description, device, cu.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM))
print(type(description).__name__, type(green).__name__)
context = ok(cu.cuCtxFromGreenCtx(green))
print(type(context).__name__)
back = ok(cu.cuGreenCtxGetDevResource(green, cu.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM))
print(
    back.sm.smCount,
    ok(cu.cuCtxGetDevResource(context, cu.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM)).sm.smCount,
)
stream = ok(cu.cuGreenCtxStreamCreate(green, cu.CUstream_flags.CU_STREAM_NON_BLOCKING, 0))
print(ok(cu.cuStreamGetGreenCtx(stream)) == green, int(ok(cu.cuStreamGetGreenCtx(ok(cu.cuStreamCreate(0))))))
ok(cu.cuCtxPushCurrent(context))
p = ok(cu.cuMemAlloc(64))
ok(cu.cuMemsetD8Async(p, 1, 64, stream))
event = ok(cu.cuEventCreate(0))
ok(cu.cuGreenCtxRecordEvent(green, event))
ok(cu.cuGreenCtxWaitEvent(green, event))
ok(cu.cuStreamSynchronize(stream))
host = np.zeros(64, np.uint8)
ok(cu.cuMemcpyDtoH(host, p, 64))
print(host.sum())
ok(cu.cuMemFree(p))
ok(cu.cuCtxPopCurrent())
ok(cu.cuStreamDestroy(stream))
ok(cu.cuGreenCtxDestroy(green))
