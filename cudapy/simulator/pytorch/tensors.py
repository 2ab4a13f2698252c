"""A CUDA tensor's memory as a tensor of the CPU, and the CPU's results as CUDA tensors."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch

from .layouts import is_sparse, joined, parts, replace

CPU = torch.device("cpu")


class Views:
    """The tensors of one call: `host` makes the CPU's view of each CUDA tensor, `device` goes back.

    name: of the operator, for reports.
    written: called with each dense tensor that gets a result.
    """

    def __init__(self, name: str, written: Callable[[Any], None]) -> None:
        self._name = name
        self._written = written
        self._originals: dict[int, tuple[Any, Any]] = {}  # by the id of a view
        self.storages: dict[int, Any] = {}
        """The CUDA storages of the arguments, by their addresses."""

    def host(self, value: Any) -> Any:
        """An argument for the CPU's kernel: tensors, also in lists, devices and generators are replaced."""
        if isinstance(value, torch.Tensor):
            return self._view(value) if value.is_cuda else value
        if isinstance(value, (list, tuple)):
            return [self.host(each) for each in value]
        if isinstance(value, torch.device):
            return CPU if value.type == "cuda" else value
        return None if isinstance(value, torch.Generator) else value

    def _view(self, tensor: Any) -> Any:
        if is_sparse(tensor):
            view = joined(tensor, map(self._view, parts(tensor)))
        elif tensor.layout != torch.strided or tensor.is_nested:
            raise NotImplementedError(
                f"aten::{self._name}: cudapy's simulator has no operators for tensors of {tensor.layout}"
            )
        elif tensor.numel():
            storage = tensor.untyped_storage()
            self.storages[storage.data_ptr()] = storage
            view = view_of(tensor)
        else:
            view = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=CPU)
        self._originals[id(view)] = view, tensor
        return view

    def original(self, view: Any) -> Any:
        """The CUDA tensor of which this is the view; None for other tensors."""
        return self._originals.get(id(view), (None, None))[1]

    def device(self, value: Any, device: Any) -> Any:
        """A result of the CPU's kernel, with CUDA tensors on `device`: arguments are what they were."""
        if isinstance(value, torch.Tensor):
            original = self.original(value)
            if original is not None and is_sparse(original):
                before = zip(parts(original), parts(value), strict=True)
                if any(one.data_ptr() != other.data_ptr() for one, other in before):
                    replace(original, self._result(value, device))
                return original
            if original is not None:
                return written(original, value)
            return self._result(value, device) if value.device.type == "cpu" else value
        if isinstance(value, (list, tuple)):
            return type(value)(self.device(each, device) for each in value)
        return value

    def _result(self, tensor: Any, device: Any) -> Any:
        """Storage for storage, so that results share memory, with arguments too, as the CPU's do."""
        if is_sparse(tensor):
            return joined(tensor, [self._result(part, device) for part in parts(tensor)])
        source = tensor.untyped_storage()
        address = source.data_ptr()
        storage = self.storages.get(address)
        if storage is None:
            storage = torch.empty(source.nbytes(), dtype=torch.uint8, device=device).untyped_storage()
            ctypes.memmove(storage.data_ptr(), address, source.nbytes())
            if address:
                self.storages[address] = storage
        result = torch.empty(0, dtype=tensor.dtype, device=device)
        result.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
        self._written(result)
        return _with_bits(result, tensor)


def view_of(tensor: Any) -> Any:
    """The memory of a CUDA tensor as a tensor of the CPU."""
    return _with_bits(over(tensor.untyped_storage().data_ptr(), tensor), tensor)


def over(address: int, tensor: Any) -> Any:
    """A tensor of the CPU like another one, with the memory from an address on as its storage."""
    memory = torch._C._construct_storage_from_data_pointer(address, CPU, tensor.untyped_storage().nbytes())
    view = torch.empty(0, dtype=tensor.dtype, device=CPU)
    view.set_(memory, tensor.storage_offset(), tensor.size(), tensor.stride())
    return view


def _with_bits(tensor: Any, like: Any) -> Any:
    """`tensor` is conjugated and negated when it is read, if `like` is."""
    if like.is_conj():
        tensor = torch._conj(tensor)
    return torch._neg_view(tensor) if like.is_neg() else tensor


def written(tensor: Any, view: Any) -> Any:
    """`tensor`, after its view was written, and resized if it was empty."""
    if view.size() != tensor.size():
        tensor.resize_(view.untyped_storage().nbytes() // view.element_size())
        tensor.as_strided_(view.size(), view.stride())
        if tensor.numel():
            view_of(tensor).copy_(view)
    return tensor


def each_tensor(values: Any, action: Callable[[Any], None]) -> None:
    """Call `action` with each tensor in arguments, also those in lists."""
    for value in values:
        if isinstance(value, torch.Tensor):
            action(value)
        elif isinstance(value, (list, tuple)):
            each_tensor(value, action)
