"""What Numba reports: exceptions in kernels, wrong launches, code it cannot compile, memory there is not."""

import numpy as np
from numba import cuda
from numba.cuda.core.errors import TypingError
from numba.cuda.cudadrv.driver import CudaAPIError


def raises(kind, function, *arguments, match=""):
    try:
        function(*arguments)
    except kind as error:
        assert match in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")


@cuda.jit(debug=True, opt=False)
def careful(x, i):
    if x[i] < 0:
        raise ValueError("negative")
    x[i] = 10 // x[i]


@cuda.jit
def plain(x):
    x[cuda.grid(1)] = 1


@cuda.jit
def odd(x):
    x[0] = object()


x = cuda.to_device(np.array([5, -1, 0]))
careful[1, 1](x, 0)
assert x.copy_to_host()[0] == 2
raises(ValueError, careful[1, 1], x, 1, match="negative")
raises(ZeroDivisionError, careful[1, 1], x, 2)
raises(TypingError, odd[1, 1], x)
raises(ValueError, lambda: plain[0, 32](x))
raises(Exception, plain[1, 2048], x, match="INVALID_VALUE")
raises(CudaAPIError, cuda.device_array, (1 << 50,), np.float64, match="OUT_OF_MEMORY")
careful[1, 1](x, 0)  # none of it has lost the context
assert x.copy_to_host()[0] == 5
