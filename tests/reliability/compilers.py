"""Libraries of compilers whose calls can be made to fail, and what they have."""

from __future__ import annotations

from collections import Counter
from typing import Any

MADE = {
    "nvrtcCreateProgram": "program",
    "nvvmCreateProgram": "NVVM program",
    "nvJitLinkCreate": "nvJitLink linker",
}
GONE = {
    "nvrtcDestroyProgram": "program",
    "nvvmDestroyProgram": "NVVM program",
    "nvJitLinkDestroy": "nvJitLink linker",
}
OUT_OF_MEMORY, INVALID = 1, {"nvrtc": 3, "nvvm": 4, "nvJitLink": 5}
"""Of NVRTC and libNVVM; to nvJitLink 1 is an option that it does not know, and 5 a mistake of its own."""


class Compiler:
    """The library, where ctypes.CDLL is looked for.

    check: raises for a function that is to fail. refusal: the class of what it raises.
    """

    def __init__(self, library: Any, alive: Counter[str], check: Any, refusal: type[Exception]) -> None:
        self._library = library
        self._alive = alive
        self._check = check
        self._refusal = refusal

    def __getitem__(self, symbol: str) -> Any:
        function = self._library[symbol]
        return function if symbol.endswith("String") else _Function(self, function, symbol)

    def __getattr__(self, symbol: str) -> Any:
        return getattr(self._library, symbol)


class _Function:
    """A function of it, as ctypes has it."""

    def __init__(self, compiler: Compiler, function: Any, symbol: str) -> None:
        self._compiler, self._function, self._symbol = compiler, function, symbol

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("argtypes", "restype"):
            setattr(self._function, name, value)
        else:
            super().__setattr__(name, value)

    def __call__(self, *arguments: Any) -> int:
        symbol, compiler = self._symbol, self._compiler
        try:
            compiler._check(symbol)
        except compiler._refusal as refused:
            if refused.code == OUT_OF_MEMORY + 1:  # type: ignore[attr-defined]
                return OUT_OF_MEMORY
            return next(code for prefix, code in INVALID.items() if symbol.startswith(prefix))
        status = int(self._function(*arguments))
        if not status:
            compiler._alive[MADE.get(symbol, "")] += 1
            compiler._alive[GONE.get(symbol, "")] -= 1
        return status
