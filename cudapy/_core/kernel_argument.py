"""What `launch` passes by value, beside numbers and addresses: texture and surface objects, tensor maps."""

from typing import Any, ClassVar


class KernelArgument:
    """Base of an object that stands for the value of a kernel's parameter."""

    __slots__ = ()
    _encoded: ClassVar[tuple[Any, ...]]
    """As `kernels.arguments.Encoding` has it: codes of `struct`, bytes, and expressions of `{0}` for them."""
    _is_noted: ClassVar[bool] = False
    """Whether a launch calls `_launched_in`: for what is not to be given back while the kernel runs."""

    def _launched_in(self, stream: Any) -> None:
        """Note that a kernel in `stream` is about to be given it."""

    def _retain(self) -> object:
        """What keeps alive what this stands for now, though it is closed or changed."""
        raise NotImplementedError
