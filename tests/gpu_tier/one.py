"""The process of one test.

    python -m tests.gpu_tier.one NAME FUNCTION RESULTS LIMIT small|full WORKERS PART PARTS

Each figure goes to the file RESULTS as a line of JSON as soon as it is there. What every thread is doing is
on stderr once LIMIT seconds have passed.
"""

from __future__ import annotations

import faulthandler
import json
import sys
import traceback
from importlib import import_module
from pathlib import Path

from .figures import FAILED, Figure
from .scale import Scale


def main(
    name: str, function: str, results: str, limit: str, size: str, workers: str, part: str, parts: str
) -> int:
    faulthandler.enable()
    faulthandler.dump_traceback_later(float(limit), exit=False)
    scale = Scale(size == "small", int(workers), (int(part), int(parts)))
    found = []
    with Path(results).open("a", encoding="utf-8") as file:

        def put(figure: Figure) -> None:
            found.append(figure)
            print(json.dumps(figure.as_dict()), file=file, flush=True)

        try:
            module, _, attribute = function.partition(":")
            for figure in getattr(import_module(module), attribute)(scale):
                put(figure)
        except BaseException as error:
            traceback.print_exc()
            put(Figure(name, "", "", FAILED, f"{type(error).__name__}: {error}"))
    faulthandler.cancel_dump_traceback_later()
    return int(any(figure.verdict == FAILED for figure in found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
