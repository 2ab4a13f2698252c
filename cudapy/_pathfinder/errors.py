"""What is raised where something of NVIDIA's is missing."""


class LibraryNotFound(RuntimeError):
    """No place has a working library `name`; `tried` says of each why, as 'place: why'."""

    name = ""
    tried: tuple[str, ...] = ()

    def __init__(self, *args: object) -> None:
        """With one argument that is the message; with three, `name`, `tried` and the message."""
        super().__init__(*args)  # what pickle hands to __init__ again
        if len(args) == 3:
            self.name, self.tried = args[:2]  # type: ignore[assignment]

    def __str__(self) -> str:
        return str(self.args[2]) if len(self.args) == 3 else super().__str__()


class DynamicLibNotFoundError(LibraryNotFound):
    """A shared library was not found, or cannot be loaded."""


class DynamicLibUnknownError(DynamicLibNotFoundError):
    """There is no shared library of that name among those that `load_nvidia_dynamic_lib` knows."""


class DynamicLibNotAvailableError(DynamicLibNotFoundError):
    """NVIDIA does not make the shared library for this platform."""


class BitcodeLibNotFoundError(LibraryNotFound):
    """A library of LLVM bitcode was not found."""


class StaticLibNotFoundError(LibraryNotFound):
    """A static library was not found."""


class UnsupportedBinaryError(Exception):
    """There is no program of that name among those that `find_nvidia_binary_utility` knows."""


class UnsupportedArchError(RuntimeError):
    """Python on Windows runs on a processor that CUDA does not support; `platform_tag` is its name for it."""

    def __init__(self, platform_tag: str) -> None:
        super().__init__(platform_tag)
        self.platform_tag = platform_tag

    def __str__(self) -> str:
        known = "CUDA is for 'win-amd64' and 'win-arm64'"
        return f"Unsupported Windows Python platform tag: {self.platform_tag!r}: {known}"
