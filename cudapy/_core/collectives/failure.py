"""What fails in a collective: which rank, with whom, and what NCCL noted."""

from typing import Any

from ..._bindings.errors import CUDAError


class CollectiveError(CUDAError):
    """NCCL refused a call, or work of a communicator failed.

    rank, size: of the communicator; -1 where it is not known. peer: the rank that it was to send to or
    receive from, or the root; None for all ranks.
    """

    def __init__(
        self,
        message: str,
        code: Any = None,
        function: str = "",
        rank: int = -1,
        size: int = -1,
        peer: int | None = None,
    ) -> None:
        super().__init__(message, code, function)
        self.rank = rank
        self.size = size
        self.peer = peer

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.code, self.function, self.rank, self.size, self.peer)


def failure(
    where: str, error: Exception, rank: int = -1, size: int = -1, peer: int | None = None
) -> CollectiveError:
    """The exception for `error`, which a call of NCCL raised. where: which rank did what."""
    code, function = getattr(error, "code", None), getattr(error, "function", "")
    return CollectiveError(f"{where}: {error}", code, function, rank, size, peer)
