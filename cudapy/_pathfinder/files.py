"""What is there: the files of a library, place by place."""

import os
from collections.abc import Iterator

from .libraries import MAJORS, USED, Library
from .places import Candidate, Host, Place, newest, places


def candidates(
    library: Library, major: int | None, host: Host, first: int | None = None
) -> Iterator[Candidate]:
    """Where `host` may have the library, best first, each file once, and where it does not.

    first: the CUDA major whose files go before those of the other, whatever their places.
    """
    if first is not None:
        others = []
        for candidate in candidates(library, major, host):
            if candidate.major in (None, first):
                yield candidate  # at once: who finds it good looks no further
            else:
                others.append(candidate)
        yield from others
        return
    majors = (major,) if major and not library.from_driver else MAJORS
    seen = set()
    for place in places(library, majors, host):
        entries = [place] if isinstance(place, Candidate) else _files_in(place, library, majors, host)
        for entry in entries:
            if (entry.path, entry.refused) not in seen:
                seen.add((entry.path, entry.refused))
                yield entry


def _files_in(place: Place, library: Library, majors: tuple[int, ...], host: Host) -> Iterator[Candidate]:
    """The library's files in a place, the preferred major first; or one entry that says what is not there."""
    wanted = [major for major in majors if place.major in (None, major)]
    any_file = False
    for major in wanted:
        for path in _files(place, library, major, host):
            own = major if library.numbered else place.major or major_beside(place, library, host)
            if own in (major, None):
                any_file = True
                yield Candidate(place.found_by, os.path.realpath(path), own, refusal(path))
    if not any_file:
        names = dict.fromkeys(n.format(major=major) for major in wanted for n in host.names(library))
        of = (
            ""
            if library.numbered or library.from_driver or library.wheels
            else f" of CUDA {' or '.join(map(str, wanted))}"
        )
        yield Candidate(place.found_by, place.root, refused=f"no {' or '.join(names)}{of}")


def _files(place: Place, library: Library, major: int, host: Host) -> Iterator[str]:
    """The files in a place that are called like the library of CUDA `major`."""
    for subfolder in library.subfolders:
        for folder in place.folders or host.folders():
            for name in host.names(library):
                yield from newest(os.path.join(place.root, subfolder, folder), name.format(major=major))


def major_beside(place: Place, library: Library, host: Host) -> int | None:
    """The CUDA major of a toolkit, for its libraries whose name does not tell: that of all the others.

    None if there are no others, or if they differ.
    """
    others = [] if library.from_driver else [other for other in USED.values() if other.numbered]
    majors = {major for major in MAJORS for other in others for _ in _files(place, other, major, host)}
    return majors.pop() if len(majors) == 1 else None


def refusal(path: str) -> str:
    """Why a file must not be opened; empty if it may be."""
    parents = [os.path.basename(os.path.dirname(name)) for name in (path, os.path.realpath(path))]
    return "a stub, which is for linking only" if "stubs" in parents else ""
