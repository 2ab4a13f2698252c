"""Making green contexts: contexts that have some of a device's multiprocessors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...driver import CUgreenCtx, CUgreenCtxCreate_flags, checked
from ..context.context import Context, primary
from ..context.current import owning
from ..context.green import add_green_context
from ..context.resources import ContextOptions, described
from ..options import accepted
from ..ownership.captures import captures
from ..ownership.owned import Prerequisite

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT_STREAM = int(CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM)


def create_green_context(device_id: int, options: ContextOptions | Mapping[str, Any] | None) -> Context:
    """A green context of a device, destroyed when nothing refers to it: no Context, stream, event, buffer."""
    if options is None:
        raise ValueError(
            "create_context: options=ContextOptions(resources=[...]) must say what of the device the context "
            "is to have; `dev.context` is the one that has all"
        )
    resources = described(accepted(ContextOptions, options).resources, device_id)
    primary(device_id)  # so that no green context is the first to make it, and the last to destroy it
    description = checked.cuDevResourceGenerateDesc(resources, len(resources))
    cell = CUgreenCtx()
    owner = Prerequisite(_destroy, cell)
    owner.mark_shared()
    owning.cuGreenCtxCreate(cell, description, device_id, _DEFAULT_STREAM)
    context = checked.cuCtxFromGreenCtx(cell).value
    add_green_context(context, owner)
    return Context._of(context)


def _destroy(cell: CUgreenCtx) -> None:
    captures.relaxed(owning.cuGreenCtxDestroy, cell)
