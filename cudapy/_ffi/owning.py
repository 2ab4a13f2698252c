"""The face of a module for those who own what it makes: nothing is lost, whenever Ctrl-C comes.

    owning = Owning(vars(driver), driver.libcuda)
    event = CUevent()  # the cell: what it holds is owed; 0: nothing
    owning.cuEventCreate(event, 0)
    owning.cuEventDestroy(event)

What a function returns is lost if Ctrl-C comes as it returns. So C writes what it makes into a cell that the
caller has before, and what gives a thing back leaves 0 in its cell:

    def cuEventDestroy(hEvent):
        (err,) = map(_o_cuEventDestroy, (hEvent,))
        if not err:
            hEvent.value = 0; return
        raise _failed('cuEventDestroy', CUresult(err), {'hEvent': hEvent})

Python looks for signals behind a call, and CPython 3.10 behind a jump too, but not behind a step of an
iterator, nor from there to that assignment. What makes a thing is called as it is: the cell has it by then.
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
