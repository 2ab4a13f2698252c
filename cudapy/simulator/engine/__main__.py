"""`python -m cudapy.simulator.engine FILE.ptx`: what the engine makes of PTX."""

import argparse
import sys
from pathlib import Path

from .device import Device
from .jit.listing import listing
from .jit.processor import is_supported
from .module import Module, PTXError


def main(arguments: list[str] | None = None) -> str | None:
    """Print what `arguments` ask for. Returns what went wrong, for `sys.exit`."""
    parser = argparse.ArgumentParser(prog="python -m cudapy.simulator.engine", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE.ptx", help="a PTX module")
    parser.add_argument("--kernel", metavar="NAME", help="one kernel; all by default")
    parser.add_argument(
        "--machine-code",
        action="store_true",
        help="print the machine code of each block, with its PTX; disassembled where capstone is installed",
    )
    asked = parser.parse_args(arguments)
    if asked.machine_code and not is_supported():
        return "there is machine code for x86-64 with AVX2, FMA and BMI1, and for AArch64 if it is asked for"
    try:
        functions = Module(asked.file.read_text(), Device().memory).functions
    except (OSError, UnicodeDecodeError, PTXError) as error:
        return f"{asked.file}: {error}"
    if asked.kernel is not None:
        if asked.kernel not in functions:
            return f"{asked.file} has no kernel {asked.kernel}"
        functions = {asked.kernel: functions[asked.kernel]}
    for function in functions.values():
        if asked.machine_code:
            print(*listing(function.kernel.compiled), "", sep="\n")
        else:
            count, shared = len(function.parameters), function.shared_size
            print(f"{function.name}: {count} parameters, {shared} bytes of shared memory")
    return None


if __name__ == "__main__":
    sys.exit(main())
