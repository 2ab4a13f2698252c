"""The options of the compiler: one field each, with the flag of NVRTC that it stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

Macro = str | tuple[str, str]


def _flag(name: str) -> Any:
    """`--name` for True, nothing for False."""
    return field(default=None, metadata={"flag": lambda value: [name] if value else []})


def _switch(name: str) -> Any:
    """`--name=true` or `--name=false`."""
    return field(default=None, metadata={"flag": lambda value: [f"{name}={'true' if value else 'false'}"]})


def _value(name: str) -> Any:
    """`--name=value`."""
    return field(default=None, metadata={"flag": lambda value: [f"{name}={value}"]})


def _each(name: str) -> Any:
    """`--name=value` for one value, or for each of a list or tuple."""
    return field(
        default=None,
        metadata={
            "flag": lambda v: [f"{name}={one}" for one in (v if isinstance(v, (list, tuple)) else (v,))]
        },
    )


def _macros(value: Macro | Sequence[Macro]) -> list[str]:
    """A pair of str is one macro with its value; any other list or tuple is several macros."""
    pair = isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, str) for part in value)
    given: Any = [value] if pair or isinstance(value, str) else value
    return [f"--define-macro={one if isinstance(one, str) else '='.join(map(str, one))}" for one in given]


@dataclass
class ProgramOptions:
    """How a Program is compiled. None leaves an option to the compiler.

    name: what messages call the program. arch: "sm_90", "compute_90" or "90"; None is the current device's.
    include_path: folders to look for headers in. cuda_headers: False keeps CUDA's own headers (cuda_fp16.h,
    cooperative_groups.h, cuda/std/...), which are found without a word and come after include_path, from
    being looked for. define_macro: "NAME", ("NAME", "value"), or a list of those.
    link_time_optimization: make LTO-IR, as the target "ltoir" does. The other names are those of NVRTC's
    options.
    """

    name: str = "default_program"
    arch: str | None = None
    relocatable_device_code: bool | None = _switch("--relocatable-device-code")
    extensible_whole_program: bool | None = _flag("--extensible-whole-program")
    debug: bool | None = _flag("--device-debug")
    lineinfo: bool | None = _flag("--generate-line-info")
    device_code_optimize: bool | None = _flag("--dopt=on")
    ptxas_options: str | Sequence[str] | None = _each("--ptxas-options")
    max_register_count: int | None = _value("--maxrregcount")
    ftz: bool | None = _switch("--ftz")
    prec_sqrt: bool | None = _switch("--prec-sqrt")
    prec_div: bool | None = _switch("--prec-div")
    fma: bool | None = _switch("--fmad")
    use_fast_math: bool | None = _flag("--use_fast_math")
    extra_device_vectorization: bool | None = _flag("--extra-device-vectorization")
    link_time_optimization: bool | None = _flag("--dlink-time-opt")
    gen_opt_lto: bool | None = _flag("--gen-opt-lto")
    define_macro: Macro | Sequence[Macro] | None = field(default=None, metadata={"flag": _macros})
    undefine_macro: str | Sequence[str] | None = _each("--undefine-macro")
    include_path: str | Sequence[str] | None = _each("--include-path")
    cuda_headers: bool | None = None
    use_bundled_headers: bool | None = None
    pre_include: str | Sequence[str] | None = _each("--pre-include")
    no_source_include: bool | None = _flag("--no-source-include")
    std: str | None = _value("--std")
    builtin_move_forward: bool | None = _switch("--builtin-move-forward")
    builtin_initializer_list: bool | None = _switch("--builtin-initializer-list")
    disable_warnings: bool | None = _flag("--disable-warnings")
    restrict: bool | None = _flag("--restrict")
    device_as_default_execution_space: bool | None = _flag("--device-as-default-execution-space")
    device_int128: bool | None = _flag("--device-int128")
    optimization_info: str | None = _value("--optimization-info")
    no_display_error_number: bool | None = _flag("--no-display-error-number")
    diag_error: int | Sequence[int] | None = _each("--diag-error")
    diag_suppress: int | Sequence[int] | None = _each("--diag-suppress")
    diag_warn: int | Sequence[int] | None = _each("--diag-warn")
    brief_diagnostics: bool | None = _switch("--brief-diagnostics")
    time: str | None = _value("--time")
    split_compile: int | None = _value("--split-compile")
    fdevice_syntax_only: bool | None = _flag("--fdevice-syntax-only")
    minimal: bool | None = _flag("--minimal")
    no_cache: bool | None = _flag("--no-cache")
    fdevice_time_trace: str | None = _value("--fdevice-time-trace")
    device_float128: bool | None = _flag("--device-float128")
    frandom_seed: str | None = _value("--frandom-seed")
    ofast_compile: str | None = _value("--Ofast-compile")
    pch: bool | None = _flag("--pch")
    create_pch: str | None = _value("--create-pch")
    use_pch: str | None = _value("--use-pch")
    pch_dir: str | None = _value("--pch-dir")
    pch_verbose: bool | None = _switch("--pch-verbose")
    pch_messages: bool | None = _switch("--pch-messages")
    instantiate_templates_in_pch: bool | None = _switch("--instantiate-templates-in-pch")
    extra_sources: Sequence[tuple[str, str | bytes | bytearray]] | None = None
    use_libdevice: bool | None = None
    numba_debug: bool | None = _flag("--numba-debug")

    def as_bytes(self, backend: str = "NVRTC", target_type: str | None = None) -> list[bytes]:
        """The options as `backend`'s command line for `target_type`: 'ptx', 'cubin', 'ltoir' or None (any).

        Raises ValueError for an option that the backend lacks.
        """
        if backend.lower() != "nvrtc":
            raise ValueError(
                f"ProgramOptions: {backend!r} is not a backend with a command line: only 'NVRTC' is"
            )
        for name in ("extra_sources", "use_libdevice"):
            if getattr(self, name):
                raise ValueError(f"ProgramOptions: {name} is for NVVM programs, not for C++")
        if self.use_bundled_headers:
            raise ValueError("ProgramOptions: use_bundled_headers does not work yet; use include_path")
        if self.link_time_optimization and target_type not in (None, "ltoir"):
            raise ValueError("ProgramOptions: link_time_optimization makes LTO-IR: compile to 'ltoir'")
        # PTX is for an architecture as the compiler sees it, a cubin for one as it is made.
        flags = [f"--gpu-architecture={'compute' if target_type == 'ptx' else 'sm'}_{self.arch_number()}"]
        if target_type == "ltoir" and not self.link_time_optimization:
            flags.append("--dlink-time-opt")
        for option in fields(self):
            value = getattr(self, option.name)
            if value is not None and "flag" in option.metadata:
                flags += option.metadata["flag"](value)
        return [flag.encode() for flag in flags]

    def arch_number(self) -> str:
        """The architecture without its prefix: "90" or "90a". Raises ValueError for one that cannot be."""
        if self.arch is None:
            from .device import Device

            return Device().arch
        match = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3}[af]?)", self.arch)
        if match is None:
            raise ValueError(f"ProgramOptions: arch = {self.arch!r} is not of the form 'sm_90'")
        return match[1]
