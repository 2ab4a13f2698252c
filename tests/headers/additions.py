"""What the headers of a release have that the package lacks, as the text to be pasted.

A piece says where it belongs: behind which function, class or member of which file. `paste` puts it there,
into this package or a copy. Docstrings are a person's to write, and so is what a prototype does not say: what
counts an array, and which pointers are read. The guesses are those that fit most of the functions there are.
"""

from __future__ import annotations

import ast
import ctypes
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from cudapy._ffi.library import Library
from cudapy._ffi.prototypes import CParameter, parse

from .reader import Field, Header, Struct, _Reader

TODO = '"""TODO."""'
SCALARS = {
    "char": "c_char",
    "double": "c_double",
    "float": "c_float",
    "int": "c_int",
    "long long": "c_longlong",
    "short": "c_short",
    "size_t": "size_t",
    "unsigned": "c_uint",
    "unsigned char": "c_uchar",
    "unsigned int": "c_uint",
    "unsigned long": "c_ulong",
    "unsigned long long": "c_ulonglong",
    "unsigned short": "c_ushort",
}
INTEGERS = {name for name in SCALARS if name not in ("double", "float")}
HANDLE_TYPES = {"int": "Int", "unsigned int": "UInt", "unsigned long long": "UInt64"}
COUNT = re.compile(r"(?i)^(num|n(?=[A-Z]))|count$")
"""A name that says how many items an array beside it has."""


@dataclass
class Piece:
    """A text for a file below the package: behind `after`, a function, class, constant, or `Class.MEMBER`;
    at the end if that is empty. One that `replaces` a class has all of its fields.
    """

    file: str
    after: str
    text: str
    note: str = ""
    replaces: bool = False


class Additions:
    """What a header has that the module lacks, in the header's order."""

    def __init__(self, name: str, module: ModuleType, header: Header, since: str) -> None:
        self.name = name
        self.module = module
        self.header = header
        self.since = since
        root = Path(str(module.__file__)).parent
        self.folder = f"_types/{name}/{{}}.py" if (root / "_types" / name).is_dir() else f"_types/{name}.py"
        libraries = [key for key, value in vars(module).items() if isinstance(value, Library)]
        self.library = libraries[0]

    def pieces(self) -> Iterator[Piece]:
        """Constants, handles, enums, structs, then the functions that need them."""
        yield from self.constants()
        yield from self.handles()
        yield from self.enums()
        yield from self.structs()
        yield from self.functions()

    def file(self, kind: str) -> str:
        """The file of the constants, handles, enums or structs."""
        return self.folder.format(kind)

    def has(self, name: str) -> bool:
        return hasattr(self.module, name)

    def constants(self) -> Iterator[Piece]:
        prefixes = ("CU_", "CUDA_", "MAX_", "NVRTC_", "NVML_", "INVALID_", "CUDLA_", "cudaDev", "nvml")
        after = ""
        for name, value in self.header.macros.items():
            if not name.startswith(prefixes):
                continue
            if not self.has(name):
                yield Piece(self.file("constants"), after, f"{name} = {value}")
            after = name

    def handles(self) -> Iterator[Piece]:
        after = ""
        for name in self.header.handles:
            if not self.has(name):
                yield Piece(self.file("handles"), after, f"class {name}(Pointer):\n    {TODO}")
            after = name
        for name, text in self.header.typedefs.items():
            used = any(f"{name} " in prototype for prototype in self.header.functions.values())
            if used and not self.has(name) and text in HANDLE_TYPES:
                yield Piece(self.file("handles"), after, f"class {name}({HANDLE_TYPES[text]}):\n    {TODO}")
                after = name
        for name, text in self.header.callbacks.items():
            if not self.has(name):
                yield Piece(self.file("handles"), after, f"class {name}(Callback):\n    {TODO}", text)
                after = name

    def enums(self) -> Iterator[Piece]:
        after = ""
        for names in _groups(self.header.enums):
            members = self.header.enums[names[0]]
            ours = next((name for name in names if self.has(name)), "")
            if not ours:
                lines = [f"    {member} = {value}" for member, value in members.items()]
                text = "\n".join([f"class {names[0]}(Enum):", f"    {TODO}", "", *lines])
                yield Piece(self.file("enums"), after, text + _aliases(names))
                ours = names[0]
            else:
                ours = getattr(self.module, ours).__name__
                there = getattr(self.module, ours).__members__
                before = ""
                for member, value in members.items():
                    if member not in there:
                        yield Piece(self.file("enums"), f"{ours}.{before}", f"{member} = {value}")
                    before = member
            after = ours

    def structs(self) -> Iterator[Piece]:
        after = ""
        groups = {name: names for names in _groups(self.header.structs) for name in names}
        done: set[str] = set()

        def missing(names: list[str], after: str) -> Iterator[Piece]:
            """A class that is not there, behind those that it needs."""
            struct = self.header.structs[names[0]]
            done.add(names[0])
            for field in flat(struct):
                needed = groups.get(field.type, names)
                if needed[0] not in done and not any(map(self.has, needed)):
                    yield from missing(needed, after)
                    after = needed[0]
            text = self.struct(names[0], struct) + _aliases(names)
            yield Piece(self.file("structs"), self.behind(struct, after), text, self.offsets(struct))

        for names in _groups(self.header.structs):
            struct = self.header.structs[names[0]]
            known = [name for name in names if self.has(name)]
            if not known:
                if names[0] in done or all(each.endswith("_st") for each in names):
                    continue  # done, or inside another: no public type
                yield from missing(names, after)
                after = names[0]
                continue
            cls = getattr(self.module, known[0])
            after = cls.__name__
            if new := {field.name for field in flat(struct)} - {*vars(cls)} - RENAMED:
                text = self.struct(after, struct, version=cls._version_ >> 24)
                note = f"new: {', '.join(sorted(new))}; {self.offsets(struct)}"
                yield Piece(self.file("structs"), after, text, note, replaces=True)

    def offsets(self, struct: Struct) -> str:
        """The size of a struct, and the offsets of its fields."""
        reader = _Reader({})
        reader.header = self.header
        try:
            cls = reader._ctype("", struct)
        except ValueError as error:
            return str(error)
        places = [f"{field.name} {getattr(cls, f'_{at}').offset}" for at, field in enumerate(struct.fields)]
        return f"{ctypes.sizeof(cls)} bytes: {', '.join(places)}"

    def behind(self, struct: Struct, after: str) -> str:
        """The last of the classes that have to come first, separated by spaces: `paste` knows their order."""
        inside = {field.type for field in flat(struct) if field.type in self.header.structs}
        return " ".join([after, *sorted(inside)]).strip()

    def struct(self, name: str, struct: Struct, version: int = 0) -> str:
        """The class of a struct or union."""
        versioned = re.fullmatch(r"nvml\w+_v(\d+)_t", name)
        if versioned and f"{name[:-2]}" in self.header.macros:
            version = int(versioned[1])
        option = f", version={version}" if version else ""
        lines = [f"class {name}({struct.kind.title()}{option}):", f"    {TODO}", ""]
        return "\n".join([*lines, *textwrap.indent("\n".join(self.fields(struct)), "    ").splitlines()])

    def fields(self, struct: Struct) -> Iterator[str]:
        """The fields, and before them the classes of those that are structs of their own."""
        fields = [(field, "") for field in struct.fields]
        for field in struct.fields:
            if field.nested is not None and not field.name:
                mark = "union" if field.nested.kind == "union" and struct.kind == "struct" else ""
                at = fields.index((field, ""))
                fields[at : at + 1] = [(inner, mark) for inner in field.nested.fields]
        for field, _ in fields:
            if field.nested is not None:
                inner = "\n".join(self.fields(field.nested))
                yield f"class _{field.name}({field.nested.kind.title()}):\n{textwrap.indent(inner, '    ')}\n"
        names = [field.name for field, _ in fields]
        for field, mark in fields:
            yield f"{_python_name(field.name)}: {self.field(field, names, mark)}"

    def field(self, field: Field, names: list[str], mark: str) -> str:
        """The annotation of a field."""
        base = field.type.removeprefix("const ")
        kind = f"_{field.name}" if field.nested is not None else self.type_of(base)
        third = f', "{mark}"' if mark else ""
        if field.dims:
            count = 1
            for size in field.dims:
                count *= size
            if base in ("char", "unsigned char") and not field.stars:
                return f'Annotated[Bytes, "{base}[{count}]"{third}]'
            item = "int" if kind in SCALARS.values() or field.stars else kind
            item = "float" if kind in ("c_float", "c_double") and not field.stars else item
            c_type = f"_{field.name}" if field.nested is not None else base
            stars = " " + "*" * field.stars if field.stars else ""
            return f'Annotated[list[{item}], "{c_type}{stars}[{count}]"{third}]'
        if field.stars or "(" in field.type:
            if base in self.header.structs or base in self.header.handles:
                counts = [name for name in names if COUNT.search(name)]
                if len(counts) == 1 and field.stars == 1 and not mark:
                    return f'Annotated[list[{kind}], "{base} *", "{counts[0]}"]'
            kind = "char_p" if field.type == "const char" and field.stars == 1 else "void_p"
        if not mark:
            return kind
        c_type = {value: key for key, value in SCALARS.items() if key != "unsigned"}.get(kind, kind)
        c_type = {"void_p": "void *", "char_p": "const char *"}.get(kind, c_type)
        return f'Annotated[{kind}, "{c_type}", "{mark}"]'

    def type_of(self, c_type: str) -> str:
        """The class of a C type, by its first name."""
        if c_type in SCALARS:
            return SCALARS[c_type]
        if self.has(c_type):
            return str(getattr(self.module, c_type).__name__)
        for table in (self.header.structs, self.header.enums):
            if c_type in table:
                return next(group for group in _groups(table) if c_type in group)[0]
        aliased = self.header.typedefs.get(c_type, "")
        return self.type_of(aliased) if aliased and not aliased.endswith("*") else "void_p"

    def functions(self) -> Iterator[Piece]:
        declared = {}
        for name, value in vars(self.module).items():
            declaration = getattr(value, "__declaration__", None)
            if declaration is not None and value.__name__ == name:
                declared[re.search(r"(\w+)\(", declaration.prototype)[1]] = name  # type: ignore[index]
                declared.update(dict.fromkeys(filter(None, declaration.symbols.values()), name))
        public = {symbol: name for name, symbol in self.header.renames.items()}
        after = ""
        for symbol, prototype in self.header.functions.items():
            name = public.get(symbol, symbol)
            if symbol not in declared:
                note = f"{name} is another C function now" if self.has(name) else ""
                yield Piece(f"{self.name}.py", after, self.function(name, prototype), note)
            after = declared.get(symbol, name)

    def function(self, name: str, prototype: str) -> str:
        """The declaration of a function."""
        parsed = parse(prototype)
        inputs, results, sizes = [], [parsed.returns], {}
        for at, p in enumerate(parsed.parameters):
            beside = [*parsed.parameters[max(at - 1, 0) : at], *parsed.parameters[at + 1 : at + 2]]
            counts = [
                o.c_name for o in beside if o.type in INTEGERS and COUNT.search(o.c_name) and not o.stars
            ]
            annotation = self.input(p, bool(counts))
            if annotation is None:
                results.append(self.result(p))
                continue
            if annotation.startswith("Sequence["):
                sizes[p.c_name] = counts[0] if counts else "TODO"
            inputs.append(f"{p.name}: {annotation}")
        options = [f"    sizes={sizes!r},\n".replace("'", '"')] if sizes else []
        since = f'    since="{self.since}",\n'
        lines = textwrap.wrap(re.sub("(?<!,) ", "\0", prototype), 102, break_long_words=False)
        text = "\n".join(f'    "{line} "' for line in lines)[:-2].replace("\0", " ") + '",\n'
        head = f"@{self.library}(\n{text}{''.join(options)}{since})\n"
        returned = ", ".join(results)
        return f"{head}def {name}({', '.join(inputs)}) -> tuple[{returned}]:\n    {TODO}"

    def input(self, p: CParameter, counted: bool) -> str | None:
        """The annotation of a parameter, None for a result."""
        kind = p.type
        if p.stars == 0:
            if kind in INTEGERS:
                return "int"
            if kind in ("float", "double"):
                return "float"
            if kind in self.header.callbacks or "(" in kind:
                return "Any"
            if kind in self.header.structs:
                return kind
            return f"{kind} | int | None" if kind in self.header.handles else f"{kind} | int"
        if p.stars > 1:
            return "void_pp" if kind == "void" and p.const else None
        if kind == "void":
            return "void_p"
        if kind == "char":
            return "bytes | None" if p.const else None
        if counted:
            plain = {**dict.fromkeys(INTEGERS, "int"), "float": "float", "double": "float"}
            item = plain.get(kind, kind if kind in self.header.structs else f"{kind} | int")
            return f"Sequence[{item}] | None"
        if p.const:
            return f"{kind} | None" if kind in self.header.structs else f"Sequence[{kind} | int] | None"
        return None

    def result(self, p: CParameter) -> str:
        if p.stars > 1 or p.type == "void":
            return "int"
        if p.type == "char":
            return "bytes"
        if p.type in INTEGERS:
            return "int"
        return "float" if p.type in ("float", "double") else p.type


RENAMED = {"default", "isEnabledARR", "partitionId", ""}
"""Fields that have another name in Python, or none."""


def flat(struct: Struct) -> list[Field]:
    """The fields, those of anonymous members among them."""
    return [
        inner
        for field in struct.fields
        for inner in (flat(field.nested) if field.nested is not None and not field.name else [field])
    ]


def _python_name(name: str) -> str:
    return "default_" if name == "default" else name


def _groups(table: dict[str, Any]) -> list[list[str]]:
    """The names of each thing, the best first: no tag, no version, the shortest."""
    found: dict[int, list[str]] = {}
    for name, value in table.items():
        found.setdefault(id(value), []).append(name)
    return [
        sorted(names, key=lambda n: (n.endswith(("_st", "_enum")), bool(re.search(r"_[vV]\d+$", n)), len(n)))
        for names in found.values()
    ]


def _aliases(names: list[str]) -> str:
    rest = [name for name in names[1:] if not name.endswith("_enum")]
    return "\n\n\n" + "\n".join(f"{name} = {names[0]}" for name in rest) if rest else ""


def paste(package: Path, piece: Piece) -> None:
    """Put a piece where it belongs. Raises LookupError if the file lacks what it comes after."""
    path = package / piece.file
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    tree = ast.parse(source)
    text = piece.text.splitlines()
    if "." in piece.after:
        name, _, member = piece.after.partition(".")
        cls = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
        at = _end(cls.body, member) if member else _end_of_docstring(cls)
        text = ["    " + line for line in text]
    elif piece.replaces:
        name = ast.parse(piece.text).body[0].name  # type: ignore[attr-defined]
        cls = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
        first = _end_of_docstring(cls)
        fields = ast.parse(piece.text).body[0].body[1].lineno - 1  # type: ignore[attr-defined]
        lines[first : cls.end_lineno] = ["", *text[fields:]]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    else:
        names = [name for name in piece.after.split() if _there(tree.body, name)]
        at = max((_end(tree.body, name) for name in names), default=len(lines))
        text = text if re.match(r"\w+ = ", piece.text) else ["", "", *text]
    lines[at:at] = text
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _end_of_docstring(cls: ast.ClassDef) -> int:
    return int(cls.body[0].end_lineno or 0)


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _there(body: list[ast.stmt], name: str) -> bool:
    return any(name in _names(node) for node in body)


def _end(body: list[ast.stmt], name: str) -> int:
    """The last line of what is called `name`, its other names and the text below it included."""
    at = next((at for at, node in enumerate(body) if name in _names(node)), None)
    if at is None:
        raise LookupError(f"there is no {name}")
    end = int(body[at].end_lineno or 0)
    for node in body[at + 1 :]:
        alias = isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name
        if not alias:
            break
        end = int(node.end_lineno or 0)
    return end


def layout(cls: Any) -> tuple[int, list[tuple[str, int, int]]]:
    """The size of a struct's class, and the offset and size of its fields."""
    fields = [(name, getattr(cls, name).raw) for name in cls._makers_]
    return ctypes.sizeof(cls), [(name, raw.offset, raw.size) for name, raw in fields]
