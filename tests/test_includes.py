"""What a source may include: never less than NVRTC includes, and nothing that cannot be told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from cudapy import pathfinder
from cudapy._core.compile import includes, program_nvrtc
from cudapy._core.compile.includes import Unknown, identity, included
from cudapy.core import CompileError, Program, ProgramOptions

KERNEL = 'extern "C" __global__ void k(int *p) { *p = FOUND; }\n'

FORMS = {
    "quoted": '#include "mine.h"\n',
    "angled": "#include <mine.h>\n",
    "no space": '#include"mine.h"\n',
    "spaces": " \t# \t include \t <mine.h> \t // and a comment\n",
    "form feeds": '#\f\vinclude\f"mine.h"\n',
    "a comment before": '/* a */ #include "mine.h"\n',
    "a long comment before": '/* a\n b */ #include "mine.h"\n',
    "a comment after the mark": '#/* a */include "mine.h"\n',
    "continued": '#inc\\\nlude \\\n "mine.h"\n',
    "continued on Windows": '#inc\\\r\nlude "mine.h"\r\n',
    "digraph": '%:include "mine.h"\n',
    "trigraph": '??=include "mine.h"\n',
    "continued by a trigraph": '#inc??/\nlude "mine.h"\n',
    "no trigraph, but a comment": '// really??/\n#include "mine.h"\n',
    "next": '#include_next "mine.h"\n',
    "in a condition": '#if 1\n#include "mine.h"\n#endif\n',
    "last line": '#define A\n#include "mine.h"',
    "only asked for": '#if __has_include("mine.h")\n#define FOUND 12345\n#endif\n',
    "only asked for, angled": "#if __has_include ( <mine.h> )\n#define FOUND 12345\n#endif\n",
    "asked for by a macro": "#define HAS(x) __has_include(x)\n#if HAS(<mine.h>)\n#define FOUND 12345\n#endif",
}
"""Ways to include or to ask for mine.h that NVRTC takes."""


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_seen(form: str) -> None:
    """And the table is true: NVRTC, with which the test below compares."""
    texts = includes.readings(FORMS[form].encode())
    found = {name for text in texts for _, name in included(text, includes.wrappers_in(text))}
    assert found == {"mine.h"}


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("form", FORMS)
def test_nvrtc_takes_every_form(form: str, tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("#define FOUND 12345\n")
    source = FORMS[form] + "\n" + KERNEL
    std = "c++14" if "trigraph" in form and not form.startswith("no") else "c++17"
    options = ProgramOptions(arch="sm_90", include_path=str(tmp_path), cuda_headers=False, std=std)
    assert b"12345" in Program(source, "c++", options).compile("ptx").code


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"#define A\r", b"\\\r\n"])
def test_what_editors_put_before_an_include(before: bytes) -> None:
    """A byte order mark, a line that ends as on old Macs: more than the NVRTC of today takes."""
    text = before + b'#include "mine.h"\n'
    assert [name for _, name in included(includes._joined(text))] == ["mine.h"]


NOT = [
    "// #include <mine.h>\n",
    "// see #include MACRO\n",
    " * #include files\n",
    "#define INCLUDE(x) x\n",
    "int include_count; bool includes = true;\n",
    '_Pragma("push_macro(\\"dllimport\\")") int important;\n',
    '#error "#include <mine.h> is missing"\n',
    "#include\n",
    "#ifdef __has_include\n#endif\n",
    "#if defined(__has_include)\n#endif\n#ifndef __has_include\n#endif\n",
    "unembedded member = reembed;\n",
]


@pytest.mark.parametrize("text", NOT)
def test_what_is_no_include(text: str) -> None:
    assert list(included(text.encode())) == []


UNKNOWN = [
    "#define HEADER <mine.h>\n#include HEADER\n",
    "#include MACRO(x)\n",
    "#if __has_include(HEADER)\n#endif\n",
    "int t = __TIME__[0];\n",
    "const char *d = __DATE__;\n",
    "const char *d = __TIMESTAMP__;\n",
    '#embed "data.bin"\n',
    '#if __has_embed("data.bin")\n#endif\n',
    '#import "mine.h"\n',
    "import <mine.h>;\n",
    'export import "mine.h";\n',
    "/* a */ #include HEADER\n",
]


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_cannot_be_told(text: str, tmp_path: Path) -> None:
    with pytest.raises(Unknown, match="it has"):
        identity(text.encode(), str(tmp_path), (), ())
    (tmp_path / "mine.h").write_text(text)
    with pytest.raises(Unknown, match="it has"):
        identity(b'#include "mine.h"', str(tmp_path), (), ())


# -- the identity of files --------------------------------------------------------------------------------


class Tree:
    """Files under a folder, and the identity of a source that may include them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, text: str) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def identity(self, text: str, first: tuple[str, ...] = ()) -> bytes:
        folders = [str(self.path / name) for name in ("a", "b")]
        return identity(text.encode(), str(self.path / "own"), folders, first)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    made = Tree(tmp_path)
    made.write("b/outer.h", '#include "inner/one.h"\n')
    made.write("b/inner/one.h", '#include "two.h"\n')
    made.write("b/inner/two.h", "#define TWO 2\n")
    made.write("b/other.h", "nothing to do with it")
    return made


SOURCE = "#include <outer.h>\n"


def test_the_same_files_are_the_same(tree: Tree) -> None:
    before = tree.identity(SOURCE)
    assert tree.identity(SOURCE) == before
    tree.write("b/other.h", "changed")
    assert tree.identity(SOURCE) == before


@pytest.mark.parametrize("name", ["outer.h", "inner/one.h", "inner/two.h"])
def test_a_change_anywhere_is_seen_and_so_is_its_end(tree: Tree, name: str) -> None:
    before = tree.identity(SOURCE)
    file = tree.path / "b" / name
    old = file.read_text()
    status = file.stat()
    file.write_text(old.replace("2", "3").replace("#include", "# include"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))  # by content, not by time
    after = tree.identity(SOURCE)
    assert after != before
    file.unlink()
    assert tree.identity(SOURCE) not in (before, after)
    file.write_text(old)
    assert tree.identity(SOURCE) == before


@pytest.mark.parametrize("name", ["a/outer.h", "a/inner/one.h", "a/two.h", "b/two.h"])
def test_a_header_that_comes_before_another_is_seen(tree: Tree, name: str) -> None:
    before = tree.identity(SOURCE)
    tree.write(name, "")
    assert tree.identity(SOURCE) != before


def test_where_quotes_and_what_comes_first_are_looked_for(tree: Tree, monkeypatch) -> None:
    quoted, first = tree.identity('#include "mine.h"'), tree.identity("", ("mine.h",))
    angled = tree.identity("#include <mine.h>")
    tree.write("own/mine.h", "")
    assert tree.identity('#include "mine.h"') != quoted
    assert tree.identity("", ("mine.h",)) != first
    assert tree.identity("#include <mine.h>") == angled, "only quotes look beside the source"
    tree.write("cwd/mine.h", "")
    monkeypatch.chdir(tree.path / "cwd")
    assert tree.identity("", ("mine.h",)) != first


def test_a_macro_for_has_include_counts_wherever_it_is_used(tree: Tree) -> None:
    tree.write("b/has.h", "#define HAS(x) __has_include(x)\n")
    for source in (
        "#include <has.h>\n#if HAS(<late.h>)\n#endif\n",
        "#define X HAS(<late.h>)\n#include <has.h>\n#if X\n#endif\n",
    ):
        before = tree.identity(source)
        tree.write("b/late.h", "")
        assert tree.identity(source) != before
        (tree.path / "b/late.h").unlink()


def test_headers_that_include_each_other(tree: Tree) -> None:
    tree.write("b/x.h", '#include "y.h"')
    tree.write("b/y.h", '#include "x.h"')
    assert tree.identity("#include <x.h>")


# -- against the compiler ---------------------------------------------------------------------------------


WITH_LIBCUDACXX = ("cooperative_groups.h", "cuda/std/array", "cuda/atomic")
"""Headers that take NVRTC a second or two."""


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize(
    "header",
    [
        "cuda_fp16.h",
        "mma.h",
        *(pytest.param(name, marks=pytest.mark.thorough) for name in WITH_LIBCUDACXX),
    ],
)
def test_it_is_never_less_than_nvrtc_reads(header: str, tmp_path: Path, monkeypatch) -> None:
    """Only the files that were found, copied elsewhere, compile to the same."""
    source = f"#include <{header}>\n" + KERNEL.replace("FOUND", "12345")
    options = ProgramOptions(arch="sm_90", std="c++17")
    folders = [
        flag.decode().partition("=")[2] for flag in program_nvrtc.header_flags(source.encode(), options)
    ]
    if not any((Path(folder) / header).is_file() for folder in folders):
        pytest.skip(f"there is no <{header}> for {pathfinder.load('nvrtc').path}")
    read = set()
    content = includes._content

    def noted(path: str) -> bytes | None:
        if (data := content(path)) is not None:
            read.add(os.path.normpath(path))
        return data

    monkeypatch.setattr(includes, "_content", noted)
    assert identity(source.encode(), os.curdir, folders, ())
    copies = [tmp_path / str(number) for number in range(len(folders))]
    for file in read:
        for folder, copy in zip(folders, copies, strict=True):
            if Path(file).is_relative_to(folder):
                target = copy / Path(file).relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    alone = ProgramOptions(
        arch="sm_90", std="c++17", include_path=[str(copy) for copy in copies], cuda_headers=False
    )
    assert (
        Program(source, "c++", alone).compile("ptx").code
        == Program(source, "c++", options).compile("ptx").code
    )
    with pytest.raises(CompileError):
        Program(source, "c++", ProgramOptions(arch="sm_90", cuda_headers=False)).compile("ptx")
