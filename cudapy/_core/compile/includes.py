"""What a source may include: the identity of every header that could have a part in compiling it.

No compiler is asked, and no condition is evaluated: each #include and __has_include in the source, and in
what they find, counts, and so does every folder in which one may be found. That is more than a compiler
reads, never less: what is compiled from the same files is the same. What cannot be told from the text is
`Unknown`: an #include of a macro, and the time of day.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence

_NAME = re.compile(rb"(?:_next)?[ \t\f\v]*(?:\([ \t\f\v]*)?(?:<([^>\n]+)>|\"([^\"\n]+)\")")
_WRAPPER = re.compile(  # #define HAS(x) __has_include(x)
    rb"(?:#|%:)[ \t]*define[ \t]+(\w+)\([ \t]*(\w+)[ \t]*\)[ \t]*__has_include[ \t]*\([ \t]*\2[ \t]*\)"
)
_TRIGRAPHS = ((b"??=", b"#"), (b"??/", b"\\"))  # those that can be part of a directive, or join lines
_CLOCK = (b"__DATE__", b"__TIME__", b"__TIMESTAMP__")
_OTHER = (b"embed", b"import")  # #embed, __has_embed; #import, and import of a header

Include = tuple[bool, str]  # whether in quotes, and the name


class Unknown(ValueError):
    """What a source includes cannot be told from its text."""


def identity(code: bytes, source_folder: str | None, folders: Sequence[str], first: Sequence[str]) -> bytes:
    """A digest of all files that `code` may include, by name and content.

    source_folder: where "..." of the source itself is looked for; None: nowhere. folders: where all are.
    first: names that are included before the source. Raises Unknown, which says what cannot be told.
    """
    digests: dict[str, bytes] = {}  # path -> digest of the content; b"" where there is none
    texts: list[tuple[bytes, str | None]] = []  # and the folder of each
    wrappers: dict[bytes, None] = {}

    def look(includes: Iterable[Include], own: str | None) -> None:
        for quoted, name in includes:
            for folder in folders if own is None or not quoted else (own, *folders):
                path = os.path.join(folder, name)
                if path in digests:
                    continue
                content = _content(path)
                digests[path] = b"" if content is None else hashlib.sha256(content).digest()
                if content is not None:
                    texts.extend((text, os.path.dirname(path)) for text in readings(content))

    texts += [(text, source_folder) for text in readings(code)]
    for folder in {source_folder, os.curdir}:
        look([(True, name) for name in first], folder)
    done = 0
    while done < len(texts):
        text, own = texts[done]
        done += 1
        new = [name for name in wrappers_in(text) if name not in wrappers]
        wrappers.update(dict.fromkeys(new))
        look(included(text, wrappers), own)
        for name in new:  # those before have used it as well
            for other, folder in texts[:done]:
                look(_calls(other, name), folder)
    whole = hashlib.sha256()
    for path in sorted(digests):
        whole.update(b"%b\0%b\0" % (os.fsencode(path), digests[path].hex().encode()))
    return whole.digest()


def included(text: bytes, wrappers: Iterable[bytes] = ()) -> Iterator[Include]:
    """What a text may include, its continued lines joined; wrappers: macros that are __has_include.

    Raises Unknown.
    """
    for clock in _CLOCK:
        if clock in text:
            raise Unknown(f"it has {clock.decode()}")
    for word in _OTHER:
        for before, after in _places(text, word):
            module = before.strip() in (b"", b"export") and after.lstrip().startswith((b"<", b'"'))
            if module or before.endswith(b"__has_") or _directive(before):
                raise Unknown(f"it has {_line(before, word, after)!r}")
    for name in wrappers:
        yield from _calls(text, name)
    for before, after in _places(text, b"include"):
        if before.endswith(b"__has_") or _directive(before):
            if match := _NAME.match(after):
                yield match[1] is None, os.fsdecode(match[1] or match[2])
            elif not _harmless(before, after):
                raise Unknown(f"it has {_line(before, b'include', after)!r}")


def _places(text: bytes, word: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The line before and after each place where a word is; what is before without spaces at its end."""
    at = text.find(word)
    while at >= 0:
        start, end, stop = text.rfind(b"\n", 0, at) + 1, at + len(word), text.find(b"\n", at)
        yield text[start:at].rstrip(), text[end:] if stop < 0 else text[end:stop]
        at = text.find(word, end)


def _line(before: bytes, word: bytes, after: bytes) -> str:
    return b"".join((before.lstrip(), word, after.rstrip())).decode(errors="replace")


def _directive(before: bytes) -> bool:
    """Whether what stands before "include" on its line makes it a directive, as far as that can be told."""
    for mark in (b"#", b"%:"):
        if before.endswith(mark):
            head = before[: -len(mark)].strip()
            return not head or b"*/" in head  # else a comment, or the middle of something
    return before.endswith(b"*/")  # perhaps a comment between the mark and the word


def _harmless(before: bytes, after: bytes) -> bool:
    """Whether one that names nothing is none: an empty #include, or __has_include itself being asked for."""
    if before.endswith(b"__has_"):
        asked = re.search(rb"(?:ifdef|ifndef|defined)[ \t]*\(?[ \t]*__has_$", before) is not None
        return asked or _WRAPPER.search(b"%binclude%b" % (before, after)) is not None
    return not after.strip()


def wrappers_in(text: bytes) -> list[bytes]:
    """The macros of a text that are __has_include under another name."""
    return [match[1] for match in _WRAPPER.finditer(text)] if b"__has_include" in text else []


def _calls(text: bytes, name: bytes) -> Iterator[Include]:
    if name in text:
        for match in re.finditer(rb"\b%b(?=[ \t]*\()" % name, text):
            if asked := _NAME.match(text, match.end()):
                yield asked[1] is None, os.fsdecode(asked[1] or asked[2])


def readings(text: bytes) -> list[bytes]:
    """A text as compilers read it: its lines joined; and, for C++ before 17, with its trigraphs replaced."""
    replaced = text
    if b"??" in text:
        for trigraph, mark in _TRIGRAPHS:
            replaced = replaced.replace(trigraph, mark)
    return [_joined(text)] if replaced == text else [_joined(text), _joined(replaced)]


def _joined(text: bytes) -> bytes:
    """A text with its continued lines joined, and every end of a line a line feed."""
    text = text.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text.replace(b"\\\n", b"") if b"\\" in text else text


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return None
