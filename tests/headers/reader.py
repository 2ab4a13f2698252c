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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .preprocessor import SIZEOF, SIZES, TOKEN, WORD, Groups, Preprocessor, closing, evaluate, spell, split

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


class _Reader:
    """Fills a `Header` from texts."""

    def __init__(self, defines: Mapping[str, str]) -> None:
        self.header = Header()
        self.preprocessor = Preprocessor(defines)
        self.predefined = set(self.preprocessor.macros)
        self.groups = Groups()
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
