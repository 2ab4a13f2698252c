"""What compilers and linkers return: code, or an exception with everything they said."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ..._bindings.errors import CUDAError

__all__ = ["BuildError", "Built", "CompileError", "LinkError"]

Name = str | bytes


class Built(NamedTuple):
    """What a compiler or linker made."""

    code: bytes
    log: str = ""  # warnings, and what else it had to say
    symbols: Mapping[Name, bytes] = {}  # the names asked for, and the mangled ones that they have in the code


class BuildError(CUDAError):
    """A compiler or a linker failed.

    The message has everything; log: what the tool wrote, whole; options: its options; library: its path.
    """

    def __init__(
        self,
        message: str,
        code: Any = None,
        function: str = "",
        log: str = "",
        options: Iterable[str] = (),
        library: str = "",
    ) -> None:
        super().__init__(message, code, function)
        self.log = log
        self.options = tuple(options)
        self.library = library

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.code, self.function, self.log, self.options, self.library)


class CompileError(BuildError):
    """A program did not compile."""


class LinkError(BuildError):
    """Object code did not link."""


E = TypeVar("E", bound=BuildError)


class Tool(NamedTuple):
    """A compiler or linker, for its error messages."""

    name: str  # "NVRTC 13.0"
    path: str
    meanings: Mapping[str, tuple[str, str]]  # a sentence and a hint for each status


def failure(
    cls: type[E],
    tool: Tool,
    function: str,
    status: Any,
    subject: str,
    options: Sequence[bytes],
    log: str,
    hint: str = "",
) -> E:
    """The exception for `function` having returned `status`; subject: what was to be compiled or linked."""
    sentence, usual = tool.meanings.get(status.name, (f"{tool.name} failed.", ""))
    flags = [option.decode(errors="replace") for option in options]
    hint = hint or usual
    message = (
        f"{function}: {status.name} ({int(status)}): {sentence}\n"
        f"{subject}\n"
        f"Options: {' '.join(flags)}\n"
        f"With: {tool.name}, {tool.path}\n"
        + (f"Hint: {hint}\n" if hint else "")
        + (f"Log:\n{log}" if log else "It wrote no log.")
    )
    return cls(message, status, function, log, flags, tool.path)


def text(log: bytes | bytearray) -> str:
    """What a tool wrote, without the NUL and the empty lines at its end."""
    return log.decode(errors="replace").rstrip("\0\n ")
