"""Sparse tensors: the dense ones that they consist of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

KEYS = {"SparseCUDA": "SparseCPU", "SparseCsrCUDA": "SparseCsrCPU"}
"""The dispatch keys of sparse tensors, and those of the kernels that stand for theirs."""
KEPT = {
    "_coalesced_", "_dimI", "_dimV", "_indices", "_nnz", "_pin_memory",
    "_sparse_coo_tensor_with_dims", "_sparse_coo_tensor_with_dims_and_tensors", "_values",
    "ccol_indices", "clone", "col_indices", "copy_", "copy_sparse_to_sparse_", "crow_indices",
    "dense_dim", "empty", "empty_like", "indices", "is_coalesced", "is_pinned", "resize_",
    "resize_as_sparse_", "row_indices", "sparse_dim", "sparse_resize_", "sparse_resize_and_clear_",
    "values", "zero_",
}  # fmt: skip
"""Operators on their parts, which launch no kernels of their own."""
_PARTS = {
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_coo: ("_indices", "_values"),
}


def is_sparse(tensor: Any) -> bool:
    """Whether it has one of the layouts here."""
    return tensor.layout in _PARTS


def parts(tensor: Any) -> list[Any]:
    """Indices and values."""
    return [getattr(tensor, name)() for name in _PARTS[tensor.layout]]


def joined(like: Any, made: Iterable[Any]) -> Any:
    """A tensor with the size and layout of another one. made: its parts."""
    if like.layout == torch.sparse_coo:
        indices, values = made
        return torch.sparse_coo_tensor(
            indices, values, like.size(), check_invariants=False, is_coalesced=like.is_coalesced()
        )
    return torch.sparse_compressed_tensor(*made, like.size(), layout=like.layout, check_invariants=False)


def replace(tensor: Any, other: Any) -> None:
    """Give a tensor the parts of another one, unless they are its own."""
    if tensor.layout == torch.sparse_coo:
        tensor.copy_(other)
    elif tensor._nnz() == other._nnz():
        for part, new in zip(parts(tensor), parts(other), strict=True):
            part.copy_(new)
    else:
        raise NotImplementedError(
            f"cudapy's simulator cannot change the number of elements of a tensor of {tensor.layout}"
        )
