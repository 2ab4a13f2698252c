"""What to do about a header that the compiler did not find."""

import os
import re

from .headers import Release, matching, version
from .places import Host

_KINDS = (  # of the first of HEADERS whose pattern fits the name in #include
    ("cccl", r"(cuda|cub|thrust|nv)/.*"),
    ("crt", r"crt/.*"),
    ("curand", r"curand.*"),
    ("cudart", r"(cuda|cooperative_groups|mma|cuComplex|math_|vector_|device_|driver_|texture_|surface_"
     r"|sm_\d\d_|builtin_types|channel_descriptor|library_types|host_).*"),
)  # fmt: skip
_STANDARD = r"[a-z_]+|(assert|float|limits|math|stddef|stdint|stdio|stdlib|string)\.h"
_BUILT_IN = {  # what kernels use, or would, of a header of the host
    "cassert": "assert() is",
    "cmath": "the functions of <math.h> are",
    "cstddef": "size_t is",
    "cstdio": "printf() is",
    "cstdlib": "malloc() and free() are",
    "cstring": "memcpy() and memset() are",
    "iostream": "printf() is",
}


def advice(log: str, release: Release, library: str, host: Host) -> str:
    """A hint for the log of a compilation by the NVRTC of `release` at the path `library`.

    Names the package that has the header that was not found; "" if it is none of CUDA's, or all were found.
    """
    lost = re.search(r'(?:could |can)not open source file "([^"]+)"', log)
    if lost is None:
        return ""
    kind = next((kind for kind, pattern in _KINDS if re.fullmatch(pattern, lost[1])), "")
    if not kind and re.fullmatch(_STANDARD, lost[1]):
        return _standard(lost[1], release, library, host)
    if not kind:
        return ""
    matching_files = matching(release, library, host)
    for folder in matching_files.folders:
        if os.path.isfile(os.path.join(folder, lost[1])):
            return (
                f"{folder} has <{lost[1]}>, but cuda_headers=False, or an include_path with the headers of "
                "another release, keeps it from being used"
            )
    text = f'pip install "{requirement(kind, release)}" has <{lost[1]}> for NVRTC {version(release)}'
    if not matching_files.other:
        return text
    others = ", ".join(map(str, matching_files.other))
    return (
        f"headers and compiler must be of one release, so those of {others} are not used with NVRTC "
        f"{version(release)} ({library}): {text}"
    )


def _standard(header: str, release: Release, library: str, host: Host) -> str:
    """What to write instead of a header of the standard library."""
    name = header if not header.endswith(".h") else f"c{header[:-2]}"
    if name in _BUILT_IN:
        return (
            f"delete #include <{header}>: {_BUILT_IN[name]} built into NVRTC, which has no standard library"
        )
    folders = matching(release, library, host).folders
    libcuxx = [folder for folder in folders if os.path.isdir(os.path.join(folder, "cuda", "std"))]
    if any(os.path.isfile(os.path.join(folder, "cuda", "std", name)) for folder in libcuxx):
        return f"NVRTC has no C++ standard library: write #include <cuda/std/{name}>, which is CCCL's"
    if libcuxx:
        return f"NVRTC has no C++ standard library, and CCCL no <cuda/std/{name}> to replace <{header}>"
    return (
        f"NVRTC has no C++ standard library: #include <cuda/std/{name}> is CCCL's, if it has that one "
        f'(pip install "{requirement("cccl", release)}")'
    )


def requirement(kind: str, release: Release) -> str:
    """What to ask pip for, to have the headers `kind`, a key of HEADERS, of a release.

    NVIDIA's packages count in several ways. cuda-toolkit has the versions of each release, and nothing else.
    """
    part = "nvcc" if kind == "crt" and release[0] == 12 else kind
    return f"cuda-toolkit[{part}]=={version(release)}.*"
