"""Run the kernels."""

from __future__ import annotations

import sys
import time

from cudapy import simulator

from .cases import CASES


def main(names: list[str]) -> int:
    simulator.stand_in()
    wrong = []
    for name in names or CASES:
        started, reason = time.perf_counter(), ""
        try:
            CASES[name]()
        except Exception as error:  # any of them is a failure of this kernel, and the others are run
            reason = f"{type(error).__name__}: {error}"[:1000]
            wrong.append(name)
        print(
            f"{'FAIL' if reason else 'pass'}  {time.perf_counter() - started:5.1f} s  {name}  {reason}",
            flush=True,
        )
    print(f"{len(names or CASES) - len(wrong)} of {len(names or CASES)} kernels of Triton are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
