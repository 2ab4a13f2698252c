"""The API reference: a page for each module of C functions and one for their types, and the classes of core.

Functions and types of C are read from the source, which has the header's lines and its headings. Objects are
asked for the rest.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
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
Function = ast.FunctionDef


def write(folder: Path) -> None:
    """Write all pages of the reference to `folder`."""
    pages = {"index": _index()}
    for name, title in BINDINGS.items():
        pages[name] = _functions_page(name, title)
        pages[f"{name}-types"] = _types_page(name)
    for name, title in OBJECTS.items():
        pages[name] = _objects_page(name, title)
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        update(folder / f"{name}.md", text)


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
    for title, pages in (
        ("Objects", list(OBJECTS)),
        ("Functions of C", [page for name in BINDINGS for page in (name, f"{name}-types")]),
    ):
        lines += [f"## {title}", "", "```{toctree}", ":maxdepth: 1", "", *pages, "```", ""]
    return "\n".join(lines)


def _version() -> str:
    return str(importlib.import_module("cudapy").__version__)


# -- directives --------------------------------------------------------------------------------------------


def _directive(kind: str, signature: str, body: str, *options: str, fence: str = ":::") -> str:
    return "\n".join([f"{fence}{{py:{kind}}} {signature}", *options, "", body.rstrip("\n"), fence, ""])


def _signature(node: Function, *, method: bool = False) -> str:
    arguments = ast.unparse(node.args)
    if method and not any(ast.unparse(each) == "staticmethod" for each in node.decorator_list):
        arguments = re.sub(r"^(self|cls)\b(, )?(/, )?", "", arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments}){returns}"


# -- functions of C ----------------------------------------------------------------------------------------


def _functions_page(name: str, title: str) -> str:
    text = (PACKAGE / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    headings = [
        (text.count("\n", 0, each.start()) + 1, each[1])
        for each in re.finditer(r"^# -- (.*?) -*$", text, re.MULTILINE)
    ]
    lines = [f"# cudapy.{name}", "", f"*{title}.*", "", "```{py:module} " + f"cudapy.{name}", "```", ""]
    lines += [markdown(ast.get_docstring(tree))]
    lines += [
        f"`cudapy.{name}.checked` has the same functions, which return the results alone and raise "
        f"{{py:class}}`~cudapy.core.CUDAError`. Enums, structs, handles and constants: "
        f"[types]({name}-types.md).",
        "",
    ]
    described: set[str] = set()
    for node in tree.body:
        while headings and headings[0][0] < node.lineno:
            lines += [f"## {headings.pop(0)[1]}", ""]
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            lines.append(_directive("exception", node.name, markdown(ast.get_docstring(node))))
            written = {each.name for each in tree.body if isinstance(each, ast.ClassDef)}
            for each in dict.fromkeys(getattr(_module(name), key) for key in public_names(name)):
                derived = isinstance(each, type) and issubclass(each, getattr(_module(name), node.name))
                if derived and each.__name__ not in written:  # made from a table
                    lines.append(_directive("exception", each.__name__, markdown(each.__doc__)))
        elif isinstance(node, Function) and not node.name.startswith("_") and node.name not in described:
            described.add(node.name)
            lines.append(_function(node, tree))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            target = node.targets[0].id
            value = getattr(_module(name), target, None)
            if not target.startswith("_") and inspect.isfunction(value):
                described.add(target)
                lines.append(
                    _directive("function", target + _asked(value), _same(ast.unparse(node.value), value))
                )
    return "\n".join(lines)


def _same(written: str, value: Any) -> str:
    if re.fullmatch(r"\w+", written):
        return f"The same as `{written}`.\n"
    return markdown(value.__doc__)


def _asked(value: Any) -> str:
    try:
        return str(inspect.signature(value)).replace("'", "")
    except (TypeError, ValueError):
        return "(...)"


def _function(node: Function, tree: ast.Module) -> str:
    """A function with the C line that declares it, and in each of its forms."""
    forms = [
        each
        for each in tree.body
        if isinstance(each, Function)
        and each.name == node.name
        and any("overload" in ast.unparse(decorator) for decorator in each.decorator_list)
    ] or [node]
    prototypes, body = [], ast.get_docstring(node)
    for each in tree.body:
        if isinstance(each, Function) and each.name in (node.name, f"_{node.name}"):
            body = body or ast.get_docstring(each)
            for decorator in each.decorator_list:
                if isinstance(decorator, ast.Call) and decorator.args:
                    first = decorator.args[0]
                    if isinstance(first, ast.Constant) and "(" in str(first.value):
                        prototypes.append(str(first.value))
    shown = "".join(f"```c\n{prototype}\n```\n\n" for prototype in dict.fromkeys(prototypes))
    signatures = "\n".join(_signature(form) for form in forms[:1])
    return _directive("function", signatures, shown + markdown(body))


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
    return _directive("class", cls.__name__, body)


def _field(annotation: Any) -> str:
    """The C type of a field that has one written, else its annotation."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    exact = re.match(r"Annotated\[[^,]+, ['\"]([^'\"]+)", text)
    return exact[1] if exact else text


# -- classes of Python -------------------------------------------------------------------------------------


def _objects_page(name: str, title: str) -> str:
    module = _module(name)
    lines = [f"# cudapy.{name}", "", f"*{title}.*", "", "```{py:module} " + f"cudapy.{name}", "```", ""]
    lines += [markdown(module.__doc__)]
    classes, functions, values = [], [], []
    for each in public_names(name):
        value = getattr(module, each)
        if isinstance(value, ModuleType):
            continue
        where = classes if isinstance(value, type) else functions if callable(value) else values
        where.append(each)
    for heading, names, describe in (
        ("Functions", functions, _plain_function),
        ("Classes", classes, _class),
        ("Values", values, _value),
    ):
        if names:
            lines += [f"## {heading}", ""]
        lines += [describe(each, getattr(module, each), set(classes)) for each in names]
    return "\n".join(lines)


def _plain_function(name: str, function: Any, known: set[str]) -> str:
    node = _node(function)
    signature = _signature(node) if isinstance(node, Function) else name + _asked(function)
    return _directive(
        "function", signature.replace(getattr(node, "name", name), name, 1), markdown(function.__doc__)
    )


def _value(name: str, value: Any, known: set[str]) -> str:
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


def _class(name: str, cls: Any, known: set[str]) -> str:
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
        body += [text for _, text in sorted(_members(cls, public).items())]
    kind = "exception" if issubclass(cls, BaseException) else "class"
    return _directive(kind, name + _construction(cls, node), "\n".join(body), fence="::::")


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
        for key, text in _attributes(node):
            found.setdefault(key, text)
        for key, value in vars(base).items():
            if not key.startswith("_") and key not in found and (text := _member(key, value)):
                found[key] = text
    return found


def _attributes(node: ast.AST | None) -> Iterator[tuple[str, str]]:
    """The annotated names in the body of a class, with the string below them."""
    body = getattr(node, "body", [])
    for each, after in itertools.zip_longest(body, body[1:]):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            name = each.target.id
            text = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = str(after.value.value)
            if not name.startswith("_"):
                options = [f":type: {ast.unparse(each.annotation)}"]
                yield name, _directive("attribute", name, markdown(text), *options)


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
