"""What `tests.headers.add` prints for a new release, and that it is right when it is pasted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cudapy import nvml

from . import add, wheels
from .additions import Additions, Piece, paste
from .check_declarations import declarations
from .reader import read

ROOT = Path(__file__).parents[2]
HEADER = """
#define NVML_VALUE_COUNT_OF_TESTS 12
#define nvmlSpeed_v2 (unsigned int)(sizeof(nvmlSpeed_v2_t) | (2 << 24U))
typedef enum nvmlValueType_enum {{ {known}, NVML_VALUE_TYPE_WORDS = 70 }} nvmlValueType_t;
typedef enum nvmlPace_enum {{ NVML_PACE_SLOW = 0, NVML_PACE_FAST = 4 }} nvmlPace_t;
typedef struct nvmlDevice_st* nvmlDevice_t;
typedef int nvmlReturn_t;
typedef struct {{ unsigned char left; nvmlPace_t pace; }} nvmlStep_t;
typedef struct nvmlSpeed_v2_st
{{
    unsigned int version;
    unsigned long long at;
    char name[32];
    nvmlStep_t steps[3];
    union {{ int whole; double exact; }} speed;
    const char *text;
    nvmlDevice_t device;
}} nvmlSpeed_v2_t;
nvmlReturn_t nvmlDeviceGetSpeed(nvmlDevice_t device, nvmlPace_t pace, nvmlSpeed_v2_t *speed);
nvmlReturn_t nvmlDeviceSetSteps(nvmlDevice_t device, unsigned int count, const nvmlStep_t *stepsOfEachSpeed);
"""
PRINTED = {
    "NVML_VALUE_COUNT_OF_TESTS": "NVML_VALUE_COUNT_OF_TESTS = 12",
    "NVML_VALUE_TYPE_WORDS": "NVML_VALUE_TYPE_WORDS = 70",
    "nvmlPace_t": '''\
class nvmlPace_t(Enum):
    """TODO."""

    NVML_PACE_SLOW = 0
    NVML_PACE_FAST = 4''',
    "nvmlSpeed_v2_t": '''\
class nvmlSpeed_v2_t(Struct, version=2):
    """TODO."""

    class _speed(Union):
        whole: c_int
        exact: c_double

    version: c_uint
    at: c_ulonglong
    name: Annotated[Bytes, "char[32]"]
    steps: Annotated[list[nvmlStep_t], "nvmlStep_t[3]"]
    speed: _speed
    text: char_p
    device: nvmlDevice_t


nvmlSpeed_v2_st = nvmlSpeed_v2_t''',
    "nvmlDeviceGetSpeed": '''\
@libnvml(
    "nvmlReturn_t nvmlDeviceGetSpeed(nvmlDevice_t device, nvmlPace_t pace, nvmlSpeed_v2_t *speed)",
    since="13.6",
)
def nvmlDeviceGetSpeed(device: nvmlDevice_t | int | None, pace: nvmlPace_t | int) -> \
tuple[nvmlReturn_t, nvmlSpeed_v2_t]:
    """TODO."""''',
    "nvmlDeviceSetSteps": '''\
@libnvml(
    "nvmlReturn_t nvmlDeviceSetSteps(nvmlDevice_t device, unsigned int count, "
    "const nvmlStep_t *stepsOfEachSpeed)",
    sizes={"stepsOfEachSpeed": "count"},
    since="13.6",
)
def nvmlDeviceSetSteps(device: nvmlDevice_t | int | None, count: int, \
stepsOfEachSpeed: Sequence[nvmlStep_t] | None) -> tuple[nvmlReturn_t]:
    """TODO."""''',
}


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> list[Piece]:
    path = tmp_path_factory.mktemp("headers") / "nvml.h"
    known = ", ".join(f"{name} = {int(value)}" for name, value in nvml.nvmlValueType_t.__members__.items())
    path.write_text(HEADER.format(known=known))
    return [*Additions("nvml", nvml, read([path]), "13.6").pieces()]


@pytest.mark.parametrize("name", PRINTED)
def test_what_is_printed(pieces: list[Piece], name: str) -> None:
    assert PRINTED[name] in [piece.text for piece in pieces]


def test_a_struct_says_where_its_fields_are(pieces: list[Piece]) -> None:
    (piece,) = (piece for piece in pieces if "class nvmlSpeed_v2_t" in piece.text)
    assert piece.note.startswith("96 bytes: version 0, at 8, name 16, steps 48, speed 72, text 80, device 88")
    assert piece.note in add.show(piece)
    assert piece.after.split()[-1] == "nvmlStep_t"


def test_members_come_behind_those_before_them(pieces: list[Piece], tmp_path: Path) -> None:
    (piece,) = (piece for piece in pieces if "WORDS" in piece.text)
    assert piece.file == "_types/nvml/enums.py"
    *_, last = nvml.nvmlValueType_t.__members__
    assert piece.after == f"nvmlValueType_t.{last}"
    target = tmp_path / piece.file
    target.parent.mkdir(parents=True)
    shutil.copy(ROOT / "cudapy" / piece.file, target)
    paste(tmp_path, piece)
    lines = target.read_text().splitlines()
    at = lines.index("    NVML_VALUE_TYPE_WORDS = 70")
    assert lines[at - 1].startswith(f"    {last} = ")
    with pytest.raises(LookupError, match="Nothing"):
        paste(tmp_path, Piece(piece.file, "nvmlValueType_t.Nothing", "X = 1"))


def test_a_release_that_adds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="nothing to compare with"):
        add.main("13.6", str(tmp_path))
    prototypes = [each.prototype for each in declarations("nvvm", "13.6").values()]
    (tmp_path / "nvvm.h").write_text(";\n".join(["typedef int nvvmResult", *prototypes, ""]))
    add.main("13.6", str(tmp_path))
    printed, noted = capsys.readouterr()
    assert printed == "# cudapy has all that CUDA 13.6 declares for nvvm\n"
    assert "# no headers of driver\n" in noted


def test_newest_wheel_of_a_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []

    def download(wanted: str, folder: Path) -> Path:
        asked.append(wanted)
        return folder / f"{wanted.partition('=')[0].replace('-', '_')}-13.6.21-py3-none-any.whl"

    monkeypatch.setattr(wheels, "_download", download)
    assert wheels.newest("13.6", "runtime") == "nvidia-cuda-runtime==13.6.21"
    assert wheels.newest("13.6", "cufile") == "nvidia-cufile==13.6.21"
    assert asked == ["nvidia-cuda-runtime==13.6.*", "nvidia-cufile"]


@pytest.mark.thorough  # the checks of one release, 10 s
def test_what_13_5_added_is_printed_again_and_right(tmp_path: Path) -> None:
    """A copy of the package without the additions of a release passes the header checks once what is printed
    for it is pasted, as it is.
    """
    for folder in ("cudapy", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        command = (sys.executable, "-m", *command)
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)

    removed = run("tests.headers.remove", "cudapy", "13.4", "13.5")
    assert removed.returncode == 0 and "cuFabricCpyBatchAsync" in removed.stdout, removed
    assert "def cuFabricCpyBatchAsync" not in (tmp_path / "cudapy" / "driver.py").read_text()
    added = run("tests.headers.add", "13.5", "--paste")
    assert added.returncode == 0 and "class CUDA_FABRIC_COPY_BATCH_OP(Struct):" in added.stdout, added
    names = "13.5 and (driver or runtime or nvml) and not libraries and not entry_points"
    checked = run(
        "pytest", "-q", "-n", "0", "--noconftest", "tests/headers/check_declarations.py", "-k", names
    )
    assert checked.returncode == 0, checked.stdout
