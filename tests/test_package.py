"""What is published: the wheel and the source distribution, as hatchling makes them of this tree."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

import pytest

import cudapy

pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed")

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).parents[1]
LIMIT = 1_550_000
"""Bytes that a wheel may have, 1.5 MB as pip shows it, so that it stays small to download and to vendor."""
KEPT = ("cudapy", "samples", "benchmark", "turns", "tests", "docs", "notebooks", "conda", ".ci", ".github")


def build(source: Path, folder: Path, kind: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


def copied(folder: Path) -> Path:
    """The tree without what tools have left in it, elsewhere: nothing may depend on where it is."""
    folder.mkdir()
    unwanted = shutil.ignore_patterns("__pycache__", "_build", "reference", "pages", "*.egg-info")
    for name in KEPT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source distribution."""
    source = copied(tmp_path_factory.mktemp("tree") / "somewhere")
    folder = tmp_path_factory.mktemp("dist")
    return build(source, folder, "wheel"), build(source, folder, "sdist")


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return BytesParser().parsebytes(archive.read(name))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_source_distribution_builds_the_same_wheel(made: tuple[Path, Path], tmp_path: Path) -> None:
    """Byte by byte, in another folder and at another time: it is reproducible."""
    wheel, source = made
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (unpacked,) = tmp_path.iterdir()
    again = build(unpacked, tmp_path / "dist", "wheel")
    assert digest(again) == digest(wheel)


def test_the_source_distribution_has_all_that_a_developer_needs(made: tuple[Path, Path]) -> None:
    with tarfile.open(made[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for path in (
        "README.md",
        "CONTRIBUTING.md",
        "noxfile.py",
        "docs/conf.py",
        "notebooks/saxpy.ipynb",
        ".ci/run",
    ):
        assert path in names
    assert "conda/recipe.yaml" in names and "tests/test_package.py" in names


def test_the_wheel_has_the_package_and_nothing_else(made: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(made[0]) as archive:
        names = set(archive.namelist())
    here = {path.relative_to(ROOT).as_posix() for path in (ROOT / "cudapy").rglob("*") if path.is_file()}
    expected = {name for name in here if "__pycache__" not in name and not name.endswith(".md")}
    expected -= {"cudapy/simulator/engine/assembler/neon.py"}  # until it has run on hardware
    assert {name for name in names if not re.match(r"cudapy-[\d.]+\.dist-info/", name)} == expected
    assert made[0].name == f"cudapy-{cudapy.__version__}-py3-none-any.whl"


def test_the_wheel_is_small(made: tuple[Path, Path]) -> None:
    pytest.importorskip("deflate", reason="deflate, which compresses what is released, is not installed")
    assert made[0].stat().st_size < LIMIT


def test_links_of_the_readme_and_of_the_project_are_those_of_this_version(made: tuple[Path, Path]) -> None:
    found = metadata(made[0])
    assert found["Version"] == cudapy.__version__
    text = found.get_payload()
    urls = dict(each.split(", ") for each in found.get_all("Project-URL"))  # type: ignore[misc]
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert f"{urls['Source']}/blob/v{cudapy.__version__}/docs/simulator.md" in links
    assert all(re.match(r"https?://", link) for link in links)
    assert {"Source", "Documentation", "Changelog", "Issues"} == urls.keys()


def test_classifiers_are_true(made: tuple[Path, Path]) -> None:
    """No system on which nothing was ever run; the Pythons that the workflow tests."""
    classifiers = metadata(made[0]).get_all("Classifier")
    systems = [each for each in classifiers if each.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]
    assert "Typing :: Typed" in classifiers and (ROOT / "cudapy" / "py.typed").is_file()  # type: ignore[operator]


def test_the_recipe_of_conda_asks_for_what_the_package_asks_for(made: tuple[Path, Path]) -> None:
    found = metadata(made[0])
    recipe = (ROOT / "conda" / "recipe.yaml").read_text()
    assert f'version: "{cudapy.__version__}"' in recipe
    (run,) = re.findall(r"^  run:\n((?:    - .*\n)+)", recipe, re.MULTILINE)
    needs = [line.strip("- ") for line in run.splitlines()]
    required = [each for each in found.get_all("Requires-Dist") if "extra ==" not in each]
    assert needs == [f"python {found['Requires-Python']}", *required]
    imports = re.findall(r"^          - (cudapy[.\w]*)$", recipe, re.MULTILINE)
    assert {"cudapy.core", "cudapy.driver", "cudapy.simulator"} <= set(imports)


def test_publishing_is_for_the_tag_of_the_version() -> None:
    """The workflow compares them, which is done here for a right tag and a wrong one."""
    workflow = (ROOT / ".github" / "workflows" / "publish.yml").read_text()
    assert 'tags: ["v*"]' in workflow
    (code,) = re.findall(r"run: python -c '(.*)' \"\$GITHUB_REF_NAME\"$", workflow, re.MULTILINE)
    for tag, code_of_exit in ((f"v{cudapy.__version__}", 0), ("v0.0.0", 1)):
        command = [sys.executable, "-c", code, tag]
        assert subprocess.run(command, cwd=ROOT, capture_output=True).returncode == code_of_exit
