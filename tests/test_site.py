"""The site: every public name is in its reference, it builds without a warning, and its links work."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from cudapy import core, driver
from docs._site import gallery, pages, reference
from docs._site.docstrings import markdown
from hatch_build import absolute
from samples.__main__ import samples

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REPOSITORY = "https://example.org/cudapy"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    reference.write(folder)
    return folder


@pytest.mark.parametrize("module", [*reference.BINDINGS, *reference.OBJECTS])
def test_every_public_name_is_in_the_reference(written: Path, module: str) -> None:
    """As an entry; aliases and constants in a list."""
    text = (written / f"{module}.md").read_text()
    text += "".join(path.read_text() for path in (written / module).glob("*.md"))
    if module in reference.BINDINGS:
        text += (written / f"{module}-types.md").read_text()
    entries = set(re.findall(r"^:{3,}\{py:\w+\} (\w+)", text, re.MULTILINE))
    listed = set(re.findall(r"^(\w+) = ", text, re.MULTILINE)) | set(re.findall(r"`(\w+)`", text))
    names = reference.public_names(module)
    assert names
    # which have pages of their own
    modules = {"checkpoint", "exceptions", "graph", "system", "texture", "typing", "utils"}
    assert set(names) - entries - listed - modules == set()


def test_every_module_has_its_page() -> None:
    there = {path.stem for path in (ROOT / "cudapy").glob("[!_]*.py")} | {"simulator"}
    assert there <= {*reference.BINDINGS, *reference.OBJECTS}


def test_every_page_is_in_the_index(written: Path) -> None:
    """Or in that of its module."""
    index = (written / "index.md").read_text().split()
    assert {path.stem for path in written.glob("*.md")} - {"index"} <= set(index)
    for path in written.glob("*/*.md"):
        assert f"({path.parent.name}/{path.name})" in (written / f"{path.parent.name}.md").read_text()


def test_what_functions_return_has_a_page_though_it_has_no_name(written: Path) -> None:
    """Also what such classes have in turn, and what only type checkers import."""
    for page, by in {
        "core/KernelAttributes": "{py:obj}`Kernel.attributes`",
        "core/MemoryPoolAttributes": "{py:obj}`DeviceMemoryResource.attributes`",
        "simulator/KernelCoverage": "{py:obj}`coverage_report`",
        "simulator/Place": "`Finding.place`",
    }.items():
        text = (written / f"{page}.md").read_text()
        assert f"From {by}, in " in text
        assert f"{{py:class}} {page.rpartition('/')[2]}\n" in text  # nobody calls it


def test_functions_show_the_line_of_the_header_and_no_internals(written: Path) -> None:
    """Those that are another name of a function lead to it."""
    text = "".join(path.read_text() for path in written.rglob("*.md"))
    assert not re.search(r"^:::.*\b(unnamed|NoReturn|void_pp?)\b", text, re.MULTILINE)
    entries = re.split(
        r"^:::\{py:function\} ",
        "".join(path.read_text() for path in [written / "driver.md", *(written / "driver").glob("*.md")]),
        flags=re.MULTILINE,
    )[1:]
    assert len(entries) > 500
    without = [
        each.partition("(")[0] for each in entries if "```c\n" not in each and "The same as" not in each
    ]
    assert without == []


def test_every_example_is_shown(written: Path) -> None:
    text = "".join(path.read_text() for path in written.rglob("*.md"))
    assert len(reference.examples()) >= 30
    assert [name for name, example in reference.examples().items() if example.strip() not in text] == []


def test_what_the_samples_call_most_has_an_example() -> None:
    """What five of them call; but names that Python's own objects have, too."""
    counts: Counter[str] = Counter()
    for sample in samples():
        calls = [
            each.func for each in ast.walk(ast.parse(sample.path.read_text())) if isinstance(each, ast.Call)
        ]
        counts.update({getattr(each, "attr", getattr(each, "id", "")) for each in calls})
    ours = {"stand_in", *vars(driver), *core.__all__}
    ours |= {name for each in core.__all__ for name in dir(getattr(core, each)) if name[0] != "_"}
    ours -= {*dir(str), "map", "error"}
    most = {name for name, count in counts.items() if count >= 5 and name in ours}
    assert len(most) > 25
    assert most - {name.rpartition(".")[2] for name in reference.examples()} == set()


def test_docstrings_become_markdown() -> None:
    docstring = """Copy `n` bytes of *x.

    n: how many,
        at least 1
    x: from where. Source: memcpy

        code(1)

        more()

    one    the first
    two    the second,
           and more
    """
    assert markdown(docstring).split("\n\n") == [
        r"Copy `n` bytes of \*x.",
        "- **n**: how many,\n  at least 1\n- **x**: from where. Source: memcpy",
        "```text\ncode(1)",
        "more()\n```",
        "| | |\n|---|---|\n| one | the first |\n| two | the second, and more |\n",
    ]


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("[a](docs/x.md#here)", f"[a]({REPOSITORY}/blob/v1/docs/x.md#here)"),
        ("![a](docs/x.png)", f"![a]({REPOSITORY}/raw/v1/docs/x.png)"),
        ("[a](https://example.org)", "[a](https://example.org)"),
        ("[a](#here)", "[a](#here)"),
    ],
)
def test_links_of_the_package_index_lead_to_the_repository(link: str, expected: str) -> None:
    assert absolute(link, REPOSITORY, "v1") == expected


def test_files_that_the_front_page_leads_to_are_there() -> None:
    """As the package's index shows it."""
    text = absolute((ROOT / "README.md").read_text(), REPOSITORY, "v1")
    assert not re.search(r"\]\((?!https?:)", text)
    targets = re.findall(rf"\]\({REPOSITORY}/(?:blob|raw)/v1/([^)#]+)", text)
    assert len(targets) > 20
    assert [target for target in targets if not (ROOT / target).exists()] == []


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("[a](memory.md#pools)", "[a](memory.md#pools)"),
        ("[a](../CHANGELOG.md)", "[a](pages/changelog.md)"),
        ("[a](../tests/warm.py)", f"[a]({REPOSITORY}/blob/main/tests/warm.py)"),
        ("[a](../samples)", f"[a]({REPOSITORY}/tree/main/samples)"),
        ("[a](https://example.org/x)", "[a](https://example.org/x)"),
    ],
)
def test_links_of_a_page_lead_to_pages_or_the_repository(link: str, expected: str) -> None:
    assert pages.led(link, "docs", "docs", REPOSITORY) == expected


def test_every_sample_is_in_the_gallery_with_its_picture() -> None:
    text = gallery.page(DOCS, REPOSITORY)
    cards = re.findall(r"^::::\{grid-item-card\} ([\w<>]+)$", text, re.MULTILINE)
    assert [card.replace("<wbr>", "") for card in cards] == [sample.name for sample in samples()]
    shown = set(re.findall(r":img-top: \.\./(\S+)", text))
    assert shown == {
        str(path.relative_to(DOCS)) for path in [*DOCS.glob("*.png"), *DOCS.glob("gallery/*.png")]
    }


class Links(HTMLParser):
    """What a page leads to, and where in it one can be led."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value is not None:
                self.targets.append(value)
            elif name == "id" and value:
                self.anchors.add(value)


@pytest.mark.thorough
def test_it_builds_without_a_warning_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    """Links to the repository, too. The pages of other sites are not asked for."""
    for module, package in (
        ("myst_parser", "myst-parser"),
        ("furo", "furo"),
        ("sphinx_design", "sphinx-design"),
    ):
        pytest.importorskip(module, reason=f'{package} is not installed: pip install -e ".[docs]"')
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(tmp_path / "doctrees")]
    done = subprocess.run([*command, str(DOCS), str(site)], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")

    found = {page: Links(page) for page in site.rglob("*.html")}
    assert len(found) > 50
    repository = re.findall(r'^Source = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[0]
    broken = []
    for page, links in found.items():
        for link in links.targets:
            target = urlsplit(link)
            if link.startswith(repository) and (
                path := re.match(r"/(?:blob|tree)/main/(.*)", link[len(repository) :])
            ):
                led_to = ROOT / unquote(urlsplit(path[1]).path)
                right = led_to.exists()
            elif target.scheme:
                continue
            else:
                led_to = (page.parent / unquote(target.path)).resolve() if target.path else page
                right = led_to.is_file()
                if right and target.fragment and led_to in found:
                    right = unquote(target.fragment) in found[led_to].anchors
            if not right:
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []
