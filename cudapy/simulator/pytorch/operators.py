"""The operators of the key CUDA, as the CPU's kernels on the same memory.

Registering a name costs microseconds. What an operator takes, and whether the CPU has a kernel for it, is
looked up at its first call. Views, and what only allocates, stay PyTorch's own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Set
from typing import Any

import torch
from torch.utils._pytree import tree_map

from ..calling import add_framework
from ..streams.order import may_race
from ..streams.stream import Stream
from . import layouts
from .accesses import Accesses
from .distributions import DISTRIBUTIONS
from .formulas import FORMULAS, READS
from .memory_checks import Reads, is_looked_for, mark, read_by, require
from .order import Computation, await_turn, await_value
from .random_numbers import Draws
from .tensors import Views, each_tensor, view_of

KEPT = frozenset(
    (
        "_efficientzerotensor",
        "_nested_view_from_buffer",
        "_reshape_alias",
        "as_strided",
        "empty",
        "empty_strided",
        "is_set_to",
        "record_stream",
        "resize_",
        "set_",
        "unfold",
        "view",
        "view_as_complex",
        "view_as_real",
    )
)
"""Operators that launch no kernels: they allocate, or make tensors that share memory."""
COMPOSED = ("copy_", "convolution", "convolution_backward", "ldexp.Tensor", "ldexp.out", "ldexp_")
"""Operators of all devices, which choose a library or a kernel for CUDA inside. Some releases have some of
them in terms of others."""
KERNELS = (
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
)
"""The keys whose kernels run on the CPU."""
ON_ANY_DEVICE = re.compile("copy_|_?index|_use_|_ctc_loss|_fused_|_foreach_|_amp_|_embedding_bag")
"""Operators that take tensors of the CPU with dimensions beside those of a GPU."""
WAITS = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
"""The tags of operators that wait for their stream on a GPU."""
NUMBERS = (int, float, complex)
LACKS = re.compile(r"not implemented for '(\w+)'")
WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
_libraries: list[Any] = []


def register() -> None:
    """Have the operators of CUDA run on the CPU from now on. Libraries that the simulator lacks are off."""
    library = torch.library.Library("aten", "IMPL")
    _libraries.append(library)
    composed = {name for name in COMPOSED if _has_kernel(name, "CompositeExplicitAutograd")}
    for name in composed.union(_registered("CUDA", KEPT)):
        library.impl(name, Operator(name), "CUDA")
    for key, stands_for_it in layouts.KEYS.items():
        for name in _registered(key, layouts.KEPT):
            library.impl(name, Operator(name, stands_for_it), key)
    packages = os.path.dirname(os.path.dirname(torch.__file__))
    for package in ("torch", "triton"):
        add_framework(os.path.join(packages, package))
    torch.backends.cudnn.enabled = False
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)
    # A thread of the engine would wait for the GIL with the allocator's lock, for which its owner may wait.
    torch.autograd.set_multithreading_enabled(False)


def _registered(key: str, kept: Set[str]) -> list[str]:
    """The operators of a dispatch key, but for those of these names."""
    found = torch._C._dispatch_get_registrations_for_dispatch_key(key)
    names = [name.removeprefix("aten::") for name in found if name.startswith("aten::")]
    return [name for name in names if name.partition(".")[0] not in kept]


def _has_kernel(name: str, key: str) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", key)  # type: ignore[no-any-return]


class Operator:
    """One operator of ATen, `name` with its overload. key: of the kernel that stands for that of CUDA."""

    def __init__(self, name: str, key: str = "CPU") -> None:
        self._name = name
        self._key = key
        self._compute: Callable[..., Any] | None = None

    def _look_up(self) -> Callable[..., Any]:
        """Find out what the operator is, and what computes it. Raises NotImplementedError."""
        base, _, overload = self._name.partition(".")
        op = getattr(getattr(torch.ops.aten, base), overload or "default")
        compute = FORMULAS.get(self._name) or DISTRIBUTIONS.get(self._name)
        if compute is None:
            if not any(_has_kernel(self._name, key) for key in (self._key, *KERNELS)):
                raise NotImplementedError(
                    f"aten::{self._name} has no kernel for the CPU: it does not run on cudapy's simulator"
                )
            compute = op
        arguments = op._schema.arguments
        self._written = [
            (place, argument.name)
            for place, argument in enumerate(arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ]
        self._draws = torch.Tag.nondeterministic_seeded in op.tags or any(
            argument.name == "generator" for argument in arguments
        )
        self._takes_generator = self._name in DISTRIBUTIONS
        self._reads = self._name in READS
        self._waits = not WAITS.isdisjoint(op.tags)
        self._tensors_at = [
            place for place, argument in enumerate(arguments) if isinstance(argument.type, torch.TensorType)
        ]
        self._any_overload = getattr(torch.ops.aten, base)
        self._takes_any_device = ON_ANY_DEVICE.match(self._name) is not None
        self._op = op
        self._compute = compute
        return compute

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        compute = self._compute or self._look_up()
        device = self._device(args, kwargs)
        if self._reads:
            stream = await_value(device.index)
        else:
            stream = await_turn(device.index)
            if stream.capture is not None:
                return self._capture(stream, device, args, kwargs)
        source = self._source(args, device)
        if any(isinstance(args[place], NUMBERS) for place in self._tensors_at if place < len(args)):
            compute = self._any_overload  # a number in the place of a tensor: one of them takes that
        views = Views(self._name, mark)
        host_args, host_kwargs = self._host(views, args, kwargs)
        require(self._name, views.storages)
        reads = Reads(self._name, self._written, args, kwargs) if is_looked_for() else None
        moves = reads is not None and reads.look(args)
        draws = Draws(self._generator(args, kwargs), device.index) if self._draws else None
        computed = self._run(compute, host_args, host_kwargs, draws)
        self._mark(args, kwargs)
        result = views.device(computed, device)
        each_tensor([result], mark)
        if reads is not None and moves:
            reads.move(compute, host_args, host_kwargs, result)
        if may_race():
            accesses = self._accesses(args, kwargs)
            accesses.write([result])
            accesses.submit(stream, source)
            if self._waits or self._is_blocking_copy(args, kwargs):
                await_value(device.index)
        return result

    def _accesses(self, args: Any, kwargs: Any) -> Accesses:
        read = read_by(self._name, self._written, args, kwargs)
        return Accesses(self._name, args, read, self._written_in(args, kwargs))

    def _source(self, args: Any, device: Any) -> Stream | None:
        """For a copy from another device: the stream there in which it runs, which has been waited for."""
        if self._name != "copy_" or not args[1].is_cuda or args[1].device == device:
            return None
        return await_turn(args[1].device.index)

    def _is_blocking_copy(self, args: Any, kwargs: Any) -> bool:
        """Whether it is a copy from or to the host that the program waits for."""
        if self._name != "copy_" or all(tensor.is_cuda for tensor in args[:2]):
            return False
        return not (args[2] if len(args) > 2 else kwargs.get("non_blocking", False))

    def _device(self, args: Any, kwargs: Any) -> Any:
        """The device that it runs on. Raises RuntimeError for tensors of several, as PyTorch does."""
        devices: list[Any] = []
        others: list[Any] = []

        def note(tensor: Any) -> None:
            (devices if tensor.is_cuda else others).append(tensor)

        each_tensor(args, note)
        each_tensor(kwargs.values(), note)
        if not devices:
            device = kwargs.get("device")
            index = None if device is None else device.index
            return torch.device("cuda", torch.cuda.current_device() if index is None else index)
        first = devices[0].device
        if not self._takes_any_device:
            for tensor in (*devices, *others):
                if tensor.device != first and (tensor.is_cuda or tensor.dim()):
                    raise RuntimeError(
                        "Expected all tensors to be on the same device, but found at least two devices,"
                        f" {first} and {tensor.device}! (aten::{self._name})"
                    )
        return first

    def _host(self, views: Views, args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
        host = {name: views.host(value) for name, value in kwargs.items()}
        if "pin_memory" in host:
            host["pin_memory"] = False
        return [views.host(value) for value in args], host

    def _generator(self, args: Any, kwargs: Any) -> Any:
        generators = (value for value in (*args, *kwargs.values()) if isinstance(value, torch.Generator))
        return next(generators, None)

    def _run(self, compute: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], draws: Any) -> Any:
        """Compute on the CPU; in a wider type or in copies where the CPU's kernel demands that."""
        if draws is not None and self._takes_generator:
            return compute(draws, *args, **kwargs)
        if draws is not None:
            with draws.drawn():
                return compute(*args, **kwargs)
        try:
            return compute(*args, **kwargs)
        except (RuntimeError, NotImplementedError) as error:
            text = str(error)
            if LACKS.search(text) is None and "not resizable" not in text:
                raise
            is_wider = LACKS.search(text) is not None
            if is_wider and not any(tensor.dtype in WIDER for tensor in self._tensors(args, kwargs)):
                raise
        return self._run_in_copies(compute, args, kwargs, is_wider)

    def _tensors(self, args: Any, kwargs: Any) -> list[Any]:
        found: list[Any] = []
        each_tensor(args, found.append)
        each_tensor(kwargs.values(), found.append)
        return found

    def _run_in_copies(
        self, compute: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], is_wider: bool
    ) -> Any:
        """Compute on copies, of wider types if need be, and copy back what was written."""
        copies: dict[int, tuple[Any, Any]] = {}
        narrow: dict[Any, Any] = {}

        def copy(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                wider = WIDER.get(value.dtype) if is_wider else None
                if wider is None and is_wider:
                    return value
                copied = value.clone() if wider is None else value.to(wider)
                if wider is not None:
                    narrow[wider] = value.dtype
                copies[id(copied)] = copied, value
                return copied
            return value

        def back(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if id(value) in copies:
                return copies[id(value)][1]
            return value.to(narrow[value.dtype]) if value.dtype in narrow and value.dtype != asked else value

        asked = kwargs.get("dtype")
        args, kwargs = tree_map(copy, args), tree_map(copy, kwargs)
        result = compute(*args, **kwargs)
        for value in self._written_in(args, kwargs):
            for tensor in value if isinstance(value, (list, tuple)) else [value]:
                if id(tensor) in copies:
                    original = copies[id(tensor)][1]
                    if original.size() == tensor.size():
                        original.copy_(tensor)
        return tree_map(back, result)

    def _written_in(self, args: Any, kwargs: Any) -> Iterator[Any]:
        """The arguments that it writes."""
        for place, name in self._written:
            if place < len(args):
                yield args[place]
            elif name in kwargs:
                yield kwargs[name]

    def _mark(self, args: Any, kwargs: Any) -> None:
        each_tensor(self._written_in(args, kwargs), mark)

    def _shown(self, args: Any, kwargs: Any) -> tuple[Any, dict[int, Any]]:
        """The results as fake tensors, without values; and the fakes of arguments, by id, with these."""
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode() as mode:
            fakes: dict[int, Any] = {}

            def fake(value: Any) -> Any:
                if not isinstance(value, torch.Tensor):
                    return value
                made = mode.from_tensor(value)
                fakes[id(made)] = made, value
                return made

            return self._op(*tree_map(fake, list(args)), **tree_map(fake, dict(kwargs))), fakes

    def _capture(self, stream: Any, device: Any, args: Any, kwargs: Any) -> Any:
        """Make it a node: its results have memory now, and get their values when the graph is launched."""
        views = Views(self._name, mark)
        host_args, host_kwargs = self._host(views, args, kwargs)
        shown, fakes = self._shown(args, kwargs)
        results: list[Any] = []

        def real(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if id(value) in fakes:
                return fakes[id(value)][1]
            made = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=device)
            results.append(view_of(made) if made.numel() else made.cpu())
            return made

        returned = tree_map(real, shown)
        compute = self._compute
        draws = Draws(self._generator(args, kwargs), device.index, True) if self._draws else None
        written = list(self._written_in(args, kwargs))
        accesses = self._accesses(args, kwargs)
        accesses.write([returned])

        def action() -> None:
            assert compute is not None
            values: list[Any] = []
            require(self._name, views.storages)
            result = self._run(compute, host_args, host_kwargs, draws)
            each_tensor([result], values.append)
            new = [value for value in values if views.original(value) is None]
            for target, value in zip(results, new, strict=True):
                target.copy_(value)
            each_tensor([returned, *written], mark)
            if may_race():
                accesses.enter()

        stream.add(Computation(f"aten::{self._name}", action))
        return returned
