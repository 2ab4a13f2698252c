"""The import hook: which module of cudapy each name of NVIDIA's packages is."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_loader
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import Distribution, DistributionFinder


class Package(NamedTuple):
    """A package of NVIDIA's. Modules of cudapy are named from its root: ".driver" is cudapy.driver."""

    name: str
    release: tuple[str, str]  # which release it stands for: a module of cudapy, and the name there
    distributions: tuple[str, ...]  # what importlib.metadata knows by that release
    modules: dict[str, str]  # its modules, by full name, and those of cudapy that they are
    folders: dict[str, tuple[str, ...]]  # its packages, by full name, and the modules whose names each has


_BINDINGS = (
    "driver",
    "runtime",
    "nvrtc",
    "nvvm",
    "nvjitlink",
    "nvfatbin",
    "nvml",
    "cufile",
    "cudla",
    "utils",
)
_OLD_NAMES = {"cuda.cuda": ".driver", "cuda.cudart": ".runtime", "cuda.nvrtc": ".nvrtc"}

PACKAGES = {
    package.name: package
    for package in (
        Package(
            "cuda.bindings",
            ("", "bindings_version"),
            ("cuda-bindings", "cuda-python"),
            {**{f"cuda.bindings.{name}": f".{name}" for name in _BINDINGS}, **_OLD_NAMES},
            {"cuda.bindings": ()},
        ),
        Package(
            "cuda.core",
            (".core", "__version__"),
            ("cuda-core",),
            {f"cuda.core.system.{name}": f".core.system.{name}" for name in ("exceptions", "typing")},
            {"cuda.core": (".core",), "cuda.core.experimental": (".core", ".core.graph")},
        ),
        Package(
            "cuda.pathfinder",
            (".pathfinder", "__version__"),
            ("cuda-pathfinder",),
            {},
            {"cuda.pathfinder": (".pathfinder",)},
        ),
    )
}
"""What can be aliased, by name."""


class Finder(MetaPathFinder):
    """Finds the modules of `packages` in the package `root`, cudapy under whatever name it has."""

    def __init__(self, packages: tuple[Package, ...], root: str) -> None:
        self.packages = packages
        self.root = root

    def package_of(self, name: str) -> Package | None:
        """The aliased package that a module belongs to, whether cudapy has that module or not."""
        for package in self.packages:
            if name == package.name or name.startswith(f"{package.name}.") or name in package.modules:
                return package
        return None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for what is not aliased, or public and not in cudapy. Raises ImportError for private names."""
        if fullname == "cuda":
            return PathFinder.find_spec(fullname) or _empty_namespace(fullname)
        package = self.package_of(fullname)
        if package is None:
            return None
        if any(re.match("_(?!_)", part) for part in fullname.split(".")):
            raise ImportError(
                f"{fullname} is private to NVIDIA's {package.name}: cudapy.alias has public modules only",
                name=fullname,
            )
        loader: Loader
        if fullname in package.folders:
            loader = FolderLoader(package, package.folders[fullname], self.read)
        elif (name := self._module(package, fullname)) is not None:
            loader = ModuleLoader(self.root + name)
        else:
            return None
        return spec_from_loader(fullname, loader, origin=__file__, is_package=fullname in package.folders)

    def read(self, module: str, name: str) -> Any:
        """What a module of cudapy calls `name`. Raises AttributeError."""
        return getattr(importlib.import_module(self.root + module), name)

    def _module(self, package: Package, name: str) -> str | None:
        """The module of cudapy that is `name`: that of the table, or that of its name below a source."""
        if name in package.modules:
            return package.modules[name]
        folder, _, last = name.rpartition(".")
        for module in package.folders.get(folder, ()):
            below = f"{self.root}{module}.{last}"
            try:
                importlib.import_module(below)
            except ModuleNotFoundError as error:
                if error.name != below:
                    raise
            else:
                return f"{module}.{last}"
        return None

    def find_distributions(self, context: DistributionFinder.Context) -> Iterator[Distribution]:
        """For importlib.metadata: the release that each package stands for, installed or not."""
        from .metadata import Release

        wanted = context.name and re.sub(r"[-_.]+", "-", context.name).lower()
        for package in self.packages:
            for distribution in package.distributions:
                if wanted in (None, distribution):
                    yield Release(distribution, self.read(*package.release))


class ModuleLoader(Loader):
    """Loads a module by putting another one in its place."""

    def __init__(self, target: str) -> None:
        self.target = target

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(self.target)


class FolderLoader(Loader):
    """Makes a package that has the names of some modules, each at the time when it is asked for."""

    def __init__(self, package: Package, sources: tuple[str, ...], read: Callable[[str, str], Any]) -> None:
        self.package = package
        self.sources = sources
        self.read = read

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__

        def get(attribute: str) -> Any:
            if not attribute.startswith("__") or attribute == "__all__":
                for source in self.sources:
                    try:
                        return self.read(source, attribute)
                    except AttributeError:
                        pass
                if f"{name}.{attribute}" in self.package.modules:
                    return importlib.import_module(f"{name}.{attribute}")
            raise AttributeError(f"module {name!r}, which is cudapy's, has no attribute {attribute!r}")

        def directory() -> Iterable[str]:
            names = {public for source in self.sources for public in self.read(source, "__all__")}
            return sorted({*vars(module), *names})

        vars(module).update(
            __getattr__=get,
            __dir__=directory,
            __file__=__file__,
            __version__=self.read(*self.package.release),
        )
        if f"{name}.utils" in self.package.modules:  # as cuda.bindings imports it
            importlib.import_module(f"{name}.utils")


class _Folders:
    """The folders of a namespace package wherever they are on sys.path now."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __iter__(self) -> Iterator[str]:
        return iter([path for entry in sys.path if os.path.isdir(path := os.path.join(entry, self.name))])


def _empty_namespace(name: str) -> ModuleSpec:
    """A package for aliased packages to be in where none of that name is installed."""
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = _Folders(name)  # type: ignore[assignment]
    return spec
