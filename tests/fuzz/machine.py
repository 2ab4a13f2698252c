"""Random programs, as machine code and on NumPy: both give the same, bit for bit."""

from __future__ import annotations

import traceback

from cudapy.simulator.engine.jit import processor
from tests.simulator.machine_forms import forms
from tests.simulator.machine_programs import Loaded, difference, program


class Fuzzer:
    at_once = 200
    is_spent = False

    def item(self, number: int) -> str:
        wild = number % 4 == 0
        try:
            wrong = difference(Loaded(program(number, wild)))
        except Exception:
            raise AssertionError(traceback.format_exc(limit=-4)) from None
        assert not wrong, wrong
        return "with wrong addresses" if wild else "equal"


def prepare() -> None:
    """Find once which instructions there is machine code for."""
    if not processor.is_supported():
        raise SystemExit("there is machine code for x86-64 with AVX2 alone")
    forms()
