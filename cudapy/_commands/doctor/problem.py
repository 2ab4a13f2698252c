"""One thing that is wrong, and the commands that fix such things."""

from dataclasses import dataclass

from ..._pathfinder.libraries import DRIVER, LIBRARIES
from .facts import Facts, LibraryFacts


@dataclass(frozen=True)
class Problem:
    """Something wrong. stops: no kernel runs on a GPU because of it."""

    text: str
    fix: str
    stops: bool = False


def extra(facts: Facts) -> str:
    """The command that installs the libraries for this machine: of the driver's major, if it has one."""
    driver = facts.library("cuda").version
    return f'pip install "cudapy[cuda{12 if driver and driver[0] <= 12 else 13}]"'


def package(library: LibraryFacts) -> str:
    """The wheel of a library of its major."""
    return LIBRARIES[library.name].packages[library.major == 12]


def again(facts: Facts, library: LibraryFacts) -> str:
    """The command that installs a broken library again."""
    packages = LIBRARIES[library.name].packages
    if not packages:
        return DRIVER
    installed = [name for name in packages if name in facts.wheels]
    if not installed:
        return extra(facts)
    return f"pip install --force-reinstall --no-deps {installed[0]}=={facts.wheels[installed[0]]}"


def wheels(facts: Facts, major: int) -> list[str]:
    """The installed wheels of one major, by their names."""
    return [name for name in facts.wheels if name.endswith("-cu12") is (major == 12)]
