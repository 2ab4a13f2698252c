"""The options of the linker: one field each, with the flag of nvJitLink that it stands for."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from ..options import c_text, known_names
from .flags import arch_number, digit, each, flag, flags_of, joined, value


@known_names
@dataclass
class LinkerOptions:
    """Options for a Linker. None leaves an option to the linker.

    name: what the result is called. arch: "sm_90" or, for PTX, "compute_90"; None is the current device's.
    time, verbose: write to the info log. link_time_optimization: needed for LTO-IR. ptx: make PTX, not a
    cubin; with link_time_optimization only. optimization_level: 0 to 3. kernels_used, variables_used: all
    others may be removed. split_compile, split_compile_extended: the most threads to compile with, 0 for all
    processors; the latter with link_time_optimization only. no_cache: keep no intermediate results.
    numba_debug: no linker has it; ignored with a DeprecationWarning, as in cuda.core.
    The other names are those of nvJitLink's options.
    """

    name: str = "<default linker>"
    arch: str | None = None
    max_register_count: int | None = value("-maxrregcount")
    time: bool | None = flag("-time")
    verbose: bool | None = flag("-verbose")
    link_time_optimization: bool | None = flag("-lto")
    ptx: bool | None = flag("-ptx")
    optimization_level: int | None = joined("-O")
    debug: bool | None = flag("-g")
    lineinfo: bool | None = flag("-lineinfo")
    ftz: bool | None = digit("-ftz")
    prec_div: bool | None = digit("-prec-div")
    prec_sqrt: bool | None = digit("-prec-sqrt")
    fma: bool | None = digit("-fma")
    kernels_used: str | Sequence[str] | None = each("-kernels-used")
    variables_used: str | Sequence[str] | None = each("-variables-used")
    optimize_unused_variables: bool | None = flag("-optimize-unused-variables")
    ptxas_options: str | Sequence[str] | None = each("-Xptxas")
    split_compile: int | None = value("-split-compile")
    split_compile_extended: int | None = value("-split-compile-extended")
    no_cache: bool | None = flag("-no-cache")
    numba_debug: bool | None = None

    def __post_init__(self) -> None:
        if self.numba_debug is not None:
            text = "LinkerOptions: numba_debug has no effect: no linker has such an option"
            warnings.warn(text, DeprecationWarning, stacklevel=4)  # at the caller of the class

    def as_bytes(self, backend: str = "nvjitlink") -> list[bytes]:
        """The options as nvJitLink's command line; the driver's linker has none.

        Raises ValueError for another backend, and for an arch that cannot be.
        """
        if str(backend).lower() != "nvjitlink":
            raise ValueError(f"LinkerOptions: {backend!r} has no command line: only 'nvjitlink' has")
        number = self.arch_number()
        prefix = "compute" if (self.arch or "").startswith("compute") else "sm"
        flags = [f"-arch={prefix}_{number}", *flags_of(self)]
        return [c_text(flag, "LinkerOptions: a flag") for flag in flags]

    def arch_number(self) -> str:
        """The architecture without its prefix: "90" or "90a". Raises ValueError for one that cannot be."""
        return arch_number(self.arch, "LinkerOptions")
