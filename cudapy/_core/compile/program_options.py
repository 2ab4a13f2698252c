"""The options of the compilers: one field each, with the flag of NVRTC that it stands for."""

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..options import c_text, known_names
from .flags import arch_number, each, flag, flags_of, option, set_fields, switch, value
from .linker_options import LinkerOptions

Macro = str | tuple[str, str]


def _macros(value: Macro | Sequence[Macro]) -> list[str]:
    """A pair of str is one macro with its value; any other list or tuple is several macros."""
    pair = isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, str) for part in value)
    given: Any = [value] if pair or isinstance(value, str) else value
    return [f"--define-macro={one if isinstance(one, str) else '='.join(map(str, one))}" for one in given]


@known_names
@dataclass
class ProgramOptions:
    """Options for a Program. None leaves an option to the compiler.

    name: the program's name in messages. arch: "sm_90", "compute_90" or "90"; None is the current device's.
    include_path: folders to look for headers in. cuda_headers: False keeps CUDA's own headers (cuda_fp16.h,
    cooperative_groups.h, cuda/std/...), which are found without a word and come after include_path, from
    being looked for. define_macro: "NAME", ("NAME", "value"), or a list of those.
    use_bundled_headers: the headers that NVRTC 13.4 and newer carry, instead; they are unpacked to the folder
    of that name, or for True to one of cudapy's. link_time_optimization: make LTO-IR, as the target "ltoir"
    does; for the target "ptx", PTX that can be linked. no_cache: compile anew, without NVRTC's cache and
    cudapy's. extra_sources, use_libdevice: for NVVM IR, more modules as (name, source), and CUDA's math
    functions. The other names are those of NVRTC's options; NVVM, and nvJitLink for PTX, have some of them.
    """

    name: str = "default_program"
    arch: str | None = None
    relocatable_device_code: bool | None = switch("--relocatable-device-code")
    extensible_whole_program: bool | None = flag("--extensible-whole-program")
    debug: bool | None = flag("--device-debug")
    lineinfo: bool | None = flag("--generate-line-info")
    device_code_optimize: bool | None = flag("--dopt=on")
    ptxas_options: str | Sequence[str] | None = each("--ptxas-options")
    max_register_count: int | None = value("--maxrregcount")
    ftz: bool | None = switch("--ftz")
    prec_sqrt: bool | None = switch("--prec-sqrt")
    prec_div: bool | None = switch("--prec-div")
    fma: bool | None = switch("--fmad")
    use_fast_math: bool | None = flag("--use_fast_math")
    extra_device_vectorization: bool | None = flag("--extra-device-vectorization")
    link_time_optimization: bool | None = flag("--dlink-time-opt")
    gen_opt_lto: bool | None = flag("--gen-opt-lto")
    define_macro: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = option(_macros)
    undefine_macro: str | Sequence[str] | None = each("--undefine-macro")
    include_path: str | Sequence[str] | None = each("--include-path")
    use_bundled_headers: bool | str | None = None
    pre_include: str | Sequence[str] | None = each("--pre-include")
    no_source_include: bool | None = flag("--no-source-include")
    std: str | None = value("--std")
    builtin_move_forward: bool | None = switch("--builtin-move-forward")
    builtin_initializer_list: bool | None = switch("--builtin-initializer-list")
    disable_warnings: bool | None = flag("--disable-warnings")
    restrict: bool | None = flag("--restrict")
    device_as_default_execution_space: bool | None = flag("--device-as-default-execution-space")
    device_int128: bool | None = flag("--device-int128")
    optimization_info: str | None = value("--optimization-info")
    no_display_error_number: bool | None = flag("--no-display-error-number")
    diag_error: int | Sequence[int] | None = each("--diag-error")
    diag_suppress: int | Sequence[int] | None = each("--diag-suppress")
    diag_warn: int | Sequence[int] | None = each("--diag-warn")
    brief_diagnostics: bool | None = switch("--brief-diagnostics")
    time: str | None = value("--time")
    split_compile: int | None = value("--split-compile")
    fdevice_syntax_only: bool | None = flag("--fdevice-syntax-only")
    minimal: bool | None = flag("--minimal")
    no_cache: bool | None = flag("--no-cache")
    fdevice_time_trace: str | None = value("--fdevice-time-trace")
    device_float128: bool | None = flag("--device-float128")
    frandom_seed: str | None = value("--frandom-seed")
    ofast_compile: str | None = value("--Ofast-compile")
    pch: bool | None = flag("--pch")
    create_pch: str | None = value("--create-pch")
    use_pch: str | None = value("--use-pch")
    pch_dir: str | None = value("--pch-dir")
    pch_verbose: bool | None = switch("--pch-verbose")
    pch_messages: bool | None = switch("--pch-messages")
    instantiate_templates_in_pch: bool | None = switch("--instantiate-templates-in-pch")
    extra_sources: Sequence[tuple[str, str | bytes | bytearray]] | None = None
    use_libdevice: bool | None = None
    numba_debug: bool | None = flag("--numba-debug")
    cuda_headers: bool | None = None  # the last, as cuda.core has none

    def as_bytes(self, backend: str = "NVRTC", target_type: str | None = None) -> list[bytes]:
        """The options as the command line of `backend`: 'NVRTC', 'NVVM' or 'nvJitLink'.

        target_type: 'ptx', 'cubin', 'ltoir' or None (any). Raises ValueError for an option that the backend
        lacks.
        """
        name, target = str(backend).lower(), None if target_type is None else str(target_type).lower()
        if name not in ("nvrtc", "nvvm", "nvjitlink"):
            raise ValueError(
                f"ProgramOptions: {backend!r} has no command line: NVRTC, NVVM and nvJitLink have"
            )
        if name == "nvjitlink":
            return self.for_linker().as_bytes()
        if self.link_time_optimization and target == "cubin":
            raise ValueError("ProgramOptions: link_time_optimization makes LTO-IR: compile to 'ltoir'")
        flags = self._for_nvrtc(target) if name == "nvrtc" else self._for_nvvm(target)
        return [c_text(flag, "ProgramOptions: a flag") for flag in flags]

    def _for_nvrtc(self, target: str | None) -> list[str]:
        for name in ("extra_sources", "use_libdevice"):
            if getattr(self, name):
                raise ValueError(f"ProgramOptions: {name} is for NVVM programs, not for C++")
        bundled = []
        if self.use_bundled_headers:
            from .program_nvrtc import bundled_headers

            bundled = [f"--use-bundled-headers={bundled_headers(self.use_bundled_headers)}"]
        # PTX is for an architecture as the compiler sees it, a cubin for one as it is made.
        arch = f"-arch={'compute' if target == 'ptx' else 'sm'}_{self.arch_number()}"
        if self.link_time_optimization and target == "ptx":  # NVRTC makes LTO-IR or PTX, either to be linked
            given = copy.copy(self)
            given.link_time_optimization = None
            if given.relocatable_device_code is None:
                given.relocatable_device_code = True
            return [arch, *bundled, *flags_of(given)]
        lto = ["--dlink-time-opt"] if target == "ltoir" and not self.link_time_optimization else []
        return [arch, *lto, *bundled, *flags_of(self)]

    def _for_nvvm(self, target: str | None) -> list[str]:
        linked = self._linked() if target == "cubin" else set()
        lacking = sorted(set_fields(self) - NVVM.keys() - WITHOUT_FLAG - linked)
        if lacking:
            raise ValueError(f"ProgramOptions: {', '.join(lacking)}: NVVM programs have no such option")
        lto = ["-gen-lto"] if target == "ltoir" or (self.link_time_optimization and target is None) else []
        flags = [f"-arch=compute_{self.arch_number()}", *lto]
        for name, (when_false, when_true) in NVVM.items():
            if (given := getattr(self, name)) is not None:
                flags += [when_true if given else when_false]
        return [flag for flag in flags if flag]

    def for_linker(self) -> LinkerOptions:
        """The options that a linker has, for PTX."""
        given = {name: getattr(self, name) for name in self._linked()}
        return LinkerOptions(**given, name=self.name, arch=self.arch)

    def _linked(self) -> set[str]:
        """The names of the set options that a linker has as well."""
        return set_fields(self) & {one.name for one in fields(LinkerOptions)} - {
            "name",
            "arch",
            "numba_debug",
        }

    def warn_if_ignored(self, stacklevel: int) -> None:
        """Warn of what is set and means nothing for PTX, as most of the options of C++."""
        ignored = sorted(set_fields(self) - self._linked() - {"name", "arch"})
        if ignored:
            text = f"ProgramOptions: {', '.join(ignored)}: without effect on PTX, which is compiled already"
            warnings.warn(text, stacklevel=stacklevel + 1)

    def arch_number(self) -> str:
        """The architecture without its prefix: "90" or "90a". Raises ValueError for one that cannot be."""
        return arch_number(self.arch, "ProgramOptions")


NVVM = {  # the flags for False and for True
    "debug": ("", "-g"),
    "device_code_optimize": ("-opt=0", "-opt=3"),
    "ftz": ("-ftz=0", "-ftz=1"),
    "prec_sqrt": ("-prec-sqrt=0", "-prec-sqrt=1"),
    "prec_div": ("-prec-div=0", "-prec-div=1"),
    "fma": ("-fma=0", "-fma=1"),
    "numba_debug": ("", "-numba-debug"),
}
WITHOUT_FLAG = {"name", "arch", "link_time_optimization", "extra_sources", "use_libdevice", "no_cache"}
