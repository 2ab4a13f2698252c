"""The engine as a package of its own."""

from __future__ import annotations

import traceback

import pytest

from cudapy.simulator.engine.generated import functions


def test_generated_functions_show_their_text_in_tracebacks() -> None:
    text = "def first():\n    raise ValueError  # here\n\ndef second():\n    return NUMBER\n"
    made = functions(text, "a title", {"NUMBER": 3})
    assert made["second"]() == 3
    with pytest.raises(ValueError) as caught:
        made["first"]()
    text = "".join(traceback.format_exception(caught.value))
    assert "raise ValueError  # here" in text and 'File "<a title>' in text
