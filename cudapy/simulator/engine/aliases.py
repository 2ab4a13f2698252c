"""Names of types, for signatures: what lies in the arrays that kernels run on.

Where lanes run an instruction together, an operand is an array with one item for each of them, or a NumPy
scalar that all share. The type checker takes both for an array.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""Operands and results, of the type that the instruction says."""
Function: TypeAlias = Callable[..., Array]
"""What makes a result of operands."""
DType: TypeAlias = np.dtype[Any]
U8: TypeAlias = NDArray[np.uint8]
U32: TypeAlias = NDArray[np.uint32]
U64: TypeAlias = NDArray[np.uint64]
"""Addresses, too."""
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
"""Numbers of lanes and blocks, and places in arrays."""
F64: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Index: TypeAlias = I64 | np.int64
"""Places in an array, or the one that all lanes mean."""
Lanes: TypeAlias = I64 | None
"""The numbers of the lanes that run; None for all of the batch."""
Dim3: TypeAlias = tuple[int, int, int]
