"""Read CUDA's C headers with `re` alone: no compiler, no parser package.

`read()` runs a small C preprocessor (comments, conditions, macros) as a C compiler on Linux x86-64
would, cuts the result into tokens and those into declarations, and returns them as a `Header`. Text
is normalised, so that equal declarations are equal strings: no comments, attributes, `extern`,
`struct`, `union` or `enum`; one space between tokens; stars glued to what follows them.

`#include` is not followed: pass the files in the order in which a compiler would meet them, such as
driver_types.h before cuda_runtime_api.h. Bit-fields do not occur in these headers and are not read.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# What the compiler and crt/host_defines.h define; a key may have parameters. Without __GNUC__ the
# headers keep clear of most attributes and pragmas.
PREDEFINED = {
    **dict.fromkeys(("__LP64__", "_LP64", "__linux__", "__x86_64__"), "1"),
    **dict.fromkeys(("CUDAAPI", "CUDARTAPI", "CUDART_CB", "__host__", "__device__", "__CUDA_DEPRECATED"), ""),
    **dict.fromkeys(("__cudart_builtin__", "__device_builtin__"), ""),
    **dict.fromkeys(("__align__(n)", "__builtin_align__(n)", "__attribute__(x)"), ""),
}
# What makes the headers show the older ABIs, which the libraries still export.
INTERNAL = {"__CUDA_API_VERSION_INTERNAL": "", "NVML_NO_UNVERSIONED_FUNC_DEFS": ""}

SIZES = {  # in bytes; the first that occurs in a type decides
    1: re.compile(r"\b(char|bool|u?int8_t)\b"),
    2: re.compile(r"\b(short|u?int16_t)\b"),
    8: re.compile(r"\b(long|double|u?int64_t|s?size_t|off_t)\b"),
    4: re.compile(r"\b(int|unsigned|float|u?int32_t)\b"),
}
STRING = r'"(?:\\.|[^"\\\n])*"'
COMMENT = re.compile(rf"{STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
DOXYGEN = re.compile(r"[\\@](?:((?:def|addto|in)group)[ \t]+(\w+)[ \t]*([^\n*]*)|([{}]))")
DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)")
DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
MACRO = re.compile(r"(\w+)(?:\(([^)]*)\))?(.*)", re.DOTALL)
OPENING = re.compile(r"\s*\(")
WORD = re.compile(rf"{STRING}|\b[A-Za-z_]\w*")
TOKEN = re.compile(rf"{STRING}|@\d+@|\w[\w.]*|\.\.\.|<<|>>|&&|\|\||[<>=!]=|\S")
CAST = re.compile(r"\(\s*([A-Za-z_][\w\s]*?)[\s*]*\)(?=\s*[\w(~-])")
SIZEOF = re.compile(r"\bsizeof\s*\(([^()]*)\)")
ARITHMETIC = re.compile(r"(?:[\d\s()+*%<>=!&|^~-]|//|\band\b|\bor\b|\bnot\b)+")


@dataclass
class Field:
    """A member of a struct: `const char *name[2][3]` is ("const char", 1, "name", [2, 3])."""

    type: str  # "struct" or "union" for one without a tag; the whole text for a function pointer
    stars: int
    name: str  # empty for a struct or union whose members count as the parent's
    dims: list[int]  # 0 for `[]`
    nested: Struct | None = None  # the struct or union that is defined right here


@dataclass
class Struct:
    """A struct or union, named as its typedef has it, else its tag, else empty."""

    kind: str
    name: str
    fields: list[Field]


@dataclass
class Header:
    """What the headers declare, in their order."""

    functions: dict[str, str] = field(default_factory=dict)  # exported symbol -> prototype
    legacy: dict[str, str] = field(default_factory=dict)  # the same for the oldest ABI of renamed names
    renames: dict[str, str] = field(default_factory=dict)  # public name -> exported symbol
    groups: list[tuple[str, str]] = field(default_factory=list)  # public symbol, Doxygen title or ""
    enums: dict[str, dict[str, int]] = field(default_factory=dict)  # by tag, typedefs and their aliases
    macros: dict[str, int] = field(default_factory=dict)  # constants that are defined at the end
    structs: dict[str, Struct] = field(default_factory=dict)  # by tag, typedefs and their aliases
    typedefs: dict[str, str] = field(default_factory=dict)  # "CUdevice" -> "CUdevice_v1"
    handles: dict[str, str] = field(default_factory=dict)  # "CUstream" -> "CUstream_st"
    callbacks: dict[str, str] = field(default_factory=dict)  # "CUhostFn" -> "void (*)(void *userData)"


def read(paths: Sequence[Path], defines: Mapping[str, str] | None = None) -> Header:
    """Read header files as one translation unit; `defines` are macros, as in `-D`.

    `functions` has the public symbols, then the versioned ones that are no longer public, such as
    cuCtxCreate_v2. `legacy` has the unversioned symbols whose name now means a newer one.
    """
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    header = _Reader({**PREDEFINED, **(defines or {})}).read(texts)
    internal = _Reader({**PREDEFINED, **INTERNAL, **(defines or {})}).read(texts)
    for symbol, prototype in internal.functions.items():
        if symbol not in header.functions:
            versioned = re.search(r"_v\d+$", symbol)
            (header.functions if versioned else header.legacy)[symbol] = prototype
    return header


# -- Tokens and expressions -------------------------------------------------------------------------


def spell(tokens: Sequence[str]) -> str:
    """Normalised C text of tokens: "const char **p"."""
    text, before = "", "("
    kept = [token for token in tokens if token not in ("struct", "union", "enum")]
    for token, after in zip(kept, [*kept[1:], ""], strict=False):
        called = token == "(" and after != "*"
        glued = called or before in ("(", "[", "*") or token in (")", "[", "]", ",")
        text += token if glued else " " + token
        before = token
    return text


def closing(text: Sequence[str], start: int) -> int:
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] in ("(", "{", "[")) - (text[index] in (")", "}", "]"))
        if depth == 0:
            return index
    raise ValueError(f"unbalanced bracket: {' '.join(text[start : start + 20])}")


def split(tokens: Sequence[str], separator: str) -> Iterator[list[str]]:
    """The non-empty parts between separators that stand outside of brackets."""
    part: list[str] = []
    depth = 0
    for token in [*tokens, separator]:
        depth += (token in ("(", "{", "[")) - (token in (")", "}", "]"))
        if depth or token != separator:
            part.append(token)
        elif part:
            yield part
            part = []


def evaluate(text: str, constant: Callable[[str], int | None]) -> int:
    """The value that a C integer expression has on this platform, or ValueError. Casts are ignored."""
    text = CAST.sub(lambda cast: "" if constant(cast[1]) is None else cast[0], text)
    source = ""
    wide = unsigned = False  # C's arithmetic conversions, as if all of the expression had one type
    for token in TOKEN.findall(text):
        number = constant(token)
        if token[0].isdigit():
            digits = token.rstrip("uUlL")
            number = int(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)
            wide |= "l" in token.lower()
            unsigned |= "u" in token.lower()
        if number is None:
            source += " " + {"&&": "and", "||": "or", "!": "not", "/": "//"}.get(token, token)
        else:
            source += f" ({number})"
            wide |= number.bit_length() > 32
            unsigned |= number > 0 and number.bit_length() in (32, 64)
    if not ARITHMETIC.fullmatch(source):
        raise ValueError(f"not an integer expression: {text}")
    try:
        value = int(eval(source))  # numbers and operators alone: ARITHMETIC has seen to that
    except (SyntaxError, TypeError, ZeroDivisionError) as error:
        raise ValueError(f"not an integer expression: {text}") from error
    bits = 64 if wide else 32
    value %= 1 << bits
    return value if unsigned or value < 1 << (bits - 1) else value - (1 << bits)


# -- The preprocessor -------------------------------------------------------------------------------


class _Preprocessor:
    """Macros, and what a text becomes under them."""

    def __init__(self, defines: Mapping[str, str]) -> None:
        self.macros: dict[str, tuple[list[str] | None, str]] = {}  # name -> parameters, body
        self.comments: list[str] = []  # those that form Doxygen groups; `@n@` marks their places
        for name, body in defines.items():
            self._define(f"{name} {body}")

    def run(self, text: str) -> str:
        """The text without comments and directives, macros expanded."""
        output, chunk = "", ""
        branches: list[tuple[bool, bool]] = []  # for each open #if: is this branch read; is one taken
        for line in COMMENT.sub(self._comment, text.replace("\\\n", " ")).split("\n"):
            live = all(now for now, _ in branches)
            directive = DIRECTIVE.match(line)
            if directive is None:
                chunk += line + "\n" if live else ""
                continue
            word, rest = directive.groups()
            if word in ("if", "ifdef", "ifndef"):
                now = live and self._holds(word, rest)
                branches.append((now, now or not live))
            elif word in ("elif", "else"):
                _, taken = branches.pop()
                now = not taken and (word == "else" or self._holds("if", rest))
                branches.append((now, now or taken))
            elif word == "endif":
                branches.pop()
            elif live and word in ("define", "undef"):
                output, chunk = output + self.expand(chunk), ""
                if word == "define":
                    self._define(rest)
                else:
                    self.macros.pop(rest.strip(), None)
            elif live and word == "error":
                raise ValueError(f"#error {rest}")
        return output + self.expand(chunk)

    def expand(self, text: str, hidden: frozenset[str] = frozenset()) -> str:
        """The text with its macros replaced, but for the `hidden`: those that are being replaced."""
        output, at = "", 0
        while word := WORD.search(text, at):
            output += text[at : word.start()]
            replacement, at = self._replacement(word[0], text, word.end(), hidden)
            output += replacement
        return output + text[at:]

    def _replacement(self, name: str, text: str, at: int, hidden: frozenset[str]) -> tuple[str, int]:
        """What `name`, with its arguments at `at` if it takes any, becomes; where the text goes on."""
        if name in hidden or name not in self.macros:
            return name, at
        parameters, body = self.macros[name]
        hidden_inside = hidden | {name}
        if parameters is not None:
            start = OPENING.match(text, at)
            if start is None:
                return name, at
            end = closing(text, start.end() - 1)
            arguments = ["".join(part).strip() for part in split(text[start.end() : end], ",")]
            if "##" not in body:
                arguments = [self.expand(argument, hidden) for argument in arguments]
                hidden_inside |= {word for argument in arguments for word in WORD.findall(argument)}
            values = dict(zip(parameters, arguments, strict=False))
            body = re.sub(r"\s*##\s*", "", WORD.sub(lambda word: values.get(word[0], word[0]), body))
            at = end + 1
        return f" {self.expand(body, hidden_inside)} ", at

    def _define(self, text: str) -> None:
        if match := MACRO.match(text):
            name, parameters, body = match.groups()
            words = None if parameters is None else [word.strip() for word in parameters.split(",")]
            self.macros[name] = words, body.strip()

    def _comment(self, match: re.Match[str]) -> str:
        if match[0].startswith('"'):
            return match[0]
        if not DOXYGEN.search(match[0]):
            return " "
        self.comments.append(match[0])
        return f"\n@{len(self.comments) - 1}@\n"

    def _holds(self, word: str, condition: str) -> bool:
        if word != "if":
            return (condition.strip() in self.macros) == (word == "ifdef")
        condition = DEFINED.sub(lambda match: str(int((match[1] or match[2]) in self.macros)), condition)
        return evaluate(self.expand(condition), lambda name: 0 if WORD.fullmatch(name) else None) != 0


class _Groups:
    """The Doxygen group that the comments so far put a declaration in."""

    def __init__(self) -> None:
        self.titles: dict[str, str] = {}
        self.open: list[str] = []  # titles, innermost last
        self.coming = ""  # the title of the group that `@{` will open
        self.own = ""  # the title that `\ingroup` gives the next declaration alone

    def comment(self, text: str) -> None:
        defines = re.search(r"[\\@](def|addto)group", text)
        for word, label, title, brace in DOXYGEN.findall(text):
            if brace == "{":
                self.open.append(self.coming or self.title())
                self.coming = ""
            elif brace:
                del self.open[-1:]
            elif word != "ingroup":
                self.titles[label] = self.coming = title.strip() or self.titles.get(label, "")
            elif not defines:
                self.own = self.titles.get(label, "")

    def title(self) -> str:
        return self.own or (self.open[-1] if self.open else "")


# -- Declarations -----------------------------------------------------------------------------------


class _Reader:
    """Fills a `Header` from texts."""

    def __init__(self, defines: Mapping[str, str]) -> None:
        self.header = Header()
        self.preprocessor = _Preprocessor(defines)
        self.predefined = set(self.preprocessor.macros)
        self.groups = _Groups()
        self.constants: dict[str, int] = {}  # of all enums

    def read(self, texts: Sequence[str]) -> Header:
        for text in texts:
            self._declarations(TOKEN.findall(self.preprocessor.run(text)))
        self._macros()
        for name, text in self.header.typedefs.items():
            if text in self.header.structs:
                self.header.structs.setdefault(name, self.header.structs[text])
            if text in self.header.enums:
                self.header.enums.setdefault(name, self.header.enums[text])
        return self.header

    def _declarations(self, tokens: Sequence[str]) -> None:
        declaration: list[str] = []
        depth = 0
        for token in tokens:
            if token[0] == "@":
                self.groups.comment(self.preprocessor.comments[int(token[1:-1])])
                continue
            declaration.append(token)
            depth += (token in ("(", "{")) - (token in (")", "}"))
            if depth == 0 and token == ";":
                self._declaration([word for word in declaration[:-1] if word not in ("extern", "static")])
            elif depth == 0 and token == "}" and declaration[declaration.index("{") - 1] == ")":
                self._inline_function(declaration)
            else:
                continue
            declaration = []
            self.groups.own = ""

    def _inline_function(self, tokens: Sequence[str]) -> None:
        """`nvJitLinkCreate(...) { return __nvJitLinkCreate_13_0(...); }` is a rename."""
        called = tokens[tokens.index("return") + 1] if "return" in tokens else ""
        if called in self.header.functions:
            self.header.renames[tokens[tokens.index("(") - 1]] = called

    def _declaration(self, tokens: Sequence[str]) -> None:
        if not tokens:
            return
        if tokens[0] == "typedef":
            self._typedef(tokens[1:])
        elif tokens[-1] == ")":
            self._prototype(tokens)
        else:
            self._specifier(tokens)

    def _prototype(self, tokens: Sequence[str]) -> None:
        symbol = tokens[tokens.index("(") - 1]
        if symbol not in self.header.functions and not symbol.endswith(("_ptds", "_ptsz")):
            self.header.functions[symbol] = re.sub(r"\(\)$", "(void)", spell(tokens))
            self.header.groups.append((symbol, self.groups.title()))

    def _typedef(self, tokens: Sequence[str]) -> None:
        base, made, declarators = self._specifier(tokens)
        for declarator in declarators:
            alias = self._field(base, made, declarator)
            if "(" in alias.type:
                self.header.callbacks[alias.name] = alias.type
            elif isinstance(made, Struct):
                made.name = alias.name
                self.header.structs[alias.name] = made
            elif made is not None:
                self.header.enums[alias.name] = made
            elif alias.stars == 1 and "struct" in tokens:
                self.header.handles[alias.name] = alias.type
            elif alias.type != alias.name:
                self.header.typedefs[alias.name] = spell([alias.type, *"*" * alias.stars])

    def _specifier(
        self, tokens: Sequence[str]
    ) -> tuple[list[str], Struct | dict[str, int] | None, list[list[str]]]:
        """The type that a declaration starts with, what it defines there, the declarators after it."""
        start = 1 if tokens[0] == "const" else 0
        kind, made = tokens[start], None
        if kind not in ("struct", "union", "enum"):
            end = next((at for at, token in enumerate(tokens) if not WORD.fullmatch(token)), len(tokens))
            if end == len(tokens) or tokens[end] in ("[", ","):
                end -= 1  # the last word is the name
            return list(tokens[:end]), None, list(split(tokens[end:], ","))
        tag = tokens[start + 1] if WORD.fullmatch(tokens[start + 1]) else ""
        end = start + 2 if tag else start + 1
        if tokens[end : end + 1] == ["{"]:
            close = closing(tokens, end)
            define = self._enum if kind == "enum" else self._struct
            made = define(kind, tag, tokens[end + 1 : close])
            end = close + 1
        return [*tokens[:start], tag or kind], made, list(split(tokens[end:], ","))

    def _struct(self, kind: str, tag: str, body: Sequence[str]) -> Struct:
        struct = Struct(kind, tag, [])
        for tokens in split(body, ";"):
            base, made, declarators = self._specifier(tokens)
            struct.fields += [self._field(base, made, declarator) for declarator in declarators or [[]]]
        if tag:
            self.header.structs[tag] = struct
        return struct

    def _enum(self, _kind: str, tag: str, body: Sequence[str]) -> dict[str, int]:
        members: dict[str, int] = {}
        value = -1
        for name, *expression in split(body, ","):
            value = self._evaluate(" ".join(expression[1:])) if expression else value + 1
            members[name] = self.constants[name] = value
        if tag:
            self.header.enums[tag] = members
        return members

    def _field(self, base: Sequence[str], made: object, declarator: Sequence[str]) -> Field:
        end = next((at for at, token in enumerate(declarator) if token in ("(", "[")), len(declarator))
        if declarator[end : end + 1] == ["("]:  # a function pointer: `(*name)(parameters)`
            text = spell([*base, *declarator[: end + 2], *declarator[end + 3 :]])
            return Field(text, 0, declarator[end + 2], [])
        name = declarator[end - 1] if declarator else ""
        sizes = re.findall(r"\[(.*?)\]", " ".join(declarator[end:]))
        dims = [self._evaluate(size) if size.strip() else 0 for size in sizes]
        nested = made if isinstance(made, Struct) else None
        return Field(spell(base) or base[-1], declarator[:end].count("*"), name, dims, nested)

    def _macros(self) -> None:
        """Sort the macros that are left into renames, aliases of types, and constants."""
        header = self.header
        for name, (parameters, body) in self.preprocessor.macros.items():
            if parameters is not None or name in self.predefined:
                continue
            text = self.preprocessor.expand(body, frozenset([name])).strip()
            if text in header.functions and text != name:
                header.renames[name] = text
            elif text in header.structs or text in header.enums or text in header.typedefs:
                header.typedefs[name] = text
            else:
                with suppress(ValueError):
                    header.macros[name] = self._evaluate(text)

    def _evaluate(self, text: str) -> int:
        text = SIZEOF.sub(lambda match: f"{ctypes.sizeof(self._ctype(spell(match[1].split())))}ul", text)
        return evaluate(text, self.constants.get)

    def _ctype(self, text: str, nested: Struct | None = None) -> Any:
        """A ctypes type of the size and alignment of a C type."""
        if re.search(r"[*(]", text) or text in self.header.handles or text in self.header.callbacks:
            return ctypes.c_void_p
        if struct := nested or self.header.structs.get(text):
            fields = []
            for index, member in enumerate(struct.fields):
                inner = self._ctype(member.type + "*" * member.stars, member.nested)
                for size in reversed(member.dims):
                    inner *= size
                fields.append((f"_{index}", inner))
            parent = ctypes.Structure if struct.kind == "struct" else ctypes.Union
            return type("_", (parent,), {"_fields_": fields})
        if text in self.header.typedefs:
            return self._ctype(self.header.typedefs[text])
        if text in self.header.enums:
            return ctypes.c_int
        for size, pattern in SIZES.items():
            if pattern.search(text):
                return getattr(ctypes, f"c_int{8 * size}")
        raise ValueError(f"sizeof({text}) is not known")
