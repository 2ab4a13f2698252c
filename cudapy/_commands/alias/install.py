"""The installation of the import hook."""

import sys

from .finder import PACKAGES, Finder

_PACKAGE = str(__package__).rsplit(".", 2)[0]  # cudapy, or the name of a copy


def install(*packages: str, children: bool = False) -> None:
    """Make `import cuda.bindings`, `cuda.core` and `cuda.pathfinder` mean cudapy in this process, for good.

    packages: those of PACKAGES to alias, all of them without any. With "cuda.bindings" alone, a cuda.core
    that was not compiled against cuda.bindings, such as 0.2.0, runs on cudapy's driver.
    children: whether Python processes that this one starts alias the same. It sets CUDAPY_ALIAS and
    PYTHONPATH for them; processes that ignore the environment (`python -E`, `python -I`) are not reached.

    A second call with the same packages does nothing. Raises ValueError for another package, and RuntimeError
    if one of them was imported before, or if other packages were aliased before.
    """
    if unknown := [name for name in packages if name not in PACKAGES]:
        raise ValueError(f"no package {unknown[0]!r} to alias: there are {', '.join(PACKAGES)}")
    chosen = tuple(name for name in PACKAGES if name in packages or not packages)
    installed = next((finder for finder in sys.meta_path if isinstance(finder, Finder)), None)
    if installed is None:
        finder = Finder(tuple(PACKAGES[name] for name in chosen), _PACKAGE)
        if imported := sorted(name for name in sys.modules if finder.package_of(name)):
            raise RuntimeError(
                f"{imported[0]} was imported before cudapy.alias.install(): install the alias first, "
                "or run the program with python -m cudapy.alias"
            )
        sys.meta_path.insert(0, finder)
    elif installed.packages != tuple(PACKAGES[name] for name in chosen):
        there = ", ".join(package.name for package in installed.packages)
        raise RuntimeError(
            f"{there} are aliased in this process already: {', '.join(chosen)} cannot be instead"
        )
    if children:
        from ..launcher.children import tell

        tell("CUDAPY_ALIAS", f"{_PACKAGE}.alias", *chosen)
