"""The API reference: a page for each module, for each group of its C functions, and for each of its classes.

Functions and types of C are read from the source, which has the header's lines and its headings. Objects are
asked for the rest.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import importlib.util
import inspect
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from .docstrings import markdown

PACKAGE = Path(__file__).parents[2] / "cudapy"
BINDINGS = {
    "driver": "The CUDA Driver API",
    "runtime": "The CUDA Runtime API",
    "nvrtc": "NVRTC, the compiler",
    "nvjitlink": "nvJitLink, the linker",
    "nvvm": "NVVM",
    "nvfatbin": "nvFatbin",
    "nvml": "NVML, the management library",
    "nccl": "NCCL, collectives of several devices",
    "cudla": "cuDLA, deep learning accelerators",
    "cufile": "cuFile, files to and from device memory",
}
OBJECTS = {
    "core": "Devices, streams, memory, programs, launches",
    "core.graph": "Graphs",
    "core.checkpoint": "Checkpoints",
    "core.system": "Device management with NVML",
    "core.texture": "Textures and surfaces",
    "core.utils": "Arrays, copies, caches",
    "core.typing": "Enums and protocols",
    "core.system.typing": "Enums of core.system",
    "core.system.exceptions": "Errors of core.system",
    "simulator": "The simulator",
    "pathfinder": "Finding NVIDIA's libraries",
    "utils": "Helpers for the modules of functions",
    "alias": "Programs for NVIDIA's packages",
    "jupyter": "`%%cuda` for Jupyter",
    "triton": "A driver for Triton",
}
GUIDES = {
    "devices": "Device DeviceProperties Context Stream StreamOptions Event EventOptions default_stream",
    "memory": "Buffer ManagedBuffer MemoryResource DeviceMemoryResource PinnedMemoryResource "
    "ManagedMemoryResource VirtualMemoryResource GraphMemoryResource Host StridedMemoryView copy_batch",
    "programs": "Program ProgramOptions Linker LinkerOptions ObjectCode FileStreamProgramCache",
    "kernels": "Kernel KernelAttributes KernelOccupancy TensorMapDescriptor TensorMapDescriptorOptions",
    "launch": "launch prepare LaunchConfig cuLaunchKernel cuLaunchKernelEx cudaLaunchKernelExC",
    "graphs": "Graph GraphBuilder GraphDefinition",
    "textures": "OpaqueArray MipmappedArray TextureObject SurfaceObject TextureObjectOptions",
    "errors": "CUDAError CUDAOutOfMemoryError",
    "nccl": "Communicator",
    "simulator": "enable stand_in reset failing alive coverage_report",
}
"""The pages of the guide, and the names that each explains."""
GUIDE_OF = {name: page for page, names in GUIDES.items() for name in names.split()}
EXAMPLES = Path(__file__).with_name("examples.md")
"""Short programs, below the names that they are about; tests/test_docs.py runs them."""
ALONE = ["---", "orphan: true", "---", ""]
"""What pages begin with that are not in the contents beside every page, which would weigh more than they."""
MOST = 60
"""Functions on one page; the groups of the header have pages of their own beyond that."""
Function = ast.FunctionDef


def write(folder: Path) -> None:
    """Write all pages of the reference to `folder`, and remove others."""
    made = pages()
    for name, text in made.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        update(path, text)
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).with_suffix("").as_posix() not in made:
            path.unlink()


def pages() -> dict[str, str]:
    """The pages by name. Those of a module `core` are core, and core/Device for its class."""
    made = {"index": _index()}
    for name, title in BINDINGS.items():
        made |= _functions_pages(name, title)
        made[f"{name}-types"] = _types_page(name)
    for name, title in OBJECTS.items():
        made |= _objects_pages(name, title)
    return made


@functools.cache
def examples() -> dict[str, str]:
    """What EXAMPLES has, by the names in its headings."""
    parts = re.split(r"^## `(.*)`\n+", EXAMPLES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _more(module: str, name: str, depth: int) -> str:
    """The example of a name, and where the guide explains it. depth: that of the page, below docs/."""
    text = ""
    if example := examples().get(f"{module}.{name}"):
        text += f"\nExample:\n\n{example.strip()}\n"
    if page := GUIDE_OF.get(name):
        title = re.findall(r"^# (.*)", (PACKAGE.parent / "docs" / f"{page}.md").read_text(), re.MULTILINE)[0]
        text += f"\nGuide: [{title}]({'../' * depth}{page}.md).\n"
    return text


def update(path: Path, text: str) -> None:
    """Write a page, unless it is as it should be: Sphinx reads what is newer than the site."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def public_names(name: str) -> list[str]:
    """What the reference has of a module: its `__all__`; else what it or its types define."""
    module = _module(name)
    if name in OBJECTS and (name != "core.system.typing"):
        return sorted(set(module.__all__))
    own = (f"cudapy.{name}", f"cudapy._types.{name}", "cudapy._core.management")
    found = []
    for each in dir(module):
        value = getattr(module, each)
        is_number = isinstance(value, int) and not isinstance(value, bool) and type(value) is int
        if not each.startswith("_") and (is_number or getattr(value, "__module__", "").startswith(own)):
            found.append(each)
    return found


def _module(name: str) -> ModuleType:
    first, *rest = name.split(".")
    found = importlib.import_module(f"cudapy.{first}")
    for part in rest:
        found = getattr(found, part)
    return found


def _index() -> str:
    lines = ["# API reference", "", "Made from the docstrings of version " + _version() + ".", ""]
    for heading, titles in (("Objects", OBJECTS), ("Functions of C", BINDINGS)):
        lines += [f"## {heading}", "", "| module | what it has |", "|---|---|"]
        for name, title in titles.items():
            types = f" ([types]({name}-types.md))" if titles is BINDINGS else ""
            lines.append(f"| [cudapy.{name}]({name}.md) | {title}{types} |")
        below = [
            page
            for name in titles
            for page in (name, f"{name}-types")
            if page in OBJECTS or titles is BINDINGS
        ]
        lines += ["", "```{toctree}", ":maxdepth: 1", ":hidden:", "", *below, "```", ""]
    return "\n".join(lines)


def _version() -> str:
    return str(importlib.import_module("cudapy").__version__)


# -- directives --------------------------------------------------------------------------------------------


def _directive(kind: str, signature: str, body: str, *options: str, fence: str = ":::") -> str:
    return "\n".join([f"{fence}{{py:{kind}}} {signature}", *options, "", body.rstrip("\n"), fence, ""])


def _public(arguments: str) -> str:
    """Parameters without those that only raise an error, and with the words of POINTERS."""
    arguments = arguments.replace("*unnamed: NoReturn", "*")
    arguments = re.sub(r"(, )?\*\*unknown: NoReturn", "", arguments)
    return re.sub(r"\bvoid_p(p?)\b", lambda match: "pointer" + "s" * bool(match[1]), arguments)


def _signature(node: Function, *, method: bool = False) -> str:
    arguments = _public(ast.unparse(node.args))
    if method and not any(ast.unparse(each) == "staticmethod" for each in node.decorator_list):
        arguments = re.sub(r"^(self|cls)\b(, )?(/, )?", "", arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments}){returns}"


# -- functions of C ----------------------------------------------------------------------------------------


POINTERS = (
    "A `pointer` is an address (an int, a handle, None) or an object whose memory C reads or writes (a NumPy "
    "array, bytes, a struct); `pointers` are several of them, or the arguments of a kernel "
    "([launching](../launch.md), [how a call works](../calls.md))."
)


def _functions_pages(name: str, title: str) -> dict[str, str]:
    """The page of a module of C functions, and those of the groups of its header, if it has many."""
    text = (PACKAGE / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    headings = [
        (text.count("\n", 0, each.start()) + 1, each[1])
        for each in re.finditer(r"^# -- (.*?) -*$", text, re.MULTILINE)
    ]
    groups: dict[str, list[tuple[str, str]]] = {"": []}
    for line, entry, shown in _entries(name, tree):
        while headings and headings[0][0] < line:
            groups.setdefault(headings.pop(0)[1], [])
        groups[next(reversed(groups))].append((entry, shown))
    lines = [f"# cudapy.{name}", "", f"*{title}.*", "", "```{py:module} " + f"cudapy.{name}", "```", ""]
    lines += [markdown(ast.get_docstring(tree))]
    lines += [
        f"`cudapy.{name}.checked` has the same functions, which return the results alone and raise "
        f"{{py:class}}`~cudapy.core.CUDAError`. Enums, structs, handles and constants: "
        f"[types]({name}-types.md). {POINTERS}",
        "",
    ]
    if sum(map(len, groups.values())) <= MOST:
        for group, entries in groups.items():
            lines += [f"## {group}", ""] * bool(group) + [shown for _, shown in entries]
        return {name: "\n".join(lines)}
    lines += [shown for _, shown in groups.pop("")]
    made = {}
    for group, entries in groups.items():
        if not entries:
            continue
        page = re.sub(r"\W+", "-", group.lower()).strip("-")
        roles = ", ".join(f"{{py:obj}}`~cudapy.{name}.{entry}`" for entry, _ in entries)
        lines += [f"## [{group}]({name}/{page}.md)", "", roles, ""]
        head = [*ALONE, f"# {group}", "", "```{py:currentmodule} " + f"cudapy.{name}", "```", ""]
        head += [f"Functions of [cudapy.{name}](../{name}.md). {POINTERS.replace('](../', '](../../')}", ""]
        made[f"{name}/{page}"] = "\n".join([*head, *(shown for _, shown in entries)])
    return {name: "\n".join(lines), **made}


def _entries(name: str, tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """The functions and exceptions of a module: their lines, names and directives."""
    described: set[str] = set()
    lines = _c_lines(tree)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield (
                node.lineno,
                node.name,
                _directive("exception", node.name, markdown(ast.get_docstring(node))),
            )
            written = {each.name for each in tree.body if isinstance(each, ast.ClassDef)}
            for each in dict.fromkeys(getattr(_module(name), key) for key in public_names(name)):
                derived = isinstance(each, type) and issubclass(each, getattr(_module(name), node.name))
                if derived and each.__name__ not in written:  # made from a table
                    shown = _directive("exception", each.__name__, markdown(each.__doc__))
                    yield node.lineno, each.__name__, shown
        elif isinstance(node, Function) and not node.name.startswith("_") and node.name not in described:
            described.add(node.name)
            yield node.lineno, node.name, _function(name, node, tree, lines)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            target = node.targets[0].id
            value = getattr(_module(name), target, None)
            if not target.startswith("_") and inspect.isfunction(value):
                described.add(target)
                same = _same(ast.unparse(node.value), value)
                more = _more(name, target, 2)
                is_same = same.startswith("The same as")
                body = same if is_same else _c(_of_name(name, target, lines)) + same + more
                yield node.lineno, target, _directive("function", target + _asked(value), body)


def _c_lines(tree: ast.Module) -> dict[str, str]:
    """The prototypes in a module, by the names of the C functions."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for line in re.findall(r"^\w[\w *]*?\b(\w+)\(.*\)$", " ".join(node.value.split())):
                found.setdefault(line, " ".join(node.value.split()))
    return found


def _of_name(module: str, name: str, lines: dict[str, str]) -> list[str]:
    """The prototypes of the C functions that `name` stands for: its own, of all versions, or snake_case's."""
    plain = re.sub(r"_v\d+$", "", name)
    own = [text for c, text in lines.items() if re.sub(r"_v\d+$", "", c) == plain]
    short = name.replace("_", "").lower()
    return own or [
        text for c, text in lines.items() if c.lower() in (module + short, "cu" + short, "cufile" + short)
    ]


def _c(prototypes: list[str]) -> str:
    return "".join(f"```c\n{prototype}\n```\n\n" for prototype in dict.fromkeys(prototypes))


def _same(written: str, value: Any) -> str:
    if re.fullmatch(r"\w+", written):
        return f"The same as `{written}`.\n"
    return markdown(value.__doc__)


def _asked(value: Any) -> str:
    try:
        return _public(str(inspect.signature(value)).replace("'", ""))
    except (TypeError, ValueError):
        return "(...)"


def _function(module: str, node: Function, tree: ast.Module, lines: dict[str, str]) -> str:
    """A function with the C line that declares it, and in its first form."""
    same = [
        each for each in tree.body if isinstance(each, Function) and each.name in (node.name, f"_{node.name}")
    ]
    forms = [
        each
        for each in same
        if each.name == node.name and any("overload" in ast.unparse(one) for one in each.decorator_list)
    ] or [node]
    body = next(filter(None, map(ast.get_docstring, same)), None)
    more = _more(module, node.name, 2)
    return _directive(
        "function", _signature(forms[0]), _c(_of_name(module, node.name, lines)) + markdown(body) + more
    )


# -- types of C --------------------------------------------------------------------------------------------

KINDS = {"Enum": "Enums", "Struct": "Structs", "Union": "Unions", "": "Handles, numbers and callbacks"}


def _types_page(name: str) -> str:
    module = _module(name)
    sections: dict[str, list[str]] = {title: [] for title in KINDS.values()}
    constants, aliases = [], {}
    for each in public_names(name):
        value = getattr(module, each)
        if isinstance(value, type):
            if each != value.__name__:
                aliases.setdefault(value.__name__, []).append(each)
            elif not issubclass(value, BaseException):
                kind = next((base.__name__ for base in value.__mro__ if base.__name__ in KINDS), "")
                sections[KINDS[kind]].append(each)
        elif isinstance(value, int):
            constants.append(f"{each} = {value:#x}" if value > 4096 else f"{each} = {value}")
    lines = [f"# Types of cudapy.{name}", "", "```{py:currentmodule} " + f"cudapy.{name}", "```", ""]
    lines += [f"The types and constants of [cudapy.{name}]({name}.md).", ""]
    for title, names in sections.items():
        if names:
            lines += [f"## {title}", ""]
        lines += [_type(getattr(module, each), aliases.pop(each, [])) for each in names]
    if aliases:
        lines += ["## Other names", "", "```text"]
        lines += [f"{other} = {each}" for each, others in sorted(aliases.items()) for other in others]
        lines += ["```", ""]
    if constants:
        lines += ["## Constants", "", "```python", *constants, "```", ""]
    return "\n".join(lines)


def _type(cls: Any, aliases: list[str]) -> str:
    body = markdown(cls.__doc__)
    if aliases:
        body += "\nAlso " + ", ".join(f"`{each}`" for each in aliases) + ".\n"
    if members := getattr(cls, "__members__", None):
        body += "\n```python\n" + "".join(f"{k} = {int(v)}\n" for k, v in members.items()) + "```\n"
    elif hasattr(cls, "_fields_") and isinstance(cls._fields_, list | tuple):
        annotations = {
            k: v for base in reversed(cls.__mro__) for k, v in vars(base).get("__annotations__", {}).items()
        }
        fields = [f"{k}: {_field(v)}\n" for k, v in annotations.items() if not k.startswith("_")]
        if fields:
            body += "\n```python\n" + "".join(fields) + "```\n"
    return _directive("class", cls.__name__, body, ":no-contents-entry:")


def _field(annotation: Any) -> str:
    """The C type of a field that has one written, else its annotation."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    exact = re.match(r"Annotated\[[^,]+, ['\"]([^'\"]+)", text)
    return exact[1] if exact else text


# -- classes of Python -------------------------------------------------------------------------------------


def _objects_pages(name: str, title: str) -> dict[str, str]:
    """The page of a module, and those of its classes, but for enums and exceptions."""
    module, made = _module(name), {}
    classes, small, functions, values = [], [], [], []
    for each in public_names(name):
        value = getattr(module, each)
        if isinstance(value, ModuleType):
            continue
        is_small = isinstance(value, type) and (
            hasattr(value, "__members__") or issubclass(value, BaseException) or "." in name[5:]
        )
        where = small if is_small else classes if isinstance(value, type) else functions
        (where if isinstance(value, type) or callable(value) else values).append(each)
    returned = _returned(name, [getattr(module, each) for each in (*classes, *functions)])
    known = {*classes, *small, *returned}
    lines = [f"# cudapy.{name}", "", f"*{title}.*", "", "```{py:module} " + f"cudapy.{name}", "```", ""]
    lines += [_linked(markdown(module.__doc__), name, {*known, *functions})]
    pages_of: list[tuple[str, str, type]] = [
        *((each, f"A class of [cudapy.{name}](../{name}.md).", getattr(module, each)) for each in classes),
        *(
            (each, f"From {by}, in [cudapy.{name}](../{name}.md).", cls)
            for each, (by, cls) in returned.items()
        ),
    ]
    for each, about, cls in pages_of:
        if each == next(iter(classes), None):
            lines += ["## Classes", "", "| | |", "|---|---|"]
        elif each == next(iter(returned), None):
            lines += ["", "## What they return", "", "| | |", "|---|---|"]
        summary = markdown(cls.__doc__).split("\n\n")[0].split("\n```")[0]
        lines.append(f"| [{each}]({name}/{each}.md) | {' '.join(summary.split())} |")
        head = [*ALONE, f"# {each}", "", "```{py:currentmodule} " + f"cudapy.{name}", "```", "", about, ""]
        made[f"{name}/{each}"] = "\n".join([*head, _class(name, each, cls, known)])
    lines += [""]
    for heading, names, describe in (
        ("Functions", functions, _plain_function),
        ("Enums and exceptions", small, _class),
        ("Values", values, _value),
    ):
        if names:
            lines += [f"## {heading}", ""]
        lines += [describe(name, each, getattr(module, each), known) for each in names]
    return {name: "\n".join(lines), **made}


def _returned(module: str, public: list[Any]) -> dict[str, tuple[str, type]]:
    """The classes without a name in a module that its functions and members return, and what each is of."""
    found: dict[str, tuple[str, type]] = {}
    everywhere = {each for name in OBJECTS for each in public_names(name)}
    waiting = list(public)
    while waiting:
        value = waiting.pop(0)
        for by, source, annotation in _annotations(value):
            for each in re.findall(r"\b[A-Z]\w+", annotation):
                cls = None if each in {*everywhere, *found} else _imported(source, each)
                if isinstance(cls, type) and cls.__module__.startswith(("cudapy._core", "cudapy.simulator")):
                    found[each] = by, cls
                    waiting.append(cls)
    return dict(sorted(found.items()))


def _annotations(value: Any) -> Iterator[tuple[str, str, str]]:
    """What a function or the members of a class give: a role for each, its module, the annotation."""
    if not isinstance(value, type):
        node = _node(value)
        if isinstance(node, Function) and node.returns:
            yield f"{{py:obj}}`{value.__name__}`", value.__module__, ast.unparse(node.returns)
        return
    for base in value.__mro__:
        if base.__module__.partition(".")[0] != "cudapy":
            continue
        for name, kind, _ in _attributes(_node(base)):
            yield f"`{value.__name__}.{name}`", base.__module__, kind
        for name, member in vars(base).items():
            if name.startswith("_"):
                continue
            getter = member.fget if isinstance(member, property) else getattr(member, "func", None)
            function = getter or getattr(member, "__func__", member)
            node = _node(function) if inspect.isfunction(function) else None
            if isinstance(node, Function) and node.returns:
                yield f"{{py:obj}}`{value.__name__}.{name}`", base.__module__, ast.unparse(node.returns)


def _imported(source: str, name: str) -> Any:
    """What a name in an annotation is, which only type checkers may import; None if there is no such name."""
    module = importlib.import_module(source)
    if hasattr(module, name):
        return getattr(module, name)
    target = _imports(source).get(name, "")
    return _imported(target, name) if target.startswith("cudapy") else None


@functools.cache
def _imports(source: str) -> dict[str, str]:
    """The names that a module imports from others, and the names of those."""
    module = importlib.import_module(source)
    return {
        each.asname or each.name: importlib.util.resolve_name(
            "." * node.level + (node.module or ""), module.__package__
        )
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }


def _linked(text: str, module: str, known: set[str]) -> str:
    """The first column of tables with links to what it names."""

    def role(match: re.Match[str]) -> str:
        below = f"{module}.{match[0]}"
        if below in OBJECTS:
            return f"[{match[0]}]({below}.md)"
        return f"{{py:obj}}`~cudapy.{below}`" if match[0] in known else match[0]

    def row(match: re.Match[str]) -> str:
        return f"| {re.sub(r'[A-Za-z_]+', role, match[1])} |"

    return re.sub(r"^\| ([^|\n]+) \|", row, text, flags=re.MULTILINE)


def _plain_function(module: str, name: str, function: Any, known: set[str]) -> str:
    node = _node(function)
    signature = _signature(node) if isinstance(node, Function) else name + _asked(function)
    body = markdown(function.__doc__) + _more(module, name, 1)
    return _directive("function", signature.replace(getattr(node, "name", name), name, 1), body)


def _value(module: str, name: str, value: Any, known: set[str]) -> str:
    if isinstance(value, dict | tuple | list):
        kind = type(value).__name__
        shown = ", ".join(f"`{each}`" for each in list(value)[:60] if isinstance(each, str))
        return _directive("data", name, f"A {kind} of {len(value)}: {shown}" if shown else f"A {kind}.")
    return _directive("data", name, f"`{value!r}`")


@functools.cache
def _definitions(module: str) -> dict[str, ast.AST]:
    """The functions and classes of a module and their members, by qualified name."""
    found: dict[str, ast.AST] = {}

    def visit(body: list[Any], prefix: str) -> None:
        for node in body:
            if isinstance(node, Function | ast.ClassDef):
                found.setdefault(prefix + node.name, node)
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")

    with contextlib.suppress(OSError, TypeError):
        visit(ast.parse(inspect.getsource(importlib.import_module(module))).body, "")
    return found


def _node(thing: Any) -> ast.AST | None:
    """What defines a function or a class, where it is one of the source."""
    name, module = getattr(thing, "__qualname__", None), getattr(thing, "__module__", None)
    return _definitions(module).get(name) if name and module else None


def _class(module: str, name: str, cls: Any, known: set[str]) -> str:
    node = _node(cls)
    body = [markdown(cls.__doc__ if cls.__doc__ != getattr(cls.__base__, "__doc__", None) else "")]
    public = [
        base for base in cls.__mro__[1:] if base.__name__ in known or base in (RuntimeError, MemoryError)
    ]
    if public:
        body.insert(0, "Bases: " + ", ".join(f"{{py:class}}`{base.__name__}`" for base in public) + "\n")
    if members := getattr(cls, "__members__", None):
        shown = "".join(f"{key} = {str(value)!r}\n" for key, value in members.items())
        body.append(f"```python\n{shown}```\n")
    else:
        body.append(_more(module, name, 1 if issubclass(cls, BaseException) else 2))
        members_of = _members(cls, public)
        for key, example in examples().items():
            if key.startswith(f"{module}.{name}.") and (member := key.rpartition(".")[2]) in members_of:
                end = members_of[member].rstrip("\n").removesuffix(":::")
                members_of[member] = f"{end}\nExample:\n\n{example.strip()}\n:::\n"
        body += [text for _, text in sorted(members_of.items())]
    kind = "exception" if issubclass(cls, BaseException) else "class"
    construction = _construction(cls, node) if hasattr(_module(module), name) else ""  # else it is returned
    return _directive(kind, name + construction, "\n".join(body), fence="::::")


def _construction(cls: Any, node: ast.AST | None) -> str:
    if hasattr(cls, "__members__") or issubclass(cls, BaseException) or getattr(cls, "_is_protocol", False):
        return ""
    for base in cls.__mro__:
        for special in ("__new__", "__init__"):
            if special in vars(base) and base not in (object, tuple):
                written = _node(vars(base)[special])
                if isinstance(written, Function):
                    return _signature(written, method=True).removeprefix(special).partition(" -> ")[0]
    asked = _asked(cls)
    return "" if asked == "(...)" else asked.partition(" -> ")[0].replace("<factory>", "...")


def _members(cls: Any, public: list[Any]) -> dict[str, str]:
    """Directives of what a class and its bases define that have no entry of their own, by name."""
    found: dict[str, str] = {}
    inherited = {base for each in public for base in each.__mro__}
    for base in cls.__mro__:
        if base in inherited or base.__module__.partition(".")[0] != "cudapy":
            continue
        node = _node(base)
        attributes = list(_attributes(node))
        if sum(not described for _, _, described in attributes) > TABLE:
            found[""] = _attribute_table(attributes)
        else:
            for key, kind, described in attributes:
                found.setdefault(key, _directive("attribute", key, markdown(described), f":type: {kind}"))
        for key, value in vars(base).items():
            if not key.startswith("_") and key not in found and (text := _member(key, value)):
                found[key] = text
    return found


TABLE = 20
"""Attributes without a text of their own beyond which they are a table."""


def _attribute_table(attributes: list[tuple[str, str, str]]) -> str:
    rows = [f"| `{name}` | `{kind}` |" for name, kind, _ in sorted(attributes)]
    return "\n".join(["| attribute | type |", "|---|---|", *rows, ""])


def _attributes(node: ast.AST | None) -> Iterator[tuple[str, str, str]]:
    """The annotated names in the body of a class, their types, and the strings below them."""
    body = getattr(node, "body", [])
    for each, after in itertools.zip_longest(body, body[1:]):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            text = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = str(after.value.value)
            if not each.target.id.startswith("_"):
                yield each.target.id, ast.unparse(each.annotation), text


def _member(name: str, value: Any) -> str | None:
    options = []
    if isinstance(value, classmethod | staticmethod):
        options.append(":classmethod:" if isinstance(value, classmethod) else ":staticmethod:")
        value = value.__func__
    getter = value.fget if isinstance(value, property) else getattr(value, "func", None)
    if inspect.isfunction(value):
        node = _node(value)
        signature = _signature(node, method=True) if isinstance(node, Function) else name + _asked(value)
        return _directive("method", re.sub(r"^\w+", name, signature), markdown(value.__doc__), *options)
    if getter is not None:
        node = _node(getter)
        returns = getattr(node, "returns", None)
        options += [f":type: {ast.unparse(returns)}"] if returns else []
        return _directive("property", name, markdown(getattr(value, "__doc__", None)), *options)
    if type(value).__module__.startswith("cudapy"):  # a descriptor
        return _directive("attribute", name, markdown(value.__doc__ if "__doc__" in vars(value) else ""))
    return None
