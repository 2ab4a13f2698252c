"""Records what nccl.h declares in each release of NCCL:

python -m tests.headers.nccl_releases            # downloads wheels of 100 to 350 MB, one after the other
python -m tests.headers.nccl_releases FOLDER     # takes FOLDER/2.18.3/nccl.h and its kin instead

It writes tests/headers/nccl_releases.json: for the oldest release all of it, for each later one what is new
or another thing. Prototypes are text; sizes and offsets of structs are those that gcc has.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import wheels
from .reader import Struct, read

FILE = Path(__file__).with_suffix(".json")
RELEASES = (
    *("2.18.3", "2.19.3", "2.20.5", "2.21.5", "2.22.3", "2.23.4", "2.24.3", "2.25.1", "2.26.2", "2.27.3"),
    *("2.27.7", "2.28.3", "2.28.7", "2.28.9", "2.29.2", "2.29.3", "2.29.7", "2.30.3", "2.30.4", "2.30.7"),
    *("2.31.2", "2.32.3"),
)
KINDS = ("functions", "enums", "constants", "structs")
DEFINES = {"NCCL_OS_LINUX": "1", "INT_MIN": "(-2147483647-1)", "INT_MAX": "2147483647"}
STAND_INS = {
    "cuda_runtime.h": "#include <stddef.h>\n"
    "typedef struct CUstream_st *cudaStream_t; typedef struct CUevent_st *cudaEvent_t;\n",
    "cuda_fp16.h": "",
    "cuda_bf16.h": "",
}
"""What nccl.h includes, as far as its types need it."""


def declared(path: Path) -> dict[str, dict[str, Any]]:
    """What one header declares, of each of KINDS."""
    found = read([path], DEFINES)
    return {
        "functions": {name: text for name, text in found.functions.items() if not name.startswith("pnccl")},
        "enums": found.enums,
        "constants": found.macros,
        "structs": layouts(path, {name: s for name, s in found.structs.items() if _is_public(name)}),
    }


def _is_public(name: str) -> bool:
    """Whether it is the name of a type, not a tag."""
    return name.endswith("_t") or name == "ncclUniqueId"


def layouts(path: Path, structs: dict[str, Struct]) -> dict[str, Any]:
    """The size of each struct, and the offset and size of each field, as gcc has them."""
    lines = []
    for name, struct in structs.items():
        lines.append(f'printf("{name} {name} %zu 0\\n", sizeof({name}));')
        for field in struct.fields:
            place = f"offsetof({name}, {field.name}), sizeof((({name} *)0)->{field.name})"
            lines.append(f'printf("{name} {field.name} %zu %zu\\n", {place});')
    with tempfile.TemporaryDirectory() as folder:
        for file, text in STAND_INS.items():
            Path(folder, file).write_text(text)
        source = Path(folder, "layouts.c")
        body = "\n".join(lines)
        source.write_text(f'#include <stdio.h>\n#include "{path}"\nint main(void) {{\n{body}\nreturn 0; }}\n')
        program = source.with_suffix("")
        gcc = shutil.which("gcc")
        assert gcc, "gcc judges the layouts"
        subprocess.run([gcc, "-w", f"-I{folder}", "-o", str(program), str(source)], check=True)
        said = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = {}
    for line in said.splitlines():
        name, field_name, offset, size = line.split()
        if field_name == name:
            found[name] = {"size": int(offset), "fields": {}}
        else:
            found[name]["fields"][field_name] = [int(offset), int(size)]
    return found


def header(release: str, folder: Path | None) -> Path:
    """nccl.h of a release."""
    if folder is not None:
        return folder / release / "nccl.h"
    return next(path / "nccl.h" for path in wheels.fetch_wheel(f"nvidia-nccl-cu12=={release}"))


def recorded() -> dict[str, dict[str, dict[str, Any]]]:
    """What each release declares, as the file has it."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    before: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
    for release, news in json.loads(FILE.read_text()).items():
        before = {kind: {**before[kind], **news.get(kind, {})} for kind in KINDS}
        found[release] = before
    return found


def record(folder: Path | None) -> None:
    """Write the file."""
    news: dict[str, Any] = {}
    before: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
    for release in RELEASES:
        now = declared(header(release, folder))
        gone = [name for kind in KINDS for name in before[kind] if name not in now[kind]]
        assert not gone, f"{release} lacks {gone}"
        news[release] = {
            kind: {name: value for name, value in now[kind].items() if before[kind].get(name) != value}
            for kind in KINDS
        }
        before = now
    text = json.dumps(news, indent=1)
    text = re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", text)  # a field on one line
    FILE.write_text(text + "\n")


if __name__ == "__main__":
    record(Path(sys.argv[1]).resolve() if sys.argv[1:] else None)
