"""Prints what a CUDA release has that cudapy lacks, in the form in which it is pasted:

python -m tests.headers.add 13.6           # downloads the release's headers
python -m tests.headers.add 13.6 FOLDER    # takes those in FOLDER, such as /usr/local/cuda/include
python -m tests.headers.add 13.6 --paste   # writes it into cudapy/, too

For each file: the declarations in the header's order, each with what it comes after. A wheel that
wheels.py does not pin is the newest of the release, and its pin is printed first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import cudapy

from . import wheels
from .additions import Additions, Piece, paste
from .check_declarations import APIS, MOVING, NOT_DECLARED, declarations, files_in, read_renamed
from .check_declarations import header as header_of
from .reader import Header

PACKAGE = Path(cudapy.__file__).parent


def folders(release: str, component: str) -> list[Path]:
    """The include folders of a component, of the pinned wheel or the newest of the release."""
    if release in wheels.RELEASES:
        return wheels.fetch(release, component)
    wanted = wheels.newest(release, component)
    print(f"# wheels.py, {component}: {wanted.partition('==')[2]}")
    return wheels.fetch_wheel(wanted)


def changes(name: str, header: Header, release: str) -> Iterator[str]:
    """What the header has otherwise than the module: for a person to judge."""
    older = [each for each in APIS[name].releases if each != release]
    before = header_of(name, older[-1]).functions if older else {}
    for symbol, declared in declarations(name, release).items():
        real = header.functions.get(symbol, header.legacy.get(symbol, "gone"))
        if real != declared.prototype and (real != "gone" or symbol in before):
            yield f"# {declared.prototype}\n#   is now: {real}"
    for enum, members in header.enums.items():
        known = getattr(getattr(APIS[name].module, enum, None), "__members__", {})
        for member, value in members.items():
            if int(known.get(member, value)) != value and not MOVING.search(member):
                yield f"# {enum}.{member} was {int(known[member])}, is {value}"


def headers_of(release: str, folder: Path | None = None) -> dict[str, Header]:
    """The headers of a release by library: those that are in `folder`, or all, which are downloaded."""
    result = {}
    for name, api in APIS.items():
        found = [folder] if folder else [each for part in api.components for each in folders(release, part)]
        paths = files_in(name, found)
        if not paths:
            print(f"# no headers of {name}", file=sys.stderr)
            continue
        result[name] = header = read_renamed(paths)
        header.functions = {
            symbol: prototype
            for symbol, prototype in header.functions.items()
            if not NOT_DECLARED.match(symbol) and not symbol.startswith("__")
        }
    return result


def additions(release: str, headers: dict[str, Header]) -> Iterator[Piece | str]:
    """What is missing, library by library, and lines that say what is another thing now."""
    for name, header in headers.items():
        yield from changes(name, header, release)
        yield from Additions(name, APIS[name].module, header, release).pieces()


def show(piece: Piece) -> str:
    """A piece as it is printed."""
    verb = "in place of the fields of" if piece.replaces else "after"
    note = f"# {piece.note}\n" if piece.note else ""
    return f"# cudapy/{piece.file}, {verb} {piece.after or 'the rest'}\n{note}{piece.text}\n"


def main(*arguments: str) -> None:
    """The command."""
    given = [argument for argument in arguments if argument != "--paste"]
    if not 1 <= len(given) <= 2 or given[0].startswith("-"):
        sys.exit(__doc__)
    headers = headers_of(given[0], *map(Path, given[1:]))
    if not headers:
        sys.exit("there is nothing to compare with")
    missing = [*additions(given[0], headers)]
    if not missing:
        print(f"# cudapy has all that CUDA {given[0]} declares for {', '.join(headers)}")
    for found in missing:
        print(found if isinstance(found, str) else show(found))
        if "--paste" in arguments and not isinstance(found, str):
            paste(PACKAGE, found)


if __name__ == "__main__":
    main(*sys.argv[1:])
