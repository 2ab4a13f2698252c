"""The face of a module for those who own what it makes, as `interrupt_safe` asks for.

    owning = Owning(vars(driver), driver.libcuda)
    event = CUevent()  # the cell: what it holds is owed; 0: nothing
    owning.cuEventCreate(event, 0)
    owning.cuEventDestroy(event)

C writes what it makes into a cell that the caller has before, and what destroys it leaves 0 there:

    def cuEventDestroy(hEvent):
        (err,) = _map(_o_cuEventDestroy, (hEvent,))
        if not err:
            hEvent.value = 0; return
        raise _failed('cuEventDestroy', CUresult(err), {'hEvent': hEvent})

What makes an object is called as it is: the cell has it by then.
"""

from __future__ import annotations

from .library import Checked, Raising

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Owning(Checked):
    """The functions of `checked`, with a cell first: for the one output, or, without one, the first argument.

    They return nothing, and raise as `Checked` does. A cell is a handle, or a CUdeviceptr for an address.
    """

    def _declared(self, declaration: Any) -> Callable[..., Any]:
        made = Raising(declaration, owning=True)
        function: Callable[..., Any] = made.stub
        return function if made.open_lane() else declaration.write(raising=True, owning=True)
