"""cuda-cccl: a reduction and a scan of cuda.compute, on arrays of Numba."""

import cuda.compute as compute
import numpy as np
from cuda.compute import OpKind
from numba import cuda

N = 5000
numbers = np.random.default_rng(3).integers(-100, 100, N, dtype=np.int32)
array, start = cuda.to_device(numbers), np.array([7], np.int32)
total, sums = cuda.device_array(1, np.int32), cuda.device_array(N, np.int32)
compute.reduce_into(d_in=array, d_out=total, num_items=N, op=OpKind.PLUS, h_init=start)
assert total.copy_to_host()[0] == numbers.sum() + 7
compute.inclusive_scan(d_in=array, d_out=sums, op=OpKind.PLUS, init_value=start, num_items=N)
np.testing.assert_array_equal(sums.copy_to_host(), np.cumsum(numbers) + 7)
