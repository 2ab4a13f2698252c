"""`python -m cudapy.alias`."""

from ..launcher import program
from .install import install

USAGE = """\
usage: python -m cudapy.alias [--only PACKAGE] ... (PROGRAM | -m MODULE | -c CODE) [ARGUMENT ...]

Run a Python program in which cuda.bindings, cuda.core and cuda.pathfinder are cudapy, or those that
--only names. PROGRAM is a file, or a folder or zip file with a __main__.py. Python processes that the program
starts do the same.
"""


def main(arguments: list[str]) -> None:
    """Run what `arguments` say; exits with 2 if they do not say what, or if there is no such file."""
    packages = []
    while arguments[:1] == ["--only"] and len(arguments) > 1:
        packages.append(arguments[1])
        arguments = arguments[2:]
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
        return
    arguments = program.split(arguments, USAGE)
    try:
        install(*packages, children=True)
    except ValueError as error:
        program.fail(f"{USAGE}{error}")
    program.run(arguments)
