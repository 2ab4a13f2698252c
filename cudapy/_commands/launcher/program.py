"""A program, run as the python command line runs it."""

import importlib.util
import io
import os
import pkgutil
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType
from typing import Any, NoReturn, cast


def split(arguments: list[str], usage: str) -> list[str]:
    """Check that `arguments` name a program, and cut -mMODULE in two. Exits with 2 if they do not."""
    if arguments and len(arguments[0]) > 2 and arguments[0][:2] in ("-c", "-m"):  # -mpytest is -m pytest
        arguments = [arguments[0][:2], arguments[0][2:], *arguments[1:]]
    if not arguments or (arguments[0] in ("-c", "-m") and len(arguments) < 2):
        fail(f"{usage}there is no program to run")
    if arguments[0].startswith("-") and arguments[0] not in ("-c", "-m"):
        fail(f"{usage}unknown option {arguments[0]}")
    return arguments


def run(arguments: list[str]) -> None:
    """Run what `split` returned: a PROGRAM, -m MODULE or -c CODE, and its arguments."""
    match arguments:
        case ["-c", code, *rest]:
            sys.argv = ["-c", *rest]
            _set_first_path("")
            _run(compile(code, "<string>", "exec"), {})
        case ["-m", module, *rest]:
            sys.argv = ["-m", *rest]  # as long as packages around the module are imported
            spec, compiled = _module(module)
            sys.argv = [str(spec.origin), *rest]
            _run(compiled, _attributes(spec))
        case [program, *_]:
            sys.argv = arguments
            _run_path(program)


def fail(message: str, status: int = 2) -> NoReturn:
    """Say why, and exit."""
    print(message, file=sys.stderr)
    sys.exit(status)


def _set_first_path(path: str) -> None:
    """Put `path` where `python -m` has put the working directory, unless it was told to put nothing there."""
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        sys.path[0] = path


def _run_path(program: str) -> None:
    """Run a file, or the __main__ module of a folder or a zip file."""
    path = os.path.join(os.getcwd(), program)
    importer: Any = pkgutil.get_importer(path)
    if importer is not None:
        sys.path.insert(0, path)
        spec = importer.find_spec("__main__")
        if spec is None:
            fail(f"{sys.executable}: can't find '__main__' module in {program!r}", 1)
        _run(_code(spec), _attributes(spec))
        return
    _set_first_path(os.path.dirname(os.path.realpath(program)))
    loader: SourceFileLoader | SourcelessFileLoader
    code: CodeType | None
    try:
        if program.endswith(".pyc"):
            loader = SourcelessFileLoader("__main__", path)
            code = loader.get_code("__main__")
        else:
            loader = SourceFileLoader("__main__", path)
            with io.open_code(path) as file:
                code = compile(file.read(), path, "exec", dont_inherit=True)
    except OSError as error:
        fail(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}")
    assert code is not None
    _run(code, {"__file__": path, "__cached__": None, "__loader__": loader})


def _module(name: str) -> tuple[ModuleSpec, CodeType]:
    """The spec and the code of a module, or of the __main__ of a package. Exits if there is none."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        fail(f"{sys.executable}: Error while finding module specification for {name!r} ({error})", 1)
    if spec is None:
        fail(f"{sys.executable}: No module named {name}", 1)
    if spec.submodule_search_locations is not None and not name.endswith(".__main__"):
        return _module(f"{name}.__main__")
    return spec, _code(spec)


def _code(spec: ModuleSpec) -> CodeType:
    get_code = getattr(spec.loader, "get_code", None)  # modules that are not Python's have none, or None
    code = get_code and get_code(spec.name)
    if code is None:
        fail(f"{sys.executable}: No code object available for {spec.name}", 1)
    return cast(CodeType, code)


def _attributes(spec: ModuleSpec) -> dict[str, Any]:
    return {
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__loader__": spec.loader,
        "__package__": spec.parent,
        "__spec__": spec,
    }


def _run(code: CodeType, attributes: dict[str, Any]) -> None:
    """Execute code as the module __main__, which it stays."""
    module = ModuleType("__main__")
    vars(module).update(attributes)
    sys.modules["__main__"] = module
    exec(code, vars(module))
