"""What a context may be told: limits, flags, preferences."""

from typing import Any

from ..._types.driver.enums import CUfunc_cache, CUlimit
from ..library import provides
from ..refused import Refused, invalid
from .context import LIMITS, checked_flags, current

UNSUPPORTED_LIMITS = (
    CUlimit.CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
    CUlimit.CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
)


@provides("driver")
def cuCtxGetFlags() -> int:
    return current().flags


@provides("driver")
def cuCtxSetFlags(flags: int) -> None:
    current().flags = checked_flags(flags)


@provides("driver")
def cuCtxSetLimit(limit: int, value: int) -> None:
    limits = current().limits
    limits[_limit(limit)] = value


@provides("driver")
def cuCtxGetLimit(limit: int) -> int:
    return current().limits[_limit(limit)]


def _limit(limit: int) -> CUlimit:
    known = CUlimit(limit)
    if known not in LIMITS or known in UNSUPPORTED_LIMITS:
        raise Refused("CUDA_ERROR_UNSUPPORTED_LIMIT", f"the simulator has no limit {known.name}")
    return known


@provides("driver")
def cuCtxGetCacheConfig() -> int:
    return current().cache_config


@provides("driver")
def cuCtxSetCacheConfig(config: int) -> None:
    if not any(config == known for known in CUfunc_cache):
        raise invalid(f"{config} is not a CUfunc_cache")
    current().cache_config = config


@provides("driver")
def cuCtxGetSharedMemConfig() -> int:
    current()
    return 1  # CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE


@provides("driver")
def cuCtxSetSharedMemConfig(config: int) -> None:
    current()
    if config not in (0, 1, 2):
        raise invalid(f"{config} is not a CUsharedconfig")


@provides("driver")
def cuCtxGetStreamPriorityRange() -> tuple[int, int]:
    from ..streams.stream import GREATEST, LEAST

    current()
    return LEAST, GREATEST


@provides("driver")
def cuCtxResetPersistingL2Cache() -> None:
    current()


@provides("driver")
def cuCtxGetExecAffinity(typename: int) -> Any:
    raise Refused("CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", "the simulator has no execution affinity")


@provides("driver")
def cuProfilerStart() -> None:
    current()  # there is no profiler to start: on hardware as well, without one the call does nothing


@provides("driver")
def cuProfilerStop() -> None:
    current()
