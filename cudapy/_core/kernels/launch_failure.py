"""Why a launch was refused: what the kernel and the device allow, next to what was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any, cast

from ..._bindings.errors import CUDAError
from ...driver import CUresult, libcuda
from ..context.current import current_context
from ..streams.stream import Stream
from ..upward import upward

if TYPE_CHECKING:
    from ..._bindings.errors import Raiser
    from .kernel import Kernel
    from .launch_config import LaunchConfig


class CooperativeLaunchTooLarge(CUDAError, ValueError):
    """CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, caught as a ValueError too, which cuda.core raises."""


def failed(status: int, kernel: Kernel, config: LaunchConfig, stream: Any) -> Exception:
    """The exception for a launch in `stream` that returned `status`."""
    arguments: dict[str, object] = {"kernel": kernel.name, "grid": config.grid, "block": config.block}
    arguments["shmem_size"] = config.shmem_size
    if config.cluster:
        arguments["cluster"] = config.cluster

    def explain() -> str:
        try:
            return " ".join([*_wrong_context(Stream._accept(stream)), *_reasons(kernel, config)])
        except (CUDAError, RuntimeError):  # what it takes to explain the failure failed itself
            return ""

    raiser = cast("Raiser", libcuda.error)
    is_explained = status in _EXPLAINED
    error = raiser("cuLaunchKernelEx", CUresult(status), arguments, explain=explain if is_explained else None)
    if status == CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
        return CooperativeLaunchTooLarge(str(error), error.code, error.function)
    return error


_EXPLAINED = {
    CUresult.CUDA_ERROR_INVALID_CONTEXT,
    CUresult.CUDA_ERROR_INVALID_HANDLE,
    CUresult.CUDA_ERROR_INVALID_VALUE,
    CUresult.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
    CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
    CUresult.CUDA_ERROR_INVALID_CLUSTER_SIZE,
    CUresult.CUDA_ERROR_NOT_SUPPORTED,
}


def _wrong_context(stream: Stream) -> Iterator[str]:
    """A sentence if the stream is of another context than the current one."""
    current = current_context()
    if current and current != int(stream.context._handle):
        yield (
            f"The stream belongs to {stream.device!r}, in a context that is not current: call set_current() "
            "of that device, or with that context, before."
        )


def _reasons(kernel: Kernel, config: LaunchConfig) -> Iterator[str]:
    """A sentence for each limit that the launch goes beyond."""
    device = upward.device()
    can, needs = device.properties, kernel.attributes
    threads = prod(config.block)
    shapes = [("grid", config.grid), ("block", config.block)]
    if threads > can.max_threads_per_block:
        yield f"A block of {threads} threads is too large: the device takes {can.max_threads_per_block}."
        shapes = [("grid", config.grid)]
    elif threads > needs.max_threads_per_block:
        yield (
            f"A block of {threads} threads is too large: with its {needs.num_regs} registers for each thread "
            f"this kernel takes {needs.max_threads_per_block}."
        )
    for name, asked in shapes:
        limits = tuple(getattr(can, f"max_{name}_dim_{axis}") for axis in "xyz")
        if any(size > limit for size, limit in zip(asked, limits, strict=True)):
            yield f"{name} = {asked} is too large: the device takes {limits}."
    room = needs.max_dynamic_shared_size_bytes
    if config.shmem_size > room:
        most = can.max_shared_memory_per_block_optin - needs.shared_size_bytes
        hint = (
            f"set kernel.attributes.max_dynamic_shared_size_bytes = {config.shmem_size} before the launch"
            if config.shmem_size <= most
            else f"the device has at most {most} for it"
        )
        yield (
            f"The kernel takes {room} bytes of dynamic shared memory, not shmem_size = {config.shmem_size}: "
            f"{hint}."
        )
    if config.cluster and not can.cluster_launch:
        yield f"{device.name} has no clusters: they need compute capability 9.0."
    elif config.cluster and prod(config.cluster) > (most := _largest_cluster(kernel, config)):
        yield f"A cluster of {prod(config.cluster)} blocks is too large: at most {most} of this kernel fit."
    if config.is_cooperative:
        each = kernel.occupancy.max_active_blocks_per_multiprocessor(threads, config.shmem_size)
        most, asked_for = each * can.multiprocessor_count, prod(config.grid) * prod(config.cluster or (1,))
        if asked_for > most:
            yield (
                f"The blocks of a cooperative launch run all at once: the grid has {asked_for}, the device "
                f"runs {most} of this kernel ({each} on each of {can.multiprocessor_count} multiprocessors)."
            )


def _largest_cluster(kernel: Kernel, config: LaunchConfig) -> int:
    """The most blocks in a cluster of this launch; 8 if the driver does not say, which all devices take."""
    try:
        return kernel.occupancy.max_potential_cluster_size(config)
    except CUDAError:
        return 8
